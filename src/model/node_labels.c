/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cards by the labels of GPU feature discovery. They describe one model; with mig.strategy=single
 * they describe instances, not cards, and so does nvidia.com/gpu.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/card_name.h"
#include "model/mig.h"
#include "model/node_cards.h"

#define PREFIX     "nvidia.com/"
#define MIG_PREFIX PREFIX "mig-"
#define SHARED     "-SHARED"
#define MIG_MARK   "-MIG-"
#define LIMIT_MIB  (65535ull * MIB_PER_UNIT)
#define COUNT_MAX  (CARDS_MAX * 16)

static uint64_t label_number(const struct node_spec *node, const char *key)
{
	const char *label = node_spec_label(node, key);
	uint64_t number = 0;

	return label && parse_uint(label, 0, LIMIT_MIB, &number) == 0 ? number : 0;
}

/* The product without what sharing and MIG append. *ret_profile: "" or the profile's name. */
static void read_product(const struct node_spec *node, char ret_model[static CARD_MODEL_MAX],
			 char ret_profile[static CARD_MIG_MAX])
{
	const char *product = node_spec_label(node, PREFIX "gpu.product");
	size_t length = product ? strlen(product) : 0, shared = sizeof(SHARED) - 1;

	ret_profile[0] = '\0';
	if (length > shared && strcmp(product + length - shared, SHARED) == 0)
		length -= shared;
	const char *mark = product ? strstr(product, MIG_MARK) : NULL;
	if (mark && mark < product + length) {
		const char *profile = mark + sizeof(MIG_MARK) - 1;

		snprintf(ret_profile, CARD_MIG_MAX, "%.*s", (int)(product + length - profile),
			 profile);
		length = (size_t)(mark - product);
	}
	card_name_from_label(product ? product : "", length, ret_model);
}

static bool add_instance(struct card *card, const struct mig_model *model, struct mig_use *use,
			 const struct mig_profile *profile)
{
	int start = mig_use_choose(model, use, profile, NULL);
	struct card_mig *mig =
		start < 0 ? NULL : VEC_ADD(&card->mig, &card->mig_count, &card->mig_capacity);

	if (!mig)
		return false;
	snprintf(mig->profile, sizeof(mig->profile), "%s", profile->name);
	mig->start = (unsigned)start;
	mig_use_add(use, profile, (unsigned)start);
	return true;
}

/* The most that stand on one card. */
static unsigned instances_of(const struct mig_profile *profile)
{
	unsigned count =
		profile->limit < profile->start_count ? profile->limit : profile->start_count;

	return count ? count : 1;
}

static int add_card(const struct node_source *from, const char *model, uint64_t mib,
		    struct card **ret)
{
	if (from->node->inventory.card_count == CARDS_MAX) {
		from->reading->beyond++;
		*ret = NULL;
		return 0;
	}
	return node_add_unnamed(from->node, model, mib, ret);
}

/* mig.strategy=single: COUNT instances of one profile on as many cards as that takes. */
static int add_single(const struct node_source *from, const char *name, const char *profile_name,
		      uint64_t count)
{
	const struct mig_model *model = mig_model_find(name);
	const struct mig_profile *profile = model ? mig_profile_find(model, profile_name) : NULL;

	if (!profile) {
		node_problem(from, "MIG profile %s of %s is not known here", profile_name, name);
		return 0;
	}
	from->reading->layout_worked = true;
	while (count) {
		uint64_t mib = model->profiles[model->profile_count - 1].memory_mib;
		struct mig_use use = { 0 };
		struct card *card = NULL;

		if (add_card(from, name, mib, &card) < 0)
			return -ENOMEM;
		if (!card)
			return 1;
		card->mig_capable = card->mig_enabled = true;
		card->mode = CARD_MODE_MIG;
		for (unsigned i = instances_of(profile); i && count; i--, count--) {
			if (card->mig_count && mig_use_choose(model, &use, profile, NULL) < 0)
				break;
			if (!add_instance(card, model, &use, profile))
				return -ENOMEM;
		}
	}
	return 1;
}

/* The profiles of mig.strategy=mixed with their numbers on the node, the largest first. */
struct layout {
	const struct mig_profile *profiles[CARD_MIG_ENTRIES];
	uint64_t counts[CARD_MIG_ENTRIES];
	size_t count;
};

