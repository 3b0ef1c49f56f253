/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "replay/replay.h"

#define OPENB SOURCE_ROOT "/test/data/openb/"

#define NODES "sn,cpu_milli,memory_mib,gpu,model\n"
#define PODS  "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time\n"

/* A file with that text; the name is the same in each test, so that messages can be compared. */
static void write_file(const char *path, const char *text)
{
	struct error error = ERROR_INIT;

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0600, &error), 0);
}

static int read_texts(const char *nodes, const char *pods, struct trace *trace, struct error *error)
{
	char folder[] = "/tmp/gpupool-trace-XXXXXX";

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	write_file("nodes.csv", nodes);
	write_file("pods.csv", pods);
	int r = trace_read(trace, TRACE_NODES, "nodes.csv", error);
	if (r == 0)
		r = trace_read(trace, TRACE_PODS, "pods.csv", error);
	if (r == 0)
		r = trace_finish(trace, error);
	unlink("nodes.csv");
	unlink("pods.csv");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
	return r;
}

static const struct {
	const char *nodes, *pods;
	const char *message; /* NULL: it is read */
} cases[] = {
	{ NODES "b,1000,10,2,T4\na,2000,20,0,\n", PODS "p,100,10,1,500,,5,9\n", NULL },
	{ NODES "a,1000,10,2,T4\n", "gpu_milli,num_gpu,memory_mib,cpu_milli,name\n1000,1,1,1,p\n",
	  NULL },
	{ NODES "a,1,1,1,T4\n", PODS "p,1,1,1,1000,,5,\n", NULL },
	{ NODES, PODS, "no nodes; name a file that has some" },
	{ "sn,gpu\n", PODS,
	  "nodes.csv:1: columns are missing: cpu_milli, memory_mib, model; the first line names "
	  "the "
	  "columns" },
	{ NODES "a,1,1,1,T4\n", "name,num_gpu,gpu_milli,cpu_milli\n",
	  "pods.csv:1: column is missing: memory_mib; the first line names the columns" },
	{ NODES "a,1,1,1,T4\na,1,1,1,T4\n", PODS,
	  "nodes.csv:3: two nodes are named a; remove one" },
	{ NODES "a,-1,1,1,T4\n", PODS,
	  "nodes.csv:2: cpu_milli '-1' is no whole number from 0 to 1000000000; write one" },
	{ NODES "a,1,1,65,T4\n", PODS,
	  "nodes.csv:2: gpu '65' is no whole number from 0 to 64; write one" },
	{ NODES "a,1,1,2,\n", PODS,
	  "nodes.csv:2: model '' is no model of cards of 1 to 95 bytes, and the node has 2 cards; "
	  "write one" },
	{ NODES ",1,1,2,T4\n", PODS, "nodes.csv:2: sn '' is no name of 1 to 88 bytes; write one" },
	{ NODES "a,1,1,1,T4\n", PODS "p,1,1,1,500,,,\n",
	  "pods.csv:2: creation_time '' is no whole number from 0 to 1152921504606846976; write "
	  "one" },
	{ NODES "a,1,1,1,T4\n", PODS "p,1,1,1,500,,5,6\np,1,1,1,500,,5,6\n",
	  "pods.csv:3: two Pods are named p; remove one" },
	{ NODES "a,1,1,1,T4\n", PODS ",1,1,1,500,,5,6\n",
	  "pods.csv:2: name '' is no name; write one" },
	{ NODES "a,1,1,1,T4\n", PODS "p,1,1,1,1001,,5,6\n",
	  "pods.csv:2: gpu_milli '1001' is no whole number from 0 to 1000; write one" },
	{ NODES "a,1,1,1,T4\n", PODS "p,1,-7,1,1000,,5,6\n",
	  "pods.csv:2: memory_mib '-7' is no whole number from 0 to 1000000000000; write one" },
	{ NODES "a,1,1,1,T4\n", PODS "p,1,1,2,0,,5,6\n",
	  "pods.csv:2: gpu_milli '0' is nothing of each of 2 cards; write 1 to 1000, or 0 for "
	  "num_gpu" },
	{ NODES "a,1,1,1,T4\n", PODS "p,1,1,0,5,,5,6\n",
	  "pods.csv:2: gpu_milli '5' is a part of a card, and num_gpu is 0; write 1 for num_gpu" },
	{ NODES "a,1,1,1,T4\n", PODS "p,1,1,1,5,,6,5\n",
	  "pods.csv:2: deletion_time '5' is before creation_time 6; write a later one" },
	{ NODES "a,1,1,1,T4\n", PODS "p,1,1,1,5,,6\n",
	  "pods.csv:2: 7 fields where the first line has 8; give each column a field" },
};

TEST(trace_csv_cases)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error error = ERROR_INIT;
		autotrace trace;

		trace_init(&trace);
		int r = read_texts(cases[i].nodes, cases[i].pods, &trace, &error);
		assert_string_equal(error.message, cases[i].message ? cases[i].message : "");
		assert_int_equal(r < 0, cases[i].message != NULL);
	}
}

