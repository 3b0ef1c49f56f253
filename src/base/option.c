/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing and running; the texts made from the same tables are in option_text.c. */
#include "base/option.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/vec.h"

#define EXIT_USAGE 2

struct option_reader {
	const struct command *command;
	int argc;
	char **argv;
	int at;    /* argument that is looked at */
	int first; /* operands met so far are argv[first..at) */
	void *options;
	struct error *error;
};

static void *row_field(const struct option_row *row, void *options)
{
	return (char *)options + row->offset;
}

static int set_flag(const struct option_row *row, void *field, const char *text,
		    struct error *error)
{
	(void)row;
	(void)text;
	(void)error;
	*(bool *)field = true;
	return 0;
}

static int set_string(const struct option_row *row, void *field, const char *text,
		      struct error *error)
{
	(void)row;
	(void)error;
	*(const char **)field = text;
	return 0;
}

static int set_uint(const struct option_row *row, void *field, const char *text,
		    struct error *error)
{
	unsigned long maximum = row->minimum || row->maximum ? row->maximum : ULONG_MAX;
	uint64_t value = 0;

	if (parse_uint(text, row->minimum, maximum, &value) < 0)
		return error_set(error, EINVAL,
				 "--%s wants a whole number from %lu to %lu, not '%s'; write for "
				 "example --%s %lu",
				 row->name, row->minimum, maximum, text, row->name,
				 row->minimum ? row->minimum : 1);
	*(unsigned long *)field = (unsigned long)value;
	return 0;
}

static int set_choice(const struct option_row *row, void *field, const char *text,
		      struct error *error)
{
	if (parse_choice(row->choices, text) < 0)
		return error_set(error, EINVAL,
				 "--%s wants one of %s, not '%s'; write for example "
				 "--%s %.*s",
				 row->name, row->choices, text, row->name,
				 (int)strcspn(row->choices, "|"), row->choices);
	*(const char **)field = text;
	return 0;
}

static int set_list(const struct option_row *row, void *field, const char *text,
		    struct error *error)
{
	struct option_list *list = field;
	const char **item = VEC_ADD(&list->items, &list->count, &list->capacity);

	(void)row;
	if (!item)
		return error_no_memory(error);
	*item = text;
	return 0;
}

static int row_set(const struct option_row *row, void *options, const char *text,
		   struct error *error)
{
	static int (*const setters[])(const struct option_row *, void *, const char *,
				      struct error *) = {
		[OPTION_FLAG] = set_flag, [OPTION_STRING] = set_string,
		[OPTION_UINT] = set_uint, [OPTION_CHOICE] = set_choice,
		[OPTION_LIST] = set_list,
	};

	return setters[row->kind](row, row_field(row, options), text, error);
}

/* Moves the COUNT arguments of an option, now at [at], in front of the operands before them. */
static void reader_consume(struct option_reader *reader, int count)
{
	char *taken[2] = { NULL, NULL };
	size_t operands = (size_t)(reader->at - reader->first);

	memcpy(taken, reader->argv + reader->at, (size_t)count * sizeof(*taken));
	memmove(reader->argv + reader->first + count, reader->argv + reader->first,
		operands * sizeof(*taken));
	memcpy(reader->argv + reader->first, taken, (size_t)count * sizeof(*taken));
	reader->first += count;
	reader->at += count;
}

static int fail_unknown(const struct option_reader *reader, const char *name)
{
	const struct option_row *row = reader->command->options;
	struct nearest nearest = { .name = NULL };

	for (; row && row->name; row++)
		parse_nearest(&nearest, row->name, name);
	if (nearest.name)
		return error_set(reader->error, EINVAL,
				 "'%s' has no option --%s; did you mean --%s?",
				 reader->command->name, name, nearest.name);
	return error_set(reader->error, EINVAL, "'%s' has no option --%s; '%s --help' lists them",
			 reader->command->name, name, reader->command->name);
}

static const struct option_row *row_by_name(const struct option_row *rows, const char *name)
{
	for (; rows && rows->name; rows++)
		if (strcmp(rows->name, name) == 0)
			return rows;
	return NULL;
}

/* Sets ROW from VALUE, or where that is NULL from the next argument, and moves on. */
static int read_value(struct option_reader *reader, const struct option_row *row, const char *value)
{
	int used = 1;

	if (row->kind != OPTION_FLAG && !value) {
		if (reader->at + 1 >= reader->argc)
			return error_set(reader->error, EINVAL, "--%s wants a value; write --%s %s",
					 row->name, row->name,
					 row->argument ? row->argument : row->choices);
		value = reader->argv[reader->at + 1];
		used = 2;
	}
	int r = row_set(row, reader->options, value, reader->error);
	if (r == 0)
		reader_consume(reader, used);
	return r;
}

