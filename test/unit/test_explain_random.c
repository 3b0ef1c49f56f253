/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts of pool_explain() against those of test/lib/naive_engine.c on random pools: each node
 * and each card is in the class that the reference puts it in, and nothing is counted twice or left
 * out. GPUPOOL_TEST_SCALE sets how many, GPUPOOL_TEST_SEED which.
 */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"
#include "engine_world.h"
#include "naive_engine.h"
#include "place/place.h"

#define STATES_SOAK 100000u
#define NODES_MAX   24u
#define STEPS       40u /* of one pool */
#define SEED        7u

struct tally {
	uint64_t states, nodes[REASON_CODE_MAX], cards[REASON_CODE_MAX], kept, several, alike;
};

struct run {
	struct dice dice;
	struct node_spec nodes[NODES_MAX];
	unsigned node_count;
	struct pool *pool;
	struct naive_book book;
	struct tally tally;
	char differs[512]; /* "" while both agree */
};

static void differ(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void differ(struct run *run, const char *format, ...)
{
	va_list arguments;

	if (run->differs[0])
		return;
	va_start(arguments, format);
	vsnprintf(run->differs, sizeof(run->differs), format, arguments);
	va_end(arguments);
}

/* The class of each card, and its numbers where the sentence has some. */
static void compare_card(struct run *run, const struct demand *demand, unsigned node, unsigned card,
			 enum reason_code code)
{
	struct naive_verdict naive;
	struct reason reason = { .code = REASON_NONE };
	int r = pool_explain_card(run->pool, demand, node, card, &reason);

	naive_look_at_card(&run->book, node, card, demand, &naive);
	if (code != naive.code || reason.code != naive.code)
		differ(run, "card %u of n%02u: %s and %s, the reference says %s", card, node,
		       reason_name(code), reason_name(reason.code), reason_name(naive.code));
	if ((r == 0) != (code == REASON_NONE))
		differ(run, "card %u of n%02u: %d for %s", card, node, r, reason_name(code));
	if (demand->requests[0].kind != REQUEST_SLICE ||
	    (naive.step != NAIVE_SIZE && naive.step != NAIVE_ROOM && naive.step != NAIVE_COMPUTE))
		return;
	if (reason.wanted != naive.wanted || reason.have != naive.have ||
	    reason.total != naive.total)
		differ(run,
		       "%s of card %u of n%02u: wanted %" PRId64 " have %" PRId64 " total %" PRId64
		       ", the reference %" PRId64 " %" PRId64 " %" PRId64,
		       reason_name(code), card, node, reason.wanted, reason.have, reason.total,
		       naive.wanted, naive.have, naive.total);
}

struct counts {
	size_t nodes[REASON_CODE_MAX], cards[REASON_CODE_MAX], kept;
};

static void count_node(struct run *run, const struct demand *demand, unsigned node,
		       const struct explanation *explanation, struct counts *counts)
{
	const struct explained_node *said = &explanation->nodes[node];
	enum reason_code code = naive_node_code(&run->book, node, demand);
	unsigned serving = 0;

	if (said->code != code)
		differ(run, "n%02u: %s, the reference says %s", node, reason_name(said->code),
		       reason_name(code));
	counts->nodes[code]++;
	for (unsigned k = 0; demand->request_count && k < run->nodes[node].inventory.card_count;
	     k++) {
		struct naive_verdict naive;

		compare_card(run, demand, node, k, explanation->cards[said->first_card + k]);
		naive_look_at_card(&run->book, node, k, demand, &naive);
		serving += naive.code == REASON_NONE;
		if (naive.code == REASON_NONE && code != REASON_NONE)
			counts->kept++;
		else
			counts->cards[naive.code]++;
	}
	if (said->serving != serving)
		differ(run, "n%02u: %u cards can serve, the reference says %u", node, said->serving,
		       serving);
}

static void compare_counts(struct run *run, const struct explanation *explanation,
			   const struct counts *counts)
{
	size_t nodes = 0, cards = explanation->kept_cards;

	for (int code = 0; code < REASON_CODE_MAX; code++) {
		const struct explained_class *class = &explanation->classes[code];

		nodes += class->nodes;
		cards += class->cards;
		run->tally.nodes[code] += class->nodes;
		run->tally.cards[code] += class->cards;
		if (class->nodes != counts->nodes[code] || class->cards != counts->cards[code])
			differ(run, "%s: %zu nodes, %zu cards, the reference says %zu and %zu",
			       reason_name((enum reason_code)code), class->nodes, class->cards,
			       counts->nodes[code], counts->cards[code]);
	}
	run->tally.kept += explanation->kept_cards;
	if (explanation->kept_cards != counts->kept)
		differ(run, "%zu cards on nodes that do not fit, the reference says %zu",
		       explanation->kept_cards, counts->kept);
	if (nodes != run->node_count || cards != explanation->card_count)
		differ(run, "%zu of %u nodes and %zu of %zu cards are counted", nodes,
		       run->node_count, cards, explanation->card_count);
}

/* Each rank once, the better first. */
static void check_ranks(struct run *run, const struct explanation *explanation)
{
	const struct explained_node *before = NULL;
	size_t fitting = explanation->classes[REASON_NONE].nodes, ranked = 0;

	for (size_t i = 0; i < run->node_count; i++)
		ranked += explanation->nodes[i].rank != 0;
	if (ranked != fitting)
		differ(run, "%zu nodes have a rank, %zu fit", ranked, fitting);
	for (size_t rank = 1; rank <= fitting; rank++) {
		const struct explained_node *at = NULL;

		for (size_t i = 0; i < run->node_count; i++)
			if (explanation->nodes[i].rank == rank)
				at = &explanation->nodes[i];
		if (!at)
			differ(run, "no node has the rank %zu", rank);
		else if (before && (before->value < at->value ||
				    (before->value == at->value && before->tie < at->tie)))
			differ(run, "the rank %zu is better than the one before", rank);
		before = at;
	}
	run->tally.several += fitting > 1;
	run->tally.alike += explanation->alike > 1;
}

static bool same_reason(const struct reason *a, const struct reason *b)
{
	return a->code == b->code && a->wanted == b->wanted && a->have == b->have &&
	       a->total == b->total && strcmp(a->node, b->node) == 0 &&
	       strcmp(a->card, b->card) == 0 && strcmp(a->detail, b->detail) == 0;
}

static void hold(struct run *run, const struct demand *demand, const struct decision *of)
{
	struct naive_held held = { .node = of->node, .needs = demand->needs };
	const struct placement *placement = &of->placements[0];

	assert_int_equal(pool_hold(run->pool, demand, of, &held.id), 0);
	held.kind = of->count ? demand->requests[0].kind : REQUEST_NONE;
	held.compute = of->count ? placement->compute_percent : 0;
	for (unsigned k = 0; of->count && k < placement->count; k++) {
		struct naive_held_card *card = VEC_ADD(&held.cards, &held.count, &held.capacity);

		assert_non_null(card);
		*card = (struct naive_held_card){ placement->cards[k], placement->units[k] };
	}
	naive_book_add(&run->book, &held);
}

/* What it says of the decision is the decision; the deepest obstacle is its node's own. */
static void compare_decision(struct run *run, const struct demand *demand,
			     const struct explanation *explanation)
{
	struct decision decision;
	struct reason reason = { .code = REASON_NONE };
	int r = pool_decide(run->pool, demand, &decision, &reason);

	if (r != explanation->result)
		differ(run, "explained %d, decided %d", explanation->result, r);
	else if (r == 0 && (decision.node != explanation->decision.node ||
			    explanation->nodes[decision.node].rank != 1))
		differ(run, "n%02u was chosen, n%02u explained, its rank is %zu", decision.node,
		       explanation->decision.node, explanation->nodes[decision.node].rank);
	else if (r < 0 && !same_reason(&reason, &explanation->reason))
		differ(run, "refused by %s, explained by %s", reason_name(reason.code),
		       reason_name(explanation->reason.code));
	if (r == 0) {
		hold(run, demand, &decision);
	} else if (r < 0 && reason.node[0] && reason.scope == REASON_SCOPE_POOL) {
		unsigned node = (unsigned)strtoul(reason.node + 1, NULL, 10);

		if (explanation->nodes[node].code != reason.code)
			differ(run, "refused by %s of n%02u, which is said to have %s",
			       reason_name(reason.code), node,
			       reason_name(explanation->nodes[node].code));
	}
}

static void explain(struct run *run)
{
	struct explanation explanation;
	struct counts counts = { .kept = 0 };
	struct demand demand;

	world_make_shape(&run->dice, run->node_count, &demand);
	assert_int_equal(pool_explain(run->pool, &demand, &explanation), 0);
	for (unsigned i = 0; i < run->node_count; i++)
		count_node(run, &demand, i, &explanation, &counts);
	compare_counts(run, &explanation, &counts);
	check_ranks(run, &explanation);
	compare_decision(run, &demand, &explanation);
	run->tally.states++;
	explanation_release(&explanation);
	demand_release(&demand);
}

static void run_pool(struct run *run)
{
	const struct policy_options options = {
		.policy = (enum node_policy)dice_below(&run->dice, NODE_POLICY_MAX),
		.ties = (enum tie_rule)dice_below(&run->dice, TIE_MAX),
		.seed = dice_below(&run->dice, 1000),
	};

	run->pool = pool_new();
	assert_non_null(run->pool);
	pool_withhold(run->pool, REQUEST_MIG);
	run->node_count = 1 + dice_below(&run->dice, NODES_MAX);
	run->book = (struct naive_book){ .nodes = run->nodes, .node_count = run->node_count };
	for (unsigned i = 0; i < run->node_count; i++) {
		world_make_node(&run->dice, i, &run->nodes[i]);
		assert_int_equal(pool_add_node(run->pool, &run->nodes[i], NULL), 0);
	}
	assert_int_equal(pool_set_policy(run->pool, &options), 0);
	for (unsigned i = 0; i < STEPS && !run->differs[0]; i++)
		explain(run);
	for (unsigned i = 0; i < run->node_count; i++)
		node_spec_release(&run->nodes[i]);
	naive_book_release(&run->book);
	pool_free(run->pool);
}

static uint64_t number_from(const char *variable, uint64_t fallback)
{
	const char *text = getenv(variable);
	uint64_t number;

	return text && parse_uint(text, 0, UINT64_MAX, &number) == 0 ? number : fallback;
}

/* How many of what must be seen were not. */
static unsigned show_tally(const struct tally *tally)
{
	static const enum reason_code nodes[] = {
		REASON_NONE,       REASON_NO_CARDS,    REASON_NO_MODEL,     REASON_NO_UUID,
		REASON_AFFINITY,   REASON_NOT_OFFERED, REASON_NODE_CARDS,   REASON_CARD_MEMORY,
		REASON_NODE_CPU,   REASON_NODE_MEMORY, REASON_TAINT,        REASON_CARD_LOST,
		REASON_WRONG_MODE, REASON_FOREIGN_USE, REASON_CARDS_BUSY,   REASON_MEMORY_BUSY,
		REASON_CPU_BUSY,   REASON_PODS_BUSY,   REASON_COMPUTE_BUSY,
	};
	static const enum reason_code cards[] = {
		REASON_NONE,        REASON_NO_MODEL,     REASON_NO_UUID,     REASON_NOT_OFFERED,
		REASON_CARD_LOST,   REASON_CARD_SUSPECT, REASON_CARD_MEMORY, REASON_WRONG_MODE,
		REASON_FOREIGN_USE, REASON_CARDS_BUSY,   REASON_MEMORY_BUSY, REASON_COMPUTE_BUSY,
	};
	unsigned zero = (tally->kept == 0) + (tally->several == 0) + (tally->alike == 0);

	print_message("# states: %" PRIu64 ", cards kept by their node: %" PRIu64
		      ", several nodes fit: %" PRIu64 ", alike: %" PRIu64 "\n",
		      tally->states, tally->kept, tally->several, tally->alike);
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		print_message("# nodes, %s: %" PRIu64 "\n", reason_name(nodes[i]),
			      tally->nodes[nodes[i]]);
		zero += tally->nodes[nodes[i]] == 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(cards); i++) {
		print_message("# cards, %s: %" PRIu64 "\n", reason_name(cards[i]),
			      tally->cards[cards[i]]);
		zero += tally->cards[cards[i]] == 0;
	}
	return zero;
}

TEST(counts_are_those_of_the_reference)
{
	uint64_t seed = number_from("GPUPOOL_TEST_SEED", SEED);
	uint64_t states = STATES_SOAK * number_from("GPUPOOL_TEST_SCALE", 1) / 100;
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	run->dice.state = seed ? seed : 1;
	while (run->tally.states < states && !run->differs[0])
		run_pool(run);
	print_message("# seed %" PRIu64 "\n", seed);
	unsigned zero = show_tally(&run->tally);
	bool differs = run->differs[0] != '\0';

	if (differs)
		print_message("# state %" PRIu64 ": %s\n", run->tally.states, run->differs);
	free(run);
	assert_false(differs);
	assert_int_equal(zero, 0);
}
