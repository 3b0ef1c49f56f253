/* SPDX-License-Identifier: Apache-2.0 */
#include "model/poolnode.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/card_forms.h"
#include "model/mig.h"

#define CARD_GRANTS_MAX 512 /* of one card */
#define NAME_LONGEST    254 /* of a namespace, Pod, container or uid, with the end */
#define UNITS_MAX       (1u << 20)

struct shown_card { /* as the object has it */
	char uuid[CARD_UUID_MAX], model[CARD_MODEL_MAX], driver[80];
	unsigned index;
	uint64_t memory_mib;
	enum card_mode mode;
	int numa;
	enum card_health health;
	char reason[CARD_TEXT_MAX], since[UTC_TEXT_MAX];
	unsigned total, granted, foreign;
};

struct shown_grant { /* what one container holds of one card */
	char namespace[NAME_LONGEST], pod[NAME_LONGEST], uid[NAME_LONGEST], container[NAME_LONGEST];
	enum enforcement enforcement;
	unsigned cards, units;
	uint64_t memory_mib;
	unsigned compute_percent;
	char mig_profile[CARD_MIG_MAX];
	unsigned mig_start;
};

/* Of each table the first REQUIRED rows must be there. */
#define CARD_REQUIRED 3
static const struct field card_fields[] = {
	WORD_FIELD(struct shown_card, "uuid", uuid),
	TEXT_FIELD(struct shown_card, "model", model),
	UINT_FIELD(struct shown_card, "memoryMiB", memory_mib, (uint64_t)UNITS_MAX *MIB_PER_UNIT),
	MAYBE_FIELD(struct shown_card, "index", index),
	WORD_FIELD(struct shown_card, "driver", driver),
	NAME_FIELD(struct shown_card, "mode", mode, card_mode_table),
	INT_FIELD(struct shown_card, "numa", numa, -1, 4095),
};

#define HEALTH_REQUIRED 1
static const struct field health_fields[] = {
	NAME_FIELD(struct shown_card, "state", health, card_health_table),
	TEXT_FIELD(struct shown_card, "reason", reason),
};
/* Not there when unknown: the API server takes no empty time. */
static const struct field since_field = WORD_FIELD(struct shown_card, "since", since);

static const struct field unit_fields[] = {
	UINT_FIELD(struct shown_card, "total", total, UNITS_MAX),
	UINT_FIELD(struct shown_card, "granted", granted, UNITS_MAX),
	UINT_FIELD(struct shown_card, "foreign", foreign, UNITS_MAX),
};

#define GRANT_REQUIRED 2
static const struct field grant_fields[] = {
	WORD_FIELD(struct shown_grant, "namespace", namespace),
	WORD_FIELD(struct shown_grant, "pod", pod),
	WORD_FIELD(struct shown_grant, "uid", uid),
	WORD_FIELD(struct shown_grant, "container", container),
	NAME_FIELD(struct shown_grant, "enforcement", enforcement, enforcement_table),
};
static const struct field whole_fields[] = {
	INT_FIELD(struct shown_grant, "cards", cards, 1, 1),
};
static const struct field slice_fields[] = {
	INT_FIELD(struct shown_grant, "units", units, 1, UNITS_MAX),
	UINT_FIELD(struct shown_grant, "memoryMiB", memory_mib, (uint64_t)UNITS_MAX *MIB_PER_UNIT),
	UINT_FIELD(struct shown_grant, "computePercent", compute_percent, 100),
};
static const struct field mig_fields[] = {
	TEXT_FIELD(struct shown_grant, "migProfile", mig_profile),
	UINT_FIELD(struct shown_grant, "migStart", mig_start, MIG_SLICES_MAX - 1),
};

/* What a grant has beside names: the key of the first field says which one it is. */
static const struct grant_form {
	enum request_kind kind;
	const struct field *fields;
	size_t count, required;
} grant_forms[] = {
	{ REQUEST_WHOLE, whole_fields, ARRAY_SIZE(whole_fields), 1 },
	{ REQUEST_SLICE, slice_fields, ARRAY_SIZE(slice_fields), 1 },
	{ REQUEST_MIG, mig_fields, ARRAY_SIZE(mig_fields), 2 },
};

