/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/base.h"
#include "test.h"

/* A descriptor from which TEXT can be read. */
static int source_of(const char *text, size_t length)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fflush(file), 0);
	int fd = dup(fileno(file));
	assert_true(fd >= 0);
	fclose(file);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* "LINE=text LINE=text" of the items of TEXT, of which the first START bytes are handed over. */
static int items_of(const char *text, size_t start, const struct json_limits *limits,
		    struct strbuf *out, struct error *error)
{
	autoclose int fd = source_of(text, strlen(text));
	autojson_stream *stream = NULL;
	unsigned long line;

	assert_int_equal(lseek(fd, (off_t)start, SEEK_SET), start);
	int r = json_stream_new(fd, "f.json", text, start, limits, &stream, error);
	while (r >= 0) {
		autojson *item = NULL;

		r = json_stream_next(stream, &item, &line, error);
		if (r <= 0)
			break;
		strbuf_addf(out, "%s%lu=", out->length ? " " : "", line);
		r = json_to_text(item, false, out, error);
	}
	return r;
}

TEST(items_come_with_their_lines)
{
	static const struct {
		const char *text, *items;
	} cases[] = {
		{ "{\"kind\":\"List\",\"items\":[]}", "" },
		{ "{\"kind\":\"List\",\"items\":null}", "" },
		{ "{\"items\":[1,\"a]\",null],\"kind\":\"NodeList\"}", "1=1 1=\"a]\" 1=null" },
		{ "\n{\n \"items\" : [\n {\"a\":\n[1,{\"b\":\"\\\"}\"}]}\n,\n {}\n ],\n"
		  "\"kind\":\"List\", \"metadata\":{\"items\":[7]}}\n",
		  "4={\"a\":[1,{\"b\":\"\\\"}\"}]} 7={}" },
		{ "{\"kind\":\"Pod\",\"spec\":{\"x\":1}}",
		  "1={\"kind\":\"Pod\",\"spec\":{\"x\":1}}" },
		{ "{\"items\":7,\"kind\":\"x\"}", "1={\"items\":7,\"kind\":\"x\"}" },
		{ "{\"kind\":\"List\",\"items\":[1]}\n{\"kind\":\"Node\"}\n{\"items\":[2],"
		  "\"kind\":\"PodList\"}",
		  "1=1 2={\"kind\":\"Node\"} 3=2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t length = strlen(cases[i].text);

		for (size_t start = 0; start <= length; start++) {
			autostrbuf out = STRBUF_INIT(4096);
			struct error error = ERROR_INIT;

			fault_limit_transfers(start % 7 + 1);
			int r = items_of(cases[i].text, start, NULL, &out, &error);
			fault_limit_transfers(0);
			assert_string_equal(error.message, "");
			assert_int_equal(r, 0);
			assert_string_equal(out.data, cases[i].items);
		}
	}
}

TEST(hostile_text_is_one_sentence)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "", "f.json:1:1: the text ends where the '{' of an object" },
		{ "[]", "f.json:1:1: '[' where the '{' of an object of Kubernetes should be" },
		{ "{", "f.json:1:2: the text ends where ',' or '}' after a member should be; it" },
		{ "{\"items\"", "f.json:1:9: the text ends where ':' after a key should be" },
		{ "{\"items\":[\n{\"a\":1}\n", "f.json:3:1: the text ends where ',' or ']' after" },
		{ "{\"items\":[\n{\"a\":1,", "f.json:2:8: the text ends where a key" },
		{ "{\"items\":[\n\n{\"a\":\n\"tex", "f.json:4:5: the text ends where a character" },
		{ "{\"items\":[1 2]}", "f.json:1:13: '2' where ',' or ']' after an item" },
		{ "{\"items\":[1,]}", "f.json:1:13: ']' where an item should be" },
		{ "{\"items\":[,1]}", "f.json:1:11: ',' where an item should be" },
		{ "{\"items\":[],}", "f.json:1:13: '}' where a key in double quotes" },
		{ "{\"a\":1 \"b\":2}", "f.json:1:8: '\"' where ',' or '}' after a member" },
		{ "{a:1}", "f.json:1:2: 'a' where a key in double quotes" },
		{ "{\"items\":[]}", "f.json:1: an object with items whose kind is '' and no" },
		{ "{\"items\":[],\"kind\":\"Pod\"}", "f.json:1: an object with items whose kind" },
		{ "{\"items\":[],\"kind\":\"List\"} x", "f.json:1:28: 'x' where the end of the" },
		{ "{\"items\":[],\"items\":[]}", "f.json:1:13: this key stands here a second" },
		{ "{\"kind\":1,\"kind\":2}", "f.json:1:11: this key stands here a second time" },
		{ "{\"items\":[\n{\"a\":01}]}", "f.json:2:7: '1' where the end of a number" },
		{ "{\"items\":[\n\n  {]}]}", "f.json:3:4: ']' where a key in double quotes" },
		{ "{\"items\":[tru]}", "f.json:1:11: 't' where a value should be" },
		{ "{\"items\":[\"\xff\"]}", "f.json:1:12: this byte is not valid UTF-8" },
		{ "{\"items\":[\"\x01\"]}", "f.json:1:12: byte 0x01 where a character" },
		{ "\xff\xfe{", "f.json:1:1: byte 0xff where the '{'" },
		{ "{\"\":1,\"items\":[0123456789012345678901234567890123456789]}",
		  "f.json:1: one value of more than 32 bytes" },
		{ "{\"a\":\"01234567890123\",\"b\":\"01234567890123\"}",
		  "f.json:1: an object of more than 32 bytes beside its items" },
		{ "{\"items\":[[[[[[]]]]]]}", "f.json:1:15: nested deeper than 4 levels" },
	};
	const struct json_limits limits = { .bytes = 32, .depth = 4 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autostrbuf out = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;

		int r = items_of(cases[i].text, 0, &limits, &out, &error);
		assert_true(r == -EINVAL || r == -EFBIG || r == -E2BIG || r == -EILSEQ);
		if (strncmp(error.message, cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("case %zu: %s", i, error.message);
	}
}

TEST(nothing_comes_behind_an_error)
{
	static const char text[] = "{\"items\":[1 2,3]}";
	autoclose int fd = source_of(text, strlen(text));
	autojson_stream *stream = NULL;
	autojson *item = NULL;
	struct error error = ERROR_INIT;
	unsigned long line;

	assert_int_equal(json_stream_new(fd, "f", "", 0, NULL, &stream, &error), 0);
	assert_int_equal(json_stream_next(stream, &item, &line, &error), 1);
	for (int i = 0; i < 3; i++) {
		autojson *none = NULL;

		assert_int_equal(json_stream_next(stream, &none, &line, &error), -EINVAL);
		assert_null(none);
	}
}

TEST(a_failed_read_is_said)
{
	autostrbuf out = STRBUF_INIT(4096);
	struct error error = ERROR_INIT;

	fault_arm_call(FAULT_READ, 0, EIO);
	assert_int_equal(items_of("{}", 0, NULL, &out, &error), -EIO);
	assert_true(fault_disarm());
	assert_non_null(strstr(error.message, "f.json:1: cannot read it"));
}

TEST(every_failing_allocation_is_said)
{
	static const char text[] =
		"{\"kind\":\"List\",\"items\":[{\"a\":[1,2.5,\"x\"]},true]}{\"b\":1}";

	for (unsigned n = 0;; n++) {
		autostrbuf out = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;

		strbuf_adds(&out,
			    "some room that needs no allocation later .......................");
		strbuf_adds(&out, "..............................................................");
		fault_arm(n);
		int r = items_of(text, 0, NULL, &out, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 10);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

/* Of the sanitizer's allocator where there is one; resident memory would count its quarantine. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t heap_in_use(void)
{
	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	return mallinfo2().uordblks;
}

/* A long list needs no more memory than its biggest item. */
TEST(a_long_list_stays_small)
{
	int ends[2];
	enum { ITEMS = 100000 };

	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		FILE *out = fdopen(ends[1], "w");

		close(ends[0]);
		fputs("{\"items\":[", out);
		for (int i = 0; i < ITEMS; i++)
			fprintf(out, "%s\n{\"n\":%d,\"text\":\"%0600d\"}", i ? "," : "", i, i);
		fputs("\n],\"kind\":\"List\"}\n", out);
		_exit(fflush(out) == 0 ? 0 : 1);
	}
	close(ends[1]);
	autoclose int fd = ends[0];
	autojson_stream *stream = NULL;
	struct error error = ERROR_INIT;
	unsigned long line = 0, count = 0;
	size_t before = heap_in_use(), most = 0;

	assert_int_equal(json_stream_new(fd, "pipe", "", 0, NULL, &stream, &error), 0);
	for (;;) {
		autojson *item = NULL;

		int r = json_stream_next(stream, &item, &line, &error);
		assert_true(r >= 0);
		if (r == 0)
			break;
		assert_int_equal(json_get_uint(item, "n", ITEMS), count);
		assert_int_equal(line, ++count + 1);
		if (heap_in_use() > most)
			most = heap_in_use();
	}
	assert_int_equal(count, ITEMS);
	/* of 60 MB of text; one item with its tree, 64 KiB, and what the list itself is */
	print_message("# at most %zu bytes of the heap more\n", most - before);
	assert_true(most > before && most - before < 100 * 1024);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}
