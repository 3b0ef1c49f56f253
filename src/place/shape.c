/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index: one tournament over the nodes a shape. Bounded: the shape that was not asked for for
 * the longest time makes room for a new one.
 */
#include "shape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHAPES_MIN    16u
#define SHAPES_MAX    1024u
#define SHAPES_MEMORY (256u << 20) /* bytes, as long as there are more than SHAPES_MIN */
#define BUCKETS       (2 * SHAPES_MAX)
#define NO_SHAPE      UINT16_MAX

struct shapes {
	struct shape *items[SHAPES_MAX]; /* owned */
	uint16_t buckets[BUCKETS];       /* open addressing by hash */
	size_t count;
	uint64_t turn;
};

/* Bytes that differ whenever the demands do, as far as decisions look at them. */
struct key {
	uint8_t bytes[SHAPE_KEY_MAX];
	size_t size;
	bool full;
};

static void key_bytes(struct key *key, const void *bytes, size_t size)
{
	if (size > sizeof(key->bytes) - key->size) {
		key->full = true;
		return;
	}
	memcpy(key->bytes + key->size, bytes, size);
	key->size += size;
}

static void key_number(struct key *key, uint64_t number)
{
	key_bytes(key, &number, sizeof(number));
}

static void key_text(struct key *key, const char *text)
{
	key_number(key, text ? strlen(text) + 1 : 0);
	if (text)
		key_bytes(key, text, strlen(text));
}

static void key_list(struct key *key, const struct string_list *list)
{
	key_number(key, list->count);
	for (size_t i = 0; i < list->count; i++)
		key_text(key, list->items[i]);
}

static void key_request(struct key *key, const struct request *request)
{
	key_number(key, (uint64_t)request->kind << 32 | request->cards);
	key_number(key, request->memory_mib);
	key_number(key, (uint64_t)request->memory_percent << 32 | request->units);
	key_number(key, (uint64_t)request->compute_percent << 32 | (uint32_t)request->policy);
	key_text(key, request->mig_profile);
	key_list(key, &request->models);
	key_list(key, &request->not_models);
	key_list(key, &request->not_uuids);
}

static void key_terms(struct key *key, const struct demand *demand)
{
	key_number(key, demand->term_count);
	for (size_t i = 0; i < demand->term_count; i++) {
		const struct match_term *term = &demand->terms[i];

		key_number(key, term->count);
		for (size_t j = 0; j < term->count; j++) {
			key_text(key, term->items[j].key);
			key_number(key, (uint64_t)term->items[j].operator);
			key_list(key, &term->items[j].values);
		}
	}
}

static void key_demand(struct key *key, const struct demand *demand)
{
	key_number(key, (uint64_t)demand->needs.cpu_milli);
	key_number(key, (uint64_t)demand->needs.memory_mib);
	key_number(key, (uint64_t)demand->needs.pods);
	key_number(key, demand->request_count);
	if (demand->request_count)
		key_request(key, &demand->requests[0]);
	key_number(key, demand->selector_count);
	for (size_t i = 0; i < demand->selector_count; i++) {
		key_text(key, demand->selector[i].key);
		key_text(key, demand->selector[i].value);
	}
	key_terms(key, demand);
	key_number(key, demand->toleration_count);
	for (size_t i = 0; i < demand->toleration_count; i++) {
		key_text(key, demand->tolerations[i].key);
		key_text(key, demand->tolerations[i].value);
		key_number(key, (uint64_t)demand->tolerations[i].effect);
	}
}

size_t shape_key(const struct demand *demand, uint8_t ret[SHAPE_KEY_MAX])
{
	struct key key;

	key.size = 0; /* the bytes behind it are not read */
	key.full = demand->request_count > 1 ||
		   (demand->request_count && demand->requests[0].uuids.count > 0);
	if (!key.full)
		key_demand(&key, demand);
	if (key.full)
		return 0;
	memcpy(ret, key.bytes, key.size);
	return key.size;
}

