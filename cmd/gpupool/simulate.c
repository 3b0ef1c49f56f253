/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define NUMBERS_MAX     100000
#define ARRIVAL_MAX     1000
#define ARRIVAL_DEFAULT 130 /* percent: that of the published protocol */
#define PROGRESS_WAIT   1.0 /* seconds before the first line */
#define RUNNING_MAX     10  /* Pods that are named in a text */
#define PROGRESS_STEP   0.5 /* seconds between lines */

double simulate_now(void)
{
	struct timespec time = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void simulate_numbers_release(struct simulate_numbers *numbers)
{
	free(numbers->items);
	*numbers = (struct simulate_numbers){ .items = NULL };
}

static int fail_numbers(const char *option, const char *text, struct error *error)
{
	return error_set(error, EINVAL,
			 "--%s wants whole numbers, not '%s'; write for example 42, 42..51 or "
			 "1,2,7..9",
			 option, text);
}

/* "7" or "7..9" */
static int add_range(const char *option, char *text, struct simulate_numbers *numbers,
		     struct error *error)
{
	char *dots = strstr(text, "..");
	uint64_t first = 0, last = 0;

	if (dots)
		*dots = '\0';
	if (parse_uint(text, 0, UINT64_MAX / 2, &first) < 0 ||
	    parse_uint(dots ? dots + 2 : text, first, UINT64_MAX / 2, &last) < 0)
		return fail_numbers(option, text, error);
	if (last - first >= NUMBERS_MAX || numbers->count > NUMBERS_MAX)
		return error_set(error, E2BIG, "--%s names more than %d numbers; name fewer",
				 option, NUMBERS_MAX);
	for (uint64_t at = first; at <= last; at++) {
		unsigned long *item = VEC_ADD(&numbers->items, &numbers->count, &numbers->capacity);

		if (!item)
			return error_no_memory(error);
		*item = at;
	}
	return 0;
}

int simulate_read_numbers(const char *option, const char *text, struct simulate_numbers *ret,
			  struct error *error)
{
	cleanup(simulate_numbers_release) struct simulate_numbers numbers = { .items = NULL };
	autofree char *copy = strdup(text);
	char *rest = copy;

	if (!copy)
		return error_no_memory(error);
	for (char *part; (part = strsep(&rest, ","));) {
		int r = add_range(option, part, &numbers, error);
		if (r < 0)
			return r;
	}
	*ret = numbers;
	numbers = (struct simulate_numbers){ .items = NULL };
	return 0;
}

int simulate_read_policy(const char *text, const char *ties, struct policy_options *ret,
			 struct error *error)
{
	size_t length = strcspn(text, "/");
	autofree char *name = strndup(text, length);

	if (!name)
		return error_no_memory(error);
	*ret = (struct policy_options){
		.policy = node_policy_from_string(name),
		.ties = tie_rule_from_string(text[length] ? text + length + 1 : ties),
	};
	if ((int)ret->policy < 0)
		return error_set(error, EINVAL, "no policy '%s'; write one of %s", name,
				 SIMULATE_POLICIES);
	if ((int)ret->ties < 0)
		return error_set(error, EINVAL, "'%s' names no rule for ties; write one of %s",
				 text, SIMULATE_TIES);
	return 0;
}

/* "look-ahead", "look-ahead=64", "moves=1" */
static int read_freedom(const char *text, struct run_options *ret, struct error *error)
{
	const struct {
		const char *name;
		unsigned usual, highest, unit;
		unsigned *value;
	} rows[] = {
		{ "look-ahead", 64, SEATING_LOOK_AHEAD_MAX, 1, &ret->look_ahead },
		{ "moves", 1, 100, 10, &ret->moves_permille },
	};
	size_t length = strcspn(text, "=");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t value = rows[i].usual;

		if (strlen(rows[i].name) != length || strncmp(text, rows[i].name, length) != 0)
			continue;
		if (text[length] && parse_uint(text + length + 1, 1, rows[i].highest, &value) < 0)
			return error_set(error, EINVAL, "%s is a number from 1 to %u, not '%s'",
					 rows[i].name, rows[i].highest, text + length + 1);
		*rows[i].value = (unsigned)value * rows[i].unit;
		return 0;
	}
	return error_set(error, EINVAL,
			 "a policy can have '+look-ahead=64' and '+moves=1' behind it, not '+%s'",
			 text);
}

