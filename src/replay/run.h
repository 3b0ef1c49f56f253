/* SPDX-License-Identifier: Apache-2.0 */
/* Inside src/replay: one run, its pool and what is read of it. */
#pragma once

#include "replay/replay.h"

struct run {
	const struct trace *trace;
	const struct run_options *options;
	struct pool *pool;           /* owned */
	struct seating *seating;     /* owned; NULL: places do not change */
	struct fragments *fragments; /* owned */
	/* By the pool's number of a node. Owned. */
	uint32_t *nodes; /* its number in the trace */
	unsigned *node_left;
	double *node_fragment;
	bool *node_dirty; /* node_fragment is of before */
	uint32_t *dirty;  /* those nodes */
	size_t dirty_count;
	int64_t left_milli, arrived_milli;
	double fragment_milli;
	struct decision decision;
	struct run_grant { /* a seat's number and no node with seating */
		uint64_t id;
		uint32_t node;
	} * places; /* owned; what the last run_place() gave: one, or one a Pod of the gang */
	size_t place_count, place_capacity;
	struct reason reason; /* for the log of decisions */
	struct run_result result;
};

/* A pool of the trace's nodes with what runs already; to be closed also when it fails. TRACE and
 * OPTIONS outlive it. */
int run_open(struct run *run, const struct trace *trace, const struct run_options *options,
	     struct error *error);
void run_close(struct run *run);
/* The Pods of the list arrive. */
int run_arrive(struct run *run, struct error *error);

static inline const struct trace_shape *run_shape(const struct run *run, uint32_t pod)
{
	return &run->trace->shapes[run->trace->pods[pod].shape];
}

/* What is left on a node changed. */
void run_read_node(struct run *run, uint32_t node);
/* Pods that run already (running.c). */
int run_hold_running(struct run *run, struct error *error);
/* POD stands for its gang, too, which is counted and placed as a whole (gangs.c). */
void run_count_arrival(struct run *run, uint32_t pod);
void run_count_failure(struct run *run, uint32_t pod);
/* 1: placed, see run->places. 0: it does not fit. */
int run_place(struct run *run, uint32_t pod, struct error *error);
int run_place_gang(struct run *run, uint32_t pod, struct error *error);
/* The Pods of the gang of *POD; POD itself, one, when it is of none. */
const uint32_t *run_pods(const struct run *run, const uint32_t *pod, uint32_t *ret_count);
int run_end(struct run *run, uint64_t id, uint32_t node, struct error *error);
double run_allocated(const struct run *run);
double run_fragmented(struct run *run);
int run_add_point(struct run *run, double arrived, int64_t time, struct error *error);

/* Who comes when (load.c). */
struct coming {
	uint32_t pod;
	int64_t time, life; /* INT64_MAX: for ever */
};
struct comings {
	struct coming *items; /* owned; by time */
	size_t count;
	int64_t first; /* from then on it counts */
};
/* LOAD 0: by the times of the list. -EINVAL for a load that the list never asks for. */
int comings_make(const struct trace *trace, uint64_t seed, unsigned load, struct comings *ret,
		 struct error *error);
void comings_release(struct comings *comings);

/* Arrivals and departures by time (departures.c). */
int run_replay(struct run *run, struct error *error);
