/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of decisions, workloads and whole runs fails once: the answer is the same, or there is
 * none and nothing has changed. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"
#include "place/place.h"
#include "engine_world.h"
#include "replay/replay.h"

#define NODES  6u
#define SHAPES 8u

struct cluster {
	struct pool *pool; /* owned */
	struct demand shapes[SHAPES];
};

static void cluster_release(struct cluster *cluster)
{
	pool_free(cluster->pool);
	for (unsigned i = 0; i < SHAPES; i++)
		demand_release(&cluster->shapes[i]);
}

static void cluster_make(struct cluster *ret, enum node_policy policy)
{
	const struct policy_options options = { .policy = policy };
	struct dice dice = { 77 };

	ret->pool = pool_new();
	assert_non_null(ret->pool);
	for (unsigned i = 0; i < NODES; i++) {
		cleanup(node_spec_release) struct node_spec node;

		world_make_node(&dice, i, &node);
		assert_int_equal(pool_add_node(ret->pool, &node, NULL), 0);
	}
	for (unsigned i = 0; i < SHAPES; i++)
		world_make_shape(&dice, NODES, &ret->shapes[i]);
	assert_int_equal(pool_set_policy(ret->pool, &options), 0);
}

static int set_workload(struct cluster *cluster, unsigned first)
{
	struct workload_class classes[SHAPES];

	for (unsigned i = 0; i < SHAPES; i++)
		classes[i] = (struct workload_class){ &cluster->shapes[(first + i) % SHAPES],
						      (i + 1) / 36.0 };
	return pool_set_workload(cluster->pool, classes, SHAPES);
}

struct answer_seen {
	int result;
	unsigned node, card;
	enum reason_code code;
};

static struct answer_seen ask(struct cluster *cluster, unsigned shape)
{
	struct reason reason = { 0 };
	struct decision decision;
	struct answer_seen seen = { 0 };

	seen.result = pool_decide(cluster->pool, &cluster->shapes[shape], &decision, &reason);
	seen.code = reason.code;
	if (seen.result == 0) {
		seen.node = decision.node;
		seen.card = decision.count ? decision.placements[0].cards[0] : 0;
	}
	return seen;
}

static void ask_all(struct cluster *cluster, struct answer_seen ret[static SHAPES])
{
	for (unsigned i = 0; i < SHAPES; i++)
		ret[i] = ask(cluster, i);
}

static bool same(const struct answer_seen *a, const struct answer_seen *b)
{
	return a->result == b->result && a->node == b->node && a->card == b->card &&
	       a->code == b->code;
}

static void must_answer(struct cluster *cluster, const struct answer_seen expected[static SHAPES])
{
	struct answer_seen seen[SHAPES];

	ask_all(cluster, seen);
	for (unsigned i = 0; i < SHAPES; i++)
		assert_true(same(&seen[i], &expected[i]));
}

/* Each shape is new to the pool at first: its index finds no memory. */
TEST(a_decision_without_memory_for_its_index_is_the_same)
{
	for (unsigned shape = 0; shape < SHAPES; shape++) {
		cleanup(cluster_release) struct cluster calm;

		cluster_make(&calm, NODE_POLICY_BESTFIT);
		struct answer_seen expected = ask(&calm, shape);

		for (unsigned n = 0;; n++) {
			cleanup(cluster_release) struct cluster cluster;

			cluster_make(&cluster, NODE_POLICY_BESTFIT);
			fault_arm(n);
			struct answer_seen seen = ask(&cluster, shape);
			bool happened = fault_disarm();

			assert_true(same(&seen, &expected) || (happened && seen.result == -ENOMEM));
			seen = ask(&cluster, shape);
			assert_true(same(&seen, &expected));
			if (!happened)
				break;
		}
	}
}