int simulate_read_freedom(const char *text, const char *ties, struct run_options *ret,
			  struct error *error)
{
	autofree char *copy = strdup(text);
	char *rest = copy;

	if (!copy)
		return error_no_memory(error);
	int r = simulate_read_policy(strsep(&rest, "+"), ties, &ret->place, error);
	for (char *part; r == 0 && (part = strsep(&rest, "+"));)
		r = read_freedom(part, ret, error);
	return r;
}

int simulate_check_inputs(const char *command, const struct simulate_inputs *inputs,
			  struct error *error)
{
	const char *const files[] = { inputs->nodes, inputs->pods, inputs->cluster };
	unsigned standard = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		standard += files[i] && strcmp(files[i], "-") == 0;
	if (standard > 1)
		return error_set(error, EINVAL,
				 "standard input can be read once; write - for one option only");
	if (inputs->nodes || inputs->cluster || inputs->cluster_text)
		return 0;
	return error_set(error, EINVAL,
			 "'%s' wants --nodes FILE and --pods FILE, --cluster FILE, or "
			 "--cluster-text TEXT",
			 command);
}

/* One line for what was read, one for each thing that was passed over or assumed. */
static int say_notes(const struct trace *trace, struct error *error)
{
	cleanup(string_list_release) struct string_list notes = { .count = 0 };

	if (trace_notes(trace, &notes) < 0)
		return error_no_memory(error);
	for (size_t i = 0; i < notes.count; i++)
		say("%s%s", i ? "  " : "read: ", notes.items[i]);
	return 0;
}

int simulate_read_inputs(const struct simulate_inputs *inputs, struct trace *trace,
			 double *ret_seconds, struct error *error)
{
	const struct {
		const char *path;
		enum trace_part parts;
	} files[] = { { inputs->cluster, TRACE_ALL },
		      { inputs->nodes, TRACE_NODES },
		      { inputs->pods, TRACE_PODS } };
	const char *text = inputs->cluster_text;
	double start = simulate_now();
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files) && r == 0; i++)
		if (files[i].path)
			r = trace_read(trace, files[i].parts, files[i].path, error);
	if (r == 0 && text)
		r = trace_parse_short(trace, TRACE_ALL, text, strlen(text), "--cluster-text",
				      error);
	if (r == 0)
		r = trace_finish(trace, error);
	*ret_seconds = simulate_now() - start;
	return r < 0 ? r : say_notes(trace, error);
}

int simulate_add_notes(const struct trace *trace, struct json_object *object)
{
	cleanup(string_list_release) struct string_list notes = { .count = 0 };
	struct json_object *array = json_object_new_array();

	if (json_add(object, "notes", array) < 0 || trace_notes(trace, &notes) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < notes.count; i++)
		if (json_append_string(array, notes.items[i]) < 0)
			return -ENOMEM;
	return 0;
}

int simulate_read_arrival(const char *text, unsigned *ret, struct error *error)
{
	uint64_t percent = SIMULATE_ARRIVAL_DEFAULT;

	if (text && parse_uint(text, 0, ARRIVAL_MAX, &percent) < 0)
		return error_set(error, EINVAL,
				 "--arrival '%s' is no whole number from 0 to %d; write one", text,
				 ARRIVAL_MAX);
	*ret = (unsigned)percent;
	return 0;
}

unsigned simulate_arrival(unsigned arrival, const struct trace *trace)
{
	if (arrival != SIMULATE_ARRIVAL_DEFAULT)
		return arrival;
	return trace->listed && !trace->running_count ? ARRIVAL_DEFAULT : 0;
}

