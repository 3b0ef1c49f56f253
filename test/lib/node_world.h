/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node for the tests of src/node: cards, configuration, ledger, checkpoint and Pods in a few words,
 * and views and lists in a few words again.
 */
#pragma once

#include <stdbool.h>

#include "node/plugin.h"

#define WORLD_PODS 64

struct node_world {
	struct inventory inventory;
	struct plugin_config config; /* its strings are literals */
	struct ledger ledger;
	struct plugin_view view;
	struct kubelet_checkpoint checkpoint;
	struct ledger_evidence evidence;
	struct reason_list reasons;
	struct driver_files *files;
	enum pod_sign signs[WORLD_PODS]; /* of Pods "pod-<n>" */
	bool no_cdi, foreign;
};

/* CARDS alike, of GIB each, healthy, on two NUMA nodes; NVLinks between pairs 0-1, 2-3, ... */
void world_init(struct node_world *world, unsigned cards, unsigned gib);
void world_release(struct node_world *world);

/* "GPU-00000000-0000-0000-0000-000000000003" */
const char *world_uuid(unsigned card, char ret[static CARD_UUID_MAX]);
/* "MIG-00000000-0000-0000-0003-000000000001" */
const char *world_mig_uuid(unsigned card, unsigned instance, char ret[static CARD_UUID_MAX]);
/* The card into MIG mode with these profiles, blank separated; "" none; NULL: out of it. */
void world_set_mig(struct node_world *world, unsigned card, const char *profiles);
/* time-slicing of RESOURCE; DEVICES: NULL all, "#2" a count, else names, blank separated. */
void world_share(struct node_world *world, const char *resource, const char *rename,
		 unsigned replicas, const char *devices);
void world_set_mode(struct node_world *world, unsigned card, enum card_mode mode, bool excluded);
void world_sicken(struct node_world *world, unsigned card, enum card_health health);

/*
 * IDs in words, blank separated: "3" a card, "3:1" a MIG device, "3::0" a replica, "3:1::0", "3m5" a
 * unit, "3m0-11" units; anything else is taken as it is. Added to LIST.
 */
void world_ids(const char *words, struct string_list *list);

/* An entry of the ledger that was answered. */
struct ledger_entry *world_hold(struct node_world *world, const char *resource, const char *words);
/* An entry of the checkpoint, whose stamp changes. */
void world_claim(struct node_world *world, unsigned pod, const char *container,
		 const char *resource, const char *words);
void world_claim_ids(struct node_world *world, unsigned pod, const char *container,
		     const char *resource, const struct string_list *ids);
void world_unclaim_all(struct node_world *world);
void world_unclaim(struct node_world *world, unsigned pod); /* all of the Pod */
void world_touch(struct node_world *world);                 /* written anew, the same */

void world_build(struct node_world *world, bool settled); /* after the view that is there */
/*
 * The view: "nvidia.com/gpu: 0 1!s 2+; gpupool.io/gpu-memory: 3m0-79". After an ID: + held, ! not
 * healthy and why (s sick, v vanished, o other mode, f foreign use, l leaves), - healthy and not given.
 */
void world_print(const struct node_world *world, struct strbuf *out);
void world_print_ids(const struct string_list *ids, struct strbuf *out); /* "0 3m0-11" */
struct plugin_scene world_scene(struct node_world *world, unsigned lists);
