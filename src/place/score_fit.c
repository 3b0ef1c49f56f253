/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policies that look at free room only. The published ones are those of the simulator of Weng
 * et al. (USENIX ATC 2023), with its rounding to whole points, which makes ties; docs/placement.md
 * has the formulas.
 */
#include "score.h"

/* The largest machine of the published simulator; larger ones get values below zero. */
#define SPEC_CPU   128000
#define SPEC_MILLI 8000
#define POINTS     100

/* The CPU that is not counted is no reason to take or leave a node. */
static int64_t cpu_counted(int64_t cpu)
{
	return cpu == RESOURCE_UNLIMITED ? 0 : cpu;
}

uint64_t tag_of(const struct piece *piece)
{
	if (piece->cards == 0)
		return 0;
	if (!piece->whole)
		return 1;
	return 1ull << (piece->cards < 63 ? piece->cards : 63);
}

static uint64_t choose_by_left(const struct question *question, bool emptiest)
{
	const struct board *board = question->board;
	uint64_t set = 0;

	for (unsigned i = 0; i < question->piece->cards; i++) {
		uint64_t best = 0;

		for (uint64_t rest = question->fits & ~set; rest; rest &= rest - 1) {
			unsigned left = board->left[first_card(rest)];

			if (!best || (emptiest ? left > board->left[first_card(best)]
					       : left < board->left[first_card(best)]))
				best = rest & -rest;
		}
		set |= best;
	}
	return set;
}

static uint64_t choose_lowest(uint64_t cards, unsigned wanted)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < wanted; i++, cards &= cards - 1)
		set |= cards & -cards;
	return set;
}

uint64_t choose_fullest(const struct question *question)
{
	const struct piece *piece = question->piece;

	if (!piece->whole)
		return choose_by_left(question, false);
	if (piece->cards < 2 || question->options->original_cards || !question->board->node ||
	    (question->value_only && board_one_model(question->board)))
		return choose_lowest(question->fits, piece->cards);
	return topology_choose(question->board->node,
			       topology_group(question->board->node, question->fits, piece->cards),
			       piece->cards);
}

static uint64_t mix(uint64_t value) /* splitmix64 (Steele, Lea, Flood 2014) */
{
	value += 0x9e3779b97f4a7c15ull;
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
	return value ^ (value >> 31);
}

/* All nodes alike: the tie rule draws. The card follows from the seed and the node's state. */
struct answer score_random(const struct question *question)
{
	const struct board *board = question->board;
	uint64_t cards = question->fits, hash = mix(question->options->seed ^ board->number);

	if (question->piece->whole || question->piece->cards != 1)
		return (struct answer){ 0, choose_fullest(question) };
	for (unsigned i = 0; i < board->count; i++)
		hash = mix(hash ^ board->left[i]);
	for (unsigned skip = (unsigned)(hash % count_cards(cards)); skip > 0; skip--)
		cards &= cards - 1;
	return (struct answer){ 0, cards & -cards };
}

struct answer score_dotprod(const struct question *question)
{
	const struct board *board = question->board;
	const struct piece *piece = question->piece;
	const int64_t whole = 2 * (int64_t)SPEC_CPU * SPEC_CPU;
	const int64_t ratio = SPEC_CPU / SPEC_MILLI;
	uint64_t cards = choose_fullest(question);
	int64_t cpu = cpu_counted(board->cpu_left) * piece->cpu_milli;
	int64_t gpu = board_sum(board) * piece_sum(piece, board, cards) * ratio * ratio;

	return (struct answer){ POINTS * (whole - cpu - gpu) / whole, cards };
}

struct answer score_clustering(const struct question *question)
{
	const struct board *board = question->board;
	uint64_t tag = tag_of(question->piece);
	int64_t value = POINTS / 4 * (SPEC_MILLI - board_sum(board)) / SPEC_MILLI;

	if (tag == 0)
		return (struct answer){ 0, 0 };
	if (board->tags & tag)
		value += board->tags == tag ? POINTS * 3 / 4 : POINTS / 2;
	else if (board->tags == 0)
		value += POINTS / 4;
	return (struct answer){ value, choose_fullest(question) };
}

static unsigned count_free(const struct board *board, uint64_t cards)
{
	unsigned count = 0;

	for (; cards; cards &= cards - 1)
		count += board->left[first_card(cards)] == MILLI_WHOLE;
	return count;
}

