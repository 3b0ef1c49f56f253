/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/runtimes: one call of the runtime in a mount namespace of its own. */
#pragma once

#include "runtimes/runtimes.h"

#define SPAWN_SECONDS 120

struct spawn {
	const struct runtime *runtime;
	const char *const *arguments;              /* after the global options; ends with NULL */
	const struct runtime_container *container; /* create only: its root is prepared */
	int input, output, errors;                 /* -1: /dev/null */
	const char *log;                           /* file for the runtime's own messages */
	/* A blocked signal that waits for this process ends it. Not for what must be finished, and
	 * not for a start, after which the signal is the command's. */
	bool interruptible;
};

/*
 * Runs TASK in a child of this process, which ends as TASK does: 0 once it has ended with success or
 * has executed something else, and *ret_pid is still to be waited for; else the child's own error.
 */
int child_start(int (*task)(const void *data, struct error *error), const void *data,
		pid_t *ret_pid, struct error *error);

/* Starts it; *ret_pid is the runtime's process. Errors of the preparation come back as messages. */
int spawn_start(const struct spawn *spawn, pid_t *ret_pid, struct error *error);
/*
 * Waits for it; a status other than 0 becomes an error with the runtime's last message. Without an
 * answer for SPAWN_SECONDS, or at a SIGINT, SIGTERM, SIGHUP or SIGQUIT that the caller has blocked,
 * it is killed: -ETIMEDOUT, -ECANCELED.
 */
int spawn_wait(const struct spawn *spawn, pid_t pid, int *ret_status, struct error *error);

/* In the child: slaves all mounts and prepares the container's root. */
int root_prepare(const struct spawn *spawn, struct error *error);
