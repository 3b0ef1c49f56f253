/* SPDX-License-Identifier: Apache-2.0 */
/* What of the module's state is seen in files while it runs: MIG in procfs, its nodes, the kernel's log. */
#pragma once

#include "protocol.h"

/*
 * <root>/proc/driver/nvidia/capabilities/gpu<minor>/mig as the layout is; entries come and go one by one and
 * each at once, as in procfs. Nodes are made and stay, as with nvidia-modprobe. 0, or -1 having said why.
 */
int shown_layout(const char *root, uint32_t minor, const struct sim_mig_layout *layout);

/*
 * The kernel's log of the root, <root>/dev/kmsg: a pipe that one reader at a time can have. Returns its
 * descriptor, or -1.
 */
int shown_log_open(const char *root);
/* One record of the kernel, in the form of /dev/kmsg. Lost when nobody reads for long. */
void shown_log_write(int fd, uint64_t sequence, const char *line);
