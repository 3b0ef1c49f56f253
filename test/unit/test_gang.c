/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine_world.h"
#include "place/place.h"

#define PODS_MAX 32
#define RACK     "rack"
#define ZONE     "zone"

struct node_row {
	const char *rack;     /* NULL: no such label */
	unsigned cards, held; /* of 40 GiB; the first ones are held whole */
};

#define WHOLE(n) ((struct request){ .kind = REQUEST_WHOLE, .cards = (n) })
#define SLICE(n, gib)                             \
	((struct request){ .kind = REQUEST_SLICE, \
			   .cards = (n),          \
			   .units = (gib),        \
			   .memory_mib = (uint64_t)(gib)*1024 })

static void fill_node(struct node_spec *node, unsigned number, const struct node_row *row)
{
	char text[32];

	node_spec_init(node);
	snprintf(text, sizeof(text), "node-%02u", number);
	node->name = strdup(text);
	assert_non_null(node->name);
	node->allocatable.cpu_milli = 8000;
	if (row->rack)
		assert_int_equal(node_spec_set_label(node, RACK, row->rack), 0);
	for (unsigned i = 0; i < row->cards; i++) {
		struct inventory *inventory = &node->inventory;
		struct card *card = VEC_ADD(&inventory->cards, &inventory->card_count,
					    &inventory->card_capacity);

		assert_non_null(card);
		card->index = card->minor = i;
		card->memory_bytes = 40ull << 30;
		card->numa = -1;
		card->mode = CARD_MODE_AUTO;
		snprintf(card->uuid, sizeof(card->uuid), "GPU-%u-%u", number, i);
		snprintf(card->model, sizeof(card->model), "NVIDIA A100-SXM4-40GB");
	}
}

static void hold_cards(struct pool *pool, unsigned node, unsigned count)
{
	const struct request request = WHOLE(count);
	struct demand demand;
	struct decision decision;
	uint64_t id;

	demand_borrow_request(&request, "held", &demand);
	assert_int_equal(pool_decide_on(pool, node, &demand, &decision, NULL), 0);
	assert_int_equal(pool_hold(pool, &demand, &decision, &id), 0);
}

static struct pool *make_pool(const struct node_row *rows, size_t count, enum tie_rule ties)
{
	const struct policy_options options = { .policy = NODE_POLICY_BINPACK,
						.ties = ties,
						.seed = 5 };
	struct pool *pool = pool_new();

	assert_non_null(pool);
	assert_int_equal(pool_set_policy(pool, &options), 0);
	for (unsigned i = 0; i < count; i++) {
		cleanup(node_spec_release) struct node_spec node;

		fill_node(&node, i, &rows[i]);
		assert_int_equal(pool_add_node(pool, &node, NULL), 0);
		if (rows[i].held)
			hold_cards(pool, i, rows[i].held);
	}
	return pool;
}

/* The demands of a gang; their requests and texts are borrowed. */
struct gang {
	struct demand demands[PODS_MAX];
	const struct demand *pointers[PODS_MAX];
	char objects[PODS_MAX][32];
	size_t count;
};

static void add_pod(struct gang *gang, const struct request *request, const char *domain)
{
	struct demand *demand = &gang->demands[gang->count];
	char *object = gang->objects[gang->count];

	snprintf(object, sizeof(gang->objects[0]), "Pod default/p%zu", gang->count);
	if (request)
		demand_borrow_request(request, object, demand);
	else
		demand_init(demand);
	demand->object = object;
	demand->gang_domain = (char *)(uintptr_t)domain;
	gang->pointers[gang->count++] = demand;
}

/* The nodes of a decided gang as a set; everything can really be held together. */
static uint64_t nodes_of(struct pool *pool, const struct demand *const *demands, size_t count,
			 const struct decision *decisions)
{
	uint64_t nodes = 0, ids[PODS_MAX];

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(pool_hold(pool, demands[i], &decisions[i], &ids[i]), 0);
		nodes |= 1ull << decisions[i].node;
	}
	for (size_t i = count; i-- > 0;)
		assert_int_equal(pool_release(pool, ids[i]), 0);
	return nodes;
}

