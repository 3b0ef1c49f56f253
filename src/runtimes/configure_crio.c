/* SPDX-License-Identifier: Apache-2.0 */
/* CRI-O: always a file of our own in its crio.conf.d. */
#include <errno.h>
#include <string.h>

#include "runtimes/configure_parts.h"

enum { NEW_FILE_MODE = 0644 };

static int add_file(const struct host *host, const char *path, struct config_files *files,
		    struct error *error)
{
	autofree char *text = NULL;
	int r = host_read(host, path, &text, NULL, error);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return config_files_add(files, path, text) < 0 ? error_no_memory(error) : 0;
}

/* Its file, then those of its directory by name. */
static int load(const struct host *host, const struct engine *engine, struct config_files *ret,
		struct error *error)
{
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	cleanup(string_list_release) struct string_list names = { .items = NULL };
	int r = add_file(host, engine->config, &files, error);

	if (r == 0)
		r = host_list(host, engine->drop_in_directory, &names, error);
	for (size_t i = 0; r == 0 && i < names.count; i++) {
		autofree char *path = NULL;

		if (asprintf(&path, "%s/%s", engine->drop_in_directory, names.items[i]) < 0)
			r = error_no_memory(error);
		else
			r = add_file(host, path, &files, error);
	}
	if (r < 0)
		return r;
	*ret = files;
	files = (struct config_files){ .items = NULL };
	return 0;
}

/* The index of our file, in which place ever it is read. */
static int our_file(const struct engine *engine, struct config_files *files, size_t *ret)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->items[i].path, engine->drop_in) == 0) {
			*ret = i;
			return 0;
		}
	*ret = files->count;
	return config_files_add(files, engine->drop_in, NULL);
}

/* A file whose name sorts behind ours counts more. */
static int check_order(const struct engine *engine, const struct config_files *files,
		       const struct runtime_wish *wish, struct error *error)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	int r = crio_read(files, &facts, error);

	if (r < 0 || runtime_wish_holds(wish, &facts, true))
		return r;
	return error_set(
		error, EINVAL,
		"a file behind %s in %s says otherwise; take its words about the runtime %s "
		"out, or write ours there",
		strrchr(engine->drop_in, '/') + 1, engine->drop_in_directory,
		wish->count ? wish->entries[0].name : "");
}

/* FILES with AFTER in place of ours, in the order in which they are read. */
static int with_after(const struct engine *engine, const struct config_files *files,
		      const char *after, struct config_files *ret)
{
	bool put = false;

	for (size_t i = 0; i < files->count; i++) {
		const struct config_file *file = &files->items[i];
		bool ours = strcmp(file->path, engine->drop_in) == 0;
		bool behind = strcmp(file->path, engine->drop_in) > 0 &&
			      strcmp(file->path, engine->config) != 0;

		if (!put && (ours || behind)) {
			put = true;
			if (config_files_add(ret, engine->drop_in, after) < 0)
				return -ENOMEM;
		}
		if (!ours && config_files_add(ret, file->path, file->text) < 0)
			return -ENOMEM;
	}
	return put ? 0 : config_files_add(ret, engine->drop_in, after);
}

static int crio_plan(const struct host *host, const struct engine *engine,
		     const struct runtime_wish *wish, struct configure_plan *plan,
		     struct error *error)
{
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	cleanup(config_files_release) struct config_files later = { .items = NULL };
	autofree char *before = NULL, *after = NULL;
	unsigned mode = NEW_FILE_MODE;
	size_t index = 0;
	int r = load(host, engine, &files, error);

	if (r == 0 && our_file(engine, &files, &index) < 0)
		r = error_no_memory(error);
	if (r == 0)
		r = crio_edit(&files, index, wish, &after, error);
	if (r < 0 || !after)
		return r;
	r = host_read(host, engine->drop_in, &before, &mode, error);
	if (r < 0 && r != -ENOENT)
		return r;
	if (with_after(engine, &files, after, &later) < 0)
		return error_no_memory(error);
	r = check_order(engine, &later, wish, error);
	if (r < 0)
		return r;
	plan->restart = CONFIGURE_RESTART;
	if (plan_add(plan, engine->drop_in, TAKE_PTR(before), TAKE_PTR(after), mode) < 0)
		return error_no_memory(error);
	return 0;
}

static int crio_facts(const struct host *host, const struct engine *engine,
		      struct runtime_facts *ret, struct error *error)
{
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	int r = load(host, engine, &files, error);

	return r < 0 ? r : crio_read(&files, ret, error);
}

/* "crio config" prints what its files make, without a daemon. */
static int crio_verify(const struct host *host, const struct engine *engine,
		       struct runtime_facts *ret, struct error *error)
{
	const char *const argv[] = { engine->program,
				     "--config",
				     engine->config,
				     "--config-dir",
				     engine->drop_in_directory,
				     "config",
				     NULL };
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	autofree char *text = NULL;

	if (!engine->program)
		return error_set(
			error, EOPNOTSUPP,
			"this CRI-O does not run and cannot be asked whether it understands "
			"its files; they were read back by gpupool");
	int r = host_run(host, argv, &text, error);
	if (r < 0)
		return r;
	if (config_files_add(&files, "the output of crio config", text) < 0)
		return error_no_memory(error);
	return crio_read(&files, ret, error);
}

static int crio_remove_text(const char *path, const char *text, const struct runtime_wish *wish,
			    char **ret, struct error *error)
{
	return crio_remove(text, path, wish, ret, error);
}

static int crio_listens(const struct host *host, const struct engine *engine, char **ret)
{
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	int r = load(host, engine, &files, NULL);

	return r < 0 ? r : crio_socket(&files, ret, NULL);
}

const struct engine_work crio_work = {
	.plan = crio_plan,
	.remove = crio_remove_text,
	.verify = crio_verify,
	.read = crio_facts,
	.socket = crio_listens,
};
