/* SPDX-License-Identifier: Apache-2.0 */
/* What cards measure: numbers that follow from their use, until a test sets them. */
#pragma once

#include "kernel.h"

/* The word of `simdriver set`, or NULL. */
const char *value_word(enum sim_value value);

/* Fills the numbers of *STATE. POSITION: of the card in the machine, where some are warmer. */
void values_fill(const struct sim_card_info *info, uint32_t position,
		 const struct kernel_card *card, struct sim_card_state *state);

/* SET: from now on VALUE; else as it follows from the use. */
enum sim_status values_set(struct kernel_card *card, uint32_t which, bool set, uint64_t value);
