/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names below a root directory as a program inside that root would see them: an absolute link
 * starts at the root again and ".." stops there. Nothing outside the root is ever reached.
 *
 * The kernel does it where it can (openat2, Linux 5.6, RESOLVE_IN_ROOT); elsewhere, and where a
 * seccomp filter forbids the call, a walk of one component at a time with O_NOFOLLOW does.
 */
#pragma once

#include <sys/stat.h>

#include "base/strbuf.h"

enum { ROOT_PATH_MAX = 4096, ROOT_LINKS_MAX = 40 };

/* A new descriptor (O_CLOEXEC) or -errno. FLAGS as for open(); O_PATH looks without opening. */
int root_open(int root, const char *path, int flags);
/* The same by walking alone. */
int root_open_walk(int root, const char *path, int flags);

/* Like root_open() with O_PATH, but a link anywhere in PATH is -ELOOP. */
int root_open_plain(int root, const char *path);

/* 0 and what PATH is, links followed inside the root, or -errno. */
int root_stat(int root, const char *path, struct stat *ret);

/*
 * The path inside the root once all links are followed ("/" for the root). Components that do not
 * exist are taken as they stand. 0 or -errno.
 */
int root_resolve(int root, const char *path, struct strbuf *out);

/* The absolute path of an open file as this process sees it; -ESTALE when it has been replaced. */
int root_fd_path(int fd, char **ret);
