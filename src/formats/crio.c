/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/crio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/toml_parts.h"

static int parse(const struct config_file *file, struct toml **ret, struct error *error)
{
	return toml_parse(file->text ? file->text : "", file->text ? strlen(file->text) : 0,
			  file->path, ret, error);
}

static const struct toml_value *runtime_section(const struct toml *toml)
{
	const struct keys keys = KEYS("crio", "runtime");

	return keys_get(toml_root(toml), &keys);
}

static int take(struct runtime_facts *facts, const struct toml_value *section)
{
	const struct keys standard = KEYS("default_runtime"), list = KEYS("runtimes");
	const struct keys path = KEYS("runtime_path");
	const struct toml_value *runtimes = keys_get(section, &list);
	const char *name = toml_string(keys_get(section, &standard), NULL);

	for (size_t i = 0; i < toml_count(runtimes); i++) {
		const char *key = NULL;
		const struct toml_value *runtime = toml_at(runtimes, i, &key);

		if (runtime_facts_add(facts, key, toml_string(keys_get(runtime, &path), NULL)) < 0)
			return -ENOMEM;
	}
	return name ? runtime_facts_set_default(facts, name) : 0;
}

int crio_read(const struct config_files *files, struct runtime_facts *ret, struct error *error)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .cdi = RUNTIME_CDI_ON };

	for (size_t i = 0; i < files->count; i++) {
		autotoml *toml = NULL;
		int r = parse(&files->items[i], &toml, error);

		if (r < 0)
			return r;
		if (take(&facts, runtime_section(toml)) < 0)
			return error_no_memory(error);
	}
	*ret = facts;
	facts = (struct runtime_facts){ .items = NULL };
	return 0;
}

int crio_socket(const struct config_files *files, char **ret, struct error *error)
{
	const struct keys keys = KEYS("crio", "api", "listen");
	autofree char *found = NULL;

	for (size_t i = 0; i < files->count; i++) {
		autotoml *toml = NULL;
		int r = parse(&files->items[i], &toml, error);

		if (r < 0)
			return r;
		const char *listen = toml_string(keys_get(toml_root(toml), &keys), "");
		if (!*listen)
			continue;
		free(found);
		found = strdup(listen);
		if (!found)
			return error_no_memory(error);
	}
	*ret = TAKE_PTR(found);
	return 0;
}

static bool is_wished(const struct runtime_wish *wish, const char *name)
{
	for (size_t i = 0; i < wish->count; i++)
		if (strcmp(wish->entries[i].name, name) == 0)
			return true;
	return false;
}

/* The last file that names the runtime NAME counts: its settings go to TO. *ret: there is one. */
static int copy_source(const struct config_files *files, const char *name, struct toml_edit *edit,
		       const struct keys *to, bool *ret, struct error *error)
{
	static const char *const skip[] = { "runtime_path", "runtime_type", NULL };
	const struct keys key = KEYS("runtimes", name);

	*ret = false;
	for (size_t i = files->count; i-- > 0;) {
		autotoml *toml = NULL;
		int r = parse(&files->items[i], &toml, error);

		if (r < 0)
			return r;
		const struct toml_value *runtime = keys_get(runtime_section(toml), &key);
		if (!runtime)
			continue;
		*ret = true;
		return edit_copy(edit, to, runtime, skip, error);
	}
	return 0;
}

static int set_runtime(const struct config_files *files, const struct runtime_wish *wish,
		       const struct runtime_entry *entry, const struct runtime_facts *facts,
		       struct toml_edit *edit, struct error *error)
{
	const char *const names[] = { facts->default_name, "runc", "crun" };
	const struct keys runtime = KEYS("crio", "runtime", "runtimes", entry->name);
	const struct keys path = keys_add(&runtime, "runtime_path");
	const struct keys type = keys_add(&runtime, "runtime_type");
	bool there = keys_get(toml_edit_root(edit), &runtime) != NULL, found = there;
	int r = 0;

	for (size_t i = 0; r == 0 && !found && i < ARRAY_SIZE(names); i++)
		if (names[i] && !is_wished(wish, names[i]))
			r = copy_source(files, names[i], edit, &runtime, &found, error);
	if (r == 0)
		r = edit_set_string(edit, &path, entry->path, error);
	if (r == 0 && !there)
		r = edit_set_string(edit, &type, "oci", error);
	return r;
}

int crio_edit(const struct config_files *files, size_t index, const struct runtime_wish *wish,
	      char **ret, struct error *error)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	const struct config_file *file = &files->items[index];
	const struct keys standard = KEYS("crio", "runtime", "default_runtime");
	const char *text = file->text ? file->text : "";
	autotomledit *edit = NULL;
	int r = crio_read(files, &facts, error);

	*ret = NULL;
	if (r < 0 || runtime_wish_holds(wish, &facts, true))
		return r;
	r = toml_edit_new(text, strlen(text), file->path, &edit, error);
	if (r == 0 && wish->set_default && wish->count)
		r = edit_set_string(edit, &standard, wish->entries[0].name, error);
	for (size_t i = 0; r == 0 && i < wish->count; i++)
		r = set_runtime(files, wish, &wish->entries[i], &facts, edit, error);
	return r < 0 ? r : edit_text(edit, ret, error);
}

int crio_remove(const char *text, const char *path, const struct runtime_wish *wish, char **ret,
		struct error *error)
{
	const struct keys standard = KEYS("crio", "runtime", "default_runtime");
	autotomledit *edit = NULL;
	bool changed = false;
	int r = toml_edit_new(text, strlen(text), path, &edit, error);

	for (size_t i = 0; r == 0 && i < wish->count; i++) {
		const char *name = wish->entries[i].name;
		const struct keys runtime = KEYS("crio", "runtime", "runtimes", name);

		if (keys_get(toml_edit_root(edit), &runtime)) {
			changed = true;
			r = toml_edit_remove(edit, runtime.items, error);
		}
		if (r == 0 &&
		    strcmp(toml_string(keys_get(toml_edit_root(edit), &standard), ""), name) == 0) {
			changed = true;
			r = toml_edit_remove(edit, standard.items, error);
		}
	}
	*ret = NULL;
	return r < 0 || !changed ? r : edit_text(edit, ret, error);
}
