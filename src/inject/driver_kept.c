/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver-files.json: what a search of the driver root found, and the marks by which a reader knows
 * that it would find the same. Sockets and device nodes come and go and are looked for each time.
 */
#include "inject/driver_search.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum {
	KEPT_VERSION = 1,
	KEPT_BYTES_MAX = 1 << 20,
	KEPT_FILES_MAX = 4096,
	KEPT_MARKS_MAX = 4096,
	FILE_NAMES_MAX = 64
};

static const char *const kind_names[DRIVER_FILE_KIND_MAX] = {
	[DRIVER_LIBRARY] = "library", [DRIVER_BINARY] = "binary", [DRIVER_FIRMWARE] = "firmware",
	[DRIVER_CONFIG] = "config",   [DRIVER_SOCKET] = "socket",
};

/* In order of likelihood that a search is right: the last cure is always to take it anew. */
static int fail_stale(struct error *error, const char *path, const char *what)
{
	return error_set(error, ESTALE,
			 "%s is of another time: %s; it is taken anew by gpupool inventory", path,
			 what);
}

static int add_strings(struct json_object *object, const char *key, const struct string_list *list)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; array && i < list->count; i++)
		if (json_append_string(array, list->items[i]) < 0) {
			json_object_put(array);
			return -ENOMEM;
		}
	return json_add(object, key, array);
}

static int add_mark(struct json_object *array, const struct driver_mark *mark)
{
	autojson *row = json_object_new_array();

	if (!row || json_append_string(row, mark->path) < 0)
		return -ENOMEM;
	if (mark->present && (json_append(row, json_object_new_uint64(mark->device)) < 0 ||
			      json_append(row, json_object_new_uint64(mark->inode)) < 0 ||
			      json_append(row, json_object_new_int64(mark->seconds)) < 0 ||
			      json_append(row, json_object_new_int64(mark->nanoseconds)) < 0))
		return -ENOMEM;
	return json_append(array, TAKE_PTR(row));
}

/* Kind, capabilities, bits, whether CUDA looks for it, who asks for it, source, names: rows are read faster than
 * objects, and a container waits for it. */
enum { FILE_KIND, FILE_CAPABILITIES, FILE_BITS, FILE_CUDA, FILE_GATED, FILE_SOURCE, FILE_NAMES };

static int add_file(struct json_object *array, const struct driver_file *file)
{
	autojson *row = json_object_new_array();

	if (!row || json_append_string(row, kind_names[file->kind]) < 0 ||
	    json_append(row, json_object_new_uint64(file->capabilities)) < 0 ||
	    json_append(row, json_object_new_uint64(file->bits)) < 0 ||
	    json_append(row, json_object_new_uint64(file->cuda_search)) < 0 ||
	    json_append(row, json_object_new_uint64(file->gated)) < 0 ||
	    json_append_string(row, file->source) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < file->names.count; i++)
		if (json_append_string(row, file->names.items[i]) < 0)
			return -ENOMEM;
	return json_append(array, TAKE_PTR(row));
}

/* A list of ours under KEY; NULL when out of memory. */
static struct json_object *add_list(struct json_object *object, const char *key)
{
	struct json_object *array = json_object_new_array();

	return json_add(object, key, array) < 0 ? NULL : array;
}

static int kept_to_json(const struct search *search, const char *firmware, struct json_object **ret)
{
	const struct driver_files *files = search->files;
	autojson *object = json_object_new_object();

	if (!object || json_add_uint(object, "version", KEPT_VERSION) < 0 ||
	    json_add_string(object, "root", files->root) < 0 ||
	    json_add_string(object, "realRoot", search->root_path) < 0 ||
	    json_add_string(object, "driverVersion", files->version) < 0 ||
	    json_add_string(object, "firmwarePath", firmware) < 0 ||
	    add_strings(object, "notes", &files->notes) < 0)
		return -ENOMEM;
	struct json_object *marks = add_list(object, "marks"), *list = add_list(object, "files");
	if (!marks || !list)
		return -ENOMEM;
	for (size_t i = 0; i < search->marks->count; i++)
		if (add_mark(marks, &search->marks->items[i]) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].kind != DRIVER_SOCKET && add_file(list, &files->items[i]) < 0)
			return -ENOMEM;
	*ret = TAKE_PTR(object);
	return 0;
}

int search_write(const struct search *search, const char *path, struct error *error)
{
	autostrbuf firmware = STRBUF_INIT(ROOT_PATH_MAX), text = STRBUF_INIT(KEPT_BYTES_MAX);
	autojson *object = NULL;

	driver_marks_prune(search->marks);
	if (!driver_marks_settled(search->marks))
		return 0; /* the next one who searches keeps it */
	if (search_firmware_path(search, &firmware) < 0 ||
	    kept_to_json(search, firmware.data, &object) < 0)
		return error_no_memory(error);
	int r = json_to_text(object, false, &text, error);
	return r < 0 ? r : file_write_atomic(path, text.data, text.length, 0644, error);
}

