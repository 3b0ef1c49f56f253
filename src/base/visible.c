/* SPDX-License-Identifier: Apache-2.0 */
#include "base/visible.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"

/* Unicode 15, chapters 23.1 and 23.2. How to add a range: a row in order. */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{ 0x00, 0x1f },     { 0x7f, 0x9f },     { 0x61c, 0x61c },   { 0x200e, 0x200f },
	{ 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xfeff, 0xfeff },
};

/* Bytes of the character at TEXT, which is not empty; 0 when it is no UTF-8. */
static size_t character_decode(const char *text, uint32_t *ret)
{
	static const unsigned char lead_masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	unsigned char lead = (unsigned char)text[0];
	size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

	if (strnlen(text, length) < length || !parse_utf8_valid(text, length))
		return 0;
	uint32_t value = lead & lead_masks[length];
	for (size_t i = 1; i < length; i++)
		value = value << 6 | ((unsigned char)text[i] & 0x3f);
	*ret = value;
	return length;
}

static bool is_hidden(uint32_t character)
{
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		if (character >= hidden[i].first && character <= hidden[i].last)
			return true;
	return false;
}

void text_make_visible(char *text, bool keep_lines)
{
	char *out = text;

	while (*text) {
		uint32_t character = 0;
		size_t length = character_decode(text, &character);

		if (!length || (is_hidden(character) && !(keep_lines && character == '\n'))) {
			*out++ = '?';
			text += length ? length : 1;
			continue;
		}
		memmove(out, text, length);
		out += length;
		text += length;
	}
	*out = '\0';
}
