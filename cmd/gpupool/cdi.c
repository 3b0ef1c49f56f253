/* SPDX-License-Identifier: Apache-2.0 */
/* gpupool cdi: specs of this machine's cards for runtimes that read CDI. */
#include "gpupool.h"
#include "formats/formats.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { SPEC_TEXT_MAX = 8 << 20 };

struct generate_options {
	struct common_options common;
	const char *output, *format, *mode, *vendor, *class, *capabilities;
	struct option_list names, ids;
	bool no_all;
};

static const struct option_row generate_rows[] = {
	COMMON_ROW_DRIVER_ROOT(struct generate_options),
	{ .name = "output",
	  .letter = 'o',
	  .kind = OPTION_STRING,
	  .argument = "FILE",
	  .help = "write it there, whole or not at all (default: standard output)",
	  .offset = offsetof(struct generate_options, output) },
	{ .name = "format",
	  .kind = OPTION_CHOICE,
	  .argument = "FORMAT",
	  .choices = "yaml|json",
	  .help = "text of the spec (default: by the name of the file, else yaml)",
	  .offset = offsetof(struct generate_options, format) },
	{ .name = "mode",
	  .kind = OPTION_CHOICE,
	  .argument = "MODE",
	  .choices = "auto|nvml|management|gds|mofed|gdrcopy|imex|nvswitch|wsl",
	  .fallback = "auto",
	  .help = "what the devices are",
	  .offset = offsetof(struct generate_options, mode) },
	{ .name = "device-name-strategy",
	  .kind = OPTION_LIST,
	  .argument = "NAMES",
	  .help = "index, uuid or type-index; several give each device several names "
		  "(default: index and uuid)",
	  .offset = offsetof(struct generate_options, names) },
	{ .name = "device-id",
	  .kind = OPTION_LIST,
	  .argument = "ID",
	  .help = "only this card or MIG device, by any of its names; can be repeated",
	  .offset = offsetof(struct generate_options, ids) },
	{ .name = "vendor",
	  .kind = OPTION_STRING,
	  .argument = "NAME",
	  .help = "first part of the devices' kind (default: nvidia.com)",
	  .offset = offsetof(struct generate_options, vendor) },
	{ .name = "class",
	  .kind = OPTION_STRING,
	  .argument = "NAME",
	  .help = "second part of it (default: gpu, or the mode's)",
	  .offset = offsetof(struct generate_options, class) },
	{ .name = "capabilities",
	  .kind = OPTION_STRING,
	  .argument = "LIST",
	  .help = "what the driver's files are for: compute, utility, ... (default: all but "
		  "compat32)",
	  .offset = offsetof(struct generate_options, capabilities) },
	{ .name = "no-all-device",
	  .kind = OPTION_FLAG,
	  .help = "no device \"all\"",
	  .offset = offsetof(struct generate_options, no_all) },
	{ .name = NULL },
};

/* The cards and files that a spec is made of; the exit code when there are none. */
struct machine {
	struct inventory inventory;
	struct driver_files *files;
};

static void machine_release(struct machine *machine)
{
	inventory_release(&machine->inventory);
	driver_files_free(machine->files);
}

/* CARDS: it is of no use without them. */
static int machine_read(const char *driver_root, unsigned capabilities, bool cards,
			struct machine *ret)
{
	const struct device_options device = { .driver_root = driver_root };
	struct reason reason = { .code = REASON_NONE };
	struct error error = ERROR_INIT;

	inventory_init(&ret->inventory);
	ret->files = NULL;
	if (device_probe(&device, &ret->inventory, &reason, &error) < 0)
		return fail(EXIT_FAILED, &error);
	/* The MIG devices' UUIDs too, for those who must not ask the driver. */
	if (geteuid() == 0 && local_inventory_publish(&ret->inventory, &error) < 0)
		return fail(EXIT_FAILED, &error);
	if (cards && ret->inventory.problem[0]) {
		print_reason(&reason, stderr);
		return EXIT_RIGHTS;
	}
	if (driver_files_find(ret->inventory.driver_root, ret->inventory.driver_version,
			      capabilities, &ret->files, &error) < 0)
		return fail(EXIT_RIGHTS, &error);
	return EXIT_DONE;
}

