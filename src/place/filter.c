/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filters, one node at a time, in a fixed order. A node's standing is the first filter that
 * leaves fewer cards than the request wants. What can never fit is looked at first: whoever waits
 * for a card to be repaired must not learn only then that the card is too small.
 *
 * How to add a filter: a depth in internal.h at its place in the order, a row in FILTERS below, a
 * reason in refuse.c, the same rule in test/lib/naive_place.c.
 */
#include "internal.h"

#include <limits.h>
#include <stdlib.h>

struct look {
	const struct pool *pool;
	const struct query *query;
	const struct node *node;
	uint64_t cards; /* that passed so far */
	bool any_label; /* labels and taints are no matter */
};

static bool is_slice(const struct query *query)
{
	return query->request->kind == REQUEST_SLICE;
}

static bool is_mig(const struct query *query)
{
	return query->request && query->request->kind == REQUEST_MIG;
}

/* What CARDS are worth against the number that is asked for: that of cards, or of the instances
 * that they take, at most MOST. Up to DEPTH_FREE as if nobody were there. */
static unsigned count_room(const struct look *look, enum depth depth, uint64_t cards, unsigned most)
{
	if (!is_mig(look->query))
		return count_cards(cards);
	return mig_room(look->pool, look->node, cards, look->query->request, depth < DEPTH_FREE,
			most);
}

static uint64_t filter_healthy(const struct look *look)
{
	return look->cards & look->node->healthy;
}

/* Modes in which a card takes a request of each kind; none for kinds that nothing places yet. */
static const uint8_t kind_modes[REQUEST_KIND_MAX] = {
	[REQUEST_WHOLE] = 1u << CARD_MODE_WHOLE | 1u << CARD_MODE_AUTO,
	[REQUEST_SLICE] = 1u << CARD_MODE_SLICES | 1u << CARD_MODE_AUTO,
	[REQUEST_MIG] = 1u << CARD_MODE_MIG,
};

static uint64_t filter_mode(const struct look *look)
{
	uint64_t in_mode = 0;

	for (unsigned mode = 0; mode < CARD_MODE_MAX; mode++)
		if (kind_modes[look->query->request->kind] >> mode & 1)
			in_mode |= look->node->modes[mode];
	return look->cards & in_mode;
}

static uint64_t filter_foreign(const struct look *look)
{
	return look->cards & ~look->node->foreign;
}

/* The cards whose measure reaches what is wanted of them; both may depend on the card. */
static uint64_t filter_measure(const struct look *look, unsigned (*have)(const struct slot *slot),
			       unsigned (*want)(const struct request *request,
						const struct slot *slot))
{
	uint64_t passed = 0;

	for (uint64_t rest = look->cards; rest; rest &= rest - 1) {
		const struct slot *slot = node_slot(look->pool, look->node, first_card(rest));

		if (have(slot) >= want(look->query->request, slot))
			passed |= rest & -rest;
	}
	return passed;
}

/* What counts of a card of unknown size is that it is lost, not that it is small. */
static unsigned have_units(const struct slot *slot)
{
	return slot->size_unknown ? UINT_MAX : slot->units;
}

static unsigned want_units(const struct request *request, const struct slot *slot)
{
	return query_units(request, slot->units);
}

static unsigned want_compute(const struct request *request, const struct slot *slot)
{
	(void)slot;
	return request->compute_percent;
}

static uint64_t filter_size(const struct look *look)
{
	if (is_mig(look->query))
		return mig_cards(look->pool, look->node, look->cards, look->query->request, true);
	if (!is_slice(look->query))
		return look->cards;
	return filter_measure(look, have_units, want_units);
}

static uint64_t filter_free(const struct look *look)
{
	if (is_mig(look->query))
		return mig_cards(look->pool, look->node, look->cards, look->query->request, false);
	if (!is_slice(look->query))
		return look->cards & look->node->idle;
	return filter_measure(look, slot_free_units, want_units);
}

static uint64_t filter_compute(const struct look *look)
{
	if (!is_slice(look->query))
		return look->cards;
	return filter_measure(look, slot_free_compute, want_compute);
}

