/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one book of who holds what, and the decisions. Pure: no clock, file, socket, log or global.
 * Whoever knows grants (a state file, a ledger, pod-resources, an API server, a trace) fills the
 * book with pool_hold(); decisions are data until pool_assume() makes them grants.
 *
 * A decision does not look at all nodes. Pods of one shape (the same request, needs and wishes)
 * share an index: a tournament over the nodes by score. A grant or release writes the node into a
 * log of changes; an index reads what it missed when its shape is asked for next, and each decision
 * brings one more index up to date, so that nobody pays for all that happened since. What never
 * changes (models, labels, health) is asked once a shape and kind of node. A refusal that wants a
 * reason has an index of its own, by the deepest obstacle.
 *
 * Ties between nodes are explicit, see enum tie_rule.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"
#include "place/record.h"

struct pool;

/* How to add a policy: a row in policy.c, its name here, cases in test_policy.c, docs/placement.md. */
enum node_policy {
	NODE_POLICY_DEFAULT,
	NODE_POLICY_RANDOM,
	NODE_POLICY_DOTPROD,
	NODE_POLICY_GPUCLUSTERING,
	NODE_POLICY_GPUPACKING,
	NODE_POLICY_BESTFIT,
	NODE_POLICY_FGD,
	NODE_POLICY_BINPACK,
	NODE_POLICY_SPREAD,
	NODE_POLICY_TOPOLOGY,
	NODE_POLICY_MAX,
	NODE_POLICY_INVALID = -22,
};

enum tie_rule {
	TIE_NAME,    /* the node that was added first: add nodes in order of their names */
	TIE_RANDOM,  /* one of them, each alike, by the seed */
	TIE_BESTFIT, /* the fullest by the score of bestfit, then the first */
	TIE_MAX,
	TIE_INVALID = -22,
};

struct policy_options {
	enum node_policy policy; /* of Pods that ask for none of their own */
	enum tie_rule ties;
	uint64_t seed; /* of policy random and TIE_RANDOM */
	/* Peculiarities of the published simulator, off by default; see docs/placement.md. */
	bool original_cards;   /* exclusive Pods take the lowest-numbered free cards */
	bool original_classes; /* CPU-only Pods are target classes of fgd */
};

/* The mix of Pods that is expected: fgd and our default judge a node by what it leaves for them. */
struct workload_class {
	const struct demand *demand; /* not owned; read by pool_set_workload() only */
	double share;                /* of all Pods; the sum is 1 */
};

struct pool *pool_new(void); /* NULL when out of memory */
void pool_free(struct pool *pool);
DEFINE_CLEANUP(struct pool, pool_free)
#define autopool cleanup(pool_freep) struct pool

/*
 * Adds a node (copied). -EEXIST for a name or a UUID that is there; -E2BIG for more than 64 cards
 * on the node or 256 models in the pool; -EINVAL or -ERANGE for a card without a mode, of more
 * than 65,535 GiB or with MIG instances that cannot be. On failure the pool is as before.
 */
int pool_add_node(struct pool *pool, const struct node_spec *node, struct error *error);

/* Both forget what was indexed; holders stay. Before the first decision is the right time. */
int pool_set_policy(struct pool *pool, const struct policy_options *options); /* -EINVAL */
/* After the nodes and the policy (another original_classes or a node more forgets it). -ENOMEM. A
 * class that this pool cannot read (see pool_decide()) is left out. */
int pool_set_workload(struct pool *pool, const struct workload_class *classes, size_t count);

/* Whoever acts on the decisions cannot give this kind: it is refused as not_offered from now on. */
void pool_withhold(struct pool *pool, enum request_kind kind);

struct placement {          /* which cards, for one request */
	unsigned node;      /* number of the node, in order of pool_add_node() */
	unsigned cards[64]; /* positions in the node's cards, rising; MIG: one an instance */
	unsigned units[64]; /* GiB reserved on each; whole cards: all their units */
	uint64_t memory_mib[64];
	uint8_t starts[64]; /* MIG: first memory slices; of one card rising */
	unsigned count;
	unsigned compute_percent; /* on each */
};

struct decision {
	unsigned node;  /* the same for all placements; a Pod without cards has none */
	unsigned count; /* placements, one a request of the demand, in order */
	struct placement placements[DEMAND_REQUESTS_MAX]; /* what lies behind count is not set */
};

/*
 * Chooses, changes nothing that can be seen (it may sort nodes for the next decision: one thread
 * at a time). A memory_percent is rounded down to whole GiB of each card, at least 1. All requests of
 * the Pod on one node, or none.
 * 0: *ret is a decision. -EAGAIN: could fit later. -ENOSPC: can never fit in this pool.
 * With both refusals *ret_reason (NULL: none is wanted, and -EAGAIN stands for both) says why: the
 * deepest obstacle over all nodes, with numbers that are right for the node and card that it names.
 */
