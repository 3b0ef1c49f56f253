/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two arrays: entries in order of insertion, and an open-addressing table of indexes into them. A
 * removed entry keeps its place (key NULL) until the next growth, so removing while iterating is
 * safe. The hash is SipHash-1-3 with a seed of each map's own: keys come from files that
 * strangers write.
 */
#include "base/map.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SLOT_FREE   UINT32_MAX
#define ENTRIES_MAX (UINT32_MAX / 4)

struct map_entry {
	char *key; /* NULL when removed */
	void *value;
	uint64_t hash;
};

struct map {
	struct map_entry *entries;
	uint32_t *slots; /* index into entries, or SLOT_FREE */
	size_t used;     /* entries in use, removed ones included */
	size_t capacity; /* of entries; the table of slots has twice as many */
	size_t count;    /* entries that are not removed */
	uint64_t seed[2];
};

static uint64_t rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 (Aumasson, Bernstein 2012). */
static uint64_t map_hash(const struct map *map, const char *key)
{
	uint64_t v[4] = { map->seed[0] ^ 0x736f6d6570736575, map->seed[1] ^ 0x646f72616e646f6d,
			  map->seed[0] ^ 0x6c7967656e657261, map->seed[1] ^ 0x7465646279746573 };
	size_t length = strlen(key), left = length;

	for (;;) {
		uint64_t word = 0;
		size_t step = left < 8 ? left : 8;

		memcpy(&word, key, step);
		if (step < 8)
			word |= (uint64_t)length << 56;
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
		if (step < 8)
			break;
		key += 8;
		left -= 8;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct map *map_new(void)
{
	struct map *map = calloc(1, sizeof(*map));

	/* Early in boot there may be no entropy yet: the address is better than nothing. */
	if (map && getrandom(map->seed, sizeof(map->seed), GRND_NONBLOCK) < 0)
		map->seed[0] = (uint64_t)(uintptr_t)map;
	return map;
}

void map_free(struct map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->used; i++)
		free(map->entries[i].key);
	free(map->entries);
	free(map->slots);
	free(map);
}

static struct map_entry *map_find(const struct map *map, const char *key, uint64_t hash)
{
	size_t mask = map->capacity * 2 - 1;

	if (!map->capacity)
		return NULL;
	for (size_t at = hash & mask; map->slots[at] != SLOT_FREE; at = (at + 1) & mask) {
		struct map_entry *entry = &map->entries[map->slots[at]];

		if (entry->key && entry->hash == hash && strcmp(entry->key, key) == 0)
			return entry;
	}
	return NULL;
}

static void map_link(struct map *map, uint32_t index)
{
	size_t mask = map->capacity * 2 - 1;
	size_t at = map->entries[index].hash & mask;

	while (map->slots[at] != SLOT_FREE)
		at = (at + 1) & mask;
	map->slots[at] = index;
}

/* Makes room for one more: drops removed entries, doubles when that is not enough. */
static int map_grow(struct map *map)
{
	size_t capacity = map->capacity ? map->capacity : 8;

	if (map->count >= capacity / 2)
		capacity *= 2;
	if (capacity > ENTRIES_MAX)
		return -ENOMEM;
	struct map_entry *entries = calloc(capacity, sizeof(*entries));
	uint32_t *slots = calloc(capacity * 2, sizeof(*slots));
	if (!entries || !slots) {
		free(entries);
		free(slots);
		return -ENOMEM;
	}
	memset(slots, 0xff, capacity * 2 * sizeof(*slots));
	size_t used = 0;
	for (size_t i = 0; i < map->used; i++)
		if (map->entries[i].key)
			entries[used++] = map->entries[i];
	free(map->entries);
	free(map->slots);
	map->entries = entries;
	map->slots = slots;
	map->capacity = capacity;
	map->used = used;
	for (uint32_t i = 0; i < used; i++)
		map_link(map, i);
	return 0;
}

int map_put(struct map *map, const char *key, void *value)
{
	uint64_t hash = map_hash(map, key);
	struct map_entry *entry = map_find(map, key, hash);

	if (entry) {
		entry->value = value;
		return 0;
	}
	char *copy = strdup(key);
	if (!copy)
		return -ENOMEM;
	if (map->used == map->capacity && map_grow(map) < 0) {
		free(copy);
		return -ENOMEM;
	}
	map->entries[map->used] = (struct map_entry){ .key = copy, .value = value, .hash = hash };
	map_link(map, (uint32_t)map->used);
	map->used++;
	map->count++;
	return 0;
}

void *map_get(const struct map *map, const char *key)
{
	struct map_entry *entry = map_find(map, key, map_hash(map, key));

	return entry ? entry->value : NULL;
}

bool map_remove(struct map *map, const char *key)
{
	struct map_entry *entry = map_find(map, key, map_hash(map, key));

	if (!entry)
		return false;
	free(entry->key);
	entry->key = NULL;
	map->count--;
	return true;
}

size_t map_count(const struct map *map)
{
	return map->count;
}

bool map_next(const struct map *map, size_t *at, const char **ret_key, void **ret_value)
{
	while (*at < map->used) {
		const struct map_entry *entry = &map->entries[(*at)++];

		if (!entry->key)
			continue;
		*ret_key = entry->key;
		*ret_value = entry->value;
		return true;
	}
	return false;
}