void poolnode_release(struct poolnode *node)
{
	free(node->name);
	inventory_release(&node->inventory);
	for (size_t i = 0; i < node->grant_count; i++)
		grant_release(&node->grants[i]);
	free(node->grants);
	*node = (struct poolnode){ .name = NULL };
}

/* ---- writing ---- */

/* NULL for a kind that has no form. */
static const struct grant_form *form_of(enum request_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(grant_forms); i++)
		if (grant_forms[i].kind == kind)
			return &grant_forms[i];
	return NULL;
}

static unsigned units_of(const struct grant *grant, const struct grant_card *held,
			 const struct card *card)
{
	const struct mig_model *model;
	const struct mig_profile *profile;

	if (grant->kind == REQUEST_WHOLE)
		return card_units(card);
	if (grant->kind != REQUEST_MIG)
		return held->units;
	model = mig_model_find(card->model);
	profile = model ? mig_profile_find(model, grant->mig_profile) : NULL;
	return profile ? (profile->memory_mib + MIB_PER_UNIT - 1) / MIB_PER_UNIT : 0;
}

static unsigned units_granted(const struct poolnode *node, const struct card *card)
{
	uint64_t units = 0;

	for (size_t i = 0; i < node->grant_count; i++) {
		const struct grant *grant = &node->grants[i];

		for (size_t k = 0; k < grant->card_count; k++)
			if (strcmp(grant->cards[k].uuid, card->uuid) == 0)
				units += units_of(grant, &grant->cards[k], card);
	}
	return units < UNITS_MAX ? (unsigned)units : UNITS_MAX;
}

static void show_card(const struct poolnode *node, const struct card *card, struct shown_card *ret)
{
	uint64_t foreign = card_foreign_mib(card);

	foreign = foreign / MIB_PER_UNIT + (foreign % MIB_PER_UNIT != 0);
	*ret = (struct shown_card){
		.index = card->index,
		.memory_mib = card->memory_bytes >> 20,
		.mode = card->mode,
		.numa = card->numa,
		.health = card->condition.health,
		.total = card_units(card),
		.granted = units_granted(node, card),
		.foreign = foreign < UNITS_MAX ? (unsigned)foreign : UNITS_MAX,
	};
	snprintf(ret->uuid, sizeof(ret->uuid), "%s", card->uuid);
	snprintf(ret->model, sizeof(ret->model), "%s", card->model);
	snprintf(ret->driver, sizeof(ret->driver), "%s", node->inventory.driver_version);
	snprintf(ret->reason, sizeof(ret->reason), "%s", card->condition.cause);
	if (card->condition.since)
		utc_format(card->condition.since, ret->since);
}

/* An object of the fields under KEY. */
static int add_part(struct json_object *object, const char *key, const struct field *fields,
		    size_t count, const void *base)
{
	struct json_object *part = json_object_new_object();

	if (json_add(object, key, part) < 0)
		return -ENOMEM;
	return fields_to_json(fields, count, base, part);
}

static void show_name(const char *name, char ret[static NAME_LONGEST])
{
	snprintf(ret, NAME_LONGEST, "%s", name ? name : "");
}

static int add_grant(const struct grant *grant, const struct grant_card *card,
		     struct json_object *array)
{
	const struct grant_form *form = form_of(grant->kind);
	autojson *object = json_object_new_object();
	struct shown_grant shown = { .enforcement = grant->enforcement,
				     .cards = 1,
				     .units = card->units,
				     .memory_mib = card->memory_mib,
				     .compute_percent = card->compute_percent,
				     .mig_start = card->mig_start };