void simulate_progress_start(struct simulate_progress *progress, size_t all, bool forced)
{
	bool terminal = isatty(STDERR_FILENO) == 1;

	*progress = (struct simulate_progress){ .lock = PTHREAD_MUTEX_INITIALIZER,
						.all = all,
						.start = simulate_now(),
						.wanted = forced || terminal,
						.terminal = terminal };
	progress->shown = progress->start + PROGRESS_WAIT - PROGRESS_STEP;
}

/* WHAT: "3 of 9 runs", when it is time to say so again. */
static void show(struct simulate_progress *progress, const char *what)
{
	double time = simulate_now();

	if (!progress->wanted || time - progress->shown < PROGRESS_STEP)
		return;
	progress->shown = time;
	fprintf(stderr, "%sgpupool: %s, %.0f s%s", progress->terminal ? "\r" : "", what,
		time - progress->start, progress->terminal ? "" : "\n");
}

void simulate_progress_step(struct simulate_progress *progress)
{
	char what[64];

	pthread_mutex_lock(&progress->lock);
	progress->done++;
	snprintf(what, sizeof(what), "%zu of %zu runs", progress->done, progress->all);
	show(progress, what);
	pthread_mutex_unlock(&progress->lock);
}

void simulate_progress_pods(void *data, size_t pods)
{
	struct simulate_progress *progress = data;
	char what[64];

	snprintf(what, sizeof(what), "%zu Pods", pods);
	pthread_mutex_lock(&progress->lock);
	show(progress, what);
	pthread_mutex_unlock(&progress->lock);
}

void simulate_progress_end(struct simulate_progress *progress)
{
	if (progress->terminal && progress->shown > progress->start + PROGRESS_WAIT - PROGRESS_STEP)
		fputc('\n', stderr);
	pthread_mutex_destroy(&progress->lock);
}

int simulate_add_number(struct json_object *object, const char *key, double value, int decimals)
{
	char text[64];

	if (!isfinite(value))
		return json_add_null(object, key);
	snprintf(text, sizeof(text), "%.*f", decimals, value);
	struct json_object *number = json_object_new_double(value);
	if (number && json_set_line(number, 0, text) < 0) {
		json_object_put(number);
		number = NULL;
	}
	return json_add(object, key, number);
}

static int add_failures(const struct run_result *result, struct json_object *object)
{
	struct json_object *arrived = json_object_new_object();
	struct json_object *failed = json_object_new_object();
	int r = 0;

	for (int i = 0; i < TRACE_CLASS_MAX && r == 0; i++) {
		const char *name = trace_class_to_string((enum trace_class)i);

		r = json_add_uint(arrived, name, result->classes[i].arrived);
		if (r == 0)
			r = json_add_uint(failed, name, result->classes[i].failed);
	}
	if (r == 0)
		r = json_add_uint(arrived, "constrained", result->constrained.arrived);
	if (r == 0)
		r = json_add_uint(failed, "constrained", result->constrained.failed);
	if (r < 0) {
		json_object_put(arrived);
		json_object_put(failed);
		return r;
	}
	r = json_add(object, "arrived_by_class", arrived);
	if (r < 0) {
		json_object_put(failed);
		return r;
	}
	return json_add(object, "failed_by_class", failed);
}

