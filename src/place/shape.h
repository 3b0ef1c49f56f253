/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of Pods and their indexes; see place.h. Of those that decide, move or explain. */
#pragma once

#include "score.h"

#define SHAPE_KEY_MAX 1024u

/* The nodes of a pool by what a shape thinks of them. */
struct shape_index {
	struct tournament tournament;
	bool started;
	uint64_t seen; /* changes of the pool that are in it */
};

/* What is the same for all Pods of a shape. */
struct shape {
	struct query query; /* its demand and request are those of the Pod at hand */
	struct resources needs;
	struct request numbers; /* of the request; its lists are empty */
	struct piece piece;
	uint16_t *milli; /* owned; of the piece */
	const struct score_row *row;
	enum tie_rule ties;

	uint8_t *key; /* owned; the demand as bytes */
	size_t key_size;
	uint64_t hash;
	/* What never changes; NULL without an index. */
	uint64_t *selected;   /* owned; nodes whose labels and taints let it in */
	uint64_t *kind_cards; /* owned; by kind of node: see filter_eligible() */
	/* Most Pods fit: obstacles are looked at only when somebody wants to know one. */
	struct shape_index fits, obstacles;
	bool plain;    /* judged by the numbers above alone, without the Pod at hand */
	bool refused;  /* the last time */
	uint64_t used; /* the turn when it was last asked for */
};

/* Bytes that differ whenever the demands do, as far as decisions look at them; 0: too many, or not
 * all is in them (UUIDs, several requests). */
size_t shape_key(const struct demand *demand, uint8_t ret[SHAPE_KEY_MAX]);
/* Everything but the indexes. 0 or -ENOMEM. */
int shape_init(const struct pool *pool, const struct demand *demand, struct shape *ret);
void shape_release(struct shape *shape);
/* The shape and what fits it, up to date; NULL: no index (too long, names UUIDs, no memory). DEMAND
 * is that of the Pod at hand. */
struct shape *shape_get(struct pool *pool, const struct demand *demand);
/* The node that is nearest to a fit when none fits; TOURNAMENT_NONE: no memory, or no node. */
uint32_t shape_nearest(struct pool *pool, struct shape *shape);

/* Sets what shape_cards() is quick with: a word for each node. 0 or -ENOMEM. */
int shape_find_eligible(const struct pool *pool, struct shape *shape);
/* False when NODE does not fit; else the cards of it that serve. */
bool shape_cards(const struct pool *pool, const struct shape *shape, unsigned node, uint64_t *ret);
/* By the index, of which NODE is up to date. */
bool shape_may_fit(const struct shape *shape, unsigned node);
/* False when NODE does not fit; its key is out then. */
bool shape_fits(const struct pool *pool, const struct shape *shape, unsigned node,
		struct tournament_key *ret);
/* How near NODE is to a fit, more is nearer: the depth of its obstacle, then what it lacks. */
int64_t shape_obstacle(const struct pool *pool, const struct shape *shape, unsigned node);
/* The policy's choice of FITS on the node of BOARD. */
struct answer shape_ask(const struct pool *pool, const struct shape *shape,
			const struct board *board, uint64_t fits);

/* The same for any board and piece: a question without tables and options. */
struct answer shape_score(const struct pool *pool, const struct shape *shape,
			  const struct question *question);
/* mig.c: the request's instances on FITS of the board's node, which have room for all; the sum of
 * the policy's values. They are added to *ret, which may be NULL. */
int64_t mig_choose(const struct pool *pool, const struct shape *shape, const struct board *board,
		   uint64_t fits, struct placement *ret);

/* decide.c */
#define ANY_NODE UINT32_MAX

struct best {
	uint32_t node; /* TOURNAMENT_NONE: none fits */
	struct tournament_key key;
	uint32_t alike;
};

/* One node more; of those that are alike the first stays, or each with the same chance. */
void best_offer(struct pool *pool, enum tie_rule ties, unsigned node,
		const struct tournament_key *key, struct best *best);
/* The policy's choice of cards on a node on which the shape fits. */
void decide_place(const struct pool *pool, const struct shape *shape, uint32_t node,
		  struct decision *ret);
/* CARDS of NODE for the request, which is not for instances. */
void placement_fill(const struct pool *pool, const struct request *request, unsigned node,
		    uint64_t cards, struct placement *ret);
/* pool_decide() of a demand with one request at most, which is well; ONLY: the node, or ANY_NODE. */
int decide_one(struct pool *pool, uint32_t only, const struct demand *demand, struct decision *ret,
	       struct reason *ret_reason);
/* several.c: of one with several. */
int decide_several(struct pool *pool, uint32_t only, const struct demand *demand,
		   struct decision *ret, struct reason *ret_reason);

/* The same on one node; *ret is what it is worth. */
int several_look(struct pool *pool, const struct demand *demand, unsigned node,
		 struct tournament_key *ret, struct reason *ret_reason);

struct score_options score_options_of(const struct pool *pool);
void pool_board(const struct pool *pool, unsigned node, struct board *ret);
