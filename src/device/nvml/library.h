/* SPDX-License-Identifier: Apache-2.0 */
/* Where the driver's libraries are. Reads directories only; loads nothing. */
#pragma once

#include <stdbool.h>

#include "base/base.h"

/*
 * Finds NAME ("libnvidia-ml.so.1") in the driver root ROOT, in the directories of
 * abi/driver_place.h. Links are resolved inside ROOT.
 *
 * *ret_path is the real path on this machine; *ret_version what follows ".so." in its name
 * ("535.104.05"), or "" when that is no driver version. Both the caller's.
 * -ENOENT when there is none; -EPERM when it, or a directory above it, can be changed by a user
 * other than root and the caller.
 */
int library_find(const char *root, const char *name, char **ret_path, char **ret_version,
		 struct error *error);
