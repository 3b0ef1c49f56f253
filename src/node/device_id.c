/* SPDX-License-Identifier: Apache-2.0 */
#include "node/device_id.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SEPARATOR  "::"
#define NUMBER_MAX 1000000u

bool device_uuid_is_known(const char *uuid)
{
	size_t length = strlen(uuid);

	if (strncmp(uuid, "GPU-", 4) != 0 && strncmp(uuid, "MIG-", 4) != 0)
		return false;
	/* "/" is in the names of MIG devices of old drivers, MIG-GPU-<uuid>/<n>/<m>. */
	return length > 4 && length < CARD_UUID_MAX &&
	       strspn(uuid, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/") ==
		       length;
}

static bool read_number(const char *text, uint32_t *ret)
{
	uint64_t number;

	/* One spelling only: two IDs are the same device when they are the same text. */
	if ((*text == '0' && text[1]) || parse_uint(text, 0, NUMBER_MAX, &number) < 0)
		return false;
	*ret = (uint32_t)number;
	return true;
}

bool device_id_read(const char *text, struct device_id *ret)
{
	const char *at = strstr(text, SEPARATOR);
	size_t length = at ? (size_t)(at - text) : strlen(text);
	struct device_id id = { .form = ID_PART };

	if (length >= sizeof(id.part))
		return false;
	memcpy(id.part, text, length);
	if (!device_uuid_is_known(id.part))
		return false;
	if (at) {
		at += strlen(SEPARATOR);
		id.form = *at == 'm' ? ID_UNIT : ID_REPLICA;
		if (!read_number(at + (id.form == ID_UNIT), &id.number))
			return false;
	}
	*ret = id;
	return true;
}

int device_id_write(const struct device_id *id, char *ret, size_t size)
{
	int length;

	if (id->form == ID_PART)
		length = snprintf(ret, size, "%s", id->part);
	else
		length = snprintf(ret, size, "%s" SEPARATOR "%s%u", id->part,
				  id->form == ID_UNIT ? "m" : "", id->number);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}
