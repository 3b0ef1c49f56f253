/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pod_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/dialect.h"

#define NOTES_MAX  100
#define SLIP_MAX   2 /* edits between a field and what was meant */
#define PATH_BYTES 256

static void add_position(struct pod_reader *reader, struct json_object *where, struct strbuf *text)
{
	unsigned line = where ? yaml_line(where) : 0;

	if (!line)
		line = reader->line;
	if (line)
		strbuf_addf(text, "%s:%u: ", reader->source, line);
	else
		strbuf_addf(text, "%s: ", reader->source);
}

void pod_kubernetes(struct pod_reader *reader, const char *format, ...)
{
	struct reason *reason = reader->reason;
	va_list arguments;

	reason_text(reason->kubernetes, sizeof(reason->kubernetes),
		    "Pod \"%s\" is invalid: ", reader->pod->name ? reader->pod->name : "");
	size_t used = strlen(reason->kubernetes);
	va_start(arguments, format);
	reason_vtext(reason->kubernetes + used, sizeof(reason->kubernetes) - used, format,
		     arguments);
	va_end(arguments);
}

/* The reason has its code and detail. */
static int refuse(struct pod_reader *reader, struct json_object *where)
{
	struct reason *reason = reader->reason;
	autostrbuf text = STRBUF_INIT(8192);

	reason_text(reason->object, sizeof(reason->object), "%s", reader->object);
	add_position(reader, where, &text);
	reason_sentence(reason, &text);
	return error_set(reader->error, EPERM, "%s", text.data);
}

int pod_refuse(struct pod_reader *reader, struct json_object *where, const char *format, ...)
{
	struct reason *reason = reader->reason;
	va_list arguments;

	va_start(arguments, format);
	reason_vtext(reason->detail, sizeof(reason->detail), format, arguments);
	va_end(arguments);
	reason->code = REASON_BAD_REQUEST;
	return refuse(reader, where);
}

int pod_refuse_resource(struct pod_reader *reader, struct json_object *where, const char *name,
			const char *amount)
{
	struct reason *reason = reader->reason;
	const char *nearest = dialect_nearest_resource(name);

	reason_text(reason->detail, sizeof(reason->detail), "%s of %s%s%s%s", amount, name,
		    nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
	reason->code = REASON_NO_RESOURCE;
	reason_text(reason->node, sizeof(reason->node), "this machine");
	kubernetes_unschedulable(reason->kubernetes, sizeof(reason->kubernetes), 1, name, false);
	return refuse(reader, where);
}

int pod_reject(struct pod_reader *reader, struct json_object *where, const char *format, ...)
{
	autostrbuf text = STRBUF_INIT(4096);
	va_list arguments;

	add_position(reader, where, &text);
	va_start(arguments, format);
	strbuf_vaddf(&text, format, arguments);
	va_end(arguments);
	return error_set(reader->error, EINVAL, "%s", text.data);
}

int pod_note(struct pod_reader *reader, struct json_object *where, const char *format, ...)
{
	struct string_list *notes = &reader->pod->notes;
	autostrbuf text = STRBUF_INIT(4096);
	va_list arguments;

	if (notes->count >= NOTES_MAX)
		return 0;
	add_position(reader, where, &text);
	va_start(arguments, format);
	strbuf_vaddf(&text, format, arguments);
	va_end(arguments);
	if (notes->count == NOTES_MAX - 1) {
		strbuf_reset(&text);
		strbuf_addf(&text, "%s: more fields are ignored than are named here",
			    reader->source);
	}
	if (strbuf_failed(&text) == -ENOMEM || string_list_add(notes, text.data) < 0)
		return error_no_memory(reader->error);
	return 0;
}

static const char *type_name(struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_boolean:
		return "bool";
	case json_type_int:
	case json_type_double:
		return "number";
	case json_type_object:
		return "object";
	case json_type_array:
		return "array";
	case json_type_string:
		return "string";
	case json_type_null:
	default:
		return "null";
	}
}

static const char *wanted_type(enum json_type type)
{
	return type == json_type_object  ? "a map"
	       : type == json_type_array ? "a list"
					 : "a string; put it in quotes";
}

int pod_check_type(struct pod_reader *reader, struct json_object *value, const char *path,
		   const struct pod_shape *shape)
{
	if (json_object_is_type(value, shape->type))
		return 0;
	reason_text(reader->reason->kubernetes, sizeof(reader->reason->kubernetes),
		    "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal %s "
		    "into Go struct field %s of type %s",
		    type_name(value), shape->field, shape->go);
	return pod_refuse(reader, value, "%s is %.40s, and it must be %s", path,
			  json_object_to_json_string(value), wanted_type(shape->type));
}

static void join_path(char *ret, size_t size, const char *path, const char *key)
{
	reason_text(ret, size, "%s%s%s", path, *path ? "." : "", key);
}