static uint64_t filter_none(const struct look *look)
{
	return look->cards;
}

/* What concerns the node lets all of its cards pass, or none. */
static uint64_t node_passes(const struct look *look, bool passes)
{
	return passes ? look->cards : 0;
}

static uint64_t filter_node_cpu(const struct look *look)
{
	return node_passes(look,
			   look->query->demand->needs.cpu_milli <= look->node->total.cpu_milli);
}

static uint64_t filter_node_memory(const struct look *look)
{
	return node_passes(look,
			   look->query->demand->needs.memory_mib <= look->node->total.memory_mib);
}

static uint64_t filter_taint(const struct look *look)
{
	return node_passes(look,
			   look->any_label ||
				   (look->node->labels.taint_count == 0 &&
				    !look->node->labels.unschedulable) ||
				   !demand_untolerated(look->query->demand, &look->node->labels));
}

static uint64_t filter_cpu(const struct look *look)
{
	return node_passes(look,
			   look->query->demand->needs.cpu_milli <= look->node->left.cpu_milli);
}

static uint64_t filter_memory(const struct look *look)
{
	return node_passes(look,
			   look->query->demand->needs.memory_mib <= look->node->left.memory_mib);
}

static uint64_t filter_pods(const struct look *look)
{
	return node_passes(look, look->query->demand->needs.pods <= look->node->left.pods);
}

static uint64_t (*const filters[DEPTH_FITS])(const struct look *) = {
	[DEPTH_IDENTITY] = filter_none, /* these are judged before the loop */
	[DEPTH_AFFINITY] = filter_none,
	[DEPTH_OFFERED] = filter_none,
	[DEPTH_MATCHING] = filter_none,
	[DEPTH_NODE_CPU] = filter_node_cpu,
	[DEPTH_NODE_MEMORY] = filter_node_memory,
	[DEPTH_TAINT] = filter_taint,
	[DEPTH_CPU] = filter_cpu,
	[DEPTH_MEMORY] = filter_memory,
	[DEPTH_PODS] = filter_pods,
	[DEPTH_SIZE] = filter_size,
	[DEPTH_HEALTH] = filter_healthy,
	[DEPTH_MODE] = filter_mode,
	[DEPTH_FOREIGN] = filter_foreign,
	[DEPTH_FREE] = filter_free,
	[DEPTH_COMPUTE] = filter_compute,
};

/* The card of CARDS, wanted-th best by what it lacks, and its numbers. */
static void rank_by_lack(const struct look *look, unsigned (*have)(const struct slot *slot),
			 unsigned (*want)(const struct request *request, const struct slot *slot),
			 struct standing *standing)
{
	const struct request *request = look->query->request;
	int64_t lacks[NODE_CARDS_MAX];
	unsigned order[NODE_CARDS_MAX], count = 0;

	for (uint64_t rest = look->cards; rest; rest &= rest - 1) {
		unsigned card = first_card(rest), at = count++;
		const struct slot *slot = node_slot(look->pool, look->node, card);
		int64_t lack = (int64_t)want(request, slot) - (int64_t)have(slot);

		for (; at > 0 && lacks[at - 1] > lack; at--) {
			lacks[at] = lacks[at - 1];
			order[at] = order[at - 1];
		}
		lacks[at] = lack;
		order[at] = card;
	}
	unsigned last = request->cards - 1; /* look->cards holds at least so many */
	const struct slot *slot = node_slot(look->pool, look->node, order[last]);

	standing->rank = -lacks[last];
	standing->card = order[last];
	standing->wanted = want(request, slot);
	standing->have = have(slot);
	standing->total = slot->units;
}

/* The card that a sentence names when PASSED of the cards before are too few. */
static unsigned named_card(const struct look *look, uint64_t passed)
{
	uint64_t failed = look->cards & ~passed;
	unsigned first = failed ? first_card(failed) : 0;

	for (uint64_t rest = failed; rest; rest &= rest - 1) /* a lost one says most */
		if (look->node->cards[first_card(rest)].condition.health == CARD_LOST)
			return first_card(rest);
	return first;
}

