/* SPDX-License-Identifier: Apache-2.0 */
/* The same Pods on the cluster as it is and on a changed one. */
#include "simulate.h"

#include <errno.h>
#include <string.h>

#define MIG_FILE_MAX (1u << 20)

struct simulate_whatif_options {
	struct common_options common;
	struct simulate_inputs inputs;
	struct option_list add_nodes, remove_nodes, mig;
	const char *slices, *mig_file, *policy, *policy_now, *ties, *arrival;
	unsigned long seed, jobs;
	bool csv, progress;
};

static const struct option_row simulate_whatif_rows[] = {
	SIMULATE_INPUT_ROWS(struct simulate_whatif_options),
	{ .name = "add-nodes",
	  .kind = OPTION_LIST,
	  .argument = "TEXT",
	  .help = "change: more nodes, '5 nodes of 8 h100'",
	  .offset = offsetof(struct simulate_whatif_options, add_nodes) },
	{ .name = "remove-nodes",
	  .kind = OPTION_LIST,
	  .argument = "WHICH",
	  .help = "change: without nodes, 'gpu-*', '10' or '10 of h100' (the last by name)",
	  .offset = offsetof(struct simulate_whatif_options, remove_nodes) },
	{ .name = "slices",
	  .kind = OPTION_CHOICE,
	  .argument = "on|off",
	  .help = "change: cards may be shared, or who asks for a slice gets whole cards",
	  .offset = offsetof(struct simulate_whatif_options, slices),
	  .choices = "on|off" },
	{ .name = "mig",
	  .kind = OPTION_LIST,
	  .argument = "LAYOUT",
	  .help = "change: cards become MIG, 'h100=1g.10gb*7', '*A100*=3g.40gb,2g.20gb*2' or "
		  "'h100=as-needed'",
	  .offset = offsetof(struct simulate_whatif_options, mig) },
	{ .name = "mig-file",
	  .kind = OPTION_STRING,
	  .argument = "FILE",
	  .help = "change: the layouts of a file, one a line",
	  .offset = offsetof(struct simulate_whatif_options, mig_file) },
	{ .name = "policy",
	  .kind = OPTION_STRING,
	  .argument = "NAME",
	  .help = "change: another policy, NAME or NAME/TIES",
	  .offset = offsetof(struct simulate_whatif_options, policy) },
	{ .name = "policy-now",
	  .kind = OPTION_CHOICE,
	  .argument = "NAME",
	  .help = "the policy before, and after unless it changes",
	  .offset = offsetof(struct simulate_whatif_options, policy_now),
	  .choices = SIMULATE_POLICIES,
	  .fallback = "default" },
	SIMULATE_TIES_ROW(struct simulate_whatif_options),
	SIMULATE_ARRIVAL_ROW(struct simulate_whatif_options),
	SIMULATE_SEED_ROW(struct simulate_whatif_options),
	SIMULATE_JOBS_ROW(struct simulate_whatif_options),
	SIMULATE_PROGRESS_ROW(struct simulate_whatif_options),
	COMMON_ROW_JSON(struct simulate_whatif_options),
	{ .name = "csv",
	  .kind = OPTION_FLAG,
	  .help = "print the figures as CSV",
	  .offset = offsetof(struct simulate_whatif_options, csv) },
	{ .name = NULL },
};

enum side { BEFORE, AFTER, SIDES };

struct whatif_question {
	const struct simulate_whatif_options *options;
	struct trace trace;
	struct option_list layouts; /* owned; strings are argv's or of layout_text */
	char *layout_text;          /* owned; of the file */
	struct whatif whatif;
	struct run_options run[SIDES];
	struct arrivals arrivals[SIDES];
	struct run_result results[SIDES];
	struct simulate_progress progress;
	double read_seconds, seconds;
};

static void whatif_question_release(struct whatif_question *question)
{
	trace_release(&question->trace);
	whatif_release(&question->whatif);
	free(question->layouts.items);
	free(question->layout_text);
	for (int side = 0; side < SIDES; side++) {
		arrivals_release(&question->arrivals[side]);
		run_result_release(&question->results[side]);
	}
}

static const struct trace *trace_of(const struct whatif_question *question, size_t side)
{
	return side == BEFORE ? &question->trace : &question->whatif.trace;
}

static int add_layout(struct whatif_question *question, const char *text, struct error *error)
{
	struct option_list *layouts = &question->layouts;
	const char **item = VEC_ADD(&layouts->items, &layouts->count, &layouts->capacity);

	if (!item)
		return error_no_memory(error);
	*item = text;
	return 0;
}

