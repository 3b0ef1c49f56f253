/* SPDX-License-Identifier: Apache-2.0 */
/* Between events.c, kmsg.c and their tests: how a record of the child or of the kernel becomes an event. */
#pragma once

#include "abi/nvml_record.h"
#include "device/events.h"

/* Of no card and no instance. */
void device_event_init(struct device_event *event, enum device_event_kind kind);
/* What a driver says is shown to people: printable, and no more than fits. Ends at a NUL or after SIZE bytes. */
void device_event_text(char ret[static CARD_TEXT_MAX], const char *text, size_t size);

/* LENGTH bytes came. -EPROTO: it is no record of this version; then *ret may be anything. */
int events_take(const struct record_event *record, size_t length, struct device_event *ret);
