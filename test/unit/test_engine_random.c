/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine against test/lib/naive_engine.c on random pools: who fits where, the best value, the
 * reasons and their numbers, and that a decision changes nothing. A state is a pool at one decision.
 * GPUPOOL_TEST_SCALE (100 is 500,000 states) sets how many, GPUPOOL_TEST_SEED which.
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

#define STATES_SOAK 500000u
#define STEPS       100u /* of one pool */
#define NODES_MAX   40u
#define SHAPES      48u /* kept for one pool */
/* Each so many pools one is asked for more shapes than the engine keeps indexes for. */
#define MANY_EACH   50u
#define MANY_SHAPES 1400u
#define MANY_STEPS  2600u
/* More changes than the engine remembers. */
#define CHURN 20000u
#define SEED  5u

static const char *const model_names[] = { WORLD_A100, "NVIDIA A40", "Tesla T4" };

struct tally {
	uint64_t states, placed, waits, never, reasons[REASON_CODE_MAX];
	uint64_t choices[NODE_POLICY_MAX][TIE_MAX][2]; /* without a workload, with one */
	uint64_t ties_seen, released, forgotten, confirmed, everywhere, no_reason;
	uint64_t new_shapes, old_shapes, workloads, on_one_node, rebuilt, churned, grown, many;
};

struct run {
	struct dice dice;
	struct node_spec nodes[NODES_MAX];
	unsigned node_count;
	unsigned pools; /* made so far */
	struct demand shapes[MANY_SHAPES];
	unsigned shape_count, shape_limit;
	struct pool *pool;
	struct policy_options options;
	struct naive_book book;
	struct naive_class classes[WORLD_CLASSES];
	struct naive_mix mix;
	struct demand class_demands[WORLD_CLASSES];
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
	bool many = run->shape_limit > SHAPES;

	if (run->shape_count == 0 ||
	    (run->shape_count < run->shape_limit && chance(run, many ? 85 : 35))) {
		world_make_shape(&run->dice, run->node_count, &run->shapes[run->shape_count]);
		run->tally.new_shapes++;
		return &run->shapes[run->shape_count++];
	}
	run->tally.old_shapes++;
	/* The first ones often: they stay indexed. */
	if (chance(run, many ? 10 : 50))
		return &run->shapes[below(run, run->shape_count < 4 ? run->shape_count : 4)];
	return &run->shapes[below(run, run->shape_count)];
}

/* ---- workloads ---- */

static const double shares[WORLD_CLASSES] = { 0.32, 0.11, 0.07, 0.2, 0.17, 0.13 };

static void give_workload(const struct run *run, struct pool *pool)
{
	struct workload_class classes[WORLD_CLASSES];

	for (unsigned i = 0; i < WORLD_CLASSES; i++)
		classes[i] = (struct workload_class){ &run->class_demands[i], shares[i] };
	assert_int_equal(pool_set_workload(pool, run->mix.count ? classes : NULL, run->mix.count),
			 0);
}

static void set_workload(struct run *run, bool wanted)
{
	for (unsigned i = 0; i < WORLD_CLASSES; i++) {
		demand_release(&run->class_demands[i]);
		run->classes[i].share = shares[i];
		world_make_class(&run->dice, i, &run->class_demands[i], &run->classes[i].ask);
	}
	run->mix.count = wanted ? WORLD_CLASSES : 0;
	run->mix.classes = run->classes;
	give_workload(run, run->pool);
	run->tally.workloads++;
}

