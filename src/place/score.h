/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How good is it to put this Pod on this node? Pure: a score depends on what is left on the node,
 * on the Pod and on the expected workload, never on other nodes, so that it may be kept until the
 * node changes. Integers only: equal input gives equal bits on every machine.
 *
 * How to add a policy: a row in POLICIES of policy.c, its function in a score_*.c, cases in
 * test/unit/test_policy.c, a section in docs/placement.md.
 */
#pragma once

#include "internal.h"

#define MILLI_WHOLE 1000u
#define SHARE_ONE   (1 << 20) /* fixed point of shares and of values, in cards */
#define CPU_LANES   16        /* CPU prices that are tried for a node */
#define CPU_MOST    (1 << 27) /* milli; more is no better or worse, so that products stay in 64 bits */
#define SHARED_MAX  16        /* classes of several parts of cards that have a short way */

/* What is left on a node. */
struct board {
	const struct node *node; /* for its links; NULL: none are known */
	int64_t cpu_left;        /* 1/1000 of a CPU, or RESOURCE_UNLIMITED */
	int64_t cpu_total;       /* when nobody is there */
	uint64_t tags;           /* which kinds of Pods are there, see tag_of() */
	unsigned number;         /* of the node */
	unsigned count;
	uint16_t left[NODE_CARDS_MAX]; /* 1/1000 of each card */
	uint16_t models[NODE_CARDS_MAX];
};

/* What a Pod takes. */
struct piece {
	const uint16_t *milli; /* by model: of one of its cards; 0: not this model */
	unsigned cards;        /* 0: CPU only */
	int64_t cpu_milli;
	bool whole;
};

/* A class of the expected workload. */
struct target {
	struct piece piece; /* its milli lie in struct targets */
	double share;       /* of all Pods */
	unsigned size;      /* the largest of its milli */
};

struct targets {
	struct target *items; /* owned */
	size_t count;
	uint16_t *milli; /* owned; count * models */
	size_t models;
};

/* A kind of node, for what becomes scarce. */
struct board_kind {
	int64_t cpu_total;
	unsigned cards, model, copies;
};

struct fgd_tables;
struct value_tables;

struct score_tables {
	struct targets targets;     /* all classes, the most frequent first */
	struct fgd_tables *fgd;     /* owned; NULL without a workload */
	struct value_tables *value; /* owned; NULL without a workload */
};

struct score_options {
	bool original_cards;   /* exclusive Pods take the lowest-numbered free cards */
	bool original_classes; /* CPU-only Pods are targets of fgd */
	uint64_t seed;         /* of policy random */
};

/* What follows from a board and the tables alone, so that it is kept with the node. */
struct score_memo {
	int32_t sums[CPU_LANES]; /* the cards in use, at each CPU price */
	int64_t value, fragment;
	int64_t sum; /* milli left */
	int32_t rare;
	uint16_t untouched; /* cards */
	bool one_model;     /* and there are cards */
	/* For each class of several parts: the cards that have as much, and the milli of others. */
	uint8_t shared_cards[SHARED_MAX];
	uint16_t shared_rest[SHARED_MAX];
};

struct question {
	const struct score_tables *tables;
	const struct score_options *options;
	const struct board *board;
	const struct piece *piece;
	uint64_t fits;                 /* cards that can serve; at least piece->cards of them */
	const struct score_memo *memo; /* of the board, or NULL */
	bool value_only;               /* which of several equal cards is of no interest */
};

struct answer {
	int64_t value; /* more is better */
	uint64_t cards;
};

struct score_row {
	const char *name;
	struct answer (*score)(const struct question *question);
};

/* policy.c: the rows, in the order of enum node_policy. */
extern const struct score_row score_rows[];
size_t score_row_count(void);
const struct score_row *score_row_find(const char *name); /* NULL */

/* workload.c */
/* CLASSES need not be sorted; those that are alike are one. 0 or -ENOMEM. */
int targets_build(struct targets *ret, const struct target *classes, size_t count, size_t models);
void targets_release(struct targets *targets);
/* The tables of all policies for NODES that nobody uses. 0 or -ENOMEM; then nothing is kept. */
int score_tables_build(struct score_tables *ret, const struct target *classes, size_t count,
		       size_t models, const struct board *nodes, size_t node_count,
		       const struct score_options *options);
void score_tables_release(struct score_tables *tables);

