/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/cdi.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const struct json_limits cdi_limits = { .bytes = (size_t)8 << 20, .depth = 32 };

enum { PATH_TEXT_MAX = 512, ANNOTATIONS_MAX = 256 << 10 };

enum shape {
	SHAPE_SPEC,
	SHAPE_DEVICE,
	SHAPE_EDITS,
	SHAPE_NODE,
	SHAPE_NET,
	SHAPE_HOOK,
	SHAPE_MOUNT,
	SHAPE_RDT,
	SHAPE_MAX,
};

enum value {
	VALUE_STRING,
	VALUE_STRINGS,
	VALUE_NUMBER, /* not negative */
	VALUE_ID,     /* 32 bits */
	VALUE_IDS,
	VALUE_INTEGER,
	VALUE_FLAG,
	VALUE_TEXTS, /* names to strings */
	VALUE_OBJECT,
	VALUE_OBJECTS,
	VALUE_MAX,
};

/* Known versions, oldest first. How to add one: a row; then the rows of its fields below. */
static const char *const versions[] = { "0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0",
					"0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0" };
enum { V03 = 2, V04 = 3, V05 = 4, V06 = 5, V07 = 6, V11 = 9 };

/*
 * Every field that there is. How to add one: a row; SINCE is the version that has it (an index of
 * the table above, 0: every version). What is not here makes a runtime refuse the file.
 */
static const struct field_row {
	enum shape shape;
	const char *key;
	enum value value;
	enum shape child;
	bool required;
	unsigned since;
} field_rows[] = {
	{ SHAPE_SPEC, "cdiVersion", VALUE_STRING, 0, true, 0 },
	{ SHAPE_SPEC, "kind", VALUE_STRING, 0, true, 0 },
	{ SHAPE_SPEC, "annotations", VALUE_TEXTS, 0, false, V06 },
	{ SHAPE_SPEC, "devices", VALUE_OBJECTS, SHAPE_DEVICE, true, 0 },
	{ SHAPE_SPEC, "containerEdits", VALUE_OBJECT, SHAPE_EDITS, false, 0 },
	{ SHAPE_DEVICE, "name", VALUE_STRING, 0, true, 0 },
	{ SHAPE_DEVICE, "annotations", VALUE_TEXTS, 0, false, V06 },
	{ SHAPE_DEVICE, "containerEdits", VALUE_OBJECT, SHAPE_EDITS, true, 0 },
	{ SHAPE_EDITS, "env", VALUE_STRINGS, 0, false, 0 },
	{ SHAPE_EDITS, "deviceNodes", VALUE_OBJECTS, SHAPE_NODE, false, 0 },
	{ SHAPE_EDITS, "netDevices", VALUE_OBJECTS, SHAPE_NET, false, V11 },
	{ SHAPE_EDITS, "hooks", VALUE_OBJECTS, SHAPE_HOOK, false, 0 },
	{ SHAPE_EDITS, "mounts", VALUE_OBJECTS, SHAPE_MOUNT, false, 0 },
	{ SHAPE_EDITS, "intelRdt", VALUE_OBJECT, SHAPE_RDT, false, V07 },
	{ SHAPE_EDITS, "additionalGids", VALUE_IDS, 0, false, V07 },
	{ SHAPE_NODE, "path", VALUE_STRING, 0, true, 0 },
	{ SHAPE_NODE, "hostPath", VALUE_STRING, 0, false, V05 },
	{ SHAPE_NODE, "type", VALUE_STRING, 0, false, 0 },
	{ SHAPE_NODE, "major", VALUE_NUMBER, 0, false, 0 },
	{ SHAPE_NODE, "minor", VALUE_NUMBER, 0, false, 0 },
	{ SHAPE_NODE, "fileMode", VALUE_ID, 0, false, 0 },
	{ SHAPE_NODE, "permissions", VALUE_STRING, 0, false, 0 },
	{ SHAPE_NODE, "uid", VALUE_ID, 0, false, 0 },
	{ SHAPE_NODE, "gid", VALUE_ID, 0, false, 0 },
	{ SHAPE_NET, "hostInterfaceName", VALUE_STRING, 0, true, 0 },
	{ SHAPE_NET, "name", VALUE_STRING, 0, true, 0 },
	{ SHAPE_HOOK, "hookName", VALUE_STRING, 0, true, 0 },
	{ SHAPE_HOOK, "path", VALUE_STRING, 0, true, 0 },
	{ SHAPE_HOOK, "args", VALUE_STRINGS, 0, false, 0 },
	{ SHAPE_HOOK, "env", VALUE_STRINGS, 0, false, 0 },
	{ SHAPE_HOOK, "timeout", VALUE_INTEGER, 0, false, 0 },
	{ SHAPE_MOUNT, "hostPath", VALUE_STRING, 0, true, 0 },
	{ SHAPE_MOUNT, "containerPath", VALUE_STRING, 0, true, 0 },
	{ SHAPE_MOUNT, "options", VALUE_STRINGS, 0, false, 0 },
	{ SHAPE_MOUNT, "type", VALUE_STRING, 0, false, V04 },
	{ SHAPE_RDT, "closID", VALUE_STRING, 0, false, 0 },
	{ SHAPE_RDT, "l3CacheSchema", VALUE_STRING, 0, false, 0 },
	{ SHAPE_RDT, "memBwSchema", VALUE_STRING, 0, false, 0 },
	{ SHAPE_RDT, "schemata", VALUE_STRINGS, 0, false, V11 },
	{ SHAPE_RDT, "enableMonitoring", VALUE_FLAG, 0, false, V11 },
};

