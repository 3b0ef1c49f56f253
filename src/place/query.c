/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <string.h>

static bool any_pattern(const struct string_list *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (parse_glob(patterns->items[i], text))
			return true;
	return false;
}

static void add_sorted(uint32_t *cards, unsigned *count, uint32_t card)
{
	unsigned at = *count;

	while (at > 0 && cards[at - 1] > card)
		at--;
	if (at > 0 && cards[at - 1] == card)
		return;
	memmove(cards + at + 1, cards + at, (*count - at) * sizeof(*cards));
	cards[at] = card;
	(*count)++;
}

static void look_up(const struct pool *pool, const struct string_list *uuids, uint32_t *cards,
		    unsigned *count)
{
	*count = 0;
	for (size_t i = 0; i < uuids->count && i < REQUEST_UUID_MAX; i++) {
		uintptr_t number = (uintptr_t)map_get(pool->uuids, uuids->items[i]);

		if (number)
			add_sorted(cards, count, (uint32_t)(number - 1));
	}
}

void query_init(const struct pool *pool, const struct demand *demand, struct query *ret)
{
	const struct request *request = demand->request_count ? &demand->requests[0] : NULL;

	ret->demand = demand;
	ret->request = request;
	ret->object = demand->object ? demand->object : "the Pod";
	ret->models = (struct model_set){ { 0 } };
	ret->named_count = ret->excluded_count = 0;
	ret->by_name = request && request->uuids.count > 0;
	if (!request)
		return;
	for (unsigned i = 0; i < pool->model_count; i++) {
		const char *model = pool->models[i];

		if (request->models.count && !any_pattern(&request->models, model))
			continue;
		if (!any_pattern(&request->not_models, model))
			model_set_add(&ret->models, i);
	}
	look_up(pool, &request->uuids, ret->named, &ret->named_count);
	look_up(pool, &request->not_uuids, ret->excluded, &ret->excluded_count);
}

bool query_any_model(const struct query *query)
{
	for (size_t i = 0; i < ARRAY_SIZE(query->models.words); i++)
		if (query->models.words[i])
			return true;
	return false;
}

static const char *check_slice(const struct request *request, char *text, size_t size)
{
	if (request->compute_percent > COMPUTE_WHOLE)
		reason_text(text, size, "%u %% of a card's compute is more than the whole card",
			    request->compute_percent);
	else if (request->units == 0 && request->memory_percent > 100)
		reason_text(text, size, "%u %% of a card's memory is more than the whole card",
			    request->memory_percent);
	else if (request->units == 0 && request->memory_percent == 0)
		reason_text(text, size, "a slice of 0 GiB holds nothing");
	else if (request->units &&
		 request->memory_mib / MIB_PER_UNIT + (request->memory_mib % MIB_PER_UNIT != 0) >
			 request->units)
		reason_text(text, size, "%llu MiB do not fit in a slice of %u GiB",
			    (unsigned long long)request->memory_mib, request->units);
	else
		return NULL;
	return text;
}

static const char *check_request(const struct request *request, char *text, size_t size)
{
	if (request->kind <= REQUEST_NONE || request->kind >= REQUEST_KIND_MAX) {
		reason_text(text, size, "it asks for no card");
		return text;
	}
	if (request->cards == 0) {
		reason_text(text, size, "it asks for 0 cards");
		return text;
	}
	if (request->kind == REQUEST_MIG && request->cards > MIG_INSTANCES_MAX) {
		reason_text(text, size, "it asks for %u MIG instances, and %u are the most",
			    request->cards, MIG_INSTANCES_MAX);
		return text;
	}
	if (request->uuids.count > REQUEST_UUID_MAX ||
	    request->not_uuids.count > REQUEST_UUID_MAX) {
		reason_text(text, size, "it names more than %u UUIDs", REQUEST_UUID_MAX);
		return text;
	}
	return request->kind == REQUEST_SLICE ? check_slice(request, text, size) : NULL;
}

const char *query_check(const struct demand *demand, char *text, size_t size)
{
	char inner[REASON_TEXT_MAX];

	if (demand->request_count == 1)
		return check_request(demand->requests, text, size);
	if (demand->request_count > DEMAND_REQUESTS_MAX) {
		reason_text(text, size, "%zu of its containers ask for cards, and %d are the most",
			    demand->request_count, DEMAND_REQUESTS_MAX);
		return text;
	}
	for (size_t i = 0; i < demand->request_count; i++) {
		if (!check_request(&demand->requests[i], inner, sizeof(inner)))
			continue;
		if (demand->containers && demand->containers[i])
			reason_text(text, size, "container %s: %s", demand->containers[i], inner);
		else
			reason_text(text, size, "request %zu: %s", i + 1, inner);
		return text;
	}
	return NULL;
}

static bool among(const uint32_t *cards, unsigned count, uint32_t card)
{
	for (unsigned i = 0; i < count; i++)
		if (cards[i] == card)
			return true;
	return false;
}

bool query_excludes(const struct query *query, uint32_t card)
{
	return among(query->excluded, query->excluded_count, card);
}

uint64_t query_matches(const struct pool *pool, const struct query *query, unsigned node)
{
	const struct node *of = &pool->nodes[node];
	uint64_t cards = 0;

	for (unsigned i = 0; i < of->count; i++) {
		if (!model_set_has(&query->models, node_slot(pool, of, i)->model))
			continue;
		if (query->by_name && !among(query->named, query->named_count, of->first + i))
			continue;
		if (query->excluded_count && query_excludes(query, of->first + i))
			continue;
		cards |= card_bit(i);
	}
	return cards;
}

/* A share is rounded down to whole units, so that two halves of an odd card fit beside each other;
 * a share below one unit gets one. */
unsigned query_units(const struct request *request, unsigned card_units)
{
	unsigned units = request->units;

	if (units == 0) {
		units = card_units * request->memory_percent / 100;
		units = units ? units : 1;
	}
	return units;
}
