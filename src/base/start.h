/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What main() does first: what a caller may have left in another state than we rely on. A closed
 * descriptor 0, 1 or 2 would be the next file that is opened; it gets one that fails as a closed one does.
 * With SIGCHLD ignored nobody's exit status can be waited for. Directories on the way to a container's
 * mount points must be open to its user, whatever root's umask (the runtime gives the container one of
 * its own). 0, or a negative errno.
 */
int process_begin(void);
