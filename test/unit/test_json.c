/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

/* Text, and what it must look like when it is written again (NULL: the same). */
static const struct {
	const char *text, *again;
} good[] = {
	{ "null", NULL },
	{ " true ", "true" },
	{ "18446744073709551615", NULL },
	{ "9223372036854775807", NULL },
	{ "9223372036854775808", NULL },
	{ "-9223372036854775808", NULL },
	{ "0", NULL },
	{ "-0", NULL },
	{ "0.5", NULL },
	{ "1.50", NULL },
	{ "1e3", NULL },
	{ "1E+3", NULL },
	{ "-1.7976931348623157e308", NULL },
	{ "1e-400", NULL },
	{ "0.1000000000000000055511151231257827", NULL },
	{ "\"\"", NULL },
	{ "\"\\u00e9\\ud83d\\ude00\\u20ac\"", "\"\xc3\xa9\xf0\x9f\x98\x80\xe2\x82\xac\"" },
	{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
	{ "\"a/b\"", NULL },
	{ "\"\x7f\xf4\x8f\xbf\xbf\"", NULL },
	{ "[ ]", "[]" },
	{ "{ }", "{}" },
	{ "[1,[2,{\"a\":null}],\"x\"]", NULL },
	{ "{\"b\":1,\"a\":2,\"\":3}", NULL },
	{ "\r\n\t {\"a\" : [ 1 , 2 ] }\n", "{\"a\":[1,2]}" },
};

static void assert_text(struct json_object *value, const char *expected)
{
	autostrbuf text = STRBUF_INIT(65536);

	assert_int_equal(json_to_text(value, false, &text, NULL), 0);
	assert_string_equal(text.data, expected);
}

TEST(json_reads_and_writes)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct error error = ERROR_INIT;
		autojson *value = NULL;

		int r = json_parse(good[i].text, strlen(good[i].text), "t", NULL, &value, &error);
		if (r < 0)
			print_error("%s: %s\n", good[i].text, error.message);
		assert_int_equal(r, 0);
		assert_string_equal(
			json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE),
			good[i].again ? good[i].again : good[i].text);
	}
}

