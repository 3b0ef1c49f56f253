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

/* The reason stands before the detail, which may be long. */
static void print_edit(const struct edit *edit, struct columns *columns)
{
	columns_add(columns, edit_kind_table[edit->kind]);
	columns_add(columns, edit->name);
	columns_add(columns, edit->reason);
	switch (edit->kind) {
	case EDIT_ENV:
		columns_addf(columns, "= %s%s", edit->source,
			     edit->only_if_unset ? " (an image's own value stays)" : "");
		break;
	case EDIT_DEVICE:
		columns_addf(columns, "c %u:%u %s, mode %04o, owner %u:%u", edit->major,
			     edit->minor, edit->options, edit->mode, edit->uid, edit->gid);
		break;
	case EDIT_MOUNT:
		columns_addf(columns, "<- %s (%s)", edit->source,
			     strncmp(edit->options, "ro,", 3) == 0 ? "read-only" : "read-write");
		break;
	case EDIT_MASK:
		columns_add(columns, "hidden");
		break;
	case EDIT_KIND_MAX:
		break;
	}
}

int edit_plan_print(const struct edit_plan *plan, struct strbuf *out)
{
	autocolumns columns = COLUMNS_INIT(4);

	for (size_t i = 0; i < plan->count; i++)
		print_edit(&plan->edits[i], &columns);
	int r = columns_print(&columns, out, NULL);
	for (size_t i = 0; i < plan->notes.count; i++)
		strbuf_addf(out, "note: %s\n", plan->notes.items[i]);
	return r < 0 ? r : strbuf_failed(out);
}

static int device_to_json(const struct edit *edit, struct json_object *object)
{
	char mode[16];

	snprintf(mode, sizeof(mode), "%04o", edit->mode);
	if (json_add_uint(object, "major", edit->major) < 0 ||
	    json_add_uint(object, "minor", edit->minor) < 0 ||
	    json_add_string(object, "mode", mode) < 0 ||
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

static int apply_edit(const struct edit *edit, struct json_object *spec, struct error *error)
{
	switch (edit->kind) {
	case EDIT_ENV:
		if (edit->only_if_unset && oci_spec_env(spec, edit->name))
			return 0;
		return oci_spec_set_env(spec, edit->name, edit->source, error);
	case EDIT_DEVICE:
		return oci_spec_add_device(spec,
					   &(struct oci_device){ .path = edit->name,
								 .type = 'c',
								 .major = edit->major,
								 .minor = edit->minor,
								 .mode = edit->mode,
								 .uid = edit->uid,
								 .gid = edit->gid,
								 .access = edit->options },
					   error);
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
