/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runc and crun say of themselves, and what their version and the kernel's lack. Floors: the
 * releases that fixed what they do, as root, in a root file system or volume that a stranger made
 * (CVE-2024-21626, CVE-2024-45310, CVE-2025-31133, CVE-2025-52565, CVE-2025-52881, CVE-2026-41579 of runc;
 * CVE-2026-47766 of crun). A distribution may have the fix in an older version.
 */
#pragma once

#include <stdbool.h>

#include "base/base.h"
#include "model/model.h"

struct runtime_version {
	char name[16]; /* "runc", "crun" */
	char text[64]; /* "1.1.5+ds1", as it is printed */
	unsigned major, minor, patch;
	unsigned candidate; /* 3 of "1.5.0-rc.3"; 0: a release */
	bool distribution;  /* the text names a distribution's own package */
};
/* OUTPUT is what `RUNTIME --version` prints. -EINVAL for another program's. */
int runtime_version_parse(const char *output, struct runtime_version *ret, struct error *error);

enum version_verdict { VERSION_FINE, VERSION_OLD, VERSION_UNSAFE };
/* SENTENCES (may be NULL) gets what is to be done unless it is fine. */
int runtime_version_judge(const struct runtime_version *version, enum version_verdict *ret,
			  struct string_list *sentences, struct error *error);

/* RELEASE as uname(2) gives it. A sentence for each call that it lacks, with what is done instead. */
int kernel_release_judge(const char *release, struct string_list *sentences, struct error *error);
