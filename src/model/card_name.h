/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a card as NVML names it, from the names that others write, and their UUIDs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/card.h"

/* "NVIDIA-H100-80GB-HBM3", as node labels have it; a name that is not known stays as it is. */
void card_name_from_label(const char *label, size_t length, char ret[static CARD_MODEL_MAX]);
/* "NVIDIA-NVIDIA A100-SXM4-80GB", "NVIDIA-Tesla T4": HAMi and Volcano put the vendor before it. */
void card_name_from_hami(const char *type, size_t length, char ret[static CARD_MODEL_MAX]);
/* Is it made of what a UUID may be made of wherever it is printed? */
bool card_uuid_is_plain(const char *text);
