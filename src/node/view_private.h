/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that make a view share. Inside this folder only. */
#pragma once

#include "node/device_id.h"
#include "node/plugin.h"

/* A thing that can be listed: a card, or one of its MIG devices. */
struct part {
	uint32_t card;     /* in the view */
	uint32_t instance; /* PLUGIN_NONE: the card */
	char resource[128];
	bool shareable; /* sharing may turn it into replicas */
	bool shared;
};

struct parts {
	struct part *items; /* owned; in order of the cards */
	size_t count, capacity;
};

struct viewing {
	const struct plugin_view_inputs *inputs;
	struct plugin_view *view;
	struct map *held;   /* device ID to the entry of the ledger */
	struct map *listed; /* device ID to what has it; any value */
	struct error *error;
};

/* Each 0 or -ENOMEM with the error set. */
int view_note(struct viewing *viewing, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int view_add_cards(struct viewing *viewing);
/* Everything that the configuration wants listed, by view_want(). */
int view_add_wanted(struct viewing *viewing);
/* A device that is offered, unless another resource still lists it. */
int view_want(struct viewing *viewing, const char *resource, enum plugin_kind kind, uint32_t card,
	      uint32_t instance, uint32_t number);

/* The card of the inventory; NULL for one that is only held. */
const struct card *view_inventory_card(const struct viewing *viewing, uint32_t card);
/* UUID of the card or the MIG device. */
const char *view_part_uuid(const struct viewing *viewing, uint32_t card, uint32_t instance);
/* Whether the card of that UUID is sick and keeps what was listed of it. */
bool view_keeps(const struct viewing *viewing, const char *uuid);
/* "card 3 (GPU-...)" */
void view_describe(const struct viewing *viewing, uint32_t card,
		   char ret[static CARD_DESCRIPTION_MAX]);
