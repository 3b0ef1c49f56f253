/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds cards by what their node says (PoolNode). Pods that are listed themselves ask for what
 * they ask for, and take only the cards from here; the others hold what is said.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/listing.h"

static void held_free(void *held)
{
	demand_release(held);
	free(held);
}

void listing_free_held(struct map *held)
{
	const char *key;
	void *value;

	for (size_t at = 0; held && map_next(held, &at, &key, &value);)
		held_free(value);
	map_free(held);
}

static int demand_begin(struct demand *demand, const struct grant *grant, const char *node)
{
	demand_init(demand);
	demand->node = strdup(node);
	demand->namespace = strdup(grant->namespace);
	demand->name = strdup(grant->pod);
	demand->containers = calloc(DEMAND_REQUESTS_MAX, sizeof(*demand->containers));
	if (asprintf(&demand->object, "Pod %s/%s", grant->namespace, grant->pod) < 0)
		demand->object = NULL;
	return demand->node && demand->namespace && demand->name && demand->containers &&
			       demand->object
		       ? 0
		       : -ENOMEM;
}

/* The Pod of that name so far. */
static struct demand *held_by(struct map *held, const char *name, const struct grant *grant,
			      const char *node)
{
	struct demand *demand = map_get(held, name);

	if (demand)
		return demand;
	demand = calloc(1, sizeof(*demand));
	if (demand && (demand_begin(demand, grant, node) < 0 || map_put(held, name, demand) < 0)) {
		held_free(demand);
		return NULL;
	}
	return demand;
}

/* What a grant's container must have asked for. */
static void request_of(const struct grant *grant, struct request *ret)
{
	ret->kind = grant->kind;
	ret->cards = (unsigned)grant->card_count;
	ret->dialect = "PoolNode";
	memcpy(ret->mig_profile, grant->mig_profile, sizeof(ret->mig_profile));
	if (grant->kind != REQUEST_SLICE)
		return;
	ret->units = grant->cards[0].units;
	ret->memory_mib = grant->cards[0].memory_mib;
	ret->compute_percent = grant->cards[0].compute_percent;
}

static int add_grant(struct demand *demand, struct grant *grant)
{
	char *container = strdup(grant->container);
	struct request *request =
		VEC_ADD(&demand->requests, &demand->request_count, &demand->request_capacity);

	if (request)
		demand->containers[demand->request_count - 1] = container;
	else
		free(container);
	struct grant *room =
		VEC_ADD(&demand->grants, &demand->grant_count, &demand->grant_capacity);
	if (!request || !container || !room)
		return -ENOMEM;
	request_of(grant, request);
	*room = *grant;
	*grant = (struct grant){ .kind = REQUEST_NONE };
	return 0;
}

int listing_add_held(struct trace *trace, const char *node, struct grant *grant,
		     struct error *error)
{
	autofree char *name = NULL;

	if (!grant->card_count)
		return 0;
	if (asprintf(&name, "%s/%s", grant->namespace, grant->pod) < 0)
		return error_no_memory(error);
	struct demand *demand = held_by(trace->listing->held, name, grant, node);
	if (!demand)
		return error_no_memory(error);
	if (strcmp(demand->node, node) != 0)
		return error_set(error, EINVAL,
				 "Pod %s holds cards on %s and on %s; one of the two is out of "
				 "date, leave it out",
				 name, demand->node, node);
	if (demand->request_count == DEMAND_REQUESTS_MAX)
		return error_set(error, EINVAL, "Pod %s has more than %d containers with cards",
				 name, DEMAND_REQUESTS_MAX);
	return add_grant(demand, grant) < 0 ? error_no_memory(error) : 0;
}

static int by_pod(const void *key, const void *item)
{
	const uint32_t *pod = key;
	const struct trace_running *running = item;

	return *pod < running->pod ? -1 : *pod > running->pod;
}

/* The container's grant, or NULL. */
static struct grant *grant_of(struct demand *held, const char *container, enum request_kind kind)
{
	for (size_t i = 0; i < held->grant_count; i++)
		if (held->grants[i].container && held->grants[i].kind == kind &&
		    strcmp(held->grants[i].container, container) == 0)
			return &held->grants[i];
	return NULL;
}

/* A Pod that is listed and whose cards nobody wrote on it. */
static int take_cards(struct trace *trace, uint32_t pod, struct demand *held)
{
	struct trace_running *running =
		trace->running_count ? bsearch(&pod, trace->running, trace->running_count,
					       sizeof(*running), by_pod)
				     : NULL;
	const struct demand *demand = &trace->shapes[trace->pods[pod].shape].demand;
	struct grant *found[DEMAND_REQUESTS_MAX];

	if (!running || running->grant_count || demand->request_count != held->grant_count ||
	    strcmp(running->node_name, held->node) != 0)
		return 0;
	for (size_t i = 0; i < held->grant_count; i++) {
		found[i] = grant_of(held, demand->containers[i], demand->requests[i].kind);
		if (!found[i])
			return 0;
	}
	struct grant *grants = calloc(demand->request_count, sizeof(*grants));
	if (!grants)
		return -ENOMEM;
	for (size_t i = 0; i < demand->request_count; i++) {
		grants[i] = *found[i];
		*found[i] = (struct grant){ .kind = REQUEST_NONE };
	}
	free(running->grants);
	running->grants = grants;
	running->grant_count = demand->request_count;
	return 0;
}

int listing_hold(struct trace *trace, struct error *error)
{
	const char *name;
	void *value;
	int r = 0;

	for (size_t at = 0; r == 0 && map_next(trace->listing->held, &at, &name, &value);) {
		uint32_t pod;

		if (trace_find_pod(trace, name, &pod) == 0)
			r = take_cards(trace, pod, value) < 0 ? error_no_memory(error) : 0;
		else
			r = trace_add_demand(trace, name, value, error);
	}
	return r;
}
