/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/outline.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* A key of describe is a few words; what is longer is a sentence. */
#define KEY_LENGTH_MAX 90

void outline_reset(struct outline *outline)
{
	outline->depth = 0;
	outline->toml = outline->array = false;
	outline->header = 0;
	outline->open[0] = '\0';
}

static void push(struct outline *outline, int indent, bool item, const char *text, size_t length)
{
	struct outline_entry *entry;

	if (outline->depth == OUTLINE_DEPTH_MAX)
		outline->depth--;
	entry = &outline->stack[outline->depth++];
	if (length >= sizeof(entry->text))
		length = sizeof(entry->text) - 1;
	entry->indent = indent;
	entry->item = item;
	entry->serial = ++outline->serial;
	memcpy(entry->text, text, length);
	entry->text[length] = '\0';
}

static void pop_to(struct outline *outline, unsigned depth)
{
	if (outline->depth > depth)
		outline->depth = depth;
}

/* What stands at this indent or deeper has ended; a list may stand at the indent of its key. */
static void pop_indent(struct outline *outline, int indent, bool item)
{
	unsigned least = outline->toml ? outline->header : 0;

	while (outline->depth > least) {
		const struct outline_entry *top = &outline->stack[outline->depth - 1];

		if (top->indent < indent || (item && top->indent == indent && !top->item))
			break;
		outline->depth--;
	}
}

const char *outline_up(const struct outline *outline, unsigned levels)
{
	unsigned i = outline->depth;

	while (i--)
		if (!outline->stack[i].item && levels-- == 0)
			return outline->stack[i].text;
	/* Indents were lost on the way: the last key without a value is the nearest guess. */
	return levels == 0 && outline->open_indent >= outline->indent ? outline->open : "";
}

unsigned outline_up_serial(const struct outline *outline, unsigned levels)
{
	unsigned i = outline->depth;

	while (i--)
		if (!outline->stack[i].item && levels-- == 0)
			return outline->stack[i].serial;
	return levels == 0 && outline->open_indent >= outline->indent ? outline->open_serial : 0;
}

bool outline_below(const struct outline *outline, const char *key)
{
	unsigned level = 0;

	for (unsigned i = outline->depth; i--;) {
		if (outline->stack[i].item)
			continue;
		if ((level > 0 || !outline->separator) &&
		    strcasecmp(outline->stack[i].text, key) == 0)
			return true;
		level++;
	}
	return false;
}

unsigned outline_item(const struct outline *outline)
{
	for (unsigned i = outline->depth; i--;)
		if (outline->stack[i].item)
			return outline->stack[i].serial;
	return 0;
}

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && (isspace((unsigned char)end[-1])))
		*--end = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* The end of a quoted text that begins at TEXT, at its closing quote or at the end of the line. */
static char *quoted_end(char *text)
{
	char quote = *text++;

	while (*text && *text != quote) {
		if (*text == '\\' && text[1] && quote == '"')
			text++;
		text++;
	}
	return text;
}

/* A scalar without quotes, comma and comment, in place. */
static char *scalar(char *value)
{
	char *end;

	value = trim(value);
	if (*value == '"' || *value == '\'') {
		end = quoted_end(value);
		*end = '\0';
		return value + 1;
	}
	end = strstr(value, " #");
	if (end)
		*end = '\0';
	value = trim(value);
	end = value + strlen(value);
	while (end > value && strchr(",]}", end[-1]) && !strpbrk(value, "[{"))
		*--end = '\0';
	return value;
}

struct flow {
	struct outline *outline;
	outline_emit *emit;
	void *context;
	int indent;
	unsigned base;   /* depth below which nothing is popped */
	const char *key; /* whose value comes next; NULL for none */
	size_t key_length;
};

static void leaf(const struct flow *flow, const char *key, size_t length, char *value,
		 char separator)
{
	struct outline *outline = flow->outline;
	char name[OUTLINE_KEY_MAX];
	unsigned depth = outline->depth;

	if (length >= sizeof(name))
		length = sizeof(name) - 1;
	memcpy(name, key, length);
	name[length] = '\0';
	outline->separator = separator;
	push(outline, flow->indent, !length, name, length);
	flow->emit(flow->context, name, value);
	pop_to(outline, depth);
}

/* Whether an unquoted word of a flow ends at AT, which is not its first character. */
static bool ends_word(const char *at, const char *start)
{
	if (strchr(",[]{}", *at))
		return true;
	if (*at == ':')
		return at[1] && strchr(" \"{[", at[1]);
	return *at == '=' && at > start && at[-1] == ' ';
}