struct walk {
	const char *name; /* of the spec, for messages; NULL: no message, no memory is needed */
	struct strbuf path;
	unsigned line;   /* of the object that is looked at, 0 unknown */
	unsigned lowest; /* version that the fields met so far need */
	struct error *error;
};

static int refuse(const struct walk *walk, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "FILE:LINE: devices[0].name WHAT" */
static int refuse(const struct walk *walk, const char *format, ...)
{
	autostrbuf text = STRBUF_INIT(ERROR_MESSAGE_MAX);
	va_list arguments;

	if (!walk->name)
		return -EINVAL;
	va_start(arguments, format);
	strbuf_vaddf(&text, format, arguments);
	va_end(arguments);
	if (walk->path.failed == ENOMEM || text.failed == ENOMEM)
		return error_no_memory(walk->error);
	char line[16] = "";
	if (walk->line)
		snprintf(line, sizeof(line), ":%u", walk->line);
	return error_set(walk->error, EINVAL, "%s%s: %s%s%s", walk->name, line, walk->path.data,
			 walk->path.length ? " " : "", text.data);
}

static void path_add(struct walk *walk, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void path_add(struct walk *walk, const char *format, ...)
{
	va_list arguments;

	if (!walk->name)
		return;
	va_start(arguments, format);
	strbuf_vaddf(&walk->path, format, arguments);
	va_end(arguments);
}

static void path_cut(struct walk *walk, size_t length)
{
	if (walk->path.length <= length)
		return;
	walk->path.data[length] = '\0';
	walk->path.length = length;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alphanumeric(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

/* Begins as asked, ends with a letter or digit, between them these and MORE. */
static bool name_fits(const char *name, bool letter_first, const char *more)
{
	size_t length = strlen(name);

	if (length == 0 || length >= CDI_NAME_MAX || !is_alphanumeric(name[length - 1]))
		return false;
	if (letter_first ? !is_letter(name[0]) : !is_alphanumeric(name[0]))
		return false;
	for (size_t i = 1; i + 1 < length; i++)
		if (!is_alphanumeric(name[i]) && !strchr(more, name[i]))
			return false;
	return true;
}

bool cdi_device_name_is_valid(const char *name)
{
	return name_fits(name, false, "_-.:");
}

bool cdi_kind_part_is_valid(const char *part)
{
	return name_fits(part, true, "_-.");
}

static bool kind_is_valid(const char *kind)
{
	char vendor[CDI_NAME_MAX];
	size_t length = strcspn(kind, "/");

	if (kind[length] != '/' || length >= sizeof(vendor) || strlen(kind) >= CDI_NAME_MAX)
		return false;
	memcpy(vendor, kind, length);
	vendor[length] = '\0';
	return cdi_kind_part_is_valid(vendor) && cdi_kind_part_is_valid(kind + length + 1);
}

int cdi_name_split(const char *name, char kind[static CDI_NAME_MAX],
		   char device[static CDI_NAME_MAX])
{
	char first[CDI_NAME_MAX];
	size_t length = strcspn(name, "=");

	if (name[length] != '=' || length >= sizeof(first))
		return -EINVAL;
	memcpy(first, name, length);
	first[length] = '\0';
	if (!kind_is_valid(first) || !cdi_device_name_is_valid(name + length + 1))
		return -EINVAL;
	memcpy(kind, first, length + 1);
	memcpy(device, name + length + 1, strlen(name + length + 1) + 1);
	return 0;
}

/* The part of an annotation's key after the '/', as Kubernetes has it. */
static bool annotation_name_fits(const char *name)
{
	return strlen(name) <= 63 && name_fits(name, false, "-_.");
}

static bool annotation_key_fits(const char *key)
{
	const char *slash = strchr(key, '/');

	if (!slash)
		return annotation_name_fits(key);
	size_t length = (size_t)(slash - key);
	if (length == 0 || length > 253 || !annotation_name_fits(slash + 1))
		return false;
	for (size_t i = 0; i < length; i++) {
		bool edge = i == 0 || i + 1 == length || key[i - 1] == '.' || key[i + 1] == '.';

		/* Upper case too: the library makes the key lower case before it looks. */
		if (!is_alphanumeric(key[i]) && (edge || (key[i] != '-' && key[i] != '.')))
			return false;
	}
	return true;
}

static int check_texts(struct walk *walk, struct json_object *object)
{
	size_t bytes = 0;

	json_object_object_foreach(object, key, value)
	{
		if (!json_object_is_type(value, json_type_string))
			return refuse(walk, "has \"%.100s\", which is no string", key);
		if (!annotation_key_fits(key))
			return refuse(walk,
				      "has \"%.100s\", which is no key; use "
				      "[DOMAIN/]NAME of letters, digits, '-', '_' and '.'",
				      key);
		bytes += strlen(key) + (size_t)json_object_get_string_len(value);
	}
	if (bytes > ANNOTATIONS_MAX)
		return refuse(walk, "has %zu bytes; at most %d are allowed", bytes,
			      ANNOTATIONS_MAX);
	return 0;
}

static bool number_fits(struct json_object *item, int64_t minimum, int64_t maximum)
{
	if (!json_object_is_type(item, json_type_int))
		return false;
	/* json-c's signed number of what only an unsigned one can hold is its own maximum. */
	if (json_object_get_int64(item) == INT64_MAX && json_object_get_uint64(item) != INT64_MAX)
		return false;
	return json_object_get_int64(item) >= minimum && json_object_get_int64(item) <= maximum;
}

/* Without a NUL, which would end it. */
static bool fits_string(struct json_object *item)
{
	return json_object_is_type(item, json_type_string) &&
	       strlen(json_object_get_string(item)) == (size_t)json_object_get_string_len(item);
}

static bool fits_number(struct json_object *item)
{
	return number_fits(item, 0, INT64_MAX);
}

static bool fits_id(struct json_object *item)
{
	return number_fits(item, 0, UINT32_MAX);
}

static bool fits_integer(struct json_object *item)
{
	return number_fits(item, INT64_MIN, INT64_MAX);
}

static bool fits_flag(struct json_object *item)
{
	return json_object_is_type(item, json_type_boolean);
}

static bool fits_object(struct json_object *item)
{
	return json_object_is_type(item, json_type_object);
}

static bool fits_list(struct json_object *item)
{
	return json_object_is_type(item, json_type_array);
}

/* ITEM: what the items of a list are; itself for what is no list. */
static const struct {
	const char *words;
	bool (*fits)(struct json_object *item);
	enum value item;
} value_rows[VALUE_MAX] = {
	[VALUE_STRING] = { "a string (in YAML put it in quotes)", fits_string, VALUE_STRING },
	[VALUE_STRINGS] = { "a list of strings", fits_list, VALUE_STRING },
	[VALUE_NUMBER] = { "a number that is not negative", fits_number, VALUE_NUMBER },
	[VALUE_ID] = { "a number of 32 bits", fits_id, VALUE_ID },
	[VALUE_IDS] = { "a list of numbers of 32 bits", fits_list, VALUE_ID },
	[VALUE_INTEGER] = { "a number", fits_integer, VALUE_INTEGER },
	[VALUE_FLAG] = { "true or false", fits_flag, VALUE_FLAG },
	[VALUE_TEXTS] = { "an object with strings", fits_object, VALUE_TEXTS },
	[VALUE_OBJECT] = { "an object", fits_object, VALUE_OBJECT },
	[VALUE_OBJECTS] = { "a list of objects", fits_list, VALUE_OBJECT },
};

/* An empty value is as good as none: it needs no newer version and is no edit. */
static bool value_is_used(struct json_object *value)
{
	if (json_object_is_type(value, json_type_string))
		return json_object_get_string_len(value) > 0;
	if (json_object_is_type(value, json_type_array))
		return json_object_array_length(value) > 0;
	if (json_object_is_type(value, json_type_boolean))
		return json_object_get_boolean(value);
	return value != NULL;
}

static int walk_object(struct walk *walk, struct json_object *object, enum shape shape);

static int walk_list(struct walk *walk, struct json_object *list, const struct field_row *row)
{
	size_t length = walk->path.length;
	enum value kind = value_rows[row->value].item;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		int r = 0;

		path_add(walk, "[%zu]", i);
		if (!value_rows[kind].fits(item))
			r = refuse(walk, "must be %s", value_rows[kind].words);
		else if (kind == VALUE_OBJECT)
			r = walk_object(walk, item, row->child);
		if (r < 0)
			return r;
		path_cut(walk, length);
	}
	return 0;
}

static int walk_value(struct walk *walk, struct json_object *value, const struct field_row *row)
{
	bool used = value_is_used(value);
	int r = 0;

	if (!value_rows[row->value].fits(value))
		r = refuse(walk, "must be %s", value_rows[row->value].words);
	else if (value_rows[row->value].item != row->value)
		r = walk_list(walk, value, row);
	else if (row->value == VALUE_OBJECT)
		r = walk_object(walk, value, row->child);
	else if (row->value == VALUE_TEXTS)
		r = check_texts(walk, value);
	if (row->value == VALUE_TEXTS)
		used = r == 0 && json_object_object_length(value) > 0;
	if (used && row->since > walk->lowest)
		walk->lowest = row->since;
	return r;
}

static const struct field_row *find_row(enum shape shape, const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(field_rows); i++)
		if (field_rows[i].shape == shape && strcmp(field_rows[i].key, key) == 0)
			return &field_rows[i];
	return NULL;
}

/* A null is as good as absent, as in Go. */
static int check_required(struct walk *walk, struct json_object *object, enum shape shape)
{
	for (size_t i = 0; i < ARRAY_SIZE(field_rows); i++) {
		struct json_object *value = NULL;

		if (field_rows[i].shape != shape || !field_rows[i].required)
			continue;
		if (!json_object_object_get_ex(object, field_rows[i].key, &value) || !value)
			return refuse(walk, "has no %s; it must be %s", field_rows[i].key,
				      value_rows[field_rows[i].value].words);
	}
	return 0;
}

static int check_variables(struct walk *walk, struct json_object *object)
{
	struct json_object *list = json_get(object, "env");

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(list, i));
		const char *sign = strchr(text, '=');

		if (!sign || sign == text)
			return refuse(walk, "has env[%zu] \"%.100s\"; it must be NAME=value", i,
				      text);
	}
	return 0;
}

