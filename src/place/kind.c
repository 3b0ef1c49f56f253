/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of nodes. Clusters have few: what a shape of Pod thinks of a node before anybody is there is
 * found out once a kind, and a few words say it for all nodes.
 */
#include "internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define NAME_MAX_BYTES 24u

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct pool *pool, const struct node *node)
{
	uint64_t hash = mix(0xcbf29ce484222325u, node->count);

	hash = mix(hash, (uint64_t)node->total.cpu_milli);
	hash = mix(hash, (uint64_t)node->total.memory_mib);
	hash = mix(hash, (uint64_t)node->total.pods);
	hash = mix(mix(hash, node->healthy), node->foreign);
	for (unsigned i = 0; i < CARD_MODE_MAX; i++)
		hash = mix(hash, node->modes[i]);
	for (unsigned i = 0; i < node->count; i++) {
		const struct slot *slot = node_slot(pool, node, i);

		hash = mix(hash, (uint64_t)slot->model << 32 | (uint64_t)slot->units << 1 |
					 slot->size_unknown);
	}
	return hash;
}

/* MIG layouts differ from node to node: those are kinds of their own. */
static bool alike(const struct pool *pool, const struct node *a, const struct node *b)
{
	if (a->mig || b->mig || a->count != b->count || a->healthy != b->healthy ||
	    a->foreign != b->foreign || a->total.cpu_milli != b->total.cpu_milli ||
	    a->total.memory_mib != b->total.memory_mib || a->total.pods != b->total.pods)
		return false;
	for (unsigned i = 0; i < CARD_MODE_MAX; i++)
		if (a->modes[i] != b->modes[i])
			return false;
	for (unsigned i = 0; i < a->count; i++) {
		const struct slot *left = node_slot(pool, a, i), *right = node_slot(pool, b, i);

		if (left->model != right->model || left->units != right->units ||
		    left->size_unknown != right->size_unknown)
			return false;
	}
	return true;
}

int kind_find(struct pool *pool, const struct node *node, uint32_t *ret)
{
	char name[NAME_MAX_BYTES];
	uintptr_t known;
	uint32_t *first;

	snprintf(name, sizeof(name), "%" PRIx64, hash_of(pool, node));
	known = (uintptr_t)map_get(pool->kind_names, name);
	if (known && alike(pool, &pool->nodes[pool->kind_nodes[known - 1]], node)) {
		*ret = (uint32_t)(known - 1);
		return 0;
	}
	if (!known &&
	    map_put(pool->kind_names, name, (void *)(uintptr_t)(pool->kind_count + 1)) < 0)
		return -ENOMEM;
	first = VEC_ADD(&pool->kind_nodes, &pool->kind_count, &pool->kind_capacity);
	if (!first) {
		if (!known)
			map_remove(pool->kind_names, name);
		return -ENOMEM;
	}
	*first = (uint32_t)pool->node_count; /* the node that is being added */
	*ret = (uint32_t)(pool->kind_count - 1);
	return 0;
}
