/* SPDX-License-Identifier: Apache-2.0 */
#include "mig.h"

#include <string.h>

#include "abi/nvml_mig.h"

/*
 * Source: NVIDIA MIG User Guide (names, engines, instances; outputs of `nvidia-smi mig -lgip` and -lgipp with
 * profile IDs, memory, multiprocessors) of such a card; NVIDIA/go-nvml, pkg/nvml/mock/gpus (Apache-2.0), for the
 * numbers of NVML and where no output of the card is public. Multiprocessors of an H200 are an H100's.
 *
 * How to add a card: a table, a row in mig_tables, the card's name in profile.c.
 */
#define P(name) NVML_GPU_INSTANCE_PROFILE_##name
#define S1                          \
	7,                          \
	{                           \
		0, 1, 2, 3, 4, 5, 6 \
	}
#define S1_BIG             \
	4,                 \
	{                  \
		0, 2, 4, 6 \
	}
#define S2              \
	3,              \
	{               \
		0, 2, 4 \
	}
#define S3           \
	2,           \
	{            \
		0, 4 \
	}
#define S4        \
	1,        \
	{         \
		0 \
	}
#define S7        \
	1,        \
	{         \
		0 \
	}

/* name, number, ID, compute slices, memory slices, most, MiB, SM, copy, decoders, JPEG, OFA, starts */
static const struct mig_gpu_profile a30[] = {
	{ "1g.6gb", P(1_SLICE), 14, 1, 1, 4, 5952, 14, 1, 1, 0, 0, 4, { 0, 1, 2, 3 } },
	{ "1g.6gb+me", P(1_SLICE_REV1), 21, 1, 1, 1, 5952, 14, 1, 1, 1, 1, 4, { 0, 1, 2, 3 } },
	{ "2g.12gb", P(2_SLICE), 5, 2, 2, 2, 11968, 28, 2, 2, 0, 0, 2, { 0, 2 } },
	{ "2g.12gb+me", P(2_SLICE_REV1), 6, 2, 2, 1, 11968, 28, 2, 2, 1, 1, 2, { 0, 2 } },
	{ "4g.24gb", P(4_SLICE), 0, 4, 4, 1, 24000, 56, 4, 4, 1, 1, 1, { 0 } },
};

static const struct mig_gpu_profile a100_40[] = {
	{ "1g.5gb", P(1_SLICE), 19, 1, 1, 7, 4864, 14, 1, 0, 0, 0, S1 },
	{ "1g.5gb+me", P(1_SLICE_REV1), 20, 1, 1, 1, 4864, 14, 1, 1, 1, 1, S1 },
	{ "1g.10gb", P(1_SLICE_REV2), 15, 1, 2, 4, 9984, 14, 1, 1, 0, 0, S1_BIG },
	{ "2g.10gb", P(2_SLICE), 14, 2, 2, 3, 9984, 28, 2, 1, 0, 0, S2 },
	{ "3g.20gb", P(3_SLICE), 9, 3, 4, 2, 20096, 42, 3, 2, 0, 0, S3 },
	{ "4g.20gb", P(4_SLICE), 5, 4, 4, 1, 20096, 56, 4, 2, 0, 0, S4 },
	{ "7g.40gb", P(7_SLICE), 0, 7, 8, 1, 40320, 98, 7, 5, 1, 1, S7 },
};

static const struct mig_gpu_profile a100_80[] = {
	{ "1g.10gb", P(1_SLICE), 19, 1, 1, 7, 9856, 14, 1, 0, 0, 0, S1 },
	{ "1g.10gb+me", P(1_SLICE_REV1), 20, 1, 1, 1, 9856, 14, 1, 1, 1, 1, S1 },
	{ "1g.20gb", P(1_SLICE_REV2), 15, 1, 2, 4, 19968, 14, 1, 1, 0, 0, S1_BIG },
	{ "2g.20gb", P(2_SLICE), 14, 2, 2, 3, 19968, 28, 2, 1, 0, 0, S2 },
	{ "3g.40gb", P(3_SLICE), 9, 3, 4, 2, 40192, 42, 3, 2, 0, 0, S3 },
	{ "4g.40gb", P(4_SLICE), 5, 4, 4, 1, 40192, 56, 4, 2, 0, 0, S4 },
	{ "7g.80gb", P(7_SLICE), 0, 7, 8, 1, 80384, 98, 7, 5, 1, 1, S7 },
};

static const struct mig_gpu_profile h100_80[] = {
	{ "1g.10gb", P(1_SLICE), 19, 1, 1, 7, 9984, 16, 1, 1, 1, 0, S1 },
	{ "1g.10gb+me", P(1_SLICE_REV1), 20, 1, 1, 1, 9984, 16, 1, 1, 1, 1, S1 },
	{ "1g.20gb", P(1_SLICE_REV2), 15, 1, 2, 4, 20096, 26, 1, 1, 1, 0, S1_BIG },
	{ "2g.20gb", P(2_SLICE), 14, 2, 2, 3, 20096, 32, 2, 2, 2, 0, S2 },
	{ "3g.40gb", P(3_SLICE), 9, 3, 4, 2, 40448, 60, 3, 3, 3, 0, S3 },
	{ "4g.40gb", P(4_SLICE), 5, 4, 4, 1, 40448, 64, 4, 4, 4, 0, S4 },
	{ "7g.80gb", P(7_SLICE), 0, 7, 8, 1, 81152, 132, 8, 7, 7, 1, S7 },
};

