/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/base.h"

TEST(strbuf_adds_up)
{
	autostrbuf text = STRBUF_INIT(100);

	assert_string_equal(text.data, "");
	strbuf_adds(&text, "");
	assert_int_equal(text.capacity, 0);
	strbuf_adds(&text, "ab");
	strbuf_addc(&text, 'c');
	strbuf_add(&text, "d\0e", 3);
	strbuf_addf(&text, "%d%s", 7, "x");
	assert_int_equal(text.length, 8);
	assert_memory_equal(text.data, "abcd\0e7x", 9);
	strbuf_reset(&text);
	assert_string_equal(text.data, "");
	assert_int_equal(strbuf_failed(&text), 0);
}

TEST(strbuf_grows_to_its_maximum_and_no_further)
{
	for (size_t maximum = 0; maximum < 300; maximum++) {
		autostrbuf text = STRBUF_INIT(maximum);

		for (size_t i = 0; i < maximum; i++)
			strbuf_addc(&text, 'x');
		assert_int_equal(strbuf_failed(&text), 0);
		assert_int_equal(text.length, maximum);
		strbuf_addf(&text, "%s", "y");
		assert_int_equal(strbuf_failed(&text), -ENAMETOOLONG);
		/* The first failure sticks, and nothing is added behind a gap. */
		strbuf_adds(&text, "");
		strbuf_add(&text, "z", 1);
		assert_int_equal(text.length, maximum);
		assert_int_equal(strlen(text.data), maximum);
		assert_null(strbuf_detach(&text));
		strbuf_reset(&text);
		assert_int_equal(strbuf_failed(&text), 0);
	}
	autostrbuf huge = STRBUF_INIT(10);
	strbuf_add(&huge, "x", SIZE_MAX);
	assert_int_equal(strbuf_failed(&huge), -ENAMETOOLONG);
}

/* What cannot be formatted is missing: a text with a hole must not look whole. */
TEST(strbuf_that_cannot_format_fails)
{
	autostrbuf buffer = STRBUF_INIT(64);

	strbuf_addf(&buffer, "%lc", (wint_t)0x110000);
	assert_int_equal(strbuf_failed(&buffer), -ENAMETOOLONG);
	assert_null(strbuf_detach(&buffer));
}

TEST(strbuf_hands_over)
{
	autostrbuf text = STRBUF_INIT(10);

	autofree char *empty = strbuf_detach(&text);
	assert_string_equal(empty, "");
	strbuf_adds(&text, "abc");
	autofree char *data = strbuf_detach(&text);
	assert_string_equal(data, "abc");
	assert_string_equal(text.data, "");
	assert_int_equal(text.maximum, 10);
	strbuf_adds(&text, "d");
	assert_string_equal(text.data, "d");
	strbuf_release(&text);
	strbuf_release(&text);
	assert_string_equal(strbuf_empty, "");
}

TEST(strbuf_survives_every_failed_allocation)
{
	for (unsigned n = 0;; n++) {
		autostrbuf text = STRBUF_INIT(10000);

		fault_arm(n);
		for (int i = 0; i < 1000; i++)
			strbuf_addf(&text, "%03d", i);
		autofree char *data = strbuf_detach(&text);
		if (!fault_disarm()) {
			assert_int_equal(strlen(data), 3000);
			assert_true(n >= 6);
			break;
		}
		assert_null(data);
		assert_int_equal(strbuf_failed(&text), -ENOMEM);
	}
}
