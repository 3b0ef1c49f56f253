/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the subcommands of gpupool: exit codes, common options, printing. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"
#include "local/local.h"

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_RIGHTS = 3,  /* not enough evidence or rights */
	EXIT_REFUSED = 4, /* refused for ever */
	EXIT_WAITING = 5, /* could fit later */
};

struct common_options {
	const char *driver_root, *runtime, *image;
	bool json, dry_run, no_wait;
};

/* Rows for a table whose options structure has a `struct common_options common`. */
#define COMMON_ROW_DRIVER_ROOT(type)                                                            \
	{                                                                                       \
		.name = "driver-root", .kind = OPTION_STRING, .argument = "DIR",                \
		.help = "root below which the NVIDIA driver's files are (default: /, then the " \
			"usual places)",                                                        \
		.offset = offsetof(type, common.driver_root)                                    \
	}
#define COMMON_ROW_JSON(type)                                                         \
	{                                                                             \
		.name = "json", .kind = OPTION_FLAG, .help = "print one JSON object", \
		.offset = offsetof(type, common.json)                                 \
	}
#define COMMON_ROW_RUNTIME(type)                                                            \
	{                                                                                   \
		.name = "runtime", .kind = OPTION_STRING, .argument = "NAME",               \
		.help = "runc, crun or the path of one (default: the first that is found)", \
		.offset = offsetof(type, common.runtime)                                    \
	}
#define COMMON_ROW_IMAGE(type)                                                                    \
	{                                                                                         \
		.name = "image", .kind = OPTION_STRING, .argument = "host|DIR",                   \
		.help = "root of the containers: this machine's, or a directory (default: host)", \
		.offset = offsetof(type, common.image)                                            \
	}
#define COMMON_ROW_DRY_RUN(type)                                    \
	{                                                           \
		.name = "dry-run", .kind = OPTION_FLAG,             \
		.help = "print grants and plan, make no container", \
		.offset = offsetof(type, common.dry_run)            \
	}
#define COMMON_ROW_NO_WAIT(type)                                                \
	{                                                                       \
		.name = "no-wait", .kind = OPTION_FLAG,                         \
		.help = "exit 5 instead of waiting for another gpupool to end", \
		.offset = offsetof(type, common.no_wait)                        \
	}

/* "gpupool: MESSAGE" on standard error; returns CODE. */
int fail(enum exit_code code, const struct error *error);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Lines that may hold names of strangers: what a terminal would obey becomes '?'. */
void print_text(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Standard output could not be written (a full disk): said once, EXIT_FAILED. */
int finish_output(int code);

void print_reason(const struct reason *reason, FILE *out);
/* Prints a refusal as --json or to standard error; AT (may be NULL): the sentence with file and
 * line, for a Pod that was refused while it was read. Returns the exit code
 * for RESULT. */
int refuse(const struct common_options *common, int result, const struct reason *reason,
	   const struct error *at);

void print_columns(struct columns *columns, FILE *out);
int print_json(struct json_object *object);

/* The line above the cards: the driver root and the versions. */
void print_driver(const struct inventory *inventory, FILE *out);
void print_cards(const struct inventory *inventory, const struct local_holders *holders, FILE *out);
void print_holders(const struct inventory *inventory, const struct local_holders *holders,
		   FILE *out);
/* Asked, granted a line a card, enforcement. */
void print_grant(const struct local_session *session, const struct local_job *job, FILE *out);
/* The same for `run`, where what was asked stands on the command line. */
void say_grant(const struct local_session *session, const struct local_job *job);
/* "real" or "simulated": whether the running kernel itself vouches for the driver. */
const char *reality(const struct inventory *inventory);

/* What a caller wants to see of pods_run(); the zero value sees nothing. */
struct pods_view {
	bool inherit; /* the caller's environment, not a Pod's clean one */
	bool plans;   /* print grants and plans on standard output also when containers are made */
	/* Called once all containers are made and none has started; < 0 stops. */
	int (*look)(struct local_session *session, void *data, struct error *error);
	void *data;
};
/* Runs, or plans with dry_run, all containers of PODS at once; returns the exit code. */
int pods_run(const struct common_options *common, const struct pod *pods, size_t count,
	     const struct pods_view *view);
/* Reads every Pod of a manifest file. *ret and its items belong to the caller. */
int pods_read(const char *path, struct pod **ret, size_t *ret_count, struct reason *ret_reason,
	      struct error *error);
int pods_from_stream(const struct yaml_stream *stream, struct pod **ret, size_t *ret_count,
		     struct reason *ret_reason, struct error *error);
void pods_free(struct pod *pods, size_t count);

/* Copies lines from the returned descriptor's pipe to OUTPUT with PREFIX before each, in a process
 * of its own that ends with the last writer. */
int prefix_start(const char *prefix, int output, int *ret_write, pid_t *ret_pid,
		 struct error *error);

extern const struct command command_apply, command_bench_place, command_cdi_diff,
	command_cdi_generate, command_cdi_list, command_cdi_validate, command_demo, command_doctor,
	command_inventory, command_run, command_sim_compare, command_sim_explain, command_sim_fit,
	command_sim_fragments, command_sim_generate, command_sim_replay, command_sim_run,
	command_sim_whatif;
extern const struct command command_configure, command_system_links, command_system_nodes;
