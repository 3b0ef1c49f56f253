/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char strbuf_empty[1] = "";

static int strbuf_room(struct strbuf *buffer, size_t extra)
{
	if (buffer->failed)
		return -buffer->failed;
	if (extra > buffer->maximum - buffer->length) {
		buffer->failed = ENAMETOOLONG;
		return -ENAMETOOLONG;
	}
	size_t needed = buffer->length + extra + 1;
	if (needed <= buffer->capacity)
		return 0;
	size_t capacity = buffer->capacity ? buffer->capacity : 64;
	while (capacity < needed)
		capacity *= 2;
	char *data = realloc(buffer->capacity ? buffer->data : NULL, capacity);
	if (!data) {
		buffer->failed = ENOMEM;
		return -ENOMEM;
	}
	data[buffer->length] = '\0';
	buffer->data = data;
	buffer->capacity = capacity;
	return 0;
}

void strbuf_add(struct strbuf *buffer, const void *bytes, size_t length)
{
	if (!length || strbuf_room(buffer, length) < 0)
		return;
	memcpy(buffer->data + buffer->length, bytes, length);
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
}

void strbuf_adds(struct strbuf *buffer, const char *text)
{
	strbuf_add(buffer, text, strlen(text));
}

void strbuf_addc(struct strbuf *buffer, char character)
{
	strbuf_add(buffer, &character, 1);
}

void strbuf_vaddf(struct strbuf *buffer, const char *format, va_list arguments)
{
	bool has_room = buffer->capacity && !buffer->failed;
	size_t room = has_room ? buffer->capacity - buffer->length : 0;
	va_list again;

	/* Into the room that is there, which nearly always is enough. */
	va_copy(again, arguments);
	int length =
		vsnprintf(has_room ? buffer->data + buffer->length : NULL, room, format, again);
	va_end(again);
	if (length > 0 && (size_t)length < room &&
	    (size_t)length <= buffer->maximum - buffer->length) {
		buffer->length += (size_t)length;
		return;
	}
	if (has_room)
		buffer->data[buffer->length] = '\0';
	if (length < 0 && !buffer->failed) /* more than INT_MAX bytes, or no text at all */
		buffer->failed = ENAMETOOLONG;
	if (length <= 0 || strbuf_room(buffer, (size_t)length) < 0)
		return;
	vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, arguments);
	buffer->length += (size_t)length;
}

void strbuf_addf(struct strbuf *buffer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	strbuf_vaddf(buffer, format, arguments);
	va_end(arguments);
}

void strbuf_reset(struct strbuf *buffer)
{
	buffer->length = 0;
	buffer->failed = 0;
	if (buffer->capacity)
		buffer->data[0] = '\0';
}

int strbuf_failed(const struct strbuf *buffer)
{
	return -buffer->failed;
}

char *strbuf_detach(struct strbuf *buffer)
{
	char *data = NULL;

	if (!buffer->failed)
		data = buffer->capacity ? buffer->data : calloc(1, 1);
	if (!data)
		return NULL;
	*buffer = (struct strbuf)STRBUF_INIT(buffer->maximum);
	return data;
}

void strbuf_release(struct strbuf *buffer)
{
	if (buffer->capacity)
		free(buffer->data);
	*buffer = (struct strbuf)STRBUF_INIT(buffer->maximum);
}
