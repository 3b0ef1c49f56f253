/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fragmentation gradient descent (Weng et al., USENIX ATC 2023). The fragment of a node is what an
 * expected Pod could not use of its free cards; the best node is the one whose fragment grows
 * least.
 *
 * A class of one-card Pods that fits nowhere on a node leaves all of it, which is the sum over its
 * cards of what is too small: so each card has its own share, and a table by model, CPU left and
 * card left gives it. Classes of several whole cards need the number of free cards only; those of
 * several parts of cards are few, and looked at one by one.
 */
#include "score.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define TYPICAL_SHARE 0.95 /* of all Pods; rarer classes are left out */
#define POINTS        100
#define NEAR_MAX      256

struct several { /* a class of several cards, or several parts */
	struct piece piece;
	int64_t weight;
};

struct fgd_tables {
	size_t models;
	int64_t *cpu;                /* owned; what classes ask, rising */
	size_t steps;                /* a node's step: how many of those it has */
	uint32_t near[NEAR_MAX + 1]; /* a step at or below that of CPU >> near_shift */
	unsigned near_shift;
	uint16_t level[MILLI_WHOLE + 1]; /* of what is left: how many sizes fit in */
	size_t levels;
	uint32_t *single; /* owned; [model][step][level]: share of Pods that cannot use the card */
	uint32_t *whole;  /* owned; [model][step][free cards]: that find too few */
	uint32_t whole_all;
	struct several *several; /* owned; those of parts first */
	size_t several_count, shared_count;
	int64_t points[POINTS + 1]; /* the least gain that is worth so many */
};

struct typical {
	const struct targets *targets;
	size_t count;
	double sum;
};

static struct typical choose_typical(const struct targets *targets)
{
	struct typical typical = { .targets = targets };
	double all = 0;

	for (size_t i = 0; i < targets->count; i++)
		all += targets->items[i].share;
	while (typical.count < targets->count && typical.sum < TYPICAL_SHARE * all - 1e-9)
		typical.sum += targets->items[typical.count++].share;
	return typical;
}

static uint32_t weight_of(const struct typical *typical, const struct target *target)
{
	return (uint32_t)(target->share / typical->sum * SHARE_ONE + 0.5);
}

static int compare_cpu(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return left < right ? -1 : left > right;
}

static void build_near(struct fgd_tables *tables)
{
	size_t step = 0;

	while (tables->steps && tables->cpu[tables->steps - 1] >> tables->near_shift >= NEAR_MAX)
		tables->near_shift++;
	for (unsigned i = 0; i <= NEAR_MAX; i++) {
		while (step < tables->steps && tables->cpu[step] <= (int64_t)i
									    << tables->near_shift)
			step++;
		tables->near[i] = (uint32_t)step;
	}
}

static int build_steps(struct fgd_tables *tables, const struct typical *typical)
{
	size_t count = 0;

	tables->cpu = calloc(typical->count, sizeof(*tables->cpu));
	if (!tables->cpu)
		return -ENOMEM;
	for (size_t i = 0; i < typical->count; i++)
		tables->cpu[i] = typical->targets->items[i].piece.cpu_milli;
	qsort(tables->cpu, typical->count, sizeof(*tables->cpu), compare_cpu);
	for (size_t i = 0; i < typical->count; i++)
		if (i == 0 || tables->cpu[i] != tables->cpu[count - 1])
			tables->cpu[count++] = tables->cpu[i];
	tables->steps = count;
	build_near(tables);
	return 0;
}

static void build_levels(struct fgd_tables *tables, const struct typical *typical)
{
	bool asked[MILLI_WHOLE + 1] = { false };

	for (size_t i = 0; i < typical->count; i++)
		for (size_t m = 0; m < tables->models; m++)
			asked[typical->targets->items[i].piece.milli[m]] = true;
	for (unsigned left = 1; left <= MILLI_WHOLE; left++)
		tables->level[left] = (uint16_t)(tables->level[left - 1] + asked[left]);
	tables->levels = tables->level[MILLI_WHOLE] + 1u;
}

