/* SPDX-License-Identifier: Apache-2.0 */
#include "model/mig.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"

/*
 * Sources, by the number that stands at each table:
 *  [1] NVIDIA Multi-Instance GPU User Guide, "Supported MIG Profiles" (r580 and later): names,
 *      fractions, media engines, instances. docs.nvidia.com/datacenter/tesla/mig-user-guide
 *  [2] The same guide, "Getting Started with MIG", and printed outputs of `nvidia-smi mig -lgip`
 *      (memory, engines) and `nvidia-smi mig -lgipp` (placements) of such a card.
 *  [3] NVIDIA/go-nvml, pkg/nvml/mock/gpus (Apache-2.0): memory of each profile.
 *  [4] NVIDIA/mig-parted, deployments/systemd/config-default.yaml (Apache-2.0): names and
 *      instances of each, which card models share them.
 *  [5] NVIDIA/k8s-test-infra, nvml-mock profiles (Apache-2.0): the placements of every card of
 *      seven compute slices are the same, whatever its memory.
 * Where no output of a driver is public, the memory is what the name says.
 */
#define AT(...) { __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ })

/* Cards of seven compute and eight memory slices: {0..6}:1, {0,2,4,6}:2, {0,2,4}:2, {0,4}:4. */
#define AT_1  AT(0, 1, 2, 3, 4, 5, 6)
#define AT_1D AT(0, 2, 4, 6) /* one compute slice with the memory of two */
#define AT_2  AT(0, 2, 4)
#define AT_3  AT(0, 4)
#define AT_4  AT(0)
#define AT_7  AT(0)

/* [1] [2] A30: {0,1,2,3}:1, {0,2}:2, {0}:4. */
static const struct mig_profile a30[] = {
	{ "1g.6gb", 1, 1, 5952, 4, 1, 0, AT(0, 1, 2, 3) },
	{ "1g.6gb+me", 1, 1, 5952, 1, 1, 1, AT(0, 1, 2, 3) },
	{ "2g.12gb", 2, 2, 11968, 2, 2, 0, AT(0, 2) },
	{ "2g.12gb+me", 2, 2, 11968, 1, 2, 1, AT(0, 2) },
	{ "4g.24gb", 4, 4, 24000, 1, 4, 1, AT(0) },
};

/* [1] [2] A100 and A800 of 40 GB. */
static const struct mig_profile a100_40[] = {
	{ "1g.5gb", 1, 1, 4864, 7, 0, 0, AT_1 },   { "1g.5gb+me", 1, 1, 4864, 1, 1, 1, AT_1 },
	{ "1g.10gb", 1, 2, 9984, 4, 1, 0, AT_1D }, { "2g.10gb", 2, 2, 9984, 3, 1, 0, AT_2 },
	{ "3g.20gb", 3, 4, 20096, 2, 2, 0, AT_3 }, { "4g.20gb", 4, 4, 20096, 1, 2, 0, AT_4 },
	{ "7g.40gb", 7, 8, 40320, 1, 5, 1, AT_7 },
};

/* [1] [3] [4] A100 and A800 of 80 GB; the engines are those of 40 GB. */
static const struct mig_profile a100_80[] = {
	{ "1g.10gb", 1, 1, 9856, 7, 0, 0, AT_1 },   { "1g.10gb+me", 1, 1, 9856, 1, 1, 1, AT_1 },
	{ "1g.20gb", 1, 2, 19968, 4, 1, 0, AT_1D }, { "2g.20gb", 2, 2, 19968, 3, 1, 0, AT_2 },
	{ "3g.40gb", 3, 4, 40192, 2, 2, 0, AT_3 },  { "4g.40gb", 4, 4, 40192, 1, 2, 0, AT_4 },
	{ "7g.80gb", 7, 8, 80384, 1, 5, 1, AT_7 },
};

/* [1] [2] H100 and H800 of 80 GB. */
static const struct mig_profile h100_80[] = {
	{ "1g.10gb", 1, 1, 9984, 7, 1, 0, AT_1 },   { "1g.10gb+me", 1, 1, 9984, 1, 1, 1, AT_1 },
	{ "1g.20gb", 1, 2, 20096, 4, 1, 0, AT_1D }, { "2g.20gb", 2, 2, 20096, 3, 2, 0, AT_2 },
	{ "3g.40gb", 3, 4, 40448, 2, 3, 0, AT_3 },  { "4g.40gb", 4, 4, 40448, 1, 4, 0, AT_4 },
	{ "7g.80gb", 7, 8, 81152, 1, 7, 1, AT_7 },
};

