/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of procfs and addresses, each as one input. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "device/sysfs/sysfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = strndup((const char *)data, size);
	char version[DEVICE_VERSION_MAX], bus_id[CARD_BUS_ID_MAX], again[CARD_BUS_ID_MAX];
	struct procfs_card card = { 0 };

	if (!text)
		return 0;
	if (procfs_parse_version(text, version) == 0 && !strchr(version, '.'))
		abort();
	procfs_parse_information(text, &card);
	if (card.uuid[0] && !card_uuid_is_valid(card.uuid))
		abort();
	uint32_t minor = capability_parse_minor(text);
	if (minor != CARD_MINOR_NONE && !strpbrk(text, "0123456789"))
		abort();
	(void)procfs_devices_has_nvidia(text);
	if (bus_id_normalise(text, bus_id) == 0 &&
	    (bus_id_normalise(bus_id, again) < 0 || strcmp(bus_id, again) != 0))
		abort();
	return 0;
}
