/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

struct kind {
	const struct trace_shape *shape;
	size_t pods;
};

static int compare_lists(const struct string_list *left, const struct string_list *right)
{
	for (size_t i = 0; i < left->count && i < right->count; i++) {
		int order = strcmp(left->items[i], right->items[i]);

		if (order)
			return order;
	}
	return left->count < right->count ? -1 : left->count > right->count;
}

static int compare_requests(const struct request *left, const struct request *right)
{
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	int order = strcmp(left->mig_profile, right->mig_profile);
	return order ? order : compare_lists(&left->models, &right->models);
}

/* By what a class is: CPU, card by card, number of cards, models; the host's memory is not. */
static int compare_shapes(const struct trace_shape *left, const struct trace_shape *right)
{
	const struct demand *a = &left->demand, *b = &right->demand;

	const int64_t sizes[][2] = {
		{ a->needs.cpu_milli, b->needs.cpu_milli },
		{ left->milli, right->milli },
		{ left->cards, right->cards },
		{ (int64_t)a->request_count, (int64_t)b->request_count },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i][0] != sizes[i][1])
			return sizes[i][0] < sizes[i][1] ? -1 : 1;
	int order = a->request_count ? compare_requests(a->requests, b->requests) : 0;
	if (order || (!a->selector_count && !a->term_count && !b->selector_count && !b->term_count))
		return order;
	/* Of Pods that choose nodes each shape is a class. */
	return left < right ? -1 : left > right;
}

static int by_shape(const void *left, const void *right)
{
	const struct kind *a = left, *b = right;

	return compare_shapes(a->shape, b->shape);
}

/* The most frequent first; of those alike the greater one, as in the published simulator. */
static int by_frequency(const void *left, const void *right)
{
	const struct kind *a = left, *b = right;

	if (a->pods != b->pods)
		return a->pods > b->pods ? -1 : 1;
	return compare_shapes(b->shape, a->shape);
}

/* Classes that are alike, next to one another, become one. */
static size_t merge_classes(struct kind *classes, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (!classes[i].pods)
			continue;
		if (kept && by_shape(&classes[kept - 1], &classes[i]) == 0)
			classes[kept - 1].pods += classes[i].pods;
		else
			classes[kept++] = classes[i];
	}
	return kept;
}

int workload_make(const struct trace *trace, struct workload_class **ret, size_t *ret_count,
		  struct error *error)
{
	autofree struct kind *classes = calloc(trace->shape_count + 1, sizeof(*classes));

	if (!classes)
		return error_no_memory(error);
	for (size_t i = 0; i < trace->shape_count; i++)
		classes[i].shape = &trace->shapes[i];
	for (size_t i = 0; i < trace->pod_count; i++)
		classes[trace->pods[i].shape].pods++;
	qsort(classes, trace->shape_count, sizeof(*classes), by_shape);
	size_t count = merge_classes(classes, trace->shape_count);
	qsort(classes, count, sizeof(*classes), by_frequency);
	struct workload_class *workload = calloc(count + 1, sizeof(*workload));
	if (!workload)
		return error_no_memory(error);
	for (size_t i = 0; i < count; i++)
		workload[i] = (struct workload_class){
			.demand = &classes[i].shape->demand,
			.share = (double)classes[i].pods / (double)trace->pod_count,
		};
	*ret = workload;
	*ret_count = count;
	return 0;
}
