/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_POD         UINT32_MAX
#define MILLI          1000u /* of a card */
#define SLOTS_MIN      1024u
#define SHAPE_TEXT_MAX (16u << 20)

static const char *const trace_class_table[TRACE_CLASS_MAX] = {
	[TRACE_CPU] = "cpu_only",
	[TRACE_SHARE] = "share",
	[TRACE_ONE] = "one_card",
	[TRACE_SEVERAL] = "several_cards",
};

const char *trace_class_to_string(enum trace_class class)
{
	return (int)class < 0 || class >= TRACE_CLASS_MAX ? "invalid" : trace_class_table[class];
}

void trace_init(struct trace *trace)
{
	*trace = (struct trace){ .timed = false };
}

void trace_running_release(struct trace_running *running)
{
	for (size_t i = 0; i < running->grant_count; i++)
		grant_release(&running->grants[i]);
	free(running->grants);
	free(running->node_name);
	*running = (struct trace_running){ .node_name = NULL };
}

void trace_release(struct trace *trace)
{
	for (size_t i = 0; i < trace->node_count; i++)
		node_spec_release(&trace->nodes[i]);
	for (size_t i = 0; i < trace->shape_count; i++)
		demand_release(&trace->shapes[i].demand);
	for (size_t i = 0; i < trace->running_count; i++)
		trace_running_release(&trace->running[i]);
	free(trace->nodes);
	free(trace->shapes);
	free(trace->pods);
	free(trace->running);
	free(trace->card_models);
	free(trace->first_cards);
	free(trace->shape_millis);
	free(trace->names);
	free(trace->slots);
	map_free(trace->node_names);
	map_free(trace->shape_texts);
	listing_free(trace->listing);
	map_free(trace->gang_names);
	free(trace->gangs);
	free(trace->members);
	free(trace->gang_pods);
	trace_init(trace);
}

int trace_add_card(struct node_spec *node, const char *model, uint64_t mib, unsigned index)
{
	struct inventory *inventory = &node->inventory;
	struct card *card =
		VEC_ADD(&inventory->cards, &inventory->card_count, &inventory->card_capacity);

	if (!card)
		return -ENOMEM;
	card->index = card->minor = index;
	card->numa = -1;
	card->mode = CARD_MODE_AUTO;
	card->memory_bytes = mib << 20;
	card_make_uuid(card, node->name);
	snprintf(card->model, sizeof(card->model), "%s", model);
	return 0;
}

int trace_add_node(struct trace *trace, struct node_spec *node, struct error *error)
{
	if (!trace->node_names)
		trace->node_names = map_new();
	if (!trace->node_names)
		return error_no_memory(error);
	if (map_get(trace->node_names, node->name))
		return error_set(error, EEXIST, "two nodes are named %s; remove one", node->name);
	if (vec_reserve(&trace->nodes, &trace->node_capacity, trace->node_count + 1,
			sizeof(*trace->nodes)) < 0 ||
	    map_put(trace->node_names, node->name, trace) < 0)
		return error_no_memory(error);
	trace->nodes[trace->node_count++] = *node;
	node_spec_init(node);
	return 0;
}

/* Positions of shapes are kept in the map as pointers: 1 is the first. */
int trace_find_shape(const struct trace *trace, const char *text, uint32_t *ret)
{
	uintptr_t found = trace->shape_texts ? (uintptr_t)map_get(trace->shape_texts, text) : 0;

	if (!found)
		return -ENOENT;
	*ret = (uint32_t)(found - 1);
	return 0;
}

static enum trace_class demand_class(const struct demand *demand)
{
	unsigned cards = 0;
	bool part = false;

	for (size_t i = 0; i < demand->request_count; i++) {
		cards += demand->requests[i].cards;
		part = part || demand->requests[i].kind != REQUEST_WHOLE;
	}
	if (!cards)
		return TRACE_CPU;
	if (part)
		return TRACE_SHARE;
	return cards == 1 ? TRACE_ONE : TRACE_SEVERAL;
}

static bool demand_constrained(const struct demand *demand)
{
	bool constrained = demand->selector_count || demand->term_count;

	for (size_t i = 0; i < demand->request_count; i++) {
		const struct request *request = &demand->requests[i];

		constrained = constrained || request->models.count || request->not_models.count ||
			      request->uuids.count || request->not_uuids.count;
	}
	return constrained;
}