/* Shared cards first, then free cards of a node in use, then nodes that nobody uses. */
struct answer score_packing(const struct question *question)
{
	const struct board *board = question->board;
	uint64_t all = board->count == 64 ? UINT64_MAX : card_bit(board->count) - 1;
	unsigned free = count_free(board, all), cut;
	struct answer answer = { 0, choose_fullest(question) };
	int64_t left = 0;

	if (question->piece->cards == 0)
		return answer;
	if (free == board->count) {
		int64_t value = POINTS / 3 - (int64_t)free;

		answer.value = value > (int64_t)free ? value : (int64_t)free;
		return answer;
	}
	cut = count_free(board, answer.cards);
	if (cut > 0) {
		int64_t value = POINTS / 2 - (int64_t)cut;

		answer.value = value > POINTS / 3 ? value : POINTS / 3;
		return answer;
	}
	for (uint64_t rest = answer.cards; rest; rest &= rest - 1)
		left += board->left[first_card(rest)] * 100u / MILLI_WHOLE;
	answer.value = POINTS - left / 10 > POINTS / 2 ? POINTS - left / 10 : POINTS / 2;
	return answer;
}

/* The free CPU and cards after it, as a share of the largest machine; 2 * SPEC_CPU is all. */
static int64_t free_after(const struct board *board, const struct piece *piece, int64_t taken)
{
	int64_t cpu =
		board->cpu_left == RESOURCE_UNLIMITED ? 0 : board->cpu_left - piece->cpu_milli;

	return cpu + (board_sum(board) - taken) * (SPEC_CPU / SPEC_MILLI);
}

struct answer score_bestfit(const struct question *question)
{
	const struct board *board = question->board;
	uint64_t cards = choose_fullest(question);
	int64_t taken = piece_sum(question->piece, board, cards);
	int64_t free = free_after(board, question->piece, taken);

	return (struct answer){ POINTS * (2 * SPEC_CPU - free) / (2 * SPEC_CPU), cards };
}

int64_t score_tie_bestfit(const struct board *board, const struct piece *piece)
{
	/* What it takes itself differs between nodes only where models differ: left out. */
	return -free_after(board, piece, 0);
}

struct answer score_binpack(const struct question *question)
{
	const struct piece *piece = question->piece;

	return (struct answer){ -board_sum(question->board),
				piece->whole ? choose_lowest(question->fits, piece->cards)
					     : choose_by_left(question, false) };
}

/* The largest free share of a node, and of its cards. */
struct answer score_spread(const struct question *question)
{
	const struct board *board = question->board;
	uint64_t cards = question->piece->whole
				 ? choose_lowest(question->fits, question->piece->cards)
				 : choose_by_left(question, true);
	int64_t whole = (int64_t)(board->count ? board->count : 1) * MILLI_WHOLE;

	return (struct answer){ board_sum(board) * SHARE_ONE / whole, cards };
}

/* The smallest NVLink group that takes it all, so that large groups stay whole; then the fullest
 * node. Groups have at most 64 cards, nodes at most 64,000 milli. */
struct answer score_topology(const struct question *question)
{
	const struct board *board = question->board;
	unsigned wanted = question->piece->cards, size = NODE_CARDS_MAX + 1;
	uint64_t group = question->fits;

	if (!board->node || wanted == 0 || (wanted < 2 && !question->piece->whole))
		return score_binpack(question);
	group = topology_group(board->node, question->fits, wanted);
	if (wanted < 2)
		return (struct answer){ -board_sum(board),
					topology_choose(board->node, group, wanted) };
	for (unsigned i = 0; i < board->node->group_count; i++) {
		unsigned count = count_cards(board->node->groups[i] & question->fits);

		size = count >= wanted && count < size ? count : size;
	}
	return (struct answer){ -((int64_t)size << 20) - board_sum(board),
				topology_choose(board->node, group, wanted) };
}

/* Slices go where cards are cut already, into the fullest; whole cards to the node with the
 * fewest. */
struct answer score_compact(const struct question *question)
{
	const struct board *board = question->board;
	uint64_t cards = choose_fullest(question);
	int64_t cut = 0, left = 0;

	if (question->piece->cards == 0)
		return (struct answer){ -free_after(board, question->piece, 0), 0 };
	if (question->piece->whole)
		return (struct answer){ -(int64_t)count_cards(question->fits), cards };
	for (uint64_t rest = cards; rest; rest &= rest - 1) {
		cut += board->left[first_card(rest)] == MILLI_WHOLE;
		left += board->left[first_card(rest)];
	}
	return (struct answer){ -(cut << 20) - left, cards };
}
