/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the text. What a table or array may still get follows from how it was made (enum
 * toml_made): a value is closed, a header names each table once, a dotted key adds only to tables
 * that dotted keys or longer headers made.
 */
#include "base/toml.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"
#include "base/toml_reader.h"
#include "base/toml_scalar.h"
#include "base/vec.h"

/* A dotted key. */
struct key {
	struct {
		const char *bytes;
		size_t length;
	} parts[TOML_DEPTH_MAX];
	size_t count;
	const char *start; /* in the text */
	unsigned line;
};

static int read_value(struct toml_reader *reader, struct toml_value *value);

bool toml_is_bare(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '_' || byte == '-';
}

static int fail_depth(const struct toml_reader *reader, const char *at)
{
	return toml_fail(reader, at, E2BIG,
			 "nested deeper than the %u levels that are read; flatten the file",
			 TOML_DEPTH_MAX);
}

static int read_part(struct toml_reader *reader, struct key *key)
{
	const char *start = reader->at, *bytes = start;
	size_t length;

	if (key->count == TOML_DEPTH_MAX)
		return fail_depth(reader, start);
	if (reader->at < reader->end && (*reader->at == '"' || *reader->at == '\'')) {
		int r = toml_read_string(reader, false);

		if (r < 0)
			return r;
		bytes = reader->scratch.data;
		length = reader->scratch.length;
	} else {
		while (reader->at < reader->end && toml_is_bare(*reader->at))
			reader->at++;
		length = (size_t)(reader->at - start);
		if (!length)
			return toml_expect(reader, "a key");
	}
	key->parts[key->count].length = length;
	key->parts[key->count].bytes = toml_keep(reader->toml, bytes, length);
	return key->parts[key->count++].bytes ? 0 : error_no_memory(reader->error);
}

static int read_key(struct toml_reader *reader, struct key *key)
{
	key->count = 0;
	key->start = reader->at;
	key->line = reader->line;
	do {
		toml_skip_blank(reader);
		int r = read_part(reader, key);
		if (r < 0)
			return r;
		toml_skip_blank(reader);
	} while (toml_take(reader, '.'));
	return 0;
}

static int add_value(struct toml_reader *reader, struct toml_value *parent, const struct key *key,
		     size_t part, struct toml_value **ret)
{
	const char *at = key ? key->start : reader->at;

	if (parent->depth == TOML_DEPTH_MAX)
		return fail_depth(reader, at);
	if (reader->toml->values > TOML_VALUES_MAX)
		return toml_fail(reader, at, E2BIG,
				 "more than the %u values that are read; split the file",
				 TOML_VALUES_MAX);
	*ret = toml_add(reader->toml, parent, key ? key->parts[part].bytes : NULL,
			key ? key->parts[part].length : 0);
	if (!*ret || (key && toml_index_put(reader->toml, *ret) < 0))
		return error_no_memory(reader->error);
	(*ret)->line = key ? key->line : reader->line;
	return 0;
}

/* The table or array PART of KEY names in TABLE; a new one of KIND and MADE where there is none. */
static int get_or_add(struct toml_reader *reader, struct toml_value *table, const struct key *key,
		      size_t part, enum toml_made made, struct toml_value **ret)
{
	int r = toml_index_get(reader->toml, table, key->parts[part].bytes, key->parts[part].length,
			       ret);

	if (r < 0)
		return error_no_memory(reader->error);
	if (*ret)
		return 0;
	r = add_value(reader, table, key, part, ret);
	if (r < 0)
		return r;
	(*ret)->kind = made == MADE_HEADERS ? TOML_ARRAY : TOML_TABLE;
	(*ret)->made = made;
	return 0;
}

static int fail_twice(const struct toml_reader *reader, const struct key *key,
		      const struct toml_value *first)
{
	return toml_fail(reader, key->start, EINVAL,
			 "'%.64s' stands here and in line %u; remove one of the two",
			 key->parts[key->count - 1].bytes, first->line);
}

