/* SPDX-License-Identifier: Apache-2.0 */
/* The Pods of a gang arrive together, when the last of them is there. */
#include <errno.h>
#include <stdlib.h>

#include "replay/run.h"

const uint32_t *run_pods(const struct run *run, const uint32_t *pod, uint32_t *ret_count)
{
	const struct trace_gang *gang = trace_gang_of(run->trace, *pod);

	*ret_count = gang ? gang->count : 1;
	return gang ? &run->trace->gang_pods[gang->first] : pod;
}

static int hold_all(struct run *run, const uint32_t *pods, uint32_t count,
		    const struct decision *decisions)
{
	for (uint32_t i = 0; i < count; i++) {
		int r = pool_hold(run->pool, &run_shape(run, pods[i])->demand, &decisions[i],
				  &run->places[i].id);

		if (r < 0)
			return r;
		run->places[i].node = decisions[i].node;
		run->place_count = i + 1;
		run->result.placed++;
		run_read_node(run, decisions[i].node);
		run->result.checksum = decision_hash(run->result.checksum, &decisions[i]);
	}
	return 0;
}

int run_place_gang(struct run *run, uint32_t pod, struct error *error)
{
	const struct trace_gang *gang = trace_gang_of(run->trace, pod);
	const uint32_t *pods = &run->trace->gang_pods[gang->first];
	autofree struct decision *decisions = calloc(gang->count, sizeof(*decisions));
	autofree const struct demand **demands = calloc(gang->count, sizeof(*demands));
	int r;

	if (!decisions || !demands ||
	    vec_reserve(&run->places, &run->place_capacity, gang->count, sizeof(*run->places)) < 0)
		return error_no_memory(error);
	if (!trace_gang_is_whole(gang)) /* waits for Pods that never come */
		return 0;
	for (uint32_t i = 0; i < gang->count; i++)
		demands[i] = &run_shape(run, pods[i])->demand;
	r = pool_decide_gang(run->pool, demands, gang->count, decisions,
			     run->options->record ? &run->reason : NULL);
	if (r == -EAGAIN || r == -ENOSPC) {
		run->result.checksum = decision_hash(run->result.checksum, NULL);
		return 0;
	}
	if (r == 0)
		r = hold_all(run, pods, gang->count, decisions);
	if (r < 0)
		return error_set_errno(error, -r, "cannot place the gang of Pod %s",
				       trace_pod_name(run->trace, pod));
	return 1;
}
