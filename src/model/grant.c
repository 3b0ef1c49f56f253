/* SPDX-License-Identifier: Apache-2.0 */
#include "model/grant.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/card_forms.h"
#include "model/mig.h"

#define GRANT_VERSION  1
#define GRANT_NAME_MAX 253 /* of a namespace, Pod, container or uid */
#define MIG_FIELDS     1   /* the last of card_fields, of grants of kind mig only */

const char *const enforcement_table[ENFORCEMENT_MAX] = {
	[ENFORCEMENT_WHOLE] = "whole card",
	[ENFORCEMENT_NONE] = "none (reserved only)",
};
DEFINE_STRING_TABLE(enforcement, enum enforcement, ENFORCEMENT_MAX)

static const struct field card_fields[] = {
	WORD_FIELD(struct grant_card, "uuid", uuid),
	UINT_FIELD(struct grant_card, "units", units, UINT32_MAX),
	UINT_FIELD(struct grant_card, "memoryMiB", memory_mib, 1ull << 40),
	UINT_FIELD(struct grant_card, "computePercent", compute_percent, 100),
	UINT_FIELD(struct grant_card, "migStart", mig_start, MIG_SLICES_MAX - 1),
};
static const struct field profile_field = TEXT_FIELD(struct grant, "migProfile", mig_profile);

static size_t count_card_fields(const struct grant *grant)
{
	return ARRAY_SIZE(card_fields) - (grant->kind == REQUEST_MIG ? 0 : MIG_FIELDS);
}

void grant_release(struct grant *grant)
{
	free(grant->namespace);
	free(grant->pod);
	free(grant->uid);
	free(grant->container);
	free(grant->cards);
	*grant = (struct grant){ 0 };
}

static int cards_to_json(const struct grant *grant, struct json_object *object)
{
	struct json_object *array;

	if (grant->kind == REQUEST_MIG && fields_to_json(&profile_field, 1, grant, object) < 0)
		return -ENOMEM;
	array = fields_add_array(object, "cards");
	if (!array)
		return -ENOMEM;
	for (size_t i = 0; i < grant->card_count; i++) {
		autojson *card = json_object_new_object();
		if (!card ||
		    fields_to_json(card_fields, count_card_fields(grant), &grant->cards[i], card) <
			    0 ||
		    json_append(array, TAKE_PTR(card)) < 0)
			return -ENOMEM;
	}
	return 0;
}

int grant_to_json(const struct grant *grant, struct json_object **ret, struct error *error)
{
	autojson *object = json_object_new_object();

	if (!object || json_add_uint(object, "version", GRANT_VERSION) < 0 ||
	    json_add_string(object, "namespace", grant->namespace ? grant->namespace : "") < 0 ||
	    json_add_string(object, "pod", grant->pod ? grant->pod : "") < 0 ||
	    json_add_string(object, "uid", grant->uid ? grant->uid : "") < 0 ||
	    json_add_string(object, "container", grant->container ? grant->container : "") < 0 ||
	    json_add_string(object, "kind", request_kind_to_string(grant->kind)) < 0 ||
	    json_add_string(object, "enforcement", enforcement_to_string(grant->enforcement)) < 0 ||
	    cards_to_json(grant, object) < 0)
		return error_no_memory(error);
	*ret = TAKE_PTR(object);
	return 0;
}

static int read_name(struct json_object *object, const char *key, char **ret, struct error *error)
{
	char text[GRANT_NAME_MAX + 1];
	const struct field field = { key, FIELD_WORD, 0, sizeof(text), 0, 0, NULL, 0 };

	int r = fields_from_json(&field, 1, object, "grant", text, error);
	if (r < 0)
		return r;
	*ret = strdup(text);
	return *ret ? 0 : error_no_memory(error);
}

static int read_names(struct json_object *object, struct grant *grant, struct error *error)
{
	const struct {
		const char *key;
		char **to;
	} names[] = {
		{ "namespace", &grant->namespace },
		{ "pod", &grant->pod },
		{ "uid", &grant->uid },
		{ "container", &grant->container },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int r = read_name(object, names[i].key, names[i].to, error);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_kinds(struct json_object *object, struct grant *grant, struct error *error)
{
	const char *kind = json_get_string(object, "kind", "");
	const char *enforcement = json_get_string(object, "enforcement", "");

	grant->kind = request_kind_from_string(kind);
	grant->enforcement = enforcement_from_string(enforcement);
	if ((int)grant->kind < 0)
		return error_set(error, EINVAL,
				 "grant.kind is '%.32s'; it must be none, whole, slice, shared or "
				 "mig",
				 kind);
	if ((int)grant->enforcement < 0)
		return error_set(error, EINVAL, "grant.enforcement is '%.32s', which is unknown",
				 enforcement);
	return grant->kind == REQUEST_MIG
		       ? fields_from_json(&profile_field, 1, object, "grant", grant, error)
		       : 0;
}

static int read_cards(struct json_object *object, struct grant *grant, struct error *error)
{
	struct json_object *array;

	int r = fields_array(object, "grant", "cards", CARDS_MAX, &array, error);
	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
		char where[64];
		struct grant_card *card =
			VEC_ADD(&grant->cards, &grant->card_count, &grant->card_capacity);
		if (!card)
			return error_no_memory(error);
		snprintf(where, sizeof(where), "grant.cards[%zu]", i);
		r = fields_from_json(card_fields, count_card_fields(grant),
				     json_object_array_get_idx(array, i), where, card, error);
		if (r == 0 && !card->uuid[0])
			return error_set(error, EINVAL, "%s.uuid is empty", where);
	}
	if (r == 0 && grant->kind == REQUEST_NONE && grant->card_count)
		return error_set(error, EINVAL, "grant.kind is 'none' and grant.cards names %zu",
				 grant->card_count);
	return r;
}

int grant_from_json(struct json_object *object, struct grant *ret, struct error *error)
{
	cleanup(grant_release) struct grant grant = { 0 };

	int r = fields_check_version(object, "the grant", GRANT_VERSION, error);
	if (r == 0)
		r = read_names(object, &grant, error);
	if (r == 0)
		r = read_kinds(object, &grant, error);
	if (r == 0)
		r = read_cards(object, &grant, error);
	if (r < 0)
		return r;
	*ret = grant;
	grant = (struct grant){ 0 };
	return 0;
}
