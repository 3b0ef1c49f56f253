/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/score.h"

#define MODELS 3

/* Of models 0, 1 and 2. */
static const uint16_t any_half[MODELS] = { 500, 500, 500 }, any_small[MODELS] = { 200, 200, 200 };
static const uint16_t any_whole[MODELS] = { 1000, 1000, 1000 }, none[MODELS] = { 0 };
static const uint16_t one_model[MODELS] = { 0, 1000, 0 }, uneven[MODELS] = { 300, 600, 0 };

#define PIECE(of, number, cpu)                                       \
	{                                                            \
		.milli = (of), .cards = (number), .cpu_milli = (cpu) \
	}
#define WHOLE(of, number, cpu)                                                      \
	{                                                                           \
		.milli = (of), .cards = (number), .cpu_milli = (cpu), .whole = true \
	}
#define BOARD(cpu, cards, ...)                                                               \
	{                                                                                    \
		.cpu_left = (cpu), .cpu_total = 64000, .count = (cards), .left = __VA_ARGS__ \
	}

static const struct target mix[] = {
	{ WHOLE(any_whole, 1, 8000), 0.38, 0 },  { PIECE(any_half, 1, 4000), 0.2, 0 },
	{ PIECE(any_small, 1, 2000), 0.1, 0 },   { WHOLE(one_model, 1, 8000), 0.1, 0 },
	{ WHOLE(any_whole, 4, 32000), 0.06, 0 }, { PIECE(none, 0, 4000), 0.1, 0 },
	{ PIECE(uneven, 1, 1000), 0.06, 0 },
};
static const struct score_options plain = { 0 }, original = { true, true, 7 };

static const struct row_case {
	const char *policy;
	struct board board;
	struct piece piece;
	uint64_t fits;
	int64_t value;
	uint64_t cards;
} row_cases[] = {
	/* 100 * (1 - (64/128 * 8/128 + 1500/8000 * 500/8000) / 2) = 97.85 */
	{ "dotprod", BOARD(64000, 2, { 1000, 500 }), PIECE(any_half, 1, 8000), 3, 97, 2 },
	{ "dotprod", BOARD(128000, 0, { 0 }), PIECE(none, 0, 64000), 0, 75, 0 },
	/* 100 * (1 - 56/128 / 2 - 1000/8000 / 2) = 71.875 */
	{ "bestfit", BOARD(64000, 2, { 1000, 500 }), PIECE(any_half, 1, 8000), 3, 71, 2 },
	{ "bestfit", BOARD(RESOURCE_UNLIMITED, 2, { 1000, 500 }), PIECE(any_half, 1, 8000), 3, 93,
	  2 },
	{ "bestfit", BOARD(8000, 2, { 1000, 0 }), WHOLE(any_whole, 1, 8000), 1, 100, 1 },
	/* nobody there: 25 + 25 * 6000/8000 */
	{ "gpuclustering", BOARD(64000, 2, { 1000, 1000 }), PIECE(any_half, 1, 8000), 3, 43, 1 },
	{ "gpuclustering", BOARD(64000, 2, { 1000, 1000 }), PIECE(none, 0, 8000), 0, 0, 0 },
	/* an untouched node: 33 - 2 */
	{ "gpupacking", BOARD(64000, 2, { 1000, 1000 }), PIECE(any_half, 1, 8000), 3, 31, 1 },
	/* free cards of a used node: 50 - 2 */
	{ "gpupacking", BOARD(64000, 3, { 1000, 400, 1000 }), WHOLE(any_whole, 2, 8000), 5, 48, 5 },
	/* a card in use: 100 - 70 / 10 */
	{ "gpupacking", BOARD(64000, 3, { 1000, 800, 700 }), PIECE(any_half, 1, 8000), 7, 93, 4 },
	{ "gpupacking", BOARD(64000, 3, { 1000, 800, 700 }), PIECE(none, 0, 8000), 0, 0, 0 },
	{ "binpack", BOARD(64000, 2, { 600, 900 }), PIECE(any_half, 1, 1), 3, -1500, 1 },
	{ "spread", BOARD(64000, 2, { 600, 900 }), PIECE(any_half, 1, 1), 3, 786432, 2 },
	{ "topology", BOARD(64000, 2, { 600, 900 }), PIECE(any_half, 1, 1), 3, -1500, 1 },
	/* without a workload: a card in use, then the fullest */
	{ "default", BOARD(64000, 3, { 1000, 800, 700 }), PIECE(any_half, 1, 1), 7, -700, 4 },
	{ "default", BOARD(64000, 2, { 1000, 200 }), PIECE(any_half, 1, 1), 1, -1049576, 1 },
	{ "default", BOARD(64000, 3, { 1000, 1000, 0 }), WHOLE(any_whole, 1, 1), 3, -2, 1 },
	{ "fgd", BOARD(8000, 2, { 1000, 0 }), WHOLE(any_whole, 1, 8000), 1, 100, 1 },
};

