/* SPDX-License-Identifier: Apache-2.0 */
/* How many more of this Pod fit? */
#include "simulate_question.h"

#include <errno.h>
#include <string.h>

struct simulate_fit_options {
	struct common_options common;
	struct simulate_inputs inputs;
	struct simulate_question question;
	struct simulate_asked asked;
	unsigned long limit;
	bool progress;
};

static const struct option_row simulate_fit_rows[] = {
	SIMULATE_QUESTION_ROWS(struct simulate_fit_options),
	SIMULATE_ASKED_ROWS(struct simulate_fit_options),
	{ .name = "limit",
	  .kind = OPTION_UINT,
	  .argument = "N",
	  .help = "count no further than this",
	  .offset = offsetof(struct simulate_fit_options, limit),
	  .minimum = 1,
	  .maximum = 10000000,
	  .fallback = "1000000" },
	SIMULATE_PROGRESS_ROW(struct simulate_fit_options),
	COMMON_ROW_JSON(struct simulate_fit_options),
	{ .name = NULL },
};

struct fit {
	struct simulate_fit_options *options;
	struct trace trace;
	struct fit_options ask;
	struct simulate_progress progress;
	struct fit_result result;
	uint32_t *order; /* owned; nodes, those that take most first */
	double read_seconds, seconds;
};

static void fit_release(struct fit *fit)
{
	trace_release(&fit->trace);
	fit_result_release(&fit->result);
	simulate_asked_release(&fit->options->asked);
	free(fit->order);
}

static int fit_set(struct fit *fit, struct error *error)
{
	struct simulate_fit_options *options = fit->options;

	int r = simulate_question_set("sim fit", &options->inputs, &options->question,
				      &fit->ask.run, &fit->ask.arrive, error);
	fit->ask.limit = options->limit;
	return r < 0 ? r : simulate_asked_check("sim fit", &options->asked, error);
}

static int fit_run(struct fit *fit, struct error *error)
{
	double start = simulate_now();

	simulate_progress_start(&fit->progress, 1, fit->options->progress);
	fit->ask.progress = simulate_progress_pods;
	fit->ask.progress_data = &fit->progress;
	int r = fit_ask(&fit->trace, &fit->options->asked.demand, &fit->ask, &fit->result, error);
	simulate_progress_end(&fit->progress);
	if (r < 0)
		return r;
	fit->seconds = simulate_now() - start;
	autofree double *values = calloc(fit->trace.node_count, sizeof(*values));
	for (size_t i = 0; values && i < fit->trace.node_count; i++)
		values[i] = (double)fit->result.nodes[i];
	fit->order = values ? simulate_order_nodes(&fit->trace, values) : NULL;
	return fit->order ? 0 : error_no_memory(error);
}

static void print_models(const struct fit *fit)
{
	autocolumns columns = COLUMNS_INIT(2);
	char model[SIMULATE_MODEL_MAX];

	columns.right = ~1u;
	columns_add(&columns, "MODEL");
	columns_add(&columns, "PODS");
	for (size_t i = 0; i <= fit->trace.model_count; i++) {
		if (!fit->result.models[i])
			continue;
		columns_add(&columns, simulate_model_name(&fit->trace, i, model));
		columns_addf(&columns, "%zu", fit->result.models[i]);
	}
	putchar('\n');
	print_columns(&columns, stdout);
}

static void print_nodes(const struct fit *fit)
{
	autocolumns columns = COLUMNS_INIT(2);
	size_t count = fit->trace.node_count, at = 0, rest = 0, pods = 0;

	columns.right = ~1u;
	columns_add(&columns, "NODE");
	columns_add(&columns, "PODS");
	for (; at < count && at < fit->options->question.top && fit->result.nodes[fit->order[at]];
	     at++) {
		columns_add(&columns, fit->trace.nodes[fit->order[at]].name);
		columns_addf(&columns, "%zu", fit->result.nodes[fit->order[at]]);
	}
	for (; at < count && fit->result.nodes[fit->order[at]]; at++) {
		pods += fit->result.nodes[fit->order[at]];
		rest++;
	}
	if (rest) {
		columns_addf(&columns, "%zu more", rest);
		columns_addf(&columns, "%zu", pods);
	}
	putchar('\n');
	print_columns(&columns, stdout);
}

static void print_stops(const struct fit *fit)
{
	autocolumns columns = COLUMNS_INIT(2);
	autostrbuf sentence = STRBUF_INIT(4096);

	if (fit->result.limited)
		return;
	(void)reason_sentence(&fit->result.reason, &sentence);
	print_text(stdout, "\n%s\n\n", sentence.data);
	columns.right = ~1u;
	columns_add(&columns, "WHY NOT ONE MORE");
	columns_add(&columns, "NODES");
	for (size_t i = 0; i < fit->result.stop_count; i++) {
		columns_add(&columns, reason_class(fit->result.stops[i].code));
		columns_addf(&columns, "%zu", fit->result.stops[i].nodes);
	}
	print_columns(&columns, stdout);
}

static void print_fit(const struct fit *fit)
{
	autostrbuf asked = STRBUF_INIT(4096);

	simulate_asked_describe(&fit->options->asked, &asked);
	print_text(stdout, "%s%zu more Pod%s fit%s: %s each.\n",
		   fit->result.limited ? "At least " : "", fit->result.count,
		   fit->result.count == 1 ? "" : "s", fit->result.count == 1 ? "s" : "",
		   asked.data);
	if (fit->result.count) {
		print_models(fit);
		print_nodes(fit);
	}
	print_stops(fit);
	simulate_print_running(&fit->trace, &fit->result.before);
}

