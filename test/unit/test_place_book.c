/* SPDX-License-Identifier: Apache-2.0 */
#include "place_cases.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "place_world.h"

static char a100_pattern[] = "*A100*";
static char *models_a100[] = { a100_pattern };

TEST(holding_checks_room_only)
{
	cleanup(release_inventories) struct inventory inventories[2];
	make_world(inventories, CARD_MODE_WHOLE);
	inventories[0].cards[0].condition.health = CARD_LOST;
	cleanup(pool_freep) struct pool *pool = make_pool(inventories, 2);
	const struct request slice = { SLICE(1, 50), .compute_percent = 60 }, whole = { WHOLE(1) };
	struct placement placement = { .count = 1, .units = { 50 }, .compute_percent = 60 };
	uint64_t id, other;

	assert_int_equal(bare_hold(pool, &slice, &placement, &id), 0); /* lost and another mode */
	assert_int_equal(bare_hold(pool, &slice, &placement, &other), -EBUSY);
	placement.units[0] = 30; /* memory is there, compute is not */
	assert_int_equal(bare_hold(pool, &slice, &placement, &other), -EBUSY);
	assert_int_equal(bare_hold(pool, &whole, &placement, &other), -EBUSY);
	assert_int_equal(pool_release(pool, id), 0);
	assert_int_equal(bare_hold(pool, &whole, &placement, &id), 0);
	assert_int_equal(bare_hold(pool, &whole, &placement, &other), -EBUSY);
	assert_int_equal(bare_hold(pool, &slice, &placement, &other), -EBUSY);
	assert_int_equal(pool_card_granted(pool, 0, 0), 80);

	placement.cards[0] = 8;
	assert_int_equal(bare_hold(pool, &whole, &placement, &other), -EINVAL);
	placement.cards[0] = 1;
	placement.node = 2;
	assert_int_equal(bare_hold(pool, &whole, &placement, &other), -EINVAL);
	placement.node = 1;
	placement.count = 2;
	assert_int_equal(bare_hold(pool, &whole, &placement, &other), -EINVAL);
	const struct request two = { WHOLE(2) };

	placement.cards[1] = 1; /* the same card twice */
	assert_int_equal(bare_hold(pool, &two, &placement, &other), -EBUSY);
	assert_int_equal(pool_grant_count(pool), 1);
}

TEST(free_memory_leaves_out_foreign_use)
{
	cleanup(release_inventories) struct inventory inventories[2];
	make_world(inventories, CARD_MODE_SLICES);
	world_add_process(&inventories[0].cards[0], false, 1500);
	world_add_process(&inventories[0].cards[0], true, 9000); /* counted as its grant */
	world_add_process(&inventories[0].cards[1], false, UINT32_MAX);
	cleanup(pool_freep) struct pool *pool = make_pool(inventories, 1);
	const struct request slice = { SLICE(1, 12) };
	const struct placement held = { .count = 1, .units = { 12 } };
	uint64_t id;

	assert_int_equal(pool_card_free(pool, 0, 0), 78);
	assert_int_equal(pool_card_free(pool, 0, 1), 0);
	assert_int_equal(bare_hold(pool, &slice, &held, &id), 0);
	assert_int_equal(pool_card_free(pool, 0, 0), 66);
	assert_int_equal(pool_node_card_count(pool, 0), 8);
	assert_int_equal(pool_node_card_count(pool, 1), 0);
}

