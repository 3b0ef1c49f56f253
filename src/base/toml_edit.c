/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes are pieces of text put in, taken out or exchanged at places that the reader has noted
 * (toml_tree.h); the result is read again, which both checks it and notes the places anew.
 */
#include "base/toml_edit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/toml_tree.h"

struct toml_edit {
	char *text;
	size_t length;
	char *name;
	const char *newline;
	struct toml *toml; /* of text */
};

/* Where a path leads. */
struct way {
	const char *const *keys;
	size_t count;             /* of keys */
	struct toml_value *table; /* the deepest that is there */
	size_t depth;             /* keys that lead to it */
	struct toml_value *found; /* all keys lead to it; NULL when absent */
};

static int __attribute__((format(printf, 4, 5)))
edit_fail(const struct toml_edit *edit, unsigned line, struct error *error, const char *format, ...)
{
	va_list arguments;
	char what[512];

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return error_set(error, EINVAL, "%s:%u: %s", edit->name, line, what);
}

void toml_edit_free(struct toml_edit *edit)
{
	if (!edit)
		return;
	free(edit->text);
	free(edit->name);
	toml_free(edit->toml);
	free(edit);
}

int toml_edit_new(const char *text, size_t length, const char *name, struct toml_edit **ret,
		  struct error *error)
{
	autotomledit *edit = calloc(1, sizeof(*edit));

	if (!edit)
		return error_no_memory(error);
	int r = toml_parse(text, length, name, &edit->toml, error);
	if (r < 0)
		return r;
	edit->text = malloc(length + 1);
	edit->name = strdup(name);
	if (!edit->text || !edit->name)
		return error_no_memory(error);
	memcpy(edit->text, text, length);
	edit->text[length] = '\0';
	edit->length = length;
	const char *first = memchr(edit->text, '\n', length);
	edit->newline = first && first > edit->text && first[-1] == '\r' ? "\r\n" : "\n";
	*ret = TAKE_PTR(edit);
	return 0;
}

const struct toml_value *toml_edit_root(const struct toml_edit *edit)
{
	return edit->toml->root;
}

int toml_edit_text(const struct toml_edit *edit, struct strbuf *out)
{
	strbuf_add(out, edit->text, edit->length);
	return strbuf_failed(out);
}

/* The new text in place of the old one, if it can be read. */
static int commit(struct toml_edit *edit, struct strbuf *text, struct error *error)
{
	struct toml *toml = NULL;

	if (strbuf_failed(text) < 0)
		return strbuf_failed(text) == -ENOMEM ? error_no_memory(error)
						      : error_set(error, EFBIG,
								  "%s: more than the %zu bytes "
								  "that are read; split the file",
								  edit->name, TOML_BYTES_MAX);
	int r = toml_parse(text->data, text->length, edit->name, &toml, error);
	if (r < 0)
		return r;
	size_t length = text->length;
	strbuf_addc(text, '\0'); /* an empty buffer owns nothing that could be handed over */
	char *data = strbuf_detach(text);
	if (!data) {
		toml_free(toml);
		return error_no_memory(error);
	}
	free(edit->text);
	edit->text = data;
	edit->length = length;
	toml_free(edit->toml);
	edit->toml = toml;
	return 0;
}

/* Puts BYTES in place of what stands from START to END. */
static int exchange(struct toml_edit *edit, size_t start, size_t end, const struct strbuf *bytes,
		    struct error *error)
{
	autostrbuf text = STRBUF_INIT(TOML_BYTES_MAX + 1);

	if (bytes && strbuf_failed(bytes) < 0)
		return error_no_memory(error);
	strbuf_add(&text, edit->text, start);
	if (bytes)
		strbuf_add(&text, bytes->data, bytes->length);
	strbuf_add(&text, edit->text + end, edit->length - end);
	return commit(edit, &text, error);
}

