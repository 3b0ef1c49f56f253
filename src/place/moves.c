/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves of running Pods, never more than a share of the Pods placed so far. One or two move when a
 * Pod with cards fits nowhere; and while there are enough moves left, now and then the one whose
 * move gains most.
 */
#include "seating.h"

#define MOVES_MODEL 500 /* of 1000: for Pods that fit nowhere only for the model they want */
#define MOVE_MIN    200 /* milli of cards that a move made for a Pod must earn */
#define MOVE_MOST   2   /* others that move for one */
#define TIDY_EVERY  16  /* Pods between two that are moved to tidy up */
#define TIDY_FILL   850 /* of 1000: not before so much is allocated */
#define TIDY_GAIN   (WORTH_CARD * 70 / 1000) /* that a move must bring */
#define TIDY_KEEP   20                       /* moves that are kept for Pods that fit nowhere */

/* Would it fit somewhere but for the model that it wants? */
static bool lacks_model(const struct seating *seating, const struct kind *kind)
{
	uint64_t cards;

	for (uint32_t i = 0; kind->constrained && i < seating->pool->node_count; i++)
		if (shape_cards(seating->pool, &kind->open, i, &cards))
			return true;
	return false;
}

/* PLACED: of how many Pods. */
static int64_t moves_left(const struct seating *seating, uint64_t placed)
{
	return (int64_t)(placed * seating->options.moves_permille / 1000) - (int64_t)seating->moves;
}

int move_others(struct seating *seating, uint32_t number)
{
	const struct kind *kind = seat_kind(seating, &seating->seats[number]);
	uint64_t placed = seating->placed + 1;
	int64_t left = moves_left(seating, placed);
	unsigned most = MOVE_MOST, moved;

	if (kind->milli == 0 || left < 1)
		return 0;
	if (lacks_model(seating, kind))
		left -= (int64_t)(placed * seating->options.moves_permille * (1000 - MOVES_MODEL) /
				  1000000);
	while (most > 0 && (most > left || kind->milli < most * MOVE_MIN))
		most--;
	int r = most ? make_room(seating, number, most, 0, &moved) : 0;
	if (r > 0)
		seating->moves += moved;
	return r;
}

/* Of the cards that can be given at all. */
static bool is_full(const struct pool *pool)
{
	uint64_t left = 0, cards = 0;

	for (size_t i = 0; i < pool->node_count; i++) {
		const struct node *node = &pool->nodes[i];
		uint64_t rest = node->modes[CARD_MODE_AUTO] | node->modes[CARD_MODE_WHOLE] |
				node->modes[CARD_MODE_SLICES];

		for (rest &= node->healthy & ~node->foreign; rest; rest &= rest - 1, cards++)
			left += node_rooms(pool, node)[first_card(rest)].left_milli;
	}
	return left <= cards * (1000 - TIDY_FILL);
}

/* Worth gained by NUMBER going to its resort; what is rare does not count. */
static int64_t tidy_gain(struct seating *seating, uint32_t number)
{
	struct seat *seat = &seating->seats[number];
	const struct resort *resort = resort_of(seating, seat_kind(seating, seat));
	uint32_t node = seat->held->node;
	unsigned which = resort->nodes[0] == node;
	int64_t gain = resort->gains[which] + resort->rare[which];
	struct board board;

	if (resort->nodes[which] == SEAT_NONE)
		return NO_GAIN;
	gain -= spot_worth(seating, node);
	hold_count(seating->pool, seat->held, false);
	pool_board(seating->pool, node, &board);
	hold_count(seating->pool, seat->held, true);
	return gain + value_worth(seating->pool->tables, &board);
}

static uint32_t find_untidy(struct seating *seating)
{
	int64_t top = TIDY_GAIN;
	uint32_t best = SEAT_NONE;

	resorts_forget(seating);
	for (uint32_t node = 0; node < seating->pool->node_count; node++) {
		uint32_t number = seating->spots[node].seats;

		for (; number != SEAT_NONE; number = seating->seats[number].next) {
			int64_t gain = tidy_gain(seating, number);

			if (gain > top) {
				top = gain;
				best = number;
			}
		}
	}
	return best;
}

void tidy(struct seating *seating)
{
	struct bearings bearings;
	struct tournament_key key;
	uint32_t number, node;

	if (seating->bound % TIDY_EVERY || moves_left(seating, seating->placed) <= TIDY_KEEP ||
	    !is_full(seating->pool))
		return;
	number = find_untidy(seating);
	if (number == SEAT_NONE)
		return;
	seat_lift(seating, number, &bearings);
	node = best_node(seating, seat_kind(seating, &seating->seats[number]), bearings.node, &key);
	if (node != SEAT_NONE && seat_settle(seating, number, node))
		seating->moves += change_of(seating, number)->was_bound;
	else
		seat_return(seating, number, &bearings);
}
