/* SPDX-License-Identifier: Apache-2.0 */
/* How many more fit: small clusters by hand, and random ones counted the long way. */
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

/* Asks in few words. */
static int fit(const struct trace *trace, const char *text, bool arrive, struct fit_result *ret,
	       struct error *error)
{
	const struct fit_options options = { .arrive = arrive, .limit = 1000 };
	cleanup(demand_release) struct demand demand;

	demand_init(&demand);
	int r = fit_parse(text, &demand, error);
	return r < 0 ? r : fit_ask(trace, &demand, &options, ret, error);
}

#define TWO                                                               \
	"nodes: [{name: a, gpus: 2, model: X, gpu-memory: 16Gi, cpu: 8}," \
	" {name: b, gpus: 4, model: Y, gpu-memory: 24Gi, cpu: 4}, {name: c, cpu: 3}]\n"

static const struct {
	const char *cluster, *ask;
	bool arrive;
	size_t count, on_a;
	enum reason_code stop;
	struct fit_stop most;
} cases[] = {
	{ "20 nodes of 8 h100",
	  "1 card",
	  false,
	  160,
	  8,
	  REASON_CARDS_BUSY,
	  { REASON_CARDS_BUSY, 20 } },
	{ "20 nodes of 8 h100; 25 Pods of 4 cards",
	  "2 cards",
	  true,
	  30,
	  0,
	  REASON_CARDS_BUSY,
	  { REASON_CARDS_BUSY, 20 } },
	{ "20 nodes of 8 h100; 25 Pods of 4 cards",
	  "2 cards",
	  false,
	  80,
	  4,
	  REASON_CARDS_BUSY,
	  { REASON_CARDS_BUSY, 20 } },
	{ "20 nodes of 8 h100",
	  "12 GiB",
	  false,
	  960,
	  48,
	  REASON_MEMORY_BUSY,
	  { REASON_MEMORY_BUSY, 20 } },
	{ "20 nodes of 8 h100",
	  "12 GiB 30 %",
	  false,
	  480,
	  24,
	  REASON_COMPUTE_BUSY,
	  { REASON_COMPUTE_BUSY, 20 } },
	{ "20 nodes of 8 h100",
	  "9 cards",
	  false,
	  0,
	  0,
	  REASON_NODE_CARDS,
	  { REASON_NODE_CARDS, 20 } },
	{ TWO, "8 GiB 1 CPU", false, 8, 4, REASON_CPU_BUSY, { REASON_NO_CARDS, 1 } },
	{ TWO "pods: [{gpus: 3, cpu: 1, node: b}]\n",
	  "8 GiB",
	  false,
	  7,
	  4,
	  REASON_MEMORY_BUSY,
	  { REASON_MEMORY_BUSY, 2 } },
};

TEST(fit_cases)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(fit_result_release) struct fit_result result = { .nodes = NULL };
		struct error error = ERROR_INIT;
		autotrace trace;

		assert_int_equal(read_cluster(cases[i].cluster, &trace, &error), 0);
		assert_int_equal(fit(&trace, cases[i].ask, cases[i].arrive, &result, &error), 0);
		assert_int_equal(result.count, cases[i].count);
		assert_false(result.limited);
		assert_int_equal(result.nodes[0], cases[i].on_a);
		assert_int_equal(result.reason.code, cases[i].stop);
		assert_int_equal(result.stops[0].code, cases[i].most.code);
		assert_int_equal(result.stops[0].nodes, cases[i].most.nodes);
		size_t nodes = 0;
		for (size_t k = 0; k < result.stop_count; k++)
			nodes += result.stops[k].nodes;
		assert_int_equal(nodes, trace.node_count);
	}
}

TEST(fit_stops_at_its_limit)
{
	cleanup(fit_result_release) struct fit_result result = { .nodes = NULL };
	struct error error = ERROR_INIT;
	autotrace trace;

	assert_int_equal(read_cluster("130 nodes of 8 h100", &trace, &error), 0);
	assert_int_equal(fit(&trace, "1 card", false, &result, &error), 0);
	assert_int_equal(result.count, 1000);
	assert_true(result.limited);
}

