/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share. A node has at most 64 cards, so sets of its cards are
 * words; a pool has at most 256 models, so sets of models are four.
 */
#pragma once

#include "place.h"
#include "recorder.h"
#include "tournament.h"

#define NODE_CARDS_MAX   64u
#define POOL_MODELS_MAX  256u
#define POOL_CARDS_MAX   (1u << 25)
#define CARD_UNITS_MAX   65535u
#define REQUEST_UUID_MAX 64u
#define COMPUTE_WHOLE    100u

#define MIG_INSTANCES_MAX 64u /* of one request: what a placement has room for */

struct model_set {
	uint64_t words[POOL_MODELS_MAX / 64];
};

/* The part of a card that decisions look at; the rest is struct card. */
struct slot {
	uint32_t node;
	uint16_t model;   /* position in the pool's models */
	uint16_t units;   /* GiB of the card */
	uint16_t granted; /* GiB held by slices */
	uint16_t slices;  /* slices held */
	uint16_t weights; /* GiB of granted without a cap: those have compute by their share */
	uint8_t compute;  /* sum of the hard caps, per cent */
	bool held_whole;
	bool size_unknown; /* lost before it told */
};

/* What is left of a card: what an index reads of each card of a node that changed, and no more. */
struct room {
	uint16_t units;      /* GiB */
	uint16_t left_milli; /* 1/1000 of the card: the smaller of memory and compute */
	uint16_t model;
	uint8_t compute; /* per cent */
};

struct mig_instance {
	const struct mig_profile *profile;
	uint8_t start;
};

/* A card in mode mig; apart from its slot, which decisions of other kinds read. */
struct mig_card {
	const struct mig_model *model; /* NULL: no places are known, so that it takes nothing */
	struct mig_use use;            /* of the instances that are held */
	uint8_t held;                  /* how many */
	uint8_t layout_count;          /* 0: instances are made as they are asked for */
	struct mig_instance layout[CARD_MIG_ENTRIES]; /* else only these can be held */
};

struct node {
	/* What each decision and grant touches: one line of the processor's cache. */
	uint64_t idle;          /* sets of the node's cards: no holder at all */
	struct resources left;  /* total without used; 0 where more is used */
	struct resources total; /* allocatable */
	uint32_t first;         /* number in the pool of the first card */
	uint32_t count;

	uint64_t tags;         /* kinds of Pods that are there, see tag_of() */
	struct resources used; /* the sum of needs */
	uint64_t *groups;      /* owned; NVLink groups of two and more cards */
	struct mig_card *mig;  /* owned; by card; NULL: none is in that mode */
	unsigned group_count;
	uint32_t tag_counts[64];

	struct node_spec labels; /* owned; labels, taints and cordon only */
	const char *name;        /* of labels */
	char *problem;           /* owned; why the driver gives no cards, or NULL */
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
	uint8_t kind;           /* enum request_kind */
	uint8_t part;           /* the request of the Pod that it is for */
	uint8_t start, profile; /* MIG: first slice, position in the model's profiles */
};

struct held {
	uint32_t node;
	unsigned count;
	struct resources needs;
	uint8_t tag; /* 1 + bit of tag_of(), 0: none */
	bool assumed;
	struct held_card cards[];
};

struct grant_entry {
	struct held *held;   /* owned; NULL: free */
	uint32_t generation; /* so that an old id of a reused entry is unknown */
	uint32_t next_free;
};

