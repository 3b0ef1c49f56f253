/* SPDX-License-Identifier: Apache-2.0 */
/* Names that were asked for, as cards and MIG instances of this machine. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject/device_name.h"
#include "inject/request.h"

struct selector {
	const struct inventory *inventory;
	struct device_selection *selection;
	struct reason *reason;
	struct error *error;
};

void device_selection_release(struct device_selection *selection)
{
	grant_release(&selection->cards);
	grant_release(&selection->instances);
	*selection = (struct device_selection){ 0 };
}

static int refuse(struct selector *selector, enum reason_code code, const char *detail)
{
	autostrbuf sentence = STRBUF_INIT(ERROR_MESSAGE_MAX);
	struct reason *reason = selector->reason;

	reason->code = code;
	if (!*reason->object)
		reason_text(reason->object, sizeof(reason->object), "the container");
	reason_text(reason->node, sizeof(reason->node), "this machine");
	reason_text(reason->detail, sizeof(reason->detail), "%s", detail);
	reason->have = 0;
	reason->total = (int64_t)selector->inventory->card_count;
	for (size_t i = 0; i < selector->inventory->card_count; i++)
		reason->have += (int64_t)selector->inventory->cards[i].instance_count;
	if (reason_sentence(reason, &sentence) < 0)
		return error_no_memory(selector->error);
	return error_set(selector->error, ENODEV, "%s", sentence.data);
}

/* Adds it once: "0" and the UUID of card 0 are one card. */
static int grant_add(struct selector *selector, struct grant *grant, const char *name)
{
	for (size_t i = 0; i < grant->card_count; i++)
		if (strcmp(grant->cards[i].uuid, name) == 0)
			return 0;
	struct grant_card *part = VEC_ADD(&grant->cards, &grant->card_count, &grant->card_capacity);
	if (!part)
		return error_no_memory(selector->error);
	snprintf(part->uuid, sizeof(part->uuid), "%s", name);
	return 0;
}

static int add_card(struct selector *selector, const struct card *card)
{
	return grant_add(selector, &selector->selection->cards, card->uuid);
}

static int add_instance(struct selector *selector, const struct card *card,
			const struct card_instance *instance)
{
	struct grant *grant = &selector->selection->instances;
	char name[CARD_UUID_MAX];

	device_instance_name(card, instance, name);
	/* One profile for all of them, or none is said. */
	if (grant->card_count == 0)
		snprintf(grant->mig_profile, sizeof(grant->mig_profile), "%s", instance->profile);
	else if (strcmp(grant->mig_profile, instance->profile) != 0)
		grant->mig_profile[0] = '\0';
	return grant_add(selector, grant, name);
}

/* The driver's library alone knows UUIDs of MIG instances, and those of cards nobody opened. */
static bool may_exist(const struct inventory *inventory, const char *name)
{
	bool uuid = strncmp(name, "GPU-", 4) == 0;

	if (!inventory->kernel_only)
		return false;
	if (device_name_is_instance(name))
		return true;
	for (size_t i = 0; uuid && i < inventory->card_count; i++)
		if (strncmp(inventory->cards[i].uuid, "GPU-", 4) != 0)
			return true;
	return false;
}

static int add_named(struct selector *selector, const char *name)
{
	const struct inventory *inventory = selector->inventory;
	const struct card *card = NULL;

	if (device_name_is_instance(name)) {
		const struct card_instance *instance = device_find_instance(inventory, name, &card);

		if (instance)
			return add_instance(selector, card, instance);
	} else {
		card = device_find_card(inventory, name);
		if (card)
			return add_card(selector, card);
	}
	return refuse(selector,
		      may_exist(inventory, name) ? REASON_NO_INVENTORY : REASON_UNKNOWN_DEVICE,
		      name);
}

static bool is_usable(const struct card *card)
{
	return card->index != CARD_INDEX_NONE && card->condition.health != CARD_LOST;
}

/* Nothing of all is left. */
static int refuse_all(struct selector *selector)
{
	const struct inventory *inventory = selector->inventory;
	struct reason *reason = selector->reason;

	if (!inventory->card_count)
		return refuse(selector, REASON_NO_DRIVER,
			      *inventory->problem ? inventory->problem : "no card is listed");
	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];

		if (is_usable(card))
			continue;
		card_describe(card, reason->card);
		reason->wanted = (int64_t)inventory->card_count;
		return refuse(selector, REASON_CARD_LOST,
			      *card->condition.cause ? card->condition.cause
						     : "the driver does not list it");
	}
	return refuse(selector, REASON_UNKNOWN_DEVICE, "any MIG instance");
}

/* A card in MIG mode is its instances; a lost one would keep programs from the others. */
static int add_all(struct selector *selector, bool whole_too)
{
	const struct inventory *inventory = selector->inventory;
	int r = 0;

	for (size_t i = 0; r == 0 && i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];

		if (!is_usable(card))
			continue;
		if (!card->mig_enabled || whole_too)
			r = add_card(selector, card);
		for (size_t j = 0; r == 0 && j < card->instance_count; j++)
			r = add_instance(selector, card, &card->instances[j]);
	}
	if (r < 0 || selector->selection->cards.card_count ||
	    selector->selection->instances.card_count)
		return r;
	return refuse_all(selector);
}

int device_request_select(const struct device_request *request, const struct inventory *inventory,
			  struct device_selection *ret, struct reason *ret_reason,
			  struct error *error)
{
	cleanup(device_selection_release) struct device_selection selection = {
		.cards = { .kind = REQUEST_WHOLE, .enforcement = ENFORCEMENT_WHOLE },
		.instances = { .kind = REQUEST_MIG, .enforcement = ENFORCEMENT_WHOLE },
	};
	struct reason reason = { 0 };
	struct selector selector = { .inventory = inventory,
				     .selection = &selection,
				     .reason = ret_reason ? ret_reason : &reason,
				     .error = error };
	/* Who configures MIG needs the cards that have no instance yet. */
	bool whole_too = request->gated & (GATED_MIG_CONFIG | GATED_MIG_MONITOR);
	int r = 0;

	if (request->all)
		r = add_all(&selector, whole_too);
	for (size_t i = 0; r == 0 && i < request->devices.count; i++)
		r = add_named(&selector, request->devices.items[i]);
	if (r < 0)
		return r;
	*ret = selection;
	selection = (struct device_selection){ 0 };
	return 0;
}
