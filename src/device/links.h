/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix of links between cards. */
#pragma once

#include "base/base.h"
#include "device/nvml/query.h"
#include "model/model.h"

/*
 * Fills links of each card of INVENTORY: one to each other card, the same in both directions.
 * CARDS are NVML's answers by index. Where NVML says nothing, NUMA decides between node and system.
 */
int links_build(struct inventory *inventory, const struct nvml_card *cards, unsigned count,
		struct error *error);