/* Those of the command line, then those of the file; lines may end with a comment. */
static int read_layouts(struct whatif_question *question, struct error *error)
{
	const struct simulate_whatif_options *options = question->options;
	size_t length = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < options->mig.count; i++)
		r = add_layout(question, options->mig.items[i], error);
	if (r == 0 && options->mig_file)
		r = file_read(options->mig_file, MIG_FILE_MAX, &question->layout_text, &length,
			      error);
	if (r < 0 || !options->mig_file)
		return r;
	char *rest = question->layout_text;
	for (char *line; r == 0 && (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "#")] = '\0';
		line += strspn(line, " \t\r");
		for (size_t end = strlen(line); end && strchr(" \t\r", line[end - 1]); end--)
			line[end - 1] = '\0';
		if (*line)
			r = add_layout(question, line, error);
	}
	return r;
}

static int check(const struct simulate_whatif_options *options, struct error *error)
{
	int r = simulate_check_inputs("sim whatif", &options->inputs, error);
	if (r < 0)
		return r;
	if (!options->add_nodes.count && !options->remove_nodes.count && !options->mig.count &&
	    !options->slices && !options->mig_file && !options->policy)
		return error_set(error, EINVAL,
				 "'sim whatif' wants a change: --add-nodes, --remove-nodes, "
				 "--slices, --mig, --mig-file or --policy");
	return 0;
}

static int set_runs(struct whatif_question *question, struct error *error)
{
	const struct simulate_whatif_options *options = question->options;
	struct run_options *run = question->run;

	int r = simulate_read_arrival(options->arrival, &run[BEFORE].arrival, error);
	if (r == 0)
		r = simulate_read_policy(options->policy_now, options->ties, &run[BEFORE].place,
					 error);
	run[AFTER].place = run[BEFORE].place;
	if (r == 0 && options->policy)
		r = simulate_read_policy(options->policy, options->ties, &run[AFTER].place, error);
	run[BEFORE].place.seed = run[AFTER].place.seed = options->seed;
	return r;
}

static int make_change(struct whatif_question *question, struct error *error)
{
	const struct simulate_whatif_options *options = question->options;
	const struct whatif_changes changes = {
		.add = { options->add_nodes.items, options->add_nodes.count },
		.remove = { options->remove_nodes.items, options->remove_nodes.count },
		.mig = { question->layouts.items, question->layouts.count },
		.slices = !options->slices                     ? WHATIF_SLICES_AS_THEY_ARE
			  : strcmp(options->slices, "on") == 0 ? WHATIF_SLICES_ON
							       : WHATIF_SLICES_OFF,
	};
	struct run_options *run = question->run;
	const struct protocol protocol = {
		.seed = options->seed,
		.percent = simulate_arrival(run[BEFORE].arrival, &question->trace),
	};
	char text[256];

	int r = whatif_make(&question->trace, &changes, &question->whatif, error);
	if (r == 0 && options->policy) {
		snprintf(text, sizeof(text), "The policy is %s with ties by %s.",
			 node_policy_to_string(run[AFTER].place.policy),
			 tie_rule_to_string(run[AFTER].place.ties));
		if (string_list_add(&question->whatif.sentences, text) < 0)
			return error_no_memory(error);
	}
	if (r == 0)
		r = whatif_arrivals(&question->trace, &question->whatif, &protocol,
				    &question->arrivals[BEFORE], &question->arrivals[AFTER], error);
	for (int side = 0; side < SIDES; side++) {
		run[side].arrival = 0;
		run[side].arrivals = &question->arrivals[side];
	}
	return r;
}

static int run_side(void *context, size_t side, struct error *error)
{
	struct whatif_question *question = context;

	int r = run_trace(trace_of(question, side), &question->run[side], &question->results[side],
			  error);
	simulate_progress_step(&question->progress);
	return r;
}

static int run_sides(struct whatif_question *question, struct error *error)
{
	const struct simulate_whatif_options *options = question->options;
	double start = simulate_now();

	int r = make_change(question, error);
	if (r < 0)
		return r;
	simulate_progress_start(&question->progress, SIDES, options->progress);
	r = parallel_run(SIDES, options->jobs ? (unsigned)options->jobs : parallel_cores(),
			 run_side, question, error);
	simulate_progress_end(&question->progress);
	question->seconds = simulate_now() - start;
	return r;
}

/* ---- figures ---- */

enum figure {
	FIGURE_NODES,
	FIGURE_CARDS,
	FIGURE_RUNNING,
	FIGURE_ARRIVED,
	FIGURE_PLACED,
	FIGURE_FAILED,
	FIGURE_FAILED_CLASS, /* and those of the other classes */
	FIGURE_CONSTRAINED = FIGURE_FAILED_CLASS + TRACE_CLASS_MAX,
	FIGURE_ALLOCATED,
	FIGURE_ALLOCATED_PERCENT,
	FIGURE_FREE,
	FIGURE_FRAGMENTED,
	FIGURE_FRAGMENTED_PERCENT,
	FIGURE_MAX,
};