TEST(grants_are_held_by_uuid)
{
	cleanup(release_inventories) struct inventory inventories[2];
	make_world(inventories, CARD_MODE_AUTO);
	cleanup(pool_freep) struct pool *pool = make_pool(inventories, 2);
	struct grant_card cards[2] = { { "GPU-0-3", 12, 12288, 40 }, { "GPU-0-5", 12, 12288, 40 } };
	struct grant grant = { .kind = REQUEST_SLICE, .cards = cards, .card_count = 2 };
	struct error error = ERROR_INIT;
	uint64_t id = 0, other;

	assert_int_equal(pool_hold_grant(pool, 0, &grant, &id, &error), 0);
	assert_int_equal(pool_card_granted(pool, 0, 3), 12);
	assert_int_equal(pool_card_granted(pool, 0, 5), 12);
	assert_int_equal(pool_hold_grant(pool, 1, &grant, &other, &error), -ENOENT);
	assert_non_null(strstr(error.message, "GPU-0-3 is not on node b but on a"));
	snprintf(cards[1].uuid, sizeof(cards[1].uuid), "GPU-7");
	assert_int_equal(pool_hold_grant(pool, 0, &grant, &other, &error), -ENOENT);
	assert_non_null(strstr(error.message, "GPU-7 is not in the pool"));
	snprintf(cards[1].uuid, sizeof(cards[1].uuid), "GPU-0-6");
	cards[0].units = 69;
	assert_int_equal(pool_hold_grant(pool, 0, &grant, &other, &error), -EBUSY);
	assert_non_null(strstr(error.message, "card GPU-0-3 of node a has no room"));
	assert_non_null(strstr(error.message, "12 of its 80 GiB"));
	assert_int_equal(pool_card_granted(pool, 0, 6), 0);
	grant.kind = REQUEST_MIG;
	assert_int_equal(pool_hold_grant(pool, 0, &grant, &other, &error), -EINVAL);
	grant.kind = REQUEST_WHOLE;
	assert_int_equal(pool_hold_grant(pool, 9, &grant, &other, &error), -EINVAL);
	assert_int_equal(pool_release(pool, id), 0);
	assert_int_equal(pool_hold_grant(pool, 0, &grant, &other, &error), 0);
	assert_int_equal(pool_card_granted(pool, 0, 6), 80);
}

TEST(nodes_are_checked)
{
	cleanup(release_inventories) struct inventory inventories[2];
	make_world(inventories, CARD_MODE_AUTO);
	cleanup(pool_freep) struct pool *pool = make_pool(inventories, 2);
	struct error error = ERROR_INIT;
	struct inventory other;

	assert_int_equal(bare_add_node(pool, "a", &inventories[0], &error), -EEXIST);
	assert_int_equal(bare_add_node(pool, "c", &inventories[0], &error), -EEXIST);
	assert_non_null(strstr(error.message, "GPU-0-0"));
	inventory_init(&other);
	world_add_cards(&other, 7, 65, "X", 10, CARD_MODE_AUTO);
	assert_int_equal(bare_add_node(pool, "c", &other, &error), -E2BIG);
	other.card_count = 64;
	other.cards[63].mode = CARD_MODE_MAX;
	assert_int_equal(bare_add_node(pool, "c", &other, &error), -EINVAL);
	other.cards[63].mode = CARD_MODE_AUTO;
	other.cards[63].memory_bytes = UINT64_MAX;
	assert_int_equal(bare_add_node(pool, "c", &other, &error), -ERANGE);
	other.cards[63].memory_bytes = 10ull << 30;
	snprintf(other.cards[63].uuid, sizeof(other.cards[63].uuid), "GPU-1-1");
	assert_int_equal(bare_add_node(pool, "c", &other, &error), -EEXIST);
	assert_int_equal(pool_node_count(pool), 2);
	snprintf(other.cards[63].uuid, sizeof(other.cards[63].uuid), "GPU-c");
	assert_int_equal(bare_add_node(pool, "c", &other, &error), 0); /* nothing stayed behind */
	other.card_count = 65;
	inventory_release(&other);
	assert_string_equal(pool_node_name(pool, 2), "c");
	assert_null(pool_node_name(pool, 3));
	assert_null(pool_card(pool, 0, 8));
	assert_string_equal(pool_card(pool, 2, 63)->uuid, "GPU-c");
	const struct request all = { WHOLE(64) };
	struct placement placement;

	must_hold(pool, &all, &placement);
	assert_int_equal(placement.count, 64);
}

TEST(hostile_inventories_do_no_harm)
{
	struct inventory inventory;
	inventory_init(&inventory);
	world_add_cards(&inventory, 0, 4, "", 0, CARD_MODE_AUTO);
	world_link(&inventory, WORLD_ALL);
	for (size_t i = 0; i < 4; i++) {
		inventory.cards[i].uuid[0] = '\0'; /* cards that gave no answer */
		inventory.cards[i].memory_bytes = 1;
		for (size_t j = 0; j < 3; j++) {
			inventory.cards[i].links[j].peer = i == 0 ? 4000000000u : (unsigned)i;
			inventory.cards[i].links[j].lanes = UINT32_MAX;
			inventory.cards[i].links[j].kind = (enum link_kind)77;
		}
		world_add_process(&inventory.cards[i], true, UINT64_MAX);
	}
	cleanup(pool_freep) struct pool *pool = make_pool(&inventory, 1);
	inventory_release(&inventory);
	const struct request slice = { .kind = REQUEST_SLICE, .cards = 2, .memory_percent = 100 };
	const struct request whole = { WHOLE(3) };
	struct placement placement;
	struct reason reason;

	assert_int_equal(bare_decide(pool, &slice, "x", &placement, &reason), -ENOSPC);
	assert_int_equal(reason.code, REASON_CARD_MEMORY);
	must_hold(pool, &whole, NULL);
}

