/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a text counts for a comparison: letters of one case, no white space, no quotation marks,
 * no backslashes, and an escape of JSON or of Go's %q is what it stands for.
 */
#pragma once

#include <stddef.h>

enum { FOLD_LOOK = 3 }; /* this byte counts by what follows: ask fold_special() */

/* The folded form of each byte: 0 falls away; no byte has a form below ' ' but FOLD_LOOK. */
extern const unsigned char fold_table[256];

/*
 * The form of the byte at TEXT, of which fold_table says FOLD_LOOK; LEFT bytes are there. *ret_used:
 * how many of them it is.
 */
unsigned char fold_special(const unsigned char *text, size_t left, size_t *ret_used);
