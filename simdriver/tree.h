/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a folder that is being filled; paths are relative to it, missing parents are made. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TREE_PATH_MAX 1024

/* Says "simdriver: ..." on stderr; returns -1. */
int tree_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* These return 0, or -1 having said what failed. */
int tree_path(const char *root, const char *path, char ret[TREE_PATH_MAX]);
int tree_folder(const char *root, const char *path);
int tree_text(const char *root, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int tree_bytes(const char *root, const char *path, const void *bytes, size_t size, mode_t mode);
int tree_link(const char *root, const char *path, const char *target);
int tree_pipe(const char *root, const char *path, mode_t mode);
int tree_node(const char *root, const char *path, unsigned major, unsigned minor, mode_t mode);

/* Copies a file of this machine; version, if not NULL, goes into its version slot. */
int tree_copy(const char *root, const char *path, const char *source, const char *version);

/* Removes what is below path, and it. Never follows links or leaves the filesystem. */
int tree_remove(const char *root, const char *path);
bool tree_exists(const char *root, const char *path);
