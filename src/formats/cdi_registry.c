/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/cdi.h"

enum { FILES_MAX = 4096, QUALIFIED_MAX = 2 * CDI_NAME_MAX };

struct registry_file {
	char *path; /* owned */
	struct json_object *spec;
	size_t priority; /* position of its directory */
};

struct registry_device {
	char *name;  /* qualified; owned */
	size_t file; /* index */
	struct json_object *device;
	bool conflict;
};

struct cdi_registry {
	struct registry_file *files;
	size_t file_count, file_capacity;
	struct registry_device *devices; /* in order of the names */
	size_t device_count, device_capacity;
};

struct loading {
	struct cdi_registry *registry;
	struct map *names; /* qualified name to its number in devices, from 1 */
	struct string_list *notes;
	struct error *error;
};

void cdi_registry_free(struct cdi_registry *registry)
{
	if (!registry)
		return;
	for (size_t i = 0; i < registry->file_count; i++) {
		free(registry->files[i].path);
		json_object_put(registry->files[i].spec);
	}
	for (size_t i = 0; i < registry->device_count; i++)
		free(registry->devices[i].name);
	free(registry->files);
	free(registry->devices);
	free(registry);
}

static int note(struct loading *loading, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int note(struct loading *loading, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = loading->notes ? string_list_addv(loading->notes, format, arguments) : 0;
	va_end(arguments);
	return r < 0 ? error_no_memory(loading->error) : 0;
}

/* Another device of this name is there. */
static int meet(struct loading *loading, struct registry_device *old, size_t file,
		struct json_object *device)
{
	struct registry_file *files = loading->registry->files;

	if (files[file].priority > files[old->file].priority) {
		old->file = file;
		old->device = device;
		return 0;
	}
	old->conflict = true;
	return note(loading,
		    "%s is in two files of one directory, %s and %s: it cannot be used; "
		    "remove one",
		    old->name, files[old->file].path, files[file].path);
}

static int add_device(struct loading *loading, const char *kind, size_t file,
		      struct json_object *device)
{
	struct cdi_registry *registry = loading->registry;
	autostrbuf name = STRBUF_INIT(QUALIFIED_MAX);

	strbuf_addf(&name, "%s=%s", kind, json_get_string(device, "name", ""));
	size_t number = (size_t)map_get(loading->names, name.data);
	if (strbuf_failed(&name) < 0)
		return error_no_memory(loading->error);
	if (number)
		return meet(loading, &registry->devices[number - 1], file, device);
	struct registry_device *added =
		VEC_ADD(&registry->devices, &registry->device_count, &registry->device_capacity);
	if (!added)
		return error_no_memory(loading->error);
	added->file = file;
	added->device = device;
	added->name = strbuf_detach(&name);
	/* Numbers instead of pointers, since the vector moves. */
	if (!added->name ||
	    map_put(loading->names, added->name, (void *)(uintptr_t)registry->device_count) < 0)
		return error_no_memory(loading->error);
	return 0;
}

static int add_file(struct loading *loading, const char *path, size_t priority)
{
	struct cdi_registry *registry = loading->registry;
	struct error error = ERROR_INIT;
	autojson *spec = NULL;
	struct stat status;
	int r;

	/* A pipe would be waited for. */
	if (stat(path, &status) < 0)
		return errno == ENOENT ? 0 : note(loading, "%s cannot be read", path);
	if (S_ISDIR(status.st_mode))
		return 0;
	if (!S_ISREG(status.st_mode))
		return note(loading, "%s is no file; it is left out", path);
	r = cdi_spec_read(path, &spec, &error);
	if (r == -ENOMEM)
		return error_no_memory(loading->error);
	if (r < 0)
		return note(loading, "%s", error.message);
	struct registry_file *file =
		VEC_ADD(&registry->files, &registry->file_count, &registry->file_capacity);
	if (!file)
		return error_no_memory(loading->error);
	*file = (struct registry_file){ .path = strdup(path),
					.spec = TAKE_PTR(spec),
					.priority = priority };
	if (!file->path)
		return error_no_memory(loading->error);
	const char *kind = json_get_string(file->spec, "kind", "");
	struct json_object *devices = json_get(file->spec, "devices");
	for (size_t i = 0; i < json_object_array_length(devices); i++) {
		r = add_device(loading, kind, registry->file_count - 1,
			       json_object_array_get_idx(devices, i));
		if (r < 0)
			return r;
	}
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length > strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static int name_compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The names of files that may be specs, in order. */
static int list_directory(const char *directory, struct string_list *ret, struct error *error)
{
	const struct dirent *entry;
	DIR *stream = opendir(directory);
	int r = 0;

	if (!stream)
		return errno == ENOENT ? 0
				       : error_set_errno(error, errno, "cannot read %s", directory);
	while (r == 0 && (entry = readdir(stream))) {
		if (!ends_with(entry->d_name, ".json") && !ends_with(entry->d_name, ".yaml"))
			continue;
		if (ret->count >= FILES_MAX)
			r = error_set(error, E2BIG, "%s has more than %d files; remove some",
				      directory, FILES_MAX);
		else if (string_list_add(ret, entry->d_name) < 0)
			r = error_no_memory(error);
	}
	closedir(stream);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), name_compare);
	return r;
}

