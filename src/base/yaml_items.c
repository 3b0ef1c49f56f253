/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yaml_items.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/yaml.h"

#define CHUNK    (64 * 1024)
#define TEXT_MAX ((size_t)16 << 20)

struct text { /* lines that belong together */
	struct strbuf bytes;
	unsigned line; /* of the first */
};

struct yaml_items {
	int fd;
	char *name;  /* owned */
	char *chunk; /* owned */
	size_t at, length;
	bool ended;
	unsigned lines;            /* read so far */
	struct strbuf line;        /* the last one read, with its end */
	bool again;                /* it has not been used yet */
	struct text item, rest;    /* the item being read; the document without its items */
	bool in_items, split;      /* inside a list that is cut up; this document has such a list */
	bool after_items;          /* the last line was "items:" */
	struct yaml_stream stream; /* what has been parsed and not been given */
	size_t document, position;
	struct error *error;
};

int yaml_items_new(int fd, const char *name, const char *start, size_t start_length,
		   struct yaml_items **ret, struct error *error)
{
	struct yaml_items *items = calloc(1, sizeof(*items));

	if (!items)
		return error_no_memory(error);
	items->fd = fd;
	items->line = items->item.bytes = items->rest.bytes = (struct strbuf)STRBUF_INIT(TEXT_MAX);
	items->name = strdup(name);
	items->chunk = malloc(start_length > CHUNK ? start_length : CHUNK);
	if (!items->name || !items->chunk) {
		yaml_items_free(items);
		return error_no_memory(error);
	}
	if (start_length)
		memcpy(items->chunk, start, start_length);
	items->length = start_length;
	*ret = items;
	return 0;
}

void yaml_items_free(struct yaml_items *items)
{
	if (!items)
		return;
	yaml_stream_release(&items->stream);
	strbuf_release(&items->line);
	strbuf_release(&items->item.bytes);
	strbuf_release(&items->rest.bytes);
	free(items->chunk);
	free(items->name);
	free(items);
}

/* ---- lines ---- */

static int check_room(const struct yaml_items *items, const struct strbuf *text)
{
	if (!strbuf_failed(text))
		return 0;
	if (strbuf_failed(text) == -ENOMEM)
		return error_no_memory(items->error);
	return error_set(items->error, EFBIG,
			 "%s:%u: more than %zu MiB that belong together; print JSON (-o json), "
			 "which has no such limit",
			 items->name, items->lines, TEXT_MAX >> 20);
}

static int fill(struct yaml_items *items)
{
	while (items->at == items->length && !items->ended) {
		ssize_t count = read(items->fd, items->chunk, CHUNK);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_set_errno(items->error, errno, "%s:%u: cannot read it",
					       items->name, items->lines + 1);
		items->at = 0;
		items->length = (size_t)count;
		items->ended = count == 0;
	}
	return items->at < items->length;
}

/* 1: there is a line. 0: no more. */
static int next_line(struct yaml_items *items)
{
	bool whole = false;
	int r = 1;

	if (items->again) {
		items->again = false;
		return 1;
	}
	strbuf_reset(&items->line);
	while (!whole && (r = fill(items)) > 0) {
		const char *text = items->chunk + items->at;
		const char *end = memchr(text, '\n', items->length - items->at);
		size_t length = end ? (size_t)(end - text) + 1 : items->length - items->at;

		strbuf_add(&items->line, text, length);
		items->at += length;
		whole = end != NULL;
	}
	if (r < 0 || !items->line.length)
		return r;
	items->lines++;
	r = check_room(items, &items->line);
	return r < 0 ? r : 1;
}

enum role { ROLE_SEPARATOR, ROLE_ITEM, ROLE_INSIDE, ROLE_TOP };

