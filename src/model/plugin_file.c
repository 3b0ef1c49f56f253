/* SPDX-License-Identifier: Apache-2.0 */
/* The file "version: v1": each of its keys is a row of the table, a section, or the way to one. */
#include "model/plugin_keys.h"

#include <errno.h>
#include <string.h>

#define PATH_LENGTH_MAX 256
#define FILE_BYTES_MAX  (1u << 20) /* what a ConfigMap can hold */

struct file_reader {
	const char *file;
	struct plugin_config *config;
	struct error *error;
};

static const struct plugin_section *find_section(const char *path)
{
	for (const struct plugin_section *at = plugin_sections; at->path; at++)
		if (strcmp(at->path, path) == 0)
			return at;
	return NULL;
}

static bool leads_to(const char *known, const char *path)
{
	size_t length = strlen(path);

	return known && strncmp(known, path, length) == 0 && known[length] == '.';
}

/* Does a known key stand below PATH? */
static bool is_way(const char *path)
{
	for (unsigned i = 0; i < plugin_key_count; i++)
		if (leads_to(plugin_keys[i].path, path))
			return true;
	for (const struct plugin_section *at = plugin_sections; at->path; at++)
		if (leads_to(at->path, path))
			return true;
	return false;
}

static const char *last_part(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

/* The same name in another place or in another case is nearer than a slip of the keyboard. */
static void try_path(struct nearest *nearest, const char *known, const char *path)
{
	if (!known)
		return;
	if (strcasecmp(last_part(known), last_part(path)) == 0) {
		if (!nearest->name || nearest->distance > 0)
			*nearest = (struct nearest){ known, 0 };
		return;
	}
	parse_nearest(nearest, known, path);
}

/* The known key that PATH was meant to be, into NEAREST. */
static void find_nearest(struct nearest *nearest, const char *path)
{
	static const char *const ways[] = { "flags",     "flags.plugin",   "flags.gfd",
					    "resources", "sharing",        "imex",
					    "gpupool",   "gpupool.health", "gpupool.paths" };

	for (unsigned i = 0; i < plugin_key_count; i++)
		try_path(nearest, plugin_keys[i].path, path);
	for (const struct plugin_section *at = plugin_sections; at->path; at++)
		try_path(nearest, at->path, path);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		try_path(nearest, ways[i], path);
}

static int fail_unknown(const struct file_reader *reader, const struct plugin_place *place)
{
	struct nearest nearest = { .name = NULL };

	find_nearest(&nearest, place->name);
	if (nearest.name)
		return plugin_fail(place, reader->error, "there is no such key; did you mean %s?",
				   nearest.name);
	return plugin_fail(place, reader->error,
			   "there is no such key; remove it ('gpupoold --help' lists all)");
}

static int take_map(const struct file_reader *reader, struct json_object *map, const char *prefix,
		    unsigned line);

static int take_member(const struct file_reader *reader, const char *path,
		       struct json_object *value, unsigned line)
{
	const struct plugin_place place = { PLUGIN_FILE, reader->file, line, path };
	const struct plugin_key *row = plugin_key_find(path);
	const struct plugin_section *section = find_section(path);

	if (row)
		return plugin_key_set_json(row, reader->config, value, &place, reader->error);
	if (section)
		return section->take(reader->config, value, &place, reader->error);
	if (!is_way(path))
		return fail_unknown(reader, &place);
	if (value && !json_object_is_type(value, json_type_object))
		return plugin_fail(&place, reader->error, "wants keys and values, not %.80s",
				   json_object_get_string(value));
	return value ? take_map(reader, value, path, line) : 0;
}

/* Not deeper than the paths of the table are. */
static int take_map(const struct file_reader *reader, struct json_object *map, const char *prefix,
		    unsigned line)
{
	json_object_object_foreach(map, key, value)
	{
		autostrbuf path = STRBUF_INIT(PATH_LENGTH_MAX);
		unsigned at = yaml_line(value) ? yaml_line(value) : line;

		strbuf_addf(&path, "%s%s%.80s", prefix, *prefix ? "." : "", key);
		if (path.failed == ENOMEM)
			return error_no_memory(reader->error);
		int r = take_member(reader, path.data, value, at);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_document(const struct file_reader *reader, const struct yaml_stream *stream)
{
	struct json_object *root = stream->documents[0];
	const struct plugin_place place = { PLUGIN_FILE, reader->file, stream->lines[0],
					    "the file" };

	if (stream->count > 1) {
		const struct plugin_place second = { PLUGIN_FILE, reader->file, stream->lines[1],
						     "a second document" };

		return plugin_fail(&second, reader->error,
				   "one file is one configuration; remove it");
	}
	if (!root)
		return 0;
	if (!json_object_is_type(root, json_type_object))
		return plugin_fail(&place, reader->error, "wants keys and values, as version: v1");
	return take_map(reader, root, "", stream->lines[0]);
}

/* Whatever is wrong with the text; EINVAL stands for the command line here. */
static int broken(int r, struct error *error)
{
	if (r == -ENOMEM)
		return r;
	if (error)
		error->number = EBADMSG;
	return -EBADMSG;
}

int plugin_file_read(const char *path, bool no_pipe, struct plugin_config *config,
		     struct error *error)
{
	const struct file_reader reader = { path, config, error };
	autoyaml stream = { 0 };
	autofree char *text = NULL;
	size_t length = 0;

	int r = (no_pipe ? file_read_regular : file_read)(path, FILE_BYTES_MAX, &text, &length,
							  error);
	if (r == 0)
		r = yaml_parse(text, length, path, &stream, error);
	else if (r != -EINVAL)
		return r;
	if (r < 0)
		return broken(r, error);
	return stream.count ? take_document(&reader, &stream) : 0;
}
