/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle for src/place: answers from the list of grants alone, by looking at everything each
 * time. It shares nothing with the engine but the model.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"

#define NAIVE_CARDS_MAX 64

struct naive_grant {
	uint64_t id; /* as the engine numbered it */
	enum request_kind kind;
	unsigned node, count;
	unsigned cards[NAIVE_CARDS_MAX], units[NAIVE_CARDS_MAX];
	unsigned compute; /* on each card */
	char profile[32]; /* MIG: of each, and where it starts */
	uint8_t starts[NAIVE_CARDS_MAX];
};

/* Wrong on purpose: a comparison with the engine must notice each of them. */
enum naive_fault {
	NAIVE_RIGHT,
	NAIVE_MEMORY_OFF_BY_ONE,  /* a card that fits exactly counts as too full */
	NAIVE_COMPUTE_OFF_BY_ONE, /* the same for compute */
	NAIVE_FOREIGN_IGNORED,
	NAIVE_HEALTH_IGNORED,
	NAIVE_MODE_IGNORED,
	NAIVE_HAVE_OFF_BY_ONE,  /* only the number in the reason is wrong */
	NAIVE_SLICES_FORGOTTEN, /* a card with slices counts as free for a whole holder */
	NAIVE_MIG_PLACE_LOST,   /* one instance less than there is room for */
	NAIVE_FAULT_MAX,
};

struct naive_use { /* of one card, added up from the grants */
	unsigned holders, whole, instances, units, compute;
};

struct naive_world {
	const struct inventory *inventories; /* by node */
	size_t node_count;
	struct naive_grant *grants; /* owned */
	size_t grant_count, grant_capacity;
	struct naive_use *uses; /* owned; room for the sums of one look */
	enum naive_fault fault;
	bool no_mig; /* requests of that kind are not offered */
};

struct naive_answer {
	int result; /* 0, -EAGAIN, -ENOSPC */
	enum reason_code code;
	int64_t wanted, have, total;
};

void naive_release(struct naive_world *world);

/* NODE < 0: the whole pool. Else the numbers of that node only, code and result as they are there. */
void naive_decide(struct naive_world *world, const struct request *request, int node,
		  struct naive_answer *ret);

/* NULL, or which sum of grants exceeds a card. */
const char *naive_excess(struct naive_world *world, char *text, size_t size);
