/* SPDX-License-Identifier: Apache-2.0 */
/* Pods of a trace that run already: held first, no arrivals, allocated; told of when in part. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "replay/replay.h"

/* Two nodes of two cards of 16 GiB and 8 CPUs; the first node is cordoned. */
static int read_cluster(const char *pods, struct trace *trace, struct error *error)
{
	autostrbuf text = STRBUF_INIT(4096);

	strbuf_addf(&text,
		    "nodes: [{name: a, gpus: 2, model: X, gpu-memory: 16Gi, cpu: 8, pods: 9},"
		    " {name: b, gpus: 2, model: X, gpu-memory: 16Gi, cpu: 8, pods: 9}]\n"
		    "pods: [%s]\n",
		    pods);
	trace_init(trace);
	if (strbuf_failed(&text))
		return error_no_memory(error);
	int r = trace_parse_short(trace, TRACE_ALL, text.data, text.length, "t", error);
	if (r == 0)
		trace->nodes[0].unschedulable = true;
	return r;
}

static const struct {
	const char *pods;
	double allocated; /* percent */
	size_t running, placed, failed;
	const char *partial; /* the Pod that is held in part, and why */
} cases[] = {
	{ "{gpus: 1, node: a}, {gpu-memory: 8Gi, node: b}", 37.5, 2, 0, 0, NULL },
	{ "{gpus: 1, node: a}, {count: 3, gpus: 1}", 75, 1, 2, 1, NULL },
	{ "{count: 3, gpus: 1, node: b, name: q}", 50, 3, 0, 0,
	  "q-000003: cards of b: not enough free cards" },
	{ "{gpus: 1, node: b}, {gpus: 2, node: b, name: p}", 50, 2, 0, 0,
	  "p: cards of b: not enough free cards" },
	{ "{gpus: 1, cpu: 9, node: b, name: p}, {cpu: 1}", 25, 1, 0, 1,
	  "p: b has less CPU, memory or room for Pods left than it asks for" },
	{ "{gpu-memory: 12Gi, node: a}, {gpu-memory: 12Gi, node: a}, {gpu-memory: 6Gi, node: a, "
	  "name: p}",
	  37.5, 3, 0, 0, "p: parts of a: not enough free card memory" },
	{ "{gpus: 1, node: elsewhere, name: p}", 0, 1, 0, 0,
	  "p: elsewhere is not among the nodes" },
};

TEST(running_pods_are_held_first)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct run_options options = { .arrival = 0 };
		cleanup(run_result_release) struct run_result result = { .points = NULL };
		struct error error = ERROR_INIT;
		autotrace trace;
		char partial[512] = "";

		assert_int_equal(read_cluster(cases[i].pods, &trace, &error), 0);
		assert_int_equal(trace_finish(&trace, &error), 0);
		assert_int_equal(run_trace(&trace, &options, &result, &error), 0);
		assert_int_equal(result.running, cases[i].running);
		assert_int_equal(result.placed, cases[i].placed);
		assert_int_equal(result.failed, cases[i].failed);
		assert_true(result.allocated_percent == cases[i].allocated);
		assert_int_equal(result.partial_count, cases[i].partial != NULL);
		if (result.partial_count)
			snprintf(partial, sizeof(partial), "%s: %s",
				 trace_pod_name(&trace, result.partial[0].pod),
				 result.partial[0].why);
		assert_string_equal(partial, cases[i].partial ? cases[i].partial : "");
	}
}

/* A Pod of one request that runs on node b, on those cards. */
static int add_granted(struct trace *trace, const char *name, enum request_kind kind,
		       const struct grant_card *cards, size_t count, struct error *error)
{
	cleanup(demand_release) struct demand demand;

	demand_init(&demand);
	demand.node = strdup("b");
	demand.containers = calloc(1, sizeof(*demand.containers));
	struct request *request =
		VEC_ADD(&demand.requests, &demand.request_count, &demand.request_capacity);
	struct grant *grant = VEC_ADD(&demand.grants, &demand.grant_count, &demand.grant_capacity);
	if (!demand.node || !demand.containers || !request || !grant)
		return error_no_memory(error);
	request->kind = grant->kind = kind;
	request->cards = (unsigned)count;
	request->units = kind == REQUEST_SLICE ? cards[0].units : 0;
	for (size_t i = 0; i < count; i++) {
		struct grant_card *card =
			VEC_ADD(&grant->cards, &grant->card_count, &grant->card_capacity);

		if (!card)
			return error_no_memory(error);
		*card = cards[i];
	}
	return trace_add_demand(trace, name, &demand, error);
}

static const struct grant_card whole = { .uuid = "b:1", .units = 16 };
static const struct grant_card slice = { .uuid = "b:0", .units = 10, .compute_percent = 30 };
static const struct grant_card unknown = { .uuid = "b:7", .units = 1 };