static int fail_help(const struct option_reader *reader)
{
	return error_set(reader->error, ECANCELED, "help was asked for");
}

static int read_long(struct option_reader *reader)
{
	const char *text = reader->argv[reader->at] + 2;
	size_t length = strcspn(text, "=");
	const char *value = text[length] ? text + length + 1 : NULL;
	char name[64];

	if (!length || length >= sizeof(name))
		return fail_unknown(reader, text);
	memcpy(name, text, length);
	name[length] = '\0';
	const struct option_row *row = row_by_name(reader->command->options, name);
	if (!row)
		return strcmp(name, "help") == 0 ? fail_help(reader) : fail_unknown(reader, name);
	if (row->kind == OPTION_FLAG && value)
		return error_set(reader->error, EINVAL, "--%s takes no value; write --%s alone",
				 row->name, row->name);
	return read_value(reader, row, value);
}

static int fail_letter(const struct option_reader *reader, char letter)
{
	if (letter == 'h')
		return fail_help(reader);
	return error_set(reader->error, EINVAL, "'%s' has no option -%c; '%s --help' lists them",
			 reader->command->name, letter, reader->command->name);
}

/* "-abc": flags, of which the last may be an option that takes the rest or the next argument. */
static int read_letters(struct option_reader *reader)
{
	for (const char *at = reader->argv[reader->at] + 1; *at; at++) {
		const struct option_row *row = reader->command->options;

		while (row && row->name && row->letter != *at)
			row++;
		if (!row || !row->name)
			return fail_letter(reader, *at);
		if (row->kind != OPTION_FLAG)
			return read_value(reader, row, at[1] ? at + 1 : NULL);
		int r = row_set(row, reader->options, NULL, reader->error);
		if (r < 0)
			return r;
	}
	reader_consume(reader, 1);
	return 0;
}

static int set_fallbacks(const struct option_reader *reader)
{
	const struct option_row *row = reader->command->options;

	for (; row && row->name; row++) {
		if (!row->fallback)
			continue;
		int r = row_set(row, reader->options, row->fallback, reader->error);
		if (r < 0)
			return r;
	}
	return 0;
}

int option_parse(const struct command *command, int argc, char **argv, void *options,
		 int *ret_operands, struct error *error)
{
	struct option_reader reader = { .command = command,
					.argc = argc,
					.argv = argv,
					.at = 1,
					.first = 1,
					.options = options,
					.error = error };

	int r = set_fallbacks(&reader);
	while (r == 0 && reader.at < argc) {
		const char *argument = argv[reader.at];

		if (argument[0] != '-' || !argument[1]) {
			if (command->stops_at_operand)
				break;
			reader.at++;
		} else if (strcmp(argument, "--") == 0) {
			reader_consume(&reader, 1);
			break;
		} else if (argument[1] == '-') {
			r = read_long(&reader);
		} else {
			r = read_letters(&reader);
		}
	}
	if (r < 0)
		return r;
	*ret_operands = reader.first;
	return 0;
}

void option_release(const struct command *command, void *options)
{
	const struct option_row *row = command->options;

	for (; row && row->name; row++) {
		if (row->kind != OPTION_LIST)
			continue;
		struct option_list *list = row_field(row, options);
		free(list->items);
		*list = (struct option_list){ 0 };
	}
}

bool command_in_group(const struct command *command, const char *group)
{
	size_t length = strlen(group);

	return strncmp(command->name, group, length) == 0 && command->name[length] == ' ';
}

/* Does the program have a group of that name? */
static bool group_exists(const struct program *program, const char *name)
{
	for (const struct command *const *at = program->commands; *at; at++)
		if (command_in_group(*at, name))
			return true;
	return false;
}

/* How many of the words name the command: 1, for one of a group 2; 0 when they do not. */
static int command_words(const struct command *command, int argc, char **argv)
{
	if (argc > 0 && strcmp(command->name, argv[0]) == 0)
		return 1;
	if (argc > 1 && command_in_group(command, argv[0]) &&
	    strcmp(command->name + strlen(argv[0]) + 1, argv[1]) == 0)
		return 2;
	return 0;
}

static const struct command *command_find(const struct program *program, int argc, char **argv,
					  int *ret_words)
{
	for (const struct command *const *at = program->commands; *at; at++) {
		*ret_words = command_words(*at, argc, argv);
		if (*ret_words)
			return *at;
	}
	return NULL;
}