/* What is free, node by node and card by card, and how many grants there are. */
static void describe(const struct pool *pool, struct strbuf *out)
{
	strbuf_addf(out, "%zu grants", pool_grant_count(pool));
	for (unsigned node = 0; node < pool_node_count(pool); node++) {
		struct resources used = pool_node_used(pool, node);

		strbuf_addf(out, "; %lld", (long long)used.cpu_milli);
		for (unsigned i = 0; i < pool_node_card_count(pool, node); i++)
			strbuf_addf(out, " %u", pool_card_free(pool, node, i));
	}
}

static const struct {
	struct node_row nodes[6];
	unsigned pods, cards; /* of each */
	const char *domain;
	int result;
	uint64_t on; /* nodes */
	enum reason_code code;
	int64_t wanted, have;
	const char *object, *detail;
} cases[] = {
	/* Where the policy sends them one after the other; binpack: the fullest node. */
	{ { { NULL, 8, 0 }, { NULL, 8, 4 }, { NULL, 8, 2 } }, 4, 1, NULL, 0, 1 << 1 },
	{ { { NULL, 8, 0 }, { NULL, 8, 4 }, { NULL, 8, 2 } }, 10, 1, NULL, 0, 1 << 1 | 1 << 2 },
	{ { { NULL, 8, 0 }, { NULL, 8, 4 }, { NULL, 8, 2 } }, 18, 1, NULL, 0, 7 },
	{ { { NULL, 8, 0 }, { NULL, 8, 4 }, { NULL, 8, 2 } }, 4, 4, NULL, 0, 7 },
	{ { { NULL, 8, 3 } }, 1, 5, NULL, 0, 1 },
	{ { { NULL, 8, 0 }, { NULL, 8, 4 }, { NULL, 8, 2 } },
	  19,
	  1,
	  NULL,
	  -EAGAIN,
	  0,
	  REASON_GANG_BUSY,
	  19,
	  18,
	  "Pod default/p18",
	  "; for this one: not enough free cards" },
	{ { { NULL, 8, 0 }, { NULL, 8, 4 }, { NULL, 8, 2 } },
	  25,
	  1,
	  NULL,
	  -ENOSPC,
	  0,
	  REASON_GANG_SIZE,
	  25,
	  24,
	  "Pod default/p18",
	  "" },
	/* One rack: the one that has the least room left over. */
	{ { { "r0", 4, 0 }, { "r1", 4, 0 }, { "r1", 4, 0 }, { "r0", 4, 0 }, { "r1", 4, 0 } },
	  8,
	  1,
	  RACK,
	  0,
	  1 << 0 | 1 << 3 },
	{ { { "r0", 4, 0 }, { "r1", 4, 0 }, { "r1", 4, 0 }, { "r0", 4, 0 }, { "r1", 4, 0 } },
	  3,
	  4,
	  RACK,
	  0,
	  1 << 1 | 1 << 2 | 1 << 4 },
	{ { { "r0", 4, 0 }, { "r1", 4, 1 }, { "r1", 4, 0 }, { "r0", 4, 0 }, { "r1", 4, 0 } },
	  12,
	  1,
	  RACK,
	  -EAGAIN,
	  0,
	  REASON_GANG_BUSY,
	  12,
	  11,
	  "Pod default/p11",
	  " on nodes with rack=r1; for this one: room on other nodes only" },
	{ { { "r0", 4, 0 }, { "r1", 4, 1 }, { "r1", 4, 0 }, { "r0", 4, 0 }, { "r1", 4, 0 } },
	  13,
	  1,
	  RACK,
	  -ENOSPC,
	  0,
	  REASON_GANG_SIZE,
	  13,
	  12,
	  "Pod default/p11",
	  " on nodes with one value of rack" },
	/* r0 has room enough in sum, but not on any node. */
	{ { { "r0", 4, 2 }, { "r0", 4, 2 }, { "r0", 4, 2 }, { "r1", 8, 0 } },
	  2,
	  3,
	  RACK,
	  0,
	  1 << 3 },
	/* Nodes without the label are in no rack. */
	{ { { NULL, 8, 0 }, { "r1", 2, 0 } }, 2, 1, RACK, 0, 1 << 1 },
	{ { { NULL, 8, 0 }, { NULL, 8, 0 } },
	  2,
	  1,
	  RACK,
	  -ENOSPC,
	  0,
	  REASON_GANG_SIZE,
	  2,
	  0,
	  "Pod default/p0",
	  " on nodes with one value of rack" },
	/* A Pod that fits nowhere by itself. */
	{ { { NULL, 8, 0 }, { NULL, 8, 0 } },
	  2,
	  9,
	  NULL,
	  -ENOSPC,
	  0,
	  REASON_NODE_CARDS,
	  9,
	  0,
	  "Pod default/p0",
	  NULL },
};

