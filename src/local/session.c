/* SPDX-License-Identifier: Apache-2.0 */
#include "local/private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int session_read_holders(struct local_session *session, struct error *error)
{
	int r = local_holders_read(local_run_directory(), &session->holders, error);
	if (r < 0 || session->options.dry_run)
		return r;
	r = leftovers_remove(local_run_directory(), &session->runtime, &session->holders, error);
	if (r < 0)
		return r;
	/* Again: what was made and never started is gone now. */
	local_holders_release(&session->holders);
	return local_holders_read(local_run_directory(), &session->holders, error);
}

static int session_fill_pool(struct local_session *session, struct error *error)
{
	struct node_spec node;
	char name[256];

	session->pool = pool_new();
	if (!session->pool)
		return error_no_memory(error);
	pool_withhold(session->pool, REQUEST_MIG); /* nothing makes instances here yet */
	local_node_name(name, sizeof(name));
	node_spec_init(&node); /* borrows both; the pool copies */
	node.name = name;
	node.inventory = session->inventory;
	int r = pool_add_node(session->pool, &node, error);
	if (r < 0)
		return r;
	return local_holders_hold(&session->holders, session->pool, error);
}

static int session_take_lock(struct local_session *session, void (*waiting)(const char *sentence),
			     struct reason *ret_reason, struct error *error)
{
	autostrbuf state = STRBUF_INIT(4096);

	strbuf_addf(&state, "%s/runtime", local_run_directory());
	if (strbuf_failed(&state) < 0)
		return error_set(error, ENAMETOOLONG, "the run directory's path is too long");
	int r = runtime_find(session->options.runtime, state.data, &session->runtime, ret_reason,
			     error);
	if (r < 0)
		return r;
	return lock_take(local_run_directory(), session->options.no_wait, waiting, &session->lock,
			 error);
}

/* Sockets and nodes apart, what a container needs of the driver's files changes with the driver. */
static int keep_files(const struct inventory *inventory, struct error *error)
{
	autostrbuf path = STRBUF_INIT(4096);

	if (inventory->problem[0] || !inventory->driver_version[0])
		return 0;
	strbuf_addf(&path, "%s/" NAME_DRIVER_FILES, local_run_directory());
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the run directory's path is too long");
	struct error own = ERROR_INIT;
	int r = driver_files_keep(path.data, inventory->driver_root, inventory->driver_version,
				  &own);
	/* Whoever needs a file that is not there says so. */
	return r == -ENOENT ? 0 : r < 0 ? error_set(error, -r, "%s", own.message) : 0;
}

/* The driver in the file at PATH is there as it was; that NEXT found none below another root, which a
 * slip of the pen may have named, must not take the cards from the containers that start next. */
static bool keeps_other_driver(const char *path, const struct inventory *next)
{
	cleanup(inventory_release) struct inventory old;

	inventory_init(&old);
	return next->problem[0] && device_inventory_read(path, &old, NULL) == 0 &&
	       !old.problem[0] && strcmp(old.driver_root, next->driver_root) != 0;
}

int local_inventory_publish(const struct inventory *inventory, struct error *error)
{
	autostrbuf path = STRBUF_INIT(4096);

	strbuf_addf(&path, "%s/" NAME_INVENTORY, local_run_directory());
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the run directory's path is too long");
	if (keeps_other_driver(path.data, inventory))
		return 0;
	int r = file_make_directories(local_run_directory(), 0755, error);
	if (r == 0)
		r = device_inventory_write(path.data, inventory, error);
	return r < 0 ? r : keep_files(inventory, error);
}

static int session_fill(struct local_session *session, void (*waiting)(const char *sentence),
			struct reason *ret_reason, struct error *error)
{
	int r = local_caller_find(&session->caller, error);
	if (r == 0 && !session->options.dry_run)
		r = session_take_lock(session, waiting, ret_reason, error);
	if (r == 0)
		r = session_read_holders(session, error);
	if (r == 0)
		r = device_probe(&session->options.device, &session->inventory, &session->driver,
				 error);
	if (r == 0 && !session->options.dry_run)
		r = local_inventory_publish(&session->inventory, error);
	if (r == 0) {
		local_holders_mark(&session->holders, &session->inventory);
		r = session_fill_pool(session, error);
	}
	return r;
}

int local_session_open(const struct local_options *options, void (*waiting)(const char *sentence),
		       struct local_session *ret, struct reason *ret_reason, struct error *error)
{
	struct local_session session = { .options = *options, .lock = -1 };

	inventory_init(&session.inventory);
	int r = session_fill(&session, waiting, ret_reason, error);
	if (r < 0) {
		local_session_close(&session);
		return r;
	}
	*ret = session;
	return 0;
}

static void job_release(struct local_job *job)
{
	grant_release(&job->grant);
	edit_plan_release(&job->plan);
	json_object_put(job->spec);
	free(job->id);
	free(job->bundle);
	free(job->image);
	free(job->working_directory);
	string_list_release(&job->host_targets);
	*job = (struct local_job){ .pid = 0 };
}