static int read_names(const struct option_list *list, unsigned *ret, struct error *error)
{
	static const struct {
		const char *word;
		unsigned name;
	} rows[] = { { "index", CDI_NAME_INDEX },
		     { "uuid", CDI_NAME_UUID },
		     { "type-index", CDI_NAME_TYPE_INDEX } };

	for (size_t i = 0; i < list->count; i++) {
		unsigned found = 0;

		for (size_t j = 0; j < ARRAY_SIZE(rows); j++)
			if (strcmp(list->items[i], rows[j].word) == 0)
				found = rows[j].name;
		if (!found)
			return error_set(error, EINVAL,
					 "--device-name-strategy %s: use index, uuid or type-index",
					 list->items[i]);
		*ret |= found;
	}
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length > strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* The folder of the file at PATH. */
static int make_folder(const char *path, struct error *error)
{
	autofree char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;

	if (!folder)
		return error_no_memory(error);
	if (!slash || slash == folder)
		return 0;
	*slash = '\0';
	return file_make_directories(folder, 0755, error);
}

static int write_spec(const struct generate_options *options, struct json_object *spec)
{
	const char *format = options->format;
	autostrbuf text = STRBUF_INIT(SPEC_TEXT_MAX);
	struct error error = ERROR_INIT;

	if (!format)
		format = options->output && ends_with(options->output, ".json") ? "json" : "yaml";
	if (cdi_spec_print(spec, strcmp(format, "yaml") == 0, &text, &error) < 0)
		return fail(EXIT_FAILED, &error);
	if (!options->output) {
		fputs(text.data, stdout);
		return EXIT_DONE;
	}
	/* Runtimes look in folders that nobody may have made yet. */
	int r = make_folder(options->output, &error);
	/* Runtimes of every user read it. */
	if (r == 0)
		r = file_write_atomic(options->output, text.data, text.length, 0644, &error);
	if (r < 0)
		return fail(r == -EACCES || r == -EPERM || r == -EROFS ? EXIT_RIGHTS : EXIT_FAILED,
			    &error);
	if (!ends_with(options->output, ".yaml") && !ends_with(options->output, ".json"))
		say("note: runtimes read names that end in .yaml or .json, and pass over %s",
		    options->output);
	say("wrote %s: %zu devices of %s", options->output,
	    json_object_array_length(json_get(spec, "devices")), json_get_string(spec, "kind", ""));
	return EXIT_DONE;
}

static int make_spec(const struct generate_options *options, const struct cdi_options *cdi)
{
	cleanup(string_list_release) struct string_list notes = { 0 };
	autojson *spec = NULL;
	struct error error = ERROR_INIT;
	int r = cdi_generate(cdi, &spec, &notes, &error);

	for (size_t i = 0; i < notes.count; i++)
		say("note: %s", notes.items[i]);
	if (r < 0)
		return fail(r == -EINVAL   ? EXIT_USAGE
			    : r == -ENODEV ? EXIT_RIGHTS
					   : EXIT_FAILED,
			    &error);
	return write_spec(options, spec);
}

static int generate_run(void *data, int argc, char **argv)
{
	const struct generate_options *options = data;
	cleanup(machine_release) struct machine machine = { .files = NULL };
	cleanup(string_list_release) struct string_list ids = { 0 };
	struct cdi_options cdi = { .mode = CDI_AUTO,
				   .vendor = options->vendor,
				   .class = options->class,
				   .no_all = options->no_all,
				   .capabilities = CAPABILITY_ALL & ~CAPABILITY_COMPAT32,
				   .ids = &ids };
	struct error error = ERROR_INIT;
	int r = read_names(&options->names, &cdi.names, &error);

	(void)argv;
	inventory_init(&machine.inventory);
	if (r == 0 && argc > 0)
		r = error_set(&error, EINVAL, "cdi generate takes no operands; say --output FILE");
	if (r == 0 && options->capabilities &&
	    capabilities_parse(options->capabilities, &cdi.capabilities, &error) < 0)
		r = error_wrap(&error, "--capabilities");
	if (r < 0)
		return fail(EXIT_USAGE, &error);
	if (options->mode)
		cdi.mode = cdi_mode_from_string(options->mode);
	for (size_t i = 0; i < options->ids.count; i++)
		if (string_list_add(&ids, options->ids.items[i]) < 0)
			return fail(EXIT_FAILED, &error);
	int code = machine_read(options->common.driver_root, cdi.capabilities,
				cdi_mode_needs_cards(cdi.mode), &machine);
	if (code != EXIT_DONE)
		return code;
	cdi.inventory = &machine.inventory;
	cdi.files = machine.files;
	return make_spec(options, &cdi);
}

const struct command command_cdi_generate = {
	.name = "cdi generate",
	.summary = "print or write a CDI spec of this machine's cards",
	.operands = "",
	.description =
		"A container runtime that reads CDI gives a container the cards that the spec "
		"names, without a hook. The spec has no hooks, is of the lowest CDI version that "
		"has its fields, and carries a stamp of the driver's version and the MIG devices, "
		"by which gpupool cdi diff knows it again. It is written to a file only where "
		"--output says; runtimes look in /etc/cdi and /var/run/cdi.\n"
		"\n"
		"Modes: nvml gives a device a card and a MIG device; management one with every "
		"node of "
		"the driver; gds, mofed, gdrcopy and nvswitch one with the nodes of that name; "
		"imex a "
		"device a channel; wsl the one that Windows offers. auto is wsl there, else nvml.\n"
		"\n"
		"Libraries go where the loaders of all distributions look, since the image is not "
		"known. What a container asks for in NVIDIA_DRIVER_CAPABILITIES and "
		"NVIDIA_REQUIRE_... cannot be seen by a CDI spec.",
	.examples = "sudo gpupool cdi generate --output /etc/cdi/nvidia.yaml\n"
		    "gpupool cdi generate --format json | jq '.devices[].name'",
	.options = generate_rows,
	.run = generate_run,
	.size = sizeof(struct generate_options),
};

static int validate_one(const char *path)
{
	autojson *spec = NULL;
	struct error error = ERROR_INIT;

	if (cdi_spec_read(path, &spec, &error) < 0)
		return fail(EXIT_FAILED, &error);
	print_text(stdout, "%s: valid, CDI %s, %zu devices of %s\n", path,
		   json_get_string(spec, "cdiVersion", ""),
		   json_object_array_length(json_get(spec, "devices")),
		   json_get_string(spec, "kind", ""));
	return EXIT_DONE;
}

static int validate_run(void *data, int argc, char **argv)
{
	struct error error = ERROR_INIT;
	int code = EXIT_DONE;

	(void)data;
	if (argc == 0) {
		error_set(&error, EINVAL, "cdi validate needs a FILE");
		return fail(EXIT_USAGE, &error);
	}
	for (int i = 0; i < argc; i++)
		if (validate_one(argv[i]) != EXIT_DONE)
			code = EXIT_FAILED;
	return code;
}

const struct command command_cdi_validate = {
	.name = "cdi validate",
	.summary = "say whether a file is a CDI spec that runtimes take",
	.operands = "FILE...",
	.description = "The checks are those of the library with which containerd, CRI-O and "
		       "Docker read these files: one field that it does not know, and a runtime "
		       "takes nothing of the file. Exit code 1: a file is refused; the sentence "
		       "names the field.",
	.examples = "gpupool cdi validate /etc/cdi/*.yaml",
	.run = validate_run,
};

/* The directories of --spec-dir, or those where runtimes look. */
static int registry_open(const struct option_list *list, struct cdi_registry **ret,
			 struct string_list *notes, struct error *error)
{
	static const char *const usual[] = { PATH_CDI, PATH_CDI_RUN };
	cleanup(string_list_release) struct string_list directories = { 0 };
	const char *const *items = list->count ? list->items : usual;
	size_t count = list->count ? list->count : ARRAY_SIZE(usual);

	for (size_t i = 0; i < count; i++)
		if (string_list_add(&directories, items[i]) < 0)
			return error_no_memory(error);
	return cdi_registry_open(&directories, ret, notes, error);
}

#define ROW_SPEC_DIR(type)                                                                         \
	{                                                                                          \
		.name = "spec-dir", .kind = OPTION_LIST, .argument = "DIR",                        \
		.help = "look there; can be repeated, later ones are stronger (default: " PATH_CDI \
			" and " PATH_CDI_RUN ")",                                                  \
		.offset = offsetof(type, directories)                                              \
	}

struct list_options {
	struct common_options common;
	struct option_list directories;
};

static const struct option_row list_rows[] = {
	ROW_SPEC_DIR(struct list_options),
	COMMON_ROW_JSON(struct list_options),
	{ .name = NULL },
};

static int list_print_json(const struct cdi_registry *registry, const struct string_list *notes)
{
	autojson *object = json_object_new_object();
	struct json_object *devices = json_object_new_array(), *problems = NULL;
	struct error error = ERROR_INIT;
	int r = json_add(object, "devices", devices);

	for (size_t i = 0; r == 0 && i < cdi_registry_count(registry); i++) {
		struct json_object *device = json_object_new_object();
		const char *path = NULL, *name = cdi_registry_name(registry, i, &path);

		r = json_append(devices, device);
		if (r == 0)
			r = json_add_string(device, "name", name);
		if (r == 0)
			r = json_add_string(device, "file", path);
	}
	if (r == 0) {
		problems = json_object_new_array();
		r = json_add(object, "problems", problems);
	}
	for (size_t i = 0; r == 0 && i < notes->count; i++)
		r = json_append_string(problems, notes->items[i]);
	if (r < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(object);
}

static int list_run(void *data, int argc, char **argv)
{
	const struct list_options *options = data;
	cleanup(cdi_registry_freep) struct cdi_registry *registry = NULL;
	cleanup(string_list_release) struct string_list notes = { 0 };
	struct error error = ERROR_INIT;
	int code = EXIT_DONE;

	(void)argv;
	if (argc > 0) {
		error_set(&error, EINVAL, "cdi list takes no operands; say --spec-dir DIR");
		return fail(EXIT_USAGE, &error);
	}
	if (registry_open(&options->directories, &registry, &notes, &error) < 0)
		return fail(EXIT_FAILED, &error);
	if (options->common.json)
		code = list_print_json(registry, &notes);
	for (size_t i = 0; !options->common.json && i < cdi_registry_count(registry); i++)
		print_text(stdout, "%s\n", cdi_registry_name(registry, i, NULL));
	for (size_t i = 0; i < notes.count; i++)
		say("%s", notes.items[i]);
	if (!options->common.json && !notes.count && !cdi_registry_count(registry))
		say("note: no CDI device is there; write a spec with gpupool cdi generate "
		    "--output " PATH_CDI "/nvidia.yaml");
	return notes.count ? EXIT_FAILED : code;
}

const struct command command_cdi_list = {
	.name = "cdi list",
	.summary = "list the CDI devices that containers can ask for",
	.operands = "",
	.description =
		"A line a device, from all specs in the directories. What a runtime leaves "
		"out is left out here, with a sentence: files that are no spec, devices that "
		"two files of one directory have. Then the exit code is 1.",
	.examples = "gpupool cdi list\ngpupool cdi list --json | jq -r '.devices[].file' | sort -u",
	.options = list_rows,
	.run = list_run,
	.size = sizeof(struct list_options),
};

struct diff_options {
	struct common_options common;
	struct option_list directories;
};

static const struct option_row diff_rows[] = {
	COMMON_ROW_DRIVER_ROOT(struct diff_options),
	ROW_SPEC_DIR(struct diff_options),
	COMMON_ROW_JSON(struct diff_options),
	{ .name = NULL },
};

/* NVIDIA's kinds: "nvidia.com/gpu", "k8s.device-plugin.nvidia.com/gpu". */
static bool is_of_nvidia(const char *kind)
{
	static const char vendor[] = "nvidia.com";
	size_t length = strcspn(kind, "/"), tail = sizeof(vendor) - 1;

	return length >= tail && strncmp(kind + length - tail, vendor, tail) == 0 &&
	       (length == tail || kind[length - tail - 1] == '.');
}

/* The files of the registry with devices of NVIDIA, once each. */
static int find_specs(const struct option_list *directories, struct string_list *ret,
		      struct error *error)
{
	cleanup(cdi_registry_freep) struct cdi_registry *registry = NULL;
	int r = registry_open(directories, &registry, NULL, error);

	for (size_t i = 0; r == 0 && i < cdi_registry_count(registry); i++) {
		const char *path = NULL, *name = cdi_registry_name(registry, i, &path);
		bool known = !is_of_nvidia(name);

		for (size_t j = 0; !known && j < ret->count; j++)
			known = strcmp(ret->items[j], path) == 0;
		if (!known && string_list_add(ret, path) < 0)
			r = error_no_memory(error);
	}
	if (r == 0 && ret->count == 0)
		r = error_set(
			error, ENOENT,
			"no CDI spec with devices of NVIDIA is there; name a FILE, or write one "
			"with gpupool cdi generate --output " PATH_CDI "/nvidia.yaml");
	return r;
}

/* Adds the sentences of one file to OUT, which is NULL for text. */
static int diff_one(const char *path, const struct cdi_options *host, struct json_object *out,
		    bool *ret_stale, struct error *error)
{
	cleanup(string_list_release) struct string_list sentences = { 0 };
	autojson *spec = NULL;
	struct json_object *list = NULL;
	int r = cdi_spec_read(path, &spec, error);

	if (r == 0)
		r = cdi_diff(spec, host, &sentences, error);
	if (r < 0)
		return r;
	*ret_stale = *ret_stale || sentences.count;
	if (out) {
		list = json_object_new_array();
		if (json_add(out, path, list) < 0)
			return error_no_memory(error);
	} else if (!sentences.count) {
		print_text(stdout, "%s: up to date\n", path);
	}
	for (size_t i = 0; i < sentences.count; i++)
		if (!out)
			print_text(stdout, "%s: %s\n", path, sentences.items[i]);
		else if (json_append_string(list, sentences.items[i]) < 0)
			return error_no_memory(error);
	return 0;
}

static int diff_all(const struct string_list *paths, const struct cdi_options *host, bool json)
{
	autojson *out = json ? json_object_new_object() : NULL;
	struct error error = ERROR_INIT;
	bool stale = false;

	for (size_t i = 0; i < paths->count; i++)
		if (diff_one(paths->items[i], host, out, &stale, &error) < 0)
			return fail(EXIT_FAILED, &error);
	int code = json ? print_json(out) : EXIT_DONE;
	return stale ? EXIT_FAILED : code;
}

static int diff_run(void *data, int argc, char **argv)
{
	const struct diff_options *options = data;
	cleanup(machine_release) struct machine machine = { .files = NULL };
	cleanup(string_list_release) struct string_list paths = { 0 };
	struct cdi_options host = { .mode = CDI_AUTO };
	struct error error = ERROR_INIT;
	int r = 0;

	inventory_init(&machine.inventory);
	for (int i = 0; r == 0 && i < argc; i++)
		r = string_list_add(&paths, argv[i]);
	if (argc == 0)
		r = find_specs(&options->directories, &paths, &error);
	if (r < 0)
		return fail(r == -ENOENT ? EXIT_RIGHTS : EXIT_FAILED, &error);
	int code = machine_read(options->common.driver_root, CAPABILITY_ALL, true, &machine);
	if (code != EXIT_DONE)
		return code;
	host.inventory = &machine.inventory;
	host.files = machine.files;
	return diff_all(&paths, &host, options->common.json);
}

const struct command command_cdi_diff = {
	.name = "cdi diff",
	.summary = "say what of a CDI spec is no longer so on this machine",
	.operands = "[FILE...]",
	.description = "Compares specs, whoever made them, with the cards and the driver that are "
		       "there now: another driver version, other MIG devices, cards that came or "
		       "went, files and device nodes that are gone or have other numbers. Without "
		       "a FILE: each spec in the directories that has devices of NVIDIA. Exit code "
		       "1: something is stale; make the spec anew with gpupool cdi generate.",
	.examples = "gpupool cdi diff || gpupool cdi generate --output /etc/cdi/nvidia.yaml",
	.options = diff_rows,
	.run = diff_run,
	.size = sizeof(struct diff_options),
};
