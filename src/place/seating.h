/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside src/place: Pods whose place may still change. seating.c keeps the book of them, room.c
 * finds room for one by sending others elsewhere, lookahead.c and moves.c say when that is done.
 *
 * States are compared by value_worth(), summed over the nodes. What would be is looked at in the
 * pool itself: a grant is counted out, the node is judged, and it is counted in again, without an
 * entry in the log of changes. So the filters are those of every decision.
 */
#pragma once

#include "shape.h"

#define NO_GAIN INT64_MIN

/* Where Pods of a kind go when they have to: the two best nodes. */
struct resort {
	uint32_t nodes[2]; /* SEAT_NONE: none */
	int64_t gains[2];  /* of worth, what is rare taken off */
	int64_t rare[2];   /* that */
};

struct kind {                        /* Pods that ask for the same */
	const struct demand *demand; /* not owned */
	struct shape shape;
	struct shape open; /* the same without a wish for a model; of constrained ones only */
	bool movable, constrained;
	bool scarce;       /* its score takes off what is rare */
	unsigned milli;    /* of all its cards */
	uint64_t searched; /* the search that resort is of */
	struct resort resort;
	uint64_t failed; /* 1 + changes of the pool when no room was found */
	unsigned failed_most;
};

struct seat {
	uint64_t id;       /* of the grant; 0: no place */
	struct held *held; /* of that grant, the pool owns it */
	uint64_t order;    /* of arrival */
	uint64_t tag;
	uint32_t kind;
	uint32_t next;   /* on the same node, placed before; or the next free seat */
	uint32_t change; /* its place in the changes of this call */
	bool bound;
};

struct spot {           /* a node */
	uint32_t seats; /* the last placed there */
	int32_t rare;
	uint64_t changed; /* of the node when worth was taken; 0: never */
	int64_t worth;
};

struct seating {
	struct pool *pool; /* not owned */
	struct seating_options options;
	struct kind *kinds; /* owned */
	size_t kind_count, kind_capacity;
	struct seat *seats; /* owned */
	size_t seat_count, seat_capacity;
	uint32_t free_seat;
	struct spot *spots; /* owned; by node */
	uint32_t
		*window; /* owned; a ring of those that are not bound, the oldest at window_first */
	size_t window_first, window_count;
	struct seat_change *changes; /* owned; room for all that one call can change */
	size_t change_count, change_capacity;
	uint64_t arrived, bound, placed, moves, searches;
	struct held *scratch; /* owned; a grant that would be */
	struct decision decision;
};

/* Where a grant was, to bring it back. */
struct bearings {
	uint32_t node;
	struct held_card cards[NODE_CARDS_MAX];
};

/* The Nth oldest that is not bound; SEAT_NONE when it ended. */
static inline uint32_t seating_window(const struct seating *seating, size_t nth)
{
	return seating->window[(seating->window_first + nth) % seating->options.look_ahead];
}

static inline struct kind *seat_kind(const struct seating *seating, const struct seat *seat)
{
	return &seating->kinds[seat->kind];
}

/* seating.c */
/* By the policy of the pool. 1: placed; 0: fits nowhere; negative errno. */
int seat_place(struct seating *seating, uint32_t number);
/* The same on one node. */
int seat_place_on(struct seating *seating, uint32_t number, uint32_t node);
/* Off its node; the grant stays. RET: where it was, may be NULL. */
void seat_lift(struct seating *seating, uint32_t number, struct bearings *ret);
void seat_return(struct seating *seating, uint32_t number, const struct bearings *bearings);
/* A lifted one on another node: false when it does not fit there. */
bool seat_settle(struct seating *seating, uint32_t number, uint32_t node);
/* What the call that is under way changed of it so far. */
struct seat_change *change_of(struct seating *seating, uint32_t number);
/* Takes the grant away. */
void seat_release(struct seating *seating, uint32_t number);
/* The best node but EXCEPT for the kind, as the pool sees it; SEAT_NONE. */
uint32_t best_node(struct seating *seating, const struct kind *kind, uint32_t except,
		   struct tournament_key *ret);

/* The policy's answer for a board that is not as logged: what is kept with the node is not read. */
struct answer ask_aside(const struct seating *seating, const struct kind *kind,
			const struct board *board, uint64_t fits);
/* What a node is worth, as logged. */
int64_t spot_worth(struct seating *seating, uint32_t node);
/* What is off for a rare node, of one that sits there. */
int64_t seat_rare(const struct seating *seating, const struct seat *seat);
struct option {
	uint64_t cards;
	int64_t rare; /* what is off for them */
};
/* Worth gained on NODE, counted from what is logged, by a Pod of KIND more; NO_GAIN: it does not
 * fit. RET may be NULL. */
int64_t gain_on(struct seating *seating, const struct kind *kind, uint32_t node,
		struct option *ret);
/* What a grant of the kind on those cards would hold. */
void held_aim(const struct pool *pool, const struct kind *kind, struct held *held, uint32_t node,
	      uint64_t cards);

/* room.c */
const struct resort *resort_of(struct seating *seating, struct kind *kind);
void resorts_forget(struct seating *seating);
/* Room for NUMBER, which fits nowhere, by sending at most MOST others elsewhere, none of whom
 * arrived before FIRST. *ret_moved of those were bound before the call. As seat_place(); when 0 all is as before. */
int make_room(struct seating *seating, uint32_t number, unsigned most, uint64_t first,
	      unsigned *ret_moved);

/* lookahead.c */
int look_ahead(struct seating *seating, uint32_t number);
/* Those of the window that wait, the oldest first. */
int retry_window(struct seating *seating);

/* moves.c */
/* As seat_place(). */
int move_others(struct seating *seating, uint32_t number);
void tidy(struct seating *seating);
