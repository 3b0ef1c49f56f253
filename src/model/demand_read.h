/* SPDX-License-Identifier: Apache-2.0 */
/* What a Pod of a cluster asks for, from its JSON as the API server gives it. */
#pragma once

#include "base/base.h"
#include "model/demand.h"

/*
 * Sums of the containers' requests (or the largest init container), cards through the dialect
 * table, nodeSelector, required node affinity, tolerations, priority, node, gang. SOURCE and LINE are for
 * messages. 0; -ESTALE for a Pod that has ended and holds nothing; -EPERM when a dialect refuses it;
 * -EINVAL; -ENOMEM. NOTES gets what is not read. Not read: grants, queues, claims, overhead,
 * and cards of init containers that end before the Pod runs.
 */
int demand_read(struct json_object *pod, const char *source, unsigned long line,
		struct string_list *notes, struct demand *ret, struct error *error);
