/* SPDX-License-Identifier: Apache-2.0 */
/* The expected mix of Pods, and the tables that policies make of it. */
#include "score.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Sums of shares that should be equal differ in their last bits. */
static int64_t rounded(double share)
{
	return (int64_t)(share * 1e9 + 0.5);
}

static int compare_numbers(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Not by share: those that are alike lie beside each other. */
static int compare_kinds(const struct target *a, const struct target *b, size_t models)
{
	int order = compare_numbers(a->piece.cpu_milli, b->piece.cpu_milli);

	if (order == 0)
		order = compare_numbers(a->size, b->size);
	if (order == 0)
		order = compare_numbers(a->piece.cards, b->piece.cards);
	if (order == 0)
		order = compare_numbers(a->piece.whole, b->piece.whole);
	if (order == 0 && models > 0)
		order = memcmp(a->piece.milli, b->piece.milli, models * sizeof(*a->piece.milli));
	return order;
}

/* The most frequent first; among those the largest, as the published simulator does. */
static int compare_shares(const struct target *a, const struct target *b, size_t models)
{
	int order = compare_numbers(rounded(b->share), rounded(a->share));

	return order ? order : -compare_kinds(a, b, models);
}

struct sorting {
	int (*compare)(const struct target *a, const struct target *b, size_t models);
	size_t models;
};

static int sort_by(const void *a, const void *b, void *context)
{
	const struct sorting *sorting = context;

	return sorting->compare(a, b, sorting->models);
}

static size_t merge_alike(struct target *items, size_t count, size_t models)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && compare_kinds(&items[kept - 1], &items[i], models) == 0)
			items[kept - 1].share += items[i].share;
		else
			items[kept++] = items[i];
	}
	return kept;
}

int targets_build(struct targets *ret, const struct target *classes, size_t count, size_t models)
{
	struct sorting sorting = { compare_kinds, models };

	*ret = (struct targets){ .models = models };
	ret->items = calloc(count ? count : 1, sizeof(*ret->items));
	ret->milli = calloc(count * models + 1, sizeof(*ret->milli));
	if (!ret->items || !ret->milli) {
		targets_release(ret);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		struct target *item = &ret->items[i];
		uint16_t *milli = &ret->milli[i * models];

		*item = classes[i];
		item->size = 0;
		for (size_t m = 0; m < models && item->piece.cards > 0; m++) {
			milli[m] = classes[i].piece.milli[m];
			item->size = milli[m] > item->size ? milli[m] : item->size;
		}
		item->piece.milli = milli;
	}
	qsort_r(ret->items, count, sizeof(*ret->items), sort_by, &sorting);
	ret->count = merge_alike(ret->items, count, models);
	sorting.compare = compare_shares;
	qsort_r(ret->items, ret->count, sizeof(*ret->items), sort_by, &sorting);
	return 0;
}

void targets_release(struct targets *targets)
{
	free(targets->items);
	free(targets->milli);
	*targets = (struct targets){ 0 };
}

int score_tables_build(struct score_tables *ret, const struct target *classes, size_t count,
		       size_t models, const struct board *nodes, size_t node_count,
		       const struct score_options *options)
{
	int error;

	*ret = (struct score_tables){ 0 };
	error = targets_build(&ret->targets, classes, count, models);
	if (error < 0 || ret->targets.count == 0)
		return error;
	error = fgd_build(&ret->fgd, &ret->targets, options->original_classes);
	if (error == 0)
		error = value_build(&ret->value, &ret->targets, nodes, node_count);
	if (error < 0)
		score_tables_release(ret);
	return error;
}

void score_tables_release(struct score_tables *tables)
{
	targets_release(&tables->targets);
	fgd_free(tables->fgd);
	value_free(tables->value);
	*tables = (struct score_tables){ 0 };
}