/* One word or quoted text of a flow; *ret_end is behind it. Terminated in place by the caller. */
static char *flow_word(char *at, char **ret_end, char **ret_next)
{
	char *end = at;

	if (*at == '"' || *at == '\'') {
		end = quoted_end(at);
		*ret_end = end;
		*ret_next = *end ? end + 1 : end;
		return at + 1;
	}
	while (*end && !ends_word(end, at))
		end++;
	*ret_next = end;
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	*ret_end = end;
	return at;
}

/* '{' and '[' below a key, or as an item; '}' and ']' take away what was opened in this line. */
static void flow_bracket(struct flow *flow, char bracket)
{
	struct outline *outline = flow->outline;
	char none[1] = "";

	if (bracket == '}' || bracket == ']') {
		if (outline->depth > flow->base)
			outline->depth--;
	} else if (flow->key) {
		push(outline, flow->indent, false, flow->key, flow->key_length);
		outline->separator = ':';
		flow->emit(flow->context, outline->stack[outline->depth - 1].text, none);
	} else {
		push(outline, flow->indent, true, "", 0);
	}
	flow->key = NULL;
}

/* A word is a key when ':' or '=' follows, and else a value. Returns what is behind it. */
static char *flow_part(struct flow *flow, char *at)
{
	char *end, *next, *word = flow_word(at, &end, &next);
	char after;

	next += strspn(next, " \t");
	if ((*next == ':' || *next == '=') && !flow->key) {
		flow->key = word;
		flow->key_length = (size_t)(end - word);
		return next + 1;
	}
	after = *end;
	*end = '\0';
	leaf(flow, flow->key ? flow->key : "", flow->key ? flow->key_length : 0, word,
	     flow->key ? ':' : '\0');
	*end = after;
	flow->key = NULL;
	return next == at && *next ? next + 1 : next;
}

/*
 * {"a": {"b": [1, 2]}} and [a, b] and { a = "b" }: closed brackets take away what they opened, what
 * stays open at the end of the line stays above the lines that follow.
 */
static void flow_text(struct flow *flow, char *at)
{
	flow->key = NULL;
	while (*at) {
		if (isspace((unsigned char)*at) || strchr(",:=", *at))
			at++;
		else if (strchr("{}[]", *at))
			flow_bracket(flow, *at++);
		else
			at = flow_part(flow, at);
	}
}

/* The text between the brackets of a TOML header, or NULL; *ret_end is behind it. */
static char *header_path(char *line, char **ret_end)
{
	size_t length = strcspn(line, "#");
	char *at = line + 1, *end;

	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	if (length < 3 || line[length - 1] != ']')
		return NULL;
	end = line + length - 1;
	if (*at == '[' && end > at && end[-1] == ']') {
		at++;
		end--;
	}
	at += strspn(at, " ");
	for (const char *c = at; c < end; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-\"'/ ", *c))
			return NULL;
	*ret_end = end;
	/* A quoted text alone is a list of one. */
	return at >= end || ((*at == '"' || *at == '\'') && quoted_end(at) + 1 >= end) ? NULL : at;
}

/* [a."b.c".d] and [[a.b]]: the whole path, from the root. */
static bool toml_header(struct outline *outline, char *line, outline_emit *emit, void *context)
{
	char *end, none[1] = "";
	char *at = header_path(line, &end);

	if (!at)
		return false;
	outline_reset(outline);
	*end = '\0';
	while (*at) {
		bool quoted = *at == '"' || *at == '\'';
		char *stop = quoted ? quoted_end(at) : at + strcspn(at, ".");

		push(outline, -1, false, at + quoted, (size_t)(stop - at) - quoted);
		at = stop + (quoted && *stop);
		at += strspn(at, ". ");
	}
	outline->toml = true;
	outline->header = outline->depth;
	outline->separator = '[';
	if (outline->depth)
		emit(context, outline->stack[outline->depth - 1].text, none);
	return true;
}

/* The end of the key of "key: value", "key = value", "key=value"; NULL for none. */
static char *key_end(char *line, char **ret_value, char *ret_separator)
{
	for (char *at = line; *at && at - line < KEY_LENGTH_MAX; at++) {
		bool colon = *at == ':' && (!at[1] || isspace((unsigned char)at[1]));

		if (!colon && *at != '=')
			continue;
		*ret_separator = *at;
		*ret_value = at + 1;
		while (at > line && isspace((unsigned char)at[-1]))
			at--;
		return at > line ? at : NULL;
	}
	return NULL;
}

