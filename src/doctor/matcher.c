/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/matcher.h"

#include <errno.h>
#include <string.h>

#include "doctor/fold.h"
#include "doctor/pattern.h"

enum {
	WINDOW_MAX = 16384, /* folded characters at a time */
	/* Kept from one window to the next: what the longest message needs before and behind it. */
	WINDOW_KEPT = 2 * MATCHER_SPAN,
	RUN_MAX = 32, /* of what falls away, so many bytes are kept to be shown */
	RAW_MAX = WINDOW_MAX + WINDOW_KEPT * (RUN_MAX + 1) + 65536,
	CUT_MAX = 6,              /* bytes of the longest escape */
	RAW_MARGIN = RUN_MAX + 8, /* one character and a line end fit in always */
	KEY_BITS = 16,
	SLOT_BITS = 12,
	NONE = UINT16_MAX,
};

#define KEY_MASK ((1ull << 8 * MATCHER_ANCHOR) - 1)

struct known {
	struct pattern *pattern;
	struct matcher_hit hit;
	uint64_t key;       /* the six bytes */
	uint16_t anchor;    /* where they stand in the pattern */
	uint16_t next;      /* with the same slot of keys */
	uint16_t next_same; /* with the same slot of texts */
};

struct line_start {
	uint32_t at; /* its first folded byte */
	uint64_t number;
};

struct matcher {
	struct known *known;
	size_t known_count, known_capacity;
	uint16_t by_text[1 << SLOT_BITS], by_key[1 << SLOT_BITS];
	uint64_t filter[1 << (KEY_BITS - 6)];
	char *source;

	/* The window. */
	size_t length, raw_length, line_count;
	size_t scanned; /* anchors that begin before this were looked at */
	size_t run;     /* bytes since the last folded one */
	bool barred, line_empty, line_begins;
	uint64_t number; /* of the line of CUT */
	size_t cut_length;
	char cut[CUT_MAX]; /* the end of a piece whose meaning the next one tells */
	unsigned char text[WINDOW_MAX];
	uint8_t barrier[WINDOW_MAX];
	uint32_t raw_at[WINDOW_MAX];
	struct line_start lines[WINDOW_MAX];
	char raw[RAW_MAX];
};

static uint64_t hash_key(uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ull) >> (64 - KEY_BITS);
}

static uint64_t hash_text(const char *text, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return (hash ^ hash >> 32) & ((1u << SLOT_BITS) - 1);
}

static uint64_t key_at(const char *text)
{
	uint64_t key = 0;

	for (size_t i = 0; i < MATCHER_ANCHOR; i++)
		key = key << 8 | (unsigned char)text[i];
	return key;
}

struct matcher *matcher_new(void)
{
	/* Not cleared: it is large, and a small text touches little of it. */
	struct matcher *matcher = malloc(sizeof(*matcher));

	if (!matcher)
		return NULL;
	matcher->known = NULL;
	matcher->known_count = matcher->known_capacity = 0;
	memset(matcher->by_text, 0xff, sizeof(matcher->by_text));
	memset(matcher->by_key, 0xff, sizeof(matcher->by_key));
	memset(matcher->filter, 0, sizeof(matcher->filter));
	matcher->source = NULL;
	matcher->length = matcher->raw_length = matcher->line_count = 0;
	matcher->scanned = matcher->run = matcher->cut_length = 0;
	matcher->number = 0;
	matcher->barred = false;
	matcher->line_empty = matcher->line_begins = true;
	return matcher;
}

void matcher_free(struct matcher *matcher)
{
	if (!matcher)
		return;
	for (size_t i = 0; i < matcher->known_count; i++) {
		free(matcher->known[i].pattern);
		free(matcher->known[i].hit.source);
		free(matcher->known[i].hit.text);
	}
	free(matcher->known);
	free(matcher->source);
	free(matcher);
}

int matcher_add(struct matcher *matcher, const char *pattern, unsigned *ret_pattern,
		struct error *error)
{
	autofree struct pattern *new = NULL;
	int r = pattern_new(pattern, &new, error);

