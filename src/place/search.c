/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a request to a place. The views give nodes and cards in the order of the policy, the
 * filters confirm; requests that name cards look at the nodes of those cards only.
 *
 * How to add a policy: its name in enum card_policy (model/request.h), a row in POLICIES below, and
 * cases in test/unit/test_place.c. One that wants another order than free cards, free memory and
 * NVLink groups also needs a set with its key in view.c.
 */
#include "internal.h"

#include <errno.h>

struct policy {
	bool spread; /* the emptiest node and card, not the fullest that fits */
	bool links;  /* the cards that hang together best */
};

static const struct policy policies[POLICY_MAX] = {
	[POLICY_DEFAULT] = { false, false }, /* one card or slices; several whole cards: topology */
	[POLICY_BINPACK] = { false, false },
	[POLICY_SPREAD] = { true, false },
	[POLICY_TOPOLOGY] = { false, true },
};

struct search {
	const struct pool *pool;
	const struct query *query;
	struct view *view;
	struct policy policy;
	/* The best so far; found says whether there is one. */
	bool found;
	unsigned node;
	int64_t score; /* less is better */
};

static bool fits(const struct search *search, unsigned node, struct standing *ret)
{
	filter_node(search->pool, search->query, node, ret);
	return ret->depth == DEPTH_FITS;
}

static void offer(struct search *search, unsigned node, int64_t score)
{
	if (search->found &&
	    (score > search->score || (score == search->score && node >= search->node)))
		return;
	search->found = true;
	search->node = node;
	search->score = score;
}

static uint32_t next_fitting(const struct search *search, const struct order *order, uint64_t key,
			     uint64_t end)
{
	struct standing standing;

	for (;;) {
		uint32_t node = order_from(order, key);

		if (node == ORDER_NONE || order_key(order, node) >= end)
			return ORDER_NONE;
		if (fits(search, node, &standing))
			return node;
		key = order_key(order, node) + 1;
	}
}

/* The first fitting node of those that share the highest low part below END, then of the next. */
static uint32_t last_fitting(const struct search *search, const struct order *order, uint64_t start,
			     uint64_t end)
{
	const uint64_t numbers = (1ull << KEY_ID_BITS) - 1;

	for (;;) {
		uint32_t last = order_below(order, end);

		if (last == ORDER_NONE || order_key(order, last) < start)
			return ORDER_NONE;
		uint64_t first = order_key(order, last) & ~numbers;
		uint32_t node = next_fitting(search, order, first, end);

		if (node != ORDER_NONE)
			return node;
		end = first;
	}
}

/* Nodes lie in lanes by how many cards could serve at all; few lanes, one look-up in each. */
static void search_whole(struct search *search)
{
	const struct order *order = &search->view->whole;
	unsigned wanted = search->query->request->cards;

	for (unsigned lane = wanted; lane <= NODE_CARDS_MAX; lane++) {
		uint32_t first = order_from(order, key_count(lane, 0, 0));

		if (first == ORDER_NONE)
			break;
		lane = key_high(order_key(order, first));
		uint64_t start = key_count(lane, wanted, 0), end = key_count(lane + 1, 0, 0);
		uint32_t node = search->policy.spread ? last_fitting(search, order, start, end)
						      : next_fitting(search, order, start, end);

		if (node != ORDER_NONE) {
			int64_t free = key_low(order_key(order, node));

			offer(search, node, search->policy.spread ? -free : free);
		}
	}
}

/* The smallest NVLink group that takes the whole request keeps the big groups whole. */
static void search_groups(struct search *search)
{
	const struct order *order = &search->view->groups;
	unsigned wanted = search->query->request->cards;
	uint32_t group = order_from(order, key_count(wanted, 0, 0));
	struct standing standing;

	for (; group != ORDER_NONE; group = order_from(order, order_key(order, group) + 1)) {
		unsigned number = search->pool->group_nodes[group];
		const struct node *node = &search->pool->nodes[number];
		uint64_t cards = node->groups[group - node->first_group];

		if (!fits(search, number, &standing))
			continue;
		if (count_cards(standing.fits & cards) < wanted)
			continue;
		offer(search, number, 0);
		return;
	}
}

static unsigned smallest_units(const struct search *search)
{
	unsigned smallest = CARD_UNITS_MAX;

	for (unsigned i = 0; i < search->view->size_count; i++) {
		unsigned units = query_units(search->query->request, search->view->sizes[i]);

		smallest = units < smallest ? units : smallest;
	}
	return smallest;
}

