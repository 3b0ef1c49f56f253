/* SPDX-License-Identifier: Apache-2.0 */
/* Several policies on the same arrivals: means, deviations and paired differences. */
#include "simulate_plot.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#define LIST_MAX 64 /* policies, files, readings */

struct simulate_compare_options {
	struct common_options common;
	struct simulate_inputs inputs;
	const char *policies, *ties, *seeds, *at, *arrival, *plot;
	unsigned long jobs, load;
	bool original, replay, csv, progress;
};

static const struct option_row simulate_compare_rows[] = {
	SIMULATE_INPUT_ROWS(struct simulate_compare_options),
	{ .name = "policies",
	  .kind = OPTION_STRING,
	  .argument = "NAME,...",
	  .help = "NAME, NAME/TIES, NAME+look-ahead=64, NAME+moves=1; differences are to the first",
	  .offset = offsetof(struct simulate_compare_options, policies),
	  .fallback = "default,fgd/bestfit" },
	SIMULATE_TIES_ROW(struct simulate_compare_options),
	{ .name = "seeds",
	  .kind = OPTION_STRING,
	  .argument = "N..M",
	  .help = "one run for each",
	  .offset = offsetof(struct simulate_compare_options, seeds),
	  .fallback = "42..51" },
	SIMULATE_ARRIVAL_ROW(struct simulate_compare_options),
	{ .name = "at",
	  .kind = OPTION_STRING,
	  .argument = "PERCENT,...",
	  .help = "readings on the way (default: the end)",
	  .offset = offsetof(struct simulate_compare_options, at) },
	{ .name = "replay",
	  .kind = OPTION_FLAG,
	  .help = "Pods arrive and end at the times of the list instead; one seed is enough "
		  "without --load",
	  .offset = offsetof(struct simulate_compare_options, replay) },
	{ .name = "load",
	  .kind = OPTION_UINT,
	  .argument = "PERCENT",
	  .help = "with --replay: the list three times over in orders of the seed, lives stretched "
		  "so that so much of all cards is asked for at once",
	  .offset = offsetof(struct simulate_compare_options, load),
	  .minimum = 0,
	  .maximum = 1000,
	  .fallback = "0" },
	{ .name = "original",
	  .kind = OPTION_FLAG,
	  .help = "with all peculiarities of the published simulator",
	  .offset = offsetof(struct simulate_compare_options, original) },
	SIMULATE_JOBS_ROW(struct simulate_compare_options),
	SIMULATE_PROGRESS_ROW(struct simulate_compare_options),
	COMMON_ROW_JSON(struct simulate_compare_options),
	{ .name = "csv",
	  .kind = OPTION_FLAG,
	  .help = "print the rows as CSV",
	  .offset = offsetof(struct simulate_compare_options, csv) },
	SIMULATE_PLOT_ROW(struct simulate_compare_options),
	{ .name = NULL },
};

struct sample { /* what is kept of one run */
	double at[LIST_MAX];
	double seconds;
	struct run_count classes[TRACE_CLASS_MAX + 1]; /* constrained is the last */
};

struct comparison {
	const struct simulate_compare_options *options;
	char *pods_text, *policies_text; /* owned; cut at the commas */
	char *pods[LIST_MAX], *policies[LIST_MAX];
	size_t pods_count, policy_count;
	unsigned arrival;
	struct run_options runs[LIST_MAX]; /* by policy */
	struct simulate_numbers seeds, at;
	struct trace traces[LIST_MAX];
	struct sample *samples;     /* owned; by file, policy, seed */
	struct run_result *results; /* owned; the same for --plot, else NULL */
	struct simulate_progress progress;
};

static size_t runs_of(const struct comparison *comparison)
{
	return comparison->pods_count * comparison->policy_count * comparison->seeds.count;
}

static void comparison_release(struct comparison *comparison)
{
	free(comparison->pods_text);
	free(comparison->policies_text);
	for (size_t i = 0; i < comparison->pods_count; i++)
		trace_release(&comparison->traces[i]);
	for (size_t i = 0; comparison->results && i < runs_of(comparison); i++)
		run_result_release(&comparison->results[i]);
	free(comparison->results);
	free(comparison->samples);
	simulate_numbers_release(&comparison->seeds);
	simulate_numbers_release(&comparison->at);
}

