/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share. A node has at most 64 cards, so sets of its cards are
 * words; a pool has at most 256 models, so sets of models are four.
 */
#pragma once

#include "place.h"
#include "order.h"

#define NODE_CARDS_MAX   64u
#define POOL_MODELS_MAX  256u
#define POOL_VIEWS_MAX   16u
#define POOL_CARDS_MAX   (1u << 25)
#define CARD_UNITS_MAX   65535u
#define REQUEST_UUID_MAX 64u
#define COMPUTE_WHOLE    100u

struct model_set {
	uint64_t words[POOL_MODELS_MAX / 64];
};

/* The part of a card that decisions look at; the rest is struct card. */
struct slot {
	uint32_t node;
	uint16_t model;   /* position in the pool's models */
	uint16_t units;   /* GiB of the card */
	uint16_t granted; /* GiB held by slices */
	uint16_t foreign; /* GiB, rounded up, used without a grant */
	uint16_t slices;  /* slices held */
	uint8_t compute;  /* sum of the hard caps, per cent */
	bool held_whole;
	bool size_unknown; /* lost before it told */
};

struct node {
	/* What each decision and grant touches: one line of the processor's cache. */
	uint64_t idle;                  /* sets of the node's cards: no holder at all */
	uint64_t for_whole, for_slices; /* that may be held so, holders left out of account */
	uint64_t may_be_both;           /* mode auto */
	uint64_t *groups;               /* owned; NVLink groups of two and more cards */
	uint32_t first;                 /* number in the pool of the first card */
	uint32_t first_group;           /* and of the first group */
	unsigned count, group_count;

	char *name;    /* owned */
	char *problem; /* owned; why the driver gives no cards, or NULL */
	bool versions_differ;
	struct card *cards; /* owned, with their links and processes */
	uint64_t healthy, foreign;
	uint64_t modes[CARD_MODE_MAX];
	uint16_t *ties; /* owned; count * count, the strength of each pair's link */
};

struct held_card {
	uint16_t card; /* of the node */
	uint16_t units;
	uint8_t compute;
};

struct held {
	enum request_kind kind;
	uint32_t node;
	unsigned count;
	struct held_card cards[];
};

struct grant_entry {
	struct held *held;   /* owned; NULL: free */
	uint32_t generation; /* so that an old id of a reused entry is unknown */
	uint32_t next_free;
};

/*
 * The cards of one set of models, sorted for the policies. Keys, high bits first:
 *   whole:  usable cards of the node | free ones | node
 *   slices: lane | free units | free compute | card      (a lane: precious or not, card size)
 *   groups: free cards of the group | group
 *   several[k]: free units of the k-th best card of the node | node
 */
struct view {
	struct model_set models;
	uint64_t used;   /* the turn when it was last used */
	uint16_t *sizes; /* owned; different card sizes in units, rising */
	unsigned size_count;
	uint64_t *cards; /* owned; by node, its cards of these models */
	struct order whole, slices, groups;
	struct order *several[NODE_CARDS_MAX + 1]; /* owned; made when first asked for */
};

struct views {
	struct view *items[POOL_VIEWS_MAX]; /* owned */
	uint64_t turn;
};

struct pool {
	struct node *nodes; /* owned */
	size_t node_count, node_capacity;
	struct slot *slots; /* owned; all cards in order of the nodes */
	size_t slot_count, slot_capacity;
	char **models; /* owned, names owned */
	size_t model_count, model_capacity;
	uint32_t *group_nodes; /* owned; the node of each NVLink group */
	size_t group_count, group_capacity;
	struct map *names, *uuids;  /* owned; to number + 1 */
	struct grant_entry *grants; /* owned */
	size_t grant_count, grant_capacity;
	uint32_t first_free;
	struct views *views; /* owned. A cache: no answer depends on what it holds */
};

static inline bool model_set_has(const struct model_set *set, unsigned model)
{
	return set->words[model / 64] >> (model % 64) & 1;
}

static inline void model_set_add(struct model_set *set, unsigned model)
{
	set->words[model / 64] |= 1ull << (model % 64);
}

static inline unsigned count_cards(uint64_t cards)
{
	return (unsigned)__builtin_popcountll(cards);
}

/* for (uint64_t rest = cards; rest; rest &= rest - 1) ... first_card(rest) */
static inline unsigned first_card(uint64_t cards)
{
	return (unsigned)__builtin_ctzll(cards);
}

static inline uint64_t card_bit(unsigned card)
{
	return 1ull << card;
}

static inline const struct slot *node_slot(const struct pool *pool, const struct node *node,
					   unsigned card)
{
	return &pool->slots[node->first + card];
}

static inline unsigned slot_free_units(const struct slot *slot)
{
	return slot->held_whole || slot->granted > slot->units
		       ? 0u
		       : (unsigned)(slot->units - slot->granted);
}

