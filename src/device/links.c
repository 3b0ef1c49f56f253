/* SPDX-License-Identifier: Apache-2.0 */
#include "device/links.h"

#include <string.h>

#include "abi/nvml.h"

/* How to add a level: one row. */
static const struct level_row {
	int32_t level;
	enum link_kind kind;
} level_rows[] = {
	{ NVML_TOPOLOGY_INTERNAL, LINK_PIX }, { NVML_TOPOLOGY_SINGLE, LINK_PIX },
	{ NVML_TOPOLOGY_MULTIPLE, LINK_PXB }, { NVML_TOPOLOGY_HOSTBRIDGE, LINK_PHB },
	{ NVML_TOPOLOGY_NODE, LINK_NODE },    { NVML_TOPOLOGY_SYSTEM, LINK_SYS },
};

static const struct record_links *links_of(const struct card *card, const struct nvml_card *cards,
					   unsigned count)
{
	if (card->index >= count || !cards[card->index].has_links)
		return NULL;
	return &cards[card->index].links;
}

/* Lanes that end at the other card, and lanes that end at a switch, which reaches every card. */
static unsigned lanes_to(const struct record_links *links, const char *bus_id, unsigned *ret_switch)
{
	unsigned direct = 0, through = 0;

	for (uint32_t i = 0; links && i < links->lane_count; i++) {
		const struct record_lane *lane = &links->lanes[i];

		if (lane->remote == RECORD_REMOTE_SWITCH)
			through++;
		else if (lane->remote == RECORD_REMOTE_CARD && bus_id[0] &&
			 strcmp(lane->bus_id, bus_id) == 0)
			direct++;
	}
	*ret_switch = through;
	return direct;
}

/* Both ends are asked; a lane that only one of them sees is not counted, unless the other is mute. */
static unsigned lanes_between(const struct card *left, const struct record_links *left_links,
			      const struct card *right, const struct record_links *right_links)
{
	unsigned left_switch, right_switch;
	unsigned there = lanes_to(left_links, right->bus_id, &left_switch);
	unsigned back = lanes_to(right_links, left->bus_id, &right_switch);
	unsigned through = left_switch < right_switch ? left_switch : right_switch;

	if (!left_links || !right_links)
		return 0;
	return (there < back ? there : back) + through;
}

static enum link_kind kind_of_level(int32_t level)
{
	for (size_t i = 0; i < ARRAY_SIZE(level_rows); i++)
		if (level_rows[i].level == level)
			return level_rows[i].kind;
	return LINK_KIND_INVALID;
}

/* The nearer of what the two say; NUMA where neither says anything. */
static enum link_kind kind_between(const struct card *left, const struct record_links *left_links,
				   const struct card *right, const struct record_links *right_links)
{
	enum link_kind there = LINK_KIND_INVALID, back = LINK_KIND_INVALID;

	if (left_links && right->index < RECORD_CARDS_MAX)
		there = kind_of_level(left_links->levels[right->index]);
	if (right_links && left->index < RECORD_CARDS_MAX)
		back = kind_of_level(right_links->levels[left->index]);
	if (there == LINK_KIND_INVALID)
		there = back;
	if (there != LINK_KIND_INVALID)
		return back != LINK_KIND_INVALID && back < there ? back : there;
	return left->numa >= 0 && left->numa == right->numa ? LINK_NODE : LINK_SYS;
}

static int link_add(struct card *card, size_t peer, enum link_kind kind, unsigned lanes)
{
	struct card_link *link = VEC_ADD(&card->links, &card->link_count, &card->link_capacity);

	if (!link)
		return -ENOMEM;
	link->peer = (unsigned)peer;
	link->kind = lanes ? LINK_NVLINK : kind;
	link->lanes = lanes;
	return 0;
}

int links_build(struct inventory *inventory, const struct nvml_card *cards, unsigned count,
		struct error *error)
{
	for (size_t i = 0; i < inventory->card_count; i++)
		for (size_t k = 0; k < inventory->card_count; k++) {
			struct card *left = &inventory->cards[i], *right = &inventory->cards[k];
			const struct record_links *there = links_of(left, cards, count);
			const struct record_links *back = links_of(right, cards, count);

			if (i != k && link_add(left, k, kind_between(left, there, right, back),
					       lanes_between(left, there, right, back)) < 0)
				return error_no_memory(error);
		}
	return 0;
}
