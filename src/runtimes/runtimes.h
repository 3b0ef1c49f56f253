/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's container runtimes: find one, and run one container with it in the steps create,
 * start, delete, so that a caller can look at the finished container before its command runs.
 *
 * Every call of the runtime happens in a mount namespace of its own (all mounts of the host as
 * slaves), with a fixed environment and no descriptors but the container's three: nothing of what
 * is mounted here is seen on the host, and nothing is left behind when the container ends.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/base.h"
#include "model/model.h"
#include "runtimes/configure.h"
#include "runtimes/diff.h"
#include "runtimes/engines.h"
#include "runtimes/host.h"
#include "runtimes/report.h"

struct runtime {
	char name[16];   /* "runc" or "crun" */
	char path[256];  /* absolute */
	char state[256]; /* directory for the runtime's own state, made when missing */
};

/*
 * NAME "runc", "crun" or an absolute path; NULL takes the first of runc, crun. Only the system's
 * own directories are searched, never PATH. STATE is the directory for the runtime's state.
 * -ENOENT with *ret_reason (may be NULL) when there is none; -EINVAL for another name.
 */
int runtime_find(const char *name, const char *state, struct runtime *ret,
		 struct reason *ret_reason, struct error *error);
/* -EINVAL: NAME is none that runtime_find() knows, wherever it is asked. NULL is fine. */
int runtime_check_name(const char *name, struct error *error);

struct runtime_container {
	const char *id;     /* letters, digits, '-', '_', '.' */
	const char *bundle; /* absolute; holds config.json and an empty directory rootfs */
	/* NULL: this machine's root, bound recursively as slave at <bundle>/rootfs. Else the image's
	 * directory: the lower layer of an overlay at <bundle>/rootfs whose upper layer is a tmpfs,
	 * so that nothing is ever written into it. */
	const char *image;
	/* Files below PATH_HOST_DRIVER that the spec mounts over: they are made, empty, in a tmpfs
	 * that only this container sees. Empty: no tmpfs. */
	const struct string_list *host_targets;
	int input, output, errors; /* the container's descriptors 0, 1, 2; not taken over */
};

/*
 * Makes the container up to the point where its command would run. The caller becomes a child
 * subreaper, so that *ret_pid, the container's first process, is its child to wait for. -ESRCH when
 * there is no such command in the container, -ENOEXEC when it cannot be executed; the runtime has
 * then said so on the container's standard error.
 */
int runtime_create(const struct runtime *runtime, const struct runtime_container *container,
		   pid_t *ret_pid, struct error *error);
int runtime_start(const struct runtime *runtime, const char *id, struct error *error);
/* Runs ARGV (ends with NULL) inside the container; *ret is what it printed (at most 1 MiB,
 * free()), *ret_status its wait status. */
int runtime_exec(const struct runtime *runtime, const char *id, const char *const *argv, char **ret,
		 int *ret_status, struct error *error);
/* Kills what is left of it and forgets it; an unknown container is success. */
int runtime_delete(const struct runtime *runtime, const char *id, struct error *error);

/*
 * What the runtime itself cannot clear away, because it was killed or lost its state: kills all
 * processes in cgroup GROUP ("/gpupool/<id>") of every hierarchy, removes those cgroups and the
 * runtime's state and log of ID. Nothing there is success.
 */
int runtime_clear(const struct runtime *runtime, const char *id, const char *group,
		  struct error *error);

/*
 * Whether containers can be made here: 0, or -EPERM with a message that names the missing right
 * ("mount namespaces need CAP_SYS_ADMIN"). Tries it in a child; changes nothing.
 */
int runtime_check_rights(struct error *error);
