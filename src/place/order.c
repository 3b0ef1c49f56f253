/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_KEYS 63u
#define JOIN_BELOW 48u

struct order_chunk {
	uint64_t keys[CHUNK_KEYS];
};

int order_init(struct order *order, size_t size)
{
	size_t chunks = size / (JOIN_BELOW / 2) + 3; /* by the rule for neighbours */
	struct order made = {
		.keys = malloc((size + 1) * sizeof(*made.keys)),
		.size = size,
		.firsts = calloc(chunks, sizeof(*made.firsts)),
		.numbers = calloc(chunks, sizeof(*made.numbers)),
		.counts = calloc(chunks, sizeof(*made.counts)),
		.chunks = calloc(chunks, sizeof(*made.chunks)),
	};

	if (!made.keys || !made.firsts || !made.numbers || !made.counts || !made.chunks) {
		order_release(&made);
		return -ENOMEM;
	}
	for (size_t i = 0; i < size; i++)
		made.keys[i] = ORDER_NO_KEY;
	for (size_t i = 0; i < chunks; i++)
		made.numbers[i] = (uint32_t)i;
	*order = made;
	return 0;
}

void order_release(struct order *order)
{
	free(order->keys);
	free(order->firsts);
	free(order->numbers);
	free(order->counts);
	free(order->chunks);
	*order = (struct order){ 0 };
}

/* How many of the COUNT sorted KEYS are below KEY. */
static size_t count_below(const uint64_t *keys, size_t count, uint64_t key)
{
	const uint64_t *from = keys;

	while (count > 1) { /* no jump that the processor could guess wrong */
		size_t half = count / 2;

		from += from[half - 1] < key ? half : 0;
		count -= half;
	}
	return (size_t)(from - keys) + (count == 1 && *from < key);
}

/* The place in the directory of the chunk where KEY is or belongs; there is at least one. */
static size_t find_place(const struct order *order, uint64_t key)
{
	uint64_t next = key < ORDER_NO_KEY ? key + 1 : key;
	size_t below = count_below(order->firsts, order->count, next);

	return below ? below - 1 : 0;
}

static uint64_t *keys_at(const struct order *order, size_t place)
{
	return order->chunks[order->numbers[place]].keys;
}

static void open_place(struct order *order, size_t place)
{
	uint32_t number = order->numbers[order->count];
	size_t behind = order->count - place;

	memmove(order->firsts + place + 1, order->firsts + place, behind * sizeof(*order->firsts));
	memmove(order->numbers + place + 1, order->numbers + place,
		behind * sizeof(*order->numbers));
	memmove(order->counts + place + 1, order->counts + place, behind * sizeof(*order->counts));
	order->numbers[place] = number;
	order->counts[place] = 0;
	order->count++;
}

static void close_place(struct order *order, size_t place)
{
	uint32_t number = order->numbers[place];
	size_t behind = --order->count - place;

	memmove(order->firsts + place, order->firsts + place + 1, behind * sizeof(*order->firsts));
	memmove(order->numbers + place, order->numbers + place + 1,
		behind * sizeof(*order->numbers));
	memmove(order->counts + place, order->counts + place + 1, behind * sizeof(*order->counts));
	order->numbers[order->count] = number;
}

/* Moves the keys of PLACE from the FIRST-th on to the end of the chunk before or to an empty one. */
static void move_keys(struct order *order, size_t from, size_t first, size_t to)
{
	size_t moved = order->counts[from] - first;

	memcpy(keys_at(order, to) + order->counts[to], keys_at(order, from) + first,
	       moved * sizeof(uint64_t));
	order->counts[to] = (uint8_t)(order->counts[to] + moved);
	order->counts[from] = (uint8_t)first;
	order->firsts[to] = keys_at(order, to)[0];
}

static void put_in(struct order *order, uint64_t key)
{
	size_t place;

	if (order->count == 0)
		open_place(order, 0);
	place = find_place(order, key);
	if (order->counts[place] == CHUNK_KEYS) {
		open_place(order, place + 1);
		move_keys(order, place, CHUNK_KEYS / 2, place + 1);
		place += order->firsts[place + 1] <= key;
	}
	uint64_t *keys = keys_at(order, place);
	size_t count = order->counts[place]++;
	size_t at = count_below(keys, count, key);

	memmove(keys + at + 1, keys + at, (count - at) * sizeof(*keys));
	keys[at] = key;
	order->firsts[place] = keys[0];
}

/* The chunk at PLACE takes the next one's keys when both have few. */
static void join(struct order *order, size_t place)
{
	if (place + 1 >= order->count ||
	    order->counts[place] + order->counts[place + 1] > JOIN_BELOW)
		return;
	move_keys(order, place + 1, 0, place);
	close_place(order, place + 1);
}

static void take_out(struct order *order, uint64_t key)
{
	size_t place = find_place(order, key);
	uint64_t *keys = keys_at(order, place);
	size_t count = --order->counts[place];
	size_t at = count_below(keys, count + 1, key);

	memmove(keys + at, keys + at + 1, (count - at) * sizeof(*keys));
	if (count == 0) {
		close_place(order, place);
		if (place > 0)
			join(order, place - 1);
		return;
	}
	order->firsts[place] = keys[0];
	join(order, place);
	if (place > 0)
		join(order, place - 1);
}

void order_set(struct order *order, uint32_t item, uint64_t key)
{
	uint64_t old = order->keys[item];

	if (old == key)
		return;
	if (old != ORDER_NO_KEY)
		take_out(order, old);
	if (key != ORDER_NO_KEY)
		put_in(order, key);
	order->keys[item] = key;
}

static uint32_t item_of(uint64_t key)
{
	return (uint32_t)(key & ((1u << ORDER_ITEM_BITS) - 1));
}

uint32_t order_from(const struct order *order, uint64_t key)
{
	if (order->count == 0)
		return ORDER_NONE;
	size_t place = find_place(order, key);
	const uint64_t *keys = keys_at(order, place);
	size_t at = count_below(keys, order->counts[place], key);

	if (at < order->counts[place])
		return item_of(keys[at]);
	return place + 1 < order->count ? item_of(order->firsts[place + 1]) : ORDER_NONE;
}

uint32_t order_below(const struct order *order, uint64_t key)
{
	if (order->count == 0)
		return ORDER_NONE;
	size_t place = find_place(order, key);
	const uint64_t *keys = keys_at(order, place);
	size_t at = count_below(keys, order->counts[place], key);

	if (at > 0)
		return item_of(keys[at - 1]);
	if (place == 0)
		return ORDER_NONE;
	return item_of(keys_at(order, place - 1)[order->counts[place - 1] - 1u]);
}