/* More sets of models than views are kept: the answers stay the same. */
TEST(many_sets_of_models)
{
	struct inventory inventories[2];
	char model[32], *patterns[1] = { model };
	inventory_init(&inventories[0]);
	for (unsigned i = 0; i < 40; i++) {
		snprintf(model, sizeof(model), "card-%02u", i);
		world_add_cards(&inventories[0], 0, 1, model, 10 + i, CARD_MODE_SLICES);
	}
	cleanup(pool_freep) struct pool *pool = make_pool(inventories, 1);
	inventory_release(&inventories[0]);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 40; i++) {
			struct request request = { SLICE(1, 2), .models = LIST(patterns) };
			struct placement placement;

			snprintf(model, sizeof(model), "CARD-%02u", i);
			must_hold(pool, &request, &placement);
			assert_int_equal(placement.cards[0], i);
		}
	}
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(pool_card_granted(pool, 0, i), 6);
}

/* Building and holding with each allocation failing once. */
static int build_and_hold(const struct inventory *inventories, struct pool **ret)
{
	const struct request whole = { WHOLE(2) },
			     slice = { SLICE(2, 4), .models = LIST(models_a100) };
	struct grant_card card = { "GPU-1-0", 12, 12288, 0 };
	const struct grant grant = { .kind = REQUEST_SLICE, .cards = &card, .card_count = 1 };
	struct placement placement;
	struct reason reason;
	uint64_t id;
	int r;

	*ret = pool_new();
	if (!*ret)
		return -ENOMEM;
	r = bare_add_node(*ret, "a", &inventories[0], NULL);
	r = r < 0 ? r : bare_add_node(*ret, "b", &inventories[1], NULL);
	r = r < 0 ? r : pool_hold_grant(*ret, 1, &grant, &id, NULL);
	r = r < 0 ? r : bare_decide(*ret, &whole, "x", &placement, &reason);
	r = r < 0 ? r : bare_hold(*ret, &whole, &placement, &id);
	r = r < 0 ? r : bare_decide(*ret, &slice, "x", &placement, &reason);
	r = r < 0 ? r : bare_hold(*ret, &slice, &placement, &id);
	return r;
}

TEST(each_allocation_fails_once)
{
	cleanup(release_inventories) struct inventory inventories[2];
	make_world(inventories, CARD_MODE_AUTO);
	unsigned failures = 0, survived = 0;

	for (unsigned n = 0;; n++) {
		struct pool *pool = NULL;
		int r, happened;

		fault_arm(n);
		r = build_and_hold(inventories, &pool);
		happened = fault_disarm();
		if (!happened) {
			assert_int_equal(r, 0);
			pool_free(pool);
			break;
		}
		failures++;
		survived += r == 0; /* a decision without memory for its index looks at each node */
		assert_true(r == 0 || r == -ENOMEM);
		if (r == 0)
			assert_int_equal(pool_grant_count(pool), 3);
		pool_free(pool);
	}
	print_message("# %u allocations failed, %u of them in an index\n", failures, survived);
	assert_true(failures > 40 && survived > 4);
}

/* A node whose addition failed half way leaves nothing: it can be added afterwards. */
TEST(a_failed_addition_changes_nothing)
{
	cleanup(release_inventories) struct inventory inventories[2];
	make_world(inventories, CARD_MODE_AUTO);
	for (unsigned n = 0;; n++) {
		cleanup(pool_freep) struct pool *pool = make_pool(inventories, 1);
		struct error error = ERROR_INIT;
		const struct request whole = { WHOLE(4), .models = { 0 } };
		int r;

		must_hold(pool, &whole, NULL);
		fault_arm(n);
		r = bare_add_node(pool, "b", &inventories[1], &error);
		if (!fault_disarm())
			break;
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(pool_node_count(pool), 1);
		must_hold(pool, &whole, NULL);
		assert_int_equal(bare_add_node(pool, "b", &inventories[1], &error), 0);
		must_hold(pool, &whole, NULL);
		assert_int_equal(pool_grant_count(pool), 3);
	}
}
