/* SPDX-License-Identifier: Apache-2.0 */
/* What counts, in the form of the file. */
#include "model/fields.h"
#include "model/plugin_keys.h"

#include <errno.h>
#include <string.h>

#define YAML_DEPTH_MAX 8

static const char *const source_names[] = {
	[PLUGIN_DEFAULT] = "default",
	[PLUGIN_FILE] = "file",
	[PLUGIN_ENVIRONMENT] = "environment",
	[PLUGIN_COMMAND_LINE] = "command line",
};

int plugin_json_add_at(struct json_object *root, const char *path, struct json_object *value)
{
	const char *dot;

	for (; (dot = strchr(path, '.')); path = dot + 1) {
		autofree char *name = strndup(path, (size_t)(dot - path));
		struct json_object *part = name ? json_object_object_get(root, name) : NULL;

		if (name && !part) {
			part = json_object_new_object();
			if (json_add(root, name, part) < 0)
				part = NULL;
		}
		if (!part) {
			json_object_put(value);
			return -ENOMEM;
		}
		root = part;
	}
	return json_add(root, path, value);
}

int plugin_config_to_json(const struct plugin_config *config, struct json_object **ret,
			  struct error *error)
{
	autojson *root = json_object_new_object();

	if (!root || json_add_string(root, "version", "v1") < 0)
		return error_no_memory(error);
	for (unsigned i = 0; i < plugin_key_count; i++)
		if (plugin_keys[i].path &&
		    plugin_json_add_at(root, plugin_keys[i].path,
				       plugin_key_to_json(&plugin_keys[i], config)) < 0)
			return error_no_memory(error);
	if (plugin_sections_to_json(config, root) < 0)
		return error_no_memory(error);
	*ret = TAKE_PTR(root);
	return 0;
}

static struct json_object *sources_to_json(const struct plugin_config *config)
{
	autojson *object = json_object_new_object();

	for (unsigned i = 0; object && i < plugin_key_count; i++)
		if (plugin_keys[i].path && json_add_string(object, plugin_keys[i].path,
							   source_names[config->sources[i]]) < 0)
			return NULL;
	return TAKE_PTR(object);
}

int plugin_config_report(const struct plugin_config *config, struct json_object **ret,
			 struct error *error)
{
	autojson *root = json_object_new_object();
	struct json_object *part = NULL;

	if (!root)
		return error_no_memory(error);
	int r = plugin_config_to_json(config, &part, error);
	if (r < 0)
		return r;
	if (json_add(root, "config", part) < 0 ||
	    json_add_string(root, "file", config->config_file) < 0 ||
	    json_add(root, "sources", sources_to_json(config)) < 0 ||
	    fields_add_strings(root, "notes", &config->notes) < 0)
		return error_no_memory(error);
	*ret = TAKE_PTR(root);
	return 0;
}

struct yaml_writer {
	const struct plugin_config *config;
	struct strbuf *out;
	char path[256]; /* of what is written */
};

static const char *source_of(const struct yaml_writer *writer)
{
	const struct plugin_key *key = plugin_key_find(writer->path);

	return key ? source_names[writer->config->sources[key - plugin_keys]] : NULL;
}

/* JSON's scalars, and lists of them on one line, are YAML's. */
static bool is_short(struct json_object *value)
{
	if (json_object_is_type(value, json_type_object))
		return json_object_object_length(value) == 0;
	for (size_t i = 0;
	     json_object_is_type(value, json_type_array) && i < json_object_array_length(value);
	     i++)
		if (json_object_is_type(json_object_array_get_idx(value, i), json_type_object))
			return false;
	return true;
}

static int write_map(struct yaml_writer *writer, struct json_object *map, unsigned indent,
		     bool in_item, struct error *error);

static int write_list(struct yaml_writer *writer, struct json_object *list, unsigned indent,
		      struct error *error)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++) {
		strbuf_addf(writer->out, "%*s- ", (int)indent, "");
		r = write_map(writer, json_object_array_get_idx(list, i), indent + 2, true, error);
	}
	return r;
}

static int write_value(struct yaml_writer *writer, struct json_object *value, unsigned indent,
		       struct error *error)
{
	const char *source = source_of(writer);

	if (!is_short(value)) {
		strbuf_addc(writer->out, '\n');
		if (json_object_is_type(value, json_type_array))
			return write_list(writer, value, indent, error);
		return write_map(writer, value, indent + 2, false, error);
	}
	strbuf_addc(writer->out, ' ');
	int r = json_to_text(value, false, writer->out, error);
	strbuf_addf(writer->out, "%s%s\n", source ? " # " : "", source ? source : "");
	return r;
}

/* IN_ITEM: the first key stands behind a dash. */
static int write_map(struct yaml_writer *writer, struct json_object *map, unsigned indent,
		     bool in_item, struct error *error)
{
	const size_t length = strlen(writer->path);

	if (indent > 2 * YAML_DEPTH_MAX)
		return error_set(error, E2BIG,
				 "the configuration is nested too deep to be printed");
	json_object_object_foreach(map, key, value)
	{
		strbuf_addf(writer->out, "%*s%s:", in_item ? 0 : (int)indent, "", key);
		in_item = false;
		snprintf(writer->path + length, sizeof(writer->path) - length, "%s%s",
			 length ? "." : "", key);
		int r = write_value(writer, value, indent, error);
		writer->path[length] = '\0';
		if (r < 0)
			return r;
	}
	return 0;
}

int plugin_config_to_yaml(const struct plugin_config *config, struct strbuf *ret,
			  struct error *error)
{
	struct yaml_writer writer = { .config = config, .out = ret, .path = "" };
	autojson *root = NULL;

	int r = plugin_config_to_json(config, &root, error);
	if (r < 0)
		return r;
	autofree char *file = strdup(config->config_file);
	if (!file)
		return error_no_memory(error);
	text_make_visible(file, false);
	if (*file)
		strbuf_addf(ret, "# file: %s\n", file);
	for (size_t i = 0; i < config->notes.count; i++)
		strbuf_addf(ret, "# note: %s\n", config->notes.items[i]);
	r = write_map(&writer, root, 0, false, error);
	if (r == 0 && ret->failed)
		return ret->failed == ENOMEM
			       ? error_no_memory(error)
			       : error_set(error, ret->failed,
					   "the configuration is too long to be printed");
	return r;
}
