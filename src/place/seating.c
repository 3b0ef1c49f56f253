/* SPDX-License-Identifier: Apache-2.0 */
/* Who sits where, and what changed; see seating.h. */
#include "seating.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ELIGIBLE_MEMORY (64u << 20) /* bytes; kinds beyond it are judged the slow way */

static void kind_release(struct kind *kind)
{
	shape_release(&kind->shape);
	if (kind->constrained)
		shape_release(&kind->open);
}

void seating_free(struct seating *seating)
{
	if (!seating)
		return;
	for (size_t i = 0; i < seating->kind_count; i++)
		kind_release(&seating->kinds[i]);
	free(seating->kinds);
	free(seating->seats);
	free(seating->spots);
	free(seating->window);
	free(seating->changes);
	free(seating->scratch);
	free(seating);
}

int seating_new(struct pool *pool, const struct seating_options *options, struct seating **ret)
{
	struct seating *seating;
	struct board board;

	if (!pool->tables || options->look_ahead < 1 ||
	    options->look_ahead > SEATING_LOOK_AHEAD_MAX || options->moves_permille > 1000)
		return -EINVAL;
	seating = calloc(1, sizeof(*seating));
	if (!seating)
		return -ENOMEM;
	seating->pool = pool;
	seating->options = *options;
	seating->free_seat = SEAT_NONE;
	/* A call binds at most the window, and for each of those moves two others and tidies one. */
	seating->change_capacity = 4 * (size_t)options->look_ahead + 8;
	seating->changes = calloc(seating->change_capacity, sizeof(*seating->changes));
	seating->window = calloc(options->look_ahead, sizeof(*seating->window));
	seating->spots = calloc(pool->node_count + 1, sizeof(*seating->spots));
	seating->scratch = held_new(0, NODE_CARDS_MAX);
	if (!seating->changes || !seating->window || !seating->spots || !seating->scratch) {
		seating_free(seating);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < pool->node_count; i++) {
		pool_board(pool, i, &board);
		seating->spots[i] = (struct spot){
			.seats = SEAT_NONE,
			.rare = value_rare(pool->tables->value, &board),
		};
	}
	*ret = seating;
	return 0;
}

static int find_eligible(const struct seating *seating, struct shape *shape)
{
	size_t each = 2 * (seating->pool->node_count / 8 + 8 * (seating->pool->kind_count + 1));

	if (seating->kind_count >= ELIGIBLE_MEMORY / each)
		return 0;
	return shape_find_eligible(seating->pool, shape);
}

static int kind_init_open(const struct seating *seating, struct kind *kind)
{
	struct demand demand = *kind->demand;
	struct request request = demand.requests[0];

	request.models = request.not_models = (struct string_list){ NULL };
	demand.requests = &request;
	int r = shape_init(seating->pool, &demand, &kind->open);
	if (r < 0)
		return r;
	kind->constrained = true;
	r = find_eligible(seating, &kind->open);
	/* What the query borrows lives on. */
	kind->open.query.demand = kind->demand;
	kind->open.query.request = kind->demand->requests;
	return r;
}

static int kind_init(const struct seating *seating, struct kind *kind)
{
	const struct demand *demand = kind->demand;
	const struct request *request = demand->request_count ? &demand->requests[0] : NULL;
	unsigned most = 0;

	int r = shape_init(seating->pool, demand, &kind->shape);
	if (r < 0)
		return r;
	kind->movable =
		demand->request_count <= 1 &&
		(!request || ((request->kind == REQUEST_WHOLE || request->kind == REQUEST_SLICE) &&
			      request->uuids.count == 0));
	kind->scarce = kind->shape.row->score == score_default;
	for (size_t i = 0; i < seating->pool->model_count; i++)
		most = kind->shape.milli[i] > most ? kind->shape.milli[i] : most;
	kind->milli = most * kind->shape.piece.cards;
	if (kind->movable)
		r = find_eligible(seating, &kind->shape);
	if (r == 0 && kind->movable && request && request->models.count + request->not_models.count)
		r = kind_init_open(seating, kind);
	if (r < 0)
		kind_release(kind);
	return r;
}

int seating_add_kind(struct seating *seating, const struct demand *demand, unsigned *ret)
{
	struct kind kind = { .demand = demand };
	int r;

	if (seating->kind_count >= UINT32_MAX ||
	    vec_reserve(&seating->kinds, &seating->kind_capacity, seating->kind_count + 1,
			sizeof(*seating->kinds)) < 0)
		return -ENOMEM;
	r = kind_init(seating, &kind);
	if (r < 0)
		return r;
	seating->kinds[seating->kind_count] = kind;
	*ret = (unsigned)seating->kind_count++;
	return 0;
}

