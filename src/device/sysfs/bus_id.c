/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sysfs/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Reads 1 to DIGITS hexadecimal digits; NULL when there is none or one too many. */
static const char *hex_read(const char *text, unsigned digits, unsigned *ret)
{
	unsigned value = 0, count = 0;

	for (;; text++, count++) {
		unsigned digit;

		if (*text >= '0' && *text <= '9')
			digit = (unsigned)(*text - '0');
		else if (*text >= 'a' && *text <= 'f')
			digit = (unsigned)(*text - 'a') + 10;
		else if (*text >= 'A' && *text <= 'F')
			digit = (unsigned)(*text - 'A') + 10;
		else
			break;
		if (count == digits)
			return NULL;
		value = value << 4 | digit;
	}
	*ret = value;
	return count ? text : NULL;
}

int bus_id_normalise(const char *text, char ret[static CARD_BUS_ID_MAX])
{
	unsigned domain = 0, bus, slot, function;
	const char *at = hex_read(text, 8, &domain);

	if (!at || *at != ':')
		return -EINVAL;
	const char *after = hex_read(at + 1, 2, &bus);
	if (!after)
		return -EINVAL;
	if (*after == '.') { /* "07:00.0": no domain */
		slot = bus;
		bus = domain;
		domain = 0;
	} else if (*after == ':') {
		after = hex_read(after + 1, 2, &slot);
	} else {
		return -EINVAL;
	}
	if (!after || *after != '.')
		return -EINVAL;
	after = hex_read(after + 1, 1, &function);
	if (!after || *after || bus > 0xff || slot > 0x1f || function > 7)
		return -EINVAL;
	(void)snprintf(ret, CARD_BUS_ID_MAX, "%04x:%02x:%02x.%x", domain, bus, slot, function);
	return 0;
}

static bool uuid_is_valid(const char *prefix, const char *uuid)
{
	static const char allowed[] = "0123456789abcdefABCDEF-";

	return strncmp(uuid, prefix, 4) == 0 && uuid[4] && strlen(uuid) < CARD_UUID_MAX &&
	       strspn(uuid + 4, allowed) == strlen(uuid + 4);
}

bool card_uuid_is_valid(const char *uuid)
{
	return uuid_is_valid("GPU-", uuid);
}

bool mig_uuid_is_valid(const char *uuid)
{
	return uuid_is_valid("MIG-", uuid);
}