static int check_spec(struct walk *walk, struct json_object *spec)
{
	const char *kind = json_get_string(spec, "kind", "");
	struct json_object *devices = json_get(spec, "devices");

	if (!kind_is_valid(kind))
		return refuse(walk,
			      "has kind \"%.100s\"; it must be VENDOR/CLASS, each of letters, "
			      "digits, '-', '_' and '.', from a letter to a letter or digit",
			      kind);
	if (strchr(strchr(kind, '/'), '.') && walk->lowest < V06)
		walk->lowest = V06;
	if (json_object_array_length(devices) == 0)
		return refuse(walk, "has no devices; a spec needs at least one");
	if (!walk->name)
		return 0;
	automap *names = map_new();
	for (size_t i = 0; names && i < json_object_array_length(devices); i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);
		const char *name = json_get_string(device, "name", "");

		if (map_get(names, name))
			return refuse(walk, "has two devices \"%.100s\"", name);
		if (map_put(names, name, device) < 0)
			return error_no_memory(walk->error);
	}
	return names ? 0 : error_no_memory(walk->error);
}

static int check_device(struct walk *walk, struct json_object *device)
{
	const char *name = json_get_string(device, "name", "");
	struct json_object *edits = json_get(device, "containerEdits");
	bool used = false;

	if (!cdi_device_name_is_valid(name))
		return refuse(walk,
			      "has name \"%.100s\"; it must be letters, digits, '-', '_', '.' and "
			      "':', from a letter or digit to a letter or digit",
			      name);
	if (!is_letter(name[0]) && walk->lowest < V05)
		walk->lowest = V05;
	json_object_object_foreach(edits, key, value)
	{
		(void)key;
		used = used || value_is_used(value);
	}
	return used ? 0 : refuse(walk, "has containerEdits without an edit; a device needs one");
}

