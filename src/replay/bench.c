/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "replay/trace.h"

#define SHAPES     151u
#define AGAIN      947u /* per mille: the next shape is that much rarer */
#define FILL_LEAST 500u /* per mille of all memory of cards */
#define FILL_MOST  950u
#define STUCK      40u /* refusals in a row after which Pods end until the least fill */
#define CHECKSUM   0xcbf29ce484222325ull

struct node_kind {
	const char *model;
	unsigned gib, share; /* share of all nodes, per cent */
	enum card_mode mode;
	unsigned group; /* cards that NVLinks join; 0: none; 64: all of the node */
	int64_t cpu_milli, memory_mib;
};

static const struct node_kind node_kinds[] = {
	{ "NVIDIA A100-SXM4-80GB", 80, 40, CARD_MODE_AUTO, 64, 128000, 1 << 20 },
	{ "NVIDIA H100 80GB HBM3", 79, 30, CARD_MODE_WHOLE, 64, 192000, 2 << 20 },
	{ "NVIDIA A40", 44, 20, CARD_MODE_AUTO, 2, 96000, 512 << 10 },
	{ "Tesla T4", 15, 10, CARD_MODE_SLICES, 0, 64000, 256 << 10 },
};
static const char *const patterns[][2] = { { "*A100*", "*H100*" },
					   { "*A100*", NULL },
					   { "*A40", NULL } };

struct held {
	uint64_t id;
	unsigned units;
};

struct bench {
	const struct bench_options *options;
	struct random random;
	struct pool *pool; /* owned */
	struct demand shapes[SHAPES];
	uint64_t total_units, held_units;
	struct held *held; /* owned */
	size_t held_count, held_capacity;
	unsigned target; /* fill to go to, per mille */
	bool rising;     /* it is above */
	unsigned refused_in_a_row;
	uint32_t *times, *refusal_times; /* owned; nanoseconds */
	size_t decisions, placed, refused;
	uint64_t least, most; /* fill that was reached, per mille */
	uint64_t checksum;
};

static void bench_release(struct bench *bench)
{
	pool_free(bench->pool);
	for (unsigned i = 0; i < SHAPES; i++)
		demand_release(&bench->shapes[i]);
	free(bench->held);
	free(bench->times);
	free(bench->refusal_times);
}

/* One decision by the wall clock, which is cheap to read; many by the time that this process had a
 * core, which a busy machine does not stretch. */
static uint64_t now_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double resident_mib(void)
{
	unsigned long long pages = 0;
	char line[128] = "", *at;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file) && (at = strchr(line, ' ')))
		pages = strtoull(at, NULL, 10);
	fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576.0;
}

/* ---- the cluster ---- */

static int link_cards(struct card *card, unsigned position, unsigned count, unsigned group)
{
	for (unsigned peer = 0; peer < count && group; peer++) {
		struct card_link *link;

		if (peer == position)
			continue;
		link = VEC_ADD(&card->links, &card->link_count, &card->link_capacity);
		if (!link)
			return -ENOMEM;
		link->peer = peer;
		link->kind = peer / group == position / group ? LINK_NVLINK : LINK_PHB;
		link->lanes = link->kind == LINK_NVLINK ? 12 : 0;
	}
	return 0;
}

static int add_cards(struct node_spec *node, unsigned number, unsigned count,
		     const struct node_kind *kind)
{
	struct inventory *inventory = &node->inventory;

	for (unsigned i = 0; i < count; i++) {
		struct card *card = VEC_ADD(&inventory->cards, &inventory->card_count,
					    &inventory->card_capacity);

		if (!card)
			return -ENOMEM;
		card->index = card->minor = i;
		card->numa = (int)(i * 2 / count);
		card->mode = kind->mode;
		card->memory_bytes = (uint64_t)kind->gib << 30;
		snprintf(card->uuid, sizeof(card->uuid), "GPU-%u-%u", number, i);
		snprintf(card->model, sizeof(card->model), "%s", kind->model);
		if (link_cards(card, i, count, kind->group) < 0)
			return -ENOMEM;
	}
	/* Some cards are sick. */
	if (number % 50 == 7)
		inventory->cards[number % count].condition.health = CARD_LOST;
	return 0;
}

static int add_node(struct bench *bench, unsigned number, struct error *error)
{
	cleanup(node_spec_release) struct node_spec node;
	unsigned lot = number * 37 % 100, kind = 0, cards = bench->options->cards;

	while (lot >= node_kinds[kind].share)
		lot -= node_kinds[kind++].share;
	node_spec_init(&node);
	node.allocatable = (struct resources){ .cpu_milli = node_kinds[kind].cpu_milli,
					       .memory_mib = node_kinds[kind].memory_mib,
					       .pods = 250 };
	if (asprintf(&node.name, "node-%06u", number) < 0) {
		node.name = NULL;
		return error_no_memory(error);
	}
	if (add_cards(&node, number, cards, &node_kinds[kind]) < 0)
		return error_no_memory(error);
	bench->total_units += (uint64_t)cards * node_kinds[kind].gib;
	return pool_add_node(bench->pool, &node, error);
}