struct kept {
	const char *path; /* of the list */
	struct json_object *object;
	struct search *search;
	struct driver_marks marks;
	struct error *error;
};

static int fail_form(const struct kept *kept, const char *what)
{
	return error_set(
		kept->error, EINVAL,
		"%s is no list of driver files: %s; remove it, it is taken anew by gpupool "
		"inventory",
		kept->path, what);
}

/* An absolute path without a way up. */
static bool is_path(const char *path)
{
	return path && path[0] == '/' && !strstr(path, "/../") && !strstr(path, "/./") &&
	       strlen(path) < ROOT_PATH_MAX && strcmp(path + strlen(path) - 1, "/") != 0 &&
	       (strlen(path) < 3 || strcmp(path + strlen(path) - 3, "/..") != 0);
}

/* Below the library directory: "libcuda.so.1", "vdpau/libvdpau_nvidia.so.1". */
static bool is_name(enum driver_file_kind kind, const char *name)
{
	if (kind == DRIVER_CONFIG || kind == DRIVER_FIRMWARE)
		return is_path(name);
	return *name && *name != '/' && !strstr(name, "..") && strlen(name) <= NAME_MAX &&
	       (kind == DRIVER_LIBRARY || !strchr(name, '/'));
}

static const char *string_of(struct json_object *value)
{
	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

static bool number_of(struct json_object *array, size_t at, uint64_t *ret)
{
	struct json_object *value = json_object_array_get_idx(array, at);

	*ret = json_object_get_uint64(value);
	return json_object_is_type(value, json_type_int) && json_object_get_int64(value) >= 0;
}

static struct json_object *list_of(struct json_object *object, const char *key, size_t maximum)
{
	struct json_object *list = json_object_object_get(object, key);

	return json_object_is_type(list, json_type_array) &&
			       json_object_array_length(list) <= maximum
		       ? list
		       : NULL;
}

static int take_mark(struct kept *kept, struct json_object *row)
{
	const char *path = json_object_is_type(row, json_type_array)
				   ? string_of(json_object_array_get_idx(row, 0))
				   : NULL;
	size_t length = path ? json_object_array_length(row) : 0;
	uint64_t numbers[4] = { 0 };

	if ((length != 1 && length != 5) || (!is_path(path) && strcmp(path, "/") != 0))
		return fail_form(kept, "a mark is not a path with four numbers or none");
	for (size_t i = 1; i < length; i++)
		if (!number_of(row, i, &numbers[i - 1]))
			return fail_form(kept, "a number of a mark is wrong");
	struct driver_mark *mark =
		VEC_ADD(&kept->marks.items, &kept->marks.count, &kept->marks.capacity);
	if (!mark)
		return error_no_memory(kept->error);
	mark->path = strdup(path);
	mark->present = length == 5;
	mark->device = numbers[0];
	mark->inode = numbers[1];
	mark->seconds = (int64_t)numbers[2];
	mark->nanoseconds = (uint32_t)numbers[3];
	return mark->path ? 0 : error_no_memory(kept->error);
}

static int check_marks(struct kept *kept)
{
	struct json_object *list = list_of(kept->object, "marks", KEPT_MARKS_MAX);
	autostrbuf changed = STRBUF_INIT(ERROR_MESSAGE_MAX);
	int r = 0;

	if (!list)
		return fail_form(kept, "it has no marks");
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++)
		r = take_mark(kept, json_object_array_get_idx(list, i));
	if (r < 0)
		return r;
	const char *path = driver_marks_changed(&kept->marks);
	if (!path)
		return 0;
	strbuf_addf(&changed, "%s has changed", path);
	return fail_stale(kept->error, kept->path, changed.data);
}

static int kind_of(const char *name)
{
	for (int i = 0; name && i < DRIVER_FILE_KIND_MAX; i++)
		if (i != DRIVER_SOCKET && strcmp(kind_names[i], name) == 0)
			return i;
	return -1;
}

static int take_names(const struct kept *kept, struct json_object *row, struct driver_file *file)
{
	for (size_t i = FILE_NAMES; i < json_object_array_length(row); i++) {
		const char *name = string_of(json_object_array_get_idx(row, i));

		if (!name || !is_name(file->kind, name))
			return fail_form(kept, "a name of a file is wrong");
		if (string_list_add(&file->names, name) < 0)
			return error_no_memory(kept->error);
	}
	return 0;
}

struct row { /* of a file */
	int kind;
	uint64_t capabilities, bits, cuda, gated;
	const char *source;
};

