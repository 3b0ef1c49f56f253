/* SPDX-License-Identifier: Apache-2.0 */
#include "model/card.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/card_forms.h"
#include "model/mig.h"

#define INVENTORY_VERSION 1
#define PROCESSES_MAX     4096
#define MEMORY_MAX        (1ull << 50) /* 1 PiB: no card is near it, and sums stay in 64 bits */

const char *const card_mode_table[CARD_MODE_MAX] = {
	[CARD_MODE_WHOLE] = "whole",       [CARD_MODE_SLICES] = "slices",
	[CARD_MODE_REPLICAS] = "replicas", [CARD_MODE_MPS] = "mps",
	[CARD_MODE_MIG] = "mig",           [CARD_MODE_AUTO] = "auto",
};
DEFINE_STRING_TABLE(card_mode, enum card_mode, CARD_MODE_MAX)

const char *const card_health_table[CARD_HEALTH_MAX] = {
	[CARD_HEALTHY] = "healthy",
	[CARD_SUSPECT] = "suspect",
	[CARD_LOST] = "lost",
};
DEFINE_STRING_TABLE(card_health, enum card_health, CARD_HEALTH_MAX)

static const char *const link_kind_table[LINK_KIND_MAX] = {
	[LINK_NVLINK] = "NVLINK", [LINK_PIX] = "PIX",   [LINK_PXB] = "PXB",
	[LINK_PHB] = "PHB",       [LINK_NODE] = "NODE", [LINK_SYS] = "SYS",
};
DEFINE_STRING_TABLE(link_kind, enum link_kind, LINK_KIND_MAX)

static const struct field link_fields[] = {
	UINT_FIELD(struct card_link, "peer", peer, CARDS_MAX - 1),
	NAME_FIELD(struct card_link, "kind", kind, link_kind_table),
	UINT_FIELD(struct card_link, "lanes", lanes, 64),
};

static const struct field process_fields[] = {
	INT_FIELD(struct card_process, "pid", pid, 0, INT32_MAX),
	MAYBE_FIELD(struct card_process, "uid", uid),
	UINT_FIELD(struct card_process, "usedMiB", used_mib, MEMORY_MAX >> 20),
	BOOL_FIELD(struct card_process, "granted", granted),
	TEXT_FIELD(struct card_process, "name", name),
};

static const struct field mig_fields[] = {
	TEXT_FIELD(struct card_mig, "profile", profile),
	UINT_FIELD(struct card_mig, "start", start, MIG_SLICES_MAX - 1),
};

static const struct field instance_fields[] = {
	WORD_FIELD(struct card_instance, "uuid", uuid),
	TEXT_FIELD(struct card_instance, "profile", profile),
	MAYBE_FIELD(struct card_instance, "index", index),
	UINT_FIELD(struct card_instance, "gpuInstance", gpu_instance, 255),
	UINT_FIELD(struct card_instance, "computeInstance", compute_instance, 255),
	MAYBE_FIELD(struct card_instance, "gpuMinor", gpu_minor),
	MAYBE_FIELD(struct card_instance, "computeMinor", compute_minor),
};

const struct field_list card_link_list = FIELD_LIST(struct card, "links", links, link_count,
						    link_capacity, link_fields, CARDS_MAX - 1);
const struct field_list card_mig_list =
	FIELD_LIST(struct card, "mig", mig, mig_count, mig_capacity, mig_fields, CARD_MIG_ENTRIES);
static const struct field_list card_process_list =
	FIELD_LIST(struct card, "processes", processes, process_count, process_capacity,
		   process_fields, PROCESSES_MAX);

static const struct field_list card_instance_list =
	FIELD_LIST(struct card, "instances", instances, instance_count, instance_capacity,
		   instance_fields, CARD_INSTANCES_MAX);

static const struct field card_fields[] = {
	MAYBE_FIELD(struct card, "index", index),
	MAYBE_FIELD(struct card, "minor", minor),
	WORD_FIELD(struct card, "uuid", uuid),
	TEXT_FIELD(struct card, "model", model),
	WORD_FIELD(struct card, "busId", bus_id),
	TEXT_FIELD(struct card, "serial", serial),
	UINT_FIELD(struct card, "memoryBytes", memory_bytes, MEMORY_MAX),
	UINT_FIELD(struct card, "usedBytes", used_bytes, MEMORY_MAX),
	UINT_FIELD(struct card, "computeMajor", compute_major, 999),
	UINT_FIELD(struct card, "computeMinor", compute_minor, 999),
	INT_FIELD(struct card, "numa", numa, -1, 4095),
	BOOL_FIELD(struct card, "migCapable", mig_capable),
	BOOL_FIELD(struct card, "migEnabled", mig_enabled),
	NAME_FIELD(struct card, "mode", mode, card_mode_table),
	NAME_FIELD(struct card, "health", condition.health, card_health_table),
	TEXT_FIELD(struct card, "cause", condition.cause),
	INT_FIELD(struct card, "since", condition.since, 0, INT64_MAX),
};