/* score_fit.c */
struct answer score_random(const struct question *question);
struct answer score_dotprod(const struct question *question);
struct answer score_clustering(const struct question *question);
struct answer score_packing(const struct question *question);
struct answer score_bestfit(const struct question *question);
struct answer score_binpack(const struct question *question);
struct answer score_spread(const struct question *question);
struct answer score_topology(const struct question *question);
struct answer score_compact(const struct question *question); /* default, without a workload */
/* The tie rule: bestfit without rounding. */
int64_t score_tie_bestfit(const struct board *board, const struct piece *piece);
/* Bit of a kind of Pod: 0 shares a card, N holds N whole cards. CPU-only Pods have none. */
uint64_t tag_of(const struct piece *piece);
/* The cards with the least left, or the lowest-numbered or best linked whole ones. */
uint64_t choose_fullest(const struct question *question);

/* score_fgd.c */
/* What of the memo fgd needs. */
void fgd_memo_fill(const struct fgd_tables *tables, const struct board *board,
		   struct score_memo *ret);
/* A node whose cards are of one model, and the CPU that a Pod leaves there: what the Pod's cards
 * change is a matter of a few additions. */
struct fgd_row {
	const struct fgd_tables *tables;
	const struct score_memo *memo;
	const uint32_t *row;
	size_t step;
	unsigned model;
	int64_t singles, cpu_left;
};
/* False when the tables or the board are not that simple. */
bool fgd_row_init(const struct fgd_tables *tables, const struct board *board,
		  const struct score_memo *memo, int64_t cpu_left, struct fgd_row *ret);
/* The fragment once CARDS cards with LEFT milli each have given MILLI, or all that they had. */
int64_t fgd_row_after(const struct fgd_row *row, unsigned cards, unsigned left, unsigned milli);
int fgd_build(struct fgd_tables **ret, const struct targets *targets, bool cpu_only);
void fgd_free(struct fgd_tables *tables);
int64_t fgd_fragment(const struct fgd_tables *tables, const struct board *board); /* milli, fixed */
struct answer score_fgd(const struct question *question);

/* score_default.c */
int value_build(struct value_tables **ret, const struct targets *targets, const struct board *nodes,
		size_t node_count);
void value_free(struct value_tables *tables);
int64_t value_of(const struct value_tables *tables, const struct board *board); /* cards, fixed */
/* TABLES have a workload. */
void score_memo_fill(const struct score_tables *tables, const struct board *board,
		     struct score_memo *ret);
struct answer score_default(const struct question *question);
#define WORTH_CARD (32ll * SHARE_ONE)
/* The value of a node as it is, in the unit of score_default(), WORTH_CARD for a card: a sum over nodes compares states. */
int64_t value_worth(const struct score_tables *tables, const struct board *board);
/* What score_default() takes off for each card of a node of this kind. */
int32_t value_rare(const struct value_tables *tables, const struct board *board);

/* CPU as scores count it. */
static inline int64_t score_cpu(int64_t milli)
{
	return milli == RESOURCE_UNLIMITED || milli < CPU_MOST ? milli : CPU_MOST;
}

static inline bool board_one_model(const struct board *board)
{
	for (unsigned i = 1; i < board->count; i++)
		if (board->models[i] != board->models[0])
			return false;
	return board->count > 0;
}

static inline unsigned board_untouched(const struct board *board)
{
	unsigned count = 0;

	for (unsigned i = 0; i < board->count; i++)
		count += board->left[i] == MILLI_WHOLE;
	return count;
}

static inline int64_t board_sum(const struct board *board)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < board->count; i++)
		sum += board->left[i];
	return sum;
}

static inline unsigned piece_milli(const struct piece *piece, const struct board *board,
				   unsigned card)
{
	return piece->milli[board->models[card]];
}

/* What CARDS of the piece take of the board's cards together. */
static inline int64_t piece_sum(const struct piece *piece, const struct board *board,
				uint64_t cards)
{
	int64_t sum = 0;

	for (uint64_t rest = cards; rest; rest &= rest - 1)
		sum += piece_milli(piece, board, first_card(rest));
	return sum;
}

static inline int64_t cpu_after(const struct board *board, const struct piece *piece)
{
	return board->cpu_left == RESOURCE_UNLIMITED ? RESOURCE_UNLIMITED
						     : board->cpu_left - piece->cpu_milli;
}

static inline void board_take(struct board *board, const struct piece *piece, uint64_t cards)
{
	board->cpu_left = cpu_after(board, piece);
	for (uint64_t rest = cards; rest; rest &= rest - 1) {
		unsigned card = first_card(rest), milli = piece_milli(piece, board, card);

		board->left[card] =
			(uint16_t)(board->left[card] > milli ? board->left[card] - milli : 0);
	}
}
