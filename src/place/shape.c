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
#define TENDED_TURNS  4u
#define TENDED_MISSED 1024u
#define TENDED_TRIES  4u
#define LINE          64u /* bytes of the processor's cache */
#define AHEAD         8u  /* changed nodes */
#define OBSTACLE_BITS 56u /* of a rank, below the depth */

struct shapes {
	struct shape *items[SHAPES_MAX]; /* owned */
	uint16_t buckets[BUCKETS];       /* open addressing by hash */
	size_t count;
	uint64_t turn;
	size_t tended;
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
	const struct room *rooms = node_rooms(pool, of);

	ret->node = of;
	ret->cpu_total = score_cpu(of->total.cpu_milli);
	ret->cpu_left = score_cpu(of->left.cpu_milli);
	ret->tags = of->tags;
	ret->number = node;
	ret->count = of->count;
	for (unsigned i = 0; i < of->count; i++) {
		ret->left[i] = rooms[i].left_milli;
		ret->models[i] = rooms[i].model;
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

static void copy_numbers(const struct request *request, struct request *ret)
{
	*ret = (struct request){ .kind = REQUEST_NONE };
	if (!request)
		return;
	ret->kind = request->kind;
	ret->cards = request->cards;
	ret->units = request->units;
	ret->memory_mib = request->memory_mib;
	ret->memory_percent = request->memory_percent;
	ret->compute_percent = request->compute_percent;
}

int shape_init(const struct pool *pool, const struct demand *demand, struct shape *ret)
{
	const struct request *request = demand->request_count ? &demand->requests[0] : NULL;
	enum node_policy policy = choose_policy(pool, request);

	*ret = (struct shape){ .row = &score_rows[policy] };
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
		.cpu_milli = score_cpu(demand->needs.cpu_milli),
		.whole = request && request->kind == REQUEST_WHOLE,
	};
	ret->ties = policy == NODE_POLICY_RANDOM ? TIE_RANDOM : pool->options.ties;
	ret->needs = demand->needs;
	copy_numbers(request, &ret->numbers);
	ret->plain = !ret->query.by_name && ret->query.excluded_count == 0 &&
		     (!request || request->kind == REQUEST_WHOLE || request->kind == REQUEST_SLICE);
	return 0;
}

void shape_release(struct shape *shape)
{
	free(shape->milli);
	free(shape->key);
	free(shape->selected);
	free(shape->kind_cards);
	tournament_release(&shape->fits.tournament);
	tournament_release(&shape->obstacles.tournament);
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
			  const struct question *question)
{
	static const struct score_tables none;
	const struct score_options options = score_options_of(pool);
	struct question whole = *question;

	whole.tables = pool->tables ? pool->tables : &none;
	whole.options = &options;
	return shape->row->score(&whole);
}

static struct answer ask(const struct pool *pool, const struct shape *shape,
			 const struct board *board, uint64_t fits, bool value_only)
{
	const struct question question = {
		.board = board,
		.piece = &shape->piece,
		.memo = pool->memos ? &pool->memos[board->number] : NULL,
		.fits = fits,
		.value_only = value_only,
	};

	return shape_score(pool, shape, &question);
}

struct answer shape_ask(const struct pool *pool, const struct shape *shape,
			const struct board *board, uint64_t fits)
{
	return ask(pool, shape, board, fits, false);
}

static int64_t shape_value(const struct pool *pool, const struct shape *shape,
			   const struct board *board, uint64_t fits)
{
	return shape->numbers.kind == REQUEST_MIG ? mig_choose(pool, shape, board, fits, NULL)
						  : ask(pool, shape, board, fits, true).value;
}

/* What is free on the card beyond what is asked for; below 0 it lacks as much. */
static int spare_units(const struct pool *pool, const struct shape *shape, uint32_t card)
{
	unsigned wanted = shape->numbers.units;

	if (wanted == 0)
		wanted = query_units(&shape->numbers, pool->slots[card].units);
	return (int)pool->rooms[card].units - (int)wanted;
}

static int spare_compute(const struct pool *pool, const struct shape *shape, uint32_t card)
{
	return (int)pool->rooms[card].compute - (int)shape->numbers.compute_percent;
}

static uint64_t eligible_cards(const struct pool *pool, const struct shape *shape, unsigned node)
{
	if (!(shape->selected[node / 64] >> (node % 64) & 1))
		return 0;
	return shape->kind_cards[pool->kinds[node]];
}

/* Those of CARDS that have room for the slice. */
static uint64_t slice_cards(const struct pool *pool, const struct shape *shape,
			    const struct node *node, uint64_t cards)
{
	uint64_t fits = 0;

	for (uint64_t rest = cards; rest; rest &= rest - 1) {
		uint32_t card = node->first + first_card(rest);

		if (spare_units(pool, shape, card) >= 0 && spare_compute(pool, shape, card) >= 0)
			fits |= rest & -rest;
	}
	return fits;
}

/* Without the call that counting them all is. */
static bool are_enough(uint64_t cards, unsigned wanted)
{
	for (; wanted > 1; wanted--)
		cards &= cards - 1;
	return cards != 0;
}

/* What filter_node() says of a node of whose cards the request is eligible for CARDS, in a fraction
 * of its time; *ret_cards: those that fit. */
static bool fits_now(const struct pool *pool, const struct shape *shape, unsigned number,
		     uint64_t cards, uint64_t *ret_cards)
{
	const struct request *request = &shape->numbers;
	const struct node *node = &pool->nodes[number];
	uint64_t fits = 0;

	*ret_cards = 0;
	if (!cards || !node_has_room(node, &shape->needs))
		return false;
	if (request->kind == REQUEST_NONE)
		return true;
	if (request->kind == REQUEST_WHOLE)
		fits = cards & node->idle;
	else
		fits = slice_cards(pool, shape, node, cards);
	*ret_cards = fits;
	return are_enough(fits, request->cards);
}

bool shape_cards(const struct pool *pool, const struct shape *shape, unsigned node, uint64_t *ret)
{
	struct standing standing;

	if (shape->selected && shape->plain)
		return fits_now(pool, shape, node, eligible_cards(pool, shape, node), ret);
	filter_node(pool, &shape->query, node, &standing);
	*ret = standing.fits;
	return standing.depth == DEPTH_FITS;
}

bool shape_may_fit(const struct shape *shape, unsigned node)
{
	return shape->fits.tournament.levels[0].values[node] != TOURNAMENT_OUT;
}

/* The key of NODE, on which the shape fits with CARDS. */
static struct tournament_key key_of(const struct pool *pool, const struct shape *shape,
				    unsigned node, uint64_t cards)
{
	struct tournament_key key = { 0, 0 };
	struct board board;

	pool_board(pool, node, &board);
	key.value = shape_value(pool, shape, &board, cards);
	if (shape->ties == TIE_BESTFIT)
		key.tie = score_tie_bestfit(&board, &shape->piece);
	return key;
}

bool shape_fits(const struct pool *pool, const struct shape *shape, unsigned node,
		struct tournament_key *ret)
{
	uint64_t cards;

