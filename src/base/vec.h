/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays: `type *items; size_t count, capacity;` in the owner, grown through here. */
#pragma once

#include <stddef.h>

/*
 * Makes room for NEEDED items of SIZE bytes in *items; new room is zeroed. Returns 0 or -ENOMEM,
 * and on failure changes nothing.
 */
int vec_reserve(void *items, size_t *capacity, size_t needed, size_t size);

/* VEC_ADD(&list->items, &list->count, &list->capacity): pointer to a new zeroed item, or NULL. */
#define VEC_ADD(items, count, capacity)                                        \
	(vec_reserve((items), (capacity), *(count) + 1, sizeof(**(items))) < 0 \
		 ? NULL                                                        \
		 : &(*(items))[(*(count))++])
