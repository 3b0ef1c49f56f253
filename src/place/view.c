/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views: for each set of models that requests ask for, the cards and nodes in the order in which
 * the policies look for them. A view is made by the first request that needs it and kept up to
 * date by each grant; the sixteen used last are kept.
 */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static unsigned size_position(const struct view *view, unsigned units)
{
	unsigned at = 0;

	while (at < view->size_count && view->sizes[at] < units)
		at++;
	return at;
}

static void update_slice(const struct pool *pool, struct view *view, const struct node *node,
			 unsigned card)
{
	const struct slot *slot = node_slot(pool, node, card);
	uint32_t number = node->first + card;
	uint64_t bit = card_bit(card);
	unsigned lane = size_position(view, slot->units);

	if (!(node->for_slices & bit) || slot->units == 0)
		return; /* such a card never was in the set */
	if (node->may_be_both & node->idle & bit)
		lane += view->size_count; /* precious: it could still be held whole */
	order_set(&view->slices, number,
		  key_slice(lane, slot_free_units(slot), slot_free_compute(slot), number));
}

static void update_groups(struct view *view, const struct node *node, uint64_t free)
{
	for (unsigned i = 0; i < node->group_count; i++) {
		uint32_t number = node->first_group + i;
		unsigned count = count_cards(node->groups[i] & free);

		order_set(&view->groups, number,
			  count > 1 ? key_count(count, 0, number) : ORDER_NO_KEY);
	}
}

static unsigned nth_free(const struct pool *pool, const struct node *node, uint64_t cards,
			 unsigned nth)
{
	unsigned sorted[NODE_CARDS_MAX], count = 0;

	for (uint64_t rest = cards; rest; rest &= rest - 1) {
		unsigned free = slot_free_units(node_slot(pool, node, first_card(rest)));
		unsigned at = count++;

		for (; at > 0 && sorted[at - 1] < free; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = free;
	}
	return count < nth ? 0 : sorted[nth - 1];
}

static void update_several(const struct pool *pool, struct view *view, unsigned node,
			   unsigned cards)
{
	const struct node *of = &pool->nodes[node];
	unsigned free = nth_free(pool, of, view->cards[node] & of->for_slices, cards);

	order_set(view->several[cards], node, free ? key_count(free, 0, node) : ORDER_NO_KEY);
}

static void update_node(const struct pool *pool, struct view *view, unsigned node, uint64_t cards,
			uint64_t turned)
{
	const struct node *of = &pool->nodes[node];
	uint64_t whole = view->cards[node] & of->for_whole;

	if (whole & turned) {
		order_set(&view->whole, node,
			  key_count(count_cards(whole), count_cards(whole & of->idle), node));
		update_groups(view, of, whole & of->idle);
	}
	for (uint64_t rest = cards & view->cards[node]; rest; rest &= rest - 1)
		update_slice(pool, view, of, first_card(rest));
	for (unsigned i = 2; i <= of->count; i++)
		if (view->several[i])
			update_several(pool, view, node, i);
}

void views_update(struct pool *pool, unsigned node, uint64_t cards, uint64_t turned)
{
	for (unsigned i = 0; i < POOL_VIEWS_MAX; i++)
		if (pool->views->items[i] && (pool->views->items[i]->cards[node] & cards))
			update_node(pool, pool->views->items[i], node, cards, turned);
}

static void view_free(struct view *view)
{
	if (!view)
		return;
	for (unsigned i = 0; i <= NODE_CARDS_MAX; i++) {
		if (!view->several[i])
			continue;
		order_release(view->several[i]);
		free(view->several[i]);
	}
	order_release(&view->whole);
	order_release(&view->slices);
	order_release(&view->groups);
	free(view->sizes);
	free(view->cards);
	free(view);
}

void views_drop(struct pool *pool)
{
	for (unsigned i = 0; i < POOL_VIEWS_MAX; i++) {
		view_free(pool->views->items[i]);
		pool->views->items[i] = NULL;
	}
}

static int add_size(struct view *view, size_t *capacity, uint16_t units)
{
	unsigned at = size_position(view, units);

	if (at < view->size_count && view->sizes[at] == units)
		return 0;
	if (vec_reserve(&view->sizes, capacity, view->size_count + 1, sizeof(*view->sizes)) < 0)
		return -ENOMEM;
	memmove(view->sizes + at + 1, view->sizes + at,
		(view->size_count - at) * sizeof(*view->sizes));
	view->sizes[at] = units;
	view->size_count++;
	return 0;
}

static int find_cards(const struct pool *pool, struct view *view)
{
	size_t capacity = 0;

	view->cards = calloc(pool->node_count ? pool->node_count : 1, sizeof(*view->cards));
	if (!view->cards)
		return -ENOMEM;
	for (uint32_t i = 0; i < pool->slot_count; i++) {
		const struct slot *slot = &pool->slots[i];

		if (!model_set_has(&view->models, slot->model))
			continue;
		view->cards[slot->node] |= card_bit(i - pool->nodes[slot->node].first);
		if (add_size(view, &capacity, slot->units) < 0)
			return -ENOMEM;
	}
	return 0;
}

static struct view *view_new(const struct pool *pool, const struct model_set *models)
{
	struct view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->models = *models;
	if (find_cards(pool, view) < 0 || order_init(&view->whole, pool->node_count) < 0 ||
	    order_init(&view->slices, pool->slot_count) < 0 ||
	    order_init(&view->groups, pool->group_count) < 0) {
		view_free(view);
		return NULL;
	}
	for (unsigned i = 0; i < pool->node_count; i++)
		update_node(pool, view, i, UINT64_MAX, UINT64_MAX);
	return view;
}

struct view *view_get(const struct pool *pool, const struct model_set *models)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < POOL_VIEWS_MAX; i++) {
		struct view *view = pool->views->items[i];

		if (view && memcmp(&view->models, models, sizeof(*models)) == 0) {
			view->used = ++pool->views->turn;
			return view;
		}
		if (pool->views->items[oldest] &&
		    (!view || view->used < pool->views->items[oldest]->used))
			oldest = i;
	}
	struct view *view = view_new(pool, models);

	if (!view)
		return NULL;
	view_free(pool->views->items[oldest]);
	view->used = ++pool->views->turn;
	pool->views->items[oldest] = view;
	return view;
}

/* Nodes by the free units of their CARDS-th best card. */
struct order *view_several(const struct pool *pool, struct view *view, unsigned cards)
{
	if (view->several[cards])
		return view->several[cards];
	struct order *order = calloc(1, sizeof(*order));

	if (!order || order_init(order, pool->node_count) < 0) {
		free(order);
		return NULL;
	}
	view->several[cards] = order;
	for (unsigned i = 0; i < pool->node_count; i++)
		update_several(pool, view, i, cards);
	return order;
}
