/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/configure.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "runtimes/configure_parts.h"
#include "runtimes/diff.h"

static const char *const restart_choice_table[RESTART_CHOICE_MAX] = {
	[RESTART_AUTO] = "auto",
	[RESTART_ALWAYS] = "always",
	[RESTART_NEVER] = "never",
};
DEFINE_STRING_TABLE(restart_choice, enum restart_choice, RESTART_CHOICE_MAX)

void configure_plan_release(struct configure_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		free(plan->changes[i].path);
		free(plan->changes[i].before);
		free(plan->changes[i].after);
	}
	free(plan->changes);
	string_list_release(&plan->notes);
	*plan = (struct configure_plan){ .changes = NULL };
}

int plan_add(struct configure_plan *plan, const char *path, char *before, char *after,
	     unsigned mode)
{
	autofree char *name = strdup(path);
	struct file_change *change =
		name ? VEC_ADD(&plan->changes, &plan->count, &plan->capacity) : NULL;

	if (!change) {
		free(before);
		free(after);
		return -ENOMEM;
	}
	*change = (struct file_change){ TAKE_PTR(name), before, after, mode };
	return 0;
}

static int check_wish(const struct runtime_wish *wish, struct error *error)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";

	for (size_t i = 0; i < wish->count; i++) {
		const struct runtime_entry *entry = &wish->entries[i];

		if (!*entry->name || entry->name[strspn(entry->name, letters)])
			return error_set(
				error, EINVAL,
				"\"%s\" is no name for a runtime; use letters, digits, '-', '_' "
				"and '.'",
				entry->name);
		if (entry->path[0] != '/')
			return error_set(
				error, EINVAL,
				"the path of the runtime %s must be absolute, and is \"%s\"",
				entry->name, entry->path);
	}
	return 0;
}

int configure_plan_make(const struct host *host, const struct engine *engine,
			const struct configure_options *options, struct configure_plan *ret,
			struct error *error)
{
	cleanup(configure_plan_release) struct configure_plan plan = { .changes = NULL };
	int r = check_wish(&options->wish, error);

	if (r == 0)
		r = engine_work(engine)->plan(host, engine, &options->wish, &plan, error);
	if (r < 0)
		return r;
	*ret = plan;
	plan = (struct configure_plan){ .changes = NULL };
	return 0;
}

bool text_is_same(const char *left, const char *right)
{
	return left && right ? strcmp(left, right) == 0 : left == right;
}

/* What FILE, which holds NOW, becomes when all of ours goes: *ret NULL means that it goes. */
static int undo_text(const struct engine *engine, const struct kept *kept,
		     const struct kept_file *file, const char *now, struct configure_plan *plan,
		     char **ret, struct error *error)
{
	struct runtime_wish wish = { .count = kept->runtime_count };
	autofree struct runtime_entry *entries = calloc(kept->runtime_count + 1, sizeof(*entries));
	autofree char *without = NULL;

	if (!entries)
		return error_no_memory(error);
	for (size_t i = 0; i < kept->runtime_count; i++)
		entries[i] =
			(struct runtime_entry){ kept->runtimes[i].name, kept->runtimes[i].path };
	wish.entries = entries;
	if (text_is_same(now, file->after)) {
		*ret = file->before ? strdup(file->before) : NULL;
		return file->before && !*ret ? error_no_memory(error) : 0;
	}
	int r = engine_work(engine)->remove(file->path, now, &wish, &without, error);
	if (r < 0)
		return r;
	if (string_list_addf(
		    &plan->notes,
		    "%s was changed by somebody else since: only our entries are taken out",
		    file->path) < 0)
		return error_no_memory(error);
	*ret = without && !*without ? NULL : strdup(without ? without : now);
	return without && !*without ? 0 : *ret ? 0 : error_no_memory(error);
}

static int undo_file(const struct host *host, const struct engine *engine, const struct kept *kept,
		     const struct kept_file *file, struct configure_plan *plan, struct error *error)
{
	autofree char *now = NULL, *then = NULL;
	unsigned mode = file->mode;
	int r = host_read(host, file->path, &now, &mode, error);

	if (r < 0 && r != -ENOENT)
		return r;
	/* Never changed (we were stopped before), put back by hand, or gone with all that was in it. */
	if (text_is_same(now, file->before) || !now)
		return 0;
	r = undo_text(engine, kept, file, now, plan, &then, error);
	if (r < 0 || text_is_same(now, then))
		return r;
	if (plan_add(plan, file->path, TAKE_PTR(now), TAKE_PTR(then), mode) < 0)
		return error_no_memory(error);
	return 0;
}

int configure_plan_undo(const struct host *host, const struct engine *engine,
			const struct configure_options *options, struct configure_plan *ret,
			struct error *error)
{
	cleanup(configure_plan_release) struct configure_plan plan = { .undo = true };
	cleanup(kept_release) struct kept kept = { .files = NULL };
	const char *state = options->state ? options->state : PATH_CONFIGURE;
	int r = kept_read(host, engine, state, &kept, error);

	if (r == -ENOENT)
		return error_set(
			error, ENOENT,
			"gpupool has changed nothing of %s here (there is no record in %s)",
			engine_kind_to_string(engine->kind), state);
	if (r < 0)
		return r;
	for (size_t i = kept.count; r == 0 && i-- > 0;)
		r = undo_file(host, engine, &kept, &kept.files[i], &plan, error);
	if (r < 0)
		return r;
	if (plan.count)
		plan.restart = engine->kind == ENGINE_DOCKER ? CONFIGURE_RELOAD : CONFIGURE_RESTART;
	*ret = plan;
	plan = (struct configure_plan){ .changes = NULL };
	return 0;
}

int configure_plan_diff(const struct configure_plan *plan, struct strbuf *out)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->count; i++)
		r = text_diff(plan->changes[i].path, plan->changes[i].before,
			      plan->changes[i].after, out);
	return r;
}
