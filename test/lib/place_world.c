/* SPDX-License-Identifier: Apache-2.0 */
#include "place_world.h"

#include <stdio.h>
#include <stdlib.h>

static void *must(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "out of memory\n");
		abort();
	}
	return pointer;
}

void world_add_cards(struct inventory *inventory, unsigned node, unsigned count, const char *model,
		     unsigned gib, enum card_mode mode)
{
	for (unsigned i = 0; i < count; i++) {
		struct card *card = must(VEC_ADD(&inventory->cards, &inventory->card_count,
						 &inventory->card_capacity));
		unsigned position = (unsigned)inventory->card_count - 1;

		card->index = position;
		card->minor = position;
		card->mode = mode;
		card->numa = -1;
		/* Real cards never have a round number of GiB. */
		card->memory_bytes = ((uint64_t)gib << 30) + (577ull << 20);
		snprintf(card->uuid, sizeof(card->uuid), "GPU-%u-%u", node, position);
		snprintf(card->model, sizeof(card->model), "%s", model);
	}
}

static enum link_kind kind_between(enum world_links links, unsigned a, unsigned b, size_t count)
{
	bool first_a = a < count / 2, first_b = b < count / 2;

	if (links == WORLD_ALL || (links == WORLD_PAIRS && a / 2 == b / 2) ||
	    (links == WORLD_HALVES && first_a == first_b))
		return LINK_NVLINK;
	return first_a == first_b ? LINK_PHB : LINK_SYS;
}

void world_link(struct inventory *inventory, enum world_links links)
{
	size_t count = inventory->card_count;

	for (unsigned a = 0; a < count && links != WORLD_NO_LINKS; a++) {
		struct card *card = &inventory->cards[a];

		for (unsigned b = 0; b < count; b++) {
			if (a == b)
				continue;
			struct card_link *link = must(
				VEC_ADD(&card->links, &card->link_count, &card->link_capacity));

			link->peer = b;
			link->kind = kind_between(links, a, b, count);
			link->lanes = link->kind == LINK_NVLINK ? 12 : 0;
		}
	}
}

void world_add_process(struct card *card, bool granted, uint64_t mib)
{
	struct card_process *process =
		must(VEC_ADD(&card->processes, &card->process_count, &card->process_capacity));

	*process = (struct card_process){
		.pid = 4711, .uid = 1000, .used_mib = mib, .granted = granted, .name = "python3"
	};
}