struct pool {
	struct node *nodes; /* owned */
	size_t node_count, node_capacity;
	struct slot *slots; /* owned; all cards in order of the nodes */
	size_t slot_count, slot_capacity;
	struct room *rooms; /* owned; as slots */
	size_t room_capacity;
	char **models;                                       /* owned, names owned */
	uint16_t model_units[POOL_MODELS_MAX];               /* GiB of a card of the model */
	const struct mig_model *mig_models[POOL_MODELS_MAX]; /* NULL: no MIG, or unknown */
	size_t model_count, model_capacity;
	/* Nodes are of one kind when filters whose answer never changes cannot tell them apart but by
	 * labels and taints. */
	uint32_t *kinds; /* owned; by node */
	size_t kinds_capacity;
	uint32_t *kind_nodes; /* owned; the first node of each */
	size_t kind_count, kind_capacity;
	struct map *kind_names;     /* owned; of what is alike, to number + 1 */
	struct map *names, *uuids;  /* owned; to number + 1 */
	struct grant_entry *grants; /* owned */
	size_t grant_count, grant_capacity;
	uint32_t first_free;
	uint32_t withheld; /* kinds of requests, 1u << kind */

	struct policy_options options;
	struct score_tables *tables; /* owned; what the expected workload says; may be NULL */
	struct score_memo *memos;    /* owned; by node; NULL without tables */
	/* A cache: no answer depends on what it holds. */
	struct shapes *shapes; /* owned */
	uint32_t *changes;     /* owned; ring of nodes that changed, CHANGES_MAX long */
	uint64_t *changed;     /* owned; by node: the number of its last change */
	size_t changed_capacity;
	uint64_t change_count;     /* since the start */
	uint64_t random;           /* state of the generator that draws among ties */
	struct recorder *recorder; /* owned; NULL: nobody records */
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

static inline bool node_has_room(const struct node *node, const struct resources *needs)
{
	return needs->cpu_milli <= node->left.cpu_milli &&
	       needs->memory_mib <= node->left.memory_mib && needs->pods <= node->left.pods;
}

static inline const struct room *node_rooms(const struct pool *pool, const struct node *node)
{
	return pool->rooms ? &pool->rooms[node->first] : NULL; /* a pool without cards has none */
}

/* A request, looked up once. */
struct query {
	const struct demand *demand;
	const struct request *request; /* NULL: no cards */
	const char *object;
	struct model_set models;
	uint32_t named[REQUEST_UUID_MAX], excluded[REQUEST_UUID_MAX]; /* cards, rising */
	unsigned named_count, excluded_count;
	bool by_name; /* only named cards, even when none of them is there */
};

/* How far down the filters some node comes; later is deeper. */
enum depth {
	DEPTH_IDENTITY, /* no card of the model or UUID */
	DEPTH_AFFINITY, /* labels that are not wanted */
	DEPTH_OFFERED,  /* kinds that nothing places yet */
	DEPTH_MATCHING, /* fewer such cards than asked for */
	DEPTH_SIZE,     /* too small even when empty */
	DEPTH_NODE_CPU, /* of the whole node */
	DEPTH_NODE_MEMORY,
	DEPTH_TAINT,
	DEPTH_HEALTH,
	DEPTH_MODE,
	DEPTH_FOREIGN,
	DEPTH_FREE, /* free cards, or free memory */
	DEPTH_COMPUTE,
	DEPTH_CPU,
	DEPTH_MEMORY,
	DEPTH_PODS,
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
void query_init(const struct pool *pool, const struct demand *demand, struct query *ret);
/* NULL, or what is wrong with the request itself, written to TEXT. */
const char *query_check(const struct demand *demand, char *text, size_t size);
bool query_any_model(const struct query *query); /* some model of the pool is right */
bool query_excludes(const struct query *query, uint32_t card);
uint64_t query_matches(const struct pool *pool, const struct query *query, unsigned node);
unsigned query_units(const struct request *request, unsigned card_units);

/* hold.c: to be called after what is held of the card, or the card, changed. */
void room_update(struct pool *pool, const struct node *node, unsigned card);

/* kind.c: of NODE, which becomes the next of the pool; a new one when there is none. -ENOMEM. */
int kind_find(struct pool *pool, const struct node *node, uint32_t *ret);

/* filter.c */
void filter_node(const struct pool *pool, const struct query *query, unsigned node,
		 struct standing *ret);
/* One card for one of the request's, whatever else is on the node and whatever the node lacks. */
void filter_card(const struct pool *pool, const struct query *query, unsigned node, unsigned card,
		 struct standing *ret);
/*
 * The cards of NODE that pass every filter whose answer never changes, labels and taints left out of
 * account; 0 when they are fewer than the request wants or the node itself does not pass;
 * UINT64_MAX for a Pod without cards.
 */
uint64_t filter_eligible(const struct pool *pool, const struct query *query, unsigned node);

/* refuse.c: fills the reason and gives -EAGAIN or -ENOSPC. */
int refuse_request(const char *object, const char *what, struct reason *ret_reason);
int refuse_standing(const struct pool *pool, const struct query *query,
		    const struct standing *standing, enum reason_scope scope,
		    struct reason *ret_reason);

/* hold.c */
/*
 * For a try: takes a card or an instance and writes no log, so that indexes must not be asked until
 * all is given back. False, and no change, where there is no room.
 */
bool hold_try(struct pool *pool, unsigned node, const struct held_card *card);
void hold_undo(struct pool *pool, unsigned node, const struct held_card *card);
/* PLACEMENT as it will be held, one entry for each of its cards or instances. */
void hold_cards(const struct pool *pool, const struct request *request,
		const struct placement *placement, unsigned part, struct held_card *ret);
/* An instance on ret->card; false when there can be none of that name at START. */
bool hold_instance(const struct pool *pool, unsigned node, const char *name, unsigned start,
		   struct held_card *ret);

/* mig.c */
/* The layouts of its cards; -EINVAL for one that cannot be. */
int mig_init(struct node *node, struct error *error);
/* NULL: that card has no such profile. */
const struct mig_profile *mig_profile_of(const struct pool *pool, const struct slot *slot,
					 const char *name);
/* Instances of the request's profile that CARDS take, at most MOST; EMPTY: as if nobody were there
 * and all of them were in mode mig. */
unsigned mig_room(const struct pool *pool, const struct node *node, uint64_t cards,
		  const struct request *request, bool empty, unsigned most);
/* Those of CARDS that take one. */
uint64_t mig_cards(const struct pool *pool, const struct node *node, uint64_t cards,
		   const struct request *request, bool empty);
unsigned mig_free_slices(const struct mig_card *card); /* of memory */
/* GiB that count as granted for an instance: the sum is never more than the card's. */
unsigned mig_units(const struct pool *pool, const struct slot *slot,
		   const struct mig_profile *profile);
uint16_t mig_left_milli(const struct mig_card *card);
/* May there be such an instance at all? */
bool mig_starts_at(const struct node *node, unsigned card, const struct mig_profile *profile,
		   unsigned start);
/* Is there room for it? The profile starts there. */
bool mig_takes(const struct node *node, const struct slot *slot, unsigned card,
	       const struct mig_profile *profile, unsigned start);

/* hold.c: what is granted, for who changes places */
struct held *held_new(uint32_t node, unsigned count);   /* NULL: no memory */
struct held *hold_find(struct pool *pool, uint64_t id); /* NULL: no grant */
/* Counts what HELD takes of its node, or no longer. The caller logs the change of the node, or
 * takes it back before the next decision. */
void hold_count(struct pool *pool, const struct held *held, bool add);

/* topology.c */
int topology_init(struct node *node); /* 0 or -ENOMEM */
/* WANTED of the node's CARDS; at least that many are there. */
uint64_t topology_choose(const struct node *node, uint64_t cards, unsigned wanted);
/* The smallest NVLink group with WANTED of CARDS, cut to those, or CARDS. */
uint64_t topology_group(const struct node *node, uint64_t cards, unsigned wanted);

/* shape.c */
#define CHANGES_MAX (1u << 14)

void shapes_drop(struct pool *pool);
void pool_drop_tables(struct pool *pool); /* decide.c */
/* To be called after what is held on NODE changed. */
void pool_log_change(struct pool *pool, unsigned node);