/* ---- its Pods ---- */

static unsigned below(struct bench *bench, unsigned limit)
{
	return random_below(&bench->random, limit);
}

static void fill_request(struct bench *bench, struct request *request)
{
	unsigned lot = below(bench, 100), most = 1;

	request->cards = 1;
	if (lot < 60) {
		request->kind = REQUEST_SLICE;
		request->units = 1 + below(bench, lot < 40 ? 15 : 40);
		request->memory_mib = (uint64_t)request->units * MIB_PER_UNIT;
		request->compute_percent = lot % 3 == 0 ? 10 * (1 + below(bench, 5)) : 0;
		request->cards = lot < 5 && bench->options->cards > 1 ? 2 : 1;
		return;
	}
	request->kind = REQUEST_WHOLE;
	for (unsigned steps = below(bench, 4); steps > 0; steps--)
		most = most * 2 <= bench->options->cards ? most * 2 : most;
	request->cards = most;
}

static int make_shape(struct bench *bench, struct demand *demand, struct error *error)
{
	struct request *request =
		VEC_ADD(&demand->requests, &demand->request_count, &demand->request_capacity);

	demand->object = strdup("Pod default/train");
	if (!request || !demand->object)
		return error_no_memory(error);
	fill_request(bench, request);
	demand->needs.cpu_milli = 500 * (int64_t)request->cards * (1 + below(bench, 6));
	demand->needs.memory_mib = 1024 * (int64_t)request->cards * (1 + below(bench, 8));
	if (below(bench, 100) < 10)
		request->policy = POLICY_SPREAD;
	else if (request->cards > 1 && below(bench, 100) < 50)
		request->policy = POLICY_TOPOLOGY;
	if (below(bench, 100) >= 20)
		return 0;
	const char *const *models = patterns[below(bench, ARRAY_SIZE(patterns))];

	for (unsigned i = 0; i < 2 && models[i]; i++)
		if (string_list_add(&request->models, models[i]) < 0)
			return error_no_memory(error);
	return 0;
}

static const struct demand *draw_shape(struct bench *bench)
{
	unsigned rank = 0;

	while (below(bench, 1000) < AGAIN)
		rank++;
	return &bench->shapes[rank % SHAPES];
}

static int set_workload(struct bench *bench, struct error *error)
{
	struct workload_class classes[SHAPES];
	double share = 1, sum = 0;

	for (unsigned i = 0; i < SHAPES; i++, share *= AGAIN / 1000.0) {
		classes[i] = (struct workload_class){ &bench->shapes[i], share };
		sum += share;
	}
	for (unsigned i = 0; i < SHAPES; i++)
		classes[i].share /= sum;
	int r = pool_set_workload(bench->pool, classes, SHAPES);

	return r == -ENOMEM ? error_no_memory(error) : r;
}

static int prepare(struct bench *bench, struct error *error)
{
	const struct bench_options *options = bench->options;
	int r = 0;

	bench->pool = pool_new();
	bench->times = calloc(options->pods + 1, sizeof(*bench->times));
	bench->refusal_times = calloc(options->pods + 1, sizeof(*bench->refusal_times));
	if (!bench->pool || !bench->times || !bench->refusal_times)
		return error_no_memory(error);
	for (unsigned i = 0; i < options->nodes && r == 0; i++)
		r = add_node(bench, i, error);
	for (unsigned i = 0; i < SHAPES && r == 0; i++)
		r = make_shape(bench, &bench->shapes[i], error);
	if (r == 0 && pool_set_policy(bench->pool, &options->place) < 0)
		r = error_set(error, EINVAL, "there is no such policy");
	return r == 0 ? set_workload(bench, error) : r;
}

/* ---- steps ---- */

static void add_to_checksum(struct bench *bench, uint64_t value)
{
	bench->checksum = (bench->checksum ^ value) * 0x100000001b3ull;
}

static int hold(struct bench *bench, const struct demand *demand, const struct decision *decision,
		struct error *error)
{
	struct held *held;
	uint64_t id = 0;
	int r = pool_hold(bench->pool, demand, decision, &id);

	if (r < 0)
		return error_set(error, -r, "a decision could not be held");
	held = VEC_ADD(&bench->held, &bench->held_count, &bench->held_capacity);
	if (!held)
		return error_no_memory(error);
	*held = (struct held){ .id = id }; /* the room may have been used before */
	add_to_checksum(bench, decision->node);
	for (unsigned i = 0; i < decision->count; i++) {
		const struct placement *placement = &decision->placements[i];

		for (unsigned k = 0; k < placement->count; k++) {
			held->units += placement->units[k];
			add_to_checksum(bench, placement->cards[k]);
		}
	}
	bench->held_units += held->units;
	return 0;
}