static bool row_read(struct json_object *object, struct row *ret)
{
	if (!json_object_is_type(object, json_type_array) ||
	    json_object_array_length(object) <= FILE_NAMES ||
	    json_object_array_length(object) > FILE_NAMES + FILE_NAMES_MAX)
		return false;
	ret->kind = kind_of(string_of(json_object_array_get_idx(object, FILE_KIND)));
	ret->source = string_of(json_object_array_get_idx(object, FILE_SOURCE));
	if (ret->kind < 0 || !is_path(ret->source) ||
	    !number_of(object, FILE_CAPABILITIES, &ret->capabilities) ||
	    !number_of(object, FILE_BITS, &ret->bits) ||
	    !number_of(object, FILE_CUDA, &ret->cuda) ||
	    !number_of(object, FILE_GATED, &ret->gated))
		return false;
	return ret->capabilities <= CAPABILITY_ALL && ret->cuda <= 1 && ret->gated <= GATED_ALL &&
	       (ret->kind == DRIVER_LIBRARY ? ret->bits == 32 || ret->bits == 64 : !ret->bits);
}

static int take_file(struct kept *kept, struct json_object *object)
{
	struct driver_files *files = kept->search->files;
	struct row row;

	if (!row_read(object, &row))
		return fail_form(kept, "a file has no kind, capabilities, bits, source or names");
	if (!search_is_inside(kept->search, row.source))
		return fail_form(kept, "a source lies outside the driver root");
	if (!search_wants(kept->search, (unsigned)row.capabilities))
		return 0;
	struct driver_file *file = VEC_ADD(&files->items, &files->count, &files->capacity);
	if (!file)
		return error_no_memory(kept->error);
	file->kind = (enum driver_file_kind)row.kind;
	file->capabilities = (unsigned)row.capabilities;
	file->bits = (unsigned)row.bits;
	file->cuda_search = row.cuda == 1;
	file->gated = (unsigned)row.gated;
	file->source = strdup(row.source);
	return file->source ? take_names(kept, object, file) : error_no_memory(kept->error);
}

static int take_notes(struct kept *kept)
{
	struct json_object *list = list_of(kept->object, "notes", NOTES_MAX);

	if (!list)
		return fail_form(kept, "it has no notes");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const char *note = string_of(json_object_array_get_idx(list, i));

		if (!note)
			return fail_form(kept, "a note is no string");
		if (string_list_add(&kept->search->files->notes, note) < 0)
			return error_no_memory(kept->error);
	}
	return 0;
}

static int take_files(struct kept *kept)
{
	struct json_object *list = list_of(kept->object, "files", KEPT_FILES_MAX);
	int r = list ? take_notes(kept) : fail_form(kept, "it has no files");

	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++)
		r = take_file(kept, json_object_array_get_idx(list, i));
	return r;
}

/* Whose list it is: of this driver root, this version, this firmware directory. */
static int check_subject(struct kept *kept, const char *version)
{
	struct json_object *object = kept->object;
	struct driver_files *files = kept->search->files;
	const char *then = json_get_string(object, "driverVersion", "");
	autostrbuf firmware = STRBUF_INIT(ROOT_PATH_MAX);

	if (json_get_uint(object, "version", 0) != KEPT_VERSION)
		return fail_form(kept, "it has another version");
	if (strcmp(json_get_string(object, "root", ""), files->root) != 0 ||
	    strcmp(json_get_string(object, "realRoot", ""), kept->search->root_path) != 0)
		return fail_stale(kept->error, kept->path, "it is of another driver root");
	if (!*then || strlen(then) >= sizeof(files->version))
		return fail_form(kept, "it has no driver version");
	if (version && *version && strcmp(version, then) != 0)
		return fail_stale(kept->error, kept->path, "it is of another driver version");
	if (search_firmware_path(kept->search, &firmware) < 0)
		return error_no_memory(kept->error);
	if (strcmp(json_get_string(object, "firmwarePath", ""), firmware.data) != 0)
		return fail_stale(kept->error, kept->path,
				  "the kernel looks for firmware elsewhere");
	memcpy(files->version, then, strlen(then) + 1);
	return 0;
}

int search_read(struct search *search, const char *path, const char *version, struct error *error)
{
	static const struct json_limits limits = { .bytes = KEPT_BYTES_MAX, .depth = 8 };
	autojson *object = NULL;
	struct kept kept = { .path = path, .search = search, .error = error };
	/* What decides about mounts must be root's alone, or of whoever reads it. */
	int r = json_read_trusted(path, &limits, &object, error);

	if (r < 0)
		return r;
	kept.object = object;
	if (!json_object_is_type(object, json_type_object))
		return fail_form(&kept, "it is no object");
	r = check_subject(&kept, version);
	if (r == 0)
		r = check_marks(&kept);
	driver_marks_release(&kept.marks);
	return r < 0 ? r : take_files(&kept);
}