/* The table that a dotted key puts its last part into. */
static int walk_dotted(struct toml_reader *reader, struct toml_value *table, const struct key *key,
		       struct toml_value **ret)
{
	for (size_t i = 0; i + 1 < key->count; i++) {
		struct toml_value *child = NULL;

		int r = get_or_add(reader, table, key, i, MADE_DOTTED, &child);
		if (r < 0)
			return r;
		if (child->made == MADE_IMPLICIT)
			child->made = MADE_DOTTED;
		if (child->made != MADE_DOTTED)
			return toml_fail(
				reader, key->start, EINVAL,
				"'%.64s' is %s of line %u that a dotted key cannot add to; write "
				"the key there",
				key->parts[i].bytes, toml_kind_name(child->kind), child->line);
		table = child;
	}
	*ret = table;
	return 0;
}

/* The table that a header puts its last part into: of [[ ]] arrays the newest element. */
static int walk_header(struct toml_reader *reader, const struct key *key, struct toml_value **ret)
{
	struct toml_value *table = reader->toml->root;

	for (size_t i = 0; i + 1 < key->count; i++) {
		struct toml_value *child = NULL;

		int r = get_or_add(reader, table, key, i, MADE_IMPLICIT, &child);
		if (r < 0)
			return r;
		if (child->made == MADE_VALUE)
			return toml_fail(reader, key->start, EINVAL,
					 "'%.64s' is %s of line %u that a header cannot add to; "
					 "write the key there",
					 key->parts[i].bytes, toml_kind_name(child->kind),
					 child->line);
		table = child->made == MADE_HEADERS ? child->last : child;
	}
	*ret = table;
	return 0;
}

static int open_table(struct toml_reader *reader, struct toml_value *parent, const struct key *key,
		      struct toml_value **ret)
{
	struct toml_value *table = NULL;

	int r = get_or_add(reader, parent, key, key->count - 1, MADE_IMPLICIT, &table);
	if (r < 0)
		return r;
	if (table->made != MADE_IMPLICIT)
		return fail_twice(reader, key, table);
	table->made = MADE_HEADER;
	table->line = key->line;
	*ret = table;
	return 0;
}

static int open_element(struct toml_reader *reader, struct toml_value *parent,
			const struct key *key, struct toml_value **ret)
{
	struct toml_value *array = NULL, *table = NULL;

	int r = get_or_add(reader, parent, key, key->count - 1, MADE_HEADERS, &array);
	if (r < 0)
		return r;
	if (array->made != MADE_HEADERS)
		return fail_twice(reader, key, array);
	r = add_value(reader, array, NULL, 0, &table);
	if (r < 0)
		return r;
	table->line = key->line;
	table->made = MADE_HEADER;
	*ret = table;
	return 0;
}

static int add_statement(struct toml_reader *reader, struct toml_value *value, const char *start)
{
	struct toml *toml = reader->toml;
	struct toml_statement *statement =
		VEC_ADD(&toml->statements, &toml->count, &toml->capacity);

	if (!statement)
		return error_no_memory(reader->error);
	statement->value = value;
	statement->section = reader->section;
	statement->start = (size_t)(start - reader->text);
	statement->end = (size_t)(reader->at - reader->text);
	return 0;
}

static int read_header(struct toml_reader *reader)
{
	const char *start = reader->at++;
	struct toml_value *parent = NULL;
	struct key key;

	bool array = toml_take(reader, '[');
	int r = read_key(reader, &key);
	if (r < 0)
		return r;
	if (!toml_take(reader, ']') || (array && !toml_take(reader, ']')))
		return toml_expect(reader, array ? "']]' after a table's name"
						 : "']' after a table's name");
	key.start = start;
	r = walk_header(reader, &key, &parent);
	if (r == 0)
		r = array ? open_element(reader, parent, &key, &reader->section)
			  : open_table(reader, parent, &key, &reader->section);
	return r < 0 ? r : add_statement(reader, reader->section, start);
}

