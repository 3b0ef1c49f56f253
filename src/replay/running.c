/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods that run already are held before anybody arrives. What they hold is a fact: labels, taints
 * and cordons are not asked, and of one that does not fit all that does is held.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run.h"

#define WHY_MAX 512

struct holding {
	struct run *run;
	const struct trace_running *running;
	const struct demand *demand;
	unsigned node;     /* of the pool */
	uint64_t id;       /* of the last grant */
	char why[WHY_MAX]; /* what could not be held; "": nothing */
};

/* The first cause is the one that is told. */
static __attribute__((format(printf, 2, 3))) void miss(struct holding *holding, const char *format,
						       ...)
{
	va_list arguments;

	if (holding->why[0])
		return;
	va_start(arguments, format);
	vsnprintf(holding->why, sizeof(holding->why), format, arguments);
	va_end(arguments);
}

static bool is_refusal(int r)
{
	return r == -EAGAIN || r == -ENOSPC;
}

/* Places DEMAND on the node wherever it fits there. 1: held. 0: refused. */
static int hold_anywhere(struct holding *holding, const struct demand *demand,
			 struct reason *ret_reason)
{
	struct toleration everything = { .effect = TAINT_EFFECT_MAX };
	struct demand admitted = *demand;
	struct decision *decision = &holding->run->decision;

	admitted.selector_count = admitted.term_count = 0;
	admitted.tolerations = &everything;
	admitted.toleration_count = 1;
	int r = pool_decide_on(holding->run->pool, holding->node, &admitted, decision, ret_reason);
	if (r == 0)
		r = pool_hold(holding->run->pool, &admitted, decision, &holding->id);
	return r == 0 ? 1 : is_refusal(r) ? 0 : r;
}

/* One card more; instances of one card rise by their start. */
static void add_card(struct placement *placement, unsigned card, const struct grant_card *from)
{
	unsigned at = placement->count++;

	for (;
	     at && placement->cards[at - 1] == card && placement->starts[at - 1] > from->mig_start;
	     at--) {
		placement->units[at] = placement->units[at - 1];
		placement->memory_mib[at] = placement->memory_mib[at - 1];
		placement->starts[at] = placement->starts[at - 1];
		placement->cards[at] = card;
	}
	placement->cards[at] = card;
	placement->units[at] = from->units;
	placement->memory_mib[at] = from->memory_mib;
	placement->starts[at] = (uint8_t)from->mig_start;
}

/* The cards of a grant as a placement, when it can be one. */
static bool place_grant(const struct holding *holding, const struct grant *grant,
			struct placement *ret)
{
	const struct pool *pool = holding->run->pool;
	unsigned count = pool_node_card_count(pool, holding->node);

	*ret = (struct placement){ .node = holding->node };
	for (unsigned i = 0; i < count; i++)
		for (size_t k = 0; k < grant->card_count; k++) {
			const struct grant_card *card = &grant->cards[k];

			if (strcmp(pool_card(pool, holding->node, i)->uuid, card->uuid) != 0)
				continue;
			if (ret->count == ARRAY_SIZE(ret->cards) ||
			    (ret->count && card->compute_percent != ret->compute_percent))
				return false;
			ret->compute_percent = card->compute_percent;
			add_card(ret, i, card);
		}
	return ret->count == grant->card_count;
}

/* 1: all of it, on the cards that are known. */
static int hold_on_cards(struct holding *holding)
{
	const struct trace_running *running = holding->running;
	struct decision *decision = &holding->run->decision;

	if (running->grant_count != holding->demand->request_count)
		return 0;
	decision->node = holding->node;
	decision->count = (unsigned)running->grant_count;
	for (size_t i = 0; i < running->grant_count; i++)
		if (running->grants[i].kind != holding->demand->requests[i].kind ||
		    !place_grant(holding, &running->grants[i], &decision->placements[i]))
			return 0;
	int r = pool_hold(holding->run->pool, holding->demand, decision, &holding->id);
	return r == 0 ? 1 : r == -EBUSY || r == -EINVAL ? 0 : r;
}

static int64_t at_most(int64_t wanted, int64_t all, int64_t used)
{
	int64_t left = all == RESOURCE_UNLIMITED ? wanted : all > used ? all - used : 0;

	return wanted < left ? wanted : left;
}

/* What is left of CPU, memory and Pods, up to what is asked for. */
static int hold_needs(struct holding *holding)
{
	const struct pool *pool = holding->run->pool;
	const struct resources *wanted = &holding->demand->needs;
	struct resources all = pool_node_allocatable(pool, holding->node);
	struct resources used = pool_node_used(pool, holding->node);
	const struct resources held = {
		.cpu_milli = at_most(wanted->cpu_milli, all.cpu_milli, used.cpu_milli),
		.memory_mib = at_most(wanted->memory_mib, all.memory_mib, used.memory_mib),
		.pods = at_most(wanted->pods, all.pods, used.pods),
	};
	struct demand demand = { .needs = held };

	if (held.cpu_milli < wanted->cpu_milli || held.memory_mib < wanted->memory_mib ||
	    held.pods < wanted->pods)
		miss(holding, "%s has less CPU, memory or room for Pods left than it asks for",
		     pool_node_name(pool, holding->node));
	return hold_anywhere(holding, &demand, NULL);
}

