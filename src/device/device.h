/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inventory and health of one machine's cards: NVML through the helper with a deadline, plus what
 * procfs and sysfs say. The driver is never loaded into the calling process.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "device/events.h"
#include "model/model.h"

#define DEVICE_STUCK_MAX 2u

/* Helpers that are caught in the driver and cannot be ended: with two of them no other is started. */
struct device_stuck {
	pid_t pids[DEVICE_STUCK_MAX];
	unsigned count;
};
void device_stuck_add(struct device_stuck *stuck, pid_t pid);
/* Forgets those that have ended meanwhile. */
void device_stuck_reap(struct device_stuck *stuck);

struct device_options {
	const char *driver_root; /* NULL: search in the documented order */
	const char *helper;      /* path of gpupool-nvml; NULL: beside this program, then libexec */
	unsigned deadline_ms;    /* for one answer of the driver; 0: 5000 */
	bool no_nvml;            /* procfs and sysfs only, by the caller itself: can block */
	struct device_stuck *stuck; /* over several probes; NULL: of this one */
	bool samples;               /* also what changes: heat, power, use, errors */
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

struct device_nodes_options {
	const char *driver_root; /* as in struct device_options; its /dev is written */
	bool dry_run;            /* nothing is made, and all is told */
};

struct device_changes { /* sentences */
	struct string_list made, present, missing;
};
void device_changes_release(struct device_changes *changes);

/*
 * Makes the nodes of a loaded driver that are not there: control nodes by the majors of
 * /proc/devices, one a card, config and monitor of MIG. Needs CAP_MKNOD. -EEXIST: something else has
 * the name. What cannot be made because a module is not loaded is in ret->missing. *ret is filled,
 * and to be released, also after an error.
 */
int device_make_nodes(const struct device_nodes_options *options, struct device_changes *ret,
		      struct error *error);
/*
 * /dev/char/<major>:<minor> for each of the driver's nodes: systemd's rules for a container's devices
 * name them so, and without these links a daemon-reload takes the cards away.
 */
int device_make_char_links(const struct device_nodes_options *options, struct device_changes *ret,
			   struct error *error);

/* inventory.json: written atomically; reading refuses a file of another boot or driver version
 * with -ESTALE, and one that others can change with -EPERM. */
int device_inventory_write(const char *path, const struct inventory *inventory,
			   struct error *error);
int device_inventory_read(const char *path, struct inventory *ret, struct error *error);
/* The same without the cards' links and processes, which a container's start has no use for. */
int device_inventory_read_cards(const char *path, struct inventory *ret, struct error *error);
