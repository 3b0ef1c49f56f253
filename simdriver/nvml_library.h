/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the simulated libnvidia-ml share. */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/nvml.h"
#include "abi/nvml_mig.h"
#include "capability.h"
#include "client.h"
#include "mig.h"

#define EXPORT __attribute__((visibility("default")))

/* A card, or a MIG device: then `info` is the card's but for UUID and name. */
struct nvmlDevice_st {
	struct sim_card_info info;
	unsigned index;
	struct nvmlDevice_st *card; /* of a MIG device; NULL: is a card */
	struct nvmlDevice_st *next; /* MIG device that was given out before */
	uint32_t gpu_instance, compute_instance;
};

struct nvmlGpuInstance_st {
	struct nvmlDevice_st *card;
	uint32_t id;
};

struct nvmlComputeInstance_st {
	struct nvmlGpuInstance_st *gpu;
	uint32_t id;
};

/* What is known of a device at the moment of a call. */
struct nvml_view {
	struct nvmlDevice_st *card;
	struct sim_card_state state;
	struct sim_mig_layout layout;       /* all zero when the card has no MIG */
	const struct mig_table *table;      /* NULL without MIG */
	const struct sim_gpu_instance *gpu; /* of a MIG device, else NULL */
	const struct sim_compute_instance *compute;
	const struct mig_gpu_profile *profile;
};

struct nvml_library {
	pthread_mutex_t lock;
	unsigned users; /* inits without their shutdown */
	struct client client;
	unsigned count; /* the caller's cards at the first init */
	struct nvmlDevice_st cards[SIM_CARDS_MAX];
	/* Handles live as long as the library: a place has one. */
	struct nvmlDevice_st *migs;
	struct nvmlGpuInstance_st gpus[SIM_CARDS_MAX][CAPABILITY_GPUS];
	struct nvmlComputeInstance_st computes[SIM_CARDS_MAX][CAPABILITY_GPUS][CAPABILITY_COMPUTES];
};

extern struct nvml_library nvml;

enum nvml_return nvml_from_status(enum sim_status status);

/*
 * Brackets of every call. After a begin that answers NVML_SUCCESS the lock is held until nvml_end.
 * A process that was forked from a user gets a connection of its own.
 */
enum nvml_return nvml_begin(void);
void nvml_end(void);

/*
 * nvml_begin, and the card answers: NVML_ERROR_GPU_IS_LOST, or blocks while it hangs. Of a MIG device
 * NVML_ERROR_NOT_SUPPORTED.
 */
enum nvml_return nvml_begin_card(struct nvmlDevice_st *device, struct sim_card_state *ret);

/*
 * The same for a card or a MIG device; one that is no more is NVML_ERROR_NOT_FOUND. *ret may point into
 * itself: it is not to be copied.
 */
enum nvml_return nvml_begin_device(struct nvmlDevice_st *device, struct nvml_view *ret);
/* The MIG device of that UUID among the caller's, or NULL. Within nvml_begin. */
struct nvmlDevice_st *nvml_mig_by_uuid(const char *uuid);
/* The same handle each time; its index is the device's place among the caller's. */
struct nvmlDevice_st *nvml_mig_handle(struct nvmlDevice_st *card, const struct nvml_view *view,
				      const struct sim_compute_instance *compute, unsigned index);
/* May the caller see all of a card in MIG mode (monitor or config)? */
bool nvml_may_monitor(void);

enum nvml_right { NVML_ANYBODY, NVML_MONITOR, NVML_CONFIGURE };

/*
 * The same for a call on how a card is divided: NVML_ERROR_INVALID_ARGUMENT for a MIG device,
 * NVML_ERROR_NOT_SUPPORTED for a card without MIG, or with IN_MODE while it is not in MIG mode.
 */
enum nvml_return nvml_begin_mig(struct nvmlDevice_st *device, enum nvml_right right, bool in_mode,
				struct nvml_view *ret);

/* A whole call: copies a field of the card's info, at that offset of struct sim_card_info. */
enum nvml_return nvml_get_text(struct nvmlDevice_st *device, size_t offset, char *ret,
			       unsigned length);
enum nvml_return nvml_get_number(struct nvmlDevice_st *device, size_t offset, unsigned *ret);

/* A whole call: a number that the card measures; NVML_ERROR_NOT_SUPPORTED when it has no such thing. */
enum nvml_return nvml_get_value(struct nvmlDevice_st *device, enum sim_value value,
				unsigned long long *ret);
enum nvml_return nvml_get_value32(struct nvmlDevice_st *device, enum sim_value value,
				  unsigned *ret);

/* Whole calls with an answer that is the same for every card that answers. */
enum nvml_return nvml_get_fixed(struct nvmlDevice_st *device, unsigned value, unsigned *ret);
enum nvml_return nvml_not_supported(struct nvmlDevice_st *device);

/* The text with its NUL, or NVML_ERROR_INSUFFICIENT_SIZE. */
enum nvml_return nvml_copy_text(const char *text, char *ret, unsigned length);

void nvml_fill_pci(const struct sim_pci *pci, struct nvml_pci_info *ret);

#define NVML_INFO(field) offsetof(struct sim_card_info, field)
