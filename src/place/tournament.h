/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best of many numbered items whose keys change one at a time. Each inner node of a binary
 * tree knows the best item below it and how many are as good, so that the best is known at once,
 * one of those alike can be drawn in O(log n), and a change climbs one path. Of items that are
 * alike the lowest number is the best. All memory is taken at the start: changes cannot fail.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TOURNAMENT_NONE UINT32_MAX

struct tournament_key { /* more is better, compared in this order */
	uint32_t depth;
	int64_t value, tie;
};

struct tournament_node {
	uint32_t best;  /* item, or TOURNAMENT_NONE */
	uint32_t alike; /* items below with the same key, itself included */
};

struct tournament {
	struct tournament_key *keys;   /* owned; by item */
	struct tournament_node *nodes; /* owned; 1 is the root, the leaves start at LEAVES */
	size_t size, leaves;
};

/* As strcmp(): above 0 when A is better. */
int tournament_compare(const struct tournament_key *a, const struct tournament_key *b);

/* SIZE items, all with the key 0, 0, 0. 0 or -ENOMEM; more than 2^31 items are -ENOMEM, too. */
int tournament_init(struct tournament *tournament, size_t size);
void tournament_release(struct tournament *tournament);
void tournament_set(struct tournament *tournament, uint32_t item, const struct tournament_key *key);
/* Many at once: put each key, then build; nothing else may be called in between. */
void tournament_put(struct tournament *tournament, uint32_t item, const struct tournament_key *key);
void tournament_build(struct tournament *tournament);

uint32_t tournament_best(const struct tournament *tournament);  /* TOURNAMENT_NONE when empty */
uint32_t tournament_alike(const struct tournament *tournament); /* items as good as the best */
/* The NTH (0-based, below tournament_alike()) of the items as good as the best, by number. */
uint32_t tournament_nth(const struct tournament *tournament, uint32_t nth);
