/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>

#include "base/base.h"

static const struct {
	int64_t seconds;
	const char *text;
} times[] = {
	{ 0, "1970-01-01T00:00:00Z" },          { 951782399, "2000-02-28T23:59:59Z" },
	{ 951782400, "2000-02-29T00:00:00Z" },  { 4102444800, "2100-01-01T00:00:00Z" },
	{ 1796025600, "2026-11-30T08:00:00Z" }, { UTC_MAXIMUM, "9999-12-31T23:59:59Z" },
};

TEST(there_and_back)
{
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		char text[UTC_TEXT_MAX];
		int64_t seconds = -1;

		utc_format(times[i].seconds, text);
		assert_string_equal(text, times[i].text);
		assert_int_equal(utc_parse(times[i].text, &seconds), 0);
		assert_true(seconds == times[i].seconds);
	}
}

TEST(times_without_a_text)
{
	const int64_t none[] = { -1, INT64_MIN, UTC_MAXIMUM + 1, INT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		char text[UTC_TEXT_MAX] = "?";

		utc_format(none[i], text);
		assert_string_equal(text, "");
	}
}

TEST(texts_that_are_no_time)
{
	static const char *const wrong[] = {
		"",
		"2026-11-30",
		"2026-11-30T08:00:00",
		"2026-11-30T08:00:00z",
		"2026-11-30 08:00:00Z",
		"2026-11-30T08:00:00ZZ",
		"2026-11-30T08:00:0xZ",
		"2026-11-31T08:00:00Z",
		"2025-02-29T08:00:00Z",
		"2026-13-01T08:00:00Z",
		"2026-00-01T08:00:00Z",
		"2026-11-30T24:00:00Z",
		"2026-11-30T08:00:60Z",
		"1969-12-31T23:59:59Z",
		"0000-00-00T00:00:00Z",
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		int64_t seconds = 5;

		assert_int_equal(utc_parse(wrong[i], &seconds), -EINVAL);
		assert_int_equal(seconds, 5);
	}
}
