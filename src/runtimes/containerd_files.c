/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "runtimes/containerd_parts.h"

enum { FILES_MAX = 1000 };

bool containerd_merges(const struct engine *engine)
{
	return engine->major > 2 || (engine->major == 2 && engine->minor >= 1);
}

int planned_read(const struct host *host, const struct configure_plan *plan, const char *path,
		 char **ret, unsigned *mode, struct error *error)
{
	for (size_t i = 0; plan && i < plan->count; i++) {
		if (strcmp(plan->changes[i].path, path) != 0)
			continue;
		if (!plan->changes[i].after)
			return -ENOENT;
		*ret = strdup(plan->changes[i].after);
		return *ret ? 0 : error_no_memory(error);
	}
	return host_read(host, path, ret, mode, error);
}

static bool has(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The names in DIRECTORY that PATTERN fits. */
static int expand_disk(const struct host *host, const char *directory, const char *pattern,
		       struct string_list *found, struct error *error)
{
	cleanup(string_list_release) struct string_list names = { .items = NULL };
	int r = host_list(host, directory, &names, error);

	for (size_t i = 0; r == 0 && i < names.count; i++) {
		autofree char *full = NULL;

		if (fnmatch(pattern, names.items[i], FNM_PATHNAME) != 0)
			continue;
		if (asprintf(&full, "%s/%s", directory, names.items[i]) < 0 ||
		    string_list_add(found, full) < 0)
			r = error_no_memory(error);
	}
	return r;
}

static int expand_plan(const struct configure_plan *plan, const char *pattern,
		       struct string_list *found)
{
	for (size_t i = 0; plan && i < plan->count; i++)
		if (fnmatch(pattern, plan->changes[i].path, FNM_PATHNAME) == 0 &&
		    !has(found, plan->changes[i].path) &&
		    string_list_add(found, plan->changes[i].path) < 0)
			return -ENOMEM;
	return 0;
}

/* Go's filepath.Glob, for patterns whose directory has no star; matches are sorted. */
static int expand(const struct host *host, const struct configure_plan *plan, const char *pattern,
		  struct string_list *ret, struct error *error)
{
	cleanup(string_list_release) struct string_list found = { .items = NULL };
	const char *slash = strrchr(pattern, '/');
	autofree char *directory = strndup(pattern, (size_t)(slash - pattern));

	if (!directory)
		return error_no_memory(error);
	int r = expand_disk(host, directory, slash + 1, &found, error);
	if (r == 0 && expand_plan(plan, pattern, &found) < 0)
		r = error_no_memory(error);
	if (r == 0 && found.count)
		qsort(found.items, found.count, sizeof(*found.items), by_name);
	for (size_t i = 0; r == 0 && i < found.count; i++)
		if (string_list_add(ret, found.items[i]) < 0)
			r = error_no_memory(error);
	return r;
}

static int add_imports(const struct host *host, const struct configure_plan *plan, const char *text,
		       const char *path, struct string_list *pending, struct error *error)
{
	cleanup(string_list_release) struct string_list imports = { .items = NULL };
	int r = containerd_imports(text, path, &imports, error);

	for (size_t i = 0; r == 0 && i < imports.count; i++) {
		if (strchr(imports.items[i], '*'))
			r = expand(host, plan, imports.items[i], pending, error);
		else if (string_list_add(pending, imports.items[i]) < 0)
			r = error_no_memory(error);
	}
	return r;
}

static bool is_loaded(const struct config_files *files, const char *path)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->items[i].path, path) == 0)
			return true;
	return false;
}

static int load_one(const struct host *host, const struct configure_plan *plan, const char *path,
		    struct config_files *files, struct string_list *pending, struct error *error)
{
	autofree char *text = NULL;
	int r = planned_read(host, plan, path, &text, NULL, error);

	if (r == -ENOENT && files->count)
		return error_set(error, EINVAL,
				 "%s imports %s, which does not exist; containerd would not start: "
				 "correct that first",
				 files->items[0].path, path);
	if (r < 0 && r != -ENOENT)
		return r;
	if (files->count >= FILES_MAX)
		return error_set(error, E2BIG, "%s imports more than %d files",
				 files->items[0].path, FILES_MAX);
	if (config_files_add(files, path, text) < 0)
		return error_no_memory(error);
	return text ? add_imports(host, plan, text, path, pending, error) : 0;
}

int containerd_load(const struct host *host, const struct engine *engine,
		    const struct configure_plan *plan, struct config_files *ret,
		    struct error *error)
{
	cleanup(config_files_release) struct config_files files = { .merges = containerd_merges(
									    engine) };
	cleanup(string_list_release) struct string_list pending = { .items = NULL };
	int r = string_list_add(&pending, engine->config);

	if (r < 0)
		return error_no_memory(error);
	for (size_t i = 0; r == 0 && i < pending.count; i++)
		if (!is_loaded(&files, pending.items[i]))
			r = load_one(host, plan, pending.items[i], &files, &pending, error);
	if (r < 0)
		return r;
	*ret = files;
	files = (struct config_files){ .items = NULL };
	return 0;
}

int containerd_import_directory(const struct config_files *files, char **ret, struct error *error)
{
	cleanup(string_list_release) struct string_list imports = { .items = NULL };
	int r = containerd_imports(files->items[0].text, files->items[0].path, &imports, error);

	*ret = NULL;
	for (size_t i = 0; r == 0 && !*ret && i < imports.count; i++) {
		size_t length = strlen(imports.items[i]);

		if (length <= 7 || strcmp(imports.items[i] + length - 7, "/*.toml") != 0)
			continue;
		*ret = strndup(imports.items[i], length - 7);
		if (!*ret)
			r = error_no_memory(error);
	}
	return r;
}
