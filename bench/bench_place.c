/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decisions per second of src/place on one core, at 100, 1,000 and 5,000 nodes of 8 cards. Each
 * step decides and holds, or releases a grant; the fill wanders between 50 and 95 %. One JSON object
 * a line:
 *   decisions_per_second  decisions over the time of all steps, holding and releasing included
 *   p50_us, p99_us        of bare_decide() alone; refusal_p99_us of those that were refused
 *   obstacle_us           one refusal for which every node must be looked at
 *   ratio_to_100          cost of one decision against that of the first line
 *   checksum              over every answer: the same on each run and machine
 * Between them TAP: one result a budget. GPUPOOL_TEST_SCALE (100 is all steps) sets the length.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "model/model.h"
#include "place/place.h"
#include "bare.h"
#include "place_world.h"

#define CARDS         8u
#define STEPS_FULL    600000u
#define DECISIONS_MIN 20000.0 /* a second, at 5,000 nodes */
#define RATIO_MAX     3.0     /* cost of a decision at 5,000 nodes against 100 */
#define P99_MAX_US    100.0
#define STUCK         40u /* refusals in a row after which the pool is let drain */

struct node_kind {
	const char *model;
	unsigned gib, share; /* share of all nodes, per cent */
	enum card_mode mode;
	enum world_links links;
};

static const struct node_kind node_kinds[] = {
	{ "NVIDIA A100-SXM4-80GB", 80, 40, CARD_MODE_AUTO, WORLD_ALL },
	{ "NVIDIA H100 80GB HBM3", 79, 30, CARD_MODE_WHOLE, WORLD_ALL },
	{ "NVIDIA A40", 44, 20, CARD_MODE_AUTO, WORLD_PAIRS },
	{ "Tesla T4", 15, 10, CARD_MODE_SLICES, WORLD_NO_LINKS },
};

static char pattern_a100[] = "*A100*", pattern_h100[] = "*H100*", pattern_a40[] = "*A40";
static char *patterns[][2] = { { pattern_a100, pattern_h100 }, { pattern_a100 }, { pattern_a40 } };

struct bench {
	struct pool *pool;
	uint64_t random;
	uint64_t total_units, granted_units;
	struct {
		uint64_t id;
		unsigned units;
	} * grants; /* owned */
	size_t grant_count, grant_capacity;
	unsigned target; /* fill to go to, per mille */
	unsigned refused_in_a_row;
	uint32_t *times, *refusal_times; /* owned; nanoseconds of each decision */
	size_t decisions, placed, refused;
	uint64_t checksum;
};

static void die(const char *what)
{
	fprintf(stderr, "bench_place: %s\n", what);
	exit(1);
}

static unsigned below(struct bench *bench, unsigned limit)
{
	bench->random ^= bench->random >> 12;
	bench->random ^= bench->random << 25;
	bench->random ^= bench->random >> 27;
	return (unsigned)((bench->random * 0x2545f4914f6cdd1dull >> 33) % limit);
}

/* One decision by the wall clock, which is cheap to read; many by the time that this process had a
 * core, which a busy machine does not stretch. */
static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t resident_bytes(void)
{
	unsigned long long pages = 0;
	char line[128] = "", *at;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file) && (at = strchr(line, ' ')))
		pages = strtoull(at, NULL, 10);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void fill_pool(struct bench *bench, unsigned nodes)
{
	for (unsigned i = 0; i < nodes; i++) {
		struct inventory inventory;
		unsigned lot = i * 37 % 100, kind = 0;
		char name[32];

		while (lot >= node_kinds[kind].share)
			lot -= node_kinds[kind++].share;
		inventory_init(&inventory);
		world_add_cards(&inventory, i, CARDS, node_kinds[kind].model, node_kinds[kind].gib,
				node_kinds[kind].mode);
		world_link(&inventory, node_kinds[kind].links);
		if (i % 50 == 7) /* some cards are sick, some are used without a grant */
			inventory.cards[i % CARDS].condition.health = CARD_LOST;
		if (i % 50 == 19)
			world_add_process(&inventory.cards[i % CARDS], false, 900);
		bench->total_units += (uint64_t)CARDS * node_kinds[kind].gib;
		snprintf(name, sizeof(name), "node-%u", i);
		if (bare_add_node(bench->pool, name, &inventory, NULL) < 0)
			die("cannot add a node");
		inventory_release(&inventory);
	}
}

