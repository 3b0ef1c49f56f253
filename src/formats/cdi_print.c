/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CDI spec as text. The YAML is the little that such a tree needs: blocks, plain words where no
 * reader could take them for something else, and JSON's strings, which YAML reads alike.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "formats/cdi.h"

enum { PRINT_DEPTH_MAX = 32 };

/* YAML 1.1 reads these as something else than text. */
static bool is_reserved(const char *text)
{
	static const char *const words[] = { "true", "false", "yes", "no",  "on",  "off",
					     "null", "y",     "n",   "nan", "inf", "infinity" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

static bool is_plain(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t length = strlen(text);

	if (length == 0 || !strchr("/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", *text))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!strchr(letters, text[i]) && !strchr("0123456789/._=:-,+", text[i]))
			return false;
	return text[length - 1] != ':' && !is_reserved(text);
}

static int print_scalar(struct json_object *value, struct strbuf *out, struct error *error)
{
	const char *text = json_object_get_string(value);

	if (json_object_is_type(value, json_type_string) &&
	    strlen(text) == (size_t)json_object_get_string_len(value) && is_plain(text)) {
		strbuf_adds(out, text);
		return 0;
	}
	return json_to_text(value, false, out, error); /* [] and {} too */
}

static void print_indent(struct strbuf *out, unsigned indent)
{
	for (unsigned i = 0; i < indent; i++)
		strbuf_adds(out, "  ");
}

static bool is_block(struct json_object *value)
{
	return (json_object_is_type(value, json_type_object) &&
		json_object_object_length(value) > 0) ||
	       (json_object_is_type(value, json_type_array) && json_object_array_length(value) > 0);
}

static int print_block(struct json_object *value, unsigned indent, bool started, struct strbuf *out,
		       struct error *error);

static int print_member(const char *key, struct json_object *value, unsigned indent,
			struct strbuf *out, struct error *error)
{
	autojson *name = json_object_new_string(key);
	int r = name ? print_scalar(name, out, error) : error_no_memory(error);

	if (r < 0)
		return r;
	if (!is_block(value)) {
		strbuf_adds(out, ": ");
		r = print_scalar(value, out, error);
		strbuf_addc(out, '\n');
		return r;
	}
	strbuf_adds(out, ":\n");
	/* The items of a list stand below the first letter of its name. */
	return print_block(value, indent + json_object_is_type(value, json_type_object), false, out,
			   error);
}

static int print_item(struct json_object *value, unsigned indent, struct strbuf *out,
		      struct error *error)
{
	print_indent(out, indent);
	strbuf_adds(out, "- ");
	if (is_block(value))
		return print_block(value, indent + 1, true, out, error);
	int r = print_scalar(value, out, error);
	strbuf_addc(out, '\n');
	return r;
}

/* STARTED: the first line is begun, and indented. */
static int print_block(struct json_object *value, unsigned indent, bool started, struct strbuf *out,
		       struct error *error)
{
	if (indent > PRINT_DEPTH_MAX)
		return error_set(error, E2BIG, "the spec is nested deeper than %d",
				 PRINT_DEPTH_MAX);
	if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(value); i++) {
			/* A list in a list begins on a line of its own. */
			if (started && i == 0)
				strbuf_addc(out, '\n');
			int r = print_item(json_object_array_get_idx(value, i), indent, out, error);
			if (r < 0)
				return r;
		}
		return 0;
	}
	json_object_object_foreach(value, key, member)
	{
		if (!started)
			print_indent(out, indent);
		started = false;
		int r = print_member(key, member, indent, out, error);
		if (r < 0)
			return r;
	}
	return 0;
}

int cdi_spec_print(struct json_object *spec, bool yaml, struct strbuf *out, struct error *error)
{
	int r;

	if (!yaml) {
		r = json_to_text(spec, true, out, error);
		strbuf_addc(out, '\n');
	} else {
		strbuf_adds(out, "---\n");
		r = is_block(spec) ? print_block(spec, 0, false, out, error)
				   : print_scalar(spec, out, error);
		if (!is_block(spec))
			strbuf_addc(out, '\n');
	}
	if (r == 0 && strbuf_failed(out) < 0)
		r = error_set(error, -strbuf_failed(out), "the spec is too large to be printed");
	return r;
}
