/* SPDX-License-Identifier: Apache-2.0 */
/* TOML's numbers, booleans, dates and times from a token of bare text; for toml*.c only. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/toml.h"

struct toml_scalar {
	enum toml_kind kind;
	int64_t integer; /* of booleans too */
};

/* Appends the text of toml_text() to TEXT. 0, -EINVAL (no such value), -ERANGE (an integer of more
 * than 64 bits; a month 13), -ENOMEM. */
int toml_scalar_read(const char *token, size_t length, struct toml_scalar *ret,
		     struct strbuf *text);
