/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate_plot.h"

#include <errno.h>
#include <inttypes.h>

struct simulate_run_options {
	struct common_options common;
	struct simulate_inputs inputs;
	const char *policy, *ties, *seeds, *arrival, *record, *plot;
	unsigned long seed, jobs, look_ahead, moves, load;
	bool original, replay, wait, csv, progress;
};

static const struct option_row simulate_run_rows[] = {
	SIMULATE_INPUT_ROWS(struct simulate_run_options),
	{ .name = "policy",
	  .kind = OPTION_CHOICE,
	  .argument = "NAME",
	  .help = "which node and cards when several fit",
	  .offset = offsetof(struct simulate_run_options, policy),
	  .choices = SIMULATE_POLICIES,
	  .fallback = "default" },
	SIMULATE_TIES_ROW(struct simulate_run_options),
	SIMULATE_SEED_ROW(struct simulate_run_options),
	{ .name = "seeds",
	  .kind = OPTION_STRING,
	  .argument = "N..M",
	  .help = "one run for each of these seeds, and their mean",
	  .offset = offsetof(struct simulate_run_options, seeds) },
	SIMULATE_ARRIVAL_ROW(struct simulate_run_options),
	{ .name = "replay",
	  .kind = OPTION_FLAG,
	  .help = "Pods arrive and end at the times of the list instead",
	  .offset = offsetof(struct simulate_run_options, replay) },
	{ .name = "wait",
	  .kind = OPTION_FLAG,
	  .help = "with --replay: a Pod that does not fit waits, and is not dropped",
	  .offset = offsetof(struct simulate_run_options, wait) },
	{ .name = "look-ahead",
	  .kind = OPTION_UINT,
	  .argument = "N",
	  .help = "a Pod is bound only when the N - 1 after it are known; not with --replay",
	  .offset = offsetof(struct simulate_run_options, look_ahead),
	  .minimum = 1,
	  .maximum = SEATING_LOOK_AHEAD_MAX,
	  .fallback = "1" },
	{ .name = "moves",
	  .kind = OPTION_UINT,
	  .argument = "PERCENT",
	  .help = "running Pods may move, at most so many of those placed",
	  .offset = offsetof(struct simulate_run_options, moves),
	  .minimum = 0,
	  .maximum = 100,
	  .fallback = "0" },
	{ .name = "load",
	  .kind = OPTION_UINT,
	  .argument = "PERCENT",
	  .help = "with --replay: the list three times over in orders of the seed, lives stretched "
		  "so that so much of all cards is asked for at once",
	  .offset = offsetof(struct simulate_run_options, load),
	  .minimum = 0,
	  .maximum = 1000,
	  .fallback = "0" },
	{ .name = "original",
	  .kind = OPTION_FLAG,
	  .help = "with all peculiarities of the published simulator",
	  .offset = offsetof(struct simulate_run_options, original) },
	{ .name = "record",
	  .kind = OPTION_STRING,
	  .argument = "FILE",
	  .help = "write a log of all decisions, for gpupool sim replay; not with --look-ahead or "
		  "--moves",
	  .offset = offsetof(struct simulate_run_options, record) },
	SIMULATE_JOBS_ROW(struct simulate_run_options),
	SIMULATE_PROGRESS_ROW(struct simulate_run_options),
	COMMON_ROW_JSON(struct simulate_run_options),
	{ .name = "csv",
	  .kind = OPTION_FLAG,
	  .help = "print the readings on the way as CSV",
	  .offset = offsetof(struct simulate_run_options, csv) },
	SIMULATE_PLOT_ROW(struct simulate_run_options),
	{ .name = NULL },
};

struct runs {
	const struct trace *trace;
	struct run_options *options; /* owned; one a run */
	struct run_result *results;  /* owned */
	size_t count;
	struct simulate_progress progress;
	double read_seconds;
};

static void runs_release(struct runs *runs)
{
	for (size_t i = 0; runs->results && i < runs->count; i++)
		run_result_release(&runs->results[i]);
	free(runs->results);
	free(runs->options);
}

