/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods of several containers that ask for cards: all of them on one node, or none. A node is tried
 * by taking its cards for one request after the other, the largest first, and giving them back.
 * First the policy chooses each time, on what is left; where that leaves somebody without room, all
 * ways are searched, up to SEARCH_STEPS of them. Cards that are alike are one way.
 *
 * No index: each such Pod looks at the nodes that take the largest of its requests.
 */
#include "shape.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH_STEPS   4096u           /* cards taken on one node */
#define VALUE_SEARCHED (INT64_MIN / 2) /* below all nodes where the policy's own choice fits */

struct part {                 /* one request */
	struct demand demand; /* the Pod as if it were the only one; borrows */
	char object[REASON_TEXT_MAX];
	struct shape shape;
	uint64_t eligible; /* cards of the node that is tried */
	struct held_card taken[NODE_CARDS_MAX];
	unsigned count;
};

struct several {
	struct pool *pool;
	struct part parts[DEMAND_REQUESTS_MAX];
	unsigned order[DEMAND_REQUESTS_MAX], count; /* the largest first */
	unsigned node, steps, most;                 /* parts that found room in one try */
	bool cut;                                   /* not all ways were tried */
	struct decision decision;                   /* of the node that was tried last */
};

/* ---- start and end ---- */

static unsigned largest_milli(const struct pool *pool, const struct part *part)
{
	unsigned largest = 0;

	for (size_t i = 0; i < pool->model_count; i++)
		if (part->shape.milli[i] > largest)
			largest = part->shape.milli[i];
	return largest;
}

/* Whole cards first: they need cards that nobody is on. */
static bool is_larger(const struct pool *pool, const struct part *a, const struct part *b)
{
	unsigned milli_a = largest_milli(pool, a), milli_b = largest_milli(pool, b);

	if (a->shape.piece.whole != b->shape.piece.whole)
		return a->shape.piece.whole;
	if (milli_a != milli_b)
		return milli_a > milli_b;
	return a->demand.requests->cards > b->demand.requests->cards;
}

static void put_in_order(struct several *several)
{
	for (unsigned i = 0; i < several->count; i++) {
		unsigned at = i;

		for (; at > 0 && is_larger(several->pool, &several->parts[i],
					   &several->parts[several->order[at - 1]]);
		     at--)
			several->order[at] = several->order[at - 1];
		several->order[at] = i;
	}
	/* What the Pod needs beside cards counts once. */
	for (unsigned i = 1; i < several->count; i++)
		several->parts[several->order[i]].shape.piece.cpu_milli = 0;
}

static void several_free(struct several *several)
{
	for (unsigned i = 0; several && i < several->count; i++)
		shape_release(&several->parts[i].shape);
	free(several);
}
DEFINE_CLEANUP(struct several, several_free)

static int init_part(struct pool *pool, const struct demand *demand, unsigned number,
		     struct part *ret)
{
	const char *pod = demand->object ? demand->object : "the Pod";

	ret->demand = *demand;
	ret->demand.requests = &demand->requests[number];
	ret->demand.request_count = 1;
	ret->demand.object = ret->object;
	if (demand->containers && demand->containers[number])
		reason_text(ret->object, sizeof(ret->object), "container %s of %s",
			    demand->containers[number], pod);
	else
		reason_text(ret->object, sizeof(ret->object), "request %u of %s", number + 1, pod);
	return shape_init(pool, &ret->demand, &ret->shape);
}

static struct several *several_new(struct pool *pool, const struct demand *demand)
{
	cleanup(several_freep) struct several *several = calloc(1, sizeof(*several));

	if (!several)
		return NULL;
	several->pool = pool;
	for (; several->count < demand->request_count; several->count++)
		if (init_part(pool, demand, several->count, &several->parts[several->count]) < 0)
			return NULL;
	put_in_order(several);
	return TAKE_PTR(several);
}

/* ---- one node ---- */

static const struct node *node_of(const struct several *several)
{
	return &several->pool->nodes[several->node];
}

static struct part *part_at(struct several *several, unsigned at)
{
	return &several->parts[several->order[at]];
}

static bool start_try(struct several *several, unsigned node)
{
	several->node = node;
	several->steps = SEARCH_STEPS;
	several->most = 0;
	if (!demand_selects(&several->parts[0].demand, &several->pool->nodes[node].labels))
		return false;
	for (unsigned i = 0; i < several->count; i++) {
		struct part *part = &several->parts[i];

		part->count = 0;
		part->eligible = filter_eligible(several->pool, &part->shape.query, node);
		if (!part->eligible)
			return false;
	}
	return node_has_room(&several->pool->nodes[node], &several->parts[0].demand.needs);
}

