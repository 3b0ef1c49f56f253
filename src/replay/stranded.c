/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where room is stranded. Each card on which something is free is judged by every class of the mix;
 * the class that comes nearest says whether the card is of use, and if not, what it lacks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run.h"

static const struct {
	const char *name, *words;
} causes[STRANDED_CAUSE_MAX] = {
	[STRANDED_NOT] = { "usable", "of use to some Pod" },
	[STRANDED_PODS] = { "pods", "the node takes no more Pods" },
	[STRANDED_HOST_MEMORY] = { "host_memory", "too little memory of the node" },
	[STRANDED_CPU] = { "cpu", "too little CPU of the node" },
	[STRANDED_CARDS] = { "too_few_cards", "too few such cards on the node" },
	[STRANDED_COMPUTE] = { "compute_used_up", "compute used up" },
	[STRANDED_MEMORY] = { "memory_used_up", "memory used up" },
	[STRANDED_CLOSED] = { "closed", "taints or labels" },
	[STRANDED_MODEL] = { "not_asked_for", "nobody asks for such a card" },
	[STRANDED_SICK] = { "unhealthy", "unhealthy or used without a grant" },
};

const char *stranded_cause_to_string(enum stranded_cause cause)
{
	return (int)cause < 0 || cause >= STRANDED_CAUSE_MAX ? "invalid" : causes[cause].name;
}

const char *stranded_cause_words(enum stranded_cause cause)
{
	return (int)cause < 0 || cause >= STRANDED_CAUSE_MAX ? "invalid" : causes[cause].words;
}

void stranded_report_release(struct stranded_report *report)
{
	free(report->models);
	free(report->nodes);
	free(report->left);
	run_result_release(&report->before);
	*report = (struct stranded_report){ .nodes = NULL };
}

struct kind { /* a class of the mix */
	const struct demand *demand;
	const struct request *request;
	unsigned cards;
	const uint16_t *millis; /* by model; of the trace */
	bool chooses;           /* nodes, by labels */
};

struct room { /* a card on which something is free */
	unsigned model, units, free, caps, left_milli;
	enum card_mode mode;
	bool idle, sick, full;
	enum stranded_cause cause;
};

struct stranded {
	struct run *run;
	struct kind *kinds; /* owned */
	size_t count;
	struct room rooms[CARDS_MAX]; /* of one node */
	unsigned room_count;
};

static int make_kinds(struct stranded *stranded, struct error *error)
{
	const struct trace *trace = stranded->run->trace;
	autofree struct workload_class *workload = NULL;
	size_t count = 0;

	int r = workload_make(trace, &workload, &count, error);
	if (r < 0)
		return r;
	stranded->kinds = calloc(count + 1, sizeof(*stranded->kinds));
	if (!stranded->kinds)
		return error_no_memory(error);
	for (size_t i = 0; i < count; i++) {
		const struct trace_shape *shape = trace_shape_of(workload[i].demand);
		const struct demand *demand = &shape->demand;

		if (!shape->cards)
			continue;
		stranded->kinds[stranded->count++] = (struct kind){
			.demand = demand,
			.request = &demand->requests[0],
			.cards = shape->cards,
			.millis = &trace->shape_millis[(size_t)(shape - trace->shapes) *
						       trace->model_count],
			.chooses = demand->selector_count || demand->term_count,
		};
	}
	return 0;
}

/* Modes in which a card takes a request of each kind. */
static const uint8_t kind_modes[REQUEST_KIND_MAX] = {
	[REQUEST_WHOLE] = 1u << CARD_MODE_WHOLE | 1u << CARD_MODE_AUTO,
	[REQUEST_SLICE] = 1u << CARD_MODE_SLICES | 1u << CARD_MODE_AUTO,
	[REQUEST_MIG] = 1u << CARD_MODE_MIG,
};

