/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telling a container engine of an OCI runtime, and taking it back. In steps that can be looked at:
 * a plan (file changes as data), then apply: the files as they were are kept first, each file is
 * replaced atomically and is on disk before the next one, the engine's own program is asked whether it
 * understands the result, the daemon is restarted once if it must be, and if it does not come back all
 * is as before.
 *
 * How to add an engine: a row in engines.c, an editor in formats/, a row in configure_engine.c.
 */
#pragma once

#include "formats/formats.h"
#include "runtimes/engines.h"

enum configure_restart {
	CONFIGURE_NO_RESTART,
	CONFIGURE_RELOAD, /* the daemon reads its file again: nothing stops */
	CONFIGURE_RESTART,
};

enum restart_choice {
	RESTART_AUTO, /* unless it would end running containers */
	RESTART_ALWAYS,
	RESTART_NEVER,
	RESTART_CHOICE_MAX,
	RESTART_CHOICE_INVALID = -22
};
enum restart_choice restart_choice_from_string(const char *text);
const char *restart_choice_to_string(enum restart_choice choice);

struct configure_options {
	struct runtime_wish wish;
	enum restart_choice restart;
	const char
		*state; /* directory of the host for what was there before; NULL: PATH_CONFIGURE */
};

struct file_change {
	char *path, *before, *after; /* owned; BEFORE NULL: it is new; AFTER NULL: it goes */
	unsigned mode;
};

struct configure_plan {
	struct file_change *changes; /* owned, in the order in which they are made */
	size_t count, capacity;
	enum configure_restart restart; /* what the daemon needs to see the changes */
	bool ends_containers;           /* its restart does */
	bool undo;                      /* this takes back what an earlier one did */
	struct string_list notes;
};

void configure_plan_release(struct configure_plan *plan);

/*
 * No change at all when everything is as wished. -EINVAL: a file that is not understood, or a wish that
 * this engine cannot have; -EACCES.
 */
int configure_plan_make(const struct host *host, const struct engine *engine,
			const struct configure_options *options, struct configure_plan *ret,
			struct error *error);
/* What takes back all that was done for ENGINE. -ENOENT when nothing was. A file that somebody has
 * changed since keeps those changes and loses our entries, and a note says so. */
int configure_plan_undo(const struct host *host, const struct engine *engine,
			const struct configure_options *options, struct configure_plan *ret,
			struct error *error);
/* All changes as one text for patch(1). */
int configure_plan_diff(const struct configure_plan *plan, struct strbuf *out);

/*
 * NOTES gets what a person should know. -ESTALE: a file has changed since the plan was made; -EBADMSG:
 * the engine does not understand the result; -EIO: the daemon did not come back. In all three cases the
 * files are as before, and a daemon that was restarted is restarted with them.
 */
int configure_apply(const struct host *host, const struct engine *engine,
		    const struct configure_options *options, const struct configure_plan *plan,
		    struct string_list *notes, struct error *error);

/* What is configured now, as the files say. */
int configure_read(const struct host *host, const struct engine *engine, struct runtime_facts *ret,
		   struct error *error);