static void set_policy(struct run *run, unsigned policy, unsigned ties)
{
	bool classes_before = run->options.original_classes;

	run->options = (struct policy_options){
		.policy = (enum node_policy)policy,
		.ties = (enum tie_rule)ties,
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

static void add_node(struct run *run)
{
	world_make_node(&run->dice, run->node_count, &run->nodes[run->node_count]);
	assert_int_equal(pool_add_node(run->pool, &run->nodes[run->node_count++], NULL), 0);
	run->book.node_count = run->node_count;
	run->mix.count = 0; /* the workload is forgotten then */
}

/* Policy, tie rule and workload in turn: none is left out. */
static void make_run(struct run *run)
{
	unsigned turn = run->pools++, nodes = 1 + below(run, chance(run, 15) ? 30 : 12);
	bool many = turn % MANY_EACH == MANY_EACH / 2;

	run->pool = pool_new();
	assert_non_null(run->pool);
	pool_withhold(run->pool, REQUEST_MIG); /* test_place_mig.c and test_place_random.c */
	run->shape_limit = many ? MANY_SHAPES : SHAPES;
	run->node_count = 0;
	run->book = (struct naive_book){ .nodes = run->nodes };
	while (run->node_count < (many ? 5 : nodes))
		add_node(run);
	set_policy(run, turn % NODE_POLICY_MAX, turn / NODE_POLICY_MAX % TIE_MAX);
	set_workload(run, turn % 3 > 0);
}

static void end_run(struct run *run)
{
	run->tally.many += run->shape_count == MANY_SHAPES;
	pool_free(run->pool);
	naive_book_release(&run->book);
	for (unsigned i = 0; i < run->node_count; i++)
		node_spec_release(&run->nodes[i]);
	for (unsigned i = 0; i < run->shape_count; i++)
		demand_release(&run->shapes[i]);
	for (unsigned i = 0; i < WORLD_CLASSES; i++)
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

static uint64_t cards_of(const struct decision *decision)
{
	uint64_t cards = 0;

	for (unsigned k = 0; decision->count && k < decision->placements[0].count; k++)
		cards |= 1ull << decision->placements[0].cards[k];
	return cards;
}

/* fgd may take another card: it is worth the same. */
static void compare_cards(struct run *run, const struct demand *demand,
			  const struct decision *decision, const struct naive_value *value)
{
	const char *policy = policy_of(run, demand);
	uint64_t cards = cards_of(decision);
	struct naive_value other;
	struct naive_node board;
	struct naive_ask ask;

	if (strcmp(policy, "random") == 0 || cards == value->cards)
		return;
	naive_describe(&run->book, decision->node, demand, model_names, ARRAY_SIZE(model_names),
		       &board, &ask);
	other = naive_score(policy, &run->mix, &board, &ask, cards);
	if (strcmp(policy, "fgd") != 0 || run->mix.count == 0 || other.high < value->low)
		differ(run, "%s: cards %" PRIx64 " of n%02u were chosen, not %" PRIx64, policy,
		       cards, decision->node, value->cards);
}

static void compare_choice(struct run *run, const struct demand *demand,
			   const struct decision *decision)
{
	const char *policy = policy_of(run, demand);
	unsigned node = decision->node, expected;
	struct naive_value value;
	struct best best;
	int64_t tie;

	if (!has_value(run, demand) || !value_on(run, node, demand, &value, &tie))
		return;
	find_best(run, demand, &best);
	if (value.high < best.value)
		differ(run, "%s: n%02u is worth %" PRId64 ", n%02u %" PRId64, policy, node,
		       value.value, best.first, best.value);
	compare_cards(run, demand, decision, &value);
	run->tally.ties_seen += best.alike > 1;
	if (!best.sure || run->options.ties == TIE_RANDOM || strcmp(policy, "random") == 0)
		return;
	expected = run->options.ties == TIE_NAME ? best.first : best.tied_first;
	if (node != expected)
		differ(run, "%s, ties by %s: n%02u was chosen, not n%02u", policy,
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

/* What it gets of one card is what it asked for. */
static void check_part(struct run *run, const struct request *request,
		       const struct placement *placement, unsigned k)
{
	bool slice = request->kind == REQUEST_SLICE;
	unsigned units;
	uint64_t mib;

	naive_part(&run->book, placement->node, placement->cards[k], request, &units, &mib);
	if (placement->units[k] != units || placement->memory_mib[k] != mib ||
	    placement->compute_percent != (slice ? request->compute_percent : 0))
		differ(run,
		       "card %u of n%02u: %u GiB, %" PRIu64 " MiB and %u %% compute, not %u GiB "
		       "and %" PRIu64 " MiB",
		       placement->cards[k], placement->node, placement->units[k],
		       placement->memory_mib[k], placement->compute_percent, units, mib);
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
	for (unsigned k = 0; k < placement->count; k++) {
		if (!(verdict.fits >> placement->cards[k] & 1) ||
		    (k > 0 && placement->cards[k] <= placement->cards[k - 1]))
			differ(run, "card %u of n%02u cannot serve (step %d)", placement->cards[k],
			       decision->node, (int)verdict.step);
		check_part(run, &demand->requests[0], placement, k);
	}
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

/* ---- a pool that remembers nothing ---- */

static void hold_again(struct pool *pool, const struct naive_held *held)
{
	struct request request = { .kind = held->kind, .cards = (unsigned)held->count };
	struct decision decision = { .node = held->node, .count = held->count > 0 };
	struct placement *placement = &decision.placements[0];
	struct demand demand;
	uint64_t id;

	demand_borrow_request(&request, "Pod default/x", &demand);
	demand.request_count = decision.count;
	demand.needs = held->needs;
	placement->node = held->node;
	placement->count = (unsigned)held->count;
	placement->compute_percent = held->compute;
	for (unsigned k = 0; k < held->count; k++) {
		placement->cards[k] = held->cards[k].card;
		placement->units[k] = held->cards[k].units;
	}
	assert_int_equal(pool_hold(pool, &demand, &decision, &id), 0);
}

/* The same holders in a new pool: what the first one remembers from before must not matter. */
static void compare_with_new(struct run *run, const struct demand *demand,
			     const struct decision *decision)
{
	struct decision other;

	if (run->options.ties == TIE_RANDOM || strcmp(policy_of(run, demand), "random") == 0)
		return;
	autopool *pool = pool_new();

	assert_non_null(pool);
	for (unsigned i = 0; i < run->node_count; i++)
		assert_int_equal(pool_add_node(pool, &run->nodes[i], NULL), 0);
	for (size_t i = 0; i < run->book.held_count; i++)
		hold_again(pool, &run->book.held[i]);
	assert_int_equal(pool_set_policy(pool, &run->options), 0);
	give_workload(run, pool);
	run->tally.rebuilt++;
	if (pool_decide(pool, demand, &other, NULL) != 0)
		differ(run, "a new pool with the same holders finds no place");
	else if (other.node != decision->node || cards_of(&other) != cards_of(decision))
		differ(run, "%s: a new pool chooses n%02u, %" PRIx64 ", not n%02u, %" PRIx64,
		       policy_of(run, demand), other.node, cards_of(&other), decision->node,
		       cards_of(decision));
}

/* What has no value here is compared with a new pool more often. */
static bool rebuild_wanted(struct run *run, const struct demand *demand)
{
	return chance(run, has_value(run, demand) ? 3 : 40);
}

static void decide(struct run *run)
{
	const struct demand *demand = draw_shape(run);
	struct decision decision;
	struct reason reason = { 0 };
	struct naive_verdict naive;
	bool silent = chance(run, 30);
	int expected = naive_judge(&run->book, demand, &naive);
	int r = pool_decide(run->pool, demand, &decision, silent ? NULL : &reason);

	run->tally.states++;
	run->tally.choices[run->options.policy][run->options.ties][run->mix.count > 0]++;
	if (chance(run, 10))
		compare_pool(run); /* the decision changed nothing */
	if (silent ? (r == 0) != (expected == 0) : r != expected) {
		differ(run, "engine %d (%s), reference %d (%s, step %d)", r,
		       reason_name(reason.code), expected, reason_name(naive.code),
		       (int)naive.step);
		return;
	}
	if (r < 0) {
		run->tally.waits += r == -EAGAIN && !silent;
		run->tally.never += r == -ENOSPC;
		run->tally.no_reason += silent;
		if (!silent)
			compare_reason(run, demand, &reason, &naive);
		return;
	}
	run->tally.placed++;
	check_cards(run, demand, &decision);
	compare_choice(run, demand, &decision);
	if (rebuild_wanted(run, demand))
		compare_with_new(run, demand, &decision);
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

/* Comes and goes, without a comparison: many changes until the next question. */
static void churn(struct run *run)
{
	unsigned rounds = chance(run, 8) ? CHURN : below(run, 3 * run->node_count);

	for (unsigned i = 0; i < rounds; i++) {
		const struct demand *demand = &run->shapes[below(run, run->shape_count)];
		struct decision decision;
		uint64_t id;

		if (pool_decide_on(run->pool, below(run, run->node_count), demand, &decision,
				   NULL) < 0)
			continue;
		if (pool_hold(run->pool, demand, &decision, &id) < 0 ||
		    pool_release(run->pool, id) < 0)
			differ(run, "what was decided cannot be held and released");
	}
	run->tally.churned += rounds == CHURN;
}

static void step(struct run *run, unsigned ends)
{
	bool many = run->shape_limit > SHAPES; /* its indexes must not be dropped */

	if (run->book.held_count && chance(run, many ? 20 : ends))
		end_one(run);
	else if (!many && chance(run, 8))
		look_everywhere(run);
	else if (chance(run, 8))
		decide_on_one(run);
	else
		decide(run);
	if (chance(run, 2))
		churn(run);
	if (many)
		return;
	if (chance(run, 4))
		set_policy(run, below(run, NODE_POLICY_MAX), below(run, TIE_MAX));
	if (chance(run, 4))
		set_workload(run, chance(run, 70));
	if (run->node_count < NODES_MAX && chance(run, 1)) {
		add_node(run);
		run->tally.grown++;
	}
}

static void run_pools(struct run *run, uint64_t states)
{
	while (run->tally.states < states && !run->differs[0]) {
		unsigned ends = below(run, 50), steps;

		make_run(run);
		steps = run->shape_limit > SHAPES ? MANY_STEPS : STEPS;
		for (unsigned i = 0; i < steps && !run->differs[0]; i++)
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

/* Each tie rule, with and without a workload. */
static unsigned show_choices(const struct tally *tally, enum node_policy policy)
{
	unsigned zero = 0;

	for (unsigned i = 0; i < TIE_MAX; i++) {
		const uint64_t *counts = tally->choices[policy][i];

		print_message("# %s, ties by %s: %" PRIu64 ", with a workload %" PRIu64 "\n",
			      node_policy_to_string(policy), tie_rule_to_string((enum tie_rule)i),
			      counts[0], counts[1]);
		zero += (counts[0] == 0) + (counts[1] == 0);
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
		{ "refused without a reason", tally->no_reason },
		{ "compared with a new pool", tally->rebuilt },
		{ "times more changes than are remembered", tally->churned },
		{ "pools with more shapes than are kept", tally->many },
		{ "nodes that came later", tally->grown },
	};
	unsigned zero = show(counts, ARRAY_SIZE(counts));

	for (size_t i = 0; i < ARRAY_SIZE(reached); i++)
		zero += show(&(struct count){ reason_name(reached[i]), tally->reasons[reached[i]] },
			     1);
	for (unsigned i = 0; i < NODE_POLICY_MAX; i++)
		zero += show_choices(tally, (enum node_policy)i);
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
