/* SPDX-License-Identifier: Apache-2.0 */
/* Where room is stranded: each cause on a small cluster, and random ones beside the engine. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "replay/replay.h"

static int read_cluster(const char *text, struct trace *trace, struct error *error)
{
	trace_init(trace);
	int r = trace_parse_short(trace, TRACE_ALL, text, strlen(text), "t", error);
	return r < 0 ? r : trace_finish(trace, error);
}

/* One node of four cards of 16 GiB; two Pods that wait are the mix, with those that run. */
#define NODE(more) "nodes: [{name: a, gpus: 4, model: X, gpu-memory: 16Gi" more "}]\n"

static const struct {
	const char *cluster;
	enum stranded_cause cause;
	struct stranded_sum sum; /* of that cause */
	size_t free_gib;
} cases[] = {
	{ NODE("") "pods: [{gpus: 1}, {gpus: 3, node: a}]\n", STRANDED_NOT, { 1, 1, 16, 100 }, 16 },
	{ NODE("") "pods: [{gpus: 2}, {gpus: 3, node: a}]\n",
	  STRANDED_CARDS,
	  { 1, 1, 16, 100 },
	  16 },
	{ NODE(", cpu: 8") "pods: [{gpus: 1, cpu: 4}, {gpus: 1, cpu: 6, node: a}]\n",
	  STRANDED_CPU,
	  { 3, 3, 48, 300 },
	  48 },
	{ NODE(", memory: 8Gi") "pods: [{gpus: 1, memory: 4Gi}, {gpus: 1, memory: 6Gi, node: a}]\n",
	  STRANDED_HOST_MEMORY,
	  { 3, 3, 48, 300 },
	  48 },
	{ NODE(", pods: 2") "pods: [{gpus: 1}, {count: 2, gpus: 1, node: a}]\n",
	  STRANDED_PODS,
	  { 2, 2, 32, 200 },
	  32 },
	/* 60 % of the compute and 4 of 16 GiB are held; nobody wants less than 50 %. */
	{ NODE("") "pods: [{gpu-memory: 4Gi, gpu-compute: 50}, {gpus: 3, node: a},"
		   " {gpu-memory: 4Gi, gpu-compute: 60, node: a}]\n",
	  STRANDED_COMPUTE,
	  { 1, 0, 12, 40 },
	  12 },
	/* 12 of 16 GiB with 20 % of the compute; nobody wants less than 8 GiB. */
	{ NODE("") "pods: [{gpu-memory: 8Gi, gpu-compute: 50}, {gpus: 3, node: a},"
		   " {gpu-memory: 12Gi, gpu-compute: 20, node: a}]\n",
	  STRANDED_MEMORY,
	  { 1, 0, 4, 80 },
	  4 },
	/* A slice without a cap uses compute by its share of the memory. */
	{ NODE("") "pods: [{gpus: 1}, {gpus: 3, node: a}, {gpu-memory: 12Gi, node: a}]\n",
	  STRANDED_MEMORY,
	  { 1, 0, 4, 25 },
	  4 },
	{ NODE("") "pods: [{gpus: 1, model: Y}]\n", STRANDED_MODEL, { 4, 4, 64, 400 }, 64 },
};

TEST(stranded_cases)
{
	const struct run_options options = { .arrival = 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(stranded_report_release) struct stranded_report report = { .nodes = NULL };
		struct error error = ERROR_INIT;
		autotrace trace;

		assert_int_equal(read_cluster(cases[i].cluster, &trace, &error), 0);
		assert_int_equal(stranded_find(&trace, &options, false, &report, &error), 0);
		const struct stranded_sum *sum = &report.total.by_cause[cases[i].cause];
		assert_int_equal(sum->cards, cases[i].sum.cards);
		assert_int_equal(sum->whole, cases[i].sum.whole);
		assert_int_equal(sum->gib, cases[i].sum.gib);
		assert_int_equal(sum->compute, cases[i].sum.compute);
		assert_int_equal(report.total.free.gib, cases[i].free_gib);
		assert_int_equal(report.total.cards, 4);
		assert_int_equal(report.before.partial_count, 0);
	}
}

static struct trace *read_closed(bool sick, struct trace *trace)
{
	static const char text[] = NODE("") "pods: [{gpus: 1}]\n";
	struct error error = ERROR_INIT;

	trace_init(trace);
	assert_int_equal(trace_parse_short(trace, TRACE_ALL, text, strlen(text), "t", &error), 0);
	if (sick)
		trace->nodes[0].inventory.cards[1].condition.health = CARD_SUSPECT;
	else
		trace->nodes[0].unschedulable = true;
	assert_int_equal(trace_finish(trace, &error), 0);
	return trace;
}

TEST(stranded_on_closed_nodes_and_sick_cards)
{
	const struct run_options options = { .arrival = 0 };

	for (int sick = 0; sick < 2; sick++) {
		cleanup(stranded_report_release) struct stranded_report report = { .nodes = NULL };
		struct error error = ERROR_INIT;
		autotrace trace;

		read_closed(sick, &trace);
		assert_int_equal(stranded_find(&trace, &options, false, &report, &error), 0);
		assert_int_equal(report.total.by_cause[STRANDED_CLOSED].cards, sick ? 0 : 4);
		assert_int_equal(report.total.by_cause[STRANDED_SICK].cards, sick ? 1 : 0);
		assert_int_equal(report.total.by_cause[STRANDED_NOT].cards, sick ? 3 : 0);
	}
}

