/* SPDX-License-Identifier: Apache-2.0 */
/* What a TOML tree is made of, for toml*.c only: values, where they stand in the text, statements. */
#pragma once

#include "base/map.h"
#include "base/toml.h"

#define TOML_BYTES_MAX  ((size_t)4 << 20)
#define TOML_DEPTH_MAX  64u
#define TOML_VALUES_MAX 100000u

/* How a value came to be decides what may be added to it later. */
enum toml_made {
	MADE_VALUE,    /* written as a value: 1, "a", [ ], { }; closed */
	MADE_IMPLICIT, /* a table that a longer header needs: [a.b] makes a */
	MADE_DOTTED,   /* a table that a dotted key needs: a.b = 1 makes a */
	MADE_HEADER,   /* a table by [a], or an element of [[a]] */
	MADE_HEADERS,  /* the array of [[a]] */
};

struct toml_value {
	enum toml_kind kind;
	enum toml_made made;
	unsigned line, depth, serial; /* depth of the root is 0 */
	struct toml_value *parent, *first, *last, *next;
	struct toml_value **items; /* the children again, once all is read */
	size_t count;
	const char *key; /* terminated; NULL in an array and for the root */
	size_t key_length;
	const char *text; /* terminated */
	size_t text_length;
	int64_t integer; /* of a boolean too */
	/* Bytes of the source: the whole (dotted) key before the value, and the value; 0 for tables
	 * and arrays that are not MADE_VALUE. */
	size_t key_start, start, end;
};

/* A line of its own: a header, or a key with its value. */
struct toml_statement {
	struct toml_value *value;   /* the table of the header, or what the key says */
	struct toml_value *section; /* the table in force */
	size_t start, end;          /* from '[' or the key to behind the value */
};

struct toml_chunk;

struct toml {
	struct toml_value *root;
	struct toml_chunk *chunks; /* memory of all values and texts */
	struct map *index;         /* while reading: table and key -> value */
	struct toml_statement *statements;
	size_t count, capacity; /* of statements */
	unsigned values;
};

/* Terminated copy of BYTES that lives as long as TOML; NULL when out of memory. */
char *toml_keep(struct toml *toml, const char *bytes, size_t length);
/* A new last child of PARENT (NULL: the root). KEY is kept as it is. 0, -ENOMEM; -E2BIG is the
 * caller's to check. */
struct toml_value *toml_add(struct toml *toml, struct toml_value *parent, const char *key,
			    size_t key_length);
int toml_index_put(struct toml *toml, struct toml_value *value);
/* 0 with *ret NULL when TABLE has no such key; -ENOMEM. */
int toml_index_get(const struct toml *toml, const struct toml_value *table, const char *key,
		   size_t key_length, struct toml_value **ret);
/* Fills items of all values; once, at the end. 0 or -ENOMEM. */
int toml_seal(struct toml *toml);
/* The child of TABLE, by walking its children; NULL when absent. */
struct toml_value *toml_child(const struct toml_value *table, const char *key, size_t key_length);

/* May BYTE stand in a key without quotes? */
bool toml_is_bare(char byte);
/* Appends a key, in quotes where it needs them. */
void toml_print_key(const char *key, size_t length, struct strbuf *out);
