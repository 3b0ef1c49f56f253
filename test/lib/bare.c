/* SPDX-License-Identifier: Apache-2.0 */
#include "bare.h"

int bare_add_node(struct pool *pool, const char *name, const struct inventory *inventory,
		  struct error *error)
{
	struct node_spec node;

	node_spec_init(&node);
	node.name = (char *)(uintptr_t)name;
	node.inventory = *inventory;
	return pool_add_node(pool, &node, error); /* copies */
}

int bare_decide(struct pool *pool, const struct request *request, const char *object,
		struct placement *ret, struct reason *ret_reason)
{
	struct decision decision;
	struct demand demand;

	demand_borrow_request(request, object, &demand);
	int r = pool_decide(pool, &demand, &decision, ret_reason);

	if (r == 0)
		*ret = decision.placements[0];
	return r;
}

int bare_hold(struct pool *pool, const struct request *request, const struct placement *placement,
	      uint64_t *ret_id)
{
	struct decision decision = { .node = placement->node, .count = 1 };
	struct demand demand;

	demand_borrow_request(request, "container main", &demand);
	decision.placements[0] = *placement;
	return pool_hold(pool, &demand, &decision, ret_id);
}
