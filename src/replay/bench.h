/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast are decisions? A made-up cluster of four card models with NVLinks, slices, whole cards and
 * groups of them, half of those by topology; Pods come and go, and the fill wanders between 50 and 95 % of the cards' memory.
 * Pods are of 151 shapes, of which the 64 most frequent are 97 %, as in the openb default trace.
 * Equal options give equal decisions on every machine: the checksum is over all of them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "place/place.h"

struct bench_options {
	unsigned nodes, cards; /* cards: of each node, 1 to 64 */
	size_t pods;           /* decisions that are measured */
	struct policy_options place;
	uint64_t seed;
};

struct bench_result {
	double decisions_per_second; /* over the time of decisions, holds and releases */
	double p50_us, p99_us;       /* of a decision alone, refusals among them */
	double refusal_p99_us;
	double rss_mib;
	double least_percent, most_percent; /* of the cards' memory that was held meanwhile */
	size_t placed, refused;
	uint64_t checksum;
};

int bench_place(const struct bench_options *options, struct bench_result *ret, struct error *error);