/* {"KEY": name, "pods": count} */
static int add_count(struct json_object *array, const char *key, const char *name,
		     const char *counted, size_t count)
{
	struct json_object *item = json_object_new_object();

	if (json_append(array, item) < 0 || json_add_string(item, key, name) < 0)
		return -ENOMEM;
	return json_add_uint(item, counted, count);
}

static int add_places(const struct fit *fit, struct json_object *object)
{
	struct json_object *models = json_object_new_array();
	char model[SIMULATE_MODEL_MAX];
	int r = json_add(object, "models", models);

	for (size_t i = 0; r == 0 && i <= fit->trace.model_count; i++)
		if (fit->result.models[i])
			r = add_count(models, "model", simulate_model_name(&fit->trace, i, model),
				      "pods", fit->result.models[i]);
	struct json_object *nodes = r == 0 ? json_object_new_array() : NULL;
	if (r == 0)
		r = json_add(object, "nodes", nodes);
	for (size_t i = 0; r == 0 && i < fit->trace.node_count; i++) {
		uint32_t node = fit->order[i];

		if (fit->result.nodes[node])
			r = add_count(nodes, "node", fit->trace.nodes[node].name, "pods",
				      fit->result.nodes[node]);
	}
	return r;
}

static int add_stops(const struct fit *fit, struct json_object *object)
{
	struct json_object *stops = json_object_new_array(), *reason = NULL;
	struct error error = ERROR_INIT;

	int r = json_add(object, "refused_by", stops);
	for (size_t i = 0; r == 0 && i < fit->result.stop_count; i++)
		r = add_count(stops, "class", reason_class(fit->result.stops[i].code), "nodes",
			      fit->result.stops[i].nodes);
	if (r < 0)
		return r;
	if (fit->result.limited)
		return json_add_null(object, "reason");
	r = reason_to_json(&fit->result.reason, &reason, &error);
	return r < 0 ? r : json_add(object, "reason", reason);
}

static int fit_to_json(const struct fit *fit, struct json_object *object)
{
	autostrbuf asked = STRBUF_INIT(4096);

	simulate_asked_describe(&fit->options->asked, &asked);
	if (strbuf_failed(&asked) < 0 || json_add_string(object, "asked", asked.data) < 0 ||
	    json_add_uint(object, "count", fit->result.count) < 0 ||
	    json_add_bool(object, "limited", fit->result.limited) < 0 ||
	    simulate_add_number(object, "allocated_percent_before",
				fit->result.before.allocated_percent, 4) < 0 ||
	    simulate_add_running(&fit->trace, &fit->result.before, object) < 0 ||
	    add_places(fit, object) < 0 || add_stops(fit, object) < 0 ||
	    simulate_add_number(object, "read_seconds", fit->read_seconds, 6) < 0)
		return -ENOMEM;
	return simulate_add_number(object, "seconds", fit->seconds, 6);
}

static int print_object(const struct fit *fit)
{
	autojson *object = json_object_new_object();
	struct error error = ERROR_INIT;

	if (fit_to_json(fit, object) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(object);
}

static void print_csv(const struct fit *fit)
{
	printf("node,model,cards,pods\n");
	for (size_t i = 0; i < fit->trace.node_count; i++) {
		const struct node_spec *node = &fit->trace.nodes[i];
		size_t cards = node->inventory.card_count;

		print_text(stdout, "%s,%s,%zu,%zu\n", node->name,
			   cards ? node->inventory.cards[0].model : "", cards,
			   fit->result.nodes[i]);
	}
}

static int simulate_fit(void *data, int argc, char **argv)
{
	cleanup(fit_release) struct fit fit = { .options = data };
	struct error error = ERROR_INIT;

	(void)argc;
	(void)argv;
	if (fit_set(&fit, &error) < 0)
		return fail(EXIT_USAGE, &error);
	int r = simulate_read_inputs(&fit.options->inputs, &fit.trace, &fit.read_seconds, &error);
	if (r == 0)
		r = simulate_asked_choose(&fit.options->asked, &fit.trace, &error);
	if (r == 0)
		r = fit_run(&fit, &error);
	if (r < 0)
		return fail(EXIT_FAILED, &error);
	if (fit.options->common.json)
		return print_object(&fit);
	if (fit.options->question.csv)
		print_csv(&fit);
	else
		print_fit(&fit);
	return EXIT_DONE;
}

const struct command command_sim_fit = {
	.name = "sim fit",
	.summary = "say how many more of this Pod fit, and what stops the next one",
	.operands = "",
	.description =
		"Pods that run already are held. With --arrival the others arrive first, as 'sim "
		"run' lets them. Then Pods like the one that is asked about are placed one after "
		"another until one does not fit; the sentence says what it lacks on the node that "
		"is nearest to a fit, the counts what each node lacks.\n"
		"\n" SIMULATE_INPUT_TEXT,
	.examples = "gpupool sim fit --cluster cluster.json --ask '12 GiB 30 %'\n"
		    "gpupool sim fit --nodes nodes.csv --pods pods.csv --pod-file pod.yaml --json",
	.options = simulate_fit_rows,
	.run = simulate_fit,
	.size = sizeof(struct simulate_fit_options),
};
