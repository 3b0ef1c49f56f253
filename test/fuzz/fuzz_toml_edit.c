/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "KEY.KEY\nLITERAL\n" and then any TOML text. After toml_edit_set() the tree differs at the key
 * only and the text by one piece; what was added goes again to the byte. toml_edit_remove() leaves
 * a text without the key, and toml_edit_append() an array that ends with the item.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define KEYS_MAX 8

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Equal but for what KEYS lead to. */
static bool same_but(const struct toml_value *before, const struct toml_value *after,
		     const char *const *keys)
{
	if (!*keys)
		return true;
	if (toml_kind(before) != TOML_TABLE)
		return !before && toml_kind(after) == TOML_TABLE && toml_count(after) == 1 &&
		       same_but(NULL, toml_get(after, (const char *[]){ *keys, NULL }), keys + 1);
	for (size_t i = 0; i < toml_count(before); i++) {
		size_t length;
		const struct toml_value *child = toml_at(before, i, NULL);
		const char *key = toml_key(child, &length);

		if (strlen(key) != length) /* toml_get() knows no keys with NUL */
			continue;
		const struct toml_value *other = toml_get(after, (const char *[]){ key, NULL });
		if (strcmp(key, *keys) == 0 ? !same_but(child, other, keys + 1)
					    : !toml_equal(child, other))
			return false;
	}
	const struct toml_value *was = toml_get(before, (const char *[]){ *keys, NULL });
	const struct toml_value *is = toml_get(after, (const char *[]){ *keys, NULL });
	return is && toml_count(after) == toml_count(before) + !was &&
	       (was || same_but(NULL, is, keys + 1));
}

/* Is the new text the old one with one piece more, or another one in its place? */
static bool one_piece(const struct strbuf *before, const struct strbuf *after, bool added)
{
	size_t front = 0, back = 0;

	while (front < before->length && front < after->length &&
	       before->data[front] == after->data[front])
		front++;
	while (back < before->length - front && back < after->length - front &&
	       before->data[before->length - back - 1] == after->data[after->length - back - 1])
		back++;
	return !added || front + back == before->length;
}

/* A change is refused by the editor's own rules, "fuzz:LINE: ", or for a limit; never because what
 * it wrote could not be read, "fuzz:LINE:COLUMN: ". */
static void check_refusal(const struct error *error)
{
	const char *at = error->message;

	must(strncmp(at, "fuzz:", 5) == 0);
	for (at += 5; *at >= '0' && *at <= '9';)
		at++;
	must(error->number != EINVAL || strncmp(at, ": ", 2) == 0);
}

static size_t count_headers(const struct strbuf *text)
{
	size_t count = 0;

	for (size_t i = 0; i < text->length; i++)
		count += text->data[i] == '[';
	return count;
}

static void check_literal(const struct toml_value *value, const char *literal)
{
	autostrbuf text = STRBUF_INIT((size_t)8 << 20);
	autotoml *toml = NULL;

	strbuf_addf(&text, "x = %s", literal);
	must(toml_parse(text.data, text.length, "literal", &toml, NULL) == 0);
	must(toml_equal(value, toml_at(toml_root(toml), 0, NULL)));
}

/* The keys up to the first that is absent. */
static size_t first_absent(const struct toml_value *root, const char **keys)
{
	size_t count = 1;

	for (; keys[count]; count++) {
		const char *next = keys[count];

		keys[count] = NULL;
		const struct toml_value *found = toml_get(root, keys);
		keys[count] = next;
		if (!found)
			break;
	}
	return count;
}

static void check_set(const char *text, size_t length, const char **keys, const char *literal)
{
	autostrbuf before = STRBUF_INIT((size_t)8 << 20), after = STRBUF_INIT((size_t)8 << 20);
	struct error error = ERROR_INIT;
	autotomledit *edit = NULL;
	autotoml *old = NULL, *again = NULL;

	if (toml_edit_new(text, length, "fuzz", &edit, &error) < 0)
		return;
	must(toml_parse(text, length, "fuzz", &old, &error) == 0);
	must(toml_edit_text(edit, &before) == 0);
	bool added = !toml_get(toml_root(old), keys);
	int r = toml_edit_set(edit, keys, literal, &error);
	must(toml_edit_text(edit, &after) == 0);
	if (r < 0) {
		check_refusal(&error);
		must(after.length == length && memcmp(after.data, text, length) == 0);
		return;
	}
	must(toml_parse(after.data, after.length, "fuzz", &again, &error) == 0);
	must(same_but(toml_root(old), toml_root(again), keys));
	check_literal(toml_get(toml_root(again), keys), literal);
	must(one_piece(&before, &after, added));
	if (!added)
		return;
	size_t absent = first_absent(toml_root(old), keys);
	keys[absent] = NULL;
	must(toml_edit_remove(edit, keys, &error) == 0);
	strbuf_reset(&after);
	must(toml_edit_text(edit, &after) == 0);
	must(toml_equal(toml_edit_root(edit), toml_root(old)));
	if (after.length != length || memcmp(after.data, text, length) != 0) {
		/* Its table had no header and keeps the one that it was given. */
		must(absent > 1 && one_piece(&before, &after, true));
		must(count_headers(&after) > count_headers(&before));
	}
}

static void check_remove(const char *text, size_t length, const char **keys)
{
	struct error error = ERROR_INIT;
	autotomledit *edit = NULL;

	if (toml_edit_new(text, length, "fuzz", &edit, &error) < 0)
		return;
	bool there = toml_get(toml_edit_root(edit), keys) != NULL;
	int r = toml_edit_remove(edit, keys, &error);
	must(r == 0 || !there);
	must(!toml_get(toml_edit_root(edit), keys));
}

static void check_append(const char *text, size_t length, const char **keys, const char *literal)
{
	struct error error = ERROR_INIT;
	autotomledit *edit = NULL;

	if (toml_edit_new(text, length, "fuzz", &edit, &error) < 0)
		return;
	size_t before = toml_count(toml_get(toml_edit_root(edit), keys));
	if (toml_edit_append(edit, keys, literal, &error) < 0) {
		check_refusal(&error);
		return;
	}
	const struct toml_value *list = toml_get(toml_edit_root(edit), keys);
	must(toml_kind(list) == TOML_ARRAY);
	if (toml_count(list) != before) {
		must(toml_count(list) == before + 1);
		check_literal(toml_at(list, before, NULL), literal);
	}
	before = toml_count(list);
	must(toml_edit_append(edit, keys, literal, &error) == 0);
	must(toml_count(toml_get(toml_edit_root(edit), keys)) == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *copy = malloc(size + 1);
	const char *keys[KEYS_MAX + 1] = { NULL };
	size_t count = 0;

	must(copy != NULL);
	memcpy(copy, data, size);
	copy[size] = '\0';
	char *literal = memchr(copy, '\n', size);
	if (!literal)
		return 0;
	*literal++ = '\0';
	char *text = memchr(literal, '\n', size - (size_t)(literal - copy));
	if (!text)
		return 0;
	*text++ = '\0';
	for (char *rest = copy, *key; count < KEYS_MAX && (key = strsep(&rest, "."));)
		keys[count++] = key;
	size_t length = size - (size_t)(text - copy);
	check_remove(text, length, keys);
	check_append(text, length, keys, literal);
	check_set(text, length, keys, literal);
	return 0;
}