static int run_one(void *context, size_t index, struct error *error)
{
	struct runs *runs = context;

	int r = run_trace(runs->trace, &runs->options[index], &runs->results[index], error);
	simulate_progress_step(&runs->progress);
	return r;
}

/* What would be passed over in silence is told. */
static int check_together(const struct simulate_run_options *options, struct error *error)
{
	const struct {
		bool wrong;
		const char *why;
	} rows[] = {
		{ options->wait && !options->replay,
		  "--wait is for Pods that end; give --replay, too" },
		{ options->load && !options->replay,
		  "--load stretches the lives of Pods; give --replay, too" },
		{ options->arrival && options->replay,
		  "with --replay Pods come at their times; leave --arrival out" },
		{ options->record && (options->look_ahead > 1 || options->moves),
		  "a log of decisions knows no moves; leave --look-ahead and --moves out" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].wrong)
			return error_set(error, EINVAL, "%s", rows[i].why);
	return 0;
}

static int runs_set(struct runs *runs, const struct simulate_run_options *options,
		    struct error *error)
{
	cleanup(simulate_numbers_release) struct simulate_numbers seeds = { .items = NULL };
	struct run_options one = { .original = options->original,
				   .replay = options->replay,
				   .wait = options->wait,
				   .cards = options->plot && !options->replay,
				   .load = (unsigned)options->load,
				   .look_ahead = (unsigned)options->look_ahead,
				   .moves_permille = (unsigned)options->moves * 10 };

	int r = check_together(options, error);
	if (r == 0)
		r = simulate_read_policy(options->policy, options->ties, &one.place, error);
	if (r == 0)
		r = simulate_read_arrival(options->arrival, &one.arrival, error);
	if (r == 0 && options->seeds)
		r = simulate_read_numbers("seeds", options->seeds, &seeds, error);
	if (r < 0)
		return r;
	runs->count = options->seeds ? seeds.count : 1;
	runs->options = calloc(runs->count, sizeof(*runs->options));
	runs->results = calloc(runs->count, sizeof(*runs->results));
	if (!runs->options || !runs->results)
		return error_no_memory(error);
	if (options->record && runs->count > 1)
		return error_set(error, EINVAL,
				 "--record writes the log of one run; give one seed instead of %zu",
				 runs->count);
	for (size_t i = 0; i < runs->count; i++) {
		runs->options[i] = one;
		runs->options[i].place.seed = options->seeds ? seeds.items[i] : options->seed;
	}
	return 0;
}

static void print_csv(const struct runs *runs)
{
	printf("seed,arrived_percent,time,allocated_percent,fragmented_percent,pods_failed\n");
	for (size_t i = 0; i < runs->count; i++)
		for (size_t k = 0; k < runs->results[i].point_count; k++) {
			const struct run_point *point = &runs->results[i].points[k];

			printf("%" PRIu64 ",%g,%" PRId64 ",%.4f,%.4f,%zu\n",
			       runs->options[i].place.seed, point->arrived_percent, point->time,
			       point->allocated_percent, point->fragmented_percent, point->failed);
		}
}

/* The figures of a table, in its order. */
static double figure_of(const struct run_result *result, size_t figure)
{
	const double figures[] = { result->arrived_percent,    result->allocated_percent,
				   result->fragmented_percent, result->unallocated_gpus,
				   (double)result->placed,     (double)result->failed,
				   result->seconds * 1000 };

	return figures[figure];
}

static const struct {
	const char *title, *key;
	int decimals;
} figures[] = {
	{ "ARRIVED %", "arrived_percent", 2 },
	{ "ALLOCATED %", "allocated_percent", 3 },
	{ "FRAGMENTED %", "fragmented_percent", 3 },
	{ "FREE GPUS", "unallocated_gpus", 1 },
	{ "PLACED", "pods_placed", 0 },
	{ "FAILED", "pods_failed", 0 },
	{ "MS", NULL, 1 },
};

static struct simulate_statistics figure_statistics(const struct runs *runs, size_t figure)
{
	autofree double *values = calloc(runs->count, sizeof(*values));

