/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "model/model.h"

/* Constant texts where a structure owns its texts; nobody frees or writes them. */
static char *text_of(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* A node "a" with zone=eu and gpus=8, tainted gpu=yes:NoSchedule and soft=1:PreferNoSchedule. */
static void fill_node(struct node_spec *node)
{
	struct taint *taint;

	node_spec_init(node);
	node->name = strdup("a");
	assert_non_null(node->name);
	assert_int_equal(node_spec_set_label(node, "zone", "us"), 0);
	assert_int_equal(node_spec_set_label(node, "gpus", "8"), 0);
	assert_int_equal(node_spec_set_label(node, "zone", "eu"), 0);
	taint = VEC_ADD(&node->taints, &node->taint_count, &node->taint_capacity);
	assert_non_null(taint);
	*taint = (struct taint){ strdup("gpu"), strdup("yes"), TAINT_NO_SCHEDULE };
	taint = VEC_ADD(&node->taints, &node->taint_count, &node->taint_capacity);
	assert_non_null(taint);
	*taint = (struct taint){ strdup("soft"), NULL, TAINT_PREFER_NO_SCHEDULE };
}

TEST(labels_by_key)
{
	cleanup(node_spec_release) struct node_spec node;

	fill_node(&node);
	assert_int_equal(node.label_count, 2);
	assert_string_equal(node.labels[0].key, "gpus");
	assert_string_equal(node_spec_label(&node, "zone"), "eu");
	assert_null(node_spec_label(&node, "zon"));
	assert_null(node_spec_label(&node, "zones"));
	assert_true(node.allocatable.cpu_milli == RESOURCE_UNLIMITED);
}

static const struct {
	const char *key;
	enum match_operator operator;
	const char *values[2];
	bool expected;
} matches[] = {
	{ "zone", MATCH_IN, { "us", "eu" }, true },
	{ "zone", MATCH_IN, { "us" }, false },
	{ "rack", MATCH_IN, { "us" }, false },
	{ "zone", MATCH_NOT_IN, { "us" }, true },
	{ "zone", MATCH_NOT_IN, { "eu" }, false },
	{ "rack", MATCH_NOT_IN, { "eu" }, true },
	{ "zone", MATCH_EXISTS, { NULL }, true },
	{ "rack", MATCH_EXISTS, { NULL }, false },
	{ "zone", MATCH_DOES_NOT_EXIST, { NULL }, false },
	{ "rack", MATCH_DOES_NOT_EXIST, { NULL }, true },
	{ "gpus", MATCH_GT, { "7" }, true },
	{ "gpus", MATCH_GT, { "8" }, false },
	{ "gpus", MATCH_GT, { "-9" }, true },
	{ "gpus", MATCH_GT, { "7", "7" }, false },
	{ "gpus", MATCH_GT, { "many" }, false },
	{ "zone", MATCH_GT, { "7" }, false },
	{ "rack", MATCH_GT, { "7" }, false },
	{ "gpus", MATCH_LT, { "9" }, true },
	{ "gpus", MATCH_LT, { "8" }, false },
	{ NULL, MATCH_IN, { "b", "a" }, true },
	{ NULL, MATCH_NOT_IN, { "a" }, false },
	{ "zone", MATCH_OPERATOR_INVALID, { "eu" }, false },
};

TEST(affinity)
{
	cleanup(node_spec_release) struct node_spec node;
	struct match right = { .key = text_of("zone"), .operator= MATCH_EXISTS };

	fill_node(&node);
	node.taint_count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(matches); i++) {
		char *values[] = { text_of(matches[i].values[0]), text_of(matches[i].values[1]) };
		size_t count = !!values[0] + !!values[1];
		struct match row = { text_of(matches[i].key), matches[i].operator,
				     { values, count, 0 } };
		struct match both[] = { right, row };
		struct match_term terms[] = { { NULL, 0, 0 }, { both, 2, 0 } };
		struct demand demand = { .terms = terms, .term_count = 2 };

		assert_int_equal(demand_selects(&demand, &node), matches[i].expected);
		demand.term_count = 1; /* an empty term matches nothing */
		assert_false(demand_selects(&demand, &node));
	}
	node.taint_count = 2;
}

