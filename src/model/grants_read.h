/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which cards a Pod of a cluster runs, from what its scheduler wrote on it. Formats:
 *  gpupool.io/cards: a JSON list of grants (model/grant.h)
 *  HAMi: pkg/device/devices.go, hami.io/vgpu-devices-allocated: "UUID,NVIDIA,MiB,cores:" a card,
 *    ";" behind each container, init containers first
 *  Volcano: pkg/scheduler/api/devices/nvidia/vgpu/utils.go, volcano.sh/vgpu-ids-new: the same, only
 *    containers that ask; older: volcano.sh/gpu-index, numbers of cards
 *  Koordinator: apis/extension/device_share.go, scheduling.koordinator.sh/device-allocated
 *  gpushare: pkg/utils/pod.go, ALIYUN_COM_GPU_MEM_IDX
 *  KAI: pkg/binder/binding/resourcereservation, label runai-gpu-group: all Pods of a group, and the
 *    reservation Pod, which knows the card, are on one card
 *
 * How to add a format: a row in grants_read.c, cases in test_grants_read.c.
 */
#pragma once

#include "base/base.h"
#include "model/demand.h"

/* Behind these a grant's uuid is not yet one: a card's number on the node, a group of KAI. */
#define GRANT_BY_INDEX '#'
#define GRANT_BY_GROUP '@'

/*
 * Fills DEMAND's grants, one a request, in order. A grant of whole cards has no units: all of the
 * card; neither has one of a share of a card's memory, which its request names.
 * 1: they are known. 0: nobody wrote them, or not so that they can be read. -ENOMEM.
 */
int grants_read(struct json_object *pod, struct demand *demand);
/* Does KAI keep a card with this Pod? *ret_group and *ret_uuid (owned by the tree) say which for
 * whom, or are NULL. */
bool grants_is_reservation(struct json_object *pod, const char **ret_group, const char **ret_uuid);
