/* SPDX-License-Identifier: Apache-2.0 */
/* Pods arrive and end at the trace's times; who finds no place is dropped or waits. */
#include <errno.h>
#include <stdlib.h>

#include "replay/run.h"

#define POINTS 200 /* readings over the whole time */

struct end {
	int64_t time;
	uint64_t id;
	uint32_t node;
};

struct replay {
	struct run *run;
	struct comings comings;
	struct end *ends; /* owned; a heap, the first to end on top */
	size_t end_count, end_capacity;
	const struct coming **waiting; /* owned; first come first */
	size_t waiting_count, waiting_capacity;
	uint64_t *refused; /* owned; by shape: the round in which it was refused */
	uint64_t round;
	int64_t first, last, time;
	double held, held_fragments; /* percent times seconds so far */
	double waited;
	size_t points;
};

static bool end_before(const struct end *left, const struct end *right)
{
	return left->time != right->time ? left->time < right->time : left->id < right->id;
}

static int push_end(struct replay *replay, const struct end *end)
{
	if (vec_reserve(&replay->ends, &replay->end_capacity, replay->end_count + 1,
			sizeof(*replay->ends)) < 0)
		return -ENOMEM;
	size_t at = replay->end_count++;
	for (; at && end_before(end, &replay->ends[(at - 1) / 2]); at = (at - 1) / 2)
		replay->ends[at] = replay->ends[(at - 1) / 2];
	replay->ends[at] = *end;
	return 0;
}

static struct end pop_end(struct replay *replay)
{
	struct end *ends = replay->ends, top = ends[0];
	size_t count = --replay->end_count, at = 0;
	struct end last = ends[count];

	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && end_before(&ends[child + 1], &ends[child]))
			child++;
		if (!end_before(&ends[child], &last))
			break;
		ends[at] = ends[child];
	}
	ends[at] = last;
	return top;
}

/* Time goes on: what was held until then is added up, and read at its points. */
static int advance(struct replay *replay, int64_t time, struct error *error)
{
	struct run *run = replay->run;
	double allocated = run_allocated(run), span = (double)(replay->last - replay->first);

	if (time > replay->last)
		time = replay->last;
	if (time <= replay->time)
		return 0;
	replay->held += allocated * (double)(time - replay->time);
	replay->held_fragments += run_fragmented(run) * (double)(time - replay->time);
	if (allocated > run->result.peak_percent)
		run->result.peak_percent = allocated;
	while (replay->points <= POINTS) {
		int64_t at = replay->first + (int64_t)(span * (double)replay->points / POINTS);

		if (at >= time && time < replay->last)
			break;
		double arrived = run->trace->capacity_milli
					 ? 100.0 * (double)run->arrived_milli /
						   (double)run->trace->capacity_milli
					 : 0;
		int r = run_add_point(run, arrived, at, error);
		if (r < 0)
			return r;
		replay->points++;
	}
	replay->time = time;
	return 0;
}

/* 1: placed, and its end is known. */
static int start_pod(struct replay *replay, const struct coming *coming, int64_t time,
		     struct error *error)
{
	const struct run *run = replay->run;

	int r = run_place(replay->run, coming->pod, error);
	if (r <= 0)
		return r;
	replay->waited += (double)(time - coming->time) * (double)run->place_count;
	for (size_t i = 0; i < run->place_count && coming->life < INT64_MAX - time; i++) {
		const struct end end = { .time = time + coming->life,
					 .id = run->places[i].id,
					 .node = run->places[i].node };

		if (push_end(replay, &end) < 0)
			return error_no_memory(error);
	}
	return 1;
}