static int add_all(struct trace *trace, struct error *error)
{
	int r = read_cluster("{gpu-memory: 6Gi}, {gpu-memory: 6Gi}, {gpu-memory: 6Gi}", trace,
			     error);

	if (r == 0)
		r = add_granted(trace, "whole", REQUEST_WHOLE, &whole, 1, error);
	if (r == 0)
		r = add_granted(trace, "slice", REQUEST_SLICE, &slice, 1, error);
	if (r == 0)
		r = add_granted(trace, "again", REQUEST_SLICE, &slice, 1, error);
	if (r == 0)
		r = add_granted(trace, "unknown", REQUEST_SLICE, &unknown, 1, error);
	return r < 0 ? r : trace_finish(trace, error);
}

/* Card 0 of b: 10 GiB, and of the next 10 the 6 that are left. Card 1 is whole. Node a is closed. */
TEST(running_pods_are_held_on_their_cards)
{
	const struct run_options options = { .arrival = 0 };
	cleanup(run_result_release) struct run_result result = { .points = NULL };
	struct error error = ERROR_INIT;
	autotrace trace;

	assert_int_equal(add_all(&trace, &error), 0);
	assert_int_equal(trace.running_count, 4);
	assert_int_equal(run_trace(&trace, &options, &result, &error), 0);
	assert_int_equal(result.running, 4);
	assert_int_equal(result.placed, 0);
	assert_int_equal(result.failed, 3);
	assert_true(result.allocated_percent == 50);
	assert_int_equal(result.partial_count, 2);
	assert_string_equal(trace_pod_name(&trace, result.partial[0].pod), "again");
	assert_string_equal(result.partial[0].why,
			    "card b:0 of node b has no room for the grant: 10 of its 16 GiB are "
			    "held");
	assert_string_equal(trace_pod_name(&trace, result.partial[1].pod), "unknown");
	assert_string_equal(result.partial[1].why, "card b:7 is not in the pool");
}

TEST(running_pods_do_not_arrive)
{
	const struct protocol protocol = { .seed = 1, .percent = 50 };
	cleanup(arrivals_release) struct arrivals arrivals = { .pods = NULL };
	struct error error = ERROR_INIT;
	autotrace trace;

	assert_int_equal(read_cluster("{gpus: 1, node: b}, {gpu-memory: 8Gi}, {gpus: 2, node: a}",
				      &trace, &error),
			 0);
	assert_int_equal(trace_finish(&trace, &error), 0);
	assert_int_equal(arrivals_make(&trace, &protocol, &arrivals, &error), 0);
	assert_int_equal(arrivals.count, 4);
	for (size_t i = 0; i < arrivals.count; i++)
		assert_int_equal(arrivals.pods[i], 1);
}

TEST(running_pods_survive_every_failed_allocation)
{
	for (unsigned n = 0;; n++) {
		const struct run_options options = { .arrival = 0 };
		cleanup(run_result_release) struct run_result result = { .points = NULL };
		struct error error = ERROR_INIT;
		autotrace trace;

		fault_arm(n);
		int r = add_all(&trace, &error);
		if (r == 0)
			r = run_trace(&trace, &options, &result, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_int_equal(result.partial_count, 2);
			assert_true(n > 100);
			break;
		}
		/* An index that finds no memory is done without. */
		assert_true(r == -ENOMEM || (r == 0 && result.partial_count == 2));
	}
}

/* Two cards on one node are free once one of two shares goes to the card of the other. */
TEST(running_pods_move_for_others)
{
	static const char text[] = "nodes: [{name: a, gpus: 2, model: X, gpu-memory: 16Gi, cpu: 8},"
				   " {name: b, gpus: 2, model: X, gpu-memory: 16Gi, cpu: 8}]\n"
				   "pods: [{gpu-memory: 8Gi, node: a}, {gpu-memory: 8Gi, node: b},"
				   " {gpus: 2}]\n";
	struct error error = ERROR_INIT;
	autotrace trace;

	trace_init(&trace);
	if (trace_parse_short(&trace, TRACE_ALL, text, strlen(text), "t", &error) < 0 ||
	    trace_finish(&trace, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(trace.running_count, 2);
	for (unsigned moves = 0; moves <= 1; moves++) {
		const struct run_options options = { .moves_permille = 1000 * moves };
		cleanup(run_result_release) struct run_result result = { .points = NULL };

		assert_int_equal(run_trace(&trace, &options, &result, &error), 0);
		assert_int_equal(result.running, 2);
		assert_int_equal(result.placed, moves);
		assert_int_equal(result.failed, 1 - moves);
		assert_int_equal(result.moved, moves);
		assert_true(result.allocated_percent == (moves ? 75 : 25));
	}
}