/* Where the text starts: a byte order mark stays before all. */
static size_t text_start(const struct toml_edit *edit)
{
	return edit->length >= 3 && memcmp(edit->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static size_t line_start(const struct toml_edit *edit, size_t at)
{
	while (at > text_start(edit) && edit->text[at - 1] != '\n')
		at--;
	return at;
}

/* Behind the newline. */
static size_t line_end(const struct toml_edit *edit, size_t at)
{
	const char *newline = memchr(edit->text + at, '\n', edit->length - at);

	return newline ? (size_t)(newline - edit->text) + 1 : edit->length;
}

/* Is what stands from START to END only blanks, tabs and a newline? */
static bool is_blank(const struct toml_edit *edit, size_t start, size_t end)
{
	while (start < end && strchr(" \t\r\n", edit->text[start]) && edit->text[start])
		start++;
	return start == end;
}

static void add_indent(const struct toml_edit *edit, size_t at, struct strbuf *out)
{
	size_t start = line_start(edit, at);

	if (is_blank(edit, start, at))
		strbuf_add(out, edit->text + start, at - start);
}

/* Puts LINES, each with its newline, before the line at AT; a last line without a newline stays one. */
static int insert_lines(struct toml_edit *edit, size_t at, struct strbuf *lines,
			struct error *error)
{
	autostrbuf piece = STRBUF_INIT(TOML_BYTES_MAX);

	if (at != edit->length || line_start(edit, at) == at)
		return exchange(edit, at, at, lines, error);
	strbuf_adds(&piece, edit->newline);
	size_t newline = piece.length;
	if (lines->length >= newline)
		strbuf_add(&piece, lines->data, lines->length - newline);
	if (strbuf_failed(lines) < 0)
		return error_no_memory(error);
	return exchange(edit, at, at, &piece, error);
}

/* Is VALUE written inside a value: an inline table, or an array? */
static struct toml_value *closed_around(const struct toml_value *value)
{
	struct toml_value *around = value->parent;

	while (around && around->made != MADE_VALUE)
		around = around->parent;
	return around;
}

static bool is_below(const struct toml_value *value, const struct toml_value *top)
{
	while (value && value != top)
		value = value->parent;
	return value != NULL;
}

static int find_way(const struct toml_edit *edit, const char *const *keys, struct way *way,
		    struct error *error)
{
	*way = (struct way){ .keys = keys, .table = edit->toml->root };
	if (!*keys)
		return edit_fail(edit, 1, error, "no key was named; name at least one");
	while (keys[way->count])
		way->count++;
	for (; way->depth < way->count; way->depth++) {
		const char *key = keys[way->depth];
		struct toml_value *child = toml_child(way->table, key, strlen(key));

		if (!child)
			return 0;
		if (way->depth + 1 == way->count) {
			way->found = child;
			return 0;
		}
		if (child->kind != TOML_TABLE)
			return edit_fail(edit, child->line, error,
					 "'%.64s' is %s, not a table that could hold '%.64s'; "
					 "correct the file",
					 key, toml_kind_name(child->kind), keys[way->depth + 1]);
		way->table = child;
	}
	return 0;
}

/* LITERAL as a tree of its own, of which the value is the only key of the root. */
static int read_literal(const struct toml_edit *edit, const char *literal, struct toml **ret,
			struct error *error)
{
	autostrbuf text = STRBUF_INIT(TOML_BYTES_MAX);
	autotoml *toml = NULL;

	strbuf_addf(&text, "x = %s", literal);
	if (strbuf_failed(&text) == -ENOMEM)
		return error_no_memory(error);
	int r = toml_parse(text.data, text.length, edit->name, &toml, error);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || toml->root->count != 1 || toml->root->first->end != text.length)
		return edit_fail(edit, 1, error,
				 "'%.64s' is not one TOML value, and was not written; name a "
				 "value",
				 literal);
	*ret = TAKE_PTR(toml);
	return 0;
}

static void add_keys(const char *const *keys, size_t count, struct strbuf *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			strbuf_addc(out, '.');
		toml_print_key(keys[i], strlen(keys[i]), out);
	}
}

/* "a.b = LITERAL", with the keys from FROM on. */
static void add_pair(const struct way *way, size_t from, const char *literal, struct strbuf *out)
{
	add_keys(way->keys + from, way->count - from, out);
	strbuf_adds(out, " = ");
	strbuf_adds(out, literal);
}

/* The last value inside the inline table TABLE before byte BEFORE; NULL when there is none. */
static const struct toml_value *member_before(const struct toml_value *table, size_t before)
{
	const struct toml_value *best = NULL;

	for (const struct toml_value *child = table->first; child; child = child->next) {
		const struct toml_value *member =
			child->made == MADE_DOTTED ? member_before(child, before) : child;

		if (member && member->key_start < before &&
		    (!best || member->key_start > best->key_start))
			best = member;
	}
	return best;
}

