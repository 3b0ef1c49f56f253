/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate_question.h"

#include <errno.h>
#include <string.h>

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

int simulate_asked_check(const char *command, struct simulate_asked *asked, struct error *error)
{
	int kinds = (asked->ask != NULL) + (asked->pod != NULL) + (asked->pod_file != NULL);

	demand_init(&asked->own);
	if (kinds != 1)
		return error_set(error, EINVAL,
				 "'%s' wants one of --ask TEXT, --pod NAME and --pod-file FILE",
				 command);
	return asked->ask ? fit_parse(asked->ask, &asked->own, error) : 0;
}

int simulate_asked_choose(struct simulate_asked *asked, const struct trace *trace,
			  struct error *error)
{
	int r = asked->pod_file ? fit_read(asked->pod_file, &asked->notes, &asked->own, error) : 0;

	if (r < 0)
		return r;
	for (size_t i = 0; i < asked->notes.count; i++)
		say("%s", asked->notes.items[i]);
	asked->demand = asked->own;
	reason_text(asked->text, sizeof(asked->text), "%s",
		    asked->own.object && asked->pod_file ? asked->own.object : "One more Pod");
	if (asked->pod) {
		if (trace_find_pod(trace, asked->pod, &asked->number) < 0)
			return error_set(error, ENOENT,
					 "no Pod is named %s; --pod wants one of the input",
					 asked->pod);
		asked->demand = trace->shapes[trace->pods[asked->number].shape].demand;
		reason_text(asked->text, sizeof(asked->text), "Pod %s", asked->pod);
	}
	asked->demand.object = asked->text;
	return 0;
}

void simulate_asked_describe(const struct simulate_asked *asked, struct strbuf *text)
{
	const struct demand *demand = &asked->demand;

	for (size_t i = 0; i < demand->request_count; i++) {
		strbuf_adds(text, i ? " and " : "");
		(void)request_describe(&demand->requests[i], text);
	}
	if (!demand->request_count)
		strbuf_adds(text, "no card");
	if (demand->needs.cpu_milli)
		strbuf_addf(text, ", %g CPUs", (double)demand->needs.cpu_milli / 1000);
	if (demand->needs.memory_mib)
		strbuf_addf(text, ", %lld MiB of memory", (long long)demand->needs.memory_mib);
}

void simulate_asked_release(struct simulate_asked *asked)
{
	demand_release(&asked->own);
	string_list_release(&asked->notes);
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

const char *simulate_model_name(const struct trace *trace, size_t model,
				char text[static SIMULATE_MODEL_MAX])
{
	const struct card *card =
		model < trace->model_count ? trace_model_card(trace, model) : NULL;

	snprintf(text, SIMULATE_MODEL_MAX, "%s", card ? card->model : "no card");
	for (size_t i = 0; card && i < trace->model_count; i++) {
		const struct card *other = trace_model_card(trace, i);

		if (i == model || !other || strcmp(other->model, card->model) != 0)
			continue;
		snprintf(text, SIMULATE_MODEL_MAX, "%s (%u GiB)", card->model, card_units(card));
		break;
	}
	return text;
}
