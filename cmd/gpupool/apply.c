/* SPDX-License-Identifier: Apache-2.0 */
#include "gpupool.h"

#include <errno.h>

struct apply_options {
	struct common_options common;
	const char *file;
};

static const struct option_row apply_rows[] = {
	{ .name = "filename",
	  .letter = 'f',
	  .kind = OPTION_STRING,
	  .argument = "FILE",
	  .help = "Pod manifest, YAML or JSON; - reads standard input",
	  .offset = offsetof(struct apply_options, file) },
	COMMON_ROW_IMAGE(struct apply_options),
	COMMON_ROW_DRY_RUN(struct apply_options),
	COMMON_ROW_NO_WAIT(struct apply_options),
	COMMON_ROW_RUNTIME(struct apply_options),
	COMMON_ROW_DRIVER_ROOT(struct apply_options),
	COMMON_ROW_JSON(struct apply_options),
	{ .name = NULL },
};

static int apply_run(void *data, int argc, char **argv)
{
	const struct apply_options *options = data;
	struct reason reason = { .code = REASON_NONE };
	struct error error = ERROR_INIT;
	struct pod *pods;
	size_t count;

	(void)argv;
	(void)argc;
	if (!options->file) {
		error_set(&error, EINVAL, "apply needs a file; write gpupool apply -f FILE");
		return fail(EXIT_USAGE, &error);
	}
	int r = pods_read(options->file, &pods, &count, &reason, &error);
	if (r < 0) {
		if (reason.code != REASON_NONE)
			return refuse(&options->common, r, &reason, &error);
		return fail(EXIT_FAILED, &error);
	}
	const struct pods_view view = { .inherit = false };
	int code = pods_run(&options->common, pods, count, &view);
	pods_free(pods, count);
	return code;
}

const struct command command_apply = {
	.name = "apply",
	.summary = "run the Pods of a Kubernetes manifest on this machine",
	.operands = "",
	.description =
		"Reads real Pod YAML and runs all its containers at once, each with exactly the "
		"cards that it was granted. Fields that do not concern one machine are ignored "
		"with "
		"a note. Images are mapped to this machine's root unless --image names a "
		"directory. "
		"All Pods of the file are placed, or none.",
	.examples = "gpupool apply -f pod.yaml\ngpupool apply -f pod.yaml --dry-run",
	.options = apply_rows,
	.run = apply_run,
	.size = sizeof(struct apply_options),
};