int trace_add_shape(struct trace *trace, const char *text, struct demand *demand, uint32_t *ret,
		    struct error *error)
{
	if (!trace->shape_texts)
		trace->shape_texts = map_new();
	if (!trace->shape_texts)
		return error_no_memory(error);
	if (vec_reserve(&trace->shapes, &trace->shape_capacity, trace->shape_count + 1,
			sizeof(*trace->shapes)) < 0)
		return error_no_memory(error);
	uintptr_t number = trace->shape_count + 1;
	if (map_put(trace->shape_texts, text, (void *)number) < 0)
		return error_no_memory(error);
	struct trace_shape *shape = &trace->shapes[trace->shape_count];
	*shape = (struct trace_shape){ .demand = *demand,
				       .class = demand_class(demand),
				       .constrained = demand_constrained(demand) };
	for (size_t i = 0; i < demand->request_count; i++)
		shape->cards += demand->requests[i].cards;
	demand_init(demand);
	*ret = (uint32_t)trace->shape_count++;
	return 0;
}

int trace_intern(struct trace *trace, struct demand *demand, const char *apart, uint32_t *ret,
		 struct error *error)
{
	autojson *object = NULL;
	autostrbuf text = STRBUF_INIT(SHAPE_TEXT_MAX);

	int r = demand_to_json(demand, &object, error);
	if (r == 0)
		r = json_to_text(object, false, &text, error);
	if (r < 0)
		return r;
	if (apart)
		strbuf_addf(&text, " %s", apart);
	if (strbuf_failed(&text) < 0)
		return error_no_memory(error);
	if (trace_find_shape(trace, text.data, ret) < 0)
		return trace_add_shape(trace, text.data, demand, ret, error);
	demand_release(demand);
	return 0;
}

const char *trace_pod_name(const struct trace *trace, size_t pod)
{
	return trace->names + trace->pods[pod].name;
}

const struct card *trace_model_card(const struct trace *trace, size_t model)
{
	for (size_t i = 0; i < trace->node_count; i++)
		for (uint32_t at = trace->first_cards[i]; at < trace->first_cards[i + 1]; at++)
			if (trace->card_models[at] == model)
				return &trace->nodes[i].inventory.cards[at - trace->first_cards[i]];
	return NULL;
}

static uint32_t name_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
	return (uint32_t)(hash ^ (hash >> 32));
}

/* The slot that holds NAME, or the empty one where it belongs. */
static uint32_t *slot_of(const struct trace *trace, const char *name)
{
	size_t at = name_hash(name) & (trace->slot_count - 1);

	while (trace->slots[at] != NO_POD &&
	       strcmp(trace_pod_name(trace, trace->slots[at]), name) != 0)
		at = (at + 1) & (trace->slot_count - 1);
	return &trace->slots[at];
}

int trace_find_pod(const struct trace *trace, const char *name, uint32_t *ret)
{
	if (trace->slot_count) {
		uint32_t found = *slot_of(trace, name);

		if (found == NO_POD)
			return -ENOENT;
		*ret = found;
		return 0;
	}
	for (size_t i = 0; i < trace->pod_count; i++)
		if (strcmp(trace_pod_name(trace, i), name) == 0) {
			*ret = (uint32_t)i;
			return 0;
		}
	return -ENOENT;
}

