/* SPDX-License-Identifier: Apache-2.0 */
/* Inside node_read: what a node's JSON is asked for. */
#pragma once

#include "model/node_read.h"

struct node_source {
	struct json_object *labels, *annotations, *allocatable, *capacity; /* may be NULL */
	struct node_spec *node;
	struct node_reading *reading;
};

/* Whole numbers only; 0 when it is absent, no quantity or negative. */
int64_t node_amount(struct json_object *map, const char *name);
/* Fills in the cards from the best source; what cannot be read is a problem, no error. -ENOMEM. */
int node_read_cards(const struct node_source *from);
/* The first problem is the one that is told. */
void node_problem(const struct node_source *from, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Cards by the labels of feature discovery (node_labels.c). 1: there. 0: not. -ENOMEM. */
int node_read_labels(const struct node_source *from);
