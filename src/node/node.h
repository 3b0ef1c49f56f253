/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of src/node: the daemon of a Kubernetes node. One loop in one thread; what can block (the
 * driver, disks) runs in a thread of its own or in a child, and the kubelet is answered from memory.
 */
#pragma once

#include "base/base.h"
#include "model/model.h"

struct node_options {
	const char *program;              /* for log lines; not owned */
	const struct plugin_flags *flags; /* read again on SIGHUP with the environment; not owned */
	char *const *environment;
};

/*
 * Runs until SIGTERM or SIGINT with CONFIG, which it takes over: plugin_config_supported() has passed.
 * Returns the exit code: 0 after a signal, 1 with a sentence in the log. *ret_caught: a thread is caught
 * in the driver or a disk and will not end: end the process with _exit().
 */
int node_run(const struct node_options *options, struct plugin_config *config, bool *ret_caught);