static int decide(struct bench *bench, struct error *error)
{
	const struct demand *demand = draw_shape(bench);
	struct decision decision;
	struct reason reason;
	uint64_t start = now_ns(CLOCK_MONOTONIC), took;
	int r = pool_decide(bench->pool, demand, &decision, &reason);

	took = now_ns(CLOCK_MONOTONIC) - start;
	bench->times[bench->decisions++] = (uint32_t)(took < UINT32_MAX ? took : UINT32_MAX);
	if (r == 0) {
		bench->placed++;
		bench->refused_in_a_row = 0;
		return hold(bench, demand, &decision, error);
	}
	if (r != -EAGAIN && r != -ENOSPC)
		return error_set(error, -r, "a decision failed");
	bench->refusal_times[bench->refused++] = bench->times[bench->decisions - 1];
	add_to_checksum(bench, (uint64_t)reason.code << 32);
	if (++bench->refused_in_a_row >= STUCK)
		bench->rising = false;
	return 0;
}

static int release(struct bench *bench, struct error *error)
{
	size_t at = below(bench, (unsigned)bench->held_count);

	if (pool_release(bench->pool, bench->held[at].id) < 0)
		return error_set(error, ENOENT, "a grant is unknown");
	bench->held_units -= bench->held[at].units;
	bench->held[at] = bench->held[--bench->held_count];
	return 0;
}

/* Pods come and go side by side, two to one in the direction of the target; then to another. */
static int step(struct bench *bench, struct error *error)
{
	uint64_t fill = bench->held_units * 1000 / bench->total_units;

	bench->least = fill < bench->least ? fill : bench->least;
	bench->most = fill > bench->most ? fill : bench->most;
	if (bench->rising ? fill >= bench->target : fill <= bench->target) {
		bench->target = FILL_LEAST + below(bench, FILL_MOST - FILL_LEAST + 1);
		bench->rising = fill < bench->target;
	}
	/* Where CPU is short few fit: then nobody leaves below the least fill, as long as some fit. */
	if (bench->held_count && (fill > FILL_LEAST || bench->refused_in_a_row >= STUCK) &&
	    below(bench, 3) < (bench->rising ? 1 : 2))
		return release(bench, error);
	return decide(bench, error);
}

/* ---- figures ---- */

static int compare_times(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static double percentile(uint32_t *times, size_t count, double part)
{
	if (count == 0)
		return 0;
	qsort(times, count, sizeof(*times), compare_times);
	return times[(size_t)((double)(count - 1) * part)] / 1000.0;
}

static void fill_result(struct bench *bench, uint64_t took, struct bench_result *ret)
{
	*ret = (struct bench_result){
		.decisions_per_second = took ? 1e9 * (double)bench->decisions / (double)took : 0,
		.rss_mib = resident_mib(),
		.p50_us = percentile(bench->times, bench->decisions, 0.5),
		.p99_us = percentile(bench->times, bench->decisions, 0.99),
		.refusal_p99_us = percentile(bench->refusal_times, bench->refused, 0.99),
		.least_percent = (double)bench->least / 10,
		.most_percent = (double)bench->most / 10,
		.placed = bench->placed,
		.refused = bench->refused,
		.checksum = bench->checksum,
	};
}

/* To the least fill, not measured; a pool that nothing more goes into is full enough. */
static int warm_up(struct bench *bench, struct error *error)
{
	int r = 0;

	while (r == 0 && bench->held_units * 1000 < bench->total_units * FILL_LEAST &&
	       bench->refused_in_a_row < STUCK) {
		bench->decisions = bench->refused = 0;
		r = decide(bench, error);
	}
	bench->decisions = bench->placed = bench->refused = bench->refused_in_a_row = 0;
	return r;
}

int bench_place(const struct bench_options *options, struct bench_result *ret, struct error *error)
{
	cleanup(bench_release) struct bench bench = {
		.options = options, .target = FILL_LEAST, .least = UINT64_MAX, .checksum = CHECKSUM
	};
	uint64_t start;
	int r;

	if (options->nodes == 0 || options->cards == 0 || options->cards > CARDS_MAX)
		return error_set(error, EINVAL, "at least one node, and 1 to %d cards on each",
				 CARDS_MAX);
	for (unsigned i = 0; i < SHAPES; i++)
		demand_init(&bench.shapes[i]);
	random_start(&bench.random, options->seed, RANDOM_NODES);
	r = prepare(&bench, error);
	if (r == 0)
		r = warm_up(&bench, error);
	start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	while (r == 0 && bench.decisions < options->pods)
		r = step(&bench, error);
	if (r == 0)
		fill_result(&bench, now_ns(CLOCK_PROCESS_CPUTIME_ID) - start, ret);
	return r;
}
