/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"

#define GIB    (1024ull * 1024 * 1024)
#define SCHEMA SOURCE_ROOT "/deploy/crds/poolnodes.yaml"

static struct card *add_card(struct inventory *inventory)
{
	struct card *card =
		VEC_ADD(&inventory->cards, &inventory->card_count, &inventory->card_capacity);

	assert_non_null(card);
	card->index = (unsigned)inventory->card_count - 1;
	snprintf(card->uuid, sizeof(card->uuid), "GPU-%zu", inventory->card_count);
	snprintf(card->model, sizeof(card->model), "NVIDIA A100-SXM4-80GB");
	card->memory_bytes = 80 * GIB + 1024 * 1024;
	card->numa = 1;
	card->mode = CARD_MODE_AUTO;
	return card;
}

static void add_relations(struct inventory *inventory)
{
	struct card *card = &inventory->cards[0];
	struct card_link *link = VEC_ADD(&card->links, &card->link_count, &card->link_capacity);
	struct card_process *process;
	struct card_mig *mig;

	assert_non_null(link);
	*link = (struct card_link){ .peer = 1, .kind = LINK_NVLINK, .lanes = 12 };
	card = &inventory->cards[2];
	process = VEC_ADD(&card->processes, &card->process_count, &card->process_capacity);
	assert_non_null(process);
	*process = (struct card_process){ .pid = 7, .used_mib = 3000 };
	card = &inventory->cards[3];
	mig = VEC_ADD(&card->mig, &card->mig_count, &card->mig_capacity);
	assert_non_null(mig);
	*mig = (struct card_mig){ .profile = "1g.10gb", .start = 4 };
	card->mode = CARD_MODE_MIG;
	card->index = CARD_INDEX_NONE;
	card->condition = (struct card_condition){ .health = CARD_LOST,
						   .cause = "Xid 79",
						   .since = 1795999999 };
}

static struct grant *add_grant(struct poolnode *node, enum request_kind kind, const char *pod)
{
	struct grant *grant = VEC_ADD(&node->grants, &node->grant_count, &node->grant_capacity);

	assert_non_null(grant);
	grant->kind = kind;
	grant->enforcement = kind == REQUEST_WHOLE ? ENFORCEMENT_WHOLE : ENFORCEMENT_NONE;
	grant->namespace = strdup("default");
	grant->pod = strdup(pod);
	grant->uid = strdup("1-2-3");
	grant->container = strdup("main");
	assert_true(grant->namespace && grant->pod && grant->uid && grant->container);
	return grant;
}

static void add_grant_card(struct grant *grant, const char *uuid, unsigned units)
{
	struct grant_card *card = VEC_ADD(&grant->cards, &grant->card_count, &grant->card_capacity);

	assert_non_null(card);
	snprintf(card->uuid, sizeof(card->uuid), "%s", uuid);
	card->units = units;
	if (grant->kind == REQUEST_SLICE) {
		card->memory_mib = units * 1024ull - 24;
		card->compute_percent = 30;
	}
}

/* Every field of the form at least once. */
static void fill(struct poolnode *node)
{
	struct grant *grant;

	*node = (struct poolnode){ .name = strdup("node-1") };
	assert_non_null(node->name);
	snprintf(node->inventory.driver_version, sizeof(node->inventory.driver_version),
		 "550.54.15");
	for (int i = 0; i < 4; i++)
		add_card(&node->inventory);
	add_relations(&node->inventory);
	grant = add_grant(node, REQUEST_WHOLE, "train");
	add_grant_card(grant, "GPU-2", 80);
	grant = add_grant(node, REQUEST_SLICE, "serve");
	add_grant_card(grant, "GPU-1", 12);
	add_grant_card(grant, "GPU-3", 12);
	grant = add_grant(node, REQUEST_MIG, "small");
	snprintf(grant->mig_profile, sizeof(grant->mig_profile), "1g.10gb");
	for (unsigned start = 4; start < 6; start++) {
		add_grant_card(grant, "GPU-4", 0);
		grant->cards[grant->card_count - 1].mig_start = start;
	}
	add_grant(node, REQUEST_NONE, "web"); /* holds nothing, and is not shown */
}

static struct json_object *write_filled(void)
{
	cleanup(poolnode_release) struct poolnode node;
	struct json_object *object = NULL;
	struct error error = ERROR_INIT;

	fill(&node);
	if (poolnode_to_json(&node, &object, &error) < 0)
		fail_msg("%s", error.message);
	return object;
}

