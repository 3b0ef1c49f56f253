/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a PoolNode: one error, or a node that is written and read the same. */
#include <stdint.h>
#include <stdlib.h>

#include "model/model.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

/* Written once, it stays as it is. */
static void check_node(const struct poolnode *node)
{
	cleanup(poolnode_release) struct poolnode again = { .name = NULL };
	autojson *object = NULL, *copy = NULL;

	must(poolnode_to_json(node, &object, NULL) == 0);
	must(poolnode_from_json(object, &again, NULL) == 0);
	must(again.inventory.card_count == node->inventory.card_count);
	must(again.grant_count == node->grant_count);
	must(poolnode_to_json(&again, &copy, NULL) == 0);
	must(json_object_equal(object, copy));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(poolnode_release) struct poolnode node = { .name = NULL };
	struct error error = ERROR_INIT;
	autojson *object = NULL;

	if (json_parse((const char *)data, size, "fuzz", NULL, &object, &error) < 0)
		return 0;
	if (poolnode_from_json(object, &node, &error) < 0)
		must(error.message[0]);
	else
		check_node(&node);
	return 0;
}
