/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as text, as JSON, and as edits of an OCI spec. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject/plan.h"

static const char *const edit_kind_table[EDIT_KIND_MAX] = {
	[EDIT_ENV] = "env",
	[EDIT_DEVICE] = "device",
	[EDIT_MOUNT] = "mount",
	[EDIT_MASK] = "mask",
};

/* Where the last component of PATH begins. */
static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static bool same_directory(const char *a, const char *b)
{
	size_t length = directory_length(a);

	return length == directory_length(b) && memcmp(a, b, length) == 0;
}

/* Edits that stand below one heading: of mounts also both directories are the same. */
static bool edit_belongs(const struct edit *edit, const struct edit *first)
{
	if (edit->kind != first->kind || edit->only_if_unset != first->only_if_unset ||
	    strcmp(edit->reason, first->reason) != 0)
		return false;
	return edit->kind != EDIT_MOUNT || (strcmp(edit->options, first->options) == 0 &&
					    same_directory(edit->name, first->name) &&
					    same_directory(edit->source, first->source));
}

static bool edit_same_source(const struct edit *edit, const struct edit *first)
{
	return edit_belongs(edit, first) && strcmp(edit->source, first->source) == 0;
}

/* Whether no edit before INDEX belongs with it. */
static bool edit_is_first(const struct edit_plan *plan, size_t index,
			  bool (*together)(const struct edit *, const struct edit *))
{
	for (size_t i = 0; i < index; i++)
		if (together(&plan->edits[index], &plan->edits[i]))
			return false;
	return true;
}

/* "libcuda.so.535.183.01 as libcuda.so.1, libcuda.so": a file with all its names. */
static void print_mount(const struct edit_plan *plan, size_t index, struct strbuf *out)
{
	const struct edit *first = &plan->edits[index];
	const char *source = first->source + directory_length(first->source) + 1;
	autostrbuf names = STRBUF_INIT(out->maximum);

	if (!edit_is_first(plan, index, edit_same_source))
		return;
	for (size_t i = index; i < plan->count; i++) {
		const char *path = plan->edits[i].name;

		if (edit_same_source(&plan->edits[i], first))
			strbuf_addf(&names, "%s%s", names.length ? ", " : "",
				    path + directory_length(path) + 1);
	}
	if (strbuf_failed(&names) < 0)
		out->failed = names.failed;
	else if (strcmp(names.data, source) == 0)
		strbuf_addf(out, "    %s", source);
	else
		strbuf_addf(out, "    %s as %s", source, names.data);
}

static void print_device(const struct edit *edit, struct strbuf *out)
{
	strbuf_addf(out, "  %s  c %u:%u %s", edit->name, edit->major, edit->minor, edit->options);
	if (edit->node == EDIT_NODE_MADE)
		strbuf_addf(out, ", mode %04o, owner %u:%u", edit->mode, edit->uid, edit->gid);
	else if (edit->node == EDIT_NODE_BOUND)
		strbuf_addf(out, ", mounted from %s", edit->source);
	else
		strbuf_adds(out, ", there by a mount of the container");
}

static void print_edit(const struct edit_plan *plan, size_t index, struct strbuf *out)
{
	const struct edit *edit = &plan->edits[index];

	switch (edit->kind) {
	case EDIT_ENV:
		strbuf_addf(out, "  %s=%s", edit->name, edit->source);
		break;
	case EDIT_DEVICE:
		print_device(edit, out);
		break;
	case EDIT_MOUNT:
		print_mount(plan, index, out);
		break;
	case EDIT_MASK:
		strbuf_addf(out, "  %s", edit->name);
		break;
	case EDIT_KIND_MAX:
		break;
	}
}

static void print_directories(const struct edit *edit, struct strbuf *out)
{
	if (edit->kind == EDIT_MOUNT)
		strbuf_addf(out, "  from %.*s/ to %.*s/, %s", (int)directory_length(edit->source),
			    edit->source, (int)directory_length(edit->name), edit->name,
			    strncmp(edit->options, "ro,", 3) == 0 ? "read-only" : "read-write");
}

/* Ends the line that begins at START. A value with a line feed must not look like a second one. */
static void end_line(struct strbuf *out, size_t start)
{
	if (strbuf_failed(out) < 0 || out->length == start)
		return;
	text_make_visible(out->data + start, false);
	strbuf_addc(out, '\n');
}

static void print_group(const struct edit_plan *plan, size_t index, struct strbuf *out)
{
	const struct edit *first = &plan->edits[index];
	size_t start = out->length;

	strbuf_addf(out, "%s: %s%s", edit_kind_table[first->kind], first->reason,
		    first->only_if_unset ? " (an image's own value stays)" : "");
	end_line(out, start);
	start = out->length;
	print_directories(first, out);
	end_line(out, start);
	for (size_t i = index; i < plan->count; i++) {
		if (!edit_belongs(&plan->edits[i], first))
			continue;
		start = out->length;
		print_edit(plan, i, out);
		end_line(out, start);
	}
}

int edit_plan_print(const struct edit_plan *plan, struct strbuf *out)
{
	for (size_t i = 0; i < plan->count; i++)
		if (edit_is_first(plan, i, edit_belongs))
			print_group(plan, i, out);
	for (size_t i = 0; i < plan->notes.count; i++)
		strbuf_addf(out, "note: %s\n", plan->notes.items[i]);
	return strbuf_failed(out);
}

