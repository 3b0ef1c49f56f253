/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"

#define CHUNK (64 * 1024)

enum place {
	PLACE_BETWEEN, /* before a value of the source, or at its end */
	PLACE_MEMBERS, /* inside the outer object, before a member or its '}' */
	PLACE_ITEMS,   /* inside "items", before an item or its ']' */
	PLACE_BROKEN,
};

struct json_stream {
	int fd;
	char *name; /* owned */
	struct json_limits limits;
	char *chunk; /* owned, CHUNK bytes */
	size_t at, length;
	bool ended;
	unsigned long line, column; /* of chunk[at] */
	enum place place;
	bool first;                 /* nothing yet in this object or array: no comma before */
	bool has_items;             /* this object has had its items */
	unsigned values;            /* outer objects that were begun */
	unsigned long object_line;  /* where the outer object starts */
	struct json_object *object; /* owned; its members but items */
	size_t object_bytes;        /* of them */
	struct strbuf text;         /* of the value being read */
	struct error *error;
};

int json_stream_new(int fd, const char *name, const char *start, size_t start_length,
		    const struct json_limits *limits, struct json_stream **ret, struct error *error)
{
	struct json_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return error_no_memory(error);
	if (!limits)
		limits = &json_limits_default;
	*stream = (struct json_stream){
		.fd = fd,
		.limits = *limits,
		.line = 1,
		.column = 1,
		.text = STRBUF_INIT(limits->bytes),
	};
	stream->name = strdup(name);
	stream->chunk = malloc(start_length > CHUNK ? start_length : CHUNK);
	if (!stream->name || !stream->chunk) {
		json_stream_free(stream);
		return error_no_memory(error);
	}
	if (start_length)
		memcpy(stream->chunk, start, start_length);
	stream->length = start_length;
	*ret = stream;
	return 0;
}

void json_stream_free(struct json_stream *stream)
{
	if (!stream)
		return;
	json_object_put(stream->object);
	strbuf_release(&stream->text);
	free(stream->chunk);
	free(stream->name);
	free(stream);
}

static int stream_fail(struct json_stream *stream, const char *what)
{
	return error_set(stream->error, EINVAL, "%s:%lu:%lu: %s", stream->name, stream->line,
			 stream->column, what);
}

/* 1: there is a byte at chunk[at]; 0: the source has ended. */
static int stream_fill(struct json_stream *stream)
{
	while (stream->at == stream->length && !stream->ended) {
		ssize_t count = read(stream->fd, stream->chunk, CHUNK);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_set_errno(stream->error, errno, "%s:%lu: cannot read it",
					       stream->name, stream->line);
		stream->at = 0;
		stream->length = (size_t)count;
		stream->ended = count == 0;
	}
	return stream->at < stream->length;
}

static void stream_step(struct json_stream *stream)
{
	stream->column++;
	if (stream->chunk[stream->at++] == '\n') {
		stream->line++;
		stream->column = 1;
	}
}

/* The next byte that is no blank, not taken: 1 and *ret, or 0 at the end. */
static int stream_peek(struct json_stream *stream, char *ret)
{
	for (;;) {
		int r = stream_fill(stream);
		if (r <= 0)
			return r;
		char byte = stream->chunk[stream->at];
		if (byte != ' ' && byte != '\n' && byte != '\t' && byte != '\r') {
			*ret = byte;
			return 1;
		}
		stream_step(stream);
	}
}

static int stream_unexpected(struct json_stream *stream, int there, const char *wanted)
{
	char what[160];
	unsigned char byte = there ? (unsigned char)stream->chunk[stream->at] : 0;

	if (!there)
		snprintf(what, sizeof(what), "the text ends where %s should be; it may be cut off",
			 wanted);
	else if (byte < 0x21 || byte > 0x7e)
		snprintf(what, sizeof(what),
			 "byte 0x%02x where %s should be; correct the text here", byte, wanted);
	else
		snprintf(what, sizeof(what), "'%c' where %s should be; correct the text here", byte,
			 wanted);
	return stream_fail(stream, what);
}

/* How far a value goes, without its meaning: json_parse() has the last word on it. */
struct extent {
	unsigned depth;
	bool started, string, escape, scalar;
};

