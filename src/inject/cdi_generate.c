/* SPDX-License-Identifier: Apache-2.0 */
/* A CDI spec from the plan of edits: the frame, and what every container gets. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "inject/cdi_private.h"

#define DEFAULT_VENDOR "nvidia.com"

static const char *const cdi_mode_table[CDI_MODE_MAX] = {
	[CDI_AUTO] = "auto", [CDI_NVML] = "nvml",   [CDI_MANAGEMENT] = "management",
	[CDI_GDS] = "gds",   [CDI_MOFED] = "mofed", [CDI_GDRCOPY] = "gdrcopy",
	[CDI_IMEX] = "imex", [CDI_WSL] = "wsl",     [CDI_NVSWITCH] = "nvswitch",
};
DEFINE_STRING_TABLE(cdi_mode, enum cdi_mode, CDI_MODE_MAX)

int making_note(struct making *making, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = making->notes ? string_list_addv(making->notes, format, arguments) : 0;
	va_end(arguments);
	return r < 0 ? error_no_memory(making->error) : 0;
}

bool making_wants(struct making *making, const char *const *names, size_t count)
{
	const struct string_list *ids = making->options->ids;
	bool wanted = !ids || ids->count == 0;

	for (size_t i = 0; ids && i < ids->count; i++) {
		bool fits = strcmp(ids->items[i], "all") == 0;

		for (size_t j = 0; j < count; j++)
			fits = fits || (names[j] && strcasecmp(ids->items[i], names[j]) == 0);
		making->found[i] = making->found[i] || fits;
		wanted = wanted || fits;
	}
	return wanted;
}

/* The list KEY of EDITS, made when absent; NULL when out of memory. */
static struct json_object *edits_list(struct json_object *edits, const char *key)
{
	struct json_object *list = NULL;

	if (json_object_object_get_ex(edits, key, &list))
		return list;
	list = json_object_new_array();
	return list && json_add(edits, key, list) == 0 ? list : NULL;
}

int making_device(struct making *making, const char *name, struct json_object **ret)
{
	struct json_object *device = json_object_new_object(), *edits = NULL;

	if (!device || json_append(making->devices, device) < 0)
		return error_no_memory(making->error);
	int r = json_add_string(device, "name", name);
	edits = json_object_new_object();
	if (json_add(device, "containerEdits", edits) < 0 || r < 0)
		return error_no_memory(making->error);
	*ret = edits;
	return 0;
}

int making_node(struct making *making, struct json_object *edits, const char *path,
		const struct driver_node *node)
{
	struct json_object *list = edits_list(edits, "deviceNodes");

	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		if (strcmp(json_get_string(json_object_array_get_idx(list, i), "path", ""), path) ==
		    0)
			return 0;
	autojson *object = json_object_new_object();
	if (!list || !object || json_add_string(object, "path", path) < 0 ||
	    (strcmp(path, node->path) != 0 &&
	     json_add_string(object, "hostPath", node->path) < 0) ||
	    json_add_string(object, "type", "c") < 0 ||
	    /* Said here, they need not be there when the container is made. */
	    json_add_uint(object, "major", node->major) < 0 ||
	    json_add_uint(object, "minor", node->minor) < 0 ||
	    /* What is not said is "rwm", and nobody has to make nodes. */
	    json_add_string(object, "permissions", "rw") < 0 ||
	    json_append(list, TAKE_PTR(object)) < 0)
		return error_no_memory(making->error);
	return 0;
}

int making_variable(struct making *making, struct json_object *edits, const char *name,
		    const char *value)
{
	autostrbuf text = STRBUF_INIT(ROOT_PATH_MAX);
	struct json_object *list = edits_list(edits, "env");

	strbuf_addf(&text, "%s=%s", name, value);
	if (!list || strbuf_failed(&text) < 0 || json_append_string(list, text.data) < 0)
		return error_no_memory(making->error);
	return 0;
}

int making_mount(struct making *making, struct json_object *edits, const char *source,
		 const char *path, const char *options)
{
	struct json_object *list = edits_list(edits, "mounts");
	struct json_object *words = NULL;
	autojson *object = json_object_new_object();

	if (!list || !object || json_add_string(object, "hostPath", source) < 0 ||
	    json_add_string(object, "containerPath", path) < 0)
		return error_no_memory(making->error);
	words = json_object_new_array();
	if (json_add(object, "options", words) < 0)
		return error_no_memory(making->error);
	for (const char *at = options; *at;) {
		int length = (int)strcspn(at, ",");

		if (json_append(words, json_object_new_string_len(at, length)) < 0)
			return error_no_memory(making->error);
		at += length;
		at += *at == ',';
	}
	return json_append(list, TAKE_PTR(object)) < 0 ? error_no_memory(making->error) : 0;
}