static void add_up(struct stranded_share *to, const struct stranded_share *from)
{
	to->cards += from->cards;
	to->gib += from->gib;
	to->free.cards += from->free.cards;
	to->free.gib += from->free.gib;
	to->free.compute += from->free.compute;
	to->fragment_milli += from->fragment_milli;
}

static void assert_same(const struct stranded_share *left, const struct stranded_share *right)
{
	assert_int_equal(left->cards, right->cards);
	assert_int_equal(left->gib, right->gib);
	assert_int_equal(left->free.cards, right->free.cards);
	assert_int_equal(left->free.gib, right->free.gib);
	assert_int_equal(left->free.compute, right->free.compute);
	assert_true(left->fragment_milli - right->fragment_milli < 1e-3 &&
		    right->fragment_milli - left->fragment_milli < 1e-3);
}

static void assert_adds_up(const struct trace *trace, const struct stranded_report *report)
{
	struct stranded_share nodes = { .cards = 0 }, models = { .cards = 0 };
	struct stranded_share causes = { .cards = report->total.cards,
					 .gib = report->total.gib,
					 .fragment_milli = report->total.fragment_milli };

	for (size_t i = 0; i < trace->node_count; i++)
		add_up(&nodes, &report->nodes[i]);
	for (size_t i = 0; i < trace->model_count; i++)
		add_up(&models, &report->models[i]);
	for (int i = 0; i < STRANDED_CAUSE_MAX; i++) {
		causes.free.cards += report->total.by_cause[i].cards;
		causes.free.gib += report->total.by_cause[i].gib;
		causes.free.compute += report->total.by_cause[i].compute;
	}
	assert_same(&nodes, &report->total);
	assert_same(&models, &report->total);
	assert_same(&causes, &report->total);
}

static void random_cluster(struct random *random, struct strbuf *text)
{
	unsigned nodes = 2 + random_below(random, 3), kinds = 2 + random_below(random, 4);

	strbuf_adds(text, "nodes:\n");
	for (unsigned i = 0; i < nodes; i++)
		strbuf_addf(text, "- {gpus: %u, model: %c, gpu-memory: %uGi, cpu: %u}\n",
			    1 + random_below(random, 4), 'X' + (int)random_below(random, 2),
			    8 + 8 * random_below(random, 2), 2 + random_below(random, 16));
	strbuf_adds(text, "pods:\n");
	for (unsigned i = 0; i < kinds; i++) {
		strbuf_addf(text, "- {count: %u, cpu: %u, gpus: %u", 1 + random_below(random, 3),
			    1 + random_below(random, 4), 1 + random_below(random, 3));
		if (random_below(random, 2))
			strbuf_addf(text, ", gpu-memory: %uGi", 1 + random_below(random, 12));
		strbuf_adds(text, random_below(random, 4) ? "}\n" : ", model: Y}\n");
	}
}

/* Something on a node is of use just when the engine places a Pod of some class there. */
TEST(stranded_is_what_the_engine_cannot_place)
{
	const struct run_options options = { .arrival = 0 };
	struct random random;
	size_t useful = 0, useless = 0;

	random_start(&random, 3, RANDOM_SHUFFLE);
	for (unsigned round = 0; round < 300; round++) {
		cleanup(stranded_report_release) struct stranded_report report = { .nodes = NULL };
		autostrbuf text = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;
		bool placed[8] = { false };
		autotrace trace;

		random_cluster(&random, &text);
		assert_int_equal(read_cluster(text.data, &trace, &error), 0);
		assert_int_equal(stranded_find(&trace, &options, true, &report, &error), 0);
		assert_adds_up(&trace, &report);
		for (size_t i = 0; i < trace.shape_count; i++) {
			const struct fit_options ask = { .run = options,
							 .arrive = true,
							 .limit = 99 };
			cleanup(fit_result_release) struct fit_result fits = { .nodes = NULL };

			assert_int_equal(
				fit_ask(&trace, &trace.shapes[i].demand, &ask, &fits, &error), 0);
			for (size_t k = 0; k < trace.node_count; k++)
				placed[k] = placed[k] || fits.nodes[k];
		}
		for (size_t k = 0; k < trace.node_count; k++) {
			assert_int_equal(report.nodes[k].by_cause[STRANDED_NOT].cards != 0,
					 placed[k]);
			useful += placed[k];
			useless += !placed[k] && report.nodes[k].free.cards;
		}
	}
	print_message("stranded: nodes of use %zu, with room of no use %zu\n", useful, useless);
	assert_true(useful > 50 && useless > 50);
}

TEST(stranded_survives_every_failed_allocation)
{
	const struct run_options options = { .arrival = 0 };

	for (unsigned n = 0;; n++) {
		cleanup(stranded_report_release) struct stranded_report report = { .nodes = NULL };
		struct error error = ERROR_INIT;
		autotrace trace;

		fault_arm(n);
		int r = read_cluster("2 nodes of 2 t4; 1 Pod of 1 card; 1 Pod of 9 GiB", &trace,
				     &error);
		if (r == 0)
			r = stranded_find(&trace, &options, true, &report, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_int_equal(report.total.free.gib, 36);
			break;
		}
		assert_true(r == -ENOMEM || (r == 0 && report.total.free.gib == 36));
	}
}
