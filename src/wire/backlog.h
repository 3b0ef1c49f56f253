/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that wait to be sent: added at the end, taken from the start. All zero is an empty one. */
#pragma once

#include <stddef.h>

struct backlog {
	unsigned char *bytes;
	size_t at, end, capacity;
};

/* Both parts or, with -ENOMEM, none. */
int backlog_add(struct backlog *backlog, const void *one, size_t one_size, const void *other,
		size_t other_size);

size_t backlog_size(const struct backlog *backlog);

/* Copies at most MOST bytes to BYTES; how many. The room is given back once it is empty. */
size_t backlog_take(struct backlog *backlog, unsigned char *bytes, size_t most);

void backlog_release(struct backlog *backlog);
