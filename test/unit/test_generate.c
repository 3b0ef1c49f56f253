/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of Pods from a seed, and replays that fill a cluster. */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "replay/replay.h"

#define LIST_MAX (64u << 20)
#define CLUSTER                                                                                 \
	"nodes: [{count: 6, gpus: 8, model: X, gpu-memory: 1000Gi, cpu: 96, memory: 700Gi},"    \
	" {count: 3, gpus: 2, model: Y, gpu-memory: 1000Gi, cpu: 32, memory: 200Gi},"           \
	" {count: 2, gpus: 4, model: Z, gpu-memory: 1000Gi, cpu: 48, memory: 300Gi}, {cpu: 8}]" \
	"\n"

static int read_cluster(const char *text, struct trace *trace, struct error *error)
{
	trace_init(trace);
	int r = trace_parse_short(trace, TRACE_ALL, text, strlen(text), "t", error);
	return r < 0 ? r : trace_finish(trace, error);
}

/* As a file that the reader of CSV takes. */
static void read_list(const struct strbuf *list, struct trace *trace)
{
	char path[] = "/tmp/gpupool_list_XXXXXX";
	int fd = mkstemp(path);
	struct error error = ERROR_INIT;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, list->data, list->length), (ssize_t)list->length);
	close(fd);
	int r = trace_read(trace, TRACE_PODS, path, &error);
	unlink(path);
	if (r < 0)
		fail_msg("%s", error.message);
}

TEST(each_pod_of_a_list_could_be_held)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		cleanup(generated_release) struct generated mix = { .kinds = NULL };
		autostrbuf list = STRBUF_INIT(LIST_MAX);
		autotrace nodes, trace;
		struct error error = ERROR_INIT;
		unsigned weight = 0;

		assert_int_equal(read_cluster(CLUSTER, &nodes, &error), 0);
		assert_int_equal(generate_pods(&nodes, seed, 300, &mix, &list, &error), 0);
		trace_init(&trace);
		assert_int_equal(trace_parse_short(&trace, TRACE_NODES, CLUSTER, strlen(CLUSTER),
						   "t", &error),
				 0);
		read_list(&list, &trace);
		assert_int_equal(trace_finish(&trace, &error), 0);
		assert_int_equal(trace.pod_count, 300);
		assert_true(trace.timed);
		for (size_t i = 0; i < mix.kind_count; i++)
			weight += mix.kinds[i].weight;
		assert_true(weight > 0);
		/* One by one on the empty cluster. */
		for (size_t i = 0; i < trace.shape_count; i++) {
			const struct fit_options options = { .limit = 1 };
			cleanup(fit_result_release) struct fit_result fit = { .count = 0 };

			assert_int_equal(
				fit_ask(&nodes, &trace.shapes[i].demand, &options, &fit, &error),
				0);
			assert_int_equal(fit.count, 1);
		}
	}
}

static void make(const struct trace *nodes, uint64_t seed, struct strbuf *list)
{
	cleanup(generated_release) struct generated mix = { .kinds = NULL };
	struct error error = ERROR_INIT;

	assert_int_equal(generate_pods(nodes, seed, 50, &mix, list, &error), 0);
}

TEST(a_seed_is_a_list)
{
	autostrbuf first = STRBUF_INIT(LIST_MAX), again = STRBUF_INIT(LIST_MAX);
	autostrbuf other = STRBUF_INIT(LIST_MAX);
	struct error error = ERROR_INIT;
	autotrace nodes;

	assert_int_equal(read_cluster(CLUSTER, &nodes, &error), 0);
	make(&nodes, 7, &first);
	make(&nodes, 7, &again);
	make(&nodes, 8, &other);
	assert_string_equal(first.data, again.data);
	assert_string_not_equal(first.data, other.data);
}

