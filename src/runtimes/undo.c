/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was there before: one file a kind of engine below PATH_CONFIGURE, written before the first
 * change. It holds each changed file whole, as it was and as we left it, so that a crash at any point
 * leaves enough to tell which of the two is there now. Mode 0600, since such files can hold passwords.
 */
#include <errno.h>
#include <string.h>

#include "runtimes/configure_parts.h"

/* Some files, each twice; what is longer is not written, and then no file is changed. */
enum { KEPT_VERSION = 1, KEPT_MODE = 0600, KEPT_BYTES_MAX = 16 * HOST_FILE_MAX };

static const struct json_limits kept_limits = { .bytes = KEPT_BYTES_MAX, .depth = 8 };

static void kept_file_release(struct kept_file *file)
{
	free(file->path);
	free(file->before);
	free(file->after);
	*file = (struct kept_file){ .path = NULL };
}

void kept_release(struct kept *kept)
{
	for (size_t i = 0; i < kept->count; i++)
		kept_file_release(&kept->files[i]);
	for (size_t i = 0; i < kept->runtime_count; i++) {
		free(kept->runtimes[i].name);
		free(kept->runtimes[i].path);
	}
	free(kept->files);
	free(kept->runtimes);
	*kept = (struct kept){ .files = NULL };
}

static int kept_path(const struct engine *engine, const char *directory, struct strbuf *to,
		     struct error *error)
{
	strbuf_addf(to, "%s/%s%s%s.json", directory, engine_kind_to_string(engine->kind),
		    engine->distribution[0] ? "-" : "", engine->distribution);
	return strbuf_failed(to) < 0
		       ? error_set(error, ENAMETOOLONG, "the path %s is too long", directory)
		       : 0;
}

static int copy(char **slot, const char *text)
{
	*slot = text ? strdup(text) : NULL;
	return text && !*slot ? -ENOMEM : 0;
}

static int kept_add_runtime(struct kept *kept, const char *name, const char *path)
{
	for (size_t i = 0; i < kept->runtime_count; i++)
		if (strcmp(kept->runtimes[i].name, name) == 0)
			return 0;
	struct runtime_fact *fact =
		VEC_ADD(&kept->runtimes, &kept->runtime_count, &kept->runtime_capacity);
	if (!fact || copy(&fact->name, name) < 0 || copy(&fact->path, path) < 0)
		return -ENOMEM;
	return 0;
}

static int read_file(struct json_object *object, struct kept *kept)
{
	struct kept_file *file = VEC_ADD(&kept->files, &kept->count, &kept->capacity);
	const char *path = json_get_string(object, "path", NULL);

	if (!path || path[0] != '/')
		return -EINVAL;
	if (!file || copy(&file->path, path) < 0 ||
	    copy(&file->before, json_get_string(object, "before", NULL)) < 0 ||
	    copy(&file->after, json_get_string(object, "after", NULL)) < 0)
		return -ENOMEM;
	file->mode = (unsigned)json_get_uint(object, "mode", 0644) & 07777;
	return 0;
}

static int read_all(struct json_object *root, struct kept *kept)
{
	struct json_object *files = json_get(root, "files"), *runtimes = json_get(root, "runtimes");
	int r = 0;

	if (json_get_uint(root, "version", 0) != KEPT_VERSION ||
	    !json_object_is_type(files, json_type_array) ||
	    !json_object_is_type(runtimes, json_type_array))
		return -EINVAL;
	for (size_t i = 0; r == 0 && i < json_object_array_length(files); i++)
		r = read_file(json_object_array_get_idx(files, i), kept);
	for (size_t i = 0; r == 0 && i < json_object_array_length(runtimes); i++) {
		struct json_object *runtime = json_object_array_get_idx(runtimes, i);
		const char *name = json_get_string(runtime, "name", NULL);

		r = name ? kept_add_runtime(kept, name, json_get_string(runtime, "path", NULL))
			 : -EINVAL;
	}
	return r;
}

int kept_read(const struct host *host, const struct engine *engine, const char *directory,
	      struct kept *ret, struct error *error)
{
	cleanup(kept_release) struct kept kept = { .files = NULL };
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
	autofree char *text = NULL;
	autojson *root = NULL;
	int r = kept_path(engine, directory, &path, error);

	if (r == 0)
		r = host_read_large(host, path.data, KEPT_BYTES_MAX, &text, NULL, error);
	if (r == 0)
		r = json_parse(text, strlen(text), path.data, &kept_limits, &root, error);
	if (r < 0)
		return r;
	r = read_all(root, &kept);
	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r < 0)
		return error_set(
			error, EINVAL,
			"%s is not what this version of gpupool writes; undo with the version "
			"that wrote it, or move it away",
			path.data);
	*ret = kept;
	kept = (struct kept){ .files = NULL };
	return 0;
}

static struct json_object *file_object(const struct kept_file *file)
{
	struct json_object *object = json_object_new_object();