static int check_node(struct walk *walk, struct json_object *node)
{
	const char *type = json_get_string(node, "type", "");
	const char *access = json_get_string(node, "permissions", "");

	if (!*json_get_string(node, "path", ""))
		return refuse(walk, "has an empty path; it must be a path in the container");
	if (*type && (strlen(type) != 1 || !strchr("bcup", *type)))
		return refuse(walk, "has type \"%.40s\"; it must be b, c, u or p", type);
	if (strspn(access, "rwm") != strlen(access) && strcmp(access, "none") != 0)
		return refuse(walk, "has permissions \"%.40s\"; it must be some of r, w and m",
			      access);
	return 0;
}

static int check_net(struct walk *walk, struct json_object *net)
{
	if (!*json_get_string(net, "hostInterfaceName", "") || !*json_get_string(net, "name", ""))
		return refuse(walk, "needs a hostInterfaceName and a name");
	return 0;
}

static int check_hook(struct walk *walk, struct json_object *hook)
{
	static const char *const names[] = { "prestart",       "createRuntime", "createContainer",
					     "startContainer", "poststart",     "poststop" };
	const char *name = json_get_string(hook, "hookName", "");
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		known = known || strcmp(name, names[i]) == 0;
	if (!known)
		return refuse(walk,
			      "has hookName \"%.40s\"; see config.md of the OCI for those "
			      "that there are",
			      name);
	if (!*json_get_string(hook, "path", ""))
		return refuse(walk, "has an empty path; it must be a program");
	return check_variables(walk, hook);
}

