/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"

TEST(parse_uint_cases)
{
	static const struct {
		const char *text;
		uint64_t minimum, maximum;
		int r;
		uint64_t value;
	} rows[] = {
		{ "0", 0, 10, 0, 0 },
		{ "10", 0, 10, 0, 10 },
		{ "007", 0, 10, 0, 7 },
		{ "11", 0, 10, -ERANGE, 99 },
		{ "0", 1, 10, -ERANGE, 99 },
		{ "18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX },
		{ "18446744073709551616", 0, UINT64_MAX, -ERANGE, 99 },
		{ "99999999999999999999999", 0, UINT64_MAX, -ERANGE, 99 },
		{ "", 0, 10, -EINVAL, 99 },
		{ " 1", 0, 10, -EINVAL, 99 },
		{ "1 ", 0, 10, -EINVAL, 99 },
		{ "+1", 0, 10, -EINVAL, 99 },
		{ "-1", 0, 10, -EINVAL, 99 },
		{ "0x1", 0, 10, -EINVAL, 99 },
		{ "1e3", 0, 10, -EINVAL, 99 },
		{ "99999999999999999999999x", 0, 10, -EINVAL, 99 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t value = 99;

		assert_int_equal(parse_uint(rows[i].text, rows[i].minimum, rows[i].maximum, &value),
				 rows[i].r);
		assert_true(value == rows[i].value);
	}
}

TEST(parse_glob_cases)
{
	static const struct {
		const char *pattern, *text;
		bool match;
	} rows[] = {
		{ "", "", true },
		{ "", "a", false },
		{ "*", "", true },
		{ "*", "anything", true },
		{ "A100*", "a100-sxm4-80gb", true },
		{ "*100*", "NVIDIA A100-SXM4-80GB", true },
		{ "*h100*", "NVIDIA A100-SXM4-80GB", false },
		{ "a?c", "abc", true },
		{ "a?c", "ac", false },
		{ "a?c",
		  "a\xc3\xa9"
		  "c",
		  true },
		{ "?", "", false },
		{ "??", "\xe2\x82\xac", false },
		{ "*a*b*c*", "xxaxxbxxcxx", true },
		{ "*a*b*c*", "xxaxxcxxbxx", false },
		{ "*ab", "aab", true },
		{ "*ab", "aba", false },
		{ "a**b", "ab", true },
		{ "abc", "ab", false },
		{ "ab", "abc", false },
		{ "[a]", "a", false },
		{ "[a]", "[A]", true },
		{ "a\\*", "ab", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(parse_glob(rows[i].pattern, rows[i].text), rows[i].match);
}

/* The pattern that takes a backtracking matcher longer than the age of the universe. */
TEST(parse_glob_is_not_exponential)
{
	char pattern[2001], text[2001];
	struct timespec from, to;

	for (int i = 0; i < 2000; i += 2) {
		pattern[i] = 'a';
		pattern[i + 1] = '*';
	}
	pattern[1998] = 'b';
	pattern[1999] = pattern[2000] = '\0';
	memset(text, 'a', 2000);
	text[2000] = '\0';
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	assert_false(parse_glob(pattern, text));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	assert_true(to.tv_sec - from.tv_sec <= 1);
}

/* Prefix that is valid, then what follows; from Unicode 15, tables 3-7 and 3-8. */
TEST(parse_utf8_cases)
{
	static const struct {
		const char *text;
		uint64_t length, valid;
	} rows[] = {
		{ "", 0, 0 },
		{ "abc", 3, 3 },
		{ "a\0b", 3, 3 },
		{ "\x7f", 1, 1 },
		{ "\x80", 1, 0 },
		{ "x\xbf", 2, 1 },
		{ "\xc0\x80", 2, 0 },
		{ "\xc1\xbf", 2, 0 },
		{ "\xc2\x80", 2, 2 },
		{ "\xc2", 1, 0 },
		{ "\xc2\x7f", 2, 0 },
		{ "\xdf\xbf", 2, 2 },
		{ "\xe0\x9f\xbf", 3, 0 },
		{ "\xe0\xa0\x80", 3, 3 },
		{ "\xe2\x82", 2, 0 },
		{ "\xe2\x82\x28", 3, 0 },
		{ "\xed\x9f\xbf", 3, 3 },
		{ "\xed\xa0\x80", 3, 0 },
		{ "\xed\xbf\xbf", 3, 0 },
		{ "\xee\x80\x80", 3, 3 },
		{ "\xef\xbf\xbf", 3, 3 },
		{ "\xf0\x8f\xbf\xbf", 4, 0 },
		{ "\xf0\x90\x80\x80", 4, 4 },
		{ "\xf0\x90\x80", 3, 0 },
		{ "\xf4\x8f\xbf\xbf", 4, 4 },
		{ "\xf4\x90\x80\x80", 4, 0 },
		{ "\xf5\x80\x80\x80", 4, 0 },
		{ "\xff", 1, 0 },
		{ "a\xe2\x82\xac\xf0\x9f\x98\x80\xfe", 9, 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		/* A copy of exact size lets the sanitizer see a read beyond the end. */
		autofree char *copy = malloc(rows[i].length ? rows[i].length : 1);

		memcpy(copy, rows[i].text, rows[i].length);
		assert_int_equal(parse_utf8_prefix(copy, rows[i].length), rows[i].valid);
		assert_int_equal(parse_utf8_valid(copy, rows[i].length),
				 rows[i].valid == rows[i].length);
	}
}

TEST(parse_distance_cases)
{
	static const struct {
		const char *left, *right;
		unsigned limit, distance;
	} rows[] = {
		{ "", "", 3, 0 },         { "gpus", "gpus", 3, 0 },      { "gpu", "gpus", 3, 1 },
		{ "gups", "gpus", 3, 2 }, { "", "abc", 3, 3 },           { "abc", "", 3, 3 },
		{ "abcd", "", 3, 4 },     { "kitten", "sitting", 9, 3 }, { "image", "xxxxx", 2, 3 },
	};
	char far[66];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(parse_distance(rows[i].left, rows[i].right, rows[i].limit),
				 rows[i].distance);
	memset(far, 'x', 65);
	far[65] = '\0';
	assert_int_equal(parse_distance(far, far, 3), 4);
	assert_int_equal(parse_distance(far + 1, far + 1, 3), 0);
}

TEST(parse_nearest_cases)
{
	static const char *const known[] = { "run",        "apply",     "inventory", "sim run",
					     "gpu-memory", "gpu-model", "gpus" };
	static const struct {
		const char *given, *nearest;
	} rows[] = {
		{ "rum", "run" },
		{ "rnu", "run" },
		{ "aply", "apply" },
		{ "inv", "inventory" },
		{ "gpu", "gpus" },
		{ "gups", "gpus" },
		{ "gpu-m", "gpu-model" },
		{ "sim rnu", "sim run" },
		{ "zzz", NULL },
		{ "r", NULL },
		{ "", NULL },
		{ "rabbit", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nearest nearest = { .name = NULL };

		for (size_t j = 0; j < ARRAY_SIZE(known); j++)
			parse_nearest(&nearest, known[j], rows[i].given);
		if (!nearest.name || !rows[i].nearest ? nearest.name != rows[i].nearest
						      : strcmp(nearest.name, rows[i].nearest) != 0)
			fail_msg("'%s': %s", rows[i].given, nearest.name ? nearest.name : "none");
	}
}

TEST(parse_choice_cases)
{
	assert_int_equal(parse_choice("none|single|mixed", "none"), 0);
	assert_int_equal(parse_choice("none|single|mixed", "mixed"), 2);
	assert_int_equal(parse_choice("none|single|mixed", "mix"), -1);
	assert_int_equal(parse_choice("none|single|mixed", "none|single"), -1);
	assert_int_equal(parse_choice("none|single|mixed", ""), -1);
	assert_int_equal(parse_choice("one", "one"), 0);
}

TEST(parse_address_cases)
{
	static const struct {
		const char *text, *host;
		unsigned port; /* 0: the negative errno is in R */
		int r;
	} rows[] = {
		{ ":9400", "", 9400, 0 },
		{ "a.b:1", "a.b", 1, 0 },
		{ "[::1]:65535", "::1", 65535, 0 },
		{ "1234567:1", "1234567", 1, 0 },
		{ "12345678:1", "", 0, -ENAMETOOLONG },
		{ "9400", "", 0, -EINVAL },
		{ "a:", "", 0, -EINVAL },
		{ "a:0", "", 0, -EINVAL },
		{ "a:65536", "", 0, -EINVAL },
		{ "::1:9400", "", 0, -EINVAL },
		{ "a/b:1", "", 0, -EINVAL },
		{ "a b:1", "", 0, -EINVAL },
		{ "a\n:1", "", 0, -EINVAL },
		{ "", "", 0, -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char host[8] = "";
		unsigned port = 0;

		if (parse_address(rows[i].text, host, sizeof(host), &port) != rows[i].r ||
		    port != rows[i].port || strcmp(host, rows[i].host) != 0)
			fail_msg("'%s': host '%s', port %u", rows[i].text, host, port);
	}
}
