/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the text that builds json-c's tree. json-c's own tokener is not used: even in its
 * strict mode it saturates large integers, takes NaN, cuts keys at NUL, keeps the last of two equal
 * keys and knows neither line nor column. Each of these would need a second reader beside it.
 */
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_number.h"
#include "base/parse.h"
#include "base/strbuf.h"

enum { KEY_NEAR = 64 }; /* bytes */

struct json_reader {
	const char *text, *end, *at;
	const char *name;
	unsigned long line, column; /* of the text's first byte in its source */
	const struct json_limits *limits;
	int depth;
	struct strbuf scratch; /* the string or number being read */
	struct error *error;
};

/* "NAME:LINE:COLUMN: what; what to do"; columns count bytes from 1. */
static int reader_fail(const struct json_reader *reader, const char *at, int number,
		       const char *what)
{
	unsigned long line = reader->line, column = reader->column;

	for (const char *byte = reader->text; byte < at; byte++) {
		column++;
		if (*byte == '\n') {
			line++;
			column = 1;
		}
	}
	return error_set(reader->error, number, "%s:%lu:%lu: %s", reader->name, line, column, what);
}

/* What is needed here but is not here. */
static int reader_expect(const struct json_reader *reader, const char *wanted)
{
	char what[160];

	if (reader->at == reader->end)
		snprintf(what, sizeof(what), "the text ends where %s should be; it may be cut off",
			 wanted);
	else if ((unsigned char)*reader->at < 0x21 || (unsigned char)*reader->at > 0x7e)
		snprintf(what, sizeof(what),
			 "byte 0x%02x where %s should be; correct the text here",
			 (unsigned char)*reader->at, wanted);
	else
		snprintf(what, sizeof(what), "'%c' where %s should be; correct the text here",
			 *reader->at, wanted);
	return reader_fail(reader, reader->at, EINVAL, what);
}

static void reader_skip_blank(struct json_reader *reader)
{
	while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n' ||
					    *reader->at == '\t' || *reader->at == '\r'))
		reader->at++;
}

static bool reader_take(struct json_reader *reader, char wanted)
{
	if (reader->at == reader->end || *reader->at != wanted)
		return false;
	reader->at++;
	return true;
}

static bool reader_at_digit(const struct json_reader *reader)
{
	return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

static int read_hex4(struct json_reader *reader, unsigned *ret)
{
	unsigned value = 0;

	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef";
		char digit = reader->at < reader->end ? *reader->at : '\0';
		const char *found =
			digit ? strchr(digits, digit | (digit >= 'A' ? 0x20 : 0)) : NULL;

		if (!found)
			return reader_expect(reader, "one of four hexadecimal digits");
		value = value * 16 + (unsigned)(found - digits);
		reader->at++;
	}
	*ret = value;
	return 0;
}

static void add_code_point(struct strbuf *text, unsigned code)
{
	if (code < 0x80) {
		strbuf_addc(text, (char)code);
		return;
	}
	if (code < 0x800) {
		strbuf_addc(text, (char)(0xc0 | code >> 6));
	} else {
		if (code < 0x10000) {
			strbuf_addc(text, (char)(0xe0 | code >> 12));
		} else {
			strbuf_addc(text, (char)(0xf0 | code >> 18));
			strbuf_addc(text, (char)(0x80 | (code >> 12 & 0x3f)));
		}
		strbuf_addc(text, (char)(0x80 | (code >> 6 & 0x3f)));
	}
	strbuf_addc(text, (char)(0x80 | (code & 0x3f)));
}

/* After "\u": one code unit, or two that make a character above U+FFFF. */
static int read_unicode(struct json_reader *reader)
{
	const char *start = reader->at - 2;
	unsigned code = 0, low = 0;

	int r = read_hex4(reader, &code);
	if (r < 0)
		return r;
	if (code == 0)
		return reader_fail(reader, start, EINVAL,
				   "a NUL character (\\u0000) in a string; remove it");
	if (code >= 0xd800 && code < 0xdc00 && reader_take(reader, '\\') &&
	    reader_take(reader, 'u')) {
		r = read_hex4(reader, &low);
		if (r < 0)
			return r;
		if (low >= 0xdc00 && low < 0xe000) {
			add_code_point(&reader->scratch,
				       0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
			return 0;
		}
	}
	if (code >= 0xd800 && code < 0xe000)
		return reader_fail(reader, start, EINVAL,
				   "half of a surrogate pair; write both halves or the character");
	add_code_point(&reader->scratch, code);
	return 0;
}

static int read_escape(struct json_reader *reader)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *found = NULL;

	if (reader_take(reader, 'u'))
		return read_unicode(reader);
	if (reader->at < reader->end && *reader->at)
		found = strchr(names, *reader->at);
	if (!found)
		return reader_expect(reader, "an escape (one of \"\\/bfnrtu)");
	strbuf_addc(&reader->scratch, values[found - names]);
	reader->at++;
	return 0;
}

