/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML stream to JSON trees, one per document (empty documents are skipped). A scalar means what
 * it means to kubectl (yaml_scalar.c); quoted scalars stay strings. Merge keys (<<) work as in
 * kubectl: members take effect in the order of the file, so a key after a merge replaces what was
 * merged. Bounded: 16 MiB of text, depth 64, 200,000 nodes and 64 MiB of scalars after the
 * expansion of aliases (a "billion laughs" file is one clear error). Duplicate keys, tags that we
 * do not know and keys that are no scalars are errors. Each error starts with NAME:LINE.
 */
#pragma once

#include <stddef.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"

struct yaml_stream {
	char *name; /* what errors call the source */
	struct json_object **documents;
	unsigned *lines; /* first line of each document, from 1 */
	size_t count, capacity;
};

/*
 * Aliases and merges share their subtrees: treat the documents as read-only, or change a
 * json_copy(). On failure *ret is untouched.
 */
int yaml_parse(const char *text, size_t length, const char *name, struct yaml_stream *ret,
	       struct error *error);
/* The same for a text that starts at LINE of the source, from 1. */
int yaml_parse_at(const char *text, size_t length, const char *name, unsigned line,
		  struct yaml_stream *ret, struct error *error);
/* PATH "-" reads standard input. */
int yaml_read_file(const char *path, struct yaml_stream *ret, struct error *error);
void yaml_stream_release(struct yaml_stream *stream);

#define autoyaml cleanup(yaml_stream_release) struct yaml_stream

/* The line that OBJECT came from, or 0 (JSON null and trees from elsewhere have none). */
unsigned yaml_line(struct json_object *object);
