/* SPDX-License-Identifier: Apache-2.0 */
#include "gpupool.h"

#include <errno.h>
#include <string.h>

struct run_options {
	struct common_options common;
	const char *gpus, *memory, *compute, *slice_cards, *model, *uuid, *policy, *name;
};

static const struct option_row run_rows[] = {
	{ .name = "gpus",
	  .letter = 'g',
	  .kind = OPTION_STRING,
	  .argument = "N",
	  .help = "whole cards",
	  .offset = offsetof(struct run_options, gpus) },
	{ .name = "gpu-memory",
	  .letter = 'm',
	  .kind = OPTION_STRING,
	  .argument = "GiB",
	  .help = "a slice of a card: so much of its memory, in GiB, or as 1536Mi",
	  .offset = offsetof(struct run_options, memory) },
	{ .name = "gpu-compute",
	  .kind = OPTION_STRING,
	  .argument = "PERCENT",
	  .help = "with a slice: share of the card's compute",
	  .offset = offsetof(struct run_options, compute) },
	{ .name = "slice-cards",
	  .kind = OPTION_STRING,
	  .argument = "N",
	  .help = "with a slice: spread it evenly over N cards",
	  .offset = offsetof(struct run_options, slice_cards) },
	{ .name = "gpu-model",
	  .kind = OPTION_STRING,
	  .argument = "PATTERNS",
	  .help = "only cards of these models: patterns with * and ? for the whole name, "
		  "comma separated, such as '*A100*'",
	  .offset = offsetof(struct run_options, model) },
	{ .name = "gpu-uuid",
	  .kind = OPTION_STRING,
	  .argument = "UUIDS",
	  .help = "only these cards, comma separated, as gpupool inventory shows them",
	  .offset = offsetof(struct run_options, uuid) },
	{ .name = "gpu-policy",
	  .kind = OPTION_CHOICE,
	  .argument = "POLICY",
	  .help = "which card when several fit",
	  .choices = "binpack|spread|topology",
	  .offset = offsetof(struct run_options, policy) },
	{ .name = "name",
	  .kind = OPTION_STRING,
	  .argument = "NAME",
	  .help = "name under which inventory shows it",
	  .fallback = "run",
	  .offset = offsetof(struct run_options, name) },
	COMMON_ROW_IMAGE(struct run_options),
	COMMON_ROW_DRY_RUN(struct run_options),
	COMMON_ROW_NO_WAIT(struct run_options),
	COMMON_ROW_RUNTIME(struct run_options),
	COMMON_ROW_DRIVER_ROOT(struct run_options),
	COMMON_ROW_JSON(struct run_options),
	{ .name = NULL },
};

static int add_if_given(struct json_object *object, const char *key, const char *value)
{
	return value ? json_add_string(object, key, value) : 0;
}

/* The same road as a manifest: options become a Pod, and one table of rules reads it. */
static int run_container_json(const struct run_options *options, int argc, char **argv,
			      struct json_object *container)
{
	struct json_object *command = json_object_new_array();
	struct json_object *resources = json_object_new_object();
	struct json_object *limits = json_object_new_object();

	if (json_add_string(container, "name", "main") < 0 ||
	    json_add_string(container, "image", "host") < 0 ||
	    json_add(container, "command", command) < 0 ||
	    json_add(container, "resources", resources) < 0 ||
	    json_add(resources, "limits", limits) < 0)
		return -ENOMEM;
	for (int i = 0; i < argc; i++)
		if (json_append_string(command, argv[i]) < 0)
			return -ENOMEM;
	if (add_if_given(limits, "nvidia.com/gpu", options->gpus) < 0 ||
	    add_if_given(limits, "gpupool.io/gpu-memory", options->memory) < 0)
		return -ENOMEM;
	return 0;
}

