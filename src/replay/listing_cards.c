/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Pods of a listing hold, once all of it has been read: cards by the numbers and groups that
 * schedulers write, and parts of cards where a node calls those nvidia.com/gpu.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/listing.h"

#define SHAPE_NAME_MAX 128

/* ---- cards from objects of their own ---- */

int listing_add_nodes(struct trace *trace, struct error *error)
{
	const char *name;
	void *value;
	int r = 0;

	if (!trace->listing)
		return 0;
	for (size_t at = 0; r == 0 && map_next(trace->listing->inventories, &at, &name, &value);) {
		cleanup(node_spec_release) struct node_spec node;

		node_spec_init(&node);
		if (trace->node_names && map_get(trace->node_names, name))
			continue;
		node.name = strdup(name);
		r = node.name ? trace_add_node(trace, &node, error) : error_no_memory(error);
	}
	return r < 0 ? r : listing_hold(trace, error);
}

/* Cards that nobody names the model of have that of the node's other source. */
static void take_inventory(struct node_spec *node, struct inventory *inventory)
{
	const char *model = node->inventory.card_count ? node->inventory.cards[0].model : "unknown";

	for (size_t i = 0; i < inventory->card_count; i++)
		if (!inventory->cards[i].model[0])
			snprintf(inventory->cards[i].model, CARD_MODEL_MAX, "%s", model);
	inventory_release(&node->inventory);
	node->inventory = *inventory;
	inventory_init(inventory);
}

static void take_inventories(struct trace *trace)
{
	for (size_t i = 0; i < trace->node_count; i++) {
		struct inventory *inventory =
			map_get(trace->listing->inventories, trace->nodes[i].name);

		if (inventory)
			take_inventory(&trace->nodes[i], inventory);
	}
}

/* ---- which card ---- */

static struct card *card_by_index(struct node_spec *node, const char *text)
{
	uint64_t index = 0;

	if (parse_uint(text, 0, UINT32_MAX, &index) < 0)
		return NULL;
	for (size_t i = 0; i < node->inventory.card_count; i++)
		if (node->inventory.cards[i].index == index)
			return &node->inventory.cards[i];
	return NULL;
}

/* A node that does not tell UUIDs has alike cards: whoever names one names the next of them. */
static struct card *card_by_uuid(struct node_spec *node, const char *uuid)
{
	struct card *card = inventory_find(&node->inventory, uuid);

	for (size_t i = 0; !card && i < node->inventory.card_count; i++) {
		struct card *other = &node->inventory.cards[i];

		if (!node_card_unnamed(node, other))
			continue;
		snprintf(other->uuid, sizeof(other->uuid), "%s", uuid);
		card = other;
	}
	return card;
}

static struct card *card_of(struct trace *trace, struct node_spec *node, const char *name)
{
	if (name[0] == GRANT_BY_INDEX)
		return card_by_index(node, name + 1);
	if (name[0] != GRANT_BY_GROUP)
		return card_by_uuid(node, name);
	const char *uuid = map_get(trace->listing->groups, name + 1);
	return uuid ? card_by_uuid(node, uuid) : NULL;
}

/* With the numbers of that card, where the request leaves them to it. */
static void fill_card(struct grant_card *to, const struct card *card, const struct request *request)
{
	unsigned units = card_units(card);
	bool whole = request->kind == REQUEST_WHOLE;

	memcpy(to->uuid, card->uuid, sizeof(to->uuid));
	if (!whole && !to->units && request->memory_percent) {
		to->units = units * request->memory_percent / 100;
		to->units = to->units ? to->units : 1;
		to->memory_mib = (uint64_t)to->units * MIB_PER_UNIT;
	}
	if (whole || to->units > units)
		to->units = units;
	if (whole)
		to->memory_mib = card->memory_bytes >> 20;
}

static bool know_grants(struct trace *trace, struct trace_running *running)
{
	struct node_spec *node = &trace->nodes[running->node];
	const struct demand *demand = &trace->shapes[trace->pods[running->pod].shape].demand;

	for (size_t i = 0; i < running->grant_count && i < demand->request_count; i++)
		for (size_t k = 0; k < running->grants[i].card_count; k++) {
			struct grant_card *to = &running->grants[i].cards[k];
			const struct card *card = card_of(trace, node, to->uuid);

			if (!card)
				return false;
			fill_card(to, card, &demand->requests[i]);
		}
	return running->grant_count > 0;
}

static void drop_grants(struct trace_running *running)
{
	for (size_t i = 0; i < running->grant_count; i++)
		grant_release(&running->grants[i]);
	running->grant_count = 0;
}

/* ---- parts of cards that a node calls nvidia.com/gpu ---- */

struct sharing {
	enum node_sharing kind;
	char profile[CARD_MIG_MAX];
	unsigned count;
};

