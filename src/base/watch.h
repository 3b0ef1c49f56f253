/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what comes and goes in one directory (inotify). The directory need not exist yet, may vanish and come
 * back: its nearest existing ancestor is watched meanwhile. A symbolic link on the way is followed when the watch is
 * made; that it, or an ancestor, was moved away later is not noticed. Link loop_dep.
 */
#pragma once

#include "base/error.h"
#include "base/loop.h"

enum watch_event {
	WATCH_APPEARED, /* NAME was made, linked or moved into the directory */
	WATCH_CHANGED,  /* NAME was open for writing and is closed now */
	WATCH_GONE,     /* NAME was removed or moved away */
	/* Without a name: look at everything again. */
	WATCH_DIRECTORY, /* the directory is there now; files may have been made before the watch was */
	WATCH_NO_DIRECTORY, /* the directory itself was removed or moved away */
	WATCH_MISSED,       /* the kernel had to drop events */
};

struct watch; /* the caller's, until watch_stop() */

/* NAME lives for the call. Nothing is said of the state at the start: look after watch_start(). */
typedef void watch_function(void *user, enum watch_event event, const char *name);

int watch_start(struct loop *loop, const char *directory, watch_function *function, void *user,
		struct watch **ret, struct error *error);
void watch_stop(struct watch *watch); /* NULL is legal; also inside the function */
