/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a demand to a place. The shape's index gives the best node, or the one that is nearest to a
 * fit; Pods that name cards look at the nodes of those cards only.
 */
#include "shape.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t draw(struct pool *pool, uint64_t limit) /* xorshift64* (Vigna 2016) */
{
	pool->random ^= pool->random >> 12;
	pool->random ^= pool->random << 25;
	pool->random ^= pool->random >> 27;
	return (pool->random * 0x2545f4914f6cdd1dull >> 16) % limit;
}

void placement_fill(const struct pool *pool, const struct request *request, unsigned node,
		    uint64_t cards, struct placement *ret)
{
	const struct node *of = &pool->nodes[node];

	*ret = (struct placement){ .node = node };
	if (request->kind == REQUEST_SLICE)
		ret->compute_percent = request->compute_percent;
	for (uint64_t rest = cards; rest; rest &= rest - 1) {
		unsigned card = first_card(rest), at = ret->count++;
		unsigned units = node_slot(pool, of, card)->units;

		ret->cards[at] = card;
		ret->units[at] = units;
		ret->memory_mib[at] = of->cards[card].memory_bytes >> 20;
		if (request->kind != REQUEST_SLICE)
			continue;
		ret->units[at] = query_units(request, units);
		ret->memory_mib[at] = request->units && request->memory_mib
					      ? request->memory_mib
					      : (uint64_t)ret->units[at] * MIB_PER_UNIT;
	}
}

static int compare_keys(const struct tournament_key *a, const struct tournament_key *b)
{
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->tie < b->tie ? -1 : a->tie > b->tie;
}

void best_offer(struct pool *pool, enum tie_rule ties, unsigned node,
		const struct tournament_key *key, struct best *best)
{
	int order = 1;

	if (best->node != TOURNAMENT_NONE)
		order = compare_keys(key, &best->key);
	if (order < 0)
		return;
	if (order > 0) {
		*best = (struct best){ node, *key, 1 };
		return;
	}
	best->alike++;
	if (ties == TIE_RANDOM) {
		if (draw(pool, best->alike) == 0)
			best->node = node;
	} else if (node < best->node) {
		best->node = node;
	}
}

static void offer(struct pool *pool, const struct shape *shape, unsigned node, struct best *best)
{
	struct tournament_key key;

	if (shape_fits(pool, shape, node, &key))
		best_offer(pool, shape->ties, node, &key, best);
}

/* Node by node: ONLY one, those of named cards, or all when there is no memory for an index. */
static void scan(struct pool *pool, const struct shape *shape, uint32_t only, struct best *best)
{
	const struct query *query = &shape->query;

	*best = (struct best){ .node = TOURNAMENT_NONE };
	if (only != ANY_NODE)
		offer(pool, shape, only, best);
	for (uint32_t i = 0; only == ANY_NODE && i < query->named_count; i++) {
		uint32_t node = pool->slots[query->named[i]].node;

		if (i == 0 || node != pool->slots[query->named[i - 1]].node)
			offer(pool, shape, node, best);
	}
	for (uint32_t i = 0; only == ANY_NODE && !query->by_name && i < pool->node_count; i++)
		offer(pool, shape, i, best);
}

static uint32_t scan_obstacles(const struct pool *pool, const struct shape *shape)
{
	int64_t nearest = INT64_MIN;
	uint32_t node = TOURNAMENT_NONE;

	for (uint32_t i = 0; i < pool->node_count; i++) {
		int64_t obstacle = shape_obstacle(pool, shape, i);

		if (obstacle > nearest) {
			nearest = obstacle;
			node = i;
		}
	}
	return node;
}

static void ask_index(struct pool *pool, struct shape *shape, struct best *best)
{
	struct tournament *tournament = &shape->fits.tournament;

	best->node = tournament_best(tournament, &best->key);
	if (shape->ties == TIE_RANDOM && best->node != TOURNAMENT_NONE)
		best->node = tournament_nth(tournament,
					    (uint32_t)draw(pool, tournament_alike(tournament)));
}

