/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, atomically and with a limit. */
#pragma once

#include <stddef.h>
#include <sys/stat.h>

#include "base/error.h"

/* Reads all of PATH (at most MAXIMUM bytes, else -EFBIG); *ret is terminated, caller frees.
 * Only regular files, pipes and procfs/sysfs files are read; a directory or device is an error. */
int file_read(const char *path, size_t maximum, char **ret, size_t *ret_length,
	      struct error *error);
/* The same for a program that must not wait: a pipe is -EINVAL, too. */
int file_read_regular(const char *path, size_t maximum, char **ret, size_t *ret_length,
		      struct error *error);
/* The same from an open descriptor; NAME is for messages. */
int file_read_fd(int fd, const char *name, size_t maximum, char **ret, size_t *ret_length,
		 struct error *error);
/* Temporary file in the same directory, fsync, rename, fsync of the directory. */
int file_write_atomic(const char *path, const void *bytes, size_t length, unsigned mode,
		      struct error *error);
/*
 * The same beside a file that is there: NAME from DIRECTORY on (a descriptor), with the mode and owner
 * in STATUS, and without fsync: for what does not outlive the boot.
 */
int file_replace_at(int directory, const char *name, const void *bytes, size_t length,
		    const struct stat *status, struct error *error);
/* mkdir -p with MODE for what is made; an existing directory is success. */
int file_make_directories(const char *path, unsigned mode, struct error *error);
