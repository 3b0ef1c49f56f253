/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of the policies against test/lib/naive_score.c, on random nodes, Pods and workloads.
 * GPUPOOL_TEST_SCALE (100 is 100,000 states) sets how many, GPUPOOL_TEST_SEED which.
 */
#include "test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "naive_score.h"
#include "place/score.h"
#include "place_world.h"

#define STATES_SOAK  100000u
#define STATES_A_MIX 20u /* states that share a workload */
#define CLASSES_MAX  12u
#define NODE_CARDS   8u
#define SEED         20261130u

struct tally {
	uint64_t states, linked, mixed, no_cards, whole, several, shared, several_shared;
	uint64_t cpu_unlimited, workload, original, refused, cut_either_way;
};

struct world {
	uint64_t random;
	unsigned models;
	struct naive_class classes[CLASSES_MAX];
	struct naive_mix mix;
	uint16_t class_milli[CLASSES_MAX][NAIVE_MODELS];
	struct score_tables tables;
	struct score_options options;
	struct naive_node node;
	struct naive_ask ask;
	struct inventory inventory;
	struct node links;
	struct board board;
	struct piece piece;
	uint16_t milli[NAIVE_MODELS];
	uint64_t fits;
	struct tally tally;
};

static unsigned below(struct world *world, unsigned limit)
{
	world->random ^= world->random >> 12;
	world->random ^= world->random << 25;
	world->random ^= world->random >> 27;
	return (unsigned)((world->random * 0x2545f4914f6cdd1dull >> 33) % limit);
}

static bool chance(struct world *world, unsigned percent)
{
	return below(world, 100) < percent;
}

static uint64_t number_from(const char *variable, uint64_t fallback)
{
	const char *text = getenv(variable);
	uint64_t number;

	return text && parse_uint(text, 0, UINT64_MAX, &number) == 0 ? number : fallback;
}

static struct naive_ask random_ask(struct world *world)
{
	static const unsigned sizes[] = { 100, 125, 200, 250, 333, 460, 500, 700, 900, 1000 };
	struct naive_ask ask = { .cpu = 500 * (int64_t)below(world, 64) };
	unsigned kind = below(world, 10), size = sizes[below(world, ARRAY_SIZE(sizes))];

	if (kind == 0)
		return ask;
	ask.whole = kind < 5;
	ask.cards = kind < 3 ? 2 + below(world, 4) : 1;
	if (kind == 5)
		ask.cards = 1 + below(world, 3);
	for (unsigned i = 0; i < world->models; i++) {
		if (chance(world, 20))
			continue; /* not this one */
		ask.milli[i] = ask.whole ? 1000 : chance(world, 90) ? size : size / 2;
	}
	return ask;
}

static bool is_there(const struct world *world, const struct naive_ask *ask, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(&world->classes[i].ask, ask, sizeof(*ask)) == 0)
			return true;
	return false;
}

static void copy_milli(uint16_t *to, const struct naive_ask *ask)
{
	for (unsigned i = 0; i < NAIVE_MODELS; i++)
		to[i] = (uint16_t)ask->milli[i];
}

static struct piece piece_of(const struct naive_ask *ask, const uint16_t *milli)
{
	return (struct piece){
		.milli = milli, .cards = ask->cards, .cpu_milli = ask->cpu, .whole = ask->whole
	};
}

/* Classes with a card have a model that they accept: others can be nowhere. */
static void make_mix(struct world *world)
{
	struct target targets[CLASSES_MAX];
	size_t count = chance(world, 15) ? 0 : 1 + below(world, CLASSES_MAX);
	unsigned sum = 0, weights[CLASSES_MAX];

	score_tables_release(&world->tables);
	world->models = 1 + below(world, 4);
	for (size_t i = 0; i < count; i++) {
		struct naive_ask ask = random_ask(world);

		while (is_there(world, &ask, i))
			ask.cpu += 500;
		world->classes[i].ask = ask;
		weights[i] = 1 + below(world, 1000);
		sum += weights[i];
	}
	for (size_t i = 0; i < count; i++) {
		world->classes[i].share = (double)weights[i] / sum;
		copy_milli(world->class_milli[i], &world->classes[i].ask);
		targets[i] = (struct target){
			.piece = piece_of(&world->classes[i].ask, world->class_milli[i]),
			.share = world->classes[i].share,
		};
	}
	world->mix =
		(struct naive_mix){ world->classes, count, chance(world, 30), chance(world, 30) };
	world->options = (struct score_options){ world->mix.original_cards,
						 world->mix.original_classes, below(world, 100) };
	struct board empty = {
		.cpu_left = 64000, .cpu_total = 64000, .count = 1, .left = { 1000 }
	};

	assert_int_equal(score_tables_build(&world->tables, targets, count, world->models, &empty,
					    1, &world->options),
			 0);
}

