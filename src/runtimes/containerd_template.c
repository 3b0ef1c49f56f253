/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A containerd whose file is made anew at each start. Facts: k3s and RKE2: docs.k3s.io "Advanced
 * options", configuring containerd: a *.tmpl beside the file is used in its place and may begin with the
 * base template; newer ones import a directory besides. k0s: docs.k0sproject.io "Runtime": a file
 * whose first line is "# k0s_managed=true" is made from the drop-ins in /etc/k0s/containerd.d. MicroK8s:
 * args/containerd-template.toml, whose variables are expanded, is the template itself.
 */
#include <errno.h>
#include <string.h>

#include "runtimes/containerd_parts.h"

#define BASE      "{{ template \"base\" . }}\n"
#define BEGIN     "# begin gpupool configure\n"
#define END       "# end gpupool configure\n"
#define K0S_FIRST "# k0s_managed=true"
#define K0S_FILE  "/etc/k0s/containerd.d/99-nvidia.toml"

enum { NEW_FILE_MODE = 0644, TEXT_MAX = 4 << 20 };

static bool is_k3s(const struct engine *engine)
{
	return strcmp(engine->distribution, "k3s") == 0 ||
	       strcmp(engine->distribution, "rke2") == 0;
}

static bool is_k0s(const struct engine *engine)
{
	return strcmp(engine->distribution, "k0s") == 0;
}

bool containerd_is_template(const char *path)
{
	size_t length = strlen(path);

	return length > 5 && strcmp(path + length - 5, ".tmpl") == 0;
}

bool containerd_is_generated(const struct host *host, const struct engine *engine)
{
	autofree char *text = NULL;

	if (is_k0s(engine))
		return host_read(host, engine->config, &text, NULL, NULL) == 0 &&
		       strncmp(text, K0S_FIRST, strlen(K0S_FIRST)) == 0;
	return engine->distribution[0] != '\0';
}

/* NAME in the directory of the engine's file. */
static int beside(const struct engine *engine, const char *name, struct strbuf *to)
{
	const char *slash = strrchr(engine->config, '/');

	strbuf_add(to, engine->config, slash ? (size_t)(slash - engine->config) + 1 : 0);
	strbuf_adds(to, name);
	return strbuf_failed(to);
}

static int read_or_none(const struct host *host, const char *path, char **ret, unsigned *mode,
			struct error *error)
{
	int r = host_read(host, path, ret, mode, error);

	if (r != -ENOENT)
		return r;
	*ret = NULL;
	*mode = NEW_FILE_MODE;
	return 0;
}

int containerd_template_remove(const char *text, char **ret, struct error *error)
{
	const char *begin = strstr(text, BEGIN), *end = begin ? strstr(begin, END) : NULL;
	autostrbuf less = STRBUF_INIT(TEXT_MAX);

	*ret = NULL;
	if (!end)
		return 0;
	/* The blank line before it came with it. */
	if (begin - text >= 2 && begin[-1] == '\n' && begin[-2] == '\n')
		begin--;
	strbuf_add(&less, text, (size_t)(begin - text));
	strbuf_adds(&less, end + strlen(END));
	/* The base template alone is what is used without a file. */
	if (strcmp(less.data, BASE) == 0)
		strbuf_reset(&less);
	*ret = less.length ? strbuf_detach(&less) : strdup("");
	return *ret ? 0 : error_no_memory(error);
}

/* What a template cannot say, since its base says it already and a key may stand once. */
static int check_template(const struct engine *engine, const struct containerd_wish *wish,
			  const struct runtime_facts *facts, const char *text, struct error *error)
{
	if (wish->common.set_default)
		return error_set(error, EINVAL,
				 "%s sets the default runtime of its containerd itself; write "
				 "\"default-runtime: %s\" into its own configuration file",
				 engine->distribution, wish->common.entries[0].name);
	if (wish->common.cdi && facts->cdi == RUNTIME_CDI_OFF)
		return error_set(
			error, EINVAL,
			"%s has switched CDI off in %s; switch it on in its template by hand",
			engine->distribution, engine->config);
	for (size_t i = 0; i < wish->common.count; i++) {
		const struct runtime_fact *fact =
			runtime_facts_find(facts, wish->common.entries[i].name);

		if (fact && (!text || !strstr(text, BEGIN)))
			return error_set(
				error, EINVAL,
				"%s already has a runtime %s of its own (%s), found by itself "
				"or from its template; choose another name with --runtime-name",
				engine->distribution, fact->name,
				fact->path ? fact->path : "without a path");
	}
	return 0;
}

/* OLD (NULL: none) with our lines at its end, in place of those that are there. */
static int template_text(const char *old, const char *section, char **ret, struct error *error)
{
	autostrbuf text = STRBUF_INIT(TEXT_MAX);
	autofree char *rest = NULL;
	int r = old ? containerd_template_remove(old, &rest, error) : 0;

	if (r < 0)
		return r;
	const char *start = rest ? rest : old ? old : "";
	if (!*start)
		start = BASE;
	strbuf_addf(&text, "%s%s\n" BEGIN "%s" END, start,
		    start[strlen(start) - 1] == '\n' ? "" : "\n", section);
	*ret = strbuf_detach(&text);
	return *ret ? 0 : error_no_memory(error);
}

