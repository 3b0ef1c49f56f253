/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libyaml's events to JSON trees, by recursive descent of bounded depth. An anchored subtree is
 * kept with its expanded size and height; an alias shares it and pays its full size, so the work
 * of whoever walks the result is bounded, not only our memory.
 */
#include "base/yaml.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/file.h"
#include "base/json_number.h"
#include "base/map.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "base/yaml_scalar.h"

#define YAML_BYTES_MAX      ((size_t)16 << 20)
#define YAML_DEPTH_MAX      64
#define YAML_NODES_MAX      200000u /* an empty mapping takes 700 bytes: 150 MiB at most */
#define YAML_EXPANDED_MAX   ((uint64_t)64 << 20)
#define YAML_DIRECTIVES_MAX 100u

#define TAG_PREFIX "tag:yaml.org,2002:"

/* What a subtree costs whoever walks it, aliases expanded. */
struct weight {
	uint64_t nodes;
	uint64_t bytes; /* of scalars and keys */
	unsigned height;
};

struct anchor {
	struct json_object *object; /* a reference of its own; NULL for JSON null */
	struct weight weight;
	bool open; /* its end has not been seen: an alias to it would be a loop */
};

struct reader {
	yaml_parser_t parser;
	const char *name;
	const char *text;
	size_t length;
	unsigned depth;
	struct weight total;        /* of the stream so far */
	struct anchor *anchors;     /* of this document */
	size_t count, capacity;     /* of anchors */
	struct map *anchor_by_name; /* index + 1 into anchors */
	unsigned before;            /* lines of the source before the text */
	struct error *error;
};

struct value {
	struct json_object *object;
	unsigned height;
	unsigned line;
};

static void event_release(yaml_event_t *event)
{
	yaml_event_delete(event);
}

#define autoevent cleanup(event_release) yaml_event_t

static unsigned event_line(const yaml_event_t *event)
{
	return (unsigned)event->start_mark.line + 1;
}

static int __attribute__((format(printf, 4, 5)))
reader_fail(const struct reader *reader, unsigned line, int number, const char *format, ...)
{
	struct error *error = reader->error;
	va_list arguments;
	char what[512];

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return error_set(error, number, "%s:%u: %s", reader->name, line, what);
}

/* libyaml's own sentence, with a place and a cure around it. */
/* libyaml says "found character that cannot start any token", and a tab is hard to see. */
static bool reader_at_tab(const struct reader *reader)
{
	const char *line = reader->text, *end = reader->text + reader->length;

	if (!reader->parser.problem || !strstr(reader->parser.problem, "cannot start any token"))
		return false;
	for (size_t i = 0; line && i + reader->before < reader->parser.problem_mark.line; i++) {
		line = memchr(line, '\n', (size_t)(end - line));
		line = line ? line + 1 : NULL;
	}
	while (line && line < end && *line == ' ')
		line++;
	return line && line < end && *line == '\t';
}

static unsigned reader_line_of(const struct reader *reader, size_t offset)
{
	unsigned line = reader->before + 1;

	for (size_t i = 0; i < offset && i < reader->length; i++)
		line += reader->text[i] == '\n';
	return line;
}

static int reader_fail_syntax(const struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;

	if (parser->error == YAML_MEMORY_ERROR)
		return error_no_memory(reader->error);
	if (parser->error == YAML_READER_ERROR)
		return error_set(reader->error, EINVAL,
				 "%s:%u: %s; remove that character or quote its escape",
				 reader->name, reader_line_of(reader, parser->problem_offset),
				 parser->problem);
	if (reader_at_tab(reader))
		return error_set(reader->error, EINVAL,
				 "%s:%zu: no valid YAML: the line is indented with a tab; use "
				 "spaces",
				 reader->name, parser->problem_mark.line + 1);
	return error_set(
		reader->error, EINVAL,
		"%s:%zu:%zu: no valid YAML: %s%s%s; check indentation, quotes and brackets "
		"here",
		reader->name, parser->problem_mark.line + 1, parser->problem_mark.column + 1,
		parser->context ? parser->context : "", parser->context ? ", " : "",
		parser->problem ? parser->problem : "syntax error");
}