/* One card of a grant; of a card that is too full what is left. */
static int hold_card(struct holding *holding, const struct grant *grant, size_t at)
{
	struct pool *pool = holding->run->pool;
	struct error inner = ERROR_INIT;
	struct grant_card card = grant->cards[at];
	struct grant one = { .kind = grant->kind, .cards = &card, .card_count = 1 };
	uint64_t id;

	memcpy(one.mig_profile, grant->mig_profile, sizeof(one.mig_profile));
	int r = pool_hold_grant(pool, holding->node, &one, &id, &inner);
	if (r == 0 || r == -ENOMEM)
		return r;
	miss(holding, "%s", inner.message);
	if (r != -EBUSY || grant->kind == REQUEST_MIG)
		return 0;
	for (unsigned i = 0; i < pool_node_card_count(pool, holding->node); i++) {
		const struct card *found = pool_card(pool, holding->node, i);
		unsigned left = card_units(found) - pool_card_granted(pool, holding->node, i);

		if (strcmp(found->uuid, card.uuid) == 0 && left < card.units)
			card.units = left;
	}
	one.kind = REQUEST_SLICE;
	card.compute_percent = 0;
	r = pool_hold_grant(pool, holding->node, &one, &id, &inner);
	return r == -ENOMEM ? r : 0;
}

/* As many cards as there are for a request whose cards are not known. */
static int hold_request(struct holding *holding, const struct request *wanted)
{
	struct request request = *wanted;
	struct demand demand = { .requests = &request, .request_count = 1 };
	int r = 0;

	for (; r == 0 && request.cards; request.cards--) {
		struct reason reason = { .code = REASON_NONE };

		r = hold_anywhere(holding, &demand, &reason);
		if (r == 0)
			miss(holding, "%s of %s: %s",
			     request.kind == REQUEST_WHOLE ? "cards" : "parts",
			     pool_node_name(holding->run->pool, holding->node),
			     reason_class(reason.code));
	}
	return r < 0 ? r : 0;
}

static int hold_parts(struct holding *holding)
{
	const struct trace_running *running = holding->running;
	bool known = running->grant_count != 0;
	size_t count = known ? running->grant_count : holding->demand->request_count;

	int r = hold_needs(holding);
	for (size_t i = 0; r >= 0 && i < count; i++) {
		if (!known)
			r = hold_request(holding, &holding->demand->requests[i]);
		for (size_t k = 0; known && r >= 0 && k < running->grants[i].card_count; k++)
			r = hold_card(holding, &running->grants[i], k);
	}
	return r < 0 ? r : 0;
}

static int note(struct holding *holding, struct error *error)
{
	struct run_result *result = &holding->run->result;
	struct run_partial *item =
		VEC_ADD(&result->partial, &result->partial_count, &result->partial_capacity);

	if (item)
		*item = (struct run_partial){ .pod = holding->running->pod,
					      .why = strdup(holding->why) };
	return item && item->why ? 0 : error_no_memory(error);
}

/* All of it is held by one grant: it may move as if it had come. */
static int adopt(struct holding *holding)
{
	struct run *run = holding->run;
	uint32_t pod = holding->running->pod;
	int r = 0;

	if (run->seating)
		r = seating_adopt(run->seating, run->trace->pods[pod].shape, holding->id, pod);
	return r == -EINVAL ? 0 : r; /* it stays where it is */
}

static int hold_running(struct run *run, const struct trace_running *running,
			const uint32_t *numbers, struct error *error)
{
	struct holding holding = { .run = run,
				   .running = running,
				   .demand = &run_shape(run, running->pod)->demand };
	int r = 0;

	if (running->node == TRACE_NO_NODE) {
		miss(&holding, "%s is not among the nodes", running->node_name);
		return note(&holding, error);
	}
	holding.node = numbers[running->node];
	r = running->grant_count ? hold_on_cards(&holding)
				 : hold_anywhere(&holding, holding.demand, NULL);
	if (r == 1)
		r = adopt(&holding);
	else if (r == 0)
		r = hold_parts(&holding);
	if (r < 0)
		return error_set_errno(error, -r, "cannot hold Pod %s, which runs already",
				       trace_pod_name(run->trace, running->pod));
	run_read_node(run, holding.node);
	return holding.why[0] ? note(&holding, error) : 0;
}

int run_hold_running(struct run *run, struct error *error)
{
	const struct trace *trace = run->trace;
	autofree uint32_t *numbers = NULL;
	int r = 0;

	if (!trace->running_count)
		return 0;
	numbers = calloc(trace->node_count, sizeof(*numbers));
	if (!numbers)
		return error_no_memory(error);
	for (uint32_t i = 0; i < trace->node_count; i++)
		numbers[run->nodes[i]] = i;
	for (size_t i = 0; r == 0 && i < trace->running_count; i++)
		r = hold_running(run, &trace->running[i], numbers, error);
	run->result.running = trace->running_count;
	return r;
}