static const struct {
	const char *text;
	int number;
	const char *message; /* the start of it */
} bad[] = {
	{ "", EINVAL, "t:1:1: the text ends where a value should be; " },
	{ "  \n ", EINVAL, "t:2:2: the text ends where a value should be; " },
	{ "nul", EINVAL, "t:1:1: 'n' where a value should be; " },
	{ "NaN", EINVAL, "t:1:1: 'N' where a value" },
	{ "-Infinity", EINVAL, "t:1:2: 'I' where a digit" },
	{ "True", EINVAL, "t:1:1: 'T' where a value" },
	{ "'a'", EINVAL, "t:1:1: ''' where a value" },
	{ "1 2", EINVAL, "t:1:3: '2' where the end of the text" },
	{ "[] x", EINVAL, "t:1:4: 'x' where the end of the text" },
	{ "/* c */ 1", EINVAL, "t:1:1: '/' where a value" },
	{ "[1,]", EINVAL, "t:1:4: ']' where a value" },
	{ "[1 2]", EINVAL, "t:1:4: '2' where ',' or ']'" },
	{ "[1", EINVAL, "t:1:3: the text ends where ',' or ']'" },
	{ "{\"a\":1,}", EINVAL, "t:1:8: '}' where a key in double quotes" },
	{ "{a:1}", EINVAL, "t:1:2: 'a' where a key in double quotes" },
	{ "{\"a\" 1}", EINVAL, "t:1:6: '1' where ':' after a key" },
	{ "{\"a\":1 \"b\":2}", EINVAL, "t:1:8: '\"' where ',' or '}'" },
	{ "{\"a\":1,\n \"b\":2,\n  \"a\":3}", EINVAL, "t:3:3: this key stands here a second time" },
	{ "{\"a\":1,\"\\u0061\":2}", EINVAL, "t:1:8: this key stands here a second time" },
	{ "{\"k\\u0000x\":1}", EINVAL, "t:1:4: a NUL character" },
	{ "\"\\u0000\"", EINVAL, "t:1:2: a NUL character" },
	{ "\"a\nb\"", EINVAL, "t:1:3: byte 0x0a where a character of a string" },
	{ "\"abc", EINVAL, "t:1:5: the text ends where a character of a string" },
	{ "\"\\x\"", EINVAL, "t:1:3: 'x' where an escape" },
	{ "\"\\", EINVAL, "t:1:3: the text ends where an escape" },
	{ "\"\\u12g4\"", EINVAL, "t:1:6: 'g' where one of four" },
	{ "\"\\u@@@@\"", EINVAL, "t:1:4: '@' where one of four" },
	{ "\"\\ud800\"", EINVAL, "t:1:2: half of a surrogate pair" },
	{ "\"\\ud800\\u0041\"", EINVAL, "t:1:2: half of a surrogate pair" },
	{ "\"\\udc00\"", EINVAL, "t:1:2: half of a surrogate pair" },
	{ "01", EINVAL, "t:1:2: '1' where the end of a number" },
	{ "-", EINVAL, "t:1:2: the text ends where a digit" },
	{ "1.", EINVAL, "t:1:3: the text ends where a digit" },
	{ ".5", EINVAL, "t:1:1: '.' where a value" },
	{ "+1", EINVAL, "t:1:1: '+' where a value" },
	{ "1e", EINVAL, "t:1:3: the text ends where a digit" },
	{ "0x10", EINVAL, "t:1:2: 'x' where the end of the text" },
	{ "18446744073709551616", ERANGE, "t:1:1: the number is out of range; " },
	{ "[1,\n-9223372036854775809]", ERANGE, "t:2:1: the number is out of range; " },
	{ "1e309", ERANGE, "t:1:1: the number is out of range; " },
	{ "\"\xff\"", EILSEQ, "t:1:2: this byte is not valid UTF-8" },
	{ "\"\xed\xa0\x80\"", EILSEQ, "t:1:2: this byte is not valid UTF-8" },
	{ "\"\xc0\xaf\"", EILSEQ, "t:1:2: this byte is not valid UTF-8" },
	{ "\xef\xbb\xbf{}", EINVAL, "t:1:1: byte 0xef where a value" },
};

TEST(json_refuses)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error error = ERROR_INIT;
		struct json_object *value = (void *)&error;

		int r = json_parse(bad[i].text, strlen(bad[i].text), "t", NULL, &value, &error);
		if (r >= 0 || strncmp(error.message, bad[i].message, strlen(bad[i].message)) != 0)
			print_error("%s: %d %s\n", bad[i].text, r, error.message);
		assert_int_equal(r, -bad[i].number);
		assert_true(strncmp(error.message, bad[i].message, strlen(bad[i].message)) == 0);
		assert_non_null(strchr(error.message, ';'));
		assert_ptr_equal(value, &error); /* results on success only */
	}
	/* A NUL byte in the text is no end of it. */
	struct error error = ERROR_INIT;
	struct json_object *value = NULL;
	assert_int_equal(json_parse("1\0 2", 4, "t", NULL, &value, &error), -EINVAL);
	assert_non_null(strstr(error.message, "byte 0x00"));
}

