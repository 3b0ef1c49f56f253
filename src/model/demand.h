/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one Pod asks of a node: cards for its containers, CPU and memory, and which nodes will do.
 * The sums of Kubernetes: containers together, or the largest init container.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/grant.h"
#include "model/node.h"
#include "model/request.h"

#define DEMAND_REQUESTS_MAX 8 /* containers of one Pod that ask for cards */

enum match_operator {
	MATCH_IN,
	MATCH_NOT_IN,
	MATCH_EXISTS,
	MATCH_DOES_NOT_EXIST,
	MATCH_GT,
	MATCH_LT,
	MATCH_OPERATOR_MAX,
	MATCH_OPERATOR_INVALID = -22,
};

struct match {
	char *key; /* owned; a label's, or NULL: the node's name (matchFields) */
	enum match_operator operator;
	struct string_list values;
};

struct match_term {          /* all must hold; an empty one matches nothing, as in Kubernetes */
	struct match *items; /* owned */
	size_t count, capacity;
};

struct toleration {
	char *key, *value;        /* owned; key NULL: every taint; value NULL: operator Exists */
	enum taint_effect effect; /* TAINT_EFFECT_MAX: every effect */
};

struct demand {
	char *object; /* owned; "container main of Pod default/train", "Pod default/train" */
	char *namespace, *name;   /* owned; may be NULL where nothing is reported by them */
	struct request *requests; /* owned; those that ask for cards, at most DEMAND_REQUESTS_MAX */
	size_t request_count, request_capacity;
	char **containers; /* owned; the container of each request */
	struct resources needs;
	struct label *selector; /* owned; nodeSelector: all must be on the node */
	size_t selector_count, selector_capacity;
	struct match_term *terms; /* owned; required node affinity: one of them; none: every node */
	size_t term_count, term_capacity;
	struct toleration *tolerations; /* owned */
	size_t toleration_count, toleration_capacity;
	int priority;
	char *queue, *gang;   /* owned, or NULL */
	unsigned gang_size;   /* 0: no gang */
	char *gang_domain;    /* owned; label whose value the whole gang must share, or NULL */
	int64_t created, end; /* seconds from the start of a trace or Unix; INT64_MAX: never ends */
	char *node;           /* owned; the node it runs on already, or NULL */
	struct grant *grants; /* owned; of a running Pod whose cards are known: one a request */
	size_t grant_count, grant_capacity;
};

/* Nothing asked for, one Pod. */
void demand_init(struct demand *demand);
void demand_release(struct demand *demand);
/* A Pod of one container, which needs no CPU or memory. It borrows REQUEST and OBJECT, lives no
 * longer than they do, and must not be released. */
void demand_borrow_request(const struct request *request, const char *object, struct demand *ret);

/* Do labels and taints let it in? Resources and cards are not looked at. */
bool demand_selects(const struct demand *demand, const struct node_spec *node);
/* Labels and name alone. */
bool demand_selects_labels(const struct demand *demand, const struct node_spec *node);
/* NULL, or the first taint of NODE that it does not tolerate (NoSchedule, NoExecute; a cordoned
 * node has node.kubernetes.io/unschedulable:NoSchedule). */
const struct taint *demand_untolerated(const struct demand *demand, const struct node_spec *node);

/*
 * The part of a demand that decisions look at (not names, times, queue and grants) and back, for
 * logs of decisions. Two demands with the same text are placed alike. Reading checks every field;
 * what the form leaves out is as after demand_init(), *ret is written on success only.
 */
int demand_to_json(const struct demand *demand, struct json_object **ret, struct error *error);
int demand_from_json(struct json_object *object, struct demand *ret, struct error *error);
