/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of cells as aligned text:
 *
 *	autocolumns table = COLUMNS_INIT(3);
 *	columns_add(&table, "CARD");
 *	columns_addf(&table, "%u", index);
 *	...
 *	r = columns_print(&table, &text, error);
 *
 * Cells fill rows from left to right. Width is counted in characters of UTF-8, each one wide;
 * control characters are printed as '?', since cells may come from strangers' files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"

struct columns {
	unsigned width; /* cells in a row, from 1 */
	unsigned right; /* bit N: column N is aligned to the right */
	char **cells;   /* owned */
	size_t count, capacity;
	int failed; /* 0 or ENOMEM; sticks until columns_print() */
};

#define COLUMNS_INIT(cells_in_a_row)      \
	{                                 \
		.width = (cells_in_a_row) \
	}

void columns_add(struct columns *columns, const char *cell); /* copies; NULL counts as "-" */
void columns_addf(struct columns *columns, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends all rows to TEXT, two blanks between columns, no blanks at line ends. 0, -ENOMEM or the
 * buffer's failure. */
int columns_print(const struct columns *columns, struct strbuf *text, struct error *error);
void columns_release(struct columns *columns);

#define autocolumns cleanup(columns_release) struct columns
