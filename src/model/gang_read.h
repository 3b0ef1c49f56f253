/* SPDX-License-Identifier: Apache-2.0 */
/* The gang of a Pod, from its labels and annotations. */
#pragma once

#include "base/base.h"
#include "model/demand.h"

/* Sets gang, gang_size and gang_domain. -EINVAL for a value that is no name or no number from 1 on:
 * *ret_wrong is its key; -ENOMEM. */
int gang_read(struct json_object *pod, struct demand *demand, const char **ret_wrong);