static int run_annotations_json(const struct run_options *options, struct json_object *annotations)
{
	const struct {
		const char *key, *value;
	} rows[] = {
		{ "gpupool.io/gpu-compute", options->compute },
		{ "gpupool.io/slice-cards", options->slice_cards },
		{ "gpupool.io/gpu-model", options->model },
		{ "gpupool.io/gpu-uuid", options->uuid },
		{ "gpupool.io/gpu-policy", options->policy },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (add_if_given(annotations, rows[i].key, rows[i].value) < 0)
			return -ENOMEM;
	return 0;
}

static int run_pod_json(const struct run_options *options, int argc, char **argv,
			struct json_object **ret)
{
	autojson *pod = json_object_new_object();
	struct json_object *metadata = json_object_new_object();
	struct json_object *annotations = json_object_new_object();
	struct json_object *spec = json_object_new_object();
	struct json_object *containers = json_object_new_array();
	struct json_object *container = json_object_new_object();

	if (json_add_string(pod, "apiVersion", "v1") < 0 ||
	    json_add_string(pod, "kind", "Pod") < 0 || json_add(pod, "metadata", metadata) < 0 ||
	    json_add_string(metadata, "name", options->name) < 0 ||
	    json_add(metadata, "annotations", annotations) < 0 || json_add(pod, "spec", spec) < 0 ||
	    json_add(spec, "containers", containers) < 0 || json_append(containers, container) < 0)
		return -ENOMEM;
	if (run_annotations_json(options, annotations) < 0)
		return -ENOMEM;
	int r = run_container_json(options, argc, argv, container);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(pod);
	return 0;
}

/* What goes together, in the words of the command line: a Pod would be told in a Pod's words. */
static int run_check(const struct run_options *options, struct error *error)
{
	const struct {
		const char *option, *value;
		bool slice; /* shapes a slice, else chooses among cards */
	} rows[] = {
		{ "gpu-compute", options->compute, true },
		{ "slice-cards", options->slice_cards, true },
		{ "gpu-model", options->model, false },
		{ "gpu-uuid", options->uuid, false },
		{ "gpu-policy", options->policy, false },
	};

	if (options->gpus && options->memory)
		return error_set(
			error, EINVAL,
			"--gpus asks for whole cards, --gpu-memory for a part of one; give "
			"one of them (--slice-cards spreads a slice over several cards)");
	if (options->gpus && strspn(options->gpus, "0123456789") != strlen(options->gpus))
		return error_set(
			error, EINVAL,
			"--gpus wants a whole number of cards, not '%s'; write for example "
			"--gpus 1, or --gpu-memory GiB for a part of a card",
			options->gpus);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!rows[i].value || options->memory || (options->gpus && !rows[i].slice))
			continue;
		return error_set(error, EINVAL, "--%s %s; add %s--gpu-memory GiB", rows[i].option,
				 rows[i].slice ? "shapes a slice, and none is asked for"
					       : "chooses among cards, and none is asked for",
				 rows[i].slice ? "" : "--gpus N or ");
	}
	return 0;
}

static int run_run(void *data, int argc, char **argv)
{
	const struct run_options *options = data;
	autojson *document = NULL;
	struct reason reason = { .code = REASON_NONE };
	struct error error = ERROR_INIT;
	struct pod pod;

	if (!argc) {
		error_set(&error, EINVAL,
			  "run needs a command; write gpupool run --gpus 1 -- nvidia-smi");
		return fail(EXIT_USAGE, &error);
	}
	if (run_check(options, &error) < 0)
		return fail(EXIT_USAGE, &error);
	if (run_pod_json(options, argc, argv, &document) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	int r = pod_from_json(document, "gpupool run", &pod, &reason, &error);
	if (r < 0) {
		if (reason.code == REASON_NONE)
			return fail(EXIT_USAGE, &error);
		return refuse(&options->common, r, &reason, NULL);
	}
	const struct pods_view view = { .inherit = true };
	int code = pods_run(&options->common, &pod, 1, &view);
	pod_release(&pod);
	return code;
}

const struct command command_run = {
	.name = "run",
	.summary = "run one command in a container that holds the cards it asks for",
	.operands = "[--] COMMAND [ARG...]",
	.description =
		"The command runs as the caller, in the caller's directory and environment, on "
		"this "
		"machine's own root (--image host), and can open exactly the cards that it was "
		"granted; without --gpus and --gpu-memory it can open none. Its exit status is "
		"returned.",
	.examples = "gpupool run --gpus 2 -- nvidia-smi -L\n"
		    "gpupool run --gpu-memory 12 -- python3 train.py",
	.options = run_rows,
	.stops_at_operand = true,
	.run = run_run,
	.size = sizeof(struct run_options),
};