/* STRANDED_NOT: the card would do. INSTANCES: that it takes. */
static enum stranded_cause judge_card(const struct kind *kind, const struct room *room,
				      unsigned instances)
{
	const struct request *request = kind->request;
	unsigned milli = kind->millis[room->model], wanted = request->units;

	if (!milli || !(kind_modes[request->kind] >> room->mode & 1))
		return STRANDED_MODEL;
	if (request->kind == REQUEST_WHOLE)
		return room->idle ? STRANDED_NOT : STRANDED_MEMORY;
	if (request->kind == REQUEST_MIG)
		return instances ? STRANDED_NOT : STRANDED_MEMORY;
	if (!wanted)
		wanted = room->units * request->memory_percent / 100;
	if (room->free < (wanted ? wanted : 1))
		return STRANDED_MEMORY;
	return room->caps < request->compute_percent ? STRANDED_COMPUTE : STRANDED_NOT;
}

static bool lets_in(const struct node_spec *node, const struct kind *kind)
{
	if (!kind->chooses && !node->taint_count && !node->unschedulable)
		return true;
	return demand_selects(kind->demand, node);
}

static bool lacks(int64_t wanted, int64_t left)
{
	return left != RESOURCE_UNLIMITED && wanted > left;
}

/* What the node says once PASSED of its cards would do. */
static enum stranded_cause judge_node(const struct kind *kind, unsigned passed,
				      const struct resources *left)
{
	const struct resources *needs = &kind->demand->needs;

	if (passed < kind->cards)
		return STRANDED_CARDS;
	if (lacks(needs->cpu_milli, left->cpu_milli))
		return STRANDED_CPU;
	if (lacks(needs->memory_mib, left->memory_mib))
		return STRANDED_HOST_MEMORY;
	return lacks(needs->pods, left->pods) ? STRANDED_PODS : STRANDED_NOT;
}

/* True when no other class can say better. */
static bool judge_kind(struct stranded *stranded, unsigned pool_node, const struct kind *kind,
		       const struct resources *left)
{
	const struct run *run = stranded->run;
	const struct node_spec *node = &run->trace->nodes[run->nodes[pool_node]];

	enum stranded_cause cards[CARDS_MAX];
	bool inside = lets_in(node, kind), done = true;
	unsigned passed = 0;

	for (unsigned i = 0; i < stranded->room_count; i++) {
		unsigned room = 1;

		if (kind->request->kind == REQUEST_MIG)
			room = pool_card_instance_room(run->pool, pool_node, i, kind->request);
		cards[i] = judge_card(kind, &stranded->rooms[i], room);
		if (!inside && cards[i] != STRANDED_MODEL)
			cards[i] = STRANDED_CLOSED;
		if (cards[i] == STRANDED_NOT && !stranded->rooms[i].sick)
			passed += room;
	}
	enum stranded_cause of_node = judge_node(kind, passed, left);
	for (unsigned i = 0; i < stranded->room_count; i++) {
		struct room *room = &stranded->rooms[i];
		enum stranded_cause cause = cards[i] == STRANDED_NOT ? of_node : cards[i];

		if (!room->sick && cause < room->cause)
			room->cause = cause;
		done = done && (room->sick || room->full || room->cause == STRANDED_NOT);
	}
	return done;
}

static bool is_sick(const struct card *card)
{
	for (size_t i = 0; i < card->process_count; i++)
		if (!card->processes[i].granted)
			return true;
	return card->condition.health != CARD_HEALTHY;
}

/* The free part of a card, counted under the cause. */
static void sum_room(const struct stranded *stranded, unsigned node, unsigned at,
		     const struct room *room, struct stranded_share *share)
{
	const struct stranded_sum sum = {
		.cards = 1,
		.whole = room->idle,
		.gib = room->free,
		.compute = pool_card_idle_compute(stranded->run->pool, node, at),
	};
	struct stranded_sum *sums[] = { &share->free, &share->by_cause[room->cause] };

	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		sums[i]->cards += sum.cards;
		sums[i]->whole += sum.whole;
		sums[i]->gib += sum.gib;
		sums[i]->compute += sum.compute;
	}
}

