/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpupool-runtime: stands where runc stands, adds a container's cards to its config.json, and
 * becomes runc. Shared by its files.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/base.h"
#include "formats/formats.h"
#include "inject/inject.h"
#include "model/model.h"

/* What the caller wants of the runtime; every text is argv's. */
struct call {
	const char *command; /* "create"; NULL: none */
	bool help;           /* of the command */
	const char *bundle;  /* directory; "." */
	const char *
		config; /* config.json in it; crun takes others, from the directory of the caller */
	const char *log; /* NULL: none */
	bool log_json;
	const char *own_log; /* of the configuration; NULL: none */
	unsigned preserved;  /* descriptors from 3 that are meant for the container */
};

/* By the rules of runc's and crun's own command lines; never fails, since they will. */
void call_read(int argc, char **argv, struct call *ret);
/* A container is made: its spec and descriptors are looked at. */
bool call_makes_container(const struct call *call);

/* Everything that is known about one container's start. */
struct start {
	const struct toolkit_config *config;
	int bundle, root;   /* descriptors of the directories, or -1 */
	int spec_directory; /* not owned: the bundle or AT_FDCWD */
	const char *spec_name;
	struct json_object *spec; /* owned; the edits are made in it */
	struct stat status;       /* of the file it was read from */
	unsigned hooks_removed;
	struct device_request request;
	struct inventory inventory;
	struct device_selection selection;
	struct driver_files *files; /* owned */
	struct edit_plan plan;
	struct string_list notes; /* sentences beside those of request and plan */
	struct reason reason;     /* of a refusal */
};

/* Opens the bundle and reads what is asked for. The spec is not changed. */
int start_read(struct start *start, const struct call *call, const struct toolkit_config *config,
	       struct error *error);
/* Whether the spec has to change. */
bool start_asks(const struct start *start);
/* Cards, files, checks and the plan, then the edits in the tree. */
int start_plan(struct start *start, struct error *error);
int start_write(const struct start *start, struct error *error);
void start_release(struct start *start);
/* The edits and their reasons, for people or as JSON. */
int start_explain(const struct start *start, bool json, struct strbuf *out, struct error *error);

/* The configuration at its usual places. */
int config_read(struct toolkit_config *ret, struct error *error);
/* Those files of the configuration that are there, comma separated. */
void config_files(struct strbuf *out);

/* The first of the configured runtimes that is there and is not this program. */
int handover_find(const struct toolkit_config *config, char **ret, struct error *error);
/* Becomes PATH with the caller's arguments and environment; returns only on failure. */
int handover(const char *path, const struct call *call, char **argv, struct error *error);

/* On standard error, in the caller's log as runc writes there, where containerd looks, and in our own. */
void report(const struct call *call, const char *level, const char *message);

/* The cards of this machine, by the inventory file or by the kernel; NOTES says why not the file.
 * 0 with ret->problem set when the driver gives none. */
int cards_find(const struct toolkit_config *config, struct inventory *ret,
	       struct string_list *notes, struct error *error);

enum { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_RIGHTS, EXIT_REFUSED };

/* The commands that are ours and not a runtime's: --explain, --check, --help. */
int own_main(int argc, char **argv);
/* What is here, and what it lacks; the exit code. */
int check(void);
