/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CDI specs of this machine's cards. What they contain is what the plan of edits gives a container
 * whose root cannot be looked at, so that both ways to a card give the same; without hooks.
 */
#pragma once

#include <stdbool.h>

#include "base/base.h"
#include "inject/driver_files.h"
#include "model/model.h"

/* As `nvidia-ctk cdi generate --mode` calls them. */
enum cdi_mode {
	CDI_AUTO,       /* CDI_WSL where the driver is Windows' own, else CDI_NVML */
	CDI_NVML,       /* a device a card and a MIG device */
	CDI_MANAGEMENT, /* one device with every node of the driver, for those who manage cards */
	CDI_GDS,        /* GPUDirect storage */
	CDI_MOFED,      /* InfiniBand verbs */
	CDI_GDRCOPY,
	CDI_IMEX, /* a device a channel */
	CDI_NVSWITCH,
	CDI_WSL,
	CDI_MODE_MAX,
	CDI_MODE_INVALID = -22,
};
const char *cdi_mode_to_string(enum cdi_mode mode);
enum cdi_mode cdi_mode_from_string(const char *text);

/* Whether it describes cards, and so cannot be without an inventory of them. */
bool cdi_mode_needs_cards(enum cdi_mode mode);

/* How devices are called; several give each device several times. */
enum cdi_names {
	CDI_NAME_INDEX = 1,      /* "0", "0:1" of a MIG device */
	CDI_NAME_UUID = 2,       /* "GPU-...", "MIG-..." */
	CDI_NAME_TYPE_INDEX = 4, /* "gpu0", "mig0:1" */
	CDI_NAME_DEFAULT = CDI_NAME_INDEX | CDI_NAME_UUID,
};

struct cdi_options {
	enum cdi_mode mode;
	unsigned names; /* enum cdi_names; 0: CDI_NAME_DEFAULT */
	unsigned
		capabilities; /* enum driver_capability; 0: all but compat32, as no image is known */
	const char *vendor;   /* NULL: "nvidia.com", for management "management.nvidia.com" */
	const char *class;    /* NULL: "gpu", or the mode's */
	bool no_all;          /* without the device "all" */
	/* Only these, by any of their names ("0", "GPU-...", "0:1"); "all" or NULL: every one. */
	const struct string_list *ids;
	const struct inventory *inventory;
	const struct driver_files *files;
};

/*
 * A spec that passed cdi_spec_check(), of the lowest version that has its fields. NOTES gets a
 * sentence for each thing that a container will miss. -ENODEV when there is no device to describe,
 * -EINVAL for names that no spec may have.
 */
int cdi_generate(const struct cdi_options *options, struct json_object **ret,
		 struct string_list *notes, struct error *error);

/*
 * What of SPEC, whoever made it, is no longer so on this machine: files and nodes that are gone,
 * node numbers, the driver's version, the MIG devices, cards. A sentence each; none: it is up to
 * date. HOST has the inventory and the files, of all capabilities; nothing else of it is used.
 */
int cdi_diff(struct json_object *spec, const struct cdi_options *host,
	     struct string_list *ret_sentences, struct error *error);
