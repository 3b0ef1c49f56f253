/* SPDX-License-Identifier: Apache-2.0 */
/* A node as a scheduler sees it: its cards, what else a Pod needs of it, and whom it lets in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/card.h"

#define RESOURCE_UNLIMITED INT64_MAX /* the source does not count it */

struct resources {
	int64_t cpu_milli;  /* 1/1000 of a CPU */
	int64_t memory_mib; /* of the host */
	int64_t pods;
};

struct label {
	char *key, *value; /* owned */
};

enum taint_effect {
	TAINT_NO_SCHEDULE,
	TAINT_PREFER_NO_SCHEDULE, /* no filter */
	TAINT_NO_EXECUTE,
	TAINT_EFFECT_MAX,
	TAINT_EFFECT_INVALID = -22,
};

struct taint {
	char *key, *value; /* owned; value may be NULL */
	enum taint_effect effect;
};

struct node_spec {
	char *name;           /* owned */
	struct label *labels; /* owned, by key rising, no key twice */
	size_t label_count, label_capacity;
	struct taint *taints; /* owned */
	size_t taint_count, taint_capacity;
	struct resources allocatable;
	bool unschedulable; /* cordoned */
	struct inventory inventory;
};

/* Unlimited resources, no cards. */
void node_spec_init(struct node_spec *node);
void node_spec_release(struct node_spec *node);
/* NULL when the node has no such label. */
const char *node_spec_label(const struct node_spec *node, const char *key);
int node_spec_set_label(struct node_spec *node, const char *key, const char *value); /* -ENOMEM */

/* Name, labels, taints and cordon; everything. *RET is to be released also on failure. 0 or -ENOMEM. */
int node_spec_copy_rules(const struct node_spec *node, struct node_spec *ret);
int node_spec_copy(const struct node_spec *node, struct node_spec *ret);

const char *taint_effect_to_string(enum taint_effect effect); /* "NoSchedule" */
enum taint_effect taint_effect_from_string(const char *text);

/* A node as logs of decisions have it. Reading checks every field; *ret on success only. */
int node_spec_to_json(const struct node_spec *node, struct json_object **ret, struct error *error);
int node_spec_from_json(struct json_object *object, struct node_spec *ret, struct error *error);
