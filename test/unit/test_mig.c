/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "model/model.h"

/* Names as NVML or node labels have them, and the profile that takes the whole card. */
static const struct {
	const char *card, *whole;
} cards[] = {
	{ "NVIDIA A30", "4g.24gb" },
	{ "A30", "4g.24gb" },
	{ "NVIDIA A30-PCIE-24GB", "4g.24gb" },
	{ "NVIDIA A100-SXM4-40GB", "7g.40gb" },
	{ "NVIDIA A100-PCIE-40GB", "7g.40gb" },
	{ "A100-SXM4-40GB", "7g.40gb" },
	{ "NVIDIA A800 40GB Active", "7g.40gb" },
	{ "NVIDIA A100-SXM4-80GB", "7g.80gb" },
	{ "NVIDIA A100 80GB PCIe", "7g.80gb" },
	{ "NVIDIA-A100-80GB-PCIe", "7g.80gb" },
	{ "NVIDIA A800-SXM4-80GB", "7g.80gb" },
	{ "NVIDIA H100 80GB HBM3", "7g.80gb" },
	{ "NVIDIA-H100-80GB-HBM3", "7g.80gb" },
	{ "NVIDIA H100 PCIe", "7g.80gb" },
	{ "NVIDIA H800", "7g.80gb" },
	{ "NVIDIA H800 PCIe", "7g.80gb" },
	{ "NVIDIA H100 NVL", "7g.94gb" },
	{ "NVIDIA-H100-NVL", "7g.94gb" },
	{ "NVIDIA H800 NVL", "7g.94gb" },
	{ "NVIDIA GH200 480GB", "7g.96gb" },
	{ "NVIDIA H20", "7g.96gb" },
	{ "NVIDIA GH200 144G HBM3e", "7g.144gb" },
	{ "NVIDIA H200", "7g.141gb" },
	{ "NVIDIA H200 NVL", "7g.141gb" },
	{ "NVIDIA B200", "7g.180gb" },
	{ "NVIDIA GB200", "7g.186gb" },
	{ "NVIDIA B300 SXM6 AC", "7g.269gb" },
	{ "NVIDIA GB300", "7g.278gb" },
	{ "NVIDIA RTX PRO 6000 Blackwell Server Edition", "4g.96gb" },
	{ "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "4g.96gb" },
	{ "NVIDIA-RTX-PRO-6000-Blackwell-Workstation-Edition", "4g.96gb" },
	{ "NVIDIA RTX A3000 Laptop GPU", NULL },
	{ "NVIDIA A300", NULL },
	{ "NVIDIA A10", NULL },
	{ "NVIDIA L40S", NULL },
	{ "Tesla V100-SXM2-32GB", NULL },
	{ "NVIDIA H20-3e", NULL },
	{ "NVIDIA A100", NULL },
	{ "", NULL },
};

TEST(models_by_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(cards); i++) {
		const struct mig_model *model = mig_model_find(cards[i].card);
		const struct mig_profile *profile;

		if (!cards[i].whole) {
			assert_null(model);
			continue;
		}
		assert_non_null(model);
		profile = mig_profile_find(model, cards[i].whole);
		assert_non_null(profile);
		assert_int_equal(profile->size, model->memory);
		assert_int_equal(profile->compute, model->compute);
		assert_int_equal(profile->decoders, model->decoders);
		assert_int_equal(profile->limit, 1);
	}
}

/* The most instances of PROFILE that stand side by side, by trying all sets of its places. */
static unsigned most_of(const struct mig_model *model, const struct mig_profile *profile)
{
	unsigned most = 0;

	for (unsigned set = 0; set < 1u << profile->start_count; set++) {
		struct mig_use use = { 0 };
		unsigned count = 0, i = 0;

		for (; i < profile->start_count; i++) {
			if (!(set >> i & 1))
				continue;
			if (!mig_use_takes(model, &use, profile, profile->starts[i]))
				break;
			mig_use_add(&use, profile, profile->starts[i]);
			count++;
		}
		if (i == profile->start_count && count > most)
			most = count;
	}
	return most;
}