static int reader_next(struct reader *reader, yaml_event_t *event)
{
	if (yaml_parser_parse(&reader->parser, event))
		return 0;
	memset(event, 0, sizeof(*event));
	return reader_fail_syntax(reader);
}

/* Pays for NODES more nodes with BYTES of text. */
static int reader_pay(struct reader *reader, unsigned line, uint64_t nodes, uint64_t bytes)
{
	reader->total.nodes += nodes;
	reader->total.bytes += bytes;
	if (reader->total.nodes > YAML_NODES_MAX || reader->total.bytes > YAML_EXPANDED_MAX)
		return reader_fail(reader, line, E2BIG,
				   "more than %u values or %" PRIu64
				   " MiB of text once aliases are "
				   "expanded; use fewer aliases or split the file",
				   YAML_NODES_MAX, YAML_EXPANDED_MAX >> 20);
	return 0;
}

static int reader_check_depth(const struct reader *reader, unsigned line, unsigned more)
{
	if (reader->depth + more <= YAML_DEPTH_MAX)
		return 0;
	return reader_fail(reader, line, E2BIG, "nested deeper than %d levels; make it flatter",
			   YAML_DEPTH_MAX);
}

/* Opens an anchor; *ret is its index, or SIZE_MAX for a node without one. */
static int anchor_open(struct reader *reader, const yaml_char_t *name, size_t *ret)
{
	*ret = SIZE_MAX;
	if (!name)
		return 0;
	struct anchor *anchor = VEC_ADD(&reader->anchors, &reader->count, &reader->capacity);
	if (!anchor)
		return error_no_memory(reader->error);
	/* What the total was is taken off again when the anchor is closed. */
	*anchor = (struct anchor){ .weight = reader->total, .open = true };
	if (map_put(reader->anchor_by_name, (const char *)name, (void *)(uintptr_t)reader->count) <
	    0)
		return error_no_memory(reader->error);
	*ret = reader->count - 1;
	return 0;
}

static void anchor_close(struct reader *reader, size_t index, const struct value *value)
{
	if (index == SIZE_MAX)
		return;
	struct anchor *anchor = &reader->anchors[index];
	anchor->object = json_object_get(value->object);
	anchor->weight.nodes = reader->total.nodes - anchor->weight.nodes;
	anchor->weight.bytes = reader->total.bytes - anchor->weight.bytes;
	anchor->weight.height = value->height;
	anchor->open = false;
}

static int anchors_reset(struct reader *reader)
{
	for (size_t i = 0; i < reader->count; i++)
		json_object_put(reader->anchors[i].object);
	reader->count = 0;
	map_free(reader->anchor_by_name);
	reader->anchor_by_name = map_new();
	return reader->anchor_by_name ? 0 : error_no_memory(reader->error);
}

static int read_alias(struct reader *reader, const yaml_event_t *event, struct value *ret)
{
	const char *name = (const char *)event->data.alias.anchor;
	uintptr_t found = (uintptr_t)map_get(reader->anchor_by_name, name);
	unsigned line = event_line(event);

	if (!found)
		return reader_fail(reader, line, EINVAL,
				   "alias *%.64s has no anchor before it; write &%.64s first", name,
				   name);
	const struct anchor *anchor = &reader->anchors[found - 1];
	if (anchor->open)
		return reader_fail(reader, line, ELOOP,
				   "alias *%.64s stands inside its own anchor; write the value out",
				   name);
	int r = reader_check_depth(reader, line, anchor->weight.height);
	if (r == 0)
		r = reader_pay(reader, line, anchor->weight.nodes, anchor->weight.bytes);
	if (r < 0)
		return r;
	ret->object = json_object_get(anchor->object);
	ret->height = anchor->weight.height;
	return 0;
}

