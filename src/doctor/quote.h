/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of strangers, made fit to be shown: no secret (tokens, keys, passwords, certificates), no
 * character that a terminal obeys, valid UTF-8, at most 300 bytes.
 */
#pragma once

#include <stddef.h>

#define QUOTE_MAX 300

/* A new string, the caller's; NULL: no memory. A long text is cut with "...". */
char *quote_make(const char *text, size_t length);
/* The same for the name of a file or an archive's member; the last part is kept where it is long. */
char *quote_source(const char *name);
