/* SPDX-License-Identifier: Apache-2.0 */
/* Cards that become MIG, and which profile a slice asks for then. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/whatif.h"

#define AS_NEEDED "as-needed"

static int fail_layout(const char *text, struct error *error)
{
	return error_set(error, EINVAL,
			 "--mig '%.80s' is no layout; write for example h100=1g.10gb*7, "
			 "'*A100*=3g.40gb,2g.20gb*2' or h100=" AS_NEEDED,
			 text);
}

/* "1g.10gb*7" */
static int add_item(struct layout *layout, const char *text, size_t length)
{
	const char *star = memchr(text, '*', length);
	size_t name = star ? (size_t)(star - text) : length;
	char count[8] = "1";
	uint64_t number = 0;

	if (star)
		snprintf(count, sizeof(count), "%.*s", (int)(length - name - 1), star + 1);
	if (layout->count == LAYOUT_ITEMS_MAX || !name || name >= CARD_MIG_MAX ||
	    parse_uint(count, 1, CARD_MIG_ENTRIES, &number) < 0)
		return -EINVAL;
	memcpy(layout->items[layout->count].profile, text, name);
	layout->items[layout->count++].count = (unsigned)number;
	return 0;
}

static int read_layout(const char *text, struct layout *layout, struct error *error)
{
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : 0;

	layout->text = text;
	if (!equals || !length || length >= sizeof(layout->pattern))
		return fail_layout(text, error);
	memcpy(layout->pattern, text, length);
	if (strcmp(equals + 1, AS_NEEDED) == 0)
		return 0;
	for (const char *at = equals + 1;;) {
		size_t item = strcspn(at, ",");

		if (add_item(layout, at, item) < 0)
			return fail_layout(text, error);
		if (!at[item])
			return 0;
		at += item + 1;
	}
}

int whatif_read_layouts(struct builder *builder, struct error *error)
{
	const struct whatif_texts *texts = &builder->changes->mig;
	int r = 0;

	for (size_t i = 0; r == 0 && i < texts->count; i++) {
		struct layout *layout = VEC_ADD(&builder->layouts, &builder->layout_count,
						&builder->layout_capacity);

		r = layout ? read_layout(texts->items[i], layout, error) : error_no_memory(error);
	}
	return r;
}

/* One instance more where it spares most. */
static int add_instance(const struct layout *layout, const struct mig_model *model,
			const struct mig_profile *profile, struct mig_use *use, struct card *card,
			struct error *error)
{
	int start = mig_use_choose(model, use, profile, NULL);

	if (start < 0)
		return error_set(error, EINVAL,
				 "--mig %s: %s has no room for all of that; write fewer instances",
				 layout->text, card->model);
	struct card_mig *mig = VEC_ADD(&card->mig, &card->mig_count, &card->mig_capacity);
	if (!mig)
		return error_no_memory(error);
	snprintf(mig->profile, sizeof(mig->profile), "%s", profile->name);
	mig->start = (unsigned)start;
	mig_use_add(use, profile, (unsigned)start);
	return 0;
}

/* The largest first: the small ones fit into what is left. */
static int fill_card(const struct layout *layout, const struct mig_model *model, struct card *card,
		     struct error *error)
{
	struct mig_use use = { .slices = 0 };
	int r = 0;

	for (size_t i = 0; i < layout->count; i++)
		if (!mig_profile_find(model, layout->items[i].profile))
			return error_set(error, EINVAL,
					 "--mig %s: %s has no profile %s; see nvidia-smi mig -lgip",
					 layout->text, card->model, layout->items[i].profile);
	for (unsigned size = MIG_SLICES_MAX; r == 0 && size; size--)
		for (size_t i = 0; r == 0 && i < layout->count; i++) {
			const struct mig_profile *profile =
				mig_profile_find(model, layout->items[i].profile);

			for (unsigned k = 0;
			     profile->size == size && r == 0 && k < layout->items[i].count; k++)
				r = add_instance(layout, model, profile, &use, card, error);
		}
	return r;
}