int pool_decide(struct pool *pool, const struct demand *demand, struct decision *ret,
		struct reason *ret_reason);
/* The same on one node only. */
int pool_decide_on(struct pool *pool, unsigned node, const struct demand *demand,
		   struct decision *ret, struct reason *ret_reason);
/*
 * Places for all Pods of a gang, which can be held together, or for none: RET has COUNT decisions,
 * in order of DEMANDS. With a gang_domain all nodes have one value of that label. Results as those
 * of pool_decide(); gang_busy and gang_size when each Pod by itself would fit. How: gang.c.
 */
int pool_decide_gang(struct pool *pool, const struct demand *const *demands, size_t count,
		     struct decision *ret, struct reason *ret_reason);
/*
 * A decision becomes a grant: assumed until it is confirmed (the API server has it) or forgotten
 * (it does not). *ret_id is its number, never 0. -EBUSY and no change if it does not fit; -EINVAL
 * for a decision that cannot be one for DEMAND; -ENOMEM. Only room is checked: what somebody holds
 * is held, even on a card that is sick by now.
 */
int pool_assume(struct pool *pool, const struct demand *demand, const struct decision *decision,
		uint64_t *ret_id);
int pool_confirm(struct pool *pool, uint64_t id); /* -ENOENT; -EALREADY when confirmed */
int pool_forget(struct pool *pool, uint64_t id);  /* -ENOENT; -EPERM when confirmed */
int pool_release(struct pool *pool, uint64_t id); /* -ENOENT; assumed or confirmed */
/* Assumes and confirms. */
int pool_hold(struct pool *pool, const struct demand *demand, const struct decision *decision,
	      uint64_t *ret_id);
/*
 * The same for a grant that is known by UUIDs, from a state file or a ledger, on NODE; it counts no
 * CPU or memory. -ENOENT for a card that is not on that node (the error names it), -EBUSY for one
 * without room, -EINVAL.
 */
int pool_hold_grant(struct pool *pool, unsigned node, const struct grant *grant, uint64_t *ret_id,
		    struct error *error);

/*
 * Why a demand gets what it gets: every node and every card of the pool is counted under one class.
 * It is the decisions' own code that answers. The reason of one node: pool_decide_on(); of one card:
 * pool_explain_card().
 */
struct explained_node {
	enum reason_code code; /* REASON_NONE: it fits */
	size_t rank;           /* 1: the one that is chosen; 0: it does not fit */
	int64_t value, tie;    /* of the policy and of the tie rule; 0 when it does not fit */
	size_t first_card;     /* in explanation.cards */
	unsigned serving;      /* of its cards: those that can serve */
};

struct explained_class {
	size_t nodes, cards;
	unsigned node;                     /* of nodes: the one that is nearest to a fit */
	unsigned card_node, card_position; /* of cards: the first */
};

struct explanation {
	int result;                   /* as of pool_decide(), as are the next two */
	struct decision decision;     /* when it is 0 */
	struct reason reason;         /* when it is not */
	const char *policy;           /* that judged; NULL for a demand that cannot be read */
	enum tie_rule ties;           /* that chose among those alike */
	size_t alike;                 /* nodes that are as good as the one that is chosen, and it */
	struct explained_node *nodes; /* owned */
	size_t node_count;
	/* Owned; of all nodes, in order. REASON_NONE: it can serve, whatever else its node lacks.
	 * None for a Pod that asks for none, or in several containers. */
	enum reason_code *cards;
	size_t card_count;
	/* By code; REASON_NONE: nodes that fit, and cards that can serve there. */
	struct explained_class classes[REASON_CODE_MAX];
	size_t kept_cards; /* that could serve, on nodes that do not fit */
};

/* Changes nothing, also of what is drawn next among ties. -ENOMEM. */
int pool_explain(struct pool *pool, const struct demand *demand, struct explanation *ret);
void explanation_release(struct explanation *explanation);
/* 0: it can serve; else as pool_decide(). -EINVAL: no such card, none is asked for, or
 * in several containers. */
int pool_explain_card(const struct pool *pool, const struct demand *demand, unsigned node,
		      unsigned card, struct reason *ret_reason);
/* In the manner of Kubernetes: "2/9 nodes fit: 4 not enough free cards, 3 no card of the wanted
 * model." */
void explanation_summarize(const struct explanation *explanation, struct strbuf *out);

/* ---- places that may change (seating.c, lookahead.c, moves.c) ---- */

