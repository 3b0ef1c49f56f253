/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML stream to JSON trees, one per document (empty documents are skipped). YAML 1.2 core
 * scalars plus what Kubernetes accepts; quoted scalars stay strings. Bounded: bytes, depth, nodes,
 * and the expansion of aliases (a "billion laughs" file is one clear error). Duplicate keys,
 * tags that we do not know and keys that are no scalars are errors. Each error names NAME:LINE.
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

int yaml_parse(const char *text, size_t length, const char *name, struct yaml_stream *ret,
	       struct error *error);
/* PATH "-" reads standard input. */
int yaml_read_file(const char *path, struct yaml_stream *ret, struct error *error);
void yaml_stream_release(struct yaml_stream *stream);

/* The line that OBJECT came from, or 0 (JSON null and trees from elsewhere have none). */
unsigned yaml_line(struct json_object *object);
