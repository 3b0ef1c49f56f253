/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/pattern.h"

#include <errno.h>
#include <string.h>

#include "doctor/fold.h"
#include "doctor/matcher.h"

/* *used of SOURCE becomes one byte of a pattern, or 0. */
static unsigned char pattern_byte(const unsigned char *source, size_t left, size_t *used)
{
	*used = 1;
	if (*source == '*')
		return PATTERN_GAP;
	if (*source == '#')
		return PATTERN_NUMBER;
	unsigned char folded = fold_table[*source];
	return folded == FOLD_LOOK ? fold_special(source, left, used) : folded;
}

static bool is_literal(char byte)
{
	return byte != PATTERN_GAP && byte != PATTERN_NUMBER;
}

static void find_piece(struct pattern *pattern)
{
	for (uint16_t begin = 0, at = 0; at < pattern->length; at++) {
		if (!is_literal(pattern->text[at])) {
			begin = (uint16_t)(at + 1);
			continue;
		}
		uint16_t length = (uint16_t)(at + 1 - begin);
		if (length > pattern->piece_length) {
			pattern->piece = begin;
			pattern->piece_length = length;
		}
	}
}

/* Characters that the pattern can take at most, as far as it may matter. */
static size_t pattern_span(const struct pattern *pattern)
{
	size_t span = 0;

	for (size_t i = 0; i < pattern->length; i++)
		span += pattern->text[i] == PATTERN_GAP      ? (size_t)MATCHER_GAP
			: pattern->text[i] == PATTERN_NUMBER ? 32
							     : 1;
	return span;
}

static int pattern_check(const struct pattern *pattern, const char *source, struct error *error)
{
	if (pattern->piece_length < MATCHER_ANCHOR)
		return error_set(error, EINVAL,
				 "pattern \"%s\" has no piece of %d characters without * and #; "
				 "take more of the message",
				 source, MATCHER_ANCHOR);
	if (pattern->text[0] == PATTERN_GAP || pattern->text[pattern->length - 1] == PATTERN_GAP)
		return error_set(error, EINVAL,
				 "pattern \"%s\" begins or ends with *; leave that out", source);
	if (pattern_span(pattern) > MATCHER_SPAN)
		return error_set(error, EINVAL,
				 "pattern \"%s\" can be longer than %d characters; make it two",
				 source, MATCHER_SPAN);
	return 0;
}

int pattern_new(const char *source, struct pattern **ret, struct error *error)
{
	size_t left = strlen(source), used;
	autofree struct pattern *pattern = NULL;

	if (left > MATCHER_SPAN)
		return error_set(error, EINVAL, "a pattern is longer than %d bytes; shorten it",
				 MATCHER_SPAN);
	pattern = calloc(1, sizeof(*pattern) + left + 1);
	if (!pattern)
		return error_no_memory(error);
	for (const unsigned char *at = (const unsigned char *)source; left;
	     at += used, left -= used) {
		unsigned char byte = pattern_byte(at, left, &used);

		if (byte)
			pattern->text[pattern->length++] = (char)byte;
	}
	find_piece(pattern);
	int r = pattern_check(pattern, source, error);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(pattern);
	return 0;
}

