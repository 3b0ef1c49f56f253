/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which container engines run on a host, and which of them the kubelet uses. The list of processes
 * decides, never a default path: a daemon that does not run has no configuration worth a change, and
 * one that runs says itself where its file is.
 *
 * Only processes of the user that owns process 1 and of its PID namespace count: another user's
 * process could call itself containerd and name any file, and one in a container (kind, Docker in
 * Docker) has its files elsewhere.
 *
 * How to add an engine: a row in the table of engines.c. How to add a distribution: a row in the table
 * of engine_places.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/base.h"
#include "model/model.h"
#include "runtimes/host.h"

enum engine_kind {
	ENGINE_CONTAINERD,
	ENGINE_DOCKER,
	ENGINE_CRIO,
	ENGINE_KIND_MAX,
	ENGINE_KIND_INVALID = -22
};

const char *engine_kind_to_string(enum engine_kind kind);
enum engine_kind engine_kind_from_string(const char *text);

struct engine {
	enum engine_kind kind;
	char distribution[16];   /* "", "k3s", "rke2", "k0s", "microk8s" */
	char *config;            /* the file that the daemon reads first */
	char *drop_in;           /* CRI-O: the file that our entries go to */
	char *drop_in_directory; /* CRI-O: its other files, which count in the order of their names */
	char *socket;            /* of the CRI or, for Docker, of its own API; without "unix://" */
	char *program;           /* the daemon's own file; NULL: unknown */
	char *service;           /* systemd's unit, as the daemon's cgroup names it; NULL: none */
	char *version;           /* as the program says, "1.7.27"; "" unknown */
	unsigned major, minor;   /* of VERSION; 0.0 unknown */
	pid_t pid;
	bool of_kubelet; /* the kubelet's CRI endpoint is this one's */
	bool of_docker;  /* a containerd that serves dockerd */
};

struct engine_list {
	struct engine *items; /* owned */
	size_t count, capacity;
	bool kubelet;   /* one runs here */
	char *endpoint; /* its CRI socket; NULL: no kubelet */
};

void engine_release(struct engine *engine);
void engine_list_release(struct engine_list *list);

/* 0 also when nothing runs. -EACCES when processes cannot be looked at. */
int engines_find(const struct host *host, struct engine_list *ret, struct error *error);

/*
 * The one to configure: of KIND when that is given (ENGINE_KIND_MAX: any), the kubelet's where a
 * kubelet runs, else the only one. -ENOENT when there is none, -EEXIST when several might be meant;
 * the sentence says what to type.
 */
int engines_choose(const struct engine_list *list, enum engine_kind kind, const struct engine **ret,
		   struct error *error);

/* An engine that does not run, with its usual file, for a machine that is prepared beforehand.
 * CONFIG may be NULL. */
int engine_assume(enum engine_kind kind, const char *config, struct engine *ret,
		  struct error *error);

/* Asks the program for its version; what cannot be asked stays unknown. -ENOMEM only. */
int engine_ask_version(const struct host *host, struct engine *engine);