/* Tags of scalars. How to add one: a row; `kinds` is what the plain text may resolve to. */
static const struct tag_row {
	const char *tag;
	unsigned kinds; /* bits of enum scalar_kind; 0: any text, taken as a string */
	const char *wanted;
} tag_rows[] = {
	{ "!", 0, NULL },
	{ TAG_PREFIX "str", 0, NULL },
	{ TAG_PREFIX "timestamp", 0, NULL },
	{ TAG_PREFIX "null", 1u << SCALAR_NULL, "null" },
	{ TAG_PREFIX "bool", 1u << SCALAR_TRUE | 1u << SCALAR_FALSE, "true or false" },
	{ TAG_PREFIX "int", 1u << SCALAR_NUMBER, "a whole number" },
	{ TAG_PREFIX "float", 1u << SCALAR_NUMBER, "a number" },
	{ TAG_PREFIX "merge", 0, NULL },
};

static int fail_tag(const struct reader *reader, unsigned line, const char *tag)
{
	return reader_fail(reader, line, EINVAL,
			   "tag %.80s is not supported; remove it and write the value itself", tag);
}

/* The kind of a scalar by its tag, its quotes and its text. */
static int scalar_kind(const struct reader *reader, const yaml_event_t *event,
		       struct strbuf *number, enum scalar_kind *ret)
{
	const char *text = (const char *)event->data.scalar.value;
	const char *tag = (const char *)event->data.scalar.tag;

	*ret = SCALAR_STRING;
	if (!tag) {
		if (event->data.scalar.plain_implicit)
			*ret = scalar_resolve(text, number);
		return strbuf_failed(number) < 0 ? error_no_memory(reader->error) : 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tag_rows); i++) {
		const struct tag_row *row = &tag_rows[i];

		if (strcmp(row->tag, tag) != 0)
			continue;
		if (!row->kinds)
			return 0;
		*ret = scalar_resolve(text, number);
		if (strbuf_failed(number) < 0)
			return error_no_memory(reader->error);
		bool fraction =
			strcmp(row->tag, TAG_PREFIX "int") == 0 && strpbrk(number->data, ".eE");
		if (row->kinds & 1u << *ret && !fraction)
			return 0;
		return reader_fail(reader, event_line(event), EINVAL,
				   "'%.64s' is not %s, as its tag says; correct one of the two",
				   text, row->wanted);
	}
	return fail_tag(reader, event_line(event), tag);
}

static int number_new(const struct reader *reader, const char *text, const char *number,
		      unsigned line, struct json_object **ret)
{
	int r = json_number_new(number, line, ret);

	if (r == -ERANGE)
		return reader_fail(reader, line, ERANGE,
				   "the number %.64s is out of range; " JSON_NUMBER_RANGE, text);
	return r < 0 ? error_no_memory(reader->error) : 0;
}

static int scalar_new(const struct reader *reader, const yaml_event_t *event, enum scalar_kind kind,
		      const char *number, struct json_object **ret)
{
	const char *text = (const char *)event->data.scalar.value;
	unsigned line = event_line(event);
	struct json_object *object = NULL;

	if (kind == SCALAR_NULL) {
		*ret = NULL;
		return 0;
	}
	if (kind == SCALAR_NO_JSON)
		return reader_fail(reader, line, ERANGE,
				   "%s has no form in JSON; write a number or quote it", text);
	if (kind == SCALAR_NUMBER)
		return number_new(reader, text, number, line, ret);
	if (kind == SCALAR_STRING)
		object = json_object_new_string_len(text, (int)event->data.scalar.length);
	else
		object = json_object_new_boolean(kind == SCALAR_TRUE);
	if (!object)
		return error_no_memory(reader->error);
	json_set_line(object, line, NULL);
	*ret = object;
	return 0;
}

