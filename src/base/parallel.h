/* SPDX-License-Identifier: Apache-2.0 */
/* Independent pieces of work over threads. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/*
 * Calls WORK once for each index below COUNT, on at most JOBS threads at once (the caller's is one
 * of them; 0 and 1: only that one). The indices are taken in order. The first failure is returned
 * and its error kept; what has not begun by then is left out. Fewer threads than asked for are no
 * failure.
 */
int parallel_run(size_t count, unsigned jobs,
		 int (*work)(void *context, size_t index, struct error *error), void *context,
		 struct error *error);
/* Processors that this process may use, at least 1. */
unsigned parallel_cores(void);