TEST(values_by_hand)
{
	static const struct score_tables tables;

	for (size_t i = 0; i < ARRAY_SIZE(row_cases); i++) {
		const struct row_case *row = &row_cases[i];
		struct question question = { &tables, &plain, &row->board, &row->piece, row->fits };
		struct answer answer = score_row_find(row->policy)->score(&question);

		if (answer.value != row->value || answer.cards != row->cards)
			fail_msg("case %zu, %s: %lld, cards %llx", i, row->policy,
				 (long long)answer.value, (unsigned long long)answer.cards);
	}
}

TEST(clustering_looks_at_the_kinds_of_pods)
{
	static const struct score_tables tables;
	const struct piece share = PIECE(any_half, 1, 1), four = WHOLE(any_whole, 4, 1);
	struct board board = BOARD(64000, 8, { 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000 });
	struct question question = { &tables, &plain, &board, &share, 255 };

	board.tags = tag_of(&share);
	assert_int_equal(score_clustering(&question).value, 75);
	board.tags |= tag_of(&four);
	assert_int_equal(score_clustering(&question).value, 50);
	board.tags = tag_of(&four);
	assert_int_equal(score_clustering(&question).value, 0);
	board.tags = 0;
	assert_int_equal(score_clustering(&question).value, 25);
}

TEST(names_of_rows)
{
	for (size_t i = 0; i < score_row_count(); i++)
		assert_ptr_equal(score_row_find(score_rows[i].name), &score_rows[i]);
	assert_null(score_row_find("none such"));
}

static uint64_t draw(uint64_t *state, uint64_t below)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 33) % below;
}

static struct board random_board(uint64_t *state, bool mixed)
{
	static const uint16_t lefts[] = { 0, 0, 1000, 1000, 500, 200, 300, 700, 999, 10 };
	struct board board = { .cpu_total = 64000, .count = (unsigned)draw(state, 9) };
	uint16_t model = (uint16_t)draw(state, MODELS);

	board.cpu_left = draw(state, 10) ? (int64_t)draw(state, 64001) : RESOURCE_UNLIMITED;
	for (unsigned i = 0; i < board.count; i++) {
		board.left[i] = lefts[draw(state, ARRAY_SIZE(lefts))];
		board.models[i] = mixed ? (uint16_t)draw(state, MODELS) : model;
	}
	return board;
}

/* By the definition, class by class. */
static double naive_fragment(const struct target *classes, size_t count, const struct board *board,
			     bool cpu_only)
{
	double sum = 0, shares = 0;

	for (size_t i = 0; i < count; i++) {
		const struct piece *piece = &classes[i].piece;
		unsigned usable = 0;
		double all = 0, small = 0;

		shares += classes[i].share;
		for (unsigned card = 0; card < board->count; card++) {
			unsigned milli = piece->milli[board->models[card]];

			all += board->left[card];
			if (milli > 0 && board->left[card] >= milli)
				usable++;
			else
				small += board->left[card];
		}
		if (piece->cards == 0)
			sum += cpu_only ? classes[i].share * all : 0;
		else if (usable < piece->cards || board->cpu_left < piece->cpu_milli)
			sum += classes[i].share * all;
		else
			sum += classes[i].share * small;
	}
	return sum / shares;
}

static void build(struct score_tables *ret, const struct score_options *options)
{
	struct board nodes[] = {
		BOARD(64000, 8, { 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000 }),
		BOARD(64000, 2, { 1000, 1000 }),
	};

	nodes[1].models[0] = nodes[1].models[1] = 1;
	assert_int_equal(score_tables_build(ret, mix, ARRAY_SIZE(mix), MODELS, nodes,
					    ARRAY_SIZE(nodes), options),
			 0);
}

static void compare_fragments(const struct target *classes, size_t count,
			      const struct score_options *options)
{
	const struct board node = BOARD(64000, 2, { 1000, 1000 });
	struct score_tables tables;
	uint64_t random = 42;

	assert_int_equal(score_tables_build(&tables, classes, count, MODELS, &node, 1, options), 0);
	for (unsigned i = 0; i < 20000; i++) {
		struct board board = random_board(&random, i % 2);
		double want = naive_fragment(classes, count, &board, options->original_classes);
		double have = (double)fgd_fragment(tables.fgd, &board) / SHARE_ONE;

		if (fabs(want - have) > 0.05)
			fail_msg("board %u: %f, not %f", i, have, want);
	}
	score_tables_release(&tables);
}