/* The depths that concern the node as a whole: what it is about, wanted and to be had. */
static void stop_at_node(const struct look *look, enum depth depth, struct standing *standing)
{
	const struct resources *needs = &look->query->demand->needs;
	const struct resources *total = &look->node->total, *left = &look->node->left;
	const struct {
		int64_t wanted, total, have;
	} numbers[DEPTH_FITS] = {
		[DEPTH_NODE_CPU] = { needs->cpu_milli, total->cpu_milli, total->cpu_milli },
		[DEPTH_NODE_MEMORY] = { needs->memory_mib, total->memory_mib, total->memory_mib },
		[DEPTH_CPU] = { needs->cpu_milli, total->cpu_milli, left->cpu_milli },
		[DEPTH_MEMORY] = { needs->memory_mib, total->memory_mib, left->memory_mib },
		[DEPTH_PODS] = { needs->pods, total->pods, left->pods },
	};

	standing->depth = depth;
	standing->card = NODE_CARDS_MAX;
	standing->wanted = numbers[depth].wanted;
	standing->total = numbers[depth].total;
	standing->have = numbers[depth].have;
	standing->rank = standing->have;
}

static bool concerns_node(enum depth depth)
{
	const uint32_t depths = 1u << DEPTH_NODE_CPU | 1u << DEPTH_NODE_MEMORY | 1u << DEPTH_TAINT |
				1u << DEPTH_CPU | 1u << DEPTH_MEMORY | 1u << DEPTH_PODS;

	return depths >> depth & 1;
}

/* A Pod without cards stands before the filters of the node alone. */
static void filter_without_cards(const struct look *look, struct standing *ret)
{
	const struct look any = { look->pool, look->query, look->node, 1 };

	for (enum depth depth = DEPTH_NODE_CPU; depth < DEPTH_FITS; depth++) {
		if (concerns_node(depth) && !filters[depth](&any)) {
			stop_at_node(&any, depth, ret);
			return;
		}
	}
	ret->depth = DEPTH_FITS;
}

/* Of instances: those that there is room for, and the card with the most free slices. */
static void stop_at_mig(const struct look *look, enum depth depth, uint64_t passed,
			struct standing *standing)
{
	standing->have = standing->rank = count_room(look, depth, passed, UINT_MAX);
	if (depth == DEPTH_HEALTH || depth == DEPTH_FOREIGN)
		standing->total = count_room(look, depth, look->cards, UINT_MAX);
	if (depth != DEPTH_FREE)
		return;
	standing->total = -1;
	for (uint64_t rest = look->cards; rest; rest &= rest - 1) {
		unsigned card = first_card(rest);
		unsigned free = mig_free_slices(&look->node->mig[card]);

		if (free <= standing->total)
			continue;
		standing->card = card;
		standing->total = free;
	}
}

static void stop_at(const struct look *look, enum depth depth, uint64_t passed,
		    struct standing *standing)
{
	const struct request *request = look->query->request;

	standing->depth = depth;
	standing->total = look->node->count;
	standing->wanted = request->cards;
	standing->have = count_cards(passed);
	standing->rank = standing->have;
	standing->card = named_card(look, passed);
	if (request->kind == REQUEST_MIG)
		stop_at_mig(look, depth, passed, standing);
	if (request->kind != REQUEST_SLICE)
		return;
	if (depth == DEPTH_SIZE) {
		rank_by_lack(look, have_units, want_units, standing);
	} else if (depth == DEPTH_FREE) {
		rank_by_lack(look, slot_free_units, want_units, standing);
	} else if (depth == DEPTH_COMPUTE) {
		rank_by_lack(look, slot_free_compute, want_compute, standing);
		standing->total = COMPUTE_WHOLE;
	}
}

static bool has_profile(const struct look *look)
{
	for (uint64_t rest = look->cards; rest; rest &= rest - 1)
		if (mig_profile_of(look->pool, node_slot(look->pool, look->node, first_card(rest)),
				   look->query->request->mig_profile))
			return true;
	return false;
}