static void check_profile(const struct mig_model *model, const struct mig_profile *profile)
{
	uint32_t card = (1u << model->memory) - 1;

	assert_in_range(profile->start_count, 1, MIG_PLACEMENTS_MAX);
	assert_in_range(profile->compute, 1, model->compute);
	assert_in_range(profile->size, 1, model->memory);
	assert_true(profile->memory_mib > 0);
	for (unsigned i = 0; i < profile->start_count; i++) {
		unsigned start = profile->starts[i];

		assert_true(i == 0 || start > profile->starts[i - 1]);
		assert_int_equal(mig_profile_mask(profile, start) & ~card, 0);
		assert_int_equal(__builtin_popcount(mig_profile_mask(profile, start)),
				 profile->size);
		assert_true(mig_profile_starts_at(profile, start));
	}
	assert_int_equal(most_of(model, profile), profile->limit);
	assert_int_equal((unsigned)(profile->name[0] - '0'), profile->compute);
	for (const struct mig_profile *other = model->profiles; other < profile; other++)
		assert_string_not_equal(other->name, profile->name);
}

TEST(every_place_is_on_the_card)
{
	unsigned count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(cards); i++) {
		const struct mig_model *model = mig_model_find(cards[i].card);

		for (size_t k = 0; model && k < model->profile_count; k++, count++)
			check_profile(model, &model->profiles[k]);
		if (model)
			assert_in_range(model->memory, 1, MIG_SLICES_MAX);
	}
	assert_true(count > 100);
}

static const struct {
	const char *card, *asked, *found;
} names[] = {
	{ "NVIDIA A100-SXM4-40GB", "1g.5gb", "1g.5gb" },
	{ "NVIDIA A100-SXM4-40GB", "1g.5gb+me", "1g.5gb+me" },
	{ "NVIDIA A100-SXM4-40GB", "1g.5gb.me", "1g.5gb+me" },
	{ "NVIDIA A100-SXM4-40GB", "1g.5gbme", NULL },
	{ "NVIDIA A100-SXM4-40GB", "1g.5gb.", NULL },
	{ "NVIDIA A100-SXM4-40GB", "1g.5", NULL },
	{ "NVIDIA A100-SXM4-40GB", "1g+5gb", NULL },
	{ "NVIDIA A100-SXM4-40GB", "1g.20gb", NULL },
	{ "NVIDIA A100-SXM4-40GB", "", NULL },
	{ "NVIDIA A100-SXM4-80GB", "1g.20gb", "1g.20gb" },
	{ "NVIDIA RTX PRO 6000 Blackwell Server Edition", "1g.24gb.me.all", "1g.24gb+me.all" },
	{ "NVIDIA RTX PRO 6000 Blackwell Server Edition", "1g.24gb+me.all", "1g.24gb+me.all" },
	{ "NVIDIA RTX PRO 6000 Blackwell Server Edition", "1g.24gb+me+all", NULL },
	{ "NVIDIA RTX PRO 6000 Blackwell Server Edition", "1g.24gb-me", "1g.24gb-me" },
	{ "NVIDIA RTX PRO 6000 Blackwell Server Edition", "1g.24gb.me", "1g.24gb+me" },
	{ "NVIDIA RTX PRO 6000 Blackwell Server Edition", "4g.96gb.gfx", "4g.96gb+gfx" },
};

TEST(profiles_by_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct mig_model *model = mig_model_find(names[i].card);
		const struct mig_profile *profile = mig_profile_find(model, names[i].asked);

		if (!names[i].found) {
			assert_null(profile);
			continue;
		}
		assert_non_null(profile);
		assert_string_equal(profile->name, names[i].found);
	}
}

#define A100 "NVIDIA A100-SXM4-40GB"
#define H100 "NVIDIA H100 80GB HBM3"
#define A30  "NVIDIA A30"
#define RTX  "NVIDIA RTX PRO 6000 Blackwell Server Edition"

