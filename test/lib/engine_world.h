/* SPDX-License-Identifier: Apache-2.0 */
/* Random nodes and Pods for comparisons of the engine with its reference. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"
#include "naive_score.h"

#define WORLD_A100    "NVIDIA A100-SXM4-80GB"
#define WORLD_MODELS  3
#define WORLD_CLASSES 6

struct world_model {
	const char *name;
	unsigned gib;
};
extern const struct world_model world_models[WORLD_MODELS];

struct dice {
	uint64_t state; /* not 0 */
};
unsigned dice_below(struct dice *dice, unsigned limit);
bool dice_chance(struct dice *dice, unsigned percent);

/* Node n<number>: up to 8 cards, some sick, used by others or in other modes; labels, taints. */
void world_make_node(struct dice *dice, unsigned number, struct node_spec *node);
/* What a Pod may ask of such nodes; its card names are those of NODE_COUNT nodes. */
void world_make_shape(struct dice *dice, unsigned node_count, struct demand *demand);
/* Class NUMBER of an expected workload: 1, 2 or 4 whole cards, or a share; both forms of it. */
void world_make_class(struct dice *dice, unsigned number, struct demand *demand,
		      struct naive_ask *ask);