static void end_try(struct several *several)
{
	for (unsigned i = 0; i < several->count; i++) {
		struct part *part = &several->parts[i];

		while (part->count > 0)
			hold_undo(several->pool, several->node, &part->taken[--part->count]);
	}
}

/* The policy's choice for one request, on what those before it left; its value is added. */
static bool choose_part(struct several *several, unsigned at, int64_t *value)
{
	struct part *part = part_at(several, at);
	struct pool *pool = several->pool;
	const struct request *request = part->demand.requests;
	struct placement *ret = &several->decision.placements[several->order[at]];
	struct question question = { .piece = &part->shape.piece };
	struct standing standing;
	struct board board;

	filter_node(pool, &part->shape.query, several->node, &standing);
	if (standing.depth < DEPTH_FITS)
		return false;
	pool_board(pool, several->node, &board);
	if (at > 0 && board.cpu_left != RESOURCE_UNLIMITED)
		board.cpu_left -= part->demand.needs.cpu_milli;
	question.board = &board;
	question.fits = standing.fits;
	if (request->kind == REQUEST_MIG) {
		*ret = (struct placement){ .node = several->node };
		*value += mig_choose(pool, &part->shape, &board, standing.fits, ret);
	} else {
		struct answer answer = shape_score(pool, &part->shape, &question);

		*value += answer.value;
		placement_fill(pool, request, several->node, answer.cards, ret);
	}
	hold_cards(pool, request, ret, several->order[at], part->taken);
	for (; part->count < ret->count; part->count++) {
		bool taken = hold_try(pool, several->node, &part->taken[part->count]);

		assert(taken); /* the filters said so */
		(void)taken;
	}
	return true;
}

static bool choose_all(struct several *several, int64_t *ret_value)
{
	*ret_value = 0;
	for (unsigned at = 0; at < several->count; at++) {
		if (!choose_part(several, at, ret_value))
			return false;
		several->most = at + 1;
	}
	return true;
}

/* ---- all ways ---- */

/* Where a card or an instance could be, one number each. */
static unsigned place_count(const struct several *several, const struct request *request)
{
	return node_of(several)->count * (request->kind == REQUEST_MIG ? MIG_SLICES_MAX : 1);
}

static unsigned card_of_place(const struct request *request, unsigned place)
{
	return request->kind == REQUEST_MIG ? place / MIG_SLICES_MAX : place;
}

static bool fill_place(const struct several *several, const struct part *part, unsigned place,
		       struct held_card *ret)
{
	const struct request *request = part->demand.requests;
	unsigned card = card_of_place(request, place);
	unsigned units = node_slot(several->pool, node_of(several), card)->units;

	*ret = (struct held_card){ .card = (uint16_t)card,
				   .kind = (uint8_t)request->kind,
				   .part = (uint8_t)(part - several->parts) };
	if (!(part->eligible & card_bit(card)))
		return false;
	if (request->kind == REQUEST_MIG)
		return hold_instance(several->pool, several->node, request->mig_profile,
				     place % MIG_SLICES_MAX, ret);
	ret->units = (uint16_t)units;
	if (request->kind != REQUEST_SLICE)
		return true;
	ret->compute = (uint8_t)request->compute_percent;
	ret->units = (uint16_t)query_units(request, units);
	return query_units(request, units) <= units;
}

static bool are_alike(const struct several *several, unsigned a, unsigned b)
{
	const struct node *node = node_of(several);
	const struct slot *left = node_slot(several->pool, node, a);
	const struct slot *right = node_slot(several->pool, node, b);

	if (left->model != right->model || left->units != right->units ||
	    left->granted != right->granted || left->slices != right->slices ||
	    left->compute != right->compute || left->held_whole != right->held_whole)
		return false;
	for (unsigned i = 0; i < several->count; i++)
		if ((several->parts[i].eligible >> a & 1) != (several->parts[i].eligible >> b & 1))
			return false;
	return !node->mig ||
	       (node->mig[a].layout_count == 0 && node->mig[b].layout_count == 0 &&
		memcmp(&node->mig[a].use, &node->mig[b].use, sizeof(node->mig[a].use)) == 0);
}

/* A place from FROM on, before PLACE, that would have been as good. */
static bool was_tried(const struct several *several, const struct request *request, unsigned from,
		      unsigned place)
{
	unsigned step = request->kind == REQUEST_MIG ? MIG_SLICES_MAX : 1, card = place / step;

	for (unsigned other = place; other >= from + step;) {
		other -= step;
		if (are_alike(several, other / step, card))
			return true;
	}
	return false;
}