/* True when BYTE is behind the value. */
static bool extent_behind(struct extent *extent, char byte)
{
	if (extent->started && !extent->depth && !extent->string)
		return !extent->scalar || byte == ',' || byte == '}' || byte == ']' ||
		       byte == ':' || byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
	return false;
}

static void extent_take(struct extent *extent, char byte)
{
	if (extent->string) {
		if (extent->escape)
			extent->escape = false;
		else if (byte == '\\')
			extent->escape = true;
		else if (byte == '"')
			extent->string = false;
	} else if (byte == '"') {
		extent->string = true;
	} else if (byte == '{' || byte == '[') {
		extent->depth++;
	} else if (byte == '}' || byte == ']') {
		if (extent->depth)
			extent->depth--;
	} else if (!extent->started) {
		extent->scalar = true;
	}
	extent->started = true;
}

/* Runs of bytes inside a string or between brackets go to the text at once. */
static int extent_run(struct json_stream *stream, struct extent *extent, bool *ret_done)
{
	size_t start = stream->at;

	while (stream->at < stream->length) {
		if (extent_behind(extent, stream->chunk[stream->at])) {
			*ret_done = true;
			break;
		}
		extent_take(extent, stream->chunk[stream->at]);
		stream_step(stream);
	}
	strbuf_add(&stream->text, stream->chunk + start, stream->at - start);
	return strbuf_failed(&stream->text);
}

/* The value that begins at the next byte, and where that is. */
static int stream_value(struct json_stream *stream, const char *wanted, struct json_object **ret,
			unsigned long *ret_line)
{
	struct extent extent = { 0 };
	bool done = false;
	char byte;

	int r = stream_peek(stream, &byte);
	if (r < 0)
		return r;
	if (r == 0 || strchr(",:}]", byte))
		return stream_unexpected(stream, r, wanted);
	unsigned long line = stream->line, column = stream->column;
	strbuf_reset(&stream->text);
	while (!done && (r = stream_fill(stream)) > 0) {
		r = extent_run(stream, &extent, &done);
		if (r == -ENAMETOOLONG)
			return error_set(stream->error, EFBIG,
					 "%s:%lu: one value of more than %zu bytes; that is no "
					 "object of Kubernetes, remove it",
					 stream->name, line, stream->limits.bytes);
		if (r < 0)
			return error_no_memory(stream->error);
	}
	if (r < 0)
		return r;
	r = json_parse_at(stream->text.data, stream->text.length, stream->name, line, column,
			  &stream->limits, ret, stream->error);
	if (r == 0 && ret_line)
		*ret_line = line;
	return r;
}

/* Takes WANTED, or fails. */
static int stream_expect(struct json_stream *stream, char wanted, const char *name)
{
	char byte;

	int r = stream_peek(stream, &byte);
	if (r < 0)
		return r;
	if (r == 0 || byte != wanted)
		return stream_unexpected(stream, r, name);
	stream_step(stream);
	return 0;
}

/*
 * Before an element: takes the comma, or the closing bracket. 1: an element follows; 0: it was the
 * bracket.
 */
static int stream_another(struct json_stream *stream, char bracket, const char *wanted)
{
	char byte;

	int r = stream_peek(stream, &byte);
	if (r < 0)
		return r;
	if (r == 1 && byte == bracket) {
		stream_step(stream);
		return 0;
	}
	if (stream->first) {
		stream->first = false;
		return r == 1 ? 1 : stream_unexpected(stream, r, wanted);
	}
	if (r == 0 || byte != ',')
		return stream_unexpected(stream, r, wanted);
	stream_step(stream);
	return 1;
}

/* The outer object is whole: was it a list? 1: it is an item itself. */
static int stream_close(struct json_stream *stream, struct json_object **ret,
			unsigned long *ret_line)
{
	autojson *object = TAKE_PTR(stream->object);
	const char *kind = json_get_string(object, "kind", "");
	size_t length = strlen(kind);

	stream->place = PLACE_BETWEEN;
	if (!stream->has_items) {
		*ret = TAKE_PTR(object);
		*ret_line = stream->object_line;
		return 1;
	}
	if (length < 4 || strcmp(kind + length - 4, "List") != 0)
		return error_set(stream->error, EINVAL,
				 "%s:%lu: an object with items whose kind is '%.64s' and no List; "
				 "write what kubectl get -o json prints",
				 stream->name, stream->object_line, kind);
	return 0;
}

