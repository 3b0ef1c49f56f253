/* SPDX-License-Identifier: Apache-2.0 */
/* A place in a TOML text, with the errors and strings that need one; for toml*.c only. */
#pragma once

#include "base/toml_tree.h"

struct toml_reader {
	const char *text, *end, *at;
	const char *name;
	unsigned line; /* of at, from 1 */
	struct toml *toml;
	struct toml_value *section; /* the table in force */
	struct strbuf scratch;      /* the string or number being read */
	struct error *error;
};

/* "NAME:LINE:COLUMN: what"; columns count bytes from 1. */
int toml_fail(const struct toml_reader *reader, const char *at, int number, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* What is needed here but is not here; -EINVAL. */
int toml_expect(const struct toml_reader *reader, const char *wanted);

bool toml_take(struct toml_reader *reader, char wanted);
/* Over blanks and tabs. */
void toml_skip_blank(struct toml_reader *reader);
/* Over a newline (LF or CR LF) when one is here. */
bool toml_take_newline(struct toml_reader *reader);
/* Over a comment when one is here, up to its newline. */
int toml_skip_comment(struct toml_reader *reader);
/* At a quote: a string of one line, or of several where MULTILINE allows it; left in scratch. */
int toml_read_string(struct toml_reader *reader, bool multiline);
