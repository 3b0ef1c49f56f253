/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOML 1.0 (toml.io/en/v1.0.0) as a tree of values that know their lines. Bounded: 4 MiB of text,
 * nested 64 deep, 100,000 values; more is -EFBIG or -E2BIG. Integers are int64, what does not fit is
 * -ERANGE; text that is no UTF-8 is -EILSEQ; all else that is wrong is -EINVAL. An error reads
 * "NAME:LINE:COLUMN: what; what to do". The order of keys is the order of the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"

enum toml_kind {
	TOML_TABLE,
	TOML_ARRAY,
	TOML_STRING,
	TOML_INTEGER,
	TOML_FLOAT,
	TOML_BOOLEAN,
	TOML_DATETIME, /* with an offset */
	TOML_LOCAL_DATETIME,
	TOML_LOCAL_DATE,
	TOML_LOCAL_TIME,
	TOML_KIND_MAX
};

struct toml; /* owns all values */
struct toml_value;

/* NAME is what errors call the source. On failure *ret is untouched. */
int toml_parse(const char *text, size_t length, const char *name, struct toml **ret,
	       struct error *error);
int toml_read_file(const char *path, struct toml **ret, struct error *error);
void toml_free(struct toml *toml);

DEFINE_CLEANUP(struct toml, toml_free)
#define autotoml cleanup(toml_freep) struct toml

/* All functions below take NULL for an absent value and treat it as one of no kind. */

const struct toml_value *toml_root(const struct toml *toml); /* a table */
/* By a list of keys that ends with NULL, from TABLE down; NULL when a step is absent or no table. */
const struct toml_value *toml_get(const struct toml_value *table, const char *const *keys);
/* TOML_KIND_MAX for NULL. */
enum toml_kind toml_kind(const struct toml_value *value);
const char *toml_kind_name(enum toml_kind kind); /* "a table", "an integer" */
/* The string, or FALLBACK: also when the string holds a NUL character and C would cut it. */
const char *toml_string(const struct toml_value *value, const char *fallback);
bool toml_boolean(const struct toml_value *value, bool fallback);
int64_t toml_integer(const struct toml_value *value, int64_t fallback);
/* A scalar's text: a string as it is, a number without '_' and in decimal, a time with 'T' and 'Z';
 * NULL for tables and arrays. May hold NUL characters when *ret_length (NULL is legal) says so. */
const char *toml_text(const struct toml_value *value, size_t *ret_length);
/* Children of a table or array; 0 for all else. */
size_t toml_count(const struct toml_value *value);
/* Child INDEX, NULL beyond the last; *ret_key (NULL is legal) is its key, NULL in an array. */
const struct toml_value *toml_at(const struct toml_value *value, size_t index,
				 const char **ret_key);
/* The key of VALUE in its table, with its length, for keys that hold NUL characters; NULL for none. */
const char *toml_key(const struct toml_value *value, size_t *ret_length);
/* Where it stands, from 1: of a table its header, or what made it first. 0 for NULL. */
unsigned toml_line(const struct toml_value *value);
/* Same kind and text; tables with the same keys, in any order. Two NULLs are equal. */
bool toml_equal(const struct toml_value *left, const struct toml_value *right);