static int check_text(const struct reader *reader, const yaml_event_t *event)
{
	if (memchr(event->data.scalar.value, '\0', event->data.scalar.length))
		return reader_fail(reader, event_line(event), EINVAL,
				   "a NUL character (\\0) in a string; remove it");
	return 0;
}

static int read_scalar(struct reader *reader, const yaml_event_t *event, struct value *ret)
{
	autostrbuf number = STRBUF_INIT(YAML_BYTES_MAX);
	enum scalar_kind kind;

	int r = check_text(reader, event);
	if (r == 0)
		r = reader_pay(reader, event_line(event), 1, event->data.scalar.length);
	if (r == 0)
		r = scalar_kind(reader, event, &number, &kind);
	if (r == 0)
		r = scalar_new(reader, event, kind, number.data, &ret->object);
	return r;
}

static int read_node(struct reader *reader, const yaml_event_t *event, struct value *ret);

static int sequence_add(struct reader *reader, const yaml_event_t *event, struct json_object *array,
			unsigned *height)
{
	struct value item = { 0 };

	int r = read_node(reader, event, &item);
	if (r < 0)
		return r;
	if (item.height > *height)
		*height = item.height;
	if (json_object_array_add(array, item.object) == 0)
		return 0;
	json_object_put(item.object);
	return error_no_memory(reader->error);
}

static int read_sequence(struct reader *reader, const yaml_event_t *start, struct value *ret)
{
	autojson *array = json_object_new_array();
	unsigned height = 0;

	if (!array)
		return error_no_memory(reader->error);
	json_set_line(array, event_line(start), NULL);
	for (;;) {
		autoevent event;

		int r = reader_next(reader, &event);
		if (r < 0)
			return r;
		if (event.type == YAML_SEQUENCE_END_EVENT)
			break;
		r = sequence_add(reader, &event, array, &height);
		if (r < 0)
			return r;
	}
	ret->object = TAKE_PTR(array);
	ret->height = height + 1;
	return 0;
}

/* The text of a key, as kubectl makes strings of numbers and booleans; caller frees. */
static int key_text(const struct reader *reader, const yaml_event_t *event, char **ret)
{
	autostrbuf number = STRBUF_INIT(YAML_BYTES_MAX), key = STRBUF_INIT(YAML_BYTES_MAX);
	const char *text = (const char *)event->data.scalar.value;
	enum scalar_kind kind;
	autojson *checked = NULL;

	int r = scalar_kind(reader, event, &number, &kind);
	if (r < 0)
		return r;
	if (kind == SCALAR_NULL)
		return reader_fail(reader, event_line(event), EINVAL,
				   "a key that is null; write a name before the colon or quote it");
	if (kind == SCALAR_NUMBER)
		r = number_new(reader, text, number.data, event_line(event), &checked);
	if (r < 0)
		return r;
	if (kind == SCALAR_NO_JSON)
		scalar_fraction_key(text, &key);
	else if (json_object_is_type(checked, json_type_double))
		scalar_fraction_key(number.data, &key);
	else if (kind == SCALAR_NUMBER)
		strbuf_adds(&key, number.data);
	else if (kind == SCALAR_STRING)
		strbuf_adds(&key, text);
	else
		strbuf_adds(&key, kind == SCALAR_TRUE ? "true" : "false");
	*ret = strbuf_detach(&key);
	return *ret ? 0 : error_no_memory(reader->error);
}

/* Puts KEY with a new reference to VALUE. */
static int mapping_put(const struct reader *reader, struct json_object *object, const char *key,
		       struct json_object *value)
{
	if (json_object_object_add(object, key, json_object_get(value)) == 0)
		return 0;
	json_object_put(value);
	return error_no_memory(reader->error);
}

