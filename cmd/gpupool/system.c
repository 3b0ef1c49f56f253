/* SPDX-License-Identifier: Apache-2.0 */
/* What a host lacks before its first container: device nodes, and systemd's names for them. */
#include "gpupool.h"

#include <errno.h>
#include <stdio.h>

#include "device/device.h"

struct system_options {
	struct common_options common;
};

static const struct option_row system_rows[] = {
	COMMON_ROW_DRIVER_ROOT(struct system_options),
	{ .name = "dry-run",
	  .kind = OPTION_FLAG,
	  .help = "say what would be made, make nothing",
	  .offset = offsetof(struct system_options, common.dry_run) },
	COMMON_ROW_JSON(struct system_options),
	{ .name = NULL },
};

static int add_list(struct json_object *object, const char *key, const struct string_list *list)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; array && i < list->count; i++)
		if (json_append_string(array, list->items[i]) < 0) {
			json_object_put(array);
			return -1;
		}
	return json_add(object, key, array);
}

static int print_as_json(const struct device_changes *changes)
{
	autojson *object = json_object_new_object();
	struct error error = ERROR_INIT;

	if (!object || add_list(object, "made", &changes->made) < 0 ||
	    add_list(object, "present", &changes->present) < 0 ||
	    add_list(object, "missing", &changes->missing) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(object);
}

static int print_changes(const struct system_options *options, const struct device_changes *changes)
{
	if (options->common.json)
		return print_as_json(changes);
	for (size_t i = 0; i < changes->made.count; i++)
		printf("%s %s\n", options->common.dry_run ? "would make" : "made",
		       changes->made.items[i]);
	if (changes->present.count)
		printf("%zu %s there already\n", changes->present.count,
		       changes->present.count == 1 ? "was" : "were");
	for (size_t i = 0; i < changes->missing.count; i++)
		printf("missing: %s\n", changes->missing.items[i]);
	return EXIT_DONE;
}

static int run(const struct system_options *options,
	       int (*make)(const struct device_nodes_options *options, struct device_changes *ret,
			   struct error *error))
{
	const struct device_nodes_options nodes = { .driver_root = options->common.driver_root,
						    .dry_run = options->common.dry_run };
	cleanup(device_changes_release) struct device_changes changes = { 0 };
	struct error error = ERROR_INIT;

	int r = make(&nodes, &changes, &error);
	if (r < 0)
		return fail(r == -EPERM || r == -EACCES ? EXIT_RIGHTS : EXIT_FAILED, &error);
	int code = print_changes(options, &changes);
	return code != EXIT_DONE || !changes.missing.count ? code : EXIT_RIGHTS;
}

static int nodes_run(void *data, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return run(data, device_make_nodes);
}

static int links_run(void *data, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return run(data, device_make_char_links);
}

const struct command command_system_nodes = {
	.name = "system create-device-nodes",
	.summary = "make the driver's device nodes that are not there yet",
	.operands = "",
	.description = "A driver that nobody has used since the boot may lack /dev/nvidia-uvm and "
		       "others, and no container can get what is not there. What is there already "
		       "stays as it is. Owner, group and mode are those of the module's parameters "
		       "(NVreg_DeviceFileUID, NVreg_DeviceFileGID, NVreg_DeviceFileMode); with "
		       "NVreg_ModifyDeviceFiles=0 nothing is made. Needs root. Exit code 3: a "
		       "module is not loaded, or a right "
		       "is missing.",
	.examples = "gpupool system create-device-nodes --dry-run\ngpupool system "
		    "create-device-nodes",
	.options = system_rows,
	.run = nodes_run,
	.size = sizeof(struct system_options),
};

const struct command command_system_links = {
	.name = "system create-dev-char-symlinks",
	.summary = "make the links in /dev/char by which systemd names the driver's nodes",
	.operands = "",
	.description = "Where systemd keeps the cgroups of containers, it looks for their devices "
		       "at /dev/char/<major>:<minor>; without the links a daemon-reload takes the "
		       "cards away from running containers. Needs root.",
	.examples = "gpupool system create-dev-char-symlinks --dry-run",
	.options = system_rows,
	.run = links_run,
	.size = sizeof(struct system_options),
};
