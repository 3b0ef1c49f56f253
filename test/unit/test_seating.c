/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ahead and moves on random pools, each step compared with a book of the test's own that is
 * filled from the lists of changes only. Checked: the pool holds what the lists say; no card has
 * too much; who fits has a place; nobody loses one; moves keep to their share; the same again
 * gives the same. GPUPOOL_TEST_SCALE (100 is 8,000 pools) sets how many, GPUPOOL_TEST_SEED which.
 */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"
#include "engine_world.h"
#include "naive_engine.h"
#include "place_world.h"
#include "place/place.h"

#define POOLS_SOAK 8000u
#define NODES      6u
#define SHAPES     8u
#define ARRIVALS   160u
#define TAGS       ARRIVALS
#define SEED       11u

struct tally { /* what was come to; each must be above zero */
	uint64_t adopted, adopted_moved, placed, refused, late, shifted, ended, one, two, swapped,
		tidied;
};

struct rules {
	bool plain; /* sound nodes of eight cards that are alike, Pods that fill them */
	struct seating_options options;
	unsigned ends; /* per cent of the steps in which somebody leaves */
	unsigned run;  /* Pods that run before the first comes */
	enum node_policy policy;
};

enum state { STATE_NEW, STATE_KNOWN, STATE_BOUND, STATE_GONE };

struct run {
	struct rules rules;
	struct dice dice;
	struct node_spec nodes[NODES];
	struct demand shapes[SHAPES];
	struct pool *pool;
	struct seating *seating;
	struct naive_book book;
	unsigned kinds[TAGS]; /* by tag */
	enum state states[TAGS];
	uint32_t seats[TAGS], at[TAGS];      /* node, or SEAT_NONE */
	uint64_t hash, bound, moves, ending; /* tag of who ends in this step, or TAGS */
	struct tally *tally;
};

static uint64_t number_from(const char *variable, uint64_t fallback)
{
	const char *text = getenv(variable);
	uint64_t number;

	return text && parse_uint(text, 0, UINT64_MAX, &number) == 0 ? number : fallback;
}

static void add_hash(struct run *run, uint64_t value)
{
	run->hash = (run->hash ^ value) * 0x100000001b3u;
}

/* ---- worlds ---- */

static void make_plain_node(unsigned number, struct node_spec *node)
{
	char name[16];

	node_spec_init(node);
	snprintf(name, sizeof(name), "n%u", number);
	node->name = strdup(name);
	node->allocatable.cpu_milli = 64000;
	world_add_cards(&node->inventory, number, 8, WORLD_A100, 80, CARD_MODE_AUTO);
}

/* Shares that leave something over, whole cards, and CPU only. */
static void make_plain_shape(unsigned number, struct demand *shape)
{
	static const struct request requests[] = {
		{ .kind = REQUEST_SLICE, .cards = 1, .units = 13, .memory_mib = 13 << 10 },
		{ .kind = REQUEST_SLICE, .cards = 1, .units = 30, .memory_mib = 30 << 10 },
		{ .kind = REQUEST_SLICE, .cards = 1, .units = 41, .memory_mib = 41 << 10 },
		{ .kind = REQUEST_SLICE, .cards = 1, .units = 53, .memory_mib = 53 << 10 },
		{ .kind = REQUEST_WHOLE, .cards = 1 },
		{ .kind = REQUEST_WHOLE, .cards = 4 },
	};

	demand_init(shape);
	shape->needs.cpu_milli = 1000 * (1 + (int64_t)number % 5);
	if (number >= ARRAY_SIZE(requests))
		return;
	struct request *request =
		VEC_ADD(&shape->requests, &shape->request_count, &shape->request_capacity);

	assert_non_null(request);
	*request = requests[number];
}

static void make_shape(struct run *run, unsigned number, struct demand *shape)
{
	if (run->rules.plain) {
		make_plain_shape(number, shape);
		return;
	}
	for (;;) {
		world_make_shape(&run->dice, NODES, shape);
		if (!shape->request_count || shape->requests[0].kind != REQUEST_MIG)
			return;
		demand_release(shape);
	}
}