static int merge_one(const struct reader *reader, struct json_object *object,
		     struct json_object *source)
{
	struct json_object_iterator at = json_object_iter_begin(source);
	struct json_object_iterator end = json_object_iter_end(source);

	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
		int r = mapping_put(reader, object, json_object_iter_peek_name(&at),
				    json_object_iter_peek_value(&at));
		if (r < 0)
			return r;
	}
	return 0;
}

/* Of several mappings to merge the first counts most, so it is put last. */
static int mapping_merge(struct reader *reader, struct json_object *object,
			 const struct value *value)
{
	struct json_object *source = value->object;

	if (json_object_is_type(source, json_type_object))
		return merge_one(reader, object, source);
	size_t count =
		json_object_is_type(source, json_type_array) ? json_object_array_length(source) : 0;
	for (size_t i = count; i > 0; i--) {
		struct json_object *item = json_object_array_get_idx(source, i - 1);

		if (!json_object_is_type(item, json_type_object)) {
			count = 0;
			break;
		}
		int r = merge_one(reader, object, item);
		if (r < 0)
			return r;
	}
	if (!count)
		return reader_fail(reader, value->line, EINVAL,
				   "<< wants a mapping or a list of mappings; correct what it "
				   "names or quote the key");
	return 0;
}

/* Two equal keys are one mistake in two places: both lines are said. */
static int mapping_check_key(const struct reader *reader, struct map *lines, const char *key,
			     unsigned line)
{
	uintptr_t first = (uintptr_t)map_get(lines, key);

	if (first)
		return reader_fail(reader, line, EINVAL,
				   "key '%.64s' stands here and in line %u; remove one of the two",
				   key, (unsigned)first);
	if (map_put(lines, key, (void *)(uintptr_t)line) < 0)
		return error_no_memory(reader->error);
	return 0;
}

static bool event_is_merge(const yaml_event_t *event)
{
	const char *tag = (const char *)event->data.scalar.tag;

	return strcmp((const char *)event->data.scalar.value, "<<") == 0 &&
	       (tag ? strcmp(tag, TAG_PREFIX "merge") == 0 : event->data.scalar.plain_implicit);
}

/* The key as text; caller frees. */
static int read_key(struct reader *reader, const yaml_event_t *event, struct map *lines, char **ret)
{
	struct value value = { .line = event_line(event) };
	size_t anchor;

	if (event->type != YAML_SCALAR_EVENT)
		return reader_fail(reader, value.line, EINVAL,
				   "a key that is no plain text; write a name before the colon");
	autofree char *key = NULL;
	int r = check_text(reader, event);
	if (r == 0)
		r = reader_pay(reader, value.line, 0, event->data.scalar.length);
	if (r == 0)
		r = key_text(reader, event, &key);
	if (r == 0)
		r = mapping_check_key(reader, lines, key, value.line);
	if (r == 0)
		r = anchor_open(reader, event->data.scalar.anchor, &anchor);
	if (r < 0)
		return r;
	if (event->data.scalar.anchor) {
		/* An alias is the scalar itself, not its text as a key: `&a yes : *a` is true. */
		r = read_scalar(reader, event, &value);
		if (r < 0)
			return r;
		anchor_close(reader, anchor, &value);
		json_object_put(value.object);
	}
	*ret = TAKE_PTR(key);
	return 0;
}

static int read_member(struct reader *reader, const yaml_event_t *event, struct map *lines,
		       struct json_object *object, unsigned *height)
{
	autofree char *key = NULL;
	autoevent next = { 0 };
	struct value value = { 0 };

	int r = read_key(reader, event, lines, &key);
	if (r == 0)
		r = reader_next(reader, &next);
	if (r == 0)
		r = read_node(reader, &next, &value);
	if (r < 0)
		return r;
	if (value.height > *height)
		*height = value.height;
	r = event_is_merge(event) ? mapping_merge(reader, object, &value)
				  : mapping_put(reader, object, key, value.object);
	json_object_put(value.object);
	return r;
}

