/* SPDX-License-Identifier: Apache-2.0 */
/* Which cards there are, and the mode that the configuration gives each. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "node/view_private.h"

/* As the peer: MIG devices where there are any and the strategy lists them, else the card. */
static enum card_mode mode_of_peer(const struct plugin_config *config, const struct card *card)
{
	return card->mig_enabled && config->mig_strategy != MIG_STRATEGY_NONE ? CARD_MODE_MIG
									      : CARD_MODE_REPLICAS;
}

static void choose_mode(const struct plugin_config *config, const struct card *card,
			struct plugin_card *ret)
{
	const struct card_choice *choice = plugin_config_find_card(config, card);

	ret->excluded = choice ? choice->excluded : config->default_mode == DEFAULT_MODE_EXCLUDED;
	ret->by_peer = !choice && (config->default_mode == DEFAULT_MODE_PEER || ret->excluded);
	if (choice)
		ret->mode = choice->mode;
	else if (ret->by_peer)
		ret->mode = mode_of_peer(config, card);
	else
		ret->mode = default_mode_to_card(config->default_mode);
}

static void describe_foreign(const struct card *card, struct plugin_card *ret)
{
	uint64_t mib = card_foreign_mib(card);

	for (size_t i = 0; i < card->process_count; i++) {
		const struct card_process *process = &card->processes[i];

		if (process->granted)
			continue;
		ret->foreign = true;
		if (ret->health == CARD_HEALTHY)
			reason_text(ret->cause, sizeof(ret->cause),
				    "process %d (%.40s, user %" PRId64
				    ") has no grant; without one "
				    "%" PRIu64 " MiB are used",
				    (int)process->pid, process->name,
				    process->uid == UINT32_MAX ? -1 : (int64_t)process->uid, mib);
		return;
	}
}

static bool was_listed(const struct plugin_view *previous, const char *uuid)
{
	for (size_t i = 0; previous && i < previous->count; i++)
		for (size_t k = 0; k < previous->resources[i].count; k++) {
			const struct plugin_device *device = &previous->resources[i].devices[k];

			if (device->cause != PLUGIN_LEAVES &&
			    strcmp(previous->cards[device->card].uuid, uuid) == 0)
				return true;
		}
	return false;
}

int view_add_cards(struct viewing *viewing)
{
	const struct inventory *inventory = viewing->inputs->inventory;
	struct plugin_view *view = viewing->view;

	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];
		struct plugin_card *to =
			VEC_ADD(&view->cards, &view->card_count, &view->card_capacity);

		if (!to)
			return error_no_memory(viewing->error);
		memcpy(to->uuid, card->uuid, sizeof(to->uuid));
		to->position = (uint32_t)i;
		to->health = card->condition.health;
		to->numa = card->numa;
		memcpy(to->cause, card->condition.cause, sizeof(to->cause));
		choose_mode(viewing->inputs->config, card, to);
		to->kept = to->health != CARD_HEALTHY &&
			   was_listed(viewing->inputs->previous, to->uuid);
		if (viewing->inputs->foreign)
			describe_foreign(card, to);
	}
	return 0;
}
