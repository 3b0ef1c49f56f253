/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room for a Pod that fits nowhere. First one or two Pods of one node that fit elsewhere; else two
 * of different nodes that change places, where CPU or memory is what a node lacks. A search looks
 * at each Pod and at pairs on one node, with a limit; what is found is carried out by the rules of
 * every placement, or all is as before.
 */
#include "seating.h"

#define LEAVERS_MAX 64      /* Pods of one node that are looked at */
#define TRIES_MAX   200000u /* Pods and pairs in one search */
#define SWAPS_MAX   24      /* Pods for which one to change places with is looked for */

struct leaver {
	uint32_t number;
	int64_t gain; /* of worth elsewhere, and what was off for a rare node here */
};

struct plan {
	uint32_t node;  /* where the Pod goes */
	unsigned count; /* others that go; 0: there is no plan */
	uint32_t numbers[2];
	int64_t gain;
};

struct search {
	struct seating *seating;
	struct kind *kind;
	unsigned most;
	uint64_t first;
	unsigned tries;
	struct plan best;
	struct leaver leavers[LEAVERS_MAX];
	unsigned leaver_count;
};

void resorts_forget(struct seating *seating)
{
	seating->searches++;
}

const struct resort *resort_of(struct seating *seating, struct kind *kind)
{
	struct resort *resort = &kind->resort;
	struct tournament_key key;
	struct option option;

	if (kind->searched == seating->searches)
		return resort;
	kind->searched = seating->searches;
	resort->nodes[0] = resort->nodes[1] = SEAT_NONE;
	for (unsigned i = 0; i < 2 && kind->movable; i++) {
		uint32_t node = best_node(seating, kind, resort->nodes[0], &key);

		if (node == SEAT_NONE)
			break;
		resort->gains[i] = gain_on(seating, kind, node, &option);
		if (resort->gains[i] == NO_GAIN)
			break;
		resort->nodes[i] = node;
		resort->rare[i] = option.rare;
	}
	return resort;
}

static void lift(struct search *search, uint32_t number)
{
	hold_count(search->seating->pool, search->seating->seats[number].held, false);
}

static void lower(struct search *search, uint32_t number)
{
	hold_count(search->seating->pool, search->seating->seats[number].held, true);
}

/* Those of the node that fit elsewhere. */
static void find_leavers(struct search *search, uint32_t node)
{
	struct seating *seating = search->seating;
	uint32_t number = seating->spots[node].seats;

	search->leaver_count = 0;
	for (; number != SEAT_NONE; number = seating->seats[number].next) {
		const struct seat *seat = &seating->seats[number];
		const struct resort *resort;
		unsigned which;

		if (seat->order < search->first)
			continue;
		resort = resort_of(seating, seat_kind(seating, seat));
		which = resort->nodes[0] == node;
		if (resort->nodes[which] == SEAT_NONE)
			continue;
		search->leavers[search->leaver_count++] =
			(struct leaver){ number, resort->gains[which] + seat_rare(seating, seat) };
		if (search->leaver_count == LEAVERS_MAX)
			return;
	}
}

static void offer_plan(struct search *search, const struct plan *plan)
{
	struct plan *best = &search->best;

	if (best->count == 0 || plan->count < best->count ||
	    (plan->count == best->count && plan->gain > best->gain))
		*best = *plan;
}

/* The leaver I is lifted, the Pod does not fit yet: another before it? */
static void try_pairs(struct search *search, uint32_t node, unsigned i)
{
	const struct leaver *leavers = search->leavers;

	for (unsigned j = 0; j < i && search->tries; j++, search->tries--) {
		int64_t gain;

		lift(search, leavers[j].number);
		gain = gain_on(search->seating, search->kind, node, NULL);
		lower(search, leavers[j].number);
		if (gain == NO_GAIN)
			continue;
		gain += leavers[i].gain + leavers[j].gain;
		offer_plan(
			search,
			&(struct plan){ node, 2, { leavers[i].number, leavers[j].number }, gain });
	}
}

