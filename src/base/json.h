/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON on json-c. Reading is strict (RFC 8259) and bounded: size and depth limits, uint64 kept,
 * doubles keep their text, valid UTF-8 only, no NUL in strings or keys, no numbers outside
 * int64/uint64/double, no duplicate keys, nothing after the value. An error reads
 * "NAME:LINE:COLUMN: what; what to do". The tree is json-c's own; these are the helpers that json-c
 * lacks. Write numbers with json_add_uint() and friends, never with json_object_new_double(), which
 * rounds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <json-c/json.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"

DEFINE_CLEANUP(struct json_object, json_object_put)
#define autojson cleanup(json_object_putp) struct json_object

struct json_limits {
	size_t bytes; /* longest text, in bytes */
	int depth;    /* deepest nesting */
	/* Names of members whose lists are not wanted, ends with NULL: of such a list only the form is
	 * looked at, and it is kept empty. NULL: everything is wanted. */
	const char *const *passed_over;
};

extern const struct json_limits json_limits_default; /* 16 MiB, depth 64 */

/* NAME is what errors call the source. A JSON null gives *ret == NULL with return value 0. */
int json_parse(const char *text, size_t length, const char *name, const struct json_limits *limits,
	       struct json_object **ret, struct error *error);
/* The same for a text that starts at LINE and COLUMN of the source, both from 1. */
int json_parse_at(const char *text, size_t length, const char *name, unsigned long line,
		  unsigned long column, const struct json_limits *limits, struct json_object **ret,
		  struct error *error);
int json_read_file(const char *path, const struct json_limits *limits, struct json_object **ret,
		   struct error *error);
/*
 * The same for a file that decides what a container gets: -EPERM, and it is not read, when it is no
 * regular file, when anybody but root and the reader owns it, or when others may write it. PATH itself
 * may not be a link.
 */
int json_read_trusted(const char *path, const struct json_limits *limits, struct json_object **ret,
		      struct error *error);

/* Writes to PATH atomically and durably (temporary file beside it, fsync, rename, fsync). */
int json_write_file(const char *path, struct json_object *object, unsigned mode,
		    struct error *error);

/* Look-up by a path of keys, "spec.containers" style; NULL when any step is absent. */
struct json_object *json_get(struct json_object *object, const char *path);
/* The string at PATH, or FALLBACK when absent or no string. Owned by the tree. */
const char *json_get_string(struct json_object *object, const char *path, const char *fallback);
/* The unsigned integer at PATH, or FALLBACK when absent or no unsigned integer. */
uint64_t json_get_uint(struct json_object *object, const char *path, uint64_t fallback);

/*
 * Appends the text of OBJECT (NULL: "null"): on one line, or PRETTY, indented by two blanks; no
 * newline at the end. json-c's own printing is not used for what is kept or sent: short of memory
 * it leaves parts out and says nothing. 0, -ENOMEM, -ENAMETOOLONG (TEXT is full), -EINVAL (infinity
 * or NaN), -E2BIG (nested deeper than 256).
 */
int json_to_text(struct json_object *object, bool pretty, struct strbuf *text, struct error *error);

/* A deep copy with the numbers' texts and the lines of json_set_line(), which json-c's own
 * json_object_deep_copy() refuses. */
int json_copy(struct json_object *object, struct json_object **ret, struct error *error);

/* Remembers the line (from 1) that OBJECT came from. A double must be new and get its TEXT (a JSON
 * number) here as well; for other kinds TEXT is NULL. Returns 0 or -ENOMEM. */
int json_set_line(struct json_object *object, unsigned line, const char *text);
unsigned json_line(struct json_object *object); /* 0 when unknown */

/* Typed additions; each returns 0 or -ENOMEM and on failure owns VALUE all the same (frees it).
 * VALUE NULL is taken for a constructor out of memory; use json_add_null() for a JSON null. A
 * string of NULL becomes a JSON null, and OBJECT or ARRAY NULL is -ENOMEM too. */
int json_add_null(struct json_object *object, const char *key);
int json_add(struct json_object *object, const char *key, struct json_object *value);
int json_add_string(struct json_object *object, const char *key, const char *value);
int json_add_uint(struct json_object *object, const char *key, uint64_t value);
int json_add_int(struct json_object *object, const char *key, int64_t value);
int json_add_bool(struct json_object *object, const char *key, bool value);
int json_append(struct json_object *array, struct json_object *value);
int json_append_string(struct json_object *array, const char *value);