static void make_world(struct run *run)
{
	struct workload_class classes[SHAPES];
	struct policy_options policy = { .policy = run->rules.policy, .ties = TIE_BESTFIT };
	struct error error = ERROR_INIT;
	unsigned kind;

	run->pool = pool_new();
	assert_non_null(run->pool);
	for (unsigned i = 0; i < NODES; i++) {
		if (run->rules.plain)
			make_plain_node(i, &run->nodes[i]);
		else
			world_make_node(&run->dice, i, &run->nodes[i]);
		/* Enough Pods for the cards to run out. */
		run->nodes[i].allocatable.pods = RESOURCE_UNLIMITED;
		assert_int_equal(pool_add_node(run->pool, &run->nodes[i], &error), 0);
	}
	for (unsigned i = 0; i < SHAPES; i++) {
		make_shape(run, i, &run->shapes[i]);
		classes[i] = (struct workload_class){ &run->shapes[i], 1.0 / SHAPES };
	}
	assert_int_equal(pool_set_policy(run->pool, &policy), 0);
	assert_int_equal(pool_set_workload(run->pool, classes, SHAPES), 0);
	assert_int_equal(seating_new(run->pool, &run->rules.options, &run->seating), 0);
	for (unsigned i = 0; i < SHAPES; i++) {
		assert_int_equal(seating_add_kind(run->seating, &run->shapes[i], &kind), 0);
		assert_int_equal(kind, i);
	}
	run->book = (struct naive_book){ .nodes = run->nodes, .node_count = NODES };
	for (unsigned i = 0; i < TAGS; i++)
		run->at[i] = SEAT_NONE;
}

static void release_world(struct run *run)
{
	seating_free(run->seating);
	pool_free(run->pool);
	naive_book_release(&run->book);
	for (unsigned i = 0; i < SHAPES; i++)
		demand_release(&run->shapes[i]);
	for (unsigned i = 0; i < NODES; i++)
		node_spec_release(&run->nodes[i]);
}

/* ---- the book of the test ---- */

static unsigned units_of(const struct request *request, const struct card *card)
{
	unsigned units = card_units(card);

	if (request->kind == REQUEST_WHOLE)
		return units;
	if (!request->memory_percent)
		return request->units;
	units = units * request->memory_percent / 100;
	return units ? units : 1;
}

static void mirror_add(struct run *run, uint64_t tag, unsigned node, uint64_t cards)
{
	const struct demand *demand = &run->shapes[run->kinds[tag]];
	const struct request *request = demand->request_count ? demand->requests : NULL;
	struct naive_held held = { .id = tag + 1, .node = node, .needs = demand->needs };

	held.kind = request ? request->kind : REQUEST_NONE;
	if (request && request->kind == REQUEST_SLICE)
		held.compute = request->compute_percent;
	assert_int_equal(__builtin_popcountll(cards), request ? request->cards : 0);
	for (unsigned i = 0; i < 64; i++) {
		if (!(cards >> i & 1))
			continue;
		struct naive_held_card *card = VEC_ADD(&held.cards, &held.count, &held.capacity);

		assert_non_null(card);
		*card = (struct naive_held_card){
			i, units_of(request, &run->nodes[node].inventory.cards[i])
		};
	}
	naive_book_add(&run->book, &held);
}

static void mirror_remove(struct run *run, uint64_t tag)
{
	for (size_t i = 0; i < run->book.held_count; i++) {
		if (run->book.held[i].id != tag + 1)
			continue;
		naive_book_remove(&run->book, i);
		return;
	}
	fail();
}

static bool fits(const struct run *run, unsigned kind)
{
	struct naive_verdict verdict;

	return naive_judge(&run->book, &run->shapes[kind], &verdict) == 0;
}

static void compare_pool(const struct run *run)
{
	char text[256];

	assert_null(naive_book_excess(&run->book, text, sizeof(text)));
	assert_int_equal(pool_grant_count(run->pool), run->book.held_count);
	for (unsigned i = 0; i < NODES; i++) {
		struct resources used = naive_used(&run->book, i),
				 has = pool_node_used(run->pool, i);

		assert_int_equal(used.cpu_milli, has.cpu_milli);
		assert_int_equal(used.memory_mib, has.memory_mib);
		assert_int_equal(used.pods, has.pods);
		for (unsigned k = 0; k < run->nodes[i].inventory.card_count; k++)
			assert_int_equal(naive_left_milli(&run->book, i, k),
					 pool_card_left_milli(run->pool, i, k));
	}
}

/* ---- steps ---- */

