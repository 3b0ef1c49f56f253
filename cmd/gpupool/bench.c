/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "plot.h"
#include "simulate_plot.h"

#define NODES_MAX  100000u
#define SIZES_MAX  64u
#define SCRIPT_MAX (1u << 16)

struct bench_command_options {
	struct common_options common;
	unsigned long cards, pods, seed;
	const char *nodes, *policy, *ties, *plot;
};

static const struct option_row bench_rows[] = {
	{ .name = "nodes",
	  .kind = OPTION_STRING,
	  .argument = "N,...",
	  .help = "nodes of the made-up cluster; of several clusters, one after the other",
	  .offset = offsetof(struct bench_command_options, nodes),
	  .fallback = "5000" },
	{ .name = "cards",
	  .kind = OPTION_UINT,
	  .argument = "N",
	  .help = "cards of each node",
	  .offset = offsetof(struct bench_command_options, cards),
	  .minimum = 1,
	  .maximum = CARDS_MAX,
	  .fallback = "8" },
	{ .name = "pods",
	  .kind = OPTION_UINT,
	  .argument = "N",
	  .help = "decisions that are measured",
	  .offset = offsetof(struct bench_command_options, pods),
	  .minimum = 1,
	  .maximum = 10000000,
	  .fallback = "100000" },
	{ .name = "policy",
	  .kind = OPTION_CHOICE,
	  .argument = "NAME",
	  .help = "which node and cards when several fit",
	  .offset = offsetof(struct bench_command_options, policy),
	  .choices = "default|random|dotprod|gpuclustering|gpupacking|bestfit|fgd|binpack|spread|"
		     "topology",
	  .fallback = "default" },
	{ .name = "ties",
	  .kind = OPTION_CHOICE,
	  .argument = "RULE",
	  .help = "which of the nodes that are alike to the policy",
	  .offset = offsetof(struct bench_command_options, ties),
	  .choices = "name|random|bestfit",
	  .fallback = "name" },
	{ .name = "seed",
	  .kind = OPTION_UINT,
	  .argument = "N",
	  .help = "of the Pods and of whatever is random",
	  .offset = offsetof(struct bench_command_options, seed),
	  .fallback = "42" },
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .help = "print one JSON object; of several clusters, an array of them",
	  .offset = offsetof(struct bench_command_options, common.json) },
	SIMULATE_PLOT_ROW(struct bench_command_options),
	{ .name = NULL },
};

/* One after the other, so that all have the same core to themselves. */
struct series {
	const struct bench_command_options *given;
	struct bench_options options; /* but for the nodes */
	struct simulate_numbers sizes;
	struct bench_result *results; /* owned; by size */
};

static void series_release(struct series *series)
{
	simulate_numbers_release(&series->sizes);
	free(series->results);
}

/* Of a decision with what it holds and what ends for it. */
static double mean_us(const struct bench_result *result)
{
	return result->decisions_per_second > 0 ? 1e6 / result->decisions_per_second : 0;
}

enum { FIGURES = 7 };
struct figure {
	const char *key, *words;
	double value;
	int decimals;
};

static void list_figures(const struct bench_result *result, struct figure ret[static FIGURES])
{
	const struct figure figures[FIGURES] = {
		{ "decisions_per_second", "decisions a second", result->decisions_per_second, 0 },
		{ "p50_us", "median of a decision, us", result->p50_us, 2 },
		{ "p99_us", "99 of 100 decisions, us", result->p99_us, 2 },
		{ "refusal_p99_us", "99 of 100 refusals, us", result->refusal_p99_us, 2 },
		{ "rss_mib", "memory, MiB", result->rss_mib, 1 },
		{ "fill_least_percent", "least fill, %", result->least_percent, 1 },
		{ "fill_most_percent", "most fill, %", result->most_percent, 1 },
	};

	for (unsigned i = 0; i < FIGURES; i++)
		ret[i] = figures[i];
}

static int add_figures(struct json_object *object, const struct bench_result *result)
{
	struct figure figures[FIGURES];
	char text[64];

	list_figures(result, figures);
	for (unsigned i = 0; i < FIGURES; i++) {
		snprintf(text, sizeof(text), "%.*f", figures[i].decimals, figures[i].value);
		if (json_add(object, figures[i].key,
			     json_object_new_double_s(figures[i].value, text)) < 0)
			return -1;
	}
	snprintf(text, sizeof(text), "%016" PRIx64, result->checksum);
	return json_add_string(object, "checksum", text);
}

