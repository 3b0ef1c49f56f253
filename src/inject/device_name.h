/* SPDX-License-Identifier: Apache-2.0 */
/* The names by which cards and MIG instances are asked for and granted. Inside this folder only. */
#pragma once

#include <stdbool.h>

#include "model/model.h"

/* "0:1", "MIG-...": no card of its own. */
bool device_name_is_instance(const char *name);

/* By index, UUID (letter case is no matter) or PCI address; NULL when there is none. */
const struct card *device_find_card(const struct inventory *inventory, const char *name);
/* By "card:instance", UUID, or the old form MIG-<card's UUID>/<GPU instance>/<compute instance>;
 * NULL when there is none, else *ret_card is its card. */
const struct card_instance *device_find_instance(const struct inventory *inventory,
						 const char *name, const struct card **ret_card);

/* What a grant calls it: its UUID; when that is not known, the old form. */
void device_instance_name(const struct card *card, const struct card_instance *instance,
			  char ret[static CARD_UUID_MAX]);
