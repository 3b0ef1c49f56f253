/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All kinds of requests, MIG and several in one Pod among them: what a pool decides depends on who holds
 * what, and not on how that came about. Each decision is compared with one on each node alone, and
 * with that of a new pool that is given the same holders in another order.
 * GPUPOOL_TEST_SCALE (100 is 100,000 decisions) sets how many, GPUPOOL_TEST_SEED which.
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
#include "place/place.h"

#define DECISIONS 100000u
#define STEPS     80u /* of one pool */
#define NODES     9u
#define SHAPES    24u
#define HELD      (2 * STEPS)

struct held {
	unsigned shape;
	uint64_t id;
	struct decision decision;
};

struct history {
	struct dice dice;
	struct pool *pool;
	struct policy_options options;
	unsigned node_count, shape_count, held_count, pools;
	struct node_spec nodes[NODES];
	struct demand shapes[SHAPES];
	struct held held[HELD];
	bool differs;
	uint64_t decided, placed, mig, several, refused, released, compared;
};

static unsigned below(struct history *history, unsigned limit)
{
	return dice_below(&history->dice, limit);
}

static bool chance(struct history *history, unsigned percent)
{
	return dice_chance(&history->dice, percent);
}

/* ---- shapes ---- */

static void want_mig(struct history *history, struct request *request)
{
	static const char *const profiles[] = { "1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb",
						"7g.80gb" };
	const char *profile = profiles[below(history, ARRAY_SIZE(profiles))];

	request->kind = REQUEST_MIG;
	request->cards = 1 + below(history, 3);
	request->units = request->memory_percent = request->compute_percent = 0;
	request->memory_mib = 0;
	snprintf(request->mig_profile, sizeof(request->mig_profile), "%s", profile);
}

/* The requests of another Pod for another container of this one. */
static void want_more(struct history *history, struct demand *demand)
{
	cleanup(demand_release) struct demand other;

	world_make_shape(&history->dice, history->node_count, &other);
	if (other.request_count == 0 || demand->request_count == 0)
		return;
	struct request *room =
		VEC_ADD(&demand->requests, &demand->request_count, &demand->request_capacity);

	assert_non_null(room);
	*room = other.requests[0];
	other.requests[0] = (struct request){ .kind = REQUEST_NONE };
}

static unsigned make_shape(struct history *history)
{
	struct demand *demand = &history->shapes[history->shape_count];

	world_make_shape(&history->dice, history->node_count, demand);
	while (chance(history, 25) && demand->request_count < 4)
		want_more(history, demand);
	for (size_t i = 0; i < demand->request_count; i++)
		if (chance(history, 30))
			want_mig(history, &demand->requests[i]);
	return history->shape_count++;
}

static unsigned draw_shape(struct history *history)
{
	if (history->shape_count < SHAPES && chance(history, 30))
		return make_shape(history);
	return below(history, history->shape_count);
}

/* ---- pools ---- */

static void give_workload(const struct history *history, struct pool *pool)
{
	struct workload_class classes[SHAPES];
	unsigned count = SHAPES / 2; /* those that are there from the start */

	for (unsigned i = 0; i < count; i++)
		classes[i] = (struct workload_class){ &history->shapes[i], 1.0 / count };
	assert_int_equal(pool_set_workload(pool, classes, count), 0);
}

static struct pool *new_pool(const struct history *history)
{
	struct pool *pool = pool_new();

	assert_non_null(pool);
	for (unsigned i = 0; i < history->node_count; i++)
		assert_int_equal(pool_add_node(pool, &history->nodes[i], NULL), 0);
	assert_int_equal(pool_set_policy(pool, &history->options), 0);
	return pool;
}

static void start(struct history *history)
{
	unsigned turn = history->pools++;

	history->node_count = 1 + below(history, NODES);
	history->shape_count = history->held_count = 0;
	for (unsigned i = 0; i < history->node_count; i++)
		world_make_node(&history->dice, i, &history->nodes[i]);
	history->options = (struct policy_options){
		.policy = (enum node_policy)(turn % NODE_POLICY_MAX),
		.ties = turn / NODE_POLICY_MAX % 2 ? TIE_BESTFIT : TIE_NAME,
		.original_cards = turn % 4 == 0,
	};
	history->pool = new_pool(history);
	while (history->shape_count < SHAPES / 2)
		make_shape(history);
	if (turn % 3)
		give_workload(history, history->pool);
}

static void end(struct history *history)
{
	pool_free(history->pool);
	for (unsigned i = 0; i < history->node_count; i++)
		node_spec_release(&history->nodes[i]);
	for (unsigned i = 0; i < history->shape_count; i++)
		demand_release(&history->shapes[i]);
}

/* ---- comparisons ---- */

/* The first that differs, with the demand as a log has it. */
static void differ(struct history *history, const struct demand *demand, const char *what)
{
	autostrbuf text = STRBUF_INIT(1 << 16);
	autojson *object = NULL;

	if (history->differs)
		return;
	history->differs = true;
	if (demand_to_json(demand, &object, NULL) == 0)
		json_to_text(object, false, &text, NULL);
	print_message("# pool %u, decision %" PRIu64 ", policy %s, %s: %s\n", history->pools,
		      history->decided, node_policy_to_string(history->options.policy), what,
		      text.data);
}