static int split(const char *option, const char *text, char **ret_copy, char **items,
		 size_t *ret_count, struct error *error)
{
	char *rest = *ret_copy = strdup(text);

	if (!rest)
		return error_no_memory(error);
	for (char *item; (item = strsep(&rest, ","));) {
		if (*ret_count == LIST_MAX)
			return error_set(error, E2BIG, "--%s names more than %d; name fewer",
					 option, LIST_MAX);
		items[(*ret_count)++] = item;
	}
	return 0;
}

/* Lists of Pods; without any the cluster is the one. */
static int set_pods(struct comparison *comparison, struct error *error)
{
	const struct simulate_inputs *inputs = &comparison->options->inputs;
	const char *name = inputs->pods      ? inputs->pods
			   : inputs->cluster ? inputs->cluster
			   : inputs->nodes   ? inputs->nodes
					     : "text";
	int r = split("pods", name, &comparison->pods_text, comparison->pods,
		      &comparison->pods_count, error);

	for (size_t i = 0; r == 0 && comparison->pods_count > 1 && i < comparison->pods_count; i++)
		if (strcmp(comparison->pods[i], "-") == 0)
			r = error_set(error, EINVAL,
				      "--pods - is one list alone; name files instead");
	if (r == 0 && comparison->pods_count > 1 &&
	    ((inputs->nodes && strcmp(inputs->nodes, "-") == 0) ||
	     (inputs->cluster && strcmp(inputs->cluster, "-") == 0)))
		r = error_set(error, EINVAL,
			      "standard input can be read once; with several lists of Pods name "
			      "a file of nodes");
	return r;
}

static int comparison_set(struct comparison *comparison, struct error *error)
{
	const struct simulate_compare_options *options = comparison->options;

	int r = simulate_check_inputs("sim compare", &options->inputs, error);
	if (r == 0)
		r = set_pods(comparison, error);
	if (r == 0)
		r = simulate_read_arrival(options->arrival, &comparison->arrival, error);
	if (r == 0)
		r = split("policies", options->policies, &comparison->policies_text,
			  comparison->policies, &comparison->policy_count, error);
	for (size_t i = 0; r == 0 && i < comparison->policy_count; i++)
		r = simulate_read_freedom(comparison->policies[i], options->ties,
					  &comparison->runs[i], error);
	if (r == 0)
		r = simulate_read_numbers("seeds", options->seeds, &comparison->seeds, error);
	if (r == 0 && options->at)
		r = simulate_read_numbers("at", options->at, &comparison->at, error);
	if (r == 0 && comparison->at.count > LIST_MAX)
		r = error_set(error, E2BIG, "--at names more than %d readings", LIST_MAX);
	return r;
}

static int read_trace(void *context, size_t index, struct error *error)
{
	struct comparison *comparison = context;
	struct simulate_inputs inputs = comparison->options->inputs;
	double seconds;

	if (inputs.pods)
		inputs.pods = comparison->pods[index];
	return simulate_read_inputs(&inputs, &comparison->traces[index], &seconds, error);
}

static void take_sample(const struct comparison *comparison, const struct run_result *result,
			struct sample *sample)
{
	sample->at[0] = result->allocated_percent;
	for (size_t i = 0; i < comparison->at.count; i++)
		sample->at[i] = run_allocated_at(result, (double)comparison->at.items[i]);
	sample->seconds = result->seconds;
	memcpy(sample->classes, result->classes, sizeof(result->classes));
	sample->classes[TRACE_CLASS_MAX] = result->constrained;
}

