/* SPDX-License-Identifier: Apache-2.0 */
/* The cards of a node from Koordinator's object Device, which has the node's name. Format:
 * apis/scheduling/v1alpha1/device_types.go. */
#pragma once

#include "base/base.h"
#include "model/card.h"

/* Its cards have no model. 0; -ENOENT when it has no card; -EINVAL ("SOURCE:LINE: device NAME:
 * ..."); -ENOMEM. */
int koordinator_device_read(struct json_object *device, const char *source, unsigned long line,
			    struct inventory *ret, struct error *error);
