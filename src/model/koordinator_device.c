/* SPDX-License-Identifier: Apache-2.0 */
#include "model/koordinator_device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/card_name.h"
#include "model/kubernetes.h"
#include "model/quantity.h"

#define BYTES_LIMIT (65535ll << 30)
#define NUMA_LIMIT  1024

static int64_t memory_of(struct json_object *device)
{
	struct json_object *map = json_get(device, "resources"), *value = NULL;
	struct quantity quantity;
	char text[QUANTITY_TEXT_MAX];

	if (!json_object_is_type(map, json_type_object) ||
	    !json_object_object_get_ex(map, "koordinator.sh/gpu-memory", &value) ||
	    kubernetes_value_text(value, text, sizeof(text)) < 0 ||
	    quantity_parse(text, &quantity, NULL) < 0 || quantity.negative)
		return -1;
	return quantity.value;
}

/* NULL, or what is wrong with it. */
static const char *fill_card(struct json_object *device, struct card *card)
{
	const char *uuid = json_get_string(device, "id", "");
	uint64_t minor = json_get_uint(device, "minor", UINT64_MAX);
	uint64_t numa = json_get_uint(device, "topology.nodeID", NUMA_LIMIT);
	int64_t bytes = memory_of(device);

	card->numa = numa < NUMA_LIMIT ? (int)numa : -1;
	card->mode = CARD_MODE_AUTO;
	if (!card_uuid_is_plain(uuid))
		return "a card has no id that is a UUID";
	if (minor >= CARDS_MAX)
		return "a card has no minor from 0 to 63";
	if (bytes < 0 || bytes > BYTES_LIMIT)
		return "a card's koordinator.sh/gpu-memory is no quantity that a card can have";
	snprintf(card->uuid, sizeof(card->uuid), "%s", uuid);
	card->index = card->minor = (unsigned)minor;
	card->memory_bytes = (uint64_t)bytes;
	if (json_object_get_boolean(json_get(device, "health")))
		return NULL;
	card->condition.health = CARD_SUSPECT;
	snprintf(card->condition.cause, sizeof(card->condition.cause),
		 "its Device says that it is not healthy");
	return NULL;
}

static int add_card(struct json_object *device, struct inventory *inventory, const char **ret_wrong)
{
	const char *uuid = json_get_string(device, "id", "");

	if (strcmp(json_get_string(device, "type", ""), "gpu") != 0)
		return 0;
	if (inventory->card_count == CARDS_MAX)
		*ret_wrong = "more than 64 cards";
	else if (inventory_find(inventory, uuid))
		*ret_wrong = "two cards have one id";
	if (*ret_wrong)
		return 0;
	struct card *card =
		VEC_ADD(&inventory->cards, &inventory->card_count, &inventory->card_capacity);
	if (!card)
		return -ENOMEM;
	*ret_wrong = fill_card(device, card);
	return 0;
}

int koordinator_device_read(struct json_object *device, const char *source, unsigned long line,
			    struct inventory *ret, struct error *error)
{
	cleanup(inventory_release) struct inventory inventory;
	struct json_object *list = json_get(device, "spec.devices");
	const char *wrong = NULL;

	inventory_init(&inventory);
	size_t count =
		json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	for (size_t i = 0; i < count && !wrong; i++)
		if (add_card(json_object_array_get_idx(list, i), &inventory, &wrong) < 0)
			return error_no_memory(error);
	if (wrong)
		return error_set(error, EINVAL,
				 "%s:%lu: device %.64s: %s; correct it or leave the "
				 "object out",
				 source, line, json_get_string(device, "metadata.name", ""), wrong);
	if (!inventory.card_count)
		return -ENOENT;
	*ret = inventory;
	inventory_init(&inventory);
	return 0;
}
