/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TOML text with few changes: every byte that a change does not concern stays, comments, blanks
 * and line ends too. KEYS is a path from the root that ends with NULL; no path leads through an
 * array of tables. LITERAL is one TOML value ("\"x\"", "true", "[1, 2]"). After each change the text
 * is read again; a change that fails leaves it as it was. Errors read "NAME:LINE: what; what to do":
 * -EINVAL for a path or literal that cannot be, else those of toml_parse().
 */
#pragma once

#include "base/toml.h"

struct toml_edit;

int toml_edit_new(const char *text, size_t length, const char *name, struct toml_edit **ret,
		  struct error *error);
void toml_edit_free(struct toml_edit *edit);

DEFINE_CLEANUP(struct toml_edit, toml_edit_free)
#define autotomledit cleanup(toml_edit_freep) struct toml_edit

/* What the text means now; good until the next change. */
const struct toml_value *toml_edit_root(const struct toml_edit *edit);

/*
 * Replaces the value, or adds it: into the inline table or after the last line of the section that
 * the path leads to; a section that is missing comes behind the one most like it, with a blank line
 * before. A table of sections is not replaced: -EINVAL.
 */
int toml_edit_set(struct toml_edit *edit, const char *const *keys, const char *literal,
		  struct error *error);
/* Adds to an array, at its end, unless an equal item is there; an absent one is made. */
int toml_edit_append(struct toml_edit *edit, const char *const *keys, const char *literal,
		     struct error *error);
/* A key, or a table with all below it; 0 when absent. With a section goes one blank line before it.
 * What toml_edit_set() added is gone to the byte when the first key that was absent is removed; only
 * the header that a table without one was given stays. */
int toml_edit_remove(struct toml_edit *edit, const char *const *keys, struct error *error);
/* Appends the text. 0, or what strbuf_failed() says. */
int toml_edit_text(const struct toml_edit *edit, struct strbuf *out);

/* Appends TEXT as a basic string in quotes. 0, -EILSEQ for no UTF-8, or what strbuf_failed() says. */
int toml_quote(const char *text, struct strbuf *out);
/* Appends TABLE as sections below PREFIX (keys, NULL at the end; NULL for the root): values first,
 * then tables; what arrays hold is inline. 0, or what strbuf_failed() says. */
int toml_print(const struct toml_value *table, const char *const *prefix, struct strbuf *out);
