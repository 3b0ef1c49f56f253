/* SPDX-License-Identifier: Apache-2.0 */
/* A pool as it is at some point of a run, for whoever asks about one Pod. */
#include <errno.h>
#include <stdlib.h>

#include "replay/run.h"

struct snapshot {
	struct run run;
	struct run_options options;
	struct arrivals arrivals; /* those before the Pod; owned */
};

/* Who arrives before POD does for the first time. */
static int find_before(struct snapshot *snapshot, const struct trace *trace, uint32_t pod,
		       struct error *error)
{
	const struct protocol protocol = { .seed = snapshot->options.place.seed,
					   .percent = snapshot->options.arrival };
	struct arrivals *arrivals = &snapshot->arrivals;
	size_t at = 0;

	int r = arrivals_make(trace, &protocol, arrivals, error);
	if (r < 0)
		return r;
	while (at < arrivals->count && arrivals->pods[at] != pod)
		at++;
	if (at == arrivals->count)
		return error_set(error, ENOENT,
				 "Pod %s is not among those that arrive; write another --seed or a "
				 "higher --arrival",
				 trace_pod_name(trace, pod));
	arrivals->count = at;
	snapshot->options.arrivals = arrivals;
	return 0;
}

static int take(struct snapshot *snapshot, const struct trace *trace, bool arrive,
		const uint32_t *before, struct error *error)
{
	int r = arrive && before ? find_before(snapshot, trace, *before, error) : 0;

	if (r == 0)
		r = run_open(&snapshot->run, trace, &snapshot->options, error);
	if (r == 0 && arrive)
		r = run_arrive(&snapshot->run, error);
	if (r == 0)
		snapshot->run.result.allocated_percent = run_allocated(&snapshot->run);
	return r;
}

int snapshot_take(const struct trace *trace, const struct run_options *options, bool arrive,
		  const uint32_t *before, struct snapshot **ret, struct error *error)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		return error_no_memory(error);
	snapshot->options = *options;
	int r = take(snapshot, trace, arrive, before, error);
	if (r < 0)
		snapshot_free(snapshot);
	else
		*ret = snapshot;
	return r;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	run_close(&snapshot->run);
	arrivals_release(&snapshot->arrivals);
	free(snapshot);
}

struct pool *snapshot_pool(struct snapshot *snapshot)
{
	return snapshot->run.pool;
}

const struct run_result *snapshot_result(const struct snapshot *snapshot)
{
	return &snapshot->run.result;
}
