/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/trace.h"

static int arrivals_add(struct arrivals *arrivals, uint32_t pod)
{
	uint32_t *item = VEC_ADD(&arrivals->pods, &arrivals->count, &arrivals->capacity);

	if (!item)
		return -ENOMEM;
	*item = pod;
	return 0;
}

/* Removes at random while more than WANTED is asked for. */
static void arrivals_cut(const struct trace *trace, struct arrivals *arrivals,
			 struct random *random, int64_t wanted, int64_t *asked)
{
	while (*asked > wanted) {
		uint32_t at = random_below(random, (uint32_t)arrivals->count);

		*asked -= trace_pod_milli(trace, arrivals->pods[at]);
		arrivals->count--;
		memmove(&arrivals->pods[at], &arrivals->pods[at + 1],
			(arrivals->count - at) * sizeof(*arrivals->pods));
	}
}

static int arrivals_append(const struct trace *trace, const struct arrivals *all,
			   struct arrivals *arrivals, struct random *random,
			   const struct protocol *protocol, int64_t wanted, int64_t asked)
{
	for (;;) {
		uint32_t pod = all->pods[random_below(random, (uint32_t)all->count)];
		int64_t milli = trace_pod_milli(trace, pod);
		int64_t tested =
			protocol->original ? trace->shapes[trace->pods[pod].shape].milli : milli;

		if (asked + tested > wanted)
			return 0;
		if (arrivals_add(arrivals, pod) < 0)
			return -ENOMEM;
		asked += milli;
	}
}

/* Those that do not run already, in order of the list; of a gang the first. */
static int arrivals_list(const struct trace *trace, struct arrivals *ret)
{
	size_t running = 0;

	for (size_t i = 0; i < trace->pod_count; i++) {
		if (running < trace->running_count && trace->running[running].pod == i)
			running++;
		else if (!trace_pod_follows(trace, (uint32_t)i) &&
			 arrivals_add(ret, (uint32_t)i) < 0)
			return -ENOMEM;
	}
	return 0;
}

int arrivals_make(const struct trace *trace, const struct protocol *protocol, struct arrivals *ret,
		  struct error *error)
{
	cleanup(arrivals_release) struct arrivals all = { .pods = NULL };
	cleanup(arrivals_release) struct arrivals arrivals = { .pods = NULL };
	struct random shuffle, tune;
	int64_t wanted = trace->capacity_milli / 100 * protocol->percent, asked = 0;

	if (arrivals_list(trace, &all) < 0 || arrivals_list(trace, &arrivals) < 0)
		return error_no_memory(error);
	for (size_t i = 0; i < all.count; i++)
		asked += trace_pod_milli(trace, all.pods[i]);
	if (protocol->percent && (!asked || !wanted))
		return error_set(error, EINVAL,
				 "%s, so that no percent of the cards can arrive; write --arrival "
				 "0 for each Pod of the list once",
				 asked ? "the nodes have no cards" : "no Pod asks for a card");
	random_start(&shuffle, protocol->seed, RANDOM_SHUFFLE);
	random_start(&tune, protocol->seed, RANDOM_TUNE);
	random_shuffle(&shuffle, arrivals.pods, arrivals.count);
	if (protocol->percent) {
		arrivals_cut(trace, &arrivals, &tune, wanted, &asked);
		if (arrivals_append(trace, &all, &arrivals, &tune, protocol, wanted, asked) < 0)
			return error_no_memory(error);
	}
	*ret = arrivals;
	arrivals = (struct arrivals){ .pods = NULL };
	return 0;
}

void arrivals_release(struct arrivals *arrivals)
{
	free(arrivals->pods);
	*arrivals = (struct arrivals){ .pods = NULL };
}
