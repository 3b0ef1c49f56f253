/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries of a driver that do nothing in the simulated one: right names, SONAMEs and links. */
#pragma once

#include "profile.h"

/* Into folder (relative to root), but for those of the names in skip, which ends with NULL. Returns
 * 0, or -1 having said what failed. */
int root_build_names(const char *root, const char *folder, const struct profile *profile,
		     const char *const *skip);
