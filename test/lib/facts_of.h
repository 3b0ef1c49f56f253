/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the readers: a text, and the facts that it must and must not give. */
#pragma once

#include <stddef.h>

struct reading {
	const char *name;
	const char *source;   /* NULL: "a.txt" */
	const char *text;     /* a line "%%% name" begins another source */
	const char *told[12]; /* conditions: "key", "key=glob" */
	const char *untold[8];
};

/* Fails the test with the name of the case, the condition and all that was told. */
void readings_check(const struct reading *readings, size_t count);
