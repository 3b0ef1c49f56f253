/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parse.h"

#include <errno.h>
#include <string.h>

/* Longest text that parse_distance() compares; longer ones are "far". */
#define DISTANCE_MAX     64
#define SUGGEST_DISTANCE 3 /* more edits than this are another word, not a slip */

int parse_uint(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *ret)
{
	uint64_t value = 0;

	if (!*text)
		return -EINVAL;
	for (const char *at = text; *at; at++)
		if (*at < '0' || *at > '9')
			return -EINVAL;
	for (const char *at = text; *at; at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return -ERANGE;
	if (value < minimum || value > maximum)
		return -ERANGE;
	*ret = value;
	return 0;
}

static char lower(char character)
{
	return character >= 'A' && character <= 'Z' ? (char)(character - 'A' + 'a') : character;
}

/* The next character, which is one to four bytes in UTF-8. */
static const char *character_next(const char *text)
{
	do
		text++;
	while (((unsigned char)*text & 0xc0) == 0x80);
	return text;
}

/* Only the last star is ever tried again: what earlier stars took cannot help a later part. */
bool parse_glob(const char *pattern, const char *text)
{
	const char *after_star = NULL, *retry = NULL;

	while (*text) {
		if (*pattern == '*') {
			after_star = ++pattern;
			retry = text;
		} else if (*pattern == '?') {
			pattern++;
			text = character_next(text);
		} else if (*pattern && lower(*pattern) == lower(*text)) {
			pattern++;
			text++;
		} else if (after_star) {
			pattern = after_star;
			retry = character_next(retry);
			text = retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Lead byte ranges of Unicode 15, table 3-7: length, and what the second byte may be. */
static const struct utf8_row {
	unsigned char first, last, length, second_low, second_high;
} utf8_rows[] = {
	{ 0x00, 0x7f, 1, 0x00, 0x00 }, { 0xc2, 0xdf, 2, 0x80, 0xbf }, { 0xe0, 0xe0, 3, 0xa0, 0xbf },
	{ 0xe1, 0xec, 3, 0x80, 0xbf }, { 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf },
	{ 0xf0, 0xf0, 4, 0x90, 0xbf }, { 0xf1, 0xf3, 4, 0x80, 0xbf }, { 0xf4, 0xf4, 4, 0x80, 0x8f },
};

/* Bytes of the character at TEXT, or 0 when it is not valid. */
static unsigned utf8_length(const unsigned char *text, uint64_t left)
{
	if (text[0] < 0x80)
		return 1;
	for (size_t i = 1; i < sizeof(utf8_rows) / sizeof(utf8_rows[0]); i++) {
		const struct utf8_row *row = &utf8_rows[i];

		if (text[0] < row->first || text[0] > row->last)
			continue;
		if (left < row->length || text[1] < row->second_low || text[1] > row->second_high)
			return 0;
		for (unsigned j = 2; j < row->length; j++)
			if ((text[j] & 0xc0) != 0x80)
				return 0;
		return row->length;
	}
	return 0;
}

/* Eight bytes of which none is above 0x7f. */
static bool is_ascii(const char *text)
{
	uint64_t bytes;

	memcpy(&bytes, text, sizeof(bytes));
	return !(bytes & UINT64_C(0x8080808080808080));
}

uint64_t parse_utf8_prefix(const char *text, uint64_t length)
{
	uint64_t at = 0;

	while (at < length) {
		if (length - at >= sizeof(uint64_t) && is_ascii(text + at)) {
			at += sizeof(uint64_t);
			continue;
		}
		unsigned step = utf8_length((const unsigned char *)text + at, length - at);

		if (!step)
			break;
		at += step;
	}
	return at;
}

bool parse_utf8_valid(const char *text, uint64_t length)
{
	return parse_utf8_prefix(text, length) == length;
}

unsigned parse_distance(const char *left, const char *right, unsigned limit)
{
	unsigned row[DISTANCE_MAX + 1];
	size_t width = strlen(right);

	if (width > DISTANCE_MAX || strlen(left) > DISTANCE_MAX)
		return limit + 1;
	for (unsigned j = 0; j <= width; j++)
		row[j] = j;
	for (unsigned i = 1; left[i - 1]; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= width; j++) {
			unsigned best = diagonal + (left[i - 1] != right[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[width] > limit ? limit + 1 : row[width];
}

void parse_nearest(struct nearest *nearest, const char *known, const char *given)
{
	unsigned distance = parse_distance(known, given, SUGGEST_DISTANCE);
	size_t length = strlen(given);

	/* A name that was only begun is as near as one edit. */
	if (strncmp(known, given, length) == 0)
		distance = 1;
	/* More than half of a short name is another word. */
	if (length < 2 || distance > SUGGEST_DISTANCE || distance * 2 > length + 1)
		return;
	if (nearest->name &&
	    (nearest->distance < distance ||
	     (nearest->distance == distance && strlen(nearest->name) <= strlen(known))))
		return;
	*nearest = (struct nearest){ known, distance };
}

int parse_choice(const char *choices, const char *text)
{
	size_t length = strlen(text);
	int position = 0;

	for (const char *at = choices; length; position++) {
		size_t choice = strcspn(at, "|");

		if (choice == length && strncmp(at, text, length) == 0)
			return position;
		if (!at[choice])
			break;
		at += choice + 1;
	}
	return -1;
}

static bool is_lower_alphanumeric(char character)
{
	return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9');
}

bool parse_label(const char *text, size_t length)
{
	if (!length || !is_lower_alphanumeric(text[0]) || !is_lower_alphanumeric(text[length - 1]))
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] != '-' && !is_lower_alphanumeric(text[i]))
			return false;
	}
	return true;
}

bool parse_subdomain(const char *text)
{
	for (;;) {
		size_t length = strcspn(text, ".");
		if (!parse_label(text, length))
			return false;
		if (!text[length])
			return true;
		text += length + 1;
	}
}

int parse_address(const char *text, char *host, size_t size, unsigned *ret_port)
{
	const char *colon = strrchr(text, ':');
	uint64_t port;

	if (!colon || parse_uint(colon + 1, 1, 65535, &port) < 0)
		return -EINVAL;
	size_t length = (size_t)(colon - text);
	if (length > 2 && text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	} else if (memchr(text, ':', length)) {
		return -EINVAL;
	}
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f || text[i] == '/')
			return -EINVAL;
	if (length >= size)
		return -ENAMETOOLONG;
	memcpy(host, text, length);
	host[length] = '\0';
	*ret_port = (unsigned)port;
	return 0;
}
