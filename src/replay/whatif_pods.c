/* SPDX-License-Identifier: Apache-2.0 */
/* The same Pods on a changed cluster: what they ask for now, and who runs no longer. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/whatif.h"

#define MAPPINGS_MAX 10 /* that are said one by one */

static bool is_slice(const struct request *request)
{
	return request->kind == REQUEST_SLICE;
}

static void become(struct request *request, enum request_kind kind, const char *profile)
{
	request->kind = kind;
	request->memory_mib = 0;
	request->memory_percent = request->units = request->compute_percent = 0;
	snprintf(request->mig_profile, sizeof(request->mig_profile), "%s", profile);
}

/* "a slice of 12 GiB is 1 of 1g.20gb now", for some Pods more. */
static int add_mapping(struct builder *builder, size_t pods, const struct request *request,
		       const char *now, struct error *error)
{
	autostrbuf text = STRBUF_INIT(1024);

	if (!pods)
		return 0;
	(void)request_describe(request, &text);
	strbuf_addf(&text, " is %s now", now);
	if (strbuf_failed(&text) < 0)
		return error_no_memory(error);
	for (size_t i = 0; i < builder->mapping_count; i++)
		if (strcmp(builder->mappings[i].text, text.data) == 0) {
			builder->mappings[i].pods += pods;
			return 0;
		}
	struct mapping *mapping =
		VEC_ADD(&builder->mappings, &builder->mapping_count, &builder->mapping_capacity);
	if (!mapping)
		return error_no_memory(error);
	mapping->pods = pods;
	mapping->text = strbuf_detach(&text);
	return 0;
}

static int by_pods(const void *left, const void *right)
{
	const struct mapping *a = left, *b = right;

	if (a->pods != b->pods)
		return a->pods > b->pods ? -1 : 1;
	return strcmp(a->text, b->text);
}

/* "37 Pods: a slice of 12 GiB is 1 of 1g.20gb now.", those of most Pods first. */
static int say_mappings(struct builder *builder, struct error *error)
{
	size_t pods = 0;
	int r = 0;

	if (builder->mapping_count)
		qsort(builder->mappings, builder->mapping_count, sizeof(*builder->mappings),
		      by_pods);
	for (size_t i = 0; r == 0 && i < builder->mapping_count; i++) {
		const struct mapping *mapping = &builder->mappings[i];

		if (i >= MAPPINGS_MAX)
			pods += mapping->pods;
		else
			r = whatif_say(builder, error, "%zu Pod%s: %s.", mapping->pods,
				       mapping->pods == 1 ? "" : "s", mapping->text);
	}
	if (r < 0 || !pods)
		return r;
	return whatif_say(builder, error, "Pods of %zu kinds more that ask anew likewise: %zu.",
			  builder->mapping_count - MAPPINGS_MAX, pods);
}

/* What a request asks for now. */
static int change_request(struct builder *builder, size_t pods, struct request *request,
			  bool *ret_changed, struct error *error)
{
	const struct mig_profile *profile = NULL;
	char now[64];
	int r;

	if (!is_slice(request))
		return 0;
	if (builder->changes->slices == WHATIF_SLICES_OFF) {
		snprintf(now, sizeof(now), "%u whole card%s", request->cards,
			 request->cards == 1 ? "" : "s");
		r = add_mapping(builder, pods, request, now, error);
		become(request, REQUEST_WHOLE, "");
		*ret_changed = true;
		return r;
	}
	if (builder->split_count)
		profile = whatif_find_profile(builder, request);
	if (!profile)
		return 0;
	snprintf(now, sizeof(now), "%u of %s", request->cards, profile->name);
	r = add_mapping(builder, pods, request, now, error);
	become(request, REQUEST_MIG, profile->name);
	*ret_changed = true;
	return r;
}

static int copy_demand(const struct demand *demand, struct demand *ret, struct error *error)
{
	autojson *object = NULL;

	int r = demand_to_json(demand, &object, error);
	if (r == 0)
		r = demand_from_json(object, ret, error);
	if (r < 0)
		return r;
	ret->object = strdup(demand->object ? demand->object : "Pod");
	ret->containers = calloc(ret->request_count + 1, sizeof(*ret->containers));
	return ret->object && ret->containers ? 0 : error_no_memory(error);
}

/* Shapes that ask for the same now stay apart by class: figures before and after are of the same
 * Pods. */
static int intern(struct builder *builder, struct demand *demand, enum trace_class class,
		  uint32_t *ret, struct error *error)
{
	struct trace *trace = &builder->to->trace;
	int r = trace_intern(trace, demand, trace_class_to_string(class), ret, error);

	if (r == 0)
		trace->shapes[*ret].class = class;
	return r;
}