static void make_request(struct bench *bench, struct request *request)
{
	unsigned lot = below(bench, 100);

	*request = (struct request){ .cards = 1 };
	if (lot < 60) {
		request->kind = REQUEST_SLICE;
		request->units = 1 + below(bench, lot < 40 ? 15 : 40);
		request->memory_mib = (uint64_t)request->units * MIB_PER_UNIT;
		request->compute_percent = lot % 3 == 0 ? 10 * (1 + below(bench, 5)) : 0;
		request->cards = lot < 5 ? 2 : 1;
	} else {
		request->kind = REQUEST_WHOLE;
		request->cards = 1u << below(bench, 4);
	}
	if (below(bench, 100) < 20) {
		unsigned list = below(bench, ARRAY_SIZE(patterns));

		request->models.items = patterns[list];
		request->models.count = patterns[list][1] ? 2 : 1;
	}
	if (below(bench, 100) < 10)
		request->policy = POLICY_SPREAD;
}

static void add_to_checksum(struct bench *bench, uint64_t value)
{
	bench->checksum = (bench->checksum ^ value) * 0x100000001b3ull;
}

static void hold(struct bench *bench, const struct request *request,
		 const struct placement *placement)
{
	uint64_t id;
	unsigned units = 0;

	if (bare_hold(bench->pool, request, placement, &id) < 0)
		die("a decision could not be held");
	add_to_checksum(bench, placement->node);
	for (unsigned i = 0; i < placement->count; i++) {
		units += placement->units[i];
		add_to_checksum(bench, placement->cards[i]);
	}
	if (vec_reserve(&bench->grants, &bench->grant_capacity, bench->grant_count + 1,
			sizeof(*bench->grants)) < 0)
		die("out of memory");
	bench->grants[bench->grant_count].id = id;
	bench->grants[bench->grant_count++].units = units;
	bench->granted_units += units;
}

static void decide(struct bench *bench)
{
	struct request request;
	struct placement placement;
	struct reason reason;
	uint64_t start, took;
	int r;

	make_request(bench, &request);
	start = now_ns(CLOCK_MONOTONIC);
	r = bare_decide(bench->pool, &request, "container main of Pod default/train", &placement,
			&reason);
	took = now_ns(CLOCK_MONOTONIC) - start;
	bench->times[bench->decisions++] = (uint32_t)took;
	if (r == 0) {
		bench->placed++;
		bench->refused_in_a_row = 0;
		hold(bench, &request, &placement);
		return;
	}
	bench->refusal_times[bench->refused++] = (uint32_t)took;
	add_to_checksum(bench, (uint64_t)reason.code << 32 | (uint64_t)reason.have);
	if (++bench->refused_in_a_row >= STUCK)
		bench->target = 500;
}

static void release(struct bench *bench)
{
	size_t at = below(bench, (unsigned)bench->grant_count);

	bench->granted_units -= bench->grants[at].units;
	if (pool_release(bench->pool, bench->grants[at].id) < 0)
		die("a grant is unknown");
	bench->grants[at] = bench->grants[--bench->grant_count];
}

static void step(struct bench *bench)
{
	uint64_t fill = bench->granted_units * 1000 / bench->total_units;

	if (fill < bench->target) {
		decide(bench);
		return;
	}
	if (bench->target == 500 || below(bench, 200) == 0)
		bench->target = 500 + below(bench, 451);
	if (bench->grant_count)
		release(bench);
}

