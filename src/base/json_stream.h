/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The items of a Kubernetes list, one at a time, as `kubectl get ... -o json` prints it: an object
 * with "items", whatever else it has and in whatever order. Memory: one item and 64 KiB, however
 * long the list is. Each item is read by json_parse() with its rules; errors have the line and
 * column of the source. An object without "items" is its own one item, and several values may
 * follow one another, as when two answers are joined in one file.
 */
#pragma once

#include <stddef.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"

struct json_stream;

/*
 * Reads from FD, which stays the caller's. The START_LENGTH bytes of START were read from it
 * before. NAME is what errors call the source. LIMITS are those of one item; NULL:
 * json_limits_default. 0 or -ENOMEM.
 */
int json_stream_new(int fd, const char *name, const char *start, size_t start_length,
		    const struct json_limits *limits, struct json_stream **ret,
		    struct error *error);
void json_stream_free(struct json_stream *stream);
DEFINE_CLEANUP(struct json_stream, json_stream_free)
#define autojson_stream cleanup(json_stream_freep) struct json_stream

/*
 * 1: *ret is the next item and *ret_line its first line. 0: the source has ended as it should. Any
 * error is the last: what was read before it belongs to a source that is not whole.
 */
int json_stream_next(struct json_stream *stream, struct json_object **ret, unsigned long *ret_line,
		     struct error *error);
