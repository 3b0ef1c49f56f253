/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "replay/replay.h"

#define TYPICAL 0.95 /* share of the Pods that the classes cover */

struct kind {
	double share;
	int64_t cpu_milli;
	unsigned cards;
	const uint16_t *millis; /* by model; of the trace */
};

struct fragments {
	const struct trace *trace;
	struct kind *classes; /* owned */
	size_t count;
	double cpu_share; /* of the classes that ask for no card, when they count */
};

/* The most frequent ones until they cover enough, in shares of 1 together. */
static void choose_classes(struct fragments *fragments, const struct workload_class *workload,
			   size_t count, bool with_cpu)
{
	const struct trace *trace = fragments->trace;
	double covered = 0, sum = 0;

	for (size_t i = 0; i < count && covered < TYPICAL; i++) {
		const struct trace_shape *shape = trace_shape_of(workload[i].demand);

		covered += workload[i].share;
		if (!shape->cards && !with_cpu)
			continue;
		sum += workload[i].share;
		if (!shape->cards) {
			fragments->cpu_share += workload[i].share;
			continue;
		}
		fragments->classes[fragments->count++] = (struct kind){
			.share = workload[i].share,
			.cpu_milli = shape->demand.needs.cpu_milli,
			.cards = shape->cards,
			.millis = &trace->shape_millis[(size_t)(shape - trace->shapes) *
						       trace->model_count],
		};
	}
	for (size_t i = 0; i < fragments->count; i++)
		fragments->classes[i].share /= sum;
	if (sum > 0)
		fragments->cpu_share /= sum;
}

int fragments_new(const struct trace *trace, bool with_cpu, struct fragments **ret,
		  struct error *error)
{
	cleanup(fragments_freep) struct fragments *fragments = calloc(1, sizeof(*fragments));
	autofree struct workload_class *workload = NULL;
	size_t count = 0;

	if (!fragments)
		return error_no_memory(error);
	int r = workload_make(trace, &workload, &count, error);
	if (r < 0)
		return r;
	fragments->trace = trace;
	fragments->classes = calloc(count + 1, sizeof(*fragments->classes));
	if (!fragments->classes)
		return error_no_memory(error);
	choose_classes(fragments, workload, count, with_cpu);
	*ret = TAKE_PTR(fragments);
	return 0;
}

void fragments_free(struct fragments *fragments)
{
	if (!fragments)
		return;
	free(fragments->classes);
	free(fragments);
}

/* What a class cannot use of the cards. */
static unsigned class_fragment(const struct kind *class, const uint16_t *models,
			       const unsigned *left, unsigned count, unsigned sum)
{
	unsigned usable = 0, lost = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned milli = class->millis[models[i]];

		if (milli && left[i] >= milli)
			usable++;
		else
			lost += left[i];
	}
	return usable < class->cards ? sum : lost;
}

double fragments_of_node(const struct fragments *fragments, const struct pool *pool, unsigned node,
			 unsigned pool_node)
{
	const struct trace *trace = fragments->trace;
	const uint16_t *models = &trace->card_models[trace->first_cards[node]];
	unsigned count = trace->first_cards[node + 1] - trace->first_cards[node];
	struct resources all = pool_node_allocatable(pool, pool_node);
	struct resources used = pool_node_used(pool, pool_node);
	unsigned left[CARDS_MAX], sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += left[i] = pool_card_left_milli(pool, pool_node, i);
	if (!sum)
		return 0;
	double fragment = fragments->cpu_share * sum;
	for (size_t i = 0; i < fragments->count; i++) {
		const struct kind *class = &fragments->classes[i];
		unsigned lost = sum;

		if (all.cpu_milli - used.cpu_milli >= class->cpu_milli)
			lost = class_fragment(class, models, left, count, sum);
		fragment += class->share * lost;
	}
	return fragment;
}