static void search_several(struct search *search, const struct order *order)
{
	uint64_t start = key_count(smallest_units(search), 0, 0), end = ORDER_NO_KEY;
	uint32_t node = search->policy.spread ? last_fitting(search, order, start, end)
					      : next_fitting(search, order, start, end);

	if (node != ORDER_NONE)
		offer(search, node, 0);
}

/* The fullest card of a lane with UNITS and COMPUTE free. */
static uint32_t fullest_card(const struct search *search, unsigned lane, unsigned units,
			     unsigned compute)
{
	const struct order *order = &search->view->slices;
	uint64_t key = key_slice(lane, units, compute, 0);

	for (;;) {
		uint32_t card = order_from(order, key);

		if (card == ORDER_NONE || key_lane(order_key(order, card)) != lane)
			return ORDER_NONE;
		uint64_t found = order_key(order, card);

		if (key_compute(found) < compute)
			key = key_slice(lane, key_units(found), compute, 0);
		else if (query_excludes(search->query, card))
			key = found + 1;
		else
			return card;
	}
}

/* The emptiest one. */
static uint32_t emptiest_card(const struct search *search, unsigned lane, unsigned units,
			      unsigned compute)
{
	const struct order *order = &search->view->slices;
	uint64_t end = key_slice(lane + 1, 0, 0, 0);

	for (;;) {
		uint32_t card = order_below(order, end);
		uint64_t found = card == ORDER_NONE ? 0 : order_key(order, card);

		if (card == ORDER_NONE || key_lane(found) != lane || key_units(found) < units)
			return ORDER_NONE;
		if (key_compute(found) < compute) {
			end = key_slice(lane, key_units(found), 0, 0);
			continue;
		}
		uint64_t first = key_slice(lane, key_units(found), key_compute(found), 0);

		card = order_from(order, first);
		while (card != ORDER_NONE && order_key(order, card) < end &&
		       query_excludes(search->query, card))
			card = order_from(order, order_key(order, card) + 1);
		if (card != ORDER_NONE && order_key(order, card) < end)
			return card;
		end = first;
	}
}

static uint32_t search_lanes(struct search *search, unsigned first_lane, unsigned end_lane)
{
	const struct request *request = search->query->request;
	uint32_t best = ORDER_NONE;
	int64_t best_score = 0;

	for (unsigned lane = first_lane; lane < end_lane; lane++) {
		unsigned size = search->view->sizes[lane % search->view->size_count];
		unsigned units = query_units(request, size);
		uint32_t card;

		if (size < units)
			continue;
		card = search->policy.spread
			       ? emptiest_card(search, lane, units, request->compute_percent)
			       : fullest_card(search, lane, units, request->compute_percent);
		if (card == ORDER_NONE)
			continue;
		uint64_t key = order_key(&search->view->slices, card);
		int64_t score = (int64_t)key_units(key) << KEY_COMPUTE_BITS | key_compute(key);

		score = search->policy.spread ? -score : score;
		if (best == ORDER_NONE || score < best_score ||
		    (score == best_score && card < best)) {
			best = card;
			best_score = score;
		}
	}
	return best;
}

/* Cards that somebody could still hold whole are cut last, unless the load is to be spread. */
static uint32_t search_one_slice(struct search *search)
{
	unsigned sizes = search->view->size_count;

	if (search->policy.spread)
		return search_lanes(search, 0, 2 * sizes);
	uint32_t card = search_lanes(search, 0, sizes);

	return card != ORDER_NONE ? card : search_lanes(search, sizes, 2 * sizes);
}

/* Node by node: for requests that name cards, and when there is no memory for a view. */
static void search_scan(struct search *search)
{
	const struct query *query = search->query;
	struct standing standing;
	size_t count = query->by_name ? query->named_count : search->pool->node_count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = query->by_name ? search->pool->slots[query->named[i]].node : i;

		if (fits(search, node, &standing)) {
			int64_t free = count_cards(standing.fits);

			offer(search, node, search->policy.spread ? -free : free);
		}
	}
}

