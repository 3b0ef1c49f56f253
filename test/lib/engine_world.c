/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place_world.h"

const struct world_model world_models[WORLD_MODELS] = { { WORLD_A100, 80 },
							{ "NVIDIA A40", 44 },
							{ "Tesla T4", 15 } };

static void must(const void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "out of memory\n");
		abort();
	}
}

/* xorshift64* (Vigna 2016). */
unsigned dice_below(struct dice *dice, unsigned limit)
{
	dice->state ^= dice->state >> 12;
	dice->state ^= dice->state << 25;
	dice->state ^= dice->state >> 27;
	return (unsigned)((dice->state * 0x2545f4914f6cdd1dull >> 33) % limit);
}

bool dice_chance(struct dice *dice, unsigned percent)
{
	return dice_below(dice, 100) < percent;
}

/* ---- nodes ---- */

static enum card_mode random_mode(struct dice *dice, const char *model)
{
	static const enum card_mode modes[] = { CARD_MODE_AUTO, CARD_MODE_AUTO, CARD_MODE_AUTO,
						CARD_MODE_WHOLE, CARD_MODE_SLICES };

	if (strcmp(model, WORLD_A100) == 0 && dice_chance(dice, 25))
		return CARD_MODE_MIG;
	return modes[dice_below(dice, ARRAY_SIZE(modes))];
}

static void add_taint(struct dice *dice, struct node_spec *node)
{
	struct taint *taint = VEC_ADD(&node->taints, &node->taint_count, &node->taint_capacity);

	must(taint);
	taint->key = strdup("team");
	taint->value = strdup(dice_chance(dice, 50) ? "a" : "b");
	taint->effect = (enum taint_effect)dice_below(dice, TAINT_EFFECT_MAX);
}

static void make_cards(struct dice *dice, struct node_spec *node, unsigned number)
{
	unsigned model = dice_below(dice, WORLD_MODELS), trouble = dice_below(dice, 20);
	enum card_mode mode = random_mode(dice, world_models[model].name);

	for (unsigned left = dice_below(dice, 9); left > 0; left--) {
		if (dice_chance(dice, 5)) {
			model = dice_below(dice, WORLD_MODELS);
			mode = random_mode(dice, world_models[model].name);
		}
		world_add_cards(&node->inventory, number, 1, world_models[model].name,
				world_models[model].gib, mode);
		struct card *card = &node->inventory.cards[node->inventory.card_count - 1];

		if (dice_chance(dice, trouble))
			card->condition.health = dice_chance(dice, 50) ? CARD_LOST : CARD_SUSPECT;
		if (dice_chance(dice, trouble))
			world_add_process(card, dice_chance(dice, 30), dice_below(dice, 5000));
	}
	world_link(&node->inventory, dice_below(dice, WORLD_LINKS_MAX));
}

void world_make_node(struct dice *dice, unsigned number, struct node_spec *node)
{
	static const char *const zones[] = { "east", "west", "north" };
	char name[16];

	node_spec_init(node);
	snprintf(name, sizeof(name), "n%02u", number);
	node->name = strdup(name);
	if (dice_chance(dice, 80))
		node_spec_set_label(node, "zone", zones[dice_below(dice, 3)]);
	if (dice_chance(dice, 30))
		add_taint(dice, node);
	node->unschedulable = dice_chance(dice, 3);
	if (dice_chance(dice, 80)) {
		node->allocatable.cpu_milli = 1000 * (int64_t)(4 + dice_below(dice, 60));
		node->allocatable.memory_mib = 1024 * (int64_t)(8 + dice_below(dice, 60));
		node->allocatable.pods = 3 + dice_below(dice, 12);
	}
	make_cards(dice, node, number);
}

/* ---- shapes ---- */

static void add_match(struct dice *dice, struct demand *demand)
{
	struct match_term *term =
		VEC_ADD(&demand->terms, &demand->term_count, &demand->term_capacity);

	must(term);
	struct match *match = VEC_ADD(&term->items, &term->count, &term->capacity);

	must(match);
	match->key = strdup("zone");
	match->operator= dice_chance(dice, 70) ? MATCH_IN : MATCH_NOT_IN;
	string_list_add(&match->values, dice_chance(dice, 50) ? "east" : "west");
	if (dice_chance(dice, 20))
		string_list_add(&match->values, "south");
}

