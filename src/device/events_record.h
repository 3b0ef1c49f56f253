/* SPDX-License-Identifier: Apache-2.0 */
/* Between events.c and its tests: a record of the child is checked and becomes an event. */
#pragma once

#include "abi/nvml_record.h"
#include "device/events.h"

/* LENGTH bytes came. -EPROTO: it is no record of this version; then *ret may be anything. */
int events_take(const struct record_event *record, size_t length, struct device_event *ret);
