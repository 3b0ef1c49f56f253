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
