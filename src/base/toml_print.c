/* SPDX-License-Identifier: Apache-2.0 */
/* TOML values as text. */
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "base/toml_edit.h"
#include "base/toml_tree.h"

/* A table's place while it is printed: the keys from the root. */
struct place {
	const struct place *up;
	const char *key;
	size_t key_length;
};

static void print_string(const char *text, size_t length, struct strbuf *out)
{
	static const char bytes[] = "\"\\\b\t\n\f\r", names[] = "\"\\btnfr";

	strbuf_addc(out, '"');
	for (const char *end = text + length; text < end; text++) {
		const char *found = *text ? strchr(bytes, *text) : NULL;

		if (found) {
			strbuf_addc(out, '\\');
			strbuf_addc(out, names[found - bytes]);
		} else if ((unsigned char)*text < 0x20 || *text == 0x7f) {
			strbuf_addf(out, "\\u%04X", (unsigned char)*text);
		} else {
			strbuf_addc(out, *text);
		}
	}
	strbuf_addc(out, '"');
}

void toml_print_key(const char *key, size_t length, struct strbuf *out)
{
	size_t bare = 0;

	while (bare < length && toml_is_bare(key[bare]))
		bare++;
	if (length && bare == length)
		strbuf_add(out, key, length);
	else
		print_string(key, length, out);
}

static void print_inline(const struct toml_value *value, struct strbuf *out)
{
	bool table = value->kind == TOML_TABLE;

	if (value->kind == TOML_STRING) {
		print_string(value->text, value->text_length, out);
		return;
	}
	if (value->kind > TOML_ARRAY) {
		strbuf_add(out, value->text, value->text_length);
		return;
	}
	strbuf_addc(out, table ? '{' : '[');
	for (const struct toml_value *child = value->first; child; child = child->next) {
		if (child != value->first)
			strbuf_addc(out, ',');
		if (child != value->first || table)
			strbuf_addc(out, ' ');
		if (table) {
			toml_print_key(child->key, child->key_length, out);
			strbuf_adds(out, " = ");
		}
		print_inline(child, out); /* TOML_DEPTH_MAX deep, as the next one */
	}
	strbuf_adds(out, !table ? "]" : value->first ? " }" : "}");
}

static void print_place(const struct place *place, struct strbuf *out)
{
	if (place->up) {
		print_place(place->up, out);
		strbuf_addc(out, '.');
	}
	toml_print_key(place->key, place->key_length, out);
}

static void print_header(const struct toml_value *table, const struct place *place,
			 struct strbuf *out)
{
	bool needed = table->count == 0;

	for (const struct toml_value *child = table->first; child; child = child->next)
		needed = needed || child->kind != TOML_TABLE;
	if (!place || !needed)
		return;
	strbuf_adds(out, out->length ? "\n[" : "[");
	print_place(place, out);
	strbuf_adds(out, "]\n");
}

static void print_table(const struct toml_value *table, const struct place *place,
			struct strbuf *out)
{
	print_header(table, place, out);
	for (const struct toml_value *child = table->first; child; child = child->next) {
		if (child->kind == TOML_TABLE)
			continue;
		toml_print_key(child->key, child->key_length, out);
		strbuf_adds(out, " = ");
		print_inline(child, out);
		strbuf_addc(out, '\n');
	}
	for (const struct toml_value *child = table->first; child; child = child->next) {
		struct place below = { place, child->key, child->key_length };

		if (child->kind == TOML_TABLE)
			print_table(child, &below, out);
	}
}

static void print_below(const struct toml_value *table, const char *const *prefix,
			const struct place *place, struct strbuf *out)
{
	struct place below = { place, prefix ? *prefix : NULL, 0 };

	if (!below.key) {
		print_table(table, place, out);
		return;
	}
	below.key_length = strlen(below.key);
	print_below(table, prefix + 1, &below, out);
}

int toml_print(const struct toml_value *table, const char *const *prefix, struct strbuf *out)
{
	if (toml_kind(table) == TOML_TABLE)
		print_below(table, prefix, NULL, out);
	return strbuf_failed(out);
}

int toml_quote(const char *text, struct strbuf *out)
{
	size_t length = strlen(text);

	if (!parse_utf8_valid(text, length))
		return -EILSEQ;
	print_string(text, length, out);
	return strbuf_failed(out);
}