static const struct mig_gpu_profile h200[] = {
	{ "1g.18gb", P(1_SLICE), 19, 1, 1, 7, 16384, 16, 1, 1, 1, 0, S1 },
	{ "1g.18gb+me", P(1_SLICE_REV1), 20, 1, 1, 1, 16384, 16, 1, 1, 1, 1, S1 },
	{ "1g.35gb", P(1_SLICE_REV2), 15, 1, 2, 4, 33280, 26, 1, 1, 1, 0, S1_BIG },
	{ "2g.35gb", P(2_SLICE), 14, 2, 2, 3, 33280, 32, 2, 2, 2, 0, S2 },
	{ "3g.71gb", P(3_SLICE), 9, 3, 4, 2, 72704, 60, 3, 3, 3, 0, S3 },
	{ "4g.71gb", P(4_SLICE), 5, 4, 4, 1, 72704, 64, 4, 4, 4, 0, S4 },
	{ "7g.141gb", P(7_SLICE), 0, 7, 8, 1, 143360, 132, 8, 7, 7, 1, S7 },
};

static const struct mig_gpu_profile b200[] = {
	{ "1g.23gb", P(1_SLICE), 19, 1, 1, 7, 20992, 18, 1, 1, 1, 0, S1 },
	{ "1g.23gb+me", P(1_SLICE_REV1), 20, 1, 1, 1, 20992, 18, 1, 1, 1, 1, S1 },
	{ "1g.45gb", P(1_SLICE_REV2), 15, 1, 2, 4, 45312, 18, 1, 1, 1, 0, S1_BIG },
	{ "2g.45gb", P(2_SLICE), 14, 2, 2, 3, 45312, 36, 2, 2, 2, 0, S2 },
	{ "3g.90gb", P(3_SLICE), 9, 3, 4, 2, 91136, 54, 3, 3, 3, 0, S3 },
	{ "4g.90gb", P(4_SLICE), 5, 4, 4, 1, 91136, 72, 4, 4, 4, 0, S4 },
	{ "7g.180gb", P(7_SLICE), 0, 7, 8, 1, 182784, 126, 7, 7, 7, 1, S7 },
};

#define TABLE(card, slices, memory, decoders, profiles)                \
	{                                                              \
		(card), (slices), (memory), (decoders), 1, (profiles), \
			sizeof(profiles) / sizeof((profiles)[0])       \
	}

const struct mig_table mig_tables[] = {
	TABLE("A30", 4, 4, 4, a30),         TABLE("A100-40", 7, 8, 5, a100_40),
	TABLE("A100-80", 7, 8, 5, a100_80), TABLE("H100-80", 7, 8, 7, h100_80),
	TABLE("H200", 7, 8, 7, h200),       TABLE("B200", 7, 8, 7, b200),
};

const size_t mig_table_count = sizeof(mig_tables) / sizeof(mig_tables[0]);

const struct mig_table *mig_table(uint32_t number)
{
	return number > 0 && number <= mig_table_count ? &mig_tables[number - 1] : NULL;
}

uint32_t mig_table_number(const char *card)
{
	for (uint32_t i = 0; card != NULL && i < mig_table_count; i++) {
		if (strcmp(mig_tables[i].card, card) == 0)
			return i + 1;
	}
	return 0;
}

const struct mig_gpu_profile *mig_profile_by_number(const struct mig_table *table, uint32_t number)
{
	for (size_t i = 0; i < table->profile_count; i++) {
		if (table->profiles[i].number == number)
			return &table->profiles[i];
	}
	return NULL;
}

const struct mig_gpu_profile *mig_profile_by_id(const struct mig_table *table, uint32_t id)
{
	for (size_t i = 0; i < table->profile_count; i++) {
		if (table->profiles[i].id == id)
			return &table->profiles[i];
	}
	return NULL;
}

const struct mig_gpu_profile *mig_profile_by_name(const struct mig_table *table, const char *name)
{
	for (size_t i = 0; i < table->profile_count; i++) {
		if (strcmp(table->profiles[i].name, name) == 0)
			return &table->profiles[i];
	}
	return NULL;
}

/* By NVML_COMPUTE_INSTANCE_PROFILE_*; the sizes that there are are those of GPU instances. */
static const uint8_t compute_slices[MIG_COMPUTE_PROFILES] = { 1, 2, 3, 4, 7, 0, 6, 1, 7 };

uint32_t mig_compute_slices(const struct mig_gpu_profile *gpu, uint32_t compute_profile)
{
	uint32_t slices;

	if (compute_profile >= MIG_COMPUTE_PROFILES ||
	    compute_profile == NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1)
		return 0;
	slices = compute_slices[compute_profile];
	/* Four slices have no part of three (MIG User Guide, compute instance profiles). */
	if (slices > gpu->slices || (slices == 3 && gpu->slices == 4))
		return 0;
	return slices;
}

uint32_t mig_compute_most(const struct mig_gpu_profile *gpu, uint32_t slices)
{
	return slices == 0 ? 0 : gpu->slices / slices;
}
