/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/parse.h"
#include "base/strbuf.h"

#define LINE_MAX_BYTES (1u << 20)
#define CHUNK_BYTES    (1u << 16)
#define FIELDS_MAX     4096 /* columns of a file */
#define SHOWN_MAX      64   /* bytes of a field that a message quotes */
#define NO_FIELD       UINT32_MAX

struct csv {
	int fd;
	bool ended; /* nothing more to read from fd */
	char *name; /* owned */
	const struct csv_column *columns;
	size_t column_count;
	uint32_t at[CSV_COLUMNS_MAX];        /* the field of each column, or NO_FIELD */
	const char *fields[CSV_COLUMNS_MAX]; /* of the row, in order of columns */
	uint32_t column_of[FIELDS_MAX];      /* the column of each field, or NO_FIELD */
	size_t width;                        /* fields in the first line */
	unsigned long line;                  /* last one read */
	char *buffer;                        /* owned; LINE_MAX_BYTES + 1 */
	size_t begin, end;                   /* what is read and not yet used */
};

/* Moves what is left to the front and reads more. 0: nothing more came. */
static int csv_fill(struct csv *csv, struct error *error)
{
	memmove(csv->buffer, csv->buffer + csv->begin, csv->end - csv->begin);
	csv->end -= csv->begin;
	csv->begin = 0;
	if (csv->end == LINE_MAX_BYTES)
		return error_set(error, EFBIG,
				 "%s:%lu: the line is longer than %u bytes; this is no CSV file of "
				 "one row a line",
				 csv->name, csv->line + 1, LINE_MAX_BYTES);
	size_t room = LINE_MAX_BYTES - csv->end;
	for (;;) {
		ssize_t got = read(csv->fd, csv->buffer + csv->end,
				   room < CHUNK_BYTES ? room : CHUNK_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set_errno(error, errno, "cannot read %s", csv->name);
		csv->end += (size_t)got;
		csv->ended = got == 0;
		return got > 0;
	}
}

/* 1: *ret is the next line, terminated, without its end. 0: no more lines. */
static int csv_read_line(struct csv *csv, char **ret, size_t *ret_length, struct error *error)
{
	size_t looked = 0;
	char *feed = NULL;

	for (;;) {
		feed = memchr(csv->buffer + csv->begin + looked, '\n',
			      csv->end - csv->begin - looked);
		looked = csv->end - csv->begin;
		if (feed || csv->ended)
			break;
		int r = csv_fill(csv, error);
		if (r < 0)
			return r;
	}
	if (!feed && !looked)
		return 0;
	char *line = csv->buffer + csv->begin;
	size_t length = feed ? (size_t)(feed - line) : looked;
	csv->begin += length + (feed != NULL);
	csv->line++;
	if (length && line[length - 1] == '\r')
		length--;
	line[length] = '\0';
	if (memchr(line, '\0', length))
		return error_set(error, EINVAL, "%s:%lu: a zero byte; this is no text file",
				 csv->name, csv->line);
	*ret = line;
	*ret_length = length;
	return 1;
}

static int fail_quote(const struct csv *csv, struct error *error)
{
	return error_set(error, EINVAL,
			 "%s:%lu: a quoted field does not end where it should; end it with one \" "
			 "before the comma, on the same line",
			 csv->name, csv->line);
}

/* Takes one field off *AT: 1 when a comma followed, 0 at the end of the line. */
static int csv_field(const struct csv *csv, char **at, char **ret, struct error *error)
{
	char *text = *at;

	*ret = text;
	if (*text != '"') {
		char *comma = strchrnul(text, ',');
		bool more = *comma == ',';

		*comma = '\0';
		*at = comma + more;
		return more;
	}
	char *out = text++;
	for (; *text && (*text != '"' || text[1] == '"'); text++) {
		text += *text == '"';
		*out++ = *text;
	}
	if (*text != '"' || (text[1] && text[1] != ','))
		return fail_quote(csv, error);
	bool more = text[1] == ',';
	*out = '\0';
	*at = text + 1 + more;
	return more;
}

static int csv_read_row(struct csv *csv, char *line, struct error *error)
{
	size_t field = 0;
	int more = 1;

	for (; more; field++) {
		char *text = NULL;

		more = csv_field(csv, &line, &text, error);
		if (more < 0)
			return more;
		if (field >= csv->width)
			continue;
		if (csv->column_of[field] != NO_FIELD)
			csv->fields[csv->column_of[field]] = text;
	}
	if (field != csv->width)
		return error_set(
			error, EINVAL,
			"%s:%lu: %zu fields where the first line has %zu; give each column "
			"a field",
			csv->name, csv->line, field, csv->width);
	return 1;
}

int csv_next(struct csv *csv, struct error *error)
{
	for (;;) {
		char *line = NULL;
		size_t length = 0;

		int r = csv_read_line(csv, &line, &length, error);
		if (r <= 0)
			return r;
		if (length)
			return csv_read_row(csv, line, error);
	}
}

/* Which columns the first line names. */
static int csv_set_header(struct csv *csv, char *line, struct error *error)
{
	int more = 1;

	for (; more; csv->width++) {
		char *name = NULL;

		more = csv_field(csv, &line, &name, error);
		if (more < 0)
			return more;
		if (csv->width >= FIELDS_MAX)
			return error_set(error, E2BIG, "%s:%lu: more than %d columns", csv->name,
					 csv->line, FIELDS_MAX);
		csv->column_of[csv->width] = NO_FIELD;
		for (size_t i = 0; i < csv->column_count; i++) {
			if (strcmp(csv->columns[i].name, name) != 0)
				continue;
			if (csv->at[i] != NO_FIELD)
				return error_set(error, EINVAL,
						 "%s:%lu: two columns are named %s; remove one",
						 csv->name, csv->line, name);
			csv->at[i] = (uint32_t)csv->width;
			csv->column_of[csv->width] = (uint32_t)i;
		}
	}
	return 0;
}

static int csv_check_header(const struct csv *csv, struct error *error)
{
	autostrbuf missing = STRBUF_INIT(ERROR_MESSAGE_MAX / 2);
	unsigned count = 0;

	for (size_t i = 0; i < csv->column_count; i++) {
		if (csv->at[i] != NO_FIELD || csv->columns[i].optional)
			continue;
		strbuf_addf(&missing, "%s%s", count++ ? ", " : "", csv->columns[i].name);
	}
	if (strbuf_failed(&missing) == -ENOMEM)
		return error_no_memory(error);
	if (count)
		return error_set(
			error, EINVAL,
			"%s:%lu: column%s %s missing: %s; the first line names the columns",
			csv->name, csv->line, count == 1 ? "" : "s", count == 1 ? "is" : "are",
			missing.data);
	return 0;
}

static int csv_read_header(struct csv *csv, struct error *error)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as spreadsheets write it */
	char *line = NULL;
	size_t length = 0;

	int r = csv_read_line(csv, &line, &length, error);
	if (r < 0)
		return r;
	if (!r)
		return error_set(error, EINVAL,
				 "%s:1: the file is empty; the first line names the columns",
				 csv->name);
	if (strncmp(line, mark, strlen(mark)) == 0)
		line += strlen(mark);
	r = csv_set_header(csv, line, error);
	return r < 0 ? r : csv_check_header(csv, error);
}

