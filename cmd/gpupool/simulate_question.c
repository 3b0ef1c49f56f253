/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate_question.h"

#include <errno.h>

int simulate_question_set(const char *command, const struct simulate_inputs *inputs,
			  const struct simulate_question *question, struct run_options *ret,
			  bool *ret_arrive, struct error *error)
{
	struct run_options run = { .arrival = 0 };

	int r = simulate_check_inputs(command, inputs, error);
	if (r == 0 && question->arrival)
		r = simulate_read_arrival(question->arrival, &run.arrival, error);
	if (r == 0)
		r = simulate_read_policy(question->policy, question->ties, &run.place, error);
	if (r < 0)
		return r;
	run.place.seed = question->seed;
	*ret = run;
	*ret_arrive = question->arrival != NULL;
	return 0;
}

static int by_value(const void *left, const void *right, void *data)
{
	const double *values = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (values[a] > values[b] || values[a] < values[b])
		return values[a] > values[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

uint32_t *simulate_order_nodes(const struct trace *trace, const double *values)
{
	uint32_t *order = calloc(trace->node_count, sizeof(*order));

	for (uint32_t i = 0; order && i < trace->node_count; i++)
		order[i] = i;
	if (order)
		qsort_r(order, trace->node_count, sizeof(*order), by_value,
			(void *)(uintptr_t)values);
	return order;
}

const char *simulate_model_name(const struct trace *trace, size_t model)
{
	const struct card *card =
		model < trace->model_count ? trace_model_card(trace, model) : NULL;

	return card ? card->model : "no card";
}
