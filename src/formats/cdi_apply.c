/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "formats/cdi.h"
#include "formats/oci.h"

/* What a node gets that says nothing: the mode that runtimes take then. */
enum { NODE_MODE = 0666, OPTIONS_MAX = 4096 };

/* The number at KEY, or FALLBACK. */
static unsigned number_at(struct json_object *object, const char *key, unsigned fallback)
{
	return (unsigned)json_get_uint(object, key, fallback);
}

/* Type and numbers, from the node of the host when the spec has none. */
static int find_numbers(struct json_object *node, struct oci_device *device, struct error *error)
{
	const char *type = json_get_string(node, "type", "");
	const char *host = json_get_string(node, "hostPath", device->path);
	uint64_t major_number = json_get_uint(node, "major", 0);
	uint64_t minor_number = json_get_uint(node, "minor", 0);
	struct stat status;

	if (*type && *type != 'c' && *type != 'b')
		return error_set(error, EPERM,
				 "%s is of type %s; only character and block devices are given to "
				 "a container",
				 device->path, type);
	if (!*host)
		host = device->path;
	if (*type && major_number) {
		device->type = *type;
	} else {
		/* Not through a link: its end need not be what the spec's author meant. */
		if (lstat(host, &status) < 0)
			return error_set_errno(error, errno, "cannot look at %s, the device of %s",
					       host, device->path);
		if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode))
			return error_set(error, ENODEV, "%s, the device of %s, is no device", host,
					 device->path);
		device->type = S_ISCHR(status.st_mode) ? 'c' : 'b';
		if (*type && *type != device->type)
			return error_set(error, ENODEV,
					 "%s is a device of type %c, and the CDI spec says %s; "
					 "make the spec anew",
					 host, device->type, type);
		major_number = major(status.st_rdev);
		minor_number = minor(status.st_rdev);
	}
	/* What the kernel's device numbers have room for. */
	if (major_number >= 1u << 12 || minor_number >= 1u << 20)
		return error_set(error, EINVAL, "%s has the numbers %llu:%llu, which no device has",
				 device->path, (unsigned long long)major_number,
				 (unsigned long long)minor_number);
	device->major = (unsigned)major_number;
	device->minor = (unsigned)minor_number;
	return 0;
}

static int apply_node(struct json_object *node, struct json_object *spec, struct error *error)
{
	const char *access = json_get_string(node, "permissions", "");
	struct oci_device device = { .path = json_get_string(node, "path", ""),
				     .mode = number_at(node, "fileMode", NODE_MODE) & 07777,
				     .access = *access ? access : "rwm" };

	if (*device.path != '/')
		return error_set(error, EINVAL,
				 "the CDI device \"%.200s\" is no absolute path in the container",
				 device.path);
	if (strcmp(access, "none") == 0)
		device.access = "";
	/* As in the CDI library: else the user of the container could not open it. */
	device.uid = number_at(node, "uid", number_at(spec, "process.user.uid", 0));
	device.gid = number_at(node, "gid", number_at(spec, "process.user.gid", 0));
	int r = find_numbers(node, &device, error);
	return r < 0 ? r : oci_spec_add_device(spec, &device, error);
}

/* 1 when the same mount is there, -EEXIST when another one is. */
static int find_mount(struct json_object *spec, const char *destination, const char *source,
		      struct error *error)
{
	struct json_object *list = json_get(spec, "mounts");

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *mount = json_object_array_get_idx(list, i);

		if (strcmp(json_get_string(mount, "destination", ""), destination) != 0)
			continue;
		if (strcmp(json_get_string(mount, "source", ""), source) == 0)
			return 1;
		return error_set(error, EEXIST,
				 "mounts[%zu] already mounts something else at %s, where a CDI "
				 "device has to mount %s; take one of them away",
				 i, destination, source);
	}
	return 0;
}