static int device_to_json(const struct edit *edit, struct json_object *object)
{
	char mode[16];

	snprintf(mode, sizeof(mode), "%04o", edit->mode);
	if (json_add_uint(object, "major", edit->major) < 0 ||
	    json_add_uint(object, "minor", edit->minor) < 0)
		return -ENOMEM;
	if (edit->node != EDIT_NODE_MADE)
		return json_add_string(object, "node",
				       edit->node == EDIT_NODE_BOUND ? "mounted" : "there");
	if (json_add_string(object, "mode", mode) < 0 ||
	    json_add_uint(object, "uid", edit->uid) < 0)
		return -ENOMEM;
	return json_add_uint(object, "gid", edit->gid);
}

/* What the fields of an edit are called in JSON. */
static const struct {
	const char *name, *source, *options;
} edit_keys[EDIT_KIND_MAX] = {
	[EDIT_ENV] = { "name", "value", "options" },
	[EDIT_DEVICE] = { "path", "source", "access" },
	[EDIT_MOUNT] = { "path", "source", "options" },
	[EDIT_MASK] = { "path", "source", "options" },
};

static int edit_to_json(const struct edit *edit, struct json_object *object)
{
	int r = json_add_string(object, "kind", edit_kind_table[edit->kind]);

	if (r == 0)
		r = json_add_string(object, edit_keys[edit->kind].name, edit->name);
	if (r == 0 && edit->source)
		r = json_add_string(object, edit_keys[edit->kind].source, edit->source);
	if (r == 0 && edit->options)
		r = json_add_string(object, edit_keys[edit->kind].options, edit->options);
	if (r == 0 && edit->kind == EDIT_DEVICE)
		r = device_to_json(edit, object);
	if (r == 0 && edit->only_if_unset)
		r = json_add_bool(object, "onlyIfUnset", true);
	if (r == 0 && edit->make_target)
		r = json_add_bool(object, "makeTarget", true);
	return r < 0 ? r : json_add_string(object, "reason", edit->reason);
}

/* A new, empty array below OBJECT; NULL when out of memory. */
static struct json_object *new_array(struct json_object *object, const char *key)
{
	struct json_object *array = json_object_new_array();

	return array && json_add(object, key, array) == 0 ? array : NULL;
}

int edit_plan_to_json(const struct edit_plan *plan, struct json_object **ret, struct error *error)
{
	autojson *object = json_object_new_object();
	struct json_object *edits = object ? new_array(object, "edits") : NULL;
	struct json_object *notes = object ? new_array(object, "notes") : NULL;

	if (!edits || !notes)
		return error_no_memory(error);
	for (size_t i = 0; i < plan->count; i++) {
		struct json_object *edit = json_object_new_object();

		if (!edit || json_append(edits, edit) < 0 ||
		    edit_to_json(&plan->edits[i], edit) < 0)
			return error_no_memory(error);
	}
	for (size_t i = 0; i < plan->notes.count; i++)
		if (json_append_string(notes, plan->notes.items[i]) < 0)
			return error_no_memory(error);
	*ret = TAKE_PTR(object);
	return 0;
}

/* Bound with no option that would need a remount: in a user namespace the flags of the source are
 * locked. */
#define BOUND_OPTIONS "bind,rprivate"

static int apply_device(const struct edit *edit, struct json_object *spec, struct error *error)
{
	const struct oci_device device = { .path = edit->name,
					   .type = 'c',
					   .major = edit->major,
					   .minor = edit->minor,
					   .mode = edit->mode,
					   .uid = edit->uid,
					   .gid = edit->gid,
					   .access = edit->options };
	const struct oci_mount mount = { .destination = edit->name,
					 .source = edit->source,
					 .type = "bind",
					 .options = BOUND_OPTIONS };
	int r = 0;

	if (edit->node == EDIT_NODE_MADE)
		return oci_spec_add_device(spec, &device, error);
	if (edit->node == EDIT_NODE_BOUND)
		r = oci_spec_add_mount(spec, &mount, error);
	return r < 0 ? r
		     : oci_spec_add_device_rule(spec, 'c', edit->major, edit->minor, edit->options,
						error);
}

static int apply_edit(const struct edit *edit, struct json_object *spec, struct error *error)
{
	switch (edit->kind) {
	case EDIT_ENV:
		if (edit->only_if_unset && oci_spec_env(spec, edit->name))
			return 0;
		return oci_spec_set_env(spec, edit->name, edit->source, error);
	case EDIT_DEVICE:
		return apply_device(edit, spec, error);
	case EDIT_MOUNT:
		return oci_spec_add_mount(spec,
					  &(struct oci_mount){ .destination = edit->name,
							       .source = edit->source,
							       .type = "bind",
							       .options = edit->options },
					  error);
	case EDIT_MASK:
		return oci_spec_add_masked_path(spec, edit->name, error);
	case EDIT_KIND_MAX:
		break;
	}
	return error_set(error, EINVAL, "edit %d is of no known kind", (int)edit->kind);
}

int edit_plan_apply_oci(const struct edit_plan *plan, struct json_object *spec, struct error *error)
{
	for (size_t i = 0; i < plan->count; i++) {
		int r = apply_edit(&plan->edits[i], spec, error);

		if (r < 0)
			return r;
	}
	return 0;
}