	show_name(grant->namespace, shown.namespace);
	show_name(grant->pod, shown.pod);
	show_name(grant->uid, shown.uid);
	show_name(grant->container, shown.container);
	snprintf(shown.mig_profile, sizeof(shown.mig_profile), "%s", grant->mig_profile);
	if (!object || fields_to_json(grant_fields, ARRAY_SIZE(grant_fields), &shown, object) < 0 ||
	    fields_to_json(form->fields, form->count, &shown, object) < 0)
		return -ENOMEM;
	return json_append(array, TAKE_PTR(object));
}

static int add_grants(const struct poolnode *node, const struct card *card,
		      struct json_object *object)
{
	struct json_object *array = fields_add_array(object, "grants");

	if (!array)
		return -ENOMEM;
	for (size_t i = 0; i < node->grant_count; i++) {
		const struct grant *grant = &node->grants[i];

		for (size_t k = 0; k < grant->card_count; k++)
			if (strcmp(grant->cards[k].uuid, card->uuid) == 0 &&
			    add_grant(grant, &grant->cards[k], array) < 0)
				return -ENOMEM;
	}
	return 0;
}

static int add_card(const struct poolnode *node, const struct card *card,
		    const struct shown_card *shown, struct json_object *array)
{
	autojson *object = json_object_new_object();

	if (!object || fields_to_json(card_fields, ARRAY_SIZE(card_fields), shown, object) < 0 ||
	    add_part(object, "health", health_fields, ARRAY_SIZE(health_fields), shown) < 0 ||
	    add_part(object, "units", unit_fields, ARRAY_SIZE(unit_fields), shown) < 0 ||
	    field_list_to_json(&card_link_list, card, object) < 0 ||
	    field_list_to_json(&card_mig_list, card, object) < 0 ||
	    add_grants(node, card, object) < 0)
		return -ENOMEM;
	if (shown->since[0] &&
	    fields_to_json(&since_field, 1, shown, json_get(object, "health")) < 0)
		return -ENOMEM;
	return json_append(array, TAKE_PTR(object));
}

struct sums { /* of all cards, for the columns of kubectl */
	unsigned states[CARD_HEALTH_MAX];
	uint64_t free, granted;
};

static void sums_add(struct sums *sums, const struct shown_card *card)
{
	uint64_t taken = (uint64_t)card->granted + card->foreign;

	sums->states[card->health]++;
	sums->granted += card->granted;
	if (card->health == CARD_HEALTHY && taken < card->total)
		sums->free += card->total - taken;
}

/* "healthy", "1 suspect, 2 lost", "no cards" */
static void health_text(const struct sums *sums, char *ret, size_t size)
{
	const unsigned *states = sums->states;

	if (states[CARD_SUSPECT] && states[CARD_LOST])
		snprintf(ret, size, "%u suspect, %u lost", states[CARD_SUSPECT], states[CARD_LOST]);
	else if (states[CARD_SUSPECT])
		snprintf(ret, size, "%u suspect", states[CARD_SUSPECT]);
	else if (states[CARD_LOST])
		snprintf(ret, size, "%u lost", states[CARD_LOST]);
	else
		snprintf(ret, size, states[CARD_HEALTHY] ? "healthy" : "no cards");
}

static int add_status(const struct poolnode *node, struct json_object *object)
{
	struct json_object *status = json_object_new_object();
	struct sums sums = { .free = 0 };
	char health[64];

	if (json_add(object, "status", status) < 0)
		return -ENOMEM;
	struct json_object *cards = fields_add_array(status, "cards");
	struct json_object *summary = json_object_new_object();
	if (json_add(status, "summary", summary) < 0 || !cards)
		return -ENOMEM;
	for (size_t i = 0; i < node->inventory.card_count; i++) {
		struct shown_card shown;

		show_card(node, &node->inventory.cards[i], &shown);
		if (add_card(node, &node->inventory.cards[i], &shown, cards) < 0)
			return -ENOMEM;
		sums_add(&sums, &shown);
	}
	health_text(&sums, health, sizeof(health));
	if (json_add_uint(summary, "cards", node->inventory.card_count) < 0 ||
	    json_add_uint(summary, "freeGiB", sums.free) < 0 ||
	    json_add_uint(summary, "grantedGiB", sums.granted) < 0 ||
	    json_add_string(summary, "health", health) < 0)
		return -ENOMEM;
	return 0;
}

