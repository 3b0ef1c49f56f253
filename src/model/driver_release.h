/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver branches and the newest CUDA version that each offers. Two branches stand for one CUDA
 * version where NVIDIA had two (8.0); a branch that is not here is not known.
 *
 * How to add a branch: a row in driver_release.c, in order, and its source.
 */
#pragma once

#include <stddef.h>

struct driver_release {
	unsigned branch; /* 535 of 535.129.03 */
	unsigned cuda_major, cuda_minor;
};

/* All of them, oldest first. */
const struct driver_release *driver_releases(size_t *ret_count);
/* That of VERSION, "535.129.03"; NULL unknown, also for NULL and "". */
const struct driver_release *driver_release_of(const char *version);