void decide_place(const struct pool *pool, const struct shape *shape, uint32_t node,
		  struct decision *ret)
{
	const struct request *request = shape->query.request;
	struct standing standing;
	struct board board;

	ret->node = node;
	ret->count = 0;
	if (!request)
		return;
	filter_node(pool, &shape->query, node, &standing);
	pool_board(pool, node, &board);
	if (request->kind == REQUEST_MIG) {
		ret->placements[0] = (struct placement){ .node = node };
		mig_choose(pool, shape, &board, standing.fits, &ret->placements[ret->count++]);
		return;
	}
	placement_fill(pool, request, node, shape_ask(pool, shape, &board, standing.fits).cards,
		       &ret->placements[ret->count++]);
}

/* NEAREST: the node to speak of, or TOURNAMENT_NONE. */
static int refuse(const struct pool *pool, const struct shape *shape, uint32_t nearest,
		  enum reason_scope scope, struct reason *ret_reason)
{
	struct standing standing = { .depth = DEPTH_IDENTITY };

	if (nearest != TOURNAMENT_NONE)
		filter_node(pool, &shape->query, nearest, &standing);
	return refuse_standing(pool, &shape->query, &standing, scope, ret_reason);
}

static int decide_indexed(struct pool *pool, struct shape *shape, struct decision *ret,
			  struct reason *ret_reason)
{
	struct best best;
	uint32_t nearest;

	ask_index(pool, shape, &best);
	if (best.node != TOURNAMENT_NONE) {
		decide_place(pool, shape, best.node, ret);
		return 0;
	}
	if (!ret_reason)
		return -EAGAIN;
	nearest = shape_nearest(pool, shape);
	if (nearest == TOURNAMENT_NONE) /* no memory for an index */
		nearest = scan_obstacles(pool, shape);
	return refuse(pool, shape, nearest, REASON_SCOPE_POOL, ret_reason);
}

static int decide_scanning(struct pool *pool, uint32_t only, const struct demand *demand,
			   struct decision *ret, struct reason *ret_reason)
{
	struct shape shape;
	struct best best;
	int r = shape_init(pool, demand, &shape);

	if (r < 0)
		return r;
	scan(pool, &shape, only, &best);
	if (best.node != TOURNAMENT_NONE)
		decide_place(pool, &shape, best.node, ret);
	else if (!ret_reason)
		r = -EAGAIN;
	else
		r = only != ANY_NODE ? refuse(pool, &shape, only, REASON_SCOPE_NODE, ret_reason)
				     : refuse(pool, &shape, scan_obstacles(pool, &shape),
					      REASON_SCOPE_POOL, ret_reason);
	shape_release(&shape);
	return r;
}

int decide_one(struct pool *pool, uint32_t only, const struct demand *demand, struct decision *ret,
	       struct reason *ret_reason)
{
	struct shape *shape = only == ANY_NODE ? shape_get(pool, demand) : NULL;

	return shape ? decide_indexed(pool, shape, ret, ret_reason)
		     : decide_scanning(pool, only, demand, ret, ret_reason);
}

static int decide(struct pool *pool, uint32_t only, const struct demand *demand,
		  struct decision *ret, struct reason *ret_reason)
{
	char text[REASON_TEXT_MAX];
	const char *wrong = query_check(demand, text, sizeof(text));

	if (wrong)
		return refuse_request(demand->object ? demand->object : "the Pod", wrong,
				      ret_reason);
	return demand->request_count > 1 ? decide_several(pool, only, demand, ret, ret_reason)
					 : decide_one(pool, only, demand, ret, ret_reason);
}

int pool_decide(struct pool *pool, const struct demand *demand, struct decision *ret,
		struct reason *ret_reason)
{
	int r = decide(pool, ANY_NODE, demand, ret, ret_reason);

	record_decide(pool, NULL, demand, r, ret, ret_reason);
	return r;
}

