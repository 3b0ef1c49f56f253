/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deepest obstacle over all nodes. When the pool is merely full, which is the common refusal,
 * the views give the node that was nearest to a fit; else each node is looked at.
 */
#include "internal.h"

/* The node with the most free cards of those that have enough usable ones. */
static uint32_t nearest_whole(const struct view *view, const struct query *query)
{
	const struct order *order = &view->whole;
	unsigned most = 0;
	uint32_t best = ORDER_NONE;

	for (unsigned lane = query->request->cards; lane <= NODE_CARDS_MAX; lane++) {
		uint32_t first = order_from(order, key_count(lane, 0, 0));

		if (first == ORDER_NONE)
			break;
		lane = key_high(order_key(order, first));
		uint32_t last = order_below(order, key_count(lane + 1, 0, 0));
		unsigned free = key_low(order_key(order, last));

		first = order_from(order, key_count(lane, free, 0));
		if (best == ORDER_NONE || free > most || (free == most && first < best)) {
			most = free;
			best = first;
		}
	}
	return best;
}

struct nearest {
	uint32_t card;
	bool has_memory; /* then less compute is lacking than elsewhere; else less memory */
	int64_t score;   /* more is nearer */
};

static void offer(struct nearest *nearest, uint32_t card, bool has_memory, int64_t score)
{
	if (nearest->card != ORDER_NONE) {
		if (has_memory != nearest->has_memory ? nearest->has_memory
						      : score < nearest->score)
			return;
		if (has_memory == nearest->has_memory && score == nearest->score &&
		    card >= nearest->card)
			return;
	}
	*nearest = (struct nearest){ card, has_memory, score };
}

/* From the card with the most free memory downwards, one step for each amount. */
static void nearest_in_lane(const struct order *order, unsigned lane, unsigned units,
			    struct nearest *nearest)
{
	uint64_t end = key_slice(lane + 1, 0, 0, 0);

	for (;;) {
		uint32_t card = order_below(order, end);
		uint64_t key = card == ORDER_NONE ? 0 : order_key(order, card);

		if (card == ORDER_NONE || key_lane(key) != lane)
			return;
		if (key_units(key) < units) {
			offer(nearest, card, false, (int64_t)key_units(key) - (int64_t)units);
			return;
		}
		offer(nearest, card, true, key_compute(key));
		end = key_slice(lane, key_units(key), 0, 0);
	}
}

static uint32_t nearest_slice(const struct pool *pool, const struct view *view,
			      const struct query *query)
{
	struct nearest nearest = { ORDER_NONE, false, 0 };

	for (unsigned lane = 0; lane < 2 * view->size_count; lane++) {
		unsigned size = view->sizes[lane % view->size_count];
		unsigned units = query_units(query->request, size);

		if (size >= units && size > 0)
			nearest_in_lane(&view->slices, lane, units, &nearest);
	}
	return nearest.card == ORDER_NONE ? ORDER_NONE : pool->slots[nearest.card].node;
}

static uint32_t nearest_node(const struct pool *pool, const struct query *query)
{
	const struct request *request = query->request;
	const struct view *view;

	if (query->by_name || query->excluded_count || request->cards > NODE_CARDS_MAX)
		return ORDER_NONE;
	view = view_get(pool, &query->models);
	if (!view)
		return ORDER_NONE;
	if (request->kind == REQUEST_WHOLE)
		return nearest_whole(view, query);
	if (request->kind == REQUEST_SLICE && request->cards == 1)
		return nearest_slice(pool, view, query);
	return ORDER_NONE;
}

void search_obstacle(const struct pool *pool, const struct query *query, struct standing *ret)
{
	uint32_t nearest = nearest_node(pool, query);
	/* Nodes without a named card stop at the first filter; they need no look. */
	size_t count = query->by_name ? query->named_count : pool->node_count;

	*ret = (struct standing){ .wanted = query->request->cards };
	if (nearest != ORDER_NONE) {
		filter_node(pool, query, nearest, ret);
		return;
	}
	if (!query_any_model(query))
		return;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = query->by_name ? pool->slots[query->named[i]].node : i;
		struct standing standing;

		filter_node(pool, query, node, &standing);
		if (standing.depth > ret->depth ||
		    (standing.depth == ret->depth && standing.rank > ret->rank))
			*ret = standing;
	}
}
