/* SPDX-License-Identifier: Apache-2.0 */
#include "naive_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 1e-3 /* of a point of fgd: its shares may be rounded to 2^-20 */

static bool has(uint64_t cards, unsigned card)
{
	return cards >> card & 1;
}

static unsigned count_of(uint64_t cards)
{
	unsigned count = 0;

	for (unsigned i = 0; i < NAIVE_CARDS; i++)
		count += has(cards, i);
	return count;
}

static int64_t sum_left(const struct naive_node *node)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < node->count; i++)
		sum += node->left[i];
	return sum;
}

static unsigned taken_of(const struct naive_node *node, const struct naive_ask *ask, unsigned card)
{
	return ask->milli[node->model[card]];
}

static int64_t sum_taken(const struct naive_node *node, const struct naive_ask *ask, uint64_t cards)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < node->count; i++)
		sum += has(cards, i) ? taken_of(node, ask, i) : 0;
	return sum;
}

static double cpu_of(int64_t cpu)
{
	return cpu == RESOURCE_UNLIMITED ? 0 : (double)cpu;
}

/* Whole points: cut towards zero. Sums of quotients are whole or at least 1e-9 away from it. */
static int64_t cut(long double points)
{
	long double nearest = roundl(points);

	return (int64_t)(fabsl(points - nearest) < 1e-10L ? nearest : truncl(points));
}

/* ---- which cards ---- */

struct quality {
	unsigned worst, sum, cut;
};

static struct quality quality_of(const struct naive_node *node, uint64_t set, uint64_t all)
{
	struct quality quality = { .worst = UINT32_MAX };

	for (unsigned a = 0; a < node->count; a++) {
		for (unsigned b = 0; b < node->count; b++) {
			unsigned tie = node->tie[a][b];

			if (a == b || !has(set, a) || !has(all, b))
				continue;
			if (!has(set, b)) {
				quality.cut += tie;
				continue;
			}
			quality.sum += tie;
			quality.worst = tie < quality.worst ? tie : quality.worst;
		}
	}
	return quality;
}

static bool is_better(struct quality a, struct quality b)
{
	if (a.worst != b.worst)
		return a.worst > b.worst;
	return a.sum != b.sum ? a.sum > b.sum : a.cut < b.cut;
}

/* Every set; of those alike the one that is the least as a number. */
static uint64_t best_linked(const struct naive_node *node, uint64_t cards, unsigned wanted)
{
	struct quality best = { 0 };
	uint64_t found = 0;

	for (uint64_t set = 1; set < 1ull << node->count; set++) {
		if (set & ~cards || count_of(set) != wanted)
			continue;
		struct quality quality = quality_of(node, set, cards);

		if (!found || is_better(quality, best)) {
			found = set;
			best = quality;
		}
	}
	return found;
}

/* All that NVLinks reach from CARD. */
static uint64_t group_of(const struct naive_node *node, unsigned card)
{
	uint64_t group = 1ull << card, before;

	do {
		before = group;
		for (unsigned a = 0; a < node->count; a++)
			for (unsigned b = 0; b < node->count; b++)
				if (has(group, a) && node->tie[a][b] >= 100)
					group |= 1ull << b;
	} while (group != before);
	return group;
}

/* The smallest NVLink group with WANTED of FITS, cut to those; FITS when there is none. */
static uint64_t smallest_group(const struct naive_node *node, uint64_t fits, unsigned wanted,
			       unsigned *ret_size)
{
	uint64_t best = fits;

	*ret_size = NAIVE_CARDS + 1;
	for (unsigned i = 0; i < node->count; i++) {
		uint64_t group = group_of(node, i), usable = group & fits;

		if (count_of(group) < 2 || count_of(usable) < wanted ||
		    count_of(usable) >= *ret_size)
			continue;
		*ret_size = count_of(usable);
		best = usable;
	}
	return best;
}

static uint64_t pick(const struct naive_node *node, uint64_t fits, unsigned wanted, int sign)
{
	uint64_t set = 0;

	while (count_of(set) < wanted) {
		unsigned best = NAIVE_CARDS;

		for (unsigned i = 0; i < node->count; i++) {
			if (!has(fits, i) || has(set, i))
				continue;
			if (best == NAIVE_CARDS ||
			    sign * (int)node->left[i] < sign * (int)node->left[best])
				best = i;
		}
		set |= 1ull << best;
	}
	return set;
}

static uint64_t usual_cards(const struct naive_mix *mix, const struct naive_node *node,
			    const struct naive_ask *ask, uint64_t fits)
{
	unsigned size;

	if (!ask->whole)
		return pick(node, fits, ask->cards, 1);
	if (ask->cards < 2 || mix->original_cards || !node->links_known)
		return pick(node, fits, ask->cards, 0);
	return best_linked(node, smallest_group(node, fits, ask->cards, &size), ask->cards);
}