/* The first value inside TABLE, which dotted keys made or which is inline, from byte FROM on. */
static const struct toml_value *member_from(const struct toml_value *table, size_t from)
{
	const struct toml_value *best = NULL;

	for (const struct toml_value *child = table->first; child; child = child->next) {
		const struct toml_value *member =
			child->made == MADE_DOTTED ? member_from(child, from) : child;

		if (member && member->key_start >= from &&
		    (!best || member->key_start < best->key_start))
			best = member;
	}
	return best;
}

static int add_member(struct toml_edit *edit, const struct way *way, struct toml_value *closed,
		      const char *literal, struct error *error)
{
	const struct toml_value *last = member_before(closed, SIZE_MAX);
	autostrbuf piece = STRBUF_INIT(TOML_BYTES_MAX);
	size_t at = last ? last->end : closed->start + 1;

	if (last)
		strbuf_adds(&piece, ", ");
	add_pair(way, closed->depth, literal, &piece);
	return exchange(edit, at, at, &piece, error);
}

/* The last line that SECTION has: of its keys below TABLE, else its header; NULL for none. */
static const struct toml_statement *last_line(const struct toml_edit *edit,
					      const struct toml_value *section,
					      const struct toml_value *table)
{
	const struct toml_statement *last = NULL;

	for (size_t i = 0; i < edit->toml->count; i++) {
		const struct toml_statement *statement = &edit->toml->statements[i];

		if (statement->section == section && is_below(statement->value, table))
			last = statement;
	}
	return last;
}

/* Before the first header, and before the comment above it unless that is the head of the file. */
static size_t first_section(const struct toml_edit *edit)
{
	size_t header = edit->toml->count ? line_start(edit, edit->toml->statements[0].start)
					  : edit->length;
	size_t at = header;

	while (at > text_start(edit)) {
		size_t above = line_start(edit, at - 1);

		if (is_blank(edit, above, at))
			return at;
		at = above;
	}
	return header;
}

static bool is_header(const struct toml_statement *statement)
{
	return statement->value == statement->section;
}

/* A line after those that SECTION has for TABLE. */
static int add_line(struct toml_edit *edit, const struct way *way, const struct toml_value *section,
		    const struct toml_value *table, const char *literal, struct error *error)
{
	const struct toml_statement *last = last_line(edit, section, table);
	autostrbuf line = STRBUF_INIT(TOML_BYTES_MAX);
	size_t at = last ? line_end(edit, last->end) : first_section(edit);

	if (last)
		add_indent(edit, last->start, &line);
	if (last && is_header(last) && line.length)
		strbuf_adds(&line, "  ");
	add_pair(way, section->depth, literal, &line);
	strbuf_adds(&line, edit->newline);
	return insert_lines(edit, at, &line, error);
}

/* How many of the first keys lead to SECTION or a table around it. */
static size_t common_keys(const struct way *way, const struct toml_value *section)
{
	const struct toml_value *at = section;
	size_t common = 0;

	while (at->depth > way->count)
		at = at->parent;
	for (size_t i = at->depth; i > 0; i--, at = at->parent) {
		if (!at->key || strlen(way->keys[i - 1]) != at->key_length ||
		    memcmp(at->key, way->keys[i - 1], at->key_length) != 0)
			common = 0;
		else if (!common)
			common = i;
	}
	return common;
}

/* The header of the section that a new one comes behind, and the one whose blanks it takes. */
static const struct toml_statement *neighbour(const struct toml_edit *edit, const struct way *way,
					      const struct toml_statement **ret_like)
{
	const struct toml_statement *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < edit->toml->count; i++) {
		const struct toml_statement *header = &edit->toml->statements[i];
		size_t common = is_header(header) ? common_keys(way, header->value) : 0;

		if (!common || common < most)
			continue;
		/* Blanks of a section as deep as the new one, else of the first. */
		if (common > most || ((*ret_like)->value->depth != way->count - 1 &&
				      header->value->depth == way->count - 1))
			*ret_like = header;
		most = common;
		best = header;
	}
	return best;
}

static int add_section(struct toml_edit *edit, const struct way *way, const char *literal,
		       struct error *error)
{
	const struct toml_statement *like = NULL, *after = neighbour(edit, way, &like);
	autostrbuf lines = STRBUF_INIT(TOML_BYTES_MAX), indent = STRBUF_INIT(TOML_BYTES_MAX);
	size_t at = edit->length;

