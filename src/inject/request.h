/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container asks for, read from its OCI spec, and which cards that is. Sources in order: CDI
 * annotations, the kubelet's volume list, the environment where the policy lets it count; the first
 * one that names something decides. Nothing is looked up on the machine.
 *
 * Facts: NVIDIA/nvidia-container-toolkit internal/config/image and internal/modifier at d34b3046;
 * where this differs from it on purpose is said in docs/requests.md.
 */
#pragma once

#include <stdbool.h>

#include "base/base.h"
#include "formats/formats.h"
#include "model/model.h"

enum request_source {
	SOURCE_NONE, /* nothing is asked for */
	SOURCE_CDI_ANNOTATION,
	SOURCE_VOLUMES, /* mounts of /dev/null below /var/run/nvidia-container-devices */
	SOURCE_ENVIRONMENT,
	SOURCE_MAX,
	SOURCE_INVALID = -22,
};

/* Devices beside the cards, each asked for by a variable of its own. */
enum gated {
	GATED_GDS = 1 << 0,
	GATED_MOFED = 1 << 1,
	GATED_NVSWITCH = 1 << 2,
	GATED_GDRCOPY = 1 << 3,
	GATED_MIG_CONFIG = 1 << 4,
	GATED_MIG_MONITOR = 1 << 5,
	GATED_ALL = (1 << 6) - 1,
};

#define IMEX_ALL "all" /* every channel that this machine has */

struct device_request {
	enum request_source source;
	bool all;  /* every card that is not in MIG mode, and every MIG instance */
	bool none; /* the driver's files and control nodes, and no card */
	bool kubernetes, privileged, legacy_image;
	struct string_list devices; /* "0", "0:1", "GPU-...", "MIG-...", a bus address; each once */
	struct string_list foreign; /* CDI names of kinds that are no card, "vendor/class=name" */
	unsigned capabilities;      /* enum driver_capability, cut to what the policy supports */
	unsigned gated;             /* enum gated */
	struct string_list imex;    /* channel numbers, decimal, or IMEX_ALL */
	struct string_list requirements; /* "NVIDIA_REQUIRE_CUDA=cuda>=12.4 ..." */
	struct string_list notes;        /* what was not honoured, and why */
};

/*
 * SPEC needs not have passed oci_spec_check(): a part of another type asks for nothing. 0 also when
 * nothing is asked for: source NONE, notes may say why. -EINVAL for a value that cannot be read,
 * with the name of its variable or annotation.
 */
int device_request_read(struct json_object *spec, const struct toolkit_config *config,
			struct device_request *ret, struct error *error);
void device_request_release(struct device_request *request);
const char *request_source_to_string(enum request_source source); /* "CDI annotations" */
enum request_source request_source_from_string(const char *text);

/* What was asked for, on this machine. Either grant may be without a card. */
struct device_selection {
	struct grant cards;     /* of kind whole; in order of the request, or of the inventory */
	struct grant instances; /* of kind MIG; uuid of a grant_card is that of the instance */
};
/*
 * -ENODEV with *ret_reason (may be NULL; its object is "the container" unless it was set):
 * REASON_UNKNOWN_DEVICE, REASON_NO_INVENTORY when the inventory cannot know the name, or
 * REASON_NO_DRIVER when all cards of a machine without any are asked for.
 */
int device_request_select(const struct device_request *request, const struct inventory *inventory,
			  struct device_selection *ret, struct reason *ret_reason,
			  struct error *error);
void device_selection_release(struct device_selection *selection);
