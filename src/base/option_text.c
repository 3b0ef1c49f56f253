/* SPDX-License-Identifier: Apache-2.0 */
/* Help, man page and completion from the tables. */
#include "base/option.h"

#include <string.h>

#define HELP_INDENT 28 /* where the texts of options begin */

static const struct option_row help_row = {
	.name = "help", .letter = 'h', .kind = OPTION_FLAG, .help = "print this help"
};

static const char *row_argument(const struct option_row *row)
{
	if (row->kind == OPTION_FLAG)
		return NULL;
	return row->argument ? row->argument : row->choices;
}

static void print_help_row(const struct option_row *row, FILE *out)
{
	const char *argument = row_argument(row);
	int width = row->letter ? fprintf(out, "  -%c, --%s", row->letter, row->name)
				: fprintf(out, "      --%s", row->name);

	if (argument)
		width += fprintf(out, " %s", argument);
	if (width > HELP_INDENT - 2) {
		fputc('\n', out);
		width = 0;
	}
	fprintf(out, "%*s%s", HELP_INDENT - width, "", row->help);
	if (row->fallback)
		fprintf(out, " (default: %s)", row->fallback);
	fputc('\n', out);
}

/* Each line of TEXT, indented. */
static void print_lines(const char *text, const char *indent, FILE *out)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		fprintf(out, "%s%.*s\n", length ? indent : "", (int)length, text);
		text += length + (text[length] == '\n');
	}
}

static const char *blank_before(const char *operands)
{
	return operands && *operands ? " " : "";
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static void print_command_help(const struct program *program, const struct command *command,
			       FILE *out)
{
	fprintf(out, "Usage: %s %s [OPTION...]%s%s\n\n%s\n", program->name, command->name,
		blank_before(command->operands), or_empty(command->operands), command->summary);
	if (command->description) {
		fputc('\n', out);
		print_lines(command->description, "", out);
	}
	fprintf(out, "\nOptions:\n");
	for (const struct option_row *row = command->options; row && row->name; row++)
		print_help_row(row, out);
	print_help_row(&help_row, out);
	if (command->examples) {
		fprintf(out, "\nExamples:\n");
		print_lines(command->examples, "  ", out);
	}
}

void option_print_help(const struct program *program, const struct command *command, FILE *out)
{
	if (command) {
		print_command_help(program, command, out);
		return;
	}
	fprintf(out, "Usage: %s COMMAND [OPTION...] [OPERAND...]\n\n%s\n", program->name,
		program->summary);
	if (program->description) {
		fputc('\n', out);
		print_lines(program->description, "", out);
	}
	fprintf(out, "\nCommands:\n");
	for (const struct command *const *at = program->commands; *at; at++)
		fprintf(out, "  %-*s %s\n", HELP_INDENT - 12, (*at)->name, (*at)->summary);
	fprintf(out,
		"\n'%s help COMMAND' explains one of them, '%s --version' prints the version.\n",
		program->name, program->name);
}

/* scdoc gives these a meaning, some only at the start of a line. A line that starts with "." it
 * loses in any case: write none. */
static void print_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("\\*_`<>#+-|[];", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* Text of several lines; a line that is indented keeps its form. */
static void print_paragraphs(const char *text, FILE *out)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		char line[512];

		while (*text == ' ' || *text == '\t') {
			text++;
			length--;
		}
		if (length >= sizeof(line))
			length = sizeof(line) - 1;
		memcpy(line, text, length);
		line[length] = '\0';
		print_escaped(line, out);
		fputc('\n', out);
		text += length + (text[length] == '\n');
	}
	fputc('\n', out);
}

static void print_man_row(const struct option_row *row, FILE *out)
{
	const char *argument = row_argument(row);

	if (row->letter)
		fprintf(out, "*-%c*, ", row->letter);
	fputs("*--", out);
	print_escaped(row->name, out);
	fputc('*', out);
	if (argument) {
		fputs(" _", out);
		print_escaped(argument, out);
		fputc('_', out);
	}
	fputs("\n\t", out);
	print_escaped(row->help, out);
	if (row->fallback) {
		fputs(" (default: ", out);
		print_escaped(row->fallback, out);
		fputc(')', out);
	}
	fputs("\n\n", out);
}

