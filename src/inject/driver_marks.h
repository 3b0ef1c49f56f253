/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a search of a driver root depended on, so that a later reader can tell whether it would find
 * the same: directories whose names were read, links that were followed, names that were absent.
 * Inside this folder only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct driver_mark {
	char *path;            /* on the host, without a link before its last part; owned */
	bool present;          /* false: there was nothing */
	bool directory;        /* its names were looked for */
	bool spare;            /* while marks are pruned */
	unsigned capabilities; /* only a search for one of these depended on it; 0: every one */
	uint64_t device, inode;
	int64_t seconds; /* of its last change */
	uint32_t nanoseconds;
};

struct driver_marks {
	struct driver_mark *items; /* owned */
	size_t count, capacity;
};

void driver_marks_release(struct driver_marks *marks);
/* Adds what decides what PATH is inside the driver root at ROOT (its real path), for a search for
 * CAPABILITIES (0: any). DIRECTORY: its names are read. 0 or -ENOMEM. To be called before the look
 * itself: what changes later shows. */
int driver_marks_add(struct driver_marks *marks, const char *root, const char *path,
		     unsigned capabilities, bool directory);
/* Drops what other marks say already. */
void driver_marks_prune(struct driver_marks *marks);
/* False when something changed so lately that the next change could leave the same time. */
bool driver_marks_settled(const struct driver_marks *marks);
/* The first path that is not as it was, or NULL. */
const char *driver_marks_changed(const struct driver_marks *marks);
