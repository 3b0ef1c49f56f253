/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the deciding half of the daemon costs on a full node: 8 cards of 192 GiB in slices, 128 Pods of 12
 * units each but for a few. Each number is the best of twenty runs: what it costs, not what else the machine does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "node_world.h"

#define CARDS 8u
#define UNITS 192u
#define PODS  120u
#define SLICE 12u

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1000 + (double)time.tv_nsec / 1e6;
}

static void must(bool truth)
{
	if (!truth)
		abort();
}

static void fill(struct node_world *world)
{
	world_init(world, CARDS, UNITS);
	world->config.default_mode = DEFAULT_MODE_SLICES;
	for (unsigned i = 0; i < PODS; i++) {
		char words[64];
		unsigned first = i / CARDS * SLICE;

		snprintf(words, sizeof(words), "%um%u-%u", i % CARDS, first, first + SLICE - 1);
		world_hold(world, PLUGIN_RESOURCE_UNITS, words);
		world_claim(world, i % WORLD_PODS, "main", PLUGIN_RESOURCE_UNITS, words);
	}
	must(ledger_merge(&world->ledger, &world->evidence, &world->reasons, NULL) >= 0);
	world_build(world, false);
}

static void merge(struct node_world *world)
{
	world_touch(world);
	must(ledger_merge(&world->ledger, &world->evidence, NULL, NULL) == 0);
}

static void build(struct node_world *world)
{
	world_build(world, false);
}

static void prefer(struct node_world *world)
{
	struct plugin_scene scene = world_scene(world, DEVICE_LIST_CDI_CRI);
	struct string_list available = { .items = NULL }, must_include = { .items = NULL };
	struct string_list picked = { .items = NULL };

	world_ids("0m180-191 1m180-191 7m180-191", &available);
	must(plugin_preferred(&scene, PLUGIN_RESOURCE_UNITS, &available, &must_include, SLICE,
			      &picked, NULL, NULL) == 0);
	must(picked.count == SLICE);
	string_list_release(&available);
	string_list_release(&picked);
}

static void allocate(struct node_world *world)
{
	struct plugin_scene scene = world_scene(world, DEVICE_LIST_CDI_CRI);
	struct kubelet_answer answer = { .envs = NULL };
	struct string_list ids = { .items = NULL };
	struct ledger_entry *entry;

	world_ids("3m180-191", &ids);
	must(plugin_allocate(&scene, PLUGIN_RESOURCE_UNITS, &ids, &entry, &answer, NULL, NULL) ==
	     0);
	ledger_forget(&world->ledger, entry);
	kubelet_answer_release(&answer);
	string_list_release(&ids);
}

static void write_text(struct node_world *world)
{
	autostrbuf text = STRBUF_INIT(LEDGER_FILE_MAX);

	must(ledger_to_text(&world->ledger, &text, NULL) == 0);
}

static const struct {
	const char *name;
	void (*run)(struct node_world *world);
	double most_ms;
} rows[] = {
	{ "ledger and checkpoint merged", merge, 10 },
	{ "view made", build, 10 },
	{ "preferred", prefer, 5 },
	{ "allocate", allocate, 5 },
	{ "ledger as text", write_text, 5 },
};

int main(void)
{
	struct node_world world;
	int failed = 0;

	fill(&world);
	printf("1..%zu\n", ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double best = 1e9;

		for (unsigned n = 0; n < 20; n++) {
			double start = now_ms();

			rows[i].run(&world);
			double took = now_ms() - start;

			best = took < best ? took : best;
		}
		bool good = best <= rows[i].most_ms;

		failed += !good;
		printf("%sok %zu - %s, %u units of %u Pods: %.2f ms (at most %.0f)\n",
		       good ? "" : "not ", i + 1, rows[i].name, CARDS * UNITS, PODS, best,
		       rows[i].most_ms);
	}
	world_release(&world);
	return failed != 0;
}
