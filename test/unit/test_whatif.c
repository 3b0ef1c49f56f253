/* SPDX-License-Identifier: Apache-2.0 */
/* A changed cluster: what changes, who arrives, and that nothing else does. */
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

struct change { /* one text each; NULL: none */
	const char *add, *remove, *mig;
	enum whatif_slices slices;
};

static int make(const struct trace *trace, const struct change *change, struct whatif *ret,
		struct error *error)
{
	const struct whatif_changes changes = {
		.add = { &change->add, change->add != NULL },
		.remove = { &change->remove, change->remove != NULL },
		.mig = { &change->mig, change->mig != NULL },
		.slices = change->slices,
	};

	return whatif_make(trace, &changes, ret, error);
}

struct outcome {
	size_t nodes, cards, running, arrived, placed;
};

struct sides {
	struct outcome before, after;
	uint64_t checksums[2];
};

static struct outcome outcome_of(const struct trace *trace, const struct run_result *result)
{
	return (struct outcome){ trace->node_count, (size_t)trace->capacity_milli / 1000,
				 result->running, result->placed + result->failed, result->placed };
}

static int run_both(const struct trace *trace, const struct whatif *whatif, struct sides *ret,
		    struct error *error)
{
	const struct protocol protocol = { .seed = 1 };
	cleanup(arrivals_release) struct arrivals before = { .pods = NULL };
	cleanup(arrivals_release) struct arrivals after = { .pods = NULL };
	cleanup(run_result_release) struct run_result first = { .points = NULL };
	cleanup(run_result_release) struct run_result second = { .points = NULL };
	struct run_options options = { .arrivals = &before };

	int r = whatif_arrivals(trace, whatif, &protocol, &before, &after, error);
	if (r == 0)
		r = run_trace(trace, &options, &first, error);
	options.arrivals = &after;
	if (r == 0)
		r = run_trace(&whatif->trace, &options, &second, error);
	if (r < 0)
		return r;
	ret->before = outcome_of(trace, &first);
	ret->after = outcome_of(&whatif->trace, &second);
	ret->checksums[0] = first.checksum;
	ret->checksums[1] = second.checksum;
	return 0;
}

#define RUNS                                                                                  \
	"nodes: [{count: 2, gpus: 4, model: h100}]\n"                                         \
	"pods: [{count: 3, gpus: 1, node: node-00001}, {gpu-memory: 20Gi, node: node-00002}," \
	" {count: 2, gpus: 2}]\n"

static const struct {
	const char *cluster;
	struct change change;
	struct outcome before, after;
	const char *sentences; /* with newlines between */
} cases[] = {
	{ "2 nodes of 8 h100; 9 Pods of 2 cards",
	  { .add = "1 node of 4 t4; 1 node of 2 h100" },
	  { 2, 16, 0, 9, 8 },
	  { 4, 22, 0, 9, 9 },
	  "2 nodes are added, with 6 cards: 1 node of 4 t4; 1 node of 2 h100." },
	{ "2 nodes of 8 h100; 1 node of 4 t4; 9 Pods of 2 cards",
	  { .remove = "1 of h100" },
	  { 3, 20, 0, 9, 9 },
	  { 2, 12, 0, 9, 6 },
	  "1 node is removed, with 8 cards: node-00002." },
	{ "3 nodes of 8 h100; 9 Pods of 2 cards",
	  { .remove = "node-*1" },
	  { 3, 24, 0, 9, 9 },
	  { 2, 16, 0, 9, 8 },
	  "1 node is removed, with 8 cards: node-00001." },
	{ "7 nodes of 1 h100; 9 Pods of 12 GiB",
	  { .remove = "6", .slices = WHATIF_SLICES_OFF },
	  { 7, 7, 0, 9, 9 },
	  { 1, 1, 0, 9, 1 },
	  "6 nodes are removed, with 6 cards: node-00002, node-00003, node-00004, node-00005, "
	  "node-00006 and others.\n"
	  "Cards are given whole only now: 1.\n"
	  "9 Pods: a slice of 12 GiB is 1 whole card now." },
	{ "1 node of 2 h100; 1 node of 1 t4; 20 Pods of 9 GiB; 1 Pod of 14 GiB",
	  { .mig = "h100=1g.10gb*7" },
	  { 2, 3, 0, 21, 17 },
	  { 2, 3, 0, 21, 15 },
	  "Cards of NVIDIA H100 80GB HBM3 in mode MIG now: 2 with 1g.10gb*7.\n"
	  "20 Pods: a slice of 9 GiB is 1 of 1g.10gb now." },
	{ "1 node of 2 h100; 3 Pods of 15 GiB; 5 Pods of 5 GiB 40 %",
	  { .mig = "*H100*=3g.40gb,1g.20gb*2" },
	  { 1, 2, 0, 8, 7 },
	  { 1, 2, 0, 8, 5 },
	  "Cards of NVIDIA H100 80GB HBM3 in mode MIG now: 2 with 3g.40gb,1g.20gb*2.\n"
	  "5 Pods: a slice of 5 GiB and 40 % compute is 1 of 3g.40gb now.\n"
	  "3 Pods: a slice of 15 GiB is 1 of 1g.20gb now." },
	{ "1 node of 1 h100; 1 node of 1 t4; 9 Pods of 9 GiB",
	  { .mig = "h100=as-needed" },
	  { 2, 2, 0, 9, 9 },
	  { 2, 2, 0, 9, 7 },
	  "Cards of NVIDIA H100 80GB HBM3 in mode MIG now: 1 with as-needed.\n"
	  "9 Pods: a slice of 9 GiB is 1 of 1g.10gb now." },
	{ "6 nodes of 8 h100; 1 gang of 4 Pods of 8 cards; 2 Pods of 8 cards",
	  { .remove = "3" },
	  { 6, 48, 0, 6, 6 },
	  { 3, 24, 0, 6, 2 },
	  "3 nodes are removed, with 24 cards: node-00004, node-00005, node-00006." },
	{ RUNS,
	  { .remove = "node-00001" },
	  { 2, 8, 4, 2, 1 },
	  { 1, 4, 1, 5, 3 },
	  "1 node is removed, with 4 cards: node-00001.\n"
	  "Pods that ran on what is removed or changed, and arrive again before all others: 3." },
	{ RUNS,
	  { .slices = WHATIF_SLICES_OFF },
	  { 2, 8, 4, 2, 1 },
	  { 2, 8, 3, 3, 3 },
	  "Cards are given whole only now: 8.\n1 Pod: a slice of 20 GiB is 1 whole card now.\n"
	  "Pods that ran on what is removed or changed, and arrive again before all others: 1." },
};

