/* SPDX-License-Identifier: Apache-2.0 */
/* A list of Pods from a seed. */
#include "simulate.h"

#include <errno.h>

#define LIST_TEXT_MAX (1u << 30)

struct simulate_generate_options {
	struct common_options common;
	struct simulate_inputs inputs;
	unsigned long seed, count;
};

static const struct option_row simulate_generate_rows[] = {
	{ .name = "nodes",
	  .kind = OPTION_STRING,
	  .argument = "FILE",
	  .help = "nodes that the Pods are for, as CSV",
	  .offset = offsetof(struct simulate_generate_options, inputs.nodes) },
	{ .name = "seed",
	  .kind = OPTION_UINT,
	  .argument = "N",
	  .help = "of the mix, the sizes and the order",
	  .offset = offsetof(struct simulate_generate_options, seed),
	  .fallback = "1" },
	{ .name = "count",
	  .kind = OPTION_UINT,
	  .argument = "N",
	  .help = "of Pods",
	  .offset = offsetof(struct simulate_generate_options, count),
	  .minimum = 1,
	  .maximum = 1000000,
	  .fallback = "8000" },
	COMMON_ROW_JSON(struct simulate_generate_options),
	{ .name = NULL },
};

static int add_kind(const struct generated_kind *kind, struct json_object *array)
{
	struct json_object *object = json_object_new_object();
	struct json_object *models = json_object_new_array();
	int r = json_add(object, "models", models);

	for (size_t i = 0; r == 0 && i < kind->model_count; i++)
		r = json_append(models, json_object_new_string(kind->models[i]));
	if (r < 0 || json_add_string(object, "asks_for", trace_class_to_string(kind->class)) < 0 ||
	    json_add_uint(object, "weight", kind->weight) < 0 ||
	    json_add_int(object, "cpu_milli", kind->cpu_milli) < 0 ||
	    json_add_uint(object, "cards", kind->cards) < 0 ||
	    json_add_uint(object, "gpu_milli", kind->cards ? kind->milli : 0) < 0) {
		json_object_put(object);
		return -ENOMEM;
	}
	return json_append(array, object);
}

static int mix_to_json(const struct simulate_generate_options *options, const struct generated *mix,
		       struct json_object *object)
{
	struct json_object *kinds = json_object_new_array();

	if (json_add(object, "kinds", kinds) < 0 ||
	    json_add_uint(object, "seed", options->seed) < 0 ||
	    json_add_uint(object, "count", options->count) < 0 ||
	    json_add_uint(object, "cpu_percent", mix->cpu_percent) < 0 ||
	    json_add_uint(object, "constrained_percent", mix->constrained_percent) < 0 ||
	    json_add_bool(object, "own_sizes", mix->own_sizes) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < mix->kind_count; i++)
		if (add_kind(&mix->kinds[i], kinds) < 0)
			return -ENOMEM;
	return 0;
}

static int print_mix(const struct simulate_generate_options *options, const struct generated *mix)
{
	autojson *object = json_object_new_object();
	struct error error = ERROR_INIT;

	if (mix_to_json(options, mix, object) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(object);
}

static int simulate_generate(void *data, int argc, char **argv)
{
	const struct simulate_generate_options *options = data;
	cleanup(generated_release) struct generated mix = { .kinds = NULL };
	autostrbuf list = STRBUF_INIT(LIST_TEXT_MAX);
	autotrace trace;
	struct error error = ERROR_INIT;
	double seconds;

	(void)argc;
	(void)argv;
	trace_init(&trace);
	if (!options->inputs.nodes) {
		error_set(&error, EINVAL, "'sim generate' wants --nodes FILE");
		return fail(EXIT_USAGE, &error);
	}
	int r = simulate_read_inputs(&options->inputs, &trace, &seconds, &error);
	if (r == 0)
		r = generate_pods(&trace, options->seed, options->count, &mix, &list, &error);
	if (r < 0)
		return fail(EXIT_FAILED, &error);
	if (options->common.json)
		return print_mix(options, &mix);
	fwrite(list.data, 1, list.length, stdout);
	return EXIT_DONE;
}

const struct command command_sim_generate = {
	.name = "sim generate",
	.summary = "make a list of Pods from a seed",
	.operands = "",
	.description = "Prints a CSV file of Pods for the nodes that are given. The seed draws how "
		       "many ask "
		       "for CPU only, for a share of a card, one card or several, which sizes, how "
		       "much CPU, "
		       "and whether some accept certain models only. The same seed is the same "
		       "list on every "
		       "machine. With --json what was drawn is printed instead.",
	.examples = "gpupool sim generate --nodes nodes.csv --seed 941 > pods.csv\n"
		    "gpupool sim compare --nodes nodes.csv --pods pods.csv",
	.options = simulate_generate_rows,
	.run = simulate_generate,
	.size = sizeof(struct simulate_generate_options),
};