void local_session_end_jobs(struct local_session *session)
{
	for (size_t i = 0; i < session->job_count; i++) {
		struct local_job *job = &session->jobs[i];

		int r = 0;

		if (job->created) {
			runtime_delete(&session->runtime, job->id, NULL);
			r = container_clear(&session->runtime, job->id, NULL);
		}
		/* Its record goes last: by it the next command finds what could not be ended. */
		if (job->recorded && r == 0)
			bundle_remove(job->bundle, NULL);
		job->created = job->recorded = false;
	}
}

void local_session_close(struct local_session *session)
{
	local_session_end_jobs(session);
	for (size_t i = 0; i < session->job_count; i++)
		job_release(&session->jobs[i]);
	free(session->jobs);
	driver_files_free(session->files);
	pool_free(session->pool);
	local_holders_release(&session->holders);
	inventory_release(&session->inventory);
	local_caller_release(&session->caller);
	if (session->lock >= 0)
		close(session->lock);
	/* Last: a signal that waited acts now, when there is nothing left to clear away. */
	if (session->signals_blocked)
		sigprocmask(SIG_SETMASK, &session->signals, NULL);
	*session = (struct local_session){ .lock = -1 };
}

/* The placement as a grant: names of cards instead of positions. */
static int job_grant(const struct local_session *session, struct local_job *job,
		     struct error *error)
{
	const struct placement *placement = &job->placement;
	struct grant *grant = &job->grant;

	grant->namespace = strdup(job->pod->namespace);
	grant->pod = strdup(job->pod->name);
	grant->uid = strdup(job->pod->uid);
	grant->container = strdup(job->container->name);
	if (!grant->namespace || !grant->pod || !grant->uid || !grant->container)
		return error_no_memory(error);
	grant->kind = job->container->request.kind;
	grant->enforcement = grant->kind == REQUEST_SLICE ? ENFORCEMENT_NONE : ENFORCEMENT_WHOLE;
	for (unsigned i = 0; job->placed && i < placement->count; i++) {
		struct grant_card *card =
			VEC_ADD(&grant->cards, &grant->card_count, &grant->card_capacity);
		if (!card)
			return error_no_memory(error);
		snprintf(card->uuid, sizeof(card->uuid), "%s",
			 pool_card(session->pool, placement->node, placement->cards[i])->uuid);
		card->units = placement->units[i];
		card->memory_mib = placement->memory_mib[i];
		card->compute_percent = placement->compute_percent;
	}
	return 0;
}

static int job_name(struct local_job *job, size_t number, struct error *error)
{
	autostrbuf id = STRBUF_INIT(250), bundle = STRBUF_INIT(4096);

	strbuf_addf(&id, "%.40s-%.80s-%.63s-%d-%zu", job->pod->namespace, job->pod->name,
		    job->container->name, getpid(), number);
	strbuf_addf(&bundle, "%s/containers/%s", local_run_directory(), id.data);
	job->id = strbuf_detach(&id);
	job->bundle = strbuf_detach(&bundle);
	return job->id && job->bundle ? 0 : error_no_memory(error);
}

/* Cards of a driver that gives none may be listed, and each is sick; the driver is the reason. */
static int refuse_driver(const struct local_session *session, const struct request *request,
			 const char *object, struct reason *ret_reason, struct error *error)
{
	*ret_reason = session->driver;
	reason_text(ret_reason->object, sizeof(ret_reason->object), "%s", object);
	ret_reason->wanted = request->cards;
	ret_reason->total = (int64_t)session->inventory.card_count;
	return error_set(error, EAGAIN, "%s is refused", object);
}

static int job_place(struct local_session *session, struct local_job *job,
		     struct reason *ret_reason, struct error *error)
{
	const struct request *request = &job->container->request;
	char object[REASON_TEXT_MAX];
	struct decision decision;
	struct demand demand;

	if (request->kind != REQUEST_NONE) {
		container_object(job->pod, job->container, object, sizeof(object));
		if (session->driver.code != REASON_NONE)
			return refuse_driver(session, request, object, ret_reason, error);
		demand_borrow_request(request, object, &demand);
		int r = pool_decide(session->pool, &demand, &decision, ret_reason);
		if (r < 0)
			return error_set(error, -r, "%s is refused", object);
		job->placement = decision.placements[0];
		r = pool_hold(session->pool, &demand, &decision, &job->hold);
		if (r < 0)
			return error_set_errno(error, -r, "cannot hold the cards of %s", object);
		job->placed = true;
	}
	return job_grant(session, job, error);
}

int local_session_place(struct local_session *session, const struct pod *pods, size_t count,
			struct reason *ret_reason, struct error *error)
{
	for (size_t p = 0; p < count; p++) {
		for (size_t c = 0; c < pods[p].container_count; c++) {
			struct local_job *job = VEC_ADD(&session->jobs, &session->job_count,
							&session->job_capacity);
			if (!job)
				return error_no_memory(error);
			job->pod = &pods[p];
			job->container = &pods[p].containers[c];
			for (int i = 0; i < 3; i++)
				job->standard[i] = i;
			int r = job_name(job, session->job_count, error);
			if (r == 0)
				r = job_place(session, job, ret_reason, error);
			if (r < 0)
				return r;
		}
	}
	return 0;
}