/* After the opening quote; the text is left in scratch. */
static int read_string(struct json_reader *reader)
{
	strbuf_reset(&reader->scratch);
	for (;;) {
		const char *start = reader->at;

		while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\' &&
		       (unsigned char)*reader->at >= 0x20)
			reader->at++;
		strbuf_add(&reader->scratch, start, (size_t)(reader->at - start));
		if (strbuf_failed(&reader->scratch) < 0)
			return error_no_memory(reader->error);
		if (reader_take(reader, '"'))
			return 0;
		if (!reader_take(reader, '\\'))
			return reader_expect(reader, "a character of a string or its closing '\"'");
		int r = read_escape(reader);
		if (r < 0)
			return r;
	}
}

static int read_digits(struct json_reader *reader)
{
	if (!reader_at_digit(reader))
		return reader_expect(reader, "a digit");
	while (reader_at_digit(reader))
		reader->at++;
	return 0;
}

/* Moves over a number by the grammar of RFC 8259, 6. */
static int scan_number(struct json_reader *reader)
{
	reader_take(reader, '-');
	if (reader_take(reader, '0')) {
		if (reader_at_digit(reader))
			return reader_expect(reader, "the end of a number that starts with 0");
	} else if (read_digits(reader) < 0) {
		return -EINVAL;
	}
	if (reader_take(reader, '.') && read_digits(reader) < 0)
		return -EINVAL;
	if (reader_take(reader, 'e') || reader_take(reader, 'E')) {
		if (!reader_take(reader, '+'))
			reader_take(reader, '-');
		return read_digits(reader);
	}
	return 0;
}

static struct json_object *integer_new(const char *text)
{
	struct json_object *number;

	errno = 0;
	if (*text == '-') {
		long long value = strtoll(text, NULL, 10);

		number = errno ? NULL : json_object_new_int64(value);
	} else {
		unsigned long long value = strtoull(text, NULL, 10);

		if (errno)
			return NULL;
		number = value > INT64_MAX ? json_object_new_uint64(value)
					   : json_object_new_int64((int64_t)value);
	}
	return number;
}

int json_number_new(const char *text, unsigned line, struct json_object **ret)
{
	autojson *number = NULL;

	/* "-0" is a double: as an integer it would lose its sign. */
	if (strpbrk(text, ".eE") || strcmp(text, "-0") == 0) {
		double value = strtod(text, NULL);

		if (!isfinite(value))
			return -ERANGE;
		number = json_object_new_double_s(value, text);
	} else {
		number = integer_new(text);
		if (!number && errno == ERANGE)
			return -ERANGE;
	}
	if (!number || (line && json_set_line(number, line, text) < 0))
		return -ENOMEM;
	*ret = TAKE_PTR(number);
	return 0;
}

static int read_number(struct json_reader *reader, struct json_object **ret)
{
	const char *start = reader->at;

	int r = scan_number(reader);
	if (r < 0)
		return r;
	strbuf_reset(&reader->scratch);
	strbuf_add(&reader->scratch, start, (size_t)(reader->at - start));
	r = strbuf_failed(&reader->scratch);
	if (r == 0)
		r = json_number_new(reader->scratch.data, 0, ret);
	if (r == -ERANGE)
		return reader_fail(reader, start, ERANGE,
				   "the number is out of range; " JSON_NUMBER_RANGE);
	return r < 0 ? error_no_memory(reader->error) : 0;
}

static int read_value(struct json_reader *reader, struct json_object **ret);

static bool is_passed_over(const struct json_reader *reader, const char *key)
{
	const char *const *names = reader->limits->passed_over;

	for (; names && *names; names++)
		if (strcmp(*names, key) == 0)
			return true;
	return false;
}