/* There only when they say something; files of a time before them are read too. */
static const struct field brand_field = TEXT_FIELD(struct card, "brand", brand);
static const struct field kernel_field = BOOL_FIELD(struct inventory, "kernelOnly", kernel_only);

static const struct field inventory_fields[] = {
	TEXT_FIELD(struct inventory, "driverRoot", driver_root),
	WORD_FIELD(struct inventory, "driverVersion", driver_version),
	WORD_FIELD(struct inventory, "moduleVersion", module_version),
	WORD_FIELD(struct inventory, "nvmlVersion", nvml_version),
	UINT_FIELD(struct inventory, "cudaMajor", cuda_major, 999),
	UINT_FIELD(struct inventory, "cudaMinor", cuda_minor, 999),
	WORD_FIELD(struct inventory, "bootId", boot_id),
	UINT_FIELD(struct inventory, "migGeneration", mig_generation, UINT64_MAX),
	INT_FIELD(struct inventory, "taken", taken, 0, INT64_MAX),
	BOOL_FIELD(struct inventory, "real", real),
	TEXT_FIELD(struct inventory, "problem", problem),
};

void inventory_init(struct inventory *inventory)
{
	*inventory = (struct inventory){ 0 };
}

void inventory_release(struct inventory *inventory)
{
	for (size_t i = 0; i < inventory->card_count; i++) {
		free(inventory->cards[i].links);
		free(inventory->cards[i].processes);
		free(inventory->cards[i].mig);
		free(inventory->cards[i].instances);
	}
	free(inventory->cards);
	free(inventory->samples);
	*inventory = (struct inventory){ 0 };
}

static int copy_array(void *to, const void *from, size_t count, size_t size)
{
	void *copy = NULL;

	if (count) {
		copy = calloc(count, size);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, from, count * size);
	}
	*(void **)to = copy;
	return 0;
}

int card_copy(const struct card *card, struct card *ret)
{
	*ret = *card;
	ret->mig = NULL;
	ret->mig_capacity = card->mig_count;
	ret->links = NULL;
	ret->processes = NULL;
	ret->instances = NULL;
	ret->instance_capacity = card->instance_count;
	ret->link_capacity = card->link_count;
	ret->process_capacity = card->process_count;
	if (copy_array(&ret->mig, card->mig, card->mig_count, sizeof(*card->mig)) < 0 ||
	    copy_array(&ret->links, card->links, card->link_count, sizeof(*card->links)) < 0 ||
	    copy_array(&ret->instances, card->instances, card->instance_count,
		       sizeof(*card->instances)) < 0)
		return -ENOMEM;
	return copy_array(&ret->processes, card->processes, card->process_count,
			  sizeof(*card->processes));
}

struct card *inventory_find(const struct inventory *inventory, const char *uuid)
{
	for (size_t i = 0; i < inventory->card_count; i++) {
		if (strcmp(inventory->cards[i].uuid, uuid) == 0)
			return &inventory->cards[i];
	}
	return NULL;
}

const struct card_instance *inventory_find_instance(const struct inventory *inventory,
						    const char *uuid, const struct card **ret_card)
{
	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];

		for (size_t k = 0; *uuid && k < card->instance_count; k++) {
			if (strcmp(card->instances[k].uuid, uuid) != 0)
				continue;
			*ret_card = card;
			return &card->instances[k];
		}
	}
	return NULL;
}

void card_describe(const struct card *card, char ret[static CARD_DESCRIPTION_MAX])
{
	const char *name = card->uuid[0] ? card->uuid : card->bus_id;

	if (card->index == CARD_INDEX_NONE)
		snprintf(ret, CARD_DESCRIPTION_MAX, "card %s", name);
	else if (*name)
		snprintf(ret, CARD_DESCRIPTION_MAX, "card %u (%s)", card->index, name);
	else
		snprintf(ret, CARD_DESCRIPTION_MAX, "card %u", card->index);
}

unsigned card_units(const struct card *card)
{
	uint64_t units = card->memory_bytes / MIB_PER_UNIT / (1024 * 1024);

	return units > UINT32_MAX ? UINT32_MAX : (unsigned)units;
}

uint64_t card_foreign_mib(const struct card *card)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < card->process_count; i++) {
		uint64_t used = card->processes[i].granted ? 0 : card->processes[i].used_mib;
		sum = used > UINT64_MAX - sum ? UINT64_MAX : sum + used;
	}
	return sum;
}

static int card_to_json(const struct card *card, struct json_object *array)
{
	autojson *object = json_object_new_object();

	if (!object || fields_to_json(card_fields, ARRAY_SIZE(card_fields), card, object) < 0 ||
	    field_list_to_json(&card_link_list, card, object) < 0 ||
	    field_list_to_json(&card_process_list, card, object) < 0)
		return -ENOMEM;
	/* The list is there only where a layout is fixed. */
	if (card->mig_count && field_list_to_json(&card_mig_list, card, object) < 0)
		return -ENOMEM;
	if (card->brand[0] && fields_to_json(&brand_field, 1, card, object) < 0)
		return -ENOMEM;
	if (card->instance_count && field_list_to_json(&card_instance_list, card, object) < 0)
		return -ENOMEM;
	return json_append(array, TAKE_PTR(object));
}