/* ---- changes ---- */

static uint64_t cards_of(const struct held *held)
{
	uint64_t cards = 0;

	for (unsigned i = 0; i < held->count; i++)
		cards |= card_bit(held->cards[i].card);
	return cards;
}

struct seat_change *change_of(struct seating *seating, uint32_t number)
{
	struct seat *seat = &seating->seats[number];

	if (seat->change != SEAT_NONE)
		return &seating->changes[seat->change];
	assert(seating->change_count < seating->change_capacity);
	seat->change = (uint32_t)seating->change_count++;
	struct seat_change *change = &seating->changes[seat->change];

	*change = (struct seat_change){ .seat = number,
					.tag = seat->tag,
					.from = seat->id ? seat->held->node : SEAT_NONE,
					.to = seat->id ? seat->held->node : SEAT_NONE,
					.cards = seat->id ? cards_of(seat->held) : 0,
					.was_bound = seat->bound };
	return change;
}

static void forget_changes(struct seating *seating)
{
	for (size_t i = 0; i < seating->change_count; i++)
		seating->seats[seating->changes[i].seat].change = SEAT_NONE;
	seating->change_count = 0;
}

const struct seat_change *seating_changes(const struct seating *seating, size_t *ret_count)
{
	*ret_count = seating->change_count;
	return seating->changes;
}

/* ---- seats ---- */

static void link_seat(struct seating *seating, uint32_t number)
{
	struct seat *seat = &seating->seats[number];
	struct seat_change *change = change_of(seating, number);

	seat->next = seating->spots[seat->held->node].seats;
	seating->spots[seat->held->node].seats = number;
	change->to = seat->held->node;
	change->cards = cards_of(seat->held);
}

static void unlink_seat(struct seating *seating, uint32_t number)
{
	struct seat *seat = &seating->seats[number];
	uint32_t *at = &seating->spots[seat->held->node].seats;

	change_of(seating, number)->to = SEAT_NONE;
	while (*at != number)
		at = &seating->seats[*at].next;
	*at = seat->next;
	seat->next = SEAT_NONE;
}

static int seat_enter(struct seating *seating, uint32_t number, int decided)
{
	struct seat *seat = &seating->seats[number];
	uint64_t id;

	if (decided == -EAGAIN || decided == -ENOSPC)
		return 0;
	if (decided == 0)
		decided = pool_assume(seating->pool, seat_kind(seating, seat)->demand,
				      &seating->decision, &id);
	if (decided < 0)
		return decided;
	(void)change_of(seating, number); /* it had no place before */
	seat->id = id;
	seat->held = hold_find(seating->pool, id);
	link_seat(seating, number);
	return 1;
}

int seat_place(struct seating *seating, uint32_t number)
{
	const struct kind *kind = seat_kind(seating, &seating->seats[number]);

	return seat_enter(seating, number,
			  pool_decide(seating->pool, kind->demand, &seating->decision, NULL));
}

int seat_place_on(struct seating *seating, uint32_t number, uint32_t node)
{
	const struct kind *kind = seat_kind(seating, &seating->seats[number]);

	return seat_enter(
		seating, number,
		pool_decide_on(seating->pool, node, kind->demand, &seating->decision, NULL));
}

void seat_lift(struct seating *seating, uint32_t number, struct bearings *ret)
{
	struct held *held = seating->seats[number].held;

	if (ret) {
		ret->node = held->node;
		memcpy(ret->cards, held->cards, held->count * sizeof(held->cards[0]));
	}
	unlink_seat(seating, number);
	hold_count(seating->pool, held, false);
	pool_log_change(seating->pool, held->node);
}

static void seat_down(struct seating *seating, uint32_t number)
{
	struct held *held = seating->seats[number].held;

	hold_count(seating->pool, held, true);
	pool_log_change(seating->pool, held->node);
	link_seat(seating, number);
}

void seat_return(struct seating *seating, uint32_t number, const struct bearings *bearings)
{
	struct held *held = seating->seats[number].held;

	held->node = bearings->node;
	memcpy(held->cards, bearings->cards, held->count * sizeof(held->cards[0]));
	seat_down(seating, number);
}