/* KEY = VALUE into TABLE, of which it is a member, or a line of its section. */
static int read_pair(struct toml_reader *reader, struct toml_value *table, struct toml_value **ret)
{
	struct toml_value *parent = NULL, *value = NULL;
	struct key key;

	int r = read_key(reader, &key);
	if (r < 0)
		return r;
	if (!toml_take(reader, '='))
		return toml_expect(reader, "'=' after a key");
	toml_skip_blank(reader);
	r = walk_dotted(reader, table, &key, &parent);
	if (r < 0)
		return r;
	const size_t last = key.count - 1;
	if (toml_index_get(reader->toml, parent, key.parts[last].bytes, key.parts[last].length,
			   &value) < 0)
		return error_no_memory(reader->error);
	if (value)
		return fail_twice(reader, &key, value);
	r = add_value(reader, parent, &key, last, &value);
	if (r < 0)
		return r;
	value->key_start = (size_t)(key.start - reader->text);
	*ret = value;
	return read_value(reader, value);
}

/* Over blanks, newlines and comments, as arrays have them. */
static int skip_lines(struct toml_reader *reader)
{
	do {
		toml_skip_blank(reader);
		int r = toml_skip_comment(reader);
		if (r < 0)
			return r;
	} while (toml_take_newline(reader));
	return 0;
}

static int read_array(struct toml_reader *reader, struct toml_value *array)
{
	array->kind = TOML_ARRAY;
	reader->at++;
	for (;;) {
		struct toml_value *item = NULL;

		int r = skip_lines(reader);
		if (r < 0)
			return r;
		if (toml_take(reader, ']'))
			return 0;
		r = add_value(reader, array, NULL, 0, &item);
		if (r == 0)
			r = read_value(reader, item);
		if (r == 0)
			r = skip_lines(reader);
		if (r < 0)
			return r;
		if (!toml_take(reader, ',') && (reader->at == reader->end || *reader->at != ']'))
			return toml_expect(reader, "',' or ']'");
	}
}

static int read_inline_table(struct toml_reader *reader, struct toml_value *table)
{
	struct toml_value *value = NULL;

	table->kind = TOML_TABLE;
	reader->at++;
	toml_skip_blank(reader);
	if (toml_take(reader, '}'))
		return 0;
	do {
		toml_skip_blank(reader);
		int r = read_pair(reader, table, &value);
		if (r < 0)
			return r;
		toml_skip_blank(reader);
	} while (toml_take(reader, ','));
	return toml_take(reader, '}') ? 0 : toml_expect(reader, "',' or '}'");
}

static int keep_scratch(struct toml_reader *reader, struct toml_value *value)
{
	if (strbuf_failed(&reader->scratch) < 0)
		return error_no_memory(reader->error);
	value->text = toml_keep(reader->toml, reader->scratch.data, reader->scratch.length);
	value->text_length = reader->scratch.length;
	return value->text ? 0 : error_no_memory(reader->error);
}