TEST(fragments_are_those_of_the_definition)
{
	/* Slices of several cards have no table. */
	static const struct target slices[] = {
		{ PIECE(any_half, 2, 4000), 0.4, 0 },
		{ PIECE(uneven, 3, 1000), 0.3, 0 },
		{ WHOLE(any_whole, 2, 9000), 0.3, 0 },
	};

	compare_fragments(mix, ARRAY_SIZE(mix), &plain);
	compare_fragments(mix, ARRAY_SIZE(mix), &original);
	compare_fragments(slices, ARRAY_SIZE(slices), &plain);
}

/* The gain in points, by the definition, of the best card. */
static int naive_points(const struct question *question, bool cpu_only, uint64_t *ret_cards)
{
	double before = naive_fragment(mix, ARRAY_SIZE(mix), question->board, cpu_only);
	int best = -1;

	for (uint64_t rest = question->fits; rest; rest &= rest - 1) {
		struct board after = *question->board;

		board_take(&after, question->piece, rest & -rest);
		double gain = before - naive_fragment(mix, ARRAY_SIZE(mix), &after, cpu_only);
		int points = (int)(100 / (1 + exp(-gain / 1000)));

		if (points > best) {
			best = points;
			*ret_cards = rest & -rest;
		}
	}
	return best;
}

TEST(fgd_is_that_of_the_definition)
{
	const struct piece share = PIECE(any_small, 1, 2000);
	struct score_tables tables;
	uint64_t random = 1;
	unsigned looked = 0, other = 0;

	build(&tables, &original);
	for (unsigned i = 0; i < 20000; i++) {
		struct board board = random_board(&random, i % 2);
		struct question question = { &tables, &original, &board, &share, 0 };
		uint64_t cards = 0;

		for (unsigned card = 0; card < board.count; card++)
			if (board.left[card] >= 200)
				question.fits |= card_bit(card);
		if (!question.fits || board.cpu_left < 2000)
			continue;
		looked++;
		struct answer answer = score_fgd(&question);
		int points = naive_points(&question, true, &cards);

		/* Rounding of shares may cross a point. */
		other += answer.value != points || answer.cards != cards;
		assert_true(llabs(answer.value - points) <= 1);
	}
	assert_true(looked > 10000);
	assert_true(other < looked / 500);
	score_tables_release(&tables);
}

TEST(typical_classes_are_the_most_frequent)
{
	struct target classes[21] = { 0 };
	struct board board = BOARD(64000, 1, { 150 });
	struct score_tables tables;

	/* 19 of 20 ask for half a card; what is rarer than 5 % does not count. */
	classes[0] = (struct target){ PIECE(any_half, 1, 1000), 0.96, 0 };
	for (size_t i = 1; i < ARRAY_SIZE(classes); i++)
		classes[i] = (struct target){ PIECE(any_small, 1, (int64_t)i), 0.002, 0 };
	assert_int_equal(score_tables_build(&tables, classes, 21, MODELS, &board, 1, &plain), 0);
	board.left[0] = 600;
	assert_int_equal(fgd_fragment(tables.fgd, &board), 0);
	board.left[0] = 400;
	assert_int_equal(fgd_fragment(tables.fgd, &board), 400ll * SHARE_ONE);
	score_tables_release(&tables);
}

TEST(alike_classes_are_one)
{
	static const struct target twice[] = {
		{ PIECE(any_half, 1, 1000), 0.3, 0 },
		{ WHOLE(any_whole, 1, 1000), 0.4, 0 },
		{ PIECE(any_half, 1, 1000), 0.3, 0 },
	};
	struct targets targets;

	assert_int_equal(targets_build(&targets, twice, 3, MODELS), 0);
	assert_int_equal(targets.count, 2);
	assert_int_equal(targets.items[0].size, 500);
	assert_int_equal(targets.items[1].size, 1000);
	targets_release(&targets);
}

/* More room is never worth less, and a value is never below zero. */
TEST(value_grows_with_what_is_left)
{
	struct score_tables tables;
	uint64_t random = 9;

	build(&tables, &plain);
	for (unsigned i = 0; i < 20000; i++) {
		struct board board = random_board(&random, false);
		int64_t value = value_of(tables.value, &board);

		assert_true(value >= 0);
		if (board.count == 0)
			continue;
		struct board more = board;
		unsigned card = (unsigned)draw(&random, board.count);

		more.left[card] = MILLI_WHOLE;
		assert_true(value_of(tables.value, &more) >= value);
		more = board;
		if (more.cpu_left != RESOURCE_UNLIMITED)
			more.cpu_left += 10000;
		assert_true(value_of(tables.value, &more) >= value);
	}
	score_tables_release(&tables);
}