static int compare_times(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static double percentile(uint32_t *times, size_t count, double part)
{
	if (count == 0)
		return 0;
	qsort(times, count, sizeof(*times), compare_times);
	return times[(size_t)((double)(count - 1) * part)] / 1000.0;
}

/* The dearest refusal: not full, but no card in the wanted mode anywhere. */
static double time_obstacle(const struct bench *bench)
{
	const struct request request = { .kind = REQUEST_MIG,
					 .cards = 1,
					 .mig_profile = "1g.10gb" };
	struct placement placement;
	struct reason reason;
	uint64_t start = now_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (unsigned i = 0; i < 20; i++)
		if (bare_decide(bench->pool, &request, "x", &placement, &reason) == 0)
			die("MIG was placed");
	return (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / 20 / 1000.0;
}

struct result {
	double cost, p99_us;
};

static struct result bench_size(unsigned nodes, size_t steps, double first_cost)
{
	struct bench bench = { .pool = pool_new(), .random = 88172645463325252u, .target = 500 };
	uint64_t start, took;

	bench.times = calloc(steps + 1, sizeof(*bench.times));
	bench.refusal_times = calloc(steps + 1, sizeof(*bench.refusal_times));
	if (!bench.pool || !bench.times || !bench.refusal_times)
		die("out of memory");
	bench.checksum = 0xcbf29ce484222325ull;
	fill_pool(&bench, nodes);
	while (bench.granted_units * 2 < bench.total_units && bench.decisions < steps)
		decide(&bench); /* to 50 %, not measured */
	bench.decisions = bench.placed = bench.refused = 0;
	start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (size_t i = 0; i < steps; i++)
		step(&bench);
	took = now_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
	double cost = (double)took / (double)(bench.decisions ? bench.decisions : 1);

	uint64_t resident = resident_bytes();
	double refusal = percentile(bench.refusal_times, bench.refused, 0.99);
	double p50 = percentile(bench.times, bench.decisions, 0.5);
	double p99 = percentile(bench.times, bench.decisions, 0.99);

	printf("{\"nodes\":%u,\"cards\":%u,\"decisions_per_second\":%.0f,\"p50_us\":%.2f,"
	       "\"p99_us\":%.2f,\"refusal_p99_us\":%.2f,\"obstacle_us\":%.1f,\"rss_mib\":%.1f,"
	       "\"placed\":%zu,\"refused\":%zu,\"fill_percent\":%" PRIu64
	       ",\"ratio_to_100\":%.2f,\"checksum\":\"%016" PRIx64 "\"}\n",
	       nodes, nodes * CARDS, 1e9 / cost, p50, p99, refusal, time_obstacle(&bench),
	       (double)resident / 1048576.0, bench.placed, bench.refused,
	       bench.granted_units * 100 / bench.total_units,
	       first_cost > 0 ? cost / first_cost : 1.0, bench.checksum);
	fflush(stdout);
	free(bench.times);
	free(bench.refusal_times);
	free(bench.grants);
	pool_free(bench.pool);
	return (struct result){ cost, p99 };
}

static size_t steps_to_run(void)
{
	const char *scale = getenv("GPUPOOL_TEST_SCALE");
	uint64_t part = 100;

	if (scale && parse_uint(scale, 1, 10000, &part) < 0)
		die("GPUPOOL_TEST_SCALE is no number from 1 to 10000");
	return (size_t)(STEPS_FULL * part / 100);
}

/* A budget is judged in full length only: a short run is told, and decides nothing. */
static bool judge(unsigned number, bool kept, const char *what, double measured, double budget)
{
	bool judged = steps_to_run() >= STEPS_FULL;

	printf("%sok %u - %s: %.2f, budget %.0f%s\n", kept || !judged ? "" : "not ", number, what,
	       measured, budget, judged ? "" : " # SKIP a short run is not judged");
	return kept || !judged;
}

int main(void)
{
	static const unsigned sizes[] = { 100, 1000, 5000 };
	struct result results[ARRAY_SIZE(sizes)];
	bool kept = true;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		results[i] = bench_size(sizes[i], steps_to_run(), i ? results[0].cost : 0);
	struct result largest = results[ARRAY_SIZE(sizes) - 1];
	double ratio = largest.cost / results[0].cost, rate = 1e9 / largest.cost;

	kept &= judge(1, rate >= DECISIONS_MIN, "decisions a second at 5,000 nodes, at least", rate,
		      DECISIONS_MIN);
	kept &= judge(2, ratio <= RATIO_MAX, "cost at 5,000 nodes in costs at 100, at most", ratio,
		      RATIO_MAX);
	kept &= judge(3, largest.p99_us < P99_MAX_US,
		      "p99 of a decision at 5,000 nodes in us, below", largest.p99_us, P99_MAX_US);
	printf("1..3\n");
	return kept ? 0 : 1;
}
