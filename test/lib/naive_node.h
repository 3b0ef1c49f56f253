/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference for src/node: a kubelet in a few lines, and what is true of the Pods whatever the daemon
 * thinks. Nothing of src/node but the IDs' form, which is read anew here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"

#define NAIVE_PODS  60
#define NAIVE_HOLDS 3

enum naive_state {
	NAIVE_NONE,
	NAIVE_ADMITTED, /* no process yet */
	NAIVE_RUNS,
	NAIVE_ENDED,
};

struct naive_hold { /* what an answer gave to a container */
	char resource[64];
	struct string_list ids;
	bool init; /* an ordinary init container's */
};

struct naive_pod {
	enum naive_state state;
	bool known;  /* the kubelet's memory has its devices */
	bool active; /* the kubelet would not collect it: neither ended nor deleted by force */
	struct naive_hold holds[NAIVE_HOLDS];
	size_t hold_count;
};

struct naive_listed {
	char resource[64];
	char id[64];
	bool healthy;
};

struct naive_node {
	struct naive_pod pods[NAIVE_PODS];
	unsigned count;
	struct naive_listed *listed; /* owned; what the kubelet was told last */
	size_t listed_count, listed_capacity;
};

/* An ID taken apart: of which card (NAIVE numbers of node_world.h), which MIG device, what kind. */
struct naive_id {
	unsigned card;
	int instance; /* -1: the card */
	char kind;    /* 'w' whole or MIG, 'r' replica, 'u' unit */
	unsigned number;
};
struct naive_id naive_id(const char *text);

/* Two holders of these would be two on one thing. */
bool naive_excludes(const char *a, const char *b);

void naive_node_release(struct naive_node *node);
void naive_forget_holds(struct naive_pod *pod);
void naive_hold_ids(struct naive_pod *pod, const char *resource, const struct string_list *ids,
		    bool init);

/* Whether a Pod that lives, another than BUT (NAIVE_PODS: none), has ID or what excludes it. */
bool naive_is_taken(const struct naive_node *node, const char *id, unsigned but);
/* Whether a Pod that lives has that very ID. */
bool naive_is_held(const struct naive_node *node, const char *id);
/* NULL, or two Pods that have what only one may (I1). */
const char *naive_check_holds(const struct naive_node *node, char *text, size_t size);
/* NULL, or what is wrong with the lists NEXT after those that the kubelet had. */
const char *naive_check_lists(const struct naive_node *node, const struct naive_listed *next,
			      size_t count, char *text, size_t size);

/* UpdateAllocatedDevices: what inactive Pods had is forgotten. */
void naive_collect(struct naive_node *node);
/* Healthy devices of RESOURCE that the kubelet takes for free. BLIND: but for those of that Pod. */
void naive_available(const struct naive_node *node, const char *resource, unsigned blind,
		     struct string_list *ret);