static void join(const struct string_list *sentences, struct strbuf *out)
{
	for (size_t i = 0; i < sentences->count; i++)
		strbuf_addf(out, "%s%s", i ? "\n" : "", sentences->items[i]);
}

TEST(whatif_cases)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(whatif_release) struct whatif whatif = { .sentences = { .items = NULL } };
		autostrbuf sentences = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;
		struct sides sides;
		autotrace trace;

		assert_int_equal(read_cluster(cases[i].cluster, &trace, &error), 0);
		assert_int_equal(make(&trace, &cases[i].change, &whatif, &error), 0);
		assert_int_equal(run_both(&trace, &whatif, &sides, &error), 0);
		join(&whatif.sentences, &sentences);
		assert_string_equal(sentences.data, cases[i].sentences);
		assert_memory_equal(&sides.before, &cases[i].before, sizeof(sides.before));
		assert_memory_equal(&sides.after, &cases[i].after, sizeof(sides.after));
	}
}

/* What asks for the same is one line, and of many kinds the rest is a sum. */
TEST(whatif_says_what_becomes_of_many_kinds)
{
	const struct change change = { .slices = WHATIF_SLICES_OFF };
	cleanup(whatif_release) struct whatif whatif = { .sentences = { .items = NULL } };
	autostrbuf text = STRBUF_INIT(4096);
	struct error error = ERROR_INIT;
	autotrace trace;

	strbuf_adds(&text, "1 node of 1 h100; 2 Pods of 1 GiB 1 CPU; 3 Pods of 1 GiB 2 CPUs");
	for (unsigned i = 2; i < 14; i++)
		strbuf_addf(&text, "; 2 Pods of %u GiB", i);
	assert_int_equal(read_cluster(text.data, &trace, &error), 0);
	assert_int_equal(make(&trace, &change, &whatif, &error), 0);
	assert_int_equal(whatif.sentences.count, 12);
	assert_string_equal(whatif.sentences.items[1],
			    "5 Pods: a slice of 1 GiB is 1 whole card now.");
	assert_string_equal(whatif.sentences.items[11],
			    "Pods of 3 kinds more that ask anew likewise: 6.");
}

