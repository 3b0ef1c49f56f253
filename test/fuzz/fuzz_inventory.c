/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as inventory.json: one error, or an inventory that is written and read the same. */
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
	cleanup(inventory_release) struct inventory again = { 0 };
	autojson *object = NULL, *copy = NULL;

	for (size_t i = 0; i < inventory->card_count; i++) {
		must(inventory_find(inventory, inventory->cards[i].uuid) == &inventory->cards[i]);
		must(card_units(&inventory->cards[i]) <= 1u << 20);
		(void)card_foreign_mib(&inventory->cards[i]);
	}
	must(inventory_to_json(inventory, &object, NULL) == 0);
	must(inventory_from_json(object, &again, NULL) == 0);
	must(inventory_to_json(&again, &copy, NULL) == 0);
	must(json_object_equal(object, copy));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(inventory_release) struct inventory inventory = { 0 };
	struct error error = ERROR_INIT;
	autojson *object = NULL;

	if (json_parse((const char *)data, size, "fuzz", NULL, &object, &error) < 0)
		return 0;
	if (inventory_from_json(object, &inventory, &error) < 0)
		must(error.message[0]);
	else
		check_inventory(&inventory);
	return 0;
}