/* What edit_plan_build() calls a device, as the search for it calls the node. */
static const struct driver_node *node_of(const struct driver_files *files, const struct edit *edit)
{
	return strncmp(edit->name, "/dev/", 5) == 0 ? driver_files_node(files, edit->name + 5)
						    : NULL;
}

static int add_common(struct making *making, const struct edit_plan *plan)
{
	const struct driver_files *files = making->options->files;
	bool managed = making->mode == CDI_MANAGEMENT;
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->count; i++) {
		const struct edit *edit = &plan->edits[i];
		const struct driver_node *node;

		switch (edit->kind) {
		case EDIT_ENV:
			r = making_variable(making, making->common, edit->name, edit->source);
			break;
		case EDIT_MOUNT:
			r = making_mount(making, making->common, edit->source, edit->name,
					 edit->options);
			break;
		case EDIT_DEVICE: /* those of management are the device's own */
			node = node_of(files, edit);
			if (node && !managed)
				r = making_node(making, making->common, edit->name, node);
			break;
		case EDIT_MASK: /* CDI has none */
		case EDIT_KIND_MAX:
			break;
		}
	}
	return r;
}

/* What any container with a card gets: the plan of a grant that holds none. */
static int make_common(struct making *making)
{
	const struct cdi_options *options = making->options;
	const struct grant grant = { .kind = REQUEST_WHOLE };
	const struct grant *const grants[] = { &grant };
	const struct injection injection = {
		.inventory = options->inventory,
		.grants = grants,
		.grant_count = 1,
		.files = options->files,
		.capabilities = options->capabilities ? options->capabilities : CDI_CAPABILITIES,
		.target = INJECT_IMAGE,
		.root_fd = -1, /* the image is not known */
	};
	cleanup(edit_plan_release) struct edit_plan plan = { 0 };
	int r = edit_plan_build(&injection, &plan, NULL, making->error);

	/* Windows' driver has none of the nodes that the plan looks for. */
	for (size_t i = 0; r == 0 && i < plan.notes.count; i++)
		if (making->mode != CDI_WSL || strncmp(plan.notes.items[i], "/dev/", 5) != 0)
			r = making_note(making, "%s", plan.notes.items[i]);
	return r < 0 ? r : add_common(making, &plan);
}

/* "compute, utility" with '+' for each ", ": the stamp has commas of its own. */
static void add_capabilities(unsigned capabilities, struct strbuf *out)
{
	autostrbuf words = STRBUF_INIT(256);

	capabilities_describe(capabilities, &words);
	if (strbuf_failed(&words) < 0)
		out->failed = words.failed;
	for (const char *at = words.data; *at; at++)
		if (*at != ' ')
			strbuf_addc(out, *at == ',' ? '+' : *at);
}

/* By which a spec is known that is older than the driver or the MIG devices. */
static int make_stamp(struct making *making)
{
	const struct cdi_options *options = making->options;
	const struct string_list *ids = options->ids;
	autostrbuf stamp = STRBUF_INIT(512);
	bool some = ids && ids->count > 0;

	strbuf_addf(&stamp, CDI_STAMP_DRIVER "%s" CDI_STAMP_MIG "%016" PRIx64,
		    options->files->version, options->inventory->mig_generation);
	if (options->capabilities && options->capabilities != CDI_CAPABILITIES) {
		strbuf_adds(&stamp, CDI_STAMP_FOR);
		add_capabilities(options->capabilities, &stamp);
	}
	for (size_t i = 0; some && i < ids->count; i++)
		some = strcmp(ids->items[i], "all") != 0;
	if (some)
		strbuf_adds(&stamp, CDI_STAMP_SOME);
	if (strbuf_failed(&stamp) < 0)
		return error_no_memory(making->error);
	return making_variable(making, making->common, ENV_CDI_STAMP, stamp.data);
}