TEST(trace_csv_says_what_a_pod_asks_for)
{
	struct error error = ERROR_INIT;
	autotrace trace;

	trace_init(&trace);
	assert_int_equal(read_texts(NODES "b,1000,10,2,T4\nc,1,1,1,A10\na,2000,20,0,\n",
				    PODS "one,100,10,1,500,,5,9\ntwo,0,0,2,1000,T4|P100,6,\n"
					 "three,100,10,1,500,,7,8\nfour,7,8,0,0,ignored,1,1\n",
				    &trace, &error),
			 0);
	assert_int_equal(trace.node_count, 3);
	assert_string_equal(trace.nodes[0].name, "a");
	assert_string_equal(trace.nodes[1].name, "b");
	assert_int_equal(trace.nodes[1].allocatable.cpu_milli, 1000);
	assert_int_equal(trace.capacity_milli, 3000);
	assert_int_equal(trace.model_count, 2);
	assert_true(trace.timed);
	assert_int_equal(trace.pod_count, 4);
	assert_int_equal(trace.shape_count, 3);
	assert_int_equal(trace.pods[0].shape, trace.pods[2].shape);
	assert_string_equal(trace_pod_name(&trace, 2), "three");
	assert_int_equal(trace.pods[1].end, INT64_MAX);
	const struct trace_shape *share = &trace.shapes[trace.pods[0].shape];
	assert_int_equal(share->class, TRACE_SHARE);
	assert_int_equal(share->milli, 500);
	assert_false(share->constrained);
	const struct trace_shape *two = &trace.shapes[trace.pods[1].shape];
	assert_int_equal(two->class, TRACE_SEVERAL);
	assert_int_equal(two->milli, 1000);
	assert_int_equal(two->cards, 2);
	assert_true(two->constrained);
	/* Models are numbered in order of the nodes: T4, A10. */
	assert_int_equal(trace.shape_millis[trace.pods[1].shape * 2], 1000);
	assert_int_equal(trace.shape_millis[trace.pods[1].shape * 2 + 1], 0);
	const struct trace_shape *cpu = &trace.shapes[trace.pods[3].shape];
	assert_int_equal(cpu->class, TRACE_CPU);
	assert_false(cpu->constrained);
	assert_int_equal(cpu->demand.needs.memory_mib, 8);
}

static void read_openb(const char *pods, struct trace *trace)
{
	struct error error = ERROR_INIT;
	autofree char *path = NULL;

	assert_true(asprintf(&path, OPENB "openb_pod_list_%s.csv", pods) > 0);
	trace_init(trace);
	assert_int_equal(
		trace_read(trace, TRACE_NODES, OPENB "openb_node_list_gpu_node.csv", &error), 0);
	assert_int_equal(trace_read(trace, TRACE_PODS, path, &error), 0);
	assert_int_equal(trace_finish(trace, &error), 0);
}

/* The figures of the traces' own description. */
TEST(trace_openb_default)
{
	size_t classes[TRACE_CLASS_MAX] = { 0 };
	int64_t asked = 0;
	autotrace trace;

	read_openb("default", &trace);
	assert_int_equal(trace.node_count, 1213);
	assert_int_equal(trace.capacity_milli, 6212000);
	assert_int_equal(trace.model_count, 7);
	assert_int_equal(trace.pod_count, 8152);
	for (size_t i = 0; i < trace.pod_count; i++) {
		const struct trace_shape *shape = &trace.shapes[trace.pods[i].shape];

		classes[shape->class]++;
		asked += (int64_t)shape->milli * shape->cards;
	}
	assert_int_equal(classes[TRACE_CPU], 1088);
	assert_int_equal(classes[TRACE_SHARE], 3078);
	assert_int_equal(classes[TRACE_ONE], 3911);
	assert_int_equal(classes[TRACE_SEVERAL], 16 + 15 + 44);
	assert_int_equal(asked * 10000 / trace.capacity_milli, 9798);
}

