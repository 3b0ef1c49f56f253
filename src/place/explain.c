/* SPDX-License-Identifier: Apache-2.0 */
/* Why a demand gets what it gets, node by node and card by card, and the counts by class. */
#include "shape.h"

#include <errno.h>
#include <stdlib.h>

struct explain {
	struct pool *pool;
	const struct shape *shape;
	struct explanation *to;
	int64_t nearest[REASON_CODE_MAX]; /* of each class */
};

struct place_in_order {
	struct tournament_key key;
	uint32_t node;
	bool chosen;
};

void explanation_release(struct explanation *explanation)
{
	free(explanation->nodes);
	free(explanation->cards);
	*explanation = (struct explanation){ .nodes = NULL };
}

static int allocate(const struct pool *pool, const struct demand *demand, struct explanation *to)
{
	size_t cards = demand->request_count == 1 ? pool->slot_count : 0;

	to->nodes = calloc(pool->node_count + 1, sizeof(*to->nodes));
	to->cards = calloc(cards + 1, sizeof(*to->cards));
	if (!to->nodes || !to->cards)
		return -ENOMEM;
	to->node_count = pool->node_count;
	to->card_count = cards;
	for (size_t i = 0; i < pool->node_count; i++)
		to->nodes[i].first_card = cards ? pool->nodes[i].first : 0;
	return 0;
}

static void count_card(struct explanation *to, unsigned node, unsigned card, enum reason_code code)
{
	struct explained_class *class = &to->classes[code];

	to->cards[to->nodes[node].first_card + card] = code;
	if (code == REASON_NONE) {
		to->nodes[node].serving++;
		if (to->nodes[node].code != REASON_NONE) {
			to->kept_cards++;
			return;
		}
	}
	if (class->cards++ == 0) {
		class->card_node = node;
		class->card_position = card;
	}
}

static enum reason_code card_code(const struct pool *pool, const struct query *query, unsigned node,
				  unsigned card)
{
	struct standing standing;
	struct reason reason;

	filter_card(pool, query, node, card, &standing);
	if (standing.depth == DEPTH_FITS)
		return REASON_NONE;
	refuse_standing(pool, query, &standing, REASON_SCOPE_CARD, &reason);
	return reason.code;
}

static enum reason_code node_code(const struct pool *pool, const struct query *query, unsigned node)
{
	struct standing standing;
	struct reason reason;

	filter_node(pool, query, node, &standing);
	refuse_standing(pool, query, &standing, REASON_SCOPE_NODE, &reason);
	return reason.code;
}

/* As far as a node comes with all requests of a Pod; what each card says is left out. */
static int explain_node_several(struct explain *explain, const struct demand *demand,
				unsigned number, struct tournament_key *ret_key)
{
	struct explained_node *node = &explain->to->nodes[number];
	struct explained_class *class;
	struct reason reason = { .code = REASON_NONE };
	int r = several_look(explain->pool, demand, number, ret_key, &reason);

	if (r < 0 && r != -EAGAIN && r != -ENOSPC)
		return r;
	if (r == 0)
		*node = (struct explained_node){ .value = ret_key->value, .tie = ret_key->tie };
	else
		*ret_key = (struct tournament_key){ .value = TOURNAMENT_OUT };
	node->code = reason.code;
	class = &explain->to->classes[node->code];
	if (class->nodes++ == 0)
		class->node = number;
	return 0;
}

static void explain_node(struct explain *explain, unsigned number, struct tournament_key *ret_key)
{
	const struct pool *pool = explain->pool;
	const struct query *query = &explain->shape->query;
	struct explained_node *node = &explain->to->nodes[number];
	struct explained_class *class;
	int64_t obstacle = 0;

	if (shape_fits(pool, explain->shape, number, ret_key)) {
		node->value = ret_key->value;
		node->tie = ret_key->tie;
	} else {
		*ret_key = (struct tournament_key){ .value = TOURNAMENT_OUT };
		obstacle = shape_obstacle(pool, explain->shape, number);
		node->code = node_code(pool, query, number);
	}
	class = &explain->to->classes[node->code];
	if (class->nodes++ == 0 || obstacle > explain->nearest[node->code]) {
		class->node = number;
		explain->nearest[node->code] = obstacle;
	}
	for (unsigned i = 0; query->request && i < pool->nodes[number].count; i++)
		count_card(explain->to, number, i, card_code(pool, query, number, i));
}

static int compare_keys(const struct tournament_key *a, const struct tournament_key *b)
{
	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->tie > b->tie ? -1 : a->tie < b->tie;
}

static int compare_places(const void *left, const void *right)
{
	const struct place_in_order *a = left, *b = right;
	int order = compare_keys(&a->key, &b->key);

	if (a->chosen != b->chosen)
		return a->chosen ? -1 : 1;
	return order ? order : a->node < b->node ? -1 : 1;
}

