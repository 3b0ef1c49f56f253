/* SPDX-License-Identifier: Apache-2.0 */
/* String to pointer, keys copied, values not owned. Iteration is in order of insertion. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct map;

struct map *map_new(void); /* NULL when out of memory */
void map_free(struct map *map);

DEFINE_CLEANUP(struct map, map_free)
#define automap cleanup(map_freep) struct map

/* Replaces an older value. Returns 0 or -ENOMEM, and on failure changes nothing. */
int map_put(struct map *map, const char *key, void *value);
void *map_get(const struct map *map, const char *key); /* NULL when absent */
bool map_remove(struct map *map, const char *key);
size_t map_count(const struct map *map);

/*
 * for (size_t at = 0; map_next(map, &at, &key, &value);)
 * map_remove() is allowed inside the loop, map_put() of a new key is not.
 */
bool map_next(const struct map *map, size_t *at, const char **ret_key, void **ret_value);
