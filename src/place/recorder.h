/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who writes the log. Each function is called by the pool's own of that name, with its result, and
 * does nothing where nobody records.
 */
#pragma once

#include "place.h"

struct recorder;

void recorder_free(struct recorder *recorder);

void record_policy(struct pool *pool, const struct policy_options *options);
void record_withhold(struct pool *pool, enum request_kind kind);
void record_node(struct pool *pool, const struct node_spec *node);
void record_workload(struct pool *pool, const struct workload_class *classes, size_t count,
		     int result);
/* The number of the demand; written by all that follow before its first use. */
uint32_t record_demand(struct pool *pool, const struct demand *demand);
/* NODE: the only one that was looked at, or NULL. DECISION is read when RESULT is 0, REASON (may be
 * NULL) when it is not. */
void record_decide(struct pool *pool, const unsigned *node, const struct demand *demand, int result,
		   const struct decision *decision, const struct reason *reason);
void record_gang(struct pool *pool, const struct demand *const *demands, size_t count, int result,
		 const struct decision *decisions, const struct reason *reason);
/* EVENT: "assume", "hold". */
void record_hold(struct pool *pool, const char *event, const struct demand *demand,
		 const struct decision *decision, int result, uint64_t id);
void record_hold_grant(struct pool *pool, unsigned node, const struct grant *grant, int result,
		       uint64_t id);
/* EVENT: "confirm", "forget", "release". */
void record_act(struct pool *pool, const char *event, uint64_t id, int result);

/* 0, or the first failure. */
int record_failed(const struct pool *pool);
/* The decisions that were recorded. */
void record_count(const struct pool *pool, uint64_t *ret_decisions, uint64_t *ret_checksum);