static int apply_mount(struct json_object *edit, struct json_object *spec, struct error *error)
{
	autostrbuf options = STRBUF_INIT(OPTIONS_MAX);
	struct json_object *list = json_get(edit, "options");
	const char *type = json_get_string(edit, "type", "");
	struct oci_mount mount = { .destination = json_get_string(edit, "containerPath", ""),
				   .source = json_get_string(edit, "hostPath", ""),
				   .type = *type ? type : NULL };

	if (*mount.destination != '/')
		return error_set(error, EINVAL,
				 "the CDI mount \"%.200s\" is no absolute path in the container",
				 mount.destination);
	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		strbuf_addf(&options, "%s%s", i ? "," : "",
			    json_object_get_string(json_object_array_get_idx(list, i)));
	if (strbuf_failed(&options) < 0)
		return error_set(error, -strbuf_failed(&options),
				 "the options of the CDI mount %s are too long", mount.destination);
	mount.options = options.length ? options.data : NULL;
	int r = find_mount(spec, mount.destination, mount.source, error);
	return r != 0 ? (r > 0 ? 0 : r) : oci_spec_add_mount(spec, &mount, error);
}

static int apply_variable(struct json_object *item, struct json_object *spec, struct error *error)
{
	const char *text = json_object_get_string(item);
	const char *sign = strchr(text, '=');
	autofree char *name = sign ? strndup(text, (size_t)(sign - text)) : NULL;

	if (!name)
		return error_no_memory(error);
	return oci_spec_set_env(spec, name, sign + 1, error);
}

/* The member KEY of OBJECT, made when absent. */
static int member(struct json_object *object, const char *key, enum json_type type,
		  struct json_object **ret, struct error *error)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(object, key, &value) || !value) {
		value = type == json_type_array ? json_object_new_array()
						: json_object_new_object();
		if (!value || json_add(object, key, value) < 0)
			return error_no_memory(error);
	}
	if (!json_object_is_type(value, type))
		return error_set(error, EINVAL, "%s of the OCI spec must be %s", key,
				 json_type_to_name(type));
	*ret = value;
	return 0;
}

static int apply_group(struct json_object *item, struct json_object *spec, struct error *error)
{
	struct json_object *user = NULL, *list = NULL;
	uint64_t group = json_object_get_uint64(item);
	int r = member(json_get(spec, "process"), "user", json_type_object, &user, error);

	if (r == 0)
		r = member(user, "additionalGids", json_type_array, &list, error);
	/* Root's group would be more than a device. */
	if (r < 0 || group == 0)
		return r;
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (json_object_get_uint64(json_object_array_get_idx(list, i)) == group)
			return 0;
	return json_append(list, json_object_new_uint64(group)) < 0 ? error_no_memory(error) : 0;
}

/* What is not passed on. How to add one: a row. */
static const struct {
	const char *key, *why;
} refused_rows[] = {
	{ "hooks", "has hooks, which would run programs of the host at the start of the container; "
		   "take them out of the spec, or use a spec without (gpupool cdi generate)" },
	{ "intelRdt", "wants a cache class (intelRdt), which is not passed on; take it out" },
	{ "netDevices", "wants network devices, which are not passed on; take them out" },
};

/* What is passed on, in this order. How to add one: a row. */
static const struct {
	const char *key;
	int (*apply)(struct json_object *item, struct json_object *spec, struct error *error);
} apply_rows[] = {
	{ "env", apply_variable },
	{ "deviceNodes", apply_node },
	{ "mounts", apply_mount },
	{ "additionalGids", apply_group },
};

int cdi_edits_apply_oci(struct json_object *edits, struct json_object *spec, struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused_rows); i++) {
		struct json_object *value = json_get(edits, refused_rows[i].key);

		if (value && !(json_object_is_type(value, json_type_array) &&
			       json_object_array_length(value) == 0))
			return error_set(error, EPERM, "the CDI device %s", refused_rows[i].why);
	}
	for (size_t i = 0; i < ARRAY_SIZE(apply_rows); i++) {
		struct json_object *list = json_get(edits, apply_rows[i].key);

		for (size_t j = 0; list && j < json_object_array_length(list); j++) {
			int r = apply_rows[i].apply(json_object_array_get_idx(list, j), spec,
						    error);
			if (r < 0)
				return r;
		}
	}
	return 0;
}
