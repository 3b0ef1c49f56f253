/* SPDX-License-Identifier: Apache-2.0 */
/* Text of strangers on a screen: a terminal obeys some characters instead of showing them. */
#pragma once

#include <stdbool.h>

/*
 * Replaces in place, by one '?' each: control characters (C0, DELETE, C1), marks that turn the
 * direction of writing or break lines, and bytes that are no UTF-8. KEEP_LINES: line feeds stay.
 */
void text_make_visible(char *text, bool keep_lines);
