/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

static void read_text(struct trace *trace, const char *text)
{
	struct error error = ERROR_INIT;

	trace_init(trace);
	if (trace_parse_short(trace, TRACE_ALL, text, strlen(text), "text", &error) < 0 ||
	    trace_finish(trace, &error) < 0)
		fail_msg("%s", error.message);
}

TEST(gangs_of_a_text)
{
	autotrace trace;

	read_text(&trace, "2 nodes of 8 h100; 3 Pods of 1 card; 2 gangs of 4 Pods of 2 cards");
	assert_int_equal(trace.pod_count, 11);
	assert_int_equal(trace.gang_count, 2);
	assert_null(trace_gang_of(&trace, 2));
	assert_false(trace_pod_follows(&trace, 2));
	assert_int_equal(trace_pod_milli(&trace, 2), 1000);
	for (uint32_t pod = 3; pod < 11; pod++) {
		const struct trace_gang *gang = trace_gang_of(&trace, pod);

		assert_ptr_equal(gang, &trace.gangs[(pod - 3) / 4]);
		assert_int_equal(gang->size, 4);
		assert_int_equal(gang->count, 4);
		assert_int_equal(trace.gang_pods[gang->first + (pod - 3) % 4], pod);
		assert_int_equal(trace_pod_follows(&trace, pod), (pod - 3) % 4 != 0);
		assert_int_equal(trace_pod_milli(&trace, pod), 8000);
	}
}

/* What runs already counts for the size, but is not placed again; the largest size counts. */
TEST(running_members)
{
	autotrace trace;

	trace_init(&trace);
	for (unsigned i = 0; i < 5; i++) {
		struct demand demand;
		char name[8] = { (char)('a' + i) };

		demand_init(&demand);
		demand.gang = strdup("g");
		demand.namespace = strdup(i == 4 ? "other" : "one");
		demand.gang_size = i;
		demand.node = i == 1 ? strdup("n") : NULL;
		assert_int_equal(trace_add_demand(&trace, name, &demand, NULL), 0);
		demand_release(&demand);
	}
	struct node_spec node;

	node_spec_init(&node);
	node.name = strdup("n");
	assert_int_equal(trace_add_node(&trace, &node, NULL), 0);
	assert_int_equal(trace_finish(&trace, NULL), 0);
	assert_int_equal(trace.gang_count, 2);
	const struct trace_gang *gang = trace_gang_of(&trace, 0);

	assert_int_equal(gang->size, 3);
	assert_int_equal(gang->running, 1);
	assert_int_equal(gang->count, 3);
	assert_null(trace_gang_of(&trace, 1));
	assert_ptr_equal(trace_gang_of(&trace, 3), gang);
	assert_ptr_not_equal(trace_gang_of(&trace, 4), gang);
}

#define RACKS                                                  \
	"nodes:\n"                                             \
	"- {count: 2, gpus: 8, model: h100, label: rack=r0}\n" \
	"- {count: 3, gpus: 8, model: h100, label: rack=r1}\n"

