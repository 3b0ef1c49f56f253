/* SPDX-License-Identifier: Apache-2.0 */
/* Help, man page and completion from the tables. */
#include "base/option.h"

#include <string.h>

#include "base/strbuf.h"

#define HELP_INDENT 28 /* where the texts of options begin */
#define HELP_WIDTH  80

static const struct option_row help_row = {
	.name = "help", .letter = 'h', .kind = OPTION_FLAG, .help = "print this help"
};

static const char *row_argument(const struct option_row *row)
{
	if (row->kind == OPTION_FLAG)
		return NULL;
	return row->argument ? row->argument : row->choices;
}

/* "which card when several fit: binpack, spread or topology (default: spread)" */
static void add_row_text(const struct option_row *row, struct strbuf *out)
{
	strbuf_adds(out, row->help);
	/* Without an argument's name the choices stand there already. */
	for (const char *at = row->argument && row->choices ? row->choices : ""; *at;) {
		size_t length = strcspn(at, "|");
		const char *lead = at == row->choices ? ": " : at[length] ? ", " : " or ";

		strbuf_adds(out, lead);
		strbuf_add(out, at, length);
		at += length + (at[length] == '|');
	}
	if (row->fallback)
		strbuf_addf(out, " (default: %s)", row->fallback);
}

void option_print_wrapped(const char *text, size_t length, size_t column, size_t indent, FILE *out)
{
	bool first = true;

	while (length) {
		size_t word = 0, blanks = strspn(text, " ");

		if (blanks > length)
			blanks = length;
		text += blanks;
		length -= blanks;
		while (word < length && text[word] != ' ')
			word++;
		if (!word)
			break;
		if (!first && column + 1 + word > HELP_WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)word, text);
		column += word;
		text += word;
		length -= word;
		first = false;
	}
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
	autostrbuf text = STRBUF_INIT(4096);
	add_row_text(row, &text);
	fprintf(out, "%*s", HELP_INDENT - width, "");
	option_print_wrapped(text.data, text.length, HELP_INDENT, HELP_INDENT, out);
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

/* A paragraph a line of TEXT; a line that is indented keeps its form. */
static void print_help_text(const char *text, FILE *out)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		if (*text == ' ')
			fprintf(out, "%.*s", (int)length, text);
		else
			option_print_wrapped(text, length, 0, 0, out);
		fputc('\n', out);
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
		print_help_text(command->description, out);
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

static void print_command_line(const struct command *command, FILE *out)
{
	int width = HELP_INDENT - 12;

	if (strlen(command->name) > (size_t)width)
		fprintf(out, "  %s\n  %*s %s\n", command->name, width, "", command->summary);
	else
		fprintf(out, "  %-*s %s\n", width, command->name, command->summary);
}

void option_print_group(const struct program *program, const char *group, FILE *out)
{
	fprintf(out, "Usage: %s %s COMMAND [OPTION...] [OPERAND...]\n\nCommands:\n", program->name,
		group);
	for (const struct command *const *at = program->commands; *at; at++)
		if (command_in_group(*at, group))
			print_command_line(*at, out);
	fprintf(out, "\n'%s help %s COMMAND' explains one of them.\n", program->name, group);
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
		print_help_text(program->description, out);
	}
	fprintf(out, "\nCommands:\n");
	for (const struct command *const *at = program->commands; *at; at++)
		print_command_line(*at, out);
	fprintf(out,
		"\n'%s help COMMAND' explains one of them, '%s --version' prints the version.\n",
		program->name, program->name);
}

void option_print_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("\\*_`<>#+-|[];", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* Text of several lines; a line that is indented begins a line there too. */
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
		option_print_escaped(line, out);
		text += length + (text[length] == '\n');
		fputs(length && (*text == ' ' || *text == '\t') ? "++\n" : "\n", out);
	}
	fputc('\n', out);
}

static void print_man_row(const struct option_row *row, FILE *out)
{
	const char *argument = row_argument(row);

	if (row->letter)
		fprintf(out, "*-%c*, ", row->letter);
	fputs("*--", out);
	option_print_escaped(row->name, out);
	fputc('*', out);
	if (argument) {
		fputs(" _", out);
		option_print_escaped(argument, out);
		fputc('_', out);
	}
	fputs("\n\t", out);
	autostrbuf text = STRBUF_INIT(4096);
	add_row_text(row, &text);
	option_print_escaped(text.data, out);
	fputs("\n\n", out);
}