	*ret = (struct tournament_key){ TOURNAMENT_OUT, 0 };
	if (!shape_cards(pool, shape, node, &cards))
		return false;
	*ret = key_of(pool, shape, node, cards);
	return true;
}

static int64_t obstacle_key(enum depth depth, int64_t rank)
{
	const int64_t widest = (1ll << OBSTACLE_BITS) - 1;

	rank = rank > widest ? widest : rank < -widest ? -widest : rank;
	return ((int64_t)depth << (OBSTACLE_BITS + 1)) + rank;
}

int64_t shape_obstacle(const struct pool *pool, const struct shape *shape, unsigned node)
{
	struct standing standing;

	filter_node(pool, &shape->query, node, &standing);
	return obstacle_key(standing.depth, standing.rank);
}

/* The wanted-th most that one of CARDS has to spare; *ret_cards: those that lack nothing. */
static int spare_of(const struct pool *pool, const struct node *node, const struct shape *shape,
		    uint64_t cards,
		    int (*spare)(const struct pool *, const struct shape *, uint32_t),
		    uint64_t *ret_cards)
{
	int sorted[NODE_CARDS_MAX];
	unsigned count = 0;

	*ret_cards = 0;
	for (uint64_t rest = cards; rest; rest &= rest - 1) {
		int value = spare(pool, shape, node->first + first_card(rest));
		unsigned at = count++;

		*ret_cards |= value >= 0 ? rest & -rest : 0;
		for (; at > 0 && sorted[at - 1] < value; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = value;
	}
	return sorted[shape->numbers.cards - 1]; /* there are at least so many */
}

static int64_t room_obstacle(const struct node *node, const struct resources *needs)
{
	const struct {
		enum depth depth;
		int64_t need, left;
	} rows[] = {
		{ DEPTH_CPU, needs->cpu_milli, node->left.cpu_milli },
		{ DEPTH_MEMORY, needs->memory_mib, node->left.memory_mib },
		{ DEPTH_PODS, needs->pods, node->left.pods },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].need > rows[i].left)
			return obstacle_key(rows[i].depth, rows[i].left);
	return obstacle_key(DEPTH_FITS, 0);
}

/* shape_obstacle() of a node with eligible cards, in a fraction of its time. */
static int64_t obstacle_now(const struct pool *pool, const struct shape *shape, unsigned number)
{
	const struct node *node = &pool->nodes[number];
	uint64_t cards = eligible_cards(pool, shape, number);
	int spare;

	if (shape->numbers.kind == REQUEST_WHOLE) {
		cards &= node->idle;
		if (count_cards(cards) < shape->numbers.cards)
			return obstacle_key(DEPTH_FREE, count_cards(cards));
	} else if (shape->numbers.kind == REQUEST_SLICE) {
		spare = spare_of(pool, node, shape, cards, spare_units, &cards);
		if (spare < 0)
			return obstacle_key(DEPTH_FREE, spare);
		spare = spare_of(pool, node, shape, cards, spare_compute, &cards);
		if (spare < 0)
			return obstacle_key(DEPTH_COMPUTE, spare);
	}
	return room_obstacle(node, &shape->needs);
}

static void judge_fit(const struct pool *pool, const struct shape *shape, unsigned node,
		      struct tournament *tournament)
{
	uint64_t cards = eligible_cards(pool, shape, node), fits;
	struct tournament_key key = { TOURNAMENT_OUT, 0 };