/* The rest of the request that is AT in the order, at places from FROM on, and all behind it. */
static bool search(struct several *several, unsigned at, unsigned from)
{
	if (at == several->count)
		return true;
	struct part *part = part_at(several, at);
	const struct request *request = part->demand.requests;

	if (part->count == request->cards) {
		several->most = at + 1 > several->most ? at + 1 : several->most;
		return search(several, at + 1, 0);
	}
	for (unsigned place = from; place < place_count(several, request); place++) {
		struct held_card *card = &part->taken[part->count];

		if (!fill_place(several, part, place, card) ||
		    was_tried(several, request, from, place))
			continue;
		if (several->steps == 0) {
			several->cut = true;
			return false;
		}
		several->steps--;
		if (!hold_try(several->pool, several->node, card))
			continue;
		part->count++;
		if (search(several, at, place + 1))
			return true;
		part->count--;
		hold_undo(several->pool, several->node, card);
	}
	return false;
}

static void placement_of_part(struct several *several, unsigned number)
{
	const struct part *part = &several->parts[number];
	const struct request *request = part->demand.requests;
	struct placement *ret = &several->decision.placements[number];
	uint64_t cards = 0;

	for (unsigned i = 0; i < part->count; i++)
		cards |= card_bit(part->taken[i].card);
	placement_fill(several->pool, request, several->node, cards, ret);
	if (request->kind != REQUEST_MIG)
		return;
	for (ret->count = 0; ret->count < part->count; ret->count++) {
		const struct held_card *card = &part->taken[ret->count];
		const struct slot *slot = node_slot(several->pool, node_of(several), card->card);

		ret->cards[ret->count] = card->card;
		ret->starts[ret->count] = card->start;
		ret->units[ret->count] = card->units;
		ret->memory_mib[ret->count] =
			several->pool->mig_models[slot->model]->profiles[card->profile].memory_mib;
	}
}

/* Everything is given back at the end, in several->decision is what would have been. */
static bool try_node(struct several *several, unsigned node, struct tournament_key *ret)
{
	struct board board;
	bool found = start_try(several, node);

	if (!found)
		return false;
	*ret = (struct tournament_key){ VALUE_SEARCHED, 0 };
	pool_board(several->pool, node, &board);
	if (part_at(several, 0)->shape.ties == TIE_BESTFIT)
		ret->tie = score_tie_bestfit(&board, &part_at(several, 0)->shape.piece);
	if (!choose_all(several, &ret->value)) {
		end_try(several);
		ret->value = VALUE_SEARCHED;
		found = search(several, 0, 0);
		for (unsigned i = 0; found && i < several->count; i++)
			placement_of_part(several, i);
	}
	end_try(several);
	several->decision.node = node;
	several->decision.count = several->count;
	return found;
}

/* ---- refusals ---- */

struct kept { /* what is held of a node's cards */
	struct slot slots[NODE_CARDS_MAX];
	struct mig_use uses[NODE_CARDS_MAX];
	uint8_t held[NODE_CARDS_MAX];
	uint64_t idle;
};

static void clear_node(struct pool *pool, unsigned number, struct kept *ret)
{
	struct node *node = &pool->nodes[number];

	ret->idle = node->idle;
	for (unsigned i = 0; i < node->count; i++) {
		struct slot *slot = &pool->slots[node->first + i];

		ret->slots[i] = *slot;
		slot->granted = slot->slices = 0;
		slot->compute = 0;
		slot->held_whole = false;
		node->idle |= card_bit(i);
		if (node->mig) {
			ret->uses[i] = node->mig[i].use;
			ret->held[i] = node->mig[i].held;
			node->mig[i].use = (struct mig_use){ 0 };
			node->mig[i].held = 0;
		}
		room_update(pool, node, i);
	}
}

static void restore_node(struct pool *pool, unsigned number, const struct kept *kept)
{
	struct node *node = &pool->nodes[number];

	node->idle = kept->idle;
	for (unsigned i = 0; i < node->count; i++) {
		pool->slots[node->first + i] = kept->slots[i];
		if (node->mig) {
			node->mig[i].use = kept->uses[i];
			node->mig[i].held = kept->held[i];
		}
		room_update(pool, node, i);
	}
}

/* With nobody there and all cards well. *ret_most: the requests that found room. */
static bool could_ever_fit(struct several *several, unsigned number, unsigned *ret_most)
{
	const struct node *node = &several->pool->nodes[number];
	struct kept kept;
	bool found;

	*ret_most = 0;
	if (!demand_selects_labels(&several->parts[0].demand, &node->labels))
		return false;
	several->node = number;
	several->steps = SEARCH_STEPS;
	several->most = 0;
	several->cut = false;
	for (unsigned i = 0; i < several->count; i++) {
		struct part *part = &several->parts[i];
		bool mig = part->demand.requests->kind == REQUEST_MIG;

		part->count = 0;
		part->eligible = query_matches(several->pool, &part->shape.query, number) &
				 (mig ? node->modes[CARD_MODE_MIG] : ~node->modes[CARD_MODE_MIG]);
	}
	clear_node(several->pool, number, &kept);
	found = search(several, 0, 0);
	end_try(several);
	restore_node(several->pool, number, &kept);
	*ret_most = several->most;
	return found || several->cut;
}

