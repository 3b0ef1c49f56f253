/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

/* What LEVEL and MESSAGE make of a log, read back from a pipe. */
static void line_of(struct log *log, enum log_level level, const char *message, char *ret,
		    size_t size)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	log->fd = ends[1];
	log_write(log, level, "%s", message);
	close(ends[1]);
	size_t at = 0;
	for (ssize_t got = 1; got > 0 && at < size - 1; at += (size_t)got) {
		got = read(ends[0], ret + at, size - 1 - at);
		assert_true(got >= 0);
	}
	ret[at] = '\0';
	close(ends[0]);
}

TEST(log_levels)
{
	for (int i = 0; i < LOG_LEVEL_MAX; i++)
		assert_int_equal(log_level_from_string(log_level_to_string(i)), i);
	assert_int_equal(log_level_from_string("loud"), LOG_LEVEL_INVALID);
	struct log log = { .program = "p", .level = LOG_LEVEL_WARNING };
	char line[256];
	line_of(&log, LOG_LEVEL_WARNING, "x", line, sizeof(line));
	assert_string_equal(line, "p: warning: x\n");
	line_of(&log, LOG_LEVEL_INFO, "x", line, sizeof(line));
	assert_string_equal(line, "");
}

TEST(log_text_stays_one_harmless_line)
{
	struct log log = { .program = "p", .level = LOG_LEVEL_INFO };
	char line[256];

	line_of(&log, LOG_LEVEL_ERROR, "a\nb\x1b[31m\x7f\xff\"\xe2\x82\xac", line, sizeof(line));
	assert_string_equal(line, "p: error: a\\x0ab\\x1b[31m\\x7f\\xff\"\xe2\x82\xac\n");
}

TEST(log_json_is_json)
{
	static const char message[] = "a\nb\x1b\"\\\x7f\xff\xe2\x82\xac";
	struct log log = { .program = "p\"q", .level = LOG_LEVEL_INFO, .json = true };
	autojson *value = NULL;
	char line[512];

	line_of(&log, LOG_LEVEL_INFO, message, line, sizeof(line));
	size_t length = strlen(line);
	assert_true(length > 1 && line[length - 1] == '\n');
	assert_ptr_equal(strchr(line, '\n'), line + length - 1);
	assert_int_equal(json_parse(line, length, "log", NULL, &value, NULL), 0);
	assert_string_equal(json_get_string(value, "program", "-"), "p\"q");
	assert_string_equal(json_get_string(value, "level", "-"), "info");
	assert_string_equal(json_get_string(value, "message", "-"),
			    "a\nb\x1b\"\\\x7f\xef\xbf\xbd\xe2\x82\xac");
	const char *time = json_get_string(value, "time", "-");
	assert_int_equal(strlen(time), 24);
	assert_true(time[4] == '-' && time[10] == 'T' && time[19] == '.' && time[23] == 'Z');
}

TEST(log_cuts_what_is_too_long)
{
	struct log log = { .program = "p", .level = LOG_LEVEL_INFO };
	autofree char *message = malloc(100001);
	autofree char *line = malloc(65536);

	memset(message, 'x', 100000);
	message[100000] = '\0';
	line_of(&log, LOG_LEVEL_INFO, message, line, 65536);
	size_t length = strlen(line);
	assert_int_equal(length, strlen("p: info: ") + 4095 + 1);
	assert_string_equal(line + length - 4, "...\n");
	/* All of it escaped, in both forms: no line is lost. */
	memset(message, 1, 100000);
	line_of(&log, LOG_LEVEL_INFO, message, line, 65536);
	assert_true(strlen(line) > 4 * 4000);
	log.json = true;
	line_of(&log, LOG_LEVEL_INFO, message, line, 65536);
	assert_true(strlen(line) > 6 * 4000);
}

TEST(log_without_a_reader)
{
	struct log log = { .fd = -1, .program = "p", .level = LOG_LEVEL_INFO };

	log_write(&log, LOG_LEVEL_INFO, "nobody reads this");
	fault_arm(0);
	log_write(&log, LOG_LEVEL_INFO, "and no memory either");
	assert_true(fault_disarm());
}
