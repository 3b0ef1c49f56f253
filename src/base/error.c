/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/visible.h"

/*
 * A message may quote a stranger's file, and terminals obey control characters: they become '?'. One
 * that did not fit is marked, so that nobody takes half a sentence for a whole one.
 */
static void message_finish(char *message, int length)
{
	if (length >= ERROR_MESSAGE_MAX) {
		/* Whole characters: a part of one would be shown as a '?' that was never there. */
		size_t end = ERROR_MESSAGE_MAX - 4;
		uint64_t whole = parse_utf8_prefix(message, end);

		memcpy(message + (end - whole < 4 ? whole : end), "...", 4);
	}
	text_make_visible(message, false);
}

int error_set(struct error *error, int number, const char *format, ...)
{
	va_list arguments;

	if (!error)
		return -number;
	error->number = number;
	va_start(arguments, format);
	int length = vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	message_finish(error->message, length);
	return -number;
}

int error_set_errno(struct error *error, int number, const char *format, ...)
{
	va_list arguments;

	if (!error)
		return -number;
	error->number = number;
	va_start(arguments, format);
	int length = vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	if (length >= 0 && length < ERROR_MESSAGE_MAX)
		length += snprintf(
			error->message + length, sizeof(error->message) - (size_t)length, ": %s",
			strerrordesc_np(number) ? strerrordesc_np(number) : "unknown error");
	message_finish(error->message, length);
	return -number;
}

int error_wrap(struct error *error, const char *format, ...)
{
	char tail[ERROR_MESSAGE_MAX];
	va_list arguments;

	if (!error)
		return -EIO;
	memcpy(tail, error->message, sizeof(tail));
	va_start(arguments, format);
	int length = vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	if (length >= 0 && length < ERROR_MESSAGE_MAX)
		length += snprintf(error->message + length, sizeof(error->message) - (size_t)length,
				   ": %s", tail);
	message_finish(error->message, length);
	if (!error->number)
		error->number = EIO;
	return -error->number;
}

int error_no_memory(struct error *error)
{
	return error_set(error, ENOMEM, "out of memory");
}