static uint64_t key_hash(const struct key *key) /* FNV-1a over words */
{
	uint64_t hash = 0xcbf29ce484222325u, word;
	size_t at = 0;

	for (; at + sizeof(word) <= key->size; at += sizeof(word)) {
		memcpy(&word, key->bytes + at, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3u;
		hash ^= hash >> 29;
	}
	for (; at < key->size; at++)
		hash = (hash ^ key->bytes[at]) * 0x100000001b3u;
	return hash ^ hash >> 32;
}

void pool_board(const struct pool *pool, unsigned node, struct board *ret)
{
	const struct node *of = &pool->nodes[node];

	ret->node = of;
	ret->cpu_total = of->total.cpu_milli;
	ret->cpu_left = resource_left(of->total.cpu_milli, of->used.cpu_milli);
	ret->tags = of->tags;
	ret->number = node;
	ret->count = of->count;
	for (unsigned i = 0; i < of->count; i++) {
		ret->left[i] = node_slot(pool, of, i)->left_milli;
		ret->models[i] = node_slot(pool, of, i)->model;
	}
}

/* What one card of the request takes of a card of UNITS. */
static uint16_t request_milli(const struct request *request, unsigned units)
{
	unsigned wanted, milli;

	if (request->kind != REQUEST_SLICE || units == 0)
		return MILLI_WHOLE;
	wanted = query_units(request, units);
	milli = (wanted * MILLI_WHOLE + units - 1) / units;
	if (milli < request->compute_percent * (MILLI_WHOLE / COMPUTE_WHOLE))
		milli = request->compute_percent * (MILLI_WHOLE / COMPUTE_WHOLE);
	return (uint16_t)(milli > MILLI_WHOLE ? MILLI_WHOLE : milli);
}

static uint16_t model_milli(const struct pool *pool, const struct request *request, unsigned model)
{
	const struct mig_model *mig = pool->mig_models[model];
	const struct mig_profile *profile = request->kind == REQUEST_MIG && mig
						    ? mig_profile_find(mig, request->mig_profile)
						    : NULL;

	if (request->kind == REQUEST_MIG)
		return profile ? (uint16_t)mig_profile_milli(mig, profile) : 0;
	return request_milli(request, pool->model_units[model]);
}

/* The policy of the Pod, else the pool's. Without an expected workload several whole cards go where
 * they hang together best. */
static enum node_policy choose_policy(const struct pool *pool, const struct request *request)
{
	static const enum node_policy own[POLICY_MAX] = {
		[POLICY_BINPACK] = NODE_POLICY_BINPACK,
		[POLICY_SPREAD] = NODE_POLICY_SPREAD,
		[POLICY_TOPOLOGY] = NODE_POLICY_TOPOLOGY,
	};
	enum card_policy asked = request ? request->policy : POLICY_DEFAULT;

	if (asked > POLICY_DEFAULT && asked < POLICY_MAX)
		return own[asked];
	if (pool->options.policy == NODE_POLICY_DEFAULT && !pool->tables && request &&
	    request->kind == REQUEST_WHOLE && request->cards > 1)
		return NODE_POLICY_TOPOLOGY;
	return pool->options.policy;
}

int shape_init(const struct pool *pool, const struct demand *demand, struct shape *ret)
{
	const struct request *request = demand->request_count ? &demand->requests[0] : NULL;
	enum node_policy policy = choose_policy(pool, request);

	ret->milli = calloc(pool->model_count + 1, sizeof(*ret->milli));
	if (!ret->milli)
		return -ENOMEM;
	query_init(pool, demand, &ret->query);
	for (unsigned i = 0; request && i < pool->model_count; i++)
		if (model_set_has(&ret->query.models, i))
			ret->milli[i] = model_milli(pool, request, i);
	ret->piece = (struct piece){
		.milli = ret->milli,
		/* Instances are placed one after the other, and may lie on one card. */
		.cards = request && request->kind == REQUEST_MIG ? 1
			 : request                               ? request->cards
								 : 0,
		.cpu_milli = demand->needs.cpu_milli,
		.whole = request && request->kind == REQUEST_WHOLE,
	};
	ret->row = &score_rows[policy];
	ret->ties = policy == NODE_POLICY_RANDOM ? TIE_RANDOM : pool->options.ties;
	ret->key = NULL;
	ret->exact = true;
	ret->tournament = (struct tournament){ 0 };
	return 0;
}

void shape_release(struct shape *shape)
{
	free(shape->milli);
	free(shape->key);
	tournament_release(&shape->tournament);
}

static void shape_free(struct shape *shape)
{
	shape_release(shape);
	free(shape);
}

struct score_options score_options_of(const struct pool *pool)
{
	return (struct score_options){
		.original_cards = pool->options.original_cards,
		.original_classes = pool->options.original_classes,
		.seed = pool->options.seed,
	};
}

struct answer shape_score(const struct pool *pool, const struct shape *shape,
			  const struct board *board, const struct piece *piece, uint64_t fits)
{
	static const struct score_tables none;
	const struct score_options options = score_options_of(pool);
	const struct question question = {
		.tables = pool->tables ? pool->tables : &none,
		.options = &options,
		.board = board,
		.piece = piece,
		.fits = fits,
	};

	return shape->row->score(&question);
}

struct answer shape_ask(const struct pool *pool, const struct shape *shape,
			const struct board *board, uint64_t fits)
{
	return shape_score(pool, shape, board, &shape->piece, fits);
}

static int64_t shape_value(const struct pool *pool, const struct shape *shape,
			   const struct board *board, uint64_t fits)
{
	const struct request *request = shape->query.request;

	return request && request->kind == REQUEST_MIG ? mig_choose(pool, shape, board, fits, NULL)
						       : shape_ask(pool, shape, board, fits).value;
}

static bool node_lets_in(const struct node *node, const struct query *query)
{
	const struct resources *needs = &query->demand->needs;

	return needs->cpu_milli <= resource_left(node->total.cpu_milli, node->used.cpu_milli) &&
	       needs->memory_mib <= resource_left(node->total.memory_mib, node->used.memory_mib) &&
	       needs->pods <= resource_left(node->total.pods, node->used.pods) &&
	       demand_selects(query->demand, &node->labels);
}

static bool slot_serves(const struct slot *slot, const struct request *request)
{
	return request->kind == REQUEST_WHOLE ||
	       (slot_free_units(slot) >= query_units(request, slot->units) &&
		slot_free_compute(slot) >= request->compute_percent);
}

static bool mig_fits_now(const struct pool *pool, const struct query *query,
			 const struct node *node, uint64_t *ret)
{
	uint64_t cards = node->for_mig;

	if (!cards || !node_lets_in(node, query))
		return false;
	for (uint64_t rest = cards; rest; rest &= rest - 1) {
		uint32_t card = node->first + first_card(rest);

		if (!model_set_has(&query->models, pool->slots[card].model) ||
		    (query->excluded_count && query_excludes(query, card)))
			cards &= ~(rest & -rest);
	}
	*ret = mig_cards(pool, node, cards, query->request, false);
	return mig_room(pool, node, *ret, query->request, false, query->request->cards) ==
	       query->request->cards;
}

/* The cards of filter_node() when it says DEPTH_FITS, in a fraction of its time; else false. */
static bool fits_now(const struct pool *pool, const struct query *query, unsigned number,
		     uint64_t *ret)
{
	const struct request *request = query->request;
	const struct node *node = &pool->nodes[number];
	uint64_t cards, fits = 0;

	if (!request) {
		*ret = 0;
		return node_lets_in(node, query);
	}
	if (pool->withheld >> request->kind & 1)
		return false;
	if (request->kind == REQUEST_MIG)
		return mig_fits_now(pool, query, node, ret);
	if (request->kind != REQUEST_WHOLE && request->kind != REQUEST_SLICE)
		return false;
	cards = request->kind == REQUEST_WHOLE ? node->idle & node->for_whole : node->for_slices;
	if (count_cards(cards) < request->cards || !node_lets_in(node, query))
		return false;
	for (uint64_t rest = cards; rest; rest &= rest - 1) {
		const struct slot *slot = node_slot(pool, node, first_card(rest));

		if (model_set_has(&query->models, slot->model) && slot_serves(slot, request) &&
		    !(query->excluded_count &&
		      query_excludes(query, node->first + first_card(rest))))
			fits |= rest & -rest;
	}
	*ret = fits;
	return count_cards(fits) >= request->cards;
}

void shape_judge(const struct pool *pool, const struct shape *shape, unsigned node,
		 struct tournament_key *ret)
{
	struct standing standing = { .depth = DEPTH_FITS };
	struct board board;

	if (shape->query.by_name || !fits_now(pool, &shape->query, node, &standing.fits)) {
		if (!shape->exact) {
			*ret = (struct tournament_key){ 0 };
			return;
		}
		filter_node(pool, &shape->query, node, &standing);
	}
	*ret = (struct tournament_key){ .depth = standing.depth, .value = standing.rank };
	if (standing.depth < DEPTH_FITS)
		return;
	pool_board(pool, node, &board);
	ret->value = shape_value(pool, shape, &board, standing.fits);
	if (shape->ties == TIE_BESTFIT)
		ret->tie = score_tie_bestfit(&board, &shape->piece);
}

static void shape_rebuild(const struct pool *pool, struct shape *shape)
{
	struct tournament_key key;

	for (uint32_t i = 0; i < pool->node_count; i++) {
		shape_judge(pool, shape, i, &key);
		tournament_put(&shape->tournament, i, &key);
	}
	tournament_build(&shape->tournament);
}

/* A node that changed again later in the log is looked at there. */
static void shape_catch_up(const struct pool *pool, struct shape *shape)
{
	uint64_t missed = pool->change_count - shape->seen;
	struct tournament_key key;

	if (missed > CHANGES_MAX || missed > pool->node_count) {
		shape_rebuild(pool, shape);
		shape->seen = pool->change_count;
		return;
	}
	for (; shape->seen < pool->change_count; shape->seen++) {
		uint32_t node = pool->changes[shape->seen % CHANGES_MAX];

		if (pool->nodes[node].changed != shape->seen)
			continue;
		shape_judge(pool, shape, node, &key);
		tournament_set(&shape->tournament, node, &key);
	}
}

static void shapes_enter(struct shapes *shapes, size_t number)
{
	size_t at = shapes->items[number]->hash % BUCKETS;

	while (shapes->buckets[at] != NO_SHAPE)
		at = (at + 1) % BUCKETS;
	shapes->buckets[at] = (uint16_t)number;
}

static struct shape *shapes_find(const struct shapes *shapes, const struct key *key, uint64_t hash)
{
	for (size_t at = hash % BUCKETS; shapes->buckets[at] != NO_SHAPE; at = (at + 1) % BUCKETS) {
		struct shape *shape = shapes->items[shapes->buckets[at]];

		if (shape->hash == hash && shape->key_size == key->size &&
		    memcmp(shape->key, key->bytes, key->size) == 0)
			return shape;
	}
	return NULL;
}

static size_t shapes_limit(const struct pool *pool)
{
	size_t each = sizeof(struct shape) + 64 * (pool->node_count + 1);
	size_t limit = SHAPES_MEMORY / each;

	if (limit > SHAPES_MAX)
		return SHAPES_MAX;
	return limit < SHAPES_MIN ? SHAPES_MIN : limit;
}

static void shapes_drop_oldest(struct shapes *shapes)
{
	size_t oldest = 0;

	for (size_t i = 1; i < shapes->count; i++)
		if (shapes->items[i]->used < shapes->items[oldest]->used)
			oldest = i;
	shape_free(shapes->items[oldest]);
	shapes->items[oldest] = shapes->items[--shapes->count];
	memset(shapes->buckets, 0xff, sizeof(shapes->buckets));
	for (size_t i = 0; i < shapes->count; i++)
		shapes_enter(shapes, i);
}

static struct shape *shapes_add(struct pool *pool, const struct demand *demand,
				const struct key *key, uint64_t hash, bool exact)
{
	struct shapes *shapes = pool->shapes;
	struct shape *shape = calloc(1, sizeof(*shape));

	if (!shape || shape_init(pool, demand, shape) < 0) {
		free(shape);
		return NULL;
	}
	shape->key = malloc(key->size);
	if (!shape->key || tournament_init(&shape->tournament, pool->node_count) < 0) {
		shape_free(shape);
		return NULL;
	}
	memcpy(shape->key, key->bytes, key->size);
	shape->key_size = key->size;
	shape->hash = hash;
	shape->exact = exact;
	shape_rebuild(pool, shape);
	shape->seen = pool->change_count;
	if (shapes->count >= shapes_limit(pool))
		shapes_drop_oldest(shapes);
	shapes->items[shapes->count] = shape;
	shapes_enter(shapes, shapes->count++);
	return shape;
}

static bool shapes_start(struct pool *pool)
{
	if (pool->shapes)
		return true;
	pool->shapes = calloc(1, sizeof(*pool->shapes));
	if (!pool->shapes)
		return false;
	memset(pool->shapes->buckets, 0xff, sizeof(pool->shapes->buckets));
	return true;
}

struct shape *shape_get(struct pool *pool, const struct demand *demand, bool exact)
{
	const struct request *request = demand->request_count ? &demand->requests[0] : NULL;
	struct key key;
	struct shape *shape;
	uint64_t hash;

	key.size = 0; /* the bytes behind it are not read */
	key.full = request && request->uuids.count > 0;
	if (!key.full)
		key_demand(&key, demand);
	if (key.full || !shapes_start(pool))
		return NULL;
	hash = key_hash(&key);
	shape = shapes_find(pool->shapes, &key, hash);
	if (shape) {
		shape->query.demand = demand;
		shape->query.request = request;
		shape->query.object = demand->object ? demand->object : "the Pod";
		if (exact && !shape->exact) {
			shape->exact = true;
			shape_rebuild(pool, shape);
			shape->seen = pool->change_count;
		}
		shape_catch_up(pool, shape);
	} else {
		shape = shapes_add(pool, demand, &key, hash, exact);
	}
	if (shape)
		shape->used = ++pool->shapes->turn;
	return shape;
}

void shapes_drop(struct pool *pool)
{
	for (size_t i = 0; pool->shapes && i < pool->shapes->count; i++)
		shape_free(pool->shapes->items[i]);
	free(pool->shapes);
	pool->shapes = NULL;
}

void pool_log_change(struct pool *pool, unsigned node)
{
	pool->nodes[node].changed = pool->change_count;
	pool->changes[pool->change_count++ % CHANGES_MAX] = node;
}