TEST(trace_openb_all)
{
	static const struct {
		const char *name;
		size_t pods;
	} lists[] = {
		{ "cpu050", 7439 },     { "cpu100", 7853 },      { "cpu200", 8832 },
		{ "cpu250", 9420 },     { "gpushare40", 8152 },  { "gpushare60", 8152 },
		{ "gpushare80", 8152 }, { "gpushare100", 8152 }, { "multigpu20", 8324 },
		{ "multigpu30", 8508 }, { "multigpu40", 8746 },  { "multigpu50", 9061 },
		{ "gpuspec10", 8152 },  { "gpuspec20", 8152 },   { "gpuspec25", 8152 },
		{ "gpuspec33", 8152 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		autotrace trace;

		read_openb(lists[i].name, &trace);
		assert_int_equal(trace.pod_count, lists[i].pods);
		assert_int_equal(trace.timed, strncmp(lists[i].name, "multi", 5) != 0);
	}
}

/* The published numbers of SplitMix64 from state 0. */
TEST(random_is_splitmix64)
{
	struct random random = { .state = 0 };

	assert_true(random_next(&random) == 0xe220a8397b1dcdafu);
	assert_true(random_next(&random) == 0x6e789e6aa1b965f4u);
	assert_true(random_next(&random) == 0x06c45d188009454fu);
}

TEST(random_below_is_even)
{
	struct random random;
	unsigned counts[7] = { 0 };

	random_start(&random, 1, RANDOM_SHUFFLE);
	for (unsigned i = 0; i < 70000; i++)
		counts[random_below(&random, 7)]++;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		assert_in_range(counts[i], 9700, 10300);
}

static int64_t asked_by(const struct trace *trace, const struct arrivals *arrivals)
{
	int64_t asked = 0;

	for (size_t i = 0; i < arrivals->count; i++) {
		const struct trace_shape *shape =
			&trace->shapes[trace->pods[arrivals->pods[i]].shape];

		asked += (int64_t)shape->milli * shape->cards;
	}
	return asked;
}

TEST(arrivals_ask_for_what_was_wanted)
{
	static const unsigned percents[] = { 50, 97, 98, 130, 200 };
	struct error error = ERROR_INIT;
	autotrace trace;

	read_openb("default", &trace);
	for (size_t i = 0; i < ARRAY_SIZE(percents); i++) {
		struct protocol protocol = { .seed = 42, .percent = percents[i] };
		cleanup(arrivals_release) struct arrivals once = { .pods = NULL };
		cleanup(arrivals_release) struct arrivals again = { .pods = NULL };
		cleanup(arrivals_release) struct arrivals other = { .pods = NULL };

		assert_int_equal(arrivals_make(&trace, &protocol, &once, &error), 0);
		assert_int_equal(arrivals_make(&trace, &protocol, &again, &error), 0);
		protocol.seed = 43;
		assert_int_equal(arrivals_make(&trace, &protocol, &other, &error), 0);
		int64_t asked = asked_by(&trace, &once),
			wanted = trace.capacity_milli / 100 * percents[i];
		assert_in_range(asked, wanted - 8000, wanted);
		assert_int_equal(once.count, again.count);
		assert_memory_equal(once.pods, again.pods, once.count * sizeof(*once.pods));
		assert_memory_not_equal(once.pods, other.pods, 1000 * sizeof(*once.pods));
	}
}

/* Below the list's own size nobody arrives twice, and as it is everybody once. */
TEST(arrivals_are_of_the_list)
{
	static const unsigned percents[] = { 0, 50 };
	struct error error = ERROR_INIT;
	autotrace trace;

	read_openb("cpu250", &trace);
	for (size_t i = 0; i < ARRAY_SIZE(percents); i++) {
		struct protocol protocol = { .seed = 7, .percent = percents[i] };
		cleanup(arrivals_release) struct arrivals arrivals = { .pods = NULL };
		autofree unsigned *counts = calloc(trace.pod_count, sizeof(*counts));
		size_t most = 0;

		assert_non_null(counts);
		assert_int_equal(arrivals_make(&trace, &protocol, &arrivals, &error), 0);
		for (size_t k = 0; k < arrivals.count; k++)
			most += counts[arrivals.pods[k]]++ == 0;
		if (!percents[i])
			assert_int_equal(most, trace.pod_count);
		assert_in_range(arrivals.count - most, 0, percents[i] ? 30 : 0);
	}
}

TEST(arrivals_need_somebody_who_asks)
{
	struct protocol protocol = { .seed = 1, .percent = 130 };
	struct arrivals arrivals = { .pods = NULL };
	struct error error = ERROR_INIT;
	autotrace trace;

	trace_init(&trace);
	assert_int_equal(read_texts(NODES "a,1,1,1,T4\n", PODS "p,1,1,0,0,,5,6\n", &trace, &error),
			 0);
	assert_int_equal(arrivals_make(&trace, &protocol, &arrivals, &error), -EINVAL);
	assert_string_equal(error.message, "no Pod asks for a card, so that no percent of the "
					   "cards can arrive; write --arrival 0 for each Pod of "
					   "the list once");
}

TEST(trace_survives_every_failed_allocation)
{
	char folder[] = "/tmp/gpupool-trace-XXXXXX";

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	write_file("nodes.csv", NODES "b,1000,10,2,T4\na,2000,20,0,\n");
	write_file("pods.csv", PODS "p,100,10,1,500,T4,5,9\nq,1,1,0,0,,5,9\n");
	for (unsigned n = 0;; n++) {
		struct protocol protocol = { .seed = 1, .percent = 130 };
		cleanup(arrivals_release) struct arrivals arrivals = { .pods = NULL };
		struct error error = ERROR_INIT;
		autotrace trace;

		trace_init(&trace);
		fault_arm(n);
		int r = trace_read(&trace, TRACE_NODES, "nodes.csv", &error);
		if (r == 0)
			r = trace_read(&trace, TRACE_PODS, "pods.csv", &error);
		if (r == 0)
			r = trace_finish(&trace, &error);
		if (r == 0)
			r = arrivals_make(&trace, &protocol, &arrivals, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 20);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	unlink("nodes.csv");
	unlink("pods.csv");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
}
