/* SPDX-License-Identifier: Apache-2.0 */
/* What choosing and answering share. Inside this folder only. */
#pragma once

#include "node/device_id.h"
#include "node/ledger_private.h"
#include "node/plugin.h"

/* "a container that asks for 2 nvidia.com/gpu", the node, the number. */
void scene_reason(const struct plugin_scene *scene, enum reason_code code, const char *resource,
		  size_t wanted, struct reason *ret);
/* Copies REASON to *ret_reason (may be NULL) and its sentence to the error; returns -NUMBER. */
int scene_refuse(const struct reason *reason, int number, struct reason *ret_reason,
		 struct error *error);
void scene_describe_card(const struct plugin_scene *scene, uint32_t card,
			 char ret[static CARD_DESCRIPTION_MAX]);
/* The devices of a resource by ID; -ENOMEM. */
int scene_index(const struct plugin_resource *resource, struct map **ret);

/* What the runtime is told of PICKED, in the order of the view. */
int scene_answer(const struct plugin_scene *scene, const struct plugin_device *const *picked,
		 size_t count, uint64_t serial, struct kubelet_answer *ret, struct error *error);
