/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine against test/lib/naive_engine.c on random pools: who fits where, the best value, the
 * reasons and their numbers, and that a decision changes nothing. A state is a pool at one decision.
 * GPUPOOL_TEST_SCALE (100 is 300,000 states) sets how many, GPUPOOL_TEST_SEED which.
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
#include "place/place.h"

#define STATES_SOAK 300000u
#define STEPS       100u /* of one pool */
#define NODES_MAX   12u
#define SHAPES      48u /* kept for one pool */
#define CLASSES     6u
#define SEED        5u

static const char *const model_names[] = { WORLD_A100, "NVIDIA A40", "Tesla T4" };

struct tally {
	uint64_t states, placed, waits, never, reasons[REASON_CODE_MAX];
	uint64_t policies[NODE_POLICY_MAX], ties[TIE_MAX];
	uint64_t ties_seen, released, forgotten, confirmed, everywhere;
	uint64_t new_shapes, old_shapes, workloads, on_one_node;
};

struct run {
	struct dice dice;
	struct node_spec nodes[NODES_MAX];
	unsigned node_count;
	struct demand shapes[SHAPES];
	unsigned shape_count;
	struct pool *pool;
	struct policy_options options;
	struct naive_book book;
	struct naive_class classes[CLASSES];
	struct naive_mix mix;
	struct demand class_demands[CLASSES];
	struct tally tally;
	char differs[768]; /* "" while both agree */
};

static unsigned below(struct run *run, unsigned limit)
{
	return dice_below(&run->dice, limit);
}

static bool chance(struct run *run, unsigned percent)
{
	return dice_chance(&run->dice, percent);
}