TEST(there_and_back)
{
	cleanup(poolnode_release) struct poolnode node = { .name = NULL };
	autojson *object = write_filled(), *again = NULL;
	struct error error = ERROR_INIT;

	if (poolnode_from_json(object, &node, &error) < 0)
		fail_msg("%s", error.message);
	assert_string_equal(node.name, "node-1");
	assert_int_equal(node.inventory.card_count, 4);
	assert_string_equal(node.inventory.driver_version, "550.54.15");
	assert_int_equal(card_units(&node.inventory.cards[0]), 80);
	assert_int_equal(node.inventory.cards[0].links[0].lanes, 12);
	assert_int_equal(card_foreign_mib(&node.inventory.cards[2]), 3 * 1024);
	assert_int_equal(node.inventory.cards[3].index, CARD_INDEX_NONE);
	assert_int_equal(node.inventory.cards[3].condition.since, 1795999999);
	assert_int_equal(node.grant_count, 3);
	assert_string_equal(node.grants[0].pod, "serve"); /* in order of the cards */
	assert_int_equal(node.grants[0].card_count, 2);
	assert_int_equal(node.grants[0].cards[1].memory_mib, 12 * 1024 - 24);
	assert_int_equal(node.grants[1].kind, REQUEST_WHOLE);
	assert_int_equal(node.grants[1].cards[0].units, 80);
	assert_int_equal(node.grants[2].kind, REQUEST_MIG);
	assert_string_equal(node.grants[2].mig_profile, "1g.10gb");
	assert_int_equal(node.grants[2].cards[1].mig_start, 5);
	assert_int_equal(poolnode_to_json(&node, &again, &error), 0);
	assert_true(json_object_equal(object, again));
}

TEST(sums_for_the_columns)
{
	autojson *object = write_filled();

	assert_int_equal(json_get_uint(object, "status.summary.cards", 0), 4);
	/* 68 of the first, none of the second, 65 of the third; the fourth is lost. */
	assert_int_equal(json_get_uint(object, "status.summary.freeGiB", 0), 68 + 65);
	/* Two instances of 9728 MiB each on the fourth. */
	assert_int_equal(json_get_uint(object, "status.summary.grantedGiB", 0), 80 + 24 + 20);
	assert_string_equal(json_get_string(object, "status.summary.health", ""), "1 lost");
}

TEST(a_grant_that_the_form_does_not_have)
{
	cleanup(poolnode_release) struct poolnode node;
	struct json_object *object = NULL;
	struct error error = ERROR_INIT;

	fill(&node);
	node.grants[0].kind = REQUEST_SHARED;
	assert_int_equal(poolnode_to_json(&node, &object, &error), -EINVAL);
	assert_string_equal(error.message, "a PoolNode cannot show the grant of container main, "
					   "which is of kind shared");
}

/* ---- the schema ---- */

struct finding {
	char text[256];
};

static void find(struct finding *finding, const char *where, const char *what, const char *key)
{
	if (!finding->text[0])
		snprintf(finding->text, sizeof(finding->text), "%s: %s %s", where, what, key);
}

static bool has(struct json_object *list, const char *text)
{
	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		if (strcmp(json_object_get_string(json_object_array_get_idx(list, i)), text) == 0)
			return true;
	return false;
}

static void compare(struct json_object *schema, struct json_object *values, const char *where,
		    struct finding *finding);

/* All values of the property KEY. */
static struct json_object *gather(struct json_object *values, const char *key)
{
	struct json_object *all = json_object_new_array(), *value;

	for (size_t i = 0; i < json_object_array_length(values); i++)
		if (json_object_object_get_ex(json_object_array_get_idx(values, i), key, &value))
			json_object_array_add(all, json_object_get(value));
	return all;
}

static void compare_properties(struct json_object *schema, struct json_object *values,
			       const char *where, struct finding *finding)
{
	struct json_object *properties = json_get(schema, "properties");
	struct json_object *required = json_get(schema, "required");

	json_object_object_foreach(properties, key, property)
	{
		autojson *all = gather(values, key);
		char name[128];

		snprintf(name, sizeof(name), "%s.%s", where, key);
		if (!json_object_array_length(all))
			find(finding, where, "nothing writes the property", key);
		else if (has(required, key) &&
			 json_object_array_length(all) != json_object_array_length(values))
			find(finding, where, "not always there:", key);
		else
			compare(property, all, name, finding);
	}
}

static void compare_object(struct json_object *schema, struct json_object *value, const char *where,
			   struct finding *finding)
{
	struct json_object *properties = json_get(schema, "properties");