static size_t step_of(const struct fgd_tables *tables, int64_t cpu)
{
	int64_t at = cpu >> tables->near_shift;
	size_t step;

	if (cpu < 0)
		return 0;
	step = tables->near[at < NEAR_MAX ? at : NEAR_MAX];
	while (step < tables->steps && tables->cpu[step] <= cpu)
		step++;
	return step;
}

static uint32_t *single_row(const struct fgd_tables *tables, size_t model, size_t step)
{
	return &tables->single[(model * (tables->steps + 1) + step) * tables->levels];
}

static uint32_t *whole_row(const struct fgd_tables *tables, size_t model, size_t step)
{
	return &tables->whole[(model * (tables->steps + 1) + step) * (NODE_CARDS_MAX + 1)];
}

static bool can_use(const struct fgd_tables *tables, const struct piece *piece, size_t model,
		    size_t step)
{
	return piece->milli[model] > 0 && step > 0 && piece->cpu_milli <= tables->cpu[step - 1];
}

/* Only sizes of LEVEL and below fit: the class is none of those. */
static void add_single(struct fgd_tables *tables, const struct piece *piece, uint32_t weight)
{
	for (size_t model = 0; model < tables->models; model++) {
		for (size_t step = 0; step <= tables->steps; step++) {
			uint32_t *row = single_row(tables, model, step);
			size_t end = tables->levels;

			if (can_use(tables, piece, model, step))
				end = tables->level[piece->milli[model]];
			for (size_t level = 0; level < end; level++)
				row[level] += weight;
		}
	}
}

static void add_several(struct fgd_tables *tables, const struct piece *piece, uint32_t weight)
{
	tables->several[tables->several_count++] = (struct several){ *piece, weight };
	if (!piece->whole) {
		tables->several[tables->several_count - 1] = tables->several[tables->shared_count];
		tables->several[tables->shared_count++] = (struct several){ *piece, weight };
		return;
	}
	tables->whole_all += weight;
	for (size_t model = 0; model < tables->models; model++) {
		for (size_t step = 0; step <= tables->steps; step++) {
			uint32_t *row = whole_row(tables, model, step);
			unsigned end = NODE_CARDS_MAX + 1;

			if (can_use(tables, piece, model, step))
				end = piece->cards < end ? piece->cards : end;
			for (unsigned free = 0; free < end; free++)
				row[free] += weight;
		}
	}
}

/* A Pod without cards finds none that it could use: all of them are fragments to it in the
 * published simulator, none without that option. */
static void add_cpu_only(struct fgd_tables *tables, uint32_t weight)
{
	size_t count = tables->models * (tables->steps + 1) * tables->levels;

	for (size_t i = 0; i < count; i++)
		tables->single[i] += weight;
}

/* A point is whole part of 100 / (1 + exp(-gain in cards)). */
static void build_points(struct fgd_tables *tables)
{
	tables->points[0] = INT64_MIN;
	for (int i = 1; i < POINTS; i++)
		tables->points[i] =
			(int64_t)ceil(log((double)i / (POINTS - i)) * MILLI_WHOLE * SHARE_ONE);
	tables->points[POINTS] = INT64_MAX;
}

