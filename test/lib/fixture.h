/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of one test: made from a table of files, gone afterwards. */
#pragma once

#include <stddef.h>

struct fixture {
	char root[64]; /* "/tmp/gpupool-test-XXXXXX" */
};

struct fixture_file {
	const char *path; /* below the root; folders are made */
	const char *text; /* of a file; "-> TARGET" makes a link; NULL a folder */
};

void fixture_make(struct fixture *fixture, const struct fixture_file *files, size_t count);
void fixture_write(const struct fixture *fixture, const char *path, const char *text);
/* ROOT/PATH, in a buffer of the caller. */
const char *fixture_path(const struct fixture *fixture, const char *path, char *to, size_t size);
void fixture_remove(struct fixture *fixture);
