/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/pod_read.h"

#define ARGUMENTS_MAX   4096
#define ENVIRONMENT_MAX 4096
#define PATH_BYTES      256

/* exec() takes no more in one string (MAX_ARG_STRLEN) nor, by default, in all of them. */
#define TEXT_MAX       (128 * 1024 - 1)
#define TEXT_TOTAL_MAX (2 * 1024 * 1024)

static int count_text(struct pod_reader *reader, const char *path, size_t length)
{
	reader->text_bytes += length + 1;
	if (length > TEXT_MAX || reader->text_bytes > TEXT_TOTAL_MAX)
		return pod_refuse(reader, NULL,
				  "%s makes arguments and environment too long: at most %d bytes "
				  "in one and %d in all",
				  path, TEXT_MAX, TEXT_TOTAL_MAX);
	return 0;
}

static int read_strings(struct pod_reader *reader, struct json_object *object, const char *path,
			const char *key, const struct pod_shape *list_shape,
			const struct pod_shape *shape, struct string_list *ret)
{
	struct json_object *list;

	int r = pod_get(reader, object, path, key, list_shape, &list);
	if (r < 0 || !list)
		return r;
	if (json_object_array_length(list) > ARGUMENTS_MAX)
		return pod_refuse(reader, list, "%s.%s has more than %d items", path, key,
				  ARGUMENTS_MAX);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		char name[PATH_BYTES];

		snprintf(name, sizeof(name), "%s.%s[%zu]", path, key, i);
		r = item ? pod_check_type(reader, item, name, shape) : 0;
		if (r < 0)
			return r;
		if (string_list_add(ret, item ? json_object_get_string(item) : "") < 0)
			return error_no_memory(reader->error);
	}
	return 0;
}

/* A name that exec() can hand over; the rule of the API server since 1.34. */
static int check_variable(struct pod_reader *reader, struct json_object *where, const char *path,
			  const char *name)
{
	bool good = true;

	if (!*name) {
		pod_kubernetes(reader, "%s.name: Required value", path);
		return pod_refuse(reader, where, "%s.name is missing", path);
	}
	for (const char *at = name; *at; at++)
		good = good && *at >= 0x20 && *at < 0x7f && *at != '=';
	if (good)
		return 0;
	pod_kubernetes(reader,
		       "%s.name: Invalid value: \"%.80s\": a valid environment variable name must "
		       "consist only of printable ASCII characters other than '='",
		       path, name);
	return pod_refuse(reader, where,
			  "%s.name may hold printable ASCII characters only, and no "
			  "'='",
			  path);
}

static int read_variable(struct pod_reader *reader, struct json_object *item, const char *path,
			 struct environment_variable *ret)
{
	static const struct pod_shape shape = { json_type_object, "Container.spec.containers.env",
						"v1.EnvVar" };
	static const struct pod_shape name = { json_type_string, "EnvVar.spec.containers.env.name",
					       "string" };
	static const struct pod_shape value = { json_type_string,
						"EnvVar.spec.containers.env.value", "string" };

	int r = pod_check_type(reader, item, path, &shape);
	if (r < 0)
		return r;
	ret->name = strdup("");
	ret->value = strdup("");
	if (!ret->name || !ret->value)
		return error_no_memory(reader->error);
	r = pod_get_text(reader, item, path, "name", &name, &ret->name);
	if (r == 0)
		r = pod_get_text(reader, item, path, "value", &value, &ret->value);
	if (r == 0)
		r = check_variable(reader, item, path, ret->name);
	if (r == 0 && json_get(item, "valueFrom"))
		r = pod_refuse(reader, json_get(item, "valueFrom"),
			       "%s.valueFrom (variable %.64s) needs a cluster; write the value "
			       "itself as value",
			       path, ret->name);
	return r;
}

static int read_environment(struct pod_reader *reader, struct json_object *object, const char *path,
			    struct container *container)
{
	static const struct pod_shape shape = { json_type_array, "Container.spec.containers.env",
						"[]v1.EnvVar" };
	struct json_object *list, *from = json_get(object, "envFrom");

	if (from)
		return pod_refuse(reader, from,
				  "%s.envFrom needs a cluster; write the variables under env",
				  path);
	int r = pod_get(reader, object, path, "env", &shape, &list);
	if (r < 0 || !list)
		return r;
	if (json_object_array_length(list) > ENVIRONMENT_MAX)
		return pod_refuse(reader, list, "%s.env has more than %d items", path,
				  ENVIRONMENT_MAX);
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++) {
		char name[PATH_BYTES];
		struct environment_variable *variable =
			VEC_ADD(&container->environment, &container->environment_count,
				&container->environment_capacity);

		if (!variable)
			return error_no_memory(reader->error);
		snprintf(name, sizeof(name), "%s.env[%zu]", path, i);
		r = read_variable(reader, json_object_array_get_idx(list, i), name, variable);
	}
	return r;
}

