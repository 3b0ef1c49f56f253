/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of a hostile helper, one after the other into the same card, then into the matrix of
 * links. The first byte of each piece is the kind, the second the status; the rest overlays the
 * answer from its message on.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "device/links.h"
#include "device/nvml/query.h"
#include "device/sysfs/sysfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PIECES_MAX 16
#define HEADER     offsetof(struct record_answer, message)

static void check_card(const struct nvml_card *card)
{
	if (card->uuid[0] && !card_uuid_is_valid(card->uuid))
		abort();
	if (!parse_utf8_valid(card->model, strlen(card->model)) ||
	    !parse_utf8_valid(card->condition.cause, strlen(card->condition.cause)))
		abort();
	if (card->used_bytes > card->total_bytes || card->total_bytes > UINT64_C(1) << 50)
		abort();
	if (card->instance_count > CARD_INSTANCES_MAX)
		abort();
	for (size_t i = 0; i < card->instance_count; i++)
		if (!mig_uuid_is_valid(card->instances[i].uuid) ||
		    !parse_utf8_valid(card->instances[i].profile,
				      strlen(card->instances[i].profile)))
			abort();
	if ((card->condition.health == CARD_HEALTHY) != !card->condition.cause[0])
		abort();
}

static void check_links(struct nvml_card cards[2])
{
	cleanup(inventory_release) struct inventory inventory;

	inventory_init(&inventory);
	for (unsigned i = 0; i < 2; i++) {
		struct card *card =
			VEC_ADD(&inventory.cards, &inventory.card_count, &inventory.card_capacity);
		if (!card)
			return;
		card->index = i;
		memcpy(card->bus_id, cards[i].bus_id, sizeof(card->bus_id));
	}
	if (links_build(&inventory, cards, 2, NULL) < 0)
		return;
	const struct card_link *there = &inventory.cards[0].links[0];
	const struct card_link *back = &inventory.cards[1].links[0];
	if (there->kind != back->kind || there->lanes != back->lanes || there->lanes > 72)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nvml_card *cards = calloc(2, sizeof(*cards));
	struct record_answer *answer = malloc(sizeof(*answer));

	for (unsigned piece = 0; cards && answer && size >= 4 && piece < PIECES_MAX; piece++) {
		size_t length = (size_t)data[2] << 4;

		memset(answer, 0, sizeof(*answer));
		answer->kind = data[0];
		answer->status = data[1];
		answer->nvml = data[3] & 0x1f;
		if (length > size - 4)
			length = size - 4;
		if (length > sizeof(*answer) - HEADER)
			length = sizeof(*answer) - HEADER;
		memcpy((char *)answer + HEADER, data + 4, length);
		if (nvml_take_answer(answer, &cards[piece & 1]) == 0)
			check_card(&cards[piece & 1]);
		data += 4 + length;
		size -= 4 + length;
	}
	if (cards)
		check_links(cards);
	for (int i = 0; cards && i < 2; i++)
		nvml_card_release(&cards[i]);
	free(cards);
	free(answer);
	return 0;
}
