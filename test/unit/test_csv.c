/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

enum { NAME, SIZE, NOTE };
static const struct csv_column columns[] = {
	[NAME] = { .name = "name" },
	[SIZE] = { .name = "size" },
	[NOTE] = { .name = "note", .optional = true },
};

static int open_text(const char *text, size_t length)
{
	int fd = memfd_create("csv", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), length);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* All rows as "LINE name size note|"; an error as its message. */
static int read_all(int fd, const char *start, size_t start_length, struct strbuf *out)
{
	struct error error = ERROR_INIT;
	autocsv *csv = NULL;

	int r = csv_new(fd, "f.csv", start, start_length, columns, ARRAY_SIZE(columns), &csv,
			&error);
	while (r >= 0 && (r = csv_next(csv, &error)) > 0) {
		uint64_t size = 0;

		r = csv_uint(csv, SIZE, 0, 1000, &size, &error);
		if (r < 0)
			break;
		strbuf_addf(out, "%lu %s %u %s%s|", csv_line(csv), csv_text(csv, NAME),
			    (unsigned)size, csv_text(csv, NOTE), csv_has(csv, NOTE) ? "" : "-");
	}
	if (r < 0) {
		strbuf_reset(out);
		strbuf_adds(out, error.message);
	}
	return r;
}

static const struct {
	const char *text;
	size_t length; /* 0: all of text */
	int r;
	const char *answer;
} cases[] = {
	{ "name,size\na,1\nb,2\n", 0, 0, "2 a 1 -|3 b 2 -|" },
	{ "name,size\na,1\nb,2", 0, 0, "2 a 1 -|3 b 2 -|" },
	{ "name,size\r\na,1\r\n\r\nb,2\r\n", 0, 0, "2 a 1 -|4 b 2 -|" },
	{ "size,x,note,name\n1,?,n,a\n2,,,b\n", 0, 0, "2 a 1 n|3 b 2 |" },
	{ "\xef\xbb\xbfname,size\na,1\n", 0, 0, "2 a 1 -|" },
	{ "\"name\",\"size\"\n\"a,b\",\"1\"\n\"say \"\"x\"\"\",2\n\"\",3\n", 0, 0,
	  "2 a,b 1 -|3 say \"x\" 2 -|4  3 -|" },
	{ "name,size\n", 0, 0, "" },
	{ "", 0, -EINVAL, "f.csv:1: the file is empty; the first line names the columns" },
	{ "\n", 0, -EINVAL,
	  "f.csv:1: columns are missing: name, size; the first line names the columns" },
	{ "nam,size\na,1\n", 0, -EINVAL,
	  "f.csv:1: column is missing: name; the first line names the columns" },
	{ "name,size,name\n", 0, -EINVAL, "f.csv:1: two columns are named name; remove one" },
	{ "name,size\na\n", 0, -EINVAL,
	  "f.csv:2: 1 fields where the first line has 2; give each column a field" },
	{ "name,size\na,1,2,3\n", 0, -EINVAL,
	  "f.csv:2: 4 fields where the first line has 2; give each column a field" },
	{ "name,size\na,-1\n", 0, -EINVAL,
	  "f.csv:2: size '-1' is no whole number from 0 to 1000; write one" },
	{ "name,size\na,1001\n", 0, -EINVAL,
	  "f.csv:2: size '1001' is no whole number from 0 to 1000; write one" },
	{ "name,size\na,\n", 0, -EINVAL,
	  "f.csv:2: size '' is no whole number from 0 to 1000; write one" },
	{ "name,size\n\"a,1\n", 0, -EINVAL,
	  "f.csv:2: a quoted field does not end where it should; end it with one \" before the "
	  "comma, on the same line" },
	{ "name,size\n\"a\"b,1\n", 0, -EINVAL,
	  "f.csv:2: a quoted field does not end where it should; end it with one \" before the "
	  "comma, on the same line" },
	{ "name,size\na\0b,1\n", 16, -EINVAL, "f.csv:2: a zero byte; this is no text file" },
};

TEST(csv_cases)
{
	static const size_t steps[] = { 0, 1, 3 };

	for (size_t i = 0; i < ARRAY_SIZE(cases) * ARRAY_SIZE(steps); i++) {
		size_t at = i / ARRAY_SIZE(steps);
		size_t length = cases[at].length ? cases[at].length : strlen(cases[at].text);
		/* Some of it may have been read before. */
		size_t start = i % 2 ? length / 2 : 0;
		autostrbuf out = STRBUF_INIT(4096);
		autoclose int fd = open_text(cases[at].text + start, length - start);

		fault_limit_transfers(steps[i % ARRAY_SIZE(steps)]);
		int r = read_all(fd, cases[at].text, start, &out);
		fault_limit_transfers(0);
		assert_string_equal(out.data, cases[at].answer);
		assert_int_equal(r, cases[at].r);
	}
}

TEST(csv_a_line_without_end_is_refused)
{
	autostrbuf text = STRBUF_INIT(3u << 20), out = STRBUF_INIT(4096);

	strbuf_adds(&text, "name,size\na,1\n");
	for (unsigned i = 0; i < 1u << 20; i++)
		strbuf_adds(&text, "aa");
	assert_int_equal(strbuf_failed(&text), 0);
	autoclose int fd = open_text(text.data, text.length);
	assert_int_equal(read_all(fd, NULL, 0, &out), -EFBIG);
	assert_string_equal(out.data, "f.csv:3: the line is longer than 1048576 bytes; this is no "
				      "CSV file of one row a line");
}

TEST(csv_failing_calls)
{
	static const char text[] = "name,size\na,1\n";

	for (unsigned n = 0;; n++) {
		struct error error = ERROR_INIT;
		autocsv *csv = NULL;
		autoclose int fd = open_text(text, strlen(text));

		fault_arm(n);
		int r = csv_new(fd, "f.csv", NULL, 0, columns, ARRAY_SIZE(columns), &csv, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 2);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	autostrbuf out = STRBUF_INIT(4096);
	autoclose int fd = open_text(text, strlen(text));
	fault_arm_call(FAULT_READ, 0, EIO);
	assert_int_equal(read_all(fd, NULL, 0, &out), -EIO);
	fault_disarm();
	assert_string_equal(out.data, "cannot read f.csv: Input/output error");
}