	if (!cards)
		return; /* out from the start */
	if (shape->plain ? fits_now(pool, shape, node, cards, &fits)
			 : shape_cards(pool, shape, node, &fits))
		key = key_of(pool, shape, node, fits);
	tournament_set(tournament, node, &key);
}

static void judge_obstacle(const struct pool *pool, const struct shape *shape, unsigned node,
			   struct tournament *tournament)
{
	struct tournament_key key = { 0, 0 };

	const bool eligible = eligible_cards(pool, shape, node) != 0;

	/* What never changes was looked at when the index was new. */
	if (!eligible && tournament->levels[0].values[node] != TOURNAMENT_OUT)
		return;
	key.value = shape->plain && eligible ? obstacle_now(pool, shape, node)
					     : shape_obstacle(pool, shape, node);
	tournament_set(tournament, node, &key);
}

/* Changed nodes lie anywhere in memory: what judging NODE reads is asked for before its turn. */
static void prefetch_node(const struct pool *pool, const struct shape_index *index, uint32_t node)
{
	if (index->tournament.present[node / 64] >> (node % 64) & 1)
		__builtin_prefetch(&index->tournament.levels[0].values[node]);
	__builtin_prefetch(&pool->nodes[node].idle);
	if (pool->memos)
		for (size_t at = 0; at < sizeof(*pool->memos); at += LINE)
			__builtin_prefetch((const char *)&pool->memos[node] + at);
}

static void prefetch_cards(const struct pool *pool, uint32_t node)
{
	const struct node *of = &pool->nodes[node];
	const char *first = (const char *)node_rooms(pool, of);

	for (size_t at = 0; at < of->count * sizeof(struct room); at += LINE)
		__builtin_prefetch(first + at);
}

static uint32_t changed_node(const struct pool *pool, uint64_t change)
{
	return pool->changes[change % CHANGES_MAX];
}

/* What happened to the pool since the index was last asked for. */
static void index_catch_up(const struct pool *pool, const struct shape *shape,
			   struct shape_index *index,
			   void (*judge)(const struct pool *, const struct shape *, unsigned,
					 struct tournament *))
{
	uint64_t missed = pool->change_count - index->seen;

