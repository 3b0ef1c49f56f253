/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and patterns from text, whole text or error. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal digits only, no sign, no blank. 0, -EINVAL, or -ERANGE outside [minimum, maximum]. */
int parse_uint(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *ret);

/*
 * Shell-like pattern with * and ? over the whole text, letter case (ASCII) ignored. Needs no
 * memory and at most pattern length times text length steps.
 */
bool parse_glob(const char *pattern, const char *text);

bool parse_utf8_valid(const char *text, uint64_t length);

/* Bytes of the longest valid UTF-8 start of TEXT; LENGTH when all of it is valid. */
uint64_t parse_utf8_prefix(const char *text, uint64_t length);

/* Edits (insert, drop, change one byte) from one text to the other, at most LIMIT + 1. */
unsigned parse_distance(const char *left, const char *right, unsigned limit);

/* The known name that is nearest to a slip of the keyboard: try each, then look at NAME (NULL: none is near). */
struct nearest {
	const char *name;
	unsigned distance;
};
void parse_nearest(struct nearest *nearest, const char *known, const char *given);

/* Position of TEXT among CHOICES, "none|single|mixed", or -1. */
int parse_choice(const char *choices, const char *text);

/* Names of RFC 1123: small letters, digits and inner dashes; labels with dots between them. */
bool parse_label(const char *text, size_t length);
bool parse_subdomain(const char *text);

/*
 * "HOST:PORT", PORT from 1: HOST, which may be empty, without the brackets that one with colons must have.
 * 0, -EINVAL, or -ENAMETOOLONG when HOST has no room.
 */
int parse_address(const char *text, char *host, size_t size, unsigned *ret_port);