static void search_node(struct search *search, uint32_t node)
{
	const struct leaver *leavers = search->leavers;

	(void)spot_worth(search->seating, node); /* of the node as it is */
	find_leavers(search, node);
	for (unsigned i = 0; i < search->leaver_count && search->tries; i++, search->tries--) {
		int64_t gain;

		lift(search, leavers[i].number);
		gain = gain_on(search->seating, search->kind, node, NULL);
		if (gain != NO_GAIN)
			offer_plan(search, &(struct plan){ node,
							   1,
							   { leavers[i].number, SEAT_NONE },
							   gain + leavers[i].gain });
		else if (search->best.count != 1 && search->most > 1)
			try_pairs(search, node, i);
		lower(search, leavers[i].number);
	}
}

/* Could the node hold it, were nobody there? Quickly, and yes when in doubt. */
static bool may_hold(const struct search *search, uint32_t node)
{
	const struct pool *pool = search->seating->pool;
	const struct shape *shape = &search->kind->shape;
	const struct node *of = &pool->nodes[node];
	unsigned cards = 0;

	for (unsigned i = 0; i < of->count; i++)
		cards += shape->milli[node_slot(pool, of, i)->model] > 0;
	return cards >= shape->piece.cards && shape->piece.cpu_milli <= of->total.cpu_milli;
}

static void search_leavers(struct search *search)
{
	for (uint32_t node = 0; node < search->seating->pool->node_count && search->tries; node++)
		if (may_hold(search, node))
			search_node(search, node);
}

/* ---- two change places ---- */

struct swap {
	uint32_t node, number; /* whose Pod, lifted, makes room but fits nowhere */
	const struct kind *kind;
	int64_t gain; /* of the Pod's coming and of what was rare */
};

/* Has the node the cards, whatever CPU and memory are left? */
static bool has_cards(const struct search *search, uint32_t node)
{
	struct node *of = &search->seating->pool->nodes[node];
	struct resources left = of->left;
	uint64_t cards;
	bool has;

	of->left = of->total;
	has = shape_cards(search->seating->pool, &search->kind->shape, node, &cards);
	of->left = left;
	return has;
}

/* The Pod is on the node already, the swap's number off it. OTHER comes here, NUMBER goes there. */
static void try_swap(struct search *search, const struct swap *swap, uint32_t other)
{
	struct seating *seating = search->seating;
	const struct seat *seat = &seating->seats[other];
	int64_t come, go;

	come = gain_on(seating, seat_kind(seating, seat), swap->node, NULL);
	if (come == NO_GAIN)
		return;
	(void)spot_worth(seating, seat->held->node);
	lift(search, other);
	go = gain_on(seating, swap->kind, seat->held->node, NULL);
	lower(search, other);
	if (go != NO_GAIN)
		offer_plan(search,
			   &(struct plan){ swap->node,
					   2,
					   { swap->number, other },
					   come + go + swap->gain + seat_rare(seating, seat) });
}

static void try_swaps(struct search *search, const struct swap *swap)
{
	struct seating *seating = search->seating;
	const struct node *nodes = seating->pool->nodes;
	int64_t left = nodes[swap->node].left.cpu_milli;
	int64_t needs = swap->kind->demand->needs.cpu_milli;

	for (uint32_t node = 0; node < seating->pool->node_count; node++) {
		int64_t there = nodes[node].left.cpu_milli;
		uint32_t other = seating->spots[node].seats;

		if (node == swap->node)
			continue;
		for (; other != SEAT_NONE; other = seating->seats[other].next) {
			const struct seat *seat = &seating->seats[other];
			const struct kind *kind = seat_kind(seating, seat);
			int64_t frees = kind->demand->needs.cpu_milli;

			if (seat->order < search->first || kind == swap->kind || !kind->movable ||
			    frees > left || needs - frees > there)
				continue;
			try_swap(search, swap, other);
		}
	}
}

/* NUMBER of NODE makes room: with whom can it change places? */
static void search_swap(struct search *search, uint32_t node, uint32_t number)
{
	struct seating *seating = search->seating;
	struct seat *seat = &seating->seats[number];
	struct swap swap = { .node = node, .number = number, .kind = seat_kind(seating, seat) };
	struct option option;

	swap.gain = seat_rare(seating, seat);
	lift(search, number);
	if (gain_on(seating, search->kind, node, &option) != NO_GAIN) {
		struct held *scratch = seating->scratch;

		search->tries--;
		swap.gain -= option.rare;
		scratch->count = search->kind->shape.piece.cards;
		scratch->needs = search->kind->demand->needs;
		held_aim(seating->pool, search->kind, scratch, node, option.cards);
		hold_count(seating->pool, scratch, true);
		try_swaps(search, &swap);
		hold_count(seating->pool, scratch, false);
	}
	lower(search, number);
}

