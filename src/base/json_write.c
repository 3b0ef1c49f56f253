/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json_number.h"
#include "base/strbuf.h"

#define DEPTH_MAX 256

struct json_writer {
	struct strbuf *text;
	bool pretty;
	int depth;
	struct error *error;
};

static int write_value(struct json_writer *writer, struct json_object *object);

static void write_break(struct json_writer *writer)
{
	if (!writer->pretty)
		return;
	strbuf_addc(writer->text, '\n');
	for (int i = 0; i < writer->depth; i++)
		strbuf_adds(writer->text, "  ");
}

/* U+0080 to U+009f: legal as they are, and commands to many terminals. */
static bool is_second_control(const char *text, size_t length)
{
	return length >= 2 && (unsigned char)text[0] == 0xc2 && (unsigned char)text[1] >= 0x80 &&
	       (unsigned char)text[1] <= 0x9f;
}

/* Bytes from TEXT on that stand for themselves. */
static size_t plain_length(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && (unsigned char)text[i] >= 0x20 && text[i] != '"' && text[i] != '\\' &&
	       text[i] != 0x7f && !is_second_control(text + i, length - i))
		i++;
	return i;
}

static void write_string(struct strbuf *text, const char *string, size_t length)
{
	static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";

	strbuf_addc(text, '"');
	for (size_t i = 0; i < length; i++) {
		/* A piece at once: a container's start waits for every string of its spec. */
		size_t plain = plain_length(string + i, length - i);

		strbuf_add(text, string + i, plain);
		i += plain;
		if (i == length)
			break;
		unsigned char byte = (unsigned char)string[i];
		const char *found = byte ? strchr(named, byte) : NULL;

		if (found)
			strbuf_addf(text, "\\%c", names[found - named]);
		else if (is_second_control(string + i, length - i))
			strbuf_addf(text, "\\u%04x", (unsigned char)string[++i]);
		else
			strbuf_addf(text, "\\u%04x", byte);
	}
	strbuf_addc(text, '"');
}

static int write_object(struct json_writer *writer, struct json_object *object)
{
	struct json_object_iterator at = json_object_iter_begin(object);
	struct json_object_iterator end = json_object_iter_end(object);
	bool first = true;

	strbuf_addc(writer->text, '{');
	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
		const char *key = json_object_iter_peek_name(&at);

		if (!first)
			strbuf_addc(writer->text, ',');
		first = false;
		write_break(writer);
		write_string(writer->text, key, strlen(key));
		strbuf_adds(writer->text, writer->pretty ? ": " : ":");
		int r = write_value(writer, json_object_iter_peek_value(&at));
		if (r < 0)
			return r;
	}
	writer->depth--;
	if (!first)
		write_break(writer);
	strbuf_addc(writer->text, '}');
	return 0;
}

static int write_array(struct json_writer *writer, struct json_object *array)
{
	size_t count = json_object_array_length(array);

	strbuf_addc(writer->text, '[');
	for (size_t i = 0; i < count; i++) {
		if (i)
			strbuf_addc(writer->text, ',');
		write_break(writer);
		int r = write_value(writer, json_object_array_get_idx(array, i));
		if (r < 0)
			return r;
	}
	writer->depth--;
	if (count)
		write_break(writer);
	strbuf_addc(writer->text, ']');
	return 0;
}

static int write_nested(struct json_writer *writer, struct json_object *object)
{
	if (writer->depth == DEPTH_MAX)
		return error_set(writer->error, E2BIG,
				 "JSON nested deeper than %d levels; make it flatter", DEPTH_MAX);
	writer->depth++;
	return json_object_is_type(object, json_type_object) ? write_object(writer, object)
							     : write_array(writer, object);
}

static int write_double(const struct json_writer *writer, struct json_object *object)
{
	const char *kept = json_double_text(object);
	double value = json_object_get_double(object);

	if (kept)
		strbuf_adds(writer->text, kept);
	else if (isfinite(value))
		strbuf_addf(writer->text, "%.17g", value);
	else
		return error_set(writer->error, EINVAL,
				 "infinity and NaN have no form in JSON; leave the number out");
	return 0;
}

static void write_integer(struct strbuf *text, struct json_object *object)
{
	int64_t value = json_object_get_int64(object);

	if (value < 0)
		strbuf_addf(text, "%" PRId64, value);
	else
		strbuf_addf(text, "%" PRIu64, json_object_get_uint64(object));
}

static int write_value(struct json_writer *writer, struct json_object *object)
{
	switch (json_object_get_type(object)) {
	case json_type_null:
		strbuf_adds(writer->text, "null");
		return 0;
	case json_type_boolean:
		strbuf_adds(writer->text, json_object_get_boolean(object) ? "true" : "false");
		return 0;
	case json_type_double:
		return write_double(writer, object);
	case json_type_int:
		write_integer(writer->text, object);
		return 0;
	case json_type_string:
		write_string(writer->text, json_object_get_string(object),
			     (size_t)json_object_get_string_len(object));
		return 0;
	case json_type_object:
	case json_type_array:
		break;
	}
	return write_nested(writer, object);
}

int json_to_text(struct json_object *object, bool pretty, struct strbuf *text, struct error *error)
{
	struct json_writer writer = { .text = text, .pretty = pretty, .error = error };

	int r = write_value(&writer, object);
	if (r < 0)
		return r;
	if (strbuf_failed(text) == -ENAMETOOLONG)
		return error_set(error, ENAMETOOLONG,
				 "the JSON text is longer than %zu bytes; write less at once",
				 text->maximum);
	return strbuf_failed(text) < 0 ? error_no_memory(error) : 0;
}