static struct sharing sharing_of(const struct node_spec *node)
{
	struct sharing sharing = { .kind = NODE_SHARING_NONE };

	sharing.kind = node_sharing(node, sharing.profile, &sharing.count);
	return sharing;
}

static bool is_shared(const struct demand *demand, enum node_sharing sharing)
{
	for (size_t i = 0; i < demand->request_count; i++)
		if (demand->requests[i].kind == REQUEST_WHOLE ||
		    (sharing == NODE_SHARING_REPLICAS &&
		     demand->requests[i].kind == REQUEST_SHARED))
			return true;
	return false;
}

static void share_request(struct request *request, const struct sharing *sharing)
{
	if (sharing->kind == NODE_SHARING_MIG && request->kind == REQUEST_WHOLE) {
		request->kind = REQUEST_MIG;
		snprintf(request->mig_profile, sizeof(request->mig_profile), "%s",
			 sharing->profile);
	} else if (sharing->kind == NODE_SHARING_REPLICAS &&
		   (request->kind == REQUEST_WHOLE || request->kind == REQUEST_SHARED)) {
		request->kind = REQUEST_SLICE;
		request->memory_percent = 100 / sharing->count;
	}
}

/* The shape that SHAPE is on a node of that sharing. */
static int shared_shape(struct trace *trace, uint32_t shape, const struct sharing *sharing,
			uint32_t *ret, struct error *error)
{
	cleanup(demand_release) struct demand demand;
	autojson *object = NULL;
	char name[SHAPE_NAME_MAX];

	demand_init(&demand);
	snprintf(name, sizeof(name), "%u as %d %s %u", shape, (int)sharing->kind, sharing->profile,
		 sharing->count);
	if (trace_find_shape(trace, name, ret) == 0)
		return 0;
	const struct demand *from = &trace->shapes[shape].demand;
	int r = demand_to_json(from, &object, error);
	if (r == 0)
		r = demand_from_json(object, &demand, error);
	if (r < 0)
		return r;
	for (size_t i = 0; i < demand.request_count; i++)
		share_request(&demand.requests[i], sharing);
	return trace_add_shape(trace, name, &demand, ret, error);
}

static int share_pod(struct trace *trace, size_t pod, const struct sharing *sharing,
		     struct error *error)
{
	uint32_t shape = trace->pods[pod].shape;

	if (sharing->kind == NODE_SHARING_NONE ||
	    !is_shared(&trace->shapes[shape].demand, sharing->kind))
		return 0;
	listing_note(trace, sharing->kind == NODE_SHARING_MIG ? NOTE_MIG_SINGLE : NOTE_REPLICAS,
		     "%s", trace_pod_name(trace, pod));
	int r = shared_shape(trace, shape, sharing, &shape, error);
	if (r == 0)
		trace->pods[pod].shape = shape;
	return r;
}

/* Where all nodes with cards share alike, a Pod that does not run yet asks for that, too. */
static struct sharing sharing_of_all(const struct trace *trace)
{
	struct sharing all = { .kind = NODE_SHARING_NONE };
	bool first = true;

	for (size_t i = 0; i < trace->node_count; i++) {
		if (!trace->nodes[i].inventory.card_count)
			continue;
		struct sharing sharing = sharing_of(&trace->nodes[i]);
		if (!first && (sharing.kind != all.kind || sharing.count != all.count ||
			       strcmp(sharing.profile, all.profile) != 0))
			return (struct sharing){ .kind = NODE_SHARING_NONE };
		all = sharing;
		first = false;
	}
	return all;
}

/* ---- all of it ---- */

static int know_running(struct trace *trace, struct trace_running *running, struct error *error)
{
	const char *name = trace_pod_name(trace, running->pod);

	if (running->node == TRACE_NO_NODE) {
		listing_note(trace, NOTE_NO_NODE, "%s on %s", name, running->node_name);
		return 0;
	}
	struct sharing sharing = sharing_of(&trace->nodes[running->node]);
	int r = share_pod(trace, running->pod, &sharing, error);
	if (r < 0 || !trace->shapes[trace->pods[running->pod].shape].cards)
		return r;
	if (know_grants(trace, running))
		return 0;
	drop_grants(running);
	listing_note(trace, NOTE_CARDS_UNKNOWN, "%s", name);
	return 0;
}

int listing_know_cards(struct trace *trace, struct error *error)
{
	size_t running = 0;
	int r = 0;

	if (!trace->listing)
		return 0;
	take_inventories(trace);
	struct sharing all = sharing_of_all(trace);
	for (size_t i = 0; r == 0 && i < trace->pod_count; i++) {
		if (running < trace->running_count && trace->running[running].pod == i)
			r = know_running(trace, &trace->running[running++], error);
		else
			r = share_pod(trace, i, &all, error);
	}
	return r;
}