/* [1] [2] H100 NVL and others of 94 GB. */
static const struct mig_profile h100_94[] = {
	{ "1g.12gb", 1, 1, 11008, 7, 1, 0, AT_1 },  { "1g.12gb+me", 1, 1, 11008, 1, 1, 1, AT_1 },
	{ "1g.24gb", 1, 2, 22144, 4, 1, 0, AT_1D }, { "2g.24gb", 2, 2, 22144, 3, 2, 0, AT_2 },
	{ "3g.47gb", 3, 4, 47488, 2, 3, 0, AT_3 },  { "4g.47gb", 4, 4, 47488, 1, 4, 0, AT_4 },
	{ "7g.94gb", 7, 8, 95360, 1, 7, 1, AT_7 },
};

/* [1] [2] H100 of 96 GB, also in GH200; [4] the same names on H20. */
static const struct mig_profile h100_96[] = {
	{ "1g.12gb", 1, 1, 11264, 7, 1, 0, AT_1 },  { "1g.12gb+me", 1, 1, 11264, 1, 1, 1, AT_1 },
	{ "1g.24gb", 1, 2, 23552, 4, 1, 0, AT_1D }, { "2g.24gb", 2, 2, 23552, 3, 2, 0, AT_2 },
	{ "3g.48gb", 3, 4, 47616, 2, 3, 0, AT_3 },  { "4g.48gb", 4, 4, 47616, 1, 4, 0, AT_4 },
	{ "7g.96gb", 7, 8, 95232, 1, 7, 1, AT_7 },
};

/* [1] [2] H200; the memory of 3g and 4g is [3]'s. */
static const struct mig_profile h200[] = {
	{ "1g.18gb", 1, 1, 16384, 7, 1, 0, AT_1 },   { "1g.18gb+me", 1, 1, 16384, 1, 1, 1, AT_1 },
	{ "1g.35gb", 1, 2, 33280, 4, 1, 0, AT_1D },  { "2g.35gb", 2, 2, 33280, 3, 2, 0, AT_2 },
	{ "3g.71gb", 3, 4, 72704, 2, 3, 0, AT_3 },   { "4g.71gb", 4, 4, 72704, 1, 4, 0, AT_4 },
	{ "7g.141gb", 7, 8, 143360, 1, 7, 1, AT_7 },
};

/* [4] [5] GH200 with 144 GB of HBM3e. */
static const struct mig_profile gh200_144[] = {
	{ "1g.18gb", 1, 1, 18432, 7, 1, 0, AT_1 },   { "1g.18gb+me", 1, 1, 18432, 1, 1, 1, AT_1 },
	{ "1g.36gb", 1, 2, 36864, 4, 1, 0, AT_1D },  { "2g.36gb", 2, 2, 36864, 3, 2, 0, AT_2 },
	{ "3g.72gb", 3, 4, 73728, 2, 3, 0, AT_3 },   { "4g.72gb", 4, 4, 73728, 1, 4, 0, AT_4 },
	{ "7g.144gb", 7, 8, 147456, 1, 7, 1, AT_7 },
};

/* [1] [2] B200. */
static const struct mig_profile b200[] = {
	{ "1g.23gb", 1, 1, 20992, 7, 1, 0, AT_1 },   { "1g.23gb+me", 1, 1, 20992, 1, 1, 1, AT_1 },
	{ "1g.45gb", 1, 2, 45312, 4, 1, 0, AT_1D },  { "2g.45gb", 2, 2, 45312, 3, 2, 0, AT_2 },
	{ "3g.90gb", 3, 4, 91136, 2, 3, 0, AT_3 },   { "4g.90gb", 4, 4, 91136, 1, 4, 0, AT_4 },
	{ "7g.180gb", 7, 8, 182784, 1, 7, 1, AT_7 },
};

/* [4] [5] GB200. */
static const struct mig_profile gb200[] = {
	{ "1g.23gb", 1, 1, 23808, 7, 1, 0, AT_1 },   { "1g.23gb+me", 1, 1, 23808, 1, 1, 1, AT_1 },
	{ "1g.47gb", 1, 2, 47616, 4, 1, 0, AT_1D },  { "2g.47gb", 2, 2, 47616, 3, 2, 0, AT_2 },
	{ "3g.93gb", 3, 4, 95232, 2, 3, 0, AT_3 },   { "4g.93gb", 4, 4, 95232, 1, 4, 0, AT_4 },
	{ "7g.186gb", 7, 8, 190464, 1, 7, 1, AT_7 },
};

