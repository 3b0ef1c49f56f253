/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"

#include <errno.h>
#include <stdlib.h>

int order_init(struct order *order, size_t size)
{
	struct order_node *nodes = calloc(size ? size : 1, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++)
		nodes[i] = (struct order_node){ ORDER_NO_KEY, ORDER_NONE, ORDER_NONE };
	*order = (struct order){ .nodes = nodes, .size = size, .root = ORDER_NONE };
	return 0;
}

void order_release(struct order *order)
{
	free(order->nodes);
	*order = (struct order){ .root = ORDER_NONE };
}

/* A fixed mix of the bits, so that neighbours get unlike priorities. */
static uint32_t priority(uint32_t item)
{
	uint32_t mix = item + 0x9e3779b9u;

	mix = (mix ^ (mix >> 16)) * 0x85ebca6bu;
	mix = (mix ^ (mix >> 13)) * 0xc2b2ae35u;
	return mix ^ (mix >> 16);
}

/* The link that points at KEY, or the place where a node of priority STOP belongs. */
static uint32_t *find_link(struct order *order, uint64_t key, uint32_t stop)
{
	uint32_t *link = &order->root;

	while (*link != ORDER_NONE) {
		struct order_node *node = &order->nodes[*link];

		if (node->key == key || priority(*link) < stop)
			break;
		link = key < node->key ? &node->left : &node->right;
	}
	return link;
}

static void take_out(struct order *order, uint32_t item)
{
	uint32_t *link = find_link(order, order->nodes[item].key, 0);
	uint32_t left = order->nodes[item].left, right = order->nodes[item].right;

	while (left != ORDER_NONE && right != ORDER_NONE) {
		if (priority(left) > priority(right)) {
			*link = left;
			link = &order->nodes[left].right;
			left = *link;
		} else {
			*link = right;
			link = &order->nodes[right].left;
			right = *link;
		}
	}
	*link = left != ORDER_NONE ? left : right;
	order->nodes[item] = (struct order_node){ ORDER_NO_KEY, ORDER_NONE, ORDER_NONE };
}

static void put_in(struct order *order, uint32_t item, uint64_t key)
{
	uint32_t *link = find_link(order, key, priority(item));
	uint32_t rest = *link;
	uint32_t *lower = &order->nodes[item].left, *upper = &order->nodes[item].right;

	order->nodes[item].key = key;
	*link = item;
	while (rest != ORDER_NONE) { /* split what was below by the new key */
		struct order_node *node = &order->nodes[rest];

		if (node->key < key) {
			*lower = rest;
			lower = &node->right;
			rest = node->right;
		} else {
			*upper = rest;
			upper = &node->left;
			rest = node->left;
		}
	}
	*lower = ORDER_NONE;
	*upper = ORDER_NONE;
}

void order_set(struct order *order, uint32_t item, uint64_t key)
{
	uint64_t old = order->nodes[item].key;

	if (old == key)
		return;
	if (old != ORDER_NO_KEY)
		take_out(order, item);
	if (key != ORDER_NO_KEY)
		put_in(order, item, key);
}

uint32_t order_from(const struct order *order, uint64_t key)
{
	uint32_t found = ORDER_NONE;

	for (uint32_t at = order->root; at != ORDER_NONE;) {
		const struct order_node *node = &order->nodes[at];

		if (node->key >= key)
			found = at;
		at = node->key >= key ? node->left : node->right;
	}
	return found;
}

uint32_t order_below(const struct order *order, uint64_t key)
{
	uint32_t found = ORDER_NONE;

	for (uint32_t at = order->root; at != ORDER_NONE;) {
		const struct order_node *node = &order->nodes[at];

		if (node->key < key)
			found = at;
		at = node->key < key ? node->right : node->left;
	}
	return found;
}