bool seat_settle(struct seating *seating, uint32_t number, uint32_t node)
{
	struct seat *seat = &seating->seats[number];
	const struct kind *kind = seat_kind(seating, seat);
	struct option option;

	if (gain_on(seating, kind, node, &option) == NO_GAIN)
		return false;
	held_aim(seating->pool, kind, seat->held, node, option.cards);
	seat_down(seating, number);
	return true;
}

void seat_release(struct seating *seating, uint32_t number)
{
	struct seat *seat = &seating->seats[number];

	unlink_seat(seating, number);
	pool_release(seating->pool, seat->id);
	seat->id = 0;
	seat->held = NULL;
}

static int seat_new(struct seating *seating, unsigned kind, uint64_t tag, uint32_t *ret)
{
	uint32_t number = seating->free_seat;

	if (number != SEAT_NONE) {
		seating->free_seat = seating->seats[number].next;
	} else {
		if (seating->seat_count >= SEAT_NONE ||
		    vec_reserve(&seating->seats, &seating->seat_capacity, seating->seat_count + 1,
				sizeof(*seating->seats)) < 0)
			return -ENOMEM;
		number = (uint32_t)seating->seat_count++;
	}
	seating->seats[number] = (struct seat){ .order = seating->arrived++,
						.tag = tag,
						.kind = kind,
						.next = SEAT_NONE,
						.change = SEAT_NONE };
	*ret = number;
	return 0;
}

static void seat_drop(struct seating *seating, uint32_t number)
{
	struct seat *seat = &seating->seats[number];

	if (seat->id)
		seat_release(seating, number);
	seat->next = seating->free_seat;
	seating->free_seat = number;
}

/* ---- what would be ---- */

uint32_t best_node(struct seating *seating, const struct kind *kind, uint32_t except,
		   struct tournament_key *ret)
{
	struct shape *shape = shape_get(seating->pool, kind->demand);
	struct tournament *tournament;
	struct tournament_key key;
	uint32_t best;

	if (!shape)
		return SEAT_NONE;
	tournament = &shape->fits.tournament;
	if (except == SEAT_NONE)
		return tournament_best(tournament, ret);
	key = tournament_key_of(tournament, except);
	tournament_set(tournament, except, &(struct tournament_key){ .value = TOURNAMENT_OUT });
	best = tournament_best(tournament, ret);
	tournament_set(tournament, except, &key);
	return best;
}

struct answer ask_aside(const struct seating *seating, const struct kind *kind,
			const struct board *board, uint64_t fits)
{
	const struct score_options options = score_options_of(seating->pool);
	const struct question question = {
		.tables = seating->pool->tables,
		.options = &options,
		.board = board,
		.piece = &kind->shape.piece,
		.fits = fits,
	};

	return kind->shape.row->score(&question);
}

int64_t spot_worth(struct seating *seating, uint32_t node)
{
	uint64_t changed = seating->pool->changed[node];
	struct spot *spot = &seating->spots[node];
	struct board board;

	if (spot->changed == 0 || spot->changed != changed) {
		pool_board(seating->pool, node, &board);
		spot->worth = value_worth(seating->pool->tables, &board);
		spot->changed = changed; /* 0 may be the first change or none: not kept */
	}
	return spot->worth;
}

int64_t seat_rare(const struct seating *seating, const struct seat *seat)
{
	const struct pool *pool = seating->pool;
	const struct held *held = seat->held;
	const struct node *node = &pool->nodes[held->node];
	int64_t milli = 0;

	for (unsigned i = 0; i < held->count; i++)
		milli += seat_kind(seating, seat)
				 ->shape.milli[node_slot(pool, node, held->cards[i].card)->model];
	return seating->spots[held->node].rare * milli / (int64_t)MILLI_WHOLE;
}

int64_t gain_on(struct seating *seating, const struct kind *kind, uint32_t node, struct option *ret)
{
	struct pool *pool = seating->pool;
	struct answer answer = { 0, 0 };
	struct board board;
	uint64_t fits;
	int64_t rare;

	if (!kind->movable || !shape_cards(pool, &kind->shape, node, &fits))
		return NO_GAIN;
	pool_board(pool, node, &board);
	if (kind->shape.piece.cards)
		answer = ask_aside(seating, kind, &board, fits);
	rare = seating->spots[node].rare * piece_sum(&kind->shape.piece, &board, answer.cards) /
	       (int64_t)MILLI_WHOLE;
	board_take(&board, &kind->shape.piece, answer.cards);
	if (ret)
		*ret = (struct option){ answer.cards, rare };
	return value_worth(pool->tables, &board) - spot_worth(seating, node) - rare;
}