static int add_figures(const struct run_result *result, struct json_object *object)
{
	const struct {
		const char *key;
		double value;
		int decimals;
	} figures[] = {
		{ "arrived_percent", result->arrived_percent, 4 },
		{ "allocated_percent", result->allocated_percent, 4 },
		{ "peak_percent", result->peak_percent, 4 },
		{ "unallocated_gpus", result->unallocated_gpus, 3 },
		{ "fragmented_percent", result->fragmented_percent, 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		if (simulate_add_number(object, figures[i].key, figures[i].value,
					figures[i].decimals) < 0)
			return -ENOMEM;
	return 0;
}

int simulate_result_to_json(const struct run_options *options, const struct run_result *result,
			    struct json_object *object)
{
	char checksum[24];

	snprintf(checksum, sizeof(checksum), "%016llx", (unsigned long long)result->checksum);
	if (json_add_string(object, "policy", node_policy_to_string(options->place.policy)) < 0 ||
	    json_add_string(object, "ties", tie_rule_to_string(options->place.ties)) < 0 ||
	    json_add_uint(object, "seed", options->place.seed) < 0 ||
	    json_add_bool(object, "original", options->original) < 0 ||
	    add_figures(result, object) < 0 ||
	    json_add_uint(object, "pods_placed", result->placed) < 0 ||
	    json_add_uint(object, "pods_failed", result->failed) < 0 ||
	    json_add_uint(object, "look_ahead", options->look_ahead) < 0 ||
	    json_add_uint(object, "moves_percent", options->moves_permille / 10) < 0 ||
	    json_add_uint(object, "pods_moved", result->moved) < 0 ||
	    add_failures(result, object) < 0 || json_add_string(object, "checksum", checksum) < 0 ||
	    simulate_add_number(object, "seconds", result->seconds, 6) < 0)
		return -ENOMEM;
	return options->wait ? simulate_add_number(object, "wait_seconds", result->wait_seconds, 1)
			     : 0;
}

static int add_point(const struct run_point *point, bool replay, struct json_object *array)
{
	struct json_object *object = json_object_new_object();

	if (simulate_add_number(object, "arrived_percent", point->arrived_percent, replay ? 4 : 0) <
		    0 ||
	    (replay && json_add_int(object, "time", point->time) < 0) ||
	    simulate_add_number(object, "allocated_percent", point->allocated_percent, 4) < 0 ||
	    simulate_add_number(object, "fragmented_percent", point->fragmented_percent, 4) < 0 ||
	    json_add_uint(object, "pods_failed", point->failed) < 0) {
		json_object_put(object);
		return -ENOMEM;
	}
	return json_append(array, object);
}

int simulate_add_points(const struct run_result *result, bool replay, struct json_object *object)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < result->point_count; i++)
		if (add_point(&result->points[i], replay, array) < 0) {
			json_object_put(array);
			return -ENOMEM;
		}
	return json_add(object, "points", array);
}

int simulate_add_running(const struct trace *trace, const struct run_result *result,
			 struct json_object *object)
{
	struct json_object *array = json_object_new_array();

	if (json_add(object, "running_in_part", array) < 0 ||
	    json_add_uint(object, "pods_running", result->running) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < result->partial_count; i++) {
		const struct run_partial *partial = &result->partial[i];
		struct json_object *item = json_object_new_object();

		if (json_append(array, item) < 0 ||
		    json_add_string(item, "pod", trace_pod_name(trace, partial->pod)) < 0 ||
		    json_add_string(item, "why", partial->why) < 0)
			return -ENOMEM;
	}
	return 0;
}

void simulate_print_running(const struct trace *trace, const struct run_result *result)
{
	size_t shown = result->partial_count < RUNNING_MAX ? result->partial_count : RUNNING_MAX;

	if (!result->running)
		return;
	printf("\n%zu Pod%s from the start.\n", result->running,
	       result->running == 1 ? " runs" : "s run");
	if (result->partial_count)
		printf("Of %zu of them not all could be held:\n", result->partial_count);
	for (size_t i = 0; i < shown; i++)
		print_text(stdout, "  %s: %s\n", trace_pod_name(trace, result->partial[i].pod),
			   result->partial[i].why);
	if (shown < result->partial_count)
		printf("  and %zu more; --json names them all\n", result->partial_count - shown);
}

struct simulate_statistics simulate_statistics_of(const double *values, size_t count)
{
	struct simulate_statistics statistics = { .mean = 0 };
	double squares = 0;

	for (size_t i = 0; i < count; i++)
		statistics.mean += values[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - statistics.mean) * (values[i] - statistics.mean);
	if (count > 1)
		statistics.deviation = sqrt(squares / (double)(count - 1));
	if (count)
		statistics.error2 = 2 * statistics.deviation / sqrt((double)count);
	return statistics;
}
