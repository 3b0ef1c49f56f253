/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Pods have processes, by the cgroups in /proc: it works with either version of cgroups, with
 * any root of the kubelet's, and needs nothing but to see the host's processes.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/base.h"
#include "model/model.h"
#include "node/ledger.h"

struct pod_signs {
	struct map *running; /* UIDs; NULL: not looked yet */
	bool sees;           /* the host's processes: whoever is not here has none */
};

/* PROC: NULL for /proc. Looks once; 0 or -ENOMEM. */
int pod_signs_take(struct pod_signs *signs, const char *proc, struct error *error);
void pod_signs_release(struct pod_signs *signs);
enum pod_sign pod_signs_of(const struct pod_signs *signs, const char *pod_uid);

/* Whether the numbers of processes in PROC are those of the host, which the driver tells. */
bool pods_know_pids(const char *proc);
/* The UID of the Pod that PID is of: 1; 0: it is of none, ""; -ENOENT: it has ended. */
int pod_uid_of_process(const char *proc, pid_t pid, char ret[static POD_UID_MAX]);

/*
 * The UID in a cgroup's path, ".../kubepods/burstable/pod<uid>/<container>" or
 * ".../kubepods-burstable-pod<uid with _>.slice/...". False: none.
 */
bool pod_uid_of_cgroup(const char *path, char *ret, size_t size);