TEST(selector)
{
	cleanup(node_spec_release) struct node_spec node;
	struct label wants[] = { { text_of("zone"), text_of("eu") },
				 { text_of("gpus"), text_of("8") },
				 { text_of("gpus"), text_of("9") } };
	struct demand demand = { .selector = wants };

	fill_node(&node);
	node.taint_count = 0;
	for (size_t count = 0; count <= 3; count++) {
		demand.selector_count = count;
		assert_int_equal(demand_selects(&demand, &node), count < 3);
	}
	wants[0].key = text_of("rack");
	demand.selector_count = 1;
	assert_false(demand_selects(&demand, &node));
	node.taint_count = 2;
}

static const struct {
	const char *key, *value;
	enum taint_effect effect;
	bool cordoned, expected;
} tolerations[] = {
	{ "gpu", "yes", TAINT_NO_SCHEDULE, false, true },
	{ "gpu", "yes", TAINT_EFFECT_MAX, false, true },
	{ "gpu", NULL, TAINT_EFFECT_MAX, false, true },
	{ NULL, NULL, TAINT_EFFECT_MAX, false, true },
	{ "gpu", "no", TAINT_NO_SCHEDULE, false, false },
	{ "gpu", "yes", TAINT_NO_EXECUTE, false, false },
	{ "soft", NULL, TAINT_EFFECT_MAX, false, false },
	{ "gpu", "yes", TAINT_NO_SCHEDULE, true, false },
	{ NULL, NULL, TAINT_EFFECT_MAX, true, true },
	{ NULL, NULL, TAINT_NO_EXECUTE, true, false },
};

TEST(taints)
{
	for (size_t i = 0; i < ARRAY_SIZE(tolerations); i++) {
		cleanup(node_spec_release) struct node_spec node;
		struct toleration one = { text_of(tolerations[i].key),
					  text_of(tolerations[i].value), tolerations[i].effect };
		struct demand demand = { .tolerations = &one, .toleration_count = 1 };
		const struct taint *taint;

		fill_node(&node);
		node.unschedulable = tolerations[i].cordoned;
		taint = demand_untolerated(&demand, &node);
		assert_int_equal(taint == NULL, tolerations[i].expected);
		assert_int_equal(demand_selects(&demand, &node), tolerations[i].expected);
		if (taint)
			assert_string_equal(taint->key, node.unschedulable
								? "node.kubernetes.io/unschedulable"
								: "gpu");
	}
}

static struct json_object *parse(const char *text)
{
	struct json_object *object = NULL;
	struct error error = ERROR_INIT;

	if (json_parse(text, strlen(text), "test", NULL, &object, &error) < 0)
		fail_msg("%s", error.message);
	return object;
}

#define REQUEST                                                                                    \
	"{\"kind\":\"slice\",\"cards\":2,\"memoryMiB\":12288,\"memoryPercent\":0,"                 \
	"\"units\":12,\"computePercent\":30,\"migProfile\":\"\",\"policy\":\"spread\","            \
	"\"models\":[\"*A100*\",\"B\\\"\"],\"notModels\":[],\"uuids\":[],\"notUuids\":[\"GPU-1\"]" \
	"}"
#define DEMAND                                                                                \
	"{\"requests\":[" REQUEST "],\"cpuMilli\":1500,\"memoryMiB\":9223372036854775807,"    \
	"\"pods\":1,\"selector\":[{\"key\":\"zone\",\"value\":\"eu\"}],\"terms\":[[{\"key\":" \
	"null,\"operator\":\"NotIn\",\"values\":[\"a\",\"b\"]}],[]],\"tolerations\":[{"       \
	"\"key\":null,\"value\":null,\"effect\":null},{\"key\":\"gpu\",\"value\":\"\","       \
	"\"effect\":\"NoExecute\"}],\"gangDomain\":\"rack\"}"