	if (after)
		at = line_end(edit, last_line(edit, after->section, after->section)->end);
	if (like)
		add_indent(edit, like->start, &indent);
	if (indent.length && like->value->depth + 1 < way->count)
		strbuf_adds(&indent, "  ");
	if (strbuf_failed(&indent) < 0)
		return error_no_memory(error);
	if (at > text_start(edit))
		strbuf_adds(&lines, edit->newline);
	strbuf_add(&lines, indent.data, indent.length);
	strbuf_addc(&lines, '[');
	add_keys(way->keys, way->count - 1, &lines);
	strbuf_addf(&lines, "]%s", edit->newline);
	strbuf_add(&lines, indent.data, indent.length);
	if (indent.length)
		strbuf_adds(&lines, "  ");
	add_pair(way, way->count - 1, literal, &lines);
	strbuf_adds(&lines, edit->newline);
	return insert_lines(edit, at, &lines, error);
}

/* The section whose dotted keys made TABLE. */
static const struct toml_value *section_of(const struct toml_value *table)
{
	while (table->made == MADE_DOTTED)
		table = table->parent;
	return table;
}

static int add_absent(struct toml_edit *edit, const struct way *way, const char *literal,
		      struct error *error)
{
	struct toml_value *table = way->table;
	struct toml_value *closed = table->made == MADE_VALUE ? table : closed_around(table);

	if (closed)
		return add_member(edit, way, closed, literal, error);
	if (way->depth + 1 < way->count)
		return add_section(edit, way, literal, error);
	if (table->made == MADE_DOTTED)
		return add_line(edit, way, section_of(table), table, literal, error);
	return table->made == MADE_HEADER ? add_line(edit, way, table, table, literal, error)
					  : add_section(edit, way, literal, error);
}

int toml_edit_set(struct toml_edit *edit, const char *const *keys, const char *literal,
		  struct error *error)
{
	autostrbuf piece = STRBUF_INIT(TOML_BYTES_MAX);
	autotoml *value = NULL;
	struct way way;

	int r = find_way(edit, keys, &way, error);
	if (r == 0)
		r = read_literal(edit, literal, &value, error);
	if (r < 0)
		return r;
	if (!way.found)
		return add_absent(edit, &way, literal, error);
	if (way.found->made != MADE_VALUE)
		return edit_fail(edit, way.found->line, error,
				 "'%.64s' is %s of sections, and no value can stand in its place; "
				 "name a key in it",
				 keys[way.count - 1], toml_kind_name(way.found->kind));
	strbuf_adds(&piece, literal);
	return exchange(edit, way.found->start, way.found->end, &piece, error);
}

static size_t skip_blanks(const struct toml_edit *edit, size_t at)
{
	while (at < edit->length && (edit->text[at] == ' ' || edit->text[at] == '\t'))
		at++;
	return at;
}

/* In a list of one item a line the new one gets a line, behind the comment of the last. */
static int add_item_line(struct toml_edit *edit, const struct toml_value *last, bool comma,
			 const char *literal, struct error *error)
{
	autostrbuf piece = STRBUF_INIT(TOML_BYTES_MAX);
	size_t end = line_end(edit, last->end);

	if (!comma)
		strbuf_addc(&piece, ',');
	strbuf_add(&piece, edit->text + last->end, end - last->end);
	add_indent(edit, last->start, &piece);
	strbuf_addf(&piece, "%s%s%s", literal, comma ? "," : "", edit->newline);
	return exchange(edit, last->end, end, &piece, error);
}

static int add_item(struct toml_edit *edit, const struct toml_value *array, const char *literal,
		    struct error *error)
{
	const struct toml_value *last = array->last;
	autostrbuf piece = STRBUF_INIT(TOML_BYTES_MAX);
	size_t at = last ? last->end : array->start + 1;

	if (last) {
		size_t behind = skip_blanks(edit, at);
		bool comma = edit->text[behind] == ',';

		behind = skip_blanks(edit, behind + comma);
		if (is_blank(edit, line_start(edit, last->start), last->start) &&
		    strchr("#\r\n", edit->text[behind]))
			return add_item_line(edit, last, comma, literal, error);
		strbuf_adds(&piece, ", ");
	}
	strbuf_adds(&piece, literal);
	return exchange(edit, at, at, &piece, error);
}

int toml_edit_append(struct toml_edit *edit, const char *const *keys, const char *literal,
		     struct error *error)
{
	autostrbuf list = STRBUF_INIT(TOML_BYTES_MAX);
	autotoml *value = NULL;
	struct way way;