static int fail_usage(const struct program *program, const char *message)
{
	fprintf(stderr, "%s: %s\n", program->name, message);
	return EXIT_USAGE;
}

static int fail_memory(const struct program *program)
{
	fprintf(stderr, "%s: out of memory\n", program->name);
	return EXIT_FAILURE;
}

/* The words of the command line that were meant to name a command: "sim rnu", "rnu". */
static void name_meant(const struct program *program, int argc, char **argv, struct strbuf *ret)
{
	strbuf_adds(ret, argv[0]);
	if (argc > 1 && group_exists(program, argv[0]))
		strbuf_addf(ret, " %s", argv[1]);
}

static int fail_command(const struct program *program, int argc, char **argv)
{
	autostrbuf name = STRBUF_INIT(4096);
	struct nearest nearest = { .name = NULL };

	name_meant(program, argc, argv, &name);
	for (const struct command *const *at = program->commands; *at; at++)
		parse_nearest(&nearest, (*at)->name, name.data);
	if (group_exists(program, argv[0]) && argc < 2)
		fprintf(stderr, "%s: name a command of '%s'; '%s %s --help' lists them\n",
			program->name, argv[0], program->name, argv[0]);
	else if (nearest.name)
		fprintf(stderr, "%s: no command '%s'; did you mean '%s'?\n", program->name,
			name.data, nearest.name);
	else
		fprintf(stderr, "%s: no command '%s'; '%s --help' lists them\n", program->name,
			name.data, program->name);
	return EXIT_USAGE;
}

static int run_help(const struct program *program, int argc, char **argv)
{
	const struct command *command = NULL;
	int words;

	if (argc > 2) {
		command = command_find(program, argc - 2, argv + 2, &words);
		if (!command && argc == 3 && group_exists(program, argv[2])) {
			option_print_group(program, argv[2], stdout);
			return 0;
		}
		if (!command)
			return fail_command(program, argc - 2, argv + 2);
	}
	option_print_help(program, command, stdout);
	return 0;
}

static int run_version(const struct program *program, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("%s %s\n", program->name, GPUPOOL_VERSION);
	return 0;
}

static int run_man(const struct program *program, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	option_print_man(program, stdout);
	return 0;
}

static int run_completion(const struct program *program, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	option_print_completion(program, stdout);
	return 0;
}

/* What every program answers before its own commands. */
static const struct builtin {
	const char *name;
	int (*run)(const struct program *program, int argc, char **argv);
} builtins[] = {
	{ "help", run_help },       { "--help", run_help },
	{ "-h", run_help },         { "--version", run_version },
	{ "--print-man", run_man }, { "--print-completion", run_completion },
};

static int command_run(const struct program *program, const struct command *command, int argc,
		       char **argv)
{
	autofree void *options = calloc(1, command->size ? command->size : 1);
	struct error error = ERROR_INIT;
	int operands = 0, code;

	if (!options)
		return fail_memory(program);
	int r = option_parse(command, argc, argv, options, &operands, &error);
	if (r == -ECANCELED) {
		option_print_help(program, command, stdout);
		code = 0;
	} else if (r == -ENOMEM) {
		code = fail_memory(program);
	} else if (r < 0) {
		code = fail_usage(program, error.message);
	} else if (operands < argc && (!command->operands || !*command->operands)) {
		error_set(&error, EINVAL, "'%s' takes no operand, but '%s' was given; remove it",
			  command->name, argv[operands]);
		code = fail_usage(program, error.message);
	} else {
		code = command->run(options, argc - operands, argv + operands);
	}
	option_release(command, options);
	return code;
}

int program_main(const struct program *program, int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "%s: name a command; '%s --help' lists them\n", program->name,
			program->name);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		if (strcmp(argv[1], builtins[i].name) == 0)
			return builtins[i].run(program, argc, argv);
	int words = 0;
	const struct command *command = command_find(program, argc - 1, argv + 1, &words);
	if (command)
		return command_run(program, command, argc - words, argv + words);
	if (argc > 2 && group_exists(program, argv[1]) &&
	    (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
		option_print_group(program, argv[1], stdout);
		return 0;
	}
	if (argv[1][0] != '-')
		return fail_command(program, argc - 1, argv + 1);
	fprintf(stderr, "%s: no option %s here; options follow a command, '%s --help' lists both\n",
		program->name, argv[1], program->name);
	return EXIT_USAGE;
}