/* ---- the published policies ---- */

struct point {
	const struct naive_mix *mix;
	const struct naive_node *node;
	const struct naive_ask *ask;
	uint64_t fits, cards; /* CARDS: the usual ones */
};

static struct naive_value exactly(int64_t value, uint64_t cards)
{
	return (struct naive_value){ value, cards, value, value };
}

static struct naive_value dotprod(const struct point *point)
{
	long double cpu = cpu_of(point->node->cpu_left) / 128000.0L * point->ask->cpu / 128000.0L;
	long double gpu = sum_left(point->node) / 8000.0L *
			  sum_taken(point->node, point->ask, point->cards) / 8000.0L;

	return exactly(cut(100 * (1 - (cpu + gpu) / 2)), point->cards);
}

static struct naive_value bestfit(const struct point *point)
{
	int64_t taken = sum_taken(point->node, point->ask, point->cards);
	bool counted = point->node->cpu_left != RESOURCE_UNLIMITED;
	long double cpu = counted ? (long double)(point->node->cpu_left - point->ask->cpu) : 0;
	long double gpu = (long double)(sum_left(point->node) - taken);

	return exactly(cut(100 * (1 - cpu / 128000 / 2 - gpu / 8000 / 2)), point->cards);
}

static struct naive_value clustering(const struct point *point)
{
	const struct naive_node *node = point->node;
	bool same = point->ask->whole ? node->wholes[point->ask->cards] : node->shares;
	unsigned kinds = node->shares;
	int64_t bonus = 0;

	if (point->ask->cards == 0)
		return exactly(0, 0);
	for (unsigned i = 1; i <= NAIVE_CARDS; i++)
		kinds += node->wholes[i];
	if (kinds == 0)
		bonus = 25;
	else if (same)
		bonus = kinds == 1 ? 75 : 50;
	return exactly(cut(25 * (8000 - (long double)sum_left(node)) / 8000) + bonus, point->cards);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static struct naive_value packing(const struct point *point)
{
	const struct naive_node *node = point->node;
	int64_t untouched = 0, cut_open = 0, left = 0;

	if (point->ask->cards == 0)
		return exactly(0, 0);
	for (unsigned i = 0; i < node->count; i++) {
		untouched += node->left[i] == 1000;
		cut_open += has(point->cards, i) && node->left[i] == 1000;
		left += has(point->cards, i) ? node->left[i] / 10 : 0;
	}
	if (untouched == node->count)
		return exactly(larger(33 - untouched, untouched), point->cards);
	if (cut_open > 0)
		return exactly(larger(50 - cut_open, 33), point->cards);
	return exactly(larger(50, 100 - left / 10), point->cards);
}

/* ---- fgd ---- */

static bool is_larger(const struct naive_ask *a, const struct naive_ask *b)
{
	unsigned most_a = 0, most_b = 0;

	if (a->cpu != b->cpu)
		return a->cpu > b->cpu;
	for (unsigned i = 0; i < NAIVE_MODELS; i++) {
		most_a = a->milli[i] > most_a ? a->milli[i] : most_a;
		most_b = b->milli[i] > most_b ? b->milli[i] : most_b;
	}
	return most_a != most_b ? most_a > most_b : a->cards > b->cards;
}

/* Which classes count: the most frequent until they are 95 % of all Pods. *RET_SUM: their share. */
static void typical(const struct naive_mix *mix, bool *counts, double *ret_sum)
{
	double all = 0;

	*ret_sum = 0;
	for (size_t i = 0; i < mix->count; i++) {
		all += mix->classes[i].share;
		counts[i] = false;
	}
	while (*ret_sum < 0.95 * all - 1e-9) {
		size_t best = mix->count;

		for (size_t i = 0; i < mix->count; i++) {
			const struct naive_class *class = &mix->classes[i];
			double ahead =
				best == mix->count ? 1 : class->share - mix->classes[best].share;

			if (counts[i] || ahead < -1e-9)
				continue;
			if (ahead > 1e-9 || is_larger(&class->ask, &mix->classes[best].ask))
				best = i;
		}
		if (best == mix->count)
			return;
		counts[best] = true;
		*ret_sum += mix->classes[best].share;
	}
}

static double unusable(const struct naive_node *node, const struct naive_ask *ask)
{
	unsigned usable = 0;
	int64_t rest = 0;

	for (unsigned i = 0; i < node->count; i++) {
		unsigned wants = taken_of(node, ask, i);

		if (wants && node->left[i] >= wants)
			usable++;
		else
			rest += node->left[i];
	}
	if (usable < ask->cards || node->cpu_left < ask->cpu)
		return (double)sum_left(node);
	return (double)rest;
}

double naive_fragment(const struct naive_mix *mix, const struct naive_node *node)
{
	bool *counts = calloc(mix->count + 1, sizeof(*counts));
	double all, sum = 0;

	if (!counts)
		abort();
	typical(mix, counts, &all);
	for (size_t i = 0; i < mix->count; i++) {
		const struct naive_class *class = &mix->classes[i];

		if (!counts[i])
			continue;
		if (class->ask.cards > 0)
			sum += class->share / all * unusable(node, &class->ask);
		else if (mix->original_classes)
			sum += class->share / all * (double)sum_left(node);
	}
	free(counts);
	return sum;
}

static struct naive_value fgd_of(const struct point *point, uint64_t cards)
{
	struct naive_node after = *point->node;
	struct naive_value value = { .cards = cards };
	double points;