/* [4] [5] B300. */
static const struct mig_profile b300[] = {
	{ "1g.34gb", 1, 1, 34816, 7, 1, 0, AT_1 },   { "1g.34gb+me", 1, 1, 34816, 1, 1, 1, AT_1 },
	{ "1g.67gb", 1, 2, 68608, 4, 1, 0, AT_1D },  { "2g.67gb", 2, 2, 68608, 3, 2, 0, AT_2 },
	{ "3g.135gb", 3, 4, 138240, 2, 3, 0, AT_3 }, { "4g.135gb", 4, 4, 138240, 1, 4, 0, AT_4 },
	{ "7g.269gb", 7, 8, 275456, 1, 7, 1, AT_7 },
};

/* [4] [5] GB300. */
static const struct mig_profile gb300[] = {
	{ "1g.35gb", 1, 1, 35584, 7, 1, 0, AT_1 },   { "1g.35gb+me", 1, 1, 35584, 1, 1, 1, AT_1 },
	{ "1g.70gb", 1, 2, 71168, 4, 1, 0, AT_1D },  { "2g.70gb", 2, 2, 71168, 3, 2, 0, AT_2 },
	{ "3g.139gb", 3, 4, 142336, 2, 3, 0, AT_3 }, { "4g.139gb", 4, 4, 142336, 1, 4, 0, AT_4 },
	{ "7g.278gb", 7, 8, 284672, 1, 7, 1, AT_7 },
};

/* [1] [2] RTX PRO 6000 Blackwell, all editions: {0,3,6,9}:3, {0,6}:6, {0}:12. */
static const struct mig_profile rtx_pro_6000[] = {
	{ "1g.24gb", 1, 3, 24192, 4, 1, 0, AT(0, 3, 6, 9) },
	{ "1g.24gb+me", 1, 3, 24192, 1, 1, 1, AT(0, 3, 6, 9) },
	{ "1g.24gb+gfx", 1, 3, 24192, 4, 1, 0, AT(0, 3, 6, 9) },
	{ "1g.24gb+me.all", 1, 3, 24192, 1, 4, 1, AT(0, 3, 6, 9) },
	{ "1g.24gb-me", 1, 3, 24192, 4, 0, 0, AT(0, 3, 6, 9) },
	{ "2g.48gb", 2, 6, 48512, 2, 2, 0, AT(0, 6) },
	{ "2g.48gb+gfx", 2, 6, 48512, 2, 2, 0, AT(0, 6) },
	{ "2g.48gb+me.all", 2, 6, 48512, 1, 4, 1, AT(0, 6) },
	{ "2g.48gb-me", 2, 6, 48512, 2, 0, 0, AT(0, 6) },
	{ "4g.96gb", 4, 12, 97280, 1, 4, 1, AT(0) },
	{ "4g.96gb+gfx", 4, 12, 97280, 1, 4, 1, AT(0) },
};

#define MODEL(pattern, compute, memory, decoders, table)                                  \
	{                                                                                 \
		(pattern), (compute), (memory), (decoders), 1, (table), ARRAY_SIZE(table) \
	}

/*
 * The first pattern that fits counts. Names as NVML has them ("NVIDIA A100-SXM4-80GB"), and as
 * node labels have them, with '-' for blanks. A name that leaves the memory open ("A100") is
 * unknown. B100, RTX PRO 5000 and 4500: no public placements.
 */
static const struct mig_model models[] = {
	MODEL("*A30", 4, 4, 4, a30),
	MODEL("*A30?PCIE*", 4, 4, 4, a30),
	MODEL("*A100*40GB*", 7, 8, 5, a100_40),
	MODEL("*A800*40GB*", 7, 8, 5, a100_40),
	MODEL("*A100*80GB*", 7, 8, 5, a100_80),
	MODEL("*A800*80GB*", 7, 8, 5, a100_80),
	MODEL("*H100?NVL*", 7, 8, 7, h100_94),
	MODEL("*H800?NVL*", 7, 8, 7, h100_94),
	MODEL("*H100*94GB*", 7, 8, 7, h100_94),
	MODEL("*H100*96GB*", 7, 8, 7, h100_96),
	MODEL("*H20", 7, 8, 7, h100_96),
	MODEL("*H100*80GB*", 7, 8, 7, h100_80),
	MODEL("*H800*80GB*", 7, 8, 7, h100_80),
	MODEL("*H100?PCIE*", 7, 8, 7, h100_80), /* 80 GB, which its name does not say */
	MODEL("*H800?PCIE*", 7, 8, 7, h100_80),
	MODEL("*H800", 7, 8, 7, h100_80),
	MODEL("*GH200*144G*", 7, 8, 7, gh200_144),
	MODEL("*GH200*", 7, 8, 7, h100_96), /* the number in its name is the host's memory */
	MODEL("*H200*", 7, 8, 7, h200),
	MODEL("*GB200*", 7, 8, 7, gb200),
	MODEL("*B200*", 7, 8, 7, b200),
	MODEL("*GB300*", 7, 8, 7, gb300),
	MODEL("*B300*", 7, 8, 7, b300),
	MODEL("*RTX?PRO?6000?Blackwell*", 4, 12, 4, rtx_pro_6000),
};

