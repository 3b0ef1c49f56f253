/* SPDX-License-Identifier: Apache-2.0 */
#include "model/demand.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/fields.h"

#define ITEMS_MAX 4096 /* of any list */

static const char *const kind_names[REQUEST_KIND_MAX] = {
	"none", "whole", "slice", "shared", "mig",
};
static const char *const policy_names[POLICY_MAX] = { "default", "binpack", "spread", "topology" };
static const char *const operator_names[MATCH_OPERATOR_MAX] = {
	[MATCH_IN] = "In",         [MATCH_NOT_IN] = "NotIn",
	[MATCH_EXISTS] = "Exists", [MATCH_DOES_NOT_EXIST] = "DoesNotExist",
	[MATCH_GT] = "Gt",         [MATCH_LT] = "Lt",
};

static const struct field request_fields[] = {
	NAME_FIELD(struct request, "kind", kind, kind_names),
	UINT_FIELD(struct request, "cards", cards, UINT32_MAX),
	UINT_FIELD(struct request, "memoryMiB", memory_mib, UINT64_MAX),
	UINT_FIELD(struct request, "memoryPercent", memory_percent, UINT32_MAX),
	UINT_FIELD(struct request, "units", units, UINT32_MAX),
	UINT_FIELD(struct request, "computePercent", compute_percent, UINT32_MAX),
	TEXT_FIELD(struct request, "migProfile", mig_profile),
	NAME_FIELD(struct request, "policy", policy, policy_names),
};

static const struct field need_fields[] = {
	INT_FIELD(struct demand, "cpuMilli", needs.cpu_milli, 0, INT64_MAX),
	INT_FIELD(struct demand, "memoryMiB", needs.memory_mib, 0, INT64_MAX),
	INT_FIELD(struct demand, "pods", needs.pods, 0, INT64_MAX),
};

static const struct field match_fields[] = {
	NAME_FIELD(struct match, "operator", operator, operator_names),
};

struct list_row {
	const char *key;
	size_t offset; /* in struct request */
};

static const struct list_row request_lists[] = {
	{ "models", offsetof(struct request, models) },
	{ "notModels", offsetof(struct request, not_models) },
	{ "uuids", offsetof(struct request, uuids) },
	{ "notUuids", offsetof(struct request, not_uuids) },
};

static int add_requests(const struct demand *demand, struct json_object *object)
{
	struct json_object *array = fields_add_array(object, "requests");

	for (size_t i = 0; array && i < demand->request_count; i++) {
		const struct request *request = &demand->requests[i];
		struct json_object *item = json_object_new_object();

		if (json_append(array, item) < 0 ||
		    fields_to_json(request_fields, ARRAY_SIZE(request_fields), request, item) < 0)
			return -ENOMEM;
		for (size_t k = 0; k < ARRAY_SIZE(request_lists); k++) {
			const void *list = (const char *)request + request_lists[k].offset;

			if (fields_add_strings(item, request_lists[k].key, list) < 0)
				return -ENOMEM;
		}
	}
	return array ? 0 : -ENOMEM;
}

static int add_selector(const struct demand *demand, struct json_object *object)
{
	struct json_object *array = fields_add_array(object, "selector");

	for (size_t i = 0; array && i < demand->selector_count; i++) {
		struct json_object *item = json_object_new_object();

		if (json_append(array, item) < 0 ||
		    json_add_string(item, "key", demand->selector[i].key) < 0 ||
		    json_add_string(item, "value", demand->selector[i].value) < 0)
			return -ENOMEM;
	}
	return array ? 0 : -ENOMEM;
}

static int add_term(const struct match_term *term, struct json_object *array)
{
	struct json_object *list = json_object_new_array();

	if (json_append(array, list) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < term->count; i++) {
		struct json_object *item = json_object_new_object();

		if (json_append(list, item) < 0 ||
		    json_add_string(item, "key", term->items[i].key) < 0 ||
		    fields_to_json(match_fields, ARRAY_SIZE(match_fields), &term->items[i], item) <
			    0 ||
		    fields_add_strings(item, "values", &term->items[i].values) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_terms(const struct demand *demand, struct json_object *object)
{
	struct json_object *array = fields_add_array(object, "terms");

	for (size_t i = 0; array && i < demand->term_count; i++)
		if (add_term(&demand->terms[i], array) < 0)
			return -ENOMEM;
	return array ? 0 : -ENOMEM;
}

static int add_tolerations(const struct demand *demand, struct json_object *object)
{
	struct json_object *array = fields_add_array(object, "tolerations");

	for (size_t i = 0; array && i < demand->toleration_count; i++) {
		const struct toleration *from = &demand->tolerations[i];
		const char *effect = from->effect == TAINT_EFFECT_MAX
					     ? NULL
					     : taint_effect_to_string(from->effect);
		struct json_object *item = json_object_new_object();

		if (json_append(array, item) < 0 || json_add_string(item, "key", from->key) < 0 ||
		    json_add_string(item, "value", from->value) < 0 ||
		    json_add_string(item, "effect", effect) < 0)
			return -ENOMEM;
	}
	return array ? 0 : -ENOMEM;
}

int demand_to_json(const struct demand *demand, struct json_object **ret, struct error *error)
{
	autojson *object = json_object_new_object();

	if (!object || add_requests(demand, object) < 0 ||
	    fields_to_json(need_fields, ARRAY_SIZE(need_fields), demand, object) < 0 ||
	    add_selector(demand, object) < 0 || add_terms(demand, object) < 0 ||
	    add_tolerations(demand, object) < 0 ||
	    json_add_string(object, "gangDomain", demand->gang_domain) < 0)
		return error_no_memory(error);
	*ret = TAKE_PTR(object);
	return 0;
}

static int read_request(struct json_object *item, const char *where, struct request *request,
			struct error *error)
{
	int r = fields_from_json(request_fields, ARRAY_SIZE(request_fields), item, where, request,
				 error);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(request_lists); i++) {
		void *list = (char *)request + request_lists[i].offset;

		r = fields_read_strings(item, where, request_lists[i].key, ITEMS_MAX, list, error);
	}
	return r;
}

static int read_requests(struct json_object *object, struct demand *demand, struct error *error)
{
	struct json_object *array;
	int r = fields_array(object, "demand", "requests", DEMAND_REQUESTS_MAX, &array, error);

	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
		struct request *request = VEC_ADD(&demand->requests, &demand->request_count,
						  &demand->request_capacity);
		char where[64];

		if (!request)
			return error_no_memory(error);
		snprintf(where, sizeof(where), "demand.requests[%zu]", i);
		r = read_request(json_object_array_get_idx(array, i), where, request, error);
	}
	return r;
}

static int read_selector(struct json_object *object, struct demand *demand, struct error *error)
{
	struct json_object *array;
	int r = fields_array(object, "demand", "selector", ITEMS_MAX, &array, error);

	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
		struct json_object *item = json_object_array_get_idx(array, i);
		struct label *label = VEC_ADD(&demand->selector, &demand->selector_count,
					      &demand->selector_capacity);
		char where[64];

		if (!label)
			return error_no_memory(error);
		snprintf(where, sizeof(where), "demand.selector[%zu]", i);
		r = fields_read_string(item, where, "key", false, &label->key, error);
		if (r == 0)
			r = fields_read_string(item, where, "value", false, &label->value, error);
	}
	return r;
}

