/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who comes when. By the times of the list; or the list again and again, each time in another
 * order, at equal distances, its Pods' lives stretched by one factor until so many per cent of the
 * cards are asked for at once: the times of a list rarely fill a cluster. Without times all lives are alike.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "replay/run.h"

#define ROUNDS   3 /* of the list; the first fills the cluster and does not count */
#define HALVING  100
#define DISTANCE 60  /* seconds, of lists without times */
#define LONGEST  1e9 /* factor of the lives */

static int by_time(const void *left, const void *right)
{
	const struct coming *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->pod < b->pod ? -1 : a->pod > b->pod;
}

/* A gang comes with its last Pod, and ends with the last. */
static void stretch_gang(const struct trace *trace, struct coming *coming)
{
	const struct trace_gang *gang = trace_gang_of(trace, coming->pod);

	for (uint32_t i = 0; gang && i < gang->count; i++) {
		const struct trace_pod *pod = &trace->pods[trace->gang_pods[gang->first + i]];
		int64_t life = pod->end == INT64_MAX ? INT64_MAX : pod->end - pod->created;

		coming->time = pod->created > coming->time ? pod->created : coming->time;
		coming->life = life > coming->life ? life : coming->life;
	}
}

/* The Pods of the list that do not run already; of a gang the first. */
static int list_comings(const struct trace *trace, struct comings *ret)
{
	ret->items = calloc(trace->pod_count + 1, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (size_t i = 0, running = 0; i < trace->pod_count; i++) {
		const struct trace_pod *pod = &trace->pods[i];

		if (running < trace->running_count && trace->running[running].pod == i) {
			running++;
			continue;
		}
		if (trace_pod_follows(trace, (uint32_t)i))
			continue;
		struct coming *coming = &ret->items[ret->count++];

		*coming = (struct coming){ .pod = (uint32_t)i, .time = pod->created };
		coming->life = pod->end == INT64_MAX ? INT64_MAX : pod->end - pod->created;
		stretch_gang(trace, coming);
		if (!trace->timed) { /* all live as long as each other */
			coming->time = (int64_t)i * DISTANCE;
			coming->life = DISTANCE;
		}
	}
	qsort(ret->items, ret->count, sizeof(*ret->items), by_time);
	if (ret->count)
		ret->first = ret->items[0].time;
	return 0;
}

static int repeat_list(const struct comings *list, uint64_t seed, struct comings *ret)
{
	size_t count = list->count;
	int64_t span = list->items[count - 1].time - list->items[0].time;
	int64_t gap = span / (int64_t)count > 0 ? span / (int64_t)count : 1;
	autofree uint32_t *order = calloc(count, sizeof(*order));
	struct random random;

	ret->items = calloc(ROUNDS * count, sizeof(*ret->items));
	if (!ret->items || !order)
		return -ENOMEM;
	random_start(&random, seed, RANDOM_SHUFFLE);
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (size_t round = 0; round < ROUNDS; round++) {
		random_shuffle(&random, order, count);
		for (size_t i = 0; i < count; i++) {
			struct coming *coming = &ret->items[ret->count];

			*coming = list->items[order[i]];
			coming->time = (int64_t)ret->count++ * gap;
		}
	}
	ret->first = (int64_t)count * gap;
	return 0;
}

static double stretched(int64_t life, double factor)
{
	return life == INT64_MAX ? INFINITY : fmax(1, floor((double)life * factor));
}

/* Milli asked for at once, the mean while it counts. */
static double asked_at_once(const struct trace *trace, const struct comings *comings, double factor)
{
	double first = (double)comings->first;
	double last = (double)comings->items[comings->count - 1].time, sum = 0;

	for (size_t i = 0; i < comings->count; i++) {
		const struct coming *coming = &comings->items[i];
		double begin = fmax((double)coming->time, first);
		double end = fmin((double)coming->time + stretched(coming->life, factor), last);

		if (end > begin)
			sum += (double)trace_pod_milli(trace, coming->pod) * (end - begin);
	}
	return last > first ? sum / (last - first) : 0;
}

static int stretch_lives(const struct trace *trace, struct comings *comings, unsigned percent,
			 struct error *error)
{
	double wanted = (double)trace->capacity_milli * percent / 100, low = 0, high = LONGEST;
	double most = asked_at_once(trace, comings, high);

	if (most < wanted)
		return error_set(error, EINVAL,
				 "however long they live, these Pods ask for no more than %.0f %% "
				 "of the cards at once; lower --load",
				 trace->capacity_milli
					 ? floor(100 * most / (double)trace->capacity_milli)
					 : 0);
	for (int i = 0; i < HALVING; i++) {
		/* Between factors of very different sizes. */
		double middle = low > 0 ? sqrt(low * high) : high / 1e6;

		if (asked_at_once(trace, comings, middle) < wanted)
			low = middle;
		else
			high = middle;
		if (low == 0 && high < 1e-9)
			break;
	}
	for (size_t i = 0; i < comings->count; i++) {
		double life = stretched(comings->items[i].life, high);

		comings->items[i].life = life < 1e18 ? (int64_t)life : INT64_MAX;
	}
	return 0;
}

int comings_make(const struct trace *trace, uint64_t seed, unsigned load, struct comings *ret,
		 struct error *error)
{
	cleanup(comings_release) struct comings list = { .items = NULL }, all = { .items = NULL };
	int r = list_comings(trace, &list);

	if (r == 0 && load && list.count) {
		r = repeat_list(&list, seed, &all);
		if (r == 0)
			r = stretch_lives(trace, &all, load, error);
		if (r == -EINVAL)
			return r;
		*ret = all;
		all = (struct comings){ .items = NULL };
	} else {
		*ret = list;
		list = (struct comings){ .items = NULL };
	}
	return r < 0 ? error_no_memory(error) : 0;
}

void comings_release(struct comings *comings)
{
	free(comings->items);
	*comings = (struct comings){ .items = NULL };
}
