/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands and options as tables. Parsing, --help, the man page and the shell completion all come
 * from these rows; there is no second list.
 *
 * How to add an option: one row in the command's table and one field in its options structure.
 * How to add a command: one file that ends in a `const struct command`, one line in the program's
 * command list (cmd/<program>/main.c), one line in meson.build. test/cli/tables.bats complains
 * when one is missing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

enum option_kind {
	OPTION_FLAG,   /* bool: true when given */
	OPTION_STRING, /* const char *: the argument, not copied */
	OPTION_UINT,   /* unsigned long: decimal, between minimum and maximum */
	OPTION_CHOICE, /* const char *: one of choices */
	OPTION_LIST,   /* struct option_list: each use adds one */
};

struct option_list {
	const char **items; /* owned; the strings are argv's */
	size_t count, capacity;
};

struct option_row {
	const char *name; /* long name without dashes */
	char letter;      /* short name, or 0 */
	enum option_kind kind;
	const char *argument;           /* "N", "FILE"; NULL for flags */
	const char *help;               /* one line, lower case, no full stop */
	size_t offset;                  /* offsetof() in the options structure */
	unsigned long minimum, maximum; /* of OPTION_UINT; both 0: any number */
	const char *choices;            /* "runc|crun" */
	const char *fallback; /* what counts when it is not given, as it would be typed; or NULL */
};

struct command {
	const char *name;                 /* "run"; "sim run" is the command run of the group sim */
	const char *summary;              /* one line, lower case */
	const char *operands;             /* "[--] COMMAND [ARG...]", or "" */
	const char *description;          /* paragraphs for --help and man, or NULL */
	const char *examples;             /* lines for --help and man, or NULL */
	const struct option_row *options; /* ends with a row without a name; may be NULL */
	/* ARGC/ARGV are the operands that remain. Returns the exit code of the program. */
	int (*run)(void *options, int argc, char **argv);
	size_t size; /* of the options structure */
	/*
	 * The first operand ends the options, since what follows belongs to another program
	 * ("run ... nvidia-smi -L"). Without it options and operands mix, as GNU tools allow.
	 */
	bool stops_at_operand;
};

struct program {
	const char *name, *summary, *description;
	const struct command *const *commands; /* ends with NULL */
	const char *see_also; /* of the man page, as scdoc has it: "*other*(8)"; NULL: none */
};

/*
 * Parses options of COMMAND from argv[1..] into OPTIONS, which the caller has zeroed; "--" ends
 * them. Forms: --name=value, --name value, -nvalue, -n value, -abc for flags. Operands are moved
 * behind the options; *ret_operands is the index of the first. Errors (-EINVAL) end with what to
 * type instead; -ECANCELED says that --help was asked for. Free with option_release() either way.
 */
int option_parse(const struct command *command, int argc, char **argv, void *options,
		 int *ret_operands, struct error *error);
void option_release(const struct command *command, void *options);

/* Runs the command that argv[1] (and for a group argv[2]) names: parses, answers --help, --version, "help", --print-man and
 * --print-completion. Returns the exit code; usage errors print one sentence on standard error and
 * return 2. Whether standard output could be written is left to the caller, at the end of all. */
int program_main(const struct program *program, int argc, char **argv);

void option_print_help(const struct program *program, const struct command *command, FILE *out);
/* The commands of the group only. */
void option_print_group(const struct program *program, const char *group, FILE *out);
void option_print_man(const struct program *program, FILE *out);        /* scdoc source */
void option_print_completion(const struct program *program, FILE *out); /* bash */

/* LENGTH bytes of TEXT from COLUMN on, broken at blanks before column 80 and continued at INDENT. */
void option_print_wrapped(const char *text, size_t length, size_t column, size_t indent, FILE *out);
/* TEXT for scdoc, without the meaning that it gives to some characters. A line that starts with "." it loses in
 * any case: write none. */
void option_print_escaped(const char *text, FILE *out);

/* Is COMMAND one of GROUP ("sim run" of "sim")? */
bool command_in_group(const struct command *command, const char *group);
