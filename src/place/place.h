/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one book of who holds what, and the decisions. Pure: no clock, file, socket, log or global.
 * Whoever knows grants (a state file, a ledger, pod-resources, an API server) fills the book with
 * pool_hold(); decisions are data until pool_hold() makes them grants.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"

struct pool;

struct pool *pool_new(void); /* NULL when out of memory */
void pool_free(struct pool *pool);
DEFINE_CLEANUP(struct pool, pool_free)

/*
 * Adds a node with the cards of INVENTORY (copied). -EEXIST for a name or a UUID that is there;
 * -E2BIG for more than 64 cards on the node or 256 models in the pool; -EINVAL or -ERANGE for a
 * card without a mode or of more than 65,535 GiB. On failure the pool is as before.
 */
int pool_add_node(struct pool *pool, const char *name, const struct inventory *inventory,
		  struct error *error);

struct placement {          /* which cards of which node, for one request */
	unsigned node;      /* number of the node, in order of pool_add_node() */
	unsigned cards[64]; /* positions in that node's cards */
	unsigned units[64]; /* GiB reserved on each; whole cards: all their units */
	uint64_t memory_mib[64];
	unsigned count;
	unsigned compute_percent; /* on each */
};

/*
 * Chooses, changes nothing that can be seen (it may sort cards for the next decision: one thread
 * at a time). A memory_percent is rounded down to whole GiB of each card, at least 1. OBJECT names the container for the reason.
 * 0: *ret is a placement. -EAGAIN: could fit later. -ENOSPC: can never fit in this pool.
 * With both refusals *ret_reason says why: the deepest obstacle over all nodes, with numbers that
 * are right for the node and card that it names.
 */
int pool_decide(const struct pool *pool, const struct request *request, const char *object,
		struct placement *ret, struct reason *ret_reason);

/*
 * Makes a placement a grant. *ret_id is its number, never 0. -EBUSY and no change if it does not
 * fit; -EINVAL for a placement that cannot be one for REQUEST; -ENOMEM. Only room is checked: what
 * somebody holds is held, even on a card that is sick by now.
 */
int pool_hold(struct pool *pool, const struct request *request, const struct placement *placement,
	      uint64_t *ret_id);
/*
 * The same for a grant that is known by UUIDs, from a state file or a ledger, on NODE. -ENOENT for
 * a card that is not on that node (the error names it), -EBUSY for one without room, -EINVAL.
 */
int pool_hold_grant(struct pool *pool, unsigned node, const struct grant *grant, uint64_t *ret_id,
		    struct error *error);
/* -ENOENT when unknown. */
int pool_release(struct pool *pool, uint64_t id);

const char *pool_node_name(const struct pool *pool, unsigned node);
const struct card *pool_card(const struct pool *pool, unsigned node, unsigned card);
size_t pool_node_count(const struct pool *pool);
unsigned pool_node_card_count(const struct pool *pool, unsigned node); /* 0 for an unknown node */
size_t pool_grant_count(const struct pool *pool);
/* Units granted on a card (a whole holder counts all), and the free ones: total - granted - used
 * without a grant, never below 0. */
unsigned pool_card_granted(const struct pool *pool, unsigned node, unsigned card);
bool pool_card_held_whole(const struct pool *pool, unsigned node, unsigned card);
unsigned pool_card_free(const struct pool *pool, unsigned node, unsigned card);
