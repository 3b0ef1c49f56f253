/* SPDX-License-Identifier: Apache-2.0 */
#include "base/columns.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "base/visible.h"

#define GAP 2

static void columns_take(struct columns *columns, char *cell)
{
	char **slot = NULL;

	if (cell)
		slot = VEC_ADD(&columns->cells, &columns->count, &columns->capacity);
	if (!slot) {
		free(cell);
		columns->failed = ENOMEM;
		return;
	}
	text_make_visible(cell, false);
	*slot = cell;
}

void columns_add(struct columns *columns, const char *cell)
{
	columns_take(columns, strdup(cell ? cell : "-"));
}

void columns_addf(struct columns *columns, const char *format, ...)
{
	char *cell = NULL;
	va_list arguments;

	va_start(arguments, format);
	int length = vasprintf(&cell, format, arguments);
	va_end(arguments);
	columns_take(columns, length < 0 ? NULL : cell);
}

static size_t cell_width(const char *cell)
{
	size_t width = 0;

	for (; *cell; cell++)
		width += ((unsigned char)*cell & 0xc0) != 0x80;
	return width;
}

static void add_blanks(struct strbuf *text, size_t count)
{
	while (count--)
		strbuf_addc(text, ' ');
}

static void add_cell(const struct columns *columns, size_t index, const size_t *widths,
		     struct strbuf *text)
{
	const char *cell = columns->cells[index];
	unsigned column = (unsigned)(index % columns->width);
	size_t pad = widths[column] - cell_width(cell);
	bool last = column + 1 == columns->width || index + 1 == columns->count;
	bool right = column < 32 && columns->right >> column & 1;

	if (right)
		add_blanks(text, pad);
	strbuf_adds(text, cell);
	if (last)
		strbuf_addc(text, '\n');
	else
		add_blanks(text, GAP + (right ? 0 : pad));
}

int columns_print(const struct columns *columns, struct strbuf *text, struct error *error)
{
	autofree size_t *widths = calloc(columns->width, sizeof(*widths));

	if (columns->failed || !widths)
		return error_no_memory(error);
	for (size_t i = 0; i < columns->count; i++) {
		size_t width = cell_width(columns->cells[i]);

		if (width > widths[i % columns->width])
			widths[i % columns->width] = width;
	}
	for (size_t i = 0; i < columns->count; i++)
		add_cell(columns, i, widths, text);
	if (strbuf_failed(text) == -ENAMETOOLONG)
		return error_set(error, ENAMETOOLONG,
				 "the table is longer than %zu bytes; ask for fewer rows",
				 text->maximum);
	return strbuf_failed(text) < 0 ? error_no_memory(error) : 0;
}

void columns_release(struct columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		free(columns->cells[i]);
	free(columns->cells);
	*columns = (struct columns){ .width = columns->width, .right = columns->right };
}