static struct split *find_split(struct builder *builder, const struct layout *layout,
				const struct card *card)
{
	for (size_t i = 0; i < builder->split_count; i++)
		if (strcmp(builder->splits[i].model, card->model) == 0)
			return &builder->splits[i];
	struct split *split =
		VEC_ADD(&builder->splits, &builder->split_count, &builder->split_capacity);
	if (!split)
		return NULL;
	split->layout = layout;
	split->mib = card->memory_bytes >> 20;
	split->mig = mig_model_find(card->model);
	memcpy(split->model, card->model, sizeof(split->model));
	return split;
}

static int split_card(struct builder *builder, const struct layout *layout, struct card *card,
		      struct error *error)
{
	const struct mig_model *model = mig_model_find(card->model);

	if (!model)
		return error_set(error, EINVAL,
				 "--mig %s: no MIG profiles of %s are known; name another model",
				 layout->text, card->model);
	struct split *split = find_split(builder, layout, card);
	if (!split)
		return error_no_memory(error);
	split->cards++;
	free(TAKE_PTR(card->mig));
	card->mig_count = card->mig_capacity = 0;
	card->mode = CARD_MODE_MIG;
	card->mig_capable = card->mig_enabled = true;
	return fill_card(layout, model, card, error);
}

int whatif_split_cards(struct builder *builder, struct node_spec *node, bool *ret_changed,
		       struct error *error)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < node->inventory.card_count; i++) {
		struct card *card = &node->inventory.cards[i];
		const struct layout *layout = NULL;

		for (size_t k = 0; k < builder->layout_count && !layout; k++)
			if (whatif_is_model(builder->layouts[k].pattern, card->model))
				layout = &builder->layouts[k];
		if (!layout)
			continue;
		*ret_changed = true;
		r = split_card(builder, layout, card, error);
	}
	return r;
}

int whatif_say_layouts(struct builder *builder, struct error *error)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < builder->layout_count; i++) {
		const struct layout *layout = &builder->layouts[i];
		bool found = false;

		for (size_t k = 0; r == 0 && k < builder->split_count; k++) {
			const struct split *split = &builder->splits[k];

			if (split->layout != layout)
				continue;
			found = true;
			r = whatif_say(builder, error, "Cards of %s in mode MIG now: %zu with %s.",
				       split->model, split->cards, strchr(layout->text, '=') + 1);
		}
		if (r == 0 && !found)
			r = error_set(
				error, EINVAL,
				"--mig %s: no card's model is %s; see 'sim fragments' for the "
				"models of this cluster",
				layout->text, layout->pattern);
	}
	return r;
}

static bool accepts(const struct request *request, const char *model)
{
	bool accepted = !request->models.count;

	for (size_t i = 0; i < request->models.count; i++)
		accepted = accepted || parse_glob(request->models.items[i], model);
	for (size_t i = 0; i < request->not_models.count; i++)
		accepted = accepted && !parse_glob(request->not_models.items[i], model);
	return accepted;
}

static bool holds(const struct split *split, const struct mig_profile *profile,
		  const struct request *request)
{
	uint64_t wanted =
		request->memory_mib ? request->memory_mib : (uint64_t)request->units * MIB_PER_UNIT;

	if (request->memory_percent)
		wanted = split->mib * request->memory_percent / 100;
	return profile->memory_mib >= wanted &&
	       profile->compute * 100 >= request->compute_percent * split->mig->compute;
}

/* Is PROFILE on the cards? As needed those without a choice of media engines are. */
static bool has_profile(const struct split *split, const struct mig_profile *profile)
{
	for (size_t i = 0; i < split->layout->count; i++)
		if (mig_profile_find(split->mig, split->layout->items[i].profile) == profile)
			return true;
	return !split->layout->count && !strpbrk(profile->name, "+-");
}

const struct mig_profile *whatif_find_profile(const struct builder *builder,
					      const struct request *request)
{
	const struct mig_profile *best = NULL;

	for (size_t i = 0; i < builder->split_count; i++) {
		const struct split *split = &builder->splits[i];

		if (!accepts(request, split->model))
			continue;
		for (size_t k = 0; k < split->mig->profile_count; k++) {
			const struct mig_profile *profile = &split->mig->profiles[k];

			if (has_profile(split, profile) && holds(split, profile, request) &&
			    (!best || profile->memory_mib < best->memory_mib ||
			     (profile->memory_mib == best->memory_mib &&
			      profile->compute < best->compute)))
				best = profile;
		}
	}
	return best;
}
