/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a disk may hold after a power cut. The linker sends the calls that change files here (--wrap);
 * after each of them, inside of the watched directory, two copies of it are made and looked at:
 *
 *   - the cautious disk: files whose bytes were not made durable are empty, and renames, removals and
 *     new directories whose own directory was not made durable have not happened;
 *   - the eager disk: names are all as they are, and such files are empty all the same.
 *
 * A program that makes its changes durable in the right order leaves something that works in both.
 */
#pragma once

#include <stdbool.h>

struct crash_watch {
	const char *root; /* the directory; its own name never changes */
	/* Looks at a copy. AFTER is the call that was the last one, "renameat conf.d/99.toml". */
	void (*look)(void *data, const char *copy, const char *after);
	void *data;
	unsigned calls, copies; /* how many were seen and made */
};

void crash_start(struct crash_watch *watch);
/* The last look, "return": what was promised by then must be on both disks. */
void crash_stop(struct crash_watch *watch);
