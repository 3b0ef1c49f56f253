/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object PoolNode of poolnodes.gpupool.io/v1alpha1: the cards of one node and who holds them,
 * as the cluster shows them. Its schema for the API server is deploy/crds/poolnodes.yaml.
 *
 * How to add a field: a row in poolnode.c, a property in that file; test_poolnode.c compares them.
 */
#pragma once

#include <stddef.h>

#include "base/base.h"
#include "model/card.h"
#include "model/grant.h"

#define POOLNODE_API_VERSION "gpupool.io/v1alpha1"
#define POOLNODE_KIND        "PoolNode"

struct poolnode {
	char *name; /* owned */
	struct inventory inventory;
	struct grant *grants; /* owned; one a container */
	size_t grant_count, grant_capacity;
};

void poolnode_release(struct poolnode *node);
/* -EINVAL for a grant that the form does not have. */
int poolnode_to_json(const struct poolnode *node, struct json_object **ret, struct error *error);
/*
 * Checks every field that is read. Of a card uuid, model and memoryMiB must be there; without the
 * others it is healthy and idle. Sums of grants are worked out anew, not believed. What is used
 * without a grant becomes one process of unknown name.
 */
int poolnode_from_json(struct json_object *object, struct poolnode *ret, struct error *error);