void held_aim(const struct pool *pool, const struct kind *kind, struct held *held, uint32_t node,
	      uint64_t cards)
{
	const struct request *request = kind->shape.query.request;
	unsigned at = 0;

	held->node = node;
	for (uint64_t rest = cards; rest; rest &= rest - 1, at++) {
		unsigned units = node_slot(pool, &pool->nodes[node], first_card(rest))->units;
		bool slice = request->kind == REQUEST_SLICE;

		held->cards[at] = (struct held_card){
			.card = (uint16_t)first_card(rest),
			.units = (uint16_t)(slice ? query_units(request, units) : units),
			.compute = (uint8_t)(slice ? request->compute_percent : 0),
			.kind = (uint8_t)request->kind,
		};
	}
}

/* ---- arrivals ---- */

/* The oldest of the window has waited long enough. */
static int bind_oldest(struct seating *seating)
{
	uint32_t number = seating_window(seating, 0);
	uint64_t moves = seating->moves;
	struct seat *seat;
	int r = 0;

	if (number == SEAT_NONE)
		goto out;
	seat = &seating->seats[number];
	if (!seat->id)
		r = seat_place(seating, number);
	if (r == 0 && !seat->id && seating->options.moves_permille)
		r = move_others(seating, number);
	if (r < 0)
		return r;
	change_of(seating, number)->bound = true;
	if (seat->id) {
		pool_confirm(seating->pool, seat->id);
		seat->bound = true;
		seating->placed++;
	} else {
		seat_drop(seating, number);
	}
out:
	seating->window_first = (seating->window_first + 1) % seating->options.look_ahead;
	seating->window_count--;
	seating->bound++;
	if (seating->moves == moves) /* else what has just moved might go back */
		tidy(seating);
	return 0;
}

int seating_arrive(struct seating *seating, unsigned kind, uint64_t tag)
{
	uint32_t number = SEAT_NONE;
	int r;

	if (kind >= seating->kind_count)
		return -EINVAL;
	forget_changes(seating);
	r = seating->window_count == seating->options.look_ahead ? bind_oldest(seating) : 0;
	if (r == 0) /* the window is full only when memory was short */
		r = seat_new(seating, kind, tag, &number);
	if (r < 0)
		return r;
	seating->window[(seating->window_first + seating->window_count++) %
			seating->options.look_ahead] = number;
	if (seating->options.look_ahead > 1)
		r = look_ahead(seating, number);
	if (r >= 0 && seating->window_count == seating->options.look_ahead)
		r = bind_oldest(seating);
	return r < 0 ? r : 0;
}

/* Do the cards that it holds look like what the kind asks for? */
static bool is_of_kind(const struct kind *kind, const struct held *held)
{
	const struct request *request = kind->shape.query.request;

	if (!request)
		return held->count == 0;
	for (unsigned i = 0; i < held->count; i++)
		if (held->cards[i].kind != request->kind || held->cards[i].part != 0)
			return false;
	return held->count == request->cards;
}

int seating_adopt(struct seating *seating, unsigned kind, uint64_t id, uint64_t tag)
{
	struct held *held = hold_find(seating->pool, id);
	struct seat *seat;
	uint32_t number;
	int r;

	forget_changes(seating);
	if (!held)
		return -ENOENT;
	if (kind >= seating->kind_count || held->assumed || !seating->kinds[kind].movable ||
	    !is_of_kind(&seating->kinds[kind], held))
		return -EINVAL;
	r = seat_new(seating, kind, tag, &number);
	if (r < 0)
		return r;
	seat = &seating->seats[number];
	seat->id = id;
	seat->held = held;
	seat->bound = true;
	seating->placed++;
	link_seat(seating, number);
	return 0;
}

int seating_finish(struct seating *seating)
{
	int r = 0;

	forget_changes(seating);
	while (r == 0 && seating->window_count)
		r = bind_oldest(seating);
	return r;
}

int seating_end(struct seating *seating, uint32_t number)
{
	forget_changes(seating);
	if (number >= seating->seat_count || !seating->seats[number].id)
		return -ENOENT;
	for (size_t i = 0; i < seating->window_count; i++)
		if (seating_window(seating, i) == number)
			seating->window[(seating->window_first + i) % seating->options.look_ahead] =
				SEAT_NONE;
	seat_drop(seating, number);
	return retry_window(seating);
}

uint64_t seating_moves(const struct seating *seating)
{
	return seating->moves;
}