static int skip_value(struct json_reader *reader);

static int skip_member(struct json_reader *reader)
{
	reader_skip_blank(reader);
	if (!reader_take(reader, '"'))
		return reader_expect(reader, "a key in double quotes");
	int r = read_string(reader);
	if (r < 0)
		return r;
	reader_skip_blank(reader);
	return reader_take(reader, ':') ? skip_value(reader)
					: reader_expect(reader, "':' after a key");
}

/* The rest of an object or array, after its first byte. */
static int skip_rest(struct json_reader *reader, char end)
{
	reader_skip_blank(reader);
	if (reader_take(reader, end))
		return 0;
	do {
		int r = end == '}' ? skip_member(reader) : skip_value(reader);
		if (r < 0)
			return r;
		reader_skip_blank(reader);
	} while (reader_take(reader, ','));
	if (reader_take(reader, end))
		return 0;
	return reader_expect(reader, end == '}' ? "',' or '}' after a member"
						: "',' or ']' after an element");
}

static int check_depth(const struct json_reader *reader)
{
	char what[96];

	if (reader->depth < reader->limits->depth)
		return 0;
	snprintf(what, sizeof(what), "nested deeper than %d levels; make it flatter",
		 reader->limits->depth);
	return reader_fail(reader, reader->at, E2BIG, what);
}

static int read_word(struct json_reader *reader, struct json_object **ret);

/* Over a value that nobody wants: by the grammar, and nothing is made of it. */
static int skip_value(struct json_reader *reader)
{
	autojson *word = NULL;

	reader_skip_blank(reader);
	if (reader->at < reader->end && (*reader->at == '{' || *reader->at == '[')) {
		int r = check_depth(reader);
		if (r < 0)
			return r;
		reader->depth++;
		r = skip_rest(reader, *reader->at++ == '{' ? '}' : ']');
		reader->depth--;
		return r;
	}
	if (reader_take(reader, '"'))
		return read_string(reader);
	if (reader_at_digit(reader) || (reader->at < reader->end && *reader->at == '-'))
		return scan_number(reader);
	return read_word(reader, &word);
}

/* A list that is passed over is there, and empty. */
static int read_passed_over(struct json_reader *reader, struct json_object **ret)
{
	int r = skip_value(reader);

	if (r < 0)
		return r;
	*ret = json_object_new_array();
	return *ret ? 0 : error_no_memory(reader->error);
}

/* The key in SCRATCH, which the value will use again: in NEAR when it is as short as keys are. */
static const char *keep_key(const struct strbuf *scratch, char near[static KEY_NEAR], char **far)
{
	if (scratch->length < KEY_NEAR)
		return memcpy(near, scratch->data, scratch->length + 1);
	*far = strdup(scratch->data);
	return *far;
}

static bool at_list(struct json_reader *reader)
{
	reader_skip_blank(reader);
	return reader->at < reader->end && *reader->at == '[';
}

static int read_member(struct json_reader *reader, struct json_object *object)
{
	autojson *value = NULL;
	const char *start = reader->at;

	if (!reader_take(reader, '"'))
		return reader_expect(reader, "a key in double quotes");
	int r = read_string(reader);
	if (r < 0)
		return r;
	char near[KEY_NEAR];
	autofree char *far = NULL;
	const char *key = keep_key(&reader->scratch, near, &far);
	if (!key)
		return error_no_memory(reader->error);
	if (json_object_object_get_ex(object, key, NULL))
		return reader_fail(reader, start, EINVAL,
				   "this key stands here a second time; remove one of the two");
	reader_skip_blank(reader);
	if (!reader_take(reader, ':'))
		return reader_expect(reader, "':' after a key");
	r = is_passed_over(reader, key) && at_list(reader) ? read_passed_over(reader, &value)
							   : read_value(reader, &value);
	if (r < 0)
		return r;
	if (json_object_object_add_ex(object, key, value, JSON_C_OBJECT_ADD_KEY_IS_NEW) < 0)
		return error_no_memory(reader->error);
	value = NULL;
	return 0;
}

