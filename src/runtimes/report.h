/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine makes of a Pod today, and what on this host stands in the way. Reads only. */
#pragma once

#include "formats/formats.h"
#include "runtimes/engines.h"

enum report_cdi { REPORT_CDI_IMPOSSIBLE, REPORT_CDI_OFF, REPORT_CDI_ON };
enum report_selinux { SELINUX_ABSENT, SELINUX_PERMISSIVE, SELINUX_ENFORCING };

struct engine_report {
	struct runtime_facts facts; /* as the files say */
	enum report_cdi cdi;
	enum report_selinux selinux;
	bool selinux_allows;         /* containers may open device nodes */
	struct string_list programs; /* "runc 1.1.5 (/usr/sbin/runc)" */
	struct string_list problems; /* sentences with a cure: something does not work */
	struct string_list
		warnings; /* sentences with a cure: something is not as safe as it could be */
};

/* Does PATH (may be NULL) lead to a program that injects cards: ours, or NVIDIA's? */
bool runtime_injects(const char *path);
void engine_report_release(struct engine_report *report);
int engine_report_make(const struct host *host, const struct engine *engine,
		       struct engine_report *ret, struct error *error);
