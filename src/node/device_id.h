/* SPDX-License-Identifier: Apache-2.0 */
/* The names of devices. Inside this folder only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

enum id_form { ID_PART, ID_REPLICA, ID_UNIT };

#define DEVICE_ID_MAX 128

struct device_id {
	enum id_form form;
	char part[CARD_UUID_MAX]; /* UUID of a card or MIG device */
	uint32_t number;          /* of a replica or unit */
};

/* By its form alone; false for what no version of gpupool or of its peer lists: "GPU-" or "MIG-" first. */
bool device_id_read(const char *text, struct device_id *ret);
/* 0, or -ENAMETOOLONG. */
int device_id_write(const struct device_id *id, char *ret, size_t size);
/* Whether a UUID may stand in an ID: that of a card which only has an address may not. */
bool device_uuid_is_known(const char *uuid);
