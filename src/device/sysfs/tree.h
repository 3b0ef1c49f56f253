/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and small files of a driver's /proc and /sys trees. */
#pragma once

#include <stddef.h>

#include "base/base.h"

/* A path from a format; *ret is the caller's. 0, -ENAMETOOLONG or -ENOMEM. */
int tree_path(char **ret, struct error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The whole file at a path from a format, at most MAXIMUM bytes. 0 or a negative errno. */
int tree_read(char **ret, size_t maximum, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ROOT's own PATH when it exists, else PATH of this machine. */
int tree_choose(const char *root, const char *path, char **ret, struct error *error);
