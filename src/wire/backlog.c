/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/backlog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_room(struct backlog *backlog, size_t size)
{
	if (backlog->at > backlog->end / 2) {
		backlog->end -= backlog->at;
		memmove(backlog->bytes, backlog->bytes + backlog->at, backlog->end);
		backlog->at = 0;
	}
	if (backlog->end + size <= backlog->capacity)
		return 0;
	size_t capacity = backlog->capacity * 2;
	if (capacity < backlog->end + size)
		capacity = backlog->end + size;
	unsigned char *larger = realloc(backlog->bytes, capacity);
	if (!larger)
		return -ENOMEM;
	backlog->bytes = larger;
	backlog->capacity = capacity;
	return 0;
}

static void append(struct backlog *backlog, const void *bytes, size_t size)
{
	if (size)
		memcpy(backlog->bytes + backlog->end, bytes, size);
	backlog->end += size;
}

int backlog_add(struct backlog *backlog, const void *one, size_t one_size, const void *other,
		size_t other_size)
{
	int r = make_room(backlog, one_size + other_size);

	if (r < 0)
		return r;
	append(backlog, one, one_size);
	append(backlog, other, other_size);
	return 0;
}

size_t backlog_size(const struct backlog *backlog)
{
	return backlog->end - backlog->at;
}

size_t backlog_take(struct backlog *backlog, unsigned char *bytes, size_t most)
{
	size_t part = backlog_size(backlog) < most ? backlog_size(backlog) : most;

	if (part)
		memcpy(bytes, backlog->bytes + backlog->at, part);
	backlog->at += part;
	/* A stream that lives for months does not keep the room of its largest message. */
	if (backlog->at == backlog->end)
		backlog_release(backlog);
	return part;
}

void backlog_release(struct backlog *backlog)
{
	free(backlog->bytes);
	*backlog = (struct backlog){ 0 };
}