static const struct {
	const char *key, *words;
	int decimals;
} figures[FIGURE_MAX] = {
	[FIGURE_NODES] = { "nodes", "nodes", 0 },
	[FIGURE_CARDS] = { "cards", "cards", 0 },
	[FIGURE_RUNNING] = { "pods_running", "Pods that run from the start", 0 },
	[FIGURE_ARRIVED] = { "pods_arrived", "Pods that arrive", 0 },
	[FIGURE_PLACED] = { "pods_placed", "Pods placed", 0 },
	[FIGURE_FAILED] = { "pods_failed", "Pods without a place", 0 },
	[FIGURE_FAILED_CLASS + TRACE_CPU] = { "failed_cpu_only", "  that ask for no card", 0 },
	[FIGURE_FAILED_CLASS + TRACE_SHARE] = { "failed_share", "  that asked for a part", 0 },
	[FIGURE_FAILED_CLASS + TRACE_ONE] = { "failed_one_card", "  that asked for a card", 0 },
	[FIGURE_FAILED_CLASS +
		TRACE_SEVERAL] = { "failed_several_cards", "  that asked for several cards", 0 },
	[FIGURE_CONSTRAINED] = { "failed_constrained", "  that accept some models or nodes only",
				 0 },
	[FIGURE_ALLOCATED] = { "allocated_cards", "cards allocated", 1 },
	[FIGURE_ALLOCATED_PERCENT] = { "allocated_percent", "  % of all", 2 },
	[FIGURE_FREE] = { "unallocated_gpus", "cards not allocated", 1 },
	[FIGURE_FRAGMENTED] = { "fragmented_cards", "  of no use to the mix", 1 },
	[FIGURE_FRAGMENTED_PERCENT] = { "fragmented_percent", "  % of all", 2 },
};

static void list_figures(const struct whatif_question *question, size_t side,
			 double ret[static FIGURE_MAX])
{
	const struct trace *trace = trace_of(question, side);
	const struct run_result *result = &question->results[side];
	double cards = (double)trace->capacity_milli / 1000;

	ret[FIGURE_NODES] = (double)trace->node_count;
	ret[FIGURE_CARDS] = cards;
	ret[FIGURE_RUNNING] = (double)result->running;
	ret[FIGURE_ARRIVED] = (double)(result->placed + result->failed);
	ret[FIGURE_PLACED] = (double)result->placed;
	ret[FIGURE_FAILED] = (double)result->failed;
	for (int class = 0; class < TRACE_CLASS_MAX; class ++)
		ret[FIGURE_FAILED_CLASS + class] = (double)result->classes[class].failed;
	ret[FIGURE_CONSTRAINED] = (double)result->constrained.failed;
	ret[FIGURE_ALLOCATED] = cards * result->allocated_percent / 100;
	ret[FIGURE_ALLOCATED_PERCENT] = result->allocated_percent;
	ret[FIGURE_FREE] = result->unallocated_gpus;
	ret[FIGURE_FRAGMENTED] = cards * result->fragmented_percent / 100;
	ret[FIGURE_FRAGMENTED_PERCENT] = result->fragmented_percent;
}

static void print_table(const struct whatif_question *question)
{
	autocolumns columns = COLUMNS_INIT(4);
	double values[SIDES][FIGURE_MAX];

	for (size_t i = 0; i < question->whatif.sentences.count; i++)
		print_text(stdout, "%s\n", question->whatif.sentences.items[i]);
	list_figures(question, BEFORE, values[BEFORE]);
	list_figures(question, AFTER, values[AFTER]);
	columns.right = ~1u;
	columns_add(&columns, "");
	columns_add(&columns, "BEFORE");
	columns_add(&columns, "AFTER");
	columns_add(&columns, "DIFFERENCE");
	for (int i = 0; i < FIGURE_MAX; i++) {
		double difference = values[AFTER][i] - values[BEFORE][i];
		int decimals = figures[i].decimals;

		columns_add(&columns, figures[i].words);
		columns_addf(&columns, "%.*f", decimals, values[BEFORE][i]);
		columns_addf(&columns, "%.*f", decimals, values[AFTER][i]);
		columns_addf(&columns, "%+.*f", decimals, difference);
	}
	putchar('\n');
	print_columns(&columns, stdout);
	simulate_print_running(&question->trace, &question->results[BEFORE]);
}