static int read_object(struct json_reader *reader, struct json_object **ret)
{
	autojson *object = json_object_new_object();

	if (!object)
		return error_no_memory(reader->error);
	reader_skip_blank(reader);
	if (!reader_take(reader, '}')) {
		do {
			reader_skip_blank(reader);
			int r = read_member(reader, object);
			if (r < 0)
				return r;
			reader_skip_blank(reader);
		} while (reader_take(reader, ','));
		if (!reader_take(reader, '}'))
			return reader_expect(reader, "',' or '}' after a member");
	}
	*ret = TAKE_PTR(object);
	return 0;
}

static int read_array(struct json_reader *reader, struct json_object **ret)
{
	autojson *array = json_object_new_array();

	if (!array)
		return error_no_memory(reader->error);
	reader_skip_blank(reader);
	if (!reader_take(reader, ']')) {
		do {
			autojson *value = NULL;

			int r = read_value(reader, &value);
			if (r < 0)
				return r;
			if (json_object_array_add(array, value) < 0)
				return error_no_memory(reader->error);
			value = NULL;
			reader_skip_blank(reader);
		} while (reader_take(reader, ','));
		if (!reader_take(reader, ']'))
			return reader_expect(reader, "',' or ']' after an element");
	}
	*ret = TAKE_PTR(array);
	return 0;
}

static int read_word(struct json_reader *reader, struct json_object **ret)
{
	static const char *const words[] = { "null", "false", "true" };

	for (int i = 0; i < 3; i++) {
		size_t length = strlen(words[i]);

		if ((size_t)(reader->end - reader->at) < length ||
		    memcmp(reader->at, words[i], length) != 0)
			continue;
		reader->at += length;
		*ret = i ? json_object_new_boolean(i == 2) : NULL;
		return i && !*ret ? error_no_memory(reader->error) : 0;
	}
	return reader_expect(reader, "a value");
}

static int read_nested(struct json_reader *reader, struct json_object **ret)
{
	int r = check_depth(reader);

	if (r < 0)
		return r;
	reader->depth++;
	r = *reader->at++ == '{' ? read_object(reader, ret) : read_array(reader, ret);
	reader->depth--;
	return r;
}

static int read_value(struct json_reader *reader, struct json_object **ret)
{
	reader_skip_blank(reader);
	if (reader->at < reader->end && (*reader->at == '{' || *reader->at == '['))
		return read_nested(reader, ret);
	if (reader_take(reader, '"')) {
		int r = read_string(reader);
		if (r < 0)
			return r;
		*ret = json_object_new_string_len(reader->scratch.data,
						  (int)reader->scratch.length);
		return *ret ? 0 : error_no_memory(reader->error);
	}
	if (reader_at_digit(reader) || (reader->at < reader->end && *reader->at == '-'))
		return read_number(reader, ret);
	return read_word(reader, ret);
}

static int read_all(struct json_reader *reader, struct json_object **ret)
{
	autojson *value = NULL;

	size_t length = (size_t)(reader->end - reader->text);
	size_t good = (size_t)parse_utf8_prefix(reader->text, length);
	if (good < length)
		return reader_fail(reader, reader->text + good, EILSEQ,
				   "this byte is not valid UTF-8; save the text as UTF-8");
	int r = read_value(reader, &value);
	if (r < 0)
		return r;
	reader_skip_blank(reader);
	if (reader->at < reader->end)
		return reader_expect(reader, "the end of the text (one value is all)");
	*ret = TAKE_PTR(value);
	return 0;
}

int json_parse(const char *text, size_t length, const char *name, const struct json_limits *limits,
	       struct json_object **ret, struct error *error)
{
	return json_parse_at(text, length, name, 1, 1, limits, ret, error);
}

int json_parse_at(const char *text, size_t length, const char *name, unsigned long line,
		  unsigned long column, const struct json_limits *limits, struct json_object **ret,
		  struct error *error)
{
	if (!limits)
		limits = &json_limits_default;
	struct json_reader reader = {
		.text = text,
		.end = text + length,
		.at = text,
		.name = name,
		.line = line,
		.column = column,
		.limits = limits,
		.scratch = STRBUF_INIT(limits->bytes),
		.error = error,
	};
	if (length > limits->bytes || length > INT32_MAX)
		return error_set(error, EFBIG,
				 "%s: %zu bytes are more than the %zu that are read; split it",
				 name, length, limits->bytes);
	int r = read_all(&reader, ret);
	strbuf_release(&reader.scratch);
	return r;
}