static int template_path(const struct engine *engine, const struct config_files *files,
			 struct strbuf *path, struct error *error)
{
	unsigned version = 0;
	int r = containerd_version(files->items[0].text, files->items[0].path, &version, error);

	if (r < 0)
		return r;
	return beside(engine, version >= 3 ? "config-v3.toml.tmpl" : "config.toml.tmpl", path) < 0
		       ? error_no_memory(error)
		       : 0;
}

static int plan_template(const struct host *host, const struct engine *engine,
			 const struct config_files *files, const struct containerd_wish *wish,
			 const struct runtime_facts *facts, struct configure_plan *plan,
			 struct error *error)
{
	autofree char *before = NULL, *after = NULL, *section = NULL;
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
	struct containerd_wish fresh = *wish;
	unsigned mode = 0;
	int r = template_path(engine, files, &path, error);

	fresh.fresh = true;
	fresh.common.cdi = false;
	if (r == 0)
		r = read_or_none(host, path.data, &before, &mode, error);
	if (r == 0)
		r = check_template(engine, wish, facts, before, error);
	if (r == 0)
		r = containerd_section(files, &fresh, &section, error);
	if (r == 0)
		r = template_text(before, section, &after, error);
	if (r < 0)
		return r;
	if (before && strcmp(before, after) == 0)
		return 0;
	if (plan_add(plan, path.data, TAKE_PTR(before), TAKE_PTR(after), mode) < 0)
		return error_no_memory(error);
	return 0;
}

/* A file of ours in a directory that the engine picks up. */
static int plan_picked_up(const struct host *host, const struct config_files *files,
			  const struct containerd_wish *wish, const char *path,
			  struct configure_plan *plan, struct error *error)
{
	cleanup(config_files_release) struct config_files all = { .merges = true };
	autofree char *before = NULL, *after = NULL;
	struct containerd_wish fresh = *wish;
	unsigned mode = 0;
	int r = read_or_none(host, path, &before, &mode, error);

	for (size_t i = 0; r == 0 && i < files->count; i++)
		if (strcmp(files->items[i].path, path) != 0 &&
		    config_files_add(&all, files->items[i].path, files->items[i].text) < 0)
			r = error_no_memory(error);
	if (r == 0 && config_files_add(&all, path, before) < 0)
		r = error_no_memory(error);
	if (r < 0)
		return r;
	/* Without the file there is nothing of ours, whatever the generated file still says. */
	fresh.fresh = !before;
	r = containerd_edit(&all, all.count - 1, &fresh, &after, error);
	if (r < 0 || !after)
		return r;
	if (plan_add(plan, path, TAKE_PTR(before), TAKE_PTR(after), mode) < 0)
		return error_no_memory(error);
	return 0;
}

static int plan_microk8s(const struct host *host, const struct engine *engine,
			 const struct containerd_wish *wish, struct configure_plan *plan,
			 struct error *error)
{
	cleanup(config_files_release) struct config_files files = { .merges = false };
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
	autofree char *before = NULL, *after = NULL;
	unsigned mode = 0;

	if (beside(engine, "containerd-template.toml", &path) < 0)
		return error_no_memory(error);
	int r = host_read(host, path.data, &before, &mode, error);
	if (r == -ENOENT)
		return error_set(
			error, EINVAL,
			"%s is made from a template that is not there (%s); is this MicroK8s?",
			engine->config, path.data);
	if (r == 0 && config_files_add(&files, path.data, before) < 0)
		r = error_no_memory(error);
	if (r == 0)
		r = containerd_edit(&files, 0, wish, &after, error);
	if (r < 0 || !after)
		return r;
	if (plan_add(plan, path.data, TAKE_PTR(before), TAKE_PTR(after), mode) < 0)
		return error_no_memory(error);
	return 0;
}

int containerd_plan_generated(const struct host *host, const struct engine *engine,
			      const struct config_files *files, const struct containerd_wish *wish,
			      struct configure_plan *plan, struct error *error)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
	autofree char *directory = NULL;

	if (is_k0s(engine))
		return plan_picked_up(host, files, wish, K0S_FILE, plan, error);
	if (!is_k3s(engine))
		return plan_microk8s(host, engine, wish, plan, error);
	int r = containerd_read(files, &facts, error);
	/* Before 2.1 a file of our own would hide all that k3s says of the section. */
	if (r == 0 && containerd_merges(engine))
		r = containerd_import_directory(files, &directory, error);
	if (r < 0)
		return r;
	if (!directory)
		return plan_template(host, engine, files, wish, &facts, plan, error);
	strbuf_addf(&path, "%s/99-nvidia.toml", directory);
	return strbuf_failed(&path) < 0 ? error_no_memory(error)
					: plan_picked_up(host, files, wish, path.data, plan, error);
}
