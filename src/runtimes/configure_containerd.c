/* SPDX-License-Identifier: Apache-2.0 */
/*
 * containerd. Since 2.1 our entries go to a file of their own; before, such a file would replace the
 * whole section of the plugin, and a later change of the first file would have no effect, so they go
 * into the last file that has the section.
 */
#include <errno.h>
#include <string.h>

#include "runtimes/containerd_parts.h"

#define ANNOTATIONS "cdi.k8s.io/*"

enum { NEW_FILE_MODE = 0644 };

static int put(const struct host *host, struct configure_plan *plan, const char *path, char *after,
	       struct error *error)
{
	unsigned mode = NEW_FILE_MODE;
	char *before = NULL;
	int r = host_read(host, path, &before, &mode, error);

	if (r < 0 && r != -ENOENT) {
		free(after);
		return r;
	}
	return plan_add(plan, path, before, after, mode) < 0 ? error_no_memory(error) : 0;
}

/* In the directory that the first file imports already, else in conf.d beside it. */
static int drop_in_path(const struct config_files *files, struct strbuf *path, bool *imported,
			struct error *error)
{
	const char *config = files->items[0].path;
	autofree char *directory = NULL;
	int r = containerd_import_directory(files, &directory, error);

	if (r < 0)
		return r;
	*imported = directory != NULL;
	if (directory)
		strbuf_adds(path, directory);
	else
		strbuf_addf(path, "%.*s/conf.d", (int)(strrchr(config, '/') - config), config);
	strbuf_adds(path, "/99-nvidia.toml");
	return strbuf_failed(path) < 0 ? error_no_memory(error) : 0;
}

static size_t find_file(const struct config_files *files, const char *path)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->items[i].path, path) == 0)
			return i;
	return files->count;
}

static int plan_import(const struct host *host, const struct config_files *files,
		       const char *drop_in, const struct containerd_wish *wish,
		       struct configure_plan *plan, struct error *error)
{
	autofree char *pattern = NULL;
	char *after = NULL;

	if (asprintf(&pattern, "%.*s/*.toml", (int)(strrchr(drop_in, '/') - drop_in), drop_in) < 0)
		return error_no_memory(error);
	int r = containerd_add_import(files->items[0].text, files->items[0].path, pattern,
				      wish->new_version, &after, error);
	return r < 0 ? r : put(host, plan, files->items[0].path, after, error);
}

/* The new file first, then the line that lets it count. */
static int plan_drop_in(const struct host *host, struct config_files *files,
			const struct containerd_wish *wish, struct configure_plan *plan,
			struct error *error)
{
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
	struct containerd_wish fresh = *wish;
	autofree char *old = NULL;
	bool imported = false;
	char *after = NULL;
	int r = drop_in_path(files, &path, &imported, error);

	if (r < 0)
		return r;
	size_t index = find_file(files, path.data);
	if (index == files->count) {
		/* It may be there and not be imported. */
		r = host_read(host, path.data, &old, NULL, error);
		if (r < 0 && r != -ENOENT)
			return r;
		if (config_files_add(files, path.data, old) < 0)
			return error_no_memory(error);
	}
	r = containerd_edit(files, index, &fresh, &after, error);
	if (r == 0 && after)
		r = put(host, plan, path.data, after, error);
	return r < 0 || imported ? r : plan_import(host, files, path.data, wish, plan, error);
}

static int plan_in_place(const struct host *host, const struct config_files *files,
			 const struct containerd_wish *wish, struct configure_plan *plan,
			 struct error *error)
{
	size_t index = 0;
	char *after = NULL;
	int r = containerd_last_section(files, &index, error);

	if (r == 0)
		r = containerd_edit(files, index, wish, &after, error);
	return r < 0 || !after ? r : put(host, plan, files->items[index].path, after, error);
}

/* Will containerd see it? A file that it reads later may say otherwise. */
static int check_plan(const struct host *host, const struct engine *engine,
		      const struct containerd_wish *wish, const struct configure_plan *plan,
		      struct error *error)
{
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	size_t last = 0;
	int r = containerd_load(host, engine, plan, &files, error);

	if (r == 0)
		r = containerd_read(&files, &facts, error);
	if (r == 0)
		r = containerd_last_section(&files, &last, error);
	if (r < 0)
		return r;
	if (runtime_wish_holds(&wish->common, &facts, engine->major >= 2))
		return 0;
	return error_set(
		error, EINVAL,
		"%s is read after our file and says otherwise; take its words about the runtime "
		"%s out, or write ours there",
		files.items[last].path, wish->common.count ? wish->common.entries[0].name : "");
}

static int containerd_plan(const struct host *host, const struct engine *engine,
			   const struct runtime_wish *common, struct configure_plan *plan,
			   struct error *error)
{
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	struct containerd_wish wish = { .common = *common, .annotations = ANNOTATIONS };
	unsigned version = 0;
	int r = containerd_load(host, engine, NULL, &files, error);

	if (r == 0)
		r = containerd_read(&files, &facts, error);
	if (r == 0)
		r = containerd_version(files.items[0].text, files.items[0].path, &version, error);
	if (r < 0 || runtime_wish_holds(common, &facts, engine->major >= 2))
		return r;
	/* From 2.0 on it is on unless somebody says otherwise, and from 2.4 on the word is gone. */
	wish.common.cdi = common->cdi && (engine->major < 2 || facts.cdi == RUNTIME_CDI_OFF);
	wish.new_version = version ? version : engine->major >= 2 ? 3 : 2;
	plan->restart = CONFIGURE_RESTART;
	if (containerd_is_generated(host, engine))
		return containerd_plan_generated(host, engine, &files, &wish, plan, error);
	r = containerd_merges(engine) && version != 1
		    ? plan_drop_in(host, &files, &wish, plan, error)
		    : plan_in_place(host, &files, &wish, plan, error);
	return r < 0 ? r : check_plan(host, engine, &wish, plan, error);
}

static int containerd_facts(const struct host *host, const struct engine *engine,
			    struct runtime_facts *ret, struct error *error)
{
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	int r = containerd_load(host, engine, NULL, &files, error);

	return r < 0 ? r : containerd_read(&files, ret, error);
}

static int containerd_verify(const struct host *host, const struct engine *engine,
			     struct runtime_facts *ret, struct error *error)
{
	const char *const argv[] = { engine->program, "--config", engine->config,
				     "config",        "dump",     NULL };
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	autofree char *text = NULL;

	if (containerd_is_generated(host, engine))
		return -EAGAIN;
	if (!engine->program)
		return error_set(error, EOPNOTSUPP,
				 "this containerd does not run and cannot be asked whether it "
				 "understands its file; it was read back by gpupool");
	int r = host_run(host, argv, &text, error);
	if (r < 0)
		return r;
	if (config_files_add(&files, "the output of containerd config dump", text) < 0)
		return error_no_memory(error);
	return containerd_read(&files, ret, error);
}

static int containerd_remove_text(const char *path, const char *text,
				  const struct runtime_wish *wish, char **ret, struct error *error)
{
	return containerd_is_template(path) ? containerd_template_remove(text, ret, error)
					    : containerd_remove(text, path, wish, ret, error);
}

static int containerd_listens(const struct host *host, const struct engine *engine, char **ret)
{
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	int r = containerd_load(host, engine, NULL, &files, NULL);

	return r < 0 ? r : containerd_socket(&files, ret, NULL);
}

const struct engine_work containerd_work = {
	.plan = containerd_plan,
	.remove = containerd_remove_text,
	.verify = containerd_verify,
	.read = containerd_facts,
	.socket = containerd_listens,
};