int poolnode_to_json(const struct poolnode *node, struct json_object **ret, struct error *error)
{
	autojson *object = json_object_new_object();
	struct json_object *metadata = json_object_new_object();

	for (size_t i = 0; i < node->grant_count; i++) {
		const struct grant *grant = &node->grants[i];

		if (grant->card_count && !form_of(grant->kind)) {
			json_object_put(metadata);
			return error_set(error, EINVAL,
					 "a PoolNode cannot show the grant of container %s, which "
					 "is of kind %s",
					 grant->container, request_kind_to_string(grant->kind));
		}
	}
	if (json_add(object, "metadata", metadata) < 0 ||
	    json_add_string(object, "apiVersion", POOLNODE_API_VERSION) < 0 ||
	    json_add_string(object, "kind", POOLNODE_KIND) < 0 ||
	    json_add_string(metadata, "name", node->name) < 0 || add_status(node, object) < 0)
		return error_no_memory(error);
	*ret = TAKE_PTR(object);
	return 0;
}

/* ---- reading ---- */

/* The first REQUIRED fields must be there, the others may. */
static int read_fields(const struct field *fields, size_t count, size_t required,
		       struct json_object *object, const char *where, void *base,
		       struct error *error)
{
	int r = fields_from_json(fields, required, object, where, base, error);

	for (size_t i = required; r == 0 && i < count; i++)
		if (json_object_object_get_ex(object, fields[i].key, NULL))
			r = fields_from_json(&fields[i], 1, object, where, base, error);
	return r;
}

static int read_health(struct json_object *object, const char *where, struct shown_card *card,
		       int64_t *ret_since, struct error *error)
{
	struct json_object *health;
	char name[96];

	if (!json_object_object_get_ex(object, "health", &health))
		return 0;
	snprintf(name, sizeof(name), "%s.health", where);
	int r = read_fields(health_fields, ARRAY_SIZE(health_fields), HEALTH_REQUIRED, health, name,
			    card, error);
	if (r == 0)
		r = read_fields(&since_field, 1, 0, health, name, card, error);
	if (r == 0 && card->since[0] && utc_parse(card->since, ret_since) < 0)
		return error_set(error, EINVAL,
				 "%s.since is '%s'; write it as 2026-11-30T08:00:00Z", name,
				 card->since);
	return r;
}

static int read_units(struct json_object *object, const char *where, struct shown_card *card,
		      struct error *error)
{
	struct json_object *units;
	char name[96];

	if (!json_object_object_get_ex(object, "units", &units))
		return 0;
	snprintf(name, sizeof(name), "%s.units", where);
	return read_fields(unit_fields, ARRAY_SIZE(unit_fields), 0, units, name, card, error);
}

static int read_list(const struct field_list *list, struct json_object *object, const char *where,
		     struct card *card, struct error *error)
{
	return json_object_object_get_ex(object, list->key, NULL)
		       ? field_list_from_json(list, object, where, card, error)
		       : 0;
}

static int fill_card(const struct shown_card *shown, int64_t since, struct card *card,
		     struct error *error)
{
	card->index = shown->index;
	card->memory_bytes = shown->memory_mib << 20;
	card->mode = shown->mode;
	card->mig_enabled = card->mig_capable = shown->mode == CARD_MODE_MIG;
	card->numa = shown->numa;
	card->condition.health = shown->health;
	card->condition.since = since;
	snprintf(card->uuid, sizeof(card->uuid), "%s", shown->uuid);
	snprintf(card->model, sizeof(card->model), "%s", shown->model);
	snprintf(card->condition.cause, sizeof(card->condition.cause), "%s", shown->reason);
	if (!shown->foreign)
		return 0;
	struct card_process *process =
		VEC_ADD(&card->processes, &card->process_count, &card->process_capacity);
	if (!process)
		return error_no_memory(error);
	process->uid = UINT32_MAX;
	process->used_mib = (uint64_t)shown->foreign * MIB_PER_UNIT;
	return 0;
}

