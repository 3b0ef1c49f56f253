/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "runtimes/configure_parts.h"

static int check_fresh(const struct host *host, const struct configure_plan *plan,
		       struct error *error)
{
	for (size_t i = 0; i < plan->count; i++) {
		autofree char *now = NULL;
		int r = host_read(host, plan->changes[i].path, &now, NULL, error);

		if (r < 0 && r != -ENOENT)
			return r;
		if (!text_is_same(now, plan->changes[i].before))
			return error_set(
				error, ESTALE,
				"%s has changed since the plan was made; nothing was written, "
				"try again",
				plan->changes[i].path);
	}
	return 0;
}

static int put(const struct host *host, const char *path, const char *text, unsigned mode,
	       struct error *error)
{
	return text ? host_write(host, path, text, mode, error) : host_remove(host, path, error);
}

/* A file that is as it was needs no writing, which may be what failed. */
static bool is_as_before(const struct host *host, const struct file_change *change)
{
	autofree char *now = NULL;
	int r = host_read(host, change->path, &now, NULL, NULL);

	return (r == 0 || r == -ENOENT) && text_is_same(now, change->before);
}

/* The first COUNT changes, taken back in reverse; the first failure is told, the others still go. */
static int put_back(const struct host *host, const struct configure_plan *plan, size_t count,
		    struct error *error)
{
	int first = 0;

	for (size_t i = count; i-- > 0;) {
		const struct file_change *change = &plan->changes[i];
		int r = is_as_before(host, change) ? 0
						   : put(host, change->path, change->before,
							 change->mode, first < 0 ? NULL : error);

		if (r < 0 && first == 0)
			first = r;
	}
	return first;
}

/* ERROR has what went wrong first; a failed way back is said, too. */
static int give_up(const struct host *host, const struct configure_plan *plan, size_t count,
		   int result, struct error *error)
{
	struct error second = ERROR_INIT, first = error ? *error : second;

	if (put_back(host, plan, count, &second) < 0)
		return error_set(error, -result, "%s; and the files could not be put back: %s",
				 first.message, second.message);
	return error_set(error, -result, "%s; all files are as before", first.message);
}

static int write_files(const struct host *host, const struct configure_plan *plan,
		       struct error *error)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct file_change *change = &plan->changes[i];
		int r = put(host, change->path, change->after, change->mode, error);

		/* The name may have changed over although its directory is not on disk yet. */
		if (r < 0)
			return give_up(host, plan, i + 1, r, error);
	}
	return 0;
}

/* By its own words: are the runtimes there that we asked for? */
static int check_facts(const struct runtime_facts *facts, const struct runtime_wish *wish,
		       struct error *error)
{
	for (size_t i = 0; i < wish->count; i++) {
		const struct runtime_entry *entry = &wish->entries[i];
		const struct runtime_fact *fact = runtime_facts_find(facts, entry->name);
		bool there = fact && fact->path && strcmp(fact->path, entry->path) == 0;

		if (!there)
			return error_set(
				error, EBADMSG,
				"its program does not see the runtime %s with %s in the files "
				"that were written (it sees %s)",
				entry->name, entry->path,
				!fact        ? "no such runtime"
				: fact->path ? fact->path
					     : "one without a path");
	}
	return 0;
}

/* *LATER: the engine's files tell only after its next start. */
static int verify(const struct host *host, const struct engine *engine,
		  const struct configure_options *options, const struct configure_plan *plan,
		  struct string_list *notes, bool *later, struct error *error)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	struct error said = ERROR_INIT;
	int r = engine_work(engine)->verify(host, engine, &facts, &said);

	*later = r == -EAGAIN;
	if (*later)
		return 0;
	if (r == -EOPNOTSUPP) {
		if (string_list_addf(notes, "%s", said.message) < 0)
			return error_no_memory(error);
		r = engine_work(engine)->read(host, engine, &facts, &said);
	}
	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r < 0)
		return error_set(error, EBADMSG, "%s does not understand its files: %s",
				 engine_kind_to_string(engine->kind), said.message);
	return plan->undo ? 0 : check_facts(&facts, &options->wish, error);
}

static int verify_started(const struct host *host, const struct engine *engine,
			  const struct configure_options *options,
			  const struct configure_plan *plan, struct error *error)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	int r = engine_work(engine)->read(host, engine, &facts, error);

	return r < 0 || plan->undo ? r : check_facts(&facts, &options->wish, error);
}

