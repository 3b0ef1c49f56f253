/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inventory and health of one machine's cards: NVML through the helper with a deadline, plus what
 * procfs and sysfs say. The driver is never loaded into the calling process.
 */
#pragma once

#include "base/base.h"
#include "model/model.h"

struct device_options {
	const char *driver_root; /* NULL: search in the documented order */
	const char *helper;      /* path of gpupool-nvml; NULL: beside this program, then libexec */
	unsigned deadline_ms;    /* for one answer of the driver; 0: 5000 */
	bool no_nvml;            /* procfs and sysfs only, by the caller itself: can block */
};

/* The first driver root that holds a driver: option, GPUPOOL_DRIVER_ROOT, /, ... (design 3). */
int device_find_driver_root(const char *option, char *ret, size_t size, struct error *error);

/*
 * Reads the inventory. Never fails because of one card: a card that gives no answer is there with
 * its condition. 0 with inventory->problem set when the driver as a whole gives no cards (missing,
 * versions differ, hung); *ret_reason (may be NULL) then has the reason.
 */
int device_probe(const struct device_options *options, struct inventory *ret,
		 struct reason *ret_reason, struct error *error);

/*
 * The cards from procfs and sysfs alone, for those who may not start the helper: read by a child,
 * since a module that hangs can block the reader for ever, and given up after DEADLINE_MS (0: 1000)
 * milliseconds. DRIVER_ROOT as in the options. Never fails because the driver gives no cards: then
 * ret->problem says why (missing, versions differ, hung). What only the driver knows is marked:
 * ret->kernel_only; a card whose UUID is unknown is called "unknown-<address>"; MIG devices have
 * numbers and nodes and no UUID. Excluded cards are left out and have no index, as with NVML. Of a
 * card whose minor is unknown minor is CARD_MINOR_NONE, and it is suspect. Links are not looked for.
 */
int device_probe_kernel(const char *driver_root, unsigned deadline_ms, struct inventory *ret,
			struct error *error);

/* inventory.json: written atomically; reading refuses a file of another boot or driver version
 * with -ESTALE. */
int device_inventory_write(const char *path, const struct inventory *inventory,
			   struct error *error);
int device_inventory_read(const char *path, struct inventory *ret, struct error *error);