	if (!object || json_add_string(object, "path", file->path) < 0 ||
	    json_add_uint(object, "mode", file->mode) < 0 ||
	    json_add_string(object, "before", file->before) < 0 ||
	    json_add_string(object, "after", file->after) < 0) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

static struct json_object *runtime_object(const struct runtime_fact *runtime)
{
	struct json_object *object = json_object_new_object();

	if (!object || json_add_string(object, "name", runtime->name) < 0 ||
	    json_add_string(object, "path", runtime->path) < 0) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

static int kept_object(const struct kept *kept, struct json_object *root)
{
	struct json_object *files = json_object_new_array();
	struct json_object *runtimes = json_object_new_array();
	int r = json_add_uint(root, "version", KEPT_VERSION);

	for (size_t i = 0; r == 0 && i < kept->count; i++)
		r = json_append(files, file_object(&kept->files[i]));
	for (size_t i = 0; r == 0 && i < kept->runtime_count; i++)
		r = json_append(runtimes, runtime_object(&kept->runtimes[i]));
	if (r == 0)
		r = json_add(root, "files", files);
	else
		json_object_put(files);
	if (r == 0)
		r = json_add(root, "runtimes", runtimes);
	else
		json_object_put(runtimes);
	return r;
}

int kept_write(const struct host *host, const struct engine *engine, const char *directory,
	       const struct kept *kept, struct error *error)
{
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX), text = STRBUF_INIT(KEPT_BYTES_MAX);
	autojson *root = json_object_new_object();
	int r = kept_path(engine, directory, &path, error);

	if (r < 0)
		return r;
	if (!root || kept_object(kept, root) < 0)
		return error_no_memory(error);
	r = json_to_text(root, true, &text, error);
	if (r < 0)
		return r;
	strbuf_addc(&text, '\n');
	return strbuf_failed(&text) < 0 ? error_no_memory(error)
					: host_write(host, path.data, text.data, KEPT_MODE, error);
}

int kept_remove(const struct host *host, const struct engine *engine, const char *directory,
		struct error *error)
{
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
	int r = kept_path(engine, directory, &path, error);

	return r < 0 ? r : host_remove(host, path.data, error);
}

static struct kept_file *find_file(const struct kept *kept, const char *path)
{
	for (size_t i = 0; i < kept->count; i++)
		if (strcmp(kept->files[i].path, path) == 0)
			return &kept->files[i];
	return NULL;
}

/* Somebody has changed the file since: before is what it would be now without us. */
static int before_ours(const struct engine *engine, const struct file_change *change,
		       const struct runtime_wish *wish, char **ret, struct error *error)
{
	autofree char *without = NULL;
	int r = change->before ? engine_work(engine)->remove(change->path, change->before, wish,
							     &without, error)
			       : 0;

	if (r < 0)
		return r;
	if (copy(ret, without ? without : change->before) < 0)
		return error_no_memory(error);
	return 0;
}

static int kept_add_change(struct kept *kept, const struct engine *engine,
			   const struct file_change *change, const struct runtime_wish *ours,
			   struct error *error)
{
	struct kept_file *file = find_file(kept, change->path);
	autofree char *before = NULL, *after = NULL;

	if (copy(&after, change->after) < 0)
		return error_no_memory(error);
	if (!file) {
		file = VEC_ADD(&kept->files, &kept->count, &kept->capacity);
		if (!file || copy(&file->path, change->path) < 0 ||
		    copy(&file->before, change->before) < 0)
			return error_no_memory(error);
		file->mode = change->mode;
	} else if (!text_is_same(file->after, change->before)) {
		int r = before_ours(engine, change, ours, &before, error);

		if (r < 0)
			return r;
		free(file->before);
		file->before = TAKE_PTR(before);
	}
	free(file->after);
	file->after = TAKE_PTR(after);
	return 0;
}

int kept_add(struct kept *kept, const struct engine *engine, const struct configure_plan *plan,
	     const struct runtime_wish *wish, struct error *error)
{
	/* What is ours already is what an earlier call has put in. */
	autofree struct runtime_entry *entries = calloc(kept->runtime_count + 1, sizeof(*entries));
	struct runtime_wish ours = { .entries = entries, .count = kept->runtime_count };
	int r = 0;

	if (!entries)
		return error_no_memory(error);
	for (size_t i = 0; i < kept->runtime_count; i++)
		entries[i] =
			(struct runtime_entry){ kept->runtimes[i].name, kept->runtimes[i].path };
	for (size_t i = 0; r == 0 && i < plan->count; i++)
		r = kept_add_change(kept, engine, &plan->changes[i], &ours, error);
	for (size_t i = 0; r == 0 && i < wish->count; i++)
		if (kept_add_runtime(kept, wish->entries[i].name, wish->entries[i].path) < 0)
			r = error_no_memory(error);
	return r;
}
