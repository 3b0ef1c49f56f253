/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's library inside the helper: its functions by table, and the answers made of them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "abi/nvml.h"
#include "abi/nvml_record.h"
#include "base/base.h"

/* The struct, the look-up and the report of what is missing all come from nvml_symbols.def. */
#define FIELD_REQUIRED(name) __typeof__(name) *name;
#define FIELD_OPTIONAL(name) __typeof__(name) *name;
#define FIELD_UNUSED(name)
#define NVML_SYMBOL(base, version, stream, since, need) FIELD_##need(base##version)
struct nvml_api {
#include "abi/nvml_symbols.def"
};
#undef NVML_SYMBOL

struct driver {
	const char *path; /* of libnvidia-ml.so.1, or NULL; not owned */
	const char *proc; /* the module's folder in procfs, or NULL; not owned */
	void *library;    /* of dlopen(), NULL before the first question */
	struct nvml_api api;
	unsigned count;
	struct nvmlDevice_st *handles[RECORD_CARDS_MAX];
	struct record_process *snapshot; /* owned; of the card that was asked last */
	size_t snapshot_count, snapshot_capacity;
};

/* Loads driver->path. -ELIBBAD with what is missing. */
int driver_load(struct driver *driver, struct error *error);

/*
 * Watches all cards but those in SKIP (bit N: index N is not touched) and sends a struct record_event
 * on FD for each thing that happens. Returns the exit status, after RECORD_EVENT_END or when the other
 * end is closed.
 */
int driver_watch(struct driver *driver, int fd, uint64_t skip);

/* Fills the answer to one request that is well-formed; never fails but by answer->status. */
void driver_answer(struct driver *driver, const struct record_request *request,
		   struct record_answer *answer);

/* sample.c: the numbers that the card tells; what it does not tell is left out. */
void sample_take(const struct nvml_api *api, struct nvmlDevice_st *device,
		 struct record_sample *ret);
