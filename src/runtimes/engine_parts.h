/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/runtimes: what engines.c asks of a process, and where a distribution keeps things. */
#pragma once

#include "runtimes/engines.h"

struct host_process {
	pid_t pid;
	char name[64];            /* the program: base name of argv[0], else of the executable */
	char *program;            /* the executable's path; NULL unknown */
	char *service;            /* NULL: none */
	struct string_list words; /* its command line */
};

void host_process_release(struct host_process *process);
/* -ESRCH: gone, or none of ours (another user's, another PID namespace's). */
int host_process_read(const char *proc, const char *pid, struct host_process *ret);
/*
 * The value of an option in any form that Go's programs take: "--name=x", "--name x", "-name x",
 * and with LETTER (not 0) "-l x", "-l=x". The last one counts. NULL: absent.
 */
const char *host_process_option(const struct host_process *process, const char *name, char letter);
bool host_process_has_word(const struct host_process *process, const char *word);

/* Fills the distribution of a containerd whose config, program and service are known. */
int engine_place(struct engine *engine);

/* "unix:///var/run/x.sock" -> "/run/x.sock" in a new text; NULL when there is no memory. */
char *socket_name(const char *endpoint);

/* The CRI endpoint that the kubelet PROCESS uses, socket_name() of it; *ret NULL: cannot be known. */
int kubelet_endpoint(const struct host *host, const struct host_process *process, char **ret);
/* Does PROCESS hold a kubelet? */
bool host_process_is_kubelet(const struct host_process *process);
