/* SPDX-License-Identifier: Apache-2.0 */
/* What procfs says of each card, read by a helper: the module's locks can hold the reader. */
#pragma once

#include "base/base.h"
#include "device/sysfs/sysfs.h"

/*
 * Fills the cards of PROCFS. A card that gives no answer in DEADLINE_MS ends it: what is unknown
 * then stays so, and *ret_caught is a helper that could not be killed, or 0. Errors: the program
 * cannot be started.
 */
int information_query(const char *program, unsigned deadline_ms, struct procfs *procfs,
		      pid_t *ret_caught, struct error *error);