static void count_moves(struct run *run, const struct seat_change *changes, size_t count,
			bool made_room)
{
	const struct seat_change *moved[2] = { NULL };
	unsigned moves = 0;

	for (size_t i = 0; i < count; i++)
		if (changes[i].was_bound && changes[i].to != SEAT_NONE &&
		    changes[i].from != changes[i].to && moves++ < 2)
			moved[moves - 1] = &changes[i];
	run->moves += moves;
	if (!made_room)
		run->tally->tidied += moves;
	else if (moves == 1)
		run->tally->one++;
	else if (moves == 2 && moved[0]->from == moved[1]->to && moved[1]->from == moved[0]->to)
		run->tally->swapped++;
	else if (moves == 2)
		run->tally->two++;
}

static void read_change(struct run *run, const struct seat_change *change, uint64_t newest)
{
	uint64_t tag = change->tag;

	assert_true(tag < TAGS);
	assert_int_equal(change->from, run->at[tag]);
	assert_int_equal(change->was_bound, run->states[tag] == STATE_BOUND);
	if (change->from != SEAT_NONE)
		mirror_remove(run, tag);
	if (change->to != SEAT_NONE)
		mirror_add(run, tag, change->to, change->cards);
	if (tag == run->ending)
		run->states[tag] = STATE_GONE;
	if (change->from != SEAT_NONE) /* nobody loses a place */
		assert_int_equal(change->to == SEAT_NONE, tag == run->ending);
	run->tally->late += change->from == SEAT_NONE && change->to != SEAT_NONE && tag != newest;
	run->tally->shifted += !change->was_bound && change->from != SEAT_NONE &&
			       change->to != change->from && run->states[tag] != STATE_GONE;
	run->tally->adopted_moved +=
		tag < run->rules.run && change->to != change->from && change->to != SEAT_NONE;
	run->at[tag] = change->to;
	run->seats[tag] = change->seat;
	if (change->bound) {
		run->states[tag] = change->to == SEAT_NONE ? STATE_GONE : STATE_BOUND;
		run->bound += change->to != SEAT_NONE;
		run->tally->placed += change->to != SEAT_NONE;
		run->tally->refused += change->to == SEAT_NONE;
	}
	add_hash(run, tag);
	add_hash(run, change->to);
	add_hash(run, change->cards);
}

/* In the LAST step many are bound, and one may move there and back. */
static void check_moves(struct run *run, bool last)
{
	uint64_t moves = seating_moves(run->seating);

	assert_true(moves >= run->moves);
	if (last)
		run->moves = moves;
	assert_int_equal(run->moves, moves);
}

/* NEWEST: tag of who came, or TAGS. MADE_ROOM: it did not fit before. */
static void check_step(struct run *run, uint64_t newest, bool made_room)
{
	size_t count;
	const struct seat_change *changes = seating_changes(run->seating, &count);

	count_moves(run, changes, count, made_room);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(changes[i].tag, changes[k].tag);
	for (size_t i = 0; i < count; i++)
		read_change(run, &changes[i], newest);
	compare_pool(run);
	check_moves(run, newest == TAGS && run->ending == TAGS);
	assert_true(run->moves * 1000 <= run->bound * run->rules.options.moves_permille);
	/* Who waits finds no room: it would have been taken. Tidying up may make some. */
	for (uint64_t tag = 0; tag < TAGS && !run->rules.options.moves_permille; tag++)
		if (run->states[tag] == STATE_KNOWN && run->at[tag] == SEAT_NONE)
			assert_false(fits(run, run->kinds[tag]));
}

static void arrive(struct run *run, unsigned tag)
{
	unsigned kind = dice_below(&run->dice, SHAPES);
	bool room = fits(run, kind);

	run->kinds[tag] = kind;
	run->states[tag] = STATE_KNOWN;
	assert_int_equal(seating_arrive(run->seating, kind, tag), 0);
	check_step(run, tag, !room);
	if (room) /* also when it was refused at once */
		assert_int_not_equal(run->at[tag], SEAT_NONE);
}

static void end_one(struct run *run)
{
	unsigned tag = dice_below(&run->dice, TAGS);

	if (run->at[tag] == SEAT_NONE || tag < run->rules.run)
		return;
	run->ending = tag;
	assert_int_equal(seating_end(run->seating, run->seats[tag]), 0);
	run->tally->ended++;
	check_step(run, TAGS, false);
	assert_int_equal(run->states[tag], STATE_GONE);
	run->ending = TAGS;
}