/* The grant of that container, a new one when it has none yet. */
static struct grant *find_grant(struct poolnode *node, const struct shown_grant *shown,
				enum request_kind kind)
{
	const char *const names[] = { shown->namespace, shown->pod, shown->uid, shown->container };

	for (size_t i = 0; i < node->grant_count; i++) {
		struct grant *grant = &node->grants[i];

		if (strcmp(grant->pod, shown->pod) == 0 &&
		    strcmp(grant->container, shown->container) == 0 &&
		    strcmp(grant->namespace, shown->namespace) == 0 &&
		    strcmp(grant->uid, shown->uid) == 0)
			return grant;
	}
	struct grant *grant = VEC_ADD(&node->grants, &node->grant_count, &node->grant_capacity);
	if (!grant)
		return NULL;
	char **const copies[] = { &grant->namespace, &grant->pod, &grant->uid, &grant->container };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		*copies[i] = strdup(names[i]);
		if (!*copies[i])
			return NULL;
	}
	grant->kind = kind;
	grant->enforcement = shown->enforcement;
	snprintf(grant->mig_profile, sizeof(grant->mig_profile), "%s", shown->mig_profile);
	return grant;
}

/* A card is there once, a MIG instance too. */
static bool holds_already(const struct grant *grant, const struct shown_grant *shown,
			  const struct card *card)
{
	for (size_t i = 0; i < grant->card_count; i++)
		if (strcmp(grant->cards[i].uuid, card->uuid) == 0 &&
		    (grant->kind != REQUEST_MIG || grant->cards[i].mig_start == shown->mig_start))
			return true;
	return false;
}

static int take_grant(struct poolnode *node, const struct shown_grant *shown,
		      enum request_kind kind, const struct card *card, const char *where,
		      struct error *error)
{
	struct grant *grant = find_grant(node, shown, kind);

	if (!grant)
		return error_no_memory(error);
	if (grant->kind != kind || strcmp(grant->mig_profile, shown->mig_profile) != 0)
		return error_set(error, EINVAL,
				 "%s: container '%s' of Pod %s/%s holds another card in another "
				 "way; it must be cards, units or one migProfile on all of them",
				 where, shown->container, shown->namespace, shown->pod);
	if (holds_already(grant, shown, card))
		return error_set(error, EINVAL,
				 "%s: container '%s' of Pod %s/%s is there twice on this card; "
				 "write it once, with the sum",
				 where, shown->container, shown->namespace, shown->pod);
	struct grant_card *held = VEC_ADD(&grant->cards, &grant->card_count, &grant->card_capacity);
	if (!held)
		return error_no_memory(error);
	*held = (struct grant_card){ .units = kind == REQUEST_WHOLE ? card_units(card)
								    : shown->units,
				     .memory_mib = shown->memory_mib,
				     .compute_percent = shown->compute_percent,
				     .mig_start = shown->mig_start };
	snprintf(held->uuid, sizeof(held->uuid), "%s", card->uuid);
	return 0;
}

static int find_form(struct json_object *object, const char *where, const struct grant_form **ret,
		     struct error *error)
{
	const struct grant_form *form = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(grant_forms); i++) {
		if (!json_object_object_get_ex(object, grant_forms[i].fields[0].key, NULL))
			continue;
		if (form)
			return error_set(error, EINVAL, "%s has both %s and %s; write one of them",
					 where, form->fields[0].key, grant_forms[i].fields[0].key);
		form = &grant_forms[i];
	}
	if (!form)
		return error_set(error, EINVAL,
				 "%s does not say what is held; write \"cards\": 1 for the whole "
				 "card, units for GiB of it, or migProfile and migStart",
				 where);
	*ret = form;
	return 0;
}