static int points_of(const struct fgd_tables *tables, int64_t gain)
{
	int low = 0, high = POINTS - 1;

	while (low < high) {
		int middle = (low + high + 1) / 2;

		if (tables->points[middle] <= gain)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

int fgd_build(struct fgd_tables **ret, const struct targets *targets, bool cpu_only)
{
	struct typical typical = choose_typical(targets);
	struct fgd_tables *tables = calloc(1, sizeof(*tables));
	size_t rows;

	if (!tables)
		return -ENOMEM;
	tables->models = targets->models;
	build_levels(tables, &typical);
	build_points(tables);
	if (build_steps(tables, &typical) < 0)
		goto fail;
	rows = tables->models * (tables->steps + 1);
	tables->single = calloc(rows * tables->levels + 1, sizeof(*tables->single));
	tables->whole = calloc(rows * (NODE_CARDS_MAX + 1) + 1, sizeof(*tables->whole));
	tables->several = calloc(typical.count, sizeof(*tables->several));
	if (!tables->single || !tables->whole || !tables->several)
		goto fail;
	for (size_t i = 0; i < typical.count; i++) {
		const struct target *target = &targets->items[i];
		uint32_t weight = weight_of(&typical, target);

		if (target->piece.cards > 1)
			add_several(tables, &target->piece, weight);
		else if (target->piece.cards == 1)
			add_single(tables, &target->piece, weight);
		else if (cpu_only)
			add_cpu_only(tables, weight);
	}
	*ret = tables;
	return 0;
fail:
	fgd_free(tables);
	return -ENOMEM;
}

void fgd_free(struct fgd_tables *tables)
{
	if (!tables)
		return;
	free(tables->cpu);
	free(tables->single);
	free(tables->whole);
	free(tables->several);
	free(tables);
}

/* The cards that have what the class asks of each, and what the others have. */
static unsigned count_usable(const struct several *several, const struct board *board,
			     int64_t *ret_rest)
{
	unsigned usable = 0;
	int64_t rest = 0;

	for (unsigned card = 0; card < board->count; card++) {
		unsigned milli = piece_milli(&several->piece, board, card);

		if (milli > 0 && board->left[card] >= milli)
			usable++;
		else
			rest += board->left[card];
	}
	*ret_rest = rest;
	return usable;
}

/* Of SUM milli; REST of them are too small pieces. */
static int64_t several_lost(const struct several *several, unsigned usable, int64_t rest,
			    int64_t sum, int64_t cpu_left)
{
	bool fits = usable >= several->piece.cards && cpu_left >= several->piece.cpu_milli;

	return (fits ? rest : sum) * several->weight;
}

/* The first COUNT classes. */
static int64_t fragment_several(const struct fgd_tables *tables, size_t count,
				const struct board *board)
{
	int64_t sum = board_sum(board), lost = 0, rest;

	for (size_t i = 0; i < count; i++) {
		unsigned usable = count_usable(&tables->several[i], board, &rest);

		lost += several_lost(&tables->several[i], usable, rest, sum, board->cpu_left);
	}
	return lost;
}

/* Whole cards, where ALL milli are left and FREE cards untouched. */
static int64_t fragment_whole(const struct fgd_tables *tables, unsigned model, size_t step,
			      int64_t all, unsigned free)
{
	int64_t lost = whole_row(tables, model, step)[free];

	return lost * all + (tables->whole_all - lost) * (all - (int64_t)free * MILLI_WHOLE);
}

static int64_t card_share(const struct fgd_tables *tables, const uint32_t *row, unsigned left)
{
	return (int64_t)left * row[tables->level[left]];
}

int64_t fgd_fragment(const struct fgd_tables *tables, const struct board *board)
{
	size_t step = step_of(tables, board->cpu_left);
	int64_t sum = 0;

	for (unsigned i = 0; i < board->count; i++)
		sum += card_share(tables, single_row(tables, board->models[i], step),
				  board->left[i]);
	if (tables->several_count == 0 || board->count == 0)
		return sum;
	if (!board_one_model(board))
		return sum + fragment_several(tables, tables->several_count, board);
	return sum + fragment_several(tables, tables->shared_count, board) +
	       fragment_whole(tables, board->models[0], step, board_sum(board),
			      board_untouched(board));
}

void fgd_memo_fill(const struct fgd_tables *tables, const struct board *board,
		   struct score_memo *ret)
{
	int64_t rest;

	ret->fragment = fgd_fragment(tables, board);
	ret->sum = board_sum(board);
	ret->untouched = (uint16_t)board_untouched(board);
	ret->one_model = board_one_model(board);
	for (size_t i = 0; i < tables->shared_count && i < SHARED_MAX; i++) {
		ret->shared_cards[i] = (uint8_t)count_usable(&tables->several[i], board, &rest);
		ret->shared_rest[i] = (uint16_t)rest;
	}
}

bool fgd_row_init(const struct fgd_tables *tables, const struct board *board,
		  const struct score_memo *memo, int64_t cpu_left, struct fgd_row *ret)
{
	if (tables->shared_count > SHARED_MAX || !memo->one_model)
		return false;
	*ret = (struct fgd_row){
		.tables = tables,
		.memo = memo,
		.step = step_of(tables, cpu_left),
		.model = board->models[0],
		.cpu_left = cpu_left,
	};
	ret->row = single_row(tables, ret->model, ret->step);
	for (unsigned i = 0; i < board->count; i++)
		ret->singles += card_share(tables, ret->row, board->left[i]);
	return true;
}

/* The part of the classes that ask for parts of several cards; SUM: milli after. */
static int64_t shared_after(const struct fgd_row *row, unsigned cards, unsigned left,
			    unsigned given, int64_t sum)
{
	int64_t lost = 0;

	for (size_t i = 0; i < row->tables->shared_count; i++) {
		const struct several *class = &row->tables->several[i];
		unsigned usable = row->memo->shared_cards[i];
		unsigned milli = class->piece.milli[row->model];
		int64_t rest = row->memo->shared_rest[i];

		if (milli == 0 || left < milli) {
			rest -= (int64_t)cards * given;
		} else if (left - given < milli) {
			usable -= cards;
			rest += (int64_t)cards * (left - given);
		}
		lost += several_lost(class, usable, rest, sum, row->cpu_left);
	}
	return lost;
}

int64_t fgd_row_after(const struct fgd_row *row, unsigned cards, unsigned left, unsigned milli)
{
	unsigned given = left < milli ? left : milli;
	int64_t sum = row->memo->sum - (int64_t)cards * given;
	unsigned free = row->memo->untouched - (left == MILLI_WHOLE && given ? cards : 0);

	return row->singles + fragment_whole(row->tables, row->model, row->step, sum, free) +
	       shared_after(row, cards, left, given, sum) +
	       (int64_t)cards * (card_share(row->tables, row->row, left - given) -
				 card_share(row->tables, row->row, left));
}

/* One card of a node of one model. */
static struct answer score_shared(const struct question *question, const struct fgd_row *row,
				  int64_t before)
{
	const struct board *board = question->board;
	unsigned milli = question->piece->milli[board->models[0]], best_left = 0;
	struct answer best = { -1, 0 };
	unsigned seen = UINT32_MAX;

	for (uint64_t rest = question->fits; rest; rest &= rest - 1) {
		unsigned left = board->left[first_card(rest)];
		int64_t value;

		if (left == seen)
			continue;
		seen = left;
		value = points_of(row->tables, before - fgd_row_after(row, 1, left, milli));
		if (value < best.value ||
		    (value == best.value &&
		     (question->options->original_cards || left >= best_left)))
			continue;
		best = (struct answer){ value, rest & -rest };
		best_left = left;
	}
	return best;
}

static int64_t score_set(const struct fgd_tables *tables, const struct question *question,
			 int64_t before, uint64_t cards)
{
	struct board after = *question->board;

	board_take(&after, question->piece, cards);
	return points_of(tables, before - fgd_fragment(tables, &after));
}

struct answer score_fgd(const struct question *question)
{
	const struct fgd_tables *tables = question->tables->fgd;
	const struct piece *piece = question->piece;
	const struct score_memo *memo = question->memo;
	struct answer best = { -1, 0 };
	struct score_memo own;
	struct fgd_row row;
	unsigned best_left = 0;
	int64_t before;

	if (!tables)
		return score_bestfit(question);
	if (!memo) {
		fgd_memo_fill(tables, question->board, &own);
		memo = &own;
	}
	before = memo->fragment;
	if (piece->cards == 1 && !piece->whole &&
	    fgd_row_init(tables, question->board, memo, cpu_after(question->board, piece), &row))
		return score_shared(question, &row, before);
	if (piece->cards != 1 || piece->whole) {
		uint64_t cards = choose_fullest(question);

		return (struct answer){ score_set(tables, question, before, cards), cards };
	}
	for (uint64_t rest = question->fits; rest; rest &= rest - 1) {
		unsigned left = question->board->left[first_card(rest)];
		int64_t value = score_set(tables, question, before, rest & -rest);

		if (value < best.value ||
		    (value == best.value &&
		     (question->options->original_cards || left >= best_left)))
			continue;
		best = (struct answer){ value, rest & -rest };
		best_left = left;
	}
	return best;
}
