/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/oci.h"

#include <errno.h>
#include <string.h>

const struct json_limits oci_limits = { .bytes = (size_t)8 << 20, .depth = 64 };

enum { DEVICE_NUMBER_MAX = (1 << 20) - 1 };

/*
 * The fields that this program relies on. How to add one: a row here; the parent's row must stand
 * above it. Fields that are not named are never looked at.
 */
static const struct {
	const char *path;
	enum json_type type;
	bool required;
	const char *what;
} field_rows[] = {
	{ "ociVersion", json_type_string, true, "a version such as \"1.0.2\"" },
	{ "root", json_type_object, true, "an object with the path of the root" },
	{ "root.path", json_type_string, true, "a path" },
	{ "process", json_type_object, true, "an object with args and cwd" },
	{ "process.args", json_type_array, true, "a list of strings" },
	{ "process.cwd", json_type_string, true, "an absolute path" },
	{ "process.env", json_type_array, false, "a list of \"NAME=value\"" },
	{ "mounts", json_type_array, false, "a list of mounts" },
	{ "linux", json_type_object, false, "an object" },
	{ "linux.devices", json_type_array, false, "a list of device nodes" },
	{ "linux.resources", json_type_object, false, "an object" },
	{ "linux.resources.devices", json_type_array, false, "a list of device rules" },
	{ "linux.maskedPaths", json_type_array, false, "a list of paths" },
};

static int check_fields(struct json_object *spec, const char *name, struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(field_rows); i++) {
		struct json_object *value = json_get(spec, field_rows[i].path);

		if (!value && !field_rows[i].required)
			continue;
		if (!value)
			return error_set(error, EINVAL, "%s: %s is missing; it must be %s", name,
					 field_rows[i].path, field_rows[i].what);
		if (!json_object_is_type(value, field_rows[i].type))
			return error_set(error, EINVAL, "%s: %s must be %s", name,
					 field_rows[i].path, field_rows[i].what);
	}
	return 0;
}

static int check_strings(struct json_object *spec, const char *name, const char *path,
			 struct error *error)
{
	struct json_object *list = json_get(spec, path);

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (!json_object_is_type(item, json_type_string))
			return error_set(error, EINVAL, "%s: %s[%zu] must be a string", name, path,
					 i);
		if (strlen(json_object_get_string(item)) !=
		    (size_t)json_object_get_string_len(item))
			return error_set(error, EINVAL, "%s: %s[%zu] holds a NUL character", name,
					 path, i);
	}
	return 0;
}

/* A number of a device; -1 means every number in a rule. */
static bool number_fits(struct json_object *item, const char *key, int64_t minimum)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(item, key, &value) || !value)
		return true;
	return json_object_is_type(value, json_type_int) &&
	       json_object_get_int64(value) >= minimum &&
	       json_object_get_int64(value) <= DEVICE_NUMBER_MAX;
}

static const char *check_mount(struct json_object *mount)
{
	struct json_object *options = json_get(mount, "options");

	if (!*json_get_string(mount, "destination", ""))
		return "needs a destination";
	if (json_get(mount, "type") && !json_get_string(mount, "type", NULL))
		return "has a type that is no string";
	if (json_get(mount, "source") && !json_get_string(mount, "source", NULL))
		return "has a source that is no string";
	if (options && !json_object_is_type(options, json_type_array))
		return "has options that are no list";
	return NULL;
}

static const char *check_device(struct json_object *device)
{
	if (*json_get_string(device, "path", "") != '/')
		return "needs an absolute path";
	if (!*json_get_string(device, "type", ""))
		return "needs a type";
	if (!number_fits(device, "major", 0) || !number_fits(device, "minor", 0))
		return "has a major or minor that is no device number";
	return NULL;
}

static const char *check_rule(struct json_object *rule)
{
	if (!json_object_is_type(json_get(rule, "allow"), json_type_boolean))
		return "needs allow, true or false";
	if (json_get(rule, "type") && !json_get_string(rule, "type", NULL))
		return "has a type that is no string";
	if (json_get(rule, "access") && !json_get_string(rule, "access", NULL))
		return "has an access that is no string";
	if (!number_fits(rule, "major", -1) || !number_fits(rule, "minor", -1))
		return "has a major or minor that is no device number";
	return NULL;
}

static int check_objects(struct json_object *spec, const char *name, const char *path,
			 const char *(*check)(struct json_object *), struct error *error)
{
	struct json_object *list = json_get(spec, path);

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		const char *problem = "must be an object";

		if (json_object_is_type(item, json_type_object))
			problem = check(item);
		if (problem)
			return error_set(error, EINVAL, "%s: %s[%zu] %s", name, path, i, problem);
	}
	return 0;
}