/* What was expected before is expected still. */
TEST(a_workload_without_memory_changes_nothing)
{
	static const enum node_policy policies[] = { NODE_POLICY_DEFAULT, NODE_POLICY_FGD };

	for (unsigned i = 0; i < ARRAY_SIZE(policies); i++) {
		cleanup(cluster_release) struct cluster cluster;
		struct answer_seen expected[SHAPES];
		unsigned n = 0;

		cluster_make(&cluster, policies[i]);
		assert_int_equal(set_workload(&cluster, 0), 0);
		ask_all(&cluster, expected);
		for (;; n++) {
			fault_arm(n);
			int r = set_workload(&cluster, 3);

			if (!fault_disarm()) {
				assert_int_equal(r, 0);
				break;
			}
			assert_int_equal(r, -ENOMEM);
			must_answer(&cluster, expected);
		}
		assert_true(n > 20);
	}
}

/* ---- runs ---- */

static const char words[] = "nodes:\n"
			    "- {count: 3, gpus: 4, model: a100, cpu: 32, memory: 64Gi, pods: 20}\n"
			    "- {count: 1, gpus: 2, model: t4, cpu: 8}\n"
			    "pods:\n"
			    "- {count: 5, gpu-memory: 12Gi, cpu: 2, created: 1, end: 50}\n"
			    "- {count: 3, gpus: 2, cpu: 4, created: 5, end: 20}\n"
			    "- {count: 2, gpus: 4, model: a100, created: 8, end: 90}\n"
			    "- {count: 2, cpu: 3, created: 9, end: 12}\n"
			    "- {count: 2, gpu-memory: 8Gi, node: node-00001}\n";

static int keep_no_line(void *data, const char *line, size_t length)
{
	(void)line;
	*(size_t *)data += length;
	return 0;
}

static int read_and_run(const struct run_options *options, struct run_result *ret)
{
	struct error error = ERROR_INIT;
	autotrace trace;

	trace_init(&trace);
	int r = trace_parse_short(&trace, TRACE_ALL, words, sizeof(words) - 1, "words", &error);
	if (r == 0)
		r = trace_finish(&trace, &error);
	if (r == 0)
		r = run_trace(&trace, options, ret, &error);
	assert_int_equal(r, -error.number);
	assert_true(r == 0 || error.message[0]);
	return r;
}

TEST(runs_survive_every_failed_allocation)
{
	size_t written = 0;
	const struct run_options rows[] = {
		{ .place = { .policy = NODE_POLICY_DEFAULT }, .arrival = 130 },
		{ .place = { .policy = NODE_POLICY_FGD, .ties = TIE_BESTFIT }, .original = true },
		{ .place = { .policy = NODE_POLICY_TOPOLOGY }, .replay = true, .wait = true },
		{ .place = { .policy = NODE_POLICY_BESTFIT }, .cards = true, .look_ahead = 4 },
		{ .place = { .policy = NODE_POLICY_BESTFIT }, .moves_permille = 100 },
		{ .place = { .policy = NODE_POLICY_BESTFIT },
		  .record = keep_no_line,
		  .record_data = &written },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup(run_result_release) struct run_result calm = { .points = NULL };
		unsigned failures = 0;

		assert_int_equal(read_and_run(&rows[i], &calm), 0);
		/* Each in the first; what is read is the same in all. */
		for (bool happened = true; happened; failures += i ? 7 : 1) {
			cleanup(run_result_release) struct run_result result = { .points = NULL };

			fault_arm(failures);
			int r = read_and_run(&rows[i], &result);

			happened = fault_disarm();
			assert_true(r == 0 || (happened && r == -ENOMEM));
			if (r == 0)
				assert_true(result.checksum == calm.checksum);
		}
		print_message("# run %zu: %u allocations\n", i, failures);
		assert_true(failures > 100);
	}
}

TEST(a_bench_survives_every_failed_allocation)
{
	const struct bench_options options = { .nodes = 2,
					       .cards = 2,
					       .pods = 20,
					       .seed = 1,
					       .place = { .policy = NODE_POLICY_BESTFIT } };
	struct bench_result calm = { 0 };

	assert_int_equal(bench_place(&options, &calm, NULL), 0);
	for (unsigned n = 0;; n += 3) { /* most of them are alike */
		struct bench_result result = { 0 };
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = bench_place(&options, &result, &error);

		if (!fault_disarm())
			break;
		assert_true(r == -ENOMEM || (r == 0 && result.checksum == calm.checksum));
	}
}
