/* SPDX-License-Identifier: Apache-2.0 */
/* Where the driver's libraries are. Reads directories only; loads nothing. */
#pragma once

#include <stdbool.h>

#include "base/base.h"

/*
 * Finds NAME ("libnvidia-ml.so.1") in the driver root ROOT, in the directories that NVIDIA's own
 * toolkit searches (k8s and container toolkit: lib directories of Debian, RHEL, Ubuntu) and a few
 * of other distributions. Links are resolved inside ROOT.
 *
 * *ret_path is the real path on this machine; *ret_version what follows ".so." in its name
 * ("535.104.05"), or "" when that is no driver version. Both the caller's.
 * -ENOENT when there is none; -EPERM when it, or a directory above it, can be changed by a user
 * other than root and the caller.
 */
int library_find(const char *root, const char *name, char **ret_path, char **ret_version,
		 struct error *error);

enum resolve_way { RESOLVE_KERNEL, RESOLVE_WALK };

/*
 * Opens PATH below ROOT_FD with O_PATH; a link that is absolute or climbs stays inside the root.
 * RESOLVE_KERNEL is openat2(RESOLVE_IN_ROOT), and the walk where the kernel has none (before 5.6)
 * or a filter forbids it. RESOLVE_WALK takes one component after the other: the same answer for a
 * tree that nobody changes meanwhile, which is why the caller checks afterwards where it came to.
 * Returns the descriptor or a negative errno.
 */
int library_open_in_root(int root_fd, const char *path, enum resolve_way way);