static void print_man_command(const struct program *program, const struct command *command,
			      FILE *out)
{
	fputs("## ", out);
	print_escaped(command->name, out);
	fprintf(out, "\n\n*%s %s* [_OPTION_...]%s", program->name, command->name,
		blank_before(command->operands));
	print_escaped(or_empty(command->operands), out);
	fputs("\n\n", out);
	print_escaped(command->summary, out);
	fputs("\n\n", out);
	if (command->description)
		print_paragraphs(command->description, out);
	for (const struct option_row *row = command->options; row && row->name; row++)
		print_man_row(row, out);
	if (command->examples) {
		fputs("```\n", out);
		print_lines(command->examples, "", out);
		fputs("```\n\n", out);
	}
}

void option_print_man(const struct program *program, FILE *out)
{
	fprintf(out, "%s(1)\n\n# NAME\n\n%s - ", program->name, program->name);
	print_escaped(program->summary, out);
	fprintf(out, "\n\n# SYNOPSIS\n\n*%s* _COMMAND_ [_OPTION_...] [_OPERAND_...]\n\n",
		program->name);
	if (program->description) {
		fputs("# DESCRIPTION\n\n", out);
		print_paragraphs(program->description, out);
	}
	fputs("# COMMANDS\n\n", out);
	for (const struct command *const *at = program->commands; *at; at++)
		print_man_command(program, *at, out);
	fprintf(out, "Each command answers *--help*; *%s --version* prints the version.\n",
		program->name);
}

/* "--runtime) words='runc crun';;" for what has choices, else files are completed. */
static void print_completion_values(const struct command *command, FILE *out)
{
	for (const struct option_row *row = command->options; row && row->name; row++) {
		if (row->kind == OPTION_FLAG)
			continue;
		fprintf(out, "\t%s:--%s", command->name, row->name);
		if (row->letter)
			fprintf(out, "|%s:-%c", command->name, row->letter);
		fputs(") words='", out);
		for (const char *at = row->choices ? row->choices : ""; *at; at++)
			fputc(*at == '|' ? ' ' : *at, out);
		fputs("' value=1;;\n", out);
	}
}

static void print_completion_names(const struct command *command, FILE *out)
{
	fprintf(out, "\t\t%s) words='--help", command->name);
	for (const struct option_row *row = command->options; row && row->name; row++)
		fprintf(out, " --%s", row->name);
	fputs("';;\n", out);
}

void option_print_completion(const struct program *program, FILE *out)
{
	fputs("# bash completion; made from the option tables of the program\n_", out);
	for (const char *at = program->name; *at; at++)
		fputc(*at == '-' ? '_' : *at, out);
	fputs("()\n{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} words='' value=''\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\twords='help --help --version",
	      out);
	for (const struct command *const *at = program->commands; *at; at++)
		fprintf(out, " %s", (*at)->name);
	fputs("'\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD-1]} in\n",
	      out);
	for (const struct command *const *at = program->commands; *at; at++)
		print_completion_values(*at, out);
	fputs("\tesac\n"
	      "\tif [ -z \"$value\" ] && [ \"${current#-}\" != \"$current\" ]; then\n"
	      "\t\tcase ${COMP_WORDS[1]} in\n",
	      out);
	for (const struct command *const *at = program->commands; *at; at++)
		print_completion_names(*at, out);
	fputs("\t\tesac\n"
	      "\tfi\n"
	      "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
	      "}\n",
	      out);
	fprintf(out, "complete -o default -F _");
	for (const char *at = program->name; *at; at++)
		fputc(*at == '-' ? '_' : *at, out);
	fprintf(out, " %s\n", program->name);
}
