/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/runtimes: what configure.c asks of an engine, and what it keeps for a way back. */
#pragma once

#include "runtimes/configure.h"

struct engine_work {
	/* Adds the changes of files that WISH needs to *PLAN, and says what the daemon needs. */
	int (*plan)(const struct host *host, const struct engine *engine,
		    const struct runtime_wish *wish, struct configure_plan *plan,
		    struct error *error);
	/* TEXT of PATH without the runtimes of WISH; *ret NULL: they are not in it; "": nothing is
	 * left of it. */
	int (*remove)(const char *path, const char *text, const struct runtime_wish *wish,
		      char **ret, struct error *error);
	/* The engine's own program, asked whether it understands its files. *ret_facts: what it says
	 * is configured; -EOPNOTSUPP with a sentence: it cannot be asked; -EAGAIN: its files are made
	 * when it starts, so read() tells after that. */
	int (*verify)(const struct host *host, const struct engine *engine,
		      struct runtime_facts *ret_facts, struct error *error);
	int (*read)(const struct host *host, const struct engine *engine, struct runtime_facts *ret,
		    struct error *error);
	/* The socket that its files name, *ret NULL for none. May be NULL. */
	int (*socket)(const struct host *host, const struct engine *engine, char **ret);
};
const struct engine_work *engine_work(const struct engine *engine);

extern const struct engine_work containerd_work, crio_work, docker_work;

/* Adds a change; takes BEFORE and AFTER over, also when it fails. 0 or -ENOMEM. */
int plan_add(struct configure_plan *plan, const char *path, char *before, char *after,
	     unsigned mode);

/* Of files as they were and are; NULL: there is none. */
bool text_is_same(const char *left, const char *right);

/* One file as it was before all that we did, and as we left it. */
struct kept_file {
	char *path, *before, *after; /* owned, as in file_change */
	unsigned mode;
};

struct kept {
	struct kept_file *files; /* in the order in which they were changed first */
	size_t count, capacity;
	struct runtime_fact *runtimes; /* ours; owned */
	size_t runtime_count, runtime_capacity;
};

void kept_release(struct kept *kept);
/* DIRECTORY/ENGINE.json. -ENOENT without a message when there is none. */
int kept_read(const struct host *host, const struct engine *engine, const char *directory,
	      struct kept *ret, struct error *error);
int kept_write(const struct host *host, const struct engine *engine, const char *directory,
	       const struct kept *kept, struct error *error);
int kept_remove(const struct host *host, const struct engine *engine, const char *directory,
		struct error *error);
/* What a plan will do, added. */
int kept_add(struct kept *kept, const struct engine *engine, const struct configure_plan *plan,
	     const struct runtime_wish *wish, struct error *error);

/* Restarts or reloads the daemon and waits until it is back. */
int service_restart(const struct host *host, const struct engine *engine,
		    enum configure_restart how, struct error *error);
