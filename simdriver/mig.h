/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MIG in the simulated driver: what a card could be divided into, and how one is. Tables of its own, not
 * those of src/model/mig.c: a test compares both, entry by entry.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

#define MIG_STARTS_MAX       7
#define MIG_COMPUTE_PROFILES 9 /* numbers of NVML_COMPUTE_INSTANCE_PROFILE_*: not all are used */
#define MIG_ANYWHERE         0xFFFFFFFFu /* as a start: where the driver wants it */

struct mig_gpu_profile {
	const char *name; /* "1g.10gb+me"; NVML and nvidia-smi say "MIG 1g.10gb+me" */
	uint32_t number;  /* NVML_GPU_INSTANCE_PROFILE_* */
	uint32_t id;      /* what nvidia-smi shows, of the card */
	uint32_t slices;  /* of compute */
	uint32_t size;    /* memory slices */
	uint32_t most;    /* at the same time */
	uint32_t memory_mib;
	uint32_t multiprocessors, copy_engines, decoders, jpegs, ofas;
	uint32_t start_count;
	uint8_t starts[MIG_STARTS_MAX];
};

struct mig_table {
	const char *card;               /* of card models: "A100-80" */
	uint32_t slices, memory_slices; /* of the card */
	uint32_t decoders, ofas;
	const struct mig_gpu_profile *profiles;
	size_t profile_count;
};

extern const struct mig_table mig_tables[];
extern const size_t mig_table_count;

/* NUMBER as in struct sim_card_info: 1 is the first. NULL: the card has no MIG. */
const struct mig_table *mig_table(uint32_t number);
/* The number for a card model's name in the tables, or 0. */
uint32_t mig_table_number(const char *card);
const struct mig_gpu_profile *mig_profile_by_number(const struct mig_table *table, uint32_t number);
const struct mig_gpu_profile *mig_profile_by_id(const struct mig_table *table, uint32_t id);
const struct mig_gpu_profile *mig_profile_by_name(const struct mig_table *table, const char *name);

/* Slices of a compute instance profile (NVML_COMPUTE_INSTANCE_PROFILE_*) in a GPU instance of that profile,
 * or 0: there is none such. */
uint32_t mig_compute_slices(const struct mig_gpu_profile *gpu, uint32_t compute_profile);
/* How many of SLICES exist side by side in it. */
uint32_t mig_compute_most(const struct mig_gpu_profile *gpu, uint32_t slices);

/* "1g.10gb", or "1c.3g.40gb" for a compute instance that is a part. */
void mig_device_name(const struct mig_gpu_profile *gpu, uint32_t compute_slices, char *ret,
		     size_t size);

/*
 * Changes of a layout. SIM_OK, SIM_NOT_SUPPORTED (no MIG mode), SIM_BAD_REQUEST (no such profile or place),
 * SIM_NO_ROOM, SIM_NO_INSTANCE, SIM_IN_USE (compute instances exist). Who uses an instance, the caller knows.
 */
enum sim_status mig_gpu_create(struct sim_mig_layout *layout, const struct mig_table *table,
			       uint32_t profile_id, uint32_t start, uint32_t *ret_instance);
enum sim_status mig_gpu_destroy(struct sim_mig_layout *layout, uint32_t instance);
/* CARD_UUID and the numbers make the UUID of the MIG device. */
enum sim_status mig_compute_create(struct sim_mig_layout *layout, const struct mig_table *table,
				   const char *card_uuid, uint32_t gpu_instance,
				   uint32_t compute_profile, uint32_t start,
				   uint32_t *ret_instance);
enum sim_status mig_compute_destroy(struct sim_mig_layout *layout, uint32_t gpu_instance,
				    uint32_t instance);

/* How many more of it could be created now. */
uint32_t mig_gpu_room(const struct sim_mig_layout *layout, const struct mig_table *table,
		      const struct mig_gpu_profile *profile);
uint32_t mig_compute_room(const struct sim_mig_layout *layout, const struct mig_table *table,
			  uint32_t gpu_instance, uint32_t compute_profile);

/* Positions in the layout; NULL: none. */
const struct sim_gpu_instance *mig_gpu_find(const struct sim_mig_layout *layout, uint32_t instance);
const struct sim_compute_instance *mig_compute_find(const struct sim_mig_layout *layout,
						    uint32_t gpu_instance, uint32_t instance);

/*
 * "1g.10gb*3,3g.40gb": GPU instances, each with one compute instance of its whole size, created in the order of
 * the text. What was there is not looked at: LAYOUT has none. SIM_BAD_REQUEST, SIM_NO_ROOM.
 */
enum sim_status mig_layout_make(struct sim_mig_layout *layout, const struct mig_table *table,
				const char *card_uuid, const char *text);
