/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of bare machines: nodes that are their cards, Pods that are one request. */
#pragma once

#include "base/base.h"
#include "model/model.h"
#include "place/place.h"

int bare_add_node(struct pool *pool, const char *name, const struct inventory *inventory,
		  struct error *error);
int bare_decide(struct pool *pool, const struct request *request, const char *object,
		struct placement *ret, struct reason *ret_reason);
int bare_hold(struct pool *pool, const struct request *request, const struct placement *placement,
	      uint64_t *ret_id);