static void print_man_command(const struct program *program, const struct command *command,
			      FILE *out)
{
	fputs("## ", out);
	option_print_escaped(command->name, out);
	fprintf(out, "\n\n*%s %s* [_OPTION_...]%s", program->name, command->name,
		blank_before(command->operands));
	option_print_escaped(or_empty(command->operands), out);
	fputs("\n\n", out);
	option_print_escaped(command->summary, out);
	fputs("\n\n", out);
	if (command->description)
		print_paragraphs(command->description, out);
	for (const struct option_row *row = command->options; row && row->name; row++)
		print_man_row(row, out);
	if (command->examples) {
		fputs("Examples:\n\n```\n", out);
		print_lines(command->examples, "", out);
		fputs("```\n\n", out);
	}
}

void option_print_man(const struct program *program, FILE *out)
{
	fprintf(out, "%s(1)\n\n# NAME\n\n%s - ", program->name, program->name);
	option_print_escaped(program->summary, out);
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
	if (program->see_also)
		fprintf(out, "\n# SEE ALSO\n\n%s\n", program->see_also);
}

/* "'run':--runtime) words='runc crun';;" for what has choices, else files are completed. */
static void print_completion_values(const struct command *command, FILE *out)
{
	for (const struct option_row *row = command->options; row && row->name; row++) {
		if (row->kind == OPTION_FLAG)
			continue;
		fprintf(out, "\t'%s':--%s", command->name, row->name);
		if (row->letter)
			fprintf(out, "|'%s':-%c", command->name, row->letter);
		fputs(") words='", out);
		for (const char *at = row->choices ? row->choices : ""; *at; at++)
			fputc(*at == '|' ? ' ' : *at, out);
		fputs("' value=1;;\n", out);
	}
}

static void print_completion_names(const struct command *command, FILE *out)
{
	fprintf(out, "\t\t'%s') words='--help", command->name);
	for (const struct option_row *row = command->options; row && row->name; row++)
		fprintf(out, " --%s", row->name);
	fputs("';;\n", out);
}

/* The length of the group's name in a command's name, 0 for a command without one. */
static int group_length(const struct command *command)
{
	const char *blank = strchr(command->name, ' ');

	return blank ? (int)(blank - command->name) : 0;
}

/* Is AT the first command of its group (or of none)? */
static bool group_starts(const struct program *program, const struct command *const *at)
{
	int length = group_length(*at);

	for (const struct command *const *past = program->commands; length && past < at; past++)
		if (strncmp((*past)->name, (*at)->name, (size_t)length + 1) == 0)
			return false;
	return true;
}

/* "sim) [ 2 is completed ] && words='run compare'; command='sim '${COMP_WORDS[2]};;" */
static void print_completion_groups(const struct program *program, FILE *out)
{
	for (const struct command *const *at = program->commands; *at; at++) {
		int length = group_length(*at);

		if (!length || !group_starts(program, at))
			continue;
		fprintf(out, "\t%.*s) command=\"$command ${COMP_WORDS[2]}\"\n", length,
			(*at)->name);
		fputs("\t\t[ \"$COMP_CWORD\" -eq 2 ] && words='--help", out);
		for (const struct command *const *other = at; *other; other++)
			if (strncmp((*other)->name, (*at)->name, (size_t)length + 1) == 0)
				fprintf(out, " %s", (*other)->name + length + 1);
		fputs("';;\n", out);
	}
}

static void print_program_id(const struct program *program, FILE *out)
{
	for (const char *at = program->name; *at; at++)
		fputc(*at == '-' ? '_' : *at, out);
}

void option_print_completion(const struct program *program, FILE *out)
{
	fputs("# bash completion; made from the option tables of the program\n_", out);
	print_program_id(program, out);
	fputs("()\n{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words='' "
	      "value=''\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\twords='help --help --version",
	      out);
	for (const struct command *const *at = program->commands; *at; at++)
		if (group_starts(program, at))
			fprintf(out, " %.*s", (int)strcspn((*at)->name, " "), (*at)->name);
	fputs("'\n"
	      "\tfi\n"
	      "\tcase $command in\n"
	      "\t'') ;;\n",
	      out);
	print_completion_groups(program, out);
	fputs("\tesac\n"
	      "\tif [ -n \"$words\" ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase $command:${COMP_WORDS[COMP_CWORD-1]} in\n",
	      out);
	for (const struct command *const *at = program->commands; *at; at++)
		print_completion_values(*at, out);
	fputs("\tesac\n"
	      "\tif [ -z \"$value\" ] && [ \"${current#-}\" != \"$current\" ]; then\n"
	      "\t\tcase $command in\n",
	      out);
	for (const struct command *const *at = program->commands; *at; at++)
		print_completion_names(*at, out);
	fputs("\t\tesac\n"
	      "\tfi\n"
	      "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
	      "}\n",
	      out);
	fputs("complete -o default -F _", out);
	print_program_id(program, out);
	fprintf(out, " %s\n", program->name);
}
