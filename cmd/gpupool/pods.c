/* SPDX-License-Identifier: Apache-2.0 */
/* What run and apply share: Pods to containers, all at once. */
#include "gpupool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAN_TEXT_MAX  (1u << 22)
#define CONTAINERS_MAX 256 /* at once: each has a process, pipes and mounts */

static void session_options(const struct common_options *common, struct local_options *ret)
{
	*ret = (struct local_options){
		.device = { .driver_root = common->driver_root },
		.runtime = common->runtime,
		.image = common->image,
		.dry_run = common->dry_run,
		.no_wait = common->no_wait,
	};
}

static void say_waiting(const char *sentence)
{
	say("waiting: %s", sentence);
}

void pods_free(struct pod *pods, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pod_release(&pods[i]);
	free(pods);
}

int pods_from_stream(const struct yaml_stream *stream, struct pod **ret, size_t *ret_count,
		     struct reason *ret_reason, struct error *error)
{
	struct pod *pods = NULL;
	size_t count = 0, capacity = 0, containers = 0;
	int r = 0;

	if (!stream->count)
		return error_set(error, EINVAL, "%s holds no document; write a Pod into it",
				 stream->name);
	for (size_t i = 0; r == 0 && i < stream->count; i++) {
		struct pod *pod = VEC_ADD(&pods, &count, &capacity);
		if (!pod) {
			r = error_no_memory(error);
			break;
		}
		r = pod_from_json(stream->documents[i], stream->name, pod, ret_reason, error);
		if (r < 0) {
			count--;
			break;
		}
		containers += pod->container_count;
		if (containers > CONTAINERS_MAX)
			r = error_set(error, E2BIG,
				      "%s:%u: more than %d containers, the most that run at once; "
				      "split the file",
				      stream->name, stream->lines[i], CONTAINERS_MAX);
	}
	if (r < 0) {
		pods_free(pods, count);
		return r;
	}
	*ret = pods;
	*ret_count = count;
	return 0;
}

int pods_read(const char *path, struct pod **ret, size_t *ret_count, struct reason *ret_reason,
	      struct error *error)
{
	autoyaml stream = { .name = NULL };

	int r = yaml_read_file(path, &stream, error);
	return r < 0 ? r : pods_from_stream(&stream, ret, ret_count, ret_reason, error);
}

/* A printed plan brings its own notes. */
static void print_notes(const struct local_session *session, bool plans)
{
	for (size_t i = 0; i < session->job_count; i++) {
		const struct local_job *job = &session->jobs[i];

		if (!i || session->jobs[i - 1].pod != job->pod)
			for (size_t k = 0; k < job->pod->notes.count; k++)
				say("note: %s", job->pod->notes.items[k]);
		if (!job->image && job->container->image &&
		    strcmp(job->container->image, "host") != 0)
			say("note: image %s of container %s is mapped to host, this machine's root",
			    job->container->image, job->container->name);
		for (size_t k = 0; !plans && k < job->plan.notes.count; k++)
			say("note: %s", job->plan.notes.items[k]);
	}
}

static void print_plans(const struct local_session *session)
{
	for (size_t i = 0; i < session->job_count; i++) {
		autostrbuf plan = STRBUF_INIT(PLAN_TEXT_MAX);

		print_grant(session, &session->jobs[i], stdout);
		edit_plan_print(&session->jobs[i].plan, &plan);
		print_text(stdout, "%s", plan.data);
	}
}

static int job_json(const struct local_job *job, struct json_object *array, struct error *error)
{
	autojson *object = json_object_new_object();
	struct json_object *grant = NULL, *plan = NULL;

	if (!object)
		return error_no_memory(error);
	int r = grant_to_json(&job->grant, &grant, error);
	if (r < 0 || json_add(object, "grant", grant) < 0)
		return r < 0 ? r : error_no_memory(error);
	r = edit_plan_to_json(&job->plan, &plan, error);
	if (r < 0 || json_add(object, "plan", plan) < 0)
		return r < 0 ? r : error_no_memory(error);
	if (job->ended && WIFEXITED(job->status) &&
	    json_add_int(object, "exitStatus", WEXITSTATUS(job->status)) < 0)
		return error_no_memory(error);
	if (job->ended && WIFSIGNALED(job->status) &&
	    json_add_int(object, "exitSignal", WTERMSIG(job->status)) < 0)
		return error_no_memory(error);
	return json_append(array, TAKE_PTR(object)) < 0 ? error_no_memory(error) : 0;
}

static int print_jobs_json(const struct local_session *session)
{
	autojson *object = json_object_new_object();
	struct json_object *array = json_object_new_array();
	struct error error = ERROR_INIT;

	if (!object || !array || json_add(object, "containers", array) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	for (size_t i = 0; i < session->job_count; i++)
		if (job_json(&session->jobs[i], array, &error) < 0)
			return fail(EXIT_FAILED, &error);
	return print_json(object);
}

struct prefixes {
	pid_t *pids;
	size_t count;
};

static int jobs_prefix(struct local_session *session, const struct common_options *common,
		       struct prefixes *prefixes, struct error *error)
{
	prefixes->pids = calloc(session->job_count * 2, sizeof(*prefixes->pids));
	if (!prefixes->pids)
		return error_no_memory(error);
	for (size_t i = 0; i < session->job_count; i++) {
		struct local_job *job = &session->jobs[i];
		autostrbuf prefix = STRBUF_INIT(1024);

		strbuf_addf(&prefix, "%s/%s", job->pod->name, job->container->name);
		job->standard[0] = -1;
		for (int fd = 1; fd <= 2; fd++) {
			int r = prefix_start(prefix.data, common->json ? 2 : fd, &job->standard[fd],
					     &prefixes->pids[prefixes->count], error);
			if (r < 0)
				return r;
			prefixes->count++;
		}
	}
	return 0;
}

static void jobs_close_pipes(struct local_session *session)
{
	for (size_t i = 0; i < session->job_count; i++)
		for (int fd = 1; fd <= 2; fd++)
			if (session->jobs[i].standard[fd] > 2) {
				close(session->jobs[i].standard[fd]);
				session->jobs[i].standard[fd] = -1;
			}
}

static int jobs_make_and_wait(struct local_session *session, const struct pods_view *view,
			      struct error *error)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < session->job_count; i++)
		r = local_job_create(session, &session->jobs[i], error);
	jobs_close_pipes(session);
	if (r == 0 && view->look)
		r = view->look(session, view->data, error);
	for (size_t i = 0; r == 0 && i < session->job_count; i++)
		r = local_job_start(session, &session->jobs[i], error);
	return r == 0 ? local_session_wait(session, error) : r;
}