static void print_csv(const struct whatif_question *question)
{
	double values[SIDES][FIGURE_MAX];

	list_figures(question, BEFORE, values[BEFORE]);
	list_figures(question, AFTER, values[AFTER]);
	printf("figure,before,after,difference\n");
	for (int i = 0; i < FIGURE_MAX; i++)
		printf("%s,%.4f,%.4f,%.4f\n", figures[i].key, values[BEFORE][i], values[AFTER][i],
		       values[AFTER][i] - values[BEFORE][i]);
}

static int add_side(const struct whatif_question *question, enum side side, const char *key,
		    struct json_object *object)
{
	const struct run_options *run = &question->run[side];
	struct json_object *item = json_object_new_object();
	double values[FIGURE_MAX];

	if (json_add(object, key, item) < 0 ||
	    simulate_result_to_json(run, &question->results[side], item) < 0 ||
	    simulate_add_running(trace_of(question, side), &question->results[side], item) < 0)
		return -ENOMEM;
	list_figures(question, side, values);
	for (int i = 0; i < FIGURE_MAX; i++)
		if (!json_get(item, figures[i].key) &&
		    simulate_add_number(item, figures[i].key, values[i], figures[i].decimals) < 0)
			return -ENOMEM;
	return 0;
}

static int whatif_to_json(const struct whatif_question *question, struct json_object *object)
{
	struct json_object *sentences = json_object_new_array(), *differences;
	double values[SIDES][FIGURE_MAX];

	if (json_add(object, "changes", sentences) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < question->whatif.sentences.count; i++)
		if (json_append_string(sentences, question->whatif.sentences.items[i]) < 0)
			return -ENOMEM;
	if (add_side(question, BEFORE, "before", object) < 0 ||
	    add_side(question, AFTER, "after", object) < 0)
		return -ENOMEM;
	list_figures(question, BEFORE, values[BEFORE]);
	list_figures(question, AFTER, values[AFTER]);
	differences = json_object_new_object();
	if (json_add(object, "difference", differences) < 0)
		return -ENOMEM;
	for (int i = 0; i < FIGURE_MAX; i++)
		if (simulate_add_number(differences, figures[i].key,
					values[AFTER][i] - values[BEFORE][i],
					figures[i].decimals ? 4 : 0) < 0)
			return -ENOMEM;
	if (simulate_add_number(object, "read_seconds", question->read_seconds, 6) < 0)
		return -ENOMEM;
	return simulate_add_number(object, "seconds", question->seconds, 6);
}

static int print_object(const struct whatif_question *question)
{
	autojson *object = json_object_new_object();
	struct error error = ERROR_INIT;

	if (whatif_to_json(question, object) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(object);
}

static int simulate_whatif(void *data, int argc, char **argv)
{
	cleanup(whatif_question_release) struct whatif_question question = { .options = data };
	const struct simulate_whatif_options *options = data;
	struct error error = ERROR_INIT;

	(void)argc;
	(void)argv;
	if (check(options, &error) < 0 || set_runs(&question, &error) < 0)
		return fail(EXIT_USAGE, &error);
	int r = read_layouts(&question, &error);
	if (r == 0)
		r = simulate_read_inputs(&options->inputs, &question.trace, &question.read_seconds,
					 &error);
	if (r == 0)
		r = run_sides(&question, &error);
	if (r < 0)
		return fail(EXIT_FAILED, &error);
	if (options->common.json)
		return print_object(&question);
	if (options->csv)
		print_csv(&question);
	else
		print_table(&question);
	return EXIT_DONE;
}

const struct command command_sim_whatif = {
	.name = "sim whatif",
	.summary = "say what a change of the cluster would do, before and after side by side",
	.operands = "",
	.description =
		"The same Pods arrive in the same order at the cluster as it is and at the changed "
		"one. Changes may be given together: nodes are removed, then added, then their "
		"cards are shared or not, then split. Pods that run on what is removed or changed "
		"arrive again, ahead of all others.\n"
		"\n"
		"Where cards become MIG, a Pod whose slice fits a profile of theirs asks for an "
		"instance of the smallest one instead, and for no other card; the first lines say "
		"which. Percent of arrival are of the cards before the change.\n"
		"\n" SIMULATE_INPUT_TEXT,
	.examples = "gpupool sim whatif --cluster-text '20 nodes of 8 h100; 900 Pods of 9 GiB' "
		    "--mig h100=1g.10gb*7\n"
		    "gpupool sim whatif --nodes nodes.csv --pods pods.csv --slices off --add-nodes "
		    "'5 nodes of 8 h100'",
	.options = simulate_whatif_rows,
	.run = simulate_whatif,
	.size = sizeof(struct simulate_whatif_options),
};
