/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void run_result_release(struct run_result *result)
{
	free(result->points);
	free(result->cards_left);
	for (size_t i = 0; i < result->partial_count; i++)
		free(result->partial[i].why);
	free(result->partial);
	*result = (struct run_result){ .points = NULL };
}

static double now(void)
{
	struct timespec time = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double percent_of(const struct run *run, double milli)
{
	return run->trace->capacity_milli ? 100 * milli / (double)run->trace->capacity_milli : 0;
}

/* Nodes in order of names; the original's in one of the seed's. */
static int run_add_nodes(struct run *run, struct error *error)
{
	uint32_t count = (uint32_t)run->trace->node_count;
	struct random random;

	run->nodes = calloc(count + 1, sizeof(*run->nodes));
	if (!run->nodes)
		return error_no_memory(error);
	for (uint32_t i = 0; i < count; i++)
		run->nodes[i] = i;
	if (run->options->original) {
		random_start(&random, run->options->place.seed, RANDOM_NODES);
		random_shuffle(&random, run->nodes, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		int r = pool_add_node(run->pool, &run->trace->nodes[run->nodes[i]], error);
		if (r < 0)
			return r;
	}
	return 0;
}

static int run_set_policy(struct run *run, struct error *error)
{
	struct policy_options place = run->options->place;
	autofree struct workload_class *workload = NULL;
	size_t count = 0;

	if (run->options->original)
		place.original_cards = place.original_classes = true;
	int r = workload_make(run->trace, &workload, &count, error);
	if (r < 0)
		return r;
	r = pool_set_policy(run->pool, &place);
	if (r < 0)
		return error_set_errno(error, -r, "cannot set the policy");
	r = pool_set_workload(run->pool, workload, count);
	return r < 0 ? error_set_errno(error, -r, "cannot set the workload") : 0;
}

void run_close(struct run *run)
{
	seating_free(run->seating);
	pool_free(run->pool);
	fragments_free(run->fragments);
	free(run->nodes);
	free(run->node_left);
	free(run->node_fragment);
	free(run->node_dirty);
	free(run->dirty);
	free(run->places);
	run_result_release(&run->result);
}

void run_read_node(struct run *run, uint32_t node)
{
	uint32_t at = run->nodes[node];
	unsigned count = run->trace->first_cards[at + 1] - run->trace->first_cards[at], left = 0;

	for (unsigned i = 0; i < count; i++)
		left += pool_card_left_milli(run->pool, node, i);
	run->left_milli += (int64_t)left - run->node_left[node];
	run->node_left[node] = left;
	if (run->node_dirty[node])
		return;
	run->node_dirty[node] = true;
	run->dirty[run->dirty_count++] = node;
}

static bool run_wants_seating(const struct run_options *options)
{
	return options->look_ahead > 1 || options->moves_permille;
}

/* Kinds are numbered as the trace's shapes. */
static int run_set_seating(struct run *run, struct error *error)
{
	const struct seating_options options = {
		.look_ahead = run->options->look_ahead ? run->options->look_ahead : 1,
		.moves_permille = run->options->moves_permille,
	};
	unsigned kind;
	int r = 0;

	if (!run_wants_seating(run->options))
		return 0;
	if (run->trace->member_count)
		return error_set(error, EINVAL,
				 "some Pods are of gangs, which are placed when they come; leave "
				 "--look-ahead and --moves out");
	r = seating_new(run->pool, &options, &run->seating);
	if (r == -EINVAL)
		return error_set(error, EINVAL,
				 "no Pod asks for cards, so that no place is better than another; "
				 "leave --look-ahead and --moves out");
	for (size_t i = 0; r == 0 && i < run->trace->shape_count; i++)
		r = seating_add_kind(run->seating, &run->trace->shapes[i].demand, &kind);
	return r < 0 ? error_set_errno(error, -r, "cannot look ahead or move") : 0;
}

static int run_start_record(struct run *run, struct error *error)
{
	const struct run_options *options = run->options;

	if (!options->record)
		return 0;
	if (run_wants_seating(options))
		return error_set(error, EINVAL,
				 "a log of decisions knows no moves; leave --look-ahead and "
				 "--moves out, or --record");
	if (pool_start_record(run->pool, options->record, options->record_data) < 0)
		return error_no_memory(error);
	return 0;
}

static int run_prepare(struct run *run, struct error *error)
{
	size_t count = run->trace->node_count;

	run->pool = pool_new();
	run->node_left = calloc(count, sizeof(*run->node_left));
	run->node_fragment = calloc(count, sizeof(*run->node_fragment));
	run->node_dirty = calloc(count, sizeof(*run->node_dirty));
	run->dirty = calloc(count, sizeof(*run->dirty));
	if (!run->pool || !run->node_left || !run->node_fragment || !run->node_dirty || !run->dirty)
		return error_no_memory(error);
	int r = run_start_record(run, error);
	if (r == 0)
		r = run_add_nodes(run, error);
	if (r == 0)
		r = run_set_policy(run, error);
	if (r == 0)
		r = run_set_seating(run, error);
	if (r == 0)
		r = fragments_new(run->trace, run->options->original, &run->fragments, error);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < count; i++)
		run_read_node(run, i);
	run->result.checksum = DECISION_HASH_START;
	return run_hold_running(run, error);
}

void run_count_arrival(struct run *run, uint32_t pod)
{
	uint32_t count;
	const uint32_t *pods = run_pods(run, &pod, &count);

	for (uint32_t i = 0; i < count; i++) {
		const struct trace_shape *shape = run_shape(run, pods[i]);

		run->arrived_milli += shape->total;
		run->result.classes[shape->class].arrived++;
		run->result.constrained.arrived += shape->constrained;
	}
}

void run_count_failure(struct run *run, uint32_t pod)
{
	uint32_t count;
	const uint32_t *pods = run_pods(run, &pod, &count);

	for (uint32_t i = 0; i < count; i++) {
		const struct trace_shape *shape = run_shape(run, pods[i]);

		run->result.failed++;
		run->result.classes[shape->class].failed++;
		run->result.constrained.failed += shape->constrained;
	}
}

/* As a decision of its own; who ended is one without a place. */
static void run_hash_change(struct run *run, const struct seat_change *change)
{
	struct decision *decision = &run->decision;
	struct placement *placement = &decision->placements[0];

	decision->node = change->to;
	decision->count = change->cards != 0;
	placement->count = 0;
	for (uint64_t rest = change->cards; rest; rest &= rest - 1)
		placement->cards[placement->count++] = (unsigned)__builtin_ctzll(rest);
	run->result.checksum =
		decision_hash(run->result.checksum, change->to == SEAT_NONE ? NULL : decision);
}

/* What came of the last call: nodes are read, who is bound or moved is counted. */
static void run_read_changes(struct run *run)
{
	size_t count;
	const struct seat_change *changes = seating_changes(run->seating, &count);

	for (size_t i = 0; i < count; i++) {
		const struct seat_change *change = &changes[i];

		if (change->from != SEAT_NONE)
			run_read_node(run, change->from);
		if (change->to != SEAT_NONE && change->to != change->from)
			run_read_node(run, change->to);
		if (change->bound && change->to == SEAT_NONE && !run->options->replay)
			run_count_failure(run, (uint32_t)change->tag);
		if (change->bound || (change->was_bound && change->from != change->to))
			run_hash_change(run, change);
		run->result.placed += change->bound && change->to != SEAT_NONE;
	}
	run->result.moved = seating_moves(run->seating);
}

/* The Pod at its place, the last of those that changed; NULL: it has none. */
static const struct seat_change *run_find_change(const struct run *run, uint32_t pod)
{
	size_t count;
	const struct seat_change *changes = seating_changes(run->seating, &count);

	for (size_t i = 0; i < count; i++)
		if (changes[i].tag == pod && changes[i].to != SEAT_NONE && !changes[i].was_bound)
			return &changes[i];
	return NULL;
}

static int run_seat(struct run *run, uint32_t pod, struct error *error)
{
	const struct seat_change *change;
	int r = seating_arrive(run->seating, run->trace->pods[pod].shape, pod);

	run_read_changes(run);
	if (r < 0)
		return error_set_errno(error, -r, "cannot place Pod %s",
				       trace_pod_name(run->trace, pod));
	change = run_find_change(run, pod);
	run->places[0] = (struct run_grant){ .id = change ? change->seat : SEAT_NONE };
	run->place_count = 1;
	return change != NULL;
}

static int run_finish_seating(struct run *run, struct error *error)
{
	int r = run->seating ? seating_finish(run->seating) : 0;

	if (run->seating)
		run_read_changes(run);
	return r < 0 ? error_set_errno(error, -r, "cannot bind the last Pods") : 0;
}

int run_place(struct run *run, uint32_t pod, struct error *error)
{
	const struct demand *demand = &run_shape(run, pod)->demand;
	struct decision *decision = &run->decision;

	if (trace_gang_of(run->trace, pod))
		return run_place_gang(run, pod, error);
	if (vec_reserve(&run->places, &run->place_capacity, 1, sizeof(*run->places)) < 0)
		return error_no_memory(error);
	if (run->seating)
		return run_seat(run, pod, error);
	int r = pool_decide(run->pool, demand, decision,
			    run->options->record ? &run->reason : NULL);
	run->result.checksum = decision_hash(run->result.checksum, r < 0 ? NULL : decision);
	if (r == -EAGAIN || r == -ENOSPC)
		return 0;
	if (r == 0)
		r = pool_hold(run->pool, demand, decision, &run->places[0].id);
	if (r < 0)
		return error_set_errno(error, -r, "cannot place Pod %s",
				       trace_pod_name(run->trace, pod));
	run->result.placed++;
	run->places[0].node = decision->node;
	run->place_count = 1;
	run_read_node(run, decision->node);
	return 1;
}

int run_end(struct run *run, uint64_t id, uint32_t node, struct error *error)
{
	int r = run->seating ? seating_end(run->seating, (uint32_t)id)
			     : pool_release(run->pool, id);
	if (r < 0)
		return error_set_errno(error, -r, "cannot release grant %llu",
				       (unsigned long long)id);
	if (run->seating) /* it may have moved */
		run_read_changes(run);
	else
		run_read_node(run, node);
	return 0;
}

double run_allocated(const struct run *run)
{
	return percent_of(run, (double)(run->trace->capacity_milli - run->left_milli));
}

double run_fragmented(struct run *run)
{
	while (run->dirty_count) {
		uint32_t node = run->dirty[--run->dirty_count];
		double fragment =
			fragments_of_node(run->fragments, run->pool, run->nodes[node], node);

		run->node_dirty[node] = false;
		run->fragment_milli += fragment - run->node_fragment[node];
		run->node_fragment[node] = fragment;
	}
	return percent_of(run, run->fragment_milli);
}

int run_add_point(struct run *run, double arrived, int64_t time, struct error *error)
{
	struct run_result *result = &run->result;
	struct run_point *point =
		VEC_ADD(&result->points, &result->point_count, &result->point_capacity);

	if (!point)
		return error_no_memory(error);
	*point = (struct run_point){ .arrived_percent = arrived,
				     .time = time,
				     .allocated_percent = run_allocated(run),
				     .fragmented_percent = run_fragmented(run),
				     .failed = result->failed };
	return 0;
}

/* The readings that the last arrival has reached: one a percent. */
static int read_points(struct run *run, unsigned *next, struct error *error)
{
	int64_t step = run->trace->capacity_milli / 100;

	while (step && run->arrived_milli >= step * *next) {
		int r = run_add_point(run, *next, 0, error);
		if (r < 0)
			return r;
		++*next;
	}
	return 0;
}

static int run_protocol(struct run *run, struct error *error)
{
	const struct protocol protocol = { .seed = run->options->place.seed,
					   .percent = run->options->arrival,
					   .original = run->options->original };
	cleanup(arrivals_release) struct arrivals own = { .pods = NULL };
	const struct arrivals *arrivals = run->options->arrivals;
	unsigned next = 1;
	int r = 0;

	if (!arrivals)
		r = arrivals_make(run->trace, &protocol, &own, error);
	arrivals = arrivals ? arrivals : &own;
	for (size_t i = 0; r == 0 && i < arrivals->count; i++) {
		uint32_t pod = arrivals->pods[i];

		run_count_arrival(run, pod);
		r = run_place(run, pod, error);
		if (r < 0)
			break;
		if (r == 0 && !run->seating)
			run_count_failure(run, pod);
		r = read_points(run, &next, error);
	}
	if (r == 0)
		r = run_finish_seating(run, error);
	if (r < 0)
		return r;
	/* Of the last percent a little less arrives than would fill it. */
	if (run->options->arrival && next == run->options->arrival)
		r = run_add_point(run, next, 0, error);
	run->result.allocated_percent = run_allocated(run);
	run->result.peak_percent = run->result.allocated_percent;
	run->result.fragmented_percent = run_fragmented(run);
	return r;
}

int run_open(struct run *run, const struct trace *trace, const struct run_options *options,
	     struct error *error)
{
	*run = (struct run){ .trace = trace, .options = options };
	return run_prepare(run, error);
}

int run_arrive(struct run *run, struct error *error)
{
	int r = run->options->replay ? run_replay(run, error) : run_protocol(run, error);

	if (r == 0 && run->options->record) {
		r = pool_end_record(run->pool);
		if (r < 0)
			return error_set_errno(error, -r, "cannot write the log of decisions");
	}
	return r;
}

/* Nodes of the pool may be in another order than those of the trace. */
static int keep_cards(struct run *run, struct error *error)
{
	const struct trace *trace = run->trace;
	uint16_t *left = calloc(trace->first_cards[trace->node_count] + 1, sizeof(*left));

	if (!left)
		return error_no_memory(error);
	for (uint32_t i = 0; i < trace->node_count; i++) {
		uint32_t at = run->nodes[i];

		for (uint32_t k = trace->first_cards[at]; k < trace->first_cards[at + 1]; k++)
			left[k] = (uint16_t)pool_card_left_milli(run->pool, i,
								 k - trace->first_cards[at]);
	}
	run->result.cards_left = left;
	return 0;
}

int run_trace(const struct trace *trace, const struct run_options *options, struct run_result *ret,
	      struct error *error)
{
	cleanup(run_close) struct run run;
	double start = now();

	int r = run_open(&run, trace, options, error);
	if (r == 0)
		r = run_arrive(&run, error);
	if (r == 0 && options->cards)
		r = keep_cards(&run, error);
	if (r < 0)
		return r;
	struct run_result *result = &run.result;
	result->arrived_percent = percent_of(&run, (double)run.arrived_milli);
	result->unallocated_gpus =
		(double)trace->capacity_milli / 1000 * (100 - result->allocated_percent) / 100;
	result->seconds = now() - start;
	*ret = *result;
	*result = (struct run_result){ .points = NULL };
	return 0;
}

double run_allocated_at(const struct run_result *result, double percent)
{
	for (size_t i = 0; i < result->point_count; i++)
		if (result->points[i].arrived_percent >= percent)
			return result->points[i].allocated_percent;
	return NAN;
}
