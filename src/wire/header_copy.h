/* SPDX-License-Identifier: Apache-2.0 */
/* Headers as we send them. */
#pragma once

#include <stddef.h>

struct http2_header {
	const char *name, *value; /* names without capital letters */
};

/* A copy with its texts in one block of memory: free() it. NULL: out of memory. COUNT is not 0. */
struct http2_header *http2_headers_copy(const struct http2_header *headers, size_t count);