	int r = find_way(edit, keys, &way, error);
	if (r == 0)
		r = read_literal(edit, literal, &value, error);
	if (r < 0)
		return r;
	if (!way.found) {
		strbuf_addf(&list, "[%s]", literal);
		if (strbuf_failed(&list) < 0)
			return error_no_memory(error);
		return add_absent(edit, &way, list.data, error);
	}
	if (way.found->kind != TOML_ARRAY || way.found->made != MADE_VALUE)
		return edit_fail(edit, way.found->line, error,
				 "'%.64s' is %s%s, not a list that takes values; correct the file",
				 keys[way.count - 1], toml_kind_name(way.found->kind),
				 way.found->made == MADE_HEADERS ? " of sections" : "");
	for (const struct toml_value *item = way.found->first; item; item = item->next) {
		if (toml_equal(item, value->root->first))
			return 0;
	}
	return add_item(edit, way.found, literal, error);
}

/* Takes MEMBER out of the inline table CLOSED, with its comma. */
static int remove_member(struct toml_edit *edit, const struct toml_value *closed,
			 const struct toml_value *member, struct error *error)
{
	const struct toml_value *before = member_before(closed, member->key_start);
	const struct toml_value *behind = member_from(closed, member->end);
	size_t start = before ? before->end : member->key_start;
	size_t end = before || !behind ? member->end : behind->key_start;

	return exchange(edit, start, end, NULL, error);
}

/* The values of an inline table below the keys, one after the other. */
static int remove_members(struct toml_edit *edit, struct way *way, struct error *error)
{
	int r = 0;

	while (r == 0 && way->found) {
		const struct toml_value *closed = closed_around(way->found);
		const struct toml_value *member =
			way->found->made == MADE_DOTTED ? member_from(way->found, 0) : way->found;

		if (!closed || !member)
			break;
		r = remove_member(edit, closed, member, error);
		if (r == 0)
			r = find_way(edit, way->keys, way, error);
	}
	return r;
}

/* The lines that go with statement *at: a key's own, or a section's with a blank one before it, when
 * *at moves to its last. */
static void lines_of(const struct toml_edit *edit, size_t *at, size_t *start, size_t *end)
{
	const struct toml_statement *all = edit->toml->statements, *first = &all[*at];

	*start = line_start(edit, first->start);
	if (is_header(first)) {
		size_t above = *start > text_start(edit) ? line_start(edit, *start - 1) : *start;

		if (is_blank(edit, above, *start))
			*start = above;
		while (*at + 1 < edit->toml->count && all[*at + 1].section == first->section)
			++*at;
	}
	*end = line_end(edit, all[*at].end);
}

static int remove_lines(struct toml_edit *edit, const struct toml_value *top, struct error *error)
{
	autostrbuf text = STRBUF_INIT(TOML_BYTES_MAX + 1);
	size_t kept = 0, kept_end = 0, from = 0; /* kept: the last piece that stays */

	for (size_t i = 0; i < edit->toml->count; i++) {
		size_t start, end;

		if (!is_below(edit->toml->statements[i].value, top))
			continue;
		lines_of(edit, &i, &start, &end);
		if (start > from) {
			strbuf_add(&text, edit->text + kept, kept_end - kept);
			kept = from;
			kept_end = start;
		}
		from = end;
	}
	/* A text without a newline at its end stays one. */
	if (from == edit->length && edit->text[from - 1] != '\n' && kept_end > text_start(edit)) {
		kept_end--;
		kept_end -= kept_end > kept && edit->text[kept_end - 1] == '\r';
	}
	strbuf_add(&text, edit->text + kept, kept_end - kept);
	strbuf_add(&text, edit->text + from, edit->length - from);
	return commit(edit, &text, error);
}

/* The same in a copy first: several members go, or none. */
static int remove_all_members(struct toml_edit *edit, const char *const *keys, struct error *error)
{
	autotomledit *copy = NULL;
	struct way way;

	int r = toml_edit_new(edit->text, edit->length, edit->name, &copy, error);
	if (r == 0)
		r = find_way(copy, keys, &way, error);
	if (r == 0)
		r = remove_members(copy, &way, error);
	if (r < 0)
		return r;
	struct toml_edit old = *edit;
	*edit = *copy;
	*copy = old;
	return 0;
}

int toml_edit_remove(struct toml_edit *edit, const char *const *keys, struct error *error)
{
	struct way way;

	int r = find_way(edit, keys, &way, error);
	if (r < 0 || !way.found)
		return r;
	return closed_around(way.found) ? remove_all_members(edit, keys, error)
					: remove_lines(edit, way.found, error);
}
