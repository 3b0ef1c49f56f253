/* SPDX-License-Identifier: Apache-2.0 */
/* Private to base: what a plain YAML scalar means. */
#pragma once

#include "base/strbuf.h"

enum scalar_kind {
	SCALAR_STRING,
	SCALAR_NULL,
	SCALAR_FALSE,
	SCALAR_TRUE,
	SCALAR_NUMBER,
	SCALAR_NO_JSON, /* infinity or NaN: a number that JSON has no form for */
};

/* Kind of the plain scalar TEXT. NUMBER holds a number's JSON text, and else nothing. */
enum scalar_kind scalar_resolve(const char *text, struct strbuf *number);

/* What kubectl makes of the number TEXT (SCALAR_NUMBER with a fraction, or SCALAR_NO_JSON) where it
 * is a key: the shortest form of a 32-bit float, so 1.50 is "1.5". */
void scalar_fraction_key(const char *text, struct strbuf *key);