/* At least as many slots again as Pods: names are looked for in few steps. */
static int slots_grow(struct trace *trace)
{
	if ((trace->pod_count + 1) * 2 <= trace->slot_count)
		return 0;
	size_t count = trace->slot_count ? trace->slot_count * 2 : SLOTS_MIN;
	uint32_t *slots = malloc(count * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	memset(slots, 0xff, count * sizeof(*slots));
	free(trace->slots);
	trace->slots = slots;
	trace->slot_count = count;
	for (size_t i = 0; i < trace->pod_count; i++)
		*slot_of(trace, trace_pod_name(trace, i)) = (uint32_t)i;
	return 0;
}

int trace_add_pod(struct trace *trace, const char *name, uint32_t shape, int64_t created,
		  int64_t end, struct error *error)
{
	size_t length = strlen(name) + 1;

	if (trace->pod_count >= NO_POD || trace->names_length + length > UINT32_MAX)
		return error_set(error, E2BIG, "more Pods than a trace can have; split it");
	if (slots_grow(trace) < 0 ||
	    vec_reserve(&trace->pods, &trace->pod_capacity, trace->pod_count + 1,
			sizeof(*trace->pods)) < 0 ||
	    vec_reserve(&trace->names, &trace->names_capacity, trace->names_length + length, 1) < 0)
		return error_no_memory(error);
	uint32_t *slot = slot_of(trace, name);
	if (*slot != NO_POD)
		return error_set(error, EEXIST, "two Pods are named %s; remove one", name);
	memcpy(trace->names + trace->names_length, name, length);
	trace->pods[trace->pod_count] = (struct trace_pod){ .shape = shape,
							    .name = (uint32_t)trace->names_length,
							    .created = created,
							    .end = end };
	trace->names_length += length;
	*slot = (uint32_t)trace->pod_count++;
	return 0;
}

int trace_add_running(struct trace *trace, struct trace_running *running, struct error *error)
{
	struct trace_running *item =
		VEC_ADD(&trace->running, &trace->running_count, &trace->running_capacity);

	if (!item)
		return error_no_memory(error);
	*item = *running;
	item->pod = (uint32_t)(trace->pod_count - 1);
	item->node = TRACE_NO_NODE;
	*running = (struct trace_running){ .node_name = NULL };
	return 0;
}

int trace_add_demand(struct trace *trace, const char *name, struct demand *demand,
		     struct error *error)
{
	cleanup(trace_running_release) struct trace_running running = {
		.node_name = TAKE_PTR(demand->node),
		.grants = TAKE_PTR(demand->grants),
		.grant_count = demand->grant_count,
	};
	int64_t created = demand->created, end = demand->end;
	unsigned size = demand->gang_size;
	autofree char *gang = NULL;
	uint32_t shape = 0;

	demand->grant_count = demand->grant_capacity = 0;
	if (demand->gang && asprintf(&gang, "%s/%s", demand->namespace ? demand->namespace : "",
				     demand->gang) < 0) {
		gang = NULL;
		return error_no_memory(error);
	}
	int r = trace_intern(trace, demand, NULL, &shape, error);
	if (r == 0)
		r = trace_add_pod(trace, name, shape, created, end, error);
	if (r == 0 && gang)
		r = trace_join_gang(trace, gang, size, error);
	return r < 0 || !running.node_name ? r : trace_add_running(trace, &running, error);
}

static bool any_matches(const struct string_list *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (parse_glob(patterns->items[i], text))
			return true;
	return false;
}

static unsigned slice_milli(const struct request *request, const struct card *card)
{
	unsigned total = card_units(card);
	unsigned memory = request->memory_percent * 10;

	if (!request->memory_percent)
		memory = total ? (request->units * MILLI + total - 1) / total : MILLI + 1;
	if (memory > MILLI)
		return 0;
	return memory > request->compute_percent * 10 ? memory : request->compute_percent * 10;
}

static unsigned mig_milli(const struct request *request, const struct card *card)
{
	const struct mig_model *model = mig_model_find(card->model);
	const struct mig_profile *profile =
		model ? mig_profile_find(model, request->mig_profile) : NULL;

	return profile ? mig_profile_milli(model, profile) : 0;
}

unsigned trace_milli(const struct demand *demand, const struct card *card)
{
	if (!demand->request_count)
		return 0;
	const struct request *request = &demand->requests[0];
	if (request->models.count && !any_matches(&request->models, card->model))
		return 0;
	if (any_matches(&request->not_models, card->model))
		return 0;
	if (request->kind == REQUEST_WHOLE)
		return MILLI;
	if (request->kind == REQUEST_SLICE)
		return slice_milli(request, card);
	return request->kind == REQUEST_MIG ? mig_milli(request, card) : 0;
}

static int compare_nodes(const void *left, const void *right)
{
	const struct node_spec *a = left, *b = right;

	return strcmp(a->name, b->name);
}

struct models {
	const struct card **cards; /* owned; one of each model */
	size_t *counts;            /* owned; cards of each */
	size_t count, capacity, counts_capacity;
};

/* Cards of one name and of different memory are two models. */
static int model_number(struct models *models, const struct card *card)
{
	for (size_t i = 0; i < models->count; i++)
		if (card_units(models->cards[i]) == card_units(card) &&
		    strcmp(models->cards[i]->model, card->model) == 0)
			return (int)i;
	if (models->count >= UINT16_MAX)
		return -E2BIG;
	if (vec_reserve(&models->counts, &models->counts_capacity, models->count + 1,
			sizeof(*models->counts)) < 0 ||
	    vec_reserve(&models->cards, &models->capacity, models->count + 1,
			sizeof(const struct card *)) < 0)
		return -ENOMEM;
	models->cards[models->count] = card;
	return (int)models->count++;
}

static int number_cards(struct trace *trace, struct models *models)
{
	size_t cards = 0;

	for (size_t i = 0; i < trace->node_count; i++)
		cards += trace->nodes[i].inventory.card_count;
	trace->card_models = calloc(cards + 1, sizeof(*trace->card_models));
	trace->first_cards = calloc(trace->node_count + 1, sizeof(*trace->first_cards));
	if (!trace->card_models || !trace->first_cards)
		return -ENOMEM;
	cards = 0;
	for (size_t i = 0; i < trace->node_count; i++) {
		const struct inventory *inventory = &trace->nodes[i].inventory;

		for (size_t k = 0; k < inventory->card_count; k++) {
			int number = model_number(models, &inventory->cards[k]);

			if (number < 0)
				return number;
			models->counts[number]++;
			trace->card_models[cards++] = (uint16_t)number;
		}
		trace->first_cards[i + 1] = (uint32_t)cards;
	}
	trace->capacity_milli = (int64_t)cards * MILLI;
	trace->model_count = models->count;
	return 0;
}

/* What request NUMBER takes on the model with the most cards of those that will do. */
static int64_t total_of_request(const struct demand *demand, size_t number,
				const struct models *models)
{
	const struct request *request = &demand->requests[number];
	const struct demand alone = { .requests = &demand->requests[number], .request_count = 1 };
	unsigned milli = request->kind == REQUEST_WHOLE ? MILLI : 0;
	size_t most = 0;

	for (size_t k = 0; k < models->count; k++) {
		unsigned there = trace_milli(&alone, models->cards[k]);

		if (!there || models->counts[k] <= most)
			continue;
		most = models->counts[k];
		milli = there;
	}
	return (int64_t)milli * request->cards;
}

/* What each shape takes of each model, and of the model with the most cards. */
static int set_millis(struct trace *trace, const struct models *models)
{
	trace->shape_millis =
		calloc(trace->shape_count * models->count + 1, sizeof(*trace->shape_millis));
	if (!trace->shape_millis)
		return -ENOMEM;
	for (size_t i = 0; i < trace->shape_count; i++) {
		struct trace_shape *shape = &trace->shapes[i];
		size_t most = 0;

		shape->milli =
			shape->class == TRACE_ONE || shape->class == TRACE_SEVERAL ? MILLI : 0;
		for (size_t k = 0; k < models->count; k++) {
			unsigned milli = trace_milli(&shape->demand, models->cards[k]);

			trace->shape_millis[i * models->count + k] = (uint16_t)milli;
			if (!milli || models->counts[k] <= most)
				continue;
			most = models->counts[k];
			shape->milli = milli;
		}
		for (size_t k = 0; k < shape->demand.request_count; k++)
			shape->total += total_of_request(&shape->demand, k, models);
	}
	return 0;
}

static void find_running(struct trace *trace)
{
	for (size_t i = 0; i < trace->running_count; i++) {
		const struct node_spec key = { .name = trace->running[i].node_name };
		const struct node_spec *node =
			bsearch(&key, trace->nodes, trace->node_count, sizeof(key), compare_nodes);

		if (node)
			trace->running[i].node = (uint32_t)(node - trace->nodes);
	}
}

int trace_finish(struct trace *trace, struct error *error)
{
	struct models models = { .cards = NULL };

	int r = listing_add_nodes(trace, error);
	if (r < 0)
		return r;
	if (!trace->node_count)
		return error_set(error, EINVAL, "no nodes; name a file that has some");
	qsort(trace->nodes, trace->node_count, sizeof(*trace->nodes), compare_nodes);
	find_running(trace);
	r = listing_know_cards(trace, error);
	if (r < 0)
		return r;
	r = number_cards(trace, &models);
	if (r == 0)
		r = set_millis(trace, &models);
	if (r == 0)
		r = trace_finish_gangs(trace);
	free(models.cards);
	free(models.counts);
	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r < 0)
		return error_set(error, -r, "more than %d models of cards", UINT16_MAX);
	/* Names have been compared; what they took is free for the runs. */
	map_free(TAKE_PTR(trace->node_names));
	free(TAKE_PTR(trace->slots));
	trace->slot_count = 0;
	return 0;
}
