/* SPDX-License-Identifier: Apache-2.0 */
#include "gpupool.h"

#include <inttypes.h>

#include "replay/replay.h"

struct bench_command_options {
	struct common_options common;
	unsigned long nodes, cards, pods, seed;
	const char *policy, *ties;
};

static const struct option_row bench_rows[] = {
	{ .name = "nodes",
	  .kind = OPTION_UINT,
	  .argument = "N",
	  .help = "nodes of the made-up cluster",
	  .offset = offsetof(struct bench_command_options, nodes),
	  .minimum = 1,
	  .maximum = 100000,
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
	COMMON_ROW_JSON(struct bench_command_options),
	{ .name = NULL },
};

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

static int print_as_json(const struct bench_options *options, const struct bench_result *result)
{
	autojson *object = json_object_new_object();
	struct error error = ERROR_INIT;

	if (!object || add_options(object, options, result) < 0 ||
	    add_figures(object, result) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(object);
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

static int bench_place_command(void *data, int argc, char **argv)
{
	const struct bench_command_options *given = data;
	struct bench_options options = {
		.nodes = (unsigned)given->nodes,
		.cards = (unsigned)given->cards,
		.pods = given->pods,
		.seed = given->seed,
		.place = { .policy = node_policy_from_string(given->policy),
			   .ties = tie_rule_from_string(given->ties),
			   .seed = given->seed },
	};
	struct error error = ERROR_INIT;
	struct bench_result result;

	(void)argc;
	(void)argv;
	if (bench_place(&options, &result, &error) < 0)
		return fail(EXIT_FAILED, &error);
	if (given->common.json)
		return print_as_json(&options, &result);
	print_as_text(&result);
	return EXIT_DONE;
}

const struct command command_bench_place = {
	.name = "bench place",
	.summary = "measure how fast decisions are on a made-up cluster",
	.operands = "",
	.description =
		"Makes a cluster of four card models and fills it to the half. Then Pods of 151 "
		"shapes come and go side by side, so that the fill wanders between 50 and 95 %, "
		"and it tells how long decisions take, on one core. The checksum is over all "
		"decisions: the same for equal options on every machine.",
	.examples = "gpupool bench place --nodes 5000 --cards 8 --pods 100000 --json\n",
	.options = bench_rows,
	.run = bench_place_command,
	.size = sizeof(struct bench_command_options),
};