int pod_get(struct pod_reader *reader, struct json_object *object, const char *path,
	    const char *key, const struct pod_shape *shape, struct json_object **ret)
{
	char full[PATH_BYTES];
	struct json_object *value;

	*ret = NULL;
	if (!json_object_object_get_ex(object, key, &value) || !value)
		return 0;
	join_path(full, sizeof(full), path, key);
	int r = pod_check_type(reader, value, full, shape);
	if (r < 0)
		return r;
	*ret = value;
	return 0;
}

int pod_get_text(struct pod_reader *reader, struct json_object *object, const char *path,
		 const char *key, const struct pod_shape *shape, char **ret)
{
	struct json_object *value;

	int r = pod_get(reader, object, path, key, shape, &value);
	if (r < 0 || !value)
		return r;
	char *copy = strdup(json_object_get_string(value));
	if (!copy)
		return error_no_memory(reader->error);
	free(*ret);
	*ret = copy;
	return 0;
}

enum ignored_kind {
	IGNORED_NOT,    /* somebody reads it, or it changes nothing: no note */
	IGNORED_NOTE,   /* a note with a reason of its own */
	IGNORED_NESTED, /* a map: one note a member */
};

/*
 * How to add a field: one row, when a note would be noise (IGNORED_NOT) or needs words. A field
 * without a row is noted as "is ignored on one machine".
 */
static const struct ignored {
	const char *field;
	enum ignored_kind kind;
	const char *why;
} ignored_fields[] = {
	{ "apiVersion", IGNORED_NOT, NULL },
	{ "kind", IGNORED_NOT, NULL },
	{ "metadata", IGNORED_NOT, NULL },
	{ "spec", IGNORED_NOT, NULL },
	{ "status", IGNORED_NOT, NULL },
	{ "metadata.name", IGNORED_NOT, NULL },
	{ "metadata.namespace", IGNORED_NOT, NULL },
	{ "metadata.uid", IGNORED_NOT, NULL },
	{ "metadata.labels", IGNORED_NOT, NULL },
	{ "metadata.annotations", IGNORED_NOT, NULL },
	{ "metadata.creationTimestamp", IGNORED_NOT, NULL },
	{ "metadata.generation", IGNORED_NOT, NULL },
	{ "metadata.resourceVersion", IGNORED_NOT, NULL },
	{ "metadata.managedFields", IGNORED_NOT, NULL },
	{ "spec.containers", IGNORED_NOT, NULL },
	{ "spec.initContainers", IGNORED_NOT, NULL },
	{ "spec.ephemeralContainers", IGNORED_NOT, NULL },
	{ "spec.restartPolicy", IGNORED_NOT, NULL },
	{ "spec.securityContext", IGNORED_NESTED, NULL },
	{ "spec.volumes", IGNORED_NOTE, "nothing of it is mounted" },
	{ "spec.hostPID", IGNORED_NOTE, "each container has its own processes" },
	{ "spec.hostNetwork", IGNORED_NOTE, "the image decides: host has the machine's network" },
	{ "spec.runtimeClassName", IGNORED_NOTE, "gpupool chooses the runtime" },
	{ "spec.nodeName", IGNORED_NOTE, "there is one node, this machine" },
	{ "spec.schedulerName", IGNORED_NOTE, "gpupool places it" },
	{ "spec.containers.name", IGNORED_NOT, NULL },
	{ "spec.containers.image", IGNORED_NOT, NULL },
	{ "spec.containers.command", IGNORED_NOT, NULL },
	{ "spec.containers.args", IGNORED_NOT, NULL },
	{ "spec.containers.env", IGNORED_NOT, NULL },
	{ "spec.containers.envFrom", IGNORED_NOT, NULL },
	{ "spec.containers.workingDir", IGNORED_NOT, NULL },
	{ "spec.containers.resources", IGNORED_NOT, NULL },
	{ "spec.containers.imagePullPolicy", IGNORED_NOT, NULL },
	{ "spec.containers.terminationMessagePath", IGNORED_NOT, NULL },
	{ "spec.containers.terminationMessagePolicy", IGNORED_NOT, NULL },
	{ "spec.containers.securityContext", IGNORED_NESTED, NULL },
	{ "spec.containers.securityContext.privileged", IGNORED_NOTE,
	  "no container gets rights that its caller has not" },
	{ "spec.containers.volumeMounts", IGNORED_NOTE, "nothing of it is mounted" },
	{ "spec.containers.volumeDevices", IGNORED_NOTE, "no device of it is there" },
	{ "spec.containers.ports", IGNORED_NOTE, "no port is opened or mapped" },
	{ "spec.containers.resources.limits", IGNORED_NOT, NULL },
	{ "spec.containers.resources.requests", IGNORED_NOT, NULL },
	{ "spec.containers.resources.claims", IGNORED_NOT, NULL },
};

/*
 * The field that somebody reads and KEY was meant to be: a slip such as `limit` would otherwise run
 * the Pod without its cards. NULL when there is none.
 */
