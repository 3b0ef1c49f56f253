/* SPDX-License-Identifier: Apache-2.0 */
/* Places in a TOML text, blanks, comments and the four kinds of strings. */
#include "base/toml_reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int toml_fail(const struct toml_reader *reader, const char *at, int number, const char *format, ...)
{
	unsigned long line = 1, column = 1;
	va_list arguments;
	char what[512];

	for (const char *byte = reader->text; byte < at; byte++) {
		column++;
		if (*byte == '\n') {
			line++;
			column = 1;
		}
	}
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return error_set(reader->error, number, "%s:%lu:%lu: %s", reader->name, line, column, what);
}

int toml_expect(const struct toml_reader *reader, const char *wanted)
{
	if (reader->at == reader->end)
		return toml_fail(reader, reader->at, EINVAL,
				 "the text ends where %s should be; it may be cut off", wanted);
	if (*reader->at == '\n' || *reader->at == '\r')
		return toml_fail(reader, reader->at, EINVAL,
				 "the line ends where %s should be; correct the text here", wanted);
	if ((unsigned char)*reader->at < 0x21 || (unsigned char)*reader->at > 0x7e)
		return toml_fail(reader, reader->at, EINVAL,
				 "byte 0x%02x where %s should be; correct the text here",
				 (unsigned char)*reader->at, wanted);
	return toml_fail(reader, reader->at, EINVAL,
			 "'%c' where %s should be; correct the text here", *reader->at, wanted);
}

bool toml_take(struct toml_reader *reader, char wanted)
{
	if (reader->at == reader->end || *reader->at != wanted)
		return false;
	reader->at++;
	return true;
}

void toml_skip_blank(struct toml_reader *reader)
{
	while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t'))
		reader->at++;
}

bool toml_take_newline(struct toml_reader *reader)
{
	size_t length = reader->at < reader->end && *reader->at == '\r';

	if (reader->at + length >= reader->end || reader->at[length] != '\n')
		return false;
	reader->at += length + 1;
	reader->line++;
	return true;
}

static bool is_control(char byte)
{
	return ((unsigned char)byte < 0x20 && byte != '\t') || byte == 0x7f;
}

int toml_skip_comment(struct toml_reader *reader)
{
	if (!toml_take(reader, '#'))
		return 0;
	while (reader->at < reader->end && !is_control(*reader->at))
		reader->at++;
	if (reader->at == reader->end || *reader->at == '\n' ||
	    (*reader->at == '\r' && reader->at + 1 < reader->end && reader->at[1] == '\n'))
		return 0;
	return toml_fail(reader, reader->at, EINVAL,
			 "the control character 0x%02x in a comment; remove it",
			 (unsigned char)*reader->at);
}

static void add_code_point(struct strbuf *text, unsigned code)
{
	static const struct {
		unsigned below, lead, shift;
	} forms[] = {
		{ 0x80, 0, 0 }, { 0x800, 0xc0, 6 }, { 0x10000, 0xe0, 12 }, { ~0u, 0xf0, 18 }
	};
	size_t form = 0;

	while (code >= forms[form].below)
		form++;
	unsigned shift = forms[form].shift;
	strbuf_addc(text, (char)(forms[form].lead | code >> shift));
	while (shift) {
		shift -= 6;
		strbuf_addc(text, (char)(0x80 | (code >> shift & 0x3f)));
	}
}

/* After "\u" or "\U": COUNT hexadecimal digits. */
static int read_code_point(struct toml_reader *reader, unsigned count)
{
	static const char digits[] = "0123456789abcdef";
	const char *start = reader->at - 2;
	unsigned code = 0;

	for (unsigned i = 0; i < count; i++) {
		char digit = reader->at < reader->end ? *reader->at : '\0';
		const char *found =
			digit ? strchr(digits, digit | (digit >= 'A' ? 0x20 : 0)) : NULL;

		if (!found)
			return toml_expect(reader, count == 4 ? "one of four hexadecimal digits"
							      : "one of eight hexadecimal digits");
		code = code << 4 | (unsigned)(found - digits);
		reader->at++;
	}
	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return toml_fail(reader, start, EINVAL,
				 "U+%04X is no character; write the character itself", code);
	add_code_point(&reader->scratch, code);
	return 0;
}