static void layout_read(const struct node_spec *node, const struct mig_model *model,
			struct layout *ret)
{
	ret->count = 0;
	for (size_t i = model->profile_count; i-- > 0 && ret->count < CARD_MIG_ENTRIES;) {
		const struct mig_profile *profile = &model->profiles[i];
		char key[128], name[CARD_MIG_MAX];

		snprintf(name, sizeof(name), "%s", profile->name);
		for (char *at = name; (at = strchr(at, '+'));)
			*at = '.';
		snprintf(key, sizeof(key), MIG_PREFIX "%s.count", name);
		uint64_t count = label_number(node, key);
		if (!count || count > COUNT_MAX)
			continue;
		ret->profiles[ret->count] = profile;
		ret->counts[ret->count++] = count;
	}
}

/* Each of the last CARDS gets its even share, and whoever has room the rest. */
static int layout_spread(const struct node_source *from, const struct mig_model *model,
			 struct layout *layout, size_t cards)
{
	struct inventory *inventory = &from->node->inventory;
	size_t first = inventory->card_count - cards;

	for (size_t i = 0; i < cards; i++) {
		struct card *card = &inventory->cards[first + i];
		struct mig_use use = { 0 };

		card->mode = CARD_MODE_MIG;
		card->mig_enabled = true;
		for (size_t k = 0; k < layout->count; k++) {
			uint64_t share = (layout->counts[k] + cards - i - 1) / (cards - i);

			while (share-- && layout->counts[k] &&
			       mig_use_choose(model, &use, layout->profiles[k], NULL) >= 0) {
				if (!add_instance(card, model, &use, layout->profiles[k]))
					return -ENOMEM;
				layout->counts[k]--;
			}
		}
	}
	from->reading->layout_worked = true;
	for (size_t k = 0; k < layout->count; k++)
		if (layout->counts[k])
			node_problem(from, "%ju instances %s do not fit on %zu cards",
				     (uintmax_t)layout->counts[k], layout->profiles[k]->name,
				     cards);
	return 1;
}

/* mig.strategy=mixed: what nvidia.com/gpu does not count has instances. */
static int add_layout(const struct node_source *from, const char *name)
{
	const struct mig_model *model = mig_model_find(name);
	size_t cards = from->node->inventory.card_count;
	uint64_t whole = (uint64_t)node_amount(from->capacity, "nvidia.com/gpu");
	struct layout layout = { .count = 0 };

	if (!model)
		return 1;
	layout_read(from->node, model, &layout);
	if (!layout.count || whole >= cards)
		return 1;
	return layout_spread(from, model, &layout, cards - (size_t)whole);
}

int node_read_labels(const struct node_source *from)
{
	char model[CARD_MODEL_MAX], profile[CARD_MIG_MAX];
	uint64_t count = label_number(from->node, PREFIX "gpu.count");
	uint64_t mib = label_number(from->node, PREFIX "gpu.memory");
	const char *capable = node_spec_label(from->node, PREFIX "mig.capable");
	int r = 1;

	read_product(from->node, model, profile);
	if (!count || count > COUNT_MAX || !model[0])
		return 0;
	if (profile[0])
		return add_single(from, model, profile, count);
	for (uint64_t i = 0; i < count; i++) {
		struct card *card = NULL;

		if (add_card(from, model, mib, &card) < 0)
			return -ENOMEM;
		if (card)
			card->mig_capable = capable && strcmp(capable, "true") == 0;
	}
	const char *strategy = node_spec_label(from->node, PREFIX "mig.strategy");
	if (strategy && strcmp(strategy, "mixed") == 0)
		r = add_layout(from, model);
	return r;
}

enum node_sharing node_sharing(const struct node_spec *node, char *ret_profile, unsigned *ret_count)
{
	char model[CARD_MODEL_MAX], profile[CARD_MIG_MAX];
	const struct inventory *inventory = &node->inventory;
	uint64_t replicas = label_number(node, PREFIX "gpu.replicas");

	if (!inventory->card_count)
		return NODE_SHARING_NONE;
	read_product(node, model, profile);
	if (profile[0] && inventory->cards[0].mode == CARD_MODE_MIG) {
		memcpy(ret_profile, profile, CARD_MIG_MAX);
		*ret_count = (unsigned)inventory->cards[0].mig_count;
		return NODE_SHARING_MIG;
	}
	if (replicas < 2 || replicas > 100)
		return NODE_SHARING_NONE;
	*ret_count = (unsigned)replicas;
	return NODE_SHARING_REPLICAS;
}
