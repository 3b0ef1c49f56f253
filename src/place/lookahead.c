/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ahead: a Pod is bound when those behind it in the window are known, and its place may
 * change until then. Who fits when it comes always has a place, and nobody loses one for another:
 * places only shift. Room that appears goes to the oldest that waits for such.
 */
#include "seating.h"

#define LOOK_EVERY 16 /* arrivals between two passes over the window */
#define LOOK_MOST  2  /* others that shift for one */

int retry_window(struct seating *seating)
{
	for (size_t i = 0; i < seating->window_count; i++) {
		uint32_t number = seating_window(seating, i);

		if (number == SEAT_NONE || seating->seats[number].id)
			continue;
		int r = seat_place(seating, number);
		if (r < 0)
			return r;
	}
	return 0;
}

/* What the policy says to the place that it has, were it free. */
static struct tournament_key judge_own(const struct seating *seating, const struct seat *seat)
{
	const struct kind *kind = seat_kind(seating, seat);
	struct tournament_key key = { .tie = 0 };
	struct board board;
	uint64_t fits;

	hold_count(seating->pool, seat->held, false);
	pool_board(seating->pool, seat->held->node, &board);
	if (shape_cards(seating->pool, &kind->shape, seat->held->node, &fits))
		key.value = ask_aside(seating, kind, &board, fits).value;
	if (kind->shape.ties == TIE_BESTFIT)
		key.tie = score_tie_bestfit(&board, &kind->shape.piece);
	hold_count(seating->pool, seat->held, true);
	return key;
}

/* The value without what is off for a rare node. */
static int64_t without_rare(const struct seating *seating, const struct seat *seat, int64_t value)
{
	return seat_kind(seating, seat)->scarce ? value + seat_rare(seating, seat) : value;
}

/* Would the policy put it elsewhere by now, and is that better? */
static void reseat(struct seating *seating, uint32_t number)
{
	struct seat *seat = &seating->seats[number];
	const struct kind *kind = seat_kind(seating, seat);
	struct tournament_key here, there;
	struct bearings bearings;
	int64_t value;
	uint32_t node;

	if (!kind->movable)
		return;
	node = best_node(seating, kind, seat->held->node, &there);
	if (node == SEAT_NONE)
		return;
	here = judge_own(seating, seat);
	if (there.value < here.value || (there.value == here.value && there.tie <= here.tie))
		return;
	value = without_rare(seating, seat, here.value);
	seat_lift(seating, number, &bearings);
	if (seat_settle(seating, number, node)) {
		if (without_rare(seating, seat, there.value) > value)
			return;
		seat_lift(seating, number, NULL);
	}
	seat_return(seating, number, &bearings);
}

static int look_again(struct seating *seating)
{
	for (size_t i = 0; i < seating->window_count; i++) {
		uint32_t number = seating_window(seating, i);

		if (number != SEAT_NONE && seating->seats[number].id)
			reseat(seating, number);
	}
	return retry_window(seating);
}

/* The oldest that is not bound. */
static uint64_t first_order(const struct seating *seating)
{
	for (size_t i = 0; i < seating->window_count; i++)
		if (seating_window(seating, i) != SEAT_NONE)
			return seating->seats[seating_window(seating, i)].order;
	return seating->arrived;
}

int look_ahead(struct seating *seating, uint32_t number)
{
	unsigned moved;
	int r = seat_place(seating, number);

	if (r == 0 && seat_kind(seating, &seating->seats[number])->milli)
		r = make_room(seating, number, LOOK_MOST, first_order(seating), &moved);
	else if (r == 1)
		r = 0;
	if (r > 0)
		r = retry_window(seating);
	if (r == 0 && seating->seats[number].order % LOOK_EVERY == 0)
		r = look_again(seating);
	return r;
}
