/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One random history of a node: the daemon's deciding half between a kubelet and a truth
 * (naive_node.h), and what is checked at each step. The events are in test_plugin_random.c.
 */
#pragma once

#include "naive_node.h"
#include "node_world.h"

struct history_tally {
	uint64_t steps, granted, initial, reused, preferred, hostile, blind, asked, restarts,
		kubelets;
	uint64_t lost_checkpoints, lost_ledgers, full_disks, cut_before, cut_after, sick, modes,
		deleted, pending_ticks, slow, adopted, lingering, left, refused[REASON_CODE_MAX];
};

struct history {
	uint64_t random, began; /* the dice, and as they were when this history began */
	struct node_world world;
	struct naive_node node;
	struct strbuf disk; /* the ledger there */
	bool file;          /* the checkpoint is there */
	uint64_t sent_ms;   /* when the lists changed last */
	unsigned last_pod;  /* that was granted something, and when */
	uint64_t last_ms;
	size_t open; /* Allocates that are not answered */
	struct history_tally tally;
	char differs[768]; /* "" while all is well */
};

struct history_question {
	const char *resource;
	const struct string_list *available, *must;
	unsigned size, pod;
	bool lawful; /* the kubelet offers nothing that it has given away */
};

/* Below LIMIT, by the seed. */
unsigned history_below(struct history *run, unsigned limit);
bool history_one_in(struct history *run, unsigned n);
/* The first difference counts. */
void history_differ(struct history *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The kubelet's file, of what it has in memory. */
void history_write_checkpoint(struct history *run);
/* The kubelet's answer to List: active Pods, without ordinary init containers. Owned by the caller. */
void history_list_pods(const struct history *run, struct kubelet_holdings *ret);
/* What the daemon does before it answers; writes the ledger; and what it does on its own: merge, keep, list. */
void history_merge(struct history *run);
void history_save(struct history *run);
void history_tick(struct history *run);
/* The daemon was killed: only the disk is left. */
void history_restart(struct history *run);
/* Whether the configuration lists ID, and its card is well. */
bool history_fits_mode(const struct history *run, const char *id);
/* Whether the ledger holds ID or what excludes it. */
bool history_ledger_is_near(const struct history *run, const char *id);
bool history_is_in(const struct string_list *list, const char *id);
unsigned history_card_of(const char *id);
/* GetPreferredAllocation, and its answer checked. */
int history_prefer(struct history *run, const struct history_question *question,
		   struct string_list *ret);