static bool is_random(const struct history *history, const struct demand *demand)
{
	return history->options.policy == NODE_POLICY_RANDOM &&
	       (demand->request_count == 0 || demand->requests[0].policy == POLICY_DEFAULT);
}

static bool same_placement(const struct placement *a, const struct placement *b)
{
	bool same = a->node == b->node && a->count == b->count &&
		    a->compute_percent == b->compute_percent;

	for (unsigned i = 0; same && i < a->count; i++)
		same = a->cards[i] == b->cards[i] && a->units[i] == b->units[i] &&
		       a->memory_mib[i] == b->memory_mib[i] && a->starts[i] == b->starts[i];
	return same;
}

static bool same_decision(const struct decision *a, const struct decision *b)
{
	bool same = a->node == b->node && a->count == b->count;

	for (unsigned i = 0; same && i < a->count; i++)
		same = same_placement(&a->placements[i], &b->placements[i]);
	return same;
}

/* Fits somewhere: the index and the nodes one by one say the same. */
static void compare_alone(struct history *history, const struct demand *demand, int result)
{
	struct decision decision;
	bool fits = false;

	for (unsigned i = 0; i < history->node_count; i++)
		fits = pool_decide_on(history->pool, i, demand, &decision, NULL) == 0 || fits;
	if (fits != (result == 0))
		differ(history, demand,
		       fits ? "refused, and a node takes it" : "placed, and no node takes it");
}

static void compare_new(struct history *history, const struct demand *demand, int result,
			const struct decision *decision, const struct reason *reason)
{
	autopool *pool = new_pool(history);
	struct reason other_reason = { 0 };
	struct decision other;
	uint64_t id;

	for (unsigned i = history->held_count; i-- > 0;) {
		const struct held *held = &history->held[i];

		if (pool_hold(pool, &history->shapes[held->shape], &held->decision, &id) != 0)
			differ(history, demand, "what is held does not go into a new pool");
	}
	if ((history->pools - 1) % 3)
		give_workload(history, pool);
	int r = pool_decide(pool, demand, &other, &other_reason);

	if (r != result || other_reason.code != reason->code)
		differ(history, demand, "a new pool answers otherwise");
	if (r == 0 && !is_random(history, demand) && !same_decision(decision, &other))
		differ(history, demand, "a new pool places it elsewhere");
	history->compared++;
}

static void decide(struct history *history)
{
	unsigned shape = draw_shape(history);
	const struct demand *demand = &history->shapes[shape];
	struct reason reason = { 0 };
	struct decision decision;
	struct held *held;

	if (chance(history, 20)) /* an index without obstacles first */
		pool_decide(history->pool, demand, &decision, NULL);
	int r = pool_decide(history->pool, demand, &decision, &reason);

	history->decided++;
	compare_alone(history, demand, r);
	if (chance(history, 25))
		compare_new(history, demand, r, &decision, &reason);
	history->refused += r < 0;
	if (r < 0 || history->held_count == HELD)
		return;
	held = &history->held[history->held_count++];
	*held = (struct held){ .shape = shape, .decision = decision };
	if (pool_hold(history->pool, demand, &decision, &held->id) != 0)
		differ(history, demand, "what was decided cannot be held");
	history->placed++;
	history->several += demand->request_count > 1;
	history->mig += demand->request_count && demand->requests[0].kind == REQUEST_MIG;
}

static void release(struct history *history)
{
	unsigned at = below(history, history->held_count);

	assert_int_equal(pool_release(history->pool, history->held[at].id), 0);
	history->held[at] = history->held[--history->held_count];
	history->released++;
}

static uint64_t number_from(const char *variable, uint64_t fallback)
{
	const char *text = getenv(variable);
	uint64_t number;

	return text && parse_uint(text, 1, UINT32_MAX, &number) == 0 ? number : fallback;
}

TEST(only_who_holds_what_counts)
{
	uint64_t wanted = DECISIONS * number_from("GPUPOOL_TEST_SCALE", 1) / 100;
	struct history *history = calloc(1, sizeof(*history));

	assert_non_null(history);
	history->dice.state = number_from("GPUPOOL_TEST_SEED", 9);
	while (history->decided < wanted && !history->differs) {
		start(history);
		for (unsigned i = 0; i < STEPS && !history->differs; i++)
			if (history->held_count && chance(history, 30))
				release(history);
			else
				decide(history);
		end(history);
	}
	const struct {
		const char *name;
		uint64_t count;
	} counts[] = {
		{ "decisions", history->decided },        { "placed", history->placed },
		{ "refused", history->refused },          { "MIG instances", history->mig },
		{ "several requests", history->several }, { "released", history->released },
		{ "new pools", history->compared },
	};
	bool differs = history->differs;

	free(history);
	assert_false(differs);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		print_message("# %s: %" PRIu64 "\n", counts[i].name, counts[i].count);
		assert_true(counts[i].count > 0);
	}
}