static inline unsigned slot_free_compute(const struct slot *slot)
{
	return slot->held_whole || slot->compute > COMPUTE_WHOLE ? 0u
								 : COMPUTE_WHOLE - slot->compute;
}

/* A request, looked up once. */
struct query {
	const struct request *request;
	const char *object;
	struct model_set models;
	uint32_t named[REQUEST_UUID_MAX], excluded[REQUEST_UUID_MAX]; /* cards, rising */
	unsigned named_count, excluded_count;
	bool by_name; /* only named cards, even when none of them is there */
};

/* How far down the filters some node comes; later is deeper. */
enum depth {
	DEPTH_IDENTITY, /* no card of the model or UUID */
	DEPTH_OFFERED,  /* kinds that nothing places yet */
	DEPTH_MATCHING, /* fewer such cards than asked for */
	DEPTH_SIZE,     /* too small even when empty */
	DEPTH_HEALTH,
	DEPTH_MODE,
	DEPTH_FOREIGN,
	DEPTH_FREE, /* free cards, or free memory */
	DEPTH_COMPUTE,
	DEPTH_FITS,
};

struct standing {
	enum depth depth;
	int64_t rank; /* in this depth, more is nearer to a fit */
	unsigned node;
	unsigned card; /* that the numbers speak of */
	int64_t wanted, have, total;
	uint64_t fits; /* the cards that passed every filter so far */
};

/* query.c */
void query_init(const struct pool *pool, const struct request *request, const char *object,
		struct query *ret);
/* NULL, or what is wrong with the request itself, written to TEXT. */
const char *query_check(const struct request *request, char *text, size_t size);
bool query_any_model(const struct query *query); /* some model of the pool is right */
bool query_excludes(const struct query *query, uint32_t card);
uint64_t query_matches(const struct pool *pool, const struct query *query, unsigned node);
unsigned query_units(const struct request *request, unsigned card_units);

/* filter.c */
void filter_node(const struct pool *pool, const struct query *query, unsigned node,
		 struct standing *ret);

/* refuse.c: fills the reason and gives -EAGAIN or -ENOSPC. */
int refuse_request(const char *object, const char *what, struct reason *ret_reason);
int refuse_standing(const struct pool *pool, const struct query *query,
		    const struct standing *standing, struct reason *ret_reason);

/* topology.c */
int topology_init(struct node *node); /* 0 or -ENOMEM */
/* WANTED of the node's CARDS; at least that many are there. */
uint64_t topology_choose(const struct node *node, uint64_t cards, unsigned wanted);
/* The smallest NVLink group with WANTED of CARDS, cut to those, or CARDS. */
uint64_t topology_group(const struct node *node, uint64_t cards, unsigned wanted);

/* view.c */
/* NULL when out of memory: the caller then looks at every node. */
struct view *view_get(const struct pool *pool, const struct model_set *models);
struct order *view_several(const struct pool *pool, struct view *view, unsigned cards);
void views_drop(struct pool *pool);
/* To be called after the holders of CARDS of NODE changed, and TURNED of them became idle or were
 * idle before. */
void views_update(struct pool *pool, unsigned node, uint64_t cards, uint64_t turned);

#define KEY_ID_BITS      25
#define KEY_COMPUTE_BITS 7
#define KEY_UNITS_BITS   16

static inline uint64_t key_slice(unsigned lane, unsigned units, unsigned compute, uint32_t card)
{
	return ((((uint64_t)lane << KEY_UNITS_BITS | units) << KEY_COMPUTE_BITS | compute)
		<< KEY_ID_BITS) |
	       card;
}

static inline uint64_t key_count(unsigned high, unsigned low, uint32_t item)
{
	return (((uint64_t)high << KEY_UNITS_BITS | low) << KEY_ID_BITS) | item;
}

static inline unsigned key_high(uint64_t key) /* of key_count() */
{
	return (unsigned)(key >> (KEY_UNITS_BITS + KEY_ID_BITS));
}

static inline unsigned key_low(uint64_t key)
{
	return (unsigned)(key >> KEY_ID_BITS) & ((1u << KEY_UNITS_BITS) - 1);
}

static inline unsigned key_lane(uint64_t key) /* of key_slice() */
{
	return (unsigned)(key >> (KEY_UNITS_BITS + KEY_COMPUTE_BITS + KEY_ID_BITS));
}

static inline unsigned key_units(uint64_t key)
{
	return (unsigned)(key >> (KEY_COMPUTE_BITS + KEY_ID_BITS)) & ((1u << KEY_UNITS_BITS) - 1);
}

static inline unsigned key_compute(uint64_t key)
{
	return (unsigned)(key >> KEY_ID_BITS) & ((1u << KEY_COMPUTE_BITS) - 1);
}

/* search.c: 0 or -ENOENT. */
int search_fit(const struct pool *pool, const struct query *query, struct placement *ret);
/* obstacle.c */
void search_obstacle(const struct pool *pool, const struct query *query, struct standing *ret);