/* NODE: of the pool. All cards are rooms here, those that are full too: they fit nobody. */
static void read_rooms(struct stranded *stranded, unsigned node)
{
	const struct run *run = stranded->run;
	const struct trace *trace = run->trace;
	uint32_t first = trace->first_cards[run->nodes[node]];

	stranded->room_count = pool_node_card_count(run->pool, node);
	for (unsigned i = 0; i < stranded->room_count; i++) {
		const struct card *card = pool_card(run->pool, node, i);
		bool sick = is_sick(card);

		stranded->rooms[i] = (struct room){
			.model = trace->card_models[first + i],
			.units = card_units(card),
			.free = pool_card_free(run->pool, node, i),
			.caps = pool_card_free_compute(run->pool, node, i),
			.left_milli = pool_card_left_milli(run->pool, node, i),
			.mode = card->mode,
			.idle = !pool_card_granted(run->pool, node, i) &&
				!pool_card_held_whole(run->pool, node, i),
			.sick = sick,
			.full = !pool_card_free(run->pool, node, i) &&
				!pool_card_idle_compute(run->pool, node, i),
			.cause = sick ? STRANDED_SICK : STRANDED_MODEL,
		};
	}
}

static int64_t left_of(int64_t all, int64_t used)
{
	return all == RESOURCE_UNLIMITED ? all : all > used ? all - used : 0;
}

static void add_fragment(struct stranded *stranded, unsigned node, struct stranded_report *report)
{
	const struct run *run = stranded->run;
	uint32_t at = run->nodes[node];
	double fragment = fragments_of_node(run->fragments, run->pool, at, node), left = 0;

	for (unsigned i = 0; i < stranded->room_count; i++)
		left += stranded->rooms[i].left_milli;
	report->nodes[at].fragment_milli = fragment;
	report->total.fragment_milli += fragment;
	for (unsigned i = 0; left > 0 && i < stranded->room_count; i++)
		report->models[stranded->rooms[i].model].fragment_milli +=
			fragment * stranded->rooms[i].left_milli / left;
}

static void judge(struct stranded *stranded, unsigned node, struct stranded_report *report)
{
	const struct run *run = stranded->run;
	uint32_t at = run->nodes[node];
	struct resources all = pool_node_allocatable(run->pool, node);
	struct resources used = pool_node_used(run->pool, node);
	bool done = false;

	report->left[at] = (struct resources){ left_of(all.cpu_milli, used.cpu_milli),
					       left_of(all.memory_mib, used.memory_mib),
					       left_of(all.pods, used.pods) };
	read_rooms(stranded, node);
	for (size_t i = 0; !done && i < stranded->count; i++)
		done = judge_kind(stranded, node, &stranded->kinds[i], &report->left[at]);
	for (unsigned i = 0; i < stranded->room_count; i++) {
		const struct room *room = &stranded->rooms[i];
		struct stranded_share *shares[] = { &report->total, &report->nodes[at],
						    &report->models[room->model] };

		for (size_t k = 0; k < ARRAY_SIZE(shares); k++) {
			shares[k]->cards++;
			shares[k]->gib += room->units;
			if (!room->full)
				sum_room(stranded, node, i, room, shares[k]);
		}
	}
	add_fragment(stranded, node, report);
}

static int find(struct stranded *stranded, struct stranded_report *report, struct error *error)
{
	const struct trace *trace = stranded->run->trace;

	report->models = calloc(trace->model_count + 1, sizeof(*report->models));
	report->nodes = calloc(trace->node_count, sizeof(*report->nodes));
	report->left = calloc(trace->node_count, sizeof(*report->left));
	if (!report->models || !report->nodes || !report->left)
		return error_no_memory(error);
	int r = make_kinds(stranded, error);
	for (unsigned i = 0; r == 0 && i < trace->node_count; i++)
		judge(stranded, i, report);
	free(stranded->kinds);
	return r;
}

int stranded_find(const struct trace *trace, const struct run_options *options, bool arrive,
		  struct stranded_report *ret, struct error *error)
{
	cleanup(stranded_report_release) struct stranded_report report = { .nodes = NULL };
	cleanup(run_close) struct run run;
	struct stranded stranded = { .run = &run };

	int r = run_open(&run, trace, options, error);
	if (r == 0 && arrive)
		r = run_arrive(&run, error);
	if (r == 0)
		r = find(&stranded, &report, error);
	if (r < 0)
		return r;
	report.before = run.result;
	report.before.allocated_percent = run_allocated(&run);
	report.before.fragmented_percent = run_fragmented(&run);
	run.result = (struct run_result){ .points = NULL };
	*ret = report;
	report = (struct stranded_report){ .nodes = NULL };
	return 0;
}