	for (size_t i = 0; values && i < runs->count; i++)
		values[i] = figure_of(&runs->results[i], figure);
	return simulate_statistics_of(values, values ? runs->count : 0);
}

static void print_table(const struct runs *runs)
{
	autocolumns columns = COLUMNS_INIT(ARRAY_SIZE(figures) + 1);

	columns.right = ~1u;
	columns_add(&columns, "SEED");
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		columns_add(&columns, figures[i].title);
	for (size_t i = 0; i < runs->count; i++) {
		columns_addf(&columns, "%" PRIu64, runs->options[i].place.seed);
		for (size_t k = 0; k < ARRAY_SIZE(figures); k++)
			columns_addf(&columns, "%.*f", figures[k].decimals,
				     figure_of(&runs->results[i], k));
	}
	if (runs->count > 1) {
		columns_add(&columns, "mean");
		for (size_t k = 0; k < ARRAY_SIZE(figures); k++)
			columns_addf(&columns, "%.*f", figures[k].decimals,
				     figure_statistics(runs, k).mean);
	}
	print_columns(&columns, stdout);
}

/* Who found no place, by what was asked for; all runs together. */
static void print_classes(const struct runs *runs)
{
	autocolumns columns = COLUMNS_INIT(4);

	columns.right = ~1u;
	columns_add(&columns, "ASKED FOR");
	columns_add(&columns, "ARRIVED");
	columns_add(&columns, "FAILED");
	columns_add(&columns, "FAILED %");
	for (int class = 0; class <= TRACE_CLASS_MAX; class ++) {
		struct run_count sum = { 0 };

		for (size_t i = 0; i < runs->count; i++) {
			const struct run_result *result = &runs->results[i];
			const struct run_count *count = class < TRACE_CLASS_MAX
								? &result->classes[class]
								: &result->constrained;
			sum.arrived += count->arrived;
			sum.failed += count->failed;
		}
		columns_add(&columns, class < TRACE_CLASS_MAX
					      ? trace_class_to_string((enum trace_class) class)
					      : "constrained");
		columns_addf(&columns, "%zu", sum.arrived);
		columns_addf(&columns, "%zu", sum.failed);
		columns_addf(&columns, "%.2f",
			     sum.arrived ? 100.0 * (double)sum.failed / (double)sum.arrived : 0);
	}
	putchar('\n');
	print_columns(&columns, stdout);
}

static int run_to_json(const struct runs *runs, size_t index, struct json_object *object)
{
	int r = simulate_result_to_json(&runs->options[index], &runs->results[index], object);
	if (r == 0)
		r = simulate_add_number(object, "read_seconds", runs->read_seconds, 6);
	if (r == 0)
		r = simulate_add_notes(runs->trace, object);
	if (r == 0)
		r = simulate_add_running(runs->trace, &runs->results[index], object);
	if (r == 0)
		r = simulate_add_points(&runs->results[index], runs->options[index].replay, object);
	return r;
}