TEST(nodes_that_say_too_little_are_refused)
{
	static const struct {
		const char *nodes, *message;
	} rows[] = {
		{ "2 nodes of 8 h100", "does not say how much CPU it has; name nodes that do" },
		{ "nodes: [{cpu: 8}]\n", "no node has a card; name nodes that have some" },
		{ "nodes: [{gpus: 1, model: 'X,Y', gpu-memory: 16Gi, cpu: 8}]\n",
		  "the model 'X,Y' cannot stand in a CSV file; rename it" },
		{ "nodes: [{gpus: 1, model: X, gpu-memory: 16Gi, cpu: 8, memory: 1Mi}]\n",
		  "no list of Pods can be made for these nodes" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup(generated_release) struct generated mix = { .kinds = NULL };
		autostrbuf list = STRBUF_INIT(LIST_MAX);
		struct error error = ERROR_INIT;
		autotrace nodes;

		assert_int_equal(read_cluster(rows[i].nodes, &nodes, &error), 0);
		assert_true(generate_pods(&nodes, 1, 5, &mix, &list, &error) < 0);
		assert_non_null(strstr(error.message, rows[i].message));
	}
}

TEST(a_list_for_want_of_memory)
{
	struct error error = ERROR_INIT;
	autotrace nodes;

	assert_int_equal(read_cluster(CLUSTER, &nodes, &error), 0);
	for (unsigned n = 0;; n++) {
		cleanup(generated_release) struct generated mix = { .kinds = NULL };
		autostrbuf list = STRBUF_INIT(LIST_MAX);

		fault_arm(n);
		int r = generate_pods(&nodes, 3, 100, &mix, &list, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(mix.kinds);
	}
}

/* ---- replays that fill a cluster ---- */

#define TIMED                                                                                   \
	"nodes: [{count: 5, gpus: 8, model: X, gpu-memory: 16Gi, cpu: 64}]\n"                   \
	"pods: [{count: 60, gpus: 1, created: 0, end: 50}, {count: 20, gpus: 2, created: 100, " \
	"end: 300}, {count: 10, cpu: 1, created: 900, end: 901}]\n"
#define UNTIMED                                                               \
	"nodes: [{count: 5, gpus: 8, model: X, gpu-memory: 16Gi, cpu: 64}]\n" \
	"pods: [{count: 80, gpus: 1}]\n"

static int replay(const struct trace *trace, unsigned load, uint64_t seed, unsigned moves,
		  struct run_result *ret, struct error *error)
{
	const struct run_options options = {
		.replay = true, .load = load, .moves_permille = moves, .place = { .seed = seed }
	};

	return run_trace(trace, &options, ret, error);
}

TEST(a_load_is_what_is_asked_for_at_once)
{
	static const struct {
		const char *cluster;
		unsigned load, moves;
		bool all_fit;
	} rows[] = {
		{ TIMED, 30, 0, true },    { TIMED, 60, 0, true },   { TIMED, 60, 10, true },
		{ UNTIMED, 40, 0, true },  { TIMED, 150, 0, false }, { UNTIMED, 150, 0, false },
		{ TIMED, 150, 10, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup(run_result_release) struct run_result result = { .points = NULL };
		cleanup(run_result_release) struct run_result again = { .points = NULL };
		struct error error = ERROR_INIT;
		autotrace trace;

		assert_int_equal(read_cluster(rows[i].cluster, &trace, &error), 0);
		assert_int_equal(replay(&trace, rows[i].load, 5, rows[i].moves, &result, &error),
				 0);
		assert_int_equal(replay(&trace, rows[i].load, 5, rows[i].moves, &again, &error), 0);
		assert_int_equal(result.checksum, again.checksum);
		assert_int_equal(result.placed + result.failed, 3 * trace.pod_count);
		if (rows[i].all_fit) {
			assert_int_equal(result.failed, 0);
			assert_true(fabs(result.allocated_percent - rows[i].load) < 1.5);
		} else {
			assert_true(result.failed > 0);
			assert_true(result.allocated_percent <= 100);
			assert_true(result.allocated_percent > 85);
		}
	}
}

TEST(a_load_that_is_never_asked_for)
{
	static const char *const message =
		"however long they live, these Pods ask for no more than";
	cleanup(run_result_release) struct run_result result = { .points = NULL };
	struct error error = ERROR_INIT;
	autotrace trace;

	assert_int_equal(read_cluster(UNTIMED, &trace, &error), 0);
	assert_int_equal(replay(&trace, 900, 5, 0, &result, &error), -EINVAL);
	assert_non_null(strstr(error.message, message));
	assert_int_equal(replay(&trace, 0, 5, 0, &result, &error), -EINVAL);
	assert_non_null(strstr(error.message, "write --load 110"));
}