	if (r < 0)
		return r;
	uint16_t *slot = &matcher->by_text[hash_text(new->text, new->length)];
	for (uint16_t i = *slot; i != NONE; i = matcher->known[i].next_same) {
		const struct pattern *old = matcher->known[i].pattern;

		if (old->length == new->length && memcmp(old->text, new->text, old->length) == 0) {
			*ret_pattern = i;
			return 0;
		}
	}
	if (matcher->known_count == NONE)
		return error_set(error, EINVAL, "more than %d patterns; take fewer", NONE);
	struct known *known =
		VEC_ADD(&matcher->known, &matcher->known_count, &matcher->known_capacity);
	if (!known)
		return error_no_memory(error);
	known->pattern = TAKE_PTR(new);
	known->next_same = *slot;
	*ret_pattern = *slot = (uint16_t)(matcher->known_count - 1);
	return 0;
}

/* Chooses the six bytes of the longest piece that the fewest patterns have. */
static void choose_anchor(struct known *known, const uint16_t *counts)
{
	const struct pattern *pattern = known->pattern;
	uint16_t least = UINT16_MAX;

	for (size_t i = 0; i + MATCHER_ANCHOR <= pattern->piece_length; i++) {
		uint64_t key = key_at(pattern->text + pattern->piece + i);
		uint16_t count = counts[hash_key(key)];

		if (count < least) {
			least = count;
			known->key = key;
			known->anchor = (uint16_t)(pattern->piece + i);
		}
	}
}

int matcher_build(struct matcher *matcher)
{
	autofree uint16_t *counts = calloc(1u << KEY_BITS, sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < matcher->known_count; i++) {
		const struct pattern *pattern = matcher->known[i].pattern;

		for (size_t j = 0; j + MATCHER_ANCHOR <= pattern->piece_length; j++)
			counts[hash_key(key_at(pattern->text + pattern->piece + j))]++;
	}
	for (size_t i = 0; i < matcher->known_count; i++) {
		struct known *known = &matcher->known[i];

		choose_anchor(known, counts);
		uint64_t hash = hash_key(known->key);
		uint16_t *slot = &matcher->by_key[hash & ((1u << SLOT_BITS) - 1)];
		matcher->filter[hash >> 6] |= 1ull << (hash & 63);
		known->next = *slot;
		*slot = (uint16_t)i;
	}
	return 0;
}

/* The line of the folded byte AT. */
static uint64_t line_of(const struct matcher *matcher, size_t at)
{
	size_t low = 0, high = matcher->line_count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (matcher->lines[middle].at <= at)
			low = middle;
		else
			high = middle;
	}
	return matcher->line_count ? matcher->lines[low].number : 0;
}

/* The bytes to show of the message between raw FIRST and LAST: whole lines where they are short, else
 * from the message's beginning, since a secret whose beginning is cut off is not known for one. */
static void find_shown(const struct matcher *matcher, size_t *first, size_t *last)
{
	const char *raw = matcher->raw;
	size_t line = *first;

	while (line > 0 && raw[line - 1] != '\n' && *first - line < MATCHER_QUOTE)
		line--;
	if (*last - line <= MATCHER_QUOTE / 4 && (line == 0 || raw[line - 1] == '\n'))
		*first = line;
	while (*last < matcher->raw_length && raw[*last] != '\n')
		(*last)++;
	if (*last - *first > MATCHER_QUOTE)
		*last = *first + MATCHER_QUOTE;
}

static int keep_hit(struct matcher *matcher, struct known *known, size_t begin, size_t end)
{
	size_t first = matcher->raw_at[begin], last = matcher->raw_at[end - 1] + 1;

	find_shown(matcher, &first, &last);
	autofree char *source = strdup(matcher->source ? matcher->source : "");
	autofree char *text = malloc(last - first + 1);
	if (!source || !text)
		return -ENOMEM;
	for (size_t i = first; i < last; i++) /* a wrapped message is shown as one line */
		text[i - first] = (char)(matcher->raw[i] == '\n' ? ' ' : matcher->raw[i]);
	text[last - first] = '\0';
	known->hit = (struct matcher_hit){ .source = TAKE_PTR(source),
					   .line = line_of(matcher, begin),
					   .text = TAKE_PTR(text),
					   .length = last - first };
	return 0;
}

