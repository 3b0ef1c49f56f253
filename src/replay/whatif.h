/* SPDX-License-Identifier: Apache-2.0 */
/* Inside src/replay: how a changed cluster is made. */
#pragma once

#include "replay/replay.h"

#define LAYOUT_ITEMS_MAX 8

struct layout { /* what cards of some models become */
	char pattern[CARD_MODEL_MAX];
	const char *text; /* as it was written; not owned */
	struct {
		char profile[CARD_MIG_MAX];
		unsigned count;
	} items[LAYOUT_ITEMS_MAX]; /* none: instances are made as they are asked for */
	size_t count;
};

struct split { /* a model whose cards are in mode MIG now */
	const struct layout *layout;
	const struct mig_model *mig;
	char model[CARD_MODEL_MAX];
	uint64_t mib;
	size_t cards;
};

struct mapping {    /* what a request becomes, in words */
	char *text; /* owned */
	size_t pods;
};

struct builder {
	const struct trace *from;
	const struct whatif_changes *changes;
	struct whatif *to;
	bool *removed, *changed;  /* owned; by node of from */
	uint32_t *shapes;         /* owned; from -> to */
	bool *asks_anew;          /* owned; by shape of from: its request is another now */
	struct mapping *mappings; /* owned */
	size_t mapping_count, mapping_capacity;
	struct layout *layouts; /* owned */
	size_t layout_count, layout_capacity;
	struct split *splits; /* owned */
	size_t split_count, split_capacity;
};

/* One of the sentences. 0 or -ENOMEM, with the error. */
int whatif_say(struct builder *builder, struct error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* PATTERN is a glob or a known word. */
bool whatif_is_model(const char *pattern, const char *model);

/* whatif_mig.c */
int whatif_read_layouts(struct builder *builder, struct error *error);
/* Cards of NODE that have a layout; *ret_changed says whether there is one. */
int whatif_split_cards(struct builder *builder, struct node_spec *node, bool *ret_changed,
		       struct error *error);
int whatif_say_layouts(struct builder *builder, struct error *error);
/* The smallest profile that holds REQUEST, of those that the cards have; NULL. */
const struct mig_profile *whatif_find_profile(const struct builder *builder,
					      const struct request *request);

/* whatif_pods.c */
int whatif_add_pods(struct builder *builder, struct error *error);
