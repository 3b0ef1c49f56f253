/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decisions per second of src/place on one core against the size of the cluster, 100 to 20,000 nodes
 * of 8 cards; what one run is: src/replay/bench.h. One JSON object a line, "cost_ns" is that of one
 * decision with what it holds and what ends for it, "ratio_to_100" the same against the first line.
 * Between them TAP: one result a budget. GPUPOOL_TEST_SCALE (100 is all decisions) sets the length.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "replay/bench.h"

#define NODE_CARDS     8u
#define DECISIONS_FULL 400000u
#define DECISIONS_MIN  100000.0 /* a second, at 5,000 nodes */
#define RATIO_MAX      3.0      /* cost of a decision at 5,000 nodes against 100 */
#define GROWTH_MAX     1.0      /* of the cost in that of the cluster, from each size to the next */
#define P99_MAX_US     100.0

static const unsigned sizes[] = { 100, 200, 500, 1000, 2000, 5000, 10000, 20000 };
enum { AT_100 = 0, AT_5000 = 5 };

static size_t decisions_to_make(void)
{
	const char *scale = getenv("GPUPOOL_TEST_SCALE");
	uint64_t part = 100;

	if (scale && parse_uint(scale, 1, 10000, &part) < 0) {
		fprintf(stderr, "bench_place: GPUPOOL_TEST_SCALE is no number from 1 to 10000\n");
		exit(1);
	}
	return (size_t)(DECISIONS_FULL * part / 100);
}

static double cost_ns(const struct bench_result *result)
{
	return result->decisions_per_second > 0 ? 1e9 / result->decisions_per_second : 0;
}

static void measure(size_t at, struct bench_result *results)
{
	const struct bench_options options = {
		.nodes = sizes[at], .cards = NODE_CARDS, .pods = decisions_to_make(), .seed = 42
	};
	struct bench_result *result = &results[at];
	struct error error = ERROR_INIT;

	if (bench_place(&options, result, &error) < 0) {
		fprintf(stderr, "bench_place: %s\n", error.message);
		exit(1);
	}
	printf("{\"nodes\":%u,\"cards\":%u,\"decisions_per_second\":%.0f,\"cost_ns\":%.0f,"
	       "\"p50_us\":%.2f,\"p99_us\":%.2f,\"refusal_p99_us\":%.2f,\"rss_mib\":%.1f,"
	       "\"placed\":%zu,\"refused\":%zu,\"fill_least_percent\":%.1f,\"fill_most_percent\":%."
	       "1f,\"ratio_to_100\":%.2f,"
	       "\"checksum\":\"%016" PRIx64 "\"}\n",
	       options.nodes, options.cards, result->decisions_per_second, cost_ns(result),
	       result->p50_us, result->p99_us, result->refusal_p99_us, result->rss_mib,
	       result->placed, result->refused, result->least_percent, result->most_percent,
	       cost_ns(result) / cost_ns(&results[AT_100]), result->checksum);
	fflush(stdout);
}

/* Where cost grows most: twice the cost for twice the nodes is 1. */
static double growth_of(const struct bench_result *results)
{
	double most = 0;

	for (size_t i = 1; i < ARRAY_SIZE(sizes); i++) {
		double cost = cost_ns(&results[i]) / cost_ns(&results[i - 1]);
		double growth = cost * sizes[i - 1] / sizes[i];

		most = growth > most ? growth : most;
	}
	return most;
}

/* A budget is judged in full length only: a short run is told, and decides nothing. */
static bool judge(unsigned number, bool kept, const char *what, double measured, double budget)
{
	bool judged = decisions_to_make() >= DECISIONS_FULL;

	printf("%sok %u - %s: %.2f, budget %.0f%s\n", kept || !judged ? "" : "not ", number, what,
	       measured, budget, judged ? "" : " # SKIP a short run is not judged");
	return kept || !judged;
}

int main(void)
{
	struct bench_result results[ARRAY_SIZE(sizes)];
	bool kept = true;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		measure(i, results);
	double rate = results[AT_5000].decisions_per_second, p99 = results[AT_5000].p99_us;
	double ratio = cost_ns(&results[AT_5000]) / cost_ns(&results[AT_100]);
	double growth = growth_of(results);

	kept &= judge(1, rate >= DECISIONS_MIN, "decisions a second at 5,000 nodes, at least", rate,
		      DECISIONS_MIN);
	kept &= judge(2, ratio <= RATIO_MAX, "cost at 5,000 nodes in costs at 100, at most", ratio,
		      RATIO_MAX);
	kept &= judge(3, p99 < P99_MAX_US, "p99 of a decision at 5,000 nodes in us, below", p99,
		      P99_MAX_US);
	kept &= judge(4, growth < GROWTH_MAX,
		      "growth of the cost in that of the cluster, at each step below", growth,
		      GROWTH_MAX);
	printf("1..4\n");
	return kept ? 0 : 1;
}