static void make_links(struct world *world)
{
	world->links = (struct node){ .count = world->node.count };
	if (world->node.count == 0)
		return;
	world_add_cards(&world->inventory, 0, world->node.count, "X", 80, CARD_MODE_AUTO);
	world_link(&world->inventory, below(world, WORLD_LINKS_MAX));
	world->links.cards = world->inventory.cards;
	assert_int_equal(topology_init(&world->links), 0);
	for (unsigned a = 0; a < world->node.count; a++)
		for (size_t i = 0; i < world->inventory.cards[a].link_count; i++) {
			static const unsigned strengths[LINK_KIND_MAX] = {
				100, 50, 40, 30, 20, 10
			};
			const struct card_link *link = &world->inventory.cards[a].links[i];
			unsigned strength = strengths[link->kind];

			if (link->kind == LINK_NVLINK)
				strength += link->lanes;
			world->node.tie[a][link->peer] = strength;
		}
}

static void make_node(struct world *world)
{
	struct naive_node *node = &world->node;
	unsigned model = below(world, world->models);
	bool mixed = chance(world, 25);
	unsigned fresh = below(world, 101);

	*node = (struct naive_node){ .count = below(world, NODE_CARDS + 1),
				     .links_known = chance(world, 50) };
	node->cpu_left = 500 * (int64_t)below(world, 260);
	if (chance(world, 10))
		node->cpu_left = RESOURCE_UNLIMITED;
	for (unsigned i = 0; i < node->count; i++) {
		node->model[i] = mixed ? below(world, world->models) : model;
		node->left[i] = chance(world, fresh) ? 1000 : below(world, 21) * 50;
	}
	node->shares = chance(world, 30);
	for (unsigned left = below(world, 3); left > 0; left--)
		node->wholes[1 + below(world, NODE_CARDS)] = true;
	make_links(world);
}

static void make_board(struct world *world)
{
	struct board *board = &world->board;

	*board = (struct board){ .node = world->node.links_known ? &world->links : NULL,
				 .cpu_left = world->node.cpu_left,
				 .cpu_total = 128000,
				 .count = world->node.count };
	for (unsigned i = 0; i < board->count; i++) {
		board->left[i] = (uint16_t)world->node.left[i];
		board->models[i] = (uint16_t)world->node.model[i];
	}
	board->tags = world->node.shares ? 1 : 0;
	for (unsigned i = 1; i <= NODE_CARDS; i++)
		if (world->node.wholes[i])
			board->tags |= 1ull << i;
}

/* False when the Pod does not fit. */
static bool make_ask(struct world *world)
{
	struct naive_ask *ask = &world->ask;
	unsigned count = 0;

	*ask = random_ask(world);
	if (world->mix.count && chance(world, 70))
		*ask = world->classes[below(world, (unsigned)world->mix.count)].ask;
	copy_milli(world->milli, ask);
	world->piece = piece_of(ask, world->milli);
	world->fits = 0;
	for (unsigned i = 0; i < world->node.count; i++) {
		unsigned wants = ask->milli[world->node.model[i]];
		/* A card may fit by GiB and by compute, and yet have fewer milli left than is asked: the
		 * one is the lesser of both, the other the greater. */
		unsigned lack = !ask->whole && chance(world, 10) ? 1000 : 0;

		if (!wants || world->node.left[i] + lack < wants || chance(world, 5))
			continue;
		world->fits |= 1ull << i;
		count++;
	}
	if (ask->cards == 0)
		world->fits = 0;
	return count >= ask->cards && world->node.cpu_left >= ask->cpu;
}

static void tell(const struct world *world, const char *policy, const struct naive_value *naive,
		 const struct answer *answer)
{
	fail_msg("state %" PRIu64 ", %s: value %" PRId64 ", cards %" PRIx64
		 "; the long way %" PRId64 " (%" PRId64 " to %" PRId64 "), cards %" PRIx64,
		 world->tally.states, policy, answer->value, answer->cards, naive->value,
		 naive->low, naive->high, naive->cards);
}

