/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MIG: which profiles a card model has and where NVML can place each. A placement is a run of
 * memory slices: instances exist side by side when their runs do not overlap and all of them
 * together need no more compute slices, decoders and optical flow engines than the card has.
 * Source: NVIDIA MIG User Guide (profiles), nvmlDeviceGetGpuInstancePossiblePlacements().
 *
 * How to add a card model: its table in mig.c, a row in MODELS there, cases in test_mig.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIG_SLICES_MAX     16 /* memory slices of a card */
#define MIG_PLACEMENTS_MAX 8

struct mig_profile {
	const char *name;                   /* "1g.10gb", "1g.10gb+me", "1g.24gb-me" */
	unsigned compute;                   /* compute slices */
	unsigned size;                      /* memory slices */
	unsigned memory_mib;                /* as a driver said; others differ by some MiB */
	unsigned limit;                     /* instances of it on one card at the same time */
	unsigned decoders, ofa;             /* media engines that it takes */
	uint8_t starts[MIG_PLACEMENTS_MAX]; /* first memory slices, rising */
	unsigned start_count;
};

struct mig_model {
	const char *pattern;      /* of card models, parse_glob(): "*A100*80GB*" */
	unsigned compute, memory; /* slices of the card */
	unsigned decoders, ofa;   /* its media engines */
	const struct mig_profile *profiles;
	size_t profile_count;
};

/* What the instances of one card take, together. */
struct mig_use {
	uint16_t slices; /* of memory; bit 0 is slice 0 */
	uint8_t compute, decoders, ofa;
};

const struct mig_model *mig_model_find(const char *card_model); /* NULL: has no MIG, or unknown */
/* NAME with '+' or, as in resource names, with '.' for it. NULL when the model has no such one. */
const struct mig_profile *mig_profile_find(const struct mig_model *model, const char *name);
/* Memory slices that PROFILE covers when it starts at START; bit 0 is slice 0. */
uint16_t mig_profile_mask(const struct mig_profile *profile, unsigned start);
/* Is START one of the places that NVML knows? */
bool mig_profile_starts_at(const struct mig_profile *profile, unsigned start);

/* 1/1000 of the card: its memory slices. */
unsigned mig_profile_milli(const struct mig_model *model, const struct mig_profile *profile);

/* Is there room for one more? START is one of the profile's. */
bool mig_use_takes(const struct mig_model *model, const struct mig_use *use,
		   const struct mig_profile *profile, unsigned start);
void mig_use_add(struct mig_use *use, const struct mig_profile *profile, unsigned start);
void mig_use_remove(struct mig_use *use, const struct mig_profile *profile, unsigned start);
/* Places of all profiles that are free, one of more slices worth as many more: what to spare. */
unsigned mig_use_places(const struct mig_model *model, const struct mig_use *use);
/*
 * The start that leaves the most places for instances to come, the lowest of those alike.
 * -ENOENT when none is free. *ret_left (may be NULL): the places then.
 */
int mig_use_choose(const struct mig_model *model, const struct mig_use *use,
		   const struct mig_profile *profile, unsigned *ret_left);
