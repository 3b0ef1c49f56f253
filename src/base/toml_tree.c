/* SPDX-License-Identifier: Apache-2.0 */
#include "base/toml_tree.h"

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#define CHUNK_BYTES 16384u

struct toml_chunk {
	struct toml_chunk *next;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

/* Zeroed memory that lives as long as TOML. */
static void *toml_allocate(struct toml *toml, size_t size)
{
	struct toml_chunk *chunk = toml->chunks;

	size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (!chunk || chunk->size - chunk->used < size) {
		size_t bytes = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		chunk = calloc(1, sizeof(*chunk) + bytes);
		if (!chunk)
			return NULL;
		chunk->size = bytes;
		chunk->next = toml->chunks;
		toml->chunks = chunk;
	}
	chunk->used += size;
	return chunk->bytes + chunk->used - size;
}

char *toml_keep(struct toml *toml, const char *bytes, size_t length)
{
	char *copy = toml_allocate(toml, length + 1);

	if (copy)
		memcpy(copy, bytes, length);
	return copy;
}

struct toml_value *toml_add(struct toml *toml, struct toml_value *parent, const char *key,
			    size_t key_length)
{
	struct toml_value *value = toml_allocate(toml, sizeof(*value));

	if (!value)
		return NULL;
	value->serial = toml->values++;
	value->parent = parent;
	value->key = key;
	value->key_length = key_length;
	if (!parent)
		return value;
	value->depth = parent->depth + 1;
	if (parent->last)
		parent->last->next = value;
	else
		parent->first = value;
	parent->last = value;
	parent->count++;
	return value;
}

/* Table and key as one text without NUL: the map's keys are C strings. */
static int index_name(const struct toml_value *table, const char *key, size_t key_length,
		      struct strbuf *name)
{
	strbuf_addf(name, "%u ", table->serial);
	for (const char *end = key + key_length; key < end; key++) {
		if (*key == '\0' || *key == '\1')
			strbuf_addc(name, '\1');
		strbuf_addc(name, *key == '\0' ? '\2' : *key);
	}
	return strbuf_failed(name) < 0 ? -ENOMEM : 0;
}

int toml_index_put(struct toml *toml, struct toml_value *value)
{
	autostrbuf name = STRBUF_INIT(SIZE_MAX / 2);

	int r = index_name(value->parent, value->key, value->key_length, &name);
	return r < 0 ? r : map_put(toml->index, name.data, value);
}

int toml_index_get(const struct toml *toml, const struct toml_value *table, const char *key,
		   size_t key_length, struct toml_value **ret)
{
	autostrbuf name = STRBUF_INIT(SIZE_MAX / 2);

	int r = index_name(table, key, key_length, &name);
	if (r == 0)
		*ret = map_get(toml->index, name.data);
	return r;
}

static int seal_value(struct toml *toml, struct toml_value *value)
{
	struct toml_value *child = value->first;

	if (!value->count)
		return 0;
	value->items = toml_allocate(toml, value->count * sizeof(*value->items));
	if (!value->items)
		return -ENOMEM;
	for (size_t i = 0; child; i++, child = child->next) {
		value->items[i] = child;
		int r = seal_value(toml, child); /* TOML_DEPTH_MAX deep */
		if (r < 0)
			return r;
	}
	return 0;
}

int toml_seal(struct toml *toml)
{
	map_free(toml->index);
	toml->index = NULL;
	return seal_value(toml, toml->root);
}

void toml_free(struct toml *toml)
{
	if (!toml)
		return;
	map_free(toml->index);
	free(toml->statements);
	while (toml->chunks) {
		struct toml_chunk *chunk = toml->chunks;

		toml->chunks = chunk->next;
		free(chunk);
	}
	free(toml);
}

const struct toml_value *toml_root(const struct toml *toml)
{
	return toml ? toml->root : NULL;
}

enum toml_kind toml_kind(const struct toml_value *value)
{
	return value ? value->kind : TOML_KIND_MAX;
}

const char *toml_kind_name(enum toml_kind kind)
{
	static const char *const names[TOML_KIND_MAX] = {
		[TOML_TABLE] = "a table",
		[TOML_ARRAY] = "an array",
		[TOML_STRING] = "a string",
		[TOML_INTEGER] = "an integer",
		[TOML_FLOAT] = "a float",
		[TOML_BOOLEAN] = "a boolean",
		[TOML_DATETIME] = "a time with an offset",
		[TOML_LOCAL_DATETIME] = "a date and time",
		[TOML_LOCAL_DATE] = "a date",
		[TOML_LOCAL_TIME] = "a time",
	};

	return kind >= 0 && kind < TOML_KIND_MAX ? names[kind] : "absent";
}

struct toml_value *toml_child(const struct toml_value *table, const char *key, size_t key_length)
{
	if (toml_kind(table) != TOML_TABLE)
		return NULL;
	for (struct toml_value *child = table->first; child; child = child->next) {
		if (child->key_length == key_length && memcmp(child->key, key, key_length) == 0)
			return child;
	}
	return NULL;
}

const struct toml_value *toml_get(const struct toml_value *table, const char *const *keys)
{
	for (; table && *keys; keys++)
		table = toml_child(table, *keys, strlen(*keys));
	return table;
}

const char *toml_string(const struct toml_value *value, const char *fallback)
{
	if (toml_kind(value) != TOML_STRING || strlen(value->text) != value->text_length)
		return fallback;
	return value->text;
}

bool toml_boolean(const struct toml_value *value, bool fallback)
{
	return toml_kind(value) == TOML_BOOLEAN ? value->integer != 0 : fallback;
}

int64_t toml_integer(const struct toml_value *value, int64_t fallback)
{
	return toml_kind(value) == TOML_INTEGER ? value->integer : fallback;
}

const char *toml_text(const struct toml_value *value, size_t *ret_length)
{
	if (ret_length)
		*ret_length = value ? value->text_length : 0;
	return value ? value->text : NULL;
}

size_t toml_count(const struct toml_value *value)
{
	return value ? value->count : 0;
}

const struct toml_value *toml_at(const struct toml_value *value, size_t index, const char **ret_key)
{
	if (index >= toml_count(value))
		return NULL;
	if (ret_key)
		*ret_key = value->items[index]->key;
	return value->items[index];
}

const char *toml_key(const struct toml_value *value, size_t *ret_length)
{
	if (ret_length)
		*ret_length = value ? value->key_length : 0;
	return value ? value->key : NULL;
}

unsigned toml_line(const struct toml_value *value)
{
	return value ? value->line : 0;
}

static bool children_equal(const struct toml_value *left, const struct toml_value *right)
{
	const struct toml_value *other = right->first;

	for (const struct toml_value *child = left->first; child; child = child->next) {
		/* Mostly in the same order, which saves the search. */
		if (left->kind == TOML_TABLE &&
		    (!other || other->key_length != child->key_length ||
		     memcmp(other->key, child->key, child->key_length) != 0))
			other = toml_child(right, child->key, child->key_length);
		if (!toml_equal(child, other))
			return false;
		other = other->next;
	}
	return true;
}

bool toml_equal(const struct toml_value *left, const struct toml_value *right)
{
	if (!left || !right)
		return left == right;
	if (left->kind != right->kind || left->count != right->count ||
	    left->text_length != right->text_length)
		return false;
	if (left->text && memcmp(left->text, right->text, left->text_length) != 0)
		return false;
	return children_equal(left, right);
}
