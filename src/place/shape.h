/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of Pods and their indexes; see place.h. Of shape.c and decide.c only. */
#pragma once

#include "score.h"

#define SHAPE_KEY_MAX 1024u

/* What is the same for all Pods of a shape. */
struct shape {
	struct query query; /* its demand and request are those of the Pod at hand */
	struct piece piece;
	uint16_t *milli; /* owned; of the piece */
	const struct score_row *row;
	enum tie_rule ties;

	uint8_t *key; /* owned; the demand as bytes */
	size_t key_size;
	uint64_t hash;
	struct tournament tournament;
	/* Nodes that do not fit are in it by their obstacle; until somebody wants a reason they are
	 * all alike, which is quicker. */
	bool exact;
	uint64_t seen; /* changes of the pool that are in it */
	uint64_t used; /* the turn when it was last asked for */
};

/* Bytes that differ whenever the demands do, as far as decisions look at them; 0: too many, or not
 * all is in them (UUIDs, several requests). */
size_t shape_key(const struct demand *demand, uint8_t ret[SHAPE_KEY_MAX]);
/* Everything but the index. 0 or -ENOMEM. */
int shape_init(const struct pool *pool, const struct demand *demand, struct shape *ret);
void shape_release(struct shape *shape);
/* The shape's index, up to date; NULL: none (too long, names UUIDs, no memory). DEMAND is that of
 * the Pod at hand; EXACT: obstacles are wanted. */
struct shape *shape_get(struct pool *pool, const struct demand *demand, bool exact);

/* How NODE stands for the shape. */
void shape_judge(const struct pool *pool, const struct shape *shape, unsigned node,
		 struct tournament_key *ret);
/* The policy's choice of FITS on the node of BOARD. */
struct answer shape_ask(const struct pool *pool, const struct shape *shape,
			const struct board *board, uint64_t fits);

/* The same for any piece of it. */
struct answer shape_score(const struct pool *pool, const struct shape *shape,
			  const struct board *board, const struct piece *piece, uint64_t fits);
/* mig.c: the request's instances on FITS of the board's node, which have room for all; the sum of
 * the policy's values. They are added to *ret, which may be NULL. */
int64_t mig_choose(const struct pool *pool, const struct shape *shape, const struct board *board,
		   uint64_t fits, struct placement *ret);

struct score_options score_options_of(const struct pool *pool);
void pool_board(const struct pool *pool, unsigned node, struct board *ret);
