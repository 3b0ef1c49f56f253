/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ordered set of numbered items, each with one key, whose memory is taken once: changes cannot
 * fail. Keys are unique because the item's own number is part of them. A treap whose priorities
 * come from the item numbers: the shape, and so every decision, is the same in each run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_NONE   UINT32_MAX
#define ORDER_NO_KEY UINT64_MAX

struct order_node {
	uint64_t key; /* ORDER_NO_KEY: not in the set */
	uint32_t left, right;
};

struct order {
	struct order_node *nodes; /* owned; by item */
	size_t size;
	uint32_t root;
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
	return order->nodes[item].key;
}
