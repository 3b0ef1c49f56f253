/* SPDX-License-Identifier: Apache-2.0 */
/* String to pointer, keys copied, values not owned. Iteration is in order of insertion. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct map;

struct map *map_new(void); /* NULL when out of memory */
void map_free(struct map *map);

/* Replaces an older value. Returns 0 or -ENOMEM. */
int map_put(struct map *map, const char *key, void *value);
void *map_get(const struct map *map, const char *key); /* NULL when absent */
bool map_remove(struct map *map, const char *key);
size_t map_count(const struct map *map);

/* for (size_t at = 0; map_next(map, &at, &key, &value);) */
bool map_next(const struct map *map, size_t *at, const char **ret_key, void **ret_value);
