/* SPDX-License-Identifier: Apache-2.0 */
#include "place_cases.h"

#include "place_world.h"

void release_inventories(struct inventory (*inventories)[2])
{
	inventory_release(&(*inventories)[0]);
	inventory_release(&(*inventories)[1]);
}

/* The standard world: node a with 8 A100 and an NVSwitch, node b with 4 T4. */
void make_world(struct inventory *inventories, enum card_mode mode)
{
	inventory_init(&inventories[0]);
	inventory_init(&inventories[1]);
	world_add_cards(&inventories[0], 0, 8, A100, 80, mode);
	world_link(&inventories[0], WORLD_ALL);
	world_add_cards(&inventories[1], 1, 4, T4, 15, mode);
}

struct pool *make_pool(const struct inventory *inventories, size_t count)
{
	static const char *const names[] = { "a", "b" };
	struct pool *pool = pool_new();
	struct error error = ERROR_INIT;

	assert_non_null(pool);
	for (size_t i = 0; i < count; i++)
		if (bare_add_node(pool, names[i], &inventories[i], &error) < 0)
			fail_msg("%s", error.message);
	return pool;
}

uint64_t must_hold(struct pool *pool, const struct request *request, struct placement *ret)
{
	struct placement placement;
	struct reason reason;
	uint64_t id = 0;

	if (bare_decide(pool, request, "container main", &placement, &reason) < 0)
		fail_msg("refused: %s", reason_name(reason.code));
	assert_int_equal(bare_hold(pool, request, &placement, &id), 0);
	assert_true(id != 0);
	if (ret)
		*ret = placement;
	return id;
}