static bool is_offered(const struct look *look)
{
	enum request_kind kind = look->query->request->kind;

	return kind_modes[kind] && !(look->pool->withheld >> kind & 1);
}

/* The judgements before the loop; true when they end it. */
static bool filter_identity(const struct look *look, struct standing *ret)
{
	const struct query *query = look->query;
	unsigned wanted = query->request ? query->request->cards : 0,
		 count = count_cards(look->cards);

	ret->wanted = wanted;
	ret->total = count;
	if (query->request && count == 0)
		return true;
	if (!look->any_label && !demand_selects_labels(query->demand, &look->node->labels)) {
		ret->depth = DEPTH_AFFINITY;
		ret->total = (int64_t)look->pool->node_count;
		return true;
	}
	if (query->request && !is_offered(look)) {
		ret->depth = DEPTH_OFFERED;
		ret->total = look->node->count;
		return true;
	}
	if (is_mig(query) ? !has_profile(look) : count < wanted) {
		ret->depth = DEPTH_MATCHING;
		ret->rank = ret->have = is_mig(query) ? 0 : count;
		return true;
	}
	return false;
}

void filter_node(const struct pool *pool, const struct query *query, unsigned node,
		 struct standing *ret)
{
	struct look look = { pool, query, &pool->nodes[node], 0 };

	if (query->request)
		look.cards = query_matches(pool, query, node);
	*ret = (struct standing){ .node = node };
	if (filter_identity(&look, ret))
		return;
	if (!query->request) {
		filter_without_cards(&look, ret);
		return;
	}
	for (enum depth depth = DEPTH_SIZE; depth < DEPTH_FITS; depth++) {
		uint64_t passed = filters[depth](&look);

		if (count_room(&look, depth, passed, query->request->cards) <
		    query->request->cards) {
			if (concerns_node(depth))
				stop_at_node(&look, depth, ret);
			else
				stop_at(&look, depth, passed, ret);
			return;
		}
		look.cards = passed;
	}
	ret->depth = DEPTH_FITS;
	ret->fits = look.cards;
}

void filter_card(const struct pool *pool, const struct query *query, unsigned node, unsigned card,
		 struct standing *ret)
{
	struct request one = *query->request;
	struct query alone = *query;
	struct look look = { pool, &alone, &pool->nodes[node], card_bit(card) };
	enum depth depth = DEPTH_IDENTITY;

	one.cards = 1;
	alone.request = &one;
	*ret = (struct standing){ .node = node, .card = card, .wanted = query->request->cards };
	look.cards &= query_matches(pool, query, node);
	if (look.cards && !is_offered(&look))
		depth = DEPTH_OFFERED;
	else if (look.cards)
		depth = is_mig(query) && !has_profile(&look) ? DEPTH_MATCHING : DEPTH_SIZE;
	for (; depth >= DEPTH_SIZE && depth < DEPTH_FITS; depth++) {
		if (!concerns_node(depth) && !filters[depth](&look)) {
			stop_at(&look, depth, 0, ret);
			break;
		}
	}
	ret->depth = depth;
}

uint64_t filter_eligible(const struct pool *pool, const struct query *query, unsigned node)
{
	const uint32_t changing = 1u << DEPTH_FREE | 1u << DEPTH_COMPUTE | 1u << DEPTH_CPU |
				  1u << DEPTH_MEMORY | 1u << DEPTH_PODS;
	const unsigned wanted = query->request ? query->request->cards : 1;
	struct look look = { pool, query, &pool->nodes[node], 1, .any_label = true };
	struct standing standing = { 0 };

	if (query->request)
		look.cards = query_matches(pool, query, node);
	if (filter_identity(&look, &standing))
		return 0;
	for (enum depth depth = DEPTH_SIZE; depth < DEPTH_FITS; depth++) {
		if (changing >> depth & 1 || (!query->request && !concerns_node(depth)))
			continue;
		look.cards = filters[depth](&look);
		if (count_room(&look, depth, look.cards, wanted) < wanted)
			return 0;
	}
	return query->request ? look.cards : UINT64_MAX;
}