/* Each shape is asked for until it is refused once: more of it would be, too. */
static int try_waiting(struct replay *replay, int64_t time, struct error *error)
{
	size_t kept = 0;

	replay->round++;
	for (size_t i = 0; i < replay->waiting_count; i++) {
		const struct coming *coming = replay->waiting[i];
		uint32_t shape = replay->run->trace->pods[coming->pod].shape;
		int r = 0;

		if (replay->refused[shape] != replay->round)
			r = start_pod(replay, coming, time, error);
		if (r < 0)
			return r;
		if (r)
			continue;
		if (!trace_gang_of(replay->run->trace, coming->pod))
			replay->refused[shape] = replay->round;
		replay->waiting[kept++] = coming;
	}
	replay->waiting_count = kept;
	return 0;
}

/* Ends that lie not behind TIME, one moment after another. */
static int end_until(struct replay *replay, int64_t time, struct error *error)
{
	while (replay->end_count && replay->ends[0].time <= time) {
		int64_t moment = replay->ends[0].time;
		int r = advance(replay, moment, error);

		while (r == 0 && replay->end_count && replay->ends[0].time == moment) {
			struct end end = pop_end(replay);

			r = run_end(replay->run, end.id, end.node, error);
		}
		if (r == 0 && replay->waiting_count)
			r = try_waiting(replay, moment, error);
		if (r < 0)
			return r;
	}
	return 0;
}

static int arrive(struct replay *replay, const struct coming *coming, struct error *error)
{
	int64_t time = coming->time;

	int r = end_until(replay, time, error);
	if (r == 0)
		r = advance(replay, time, error);
	if (r < 0)
		return r;
	run_count_arrival(replay->run, coming->pod);
	r = start_pod(replay, coming, time, error);
	if (r)
		return r < 0 ? r : 0;
	if (!replay->run->options->wait) {
		run_count_failure(replay->run, coming->pod);
		return 0;
	}
	if (vec_reserve(&replay->waiting, &replay->waiting_capacity, replay->waiting_count + 1,
			sizeof(*replay->waiting)) < 0)
		return error_no_memory(error);
	replay->waiting[replay->waiting_count++] = coming;
	return 0;
}

static int replay_prepare(struct replay *replay, struct error *error)
{
	const struct run *run = replay->run;

	replay->refused = calloc(run->trace->shape_count + 1, sizeof(*replay->refused));
	if (!replay->refused)
		return error_no_memory(error);
	int r = comings_make(run->trace, run->options->place.seed, run->options->load,
			     &replay->comings, error);
	if (r < 0 || !replay->comings.count)
		return r;
	replay->first = replay->time = replay->comings.first;
	replay->last = replay->comings.items[replay->comings.count - 1].time;
	return 0;
}

/* Figures are of the time in which Pods arrive; what runs on or waits is followed to its end. */
static int replay_all(struct replay *replay, struct error *error)
{
	struct run *run = replay->run;
	double span = (double)(replay->last - replay->first);
	int r = 0;

	for (size_t i = 0; r == 0 && i < replay->comings.count; i++)
		r = arrive(replay, &replay->comings.items[i], error);
	if (r == 0)
		r = end_until(replay, INT64_MAX - 1, error);
	if (r < 0)
		return r;
	for (size_t i = 0; i < replay->waiting_count; i++)
		run_count_failure(run, replay->waiting[i]->pod);
	if (span > 0) {
		run->result.allocated_percent = replay->held / span;
		run->result.fragmented_percent = replay->held_fragments / span;
	}
	if (run->result.placed)
		run->result.wait_seconds = replay->waited / (double)run->result.placed;
	return 0;
}

int run_replay(struct run *run, struct error *error)
{
	struct replay replay = { .run = run };

	if (!run->trace->timed && !run->options->load)
		return error_set(
			error, EINVAL,
			"the Pods have no creation_time and deletion_time to replay; leave "
			"--replay out, or write --load 110 for lives that are all alike");
	if (run->options->look_ahead > 1)
		return error_set(error, EINVAL,
				 "with --replay every Pod is bound when it comes; leave "
				 "--look-ahead out");
	int r = replay_prepare(&replay, error);
	if (r == 0)
		r = replay_all(&replay, error);
	comings_release(&replay.comings);
	free(replay.ends);
	free(replay.waiting);
	free(replay.refused);
	return r;
}