TEST(json_limits_hold)
{
	static const struct json_limits limits = { .bytes = 20, .depth = 3 };
	static const struct {
		const char *text;
		int r;
	} rows[] = {
		{ "[[[1]]]", 0 },
		{ "[[[{}]]]", -E2BIG },
		{ "{\"a\":[[[]]]}", -E2BIG },
		{ "[[],[[]],[[]]]", 0 },
		{ "\"123456789012345678\"", 0 },
		{ "\"1234567890123456789\"", -EFBIG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error = ERROR_INIT;
		autojson *value = NULL;

		int r = json_parse(rows[i].text, strlen(rows[i].text), "t", &limits, &value,
				   &error);
		assert_int_equal(r, rows[i].r);
	}
	size_t length = 1 << 20;
	autofree char *deep = malloc(length);
	memset(deep, '[', length);
	struct error error = ERROR_INIT;
	struct json_object *value = NULL;
	assert_int_equal(json_parse(deep, length, "t", NULL, &value, &error), -E2BIG);
	assert_string_equal(error.message, "t:1:65: nested deeper than 64 levels; make it flatter");
}

TEST(json_finds_by_path)
{
	static const char text[] = "{\"a\":{\"b\":{\"c\":\"x\"}},\"n\":18446744073709551615,"
				   "\"m\":-1,\"d\":1.5,\"z\":null}";
	autojson *tree = NULL;

	assert_int_equal(json_parse(text, strlen(text), "t", NULL, &tree, NULL), 0);
	assert_string_equal(json_get_string(tree, "a.b.c", "-"), "x");
	assert_string_equal(json_get_string(tree, "a.b.d", "-"), "-");
	assert_string_equal(json_get_string(tree, "a.b.c.d", "-"), "-");
	assert_string_equal(json_get_string(tree, "n", "-"), "-");
	assert_null(json_get(tree, "z.a"));
	assert_null(json_get(NULL, "a"));
	assert_ptr_equal(json_get(tree, ""), tree);
	assert_true(json_get_uint(tree, "n", 7) == UINT64_MAX);
	assert_true(json_get_uint(tree, "m", 7) == 7);
	assert_true(json_get_uint(tree, "d", 7) == 7);
	assert_true(json_get_uint(tree, "none", 7) == 7);
}

TEST(json_copy_keeps_lines_and_texts)
{
	static const char text[] = "{\"a\":[1.50,{\"b\":\"x\"}],\"n\":null}";
	autojson *tree = NULL, *copy = NULL;
	struct json_object *number;

	assert_int_equal(json_parse(text, strlen(text), "t", NULL, &tree, NULL), 0);
	assert_int_equal(json_line(tree), 0);
	assert_int_equal(json_line(NULL), 0);
	number = json_object_array_get_idx(json_get(tree, "a"), 0);
	assert_int_equal(json_line(number), 0);
	assert_int_equal(json_set_line(number, 7, "1.50"), 0);
	assert_int_equal(json_set_line(json_get(tree, "a"), 3, NULL), 0);
	assert_int_equal(json_copy(tree, &copy, NULL), 0);
	assert_int_equal(json_line(json_get(copy, "a")), 3);
	assert_int_equal(json_line(json_object_array_get_idx(json_get(copy, "a"), 0)), 7);
	assert_text(copy, text);
	assert_ptr_not_equal(json_get(copy, "a"), json_get(tree, "a"));
}

static int build(struct json_object *object)
{
	struct json_object *list = json_object_new_array();
	int r = json_append_string(list, "x");

	if (r == 0)
		r = json_append(list, json_object_new_object());
	if (r < 0) {
		json_object_put(list);
		return r;
	}
	r = json_add(object, "list", list);
	if (r == 0)
		r = json_add_string(object, "s", "a long enough string to be allocated apart");
	if (r == 0)
		r = json_add_string(object, "none", NULL);
	if (r == 0)
		r = json_add_uint(object, "u", UINT64_MAX);
	if (r == 0)
		r = json_add_int(object, "i", INT64_MIN);
	if (r == 0)
		r = json_add_bool(object, "b", true);
	return r;
}

static const char built[] = "{\"list\":[\"x\",{}],\"s\":\"a long enough string to be allocated "
			    "apart\",\"none\":null,\"u\":18446744073709551615,"
			    "\"i\":-9223372036854775808,\"b\":true}";

TEST(json_builds_or_is_out_of_memory)
{
	unsigned n = 0;

	for (;; n++) {
		autojson *object = json_object_new_object();

		fault_arm(n);
		int r = build(object);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_text(object, built);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	assert_true(n > 8);
}

/* More members than json-c's first table of 16, strings beyond its inline 32 bytes. */
static void big_text(struct strbuf *text)
{
	strbuf_adds(text, "{\"list\":[");
	for (int i = 0; i < 40; i++)
		strbuf_addf(text, "%s%d.5", i ? "," : "", i);
	strbuf_adds(text, "]");
	for (int i = 0; i < 40; i++)
		strbuf_addf(text,
			    ",\"a key that is so very long that it has to be kept apart from all "
			    "the others %d\":"
			    "\"a value that is so long that it has to be kept apart\"",
			    i);
	strbuf_adds(text, "}");
}

TEST(json_parse_survives_every_failed_allocation)
{
	autostrbuf text = STRBUF_INIT(65536);
	unsigned n = 0;

	big_text(&text);
	for (;; n++) {
		struct error error = ERROR_INIT;
		autojson *value = NULL;

		fault_arm(n);
		int r = json_parse(text.data, text.length, "t", NULL, &value, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_string_equal(error.message, "out of memory");
	}
	assert_true(n > 200); /* else json-c's own allocations are not reached */
}

TEST(json_copy_survives_every_failed_allocation)
{
	autostrbuf text = STRBUF_INIT(65536);
	autojson *tree = NULL;

	big_text(&text);
	assert_int_equal(json_parse(text.data, text.length, "t", NULL, &tree, NULL), 0);
	for (unsigned n = 0;; n++) {
		autojson *copy = NULL;

		fault_arm(n);
		int r = json_copy(tree, &copy, NULL);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

/* Half a text must never pass for the whole one; json-c's own printing fails this test. */
TEST(json_text_is_whole_or_missing)
{
	autostrbuf text = STRBUF_INIT(65536);
	autostrbuf whole = STRBUF_INIT(65536);
	autojson *tree = NULL;

	big_text(&text);
	assert_int_equal(json_parse(text.data, text.length, "t", NULL, &tree, NULL), 0);
	assert_int_equal(json_to_text(tree, true, &whole, NULL), 0);
	for (unsigned n = 0;; n++) {
		autostrbuf again = STRBUF_INIT(65536);

		fault_arm(n);
		int r = json_to_text(tree, true, &again, NULL);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_string_equal(again.data, whole.data);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

TEST(json_text_is_pretty_and_bounded)
{
	static const char text[] = "{\"a\":[1,{}],\"b\":{\"c\":[]},\"d\":\"\\u0001\\n\"}";
	static const char pretty[] = "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": {\n"
				     "    \"c\": []\n  },\n  \"d\": \"\\u0001\\n\"\n}";
	autojson *tree = NULL, *deep = NULL, *odd = json_object_new_double(HUGE_VAL);
	autojson *plain = json_object_new_double(0.5);
	autostrbuf out = STRBUF_INIT(sizeof(pretty) - 1);

	assert_int_equal(json_parse(text, strlen(text), "t", NULL, &tree, NULL), 0);
	assert_int_equal(json_to_text(tree, true, &out, NULL), 0);
	assert_string_equal(out.data, pretty);
	assert_text(tree, text);
	assert_text(plain, "0.5");
	assert_text(NULL, "null");
	assert_int_equal(json_to_text(tree, true, &out, NULL), -ENAMETOOLONG);
	strbuf_reset(&out);
	assert_int_equal(json_to_text(odd, true, &out, NULL), -EINVAL);
	for (int i = 0; i < 257; i++) {
		struct json_object *outer = json_object_new_array();
		assert_int_equal(json_append(outer, deep ? deep : json_object_new_int(1)), 0);
		deep = outer;
	}
	autostrbuf wide = STRBUF_INIT(65536);
	assert_int_equal(json_to_text(deep, false, &wide, NULL), -E2BIG);
}

TEST(json_files)
{
	char path[] = "/tmp/gpupool-test-XXXXXX";
	autojson *object = json_object_new_object(), *again = NULL;
	struct error error = ERROR_INIT;
	autofree char *text = NULL;
	size_t length = 0;

	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(build(object), 0);
	assert_int_equal(json_write_file(path, object, 0640, &error), 0);
	assert_int_equal(json_read_file(path, NULL, &again, &error), 0);
	assert_text(again, built);
	assert_int_equal(file_read(path, 4096, &text, &length, &error), 0);
	assert_true(text[length - 1] == '\n');
	static const struct json_limits small = { .bytes = 8, .depth = 8 };
	assert_int_equal(json_read_file(path, &small, &again, &error), -EFBIG);
	unlink(path);
	assert_int_equal(json_read_file(path, NULL, &again, &error), -ENOENT);
	assert_non_null(strstr(error.message, path));
}