#define NODE                                                                                     \
	"{\"name\":\"a b\",\"unschedulable\":true,\"allocatable\":{\"cpuMilli\":64000,"          \
	"\"memoryMiB\":1024,\"pods\":110},\"labels\":{\"a\":\"1\",\"b\":\"\"},\"taints\":[{"     \
	"\"key\":\"gpu\",\"value\":null,\"effect\":\"NoSchedule\"}],\"inventory\":{\"version\":" \
	"1,\"driverRoot\":\"\",\"driverVersion\":\"\",\"moduleVersion\":\"\",\"nvmlVersion\":"   \
	"\"\",\"cudaMajor\":0,\"cudaMinor\":0,\"bootId\":\"\",\"migGeneration\":0,\"taken\":0,"  \
	"\"real\":false,\"problem\":\"\",\"cards\":[]}}"

static void demand_there_and_back(const char *text)
{
	cleanup(demand_release) struct demand demand = { 0 };
	autojson *object = parse(text), *again = NULL;
	struct error error = ERROR_INIT;
	autostrbuf out = STRBUF_INIT(4096);

	if (demand_from_json(object, &demand, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(demand_to_json(&demand, &again, &error), 0);
	assert_int_equal(json_to_text(again, false, &out, &error), 0);
	assert_string_equal(out.data, text);
}

TEST(demands_there_and_back)
{
	cleanup(demand_release) struct demand empty;
	autojson *object = NULL;
	autostrbuf out = STRBUF_INIT(4096);

	demand_there_and_back(DEMAND);
	demand_init(&empty);
	assert_int_equal(demand_to_json(&empty, &object, NULL), 0);
	assert_int_equal(json_to_text(object, false, &out, NULL), 0);
	demand_there_and_back(out.data);
}

TEST(nodes_there_and_back)
{
	cleanup(node_spec_release) struct node_spec node = { 0 };
	autojson *object = parse(NODE), *again = NULL;
	struct error error = ERROR_INIT;
	autostrbuf out = STRBUF_INIT(4096);

	if (node_spec_from_json(object, &node, &error) < 0)
		fail_msg("%s", error.message);
	assert_string_equal(node_spec_label(&node, "a"), "1");
	assert_true(node.unschedulable);
	assert_int_equal(node_spec_to_json(&node, &again, &error), 0);
	assert_int_equal(json_to_text(again, false, &out, &error), 0);
	assert_string_equal(out.data, NODE);
}

/* One piece of a good text replaced, and what is said then. */
static const struct {
	const char *text, *piece, *by, *message;
} hostile[] = {
	{ DEMAND, "\"cpuMilli\":1500", "\"cpuMilli\":-1",
	  "demand.cpuMilli is -1; it must be a whole number from 0 to 9223372036854775807" },
	{ DEMAND, "\"requests\":[" REQUEST "]", "\"requests\":{}",
	  "demand.requests must be a list" },
	{ DEMAND, "\"requests\":[" REQUEST "]", "\"requests\":[0]",
	  "demand.requests[0] must be an object" },
	{ DEMAND, "\"slice\"", "\"slices\"",
	  "demand.requests[0].kind is \"slices\"; it must be \"none\" or another known name" },
	{ DEMAND, "\"models\":[\"*A100*\"", "\"models\":[7",
	  "demand.requests[0].models[0] must be a string" },
	{ DEMAND, "\"models\":[\"*A100*\"", "\"models\":[\"\\n\"",
	  "demand.requests[0].models[0] holds the control character 0x0a" },
	{ DEMAND, "\"uuids\":[]", "\"uuid\":[]", "demand.requests[0].uuids must be a list" },
	{ DEMAND, "\"key\":\"zone\"", "\"key\":null", "demand.selector[0].key must be a string" },
	{ DEMAND, "\"value\":\"eu\"", "\"value\":1", "demand.selector[0].value must be a string" },
	{ DEMAND, "\"NotIn\"", "\"Not\"",
	  "demand.terms[0][0].operator is \"Not\"; it must be \"In\" or another known name" },
	{ DEMAND, "[\"a\",\"b\"]", "[\"a\",[]]", "demand.terms[0][0].values[1] must be a string" },
	{ DEMAND, ",[]]", ",7]", "demand.terms[1] must be a list" },
	{ DEMAND, "\"NoExecute\"", "\"Never\"",
	  "demand.tolerations[1].effect is 'Never', which is unknown" },
	{ DEMAND, "\"gangDomain\"", "\"domain\"", "demand.gangDomain is missing" },
	{ NODE, "\"name\":\"a b\"", "\"name\":null", "node.name must be a string" },
	{ NODE, "\"pods\":110", "\"pods\":-1",
	  "node.allocatable.pods is -1; it must be a whole number from 0 to 9223372036854775807" },
	{ NODE, "\"allocatable\"", "\"allocated\"", "node.allocatable must be an object" },
	{ NODE, "{\"a\":\"1\",\"b\":\"\"}", "[]", "node.labels must be an object" },
	{ NODE, "\"b\":\"\"", "\"b\":2", "node.labels.b must be a string" },
	{ NODE, "\"NoSchedule\"", "7", "node.taints[0].effect is '', which is unknown" },
	{ NODE, "\"key\":\"gpu\"", "\"k\":\"gpu\"", "node.taints[0].key is missing" },
	{ NODE, "\"version\":1", "\"version\":9",
	  "the inventory has version 9 and this program reads version 1; write it anew with this "
	  "program" },
};

TEST(hostile_texts)
{
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		const char *at = strstr(hostile[i].text, hostile[i].piece);
		struct demand demand = { .priority = 77 };
		struct node_spec node = { .label_count = 77 };
		struct error error = ERROR_INIT;
		autostrbuf text = STRBUF_INIT(4096);

		assert_non_null(at);
		strbuf_add(&text, hostile[i].text, (size_t)(at - hostile[i].text));
		strbuf_addf(&text, "%s%s", hostile[i].by, at + strlen(hostile[i].piece));
		autojson *object = parse(text.data);

		assert_int_equal(hostile[i].text[2] == 'r'
					 ? demand_from_json(object, &demand, &error)
					 : node_spec_from_json(object, &node, &error),
				 -EINVAL);
		assert_string_equal(error.message, hostile[i].message);
		assert_int_equal(demand.priority, 77);
		assert_int_equal(node.label_count, 77);
	}
}

TEST(every_allocation_fails_once)
{
	for (unsigned n = 0;; n++) {
		autojson *from = parse(DEMAND), *to = NULL;
		cleanup(demand_release) struct demand demand;
		int r;

		demand_init(&demand);
		fault_arm(n);
		r = demand_from_json(from, &demand, NULL);
		if (r == 0)
			r = demand_to_json(&demand, &to, NULL);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	for (unsigned n = 0;; n++) {
		autojson *from = parse(NODE), *to = NULL;
		cleanup(node_spec_release) struct node_spec node;
		int r;

		node_spec_init(&node);
		fault_arm(n);
		r = node_spec_from_json(from, &node, NULL);
		if (r == 0)
			r = node_spec_to_json(&node, &to, NULL);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

TEST(effects_by_name)
{
	static const char *const names[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };

	assert_int_equal(ARRAY_SIZE(names), TAINT_EFFECT_MAX);
	for (int i = 0; i < TAINT_EFFECT_MAX; i++) {
		assert_string_equal(taint_effect_to_string((enum taint_effect)i), names[i]);
		assert_int_equal(taint_effect_from_string(names[i]), i);
	}
	assert_int_equal(taint_effect_from_string("No"), TAINT_EFFECT_INVALID);
}

TEST(a_borrowed_request_is_a_pod_of_one_container)
{
	const struct request request = { .kind = REQUEST_WHOLE, .cards = 2 };
	struct demand demand;

	demand_borrow_request(&request, "container main", &demand);
	assert_ptr_equal(demand.requests, &request);
	assert_int_equal(demand.request_count, 1);
	assert_string_equal(demand.object, "container main");
	assert_int_equal(demand.needs.pods, 1);
	assert_int_equal(demand.needs.cpu_milli, 0);
	assert_int_equal(demand.end, INT64_MAX);
}
