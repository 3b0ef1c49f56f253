/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in a file, whatever it was packed into: tar and zip, gzip, xz, bzip2, zstd, lz4, one in the
 * other; a file of any other kind is its own one member. It streams: nothing is written, and memory does
 * not grow with the file. Bombs end with an error that says so.
 *
 *	while ((r = archive_next(reader, &name, &error)) != 0)
 *		if (r > 0)
 *			while (archive_read(reader, &bytes, &length, &error) > 0)
 *				...
 *
 * An error of archive_next() or archive_read() is about one member or one inner archive; what follows
 * it can be asked for all the same, and the end comes in any case.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct archive_limits {
	uint64_t total_bytes;  /* unpacked, all members and all layers */
	uint64_t member_bytes; /* of one member */
	unsigned members;
	unsigned depth; /* archives in archives; what lies deeper is given as it is */
};
extern const struct archive_limits archive_limits_default; /* 1 GiB, 256 MiB, 20000, 3 */

struct archive_reader;

/*
 * Reads from FD, which stays the caller's and need not be able to seek. NAME is what members and errors
 * are called by. LIMITS may be NULL. 0, -ENOMEM, -EBADMSG, or the errno of read().
 */
int archive_open_fd(int fd, const char *name, const struct archive_limits *limits,
		    struct archive_reader **ret, struct error *error);
void archive_reader_free(struct archive_reader *reader);
DEFINE_CLEANUP(struct archive_reader, archive_reader_free)

/*
 * 1: the next member, a regular file; *ret_name is "outer.tar!inner/file", safe to print, and counts
 * until the next call. 0: there is none. -EFBIG (a bomb, or too large: the last), -EBADMSG (damaged),
 * -ENOMEM, or the errno of read().
 */
int archive_next(struct archive_reader *reader, const char **ret_name, struct error *error);

/* 1: some bytes of the member, which count until the next call; 0: its end; errors as above. */
int archive_read(struct archive_reader *reader, const char **ret_bytes, size_t *ret_length,
		 struct error *error);
