/* SPDX-License-Identifier: Apache-2.0 */
/* How many more Pods of one kind fit, where, and what stops the next one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run.h"

#define PROGRESS_PODS 1024 /* from one report to the next */

void fit_result_release(struct fit_result *result)
{
	free(result->nodes);
	free(result->models);
	run_result_release(&result->before);
	*result = (struct fit_result){ .nodes = NULL };
}

static void count_place(const struct run *run, struct fit_result *result)
{
	const struct trace *trace = run->trace;
	const struct decision *decision = &run->decision;
	uint32_t node = run->nodes[decision->node];
	size_t model = trace->model_count;

	if (decision->count)
		model = trace->card_models[trace->first_cards[node] +
					   decision->placements[0].cards[0]];
	result->nodes[node]++;
	result->models[model]++;
	result->count++;
}

static int fill(struct run *run, const struct demand *demand, const struct fit_options *options,
		struct fit_result *result)
{
	int r = 0;

	while (r == 0 && result->count < options->limit) {
		uint64_t id;

		r = pool_decide(run->pool, demand, &run->decision, NULL);
		if (r == 0)
			r = pool_hold(run->pool, demand, &run->decision, &id);
		if (r == 0)
			count_place(run, result);
		if (options->progress && result->count % PROGRESS_PODS == 0)
			options->progress(options->progress_data, result->count);
	}
	result->limited = r == 0;
	return r == -EAGAIN || r == -ENOSPC ? 0 : r;
}

static int by_nodes(const void *left, const void *right)
{
	const struct fit_stop *a = left, *b = right;

	if (a->nodes != b->nodes)
		return a->nodes > b->nodes ? -1 : 1;
	return (int)a->code - (int)b->code;
}

/* Each node says why it does not take one more. */
static int ask_nodes(struct run *run, const struct demand *demand, struct fit_result *result)
{
	size_t counts[REASON_CODE_MAX] = { 0 };

	for (unsigned i = 0; i < run->trace->node_count; i++) {
		struct reason reason = { .code = REASON_NONE };
		int r = pool_decide_on(run->pool, i, demand, &run->decision, &reason);

		if (r != -EAGAIN && r != -ENOSPC)
			return r;
		counts[reason.code]++;
	}
	for (int code = 0; code < REASON_CODE_MAX; code++)
		if (counts[code])
			result->stops[result->stop_count++] =
				(struct fit_stop){ (enum reason_code)code, counts[code] };
	qsort(result->stops, result->stop_count, sizeof(*result->stops), by_nodes);
	return 0;
}

static int ask(struct run *run, const struct demand *demand, const struct fit_options *options,
	       struct fit_result *result)
{
	int r = fill(run, demand, options, result);

	if (r < 0 || result->limited)
		return r;
	r = pool_decide(run->pool, demand, &run->decision, &result->reason);
	if (r != -EAGAIN && r != -ENOSPC)
		return r;
	return ask_nodes(run, demand, result);
}

int fit_ask(const struct trace *trace, const struct demand *demand,
	    const struct fit_options *options, struct fit_result *ret, struct error *error)
{
	cleanup(run_close) struct run run;
	cleanup(fit_result_release) struct fit_result result = {
		.nodes = calloc(trace->node_count, sizeof(*result.nodes)),
		.models = calloc(trace->model_count + 1, sizeof(*result.models)),
	};

	int r = run_open(&run, trace, &options->run, error);
	if (r == 0 && (!result.nodes || !result.models))
		r = error_no_memory(error);
	if (r == 0 && options->arrive)
		r = run_arrive(&run, error);
	if (r < 0)
		return r;
	double allocated = run_allocated(&run);
	r = ask(&run, demand, options, &result);
	if (r < 0)
		return error_set_errno(error, -r, "cannot ask how many more fit");
	result.before = run.result;
	result.before.allocated_percent = allocated;
	run.result = (struct run_result){ .points = NULL };
	*ret = result;
	result = (struct fit_result){ .nodes = NULL };
	return 0;
}