int csv_new(int fd, const char *name, const char *start, size_t start_length,
	    const struct csv_column *columns, size_t count, struct csv **ret, struct error *error)
{
	autocsv *csv = calloc(1, sizeof(*csv));

	if (!csv)
		return error_no_memory(error);
	csv->fd = fd;
	csv->columns = columns;
	csv->column_count = count;
	csv->name = strdup(name);
	csv->buffer = malloc(LINE_MAX_BYTES + 1);
	if (!csv->name || !csv->buffer)
		return error_no_memory(error);
	if (count > CSV_COLUMNS_MAX || start_length > LINE_MAX_BYTES)
		return error_set(error, E2BIG, "%s: too many columns are asked for", name);
	if (start_length)
		memcpy(csv->buffer, start, start_length);
	csv->end = start_length;
	for (size_t i = 0; i < count; i++) {
		csv->at[i] = NO_FIELD;
		csv->fields[i] = "";
	}
	int r = csv_read_header(csv, error);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(csv);
	return 0;
}

void csv_free(struct csv *csv)
{
	if (!csv)
		return;
	free(csv->name);
	free(csv->buffer);
	free(csv);
}

bool csv_has(const struct csv *csv, size_t column)
{
	return csv->at[column] != NO_FIELD;
}

unsigned long csv_line(const struct csv *csv)
{
	return csv->line;
}

const char *csv_text(const struct csv *csv, size_t column)
{
	return csv->fields[column];
}

int csv_fail(const struct csv *csv, size_t column, struct error *error, const char *format, ...)
{
	autostrbuf what = STRBUF_INIT(ERROR_MESSAGE_MAX);
	const char *text = csv->fields[column];
	va_list arguments;

	va_start(arguments, format);
	strbuf_vaddf(&what, format, arguments);
	va_end(arguments);
	return error_set(error, EINVAL, "%s:%lu: %s '%.*s%s' %s", csv->name, csv->line,
			 csv->columns[column].name, SHOWN_MAX, text,
			 strlen(text) > SHOWN_MAX ? "..." : "", what.data);
}

int csv_uint(const struct csv *csv, size_t column, uint64_t minimum, uint64_t maximum,
	     uint64_t *ret, struct error *error)
{
	if (parse_uint(csv->fields[column], minimum, maximum, ret) == 0)
		return 0;
	return csv_fail(csv, column, error,
			"is no whole number from %" PRIu64 " to %" PRIu64 "; write one", minimum,
			maximum);
}
