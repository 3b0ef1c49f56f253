/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and patterns from text, whole text or error. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Decimal digits only, no sign, no blank. 0, -EINVAL, or -ERANGE outside [minimum, maximum]. */
int parse_uint(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *ret);

/* Shell-like pattern with * and ? over the whole text, letter case ignored; linear memory. */
bool parse_glob(const char *pattern, const char *text);

bool parse_utf8_valid(const char *text, uint64_t length);