int pool_decide_on(struct pool *pool, unsigned node, const struct demand *demand,
		   struct decision *ret, struct reason *ret_reason)
{
	int r;

	if (node >= pool->node_count)
		return -EINVAL;
	r = decide(pool, node, demand, ret, ret_reason);
	record_decide(pool, &node, demand, r, ret, ret_reason);
	return r;
}

int pool_set_policy(struct pool *pool, const struct policy_options *options)
{
	if ((int)options->policy < 0 || options->policy >= NODE_POLICY_MAX ||
	    (int)options->ties < 0 || options->ties >= TIE_MAX)
		return -EINVAL;
	if (options->original_classes != pool->options.original_classes)
		pool_drop_tables(pool);
	pool->options = *options;
	pool->random = options->seed * 0x9e3779b97f4a7c15ull | 1;
	shapes_drop(pool);
	record_policy(pool, options);
	return 0;
}

/* The pieces of CLASSES that can be read; *ret_shapes owns what they point to. */
static int read_classes(const struct pool *pool, const struct workload_class *classes, size_t count,
			struct shape *shapes, struct target *ret, size_t *ret_count)
{
	char text[REASON_TEXT_MAX];

	*ret_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (query_check(classes[i].demand, text, sizeof(text)) ||
		    classes[i].demand->request_count > 1)
			continue;
		if (shape_init(pool, classes[i].demand, &shapes[*ret_count]) < 0)
			return -ENOMEM;
		ret[*ret_count] = (struct target){ .piece = shapes[*ret_count].piece,
						   .share = classes[i].share };
		(*ret_count)++;
	}
	return 0;
}

/* The nodes as they are when nobody is there. */
static void empty_boards(const struct pool *pool, struct board *boards)
{
	for (unsigned i = 0; i < pool->node_count; i++) {
		pool_board(pool, i, &boards[i]);
		boards[i].cpu_left = boards[i].cpu_total;
		boards[i].tags = 0;
		for (unsigned j = 0; j < boards[i].count; j++)
			boards[i].left[j] = MILLI_WHOLE;
	}
}

/* As the nodes are now. */
static int fill_memos(struct pool *pool)
{
	struct board board;

	pool->memos = calloc(pool->node_count + 1, sizeof(*pool->memos));
	if (!pool->memos)
		return -ENOMEM;
	for (unsigned i = 0; i < pool->node_count; i++) {
		pool_board(pool, i, &board);
		score_memo_fill(pool->tables, &board, &pool->memos[i]);
	}
	return 0;
}

int pool_set_workload(struct pool *pool, const struct workload_class *classes, size_t count)
{
	const struct score_options options = score_options_of(pool);
	autofree struct board *boards = calloc(pool->node_count + 1, sizeof(*boards));
	autofree struct target *targets = calloc(count + 1, sizeof(*targets));
	autofree struct shape *shapes = calloc(count + 1, sizeof(*shapes));
	struct score_tables *tables = calloc(1, sizeof(*tables));
	size_t read = 0;
	int r = -ENOMEM;

	if (boards && targets && shapes && tables) {
		empty_boards(pool, boards);
		r = read_classes(pool, classes, count, shapes, targets, &read);
	}
	if (r == 0)
		r = score_tables_build(tables, targets, read, pool->model_count, boards,
				       pool->node_count, &options);
	for (size_t i = 0; i < read; i++)
		shape_release(&shapes[i]);
	record_workload(pool, classes, count, r);
	if (r < 0) {
		free(tables);
		return r;
	}
	pool_drop_tables(pool);
	pool->tables = tables;
	r = read > 0 ? fill_memos(pool) : 0;
	if (read == 0 || r < 0) /* nothing is expected: as without a workload */
		pool_drop_tables(pool);
	shapes_drop(pool);
	return r;
}

void pool_drop_tables(struct pool *pool)
{
	if (pool->tables)
		score_tables_release(pool->tables);
	free(pool->tables);
	free(pool->memos);
	pool->tables = NULL;
	pool->memos = NULL;
}