static const char *find_meant(const char *field, const char *key)
{
	size_t length = strlen(field);
	unsigned limit = strlen(key) > 4 ? SLIP_MAX : 1;

	for (size_t i = 0; i < ARRAY_SIZE(ignored_fields); i++) {
		const char *name = ignored_fields[i].field;

		if (ignored_fields[i].kind != IGNORED_NOT || strncmp(name, field, length) != 0)
			continue;
		if (length && name[length] != '.')
			continue;
		name += length + (length > 0);
		if (!strchr(name, '.') && parse_distance(name, key, limit) <= limit)
			return name;
	}
	return NULL;
}

static const struct ignored *find_ignored(const char *field)
{
	static const struct ignored other = { "", IGNORED_NOTE, NULL };

	for (size_t i = 0; i < ARRAY_SIZE(ignored_fields); i++) {
		if (strcmp(ignored_fields[i].field, field) == 0)
			return &ignored_fields[i];
	}
	return &other;
}

static int note_row(struct pod_reader *reader, struct json_object *where, const char *path,
		    const struct ignored *row)
{
	if (row->why)
		return pod_note(reader, where, "%s is ignored on one machine: %s", path, row->why);
	return pod_note(reader, where, "%s is ignored on one machine", path);
}

/* Members of securityContext and the like; one level, so that the depth is bounded. */
static int note_nested(struct pod_reader *reader, struct json_object *object, const char *field,
		       const char *path)
{
	if (!json_object_is_type(object, json_type_object))
		return pod_note(reader, object, "%s is ignored on one machine", path);
	json_object_object_foreach(object, key, value)
	{
		char name[PATH_BYTES], full[PATH_BYTES];

		join_path(name, sizeof(name), field, key);
		join_path(full, sizeof(full), path, key);
		int r = note_row(reader, value ? value : object, full, find_ignored(name));
		if (r < 0)
			return r;
	}
	return 0;
}

static int refuse_slip(struct pod_reader *reader, struct json_object *where, const char *path,
		       const char *meant)
{
	reason_text(reader->reason->kubernetes, sizeof(reader->reason->kubernetes),
		    "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: "
		    "unknown field \"%s\"",
		    path);
	return pod_refuse(reader, where, "field %s does not exist, but %s does", path, meant);
}

static int note_field(struct pod_reader *reader, struct json_object *value, const char *name,
		      const char *path, const char *meant)
{
	const struct ignored *row = find_ignored(name);

	if (row->kind == IGNORED_NOT)
		return 0;
	if (row->kind == IGNORED_NESTED)
		return note_nested(reader, value, name, path);
	return !*row->field && meant ? refuse_slip(reader, value, path, meant)
				     : note_row(reader, value, path, row);
}

int pod_note_ignored(struct pod_reader *reader, struct json_object *object, const char *field,
		     const char *path)
{
	int r = 0;

	json_object_object_foreach(object, key, value)
	{
		char name[PATH_BYTES], full[PATH_BYTES];

		join_path(name, sizeof(name), field, key);
		join_path(full, sizeof(full), path, key);
		if (r == 0 && value)
			r = note_field(reader, value, name, full, find_meant(field, key));
	}
	return r;
}

/* The texts and rules are k8s.io/apimachinery's util/validation. */
#define LABEL_PATTERN "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define LABEL_RULE                                                                               \
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " \
	"and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', " \
	"regex used for validation is '" LABEL_PATTERN "')"
#define SUBDOMAIN_RULE                                                                            \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' " \
	"or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "     \
	"regex used for validation is '" LABEL_PATTERN "(\\." LABEL_PATTERN ")*')"

static int refuse_name(struct pod_reader *reader, struct json_object *where, const char *path,
		       const char *name, const char *rule)
{
	pod_kubernetes(reader, "%s: Invalid value: \"%.80s\": %s", path, name, rule);
	return pod_refuse(reader, where,
			  "%s is '%.80s'; use lower case letters, digits and '-'%s, with a letter "
			  "or digit at both ends",
			  path, name, strcmp(rule, LABEL_RULE) == 0 ? "" : " and '.'");
}

static int check_length(struct pod_reader *reader, struct json_object *where, const char *path,
			const char *name, size_t maximum)
{
	size_t length = 0;

	while (name[length])
		length++;
	if (length <= maximum)
		return 0;
	pod_kubernetes(reader, "%s: Invalid value: \"%s\": must be no more than %zu characters",
		       path, name, maximum);
	return pod_refuse(reader, where, "%s has %zu characters, and at most %zu are possible",
			  path, length, maximum);
}

int pod_check_label(struct pod_reader *reader, struct json_object *where, const char *path,
		    const char *name)
{
	int r = check_length(reader, where, path, name, 63);

	if (r == 0 && !parse_label(name, strlen(name)))
		r = refuse_name(reader, where, path, name, LABEL_RULE);
	return r;
}

int pod_check_subdomain(struct pod_reader *reader, struct json_object *where, const char *path,
			const char *name)
{
	int r = check_length(reader, where, path, name, 253);

	if (r == 0 && !parse_subdomain(name))
		r = refuse_name(reader, where, path, name, SUBDOMAIN_RULE);
	return r;
}
