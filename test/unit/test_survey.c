/* SPDX-License-Identifier: Apache-2.0 */
/* What a driver that hangs does not tell any more is as it was. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "node/survey.h"

#define GIB (1ull << 30)

static struct card *add(struct inventory *inventory, const char *uuid, const char *bus_id,
			uint64_t gib)
{
	struct card *card =
		VEC_ADD(&inventory->cards, &inventory->card_count, &inventory->card_capacity);

	assert_non_null(card);
	(void)snprintf(card->uuid, sizeof(card->uuid), "%s", uuid);
	(void)snprintf(card->bus_id, sizeof(card->bus_id), "%s", bus_id);
	card->memory_bytes = gib * GIB;
	card->index = gib ? (unsigned)inventory->card_count - 1 : CARD_INDEX_NONE;
	card->minor = gib ? (unsigned)inventory->card_count - 1 : CARD_MINOR_NONE;
	card->numa = gib ? 1 : -1;
	return card;
}

static void add_instance(struct card *card, const char *uuid)
{
	struct card_instance *instance =
		VEC_ADD(&card->instances, &card->instance_count, &card->instance_capacity);

	assert_non_null(instance);
	(void)snprintf(instance->uuid, sizeof(instance->uuid), "%s", uuid);
}

/* Two cards, the second with two MIG devices. */
static void make_known(struct inventory *known)
{
	inventory_init(known);
	add(known, "GPU-a", "0000:01:00.0", 80);
	struct card *second = add(known, "GPU-b", "0000:02:00.0", 40);
	second->mig_enabled = true;
	add_instance(second, "MIG-1");
	add_instance(second, "MIG-2");
}

TEST(a_card_without_a_name_has_that_of_its_address)
{
	cleanup(inventory_release) struct inventory known, now;
	struct error error = ERROR_INIT;

	make_known(&known);
	inventory_init(&now);
	add(&now, "unknown-0000:01:00.0", "0000:01:00.0", 0);
	add(&now, "unknown-0000:02:00.0", "0000:02:00.0", 0)->condition.health = CARD_LOST;
	assert_int_equal(survey_complete(&now, &known, &error), 0);
	assert_int_equal(now.card_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(now.cards[i].uuid, known.cards[i].uuid);
		assert_int_equal(now.cards[i].memory_bytes, known.cards[i].memory_bytes);
		assert_int_equal(now.cards[i].index, i);
		assert_int_equal(now.cards[i].minor, i);
		assert_int_equal(now.cards[i].numa, 1);
		assert_int_equal(now.cards[i].instance_count, known.cards[i].instance_count);
	}
	assert_string_equal(now.cards[1].instances[1].uuid, "MIG-2");
	assert_ptr_not_equal(now.cards[1].instances, known.cards[1].instances);
	assert_true(now.cards[1].mig_enabled);
	/* Only what is missing is taken from before. */
	assert_int_equal(now.cards[1].condition.health, CARD_LOST);
}

TEST(what_the_driver_tells_is_never_changed)
{
	cleanup(inventory_release) struct inventory known, now;
	struct error error = ERROR_INIT;

	make_known(&known);
	inventory_init(&now);
	add(&now, "GPU-a", "0000:01:00.0", 80);
	add(&now, "GPU-b", "0000:02:00.0", 40); /* MIG was switched off */
	assert_int_equal(survey_complete(&now, &known, &error), 0);
	assert_int_equal(now.cards[1].instance_count, 0);
	assert_false(now.cards[1].mig_enabled);
}

TEST(another_card_in_the_same_slot_is_another_card)
{
	cleanup(inventory_release) struct inventory known, now;
	struct error error = ERROR_INIT;

	make_known(&known);
	inventory_init(&now);
	add(&now, "GPU-new", "0000:01:00.0", 0);
	assert_int_equal(survey_complete(&now, &known, &error), 0);
	assert_string_equal(now.cards[0].uuid, "GPU-new");
	assert_int_equal(now.cards[0].memory_bytes, 0);
}

/* The kubelet is never told a made-up name. The others, their samples too, move up. */
TEST(a_card_that_nobody_can_name_is_left_out)
{
	cleanup(inventory_release) struct inventory known, now;
	struct error error = ERROR_INIT;

	make_known(&known);
	inventory_init(&now);
	add(&now, "unknown-0000:09:00.0", "0000:09:00.0", 0);
	add(&now, "GPU-b", "0000:02:00.0", 40);
	add(&now, "unknown-card-2", "", 0);
	now.samples = calloc(3, sizeof(*now.samples));
	now.samples[1].values[0] = 7;
	assert_int_equal(survey_complete(&now, &known, &error), 0);
	assert_int_equal(now.card_count, 1);
	assert_string_equal(now.cards[0].uuid, "GPU-b");
	assert_int_equal(now.samples[0].values[0], 7);
}

TEST(short_of_memory_is_an_error)
{
	for (unsigned n = 0;; n++) {
		cleanup(inventory_release) struct inventory known, now;
		struct error error = ERROR_INIT;

		make_known(&known);
		inventory_init(&now);
		add(&now, "unknown-0000:02:00.0", "0000:02:00.0", 0);
		fault_arm(n);
		int r = survey_complete(&now, &known, &error);
		bool happened = fault_disarm();

		assert_int_equal(r, happened ? -ENOMEM : 0);
		if (!happened) {
			assert_true(n > 0);
			break;
		}
	}
}

static const struct {
	const char *name;
	bool ours;
} names[] = {
	{ "k8s.device-plugin.nvidia.com-gpu.json", true },       { "gpupool.io-slice.json", true },
	{ "k8s.device-plugin.nvidia.com-gds.json", true },       { "nvidia.yaml", false },
	{ ".k8s.device-plugin.nvidia.com-gpu.json.tmp", false }, { "", false },
};

TEST(only_our_own_specs_are_looked_after)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(specs_is_ours(names[i].name), names[i].ours);
}