static int refuse_pod(const struct several *several, enum reason_code code, unsigned node,
		      unsigned most, enum reason_scope scope, struct reason *ret)
{
	const struct part *part = &several->parts[several->order[most]];
	autostrbuf text = STRBUF_INIT(REASON_TEXT_MAX);

	*ret = (struct reason){ .code = code,
				.scope = scope,
				.wanted = several->count,
				.have = most,
				.total = several->count };
	reason_text(ret->object, sizeof(ret->object), "%s", part->object);
	reason_text(ret->node, sizeof(ret->node), "%s", several->pool->nodes[node].name);
	if (request_describe(part->demand.requests, &text) < 0)
		strbuf_reset(&text);
	reason_text(ret->detail, sizeof(ret->detail), "%s", text.data ? text.data : "cards");
	return reason_is_for_ever(code) ? -ENOSPC : -EAGAIN;
}

/* Each request would fit alone: why not all of them. */
static int refuse_together(struct several *several, uint32_t only, struct reason *ret_reason)
{
	enum reason_scope scope = only == ANY_NODE ? REASON_SCOPE_POOL : REASON_SCOPE_NODE;
	unsigned first = only == ANY_NODE ? 0 : only, now = 0, ever = 0, now_node = first,
		 ever_node = first;
	unsigned end = only == ANY_NODE ? (unsigned)several->pool->node_count : only + 1;
	bool possible = false;

	for (unsigned node = first; node < end; node++) {
		struct tournament_key key;
		unsigned most = 0;

		several->most = 0;
		try_node(several, node, &key);
		if (several->most > now) {
			now = several->most;
			now_node = node;
		}
		if (possible || could_ever_fit(several, node, &most))
			possible = true;
		if (most > ever) {
			ever = most;
			ever_node = node;
		}
	}
	return possible ? refuse_pod(several, REASON_POD_BUSY, now_node, now, scope, ret_reason)
			: refuse_pod(several, REASON_POD_SIZE, ever_node, ever, scope, ret_reason);
}

/* The first request that fits nowhere alone; for ever goes before for now. */
static int refuse(struct several *several, uint32_t only, struct reason *ret_reason)
{
	struct decision *unused = &several->decision;
	struct reason reason;
	int result = 0;

	if (!ret_reason)
		return -EAGAIN;
	for (unsigned i = 0; result != -ENOSPC && i < several->count; i++) {
		int r = decide_one(several->pool, only, &several->parts[i].demand, unused, &reason);

		if (r < 0 && r != -EAGAIN && r != -ENOSPC)
			return r;
		if (r < 0 && (result == 0 || r == -ENOSPC)) {
			result = r;
			*ret_reason = reason;
		}
	}
	return result < 0 ? result : refuse_together(several, only, ret_reason);
}

/* ---- all nodes ---- */

static void offer_all(struct several *several, struct best *best)
{
	struct part *first = part_at(several, 0);
	const struct shape *index = shape_get(several->pool, &first->demand);
	struct tournament_key key;

	for (unsigned node = 0; node < several->pool->node_count; node++)
		if ((!index || shape_may_fit(index, node)) && try_node(several, node, &key))
			best_offer(several->pool, first->shape.ties, node, &key, best);
}

int decide_several(struct pool *pool, uint32_t only, const struct demand *demand,
		   struct decision *ret, struct reason *ret_reason)
{
	cleanup(several_freep) struct several *several = several_new(pool, demand);
	struct best best = { .node = TOURNAMENT_NONE };
	struct tournament_key key;

	if (!several)
		return -ENOMEM;
	if (only == ANY_NODE)
		offer_all(several, &best);
	else if (try_node(several, only, &key))
		best.node = only;
	if (best.node == TOURNAMENT_NONE)
		return refuse(several, only, ret_reason);
	try_node(several, best.node, &key);
	*ret = several->decision;
	return 0;
}

int several_look(struct pool *pool, const struct demand *demand, unsigned node,
		 struct tournament_key *ret, struct reason *ret_reason)
{
	cleanup(several_freep) struct several *several = several_new(pool, demand);

	if (!several)
		return -ENOMEM;
	return try_node(several, node, ret) ? 0 : refuse(several, node, ret_reason);
}
