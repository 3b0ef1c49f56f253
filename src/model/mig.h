/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MIG: which profiles a card model has and where NVML can place each. A placement is a run of
 * memory slices: two instances exist side by side when their runs do not overlap, and all their
 * compute slices together are no more than the card has. Source: NVIDIA MIG User Guide (profiles
 * and placements of each model), nvmlDeviceGetGpuInstancePossiblePlacements().
 *
 * How to add a card model: its table in mig.c, a row in MODELS there, cases in test_mig.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIG_SLICES_MAX     8 /* memory slices of a card */
#define MIG_PLACEMENTS_MAX 8

struct mig_profile {
	const char *name;                   /* "1g.10gb", "1g.10gb+me" */
	unsigned compute;                   /* compute slices */
	unsigned size;                      /* memory slices */
	unsigned memory_mib;                /* as NVML says */
	unsigned limit;                     /* instances of it on one card at the same time */
	uint8_t starts[MIG_PLACEMENTS_MAX]; /* first memory slices, rising */
	unsigned start_count;
};

struct mig_model {
	const char *pattern;      /* of card models, parse_glob(): "*A100*80GB*" */
	unsigned compute, memory; /* slices of the card */
	const struct mig_profile *profiles;
	size_t profile_count;
};

const struct mig_model *mig_model_find(const char *card_model); /* NULL: has no MIG, or unknown */
/* NAME with '+' or, as in resource names, with '.' for it. NULL when the model has no such one. */
const struct mig_profile *mig_profile_find(const struct mig_model *model, const char *name);
/* Memory slices that PROFILE covers when it starts at START; bit 0 is slice 0. */
uint8_t mig_profile_mask(const struct mig_profile *profile, unsigned start);
