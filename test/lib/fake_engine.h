/* SPDX-License-Identifier: Apache-2.0 */
/* A host whose programs are played: systemctl, and the engine's own program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "runtimes/runtimes.h"

struct fake_engine {
	char calls[4096]; /* one a line, "systemctl restart docker.service" */
	/* How often the daemon does not come back after a start, and how often the program finds a
	 * fault in its files. */
	unsigned bad_starts, bad_files;
	/* What the program prints when it is asked for its configuration; NULL: nothing. */
	int (*dump)(const struct host *host, char **ret, struct error *error);
	/* What the daemon does when it starts; NULL: nothing. */
	void (*start)(const struct host *host);
	const struct host *host;
	bool down;
};

int fake_engine_run(void *data, const char *const *argv, char **ret, struct error *error);
/* How many calls begin so. */
unsigned fake_engine_count(const struct fake_engine *fake, const char *start);
