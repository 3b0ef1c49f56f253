/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds many messages in a stream of text at once: the patterns of rule.h, whatever the text was
 * wrapped, indented, quoted or escaped into. Each pattern is found once, and keeps where.
 *
 * The text is folded (case, white space, quotation marks and escapes fall away) into a window of some
 * KiB. Each pattern is known by six bytes of its longest literal piece, the rarest among all
 * patterns; every position of the window is looked up by these in a filter that fits the first cache,
 * and what passes is compared whole. Time per byte and memory do not depend on the patterns' number or on
 * the text, and the tables are built in less time than a file takes to open.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum {
	MATCHER_ANCHOR = 6,   /* least characters of one literal piece */
	MATCHER_GAP = 160,    /* most characters of a '*' */
	MATCHER_SPAN = 1024,  /* most characters that a message can have */
	MATCHER_QUOTE = 1000, /* bytes of text around a hit */
};

struct matcher;

struct matcher *matcher_new(void); /* NULL: no memory */
void matcher_free(struct matcher *matcher);
DEFINE_CLEANUP(struct matcher, matcher_free)

/*
 * *ret_pattern: its number; the same pattern again gives the same one. -EINVAL with a sentence for a
 * pattern that cannot be looked for; -ENOMEM.
 */
int matcher_add(struct matcher *matcher, const char *pattern, unsigned *ret_pattern,
		struct error *error);
/* Builds the tables; nothing is added afterwards. 0 or -ENOMEM. */
int matcher_build(struct matcher *matcher);

/* What follows is another text: no message goes across. NAME is copied. 0 or -ENOMEM. */
int matcher_source(struct matcher *matcher, const char *name);
/* Bytes of line NUMBER, in pieces of any length; a line ends with matcher_newline(). 0 or
 * -ENOMEM. */
int matcher_text(struct matcher *matcher, const char *text, size_t length, uint64_t number);
int matcher_newline(struct matcher *matcher);
/* No gap goes across this place (matcher_newline() sees blank lines itself). */
void matcher_barrier(struct matcher *matcher);
/* All that was fed is looked at; what follows is taken for another text. 0 or -ENOMEM. */
int matcher_end(struct matcher *matcher);

struct matcher_hit {
	char *source; /* NULL: not found */
	uint64_t line;
	char *text; /* from the line's or the message's beginning, at most MATCHER_QUOTE bytes */
	size_t length;
};
/* Where PATTERN was found first. Stays the matcher's. */
const struct matcher_hit *matcher_hit(const struct matcher *matcher, unsigned pattern);
