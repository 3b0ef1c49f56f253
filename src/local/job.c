/* SPDX-License-Identifier: Apache-2.0 */
/* A job from its bundle to its end. */
#include "local/private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/formats.h"

/* Passed on to the containers; blocked from the first container on, so that none is forgotten. */
static const int signals_passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

#define PATIENCE 3 /* signals of ours until the containers are killed */

static void signals_block(struct local_session *session, sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(signals_passed_on); i++)
		sigaddset(ret, signals_passed_on[i]);
	if (session->signals_blocked)
		return;
	session->signals_blocked = sigprocmask(SIG_BLOCK, ret, &session->signals) == 0;
}

static int job_write_bundle(struct local_job *job, struct error *error)
{
	autostrbuf path = STRBUF_INIT(4096);

	strbuf_addf(&path, "%s/containers", local_run_directory());
	int r = file_make_directories(path.data, 0755, error);
	if (r < 0)
		return r;
	/* The number of a process comes back: its namesake may still run and hold cards. */
	if (mkdir(job->bundle, 0755) < 0)
		return error_set_errno(error, errno, "cannot make the directory %s", job->bundle);
	job->recorded = true;
	strbuf_reset(&path);
	strbuf_addf(&path, "%s/rootfs", job->bundle);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the path of container %s is too long",
				 job->id);
	r = file_make_directories(path.data, 0755, error);
	if (r == 0)
		r = holder_write(job, error);
	if (r < 0)
		return r;
	strbuf_reset(&path);
	strbuf_addf(&path, "%s/config.json", job->bundle);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the path of container %s is too long",
				 job->id);
	return oci_spec_write(path.data, job->spec, error);
}

/* The runtime's own message stands on standard error already: what to do, instead of it again. */
static int job_not_created(const struct local_job *job, int result, struct error *error)
{
	const struct container *container = job->container;
	const struct string_list *words =
		container->command.count ? &container->command : &container->arguments;
	const char *command = words->count ? words->items[0] : "";

	if (result == -ESRCH)
		return error_set(error, ESRCH,
				 "container %s of Pod %s/%s: there is no command %s in it; check "
				 "the name, PATH and the image",
				 container->name, job->pod->namespace, job->pod->name, command);
	if (result == -ENOEXEC)
		return error_set(error, ENOEXEC,
				 "container %s of Pod %s/%s: %s cannot be executed; it must be a "
				 "program of this machine's kind that the user may execute",
				 container->name, job->pod->namespace, job->pod->name, command);
	return error_wrap(error, "container %s of Pod %s/%s", container->name, job->pod->namespace,
			  job->pod->name);
}

int local_job_create(struct local_session *session, struct local_job *job, struct error *error)
{
	sigset_t set;

	signals_block(session, &set);
	int r = job_write_bundle(job, error);
	if (r < 0)
		return r;
	struct runtime_container container = {
		.id = job->id,
		.bundle = job->bundle,
		.image = job->image,
		.host_targets = &job->host_targets,
		.input = job->standard[0],
		.output = job->standard[1],
		.errors = job->standard[2],
	};
	/* From here on there may be something to delete, whatever the runtime says. */
	job->created = true;
	r = runtime_create(&session->runtime, &container, &job->pid, error);
	if (r < 0)
		return job_not_created(job, r, error);
	return holder_write(job, error);
}

int local_job_start(struct local_session *session, struct local_job *job, struct error *error)
{
	int r = runtime_start(&session->runtime, job->id, error);

	return r < 0 ? error_wrap(error, "container %s of Pod %s/%s", job->container->name,
				  job->pod->namespace, job->pod->name)
		     : 0;
}

static size_t jobs_reap(struct local_session *session)
{
	size_t running = 0;

	for (size_t i = 0; i < session->job_count; i++) {
		struct local_job *job = &session->jobs[i];

		if (job->pid <= 0 || job->ended)
			continue;
		pid_t got = waitpid(job->pid, &job->status, WNOHANG);
		if (got != job->pid && !(got < 0 && errno == ECHILD)) {
			running++;
			continue;
		}
		job->ended = true;
		if (got < 0) /* somebody else took its status, and 0 would be a claim */
			job->status = W_EXITCODE(EXIT_FAILURE, 0);
		else if (job->ended_by && WIFSIGNALED(job->status))
			job->status = job->ended_by;
	}
	return running;
}

/* Whether bit NUMBER - 1 is set in the mask that /proc/<pid>/status shows under KEY. */
static bool signal_in_mask(const char *status, const char *key, int number)
{
	const char *at = strstr(status, key);

	return at && (strtoull(at + strlen(key), NULL, 16) >> (number - 1)) & 1;
}

/*
 * The first process of a PID namespace is spared by every signal that it has no handler for
 * (pid_namespaces(7)), so a Ctrl-C on `gpupool run sleep 60` would do nothing. What the default
 * action would have done elsewhere, SIGKILL does here, and the status says which signal it was.
 */
static void job_signal(struct local_job *job, int number)
{
	autofree char *status = NULL;

	if (process_read(job->pid, "status", &status, NULL) < 0)
		return;
	bool handled = signal_in_mask(status, "\nSigCgt:", number) ||
		       signal_in_mask(status, "\nSigIgn:", number);
	if (!handled && !job->ended_by)
		job->ended_by = number;
	kill(job->pid, handled ? number : SIGKILL);
}

static void jobs_signal(struct local_session *session, int number)
{
	for (size_t i = 0; i < session->job_count; i++)
		if (session->jobs[i].pid > 0 && !session->jobs[i].ended)
			job_signal(&session->jobs[i], number);
}

int local_session_wait(struct local_session *session, struct error *error)
{
	sigset_t set;
	unsigned signals = 0;

	signals_block(session, &set);
	while (jobs_reap(session) > 0) {
		int number = sigwaitinfo(&set, NULL);

		if (number < 0 && errno != EINTR)
			return error_set_errno(error, errno, "cannot wait for the containers");
		if (number <= 0 || number == SIGCHLD)
			continue;
		jobs_signal(session, ++signals < PATIENCE ? number : SIGKILL);
	}
	return 0;
}