static int add_shape(struct builder *builder, size_t shape, size_t pods, struct error *error)
{
	cleanup(demand_release) struct demand demand;
	const struct trace_shape *from = &builder->from->shapes[shape];

	demand_init(&demand);
	int r = copy_demand(&from->demand, &demand, error);
	for (size_t i = 0; r == 0 && i < demand.request_count; i++)
		r = change_request(builder, pods, &demand.requests[i], &builder->asks_anew[shape],
				   error);
	return r < 0 ? r : intern(builder, &demand, from->class, &builder->shapes[shape], error);
}

static int add_shapes(struct builder *builder, struct error *error)
{
	const struct trace *from = builder->from;
	autofree size_t *pods = calloc(from->shape_count + 1, sizeof(*pods));
	int r = 0;

	builder->shapes = calloc(from->shape_count + 1, sizeof(*builder->shapes));
	builder->asks_anew = calloc(from->shape_count + 1, sizeof(*builder->asks_anew));
	if (!pods || !builder->shapes || !builder->asks_anew)
		return error_no_memory(error);
	for (size_t i = 0; i < from->pod_count; i++)
		pods[from->pods[i].shape]++;
	for (size_t i = 0; r == 0 && i < from->shape_count; i++)
		r = add_shape(builder, i, pods[i], error);
	return r < 0 ? r : say_mappings(builder, error);
}

static int copy_grant(const struct grant *grant, struct grant *ret)
{
	ret->kind = grant->kind;
	memcpy(ret->mig_profile, grant->mig_profile, sizeof(ret->mig_profile));
	for (size_t i = 0; i < grant->card_count; i++) {
		struct grant_card *card =
			VEC_ADD(&ret->cards, &ret->card_count, &ret->card_capacity);

		if (!card)
			return -ENOMEM;
		*card = grant->cards[i];
	}
	return 0;
}

/* The Pod that was added last runs on. */
static int keep_running(struct builder *builder, const struct trace_running *from,
			struct error *error)
{
	cleanup(trace_running_release) struct trace_running running = {
		.node_name = strdup(from->node_name),
		.grants = calloc(from->grant_count + 1, sizeof(*running.grants)),
	};

	if (!running.node_name || !running.grants)
		return error_no_memory(error);
	for (size_t i = 0; i < from->grant_count; i++) {
		running.grant_count++;
		if (copy_grant(&from->grants[i], &running.grants[i]) < 0)
			return error_no_memory(error);
	}
	return trace_add_running(&builder->to->trace, &running, error);
}

static int add_running(struct builder *builder, const struct trace_running *running,
		       struct error *error)
{
	struct arrivals *displaced = &builder->to->displaced;
	uint32_t shape = builder->from->pods[running->pod].shape;

	if (!builder->asks_anew[shape] &&
	    (running->node == TRACE_NO_NODE ||
	     (!builder->removed[running->node] && !builder->changed[running->node])))
		return keep_running(builder, running, error);
	uint32_t *item = VEC_ADD(&displaced->pods, &displaced->count, &displaced->capacity);
	if (!item)
		return error_no_memory(error);
	*item = running->pod;
	return 0;
}

/* The Pod that was added last stays in its gang; who ran arrives again alone. */
static int keep_gang(struct builder *builder, uint32_t pod, struct error *error)
{
	const struct trace *from = builder->from;
	const struct trace_gang *gang = trace_gang_of(from, pod);
	char name[24];

	if (!gang)
		return 0;
	snprintf(name, sizeof(name), "%td", gang - from->gangs);
	return trace_join_gang(&builder->to->trace, name, trace_gang_is_whole(gang) ? 0 : UINT_MAX,
			       error);
}

int whatif_add_pods(struct builder *builder, struct error *error)
{
	const struct trace *from = builder->from;
	struct trace *to = &builder->to->trace;
	size_t running = 0;

	int r = add_shapes(builder, error);
	for (size_t i = 0; r == 0 && i < from->pod_count; i++) {
		const struct trace_pod *pod = &from->pods[i];

		r = trace_add_pod(to, trace_pod_name(from, i), builder->shapes[pod->shape],
				  pod->created, pod->end, error);
		if (r == 0)
			r = keep_gang(builder, (uint32_t)i, error);
		if (r == 0 && running < from->running_count && from->running[running].pod == i)
			r = add_running(builder, &from->running[running++], error);
	}
	if (r < 0 || !builder->to->displaced.count)
		return r;
	return whatif_say(
		builder, error,
		"Pods that ran on what is removed or changed, and arrive again before all "
		"others: %zu.",
		builder->to->displaced.count);
}
