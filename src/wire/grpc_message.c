/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/grpc_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

void grpc_prefix(unsigned char prefix[GRPC_PREFIX], size_t size)
{
	prefix[0] = 0;
	for (int i = 0; i < 4; i++)
		prefix[1 + i] = (unsigned char)(size >> (24 - 8 * i));
}

static size_t smaller(size_t one, size_t other)
{
	return one < other ? one : other;
}

/* The prefix, or a part of it. */
static int take_prefix(struct grpc_reader *reader, const unsigned char **bytes, size_t *size)
{
	size_t part = smaller(*size, GRPC_PREFIX - reader->prefix_length);

	memcpy(reader->prefix + reader->prefix_length, *bytes, part);
	reader->prefix_length += part;
	*bytes += part;
	*size -= part;
	if (reader->prefix_length < GRPC_PREFIX)
		return 0;
	reader->size = 0;
	for (int i = 1; i < GRPC_PREFIX; i++)
		reader->size = reader->size << 8 | reader->prefix[i];
	if (reader->prefix[0])
		return reader->prefix[0] == 1 ? -EOPNOTSUPP : -EBADMSG;
	return reader->size > reader->most ? -EMSGSIZE : 0;
}

static int make_room(struct grpc_reader *reader, size_t part)
{
	size_t needed = reader->length + part;

	if (needed <= reader->capacity)
		return 0;
	size_t capacity = smaller(reader->capacity * 2, reader->size);
	if (capacity < needed)
		capacity = needed;
	unsigned char *larger = realloc(reader->bytes, capacity);
	if (!larger)
		return -ENOMEM;
	reader->bytes = larger;
	reader->capacity = capacity;
	return 0;
}

int grpc_reader_take(struct grpc_reader *reader, const unsigned char **bytes, size_t *size,
		     bool *ret_whole)
{
	*ret_whole = false;
	if (reader->prefix_length == GRPC_PREFIX && reader->length == reader->size) {
		reader->prefix_length = reader->length = 0;
		reader->size = 0;
	}
	if (reader->prefix_length < GRPC_PREFIX) {
		int r = take_prefix(reader, bytes, size);
		if (r < 0 || reader->prefix_length < GRPC_PREFIX)
			return r;
	}
	size_t part = smaller(*size, reader->size - reader->length);
	int r = make_room(reader, part);
	if (r < 0)
		return r;
	if (part)
		memcpy(reader->bytes + reader->length, *bytes, part);
	reader->length += part;
	*bytes += part;
	*size -= part;
	*ret_whole = reader->length == reader->size;
	return 0;
}

bool grpc_reader_within(const struct grpc_reader *reader)
{
	return reader->prefix_length > 0 &&
	       (reader->prefix_length < GRPC_PREFIX || reader->length < reader->size);
}

void grpc_reader_release(struct grpc_reader *reader)
{
	free(reader->bytes);
	reader->bytes = NULL;
	reader->capacity = 0;
}