/* The chosen node first, those alike by their names. */
static void set_ranks(struct explanation *to, struct place_in_order *places)
{
	qsort(places, to->node_count, sizeof(*places), compare_places);
	for (size_t i = 0; i < to->node_count && places[i].key.value != TOURNAMENT_OUT; i++) {
		to->nodes[places[i].node].rank = i + 1;
		to->alike += compare_keys(&places[i].key, &places[0].key) == 0;
	}
	if (to->result == 0)
		to->classes[REASON_NONE].node = to->decision.node;
}

static int explain_nodes(struct explain *explain, const struct demand *demand)
{
	struct explanation *to = explain->to;
	autofree struct place_in_order *places = calloc(to->node_count + 1, sizeof(*places));

	if (!places)
		return -ENOMEM;
	to->policy = explain->shape->row->name;
	to->ties = explain->shape->ties;
	for (unsigned i = 0; i < to->node_count; i++) {
		int r = 0;

		if (demand->request_count > 1)
			r = explain_node_several(explain, demand, i, &places[i].key);
		else
			explain_node(explain, i, &places[i].key);
		if (r < 0)
			return r;
		places[i].node = i;
		places[i].chosen = to->result == 0 && to->decision.node == i;
	}
	set_ranks(to, places);
	return 0;
}

/* A demand that cannot be read is that on every node and card. */
static void explain_unreadable(struct explanation *to)
{
	struct explained_class *class = &to->classes[to->reason.code];

	for (size_t i = 0; i < to->node_count; i++)
		to->nodes[i].code = to->reason.code;
	for (size_t i = 0; i < to->card_count; i++)
		to->cards[i] = to->reason.code;
	class->nodes = to->node_count;
	class->cards = to->card_count;
}

static int explain(struct pool *pool, const struct demand *demand, struct explanation *to)
{
	struct explain explain = { .pool = pool, .to = to };
	uint64_t random = pool->random;
	char text[REASON_TEXT_MAX];
	struct shape shape;
	int r = allocate(pool, demand, to);

	if (r < 0)
		return r;
	to->result = pool_decide(pool, demand, &to->decision, &to->reason);
	pool->random = random;
	if (to->result == -ENOMEM)
		return -ENOMEM;
	if (query_check(demand, text, sizeof(text))) {
		explain_unreadable(to);
		return 0;
	}
	r = shape_init(pool, demand, &shape);
	if (r < 0)
		return r;
	explain.shape = &shape;
	r = explain_nodes(&explain, demand);
	shape_release(&shape);
	return r;
}

int pool_explain(struct pool *pool, const struct demand *demand, struct explanation *ret)
{
	struct explanation *to = calloc(1, sizeof(*to)); /* too large for the stack */
	int r = to ? explain(pool, demand, to) : -ENOMEM;

	if (r == 0)
		*ret = *to;
	else if (to)
		explanation_release(to);
	free(to);
	return r;
}

int pool_explain_card(const struct pool *pool, const struct demand *demand, unsigned node,
		      unsigned card, struct reason *ret_reason)
{
	struct standing standing;
	char text[REASON_TEXT_MAX];
	struct query query;

	if (demand->request_count != 1 || node >= pool->node_count ||
	    card >= pool->nodes[node].count)
		return -EINVAL;
	if (query_check(demand, text, sizeof(text)))
		return refuse_request(demand->object ? demand->object : "the Pod", text,
				      ret_reason);
	query_init(pool, demand, &query);
	filter_card(pool, &query, node, card, &standing);
	if (standing.depth == DEPTH_FITS)
		return 0;
	return refuse_standing(pool, &query, &standing, REASON_SCOPE_CARD, ret_reason);
}

void explanation_summarize(const struct explanation *explanation, struct strbuf *out)
{
	bool told[REASON_CODE_MAX] = { [REASON_NONE] = true };
	const char *before = ": ";

	strbuf_addf(out, "%zu/%zu nodes fit", explanation->classes[REASON_NONE].nodes,
		    explanation->node_count);
	for (;;) {
		int most = REASON_NONE;

		for (int code = 1; code < REASON_CODE_MAX; code++)
			if (!told[code] && explanation->classes[code].nodes &&
			    (most == REASON_NONE ||
			     explanation->classes[code].nodes > explanation->classes[most].nodes))
				most = code;
		if (most == REASON_NONE)
			break;
		strbuf_addf(out, "%s%zu %s", before, explanation->classes[most].nodes,
			    reason_class((enum reason_code)most));
		told[most] = true;
		before = ", ";
	}
	strbuf_adds(out, ".");
}