static int check_values(struct json_object *spec, const char *name, struct error *error)
{
	const char *version = json_get_string(spec, "ociVersion", "");

	if (strncmp(version, "1.", 2) != 0)
		return error_set(error, EINVAL,
				 "%s: ociVersion is \"%.40s\"; only versions 1.x are understood",
				 name, version);
	if (!*json_get_string(spec, "root.path", ""))
		return error_set(error, EINVAL, "%s: root.path is empty; it must be a path", name);
	if (json_object_array_length(json_get(spec, "process.args")) == 0)
		return error_set(error, EINVAL, "%s: process.args is empty; name a program", name);
	if (*json_get_string(spec, "process.cwd", "") != '/')
		return error_set(error, EINVAL,
				 "%s: process.cwd is \"%.200s\"; it must be an "
				 "absolute path",
				 name, json_get_string(spec, "process.cwd", ""));
	return 0;
}

int oci_spec_check(struct json_object *spec, const char *name, struct error *error)
{
	static const char *const string_lists[] = { "process.args", "process.env",
						    "linux.maskedPaths" };

	if (!json_object_is_type(spec, json_type_object))
		return error_set(error, EINVAL, "%s: not an OCI spec; it must be a JSON object",
				 name);
	int r = check_fields(spec, name, error);
	if (r == 0)
		r = check_values(spec, name, error);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(string_lists); i++)
		r = check_strings(spec, name, string_lists[i], error);
	if (r == 0)
		r = check_objects(spec, name, "mounts", check_mount, error);
	if (r == 0)
		r = check_objects(spec, name, "linux.devices", check_device, error);
	if (r == 0)
		r = check_objects(spec, name, "linux.resources.devices", check_rule, error);
	return r;
}

static int take_checked(struct json_object *spec, const char *name, struct json_object **ret,
			struct error *error)
{
	int r = oci_spec_check(spec, name, error);

	if (r < 0) {
		json_object_put(spec);
		return r;
	}
	*ret = spec;
	return 0;
}

int oci_spec_read(const char *path, struct json_object **ret, struct error *error)
{
	struct json_object *spec = NULL;
	int r = json_read_file(path, &oci_limits, &spec, error);

	return r < 0 ? r : take_checked(spec, path, ret, error);
}

int oci_spec_parse(const char *text, size_t length, const char *name, struct json_object **ret,
		   struct error *error)
{
	struct json_object *spec = NULL;
	int r = json_parse(text, length, name, &oci_limits, &spec, error);

	return r < 0 ? r : take_checked(spec, name, ret, error);
}

int oci_spec_write(const char *path, struct json_object *spec, struct error *error)
{
	int r = oci_spec_check(spec, path, error);

	return r < 0 ? r : json_write_file(path, spec, 0600, error);
}

/* The member KEY of PARENT, made when absent. */
static struct json_object *child(struct json_object *parent, const char *key, enum json_type type)
{
	struct json_object *value = NULL;

	if (!parent)
		return NULL;
	if (json_object_object_get_ex(parent, key, &value) && value)
		return json_object_is_type(value, type) ? value : NULL;
	value = type == json_type_array ? json_object_new_array() : json_object_new_object();
	if (!value || json_add(parent, key, value) < 0)
		return NULL;
	return value;
}

static struct json_object *device_rules(struct json_object *spec)
{
	struct json_object *linux_part = child(spec, "linux", json_type_object);

	return child(child(linux_part, "resources", json_type_object), "devices", json_type_array);
}

/* The value when ITEM is "NAME=value". */
static const char *env_value(struct json_object *item, const char *name)
{
	const char *text = json_object_get_string(item);
	size_t length = strlen(name);

	if (!text || strncmp(text, name, length) != 0 || text[length] != '=')
		return NULL;
	return text + length + 1;
}

const char *oci_spec_env(struct json_object *spec, const char *name)
{
	struct json_object *list = json_get(spec, "process.env");
	const char *found = NULL;

	if (!json_object_is_type(list, json_type_array))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const char *value = env_value(json_object_array_get_idx(list, i), name);

		if (value)
			found = value;
	}
	return found;
}

int oci_spec_set_env(struct json_object *spec, const char *name, const char *value,
		     struct error *error)
{
	autostrbuf text = STRBUF_INIT(oci_limits.bytes);
	struct json_object *list =
		child(child(spec, "process", json_type_object), "env", json_type_array);
	bool replaced = false;

	if (!list)
		return error_no_memory(error);
	strbuf_addf(&text, "%s=%s", name, value);
	if (strbuf_failed(&text) < 0)
		return error_set(error, -strbuf_failed(&text), "cannot set variable %s", name);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (!env_value(item, name))
			continue;
		/* Each one: runtimes disagree about which of two counts. */
		if (!json_object_set_string_len(item, text.data, (int)text.length))
			return error_no_memory(error);
		replaced = true;
	}
	if (!replaced && json_append_string(list, text.data) < 0)
		return error_no_memory(error);
	return 0;
}