static int add_options(struct json_object *object, const struct bench_options *options,
		       const struct bench_result *result)
{
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
		{ "nodes", options->nodes },  { "cards", options->cards },
		{ "pods", options->pods },    { "seed", options->seed },
		{ "placed", result->placed }, { "refused", result->refused },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (json_add(object, numbers[i].key, json_object_new_uint64(numbers[i].value)) < 0)
			return -1;
	if (json_add_string(object, "policy", node_policy_to_string(options->place.policy)) < 0)
		return -1;
	return json_add_string(object, "ties", tie_rule_to_string(options->place.ties));
}

static struct json_object *to_json(const struct series *series, size_t at)
{
	struct json_object *object = json_object_new_object();
	struct bench_options options = series->options;

	options.nodes = (unsigned)series->sizes.items[at];
	if (object && (add_options(object, &options, &series->results[at]) < 0 ||
		       add_figures(object, &series->results[at]) < 0)) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

static int print_as_json(const struct series *series)
{
	autojson *all = series->sizes.count > 1 ? json_object_new_array() : to_json(series, 0);
	struct error error = ERROR_INIT;
	int r = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < series->sizes.count && series->sizes.count > 1 && r == 0; i++)
		r = json_append(all, to_json(series, i));
	if (r < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(all);
}

static void print_as_text(const struct bench_result *result)
{
	struct figure figures[FIGURES];

	list_figures(result, figures);
	for (unsigned i = 0; i < FIGURES; i++)
		printf("%-26s%.*f\n", figures[i].words, figures[i].decimals, figures[i].value);
	printf("%-26s%zu\n%-26s%zu\n%-26s%016" PRIx64 "\n", "placed", result->placed, "refused",
	       result->refused, "checksum", result->checksum);
}

static void print_as_table(const struct series *series)
{
	static const char *const titles[] = { "NODES",     "X NODES", "DECISIONS/S", "US EACH",
					      "X COST",    "P50 US",  "P99 US",      "REFUSED %",
					      "MOST FULL", "MIB" };
	autocolumns columns = COLUMNS_INIT(ARRAY_SIZE(titles));

	columns.right = ~0u;
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		columns_add(&columns, titles[i]);
	for (size_t i = 0; i < series->sizes.count; i++) {
		const struct bench_result *result = &series->results[i];
		double nodes = (double)series->sizes.items[i];

		columns_addf(&columns, "%.0f", nodes);
		columns_addf(&columns, "%.4g", nodes / (double)series->sizes.items[0]);
		columns_addf(&columns, "%.0f", result->decisions_per_second);
		columns_addf(&columns, "%.2f", mean_us(result));
		columns_addf(&columns, "%.2f", mean_us(result) / mean_us(&series->results[0]));
		columns_addf(&columns, "%.2f", result->p50_us);
		columns_addf(&columns, "%.2f", result->p99_us);
		columns_addf(&columns, "%.1f",
			     100 * (double)result->refused / (double)series->options.pods);
		columns_addf(&columns, "%.1f %%", result->most_percent);
		columns_addf(&columns, "%.0f", result->rss_mib);
	}
	print_columns(&columns, stdout);
}

/* ---- the picture ---- */

static void make_table(const struct series *series, struct strbuf *table)
{
	double first = (double)series->sizes.items[0];

	strbuf_adds(table, "nodes,mean_us,p50_us,p99_us,as_the_cluster_us\n");
	for (size_t i = 0; i < series->sizes.count; i++) {
		const struct bench_result *result = &series->results[i];
		double nodes = (double)series->sizes.items[i];

		strbuf_addf(table, "%.0f,%.3f,%.3f,%.3f,%.3f\n", nodes, mean_us(result),
			    result->p50_us, result->p99_us,
			    mean_us(&series->results[0]) * nodes / first);
	}
}

static void make_panels(const struct series *series, struct strbuf *panels)
{
	static const struct {
		const char *title;
		unsigned column, colour;
		const char *style;
	} lines[] = {
		{ "p99 of a decision", 4, 1, "linespoints pointtype 7 pointsize 0.7" },
		{ "mean, with holds and releases", 2, 0, "linespoints pointtype 5 pointsize 0.7" },
		{ "p50 of a decision", 3, 2, "linespoints pointtype 9 pointsize 0.8" },
		{ "mean, if it grew as the cluster does", 5, 6, "lines dashtype 3" },
	};
	const struct policy_options *place = &series->options.place;

	strbuf_adds(panels, "reset\nset datafile separator ','\n"
			    "set logscale xy\n"
			    "set grid linecolor rgb '#dddddd' linetype 1\n"
			    "set border 3\nset tics nomirror out\n"
			    "set key outside center bottom horizontal Left reverse\n"
			    "set xlabel 'nodes'\nset ylabel 'microseconds'\n");
	strbuf_addf(panels,
		    "set title 'Time of a decision: nodes of %u cards, 50 to 95 %% full, %zu "
		    "decisions each, policy %s, ties %s'\n",
		    series->options.cards, series->options.pods,
		    node_policy_to_string(place->policy), tie_rule_to_string(place->ties));
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		strbuf_addf(panels,
			    "%s 'placement.csv' skip 1 using 1:%u with %s linewidth 2 linecolor "
			    "rgb '%s' title '%s'%s",
			    i ? " " : "plot", lines[i].column, lines[i].style,
			    plot_colour(lines[i].colour), lines[i].title,
			    i + 1 < ARRAY_SIZE(lines) ? ", \\\n" : "\n");
}

static int draw(const struct series *series)
{
	autostrbuf table = STRBUF_INIT(SCRIPT_MAX), panels = STRBUF_INIT(SCRIPT_MAX);
	struct error error = ERROR_INIT;

	if (!series->given->plot)
		return EXIT_DONE;
	make_table(series, &table);
	make_panels(series, &panels);
	int r = plot_draw(&(struct plot){ .directory = series->given->plot,
					  .name = "placement",
					  .width = 1000,
					  .height = 520,
					  .table = &table,
					  .panels = &panels },
			  &error);
	return r < 0 ? simulate_plot_fail(r, &error) : EXIT_DONE;
}

/* ---- the command ---- */

static int series_set(struct series *series, struct error *error)
{
	const struct bench_command_options *given = series->given;
	int r = simulate_read_numbers("nodes", given->nodes, &series->sizes, error);

	if (r < 0)
		return r;
	for (size_t i = 0; i < series->sizes.count; i++)
		if (series->sizes.items[i] < 1 || series->sizes.items[i] > NODES_MAX)
			return error_set(error, EINVAL,
					 "--nodes wants clusters of 1 to %u nodes, not of %lu",
					 NODES_MAX, series->sizes.items[i]);
	if (series->sizes.count > SIZES_MAX)
		return error_set(error, EINVAL, "--nodes names %zu clusters; write at most %u",
				 series->sizes.count, SIZES_MAX);
	if (given->plot && series->sizes.count < 2)
		return error_set(error, EINVAL,
				 "--plot draws several clusters; write for example --nodes "
				 "100,1000,10000");
	series->options = (struct bench_options){
		.cards = (unsigned)given->cards,
		.pods = given->pods,
		.seed = given->seed,
		.place = { .policy = node_policy_from_string(given->policy),
			   .ties = tie_rule_from_string(given->ties),
			   .seed = given->seed },
	};
	series->results = calloc(series->sizes.count, sizeof(*series->results));
	return series->results ? 0 : error_no_memory(error);
}

static int series_run(struct series *series, struct error *error)
{
	struct simulate_progress progress;
	int r = 0;

	simulate_progress_start(&progress, series->sizes.count, false);
	for (size_t i = 0; i < series->sizes.count && r == 0; i++) {
		struct bench_options options = series->options;

		options.nodes = (unsigned)series->sizes.items[i];
		r = bench_place(&options, &series->results[i], error);
		simulate_progress_step(&progress);
	}
	simulate_progress_end(&progress);
	return r;
}

static int bench_place_command(void *data, int argc, char **argv)
{
	cleanup(series_release) struct series series = { .given = data };
	struct error error = ERROR_INIT;
	int code = EXIT_DONE;

	(void)argc;
	(void)argv;
	if (series_set(&series, &error) < 0)
		return fail(EXIT_USAGE, &error);
	if (series_run(&series, &error) < 0)
		return fail(EXIT_FAILED, &error);
	if (series.given->common.json)
		code = print_as_json(&series);
	else if (series.sizes.count > 1)
		print_as_table(&series);
	else
		print_as_text(&series.results[0]);
	return code == EXIT_DONE ? draw(&series) : code;
}

const struct command command_bench_place = {
	.name = "bench place",
	.summary = "measure how fast decisions are on a made-up cluster",
	.operands = "",
	.description =
		"Makes a cluster of four card models and fills it to the half. Then Pods of 151 "
		"shapes come and go side by side, so that the fill wanders between 50 and 95 %, "
		"and it tells how long decisions take, on one core. The checksum is over all "
		"decisions: the same for equal options on every machine. The mean is over the "
		"processor time of decisions, holds and releases together.",
	.examples = "gpupool bench place --nodes 5000 --cards 8 --pods 100000 --json\n"
		    "gpupool bench place --nodes 100,1000,10000 --plot plots\n",
	.options = bench_rows,
	.run = bench_place_command,
	.size = sizeof(struct bench_command_options),
};