static void compare(struct world *world, const struct score_row *row)
{
	struct question question = { &world->tables, &world->options, &world->board, &world->piece,
				     world->fits };
	struct answer answer = row->score(&question), kept;
	struct score_memo memo;
	struct naive_value naive;
	bool free_choice = strcmp(row->name, "random") == 0 ||
			   (strcmp(row->name, "fgd") == 0 && world->mix.count);

	if (world->tables.value) { /* what is kept with a node changes nothing */
		score_memo_fill(&world->tables, &world->board, &memo);
		question.memo = &memo;
		kept = row->score(&question);
		assert_true(kept.value == answer.value && kept.cards == answer.cards);
		question.value_only = true;
		assert_true(row->score(&question).value == answer.value);
	}
	assert_int_equal(answer.cards & ~world->fits, 0);
	assert_int_equal(__builtin_popcountll(answer.cards), world->ask.cards);
	if (!naive_knows(row->name, &world->mix))
		return;
	naive = naive_score(row->name, &world->mix, &world->node, &world->ask, world->fits);
	world->tally.cut_either_way += naive.low != naive.high;
	if (answer.value < naive.low || answer.value > naive.high ||
	    (!free_choice && answer.cards != naive.cards))
		tell(world, row->name, &naive, &answer);
	if (!free_choice)
		return;
	/* The cards are others, and worth what is said. */
	naive = naive_score(row->name, &world->mix, &world->node, &world->ask, answer.cards);
	if (answer.value < naive.low || answer.value > naive.high)
		tell(world, row->name, &naive, &answer);
}

static void compare_fragment(const struct world *world)
{
	double naive, fixed;

	if (!world->tables.fgd)
		return;
	naive = naive_fragment(&world->mix, &world->node);
	fixed = (double)fgd_fragment(world->tables.fgd, &world->board) / SHARE_ONE;
	if (fabs(naive - fixed) > 8000.0 * CLASSES_MAX / (2 * SHARE_ONE))
		fail_msg("state %" PRIu64 ": fragment %f, the long way %f", world->tally.states,
			 fixed, naive);
}

static void count_state(struct world *world)
{
	struct tally *tally = &world->tally;
	const struct naive_node *node = &world->node;
	unsigned others = 0;

	for (unsigned i = 1; i < node->count; i++)
		others += node->model[i] != node->model[0];
	tally->linked += node->links_known;
	tally->mixed += others > 0;
	tally->no_cards += world->ask.cards == 0;
	tally->whole += world->ask.whole && world->ask.cards == 1;
	tally->several += world->ask.whole && world->ask.cards > 1;
	tally->shared += !world->ask.whole && world->ask.cards == 1;
	tally->several_shared += !world->ask.whole && world->ask.cards > 1;
	tally->cpu_unlimited += node->cpu_left == RESOURCE_UNLIMITED;
	tally->workload += world->mix.count > 0;
	tally->original += world->mix.original_classes;
}

static void one_state(struct world *world)
{
	inventory_init(&world->inventory);
	make_node(world);
	make_board(world);
	compare_fragment(world);
	if (make_ask(world)) {
		world->tally.states++;
		count_state(world);
		for (size_t i = 0; i < score_row_count(); i++)
			compare(world, &score_rows[i]);
		assert_int_equal(score_tie_bestfit(&world->board, &world->piece),
				 naive_tie(&world->node, &world->ask));
	} else {
		world->tally.refused++;
	}
	free(world->links.ties);
	free(world->links.groups);
	inventory_release(&world->inventory);
}

TEST(values_are_those_of_the_long_way)
{
	uint64_t seed = number_from("GPUPOOL_TEST_SEED", SEED), scale, wanted;
	struct world *world = calloc(1, sizeof(*world));
	unsigned zero = 0;

	assert_non_null(world);
	scale = number_from("GPUPOOL_TEST_SCALE", 1);
	wanted = STATES_SOAK * scale / 100;
	world->random = seed ? seed : 1;
	for (uint64_t i = 0; world->tally.states < wanted; i++) {
		if (i % STATES_A_MIX == 0)
			make_mix(world);
		one_state(world);
	}
	const struct tally *tally = &world->tally;
	const struct {
		const char *name;
		uint64_t count;
	} counts[] = {
		{ "states", tally->states },
		{ "states in which the Pod does not fit, left out", tally->refused },
		{ "nodes whose links are known", tally->linked },
		{ "nodes of several models", tally->mixed },
		{ "nodes that do not count CPUs", tally->cpu_unlimited },
		{ "Pods without cards", tally->no_cards },
		{ "Pods of one whole card", tally->whole },
		{ "Pods of several", tally->several },
		{ "slices", tally->shared },
		{ "slices of several cards", tally->several_shared },
		{ "with a workload", tally->workload },
		{ "with CPU-only classes", tally->original },
	};

	print_message("# seed %" PRIu64 "\n", seed);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		print_message("# %s: %" PRIu64 "\n", counts[i].name, counts[i].count);
		zero += counts[i].count == 0;
	}
	print_message("# points that may be cut either way: %" PRIu64 "\n", tally->cut_either_way);
	score_tables_release(&world->tables);
	free(world);
	assert_int_equal(zero, 0);
}