TEST(all_or_none)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t nodes = 0;
		const struct request request = WHOLE(cases[i].cards);
		struct gang gang = { .count = 0 };
		struct decision decisions[PODS_MAX];
		struct reason reason;
		autostrbuf before = STRBUF_INIT(4096), after = STRBUF_INIT(4096);

		while (nodes < 6 && cases[i].nodes[nodes].cards)
			nodes++;
		autopool *pool = make_pool(cases[i].nodes, nodes, TIE_NAME);

		for (unsigned k = 0; k < cases[i].pods; k++)
			add_pod(&gang, &request, cases[i].domain);
		describe(pool, &before);
		int r = pool_decide_gang(pool, gang.pointers, gang.count, decisions, &reason);

		describe(pool, &after);
		assert_string_equal(after.data, before.data);
		if (r != cases[i].result)
			fail_msg("case %zu: %d", i, r);
		if (r == 0) {
			assert_int_equal(nodes_of(pool, gang.pointers, gang.count, decisions),
					 cases[i].on);
			continue;
		}
		assert_string_equal(reason_name(reason.code), reason_name(cases[i].code));
		assert_string_equal(reason.object, cases[i].object);
		assert_int_equal(reason.wanted, cases[i].wanted);
		if (cases[i].detail) {
			assert_int_equal(reason.have, cases[i].have);
			assert_string_equal(reason.detail, cases[i].detail);
		}
		/* As with every decision, -EAGAIN stands for both then. */
		assert_int_equal(pool_decide_gang(pool, gang.pointers, gang.count, decisions, NULL),
				 -EAGAIN);
	}
}

TEST(the_largest_first)
{
	static const struct node_row rows[] = { { "r0", 4, 2 }, { "r0", 1, 0 }, { "r1", 2, 1 } };
	const struct request whole = WHOLE(2), slice = SLICE(1, 25), two = SLICE(2, 10);
	autopool *pool = make_pool(rows, ARRAY_SIZE(rows), TIE_NAME);
	struct gang gang = { .count = 0 };
	struct decision decisions[PODS_MAX];

	add_pod(&gang, &slice, RACK); /* binpack alone would put it on one of the two */
	add_pod(&gang, NULL, RACK);
	add_pod(&gang, &whole, RACK);
	gang.demands[1].needs.cpu_milli = 3000;
	assert_int_equal(pool_decide_gang(pool, gang.pointers, 3, decisions, NULL), 0);
	assert_int_equal(decisions[0].node, 1);
	assert_int_equal(decisions[2].node, 0);
	assert_int_equal(nodes_of(pool, gang.pointers, 3, decisions) & ~3ull, 0);
	add_pod(&gang, &two, RACK);
	assert_int_equal(pool_decide_gang(pool, gang.pointers, 4, decisions, NULL), -EAGAIN);
}

/* A card and a part of another for each Pod: one on each node of the only rack that has two. */
TEST(pods_of_several_containers)
{
	static const struct node_row rows[] = { { "r0", 4, 1 }, { "r1", 2, 0 }, { "r1", 2, 0 } };
	struct request requests[] = { WHOLE(1), SLICE(1, 30) };
	autopool *pool = make_pool(rows, ARRAY_SIZE(rows), TIE_NAME);
	struct gang gang = { .count = 0 };
	struct decision decisions[PODS_MAX];
	struct reason reason;

	for (unsigned i = 0; i < 3; i++) {
		add_pod(&gang, &requests[0], RACK);
		gang.demands[i].requests = requests;
		gang.demands[i].request_count = ARRAY_SIZE(requests);
	}
	assert_int_equal(pool_decide_gang(pool, gang.pointers, 2, decisions, &reason), 0);
	assert_int_equal(nodes_of(pool, gang.pointers, 2, decisions), 1 << 1 | 1 << 2);
	assert_int_equal(pool_decide_gang(pool, gang.pointers, 3, decisions, &reason), -ENOSPC);
	assert_int_equal(reason.code, REASON_GANG_SIZE);
	assert_int_equal(reason.wanted, 6);
	assert_int_equal(reason.have, 4);
}

