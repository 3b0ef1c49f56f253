/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/toml_parts.h"

#include <errno.h>
#include <string.h>

enum { TEXT_MAX = 4 << 20 };

struct keys keys_add(const struct keys *path, const char *key)
{
	struct keys longer = *path;

	if (longer.count < KEYS_MAX)
		longer.items[longer.count++] = key;
	return longer;
}

const struct toml_value *keys_get(const struct toml_value *table, const struct keys *path)
{
	return toml_get(table, path->items);
}

static int literal_list(const struct toml_value *value, bool table, struct strbuf *out)
{
	int r = 0;

	strbuf_addc(out, table ? '{' : '[');
	for (size_t i = 0; r == 0 && i < toml_count(value); i++) {
		const char *key = NULL;
		const struct toml_value *item = toml_at(value, i, &key);

		strbuf_adds(out, i ? ", " : table ? " " : "");
		if (table) {
			r = toml_quote(key, out);
			strbuf_adds(out, " = ");
		}
		if (r == 0)
			r = toml_literal(item, out);
	}
	strbuf_adds(out, table ? " }" : "]");
	return r < 0 ? r : strbuf_failed(out);
}

int toml_literal(const struct toml_value *value, struct strbuf *out)
{
	size_t length = 0;
	const char *text = toml_text(value, &length);

	if (toml_kind(value) == TOML_TABLE || toml_kind(value) == TOML_ARRAY)
		return literal_list(value, toml_kind(value) == TOML_TABLE, out);
	if (!text || strlen(text) != length)
		return -EINVAL;
	if (toml_kind(value) == TOML_STRING)
		return toml_quote(text, out);
	strbuf_adds(out, text);
	return strbuf_failed(out);
}

int edit_set_string(struct toml_edit *edit, const struct keys *path, const char *text,
		    struct error *error)
{
	autostrbuf literal = STRBUF_INIT(TEXT_MAX);
	int r = toml_quote(text, &literal);

	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r < 0)
		return error_set(error, -r, "\"%s\" cannot be written as TOML; use plain UTF-8",
				 text);
	return toml_edit_set(edit, path->items, literal.data, error);
}

static bool is_one_of(const char *key, const char *const *list)
{
	for (; list && *list; list++)
		if (strcmp(key, *list) == 0)
			return true;
	return false;
}

int edit_copy(struct toml_edit *edit, const struct keys *path, const struct toml_value *table,
	      const char *const *skip, struct error *error)
{
	for (size_t i = 0; i < toml_count(table); i++) {
		const char *key = NULL;
		const struct toml_value *value = toml_at(table, i, &key);
		struct keys below = keys_add(path, key);
		autostrbuf literal = STRBUF_INIT(TEXT_MAX);
		int r = 0;

		if (is_one_of(key, skip))
			continue;
		if (toml_kind(value) == TOML_TABLE) {
			r = edit_copy(edit, &below, value, skip, error);
		} else {
			r = toml_literal(value, &literal);
			if (r == -ENOMEM)
				return error_no_memory(error);
			r = r < 0 ? error_set(error, -r, "the value of %s cannot be copied", key)
				  : toml_edit_set(edit, below.items, literal.data, error);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int edit_text(const struct toml_edit *edit, char **ret, struct error *error)
{
	autostrbuf text = STRBUF_INIT(2 * TEXT_MAX);

	if (toml_edit_text(edit, &text) < 0)
		return error_no_memory(error);
	char *done = text.length ? strbuf_detach(&text) : strdup("");
	if (!done)
		return error_no_memory(error);
	*ret = done;
	return 0;
}