/* A member whose key was read. 1: it is "items", and its array is open. */
static int stream_member(struct json_stream *stream, const char *key)
{
	autojson *value = NULL;
	char byte;

	if (strcmp(key, "items") == 0) {
		int r = stream_peek(stream, &byte);
		if (r < 0)
			return r;
		if (r == 1 && byte == '[') {
			stream_step(stream);
			stream->has_items = true;
			stream->first = true;
			stream->place = PLACE_ITEMS;
			return 0;
		}
	}
	int r = stream_value(stream, "a value", &value, NULL);
	if (r < 0)
		return r;
	stream->has_items = stream->has_items || (!value && strcmp(key, "items") == 0);
	stream->object_bytes += stream->text.length + strlen(key);
	if (stream->object_bytes > stream->limits.bytes)
		return error_set(stream->error, EFBIG,
				 "%s:%lu: an object of more than %zu bytes beside its items; that "
				 "is none of Kubernetes, remove it",
				 stream->name, stream->object_line, stream->limits.bytes);
	if (json_object_object_add(stream->object, key, value) < 0)
		return error_no_memory(stream->error);
	value = NULL;
	return 0;
}

static int stream_members(struct json_stream *stream, struct json_object **ret,
			  unsigned long *ret_line)
{
	autojson *key = NULL;
	char byte;

	int r = stream_another(stream, '}', "',' or '}' after a member");
	if (r == 0)
		return stream_close(stream, ret, ret_line);
	if (r < 0)
		return r;
	r = stream_peek(stream, &byte);
	if (r < 0)
		return r;
	if (r == 0 || byte != '"')
		return stream_unexpected(stream, r, "a key in double quotes");
	unsigned long line = stream->line, column = stream->column;
	r = stream_value(stream, "a key in double quotes", &key, NULL);
	if (r < 0)
		return r;
	const char *text = json_object_get_string(key);
	if (json_object_object_get_ex(stream->object, text, NULL) ||
	    (stream->has_items && strcmp(text, "items") == 0))
		return error_set(stream->error, EINVAL,
				 "%s:%lu:%lu: this key stands here a second time; remove one of "
				 "the two",
				 stream->name, line, column);
	r = stream_expect(stream, ':', "':' after a key");
	return r < 0 ? r : stream_member(stream, text);
}

static int stream_items(struct json_stream *stream, struct json_object **ret,
			unsigned long *ret_line)
{
	int r = stream_another(stream, ']', "',' or ']' after an item");

	if (r < 0)
		return r;
	if (r == 0) {
		stream->place = PLACE_MEMBERS;
		stream->first = false;
		return 0;
	}
	r = stream_value(stream, "an item", ret, ret_line);
	return r < 0 ? r : 1;
}

/* 1: an outer object was begun; 0: the end. */
static int stream_begin(struct json_stream *stream)
{
	char byte;

	int r = stream_peek(stream, &byte);
	if (r < 0 || (r == 0 && stream->values))
		return r;
	if (r == 0 || byte != '{')
		return stream_unexpected(stream, r,
					 stream->values ? "the end of the text"
							: "the '{' of an object of Kubernetes");
	stream->object = json_object_new_object();
	if (!stream->object)
		return error_no_memory(stream->error);
	stream->object_line = stream->line;
	stream->object_bytes = 0;
	stream_step(stream);
	stream->values++;
	stream->has_items = false;
	stream->first = true;
	stream->place = PLACE_MEMBERS;
	return 1;
}

int json_stream_next(struct json_stream *stream, struct json_object **ret, unsigned long *ret_line,
		     struct error *error)
{
	int r = 0;

	stream->error = error;
	if (stream->place == PLACE_BROKEN)
		return error_set(error, EINVAL, "%s: read on behind an error; start again",
				 stream->name);
	while (r == 0) {
		if (stream->place == PLACE_BETWEEN) {
			r = stream_begin(stream);
			if (r <= 0)
				break;
			r = 0;
		} else if (stream->place == PLACE_MEMBERS) {
			r = stream_members(stream, ret, ret_line);
		} else {
			r = stream_items(stream, ret, ret_line);
		}
	}
	if (r < 0)
		stream->place = PLACE_BROKEN;
	return r;
}