TEST(pods_without_cards)
{
	static const struct node_row rows[] = { { NULL, 1, 0 }, { NULL, 1, 0 }, { NULL, 1, 0 } };
	autopool *pool = make_pool(rows, ARRAY_SIZE(rows), TIE_NAME);
	struct gang gang = { .count = 0 };
	struct decision decisions[PODS_MAX];
	struct reason reason;

	for (unsigned i = 0; i < 7; i++) {
		add_pod(&gang, NULL, NULL);
		gang.demands[i].needs.cpu_milli = 3500;
	}
	assert_int_equal(pool_decide_gang(pool, gang.pointers, 6, decisions, NULL), 0);
	assert_int_equal(nodes_of(pool, gang.pointers, 6, decisions), 7);
	assert_int_equal(pool_decide_gang(pool, gang.pointers, 7, decisions, &reason), -EAGAIN);
	assert_int_equal(reason.code, REASON_GANG_BUSY);
	assert_int_equal(reason.have, 6);
	assert_int_equal(pool_decide_gang(pool, NULL, 0, NULL, NULL), -EINVAL);
}

/* Could it be done at all? Pods of one kind: a node takes free / cards of them. */
static bool is_possible(const struct node_row *rows, size_t count, unsigned pods, unsigned cards)
{
	static const char *const racks[] = { "r0", "r1", "r2" };

	for (size_t k = 0; k < ARRAY_SIZE(racks); k++) {
		unsigned room = 0;

		for (size_t i = 0; i < count; i++)
			if (rows[i].rack && strcmp(rows[i].rack, racks[k]) == 0)
				room += (rows[i].cards - rows[i].held) / cards;
		if (room >= pods)
			return true;
	}
	return false;
}

TEST(alike_pods_are_placed_whenever_it_is_possible)
{
	static const char *const racks[] = { "r0", "r1", "r2", NULL };
	unsigned placed = 0, refused = 0;
	struct dice dice = { 5 };

	for (unsigned round = 0; round < 600; round++) {
		struct node_row rows[6];
		struct gang gang = { .count = 0 };
		struct decision decisions[PODS_MAX];
		unsigned pods = 1 + dice_below(&dice, 6);
		const struct request request = WHOLE(1 + dice_below(&dice, 3));

		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			unsigned cards = 1 + dice_below(&dice, 6);

			rows[i] = (struct node_row){ racks[dice_below(&dice, 4)], cards,
						     dice_below(&dice, cards + 1) };
		}
		autopool *pool = make_pool(rows, ARRAY_SIZE(rows),
					   (enum tie_rule)dice_below(&dice, TIE_MAX));

		for (unsigned i = 0; i < pods; i++)
			add_pod(&gang, &request, RACK);
		int r = pool_decide_gang(pool, gang.pointers, pods, decisions, NULL);

		assert_int_equal(r == 0, is_possible(rows, ARRAY_SIZE(rows), pods, request.cards));
		for (unsigned i = 0; r == 0 && i < pods; i++)
			assert_string_equal(rows[decisions[i].node].rack,
					    rows[decisions[0].node].rack);
		if (r == 0)
			nodes_of(pool, gang.pointers, pods, decisions);
		placed += r == 0;
		refused += r < 0;
	}
	print_message("# %u gangs placed, %u refused\n", placed, refused);
	assert_true(placed > 50 && refused > 50);
}

/* Random nodes, half full of random Pods. */
static struct pool *make_world(struct dice *dice, char zones[][8], unsigned nodes)
{
	const struct policy_options options = {
		/* Not random: it draws. */
		.policy = (enum node_policy)(
			(NODE_POLICY_RANDOM + 1 + dice_below(dice, NODE_POLICY_MAX - 1)) %
			NODE_POLICY_MAX),
		.ties = dice_chance(dice, 50) ? TIE_NAME : TIE_BESTFIT,
	};
	struct pool *pool = pool_new();

