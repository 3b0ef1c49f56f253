/* SPDX-License-Identifier: Apache-2.0 */
/* One message pattern, folded, and its comparison with folded text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* In a folded pattern; no folded text has such a byte. */
enum { PATTERN_GAP = 1, PATTERN_NUMBER = 2 };

struct pattern {
	uint16_t length;
	uint16_t piece, piece_length; /* the longest literal piece */
	char text[];
};

/*
 * Folds SOURCE. *ret is the caller's, to free(). -EINVAL with a sentence: no piece of MATCHER_ANCHOR
 * characters, a '*' at an end, or more than MATCHER_SPAN characters; -ENOMEM.
 */
int pattern_new(const char *source, struct pattern **ret, struct error *error);

/* Folded text. RAW_AT of a byte is its place in the text as it was: what is not beside its
 * neighbour there had a blank between. */
struct folded {
	const unsigned char *text;
	const uint32_t *raw_at;
	const uint8_t *barrier; /* 1: no gap goes across the place before this byte */
	size_t length;
};

/*
 * Does PATTERN, whose byte ANCHOR is known to stand at text AT, fit there? *ret_begin and *ret_end:
 * the text's part.
 */
bool pattern_fits(const struct pattern *pattern, size_t anchor, const struct folded *folded,
		  size_t at, size_t *ret_begin, size_t *ret_end);

/* A byte's folded form: 0 falls away. */
unsigned char fold_byte(unsigned char byte);
