/* SPDX-License-Identifier: Apache-2.0 */
/* What machines the simulated driver can be: models, and where their cards sit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

struct card_model {
	const char *name;
	const char *architecture_name;
	uint32_t architecture; /* NVML_DEVICE_ARCH_* */
	uint32_t compute_major, compute_minor;
	uint32_t device_id, subsystem_id; /* as NVML has them */
	uint32_t memory_mib, reserved_mib, context_mib, bar1_mib;
	uint32_t multiprocessors, cores, bus_width;
	uint32_t power_limit_w, power_min_w, power_idle_w;
	uint32_t clock_graphics_mhz, clock_memory_mhz, clock_video_mhz, clock_idle_mhz;
	uint32_t slowdown_c, shutdown_c;
	uint32_t pcie_generation;
	const char *mig; /* its table in mig_table.c; NULL: cannot MIG */
	bool mig_resets; /* the mode is changed by a reset, which waits for all clients (before Hopper) */
	uint32_t nvlink_version, nvlink_count;
	uint32_t row_remap;
	const char *vbios, *part_number, *inforom_image, *inforom_oem, *inforom_ecc;
};

struct profile_card {
	const struct card_model *model;
	uint32_t bus;
	uint32_t minor;
	uint32_t numa;
	uint32_t bridge; /* cards of one number share PCIe switches; 0: none shared */
};

struct profile {
	const char *name;
	const char *title; /* for people */
	const char *driver_version;
	uint32_t branch; /* picks the library that was built for it */
	uint32_t cuda_version;
	const char *older_version; /* what the module is in the version fault */
	uint32_t cpu_count, numa_count;
	uint32_t lanes; /* NVLinks between two cards of one model, 0: all go to switches */
	uint32_t card_count;
	struct profile_card cards[SIM_CARDS_MAX]; /* by rising bus number, as NVML orders them */
};

extern const struct profile profiles[];
extern const size_t profile_count;

/* NULL when there is none of that name. */
const struct profile *profile_find(const char *name);

void profile_driver(const struct profile *profile, struct sim_driver *ret);

/* What NVML says of the card at that position. The UUID follows from profile and position alone. */
void profile_card_info(const struct profile *profile, uint32_t position, struct sim_card_info *ret);
