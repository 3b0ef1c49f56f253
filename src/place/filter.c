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
};

static uint64_t filter_healthy(const struct look *look)
{
	return look->cards & look->node->healthy;
}

/* Modes in which a card takes a request of each kind; none for kinds that nothing places yet. */
static const uint8_t kind_modes[REQUEST_KIND_MAX] = {
	[REQUEST_WHOLE] = 1u << CARD_MODE_WHOLE | 1u << CARD_MODE_AUTO,
	[REQUEST_SLICE] = 1u << CARD_MODE_SLICES | 1u << CARD_MODE_AUTO,
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
	if (look->query->request->kind != REQUEST_SLICE)
		return look->cards;
	return filter_measure(look, have_units, want_units);
}

static uint64_t filter_free(const struct look *look)
{
	if (look->query->request->kind != REQUEST_SLICE)
		return look->cards & look->node->idle;
	return filter_measure(look, slot_free_units, want_units);
}

static uint64_t filter_compute(const struct look *look)
{
	if (look->query->request->kind != REQUEST_SLICE)
		return look->cards;
	return filter_measure(look, slot_free_compute, want_compute);
}

static uint64_t filter_none(const struct look *look)
{
	return look->cards;
}

static uint64_t (*const filters[DEPTH_FITS])(const struct look *) = {
	[DEPTH_IDENTITY] = filter_none, /* these three are judged before the loop */
	[DEPTH_OFFERED] = filter_none,  [DEPTH_MATCHING] = filter_none,
	[DEPTH_SIZE] = filter_size,     [DEPTH_HEALTH] = filter_healthy,
	[DEPTH_MODE] = filter_mode,     [DEPTH_FOREIGN] = filter_foreign,
	[DEPTH_FREE] = filter_free,     [DEPTH_COMPUTE] = filter_compute,
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

void filter_node(const struct pool *pool, const struct query *query, unsigned node,
		 struct standing *ret)
{
	struct look look = { pool, query, &pool->nodes[node], query_matches(pool, query, node) };
	unsigned wanted = query->request->cards, count = count_cards(look.cards);

	*ret = (struct standing){ .node = node, .wanted = wanted, .total = count };
	if (count == 0)
		return;
	if (!kind_modes[query->request->kind]) {
		ret->depth = DEPTH_OFFERED;
		ret->total = look.node->count;
		return;
	}
	if (count < wanted) {
		ret->depth = DEPTH_MATCHING;
		ret->rank = ret->have = count;
		return;
	}
	for (enum depth depth = DEPTH_SIZE; depth < DEPTH_FITS; depth++) {
		uint64_t passed = filters[depth](&look);

		if (count_cards(passed) < wanted) {
			stop_at(&look, depth, passed, ret);
			return;
		}
		look.cards = passed;
	}
	ret->depth = DEPTH_FITS;
	ret->fits = look.cards;
}
