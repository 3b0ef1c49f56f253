/* SPDX-License-Identifier: Apache-2.0 */
/* Any JSON as a node, as a Pod that runs, as a Device: a sentence, or what can be held by a pool. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

static void check_inventory(const struct inventory *inventory)
{
	must(inventory->card_count <= CARDS_MAX);
	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];

		must(card->uuid[0] && card_units(card) <= 65535);
		must(card->mode == CARD_MODE_AUTO || card->mode == CARD_MODE_MIG);
		must(card->mig_count <= CARD_MIG_ENTRIES);
		must(card->condition.health == CARD_HEALTHY || card->condition.cause[0]);
	}
}

/* A log of decisions has every node: what was read must be read from there again. */
static void check_again(const struct node_spec *node)
{
	cleanup(node_spec_release) struct node_spec again;
	autojson *object = NULL, *copy = NULL;

	node_spec_init(&again);
	must(node_spec_to_json(node, &object, NULL) == 0);
	must(node_spec_from_json(object, &again, NULL) == 0);
	must(node_spec_to_json(&again, &copy, NULL) == 0);
	must(json_object_equal(object, copy));
}

static void check_node(struct json_object *object)
{
	cleanup(node_spec_release) struct node_spec node;
	struct node_reading reading = { .origin = CARD_ORIGIN_NONE };
	struct error error = ERROR_INIT;
	char profile[CARD_MIG_MAX] = "";
	unsigned count = 0;

	node_spec_init(&node);
	int r = node_read(object, "fuzz", 1, &node, &reading, &error);
	must(r == 0 || (r == -EINVAL && error.message[0]));
	if (r < 0)
		return;
	check_inventory(&node.inventory);
	check_again(&node);
	must((reading.origin == CARD_ORIGIN_NONE) == (node.inventory.card_count == 0));
	if (node_sharing(&node, profile, &count) != NODE_SHARING_NONE)
		must(count > 0);
}

static void check_device(struct json_object *object)
{
	cleanup(inventory_release) struct inventory inventory;
	struct error error = ERROR_INIT;

	inventory_init(&inventory);
	int r = koordinator_device_read(object, "fuzz", 1, &inventory, &error);
	must(r == 0 || r == -ENOENT || (r == -EINVAL && error.message[0]));
	check_inventory(&inventory);
}

static void check_pod(struct json_object *object)
{
	cleanup(string_list_release) struct string_list notes = { .count = 0 };
	cleanup(demand_release) struct demand demand;
	struct error error = ERROR_INIT;

	demand_init(&demand);
	if (demand_read(object, "fuzz", 1, &notes, &demand, &error) < 0)
		return;
	int r = grants_read(object, &demand);
	must(r == 1 || (r == 0 && demand.grant_count == 0));
	for (size_t i = 0; i < demand.grant_count; i++) {
		must(demand.grants[i].kind == demand.requests[i].kind);
		must(demand.grants[i].card_count > 0 && demand.grants[i].card_count <= CARDS_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autojson *object = NULL;

	if (json_parse((const char *)data, size, "fuzz", NULL, &object, NULL) < 0)
		return 0;
	check_node(object);
	check_device(object);
	check_pod(object);
	return 0;
}