static int read_match(struct json_object *item, const char *where, struct match *match,
		      struct error *error)
{
	int r = fields_from_json(match_fields, ARRAY_SIZE(match_fields), item, where, match, error);

	if (r == 0)
		r = fields_read_string(item, where, "key", true, &match->key, error);
	if (r == 0)
		r = fields_read_strings(item, where, "values", ITEMS_MAX, &match->values, error);
	return r;
}

static int read_term(struct json_object *list, size_t number, struct match_term *term,
		     struct error *error)
{
	int r = 0;

	if (!json_object_is_type(list, json_type_array))
		return error_set(error, EINVAL, "demand.terms[%zu] must be a list", number);
	if (json_object_array_length(list) > ITEMS_MAX)
		return error_set(error, EINVAL, "demand.terms[%zu] has more than %d items", number,
				 ITEMS_MAX);
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++) {
		struct match *match = VEC_ADD(&term->items, &term->count, &term->capacity);
		char where[64];

		if (!match)
			return error_no_memory(error);
		snprintf(where, sizeof(where), "demand.terms[%zu][%zu]", number, i);
		r = read_match(json_object_array_get_idx(list, i), where, match, error);
	}
	return r;
}

static int read_terms(struct json_object *object, struct demand *demand, struct error *error)
{
	struct json_object *array;
	int r = fields_array(object, "demand", "terms", ITEMS_MAX, &array, error);

	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
		struct match_term *term =
			VEC_ADD(&demand->terms, &demand->term_count, &demand->term_capacity);

		if (!term)
			return error_no_memory(error);
		r = read_term(json_object_array_get_idx(array, i), i, term, error);
	}
	return r;
}

static int read_toleration(struct json_object *item, const char *where, struct toleration *ret,
			   struct error *error)
{
	autofree char *effect = NULL;
	int r = fields_read_string(item, where, "key", true, &ret->key, error);

	if (r == 0)
		r = fields_read_string(item, where, "value", true, &ret->value, error);
	if (r == 0)
		r = fields_read_string(item, where, "effect", true, &effect, error);
	if (r < 0)
		return r;
	ret->effect = effect ? taint_effect_from_string(effect) : TAINT_EFFECT_MAX;
	if ((int)ret->effect < 0)
		return error_set(error, EINVAL, "%s.effect is '%.32s', which is unknown", where,
				 effect);
	return 0;
}

static int read_tolerations(struct json_object *object, struct demand *demand, struct error *error)
{
	struct json_object *array;
	int r = fields_array(object, "demand", "tolerations", ITEMS_MAX, &array, error);

	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
		struct toleration *toleration =
			VEC_ADD(&demand->tolerations, &demand->toleration_count,
				&demand->toleration_capacity);
		char where[64];

		if (!toleration)
			return error_no_memory(error);
		snprintf(where, sizeof(where), "demand.tolerations[%zu]", i);
		r = read_toleration(json_object_array_get_idx(array, i), where, toleration, error);
	}
	return r;
}

int demand_from_json(struct json_object *object, struct demand *ret, struct error *error)
{
	cleanup(demand_release) struct demand demand;
	int r;

	demand_init(&demand);
	r = fields_from_json(need_fields, ARRAY_SIZE(need_fields), object, "demand", &demand,
			     error);
	if (r == 0)
		r = read_requests(object, &demand, error);
	if (r == 0)
		r = read_selector(object, &demand, error);
	if (r == 0)
		r = read_terms(object, &demand, error);
	if (r == 0)
		r = read_tolerations(object, &demand, error);
	if (r == 0)
		r = fields_read_string(object, "demand", "gangDomain", true, &demand.gang_domain,
				       error);
	if (r < 0)
		return r;
	*ret = demand;
	demand_init(&demand);
	return 0;
}