/* How to add a mode: a row, its name above, in cdi.h and in docs/cdi.md. */
static const struct mode_row {
	const char *vendor, *class;
	int (*devices)(struct making *making);
	bool common;    /* with the driver's files, and the stamp */
	unsigned gated; /* enum gated: whose nodes and files */
	const char *absent;
} mode_rows[CDI_MODE_MAX] = {
	[CDI_NVML] = { DEFAULT_VENDOR, "gpu", cdi_add_cards, true, 0,
		       "there is no card that a CDI spec could describe; see gpupool inventory" },
	[CDI_MANAGEMENT] = { "management." DEFAULT_VENDOR, "gpu", cdi_add_management, true, 0,
			     "there is no device node of the driver; make them with "
			     "nvidia-modprobe" },
	[CDI_GDS] = { DEFAULT_VENDOR, "gds", cdi_add_gated, false, GATED_GDS,
		      "there is no /dev/nvidia-fs*; load the module nvidia-fs" },
	[CDI_MOFED] = { DEFAULT_VENDOR, "mofed", cdi_add_gated, false, GATED_MOFED,
			"there is no /dev/infiniband/uverbs*; load the module ib_uverbs" },
	[CDI_GDRCOPY] = { DEFAULT_VENDOR, "gdrcopy", cdi_add_gated, false, GATED_GDRCOPY,
			  "there is no /dev/gdrdrv; load the module gdrdrv" },
	[CDI_IMEX] = { DEFAULT_VENDOR, "imex-channel", cdi_add_channels, false, 0,
		       "there is no /dev/nvidia-caps-imex-channels/channel*; make one with "
		       "mknod: its major is that of nvidia-caps-imex-channels in /proc/devices" },
	[CDI_NVSWITCH] = { DEFAULT_VENDOR, "nvswitch", cdi_add_gated, false, GATED_NVSWITCH,
			   "there is no /dev/nvidia-nvswitch*; this machine has no NVSwitch, or "
			   "its "
			   "driver is not loaded" },
	[CDI_WSL] = { DEFAULT_VENDOR, "gpu", cdi_add_wsl, true, 0,
		      "there is no /dev/dxg; this is no WSL2, or it is older than GPUs there" },
};

/* Where Windows has the driver there is one node, and none of a card. */
static enum cdi_mode choose_mode(const struct cdi_options *options)
{
	const struct driver_files *files = options->files;

	if (options->mode != CDI_AUTO)
		return options->mode;
	return driver_files_node(files, "dxg") && !driver_files_node(files, "nvidiactl") ? CDI_WSL
											 : CDI_NVML;
}

bool cdi_mode_needs_cards(enum cdi_mode mode)
{
	return mode == CDI_AUTO || mode == CDI_NVML;
}

static int make_frame(struct making *making, const struct mode_row *row, struct json_object *spec)
{
	const char *vendor = making->options->vendor ? making->options->vendor : row->vendor;
	const char *class = making->options->class ? making->options->class : row->class;
	autostrbuf kind = STRBUF_INIT(2 * CDI_NAME_MAX);

	if (!cdi_kind_part_is_valid(vendor) || !cdi_kind_part_is_valid(class))
		return error_set(
			making->error, EINVAL,
			"\"%.200s/%.200s\" cannot be the kind of CDI devices; use letters, "
			"digits, '-', '_' and '.', from a letter to a letter or digit",
			vendor, class);
	strbuf_addf(&kind, "%s/%s", vendor, class);
	/* The version is known at the end; here it stands first. */
	if (strbuf_failed(&kind) < 0 || json_add_string(spec, "cdiVersion", "") < 0 ||
	    json_add_string(spec, "kind", kind.data) < 0)
		return error_no_memory(making->error);
	making->devices = json_object_new_array();
	if (json_add(spec, "devices", making->devices) < 0)
		return error_no_memory(making->error);
	making->common = json_object_new_object();
	if (json_add(spec, "containerEdits", making->common) < 0)
		return error_no_memory(making->error);
	return 0;
}

static int check_ids(const struct making *making)
{
	const struct string_list *ids = making->options->ids;

	for (size_t i = 0; ids && i < ids->count; i++)
		if (!making->found[i])
			return error_set(making->error, ENODEV,
					 "no device is called %.100s; see gpupool inventory",
					 ids->items[i]);
	return 0;
}

static int make_rest(struct making *making, const struct mode_row *row, struct json_object *spec)
{
	int r = row->devices(making);

	if (r == 0)
		r = check_ids(making);
	if (r == 0 && json_object_array_length(making->devices) == 0)
		r = error_set(making->error, ENODEV, "%s", row->absent);
	if (r == 0 && row->common)
		r = make_common(making);
	if (r == 0 && row->common)
		r = make_stamp(making);
	if (r < 0)
		return r;
	if (json_object_object_length(making->common) == 0)
		json_object_object_del(spec, "containerEdits");
	if (json_add_string(spec, "cdiVersion", cdi_spec_lowest_version(spec)) < 0)
		return error_no_memory(making->error);
	return cdi_spec_check(spec, "the spec that was made", making->error);
}

int cdi_generate(const struct cdi_options *options, struct json_object **ret,
		 struct string_list *notes, struct error *error)
{
	enum cdi_mode mode = choose_mode(options);
	const struct mode_row *row = &mode_rows[mode];
	autofree bool *found = calloc(options->ids ? options->ids->count + 1 : 1, sizeof(*found));
	struct making making = { .options = options,
				 .mode = mode,
				 .gated = row->gated,
				 .found = found,
				 .notes = notes,
				 .error = error };
	autojson *spec = json_object_new_object();
	int r = spec && found ? make_frame(&making, row, spec) : error_no_memory(error);

	if (r == 0)
		r = make_rest(&making, row, spec);
	if (r == 0)
		*ret = TAKE_PTR(spec);
	return r;
}