static int run_one(void *context, size_t index, struct error *error)
{
	struct comparison *comparison = context;
	size_t seeds = comparison->seeds.count, policies = comparison->policy_count;
	size_t pods = index / seeds / policies;
	struct run_options options = comparison->runs[index / seeds % policies];
	cleanup(run_result_release) struct run_result result = { .points = NULL };

	options.arrival = simulate_arrival(comparison->arrival, &comparison->traces[pods]);
	options.original = comparison->options->original;
	options.replay = comparison->options->replay;
	options.load = (unsigned)comparison->options->load;
	options.place.seed = comparison->seeds.items[index % seeds];
	int r = run_trace(&comparison->traces[pods], &options, &result, error);
	if (r == 0)
		take_sample(comparison, &result, &comparison->samples[index]);
	if (r == 0 && comparison->results) {
		comparison->results[index] = result;
		result = (struct run_result){ .points = NULL };
	}
	simulate_progress_step(&comparison->progress);
	return r < 0 ? error_wrap(error, "%s", comparison->pods[pods]) : 0;
}

static int comparison_run(struct comparison *comparison, struct error *error)
{
	unsigned jobs =
		comparison->options->jobs ? (unsigned)comparison->options->jobs : parallel_cores();
	size_t runs = runs_of(comparison);

	for (size_t i = 0; i < comparison->pods_count; i++)
		trace_init(&comparison->traces[i]);
	int r = parallel_run(comparison->pods_count, jobs, read_trace, comparison, error);
	if (r < 0)
		return r;
	comparison->samples = calloc(runs, sizeof(*comparison->samples));
	if (comparison->options->plot)
		comparison->results = calloc(runs, sizeof(*comparison->results));
	if (!comparison->samples || (comparison->options->plot && !comparison->results))
		return error_no_memory(error);
	simulate_progress_start(&comparison->progress, runs, comparison->options->progress);
	r = parallel_run(runs, jobs, run_one, comparison, error);
	simulate_progress_end(&comparison->progress);
	return r;
}

struct row { /* of one file, policy and reading */
	const char *pods, *policy;
	double percent;
	struct simulate_statistics value, difference; /* to the first policy, paired by seed */
	double milliseconds;
	double failed[TRACE_CLASS_MAX + 1]; /* percent of those that arrived, over all seeds */
};

static const struct sample *samples_of(const struct comparison *comparison, size_t pods,
				       size_t policy)
{
	return &comparison->samples[(pods * comparison->policy_count + policy) *
				    comparison->seeds.count];
}

/* "openb_pod_list_default.csv" is shown without folder and ending. */
static const char *short_name(char *path)
{
	char *slash = strrchr(path, '/');
	char *name = slash ? slash + 1 : path;
	char *ending = strstr(name, ".csv");

	if (ending && !ending[4])
		*ending = '\0';
	return name;
}

/* How much has arrived; NAN for a mean over time, which is read at no arrival. */
static double percent_of(const struct comparison *comparison, size_t pods, size_t reading)
{
	if (comparison->at.count)
		return (double)comparison->at.items[reading];
	if (comparison->options->replay)
		return NAN;
	return (double)simulate_arrival(comparison->arrival, &comparison->traces[pods]);
}

static int row_make(struct comparison *comparison, size_t pods, size_t policy, size_t reading,
		    struct row *row)
{
	const struct sample *own = samples_of(comparison, pods, policy);
	const struct sample *first = samples_of(comparison, pods, 0);
	size_t count = comparison->seeds.count;
	autofree double *values = calloc(count * 2, sizeof(*values));

	if (!values)
		return -ENOMEM;
	*row = (struct row){ .pods = short_name(comparison->pods[pods]),
			     .policy = comparison->policies[policy],
			     .percent = percent_of(comparison, pods, reading) };
	for (size_t i = 0; i < count; i++) {
		values[i] = own[i].at[reading];
		values[count + i] = own[i].at[reading] - first[i].at[reading];
		row->milliseconds += own[i].seconds * 1000 / (double)count;
	}
	row->value = simulate_statistics_of(values, count);
	row->difference = simulate_statistics_of(values + count, count);
	for (int class = 0; class <= TRACE_CLASS_MAX; class ++) {
		struct run_count sum = { 0 };

		for (size_t i = 0; i < count; i++) {
			sum.arrived += own[i].classes[class].arrived;
			sum.failed += own[i].classes[class].failed;
		}
		if (sum.arrived)
			row->failed[class] = 100 * (double)sum.failed / (double)sum.arrived;
	}
	return 0;
}

