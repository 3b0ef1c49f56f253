/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"

TEST(error_sets_number_and_message)
{
	struct error error = ERROR_INIT;

	assert_int_equal(error_set(&error, EINVAL, "card %d", 3), -EINVAL);
	assert_int_equal(error.number, EINVAL);
	assert_string_equal(error.message, "card 3");
	assert_int_equal(error_set_errno(&error, ENOENT, "cannot read '%s'", "x"), -ENOENT);
	assert_string_equal(error.message, "cannot read 'x': No such file or directory");
	assert_int_equal(error_set_errno(&error, 12345, "a"), -12345);
	assert_string_equal(error.message, "a: unknown error");
	assert_int_equal(error_no_memory(&error), -ENOMEM);
	assert_string_equal(error.message, "out of memory");
}

TEST(error_wrap_puts_context_in_front)
{
	struct error error = ERROR_INIT;

	error_set(&error, EIO, "inner");
	assert_int_equal(error_wrap(&error, "outer %d", 1), -EIO);
	assert_string_equal(error.message, "outer 1: inner");
	struct error none = ERROR_INIT;
	assert_int_equal(error_wrap(&none, "outer"), -EIO);
	assert_int_equal(none.number, EIO);
}

TEST(error_message_commands_no_terminal)
{
	struct error error = ERROR_INIT;

	error_set(&error, EINVAL, "key '%s'", "\x1b[2Ja\nb\x7f\xc3\xa9");
	assert_string_equal(error.message, "key '?[2Ja?b?\xc3\xa9'");
	error_wrap(&error, "file '%s'", "\r");
	assert_string_equal(error.message, "file '?': key '?[2Ja?b?\xc3\xa9'");
	error_set(&error, EINVAL, "%s",
		  "a\xc2\x9b"
		  "b\xe2\x80\xae"
		  "c\xff");
	assert_string_equal(error.message, "a?b?c?");
	error_set_errno(&error, ENOENT, "\t");
	assert_string_equal(error.message, "?: No such file or directory");
}

TEST(error_object_may_be_missing)
{
	assert_int_equal(error_set(NULL, EINVAL, "x"), -EINVAL);
	assert_int_equal(error_set_errno(NULL, ENOENT, "x"), -ENOENT);
	assert_int_equal(error_no_memory(NULL), -ENOMEM);
	assert_true(error_wrap(NULL, "x") < 0);
}

/* What does not fit ends in "...", at each length around the limit. */
TEST(error_marks_a_cut_message)
{
	char text[ERROR_MESSAGE_MAX + 8];

	for (size_t length = ERROR_MESSAGE_MAX - 4; length < sizeof(text); length++) {
		struct error error = ERROR_INIT;
		bool fits = length < ERROR_MESSAGE_MAX;

		memset(text, 'x', length);
		text[length < sizeof(text) ? length : sizeof(text) - 1] = '\0';
		error_set(&error, EINVAL, "%s", text);
		assert_int_equal(strlen(error.message), fits ? length : ERROR_MESSAGE_MAX - 1);
		assert_int_equal(strcmp(error.message + strlen(error.message) - 3, "...") == 0,
				 !fits);
		error_wrap(&error, "outer");
		assert_true(strncmp(error.message, "outer: xxx", 10) == 0);
		assert_string_equal(error.message + ERROR_MESSAGE_MAX - 4, "...");
		error_set_errno(&error, ENOENT, "%s", text);
		assert_string_equal(error.message + ERROR_MESSAGE_MAX - 4, "...");
	}
}