	if (!index->started || missed > CHANGES_MAX || missed > pool->node_count) {
		for (uint32_t i = 0; i < pool->node_count; i++)
			if (!index->started || pool->changed[i] >= index->seen)
				judge(pool, shape, i, &index->tournament);
		index->started = true;
		index->seen = pool->change_count;
	}
	for (uint64_t at = index->seen; at < pool->change_count && at < index->seen + 2 * AHEAD;
	     at++)
		prefetch_node(pool, index, changed_node(pool, at));
	for (; index->seen < pool->change_count; index->seen++) {
		uint32_t node = changed_node(pool, index->seen);

		if (index->seen + 2 * AHEAD < pool->change_count)
			prefetch_node(pool, index, changed_node(pool, index->seen + 2 * AHEAD));
		if (index->seen + AHEAD < pool->change_count)
			prefetch_cards(pool, changed_node(pool, index->seen + AHEAD));
		if (pool->changed[node] == index->seen) /* else it changed again: looked at there */
			judge(pool, shape, node, &index->tournament);
	}
}

uint32_t shape_nearest(struct pool *pool, struct shape *shape)
{
	struct shape_index *index = &shape->obstacles;
	struct tournament_key key;

	if (!index->started && tournament_init(&index->tournament, pool->node_count, false) < 0)
		return TOURNAMENT_NONE;
	shape->refused = true;
	index_catch_up(pool, shape, index, judge_obstacle);
	return tournament_best(&index->tournament, &key);
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
	size_t each = sizeof(struct shape) + 32 * (pool->node_count + 1);
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

int shape_find_eligible(const struct pool *pool, struct shape *shape)
{
	struct query query = shape->query;

	query.excluded_count = 0; /* of one kind are not those that a Pod names */
	shape->selected = calloc(pool->node_count / 64 + 1, sizeof(*shape->selected));
	shape->kind_cards = calloc(pool->kind_count + 1, sizeof(*shape->kind_cards));
	if (!shape->selected || !shape->kind_cards)
		return -ENOMEM;
	for (size_t i = 0; i < pool->node_count; i++)
		if (demand_selects(query.demand, &pool->nodes[i].labels))
			shape->selected[i / 64] |= 1ull << (i % 64);
	for (size_t i = 0; i < pool->kind_count; i++)
		shape->kind_cards[i] = filter_eligible(pool, &query, pool->kind_nodes[i]);
	return 0;
}

static struct shape *shape_new(const struct pool *pool, const struct demand *demand,
			       const struct key *key, uint64_t hash)
{
	struct shape *shape = calloc(1, sizeof(*shape));

	if (!shape || shape_init(pool, demand, shape) < 0) {
		free(shape);
		return NULL;
	}
	shape->key = malloc(key->size);
	if (!shape->key || shape_find_eligible(pool, shape) < 0 ||
	    tournament_init(&shape->fits.tournament, pool->node_count, shape->ties == TIE_BESTFIT) <
		    0) {
		shape_free(shape);
		return NULL;
	}
	memcpy(shape->key, key->bytes, key->size);
	shape->key_size = key->size;
	shape->hash = hash;
	return shape;
}

static struct shape *shapes_add(struct pool *pool, const struct demand *demand,
				const struct key *key, uint64_t hash)
{
	struct shapes *shapes = pool->shapes;
	struct shape *shape = shape_new(pool, demand, key, hash);

	if (!shape)
		return NULL;
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

/*
 * Whoever comes after a long time would pay for all that happened since. So each decision brings
 * the index of one more shape up to date, in turn; those that are hardly asked for are left out.
 */
static void tend_another(struct pool *pool, const struct shape *asked)
{
	struct shapes *shapes = pool->shapes;

	for (unsigned i = 0; i < TENDED_TRIES; i++) {
		struct shape *shape = shapes->items[++shapes->tended % shapes->count];

		if (shape == asked || !shape->plain ||
		    pool->change_count - shape->fits.seen < TENDED_MISSED ||
		    shapes->turn - shape->used > TENDED_TURNS * shapes->count)
			continue;
		index_catch_up(pool, shape, &shape->fits, judge_fit);
		if (shape->refused && shape->obstacles.started)
			index_catch_up(pool, shape, &shape->obstacles, judge_obstacle);
		return;
	}
}

struct shape *shape_get(struct pool *pool, const struct demand *demand)
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
	if (!shape)
		shape = shapes_add(pool, demand, &key, hash);
	if (!shape)
		return NULL;
	shape->query.demand = demand;
	shape->query.request = request;
	shape->query.object = demand->object ? demand->object : "the Pod";
	shape->used = ++pool->shapes->turn;
	index_catch_up(pool, shape, &shape->fits, judge_fit);
	tend_another(pool, shape);
	shape->refused = false;
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
	struct board board;

	if (pool->memos) {
		pool_board(pool, node, &board);
		score_memo_fill(pool->tables, &board, &pool->memos[node]);
	}
	pool->changed[node] = pool->change_count;
	pool->changes[pool->change_count++ % CHANGES_MAX] = node;
}