/* Fullest first: cards that are cut already, then the least free memory and compute. */
static int64_t fullness(const struct search *search, const struct node *node, unsigned card)
{
	const struct slot *slot = node_slot(search->pool, node, card);
	bool precious = node->may_be_both & node->idle & card_bit(card);
	int64_t score =
		(int64_t)slot_free_units(slot) << KEY_COMPUTE_BITS | slot_free_compute(slot);

	if (search->policy.spread)
		return -score;
	return precious ? score + (1ll << 32) : score;
}

static uint64_t choose_slices(const struct search *search, const struct node *node, uint64_t cards,
			      unsigned wanted)
{
	uint64_t set = 0;

	for (; wanted > 0; wanted--) {
		uint64_t best = 0;
		int64_t best_score = 0;

		for (uint64_t rest = cards & ~set; rest; rest &= rest - 1) {
			int64_t score = fullness(search, node, first_card(rest));

			if (!best || score < best_score) {
				best = rest & -rest;
				best_score = score;
			}
		}
		set |= best;
	}
	return set;
}

static uint64_t choose_cards(const struct search *search, const struct node *node, uint64_t cards)
{
	const struct request *request = search->query->request;

	if (search->policy.links)
		return topology_choose(node, topology_group(node, cards, request->cards),
				       request->cards);
	if (request->kind == REQUEST_SLICE)
		return choose_slices(search, node, cards, request->cards);
	uint64_t set = 0;

	for (unsigned i = 0; i < request->cards; i++, cards &= cards - 1)
		set |= cards & -cards;
	return set;
}

static void fill_placement(const struct pool *pool, const struct request *request, unsigned node,
			   uint64_t cards, struct placement *ret)
{
	const struct node *of = &pool->nodes[node];

	*ret = (struct placement){ .node = node };
	if (request->kind == REQUEST_SLICE)
		ret->compute_percent = request->compute_percent;
	for (uint64_t rest = cards; rest; rest &= rest - 1) {
		unsigned card = first_card(rest), at = ret->count++;
		unsigned units = node_slot(pool, of, card)->units;

		ret->cards[at] = card;
		ret->units[at] = units;
		ret->memory_mib[at] = of->cards[card].memory_bytes >> 20;
		if (request->kind != REQUEST_SLICE)
			continue;
		ret->units[at] = query_units(request, units);
		ret->memory_mib[at] = request->units && request->memory_mib
					      ? request->memory_mib
					      : (uint64_t)ret->units[at] * MIB_PER_UNIT;
	}
}

static int search_view(struct search *search, uint32_t *ret_card)
{
	const struct request *request = search->query->request;
	struct order *several;

	if (request->kind == REQUEST_WHOLE) {
		if (search->policy.links && request->cards > 1)
			search_groups(search);
		if (!search->found)
			search_whole(search);
		return 0;
	}
	if (request->cards == 1) {
		*ret_card = search_one_slice(search);
		return 0;
	}
	several = view_several(search->pool, search->view, request->cards);
	if (!several)
		return -ENOMEM;
	search_several(search, several);
	return 0;
}

static struct policy choose_policy(const struct request *request)
{
	enum card_policy policy = request->policy;

	if ((int)policy < 0 || policy >= POLICY_MAX)
		policy = POLICY_DEFAULT;
	if (policy == POLICY_DEFAULT && request->kind == REQUEST_WHOLE && request->cards > 1)
		policy = POLICY_TOPOLOGY;
	return policies[policy];
}

int search_fit(const struct pool *pool, const struct query *query, struct placement *ret)
{
	const struct request *request = query->request;
	struct search search = { .pool = pool, .query = query };
	uint32_t card = ORDER_NONE;
	struct standing standing;

	if (request->cards > NODE_CARDS_MAX ||
	    (request->kind != REQUEST_WHOLE && request->kind != REQUEST_SLICE))
		return -ENOENT;
	search.policy = choose_policy(request);
	search.view = query->by_name ? NULL : view_get(pool, &query->models);
	if (!search.view || search_view(&search, &card) < 0)
		search_scan(&search);
	if (card != ORDER_NONE) {
		unsigned node = pool->slots[card].node;

		fill_placement(pool, request, node, card_bit(card - pool->nodes[node].first), ret);
		return 0;
	}
	if (!search.found || !fits(&search, search.node, &standing))
		return -ENOENT;
	fill_placement(pool, request, search.node,
		       choose_cards(&search, &pool->nodes[search.node], standing.fits), ret);
	return 0;
}
