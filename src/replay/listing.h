/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside src/replay: what is kept of a listing of a cluster while it is read, since Pods may come
 * before nodes, and what was passed over and assumed.
 *
 * How to add a note: its name, and a row in listing.c.
 */
#pragma once

#include "replay/trace.h"

enum listing_note {
	NOTE_ENDED,
	NOTE_RESERVATION,
	NOTE_REFUSED,
	NOTE_REMARK,
	NOTE_OTHER_KIND,
	NOTE_NO_NODE,
	NOTE_CARDS_UNKNOWN,
	NOTE_COUNT_ONLY,
	NOTE_PROBLEM,
	NOTE_BEYOND,
	NOTE_SICK,
	NOTE_LAYOUT,
	NOTE_MIG_SINGLE,
	NOTE_REPLICAS,
	NOTE_MAX,
};

struct listing {
	struct {
		size_t count;
		char first[240]; /* what it was said of first */
	} notes[NOTE_MAX];
	/* Owned, as their values. */
	struct map *groups;      /* the UUID of the card of a group of KAI */
	struct map *inventories; /* a node's cards from an object of their own */
	struct map *held;        /* what Pods hold by what their nodes say */
};

int listing_make(struct trace *trace, struct error *error);
void listing_free(struct listing *listing);
/* Counts; of what is said first the sentence is kept. Nothing to do without a listing. */
void listing_note(struct trace *trace, enum listing_note note, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* TEXT among those of which NOTE was said, once each. */
void listing_note_once(struct trace *trace, enum listing_note note, const char *text);

int listing_add_group(struct trace *trace, const char *group, const char *uuid,
		      struct error *error);
/* The cards of the node of that name; a card without a model has that of the node's own. Moves
 * *INVENTORY. Where no node has that name there will be one, without limits. */
int listing_set_cards(struct trace *trace, const char *node, struct inventory *inventory,
		      struct error *error);

/* NODE says that the container of GRANT holds those cards. Moves *GRANT. (listing_held.c) */
int listing_add_held(struct trace *trace, const char *node, struct grant *grant,
		     struct error *error);
int listing_hold(struct trace *trace, struct error *error);
void listing_free_held(struct map *held);

/* Both are of trace_finish(): before and after its nodes are in order. */
int listing_add_nodes(struct trace *trace, struct error *error);
int listing_know_cards(struct trace *trace, struct error *error);

/* Lists as kubectl prints them (trace_objects.c). */
int trace_read_objects(struct trace *trace, enum trace_part parts,
		       const struct trace_source *source, struct error *error);
/* The same in YAML. */
int trace_read_yaml(struct trace *trace, enum trace_part parts, const struct trace_source *source,
		    struct error *error);