/* One container: its command's status, as a shell gives it. Several: 0 if all ended with 0. */
static int jobs_status(const struct local_session *session)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < session->job_count; i++) {
		const struct local_job *job = &session->jobs[i];
		int status = WIFEXITED(job->status) ? WEXITSTATUS(job->status)
						    : 128 + WTERMSIG(job->status);

		if (session->job_count == 1)
			return status;
		if (status) {
			say("container %s of Pod %s/%s ended with %d", job->container->name,
			    job->pod->namespace, job->pod->name, status);
			code = EXIT_FAILED;
		}
	}
	return code;
}

/* As a shell gives it: 127 for a command that is not there, 126 for one that cannot be executed. */
static int not_started(const struct local_session *session, int result, const struct error *error)
{
	int code = result == -ESRCH ? 127 : result == -ENOEXEC ? 126 : EXIT_FAILED;

	fail(code, error);
	return session->job_count == 1 ? code : EXIT_FAILED;
}

static int session_run(struct local_session *session, const struct common_options *common,
		       const struct pods_view *view)
{
	struct prefixes prefixes = { .count = 0 };
	struct error error = ERROR_INIT;
	int r = 0;

	for (size_t i = 0; !view->plans && i < session->job_count; i++) {
		if (view->inherit)
			say_grant(session, &session->jobs[i]);
		else
			print_grant(session, &session->jobs[i], stderr);
	}
	fflush(stdout);
	if (session->job_count > 1 || common->json)
		r = jobs_prefix(session, common, &prefixes, &error);
	if (r == 0)
		r = jobs_make_and_wait(session, view, &error);
	jobs_close_pipes(session);
	/* A container that was made and will not be started keeps the pipes open, for ever. */
	if (r < 0)
		local_session_end_jobs(session);
	for (size_t i = 0; i < prefixes.count; i++)
		waitpid(prefixes.pids[i], NULL, 0);
	free(prefixes.pids);
	if (r < 0)
		return not_started(session, r, &error);
	int code = jobs_status(session);
	if (common->json && print_jobs_json(session) != EXIT_DONE)
		return EXIT_FAILED;
	return code;
}

/* Up to the plan. EXIT_DONE, or the exit code after the reason or error was printed. */
static int session_prepare(struct local_session *session, const struct common_options *common,
			   const struct pod *pods, size_t count)
{
	struct reason reason = { .code = REASON_NONE };
	struct error error = ERROR_INIT;

	int r = local_session_place(session, pods, count, &reason, &error);
	if (r < 0 && reason.code != REASON_NONE && session->job_count)
		local_scheduler_sentence(session->pool,
					 &session->jobs[session->job_count - 1].container->request,
					 &reason);
	if (r == 0)
		r = local_session_plan(session, &reason, &error);
	if (r == 0)
		return EXIT_DONE;
	return reason.code != REASON_NONE ? refuse(common, r, &reason, NULL)
					  : fail(EXIT_FAILED, &error);
}

static int session_show_and_run(struct local_session *session, const struct common_options *common,
				const struct pods_view *view, bool dry_run)
{
	bool plans = (dry_run || view->plans) && !common->json;

	print_notes(session, plans);
	if (plans)
		print_plans(session);
	if (!dry_run)
		return session_run(session, common, view);
	return common->json ? print_jobs_json(session) : EXIT_DONE;
}

int pods_run(const struct common_options *common, const struct pod *pods, size_t count,
	     const struct pods_view *view)
{
	struct local_options options;
	struct local_session session;
	struct reason reason = { .code = REASON_NONE };
	struct error error = ERROR_INIT, rights = ERROR_INIT;

	session_options(common, &options);
	options.inherit = view->inherit;
	if (runtime_check_name(options.runtime, &error) < 0)
		return fail(EXIT_USAGE, &error);
	/* Without the right to make containers: whether the Pods fit, the plan where the caller
	 * wants to see it, and what is missing. */
	if (!options.dry_run && runtime_check_rights(&rights) < 0)
		options.dry_run = true;
	int r = local_session_open(&options, say_waiting, &session, &reason, &error);
	if (r < 0) {
		if (reason.code != REASON_NONE)
			return refuse(common, r, &reason, NULL);
		return fail(r == -EBUSY ? EXIT_WAITING : EXIT_FAILED, &error);
	}
	int code = session_prepare(&session, common, pods, count);
	if (code == EXIT_DONE && (!rights.number || view->plans))
		code = session_show_and_run(&session, common, view, options.dry_run);
	local_session_close(&session);
	if (!rights.number || code != EXIT_DONE)
		return code;
	if (!view->plans)
		error_wrap(&rights, "nothing was run (--dry-run shows the plan)");
	return fail(EXIT_RIGHTS, &rights);
}