static const char *class_name(int class)
{
	return class < TRACE_CLASS_MAX ? trace_class_to_string((enum trace_class) class)
				       : "constrained";
}

/* Where rows go: one of these is set. */
struct output {
	struct columns *columns;
	struct json_object *array;
};

static void row_print(struct columns *columns, const struct row *row)
{
	columns_add(columns, row->pods);
	columns_add(columns, row->policy);
	if (isnan(row->percent))
		columns_add(columns, NULL);
	else
		columns_addf(columns, "%.0f", row->percent);
	columns_addf(columns, "%.3f", row->value.mean);
	columns_addf(columns, "%.3f", row->value.deviation);
	columns_addf(columns, "%+.3f", row->difference.mean);
	columns_addf(columns, "%.3f", row->difference.error2);
	columns_addf(columns, "%.1f", row->milliseconds);
}

static void row_csv(const struct row *row)
{
	printf("%s,%s,", row->pods, row->policy);
	if (!isnan(row->percent))
		printf("%.0f", row->percent);
	printf(",%.4f,%.4f,%.4f,%.4f,%.2f", row->value.mean, row->value.deviation,
	       row->difference.mean, row->difference.error2, row->milliseconds);
	for (int class = 0; class <= TRACE_CLASS_MAX; class ++)
		printf(",%.4f", row->failed[class]);
	putchar('\n');
}

static int row_fill_json(const struct row *row, struct json_object *object)
{
	struct json_object *failed = json_object_new_object();

	if (json_add(object, "failed_percent_by_class", failed) < 0 ||
	    json_add_string(object, "pods", row->pods) < 0 ||
	    json_add_string(object, "policy", row->policy) < 0 ||
	    simulate_add_number(object, "arrived_percent", row->percent, 0) < 0 ||
	    simulate_add_number(object, "allocated_percent", row->value.mean, 4) < 0 ||
	    simulate_add_number(object, "deviation", row->value.deviation, 4) < 0 ||
	    simulate_add_number(object, "difference", row->difference.mean, 4) < 0 ||
	    simulate_add_number(object, "difference_error2", row->difference.error2, 4) < 0 ||
	    simulate_add_number(object, "seconds", row->milliseconds / 1000, 6) < 0)
		return -ENOMEM;
	for (int class = 0; class <= TRACE_CLASS_MAX; class ++)
		if (simulate_add_number(failed, class_name(class), row->failed[class], 4) < 0)
			return -ENOMEM;
	return 0;
}

static int row_json(const struct row *row, struct json_object *array)
{
	struct json_object *object = json_object_new_object();

	if (row_fill_json(row, object) < 0) {
		json_object_put(object);
		return -ENOMEM;
	}
	return json_append(array, object);
}

static int rows_put(struct comparison *comparison, const struct output *output)
{
	size_t readings = comparison->at.count ? comparison->at.count : 1;
	size_t count = comparison->pods_count * comparison->policy_count * readings;

	for (size_t i = 0; i < count; i++) {
		size_t policy = i / readings % comparison->policy_count;
		struct row row;

		int r = row_make(comparison, i / readings / comparison->policy_count, policy,
				 i % readings, &row);
		if (r == 0 && output->array)
			r = row_json(&row, output->array);
		else if (r == 0 && output->columns)
			row_print(output->columns, &row);
		else if (r == 0)
			row_csv(&row);
		if (r < 0)
			return r;
	}
	return 0;
}

static int print_table(struct comparison *comparison)
{
	static const char *const titles[] = { "PODS", "POLICY",     "AT %",    "ALLOCATED %",
					      "SD",   "DIFFERENCE", "+- 2 SE", "MS" };
	autocolumns columns = COLUMNS_INIT(ARRAY_SIZE(titles));

	columns.right = ~3u;
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		columns_add(&columns, titles[i]);
	int r = rows_put(comparison, &(struct output){ .columns = &columns });
	if (r == 0)
		print_columns(&columns, stdout);
	return r;
}

static int print_csv(struct comparison *comparison)
{
	printf("pods,policy,arrived_percent,allocated_percent,deviation,difference,"
	       "difference_error2,milliseconds");
	for (int class = 0; class <= TRACE_CLASS_MAX; class ++)
		printf(",failed_%s_percent", class_name(class));
	putchar('\n');
	return rows_put(comparison, &(struct output){ .columns = NULL });
}