static int check_mount(struct walk *walk, struct json_object *mount)
{
	if (!*json_get_string(mount, "hostPath", "") ||
	    !*json_get_string(mount, "containerPath", ""))
		return refuse(walk, "needs a hostPath and a containerPath");
	return 0;
}

static int check_rdt(struct walk *walk, struct json_object *rdt)
{
	const char *name = json_get_string(rdt, "closID", "");

	if (strcmp(name, "/") == 0)
		return 0;
	if (strlen(name) >= 4096 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strpbrk(name, "/\n"))
		return refuse(walk, "has a closID that is no file name");
	return 0;
}

/* What a table of fields cannot say. */
static int (*const shape_checks[SHAPE_MAX])(struct walk *walk, struct json_object *object) = {
	[SHAPE_SPEC] = check_spec,   [SHAPE_DEVICE] = check_device, [SHAPE_EDITS] = check_variables,
	[SHAPE_NODE] = check_node,   [SHAPE_NET] = check_net,       [SHAPE_HOOK] = check_hook,
	[SHAPE_MOUNT] = check_mount, [SHAPE_RDT] = check_rdt,
};

static int walk_object(struct walk *walk, struct json_object *object, enum shape shape)
{
	size_t length = walk->path.length;
	unsigned line = json_line(object);

	json_object_object_foreach(object, key, value)
	{
		walk->line = line;
		const struct field_row *row = find_row(shape, key);

		if (!row)
			return refuse(walk,
				      "has the field \"%.100s\", which CDI does not know; a "
				      "runtime refuses the whole file for it",
				      key);
		if (!value)
			continue;
		path_add(walk, "%s%s", length ? "." : "", key);
		int r = walk_value(walk, value, row);
		if (r < 0)
			return r;
		path_cut(walk, length);
	}
	walk->line = line;
	int r = check_required(walk, object, shape);
	return r < 0 ? r : shape_checks[shape](walk, object);
}