	assert_non_null(pool);
	assert_int_equal(pool_set_policy(pool, &options), 0);
	for (unsigned i = 0; i < nodes; i++) {
		cleanup(node_spec_release) struct node_spec node;
		const char *zone;

		world_make_node(dice, i, &node);
		zone = node_spec_label(&node, ZONE);
		snprintf(zones[i], sizeof(zones[i]), "%s", zone ? zone : "");
		assert_int_equal(pool_add_node(pool, &node, NULL), 0);
	}
	for (unsigned i = 0; i < 2 * nodes; i++) {
		cleanup(demand_release) struct demand demand;
		struct decision decision;
		uint64_t id;

		world_make_shape(dice, nodes, &demand);
		if (pool_decide(pool, &demand, &decision, NULL) == 0)
			assert_int_equal(pool_hold(pool, &demand, &decision, &id), 0);
	}
	return pool;
}

/* One after the other on nodes of one zone, as a nodeSelector would ask; NULL: anywhere. */
static bool sequence_fits(struct pool *pool, struct demand *demand, size_t count, const char *zone,
			  struct decision *decisions)
{
	struct label *label = zone ? VEC_ADD(&demand->selector, &demand->selector_count,
					     &demand->selector_capacity)
				   : NULL;
	uint64_t ids[PODS_MAX];
	size_t placed = 0;

	if (label)
		*label = (struct label){ strdup(ZONE), strdup(zone) };
	while (placed < count && pool_decide(pool, demand, &decisions[placed], NULL) == 0) {
		assert_int_equal(pool_assume(pool, demand, &decisions[placed], &ids[placed]), 0);
		placed++;
	}
	for (size_t i = placed; i-- > 0;)
		assert_int_equal(pool_forget(pool, ids[i]), 0);
	if (label) {
		free(label->key);
		free(label->value);
		demand->selector_count--;
	}
	return placed == count;
}

static bool is_same(const struct decision *left, const struct decision *right)
{
	if (left->node != right->node || left->count != right->count)
		return false;
	for (unsigned i = 0; i < left->count; i++) {
		const struct placement *a = &left->placements[i], *b = &right->placements[i];

		if (a->count != b->count ||
		    memcmp(a->cards, b->cards, a->count * sizeof(a->cards[0])) != 0 ||
		    memcmp(a->units, b->units, a->count * sizeof(a->units[0])) != 0 ||
		    memcmp(a->starts, b->starts, a->count * sizeof(a->starts[0])) != 0)
			return false;
	}
	return true;
}

static void assert_one_zone(char (*zones)[8], const struct decision *decisions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_string_equal(zones[decisions[i].node], zones[decisions[0].node]);
}

/* A gang of alike Pods gets what they would get one by one in one zone, where the policy rules. */
TEST(a_gang_is_its_pods_one_by_one_in_some_domain)
{
	static const char *const all[] = { "east", "west", "north" }, *const none[] = { NULL };
	unsigned placed[2] = { 0 }, refused[2] = { 0 };
	struct dice dice = { 11 };

	for (unsigned round = 0; round < 800; round++) {
		char zones[12][8];
		unsigned nodes = 2 + dice_below(&dice, 11);
		autopool *pool = make_world(&dice, zones, nodes);
		cleanup(demand_release) struct demand demand;
		const struct demand *demands[PODS_MAX];
		struct decision decisions[PODS_MAX], one_by_one[PODS_MAX];
		size_t count = 1 + dice_below(&dice, 8), same = 0, found = 0;
		bool zoned = dice_chance(&dice, 60);

		world_make_shape(&dice, nodes, &demand);
		for (size_t i = 0; i < count; i++)
			demands[i] = &demand;
		demand.gang_domain = zoned ? strdup(ZONE) : NULL;
		int r = pool_decide_gang(pool, demands, count, decisions, NULL);

		for (size_t i = 0; i < (zoned ? ARRAY_SIZE(all) : ARRAY_SIZE(none)); i++) {
			bool equal = r == 0;

			if (!sequence_fits(pool, &demand, count, zoned ? all[i] : none[i],
					   one_by_one))
				continue;
			found++;
			for (size_t k = 0; equal && k < count; k++)
				equal = is_same(&decisions[k], &one_by_one[k]);
			same += equal;
		}
		assert_int_equal(r == 0, found > 0);
		assert_int_equal(same, r == 0);
		if (r == 0 && zoned)
			assert_one_zone(zones, decisions, count);
		placed[zoned] += r == 0;
		refused[zoned] += r < 0;
	}
	print_message("# anywhere: %u placed, %u refused; in a zone: %u and %u\n", placed[0],
		      refused[0], placed[1], refused[1]);
	assert_true(placed[0] > 50 && refused[0] > 50 && placed[1] > 50 && refused[1] > 50);
}

