/* SPDX-License-Identifier: Apache-2.0 */
#include "model/reason.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct reason_row {
	const char *name;
	enum reason_link link;
	bool for_ever;
	const char *class, *sentence;
};

static const struct reason_row rows[REASON_CODE_MAX] = {
	[REASON_NONE] = { "none", REASON_LINK_SCHEDULER, false, "no reason", "No reason." },
#define M(code, name, link, for_ever, class, sentence) \
	[code] = { name, REASON_LINK_##link, (for_ever) != 0, class, sentence },
	REASONS(M)
#undef M
};

static const char *const reason_link_table[REASON_LINK_MAX] = {
	[REASON_LINK_DRIVER] = "driver",       [REASON_LINK_RUNTIME] = "runtime",
	[REASON_LINK_PLUGIN] = "plugin",       [REASON_LINK_SCHEDULER] = "scheduler",
	[REASON_LINK_INJECTION] = "injection", [REASON_LINK_CUDA] = "cuda",
	[REASON_LINK_SHARING] = "sharing",     [REASON_LINK_DRA] = "dra",
};
DEFINE_STRING_TABLE(reason_link, enum reason_link, REASON_LINK_MAX)

static const struct reason_row *row_of(enum reason_code code)
{
	return (int)code < 0 || code >= REASON_CODE_MAX ? &rows[REASON_NONE] : &rows[code];
}

/* Moves the cut back to the start of a character, so that no half of one is left. */
static size_t character_start(const char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

void reason_vtext(char *to, size_t size, const char *format, va_list arguments)
{
	if (!size)
		return;
	int length = vsnprintf(to, size, format, arguments);
	if (length >= 0 && (size_t)length >= size && size >= 4) {
		size_t cut = character_start(to, size - 4);
		memcpy(to + cut, "...", 4);
	}
}

void reason_text(char *to, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	reason_vtext(to, size, format, arguments);
	va_end(arguments);
}

const char *reason_name(enum reason_code code)
{
	return row_of(code)->name;
}

const char *reason_class(enum reason_code code)
{
	return row_of(code)->class;
}

enum reason_link reason_link_of(enum reason_code code)
{
	return row_of(code)->link;
}

bool reason_is_for_ever(enum reason_code code)
{
	return row_of(code)->for_ever;
}

/* The fields that a sentence can name; exactly one of text and number is there. */
static bool add_field(const struct reason *reason, const char *name, size_t length,
		      struct strbuf *out)
{
	const struct {
		const char *name, *text;
		const int64_t *number;
	} fields[] = {
		{ "object", reason->object, NULL },
		{ "node", reason->node, NULL },
		{ "card", reason->card, NULL },
		{ "model", reason->model, NULL },
		{ "detail", reason->detail, NULL },
		{ "unit", reason->unit ? reason->unit : "card", NULL },
		{ "wanted", NULL, &reason->wanted },
		{ "have", NULL, &reason->have },
		{ "total", NULL, &reason->total },
		{ "s", reason->wanted == 1 ? "" : "s", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strlen(fields[i].name) != length || memcmp(fields[i].name, name, length) != 0)
			continue;
		if (fields[i].text)
			strbuf_adds(out, fields[i].text);
		else
			strbuf_addf(out, "%" PRId64, *fields[i].number);
		return true;
	}
	return false;
}

/* The part of "a|b|c" or "a|c" that is for the reason's scope; AT is moved to it. */
static size_t choose_part(const struct reason *reason, const char **at, size_t length)
{
	const char *end = *at + length, *bar = memchr(*at, '|', length);
	const char *second = bar ? memchr(bar + 1, '|', (size_t)(end - bar - 1)) : NULL;
	unsigned part = (unsigned)reason->scope;

	if (bar && !second)
		part /= 2;
	for (; part > 0 && bar; part--) {
		*at = bar + 1;
		bar = memchr(*at, '|', (size_t)(end - *at));
	}
	return (size_t)((bar ? bar : end) - *at);
}

/* A text with fields, but without parts to choose from. */
static int add_filled(const struct reason *reason, const char *at, size_t length,
		      struct strbuf *out)
{
	const char *end = at + length;

	for (const char *open; (open = memchr(at, '{', (size_t)(end - at)));) {
		const char *close = memchr(open, '}', (size_t)(end - open));

		strbuf_add(out, at, (size_t)(open - at));
		if (!close || !add_field(reason, open + 1, (size_t)(close - open - 1), out))
			return -EINVAL;
		at = close + 1;
	}
	strbuf_add(out, at, (size_t)(end - at));
	return 0;
}

int reason_sentence(const struct reason *reason, struct strbuf *out)
{
	const char *at = row_of(reason->code)->sentence;
	int r = 0;

	while (r == 0 && *at) {
		size_t length = strcspn(at, "[");
		const char *close = strchr(at + length, ']'), *part = at + length + 1;

		r = add_filled(reason, at, length, out);
		at += length;
		if (r < 0 || !*at)
			break;
		if (!close)
			return -EINVAL;
		length = choose_part(reason, &part, (size_t)(close - part));
		r = add_filled(reason, part, length, out);
		at = close + 1;
	}
	return r < 0 ? r : strbuf_failed(out);
}

static int add_texts(const struct reason *reason, struct json_object *object)
{
	const struct {
		const char *key, *text;
	} texts[] = {
		{ "object", reason->object }, { "node", reason->node },
		{ "card", reason->card },     { "model", reason->model },
		{ "detail", reason->detail }, { "kubernetes", reason->kubernetes },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (texts[i].text[0] && json_add_string(object, texts[i].key, texts[i].text) < 0)
			return -ENOMEM;
	}
	return 0;
}

int reason_to_json(const struct reason *reason, struct json_object **ret, struct error *error)
{
	autojson *object = json_object_new_object();
	autostrbuf sentence = STRBUF_INIT(4096);
	const struct reason_row *row = row_of(reason->code);

	int r = reason_sentence(reason, &sentence);
	if (r < 0 && r != -ENOMEM)
		return error_set(error, -r, "the sentence of reason %s has a wrong placeholder",
				 row->name);
	if (r < 0 || !object || json_add_string(object, "code", row->name) < 0 ||
	    json_add_string(object, "class", row->class) < 0 ||
	    json_add_string(object, "link", reason_link_to_string(row->link)) < 0 ||
	    json_add_bool(object, "forEver", row->for_ever) < 0 ||
	    json_add_string(object, "sentence", sentence.data) < 0 ||
	    json_add_int(object, "wanted", reason->wanted) < 0 ||
	    json_add_int(object, "have", reason->have) < 0 ||
	    json_add_int(object, "total", reason->total) < 0 || add_texts(reason, object) < 0)
		return error_no_memory(error);
	*ret = TAKE_PTR(object);
	return 0;
}

int kubernetes_refusal(char *ret, size_t size, unsigned nodes, const char *why, bool resolvable)
{
	int length = snprintf(ret, size,
			      "0/%u nodes are available: %u %s. preemption: 0/%u nodes are "
			      "available: %u %s.",
			      nodes, nodes, why, nodes, nodes,
			      resolvable ? "No preemption victims found for incoming pod"
					 : "Preemption is not helpful for scheduling");

	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int kubernetes_unschedulable(char *ret, size_t size, unsigned nodes, const char *resource,
			     bool resolvable)
{
	char why[REASON_TEXT_MAX + 16];
	int length = snprintf(why, sizeof(why), "Insufficient %s", resource);

	if (length < 0 || (size_t)length >= sizeof(why))
		return -ENAMETOOLONG;
	return kubernetes_refusal(ret, size, nodes, why, resolvable);
}
