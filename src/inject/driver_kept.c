/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver-files.json: what a search of the driver root found, and the marks by which a reader knows
 * that it would find the same. Sockets and device nodes come and go and are looked for each time.
 */
#include "inject/driver_search.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

enum {
	KEPT_VERSION = 3, /* also to rise when tables of the search change */
	KEPT_BYTES_MAX = 1 << 20,
	KEPT_FILES_MAX = 4096,
	KEPT_MARKS_MAX = 4096,
	ROW_MAX = 2 * ROOT_PATH_MAX,
	ROW_PARTS_MAX = 64,
};

static const char *const kind_names[DRIVER_FILE_KIND_MAX] = {
	[DRIVER_LIBRARY] = "library", [DRIVER_BINARY] = "binary", [DRIVER_FIRMWARE] = "firmware",
	[DRIVER_CONFIG] = "config",   [DRIVER_MODULE] = "module", [DRIVER_SOCKET] = "socket",
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

/*
 * A row is one text, with bars between its parts: a container waits for the reader, and a tree of
 * thousands of small values takes longer than all else. A list with a bar in a name is not kept.
 */
#define BAR '|'

static int add_row(struct json_object *array, const struct strbuf *row)
{
	return strbuf_failed(row) < 0 ? -ENOMEM : json_append_string(array, row->data);
}

/* Path, for whom; device, inode, seconds and nanoseconds of what is there. */
enum {
	MARK_PATH,
	MARK_CAPABILITIES,
	MARK_DEVICE,
	MARK_INODE,
	MARK_SECONDS,
	MARK_NANOSECONDS,
	MARK_PARTS
};

static int add_mark(struct json_object *array, const struct driver_mark *mark)
{
	autostrbuf row = STRBUF_INIT(KEPT_BYTES_MAX);

	strbuf_addf(&row, "%s|%u", mark->path, mark->capabilities);
	if (mark->present)
		strbuf_addf(&row, "|%" PRIu64 "|%" PRIu64 "|%" PRId64 "|%" PRIu32, mark->device,
			    mark->inode, mark->seconds, mark->nanoseconds);
	return add_row(array, &row);
}

/* Kind, capabilities, bits, whether CUDA looks for it, who asks for it, source, names. */
enum { FILE_KIND, FILE_CAPABILITIES, FILE_BITS, FILE_CUDA, FILE_GATED, FILE_SOURCE, FILE_NAMES };

static int add_file(struct json_object *array, const struct driver_file *file)
{
	autostrbuf row = STRBUF_INIT(KEPT_BYTES_MAX);

	strbuf_addf(&row, "%s|%u|%u|%u|%u|%s", kind_names[file->kind], file->capabilities,
		    file->bits, file->cuda_search, file->gated, file->source);
	for (size_t i = 0; i < file->names.count; i++)
		strbuf_addf(&row, "|%s", file->names.items[i]);
	return add_row(array, &row);
}

static bool has_bar(const struct search *search)
{
	const struct driver_files *files = search->files;

	for (size_t i = 0; i < search->marks->count; i++)
		if (strchr(search->marks->items[i].path, BAR))
			return true;
	for (size_t i = 0; i < files->count; i++) {
		if (strchr(files->items[i].source, BAR))
			return true;
		for (size_t k = 0; k < files->items[i].names.count; k++)
			if (strchr(files->items[i].names.items[k], BAR))
				return true;
	}
	return false;
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
	if (has_bar(search))
		return 0; /* never seen; each start searches then */
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
	if (kind == DRIVER_CONFIG || kind == DRIVER_FIRMWARE || kind == DRIVER_MODULE)
		return is_path(name);
	return *name && *name != '/' && !strstr(name, "..") && strlen(name) <= NAME_MAX &&
	       (kind == DRIVER_LIBRARY || !strchr(name, '/'));
}

static const char *string_of(struct json_object *value)
{
	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* The parts of a row, each ended by NUL in TEXT. */
struct parts {
	char text[ROW_MAX];
	char *items[ROW_PARTS_MAX];
	size_t count;
};

/* False when it is no row: no text, too long, or of too many parts. */
static bool parts_read(struct json_object *row, struct parts *ret)
{
	const char *text = string_of(row);
	size_t length = text ? strlen(text) : ROW_MAX;

	ret->count = 0;
	if (length >= ROW_MAX)
		return false;
	memcpy(ret->text, text, length + 1);
	for (char *at = ret->text; at; ret->count++) {
		if (ret->count == ROW_PARTS_MAX)
			return false;
		ret->items[ret->count] = at;
		at = strchr(at, BAR);
		if (at)
			*at++ = '\0';
	}
	return true;
}

static bool number_of(const struct parts *parts, size_t at, uint64_t maximum, uint64_t *ret)
{
	return at < parts->count && parse_uint(parts->items[at], 0, maximum, ret) == 0;
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
	static const uint64_t most[MARK_PARTS] = { 0,          CAPABILITY_ALL, UINT64_MAX,
						   UINT64_MAX, INT64_MAX,      999999999 };
	uint64_t numbers[MARK_PARTS] = { 0 };
	struct parts parts;

	if (!parts_read(row, &parts) ||
	    (parts.count != MARK_CAPABILITIES + 1 && parts.count != MARK_PARTS) ||
	    (!is_path(parts.items[MARK_PATH]) && strcmp(parts.items[MARK_PATH], "/") != 0))
		return fail_form(kept, "a mark is not a path with one number or five");
	for (size_t i = MARK_CAPABILITIES; i < parts.count; i++)
		if (!number_of(&parts, i, most[i], &numbers[i]))
			return fail_form(kept, "a number of a mark is wrong");
	if (!search_wants(kept->search, (unsigned)numbers[MARK_CAPABILITIES]))
		return 0;
	struct driver_mark *mark =
		VEC_ADD(&kept->marks.items, &kept->marks.count, &kept->marks.capacity);
	if (!mark)
		return error_no_memory(kept->error);
	mark->path = strdup(parts.items[MARK_PATH]);
	mark->present = parts.count == MARK_PARTS;
	mark->device = numbers[MARK_DEVICE];
	mark->inode = numbers[MARK_INODE];
	mark->seconds = (int64_t)numbers[MARK_SECONDS];
	mark->nanoseconds = (uint32_t)numbers[MARK_NANOSECONDS];
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

static int take_names(const struct kept *kept, const struct parts *parts, struct driver_file *file)
{
	for (size_t i = FILE_NAMES; i < parts->count; i++) {
		if (!is_name(file->kind, parts->items[i]))
			return fail_form(kept, "a name of a file is wrong");
		if (string_list_add(&file->names, parts->items[i]) < 0)
			return error_no_memory(kept->error);
	}
	return 0;
}

struct row { /* of a file */
	int kind;
	uint64_t capabilities, bits, cuda, gated;
	const char *source;
};

static bool row_read(const struct parts *parts, struct row *ret)
{
	if (parts->count <= FILE_NAMES)
		return false;
	ret->kind = kind_of(parts->items[FILE_KIND]);
	ret->source = parts->items[FILE_SOURCE];
	return ret->kind >= 0 && is_path(ret->source) &&
	       number_of(parts, FILE_CAPABILITIES, CAPABILITY_ALL, &ret->capabilities) &&
	       number_of(parts, FILE_BITS, 64, &ret->bits) &&
	       number_of(parts, FILE_CUDA, 1, &ret->cuda) &&
	       number_of(parts, FILE_GATED, GATED_ALL, &ret->gated) &&
	       (ret->kind == DRIVER_LIBRARY ? ret->bits == 32 || ret->bits == 64 : !ret->bits);
}

static int take_file(struct kept *kept, struct json_object *object)
{
	struct driver_files *files = kept->search->files;
	struct parts parts;
	struct row row;

	if (!parts_read(object, &parts) || !row_read(&parts, &row))
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
	return file->source ? take_names(kept, &parts, file) : error_no_memory(kept->error);
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
