/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ordered set of numbered items, each with one key whose low bits are the item's number. Sorted
 * chunks of up to 63 keys behind one sorted directory: a look-up or a change touches few lines of
 * memory. All memory is taken at the start, so that changes cannot fail.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_ITEM_BITS 25
#define ORDER_NONE      UINT32_MAX
#define ORDER_NO_KEY    UINT64_MAX

struct order_chunk;

struct order {
	uint64_t *keys; /* owned; by item, ORDER_NO_KEY: not in the set */
	size_t size;
	/* The directory, in order of the keys. Two neighbours hold more than 48 keys together. */
	uint64_t *firsts;  /* owned; smallest key of each chunk */
	uint32_t *numbers; /* owned; which chunk; behind count those that are free */
	uint8_t *counts;   /* owned; keys in each chunk */
	size_t count;
	struct order_chunk *chunks; /* owned */
};

int order_init(struct order *order, size_t size); /* 0 or -ENOMEM */
void order_release(struct order *order);

/* Puts ITEM at KEY, moves it there, or takes it out with ORDER_NO_KEY. */
void order_set(struct order *order, uint32_t item, uint64_t key);

/* The item with the smallest key >= KEY, or the largest key < KEY; ORDER_NONE when there is none. */
uint32_t order_from(const struct order *order, uint64_t key);
uint32_t order_below(const struct order *order, uint64_t key);

static inline uint64_t order_key(const struct order *order, uint32_t item)
{
	return order->keys[item];
}
