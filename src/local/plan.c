/* SPDX-License-Identifier: Apache-2.0 */
/* Grants to edits to specs: all that happens before the first container is made. */
#include "local/private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int job_choose_image(const struct local_session *session, struct local_job *job,
			    struct error *error)
{
	const char *image = session->options.image;
	char resolved[PATH_MAX];

	if (!image || strcmp(image, "host") == 0)
		return 0;
	if (!realpath(image, resolved))
		return error_set_errno(
			error, errno,
			"cannot find the image directory %s; give host or a directory", image);
	/* A layer over the root that everybody works on would show a mix of old and new files. */
	if (strcmp(resolved, "/") == 0)
		return error_set(error, EINVAL,
				 "the image %s is this machine's own root; write --image host",
				 image);
	job->image = strdup(resolved);
	return job->image ? 0 : error_no_memory(error);
}

static int job_capabilities(const struct local_session *session, const struct local_job *job,
			    unsigned *ret, struct error *error)
{
	const char *text = NULL;

	if (session->options.capabilities) {
		*ret = session->options.capabilities;
		return 0;
	}
	for (size_t i = 0; i < job->container->environment_count; i++)
		if (strcmp(job->container->environment[i].name, "NVIDIA_DRIVER_CAPABILITIES") == 0)
			text = job->container->environment[i].value;
	if (capabilities_parse(text, ret, error) < 0)
		return error_wrap(error, "NVIDIA_DRIVER_CAPABILITIES");
	return 0;
}

/* The driver's files that some job with a card needs; none without such a job or a driver. */
static int session_find_files(struct local_session *session, struct error *error)
{
	const struct inventory *inventory = &session->inventory;
	unsigned capabilities = 0;

	if (session->files || inventory->problem[0] || !inventory->driver_version[0])
		return 0;
	for (size_t i = 0; i < session->job_count; i++) {
		unsigned wanted = 0;
		int r = session->jobs[i].placed
				? job_capabilities(session, &session->jobs[i], &wanted, error)
				: 0;
		if (r < 0)
			return r;
		capabilities |= wanted;
	}
	if (!capabilities)
		return 0;
	autostrbuf kept = STRBUF_INIT(PATH_MAX - 1);
	strbuf_addf(&kept, "%s/" NAME_DRIVER_FILES, local_run_directory());
	return driver_files_find_kept(kept.data, inventory->driver_root, NULL,
				      inventory->driver_version, capabilities, &session->files,
				      error);
}

static int job_inject(const struct local_session *session, struct local_job *job, int root,
		      struct reason *ret_reason, struct error *error)
{
	const struct grant *grants[] = { &job->grant };
	struct injection injection = {
		.inventory = &session->inventory,
		.grants = grants,
		.grant_count = job->placed ? 1 : 0,
		.files = session->files,
		.target = job->image ? INJECT_IMAGE : INJECT_HOST,
		.root_fd = root,
		.spec = job->spec,
		.uid = session->caller.uid,
		.gid = session->caller.gid,
	};

	int r = job_capabilities(session, job, &injection.capabilities, error);
	if (r < 0)
		return r;
	r = edit_plan_build(&injection, &job->plan, ret_reason, error);
	if (r < 0)
		return r;
	r = edit_plan_apply_oci(&job->plan, job->spec, error);
	return r < 0 ? r : edit_plan_host_targets(&job->plan, &job->host_targets, error);
}

static int job_plan(struct local_session *session, struct local_job *job, struct reason *ret_reason,
		    struct error *error)
{
	int r = job_choose_image(session, job, error);
	if (r < 0)
		return r;
	const char *path = job->image ? job->image : "/";
	autoclose int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return error_set_errno(error, errno, "cannot open the image directory %s", path);
	container_object(job->pod, job->container, ret_reason->object, sizeof(ret_reason->object));
	r = bundle_spec(session, job, error);
	return r < 0 ? r : job_inject(session, job, root, ret_reason, error);
}

int local_session_plan(struct local_session *session, struct reason *ret_reason,
		       struct error *error)
{
	int r = session_find_files(session, error);

	if (r < 0)
		return r;
	for (size_t i = 0; i < session->job_count; i++) {
		struct local_job *job = &session->jobs[i];

		r = job_plan(session, job, ret_reason, error);

		if (r < 0)
			return error_wrap(error, "container %s of Pod %s/%s", job->container->name,
					  job->pod->namespace, job->pod->name);
	}
	return 0;
}
