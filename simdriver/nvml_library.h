/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the simulated libnvidia-ml share. */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/nvml.h"
#include "client.h"

#define EXPORT __attribute__((visibility("default")))

struct nvmlDevice_st {
	struct sim_card_info info;
	unsigned index;
};

struct nvml_library {
	pthread_mutex_t lock;
	unsigned users; /* inits without their shutdown */
	struct client client;
	unsigned count; /* the caller's cards at the first init */
	struct nvmlDevice_st cards[SIM_CARDS_MAX];
};

extern struct nvml_library nvml;

enum nvml_return nvml_from_status(enum sim_status status);

/*
 * Brackets of every call. After a begin that answers NVML_SUCCESS the lock is held until nvml_end.
 * A process that was forked from a user gets a connection of its own.
 */
enum nvml_return nvml_begin(void);
void nvml_end(void);

/* nvml_begin, and the card answers: NVML_ERROR_GPU_IS_LOST, or blocks while it hangs. */
enum nvml_return nvml_begin_card(struct nvmlDevice_st *device, struct sim_card_state *ret);

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