static void note_open(struct outline *outline, int indent, const char *key, size_t length)
{
	if (length >= sizeof(outline->open))
		length = sizeof(outline->open) - 1;
	memcpy(outline->open, key, length);
	outline->open[length] = '\0';
	outline->open_indent = indent;
	outline->open_serial = ++outline->serial;
}

static void keyed(struct flow *flow, char *key, size_t length, char *value, char separator)
{
	struct outline *outline = flow->outline;
	char name[OUTLINE_KEY_MAX];

	value = trim(value);
	if (*value == '{' || (*value == '[' && separator)) {
		push(outline, flow->indent, false, key, length);
		flow->base = outline->depth;
		outline->separator = separator;
		if (outline->toml && *value == '[' && !strchr(value, ']'))
			outline->array = true;
		flow_text(flow, value + 1);
		if (outline->toml && !outline->array)
			pop_to(outline, outline->header);
		return;
	}
	if (length >= sizeof(name))
		length = sizeof(name) - 1;
	memcpy(name, key, length);
	name[length] = '\0';
	value = scalar(value);
	if (*value == '|' || *value == '>')
		*value = '\0';
	push(outline, flow->indent, false, name, length);
	outline->separator = separator;
	flow->emit(flow->context, name, value);
	if (!*value)
		note_open(outline, flow->indent, name, length);
	if (outline->toml)
		pop_to(outline, outline->header);
}

/* A value of a list, or a section's name as nvidia-smi -q prints it: what is deeper is below it. */
static void bare(struct flow *flow, char *line)
{
	char *value = scalar(line);

	if (!*value)
		return;
	leaf(flow, "", 0, value, 0);
	if (!flow->outline->toml)
		push(flow->outline, flow->indent, false, value, strlen(value));
}

/* "12:  key" of grep -n; a time has a digit behind its colon. */
static char *skip_grep(char *line)
{
	size_t digits = strspn(line, "0123456789");

	if (!digits || digits > 5 || (line[digits] != ':' && line[digits] != '-') ||
	    isdigit((unsigned char)line[digits + 1]) || line[digits + 1] == '/')
		return line;
	return line[digits + 1] == ' ' && line[digits + 2] != ' ' ? line : line + digits + 1;
}

static int indent_of(char **line)
{
	int indent = 0;

	for (; **line == ' ' || **line == '\t'; (*line)++)
		indent += **line == '\t' ? 8 : 1;
	return indent;
}

static bool ends_array(struct outline *outline, struct flow *flow, char *line)
{
	if (!outline->array)
		return false;
	flow->base = outline->header + 1;
	if (strchr(line, ']')) {
		*strchr(line, ']') = '\0';
		outline->array = false;
	}
	flow_text(flow, line);
	if (!outline->array)
		pop_to(outline, outline->header);
	return true;
}

/* A closed bracket ends what was opened at its indent; "}, {" opens the next. */
static char *skip_closed(struct outline *outline, char *line, int indent)
{
	if (*line != '}' && *line != ']')
		return line;
	if (!outline->toml)
		pop_indent(outline, indent, line[0] == ']');
	return line + strspn(line, "}] ,");
}

/* "- " of lists, also several in a row; what follows has the indent of its first character. */
static char *skip_dashes(struct flow *flow, char *line)
{
	while (line[0] == '-' && (line[1] == ' ' || !line[1])) {
		flow->outline->toml = false;
		pop_indent(flow->outline, flow->indent, true);
		push(flow->outline, flow->indent, true, "", 0);
		line++;
		flow->indent += 1 + indent_of(&line);
	}
	return line;
}

static void content(struct flow *flow, char *line)
{
	struct outline *outline = flow->outline;
	char *value = NULL, *end, separator = 0;
	bool flows = strchr("{[\"'", *line) != NULL;

	end = flows ? NULL : key_end(line, &value, &separator);
	if (outline->toml && separator != '=' && *line != '"')
		outline_reset(outline);
	pop_indent(outline, flow->indent, *line == '{' || *line == '[');
	flow->base = outline->depth;
	if (flows)
		flow_text(flow, line);
	else if (end && value)
		keyed(flow, line, (size_t)(end - line), value, separator);
	else
		bare(flow, line);
}

void outline_line(struct outline *outline, char *line, outline_emit *emit, void *context)
{
	struct flow flow = { outline, emit, context, 0, 0, NULL, 0 };

	line = skip_grep(line);
	outline->indent = flow.indent = indent_of(&line);
	if (!*line || *line == '#' || *line == ';' || ends_array(outline, &flow, line))
		return;
	if (*line == '[' && toml_header(outline, line, emit, context))
		return;
	line = skip_dashes(&flow, skip_closed(outline, line, flow.indent));
	if (*line)
		content(&flow, line);
}
