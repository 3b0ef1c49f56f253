/* SPDX-License-Identifier: Apache-2.0 */
/* Inventories for tests and benchmarks of src/place. */
#pragma once

#include "base/base.h"
#include "model/model.h"

/* How the cards of a node hang together. */
enum world_links {
	WORLD_NO_LINKS,
	WORLD_ALL,    /* an NVSwitch: each card with each other */
	WORLD_PAIRS,  /* NVLink bridges: 0-1, 2-3, ...; PCIe between the pairs */
	WORLD_HALVES, /* NVLink inside each half, the CPUs between */
	WORLD_LINKS_MAX,
};

/* Adds COUNT healthy cards; UUIDs are GPU-<node>-<position>. Aborts when out of memory. */
void world_add_cards(struct inventory *inventory, unsigned node, unsigned count, const char *model,
		     unsigned gib, enum card_mode mode);
void world_link(struct inventory *inventory, enum world_links links);
void world_add_process(struct card *card, bool granted, uint64_t mib);