/* Nothing that an expected Pod could use is worth nothing, and what one needs is worth its price. */
TEST(value_is_what_expected_pods_pay)
{
	static const struct target four[] = { { WHOLE(any_whole, 4, 1000), 1, 0 } };
	static const struct target half[] = { { PIECE(any_half, 1, 1000), 1, 0 } };
	static const struct {
		const struct target *classes;
		struct board board;
		int pods; /* as many prices */
	} cases[] = {
		{ four, BOARD(64000, 8, { 1000, 1000, 1000, 999 }), 0 },
		{ four, BOARD(64000, 8, { 1000, 1000, 1000, 1000 }), 1 },
		{ four, BOARD(64000, 8, { 1000, 1000, 1000, 1000, 1000, 1000, 1000 }), 1 },
		{ four, BOARD(64000, 8, { 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000 }), 2 },
		{ half, BOARD(64000, 8, { 490 }), 0 },
		{ half, BOARD(64000, 8, { 500 }), 1 },
		{ half, BOARD(64000, 8, { 500, 990, 400 }), 2 },
		{ half, BOARD(64000, 8, { 1000, 500 }), 3 },
	};
	const struct board node =
		BOARD(64000, 8, { 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000 });

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct target *class = cases[i].classes;
		struct score_tables tables;
		struct board one = BOARD(64000, 8, { 500 });

		if (class == four)
			one = (struct board)BOARD(64000, 8, { 1000, 1000, 1000, 1000 });
		assert_int_equal(score_tables_build(&tables, class, 1, MODELS, &node, 1, &plain),
				 0);
		assert_true(value_of(tables.value, &one) > 0);
		assert_int_equal(value_of(tables.value, &cases[i].board),
				 cases[i].pods * value_of(tables.value, &one));
		score_tables_release(&tables);
	}
}

/* A card whose rest just fits, not one that a large Pod could have. */
TEST(default_keeps_what_others_would_pay_for)
{
	static const uint16_t large[MODELS] = { 800, 800, 800 };
	static const struct target classes[] = {
		{ PIECE(large, 1, 1000), 0.5, 0 },
		{ PIECE(any_small, 1, 1000), 0.5, 0 },
	};
	const struct board node = BOARD(64000, 2, { 1000, 1000 });
	const struct board board = BOARD(64000, 4, { 1000, 900, 200, 800 });
	struct score_tables tables;
	struct question question = { &tables, &plain, &board, &classes[1].piece, 15 };

	assert_int_equal(score_tables_build(&tables, classes, 2, MODELS, &node, 1, &plain), 0);
	assert_int_equal(score_default(&question).cards, 4);
	question.fits = 15 & ~4u; /* 1000 leaves room for a large one */
	assert_int_equal(score_default(&question).cards, 1);
	question.piece = &classes[0].piece;
	assert_int_equal(score_default(&question).cards, 8);
	score_tables_release(&tables);
}

/* A Pod that any card would do for stays off the model that others need. */
TEST(rare_models_are_left_to_those_who_need_them)
{
	static const struct target classes[] = {
		{ WHOLE(any_whole, 1, 1000), 0.5, 0 },
		{ WHOLE(one_model, 1, 1000), 0.5, 0 },
	};
	struct board nodes[] = { BOARD(64000, 2, { 1000, 1000 }), BOARD(64000, 2, { 1000, 1000 }) };
	struct score_tables tables;
	struct question question = { &tables, &plain, NULL, &classes[0].piece, 3 };
	int64_t values[2];

	nodes[1].models[0] = nodes[1].models[1] = 1;
	assert_int_equal(score_tables_build(&tables, classes, 2, MODELS, nodes, 2, &plain), 0);
	for (size_t i = 0; i < 2; i++) {
		question.board = &nodes[i];
		values[i] = score_default(&question).value;
	}
	/* Half a card for the fragment, 0.45 for being rare. */
	assert_true(values[0] - values[1] > SHARE_ONE * 9 / 10);
	assert_true(values[0] - values[1] < SHARE_ONE);
	score_tables_release(&tables);
}

/*
 * Pods without cards leave CPU where cards need it. Of nodes without free cards they take the one
 * where least is left; where CPU is what runs out, rather none where some is left for nobody.
 */
