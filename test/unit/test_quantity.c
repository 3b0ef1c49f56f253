/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "model/quantity.h"

/*
 * The canonical forms were printed by k8s.io/apimachinery 0.34.1: UnmarshalJSON, RoundUp(Milli) as
 * the API server does for resource lists, MarshalJSON.
 */
static const struct {
	const char *text, *canonical;
	int64_t value;
	unsigned milli;
	bool negative, finer;
} good[] = {
	{ "0", "0", 0, 0, false, false },
	{ "1", "1", 1, 0, false, false },
	{ "0.5", "500m", 0, 500, false, false },
	{ ".5", "500m", 0, 500, false, false },
	{ "5.", "5.", 5, 0, false, false },
	{ "500m", "500m", 0, 500, false, false },
	{ "1500m", "1500m", 1, 500, false, false },
	{ "1.500", "1.500", 1, 500, false, false },
	{ "1000m", "1", 1, 0, false, false },
	{ "123456789012345.678", "123456789012345.678", 123456789012345, 678, false, false },
	{ "1234567890123456.789", "1234567890123456789m", 1234567890123456, 789, false, false },
	{ "+1", "+1", 1, 0, false, false },
	{ "-1", "-1", -1, 0, true, false },
	{ "-0", "0", 0, 0, false, false },
	{ "-0.5", "-500m", 0, 500, true, false },
	{ "-1.5Gi", "-1536Mi", -1610612736, 0, true, false },
	{ "007", "007", 7, 0, false, false },
	{ "+01.50", "1500m", 1, 500, false, false },
	{ "  7  ", "7", 7, 0, false, false },
	{ "10000", "10k", 10000, 0, false, false },
	{ "100k", "100k", 100000, 0, false, false },
	{ "1000k", "1M", 1000000, 0, false, false },
	{ "1G", "1G", 1000000000, 0, false, false },
	{ "2T", "2T", 2000000000000, 0, false, false },
	{ "3P", "3P", 3000000000000000, 0, false, false },
	{ "1E", "1E", 1000000000000000000, 0, false, false },
	{ "1e3", "1e3", 1000, 0, false, false },
	{ "1E3", "1E3", 1000, 0, false, false },
	{ "1e+3", "1e+3", 1000, 0, false, false },
	{ "10e2", "1e3", 1000, 0, false, false },
	{ "1e2", "100", 100, 0, false, false },
	{ "1e-3", "1e-3", 0, 1, false, false },
	{ "1e-4", "1e-3", 0, 0, false, true },
	{ "1e-9999", "1e-3", 0, 0, false, true },
	{ "0e99999", "0", 0, 0, false, false },
	{ "1n", "1m", 0, 0, false, true },
	{ "100u", "1m", 0, 0, false, true },
	{ "1000u", "1m", 0, 1, false, false },
	{ "0.0000000001", "1m", 0, 0, false, true },
	{ "1Ki", "1Ki", 1024, 0, false, false },
	{ "1024Ki", "1Mi", 1048576, 0, false, false },
	{ "1.Gi", "1.Gi", 1073741824, 0, false, false },
	{ "1.5Gi", "1536Mi", 1610612736, 0, false, false },
	{ "12Gi", "12Gi", 12884901888, 0, false, false },
	{ "7Ei", "7Ei", 8070450532247928832, 0, false, false },
	{ "0.5Ki", "512", 512, 0, false, false },
	{ "0.1Ki", "102400m", 102, 400, false, false },
	{ "0.0001Ki", "103m", 0, 102, false, true },
	{ "k", "0", 0, 0, false, false },
	{ "E", "0", 0, 0, false, false },
	{ "+", "0", 0, 0, false, false },
	{ ".", "0", 0, 0, false, false },
	{ "9223372036854775807", "9223372036854775807", INT64_MAX, 0, false, false },
	{ "-9223372036854775807", "-9223372036854775807", -INT64_MAX, 0, true, false },
	{ "9223372036854775807.999", "9223372036854775807999m", INT64_MAX, 999, false, false },
};

TEST(quantities_that_are_some)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct error error = ERROR_INIT;
		struct quantity quantity;
		char canonical[QUANTITY_TEXT_MAX];

		print_message("# '%s'\n", good[i].text);
		assert_int_equal(quantity_parse(good[i].text, &quantity, &error), 0);
		assert_int_equal(quantity.value, good[i].value);
		assert_int_equal(quantity.milli, good[i].milli);
		assert_int_equal(quantity.negative, good[i].negative);
		assert_int_equal(quantity.finer, good[i].finer);
		assert_int_equal(quantity_is_integer(&quantity), !good[i].milli && !good[i].finer);
		assert_int_equal(quantity_canonical(good[i].text, canonical, sizeof(canonical)), 0);
		assert_string_equal(canonical, good[i].canonical);
	}
}