/* The six bytes that end before AT are KEY, and some pattern may have them. */
static int look_closer(struct matcher *matcher, uint64_t key, uint64_t hash, size_t at)
{
	const struct folded folded = { .text = matcher->text,
				       .raw_at = matcher->raw_at,
				       .barrier = matcher->barrier,
				       .length = matcher->length };
	uint16_t next;

	for (uint16_t i = matcher->by_key[hash & ((1u << SLOT_BITS) - 1)]; i != NONE; i = next) {
		struct known *known = &matcher->known[i];
		size_t begin, end;

		next = known->next;
		if (known->key != key || known->hit.source ||
		    !pattern_fits(known->pattern, known->anchor, &folded, at - MATCHER_ANCHOR,
				  &begin, &end))
			continue;
		int r = keep_hit(matcher, known, begin, end);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Looks at all anchors that begin before LIMIT. */
static int scan(struct matcher *matcher, size_t limit)
{
	uint64_t key = 0;
	size_t begin = matcher->scanned, end = limit + MATCHER_ANCHOR - 1;

	if (end > matcher->length)
		end = matcher->length;
	for (size_t i = begin; i < end; i++) {
		key = (key << 8 | matcher->text[i]) & KEY_MASK;
		uint64_t hash = hash_key(key);
		if (!(matcher->filter[hash >> 6] >> (hash & 63) & 1) ||
		    i + 1 < begin + MATCHER_ANCHOR)
			continue;
		int r = look_closer(matcher, key, hash, i + 1);
		if (r < 0)
			return r;
	}
	matcher->scanned = limit;
	return 0;
}

/* Drops what lies before folded byte FROM; the line of that byte stays to be quoted. */
static void drop_before(struct matcher *matcher, size_t from)
{
	size_t raw = from < matcher->length ? matcher->raw_at[from] : matcher->raw_length;
	size_t kept = matcher->length - from, line = 0;
	uint64_t number = line_of(matcher, from);

	for (size_t i = 0; i < MATCHER_QUOTE && raw > 0 && matcher->raw[raw - 1] != '\n'; i++)
		raw--;
	memmove(matcher->text, matcher->text + from, kept);
	memmove(matcher->barrier, matcher->barrier + from, kept);
	for (size_t i = 0; i < kept; i++)
		matcher->raw_at[i] = matcher->raw_at[from + i] - (uint32_t)raw;
	memmove(matcher->raw, matcher->raw + raw, matcher->raw_length - raw);
	matcher->raw_length -= raw;
	for (size_t i = 0; i < matcher->line_count; i++)
		if (matcher->lines[i].at > from)
			matcher->lines[++line] = (struct line_start){
				.at = matcher->lines[i].at - (uint32_t)from,
				.number = matcher->lines[i].number,
			};
	matcher->lines[0] = (struct line_start){ .at = 0, .number = number };
	matcher->line_count = matcher->line_count ? line + 1 : 0;
	matcher->length = kept;
	matcher->scanned -= from;
}

static int make_room(struct matcher *matcher)
{
	size_t limit = matcher->length > MATCHER_SPAN ? matcher->length - MATCHER_SPAN : 0;

	if (limit > matcher->scanned) {
		int r = scan(matcher, limit);
		if (r < 0)
			return r;
	}
	if (matcher->length > WINDOW_KEPT)
		drop_before(matcher, matcher->length - WINDOW_KEPT);
	return 0;
}

static bool is_full(const struct matcher *matcher)
{
	return matcher->length == WINDOW_MAX || matcher->raw_length + RAW_MARGIN >= RAW_MAX;
}

/* Bytes that fall away are kept to be shown, but not a flood of them. */
static void add_dropped(struct matcher *matcher, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++, matcher->run++)
		if (matcher->run < RUN_MAX)
			matcher->raw[matcher->raw_length++] = bytes[i];
		else if (bytes[i] == '\n')
			matcher->raw[matcher->raw_length - 1] = '\n';
}

static void add_folded(struct matcher *matcher, unsigned char folded, uint64_t number)
{
	size_t at = matcher->length++;

	if (matcher->line_empty) {
		matcher->lines[matcher->line_count++] =
			(struct line_start){ .at = (uint32_t)at, .number = number };
		matcher->line_empty = matcher->line_begins = false;
	}
	matcher->text[at] = folded;
	matcher->raw_at[at] = (uint32_t)matcher->raw_length;
	matcher->barrier[at] = matcher->barred;
	matcher->barred = false;
	matcher->run = 0;
}

/* The byte at TEXT, which is no plain one; returns how many bytes were taken. */
static size_t add_special(struct matcher *matcher, const char *text, size_t left, uint64_t number)
{
	size_t used = 1;
	unsigned char folded = fold_table[(unsigned char)*text];

	if (folded == FOLD_LOOK)
		folded = fold_special((const unsigned char *)text, left, &used);
	if (matcher->line_begins && folded == '>') /* a quoted mail or comment */
		folded = 0;
	if (!folded) {
		add_dropped(matcher, text, used);
		return used;
	}
	add_folded(matcher, folded, number);
	memcpy(matcher->raw + matcher->raw_length, text, used);
	matcher->raw_length += used;
	return used;
}

/* What begins before STOP, as far as there is room; all of TEXT may be looked at. */
static size_t add_some(struct matcher *matcher, const char *text, size_t stop, size_t length,
		       uint64_t number)
{
	size_t at = 0;

	while (at < stop && !is_full(matcher)) {
		unsigned char folded = fold_table[(unsigned char)text[at]];

		if (folded < ' ' || matcher->line_empty || matcher->barred) {
			at += add_special(matcher, text + at, length - at, number);
			continue;
		}
		matcher->text[matcher->length] = folded;
		matcher->barrier[matcher->length] = 0;
		matcher->raw_at[matcher->length++] = (uint32_t)matcher->raw_length;
		matcher->raw[matcher->raw_length++] = text[at++];
		matcher->run = 0;
	}
	return at;
}

/* Adds all that begins before STOP; *ret_added may be more, by the end of an escape. */
static int add_all(struct matcher *matcher, const char *text, size_t stop, size_t length,
		   uint64_t number, size_t *ret_added)
{
	size_t at = 0;

	while (at < stop) {
		at += add_some(matcher, text + at, stop - at, length - at, number);
		int r = is_full(matcher) ? make_room(matcher) : 0;
		if (r < 0)
			return r;
	}
	*ret_added = at;
	return 0;
}

/* The bytes at the end of TEXT whose meaning depends on what follows. */
static size_t unclear_end(const char *text, size_t length)
{
	size_t first = length >= CUT_MAX ? length - CUT_MAX + 1 : 0;

	for (size_t i = first; i < length; i++)
		if (fold_table[(unsigned char)text[i]] == FOLD_LOOK)
			return length - i;
	return 0;
}

/* The end of the last piece, together with the beginning of this one. */
static int add_cut(struct matcher *matcher, const char **text, size_t *length, uint64_t number)
{
	char both[2 * CUT_MAX];
	size_t cut = matcher->cut_length, more = *length < CUT_MAX ? *length : CUT_MAX, added;

	if (!cut)
		return 0;
	memcpy(both, matcher->cut, cut);
	memcpy(both + cut, *text, more);
	if (more && cut + more < CUT_MAX) { /* still not enough */
		memcpy(matcher->cut, both, cut + more);
		matcher->cut_length = cut + more;
		*length = 0;
		return 0;
	}
	matcher->cut_length = 0;
	int r = add_all(matcher, both, cut, cut + more, number, &added);
	if (r < 0)
		return r;
	*text += added - cut;
	*length -= added - cut;
	return 0;
}

int matcher_text(struct matcher *matcher, const char *text, size_t length, uint64_t number)
{
	int r = add_cut(matcher, &text, &length, number);
	size_t unclear = unclear_end(text, length), added = 0;

	matcher->number = number;
	if (r < 0 || !length)
		return r;
	r = add_all(matcher, text, length - unclear, length, number, &added);
	if (r < 0 || added >= length)
		return r;
	matcher->cut_length = length - added;
	memcpy(matcher->cut, text + added, matcher->cut_length);
	return 0;
}

int matcher_newline(struct matcher *matcher)
{
	const char *none = "";
	size_t length = 0;
	int r = add_cut(matcher, &none, &length, matcher->number);

	if (r < 0)
		return r;
	if (matcher->line_empty)
		matcher->barred = true;
	add_dropped(matcher, "\n", 1);
	matcher->line_empty = matcher->line_begins = true;
	return 0;
}

void matcher_barrier(struct matcher *matcher)
{
	matcher->barred = true;
}

int matcher_end(struct matcher *matcher)
{
	int r = matcher_newline(matcher);

	if (r == 0)
		r = scan(matcher, matcher->length);

	if (r < 0)
		return r;
	matcher->length = matcher->raw_length = matcher->line_count = 0;
	matcher->scanned = matcher->run = matcher->cut_length = 0;
	matcher->number = 0;
	matcher->barred = false;
	matcher->line_empty = matcher->line_begins = true;
	return 0;
}

int matcher_source(struct matcher *matcher, const char *name)
{
	int r = matcher_end(matcher);

	if (r < 0)
		return r;
	char *copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(matcher->source);
	matcher->source = copy;
	return 0;
}

const struct matcher_hit *matcher_hit(const struct matcher *matcher, unsigned pattern)
{
	return &matcher->known[pattern].hit;
}
