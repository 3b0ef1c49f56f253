/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best of many numbered items whose keys change one at a time. A tree of 8 branches: each
 * inner node knows the best key below it and how many items have that key. A change marks the path;
 * the marked nodes are played again, once each, when the best is asked for, so that many changes
 * between two questions share the work above them. Of items that are alike the lowest number is
 * the best. All memory is taken at the start: changes cannot fail.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOURNAMENT_NONE       UINT32_MAX
#define TOURNAMENT_OUT        INT64_MIN /* the value of an item that does not take part */
#define TOURNAMENT_LEVELS_MAX 13u

struct tournament_key { /* more is better, compared in this order */
	int64_t value, tie;
};

struct tournament_level {
	int64_t *values;
	int64_t *ties;   /* NULL without ties */
	uint32_t *alike; /* items below with that key; NULL for the items themselves */
	uint64_t *dirty; /* nodes to be played again; NULL for the items */
	size_t count;
};

struct tournament {
	struct tournament_level levels[TOURNAMENT_LEVELS_MAX]; /* 0: the items */
	unsigned level_count;
	uint64_t *present; /* items that are not out */
	size_t size;
	bool settled;
	void *memory; /* owned */
};

/* SIZE items that are all out. TIES: keys have a second part. 0 or -ENOMEM; more than 2^31 items
 * are -ENOMEM, too. */
int tournament_init(struct tournament *tournament, size_t size, bool ties);
void tournament_release(struct tournament *tournament);
void tournament_set(struct tournament *tournament, uint32_t item, const struct tournament_key *key);

struct tournament_key tournament_key_of(const struct tournament *tournament, uint32_t item);
/* The best item, and its key; TOURNAMENT_NONE when all are out. */
uint32_t tournament_best(struct tournament *tournament, struct tournament_key *ret_key);
uint32_t tournament_alike(struct tournament *tournament); /* items as good as the best */
/* The NTH (0-based, below tournament_alike()) of the items as good as the best, by number. */
uint32_t tournament_nth(struct tournament *tournament, uint32_t nth);