static int read_grant(struct json_object *object, const char *where, struct poolnode *node,
		      const struct card *card, struct error *error)
{
	struct shown_grant shown = { .cards = 0 };
	const struct grant_form *form = &grant_forms[0];

	int r = read_fields(grant_fields, ARRAY_SIZE(grant_fields), GRANT_REQUIRED, object, where,
			    &shown, error);
	if (r == 0)
		r = find_form(object, where, &form, error);
	if (r == 0)
		r = read_fields(form->fields, form->count, form->required, object, where, &shown,
				error);
	if (r < 0)
		return r;
	if (!shown.memory_mib)
		shown.memory_mib = (uint64_t)shown.units * MIB_PER_UNIT;
	return take_grant(node, &shown, form->kind, card, where, error);
}

static int read_grants(struct json_object *object, const char *where, struct poolnode *node,
		       const struct card *card, struct error *error)
{
	struct json_object *array;

	if (!json_object_object_get_ex(object, "grants", NULL))
		return 0;
	int r = fields_array(object, where, "grants", CARD_GRANTS_MAX, &array, error);
	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
		char name[96];

		snprintf(name, sizeof(name), "%s.grants[%zu]", where, i);
		r = read_grant(json_object_array_get_idx(array, i), name, node, card, error);
	}
	return r;
}

static int read_card(struct json_object *object, size_t index, struct poolnode *node,
		     struct error *error)
{
	struct inventory *inventory = &node->inventory;
	struct shown_card shown = { .index = (unsigned)index, .mode = CARD_MODE_AUTO, .numa = -1 };
	int64_t since = 0;
	char where[64];
	struct card *card =
		VEC_ADD(&inventory->cards, &inventory->card_count, &inventory->card_capacity);

	if (!card)
		return error_no_memory(error);
	snprintf(where, sizeof(where), "status.cards[%zu]", index);
	int r = read_fields(card_fields, ARRAY_SIZE(card_fields), CARD_REQUIRED, object, where,
			    &shown, error);
	if (r == 0)
		r = read_health(object, where, &shown, &since, error);
	if (r == 0)
		r = read_units(object, where, &shown, error);
	if (r == 0)
		r = fill_card(&shown, since, card, error);
	if (r == 0)
		r = read_list(&card_link_list, object, where, card, error);
	if (r == 0)
		r = read_list(&card_mig_list, object, where, card, error);
	if (r == 0)
		r = read_grants(object, where, node, card, error);
	if (r == 0 && !inventory->driver_version[0])
		snprintf(inventory->driver_version, sizeof(inventory->driver_version), "%s",
			 shown.driver);
	return r;
}

static int read_head(struct json_object *object, struct poolnode *node, struct error *error)
{
	const char *version = json_get_string(object, "apiVersion", "");

	if (strcmp(json_get_string(object, "kind", ""), POOLNODE_KIND) != 0 ||
	    strcmp(version, POOLNODE_API_VERSION) != 0)
		return error_set(error, EINVAL,
				 "this is no PoolNode of " POOLNODE_API_VERSION
				 " but a '%.64s' of '%.64s'",
				 json_get_string(object, "kind", ""), version);
	int r = fields_read_string(json_get(object, "metadata"), "metadata", "name", false,
				   &node->name, error);
	if (r == 0 && !node->name[0])
		return error_set(error, EINVAL, "metadata.name is empty");
	return r;
}

int poolnode_from_json(struct json_object *object, struct poolnode *ret, struct error *error)
{
	cleanup(poolnode_release) struct poolnode node = { .name = NULL };
	struct json_object *status = json_get(object, "status"), *array;

	int r = read_head(object, &node, error);
	if (r < 0)
		return r;
	/* A node whose daemon has not written yet has no status: no cards. */
	if (status) {
		r = fields_array(status, "status", "cards", CARDS_MAX, &array, error);
		for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++)
			r = read_card(json_object_array_get_idx(array, i), i, &node, error);
	}
	if (r == 0)
		r = inventory_check(&node.inventory, error);
	if (r < 0)
		return error_wrap(error, "PoolNode %s", node.name);
	*ret = node;
	node = (struct poolnode){ .name = NULL };
	return 0;
}