static int read_mapping(struct reader *reader, const yaml_event_t *start, struct value *ret)
{
	autojson *object = json_object_new_object();
	automap *lines = map_new();
	unsigned height = 0;

	if (!object || !lines)
		return error_no_memory(reader->error);
	json_set_line(object, event_line(start), NULL);
	for (;;) {
		autoevent event;

		int r = reader_next(reader, &event);
		if (r < 0)
			return r;
		if (event.type == YAML_MAPPING_END_EVENT)
			break;
		r = read_member(reader, &event, lines, object, &height);
		if (r < 0)
			return r;
	}
	ret->object = TAKE_PTR(object);
	ret->height = height + 1;
	return 0;
}

static int read_collection(struct reader *reader, const yaml_event_t *event, struct value *ret)
{
	bool sequence = event->type == YAML_SEQUENCE_START_EVENT;
	const char *tag = (const char *)(sequence ? event->data.sequence_start.tag
						  : event->data.mapping_start.tag);

	if (tag && strcmp(tag, "!") != 0 &&
	    strcmp(tag, sequence ? TAG_PREFIX "seq" : TAG_PREFIX "map") != 0)
		return fail_tag(reader, event_line(event), tag);
	int r = reader_check_depth(reader, event_line(event), 1);
	if (r == 0)
		r = reader_pay(reader, event_line(event), 1, 0);
	if (r < 0)
		return r;
	reader->depth++;
	r = sequence ? read_sequence(reader, event, ret) : read_mapping(reader, event, ret);
	reader->depth--;
	return r;
}

static const yaml_char_t *event_anchor(const yaml_event_t *event)
{
	if (event->type == YAML_SCALAR_EVENT)
		return event->data.scalar.anchor;
	if (event->type == YAML_SEQUENCE_START_EVENT)
		return event->data.sequence_start.anchor;
	return event->data.mapping_start.anchor;
}

static int read_node(struct reader *reader, const yaml_event_t *event, struct value *ret)
{
	struct value value = { .line = event_line(event) };
	size_t anchor;
	int r;

	if (event->type == YAML_ALIAS_EVENT) {
		r = read_alias(reader, event, &value);
	} else {
		r = anchor_open(reader, event_anchor(event), &anchor);
		if (r == 0)
			r = event->type == YAML_SCALAR_EVENT
				    ? read_scalar(reader, event, &value)
				    : read_collection(reader, event, &value);
		if (r == 0)
			anchor_close(reader, anchor, &value);
	}
	if (r == 0)
		*ret = value;
	return r;
}

static int stream_add(const struct reader *reader, struct yaml_stream *stream,
		      struct json_object *document, unsigned line)
{
	if (stream->count == stream->capacity) {
		size_t documents = stream->capacity, lines = stream->capacity;

		if (vec_reserve(&stream->documents, &documents, stream->count + 1,
				sizeof(*stream->documents)) < 0 ||
		    vec_reserve(&stream->lines, &lines, stream->count + 1, sizeof(*stream->lines)) <
			    0)
			return error_no_memory(reader->error);
		stream->capacity = lines;
	}
	stream->documents[stream->count] = json_object_get(document);
	stream->lines[stream->count] = line;
	stream->count++;
	return 0;
}

static int read_document(struct reader *reader, struct yaml_stream *stream)
{
	autoevent event = { 0 };
	autoevent end = { 0 };
	struct value root = { 0 };

	int r = anchors_reset(reader);
	if (r == 0)
		r = reader_next(reader, &event);
	if (r == 0)
		r = read_node(reader, &event, &root);
	if (r < 0)
		return r;
	/* A root of null is an empty document. */
	if (root.object)
		r = stream_add(reader, stream, root.object, root.line);
	json_object_put(root.object);
	return r < 0 ? r : reader_next(reader, &end);
}

