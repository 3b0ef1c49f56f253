/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All Pods of a gang or none. The Pods are assumed one after the other, the largest first, so that
 * each sees those before it, and forgotten at the end: the decisions alone stay. Each goes where
 * the policy would send it by itself, among the nodes of one domain (all nodes with one value of
 * the gang's label; without a label all nodes).
 *
 * Domains that look large enough come first, the one with the least room left over before others,
 * then the rest, the largest first; room is an estimate that only orders. A domain costs one look
 * at each of its nodes for each kind of Pod, and one more for each Pod that was placed.
 */
#include "shape.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CARD_MILLI 1000u
#define MIG_PARTS  8u /* no instance takes less of a card */
#define NO_NODE    UINT32_MAX

struct member {
	const struct demand *demand;
	size_t number; /* the caller's */
	uint64_t
		need; /* at least that many 1/1000 of a card, or of a CPU when nobody wants cards */
};

struct domain {
	const char *value;     /* of the label; the pool's; NULL without a label */
	uint32_t first, count; /* nodes in gang->nodes */
	uint64_t room;         /* as need */
	uint64_t cards;
};

struct gang {
	struct pool *pool;
	const char *label; /* NULL: all nodes are one domain */
	size_t count;
	struct decision *decisions;  /* the caller's */
	struct member *members;      /* owned; the largest first */
	uint64_t *ids;               /* owned; by the caller's number; 0: not placed */
	uint64_t need;               /* of all */
	bool by_cpu;                 /* nobody wants cards */
	uint32_t *nodes;             /* owned; by domain */
	struct tournament_key *keys; /* owned; of nodes, for the kind of Pod at hand */
	struct domain *domains;      /* owned */
	uint32_t domain_count;
};

/* The kind of Pod at hand while a domain is filled. */
struct kind {
	struct shape shape;
	bool open; /* SHAPE is to be released */
	uint8_t key[SHAPE_KEY_MAX];
	size_t key_size;
	const struct demand *demand;
	bool full;        /* no node takes one more */
	uint32_t changed; /* position of the node whose key is old, or NO_NODE */
};

static uint64_t request_need(const struct request *request, unsigned max_units)
{
	uint64_t each = CARD_MILLI;

	if (request->kind == REQUEST_MIG)
		each = CARD_MILLI / MIG_PARTS;
	else if (request->kind == REQUEST_SLICE && request->units)
		each = (uint64_t)request->units * CARD_MILLI / max_units;
	else if (request->kind == REQUEST_SLICE) /* rounded down to GiB, never below its half */
		each = (uint64_t)request->memory_percent * (CARD_MILLI / 200);
	return each * request->cards;
}

static int by_need(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->need != b->need)
		return a->need > b->need ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void look_at_members(struct gang *gang, const struct demand *const *demands)
{
	unsigned max_units = 1;

	gang->by_cpu = true;
	for (size_t i = 0; i < gang->pool->model_count; i++)
		if (gang->pool->model_units[i] > max_units)
			max_units = gang->pool->model_units[i];
	for (size_t i = 0; i < gang->count; i++) {
		gang->by_cpu = gang->by_cpu && !demands[i]->request_count;
		gang->label = gang->label ? gang->label : demands[i]->gang_domain;
	}
	for (size_t i = 0; i < gang->count; i++) {
		struct member *member = &gang->members[i];

		*member = (struct member){ .demand = demands[i], .number = i };
		if (gang->by_cpu)
			member->need = (uint64_t)demands[i]->needs.cpu_milli;
		for (size_t k = 0; k < demands[i]->request_count; k++)
			member->need += request_need(&demands[i]->requests[k], max_units);
		gang->need += member->need;
	}
	qsort(gang->members, gang->count, sizeof(*gang->members), by_need);
}

static uint64_t node_room(const struct gang *gang, const struct node *node)
{
	int64_t cpu = node->left.cpu_milli;
	uint64_t room = 0;

	if (gang->by_cpu) /* sums must not overflow */
		return cpu > UINT32_MAX ? UINT32_MAX : (uint64_t)cpu;
	for (unsigned i = 0; i < node->count; i++) {
		const struct slot *slot = node_slot(gang->pool, node, i);

		if (slot->units && (node->healthy & ~node->foreign) & card_bit(i))
			room += (uint64_t)slot_free_units(slot) * CARD_MILLI / slot->units;
	}
	return room;
}

/* *ret: 0 for a node without the label, else 1 + the domain, a new one for a value that is new. */
static int find_domain(struct gang *gang, struct map *values, const struct node *node,
		       uint32_t *ret)
{
	const char *value = gang->label ? node_spec_label(&node->labels, gang->label) : "";
	uintptr_t number = value ? (uintptr_t)map_get(values, value) : 0;

	if (value && !number) {
		number = ++gang->domain_count;
		if (map_put(values, value, (void *)number) < 0)
			return -ENOMEM;
		gang->domains[number - 1].value = gang->label ? value : NULL;
	}
	*ret = (uint32_t)number;
	return 0;
}

/* Nodes of a domain lie together, in their order. */
static int find_domains(struct gang *gang)
{
	size_t nodes = gang->pool->node_count;
	autofree uint32_t *of = calloc(nodes + 1, sizeof(*of));
	automap *values = map_new();
	uint32_t first = 0;

	if (!of || !values)
		return -ENOMEM;
	for (size_t i = 0; i < nodes; i++) {
		if (find_domain(gang, values, &gang->pool->nodes[i], &of[i]) < 0)
			return -ENOMEM;
		if (of[i])
			gang->domains[of[i] - 1].count++;
	}
	for (uint32_t i = 0; i < gang->domain_count; i++) {
		gang->domains[i].first = first;
		first += gang->domains[i].count;
		gang->domains[i].count = 0;
	}
	for (size_t i = 0; i < nodes; i++) {
		struct domain *domain = of[i] ? &gang->domains[of[i] - 1] : NULL;

		if (!domain)
			continue;
		gang->nodes[domain->first + domain->count++] = (uint32_t)i;
		domain->room += node_room(gang, &gang->pool->nodes[i]);
		domain->cards += gang->pool->nodes[i].count;
	}
	return 0;
}

static int by_left_over(const void *left, const void *right, void *data)
{
	const struct domain *a = left, *b = right;
	const struct gang *gang = data;
	bool a_fits = a->room >= gang->need, b_fits = b->room >= gang->need;

	if (a_fits != b_fits)
		return a_fits ? -1 : 1;
	if (a->room != b->room)
		return (a->room < b->room) == a_fits ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static int prepare(struct gang *gang, const struct demand *const *demands)
{
	size_t nodes = gang->pool->node_count;
	int r;

	gang->members = calloc(gang->count, sizeof(*gang->members));
	gang->ids = calloc(gang->count, sizeof(*gang->ids));
	gang->nodes = calloc(nodes + 1, sizeof(*gang->nodes));
	gang->keys = calloc(nodes + 1, sizeof(*gang->keys));
	gang->domains = calloc(nodes + 1, sizeof(*gang->domains));
	if (!gang->members || !gang->ids || !gang->nodes || !gang->keys || !gang->domains)
		return -ENOMEM;
	look_at_members(gang, demands);
	r = find_domains(gang);
	if (r == 0)
		qsort_r(gang->domains, gang->domain_count, sizeof(*gang->domains), by_left_over,
			gang);
	return r;
}

static void release(struct gang *gang)
{
	free(gang->members);
	free(gang->ids);
	free(gang->nodes);
	free(gang->keys);
	free(gang->domains);
}

static void kind_close(struct kind *kind)
{
	if (kind->open)
		shape_release(&kind->shape);
	kind->open = false;
}

/* The key of the domain's node at AT. */
static int judge(struct gang *gang, const struct domain *domain, const struct kind *kind,
		 uint32_t at)
{
	struct tournament_key *key = &gang->keys[domain->first + at];
	uint32_t node = gang->nodes[domain->first + at];
	int r;

	if (kind->demand->request_count <= 1) {
		shape_fits(gang->pool, &kind->shape, node, key);
		return 0;
	}
	r = several_look(gang->pool, kind->demand, node, key, NULL);
	if (r < 0)
		key->value = TOURNAMENT_OUT;
	return r == -ENOMEM ? r : 0;
}

/* The keys of the domain's nodes for DEMAND. */
static int kind_turn(struct gang *gang, const struct domain *domain, const struct demand *demand,
		     struct kind *kind)
{
	uint8_t key[SHAPE_KEY_MAX];
	size_t size = shape_key(demand, key);

	if (kind->open && (kind->demand == demand ||
			   (size && size == kind->key_size && memcmp(key, kind->key, size) == 0))) {
		int r = kind->changed == NO_NODE ? 0 : judge(gang, domain, kind, kind->changed);

		kind->changed = NO_NODE;
		return r;
	}
	kind_close(kind);
	if (shape_init(gang->pool, demand, &kind->shape) < 0)
		return -ENOMEM;
	kind->open = true;
	kind->demand = demand;
	memcpy(kind->key, key, size);
	kind->key_size = size;
	kind->full = false;
	kind->changed = NO_NODE;
	for (uint32_t i = 0; i < domain->count; i++)
		if (judge(gang, domain, kind, i) < 0)
			return -ENOMEM;
	return 0;
}

/* The position of the best node of the domain, as pool_decide() would choose; NO_NODE. */
static uint32_t choose_node(struct gang *gang, const struct domain *domain, const struct kind *kind)
{
	struct best best = { .node = TOURNAMENT_NONE };

	for (uint32_t i = 0; i < domain->count; i++)
		if (gang->keys[domain->first + i].value != TOURNAMENT_OUT)
			best_offer(gang->pool, kind->shape.ties, i, &gang->keys[domain->first + i],
				   &best);
	return best.node == TOURNAMENT_NONE ? NO_NODE : best.node;
}

/* On a node that takes it, by its key. */
static int place_on(struct gang *gang, const struct member *member, struct kind *kind,
		    uint32_t node)
{
	struct decision *decision = &gang->decisions[member->number];
	const struct demand *demand = member->demand;

	if (demand->request_count > 1)
		return decide_several(gang->pool, node, demand, decision, NULL);
	kind->shape.query.demand = demand;
	kind->shape.query.request = demand->request_count ? demand->requests : NULL;
	decide_place(gang->pool, &kind->shape, node, decision);
	return 0;
}

/* 1: placed. 0: no node of the domain takes it. */
static int place_member(struct gang *gang, const struct domain *domain, const struct member *member,
			struct kind *kind)
{
	uint32_t at;
	int r = kind_turn(gang, domain, member->demand, kind);

	if (r < 0)
		return r;
	at = kind->full ? NO_NODE : choose_node(gang, domain, kind);
	if (at == NO_NODE) {
		kind->full = true;
		return 0;
	}
	r = place_on(gang, member, kind, gang->nodes[domain->first + at]);
	if (r == 0)
		r = pool_assume(gang->pool, member->demand, &gang->decisions[member->number],
				&gang->ids[member->number]);
	if (r < 0) {
		gang->ids[member->number] = 0;
		return r;
	}
	kind->changed = at;
	return 1;
}

/* *ret_placed of the members find a place and stay assumed; not ALL: up to the first that does not. */
static int fill_domain(struct gang *gang, const struct domain *domain, bool all, size_t *ret_placed)
{
	struct kind kind = { .open = false };
	char text[REASON_TEXT_MAX];
	int r = 1;

	*ret_placed = 0;
	for (size_t i = 0; i < gang->count && (r || all); i++) {
		const struct member *member = &gang->members[i];

		r = query_check(member->demand, text, sizeof(text))
			    ? 0
			    : place_member(gang, domain, member, &kind);
		if (r < 0)
			break;
		*ret_placed += (size_t)r;
	}
	kind_close(&kind);
	return r < 0 ? r : 0;
}

static void take_back(struct gang *gang)
{
	for (size_t i = gang->count; gang->ids && i-- > 0;) {
		if (!gang->ids[i])
			continue;
		int r = pool_forget(gang->pool, gang->ids[i]);

		assert(r == 0); /* it was assumed here */
		(void)r;
		gang->ids[i] = 0;
	}
}

static void set_object(struct reason *reason, const struct demand *demand)
{
	reason_text(reason->object, sizeof(reason->object), "%s",
		    demand->object ? demand->object : "the Pod");
}

/* Larger than any domain is, whoever else is there. */
static bool is_too_large(const struct gang *gang, const struct demand *demand, struct reason *ret)
{
	uint64_t most = 0, wanted = (gang->need + CARD_MILLI - 1) / CARD_MILLI;

	for (uint32_t i = 0; i < gang->domain_count; i++)
		if (gang->domains[i].cards > most)
			most = gang->domains[i].cards;
	if ((gang->by_cpu || wanted <= most) && gang->domain_count)
		return false;
	*ret = (struct reason){ .code = REASON_GANG_SIZE,
				.wanted = gang->by_cpu ? 0 : (int64_t)wanted,
				.have = (int64_t)most,
				.total = (int64_t)gang->count };
	set_object(ret, demand);
	if (gang->label)
		reason_text(ret->detail, sizeof(ret->detail), " on nodes with one value of %s",
			    gang->label);
	return true;
}

/* While those that found a place in DOMAIN, which takes the most, are still assumed. */
static int refuse(struct gang *gang, const struct domain *domain, size_t placed, struct reason *ret)
{
	const struct demand *first = NULL;
	struct decision decision;
	struct reason inner;
	char where[REASON_TEXT_MAX] = "";
	int r;

	for (size_t i = 0; i < gang->count && !first; i++)
		if (!gang->ids[gang->members[i].number])
			first = gang->members[i].demand;
	r = pool_decide(gang->pool, first, &decision, &inner);
	if (r == -ENOSPC) /* by itself, too */
		*ret = inner;
	if (r < 0 && r != -EAGAIN)
		return r;
	if (is_too_large(gang, first, ret))
		return -ENOSPC;
	if (domain && domain->value)
		reason_text(where, sizeof(where), " on nodes with %s=%s", gang->label,
			    domain->value);
	*ret = (struct reason){ .code = REASON_GANG_BUSY,
				.wanted = (int64_t)gang->count,
				.have = (int64_t)placed,
				.total = (int64_t)gang->count };
	set_object(ret, first);
	reason_text(ret->detail, sizeof(ret->detail), "%s; for this one: %s", where,
		    r < 0 ? reason_class(inner.code) : "room on other nodes only");
	return -EAGAIN;
}

static int decide(struct gang *gang, struct reason *ret_reason)
{
	const struct domain *best = NULL;
	const uint64_t random = gang->pool->random;
	size_t placed = 0, most = 0;
	int r;

	for (uint32_t i = 0; i < gang->domain_count; i++) {
		r = fill_domain(gang, &gang->domains[i], ret_reason != NULL, &placed);
		if (r < 0 || placed == gang->count)
			return r;
		if (!best || placed > most) {
			best = &gang->domains[i];
			most = placed;
		}
		take_back(gang);
		gang->pool->random =
			random; /* what is drawn is the same with and without a reason */
	}
	if (!ret_reason)
		return -EAGAIN;
	r = best ? fill_domain(gang, best, true, &placed) : 0;
	if (r == 0)
		r = refuse(gang, best, placed, ret_reason);
	gang->pool->random = random;
	return r;
}

int pool_decide_gang(struct pool *pool, const struct demand *const *demands, size_t count,
		     struct decision *ret, struct reason *ret_reason)
{
	struct gang gang = { .pool = pool, .count = count, .decisions = ret };
	struct recorder *recorder = TAKE_PTR(pool->recorder); /* one event, not all its steps */
	int r = count ? prepare(&gang, demands) : -EINVAL;

	if (r == 0) {
		r = decide(&gang, ret_reason);
		take_back(&gang);
	}
	release(&gang);
	pool->recorder = recorder;
	record_gang(pool, demands, count, r, ret, ret_reason);
	return r;
}