	if (!properties)
		return; /* metadata: the API server's own */
	if (!json_object_is_type(value, json_type_object)) {
		find(finding, where, "is no object", "");
		return;
	}
	json_object_object_foreach(value, key, member)
	{
		(void)member;
		if (!json_object_object_get_ex(properties, key, NULL))
			find(finding, where, "the schema has no property", key);
	}
}

static void compare_text(struct json_object *schema, struct json_object *value, const char *where,
			 struct finding *finding)
{
	const char *text = json_object_get_string(value);
	struct json_object *names = json_get(schema, "enum");

	if (!json_object_is_type(value, json_type_string) ||
	    (names ? !has(names, text)
		   : strlen(text) > json_get_uint(schema, "maxLength", UINT64_MAX)))
		find(finding, where, "the schema does not take", text);
}

static void compare_number(struct json_object *schema, struct json_object *value, const char *where,
			   struct finding *finding)
{
	int64_t minimum = json_object_get_int64(json_get(schema, "minimum"));

	if (!value && json_object_get_boolean(json_get(schema, "nullable")))
		return;
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < minimum ||
	    (uint64_t)json_object_get_int64(value) > json_get_uint(schema, "maximum", UINT64_MAX))
		find(finding, where, "the schema does not take", json_object_get_string(value));
}

static void compare_list(struct json_object *schema, struct json_object *value,
			 struct json_object *all, const char *where, struct finding *finding)
{
	if (!json_object_is_type(value, json_type_array)) {
		find(finding, where, "is no list", "");
		return;
	}
	if (json_object_array_length(value) > json_get_uint(schema, "maxItems", 0))
		find(finding, where, "is too long", "");
	for (size_t i = 0; i < json_object_array_length(value); i++)
		json_object_array_add(all, json_object_get(json_object_array_get_idx(value, i)));
}

/* Every value fits the schema, and every property of the schema has a value. */
static void compare(struct json_object *schema, struct json_object *values, const char *where,
		    struct finding *finding)
{
	const char *type = json_get_string(schema, "type", "");
	autojson *items = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(values); i++) {
		struct json_object *value = json_object_array_get_idx(values, i);

		if (strcmp(type, "object") == 0)
			compare_object(schema, value, where, finding);
		else if (strcmp(type, "array") == 0)
			compare_list(schema, value, items, where, finding);
		else if (strcmp(type, "string") == 0)
			compare_text(schema, value, where, finding);
		else if (strcmp(type, "integer") == 0)
			compare_number(schema, value, where, finding);
		else
			find(finding, where, "has no type", type);
	}
	if (strcmp(type, "object") == 0 && json_get(schema, "properties"))
		compare_properties(schema, values, where, finding);
	if (strcmp(type, "array") == 0)
		compare(json_get(schema, "items"), items, where, finding);
}

/* The schema of the file, the caller's. */
static struct json_object *schema_read(void)
{
	autoyaml stream = { .name = NULL };
	struct json_object *schema = NULL;
	struct error error = ERROR_INIT;