const struct mig_model *mig_model_find(const char *card_model)
{
	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (parse_glob(models[i].pattern, card_model))
			return &models[i];
	return NULL;
}

/* The first '.' behind the memory, which a resource name has where NVML has '+'. */
static bool same_name(const char *profile, const char *name)
{
	const char *plus = strchr(profile, '+');
	size_t before = plus ? (size_t)(plus - profile) : 0;

	if (strcmp(profile, name) == 0)
		return true;
	return plus && strncmp(profile, name, before) == 0 && name[before] == '.' &&
	       strcmp(plus + 1, name + before + 1) == 0;
}

const struct mig_profile *mig_profile_find(const struct mig_model *model, const char *name)
{
	for (size_t i = 0; i < model->profile_count; i++)
		if (same_name(model->profiles[i].name, name))
			return &model->profiles[i];
	return NULL;
}

uint16_t mig_profile_mask(const struct mig_profile *profile, unsigned start)
{
	return (uint16_t)(((1u << profile->size) - 1) << start);
}

bool mig_profile_starts_at(const struct mig_profile *profile, unsigned start)
{
	for (unsigned i = 0; i < profile->start_count; i++)
		if (profile->starts[i] == start)
			return true;
	return false;
}

unsigned mig_profile_milli(const struct mig_model *model, const struct mig_profile *profile)
{
	return profile->size * 1000 / model->memory;
}

bool mig_use_takes(const struct mig_model *model, const struct mig_use *use,
		   const struct mig_profile *profile, unsigned start)
{
	return !(use->slices & mig_profile_mask(profile, start)) &&
	       use->compute + profile->compute <= model->compute &&
	       use->decoders + profile->decoders <= model->decoders &&
	       use->ofa + profile->ofa <= model->ofa;
}

void mig_use_add(struct mig_use *use, const struct mig_profile *profile, unsigned start)
{
	use->slices = (uint16_t)(use->slices | mig_profile_mask(profile, start));
	use->compute = (uint8_t)(use->compute + profile->compute);
	use->decoders = (uint8_t)(use->decoders + profile->decoders);
	use->ofa = (uint8_t)(use->ofa + profile->ofa);
}

void mig_use_remove(struct mig_use *use, const struct mig_profile *profile, unsigned start)
{
	use->slices = (uint16_t)(use->slices & ~mig_profile_mask(profile, start));
	use->compute = (uint8_t)(use->compute - profile->compute);
	use->decoders = (uint8_t)(use->decoders - profile->decoders);
	use->ofa = (uint8_t)(use->ofa - profile->ofa);
}

unsigned mig_use_places(const struct mig_model *model, const struct mig_use *use)
{
	unsigned left = 0;

	for (size_t i = 0; i < model->profile_count; i++) {
		const struct mig_profile *profile = &model->profiles[i];

		for (unsigned k = 0; k < profile->start_count; k++)
			if (mig_use_takes(model, use, profile, profile->starts[k]))
				left += profile->size;
	}
	return left;
}

int mig_use_choose(const struct mig_model *model, const struct mig_use *use,
		   const struct mig_profile *profile, unsigned *ret_left)
{
	int best = -ENOENT;
	unsigned most = 0;

	for (unsigned i = 0; i < profile->start_count; i++) {
		struct mig_use then = *use;
		unsigned left;

		if (!mig_use_takes(model, use, profile, profile->starts[i]))
			continue;
		mig_use_add(&then, profile, profile->starts[i]);
		left = mig_use_places(model, &then);
		if (best < 0 || left > most) {
			best = profile->starts[i];
			most = left;
		}
	}
	if (best >= 0 && ret_left)
		*ret_left = most;
	return best;
}
