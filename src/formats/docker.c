/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/docker.h"

#include <errno.h>
#include <string.h>

enum { TEXT_MAX = 4 << 20 };

static const struct json_limits docker_limits = { .bytes = TEXT_MAX, .depth = 64 };

/* An empty file is none, as Docker itself reads it. */
static int parse(const char *text, const char *name, struct json_object **ret, struct error *error)
{
	static const char blanks[] = " \t\r\n";
	struct json_object *root = NULL;

	if (!text || !text[strspn(text, blanks)]) {
		root = json_object_new_object();
		if (!root)
			return error_no_memory(error);
	} else {
		int r = json_parse(text, strlen(text), name, &docker_limits, &root, error);

		if (r < 0)
			return r;
	}
	if (!json_object_is_type(root, json_type_object)) {
		json_object_put(root);
		return error_set(error, EINVAL, "%s: this is no JSON object; correct it first",
				 name);
	}
	*ret = root;
	return 0;
}

/* The object KEY of ROOT: NULL when it is absent; another kind is an error. */
static int section(struct json_object *root, const char *key, const char *name,
		   struct json_object **ret, struct error *error)
{
	struct json_object *object = NULL;

	*ret = NULL;
	if (!json_object_object_get_ex(root, key, &object))
		return 0;
	if (!json_object_is_type(object, json_type_object))
		return error_set(error, EINVAL,
				 "%s: \"%s\" is no object, and Docker wants one; correct it first",
				 name, key);
	*ret = object;
	return 0;
}

int docker_read(const char *text, const char *name, struct runtime_facts *ret, struct error *error)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	struct json_object *runtimes = NULL, *features = NULL;
	autojson *root = NULL;
	int r = parse(text, name, &root, error);

	if (r == 0)
		r = section(root, "runtimes", name, &runtimes, error);
	if (r == 0)
		r = section(root, "features", name, &features, error);
	if (r < 0)
		return r;
	if (runtimes) {
		json_object_object_foreach(runtimes, key, runtime)
		{
			if (runtime_facts_add(&facts, key, json_get_string(runtime, "path", NULL)) <
			    0)
				return error_no_memory(error);
		}
	}
	const char *standard = json_get_string(root, "default-runtime", NULL);
	if (standard && runtime_facts_set_default(&facts, standard) < 0)
		return error_no_memory(error);
	struct json_object *cdi = features ? json_object_object_get(features, "cdi") : NULL;
	if (cdi)
		facts.cdi = json_object_get_boolean(cdi) ? RUNTIME_CDI_ON : RUNTIME_CDI_OFF;
	*ret = facts;
	facts = (struct runtime_facts){ .items = NULL };
	return 0;
}

/* The indentation of the first line that has one; Docker's documentation uses two blanks. */
static size_t find_indent(const char *text, const char **ret)
{
	for (const char *at = text; at && (at = strchr(at, '\n')); at++) {
		size_t length = strspn(at + 1, " \t");

		if (length && length <= 8 && at[1 + length] == '"') {
			*ret = at + 1;
			return length;
		}
	}
	*ret = "  ";
	return 2;
}

/* json_to_text() indents by two blanks a step; strings hold no line feed, so lines are lines. */
static int print(struct json_object *root, const char *like, char **ret, struct error *error)
{
	autostrbuf plain = STRBUF_INIT(2 * TEXT_MAX), text = STRBUF_INIT(4 * TEXT_MAX);
	const char *indent;
	size_t length = find_indent(like, &indent);
	int r = json_to_text(root, true, &plain, error);

	if (r < 0)
		return r;
	for (const char *line = plain.data; *line;) {
		size_t blanks = strspn(line, " "), rest = strcspn(line, "\n");

		for (size_t i = 0; i < blanks / 2; i++)
			strbuf_add(&text, indent, length);
		strbuf_add(&text, line + blanks, rest - blanks);
		strbuf_addc(&text, '\n');
		line += rest + (line[rest] == '\n');
	}
	char *done = strbuf_detach(&text);
	if (!done)
		return error_no_memory(error);
	*ret = done;
	return 0;
}

/* The object KEY of ROOT, made when it is absent. */
static int need_section(struct json_object *root, const char *key, const char *name,
			struct json_object **ret, struct error *error)
{
	int r = section(root, key, name, ret, error);

	if (r < 0 || *ret)
		return r;
	struct json_object *fresh = json_object_new_object();
	if (json_add(root, key, fresh) < 0)
		return error_no_memory(error);
	*ret = fresh;
	return 0;
}

/* An entry that has our path keeps its arguments; any other is replaced, as the peer does. */
static int set_runtime(struct json_object *runtimes, const struct runtime_entry *entry)
{
	struct json_object *old = json_object_object_get(runtimes, entry->name);

	if (strcmp(json_get_string(old, "path", ""), entry->path) == 0)
		return 0;
	struct json_object *fresh = json_object_new_object();
	if (!fresh || json_add_string(fresh, "path", entry->path) < 0 ||
	    json_add(fresh, "args", json_object_new_array()) < 0) {
		json_object_put(fresh);
		return -ENOMEM;
	}
	return json_add(runtimes, entry->name, fresh);
}

static int change(struct json_object *root, const char *name, const struct runtime_wish *wish,
		  struct error *error)
{
	struct json_object *runtimes = NULL, *features = NULL;
	int r = wish->count ? need_section(root, "runtimes", name, &runtimes, error) : 0;

	for (size_t i = 0; r == 0 && i < wish->count; i++)
		if (set_runtime(runtimes, &wish->entries[i]) < 0)
			r = error_no_memory(error);
	if (r == 0 && wish->set_default && wish->count &&
	    json_add_string(root, "default-runtime", wish->entries[0].name) < 0)
		r = error_no_memory(error);
	if (r < 0 || !wish->cdi)
		return r;
	r = need_section(root, "features", name, &features, error);
	if (r == 0 && json_add_bool(features, "cdi", true) < 0)
		r = error_no_memory(error);
	return r;
}

int docker_edit(const char *text, const char *name, const struct runtime_wish *wish, char **ret,
		struct error *error)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	autojson *root = NULL;
	int r = docker_read(text, name, &facts, error);

	if (r < 0)
		return r;
	if (runtime_wish_holds(wish, &facts, false)) {
		*ret = NULL;
		return 0;
	}
	r = parse(text, name, &root, error);
	if (r == 0)
		r = change(root, name, wish, error);
	return r < 0 ? r : print(root, text, ret, error);
}

int docker_remove(const char *text, const char *name, const struct runtime_wish *wish, char **ret,
		  struct error *error)
{
	struct json_object *runtimes = NULL;
	autojson *root = NULL;
	bool changed = false;
	int r = parse(text, name, &root, error);

	if (r == 0)
		r = section(root, "runtimes", name, &runtimes, error);
	if (r < 0)
		return r;
	for (size_t i = 0; i < wish->count; i++) {
		const char *standard = json_get_string(root, "default-runtime", "");

		if (runtimes && json_object_object_get_ex(runtimes, wish->entries[i].name, NULL)) {
			json_object_object_del(runtimes, wish->entries[i].name);
			changed = true;
		}
		if (strcmp(standard, wish->entries[i].name) == 0) {
			json_object_object_del(root, "default-runtime");
			changed = true;
		}
	}
	if (!changed) {
		*ret = NULL;
		return 0;
	}
	if (runtimes && json_object_object_length(runtimes) == 0)
		json_object_object_del(root, "runtimes");
	if (json_object_object_length(root) > 0)
		return print(root, text, ret, error);
	*ret = strdup("");
	return *ret ? 0 : error_no_memory(error);
}
