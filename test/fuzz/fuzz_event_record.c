/* SPDX-License-Identifier: Apache-2.0 */
/* A record of a hostile child that should tell events; its magic and version are put right. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "device/device.h"
#include "device/events_record.h"
#include "device/sysfs/sysfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct device_event *event)
{
	char again[CARD_BUS_ID_MAX];

	if (event->kind >= DEVICE_EVENT_KIND_MAX)
		abort();
	if (event->uuid[0] && !card_uuid_is_valid(event->uuid))
		abort();
	if (event->bus_id[0] &&
	    (bus_id_normalise(event->bus_id, again) < 0 || strcmp(again, event->bus_id) != 0))
		abort();
	if (!parse_utf8_valid(event->text, strlen(event->text)))
		abort();
	if (event->index != CARD_INDEX_NONE && event->index >= RECORD_CARDS_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_event record = { 0 };
	struct device_event event;
	int r;

	memcpy(&record, data, size < sizeof(record) ? size : sizeof(record));
	record.magic = RECORD_MAGIC;
	record.version = RECORD_VERSION;
	r = events_take(&record, sizeof(record), &event);
	if ((r == 0) != (record.kind > 0 && record.kind < RECORD_EVENT_MAX))
		abort();
	if (size != sizeof(record) && events_take(&record, size, &event) == 0)
		abort();
	if (r == 0 && events_take(&record, sizeof(record), &event) == 0)
		check(&event);
	return 0;
}