	if (after.cpu_left != RESOURCE_UNLIMITED)
		after.cpu_left -= point->ask->cpu;
	for (unsigned i = 0; i < after.count; i++) {
		unsigned taken = taken_of(&after, point->ask, i);

		if (has(cards, i))
			after.left[i] -= taken < after.left[i] ? taken : after.left[i];
	}
	double gain = naive_fragment(point->mix, point->node) - naive_fragment(point->mix, &after);

	points = 100 / (1 + exp(-gain / 1000));
	value.value = (int64_t)points;
	value.low = (int64_t)(points - NEAR);
	value.high = (int64_t)(points + NEAR);
	return value;
}

static struct naive_value fgd(const struct point *point)
{
	struct naive_value best = { .value = -1 };

	if (point->mix->count == 0)
		return bestfit(point);
	if (point->ask->whole || point->ask->cards != 1)
		return fgd_of(point, point->cards);
	for (unsigned i = 0; i < point->node->count; i++) {
		if (!has(point->fits, i))
			continue;
		struct naive_value value = fgd_of(point, 1ull << i);

		if (value.value > best.value)
			best = value;
		else
			best.high = larger(best.high, value.high);
	}
	return best;
}

/* ---- those that are not published ---- */

static struct naive_value anywhere(const struct point *point)
{
	return exactly(0, point->cards);
}

static struct naive_value binpack(const struct point *point)
{
	return exactly(-sum_left(point->node), pick(point->node, point->fits, point->ask->cards,
						    point->ask->whole ? 0 : 1));
}

static struct naive_value spread(const struct point *point)
{
	unsigned count = point->node->count ? point->node->count : 1;
	int64_t part = sum_left(point->node) * (1 << 20) / (1000 * (int64_t)count);

	return exactly(part, pick(point->node, point->fits, point->ask->cards,
				  point->ask->whole ? 0 : -1));
}

static struct naive_value topology(const struct point *point)
{
	unsigned wanted = point->ask->cards, size;
	uint64_t group;

	if (!point->node->links_known || wanted == 0 || (wanted < 2 && !point->ask->whole))
		return binpack(point);
	group = smallest_group(point->node, point->fits, wanted, &size);
	if (wanted < 2) /* one card breaks no pair that it need not */
		return exactly(-sum_left(point->node), best_linked(point->node, group, wanted));
	return exactly(-((int64_t)size << 20) - sum_left(point->node),
		       best_linked(point->node, group, wanted));
}

static struct naive_value compact(const struct point *point)
{
	int64_t opened = 0, left = 0;

	if (point->ask->cards == 0)
		return exactly(naive_tie(point->node, point->ask), 0);
	if (point->ask->whole)
		return exactly(-(int64_t)count_of(point->fits), point->cards);
	for (unsigned i = 0; i < point->node->count; i++) {
		opened += has(point->cards, i) && point->node->left[i] == 1000;
		left += has(point->cards, i) ? point->node->left[i] : 0;
	}
	return exactly(-(opened << 20) - left, point->cards);
}

static const struct {
	const char *name;
	struct naive_value (*score)(const struct point *point);
} policies[] = {
	{ "random", anywhere },    { "dotprod", dotprod }, { "gpuclustering", clustering },
	{ "gpupacking", packing }, { "bestfit", bestfit }, { "fgd", fgd },
	{ "binpack", binpack },    { "spread", spread },   { "topology", topology },
	{ "default", compact },
};

bool naive_knows(const char *policy, const struct naive_mix *mix)
{
	return mix->count == 0 || strcmp(policy, "default") != 0;
}

struct naive_value naive_score(const char *policy, const struct naive_mix *mix,
			       const struct naive_node *node, const struct naive_ask *ask,
			       uint64_t fits)
{
	struct point point = { mix, node, ask, fits, usual_cards(mix, node, ask, fits) };

	for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
		if (strcmp(policies[i].name, policy) == 0)
			return policies[i].score(&point);
	abort();
}

int64_t naive_tie(const struct naive_node *node, const struct naive_ask *ask)
{
	int64_t cpu = node->cpu_left == RESOURCE_UNLIMITED ? 0 : node->cpu_left - ask->cpu;

	return -(cpu + 16 * sum_left(node));
}
