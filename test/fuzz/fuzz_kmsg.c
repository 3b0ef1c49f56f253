/* SPDX-License-Identifier: Apache-2.0 */
/* A record of the kernel's log. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "device/device.h"
#include "device/sysfs/sysfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = strndup((const char *)data, size);
	char again[CARD_BUS_ID_MAX];
	struct device_event event;

	if (!text || kmsg_parse(text, &event) < 0)
		return 0;
	if (event.kind != DEVICE_EVENT_XID || event.uuid[0] || !strstr(text, "NVRM: Xid ("))
		abort();
	if (text[0] < '0' || text[0] > '9' || strtoul(text, NULL, 10) > 7) /* a program's */
		abort();
	if (bus_id_normalise(event.bus_id, again) < 0 || strcmp(again, event.bus_id) != 0)
		abort();
	if (!parse_utf8_valid(event.text, strlen(event.text)) || event.data > 999999999)
		abort();
	return 0;
}