static int print_object(struct comparison *comparison)
{
	autojson *object = json_object_new_object();
	struct json_object *array = json_object_new_array();

	if (json_add(object, "rows", array) < 0 ||
	    json_add_bool(object, "original", comparison->options->original) < 0 ||
	    json_add_uint(object, "runs_each", comparison->seeds.count) < 0 ||
	    rows_put(comparison, &(struct output){ .array = array }) < 0)
		return -ENOMEM;
	print_json(object);
	return 0;
}

static int comparison_print(struct comparison *comparison)
{
	if (comparison->options->common.json)
		return print_object(comparison);
	return comparison->options->csv ? print_csv(comparison) : print_table(comparison);
}

/* A name of files: what is no letter, digit, '.' or '-' becomes '_'. */
static void make_prefix(const char *name, char *ret, size_t size)
{
	snprintf(ret, size, "%.100s-", name);
	for (char *at = ret; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '.' && *at != '-')
			*at = '_';
}

static int plot_list(struct comparison *comparison, size_t pods, struct error *error)
{
	size_t seeds = comparison->seeds.count, policies = comparison->policy_count;
	const char *name = short_name(comparison->pods[pods]);
	struct run_options options = { .arrival = simulate_arrival(comparison->arrival,
								   &comparison->traces[pods]),
				       .place.seed = comparison->seeds.items[0],
				       .original = comparison->options->original,
				       .replay = comparison->options->replay };
	autofree const struct run_result **results = calloc(policies * seeds, sizeof(*results));
	struct simulate_curve curves[LIST_MAX];
	char title[256], rest[128], prefix[128] = "";

	if (!results)
		return error_no_memory(error);
	for (size_t i = 0; i < policies * seeds; i++)
		results[i] = &comparison->results[pods * policies * seeds + i];
	for (size_t i = 0; i < policies; i++)
		curves[i] = (struct simulate_curve){ .policy = comparison->policies[i],
						     .runs = &results[i * seeds],
						     .count = seeds };
	if (comparison->pods_count > 1)
		make_prefix(name, prefix, sizeof(prefix));
	simulate_plot_describe(&options, seeds, comparison->seeds.items[seeds - 1], rest,
			       sizeof(rest));
	snprintf(title, sizeof(title), "%.100s, %s", name, rest);
	return simulate_plot_curves(&(struct simulate_plot){ .directory = comparison->options->plot,
							     .prefix = prefix,
							     .title = title,
							     .replay = options.replay },
				    curves, policies, error);
}

static int plot_lists(struct comparison *comparison)
{
	struct error error = ERROR_INIT;
	int r = 0;

	for (size_t i = 0; comparison->results && r == 0 && i < comparison->pods_count; i++)
		r = plot_list(comparison, i, &error);
	return r < 0 ? simulate_plot_fail(r, &error) : EXIT_DONE;
}

static int simulate_compare(void *data, int argc, char **argv)
{
	cleanup(comparison_release) struct comparison comparison = { .options = data };
	struct error error = ERROR_INIT;

	(void)argc;
	(void)argv;
	if (comparison_set(&comparison, &error) < 0) {
		comparison.pods_count = 0;
		return fail(EXIT_USAGE, &error);
	}
	if (comparison_run(&comparison, &error) < 0)
		return fail(EXIT_FAILED, &error);
	if (comparison_print(&comparison) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return plot_lists(&comparison);
}

const struct command command_sim_compare = {
	.name = "sim compare",
	.summary = "compare policies on the same arrivals",
	.operands = "",
	.description =
		"Runs what 'sim run' runs for each list, policy and seed. The difference is to "
		"the first policy, paired by seed, with two standard errors of its mean.",
	.examples = "gpupool sim compare --nodes nodes.csv --pods a.csv,b.csv "
		    "--policies fgd/bestfit,default --at 95,100,130",
	.options = simulate_compare_rows,
	.run = simulate_compare,
	.size = sizeof(struct simulate_compare_options),
};