#define NO_QUANTITY(text) "'" text "' is no quantity; write a number such as 2, 500m or 12Gi"
#define TOO_LARGE(text)   "'" text "' is too large; the largest quantity is 2^63 - 1"

static const struct {
	const char *text;
	int r;
	const char *message;
} bad[] = {
	{ "", -EINVAL, NO_QUANTITY("") },
	{ " ", -EINVAL, NO_QUANTITY(" ") },
	{ "12e", -EINVAL, NO_QUANTITY("12e") },
	{ "e", -EINVAL, NO_QUANTITY("e") },
	{ "1e-", -EINVAL, NO_QUANTITY("1e-") },
	{ "1ee3", -EINVAL, NO_QUANTITY("1ee3") },
	{ "1e1.5", -EINVAL, NO_QUANTITY("1e1.5") },
	{ "1.2.3", -EINVAL, NO_QUANTITY("1.2.3") },
	{ "--1", -EINVAL, NO_QUANTITY("--1") },
	{ "1K", -EINVAL, NO_QUANTITY("1K") },
	{ "1ki", -EINVAL, NO_QUANTITY("1ki") },
	{ "1kI", -EINVAL, NO_QUANTITY("1kI") },
	{ "1Eim", -EINVAL, NO_QUANTITY("1Eim") },
	{ "1GB", -EINVAL, NO_QUANTITY("1GB") },
	{ "0x10", -EINVAL, NO_QUANTITY("0x10") },
	{ "1 2", -EINVAL, NO_QUANTITY("1 2") },
	{ "two", -EINVAL, NO_QUANTITY("two") },
	{ "Pi", -EINVAL, NO_QUANTITY("Pi") },
	{ "e-10", -EINVAL, NO_QUANTITY("e-10") },
	{ "9223372036854775808", -ERANGE, TOO_LARGE("9223372036854775808") },
	{ "8Ei", -ERANGE, TOO_LARGE("8Ei") },
	{ "-8Ei", -ERANGE, TOO_LARGE("-8Ei") },
	{ "10E", -ERANGE, TOO_LARGE("10E") },
	{ "1e19", -ERANGE, TOO_LARGE("1e19") },
	{ "1e99999999999", -ERANGE, TOO_LARGE("1e99999999999") },
	{ "99999999999999999999Ki", -ERANGE, TOO_LARGE("99999999999999999999Ki") },
};

TEST(quantities_that_are_none)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error error = ERROR_INIT;
		struct quantity quantity = { .value = 77 };
		char canonical[QUANTITY_TEXT_MAX];

		print_message("# '%s'\n", bad[i].text);
		assert_int_equal(quantity_parse(bad[i].text, &quantity, &error), bad[i].r);
		assert_string_equal(error.message, bad[i].message);
		assert_int_equal(error.number, -bad[i].r);
		assert_int_equal(quantity.value, 77);
		assert_int_equal(quantity_canonical(bad[i].text, canonical, sizeof(canonical)),
				 bad[i].r);
	}
	assert_int_equal(quantity_parse(NULL, NULL, NULL), -EINVAL);
}

TEST(canonical_form_that_does_not_fit)
{
	char canonical[4];

	assert_int_equal(quantity_canonical("500m", canonical, sizeof(canonical)), -ENAMETOOLONG);
	assert_int_equal(quantity_canonical("0.5", canonical, sizeof(canonical)), -ENAMETOOLONG);
	assert_int_equal(quantity_canonical("50m", canonical, sizeof(canonical)), 0);
}

TEST(equal_quantities)
{
	static const struct {
		const char *one, *other;
		bool equal;
	} cases[] = {
		{ "1", "1000m", true },   { "1Gi", "1024Mi", true }, { "1", "2", false },
		{ "0.5", "-0.5", false }, { "-0", "0", true },       { "1", "1.0001", false },
		{ "1e3", "1k", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct quantity one, other;

		assert_int_equal(quantity_parse(cases[i].one, &one, NULL), 0);
		assert_int_equal(quantity_parse(cases[i].other, &other, NULL), 0);
		assert_int_equal(quantity_equal(&one, &other), cases[i].equal);
	}
}