static int read_texts(struct pod_reader *reader, struct json_object *object, const char *path,
		      struct container *container)
{
	static const struct pod_shape image = { json_type_string, "Container.spec.containers.image",
						"string" };
	static const struct pod_shape directory = { json_type_string,
						    "Container.spec.containers.workingDir",
						    "string" };
	static const struct pod_shape commands = { json_type_array,
						   "Container.spec.containers.command",
						   "[]string" };
	static const struct pod_shape command = { json_type_string,
						  "Container.spec.containers.command", "string" };
	static const struct pod_shape arguments = { json_type_array,
						    "Container.spec.containers.args", "[]string" };
	static const struct pod_shape argument = { json_type_string,
						   "Container.spec.containers.args", "string" };

	int r = pod_get_text(reader, object, path, "image", &image, &container->image);
	if (r == 0)
		r = pod_get_text(reader, object, path, "workingDir", &directory,
				 &container->working_directory);
	if (r == 0)
		r = read_strings(reader, object, path, "command", &commands, &command,
				 &container->command);
	if (r == 0)
		r = read_strings(reader, object, path, "args", &arguments, &argument,
				 &container->arguments);
	if (r == 0 && (!container->image || !container->image[0])) {
		pod_kubernetes(reader, "%s.image: Required value", path);
		r = pod_refuse(reader, object, "%s.image is missing", path);
	}
	return r;
}

static int read_name(struct pod_reader *reader, struct json_object *object, const char *path,
		     struct container *container)
{
	static const struct pod_shape shape = { json_type_string, "Container.spec.containers.name",
						"string" };
	char name[PATH_BYTES];

	container->name = strdup("");
	if (!container->name)
		return error_no_memory(reader->error);
	int r = pod_get_text(reader, object, path, "name", &shape, &container->name);
	if (r < 0)
		return r;
	if (!container->name[0]) {
		pod_kubernetes(reader, "%s.name: Required value", path);
		return pod_refuse(reader, object, "%s.name is missing", path);
	}
	snprintf(name, sizeof(name), "%s.name", path);
	return pod_check_label(reader, json_get(object, "name"), name, container->name);
}

int pod_read_container(struct pod_reader *reader, struct json_object *object, size_t number,
		       struct json_object *annotations, struct container *container)
{
	static const struct pod_shape shape = { json_type_object, "PodSpec.spec.containers",
						"v1.Container" };
	char path[64];

	snprintf(path, sizeof(path), "spec.containers[%zu]", number);
	int r = pod_check_type(reader, object, path, &shape);
	if (r == 0)
		r = read_name(reader, object, path, container);
	if (r < 0)
		return r;
	container->line = yaml_line(object);
	container_object(reader->pod, container, reader->object, sizeof(reader->object));
	r = read_texts(reader, object, path, container);
	if (r == 0)
		r = read_environment(reader, object, path, container);
	if (r == 0)
		r = pod_expand_container(reader, container);
	if (r == 0)
		r = pod_read_resources(reader, object, path, annotations, container);
	if (r == 0)
		r = pod_note_ignored(reader, object, "spec.containers", path);
	return r;
}

/* The last of the first COUNT variables of that name, as in an environment. */
static const char *find_variable(const struct container *container, size_t count, const char *name,
				 size_t length)
{
	while (count-- > 0) {
		const struct environment_variable *variable = &container->environment[count];
		if (strncmp(variable->name, name, length) == 0 && !variable->name[length])
			return variable->value;
	}
	return NULL;
}

/* "$$" is a dollar sign; a name that nobody set stays as it is written. */
static void expand(const struct container *container, size_t count, const char *text,
		   struct strbuf *out)
{
	for (const char *at = text; *at; at++) {
		const char *end = at[0] == '$' && at[1] == '(' ? strchr(at, ')') : NULL;
		const char *value =
			end ? find_variable(container, count, at + 2, (size_t)(end - at - 2))
			    : NULL;

		if (value) {
			strbuf_adds(out, value);
			at = end;
		} else if (end) {
			strbuf_add(out, at, (size_t)(end - at + 1));
			at = end;
		} else {
			strbuf_addc(out, *at);
			at += at[0] == '$' && at[1] == '$';
		}
	}
}

static int expand_text(struct pod_reader *reader, const struct container *container, size_t count,
		       char **text)
{
	autostrbuf out = STRBUF_INIT(TEXT_MAX + 1);

	expand(container, count, *text, &out);
	if (strbuf_failed(&out) == -ENOMEM)
		return error_no_memory(reader->error);
	int r = count_text(reader, container->name,
			   strbuf_failed(&out) < 0 ? (size_t)TEXT_MAX + 1 : out.length);
	if (r < 0)
		return r;
	char *copy = strbuf_detach(&out);
	if (!copy)
		return error_no_memory(reader->error);
	free(*text);
	*text = copy;
	return 0;
}

int pod_expand_container(struct pod_reader *reader, struct container *container)
{
	struct string_list *lists[] = { &container->command, &container->arguments };
	size_t count = container->environment_count;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = expand_text(reader, container, i, &container->environment[i].value);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		for (size_t k = 0; k < lists[i]->count && r == 0; k++)
			r = expand_text(reader, container, count, &lists[i]->items[k]);
	}
	return r;
}