static int read_string_value(struct toml_reader *reader, struct toml_value *value)
{
	value->kind = TOML_STRING;
	int r = toml_read_string(reader, true);
	return r < 0 ? r : keep_scratch(reader, value);
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Behind the bytes that bare values are made of. */
static const char *skip_token(const struct toml_reader *reader, const char *at)
{
	while (at < reader->end && (toml_is_bare(*at) || *at == '+' || *at == '.' || *at == ':'))
		at++;
	return at;
}

static const char *token_end(const struct toml_reader *reader)
{
	const char *start = reader->at, *end = skip_token(reader, start);

	/* "1979-05-27 07:32:00": a blank instead of the T. */
	if (end - start == 10 && start[4] == '-' && start[7] == '-' && reader->end - end >= 2 &&
	    *end == ' ' && is_digit(end[1]))
		end = skip_token(reader, end + 1);
	return end;
}

static int read_bare_value(struct toml_reader *reader, struct toml_value *value)
{
	const char *start = reader->at, *end = token_end(reader);
	struct toml_scalar scalar = { 0 };

	if (start == end)
		return toml_expect(reader, "a value");
	strbuf_reset(&reader->scratch);
	int r = toml_scalar_read(start, (size_t)(end - start), &scalar, &reader->scratch);
	if (r == -ENOMEM)
		return error_no_memory(reader->error);
	if (r == -ERANGE)
		return toml_fail(reader, start, ERANGE,
				 "%.*s is out of range; integers have 64 bits, and dates and times "
				 "are those of a calendar and a clock",
				 (int)(end - start > 64 ? 64 : end - start), start);
	if (r < 0)
		return toml_fail(reader, start, EINVAL,
				 "%.*s is no number, date, time, true or false; put a text in "
				 "quotes",
				 (int)(end - start > 64 ? 64 : end - start), start);
	value->kind = scalar.kind;
	value->integer = scalar.integer;
	reader->at = end;
	return keep_scratch(reader, value);
}

static int read_value(struct toml_reader *reader, struct toml_value *value)
{
	char first = reader->at < reader->end ? *reader->at : '\0';
	int r;

	value->start = (size_t)(reader->at - reader->text);
	if (first == '"' || first == '\'')
		r = read_string_value(reader, value);
	else if (first == '[')
		r = read_array(reader, value);
	else if (first == '{')
		r = read_inline_table(reader, value);
	else
		r = read_bare_value(reader, value);
	value->end = (size_t)(reader->at - reader->text);
	return r;
}

static int read_statement(struct toml_reader *reader)
{
	const char *start = reader->at;
	struct toml_value *value = NULL;
	int r;

	if (*start == '[') {
		r = read_header(reader);
	} else {
		r = read_pair(reader, reader->section, &value);
		if (r == 0)
			r = add_statement(reader, value, start);
	}
	return r;
}

static int read_lines(struct toml_reader *reader)
{
	for (;;) {
		toml_skip_blank(reader);
		if (reader->at < reader->end && !strchr("#\r\n", *reader->at)) {
			int r = read_statement(reader);
			if (r < 0)
				return r;
			toml_skip_blank(reader);
		}
		int r = toml_skip_comment(reader);
		if (r < 0)
			return r;
		if (reader->at == reader->end)
			return 0;
		if (!toml_take_newline(reader))
			return toml_expect(reader, "the end of the line");
	}
}

static int check_utf8(const struct toml_reader *reader, size_t length)
{
	size_t good = (size_t)parse_utf8_prefix(reader->text, length);

	if (good == length)
		return 0;
	return toml_fail(reader, reader->text + good, EILSEQ,
			 "byte 0x%02x is not valid UTF-8; save the file as UTF-8",
			 (unsigned char)reader->text[good]);
}

static int read_document(struct toml_reader *reader)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct toml *toml = reader->toml;

	toml->root = toml_add(toml, NULL, NULL, 0);
	toml->index = map_new();
	if (!toml->root || !toml->index)
		return error_no_memory(reader->error);
	toml->root->made = MADE_HEADER;
	toml->root->line = 1;
	reader->section = toml->root;
	if (reader->end - reader->text >= 3 && memcmp(reader->text, mark, 3) == 0)
		reader->at += 3;
	int r = read_lines(reader);
	if (r == 0 && toml_seal(toml) < 0)
		return error_no_memory(reader->error);
	return r;
}

int toml_parse(const char *text, size_t length, const char *name, struct toml **ret,
	       struct error *error)
{
	struct toml_reader reader = {
		.text = text,
		.at = text,
		.end = text + length,
		.name = name,
		.line = 1,
		.scratch = STRBUF_INIT(TOML_BYTES_MAX),
		.error = error,
	};
	autotoml *toml = NULL;

	if (length > TOML_BYTES_MAX)
		return error_set(error, EFBIG,
				 "%s: %zu bytes are more than the %zu that are read; split the "
				 "file",
				 name, length, TOML_BYTES_MAX);
	int r = check_utf8(&reader, length);
	if (r < 0)
		return r;
	toml = calloc(1, sizeof(*toml));
	if (!toml)
		return error_no_memory(error);
	reader.toml = toml;
	r = read_document(&reader);
	strbuf_release(&reader.scratch);
	if (r == 0)
		*ret = TAKE_PTR(toml);
	return r;
}

int toml_read_file(const char *path, struct toml **ret, struct error *error)
{
	autofree char *text = NULL;
	size_t length = 0;

	int r = file_read(path, TOML_BYTES_MAX, &text, &length, error);
	return r < 0 ? r : toml_parse(text, length, path, ret, error);
}