static void add_wishes(struct dice *dice, struct demand *demand)
{
	if (dice_chance(dice, 15)) {
		struct label *label = VEC_ADD(&demand->selector, &demand->selector_count,
					      &demand->selector_capacity);

		must(label);
		label->key = strdup("zone");
		label->value = strdup(dice_chance(dice, 90) ? "east" : "moon");
	}
	if (dice_chance(dice, 12))
		add_match(dice, demand);
	if (dice_chance(dice, 30)) {
		struct toleration *toleration =
			VEC_ADD(&demand->tolerations, &demand->toleration_count,
				&demand->toleration_capacity);

		must(toleration);
		toleration->key = strdup("team");
		toleration->value = dice_chance(dice, 50) ? strdup("a") : NULL;
		toleration->effect = TAINT_EFFECT_MAX;
	}
}

static void add_names(struct dice *dice, unsigned node_count, struct request *request)
{
	static const char *const patterns[] = { "*A100*", "*A40", "Tesla*", "NVIDIA*", "K80" };
	char uuid[32];

	if (dice_chance(dice, 20))
		string_list_add(&request->models, patterns[dice_below(dice, ARRAY_SIZE(patterns))]);
	if (dice_chance(dice, 6))
		string_list_add(&request->not_models,
				patterns[dice_below(dice, ARRAY_SIZE(patterns))]);
	for (unsigned left = dice_chance(dice, 5) ? 1 + dice_below(dice, 4) : 0; left > 0; left--) {
		snprintf(uuid, sizeof(uuid), "GPU-%u-%u", dice_below(dice, node_count),
			 dice_below(dice, 8));
		string_list_add(dice_chance(dice, 70) ? &request->uuids : &request->not_uuids,
				uuid);
	}
}

static void add_request(struct dice *dice, unsigned node_count, struct demand *demand)
{
	static const char *const profiles[] = { "1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb" };
	struct request *request =
		VEC_ADD(&demand->requests, &demand->request_count, &demand->request_capacity);
	unsigned kind = dice_below(dice, 20);

	must(request);
	request->cards = 1 + (dice_chance(dice, 30) ? dice_below(dice, 4) : 0);
	if (kind < 8) {
		request->kind = REQUEST_WHOLE;
	} else if (kind < 19) {
		request->kind = REQUEST_SLICE;
		request->units = 1 + dice_below(dice, dice_chance(dice, 50) ? 12 : 90);
		request->memory_mib = request->units * 1024ull;
		if (dice_chance(dice, 50))
			request->compute_percent = 10 * (1 + dice_below(dice, 10));
		if (dice_chance(dice, 10)) {
			request->units = 0;
			request->memory_mib = 0;
			request->memory_percent = 1 + dice_below(dice, 100);
		}
	} else {
		request->kind = REQUEST_MIG;
		request->cards = 1 + dice_below(dice, 9);
		snprintf(request->mig_profile, sizeof(request->mig_profile), "%s",
			 profiles[dice_below(dice, ARRAY_SIZE(profiles))]);
	}
	if (dice_chance(dice, 15))
		request->policy = (enum card_policy)dice_below(dice, POLICY_MAX);
	add_names(dice, node_count, request);
}

void world_make_shape(struct dice *dice, unsigned node_count, struct demand *demand)
{
	demand_init(demand);
	demand->object = strdup("Pod default/x");
	if (dice_chance(dice, 70)) {
		demand->needs.cpu_milli =
			500 * (int64_t)dice_below(dice, dice_chance(dice, 90) ? 16 : 200);
		demand->needs.memory_mib = 512 * (int64_t)dice_below(dice, 32);
	}
	add_wishes(dice, demand);
	if (dice_chance(dice, 90))
		add_request(dice, node_count, demand);
}

/* ---- workloads ---- */

void world_make_class(struct dice *dice, unsigned number, struct demand *demand,
		      struct naive_ask *ask)
{
	static const unsigned percents[WORLD_CLASSES] = { 0, 0, 0, 10, 25, 50 };
	unsigned percent = percents[number];
	struct request *request;

	demand_init(demand);
	demand->needs.cpu_milli = 1000 * (int64_t)(1 + number + 8 * dice_below(dice, 4));
	request = VEC_ADD(&demand->requests, &demand->request_count, &demand->request_capacity);
	must(request);
	request->cards = percent ? 1 : 1u << number;
	request->kind = percent ? REQUEST_SLICE : REQUEST_WHOLE;
	request->memory_percent = percent;  /* rounded down on some models, ... */
	request->compute_percent = percent; /* ... so that this says how much: exact on every one */
	*ask = (struct naive_ask){ .cards = request->cards,
				   .whole = !percent,
				   .cpu = demand->needs.cpu_milli };
	for (unsigned i = 0; i < WORLD_MODELS; i++)
		ask->milli[i] = percent ? 10 * percent : 1000;
}
