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

/* Kind of the plain scalar TEXT. A number's JSON text is put into NUMBER. */
enum scalar_kind scalar_resolve(const char *text, struct strbuf *number);