static int add_directory(struct loading *loading, const char *directory, size_t priority)
{
	cleanup(string_list_release) struct string_list names = { 0 };
	int r = list_directory(directory, &names, loading->error);

	for (size_t i = 0; r == 0 && i < names.count; i++) {
		autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);

		strbuf_addf(&path, "%s/%s", directory, names.items[i]);
		r = strbuf_failed(&path) < 0 ? error_set(loading->error, -strbuf_failed(&path),
							 "cannot name a file of %s", directory)
					     : add_file(loading, path.data, priority);
	}
	return r;
}

static int device_compare(const void *left, const void *right)
{
	return strcmp(((const struct registry_device *)left)->name,
		      ((const struct registry_device *)right)->name);
}

/* Out with those that two files have, in order the others. */
static void settle(struct cdi_registry *registry)
{
	size_t kept = 0;

	for (size_t i = 0; i < registry->device_count; i++) {
		if (registry->devices[i].conflict)
			free(registry->devices[i].name);
		else
			registry->devices[kept++] = registry->devices[i];
	}
	registry->device_count = kept;
	if (kept)
		qsort(registry->devices, kept, sizeof(*registry->devices), device_compare);
}

int cdi_registry_open(const struct string_list *directories, struct cdi_registry **ret,
		      struct string_list *notes, struct error *error)
{
	cleanup(cdi_registry_freep) struct cdi_registry *registry = calloc(1, sizeof(*registry));
	automap *names = map_new();
	struct loading loading = {
		.registry = registry, .names = names, .notes = notes, .error = error
	};
	int r = registry && names ? 0 : error_no_memory(error);

	for (size_t i = 0; r == 0 && i < directories->count; i++)
		r = add_directory(&loading, directories->items[i], i);
	if (r < 0)
		return r;
	settle(registry);
	*ret = TAKE_PTR(registry);
	return 0;
}

size_t cdi_registry_count(const struct cdi_registry *registry)
{
	return registry->device_count;
}

const char *cdi_registry_name(const struct cdi_registry *registry, size_t index,
			      const char **ret_path)
{
	if (ret_path)
		*ret_path = registry->files[registry->devices[index].file].path;
	return registry->devices[index].name;
}

struct json_object *cdi_registry_edits(const struct cdi_registry *registry, const char *name,
				       struct json_object **ret_common)
{
	char *key = strdup(name); /* qsort's functions compare devices */
	struct registry_device wanted = { .name = key };
	const struct registry_device *found =
		key && registry->device_count
			? bsearch(&wanted, registry->devices, registry->device_count,
				  sizeof(wanted), device_compare)
			: NULL;

	free(key);
	if (!found)
		return NULL;
	if (ret_common)
		*ret_common = json_get(registry->files[found->file].spec, "containerEdits");
	return json_get(found->device, "containerEdits");
}