static int add_options(struct json_object *mount, const char *options)
{
	autojson *list = json_object_new_array();

	while (list && options && *options) {
		size_t length = strcspn(options, ",");
		struct json_object *item = json_object_new_string_len(options, (int)length);

		if (!item || json_append(list, item) < 0)
			return -ENOMEM;
		options += length + (options[length] == ',');
	}
	return list ? json_add(mount, "options", TAKE_PTR(list)) : -ENOMEM;
}

int oci_spec_add_mount(struct json_object *spec, const struct oci_mount *mount, struct error *error)
{
	struct json_object *list = child(spec, "mounts", json_type_array);
	autojson *object = json_object_new_object();

	if (!list || !object || json_add_string(object, "destination", mount->destination) < 0)
		return error_no_memory(error);
	if (mount->type && json_add_string(object, "type", mount->type) < 0)
		return error_no_memory(error);
	if (json_add_string(object, "source", mount->source) < 0)
		return error_no_memory(error);
	if (mount->options && add_options(object, mount->options) < 0)
		return error_no_memory(error);
	if (json_append(list, TAKE_PTR(object)) < 0)
		return error_no_memory(error);
	return 0;
}

static bool same_device(struct json_object *item, const struct oci_device *device)
{
	const char type[2] = { device->type, '\0' };

	return strcmp(json_get_string(item, "type", ""), type) == 0 &&
	       json_get_uint(item, "major", UINT64_MAX) == device->major &&
	       json_get_uint(item, "minor", UINT64_MAX) == device->minor;
}

/* 1 when the node is there, 0 when not, -EEXIST when another device has its path. */
static int find_device(struct json_object *list, const struct oci_device *device,
		       struct error *error)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (strcmp(json_get_string(item, "path", ""), device->path) != 0)
			continue;
		if (same_device(item, device))
			return 1;
		return error_set(error, EEXIST,
				 "linux.devices[%zu] already puts another device at %s; remove it "
				 "from the spec",
				 i, device->path);
	}
	return 0;
}

int oci_spec_add_device(struct json_object *spec, const struct oci_device *device,
			struct error *error)
{
	struct json_object *list =
		child(child(spec, "linux", json_type_object), "devices", json_type_array);
	const char type[2] = { device->type, '\0' };

	if (!list)
		return error_no_memory(error);
	int r = find_device(list, device, error);
	if (r < 0)
		return r;
	if (r == 0) {
		autojson *object = json_object_new_object();

		if (!object || json_add_string(object, "path", device->path) < 0 ||
		    json_add_string(object, "type", type) < 0 ||
		    json_add_uint(object, "major", device->major) < 0 ||
		    json_add_uint(object, "minor", device->minor) < 0 ||
		    json_add_uint(object, "fileMode", device->mode) < 0 ||
		    json_add_uint(object, "uid", device->uid) < 0 ||
		    json_add_uint(object, "gid", device->gid) < 0 ||
		    json_append(list, TAKE_PTR(object)) < 0)
			return error_no_memory(error);
	}
	return oci_spec_add_device_rule(spec, device->type, device->major, device->minor,
					device->access, error);
}

/* The same rule stands there and no later rule takes anything back. */
static bool rule_in_force(struct json_object *list, const struct oci_device *device)
{
	for (size_t i = json_object_array_length(list); i-- > 0;) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (!json_object_get_boolean(json_get(item, "allow")))
			return false;
		if (same_device(item, device) &&
		    strcmp(json_get_string(item, "access", ""), device->access) == 0)
			return true;
	}
	return false;
}

int oci_spec_add_device_rule(struct json_object *spec, char type, unsigned major, unsigned minor,
			     const char *access, struct error *error)
{
	const struct oci_device device = {
		.type = type, .major = major, .minor = minor, .access = access
	};
	struct json_object *list = device_rules(spec);
	const char text[2] = { type, '\0' };

	if (!list)
		return error_no_memory(error);
	if (rule_in_force(list, &device))
		return 0;
	autojson *object = json_object_new_object();
	if (!object || json_add_bool(object, "allow", true) < 0 ||
	    json_add_string(object, "type", text) < 0 ||
	    json_add_uint(object, "major", major) < 0 ||
	    json_add_uint(object, "minor", minor) < 0 ||
	    json_add_string(object, "access", access) < 0 ||
	    json_append(list, TAKE_PTR(object)) < 0)
		return error_no_memory(error);
	return 0;
}

int oci_spec_add_masked_path(struct json_object *spec, const char *path, struct error *error)
{
	struct json_object *list =
		child(child(spec, "linux", json_type_object), "maskedPaths", json_type_array);

	if (!list)
		return error_no_memory(error);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(list, i));

		if (text && strcmp(text, path) == 0)
			return 0;
	}
	return json_append_string(list, path) < 0 ? error_no_memory(error) : 0;
}
