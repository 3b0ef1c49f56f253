/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference for decisions over nodes: everything is counted anew from the list of who holds what,
 * and every node is looked at. Nothing of src/place; what a node is worth: naive_score.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"
#include "naive_score.h"

/* How far a node comes, in the order of the engine: what waiting cannot cure comes first. */
enum naive_step {
	NAIVE_IDENTITY, /* model and UUID */
	NAIVE_AFFINITY,
	NAIVE_OFFERED,
	NAIVE_COUNT,
	NAIVE_SIZE,
	NAIVE_NODE_CPU,
	NAIVE_NODE_MEMORY,
	NAIVE_TAINT,
	NAIVE_HEALTH,
	NAIVE_MODE,
	NAIVE_FOREIGN,
	NAIVE_ROOM,
	NAIVE_COMPUTE,
	NAIVE_CPU,
	NAIVE_MEMORY,
	NAIVE_PODS,
	NAIVE_FITS,
};

struct naive_held_card {
	unsigned card, units;
};

struct naive_held { /* by one Pod */
	uint64_t id;
	bool assumed;
	unsigned node;
	struct resources needs;
	enum request_kind kind;
	unsigned compute;              /* on each card */
	struct naive_held_card *cards; /* owned */
	size_t count, capacity;
};

struct naive_book {
	const struct node_spec *nodes;
	size_t node_count;
	struct naive_held *held; /* owned */
	size_t held_count, held_capacity;
};

struct naive_card { /* what is held of it */
	unsigned holders, whole, units, compute;
};

struct naive_verdict {
	enum naive_step step;
	enum reason_code code;
	int64_t nearness; /* among nodes at one step, more is nearer to a fit */
	int64_t wanted, have, total;
	uint64_t fits; /* cards of the one request that can serve */
};

void naive_book_release(struct naive_book *book);
void naive_book_add(struct naive_book *book, const struct naive_held *held); /* moves it */
void naive_book_remove(struct naive_book *book, size_t at);

void naive_card_of(const struct naive_book *book, unsigned node, unsigned card,
		   struct naive_card *ret);
struct resources naive_used(const struct naive_book *book, unsigned node);
/* 1/1000 of a card that are left: the smaller of memory and compute. */
unsigned naive_left_milli(const struct naive_book *book, unsigned node, unsigned card);

/* What REQUEST gets of a card: GiB and MiB. */
void naive_part(const struct naive_book *book, unsigned node, unsigned card,
		const struct request *request, unsigned *ret_units, uint64_t *ret_mib);

/* Of a demand with at most one request. */
void naive_look(const struct naive_book *book, unsigned node, const struct demand *demand,
		struct naive_verdict *ret);
/* 0, -EAGAIN or -ENOSPC for the whole pool; *ret is the deepest obstacle. */
int naive_judge(const struct naive_book *book, const struct demand *demand,
		struct naive_verdict *ret);

/* One card for the one request, whatever else is on the node; code REASON_NONE: it can serve. */
void naive_look_at_card(const struct naive_book *book, unsigned node, unsigned card,
			const struct demand *demand, struct naive_verdict *ret);
/* What stops a node, of its own: where naive_look() says IDENTITY, which of the names is not there. */
enum reason_code naive_node_code(const struct naive_book *book, unsigned node,
				 const struct demand *demand);

/* The node and the request as the policies see them. MODELS: names, at most NAIVE_MODELS. */
void naive_describe(const struct naive_book *book, unsigned node, const struct demand *demand,
		    const char *const *models, size_t model_count, struct naive_node *ret_node,
		    struct naive_ask *ret_ask);

/* NULL, or which sum exceeds what there is (I1). */
const char *naive_book_excess(const struct naive_book *book, char *text, size_t size);
