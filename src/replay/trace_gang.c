/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that are placed together or not at all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/trace.h"

int trace_join_gang(struct trace *trace, const char *name, unsigned size, struct error *error)
{
	struct trace_member *member;
	uintptr_t number;

	if (!trace->gang_names)
		trace->gang_names = map_new();
	if (!trace->gang_names)
		return error_no_memory(error);
	number = (uintptr_t)map_get(trace->gang_names, name);
	if (!number) {
		struct trace_gang *gang =
			VEC_ADD(&trace->gangs, &trace->gang_count, &trace->gang_capacity);

		number = trace->gang_count;
		if (!gang || map_put(trace->gang_names, name, (void *)number) < 0)
			return error_no_memory(error);
		*gang = (struct trace_gang){ .size = size };
	}
	member = VEC_ADD(&trace->members, &trace->member_count, &trace->member_capacity);
	if (!member)
		return error_no_memory(error);
	*member = (struct trace_member){ .pod = (uint32_t)trace->pod_count - 1,
					 .gang = (uint32_t)number - 1 };
	if (size > trace->gangs[number - 1].size)
		trace->gangs[number - 1].size = size;
	return 0;
}

/* Who runs already has come; the others of a gang lie together. */
int trace_finish_gangs(struct trace *trace)
{
	size_t running = 0;
	uint32_t first = 0;

	trace->gang_pods = calloc(trace->member_count + 1, sizeof(*trace->gang_pods));
	if (!trace->gang_pods)
		return -ENOMEM;
	for (size_t i = 0; i < trace->member_count; i++) {
		struct trace_member *member = &trace->members[i];
		struct trace_gang *gang = &trace->gangs[member->gang];

		while (running < trace->running_count && trace->running[running].pod < member->pod)
			running++;
		member->runs = running < trace->running_count &&
			       trace->running[running].pod == member->pod;
		if (member->runs)
			gang->running++;
		else
			gang->count++;
	}
	for (size_t i = 0; i < trace->gang_count; i++) {
		trace->gangs[i].first = first;
		first += trace->gangs[i].count;
		trace->gangs[i].count = 0;
	}
	for (size_t i = 0; i < trace->member_count; i++) {
		const struct trace_member *member = &trace->members[i];
		struct trace_gang *gang = &trace->gangs[member->gang];

		if (!member->runs)
			trace->gang_pods[gang->first + gang->count++] = member->pod;
	}
	map_free(TAKE_PTR(trace->gang_names));
	return 0;
}

const struct trace_gang *trace_gang_of(const struct trace *trace, uint32_t pod)
{
	size_t low = 0, high = trace->member_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (trace->members[middle].pod < pod)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == trace->member_count || trace->members[low].pod != pod ||
	    trace->members[low].runs)
		return NULL;
	return &trace->gangs[trace->members[low].gang];
}

bool trace_pod_follows(const struct trace *trace, uint32_t pod)
{
	const struct trace_gang *gang = trace_gang_of(trace, pod);

	return gang && trace->gang_pods[gang->first] != pod;
}

int64_t trace_pod_milli(const struct trace *trace, uint32_t pod)
{
	const struct trace_gang *gang = trace_gang_of(trace, pod);
	int64_t sum = 0;

	if (!gang)
		return trace->shapes[trace->pods[pod].shape].total;
	for (uint32_t i = 0; i < gang->count; i++)
		sum += trace->shapes[trace->pods[trace->gang_pods[gang->first + i]].shape].total;
	return sum;
}
