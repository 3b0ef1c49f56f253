/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A string buffer with a maximum. data is never NULL and always terminated; the first failure
 * (too long, out of memory) sticks, so a text needs one check at its end, not one a piece.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/cleanup.h"

struct strbuf {
	char *data;      /* owned by the buffer until strbuf_detach() */
	size_t length;   /* bytes, without the terminator */
	size_t capacity; /* bytes, 0 while data is the shared empty string */
	size_t maximum;  /* bytes, without the terminator */
	int failed;      /* 0, ENAMETOOLONG or ENOMEM */
};

extern char strbuf_empty[1];

/* STRBUF_INIT(4096): an empty buffer that will never hold more than 4096 bytes. */
#define STRBUF_INIT(limit)                                                                        \
	{                                                                                         \
		.data = strbuf_empty, .length = 0, .capacity = 0, .maximum = (limit), .failed = 0 \
	}

void strbuf_add(struct strbuf *buffer, const void *bytes, size_t length);
void strbuf_adds(struct strbuf *buffer, const char *text);
void strbuf_addc(struct strbuf *buffer, char character);
void strbuf_addf(struct strbuf *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *buffer, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

/* Empties the buffer and clears the failure; keeps the memory. */
void strbuf_reset(struct strbuf *buffer);

/* 0, or the negative errno of the first failure. */
int strbuf_failed(const struct strbuf *buffer);

/* Gives the text to the caller (free()); NULL when the buffer failed. The buffer is empty after. */
char *strbuf_detach(struct strbuf *buffer);

void strbuf_release(struct strbuf *buffer);

#define autostrbuf cleanup(strbuf_release) struct strbuf