static int read_stream(struct reader *reader, struct yaml_stream *stream)
{
	for (;;) {
		autoevent event;

		int r = reader_next(reader, &event);
		if (r < 0)
			return r;
		if (event.type == YAML_STREAM_END_EVENT)
			return 0;
		if (event.type != YAML_DOCUMENT_START_EVENT)
			continue;
		r = read_document(reader, stream);
		if (r < 0)
			return r;
	}
}

static int check_utf8(const struct reader *reader)
{
	size_t good = (size_t)parse_utf8_prefix(reader->text, reader->length);
	unsigned line = reader_line_of(reader, good);

	if (good == reader->length)
		return 0;
	return reader_fail(reader, line, EILSEQ,
			   "byte 0x%02x is not valid UTF-8; save the file as UTF-8",
			   (unsigned char)reader->text[good]);
}

/* YAML's line breaks, of which some are longer than a byte and end in one above 0x7f. */
static bool line_starts_at(const struct reader *reader, const char *at)
{
	return at == reader->text || at[-1] == '\n' || at[-1] == '\r' || (at[-1] & 0x80);
}

/* libyaml compares each %TAG with all before it: a megabyte of them would take minutes. */
static int check_directives(const struct reader *reader)
{
	const char *at = reader->text, *end = reader->text + reader->length;
	unsigned count = 0;

	while ((at = memmem(at, (size_t)(end - at), "%TAG", 4))) {
		if (line_starts_at(reader, at) && ++count > YAML_DIRECTIVES_MAX)
			return error_set(
				reader->error, E2BIG,
				"%s: more than %u %%TAG lines; remove them and write plain "
				"values",
				reader->name, YAML_DIRECTIVES_MAX);
		at += 4;
	}
	return 0;
}

static int parse_checked(struct reader *reader, struct yaml_stream *stream)
{
	int r = check_utf8(reader);

	if (r == 0)
		r = check_directives(reader);
	if (r < 0)
		return r;
	stream->name = strdup(reader->name);
	if (!stream->name || !yaml_parser_initialize(&reader->parser))
		return error_no_memory(reader->error);
	/* Marks count from where the parser believes to be. */
	reader->parser.mark.line = reader->before;
	yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader->parser, (const unsigned char *)reader->text,
				     reader->length);
	r = read_stream(reader, stream);
	yaml_parser_delete(&reader->parser);
	return r;
}

int yaml_parse(const char *text, size_t length, const char *name, struct yaml_stream *ret,
	       struct error *error)
{
	return yaml_parse_at(text, length, name, 1, ret, error);
}

int yaml_parse_at(const char *text, size_t length, const char *name, unsigned line,
		  struct yaml_stream *ret, struct error *error)
{
	struct reader reader = {
		.name = name, .text = text, .length = length, .before = line - 1, .error = error
	};
	struct yaml_stream stream = { 0 };

	if (length > YAML_BYTES_MAX)
		return error_set(
			error, EFBIG,
			"%s: %zu bytes are more than the %zu that are read; split the file", name,
			length, YAML_BYTES_MAX);
	int r = parse_checked(&reader, &stream);
	for (size_t i = 0; i < reader.count; i++)
		json_object_put(reader.anchors[i].object);
	free(reader.anchors);
	map_free(reader.anchor_by_name);
	if (r < 0) {
		yaml_stream_release(&stream);
		return r;
	}
	*ret = stream;
	return 0;
}

int yaml_read_file(const char *path, struct yaml_stream *ret, struct error *error)
{
	autofree char *text = NULL;
	const char *name = path;
	size_t length = 0;
	int r;

	if (strcmp(path, "-") == 0) {
		name = "standard input";
		r = file_read_fd(STDIN_FILENO, name, YAML_BYTES_MAX, &text, &length, error);
	} else {
		r = file_read(path, YAML_BYTES_MAX, &text, &length, error);
	}
	return r < 0 ? r : yaml_parse(text, length, name, ret, error);
}