static bool is_blank(char byte)
{
	return !byte || byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static enum role role_of(const struct yaml_items *items)
{
	const char *line = items->line.data;

	if (strncmp(line, "---", 3) == 0 && is_blank(line[3]))
		return ROLE_SEPARATOR;
	if ((items->in_items || items->after_items) && line[0] == '-' && is_blank(line[1]))
		return ROLE_ITEM;
	return is_blank(line[0]) || line[0] == '#' ? ROLE_INSIDE : ROLE_TOP;
}

static bool is_items_key(const char *line)
{
	static const char key[] = "items:";
	const size_t length = sizeof(key) - 1;

	return strncmp(line, key, length) == 0 &&
	       strspn(line + length, " \t\r\n") == strlen(line + length);
}

/* ---- what they make ---- */

static int parse(struct yaml_items *items, struct text *text)
{
	yaml_stream_release(&items->stream);
	items->document = items->position = 0;
	int r = yaml_parse_at(text->bytes.data, text->bytes.length, items->name, text->line,
			      &items->stream, items->error);
	strbuf_reset(&text->bytes);
	return r;
}

/* A document whose items were given has to end as a list does. */
static int check_list(struct yaml_items *items)
{
	const char *kind =
		items->stream.count ? json_get_string(items->stream.documents[0], "kind", "") : "";
	size_t length = strlen(kind);

	items->document = items->stream.count;
	if (length >= 4 && strcmp(kind + length - 4, "List") == 0)
		return 0;
	return error_set(items->error, EINVAL,
			 "%s:%u: items end here and 'kind: List' is missing; the text may be cut "
			 "off",
			 items->name, items->lines);
}

static int end_document(struct yaml_items *items)
{
	bool split = items->split;

	items->split = items->in_items = items->after_items = false;
	if (!items->rest.bytes.length)
		return 0;
	int r = parse(items, &items->rest);
	return r < 0 || !split ? r : check_list(items);
}

static int add_line(struct yaml_items *items, struct text *text)
{
	if (!text->bytes.length)
		text->line = items->lines;
	strbuf_add(&text->bytes, items->line.data, items->line.length);
	return check_room(items, &text->bytes);
}

static int take_line(struct yaml_items *items)
{
	enum role role = role_of(items);

	if (items->item.bytes.length && role != ROLE_INSIDE) {
		items->again = true;
		return parse(items, &items->item);
	}
	if (role == ROLE_SEPARATOR)
		return end_document(items);
	if (role == ROLE_ITEM) {
		items->in_items = items->split = true;
		items->after_items = false;
		return add_line(items, &items->item);
	}
	if (role == ROLE_INSIDE && items->in_items)
		return items->item.bytes.length ? add_line(items, &items->item) : 0;
	items->in_items = false;
	items->after_items = is_items_key(items->line.data);
	return add_line(items, &items->rest);
}

/* ---- giving ---- */

/* An item of a cut list comes as a list of one; a document may have items of its own. */
static struct json_object *list_of(struct json_object *document)
{
	struct json_object *list = json_object_is_type(document, json_type_array)
					   ? document
					   : json_get(document, "items");

	return json_object_is_type(list, json_type_array) ? list : NULL;
}

static int give(struct yaml_items *items, struct json_object **ret, unsigned long *ret_line)
{
	while (items->document < items->stream.count) {
		struct json_object *document = items->stream.documents[items->document];
		struct json_object *list = list_of(document), *item = document;
		unsigned line = items->stream.lines[items->document];

		if (list && items->position >= json_object_array_length(list)) {
			items->document++;
			items->position = 0;
			continue;
		}
		if (list)
			item = json_object_array_get_idx(list, items->position++);
		else
			items->document++;
		*ret = json_object_get(item);
		*ret_line = yaml_line(item) ? yaml_line(item) : line;
		return 1;
	}
	return 0;
}

int yaml_items_next(struct yaml_items *items, struct json_object **ret, unsigned long *ret_line,
		    struct error *error)
{
	items->error = error;
	for (;;) {
		if (give(items, ret, ret_line))
			return 1;
		int r = next_line(items);
		if (r == 1)
			r = take_line(items);
		else if (r == 0 && items->item.bytes.length)
			r = parse(items, &items->item);
		else if (r == 0 && items->rest.bytes.length)
			r = end_document(items);
		else
			return r;
		if (r < 0)
			return r;
	}
}
