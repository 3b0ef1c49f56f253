/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outline of a text: keys, values and what stands above them, from YAML, JSON (pretty or on one
 * line), TOML, kubectl describe, nvidia-smi -q and docker info alike. It follows indents and
 * headers, not grammar, so lines may be missing, cut or foreign. All is bounded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define OUTLINE_DEPTH_MAX 48
#define OUTLINE_KEY_MAX   96 /* bytes of a key, its terminator counted; more is cut */

struct outline_entry {
	int indent;
	bool item; /* of a list */
	unsigned serial;
	char text[OUTLINE_KEY_MAX]; /* "" for an item */
};

struct outline {
	struct outline_entry stack[OUTLINE_DEPTH_MAX];
	unsigned depth, serial;
	bool toml;                  /* below a TOML header: indents say nothing */
	unsigned header;            /* entries that are the header's */
	bool array;                 /* in a TOML array of several lines */
	char separator;             /* of the last leaf: ':', '=', or 0 for a bare value */
	int indent;                 /* of the line */
	char open[OUTLINE_KEY_MAX]; /* last key without a value, and its indent */
	int open_indent;
	unsigned open_serial;
};

/*
 * A key with its value ("" when the line only opens a block), or a bare value of a list (KEY ""). The
 * strings are the outline's until the call returns; VALUE may be changed.
 */
typedef void outline_emit(void *context, const char *key, char *value);

void outline_reset(struct outline *outline);
/* LINE is a string and is destroyed. */
void outline_line(struct outline *outline, char *line, outline_emit *emit, void *context);

/*
 * During a call of EMIT: the key LEVELS above, items not counted; "" for none. Level 0 is the leaf's own
 * key, and for a bare value the key of its list.
 */
const char *outline_up(const struct outline *outline, unsigned levels);
/* The serial of that entry: the same number is the same object; 0 for none. */
unsigned outline_up_serial(const struct outline *outline, unsigned levels);
/* Whether KEY, in any case, stands somewhere above the leaf. */
bool outline_below(const struct outline *outline, const char *key);
/* Serial of the list item that the leaf is in; 0 for none. */
unsigned outline_item(const struct outline *outline);
