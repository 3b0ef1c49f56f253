/* SPDX-License-Identifier: Apache-2.0 */
/* What a search of a driver root in a small tree (tree.h) found. What is not as it should be fails the test. */
#pragma once

#include "inject/inject.h"

/* Everything that root TREE has of driver VERSION (NULL: of the one that is there). The caller's. */
struct driver_files *found_in(const char *tree, const char *version);

/* The file that has NAME, or NULL. */
const struct driver_file *found_named(const struct driver_files *files, enum driver_file_kind kind,
				      unsigned bits, const char *name);

struct found_row {
	enum driver_file_kind kind;
	unsigned bits;
	const char *name, *source; /* source: below the tree */
};

/* Exactly ROWS, sockets apart: the machine's own may be there. */
void found_exactly(const struct driver_files *files, const char *tree, const struct found_row *rows,
		   size_t count);
