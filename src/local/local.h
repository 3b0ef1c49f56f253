/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One machine without Kubernetes, one command at a time: the lock of the pool, what running
 * containers hold, and a session that takes Pods from placement to their end.
 *
 *   open -> place -> plan -> create -> (look) -> start -> wait -> close
 *
 * What a container holds stands in <run>/containers/<id>/grant.json before the container is made,
 * and goes when the container is gone. A gpupool that was killed leaves its containers running;
 * what they hold stays held, and the next command clears away those that have ended.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/base.h"
#include "device/device.h"
#include "inject/inject.h"
#include "model/model.h"
#include "place/place.h"
#include "runtimes/runtimes.h"

/* Who asked: SUDO_UID and SUDO_GID of root's environment where set, else the real user. */
struct local_caller {
	uid_t uid;
	gid_t gid;
	unsigned *groups; /* supplementary; owned */
	size_t group_count, group_capacity;
	char *name, *home, *shell; /* owned */
};
int local_caller_find(struct local_caller *ret, struct error *error);
void local_caller_release(struct local_caller *caller);

/* A container that holds something now. */
struct local_holder {
	char *id; /* owned */
	struct grant grant;
	pid_t pid;     /* first process of the container; 0 before it is made */
	bool orphaned; /* the gpupool that made it is gone */
};
struct local_holders {
	struct local_holder *items; /* owned */
	size_t count, capacity;
};
/* Reads who holds what below RUN_DIRECTORY; a missing directory is nobody. */
int local_holders_read(const char *run_directory, struct local_holders *ret, struct error *error);
void local_holders_release(struct local_holders *holders);
/* Marks the processes of INVENTORY that belong to holders as granted (by their cgroup). */
void local_holders_mark(const struct local_holders *holders, struct inventory *inventory);
/* The grants of HOLDERS in the book of POOL's only node, as far as the node has their cards. */
int local_holders_hold(const struct local_holders *holders, struct pool *pool, struct error *error);

/* GPUPOOL_RUN_DIR or /run/gpupool. */
const char *local_run_directory(void);

/* Writes <run>/inventory.json for the programs that must not start the driver themselves. An INVENTORY
 * with a problem does not replace one of a driver below another root that is still there. */
int local_inventory_publish(const struct inventory *inventory, struct error *error);

struct local_options {
	struct device_options device;
	const char *runtime;   /* "runc", "crun", path or NULL */
	const char *image;     /* "host", a directory, or NULL: every image is mapped to host */
	unsigned capabilities; /* enum driver_capability, 0: from the container's environment */
	bool dry_run;          /* plan only: no lock, no runtime, no root needed */
	bool no_wait;          /* -EBUSY instead of waiting for the lock */
	bool inherit;          /* the caller's environment (run), not a Pod's clean one */
};

struct local_job {                         /* one container */
	const struct pod *pod;             /* not owned */
	const struct container *container; /* of pod */
	struct placement placement;
	bool placed;
	uint64_t hold; /* number in the book */
	struct grant grant;
	struct edit_plan plan;
	struct json_object *spec;  /* owned */
	char *id, *bundle, *image; /* owned; image NULL: this machine's root */
	char *working_directory;   /* owned */
	struct string_list host_targets;
	int standard[3]; /* its descriptors 0, 1, 2; set by placing to those of this process */
	bool recorded, created, ended;
	pid_t pid;
	int status;   /* wait status once ended */
	int ended_by; /* the signal of ours that ended it, 0 none */
};

struct local_session {
	struct local_options options;
	struct local_caller caller;
	struct inventory inventory;
	struct reason driver; /* why the driver as a whole gives no cards; REASON_NONE: it does */
	struct local_holders holders;
	struct pool *pool;          /* owned */
	struct driver_files *files; /* owned; NULL without a driver */
	struct runtime runtime;
	struct local_job *jobs; /* owned */
	size_t job_count, job_capacity;
	int lock;             /* descriptor, -1 none */
	bool signals_blocked; /* from the first container on; signals holds those before */
	sigset_t signals;
};

/* The node's name for reasons: the host name, or "this machine". */
void local_node_name(char *ret, size_t size);

/*
 * Takes the lock (not for a dry run), clears away ended containers, reads the inventory and fills
 * the book. A driver that gives no cards is no error: the inventory says so. WAITING (may be NULL)
 * is called once, with a sentence, if the lock is held by somebody.
 */
int local_session_open(const struct local_options *options, void (*waiting)(const char *sentence),
		       struct local_session *ret, struct reason *ret_reason, struct error *error);
/* Kills and removes the containers that are left. */
void local_session_end_jobs(struct local_session *session);
void local_session_close(struct local_session *session); /* ends its jobs, too */

/* Places every container of PODS, all or none. -EAGAIN, -ENOSPC: refused, *ret_reason says why. */
int local_session_place(struct local_session *session, const struct pod *pods, size_t count,
			struct reason *ret_reason, struct error *error);
/*
 * kube-scheduler's own sentence in reason->kubernetes, for a request that POOL (of one node) has
 * just refused; none when it would let the Pod pass, as it counts devices of a node and not cards.
 */
void local_scheduler_sentence(const struct pool *pool, const struct request *request,
			      struct reason *reason);
/* Grants to edits to specs, for all jobs. -EPERM: refused, *ret_reason says why. */
int local_session_plan(struct local_session *session, struct reason *ret_reason,
		       struct error *error);
/* Makes one container, stopped before its command. -ESRCH, -ENOEXEC: as runtime_create(). */
int local_job_create(struct local_session *session, struct local_job *job, struct error *error);
int local_job_start(struct local_session *session, struct local_job *job, struct error *error);
/* Waits until all started jobs ended; SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on to
 * them, the third one as SIGKILL. */
int local_session_wait(struct local_session *session, struct error *error);

/* What the kernel says of a container that is made: nothing of it comes from our own plan. */
struct local_facts {
	struct string_list nodes;  /* "/dev/nvidia0 195:0", as its own /dev shows them */
	struct string_list rules;  /* cgroup v1: lines of devices.list with major 195 or the
				    * majors of nodes; v2: one line that counts the programs */
	struct string_list mounts; /* mount points whose file or name belongs to the driver */
	bool no_new_privileges;
	char capabilities[32]; /* CapEff as the kernel prints it */
	unsigned uid;
	char cgroup[1024];
};
int local_facts_read(pid_t pid, struct local_facts *ret, struct error *error);
void local_facts_release(struct local_facts *facts);