	if (yaml_read_file(SCHEMA, &stream, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(stream.count, 1);
	struct json_object *version =
		json_object_array_get_idx(json_get(stream.documents[0], "spec.versions"), 0);
	assert_int_equal(json_copy(json_get(version, "schema.openAPIV3Schema"), &schema, &error),
			 0);
	return schema;
}

static void compare_filled(struct json_object *schema, struct finding *finding)
{
	autojson *values = json_object_new_array();

	json_object_array_add(values, write_filled());
	compare(schema, values, "PoolNode", finding);
}

TEST(the_schema_has_what_is_written_and_no_more)
{
	autojson *schema = schema_read();
	struct finding finding = { .text = "" };

	compare_filled(schema, &finding);
	assert_string_equal(finding.text, "");
}

/* Controls: each change of the schema is noticed. VALUE NULL: the property goes. */
static const struct {
	const char *path, *key, *value, *finding;
} changes[] = {
	{ "properties.status.properties.cards.items.properties", "numa", NULL,
	  "PoolNode.status.cards: the schema has no property numa" },
	{ "properties.status.properties.cards.items.properties", "rack", "{\"type\":\"string\"}",
	  "PoolNode.status.cards: nothing writes the property rack" },
	{ "properties.status.properties.cards.items.properties.mode", "enum", "[\"mig\"]",
	  "PoolNode.status.cards.mode: the schema does not take auto" },
	{ "properties.status.properties.cards.items.properties.memoryMiB", "maximum", "5",
	  "PoolNode.status.cards.memoryMiB: the schema does not take 81921" },
	{ "properties.status.properties.cards.items.properties.index", "nullable", "false",
	  "PoolNode.status.cards.index: the schema does not take (null)" },
	{ "properties.status.properties.cards.items.properties.health", "required", "[\"since\"]",
	  "PoolNode.status.cards.health: not always there: since" },
};

TEST(a_schema_that_differs_is_noticed)
{
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		autojson *schema = schema_read();
		struct json_object *at = json_get(schema, changes[i].path);
		struct finding finding = { .text = "" };

		assert_non_null(at);
		json_object_object_del(at, changes[i].key);
		if (changes[i].value)
			json_object_object_add(at, changes[i].key,
					       json_tokener_parse(changes[i].value));
		compare_filled(schema, &finding);
		assert_string_equal(finding.text, changes[i].finding);
	}
}

static void compare_names(struct json_object *schema, const char *path, size_t count,
			  const char *(*name)(int))
{
	struct json_object *names = json_get(schema, path);

	assert_non_null(names);
	assert_int_equal(json_object_array_length(names), count);
	for (size_t i = 0; i < count; i++)
		assert_true(has(names, name((int)i)));
}

static const char *mode_name(int value)
{
	return card_mode_to_string((enum card_mode)value);
}

static const char *health_name(int value)
{
	return card_health_to_string((enum card_health)value);
}

static const char *link_name(int value)
{
	return link_kind_to_string((enum link_kind)value);
}

static const char *enforcement_name(int value)
{
	return enforcement_to_string((enum enforcement)value);
}

TEST(the_names_of_the_schema)
{
	autojson *schema = schema_read();
	struct json_object *card =
		json_get(schema, "properties.status.properties.cards.items.properties");

	compare_names(card, "mode.enum", CARD_MODE_MAX, mode_name);
	compare_names(card, "health.properties.state.enum", CARD_HEALTH_MAX, health_name);
	compare_names(card, "links.items.properties.kind.enum", LINK_KIND_MAX, link_name);
	compare_names(card, "grants.items.properties.enforcement.enum", ENFORCEMENT_MAX,
		      enforcement_name);
}

/* ---- what people and strangers write ---- */

#define HEAD "{\"apiVersion\":\"gpupool.io/v1alpha1\",\"kind\":\"PoolNode\","
#define NAMED                                 \
	HEAD "\"metadata\":{\"name\":\"n\"}," \
	     "\"status\":{\"cards\":["
#define CARD(uuid) "{\"uuid\":\"" uuid "\",\"model\":\"T4\",\"memoryMiB\":16384"
#define POD        "{\"namespace\":\"a\",\"pod\":\"b\","

static int read_text(const char *text, struct poolnode *node, struct error *error)
{
	autojson *object = NULL;

	assert_int_equal(json_parse(text, strlen(text), "test", NULL, &object, error), 0);
	return poolnode_from_json(object, node, error);
}

TEST(what_may_be_left_out)
{
	cleanup(poolnode_release) struct poolnode node = { .name = NULL }, bare = { .name = NULL };
	struct error error = ERROR_INIT;

	if (read_text(NAMED CARD("A") "}," CARD("B") ",\"grants\":[" POD "\"units\":4}]}]}}", &node,
		      &error) < 0)
		fail_msg("%s", error.message);
	const struct card *card = &node.inventory.cards[1];
	assert_int_equal(card->index, 1);
	assert_int_equal(card->mode, CARD_MODE_AUTO);
	assert_int_equal(card->condition.health, CARD_HEALTHY);
	assert_int_equal(card->numa, -1);
	assert_int_equal(node.grants[0].cards[0].memory_mib, 4096);
	assert_string_equal(node.grants[0].container, "");
	/* Nobody has written a status yet. */
	assert_int_equal(read_text(HEAD "\"metadata\":{\"name\":\"n\"}}", &bare, &error), 0);
	assert_int_equal(bare.inventory.card_count, 0);
}

static const struct {
	const char *text, *message;
} hostile[] = {
	{ "{\"kind\":\"Node\",\"apiVersion\":\"v1\"}",
	  "this is no PoolNode of gpupool.io/v1alpha1 but a 'Node' of "
	  "'v1'" },
	{ "[]", "this is no PoolNode of gpupool.io/v1alpha1 but a '' of "
		"''" },
	{ HEAD "\"status\":{\"cards\":[]}}", "metadata.name is missing" },
	{ HEAD "\"metadata\":{\"name\":\"\"}}", "metadata.name is empty" },
	{ HEAD "\"metadata\":{\"name\":\"n\"},\"status\":7}",
	  "PoolNode n: status.cards must be a list" },
	{ NAMED "7]}}", "PoolNode n: status.cards[0] must be an object" },
	{ NAMED "{}]}}", "PoolNode n: status.cards[0].uuid is missing" },
	{ NAMED CARD("") "}]}}", "PoolNode n: cards[0].uuid is empty" },
	{ NAMED CARD("A") "}," CARD("A") "}]}}",
	  "PoolNode n: cards[1].uuid A is there twice; each card has its own" },
	{ NAMED CARD("A") ",\"mode\":\"half\"}]}}",
	  "PoolNode n: status.cards[0].mode is \"half\"; it must be \"whole\" or another known "
	  "name" },
	{ NAMED CARD("A") ",\"health\":{}}]}}",
	  "PoolNode n: status.cards[0].health.state is missing" },
	{ NAMED CARD("A") ",\"health\":{\"state\":\"lost\",\"since\":\"2026-02-30T00:00:00Z\"}}]}}",
	  "PoolNode n: status.cards[0].health.since is '2026-02-30T00:00:00Z'; write it as "
	  "2026-11-30T08:00:00Z" },
	{ NAMED CARD("A") ",\"units\":{\"foreign\":-1}}]}}",
	  "PoolNode n: status.cards[0].units.foreign is -1; it must be a whole number from 0 to "
	  "1048576" },
	{ NAMED CARD("A") ",\"links\":[{\"peer\":1,\"kind\":\"SYS\",\"lanes\":0}]}]}}",
	  "PoolNode n: cards[0].links[0].peer is 1; it must be the position of another of the 1 "
	  "cards" },
	{ NAMED CARD("A") ",\"grants\":{}}]}}",
	  "PoolNode n: status.cards[0].grants must be a list" },
	{ NAMED CARD("A") ",\"grants\":[{\"namespace\":\"a\"}]}]}}",
	  "PoolNode n: status.cards[0].grants[0].pod is missing" },
	{ NAMED CARD("A") ",\"grants\":[" POD "\"uid\":\"\"}]}]}}",
	  "PoolNode n: status.cards[0].grants[0] does not say what is held; write \"cards\": 1 "
	  "for the whole card, units for GiB of it, or migProfile and migStart" },
	{ NAMED CARD("A") ",\"grants\":[" POD "\"units\":1,\"cards\":1}]}]}}",
	  "PoolNode n: status.cards[0].grants[0] has both cards and units; write one of them" },
	{ NAMED CARD("A") ",\"grants\":[" POD "\"cards\":2}]}]}}",
	  "PoolNode n: status.cards[0].grants[0].cards is 2; it must be a whole number from 1 to "
	  "1" },
	{ NAMED CARD("A") ",\"grants\":[" POD "\"units\":0}]}]}}",
	  "PoolNode n: status.cards[0].grants[0].units is 0; it must be a whole number from 1 to "
	  "1048576" },
	{ NAMED CARD("A") ",\"grants\":[" POD "\"migProfile\":\"1g.10gb\"}]}]}}",
	  "PoolNode n: status.cards[0].grants[0].migStart is missing" },
	{ NAMED CARD("A") ",\"grants\":[" POD "\"units\":1}," POD "\"units\":1}]}]}}",
	  "PoolNode n: status.cards[0].grants[1]: container '' of Pod a/b is there twice on this "
	  "card; write it once, with the sum" },
	{ NAMED CARD("A") ",\"grants\":[" POD "\"units\":1}]}," CARD("B") ",\"grants\":[" POD
									  "\"cards\":1}]}]}}",
	  "PoolNode n: status.cards[1].grants[0]: container '' of Pod a/b holds another card in "
	  "another way; it must be cards, units or one migProfile on all of them" },
};

TEST(hostile_objects)
{
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		struct poolnode node = { .name = NULL };
		struct error error = ERROR_INIT;

		assert_int_equal(read_text(hostile[i].text, &node, &error), -EINVAL);
		assert_string_equal(error.message, hostile[i].message);
		assert_null(node.name);
	}
}

TEST(every_failing_allocation)
{
	cleanup(poolnode_release) struct poolnode node;
	autojson *object = write_filled();

	fill(&node);
	for (unsigned n = 0;; n++) {
		cleanup(poolnode_release) struct poolnode again = { .name = NULL };
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = poolnode_from_json(object, &again, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	for (unsigned n = 0;; n++) {
		autojson *written = NULL;
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = poolnode_to_json(&node, &written, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}