#define SEAT_NONE              UINT32_MAX
#define SEATING_LOOK_AHEAD_MAX 4096u

/*
 * Look-ahead: a Pod has a place when it comes, if it fits, but that may change until it is bound,
 * which is when LOOK_AHEAD - 1 Pods came after it. Moves: running Pods move so that others fit, and
 * to tidy up; at no time more of them than a share of the Pods placed so far.
 */
struct seating_options {
	unsigned look_ahead;     /* Pods known, the one that is bound among them; 1: none ahead */
	unsigned moves_permille; /* of the Pods placed; 0: none move */
};

struct seat_change { /* what a call did to one Pod */
	uint32_t seat;
	uint64_t tag;      /* the caller's */
	uint32_t from, to; /* node before the call and now; SEAT_NONE: none */
	uint64_t cards;    /* of the node TO */
	bool was_bound;    /* before the call: it moved, or ended */
	bool bound;        /* by this call; without a node: it is refused, its seat is free */
};

/*
 * The pool's nodes, policy and workload stay as they are while it lives. Its grants are ended here
 * and not in the pool; others may come and go. They are assumed until bound, then confirmed.
 */
struct seating;
/* -EINVAL for options out of bounds, and for a pool without an expected workload. */
int seating_new(struct pool *pool, const struct seating_options *options, struct seating **ret);
void seating_free(struct seating *seating); /* the grants stay */
/* Pods that ask for DEMAND, which lives as long as the seating; they are judged once for all. */
int seating_add_kind(struct seating *seating, const struct demand *demand, unsigned *ret);
/*
 * A grant of the pool that is confirmed, of a Pod that runs already: it may move, too, and counts as
 * placed. -ENOENT; -EINVAL for what the kind does not ask for, and for Pods that never move: those
 * that name cards, ask for instances, or for cards in several containers.
 */
int seating_adopt(struct seating *seating, unsigned kind, uint64_t id, uint64_t tag);
/*
 * Each of these makes a new list of changes, every Pod at most once; a negative errno is -ENOMEM
 * or -EINVAL or -ENOENT, and what happened before it is in the list.
 */
int seating_arrive(struct seating *seating, unsigned kind, uint64_t tag);
int seating_finish(struct seating *seating); /* nobody else comes: all are bound */
int seating_end(struct seating *seating, uint32_t seat);
const struct seat_change *seating_changes(const struct seating *seating, size_t *ret_count);
uint64_t seating_moves(const struct seating *seating); /* since the start */

/*
 * Without a pool: which WANTED of CARDS (positions in the inventory's cards, a bit each) a request for
 * whole cards gets there, by the same measure, with all of MUST. Sick cards are the caller's to leave
 * out. -EINVAL: not so many, or MUST are more; -ENOMEM.
 */
int place_choose_cards(const struct inventory *inventory, uint64_t cards, uint64_t must,
		       unsigned wanted, uint64_t *ret);

const char *pool_node_name(const struct pool *pool, unsigned node);
const struct card *pool_card(const struct pool *pool, unsigned node, unsigned card);
size_t pool_node_count(const struct pool *pool);
unsigned pool_node_card_count(const struct pool *pool, unsigned node); /* 0 for an unknown node */
size_t pool_grant_count(const struct pool *pool);
struct resources pool_node_allocatable(const struct pool *pool, unsigned node);
struct resources pool_node_used(const struct pool *pool, unsigned node); /* sums of the needs */
/* Units granted on a card (a whole holder counts all), and the free ones: total - granted - used
 * without a grant, never below 0. */
unsigned pool_card_granted(const struct pool *pool, unsigned node, unsigned card);
bool pool_card_held_whole(const struct pool *pool, unsigned node, unsigned card);
unsigned pool_card_free(const struct pool *pool, unsigned node, unsigned card);
/* MIG instances of the request's profile that the card takes now. */
unsigned pool_card_instance_room(const struct pool *pool, unsigned node, unsigned card,
				 const struct request *request);
/* Per cent of a card's compute that caps may still take, and those for which neither caps nor the
 * memory of slices without a cap stand. */
unsigned pool_card_free_compute(const struct pool *pool, unsigned node, unsigned card);
unsigned pool_card_idle_compute(const struct pool *pool, unsigned node, unsigned card);
/* 1/1000 of the card that are left to give: the smaller of memory and compute; of a card in mode
 * mig the memory slices. */
unsigned pool_card_left_milli(const struct pool *pool, unsigned node, unsigned card);

const char *node_policy_to_string(enum node_policy policy);
enum node_policy node_policy_from_string(const char *text);
const char *tie_rule_to_string(enum tie_rule rule);
enum tie_rule tie_rule_from_string(const char *text);
