/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/formats: what the editors of TOML files share. */
#pragma once

#include "base/base.h"
#include "model/model.h"

enum { KEYS_MAX = 16 };

/* A path of keys that grows and shrinks. */
struct keys {
	const char *items[KEYS_MAX + 1]; /* ends with NULL */
	size_t count;
};

#define KEYS(...)                                 \
	((struct keys){ .items = { __VA_ARGS__ }, \
			.count = sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *) })

/* PATH and one key more; deeper than KEYS_MAX leads nowhere. */
struct keys keys_add(const struct keys *path, const char *key);
const struct toml_value *keys_get(const struct toml_value *table, const struct keys *path);

/* VALUE as it is written: 0, -ENOMEM, -EINVAL (a string with a NUL character). */
int toml_literal(const struct toml_value *value, struct strbuf *out);

int edit_set_string(struct toml_edit *edit, const struct keys *path, const char *text,
		    struct error *error);
/* All values of TABLE at PATH; keys that SKIP (NULL ends it; may be NULL) names are left out. */
int edit_copy(struct toml_edit *edit, const struct keys *path, const struct toml_value *table,
	      const char *const *skip, struct error *error);
/* The text of EDIT, free(). */
int edit_text(const struct toml_edit *edit, char **ret, struct error *error);