static const struct {
	struct change change;
	const char *message;
} refused[] = {
	{ { .add = "5 cows" },
	  "--add-nodes:1: '5 cows' is not understood; write '20 nodes of 8 h100', '300 Pods of 12 "
	  "GiB', '10 Pods of 8 cards', '4 gangs of 16 Pods of 8 cards' or '5 Pods of 2 1g.10gb'" },
	{ { .add = "5 Pods of 1 card" },
	  "--add-nodes '5 Pods of 1 card' has no nodes, or Pods; write for example '5 nodes of 8 "
	  "h100'" },
	{ { .remove = "3" }, "--remove-nodes 3: there are 2; write at most that many" },
	{ { .remove = "1 of l4" }, "--remove-nodes 1 of l4: there are 0; write at most that many" },
	{ { .remove = "x*" },
	  "--remove-nodes x*: no node has such a name; write a pattern such as gpu-*, or '10 of "
	  "h100'" },
	{ { .remove = "*" }, "no nodes; name a file that has some" },
	{ { .mig = "h100" },
	  "--mig 'h100' is no layout; write for example h100=1g.10gb*7, "
	  "'*A100*=3g.40gb,2g.20gb*2' or h100=as-needed" },
	{ { .mig = "h100=1g.10gb*0" },
	  "--mig 'h100=1g.10gb*0' is no layout; write for example h100=1g.10gb*7, "
	  "'*A100*=3g.40gb,2g.20gb*2' or h100=as-needed" },
	{ { .mig = "h100=1g.10gb*8" },
	  "--mig h100=1g.10gb*8: NVIDIA H100 80GB HBM3 has no room for all of that; write fewer "
	  "instances" },
	{ { .mig = "h100=1g.7gb" },
	  "--mig h100=1g.7gb: NVIDIA H100 80GB HBM3 has no profile 1g.7gb; see nvidia-smi mig "
	  "-lgip" },
	{ { .mig = "t4=1g.7gb" },
	  "--mig t4=1g.7gb: no MIG profiles of Tesla T4 are known; name another model" },
	{ { .mig = "l4=1g.7gb" },
	  "--mig l4=1g.7gb: no card's model is l4; see 'sim fragments' for the models of this "
	  "cluster" },
};

TEST(whatif_refuses_in_one_sentence)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct whatif whatif = { .sentences = { .items = NULL } };
		struct error error = ERROR_INIT;
		autotrace trace;

		assert_int_equal(read_cluster("1 node of 2 h100; 1 node of 1 t4; 2 Pods of 1 card",
					      &trace, &error),
				 0);
		assert_int_equal(make(&trace, &refused[i].change, &whatif, &error), -EINVAL);
		assert_string_equal(error.message, refused[i].message);
	}
}

/* What changes nothing leads to the same decisions, to the bit. */
TEST(whatif_nothing_changes_nothing)
{
	static const char *const clusters[] = {
		RUNS, "9 nodes of 8 h100; 3 nodes of 4 t4; 90 Pods of 9 GiB; 7 Pods of 8 cards",
		"2 nodes of 4 h100; 9 Pods of 2 cards 3 CPUs; 30 Pods of 7 GiB 20 %"
	};

	for (size_t i = 0; i < ARRAY_SIZE(clusters); i++) {
		const struct change change = { .slices = WHATIF_SLICES_ON };
		cleanup(whatif_release) struct whatif whatif = { .sentences = { .items = NULL } };
		struct error error = ERROR_INIT;
		struct sides sides;
		autotrace trace;

		assert_int_equal(read_cluster(clusters[i], &trace, &error), 0);
		assert_int_equal(make(&trace, &change, &whatif, &error), 0);
		assert_string_equal(whatif.sentences.items[0],
				    "Cards that were given whole only may be shared: 0.");
		assert_int_equal(run_both(&trace, &whatif, &sides, &error), 0);
		assert_memory_equal(&sides.before, &sides.after, sizeof(sides.before));
		assert_true(sides.checksums[0] == sides.checksums[1]);
	}
}

TEST(whatif_survives_every_failed_allocation)
{
	const struct change change = { .add = "1 node of 1 h100",
				       .remove = "node-00001",
				       .mig = "h100=1g.20gb*4",
				       .slices = WHATIF_SLICES_ON };

	for (unsigned n = 0;; n++) {
		cleanup(whatif_release) struct whatif whatif = { .sentences = { .items = NULL } };
		struct error error = ERROR_INIT;
		struct sides sides = { .before = { .nodes = 0 } };
		autotrace trace;

		fault_arm(n);
		int r = read_cluster(RUNS, &trace, &error);
		if (r == 0)
			r = make(&trace, &change, &whatif, &error);
		if (r == 0)
			r = run_both(&trace, &whatif, &sides, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_int_equal(sides.after.nodes, 2);
			break;
		}
		assert_true(r == -ENOMEM || (r == 0 && sides.after.nodes == 2));
	}
}