/* Placed one after the other: "PROFILE@START", "PROFILE!START" for one that has no room. */
static const struct {
	const char *card;
	const char *steps[9];
} layouts[] = {
	{ A100, { "7g.40gb@0", "1g.5gb!6" } },
	{ A100, { "4g.20gb@0", "3g.20gb@4", "1g.5gb!4", "1g.10gb!6" } },
	{ A100, { "4g.20gb@0", "2g.10gb@4", "1g.5gb@6", "1g.10gb!6" } },
	{ A100, { "4g.20gb@0", "2g.10gb@4", "1g.10gb@6" } },
	{ A100, { "3g.20gb@0", "3g.20gb@4", "1g.5gb!6" } },
	{ A100, { "2g.10gb@0", "2g.10gb@2", "2g.10gb@4", "1g.5gb@6" } },
	{ A100, { "1g.10gb@0", "1g.10gb@2", "1g.10gb@4", "1g.10gb@6", "1g.5gb!1" } },
	{ A100,
	  { "1g.5gb@0", "1g.5gb@1", "1g.5gb@2", "1g.5gb@3", "1g.5gb@4", "1g.5gb@5", "1g.5gb@6" } },
	{ A100, { "1g.5gb+me@0", "1g.5gb+me!1", "1g.5gb@1", "4g.20gb!0", "3g.20gb@4" } },
	{ A100, { "3g.20gb@4", "4g.20gb@0", "7g.40gb!0" } },
	{ H100, { "3g.40gb@4", "2g.20gb@0", "1g.10gb@2", "1g.10gb@3", "1g.20gb!6" } },
	{ H100, { "1g.20gb@6", "2g.20gb@4", "4g.40gb@0", "1g.10gb!0" } },
	{ A30, { "2g.12gb+me@2", "2g.12gb+me!0", "1g.6gb+me!0", "1g.6gb@0", "1g.6gb@1" } },
	{ A30, { "1g.6gb@1", "2g.12gb!0", "2g.12gb@2", "4g.24gb!0" } },
	{ RTX, { "1g.24gb@3", "1g.24gb@6", "2g.48gb!0", "2g.48gb!6", "1g.24gb@0", "1g.24gb@9" } },
	{ RTX, { "1g.24gb+me.all@0", "1g.24gb!3", "1g.24gb-me@3", "2g.48gb-me@6" } },
	{ RTX, { "1g.24gb@0", "1g.24gb+me.all!3", "2g.48gb+gfx@6", "1g.24gb@3" } },
	{ RTX, { "4g.96gb+gfx@0", "1g.24gb-me!0" } },
};

TEST(instances_side_by_side)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct mig_model *model = mig_model_find(layouts[i].card);
		const struct mig_profile *placed[9];
		unsigned starts[9], count = 0;
		struct mig_use use = { 0 };

		for (size_t k = 0; layouts[i].steps[k]; k++) {
			const char *step = layouts[i].steps[k];
			size_t length = strcspn(step, "@!");
			unsigned start = (unsigned)(step[length + 1] - '0');
			char name[32] = "";
			const struct mig_profile *profile;

			memcpy(name, step, length);
			profile = mig_profile_find(model, name);
			assert_non_null(profile);
			assert_int_equal(mig_use_takes(model, &use, profile, start),
					 step[length] == '@');
			if (step[length] != '@')
				continue;
			assert_true(mig_profile_starts_at(profile, start));
			mig_use_add(&use, profile, start);
			placed[count] = profile;
			starts[count++] = start;
		}
		assert_true(count > 0);
		for (unsigned k = 0; k < count; k++)
			mig_use_remove(&use, placed[k], starts[k]);
		assert_memory_equal(&use, &(struct mig_use){ 0 }, sizeof(use));
	}
}

/* What is asked for one after the other, and where each comes; -1: nowhere. */
static const struct {
	const char *card;
	struct {
		const char *profile;
		int start;
	} steps[9];
} choices[] = {
	{ A100, { { "1g.5gb", 6 }, { "4g.20gb", 0 }, { "2g.10gb", 4 }, { "1g.5gb", -1 } } },
	{ A100, { { "3g.20gb", 4 }, { "4g.20gb", 0 }, { "1g.5gb", -1 } } },
	{ A100, { { "2g.10gb", 4 }, { "4g.20gb", 0 }, { "1g.5gb", 6 } } },
	{ A100, { { "1g.10gb", 6 }, { "2g.10gb", 4 }, { "4g.20gb", 0 } } },
	{ A100, { { "1g.5gb+me", 6 }, { "1g.5gb+me", -1 }, { "1g.5gb", 4 }, { "1g.5gb", 5 } } },
	{ A30, { { "1g.6gb", 0 }, { "1g.6gb", 1 }, { "2g.12gb", 2 }, { "1g.6gb", -1 } } },
	{ RTX, { { "1g.24gb", 0 }, { "1g.24gb", 3 }, { "2g.48gb", 6 }, { "1g.24gb", -1 } } },
};

TEST(places_are_kept_for_the_large)
{
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		const struct mig_model *model = mig_model_find(choices[i].card);
		struct mig_use use = { 0 };
		unsigned before = UINT32_MAX;

		for (size_t k = 0; choices[i].steps[k].profile; k++) {
			const struct mig_profile *profile =
				mig_profile_find(model, choices[i].steps[k].profile);
			int expected = choices[i].steps[k].start;
			unsigned left = 0;
			int start = mig_use_choose(model, &use, profile, &left);

			assert_int_equal(start, expected < 0 ? -ENOENT : expected);
			if (start < 0)
				continue;
			assert_true(left < before); /* each takes places from those to come */
			before = left;
			mig_use_add(&use, profile, (unsigned)start);
		}
	}
}