static void differ(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void differ(struct run *run, const char *format, ...)
{
	va_list arguments;

	if (run->differs[0])
		return;
	va_start(arguments, format);
	vsnprintf(run->differs, sizeof(run->differs), format, arguments);
	va_end(arguments);
}

/* ---- shapes ---- */

/* One that was asked for already, or one more. */
static const struct demand *draw_shape(struct run *run)
{
	if (run->shape_count == 0 || (run->shape_count < SHAPES && chance(run, 35))) {
		world_make_shape(&run->dice, run->node_count, &run->shapes[run->shape_count]);
		run->tally.new_shapes++;
		return &run->shapes[run->shape_count++];
	}
	run->tally.old_shapes++;
	/* The first ones often: they stay indexed. */
	if (chance(run, 50))
		return &run->shapes[below(run, run->shape_count < 4 ? run->shape_count : 4)];
	return &run->shapes[below(run, run->shape_count)];
}

/* ---- workloads ---- */

static void make_class(struct run *run, unsigned number, double share)
{
	static const unsigned milli[] = { 100, 250, 500 };
	struct demand *demand = &run->class_demands[number];
	struct naive_class *class = &run->classes[number];
	unsigned percent = milli[number % 3] / 10;
	struct request *request;

	demand_init(demand);
	demand->needs.cpu_milli = 1000 * (int64_t)(1 + number + 8 * below(run, 4));
	request = VEC_ADD(&demand->requests, &demand->request_count, &demand->request_capacity);
	assert_non_null(request);
	request->cards = 1;
	request->kind = number < 3 ? REQUEST_WHOLE : REQUEST_SLICE;
	request->memory_percent = number < 3 ? 0 : percent;
	request->compute_percent = number < 3 ? 0 : percent; /* exact on every model */
	if (number < 3)
		request->cards = 1u << number;
	*class = (struct naive_class){ .ask = { .cards = request->cards,
						.whole = number < 3,
						.cpu = demand->needs.cpu_milli },
				       .share = share };
	for (unsigned i = 0; i < WORLD_MODELS; i++)
		class->ask.milli[i] = number < 3 ? 1000 : 10 * percent;
}

static void set_workload(struct run *run)
{
	struct workload_class classes[CLASSES];
	static const double shares[CLASSES] = { 0.32, 0.11, 0.07, 0.2, 0.17, 0.13 };

	run->mix.count = 0;
	for (unsigned i = 0; i < CLASSES; i++) {
		demand_release(&run->class_demands[i]);
		make_class(run, i, shares[i]);
		classes[i] = (struct workload_class){ &run->class_demands[i], shares[i] };
	}
	if (chance(run, 70))
		run->mix.count = CLASSES;
	run->mix.classes = run->classes;
	assert_int_equal(
		pool_set_workload(run->pool, run->mix.count ? classes : NULL, run->mix.count), 0);
	run->tally.workloads++;
}

static void set_policy(struct run *run)
{
	bool classes_before = run->options.original_classes;

	run->options = (struct policy_options){
		.policy = chance(run, 15) ? NODE_POLICY_FGD
					  : (enum node_policy)below(run, NODE_POLICY_MAX),
		.ties = (enum tie_rule)below(run, TIE_MAX),
		.seed = below(run, 1000),
		.original_cards = chance(run, 25),
		.original_classes = chance(run, 25),
	};
	run->mix.original_cards = run->options.original_cards;
	run->mix.original_classes = run->options.original_classes;
	if (run->options.original_classes != classes_before)
		run->mix.count = 0; /* the workload is forgotten then */
	assert_int_equal(pool_set_policy(run->pool, &run->options), 0);
}

static void make_run(struct run *run)
{
	run->pool = pool_new();
	assert_non_null(run->pool);
	pool_withhold(run->pool, REQUEST_MIG); /* test_place_mig.c and test_place_random.c */
	run->node_count = 1 + below(run, NODES_MAX);
	for (unsigned i = 0; i < run->node_count; i++) {
		world_make_node(&run->dice, i, &run->nodes[i]);
		assert_int_equal(pool_add_node(run->pool, &run->nodes[i], NULL), 0);
	}
	run->book = (struct naive_book){ .nodes = run->nodes, .node_count = run->node_count };
	set_policy(run);
	set_workload(run);
}

static void end_run(struct run *run)
{
	pool_free(run->pool);
	naive_book_release(&run->book);
	for (unsigned i = 0; i < run->node_count; i++)
		node_spec_release(&run->nodes[i]);
	for (unsigned i = 0; i < run->shape_count; i++)
		demand_release(&run->shapes[i]);
	for (unsigned i = 0; i < CLASSES; i++)
		demand_release(&run->class_demands[i]);
	run->shape_count = 0;
}

/* ---- the pool is as the list of holders says ---- */

static void compare_card(struct run *run, unsigned node, unsigned card)
{
	const struct card *of = &run->nodes[node].inventory.cards[card];
	unsigned left = naive_left_milli(&run->book, node, card), granted;
	struct naive_card state;

	naive_card_of(&run->book, node, card, &state);
	granted = state.whole ? card_units(of) : state.units;
	if (pool_card_granted(run->pool, node, card) != granted ||
	    pool_card_held_whole(run->pool, node, card) != (state.whole > 0))
		differ(run, "card %u of n%02u: %u GiB held, the pool says %u", card, node, granted,
		       pool_card_granted(run->pool, node, card));
	if (pool_card_left_milli(run->pool, node, card) != left)
		differ(run, "card %u of n%02u: %u milli left, the pool says %u", card, node, left,
		       pool_card_left_milli(run->pool, node, card));
}

static void compare_pool(struct run *run)
{
	char text[256];

	if (naive_book_excess(&run->book, text, sizeof(text)))
		differ(run, "more than there is: %s", text);
	if (pool_grant_count(run->pool) != run->book.held_count)
		differ(run, "%zu holders, the pool says %zu", run->book.held_count,
		       pool_grant_count(run->pool));
	for (unsigned i = 0; i < run->node_count; i++) {
		struct resources used = naive_used(&run->book, i);
		struct resources said = pool_node_used(run->pool, i);

		if (used.cpu_milli != said.cpu_milli || used.memory_mib != said.memory_mib ||
		    used.pods != said.pods)
			differ(run, "used of n%02u: CPU %" PRId64 ", the pool says %" PRId64, i,
			       used.cpu_milli, said.cpu_milli);
		for (unsigned k = 0; k < run->nodes[i].inventory.card_count; k++)
			compare_card(run, i, k);
	}
}

/* ---- values ---- */

/* The Pod's own policy, else the pool's. */
static const char *policy_of(const struct run *run, const struct demand *demand)
{
	static const char *const own[POLICY_MAX] = { NULL, "binpack", "spread", "topology" };
	const struct request *request = demand->request_count ? &demand->requests[0] : NULL;

	if (request && own[request->policy])
		return own[request->policy];
	if (run->options.policy == NODE_POLICY_DEFAULT && run->mix.count == 0 && request &&
	    request->kind == REQUEST_WHOLE && request->cards > 1)
		return "topology";
	return node_policy_to_string(run->options.policy);
}

static bool value_on(const struct run *run, unsigned node, const struct demand *demand,
		     struct naive_value *ret, int64_t *ret_tie)
{
	struct naive_verdict verdict;
	struct naive_node board;
	struct naive_ask ask;

	naive_look(&run->book, node, demand, &verdict);
	if (verdict.step != NAIVE_FITS)
		return false;
	naive_describe(&run->book, node, demand, model_names, ARRAY_SIZE(model_names), &board,
		       &ask);
	*ret = naive_score(policy_of(run, demand), &run->mix, &board, &ask, verdict.fits);
	*ret_tie = naive_tie(&board, &ask);
	return true;
}

static bool has_value(const struct run *run, const struct demand *demand)
{
	return naive_knows(policy_of(run, demand), &run->mix);
}

struct best {
	int64_t value, tie;
	unsigned first, tied_first, alike;
	bool sure; /* no node's value may be cut either way */
};

static void find_best(const struct run *run, const struct demand *demand, struct best *ret)
{
	*ret = (struct best){ .first = NODES_MAX, .tied_first = NODES_MAX, .sure = true };
	for (unsigned i = 0; i < run->node_count; i++) {
		struct naive_value value;
		int64_t tie;

		if (!value_on(run, i, demand, &value, &tie))
			continue;
		ret->sure = ret->sure && value.low == value.high;
		if (ret->first == NODES_MAX || value.low > ret->value)
			*ret = (struct best){ .value = value.low,
					      .tie = tie,
					      .first = i,
					      .tied_first = i,
					      .sure = ret->sure };
		if (value.low != ret->value)
			continue;
		ret->alike++;
		if (tie > ret->tie) {
			ret->tie = tie;
			ret->tied_first = i;
		}
	}
}

static void compare_choice(struct run *run, const struct demand *demand, unsigned node)
{
	struct naive_value value;
	struct best best;
	int64_t tie;
	unsigned expected;

	if (!has_value(run, demand) || !value_on(run, node, demand, &value, &tie))
		return;
	find_best(run, demand, &best);
	if (value.high < best.value)
		differ(run, "%s: n%02u is worth %" PRId64 ", n%02u %" PRId64,
		       policy_of(run, demand), node, value.value, best.first, best.value);
	run->tally.ties_seen += best.alike > 1;
	if (!best.sure || run->options.ties == TIE_RANDOM ||
	    strcmp(policy_of(run, demand), "random") == 0)
		return;
	expected = run->options.ties == TIE_NAME ? best.first : best.tied_first;
	if (node != expected)
		differ(run, "%s, ties by %s: n%02u was chosen, not n%02u", policy_of(run, demand),
		       tie_rule_to_string(run->options.ties), node, expected);
}

/* ---- decisions ---- */

static void held_of(const struct demand *demand, const struct decision *decision,
		    struct naive_held *ret)
{
	const struct placement *placement = &decision->placements[0];

	*ret = (struct naive_held){ .node = decision->node, .needs = demand->needs };
	if (decision->count == 0)
		return;
	ret->kind = demand->requests[0].kind;
	ret->compute = placement->compute_percent;
	for (unsigned k = 0; k < placement->count; k++) {
		struct naive_held_card *card = VEC_ADD(&ret->cards, &ret->count, &ret->capacity);

		assert_non_null(card);
		*card = (struct naive_held_card){ placement->cards[k], placement->units[k] };
	}
}

static void check_cards(struct run *run, const struct demand *demand,
			const struct decision *decision)
{
	const struct placement *placement = &decision->placements[0];
	struct naive_verdict verdict;

	naive_look(&run->book, decision->node, demand, &verdict);
	if (decision->count != demand->request_count)
		differ(run, "%u placements for %zu requests", decision->count,
		       demand->request_count);
	if (decision->count == 0)
		return;
	if (placement->count != demand->requests[0].cards)
		differ(run, "%u cards, %u were asked for", placement->count,
		       demand->requests[0].cards);
	for (unsigned k = 0; k < placement->count; k++)
		if (!(verdict.fits >> placement->cards[k] & 1) ||
		    (k > 0 && placement->cards[k] <= placement->cards[k - 1]))
			differ(run, "card %u of n%02u cannot serve (step %d)", placement->cards[k],
			       decision->node, (int)verdict.step);
}

static void add_held(struct run *run, const struct demand *demand, const struct decision *decision,
		     uint64_t id, bool assumed)
{
	struct naive_held held;

	held_of(demand, decision, &held);
	held.id = id;
	held.assumed = assumed;
	naive_book_add(&run->book, &held);
}

static void keep(struct run *run, const struct demand *demand, const struct decision *decision)
{
	bool assumed = chance(run, 30);
	uint64_t id = 0;
	int r = assumed ? pool_assume(run->pool, demand, decision, &id)
			: pool_hold(run->pool, demand, decision, &id);

	if (r < 0)
		differ(run, "a decision could not be held: %d", r);
	else
		add_held(run, demand, decision, id, assumed);
}

static void compare_reason(struct run *run, const struct demand *demand,
			   const struct reason *reason, const struct naive_verdict *naive)
{
	struct naive_verdict there;
	int64_t node = reason->node[0] ? (int64_t)strtol(reason->node + 1, NULL, 10) : -1;

	run->tally.reasons[reason->code]++;
	if (reason->code != naive->code)
		differ(run, "reason %s, the reference says %s", reason_name(reason->code),
		       reason_name(naive->code));
	if (node < 0 || node >= run->node_count || naive->step <= NAIVE_IDENTITY ||
	    naive->step == NAIVE_TAINT)
		return;
	/* As near to a fit as any node, and the numbers of that very node. */
	naive_look(&run->book, (unsigned)node, demand, &there);
	if (there.step != naive->step || there.nearness != naive->nearness)
		differ(run, "%s names n%02" PRId64 ", which is not the nearest",
		       reason_name(reason->code), node);
	if (naive->step == NAIVE_AFFINITY) /* its sentence has one number */
		there.wanted = reason->wanted;
	if (reason->wanted != there.wanted || reason->have != there.have ||
	    (naive->step != NAIVE_COUNT && reason->total != there.total))
		differ(run,
		       "%s of n%02" PRId64 ": wanted %" PRId64 " have %" PRId64 " total %" PRId64
		       ", the reference %" PRId64 " %" PRId64 " %" PRId64,
		       reason_name(reason->code), node, reason->wanted, reason->have, reason->total,
		       there.wanted, there.have, there.total);
}

static void decide(struct run *run)
{
	const struct demand *demand = draw_shape(run);
	struct decision decision;
	struct reason reason = { 0 };
	struct naive_verdict naive;
	int expected = naive_judge(&run->book, demand, &naive);
	int r = pool_decide(run->pool, demand, &decision, &reason);

	run->tally.states++;
	run->tally.policies[run->options.policy]++;
	run->tally.ties[run->options.ties]++;
	if (chance(run, 10))
		compare_pool(run); /* the decision changed nothing */
	if (r != expected) {
		differ(run, "engine %d (%s), reference %d (%s, step %d)", r,
		       reason_name(reason.code), expected, reason_name(naive.code),
		       (int)naive.step);
		return;
	}
	if (r < 0) {
		run->tally.waits += r == -EAGAIN;
		run->tally.never += r == -ENOSPC;
		compare_reason(run, demand, &reason, &naive);
		return;
	}
	run->tally.placed++;
	check_cards(run, demand, &decision);
	compare_choice(run, demand, decision.node);
	keep(run, demand, &decision);
}

static void decide_on_one(struct run *run)
{
	const struct demand *demand = draw_shape(run);
	unsigned node = below(run, run->node_count);
	struct decision decision;
	struct naive_verdict naive;
	int r = pool_decide_on(run->pool, node, demand, &decision, NULL);

	naive_look(&run->book, node, demand, &naive);
	if ((r == 0) != (naive.step == NAIVE_FITS))
		differ(run, "on n%02u: engine %d, reference step %d", node, r, (int)naive.step);
	run->tally.on_one_node += r == 0;
	if (r == 0 && decision.node != node)
		differ(run, "n%02u was asked for, n%02u given", node, decision.node);
	else if (r == 0)
		keep(run, demand, &decision);
}

/* ---- each node ---- */

/* Who fits where, and why not elsewhere. */
static void look_everywhere(struct run *run)
{
	const struct demand *demand = draw_shape(run);

	for (unsigned i = 0; i < run->node_count; i++) {
		struct naive_verdict naive;
		struct decision decision;
		struct reason reason = { 0 };
		int r = pool_decide_on(run->pool, i, demand, &decision, &reason);

		naive_look(&run->book, i, demand, &naive);
		if ((r == 0) != (naive.step == NAIVE_FITS))
			differ(run, "on n%02u: engine %d (%s), reference step %d", i, r,
			       reason_name(reason.code), (int)naive.step);
		else if (r == 0)
			check_cards(run, demand, &decision);
		else if (naive.step > NAIVE_IDENTITY && reason.code != naive.code)
			differ(run, "on n%02u: %s, the reference says %s", i,
			       reason_name(reason.code), reason_name(naive.code));
	}
	run->tally.everywhere++;
}

/* ---- ends ---- */

static void end_one(struct run *run)
{
	unsigned at = below(run, (unsigned)run->book.held_count);
	struct naive_held *held = &run->book.held[at];
	bool assumed = held->assumed;

	if (assumed && chance(run, 40)) {
		if (pool_confirm(run->pool, held->id) != 0)
			differ(run, "confirm failed");
		held->assumed = false;
		run->tally.confirmed++;
		return;
	}
	if (pool_forget(run->pool, held->id) != (assumed ? 0 : -EPERM))
		differ(run, "forget of one that is %s", assumed ? "assumed" : "confirmed");
	if (!assumed && pool_release(run->pool, held->id) != 0)
		differ(run, "release failed");
	run->tally.forgotten += assumed;
	run->tally.released += !assumed;
	naive_book_remove(&run->book, at);
}

static void step(struct run *run, unsigned ends)
{
	if (run->book.held_count && chance(run, ends))
		end_one(run);
	else if (chance(run, 8))
		look_everywhere(run);
	else if (chance(run, 8))
		decide_on_one(run);
	else
		decide(run);
	if (chance(run, 5))
		set_policy(run);
	if (chance(run, 5))
		set_workload(run);
}

static void run_pools(struct run *run, uint64_t states)
{
	while (run->tally.states < states && !run->differs[0]) {
		unsigned ends = below(run, 50);

		make_run(run);
		for (unsigned i = 0; i < STEPS && !run->differs[0]; i++)
			step(run, ends);
		compare_pool(run);
		end_run(run);
	}
}

static uint64_t number_from(const char *variable, uint64_t fallback)
{
	const char *text = getenv(variable);
	uint64_t number;

	return text && parse_uint(text, 0, UINT64_MAX, &number) == 0 ? number : fallback;
}

struct count {
	const char *name;
	uint64_t count;
};

/* Prints each; how many are zero. */
static unsigned show(const struct count *counts, size_t count)
{
	unsigned zero = 0;

	for (size_t i = 0; i < count; i++) {
		print_message("# %s: %" PRIu64 "\n", counts[i].name, counts[i].count);
		zero += counts[i].count == 0;
	}
	return zero;
}

static unsigned show_tally(const struct tally *tally)
{
	static const enum reason_code reached[] = {
		REASON_AFFINITY,    REASON_TAINT,       REASON_NODE_CPU,
		REASON_CPU_BUSY,    REASON_PODS_BUSY,   REASON_HOST_MEMORY_BUSY,
		REASON_NO_MODEL,    REASON_NODE_CARDS,  REASON_CARDS_BUSY,
		REASON_CARD_MEMORY, REASON_MEMORY_BUSY, REASON_COMPUTE_BUSY,
		REASON_WRONG_MODE,  REASON_NOT_OFFERED,
	};
	const struct count counts[] = {
		{ "states", tally->states },
		{ "placed", tally->placed },
		{ "refused for now", tally->waits },
		{ "refused for ever", tally->never },
		{ "several nodes alike", tally->ties_seen },
		{ "shapes that are new", tally->new_shapes },
		{ "shapes asked for before", tally->old_shapes },
		{ "on one node", tally->on_one_node },
		{ "on each node", tally->everywhere },
		{ "confirmed", tally->confirmed },
		{ "forgotten", tally->forgotten },
		{ "released", tally->released },
		{ "workloads", tally->workloads },
	};
	unsigned zero = show(counts, ARRAY_SIZE(counts));

	for (size_t i = 0; i < ARRAY_SIZE(reached); i++)
		zero += show(&(struct count){ reason_name(reached[i]), tally->reasons[reached[i]] },
			     1);
	for (unsigned i = 0; i < NODE_POLICY_MAX; i++)
		zero += show(&(struct count){ node_policy_to_string((enum node_policy)i),
					      tally->policies[i] },
			     1);
	for (unsigned i = 0; i < TIE_MAX; i++)
		zero += show(
			&(struct count){ tie_rule_to_string((enum tie_rule)i), tally->ties[i] }, 1);
	return zero;
}

TEST(engine_and_reference_agree)
{
	uint64_t seed = number_from("GPUPOOL_TEST_SEED", SEED);
	uint64_t states = STATES_SOAK * number_from("GPUPOOL_TEST_SCALE", 1) / 100;
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	run->dice.state = seed ? seed : 1;
	run_pools(run, states);
	print_message("# seed %" PRIu64 "\n", seed);
	unsigned zero = show_tally(&run->tally);
	bool differs = run->differs[0];

	if (differs)
		print_message("# state %" PRIu64 ": %s\n", run->tally.states, run->differs);
	free(run);
	assert_false(differs);
	assert_int_equal(zero, 0);
}