/* What has to be said instead of a restart; NULL: it can be done. */
static const char *why_no_restart(const struct engine *engine,
				  const struct configure_options *options,
				  const struct configure_plan *plan)
{
	if (options->restart == RESTART_NEVER)
		return "as asked for";
	if (!engine->pid)
		return "since it does not run";
	if (!engine->service)
		return "since it is no unit of systemd";
	if (plan->ends_containers && options->restart == RESTART_AUTO)
		return "since that ends its running containers (--restart always does it, and "
		       "live-restore in its file keeps them)";
	return NULL;
}

static int restart(const struct host *host, const struct engine *engine,
		   const struct configure_options *options, const struct configure_plan *plan,
		   struct string_list *notes, bool later, struct error *error)
{
	const char *why = why_no_restart(engine, options, plan);
	struct error said = ERROR_INIT;

	if (why)
		return string_list_addf(
			       notes,
			       "%s was not %s, %s; until then it does not know of the change",
			       engine->service ? engine->service
					       : engine_kind_to_string(engine->kind),
			       plan->restart == CONFIGURE_RELOAD ? "reloaded" : "restarted",
			       why) < 0
			       ? error_no_memory(error)
			       : 0;
	int r = service_restart(host, engine, plan->restart, &said);
	if (r == 0 && later)
		r = verify_started(host, engine, options, plan, &said);
	if (r == 0)
		return 0;
	/* Whatever is wrong, the daemon is wanted more than the runtime. */
	error_set(error, EIO, "%s", said.message);
	give_up(host, plan, plan->count, -EIO, error);
	r = service_restart(host, engine, CONFIGURE_RESTART, &said);
	return error_wrap(error, "%s",
			  r == 0 ? "the daemon was restarted as it was before"
				 : "the daemon does not come back as it was before, either; "
				   "see its log");
}

/* The record of an earlier call, once more as it was; or none. */
static void put_record_back(const struct host *host, const struct engine *engine,
			    const char *directory, const struct kept *earlier)
{
	if (earlier->count)
		(void)kept_write(host, engine, directory, earlier, NULL);
	else
		(void)kept_remove(host, engine, directory, NULL);
}

static int keep(const struct host *host, const struct engine *engine,
		const struct configure_options *options, const struct configure_plan *plan,
		const char *directory, struct kept *earlier, struct error *error)
{
	cleanup(kept_release) struct kept kept = { .files = NULL };
	int r = kept_read(host, engine, directory, earlier, error);

	if (r == 0)
		r = kept_read(host, engine, directory, &kept, error);
	if (r < 0 && r != -ENOENT)
		return r;
	if (plan->undo)
		return 0;
	r = kept_add(&kept, engine, plan, &options->wish, error);
	return r < 0 ? r : kept_write(host, engine, directory, &kept, error);
}

/* Files, the engine's word, the start. */
static int carry_out(const struct host *host, const struct engine *engine,
		     const struct configure_options *options, const struct configure_plan *plan,
		     struct string_list *notes, struct error *error)
{
	bool later = false;
	int r = write_files(host, plan, error);

	if (r < 0)
		return r;
	r = verify(host, engine, options, plan, notes, &later, error);
	if (r < 0)
		return give_up(host, plan, plan->count, r, error);
	return restart(host, engine, options, plan, notes, later, error);
}

int configure_apply(const struct host *host, const struct engine *engine,
		    const struct configure_options *options, const struct configure_plan *plan,
		    struct string_list *notes, struct error *error)
{
	const char *directory = options->state ? options->state : PATH_CONFIGURE;
	cleanup(kept_release) struct kept earlier = { .files = NULL };

	if (plan->count == 0 && !plan->undo)
		return 0;
	autoclose int lock = host_lock(host, directory, error);
	if (lock < 0)
		return lock;
	int r = check_fresh(host, plan, error);
	if (r < 0)
		return r;
	if (plan->count == 0)
		return kept_remove(host, engine, directory, error);
	r = keep(host, engine, options, plan, directory, &earlier, error);
	if (r < 0)
		return r;
	r = carry_out(host, engine, options, plan, notes, error);
	if (r == 0 && plan->undo)
		return kept_remove(host, engine, directory, error);
	/* As long as a file of ours is there, so is the way back. */
	if (r < 0 && !plan->undo && check_fresh(host, plan, NULL) == 0)
		put_record_back(host, engine, directory, &earlier);
	return r;
}