static bool is_word(unsigned char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

static bool is_number(unsigned char byte)
{
	return (byte >= '0' && byte <= '9') || byte == '.';
}

/*
 * The places in the text that the part of the pattern so far can reach from the anchor, forwards or
 * backwards: on[i] is i characters away. All from low to high.
 */
struct reach {
	const struct folded *folded;
	size_t at; /* of the anchor */
	bool back;
	size_t room; /* characters up to the text's end */
	size_t low, high;
	uint8_t on[MATCHER_SPAN + 2];
};

static unsigned char reach_byte(const struct reach *reach, size_t distance)
{
	return reach->folded->text[reach->back ? reach->at - 1 - distance : reach->at + distance];
}

static bool reach_barrier(const struct reach *reach, size_t distance)
{
	size_t place = reach->back ? reach->at - distance : reach->at + distance;

	return place < reach->folded->length && reach->folded->barrier[place];
}

static void reach_literal(struct reach *reach, unsigned char byte)
{
	size_t high = 0, low = SIZE_MAX;

	for (size_t i = reach->high + 1; i-- > reach->low;) {
		bool on = reach->on[i] && i < reach->room && reach_byte(reach, i) == byte;

		reach->on[i] = 0;
		reach->on[i + 1] = on;
		if (on) {
			low = i + 1;
			high = high ? high : i + 1;
		}
	}
	reach->low = low == SIZE_MAX ? 1 : low;
	reach->high = high;
}

static void reach_gap(struct reach *reach)
{
	size_t left = 0, high = reach->high + MATCHER_GAP, last = 0;

	if (high > reach->room)
		high = reach->room;
	for (size_t i = reach->low; i <= high; i++) {
		bool was = i <= reach->high && reach->on[i];

		if (reach_barrier(reach, i)) {
			left = 0;
			was = false;
		} else if (was) {
			left = MATCHER_GAP;
		} else if (left) {
			left--;
			was = true;
		}
		reach->on[i] = was;
		if (was)
			last = i;
	}
	reach->high = last;
}

static void reach_number(struct reach *reach)
{
	bool before = false, old = false;
	size_t last = 0, i;

	for (i = reach->low; i <= reach->room && (i <= reach->high + 1 || before); i++) {
		bool next_old = i <= reach->high && reach->on[i];
		bool now = i > reach->low && (before || old) && is_number(reach_byte(reach, i - 1));

		reach->on[i] = now;
		before = now;
		old = next_old;
		if (now)
			last = i;
	}
	reach->high = last;
}

/* Is the place DISTANCE away the edge of a word of the text? */
static bool reach_edge(const struct reach *reach, size_t distance)
{
	const struct folded *folded = reach->folded;

	if (distance >= reach->room)
		return true;
	if (!is_word(reach_byte(reach, distance)))
		return true;
	size_t place = reach->back ? reach->at - distance : reach->at + distance;
	return folded->raw_at[place] - folded->raw_at[place - 1] > 1;
}

/* Follows the pattern from byte FIRST on, in its direction; the nearest end that will do, in *ret. */
static bool reach_end(struct reach *reach, const struct pattern *pattern, size_t first, size_t *ret)
{
	size_t count = reach->back ? first : pattern->length - first;
	unsigned char outer = (unsigned char)pattern->text[reach->back ? 0 : pattern->length - 1];
	bool at_edge = outer == PATTERN_NUMBER || is_word(outer);

	reach->low = reach->high = 0;
	reach->on[0] = 1;
	for (size_t i = 0; i < count; i++) {
		unsigned char byte =
			(unsigned char)pattern->text[reach->back ? first - 1 - i : first + i];

		if (byte == PATTERN_GAP)
			reach_gap(reach);
		else if (byte == PATTERN_NUMBER)
			reach_number(reach);
		else
			reach_literal(reach, byte);
		if (reach->low > reach->high)
			return false;
	}
	for (size_t i = reach->low; i <= reach->high; i++) {
		if (!reach->on[i] || (at_edge && !reach_edge(reach, i)))
			continue;
		*ret = i;
		return true;
	}
	return false;
}

bool pattern_fits(const struct pattern *pattern, size_t anchor, const struct folded *folded,
		  size_t at, size_t *ret_begin, size_t *ret_end)
{
	struct reach reach; /* only what lies between low and high counts */
	size_t distance;

	reach.folded = folded;
	reach.at = at;
	reach.back = false;
	reach.room = folded->length - at;
	reach.room = reach.room > MATCHER_SPAN ? (size_t)MATCHER_SPAN : reach.room;
	if (!reach_end(&reach, pattern, anchor, &distance))
		return false;
	*ret_end = at + distance;
	reach.back = true;
	reach.room = at > MATCHER_SPAN ? (size_t)MATCHER_SPAN : at;
	if (!reach_end(&reach, pattern, anchor, &distance))
		return false;
	*ret_begin = at - distance;
	return true;
}
