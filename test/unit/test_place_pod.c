/* SPDX-License-Identifier: Apache-2.0 */
/* What a Pod asks of the node beside cards, and grants that are only assumed. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"
#include "place/place.h"
#include "bare.h"
#include "place_world.h"

static char name_a[] = "a", name_b[] = "b";
static char key_zone[] = "zone", value_east[] = "east", value_west[] = "west", key_gpu[] = "gpu";

/* a: 4 CPUs, 8 GiB, 3 Pods, zone east. b: 8 CPUs, 4 GiB, taint gpu, zone west. One card each. */
static struct pool *two_nodes(bool cordoned)
{
	struct pool *pool = pool_new();
	struct error error = ERROR_INIT;

	assert_non_null(pool);
	for (unsigned i = 0; i < 2; i++) {
		struct label label = { key_zone, i ? value_west : value_east };
		struct taint taint = { key_gpu, NULL, TAINT_NO_SCHEDULE };
		struct node_spec node;

		node_spec_init(&node);
		node.name = i ? name_b : name_a;
		node.labels = &label;
		node.label_count = 1;
		node.taints = i ? &taint : NULL;
		node.taint_count = i;
		node.unschedulable = i == 0 && cordoned;
		node.allocatable = i ? (struct resources){ 8000, 4096, 10 }
				     : (struct resources){ 4000, 8192, 3 };
		world_add_cards(&node.inventory, i, 1, "NVIDIA A100", 80, CARD_MODE_AUTO);
		if (pool_add_node(pool, &node, &error) < 0)
			fail_msg("%s", error.message);
		inventory_release(&node.inventory);
	}
	return pool;
}

static const struct {
	const char *name;
	struct resources needs;
	const char *zone;
	bool tolerates, cordoned, card;
	int result; /* the node, or the error */
	enum reason_code code;
	int64_t wanted, have;
} cases[] = {
	{ "nothing", { 0, 0, 1 }, NULL, false, false, false, 0, REASON_NONE, 0, 0 },
	{ "a card", { 1000, 1024, 1 }, NULL, false, false, true, 0, REASON_NONE, 0, 0 },
	{ "the taint is tolerated", { 5000, 0, 1 }, NULL, true, false, true, 1, REASON_NONE, 0, 0 },
	{ "the taint is not",
	  { 5000, 0, 1 },
	  NULL,
	  false,
	  false,
	  true,
	  -EAGAIN,
	  REASON_TAINT,
	  0,
	  0 },
	{ "CPU", { 9000, 0, 1 }, NULL, true, false, true, -ENOSPC, REASON_NODE_CPU, 9000, 8000 },
	{ "memory",
	  { 0, 9000, 1 },
	  NULL,
	  true,
	  false,
	  true,
	  -ENOSPC,
	  REASON_NODE_MEMORY,
	  9000,
	  8192 },
	{ "zone west", { 0, 0, 1 }, "west", true, false, true, 1, REASON_NONE, 0, 0 },
	{ "no such zone", { 0, 0, 1 }, "north", true, false, true, -ENOSPC, REASON_AFFINITY, 0, 0 },
	{ "cordoned", { 0, 0, 1 }, "east", true, true, true, -EAGAIN, REASON_TAINT, 0, 0 },
	{ "Pods", { 0, 0, 4 }, "east", true, false, false, -EAGAIN, REASON_PODS_BUSY, 4, 3 },
};

TEST(needs_labels_and_taints_decide)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(pool_freep) struct pool *pool = two_nodes(cases[i].cordoned);
		struct label selector = { key_zone, (char *)(uintptr_t)cases[i].zone };
		struct toleration toleration = { key_gpu, NULL, TAINT_EFFECT_MAX };
		struct request request = { .kind = REQUEST_WHOLE, .cards = 1 };
		struct reason reason = { 0 };
		struct decision decision;
		struct demand demand;

		demand_init(&demand);
		demand.needs = cases[i].needs;
		demand.selector = cases[i].zone ? &selector : NULL;
		demand.selector_count = cases[i].zone != NULL;
		demand.tolerations = cases[i].tolerates ? &toleration : NULL;
		demand.toleration_count = cases[i].tolerates;
		demand.requests = cases[i].card ? &request : NULL;
		demand.request_count = cases[i].card;
		int r = pool_decide(pool, &demand, &decision, &reason);

		if (r != (cases[i].result < 0 ? cases[i].result : 0) ||
		    (r == 0 && (int)decision.node != cases[i].result) ||
		    reason.code != cases[i].code)
			fail_msg("%s: %d, %s", cases[i].name, r, reason_name(reason.code));
		if (cases[i].wanted &&
		    (reason.wanted != cases[i].wanted || reason.have != cases[i].have))
			fail_msg("%s: wanted %lld, have %lld", cases[i].name,
				 (long long)reason.wanted, (long long)reason.have);
		if (r == 0)
			assert_int_equal(decision.count, cases[i].card ? 1 : 0);
	}
}

TEST(a_cordon_is_named)
{
	cleanup(pool_freep) struct pool *pool = two_nodes(true);
	struct reason reason = { 0 };
	struct decision decision;
	struct demand demand;

	demand_init(&demand);
	assert_int_equal(pool_decide_on(pool, 0, &demand, &decision, &reason), -EAGAIN);
	assert_string_equal(reason.detail,
			    "node.kubernetes.io/unschedulable:NoSchedule, and is cordoned");
}

