/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of a made-up host, as files below its proc/. */
#pragma once

#include "fixture.h"

struct proc_row {
	const char *pid;
	const char *words;   /* of the command line, separated by blanks; "|" stands for a blank */
	const char *program; /* what exe leads to; NULL: no such link */
	const char *group;   /* its systemd cgroup; NULL: no such file */
	const char *space;   /* its PID namespace, "pid:[1]"; NULL: no such link */
};

/* Ends with a row without a pid. Process 1 is always made. */
void proc_make(const struct fixture *fixture, const struct proc_row *rows);