static const struct {
	const char *text;
	enum request_kind kind; /* REQUEST_NONE: refused */
	unsigned cards, units, compute;
	int64_t cpu_milli;
} asks[] = {
	{ "12 GiB", REQUEST_SLICE, 1, 12, 0, 0 },
	{ "1500 MiB 30 % 4 CPUs", REQUEST_SLICE, 1, 2, 30, 4000 },
	{ "2 cards 1 CPU", REQUEST_WHOLE, 2, 0, 0, 1000 },
	{ "2 1g.10gb", REQUEST_MIG, 2, 0, 0, 0 },
	{ "", REQUEST_NONE, 0, 0, 0, 0 },
	{ "12 GiB; 5 Pods of 1 card", REQUEST_NONE, 0, 0, 0, 0 },
	{ "2 cards 30 %", REQUEST_NONE, 0, 0, 0, 0 },
	{ "12 GiB 30", REQUEST_NONE, 0, 0, 0, 0 },
};

TEST(fit_reads_what_is_asked)
{
	for (size_t i = 0; i < ARRAY_SIZE(asks); i++) {
		cleanup(demand_release) struct demand demand;
		struct error error = ERROR_INIT;

		demand_init(&demand);
		int r = fit_parse(asks[i].text, &demand, &error);
		assert_int_equal(r, asks[i].kind == REQUEST_NONE ? -EINVAL : 0);
		if (r < 0) {
			assert_non_null(strstr(error.message, "write '12 GiB'"));
			continue;
		}
		assert_int_equal(demand.requests[0].kind, asks[i].kind);
		assert_int_equal(demand.requests[0].cards, asks[i].cards);
		assert_int_equal(demand.requests[0].units, asks[i].units);
		assert_int_equal(demand.requests[0].compute_percent, asks[i].compute);
		assert_int_equal(demand.needs.cpu_milli, asks[i].cpu_milli);
	}
}

/* ---- the long way, for Pods of one slice or of whole cards ---- */

#define NODES  4
#define CARDS  3
#define ROUNDS 300

struct world {
	unsigned gib[NODES], cpus[NODES];                   /* of each card; of the node */
	unsigned held[NODES][CARDS];                        /* GiB of Pods that run; one a card */
	unsigned ask_cards, ask_gib, ask_percent, ask_cpus; /* GiB 0: whole cards */
};

static void make_world(struct random *random, struct world *world)
{
	*world = (struct world){ .ask_cards = 1 + random_below(random, 2) };
	if (random_below(random, 3)) {
		world->ask_cards = 1;
		world->ask_gib = 1 + random_below(random, 20);
		world->ask_percent = random_below(random, 2) ? 1 + random_below(random, 60) : 0;
	}
	world->ask_cpus = 1 + random_below(random, 3);
	for (unsigned i = 0; i < NODES; i++) {
		world->gib[i] = 8 + random_below(random, 17);
		world->cpus[i] = 1 + random_below(random, 24);
		for (unsigned k = 0; k < CARDS; k++)
			if (random_below(random, 2))
				world->held[i][k] = 1 + random_below(random, world->gib[i]);
	}
}

static size_t takes(const struct world *world, unsigned node)
{
	size_t count = 0, cpus = world->cpus[node] / world->ask_cpus;

	for (unsigned k = 0; k < CARDS; k++) {
		unsigned left = world->gib[node] - world->held[node][k];
		size_t slices = world->ask_gib ? left / world->ask_gib : !world->held[node][k];

		if (world->ask_percent && 100 / world->ask_percent < slices)
			slices = 100 / world->ask_percent;
		count += slices;
	}
	count /= world->ask_cards;
	return count < cpus ? count : cpus;
}

/* A Pod that runs, with a grant that names its card. */
static int add_holder(struct trace *trace, unsigned node, unsigned card, unsigned gib,
		      struct error *error)
{
	cleanup(demand_release) struct demand demand;
	char name[32];