/* After a backslash at the end of a line: all blanks and newlines that follow are left out. */
static bool skip_line_end(struct toml_reader *reader)
{
	struct toml_reader ahead = *reader;

	toml_skip_blank(&ahead);
	if (!toml_take_newline(&ahead))
		return false;
	do
		toml_skip_blank(&ahead);
	while (toml_take_newline(&ahead));
	reader->at = ahead.at;
	reader->line = ahead.line;
	return true;
}

static int read_escape(struct toml_reader *reader, bool multiline)
{
	static const char names[] = "\"\\bfnrt", values[] = "\"\\\b\f\n\r\t";
	const char *found = NULL;

	if (toml_take(reader, 'u'))
		return read_code_point(reader, 4);
	if (toml_take(reader, 'U'))
		return read_code_point(reader, 8);
	if (multiline && skip_line_end(reader))
		return 0;
	if (reader->at < reader->end && *reader->at)
		found = strchr(names, *reader->at);
	if (!found)
		return toml_expect(reader, "an escape (one of \"\\bfnrtuU)");
	strbuf_addc(&reader->scratch, values[found - names]);
	reader->at++;
	return 0;
}

/* At a quote of a string of several lines: true when it ends here. Up to two quotes may stand
 * before the three that end it. */
static bool take_end(struct toml_reader *reader, char quote)
{
	size_t count = 0;

	while (count < 5 && reader->at + count < reader->end && reader->at[count] == quote)
		count++;
	size_t kept = count < 3 ? count : count - 3;
	for (size_t i = 0; i < kept; i++)
		strbuf_addc(&reader->scratch, quote);
	reader->at += count;
	return count >= 3;
}

/* What stands before the next byte that needs a look. */
static void read_plain(struct toml_reader *reader, char quote)
{
	const char *start = reader->at;

	while (reader->at < reader->end && *reader->at != quote && !is_control(*reader->at) &&
	       (*reader->at != '\\' || quote == '\''))
		reader->at++;
	strbuf_add(&reader->scratch, start, (size_t)(reader->at - start));
}

/* One step in a string of several lines; 1 at its end. */
static int read_multiline_step(struct toml_reader *reader, char quote)
{
	const char *start = reader->at;

	read_plain(reader, quote);
	if (reader->at < reader->end && *reader->at == quote)
		return take_end(reader, quote);
	start = reader->at;
	if (toml_take_newline(reader)) {
		strbuf_add(&reader->scratch, start, (size_t)(reader->at - start));
		return 0;
	}
	if (quote == '"' && toml_take(reader, '\\'))
		return read_escape(reader, true);
	return toml_expect(reader, quote == '"' ? "a character of a string or its closing '\"\"\"'"
						: "a character of a string or its closing \"'''\"");
}

static int read_multiline(struct toml_reader *reader, char quote)
{
	int r = 0;

	toml_take_newline(reader); /* right after the quotes it does not count */
	while (r == 0)
		r = read_multiline_step(reader, quote);
	return r < 0 ? r : 0;
}

static int read_one_line(struct toml_reader *reader, char quote)
{
	for (;;) {
		read_plain(reader, quote);
		if (toml_take(reader, quote))
			return 0;
		if (quote == '\'' || !toml_take(reader, '\\'))
			return toml_expect(
				reader, quote == '"'
						? "a character of a string or its closing '\"'"
						: "a character of a string or its closing \"'\"");
		int r = read_escape(reader, false);
		if (r < 0)
			return r;
	}
}

int toml_read_string(struct toml_reader *reader, bool multiline)
{
	char quote = *reader->at++;
	int r;

	strbuf_reset(&reader->scratch);
	if (multiline && reader->end - reader->at >= 2 && reader->at[0] == quote &&
	    reader->at[1] == quote) {
		reader->at += 2;
		r = read_multiline(reader, quote);
	} else {
		r = read_one_line(reader, quote);
	}
	if (r == 0 && strbuf_failed(&reader->scratch) < 0)
		return error_no_memory(reader->error);
	return r;
}