/* One Pod of each kind on a node is enough. */
static bool is_first_of_kind(const struct search *search, uint32_t node, uint32_t number)
{
	const struct seat *seats = search->seating->seats;
	uint32_t at = search->seating->spots[node].seats;

	while (at != number &&
	       (seats[at].kind != seats[number].kind || seats[at].order < search->first))
		at = seats[at].next;
	return at == number;
}

static void search_swaps(struct search *search)
{
	struct seating *seating = search->seating;

	search->tries = SWAPS_MAX;
	for (uint32_t node = 0; node < seating->pool->node_count; node++) {
		uint32_t number = seating->spots[node].seats;

		if (!may_hold(search, node) || !has_cards(search, node))
			continue;
		(void)spot_worth(seating, node);
		for (; number != SEAT_NONE && search->tries; number = seating->seats[number].next) {
			const struct seat *seat = &seating->seats[number];

			if (seat->order >= search->first && seat_kind(seating, seat)->movable &&
			    is_first_of_kind(search, node, number))
				search_swap(search, node, number);
		}
	}
}

/* ---- it is done ---- */

static bool send_elsewhere(struct seating *seating, uint32_t number, uint32_t from)
{
	const struct kind *kind = seat_kind(seating, &seating->seats[number]);
	struct tournament_key key;
	uint32_t node = best_node(seating, kind, from, &key);

	return node != SEAT_NONE && seat_settle(seating, number, node);
}

/* 0: two wanted the same room. */
static int send_leavers(struct seating *seating, uint32_t number, const struct plan *plan)
{
	struct bearings before[2];
	unsigned done = 0;
	int r = 0;

	for (unsigned i = 0; i < plan->count; i++)
		seat_lift(seating, plan->numbers[i], &before[i]);
	while (done < plan->count && send_elsewhere(seating, plan->numbers[done], plan->node))
		done++;
	if (done == plan->count)
		r = seat_place_on(seating, number, plan->node);
	if (r > 0)
		return r;
	while (done-- > 0)
		seat_lift(seating, plan->numbers[done], NULL);
	for (unsigned i = plan->count; i-- > 0;)
		seat_return(seating, plan->numbers[i], &before[i]);
	return r;
}

/* 0: card by card it does not fit. */
static int swap_places(struct seating *seating, uint32_t number, const struct plan *plan)
{
	uint32_t leaves = plan->numbers[0], comes = plan->numbers[1];
	struct bearings here, there;
	int r;

	seat_lift(seating, leaves, &here);
	seat_lift(seating, comes, &there);
	r = seat_place_on(seating, number, plan->node);
	if (r > 0) {
		if (seat_settle(seating, leaves, there.node)) {
			if (seat_settle(seating, comes, plan->node))
				return 1;
			seat_lift(seating, leaves, NULL);
		}
		seat_release(seating, number);
		r = 0;
	}
	seat_return(seating, comes, &there);
	seat_return(seating, leaves, &here);
	return r;
}

int make_room(struct seating *seating, uint32_t number, unsigned most, uint64_t first,
	      unsigned *ret_moved)
{
	struct kind *kind = seat_kind(seating, &seating->seats[number]);
	struct search search = {
		.seating = seating, .kind = kind, .most = most, .first = first, .tries = TRIES_MAX
	};
	int r = 0;

	/* It was searched in vain, and nothing has changed. */
	if (!kind->movable ||
	    (kind->failed == 1 + seating->pool->change_count && kind->failed_most >= most))
		return 0;
	resorts_forget(seating);
	search_leavers(&search);
	if (search.best.count) {
		r = send_leavers(seating, number, &search.best);
	} else if (most > 1) {
		search_swaps(&search);
		if (search.best.count)
			r = swap_places(seating, number, &search.best);
	}
	*ret_moved = 0;
	for (unsigned i = 0; i < search.best.count; i++)
		*ret_moved += change_of(seating, search.best.numbers[i])->was_bound;
	if (r == 0) {
		kind->failed = 1 + seating->pool->change_count;
		kind->failed_most = most;
	}
	return r;
}