/* Pods of all kinds: what is decided holds together in one zone; nothing stays. */
TEST(mixed_gangs_hold_together)
{
	unsigned placed = 0, refused = 0;
	struct dice dice = { 23 };

	for (unsigned round = 0; round < 600; round++) {
		char zones[12][8];
		unsigned nodes = 2 + dice_below(&dice, 11);
		autopool *pool = make_world(&dice, zones, nodes);
		autostrbuf before = STRBUF_INIT(16384), after = STRBUF_INIT(16384);
		struct demand demands[6];
		const struct demand *pointers[ARRAY_SIZE(demands)];
		struct decision decisions[ARRAY_SIZE(demands)];
		size_t count = 2 + dice_below(&dice, 5);
		struct reason reason;

		for (size_t i = 0; i < count; i++) {
			world_make_shape(&dice, nodes, &demands[i]);
			demands[i].gang_domain = strdup(ZONE);
			pointers[i] = &demands[i];
		}
		describe(pool, &before);
		int r = pool_decide_gang(pool, pointers, count, decisions, &reason);

		describe(pool, &after);
		assert_string_equal(after.data, before.data);
		if (r == 0) {
			assert_one_zone(zones, decisions, count);
			nodes_of(pool, pointers, count, decisions);
		} else if (reason.code == REASON_GANG_BUSY) {
			assert_int_equal(r, -EAGAIN);
			assert_int_equal(reason.total, count);
			assert_true(reason.have < (int64_t)count);
		} else {
			assert_true(r == -ENOSPC);
		}
		placed += r == 0;
		refused += r < 0;
		for (size_t i = 0; i < count; i++)
			demand_release(&demands[i]);
	}
	print_message("# %u gangs placed, %u refused\n", placed, refused);
	assert_true(placed > 20 && refused > 50);
}

/* What ties draw does not depend on whether somebody wants a reason: logs are played so. */
TEST(a_reason_changes_no_draw)
{
	static const struct node_row rows[] = { { "r0", 1, 0 }, { "r0", 1, 0 }, { "r1", 2, 0 },
						{ "r1", 2, 0 }, { "r2", 9, 0 }, { "r2", 9, 0 },
						{ "r2", 9, 0 } };
	const struct request request = WHOLE(4), one = WHOLE(1);

	for (unsigned pods = 2; pods < 8; pods++) {
		autopool *left = make_pool(rows, ARRAY_SIZE(rows), TIE_RANDOM);
		autopool *right = make_pool(rows, ARRAY_SIZE(rows), TIE_RANDOM);
		struct gang gang = { .count = 0 };
		struct decision a[PODS_MAX], b[PODS_MAX];
		struct reason reason;

		for (unsigned i = 0; i < pods; i++)
			add_pod(&gang, i % 2 ? &request : &one, RACK);
		for (unsigned round = 0; round < 5; round++) {
			int r = pool_decide_gang(left, gang.pointers, pods, a, NULL);

			assert_int_equal(r == 0, pool_decide_gang(right, gang.pointers, pods, b,
								  &reason) == 0);
			for (unsigned i = 0; r == 0 && i < pods; i++)
				assert_true(is_same(&a[i], &b[i]));
		}
	}
}

TEST(every_allocation_fails_once)
{
	static const struct node_row rows[] = { { "r0", 2, 0 }, { "r1", 4, 0 }, { "r1", 3, 0 } };

	for (unsigned n = 0;; n++) {
		const struct request request = WHOLE(1);
		autopool *pool = make_pool(rows, ARRAY_SIZE(rows), TIE_NAME);
		struct gang gang = { .count = 0 };
		struct decision decisions[PODS_MAX];

		for (unsigned i = 0; i < 5; i++)
			add_pod(&gang, &request, RACK);
		fault_arm(n);
		int r = pool_decide_gang(pool, gang.pointers, 5, decisions, NULL);
		bool hit = fault_disarm();

		assert_int_equal(pool_grant_count(pool), 0);
		assert_true(r == 0 || (hit && r == -ENOMEM));
		if (!hit)
			break;
	}
}