/* Means of all, and each in "runs". */
static int runs_to_json(const struct runs *runs, struct json_object *object)
{
	struct json_object *array = json_object_new_array();
	const struct policy_options *place = &runs->options[0].place;

	if (json_add(object, "runs", array) < 0 ||
	    json_add_string(object, "policy", node_policy_to_string(place->policy)) < 0 ||
	    json_add_string(object, "ties", tie_rule_to_string(place->ties)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		if (figures[i].key && simulate_add_number(object, figures[i].key,
							  figure_statistics(runs, i).mean, 4) < 0)
			return -ENOMEM;
	if (simulate_add_number(object, "allocated_deviation", figure_statistics(runs, 1).deviation,
				4) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < runs->count; i++) {
		struct json_object *run = json_object_new_object();

		if (run_to_json(runs, i, run) < 0) {
			json_object_put(run);
			return -ENOMEM;
		}
		if (json_append(array, run) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int print_runs_json(const struct runs *runs)
{
	autojson *object = json_object_new_object();
	struct error error = ERROR_INIT;

	int r = runs->count == 1 ? run_to_json(runs, 0, object) : runs_to_json(runs, object);
	if (r < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(object);
}

static int print_runs(const struct runs *runs, const struct simulate_run_options *options)
{
	if (options->common.json)
		return print_runs_json(runs);
	if (options->csv) {
		print_csv(runs);
		return EXIT_DONE;
	}
	print_table(runs);
	print_classes(runs);
	simulate_print_running(runs->trace, &runs->results[0]);
	return EXIT_DONE;
}

static int run_all(struct runs *runs, const struct simulate_run_options *options,
		   struct error *error)
{
	simulate_progress_start(&runs->progress, runs->count, options->progress);
	int r = parallel_run(runs->count,
			     options->jobs ? (unsigned)options->jobs : parallel_cores(), run_one,
			     runs, error);
	simulate_progress_end(&runs->progress);
	return r;
}

static int write_line(void *data, const char *line, size_t length)
{
	errno = 0;
	if (fwrite(line, 1, length, data) == length)
		return 0;
	return errno ? -errno : -EIO;
}

/* What the disk did not take is told at the latest when the file is closed. */
static int run_recorded(struct runs *runs, const struct simulate_run_options *options,
			struct error *error)
{
	FILE *file = fopen(options->record, "we");

	if (!file)
		return error_set_errno(error, errno, "cannot write %s", options->record);
	runs->options[0].record = write_line;
	runs->options[0].record_data = file;
	int r = run_all(runs, options, error);
	bool closed = fclose(file) == 0;

	if (r == 0 && !closed)
		r = error_set_errno(error, errno, "cannot write the log of decisions");
	return r < 0 ? error_wrap(error, "%s", options->record) : 0;
}

static int simulate_run(void *data, int argc, char **argv)
{
	const struct simulate_run_options *options = data;
	cleanup(runs_release) struct runs runs = { .count = 0 };
	autotrace trace;
	struct error error = ERROR_INIT;

	(void)argc;
	(void)argv;
	trace_init(&trace);
	if (simulate_check_inputs("sim run", &options->inputs, &error) < 0 ||
	    runs_set(&runs, options, &error) < 0)
		return fail(EXIT_USAGE, &error);
	if (simulate_read_inputs(&options->inputs, &trace, &runs.read_seconds, &error) < 0)
		return fail(EXIT_FAILED, &error);
	runs.trace = &trace;
	for (size_t i = 0; i < runs.count; i++)
		runs.options[i].arrival = simulate_arrival(runs.options[i].arrival, &trace);
	int r = options->record ? run_recorded(&runs, options, &error)
				: run_all(&runs, options, &error);
	if (r < 0)
		return fail(EXIT_FAILED, &error);
	int code = print_runs(&runs, options);
	if (code != EXIT_DONE || !options->plot)
		return code;
	return simulate_plot_runs(options->plot, &trace, runs.options, runs.results, runs.count);
}

const struct command command_sim_run = {
	.name = "sim run",
	.summary = "let the Pods of a list arrive at a cluster and say what fits",
	.operands = "",
	.description =
		"The list is shuffled by the seed. While it asks for more than the arrival, Pods "
		"are removed at random; then Pods of the list are appended at random until the "
		"next would ask for more. Nobody leaves, and who does not fit is dropped: this is "
		"the protocol of Weng et al., USENIX ATC 2023. With --arrival 0 each Pod of the "
		"list comes once. With --replay Pods come and go at their times.\n"
		"\n" SIMULATE_INPUT_TEXT "\n\n"
		"Allocated is what was given, of all cards. Fragmented is what is free and of no "
		"use to "
		"the Pods of the list, the mean over their most frequent kinds (95 %), of all "
		"cards. "
		"Constrained Pods accept some models only; they are in another class, too.",
	.examples =
		"gpupool sim run --nodes nodes.csv --pods pods.csv --policy fgd --ties bestfit\n"
		"gpupool sim run --nodes nodes.csv --pods pods.csv --seeds 42..51 --json\n"
		"gpupool sim run --cluster-text '20 nodes of 8 h100; 300 Pods of 12 GiB'",
	.options = simulate_run_rows,
	.run = simulate_run,
	.size = sizeof(struct simulate_run_options),
};