static const struct {
	const char *text;
	struct run_options options;
	size_t placed, failed;
} runs[] = {
	{ "4 nodes of 8 h100; 4 gangs of 4 Pods of 2 cards", { .arrival = 0 }, 16, 0 },
	{ "4 nodes of 8 h100; 5 gangs of 4 Pods of 2 cards", { .arrival = 0 }, 16, 4 },
	{ "4 nodes of 8 h100; 3 gangs of 12 Pods of 1 cards", { .arrival = 0 }, 24, 12 },
	/* Of 130 % nothing that is not whole comes. */
	{ "4 nodes of 8 h100; 5 gangs of 4 Pods of 2 cards", { .arrival = 130 }, 16, 4 },
	/* One rack alone takes the gang; the second time none does. */
	{ RACKS "pods:\n- {count: 6, gpus: 4, gang: 6, gang-domain: rack}\n",
	  { .arrival = 0 },
	  6,
	  0 },
	{ RACKS "pods:\n- {count: 12, gpus: 4, gang: 6, gang-domain: rack}\n",
	  { .arrival = 0 },
	  6,
	  6 },
	{ RACKS "pods:\n- {count: 4, gpus: 4, gang: 4, gang-domain: zone}\n",
	  { .arrival = 0 },
	  0,
	  4 },
	/* By time: the first gang ends before the second comes, and so on; with a third beside them. */
	{ "nodes:\n- {gpus: 8, model: h100}\n"
	  "pods:\n- {count: 8, gpus: 1, gang: 8, created: 0, end: 10}\n"
	  "- {count: 8, gpus: 1, gang: 8, created: 10, end: 20}\n",
	  { .replay = true },
	  16,
	  0 },
	{ "nodes:\n- {gpus: 8, model: h100}\n"
	  "pods:\n- {count: 8, gpus: 1, gang: 8, created: 0, end: 10}\n"
	  "- {count: 8, gpus: 1, gang: 8, created: 9, end: 20}\n",
	  { .replay = true },
	  8,
	  8 },
	{ "nodes:\n- {gpus: 8, model: h100}\n"
	  "pods:\n- {count: 8, gpus: 1, gang: 8, created: 0, end: 10}\n"
	  "- {count: 8, gpus: 1, gang: 8, created: 9, end: 20}\n"
	  "- {count: 9, gpus: 1, gang: 9, created: 9, end: 20}\n",
	  { .replay = true, .wait = true },
	  16,
	  9 },
};

TEST(gangs_come_and_go_as_one)
{
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		cleanup(run_result_release) struct run_result result = { .points = NULL };
		struct error error = ERROR_INIT;
		autotrace trace;

		read_text(&trace, runs[i].text);
		if (run_trace(&trace, &runs[i].options, &result, &error) < 0)
			fail_msg("%zu: %s", i, error.message);
		if (result.placed != runs[i].placed || result.failed != runs[i].failed)
			fail_msg("%zu: %zu placed, %zu failed", i, result.placed, result.failed);
	}
}

TEST(a_gang_that_is_not_whole_waits)
{
	cleanup(run_result_release) struct run_result result = { .points = NULL };
	const struct run_options options = { .arrival = 0 };
	autotrace trace;

	trace_init(&trace);
	for (unsigned i = 0; i < 3; i++) {
		struct demand demand;
		char name[8] = { (char)('a' + i) };

		demand_init(&demand);
		demand.gang = strdup("g");
		demand.gang_size = 4;
		assert_int_equal(trace_add_demand(&trace, name, &demand, NULL), 0);
		demand_release(&demand);
	}
	struct node_spec node;

	node_spec_init(&node);
	node.name = strdup("n");
	assert_int_equal(trace_add_node(&trace, &node, NULL), 0);
	assert_int_equal(trace_finish(&trace, NULL), 0);
	assert_int_equal(run_trace(&trace, &options, &result, NULL), 0);
	assert_int_equal(result.placed, 0);
	assert_int_equal(result.failed, 3);
}

TEST(gangs_and_look_ahead_exclude_each_other)
{
	cleanup(run_result_release) struct run_result result = { .points = NULL };
	const struct run_options options = { .look_ahead = 8 };
	struct error error = ERROR_INIT;
	autotrace trace;

	read_text(&trace, "2 nodes of 8 h100; 2 gangs of 4 Pods of 2 cards");
	assert_int_equal(run_trace(&trace, &options, &result, &error), -EINVAL);
	assert_non_null(strstr(error.message, "gangs"));
}

TEST(every_allocation_fails_once)
{
	for (unsigned n = 0;; n++) {
		cleanup(run_result_release) struct run_result result = { .points = NULL };
		const char text[] = "2 nodes of 8 h100; 2 gangs of 4 Pods of 2 cards";
		const struct run_options options = { .arrival = 0 };
		autotrace trace;

		trace_init(&trace);
		fault_arm(n);
		int r = trace_parse_short(&trace, TRACE_ALL, text, strlen(text), "text", NULL);

		if (r == 0)
			r = trace_finish(&trace, NULL);
		if (r == 0)
			r = run_trace(&trace, &options, &result, NULL);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_true(r == 0 || r == -ENOMEM);
	}
}