TEST(what_is_held_counts_and_what_is_forgotten_does_not)
{
	cleanup(pool_freep) struct pool *pool = two_nodes(false);
	struct reason reason = { 0 };
	struct decision decision;
	struct demand demand;
	uint64_t first, second;

	demand_init(&demand);
	demand.needs = (struct resources){ 3000, 1024, 1 };
	assert_int_equal(pool_decide(pool, &demand, &decision, &reason), 0);
	assert_int_equal(pool_assume(pool, &demand, &decision, &first), 0);
	assert_int_equal(pool_node_used(pool, 0).cpu_milli, 3000);
	assert_int_equal(pool_assume(pool, &demand, &decision, &second), -EBUSY);
	assert_int_equal(pool_decide_on(pool, 0, &demand, &decision, &reason), -EAGAIN);
	assert_int_equal(reason.code, REASON_CPU_BUSY);
	assert_int_equal(reason.have, 1000);
	assert_int_equal(pool_forget(pool, first), 0);
	assert_int_equal(pool_forget(pool, first), -ENOENT);
	assert_int_equal(pool_node_used(pool, 0).cpu_milli, 0);
	assert_int_equal(pool_decide(pool, &demand, &decision, &reason), 0);
	assert_int_equal(pool_assume(pool, &demand, &decision, &first), 0);
	assert_int_equal(pool_confirm(pool, first), 0);
	assert_int_equal(pool_confirm(pool, first), -EALREADY);
	assert_int_equal(pool_forget(pool, first), -EPERM);
	assert_int_equal(pool_release(pool, first), 0);
	assert_int_equal(pool_grant_count(pool), 0);
}

static void add_cards(struct pool *pool, unsigned node, unsigned cards, enum world_links links)
{
	struct error error = ERROR_INIT;
	struct inventory inventory;

	inventory_init(&inventory);
	world_add_cards(&inventory, node, cards, "NVIDIA A100", 80, CARD_MODE_AUTO);
	world_link(&inventory, links);
	if (bare_add_node(pool, node ? "b" : "a", &inventory, &error) < 0)
		fail_msg("%s", error.message);
	inventory_release(&inventory);
}

static unsigned chosen(struct pool *pool, const struct request *request)
{
	struct placement placement;
	struct reason reason;

	assert_int_equal(bare_decide(pool, request, "main", &placement, &reason), 0);
	return placement.node;
}

/* Two cards without a link would be the fuller node; a pair of four is what hangs together. */
TEST(an_empty_workload_is_none)
{
	cleanup(pool_freep) struct pool *pool = pool_new();
	struct request two = { .kind = REQUEST_WHOLE, .cards = 2 };

	assert_non_null(pool);
	add_cards(pool, 0, 2, WORLD_NO_LINKS);
	add_cards(pool, 1, 4, WORLD_PAIRS);
	assert_int_equal(chosen(pool, &two), 1);
	assert_int_equal(pool_set_workload(pool, NULL, 0), 0);
	assert_int_equal(chosen(pool, &two), 1);
}

/* Halves are expected, b has one left: fgd keeps it whole, bestfit, as which fgd acts without a
 * workload, does not. */
TEST(another_form_of_fgd_forgets_the_workload)
{
	cleanup(pool_freep) struct pool *pool = pool_new();
	struct request half = { .kind = REQUEST_SLICE, .cards = 1, .units = 40 };
	struct request small = { .kind = REQUEST_SLICE, .cards = 1, .units = 8 };
	struct placement placement = { .node = 1, .count = 1, .units = { 40 } };
	struct policy_options options = { .policy = NODE_POLICY_FGD };
	struct workload_class class = { .share = 1 };
	struct demand demand;
	uint64_t id;

	assert_non_null(pool);
	add_cards(pool, 0, 1, WORLD_NO_LINKS);
	add_cards(pool, 1, 1, WORLD_NO_LINKS);
	assert_int_equal(bare_hold(pool, &half, &placement, &id), 0);
	demand_borrow_request(&half, "Pod", &demand);
	class.demand = &demand;
	assert_int_equal(pool_set_policy(pool, &options), 0);
	assert_int_equal(chosen(pool, &small), 1);
	assert_int_equal(pool_set_workload(pool, &class, 1), 0);
	assert_int_equal(chosen(pool, &small), 0);
	options.original_classes = true;
	assert_int_equal(pool_set_policy(pool, &options), 0);
	assert_int_equal(chosen(pool, &small), 1);
	assert_int_equal(pool_set_workload(pool, &class, 1), 0);
	assert_int_equal(chosen(pool, &small), 0);
}

/* Seven empty nodes, of which four are alike and best: each is drawn as often. */
TEST(ties_are_drawn_alike)
{
	enum { DRAWS = 4000, NODES = 7, BEST = 4 };
	struct request request = { .kind = REQUEST_WHOLE, .cards = 1 };
	const struct policy_options options = { NODE_POLICY_BINPACK, TIE_RANDOM, .seed = 7 };
	unsigned drawn[NODES] = { 0 };
	struct decision decision;
	struct demand demand;
	autopool *pool = pool_new();

	assert_non_null(pool);
	for (unsigned i = 0; i < NODES; i++) {
		cleanup(inventory_release) struct inventory inventory;
		char name[] = { 'n', (char)('0' + i), '\0' };

		inventory_init(&inventory);
		world_add_cards(&inventory, i, i % 2 ? 3 : 2, "NVIDIA A100", 80, CARD_MODE_AUTO);
		assert_int_equal(bare_add_node(pool, name, &inventory, NULL), 0);
	}
	demand_borrow_request(&request, "Pod default/x", &demand);
	assert_int_equal(pool_set_policy(pool, &options), 0);
	for (unsigned i = 0; i < DRAWS; i++) {
		assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
		drawn[decision.node]++;
	}
	for (unsigned i = 0; i < NODES; i++) /* 1000 each, standard deviation 27 */
		assert_true(i % 2 ? drawn[i] == 0
				  : drawn[i] > DRAWS / BEST - 140 && drawn[i] < DRAWS / BEST + 140);
}
