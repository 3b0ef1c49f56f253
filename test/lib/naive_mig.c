/* SPDX-License-Identifier: Apache-2.0 */
#include "naive_mig.h"

#include <string.h>

#define INSTANCES_MAX (2 * MIG_SLICES_MAX)

const struct mig_profile *naive_profile(const struct card *card, const char *name)
{
	const struct mig_model *model = mig_model_find(card->model);

	for (size_t i = 0; model && i < model->profile_count; i++)
		if (strcmp(model->profiles[i].name, name) == 0)
			return &model->profiles[i];
	return NULL;
}

static bool is_start(const struct mig_profile *profile, unsigned start)
{
	for (unsigned i = 0; i < profile->start_count; i++)
		if (profile->starts[i] == start)
			return true;
	return false;
}

/* A layout is fixed where the card lists instances; each of those serves one at a time. */
static bool is_listed(const struct card *card, const struct naive_instance *instance)
{
	for (size_t i = 0; i < card->mig_count; i++)
		if (strcmp(card->mig[i].profile, instance->profile->name) == 0 &&
		    card->mig[i].start == instance->start)
			return true;
	return card->mig_count == 0 || card->mode != CARD_MODE_MIG;
}

static bool overlap(const struct naive_instance *a, const struct naive_instance *b)
{
	return a->start < b->start + b->profile->size && b->start < a->start + a->profile->size;
}

bool naive_instances_fit(const struct card *card, const struct naive_instance *instances,
			 size_t count)
{
	const struct mig_model *model = mig_model_find(card->model);
	unsigned compute = 0, decoders = 0, ofa = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_start(instances[i].profile, instances[i].start) ||
		    !is_listed(card, &instances[i]))
			return false;
		for (size_t k = 0; k < i; k++)
			if (overlap(&instances[i], &instances[k]))
				return false;
		compute += instances[i].profile->compute;
		decoders += instances[i].profile->decoders;
		ofa += instances[i].profile->ofa;
	}
	return compute <= model->compute && decoders <= model->decoders && ofa <= model->ofa;
}

unsigned naive_mig_room(const struct card *card, const struct mig_profile *profile,
			const struct naive_instance *held, size_t count)
{
	unsigned most = 0;

	for (unsigned set = 0; set < 1u << profile->start_count; set++) {
		struct naive_instance all[INSTANCES_MAX];
		unsigned added = 0;

		if (count)
			memcpy(all, held, count * sizeof(*held));
		for (unsigned i = 0; i < profile->start_count; i++)
			if (set >> i & 1)
				all[count + added++] =
					(struct naive_instance){ profile, profile->starts[i] };
		if (added > most && naive_instances_fit(card, all, count + added))
			most = added;
	}
	return most;
}

unsigned naive_free_slices(const struct card *card, const struct naive_instance *held, size_t count)
{
	const struct mig_model *model = mig_model_find(card->model);
	unsigned free = model ? model->memory : 0;

	for (size_t i = 0; i < count; i++)
		free -= held[i].profile->size;
	return free;
}

unsigned naive_places(const struct card *card, const struct naive_instance *held, size_t count)
{
	const struct mig_model *model = mig_model_find(card->model);
	struct naive_instance all[INSTANCES_MAX];
	unsigned places = 0;

	if (count)
		memcpy(all, held, count * sizeof(*held));
	for (size_t i = 0; i < model->profile_count; i++) {
		const struct mig_profile *profile = &model->profiles[i];

		for (unsigned k = 0; k < profile->start_count; k++) {
			all[count] = (struct naive_instance){ profile, profile->starts[k] };
			if (naive_instances_fit(card, all, count + 1))
				places += profile->size;
		}
	}
	return places;
}
