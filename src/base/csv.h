/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a CSV file (RFC 4180) one at a time, columns by the names in its first line, in any order;
 * columns that nobody asked for are passed over. Memory: one line (at most 1 MiB), however long the
 * file is. Lines end with LF or CRLF, empty ones are passed over, fields may stand in quotes (a
 * quoted field stays on its line). Errors read "NAME:LINE: what; what to do".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

#define CSV_COLUMNS_MAX 32 /* that one reader asks for */

struct csv_column {
	const char *name;
	bool optional;
};

struct csv;

/*
 * Reads the first line from FD, which stays the caller's. The START_LENGTH bytes of START were read
 * from it before. NAME is what errors call the file. COLUMNS must outlive the reader. -EINVAL names
 * all columns that are missing.
 */
int csv_new(int fd, const char *name, const char *start, size_t start_length,
	    const struct csv_column *columns, size_t count, struct csv **ret, struct error *error);
void csv_free(struct csv *csv);
DEFINE_CLEANUP(struct csv, csv_free)
#define autocsv cleanup(csv_freep) struct csv

/* 1: the next row is there. 0: the file has ended. */
int csv_next(struct csv *csv, struct error *error);

bool csv_has(const struct csv *csv, size_t column);
unsigned long csv_line(const struct csv *csv); /* of the row that is there, from 1 */
/* The field, valid until the next row; "" for a column that the file does not have. */
const char *csv_text(const struct csv *csv, size_t column);
/* The field as a whole number. */
int csv_uint(const struct csv *csv, size_t column, uint64_t minimum, uint64_t maximum,
	     uint64_t *ret, struct error *error);
/* "NAME:LINE: COLUMN 'TEXT' " and what FORMAT says; returns -EINVAL. */
int csv_fail(const struct csv *csv, size_t column, struct error *error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