	demand_init(&demand);
	snprintf(name, sizeof(name), "w%u", node);
	demand.node = strdup(name);
	demand.requests = calloc(1, sizeof(*demand.requests));
	demand.containers = calloc(1, sizeof(*demand.containers));
	demand.grants = calloc(1, sizeof(*demand.grants));
	assert_true(demand.node && demand.requests && demand.containers && demand.grants);
	demand.requests[0] = (struct request){
		.kind = REQUEST_SLICE,
		.cards = 1,
		.units = gib,
		.memory_mib = (uint64_t)gib * MIB_PER_UNIT,
	};
	demand.request_count = demand.grant_count = 1;
	struct grant *grant = demand.grants;
	grant->kind = REQUEST_SLICE;
	struct grant_card *held = VEC_ADD(&grant->cards, &grant->card_count, &grant->card_capacity);
	assert_non_null(held);
	held->units = gib;
	snprintf(held->uuid, sizeof(held->uuid), "w%u:%u", node, card);
	snprintf(name, sizeof(name), "p%u-%u", node, card);
	return trace_add_demand(trace, name, &demand, error);
}

static int build_world(const struct world *world, struct trace *trace, struct error *error)
{
	autostrbuf text = STRBUF_INIT(4096);

	strbuf_adds(&text, "nodes:\n");
	for (unsigned i = 0; i < NODES; i++)
		strbuf_addf(&text, "- {name: w%u, gpus: %d, model: X, gpu-memory: %uGi, cpu: %u}\n",
			    i, CARDS, world->gib[i], world->cpus[i]);
	trace_init(trace);
	int r = trace_parse_short(trace, TRACE_ALL, text.data, text.length, "t", error);
	for (unsigned i = 0; r == 0 && i < NODES * CARDS; i++)
		if (world->held[i / CARDS][i % CARDS])
			r = add_holder(trace, i / CARDS, i % CARDS,
				       world->held[i / CARDS][i % CARDS], error);
	return r < 0 ? r : trace_finish(trace, error);
}

TEST(fit_counts_as_many_as_the_long_way)
{
	struct random random;
	size_t fitted = 0, none = 0;

	random_start(&random, 5, RANDOM_SHUFFLE);
	for (unsigned round = 0; round < ROUNDS; round++) {
		cleanup(fit_result_release) struct fit_result result = { .nodes = NULL };
		struct error error = ERROR_INIT;
		struct world world;
		char ask[64], percent[16] = "";
		autotrace trace;

		make_world(&random, &world);
		if (world.ask_percent)
			snprintf(percent, sizeof(percent), "%u %% ", world.ask_percent);
		if (world.ask_gib)
			snprintf(ask, sizeof(ask), "%u GiB %s%u CPUs", world.ask_gib, percent,
				 world.ask_cpus);
		else
			snprintf(ask, sizeof(ask), "%u cards %u CPUs", world.ask_cards,
				 world.ask_cpus);
		assert_int_equal(build_world(&world, &trace, &error), 0);
		assert_int_equal(fit(&trace, ask, false, &result, &error), 0);
		assert_int_equal(result.before.partial_count, 0);
		for (unsigned i = 0; i < NODES; i++)
			assert_int_equal(result.nodes[i], takes(&world, i));
		fitted += result.count;
		none += result.count == 0;
	}
	print_message("fit: %zu Pods in %d clusters, none in %zu\n", fitted, ROUNDS, none);
	assert_true(fitted > 1000 && none > 0);
}

TEST(fit_survives_every_failed_allocation)
{
	for (unsigned n = 0;; n++) {
		cleanup(fit_result_release) struct fit_result result = { .nodes = NULL };
		struct error error = ERROR_INIT;
		autotrace trace;

		fault_arm(n);
		int r = read_cluster("2 nodes of 2 t4; 1 Pod of 1 card", &trace, &error);
		if (r == 0)
			r = fit(&trace, "8 GiB", true, &result, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_int_equal(result.count, 3);
			break;
		}
		/* An index that finds no memory is done without. */
		assert_true(r == -ENOMEM || (r == 0 && result.count == 3));
	}
}