static int walk_spec(struct walk *walk, struct json_object *spec)
{
	if (!json_object_is_type(spec, json_type_object))
		return refuse(walk, "is no CDI spec; it must be an object");
	walk->lowest = V03; /* what the library takes for the first */
	return walk_object(walk, spec, SHAPE_SPEC);
}

static int check_version(const struct walk *walk, struct json_object *spec)
{
	const char *text = json_get_string(spec, "cdiVersion", "");
	size_t found = 0;

	text += *text == 'v';
	while (found < ARRAY_SIZE(versions) && strcmp(versions[found], text) != 0)
		found++;
	if (found == ARRAY_SIZE(versions))
		return refuse(walk, "has cdiVersion \"%.40s\"; %s is the newest that is known",
			      text, versions[ARRAY_SIZE(versions) - 1]);
	if (found < walk->lowest)
		return refuse(walk, "has cdiVersion %s, and a field of it needs %s; write that",
			      versions[found], versions[walk->lowest]);
	return 0;
}

int cdi_spec_check(struct json_object *spec, const char *name, struct error *error)
{
	struct walk walk = { .name = name, .path = STRBUF_INIT(PATH_TEXT_MAX), .error = error };
	int r = walk_spec(&walk, spec);

	if (r == 0)
		r = check_version(&walk, spec);
	if (r == 0 && walk.path.failed == ENOMEM)
		r = error_no_memory(error);
	strbuf_release(&walk.path);
	return r;
}

const char *cdi_spec_lowest_version(struct json_object *spec)
{
	struct walk walk = { .path = STRBUF_INIT(PATH_TEXT_MAX) };

	(void)walk_spec(&walk, spec);
	return versions[walk.lowest];
}

static int read_yaml(const char *path, struct json_object **ret, struct error *error)
{
	autoyaml stream = { 0 };
	int r = yaml_read_file(path, &stream, error);

	if (r < 0)
		return r;
	if (stream.count == 0)
		return error_set(error, EINVAL,
				 "%s: is empty; a CDI spec has cdiVersion, kind and devices", path);
	if (stream.count != 1)
		return error_set(
			error, EINVAL,
			"%s: holds %zu YAML documents; a runtime reads the first alone, so "
			"keep one a file",
			path, stream.count);
	/* Aliases share their trees. */
	return json_copy(stream.documents[0], ret, error);
}

int cdi_spec_read(const char *path, struct json_object **ret, struct error *error)
{
	autojson *spec = NULL;
	size_t length = strlen(path);
	bool json = length > 5 && strcmp(path + length - 5, ".json") == 0;
	int r = json ? json_read_file(path, &cdi_limits, &spec, error)
		     : read_yaml(path, &spec, error);

	if (r == 0)
		r = cdi_spec_check(spec, path, error);
	if (r == 0)
		*ret = TAKE_PTR(spec);
	return r;
}