/* Held in the pool before, taken over then; those that do not fit are not there. */
static void adopt(struct run *run, unsigned tag)
{
	unsigned kind = dice_below(&run->dice, SHAPES), other = (kind + 1) % SHAPES;
	struct decision *decision = calloc(1, sizeof(*decision));
	uint64_t cards = 0, id;

	assert_non_null(decision);
	run->kinds[tag] = kind;
	run->states[tag] = STATE_GONE;
	if (pool_decide(run->pool, &run->shapes[kind], decision, NULL) == 0) {
		assert_int_equal(pool_assume(run->pool, &run->shapes[kind], decision, &id), 0);
		assert_int_equal(seating_adopt(run->seating, kind, id, tag), -EINVAL);
		assert_int_equal(pool_confirm(run->pool, id), 0);
		assert_int_equal(seating_adopt(run->seating, kind, id + 1, tag), -ENOENT);
		if (kind >= 3 && kind < 6) /* of another number of cards, or whole and not */
			assert_int_equal(seating_adopt(run->seating, other, id, tag), -EINVAL);
		assert_int_equal(seating_adopt(run->seating, SHAPES, id, tag), -EINVAL);
		assert_int_equal(seating_adopt(run->seating, kind, id, tag), 0);
		for (unsigned i = 0; decision->count && i < decision->placements[0].count; i++)
			cards |= 1ull << decision->placements[0].cards[i];
		run->states[tag] = STATE_BOUND;
		run->at[tag] = decision->node;
		run->bound++;
		run->tally->adopted++;
		mirror_add(run, tag, decision->node, cards);
		compare_pool(run);
	}
	free(decision);
}

static uint64_t run_once(const struct rules *rules, uint64_t seed, struct tally *tally)
{
	struct run *run = calloc(1, sizeof(*run));
	uint64_t hash;

	assert_non_null(run);
	run->rules = *rules;
	run->tally = tally;
	run->dice.state = seed * 0x9e3779b97f4a7c15u | 1;
	run->ending = TAGS;
	make_world(run);
	for (unsigned tag = 0; tag < rules->run; tag++)
		adopt(run, tag);
	for (unsigned tag = rules->run; tag < ARRIVALS; tag++) {
		arrive(run, tag);
		if (dice_chance(&run->dice, rules->ends))
			end_one(run);
	}
	assert_int_equal(seating_finish(run->seating), 0);
	check_step(run, TAGS, true);
	for (unsigned tag = 0; tag < TAGS; tag++)
		assert_true(run->states[tag] == STATE_BOUND || run->states[tag] == STATE_GONE);
	hash = run->hash;
	release_world(run);
	free(run);
	return hash;
}

static void check_rules(const struct rules *rules, const char *name, struct tally *tally)
{
	uint64_t scale = number_from("GPUPOOL_TEST_SCALE", 1);
	uint64_t seed = number_from("GPUPOOL_TEST_SEED", SEED);

	for (uint64_t i = 0; i < POOLS_SOAK * scale / 100; i++) {
		struct tally none = { 0 };
		uint64_t hash = run_once(rules, seed + i, tally);

		if (i % 8 == 0)
			assert_int_equal(hash, run_once(rules, seed + i, &none));
	}
	printf("# %s: placed %" PRIu64 ", refused %" PRIu64 ", late %" PRIu64 ", shifted %" PRIu64
	       ", ended %" PRIu64 ", moved one %" PRIu64 ", two %" PRIu64 ", swapped %" PRIu64
	       ", tidied %" PRIu64 "\n",
	       name, tally->placed, tally->refused, tally->late, tally->shifted, tally->ended,
	       tally->one, tally->two, tally->swapped, tally->tidied);
}

TEST(places_shift_until_they_are_bound)
{
	const struct rules rules = { .options = { .look_ahead = 24 }, .ends = 20 };
	struct tally tally = { 0 };

	check_rules(&rules, "look-ahead", &tally);
	assert_true(tally.placed && tally.refused && tally.late && tally.shifted && tally.ended);
	assert_int_equal(tally.one + tally.two + tally.swapped + tally.tidied, 0);
}

TEST(running_pods_move_within_their_share)
{
	const struct rules rules = { .options = { .look_ahead = 1, .moves_permille = 1000 },
				     .ends = 10 };
	struct tally tally = { 0 };

	check_rules(&rules, "moves", &tally);
	assert_true(tally.placed && tally.refused && tally.ended);
	assert_true(tally.one && tally.two && tally.swapped);
	assert_int_equal(tally.shifted, 0);
}

