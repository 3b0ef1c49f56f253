/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/header_copy.h"

#include <stdlib.h>
#include <string.h>

static const char *copy_text(char **at, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = memcpy(*at, text, size);

	*at += size;
	return copy;
}

struct http2_header *http2_headers_copy(const struct http2_header *headers, size_t count)
{
	size_t size = count * sizeof(*headers);

	for (size_t i = 0; i < count; i++)
		size += strlen(headers[i].name) + strlen(headers[i].value) + 2;
	struct http2_header *copy = malloc(size);
	if (!copy)
		return NULL;
	char *at = (char *)(copy + count);
	for (size_t i = 0; i < count; i++) {
		copy[i].name = copy_text(&at, headers[i].name);
		copy[i].value = copy_text(&at, headers[i].value);
	}
	return copy;
}
