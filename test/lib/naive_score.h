/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What docs/placement.md says a node is worth, computed the long way: no tables, no fixed point,
 * nothing of src/place. The policy default with a workload is not among them: its prices come from
 * an iteration that has no short form.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"

#define NAIVE_CARDS  64
#define NAIVE_MODELS 8

struct naive_ask { /* a Pod */
	unsigned cards;
	bool whole;
	int64_t cpu;
	unsigned milli[NAIVE_MODELS]; /* of each of its cards; 0: not this model */
};

struct naive_class { /* of the expected workload */
	struct naive_ask ask;
	double share;
};

struct naive_node {
	int64_t cpu_left; /* or RESOURCE_UNLIMITED */
	unsigned count;
	unsigned left[NAIVE_CARDS], model[NAIVE_CARDS];
	bool links_known;
	unsigned tie[NAIVE_CARDS][NAIVE_CARDS]; /* strength of each pair's link; NVLink: 100 up */
	bool shares;                            /* a Pod that shares a card is there */
	bool wholes[NAIVE_CARDS + 1];           /* one that holds so many whole cards is there */
};

struct naive_mix {
	const struct naive_class *classes; /* none: no workload */
	size_t count;
	bool original_cards, original_classes;
};

struct naive_value {
	int64_t value;
	uint64_t cards; /* those that give it */
	/* The value before it was cut is so near to a whole number that the next one is right, too:
	 * whoever computes with other roundings may be on the other side. */
	int64_t low, high;
};

/* Is POLICY one of those that this file knows, with or without a workload? */
bool naive_knows(const char *policy, const struct naive_mix *mix);
/* FITS: the cards that can serve, at least ask->cards of them. */
struct naive_value naive_score(const char *policy, const struct naive_mix *mix,
			       const struct naive_node *node, const struct naive_ask *ask,
			       uint64_t fits);
/* The tie rule bestfit: the less is left, the better. */
int64_t naive_tie(const struct naive_node *node, const struct naive_ask *ask);
/* The fragment of a node, in 1/1000 of a card. */
double naive_fragment(const struct naive_mix *mix, const struct naive_node *node);
