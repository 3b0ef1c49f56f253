/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/local. */
#pragma once

#include <dirent.h>

#include "local/local.h"

#define CGROUP_PARENT "/gpupool"

/* The whole of /proc/PID/NAME; *ret is the caller's. */
int process_read(pid_t pid, const char *name, char **ret, struct error *error);

/* Start time of a process in clock ticks since boot, its identity beside the number; 0: gone. */
uint64_t process_start(pid_t pid);

/* Writes <bundle>/grant.json: what the job holds, its owner, and its process once there is one. */
int holder_write(const struct local_job *job, struct error *error);

/* Exclusive lock of the pool; *ret is its descriptor. */
int lock_take(const char *run_directory, bool no_wait, void (*waiting)(const char *sentence),
	      int *ret, struct error *error);

/* Removes the containers below the run directory that hold nothing any more. */
int leftovers_remove(const char *run_directory, const struct runtime *runtime,
		     const struct local_holders *holders, struct error *error);

/* Opens <run>/containers. 1, 0 where there is none, or -errno: a directory that others can write to,
 * or a link, could have us remove what is not ours. */
int containers_open(const char *path, DIR **ret, struct error *error);

/* Ends all that is left of container ID, without asking the runtime. */
int container_clear(const struct runtime *runtime, const char *id, struct error *error);

/* Removes <bundle> with all that we put there. */
int bundle_remove(const char *bundle, struct error *error);
/* The OCI spec of a job before injection, in job->spec. */
int bundle_spec(const struct local_session *session, struct local_job *job, struct error *error);
