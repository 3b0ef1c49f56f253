/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables of test_place.c and test_place_book.c share. */
#pragma once

#include "test.h"

#include "base/base.h"
#include "model/model.h"
#include "place/place.h"
#include "bare.h"

#define A100 "NVIDIA A100-SXM4-80GB"
#define T4   "Tesla T4"

/* Fields of a struct request. */
#define WHOLE(n)      .kind = REQUEST_WHOLE, .cards = (n)
#define SLICE(n, gib) .kind = REQUEST_SLICE, .cards = (n), .units = (gib), .memory_mib = (gib)*1024
#define LIST(array)                           \
	{                                     \
		(array), ARRAY_SIZE(array), 0 \
	}

/* The standard world: node a with 8 A100 of 80 GiB and an NVSwitch, node b with 4 T4 of 15 GiB. */
void make_world(struct inventory *inventories, enum card_mode mode);
void release_inventories(struct inventory (*inventories)[2]);
/* The nodes a and b of the first COUNT inventories. */
struct pool *make_pool(const struct inventory *inventories, size_t count);
/* Decides and holds; *ret (may be NULL) is the placement. */
uint64_t must_hold(struct pool *pool, const struct request *request, struct placement *ret);
