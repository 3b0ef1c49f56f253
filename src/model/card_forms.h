/* SPDX-License-Identifier: Apache-2.0 */
/* Inside src/model: what inventory.json and PoolNode objects share. */
#pragma once

#include "model/card.h"
#include "model/fields.h"
#include "model/grant.h"

extern const char *const card_mode_table[CARD_MODE_MAX];
extern const char *const card_health_table[CARD_HEALTH_MAX];
extern const char *const enforcement_table[ENFORCEMENT_MAX];
extern const struct field_list card_link_list, card_mig_list;

/* What the tables do not say: UUIDs that are there, once, and peers that exist. */
int inventory_check(const struct inventory *inventory, struct error *error);
