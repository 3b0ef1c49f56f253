/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/device_name.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define INSTANCE_PREFIX "MIG-"

struct address {
	uint64_t parts[4]; /* domain, bus, device, function */
};

/* Hexadecimal digits, at least one and at most MOST; the number behind them in *ret. */
static const char *read_hex(const char *text, size_t most, uint64_t *ret)
{
	size_t length = strspn(text, "0123456789abcdefABCDEF");

	if (!length || length > most)
		return NULL;
	*ret = 0;
	for (size_t i = 0; i < length; i++) {
		unsigned digit = (unsigned char)text[i];

		digit = digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
		*ret = *ret << 4 | digit;
	}
	return text + length;
}

/* "0000:07:00.0"; the driver writes eight digits for the domain, sysfs four. */
static bool read_address(const char *text, struct address *ret)
{
	static const struct {
		size_t most;
		char end;
	} parts[] = { { 8, ':' }, { 2, ':' }, { 2, '.' }, { 1, '\0' } };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		text = read_hex(text, parts[i].most, &ret->parts[i]);
		if (!text || *text != parts[i].end)
			return false;
		text++;
	}
	return true;
}

static bool same_address(const char *left, const char *right)
{
	struct address a, b;

	return read_address(left, &a) && read_address(right, &b) && memcmp(&a, &b, sizeof(a)) == 0;
}

/* One of two numbers with SEPARATOR between them. */
static bool read_pair(const char *text, char separator, uint64_t *left, uint64_t *right)
{
	const char *middle = strchr(text, separator);
	char number[16];

	if (!middle || (size_t)(middle - text) >= sizeof(number))
		return false;
	memcpy(number, text, (size_t)(middle - text));
	number[middle - text] = '\0';
	return parse_uint(number, 0, UINT32_MAX - 1, left) == 0 &&
	       parse_uint(middle + 1, 0, UINT32_MAX - 1, right) == 0;
}

static bool is_instance_uuid(const char *name)
{
	return strncasecmp(name, INSTANCE_PREFIX, strlen(INSTANCE_PREFIX)) == 0;
}

bool device_name_is_instance(const char *name)
{
	uint64_t card, instance;

	return is_instance_uuid(name) || read_pair(name, ':', &card, &instance);
}

/* By UUID or PCI address: what a card is called wherever it is plugged in or counted. */
static bool card_is(const struct card *card, const char *name)
{
	if (*card->uuid && strcasecmp(card->uuid, name) == 0)
		return true;
	return *card->bus_id && same_address(card->bus_id, name);
}

static const struct card *find_index(const struct inventory *inventory, uint64_t index)
{
	for (size_t i = 0; i < inventory->card_count; i++)
		if (inventory->cards[i].index == index && index != CARD_INDEX_NONE)
			return &inventory->cards[i];
	return NULL;
}

const struct card *device_find_card(const struct inventory *inventory, const char *name)
{
	uint64_t index;

	if (parse_uint(name, 0, UINT32_MAX - 1, &index) == 0)
		return find_index(inventory, index);
	for (size_t i = 0; i < inventory->card_count; i++)
		if (card_is(&inventory->cards[i], name))
			return &inventory->cards[i];
	return NULL;
}

/* MIG-<name of the card>/<GPU instance>/<compute instance> */
static bool instance_is(const struct card *card, const struct card_instance *instance,
			const char *name)
{
	const char *slash = strchr(name, '/');
	char of[CARD_UUID_MAX];
	uint64_t gpu, compute;
	size_t length;

	if (*instance->uuid && strcasecmp(instance->uuid, name) == 0)
		return true;
	if (!slash || !is_instance_uuid(name) || !read_pair(slash + 1, '/', &gpu, &compute))
		return false;
	name += strlen(INSTANCE_PREFIX);
	length = (size_t)(slash - name);
	if (length >= sizeof(of))
		return false;
	memcpy(of, name, length);
	of[length] = '\0';
	return card_is(card, of) && instance->gpu_instance == gpu &&
	       instance->compute_instance == compute;
}

const struct card_instance *device_find_instance(const struct inventory *inventory,
						 const char *name, const struct card **ret_card)
{
	uint64_t index, number;
	bool counted = read_pair(name, ':', &index, &number);

	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];

		if (counted && card->index != index)
			continue;
		for (size_t j = 0; j < card->instance_count; j++) {
			const struct card_instance *instance = &card->instances[j];

			if (counted ? instance->index != number
				    : !instance_is(card, instance, name))
				continue;
			*ret_card = card;
			return instance;
		}
	}
	return NULL;
}

void device_instance_name(const struct card *card, const struct card_instance *instance,
			  char ret[static CARD_UUID_MAX])
{
	if (*instance->uuid)
		snprintf(ret, CARD_UUID_MAX, "%s", instance->uuid);
	else
		snprintf(ret, CARD_UUID_MAX, INSTANCE_PREFIX "%.63s/%u/%u", card->uuid,
			 instance->gpu_instance, instance->compute_instance);
}