int inventory_to_json(const struct inventory *inventory, struct json_object **ret,
		      struct error *error)
{
	autojson *object = json_object_new_object();

	if (!object || json_add_uint(object, "version", INVENTORY_VERSION) < 0 ||
	    fields_to_json(inventory_fields, ARRAY_SIZE(inventory_fields), inventory, object) < 0)
		return error_no_memory(error);
	if (inventory->kernel_only && fields_to_json(&kernel_field, 1, inventory, object) < 0)
		return error_no_memory(error);
	struct json_object *cards = fields_add_array(object, "cards");
	if (!cards)
		return error_no_memory(error);
	for (size_t i = 0; i < inventory->card_count; i++) {
		if (card_to_json(&inventory->cards[i], cards) < 0)
			return error_no_memory(error);
	}
	*ret = TAKE_PTR(object);
	return 0;
}

static bool has(struct json_object *object, const char *key)
{
	return json_object_object_get_ex(object, key, NULL);
}

static int read_card(struct json_object *object, const char *where, struct card *card,
		     struct error *error)
{
	int r = fields_from_json(card_fields, ARRAY_SIZE(card_fields), object, where, card, error);

	if (r == 0)
		r = field_list_from_json(&card_link_list, object, where, card, error);
	if (r == 0)
		r = field_list_from_json(&card_process_list, object, where, card, error);
	if (r == 0 && has(object, card_mig_list.key))
		r = field_list_from_json(&card_mig_list, object, where, card, error);
	if (r == 0 && has(object, brand_field.key))
		r = fields_from_json(&brand_field, 1, object, where, card, error);
	if (r == 0 && has(object, card_instance_list.key))
		r = field_list_from_json(&card_instance_list, object, where, card, error);
	return r;
}

static bool same_instance(const struct card_instance *left, const struct card_instance *right)
{
	return left->gpu_instance == right->gpu_instance &&
	       left->compute_instance == right->compute_instance;
}

/* Each MIG device is there once, and so is each UUID, which may be unknown. */
static int check_instances(const struct inventory *inventory, size_t number, struct error *error)
{
	const struct card *card = &inventory->cards[number];

	for (size_t i = 0; i < card->instance_count; i++) {
		const struct card_instance *instance = &card->instances[i];
		const struct card *owner;

		for (size_t k = 0; k < i; k++)
			if (same_instance(&card->instances[k], instance))
				return error_set(
					error, EINVAL, "cards[%zu].instances has %u/%u twice",
					number, instance->gpu_instance, instance->compute_instance);
		if (instance->uuid[0] &&
		    inventory_find_instance(inventory, instance->uuid, &owner) != instance)
			return error_set(error, EINVAL,
					 "cards[%zu].instances[%zu].uuid %s is there twice; each "
					 "instance has its own",
					 number, i, instance->uuid);
	}
	return 0;
}

int inventory_check(const struct inventory *inventory, struct error *error)
{
	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];

		if (!card->uuid[0])
			return error_set(error, EINVAL, "cards[%zu].uuid is empty", i);
		if (inventory_find(inventory, card->uuid) != card)
			return error_set(error, EINVAL,
					 "cards[%zu].uuid %s is there twice; each card has its own",
					 i, card->uuid);
		for (size_t k = 0; k < card->link_count; k++) {
			unsigned peer = card->links[k].peer;
			if (peer >= inventory->card_count || peer == i)
				return error_set(error, EINVAL,
						 "cards[%zu].links[%zu].peer is %u; it must be the "
						 "position of another of the %zu cards",
						 i, k, peer, inventory->card_count);
		}
		int r = check_instances(inventory, i, error);
		if (r < 0)
			return r;
	}
	return 0;
}

int inventory_from_json(struct json_object *object, struct inventory *ret, struct error *error)
{
	cleanup(inventory_release) struct inventory inventory = { 0 };
	struct json_object *array;

	int r = fields_check_version(object, "the inventory", INVENTORY_VERSION, error);
	if (r == 0)
		r = fields_from_json(inventory_fields, ARRAY_SIZE(inventory_fields), object,
				     "inventory", &inventory, error);
	if (r == 0 && has(object, kernel_field.key))
		r = fields_from_json(&kernel_field, 1, object, "inventory", &inventory, error);
	if (r == 0)
		r = fields_array(object, "inventory", "cards", CARDS_MAX, &array, error);
	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
		char where[64];
		struct card *card =
			VEC_ADD(&inventory.cards, &inventory.card_count, &inventory.card_capacity);
		if (!card)
			return error_no_memory(error);
		snprintf(where, sizeof(where), "cards[%zu]", i);
		r = read_card(json_object_array_get_idx(array, i), where, card, error);
	}
	if (r == 0)
		r = inventory_check(&inventory, error);
	if (r < 0)
		return r;
	*ret = inventory;
	inventory = (struct inventory){ 0 };
	return 0;
}