TEST(pods_without_cards_leave_what_others_can_use)
{
	static const struct board boards[] = {
		BOARD(4000, 8, { 0 }),    /* nothing is left */
		BOARD(5000, 8, { 0 }),    /* less than one of them asks for */
		BOARD(8000, 8, { 0 }),    /* as much */
		BOARD(8000, 8, { 1000 }), /* and a card needs it */
	};
	static const struct {
		struct target classes[2];
		unsigned order[ARRAY_SIZE(boards)]; /* the best first */
	} cases[] = {
		{ { { WHOLE(any_whole, 1, 7000), 0.9, 0 }, { PIECE(none, 0, 4000), 0.1, 0 } },
		  { 0, 1, 2, 3 } },
		{ { { WHOLE(any_whole, 1, 8000), 0.9, 0 }, { PIECE(none, 0, 4000), 0.1, 0 } },
		  { 0, 2, 1, 3 } },
	};
	const struct board node =
		BOARD(64000, 8, { 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000 });

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct score_tables tables;
		struct question question = { &tables, &plain, NULL, &cases[i].classes[1].piece };
		int64_t last = INT64_MAX;

		assert_int_equal(
			score_tables_build(&tables, cases[i].classes, 2, MODELS, &node, 1, &plain),
			0);
		for (size_t k = 0; k < ARRAY_SIZE(boards); k++) {
			question.board = &boards[cases[i].order[k]];
			int64_t value = score_default(&question).value;

			assert_true(value < last);
			last = value;
		}
		score_tables_release(&tables);
	}
}

/* Every policy chooses as many fitting cards as asked for, and always the same. */
TEST(choices_are_sound)
{
	static const struct piece pieces[] = {
		PIECE(any_half, 1, 100),  PIECE(any_small, 1, 100), PIECE(any_small, 3, 100),
		WHOLE(any_whole, 1, 100), WHOLE(any_whole, 4, 100), PIECE(none, 0, 100),
		PIECE(uneven, 1, 100),    WHOLE(one_model, 2, 100),
	};
	struct score_tables tables;
	uint64_t random = 3;

	build(&tables, &plain);
	for (unsigned i = 0; i < 20000; i++) {
		struct board board = random_board(&random, i % 2);
		const struct piece *piece = &pieces[i % ARRAY_SIZE(pieces)];
		struct question question = { &tables, i % 3 ? &plain : &original, &board, piece,
					     0 };

		for (unsigned card = 0; card < board.count; card++)
			if (piece_milli(piece, &board, card) &&
			    board.left[card] >= piece_milli(piece, &board, card))
				question.fits |= card_bit(card);
		if (count_cards(question.fits) < piece->cards || board.cpu_left < 100)
			continue;
		for (size_t row = 0; row < score_row_count(); row++) {
			struct answer one = score_rows[row].score(&question);
			struct answer two = score_rows[row].score(&question);

			assert_int_equal(count_cards(one.cards), piece->cards);
			assert_int_equal(one.cards & ~question.fits, 0);
			assert_memory_equal(&one, &two, sizeof(one));
		}
	}
	score_tables_release(&tables);
}

TEST(large_nodes)
{
	struct board node = { .cpu_left = 4000000, .cpu_total = 4000000, .count = 64 };
	const struct piece piece = WHOLE(any_whole, 16, 64000);
	struct question question = { NULL, &plain, &node, &piece, UINT64_MAX };
	struct score_tables tables;

	for (unsigned i = 0; i < 64; i++)
		node.left[i] = MILLI_WHOLE;
	assert_int_equal(
		score_tables_build(&tables, mix, ARRAY_SIZE(mix), MODELS, &node, 1, &plain), 0);
	question.tables = &tables;
	for (size_t row = 0; row < score_row_count(); row++)
		assert_int_equal(count_cards(score_rows[row].score(&question).cards), 16);
	score_tables_release(&tables);
}

TEST(no_workload_is_no_tables)
{
	struct score_tables tables;

	assert_int_equal(score_tables_build(&tables, NULL, 0, 0, NULL, 0, &plain), 0);
	assert_null(tables.fgd);
	assert_null(tables.value);
	score_tables_release(&tables);
}

TEST(memory_runs_out)
{
	struct board node = BOARD(64000, 2, { 1000, 1000 });

	for (unsigned n = 0;; n++) {
		struct score_tables tables;

		fault_arm(n);
		int error =
			score_tables_build(&tables, mix, ARRAY_SIZE(mix), MODELS, &node, 1, &plain);

		if (!fault_disarm()) {
			assert_int_equal(error, 0);
			score_tables_release(&tables);
			break;
		}
		assert_int_equal(error, -ENOMEM);
	}
}