/* Tidying up takes who has just been bound: nobody saw it elsewhere, so it is no move. */
TEST(who_has_just_come_does_not_move)
{
	const struct rules rules = { .options = { .look_ahead = 1, .moves_permille = 1000 },
				     .ends = 10 };
	struct tally tally = { 0 };

	run_once(&rules, 7548, &tally); /* check_moves() was not content with it */
	assert_true(tally.one);
}

TEST(one_moves_to_tidy_up_where_moves_are_left)
{
	const struct rules rules = { .plain = true,
				     .options = { .look_ahead = 1, .moves_permille = 1000 },
				     .ends = 30 };
	struct tally tally = { 0 };

	check_rules(&rules, "tidy", &tally);
	assert_true(tally.placed && tally.refused && tally.ended && tally.tidied);
}

TEST(pods_that_run_already_may_move_too)
{
	const struct rules rules = { .plain = true,
				     .options = { .look_ahead = 1, .moves_permille = 1000 },
				     .run = 40 };
	struct tally tally = { 0 };

	check_rules(&rules, "adopted", &tally);
	assert_true(tally.adopted > 1000 && tally.adopted_moved && tally.placed);
}

TEST(both_go_together)
{
	const struct rules rules = { .options = { .look_ahead = 16, .moves_permille = 100 },
				     .ends = 10,
				     .policy = NODE_POLICY_FGD };
	struct tally tally = { 0 };

	check_rules(&rules, "both", &tally);
	assert_true(tally.placed && tally.refused && tally.shifted && tally.one);
}

/* The CALL-th allocation of the arrival AT fails. False: there are fewer. */
static bool arrive_short_of_memory(unsigned at, unsigned call)
{
	struct tally tally = { 0 };
	struct run *run = calloc(1, sizeof(*run));
	bool failed;

	assert_non_null(run);
	run->rules = (struct rules){ .plain = true,
				     .options = { .look_ahead = 4, .moves_permille = 1000 } };
	run->tally = &tally;
	run->dice.state = SEED;
	run->ending = TAGS;
	make_world(run);
	for (unsigned tag = 0; tag < at; tag++)
		arrive(run, tag);
	run->kinds[at] = at % SHAPES;
	run->states[at] = STATE_KNOWN;
	fault_arm(call);
	int r = seating_arrive(run->seating, run->kinds[at], at);
	failed = fault_disarm();
	assert_true(r == 0 || (failed && r == -ENOMEM));
	check_step(run, at, true);
	for (unsigned tag = at + 1; tag < at + 20; tag++)
		arrive(run, tag);
	release_world(run);
	free(run);
	return failed;
}

TEST(nobody_loses_a_place_for_want_of_memory)
{
	unsigned calls = 0;

	for (unsigned at = 0; at < 130; at += 7)
		for (unsigned call = 0; arrive_short_of_memory(at, call); call++)
			calls++;
	assert_true(calls > 20);
}

TEST(what_cannot_be_had_is_refused)
{
	const struct seating_options bad[] = {
		{ .look_ahead = 0 },
		{ .look_ahead = SEATING_LOOK_AHEAD_MAX + 1 },
		{ .look_ahead = 1, .moves_permille = 1001 },
		{ .look_ahead = 1 }, /* no workload is expected */
	};
	struct pool *pool = pool_new();
	struct seating *seating = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(seating_new(pool, &bad[i], &seating), -EINVAL);
	assert_null(seating);
	pool_free(pool);
}

TEST(a_seating_is_made_whole_or_not_at_all)
{
	const struct seating_options options = { .look_ahead = 4 };
	struct run *run = calloc(1, sizeof(*run));
	struct seating *seating;
	unsigned kind;

	assert_non_null(run);
	run->rules = (struct rules){ .plain = true, .options = options };
	run->dice.state = SEED;
	make_world(run);
	for (unsigned call = 0;; call++) {
		seating = NULL;
		fault_arm(call);
		int r = seating_new(run->pool, &options, &seating);
		if (r == 0)
			r = seating_add_kind(seating, &run->shapes[0], &kind);
		bool failed = fault_disarm();

		assert_int_equal(r, failed ? -ENOMEM : 0);
		if (seating) {
			assert_int_equal(seating_arrive(seating, 7, 0), -EINVAL);
			assert_int_equal(seating_end(seating, 0), -ENOENT);
		}
		seating_free(seating);
		if (!failed)
			break;
	}
	release_world(run);
	free(run);
}
