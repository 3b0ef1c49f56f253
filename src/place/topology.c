/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which cards of one node hang together best. A set of cards is as good as its worst pair, then as
 * the sum of its pairs, then as little as it cuts from the cards that stay free.
 */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>

#define TIE_NVLINK     100u
#define SETS_TRIED_MAX 500u
#define STARTS_MAX     16u

/* PCIe links in the order of link_kind; an NVLink counts 100 and its lanes. */
static const uint16_t tie_strengths[LINK_KIND_MAX] = {
	[LINK_NVLINK] = TIE_NVLINK, [LINK_PIX] = 50, [LINK_PXB] = 40, [LINK_PHB] = 30,
	[LINK_NODE] = 20,           [LINK_SYS] = 10,
};

static uint16_t tie_strength(const struct card_link *link)
{
	unsigned lanes = link->lanes < 100 ? link->lanes : 100;

	if ((int)link->kind < 0 || link->kind >= LINK_KIND_MAX)
		return 0;
	return (uint16_t)(tie_strengths[link->kind] + (link->kind == LINK_NVLINK ? lanes : 0));
}

static uint16_t tie(const struct node *node, unsigned a, unsigned b)
{
	return node->ties[a * node->count + b];
}

static void read_links(struct node *node, const struct card *cards)
{
	for (unsigned a = 0; a < node->count; a++) {
		const struct card *card = &cards[a];

		for (size_t i = 0; i < card->link_count; i++) {
			unsigned b = card->links[i].peer;
			uint16_t strength = tie_strength(&card->links[i]);

			if (b >= node->count || b == a || strength <= tie(node, a, b))
				continue;
			node->ties[a * node->count + b] = strength; /* both ways, as cables are */
			node->ties[b * node->count + a] = strength;
		}
	}
}

/* All cards that NVLinks reach from CARD, itself too. */
static uint64_t reach(const struct node *node, unsigned card)
{
	uint64_t reached = card_bit(card), todo = reached;

	while (todo) {
		unsigned at = first_card(todo);

		todo &= todo - 1;
		for (unsigned i = 0; i < node->count; i++) {
			if (tie(node, at, i) < TIE_NVLINK || reached & card_bit(i))
				continue;
			reached |= card_bit(i);
			todo |= card_bit(i);
		}
	}
	return reached;
}

static int init_links(struct node *node, const struct card *cards)
{
	size_t pairs = (size_t)node->count * node->count;
	uint64_t seen = 0;

	node->ties = calloc(pairs ? pairs : 1, sizeof(*node->ties));
	node->groups = calloc(node->count / 2 + 1, sizeof(*node->groups));
	if (!node->ties || !node->groups)
		return -ENOMEM;
	read_links(node, cards);
	for (unsigned i = 0; i < node->count; i++) {
		uint64_t group = reach(node, i);

		if (seen & card_bit(i) || count_cards(group) < 2)
			continue;
		seen |= group;
		node->groups[node->group_count++] = group;
	}
	return 0;
}

int topology_init(struct node *node)
{
	return init_links(node, node->cards);
}

struct score {
	unsigned worst, sum, cut;
};

static struct score score_set(const struct node *node, uint64_t set, uint64_t cards)
{
	struct score score = { UINT16_MAX, 0, 0 };

	for (uint64_t rest = set; rest; rest &= rest - 1) {
		unsigned a = first_card(rest);

		for (uint64_t others = cards & ~card_bit(a); others; others &= others - 1) {
			unsigned b = first_card(others);
			unsigned strength = tie(node, a, b);

			if (!(set & card_bit(b))) {
				score.cut += strength;
			} else {
				score.sum += strength;
				if (strength < score.worst)
					score.worst = strength;
			}
		}
	}
	return score;
}

static bool better(struct score a, struct score b)
{
	if (a.worst != b.worst)
		return a.worst > b.worst;
	if (a.sum != b.sum)
		return a.sum > b.sum;
	return a.cut < b.cut;
}

static bool all_equal(const struct node *node, uint64_t cards)
{
	unsigned first = first_card(cards);
	uint64_t rest = cards & (cards - 1);

	if (!rest)
		return true;
	unsigned strength = tie(node, first, first_card(rest));

	for (uint64_t a = cards; a; a &= a - 1)
		for (uint64_t b = a & (a - 1); b; b &= b - 1)
			if (tie(node, first_card(a), first_card(b)) != strength)
				return false;
	return true;
}

static uint64_t lowest(uint64_t cards, unsigned wanted)
{
	uint64_t set = 0;

	for (; wanted > 0 && cards; wanted--, cards &= cards - 1)
		set |= cards & -cards;
	return set;
}

/* How many sets of WANTED out of COUNT, or more than SETS_TRIED_MAX. */
static unsigned count_sets(unsigned count, unsigned wanted)
{
	uint64_t sets = 1;

	for (unsigned i = 1; i <= wanted && sets <= SETS_TRIED_MAX * 64ull; i++)
		sets = sets * (count - wanted + i) / i;
	return sets > SETS_TRIED_MAX ? SETS_TRIED_MAX + 1 : (unsigned)sets;
}

/* The cards of CARDS whose position in it is set in PACKED. */
static uint64_t unpack(uint64_t cards, uint64_t packed)
{
	uint64_t set = 0;

	for (; packed; packed >>= 1, cards &= cards - 1)
		if (packed & 1)
			set |= cards & -cards;
	return set;
}

/* MUST and the best WANTED of CARDS, which are others: each set is looked at. */
static uint64_t try_all(const struct node *node, uint64_t cards, uint64_t must, unsigned wanted)
{
	uint64_t packed = (1ull << wanted) - 1, best = 0;
	struct score best_score = { 0, 0, 0 };

	for (unsigned left = count_sets(count_cards(cards), wanted); left > 0; left--) {
		uint64_t set = must | unpack(cards, packed);
		struct score score = score_set(node, set, cards | must);

		if (!best || better(score, best_score)) {
			best = set;
			best_score = score;
		}
		/* The next number with as many bits. */
		uint64_t low = packed & -packed, carried = packed + low;

		packed = carried | (((packed ^ carried) >> 2) / low);
	}
	return best;
}

/* What SCORE becomes when CARD of CARDS joins SET. */
static struct score score_with(const struct node *node, struct score score, uint64_t set,
			       unsigned card, uint64_t cards)
{
	for (uint64_t rest = cards & ~card_bit(card); rest; rest &= rest - 1) {
		unsigned other = first_card(rest), strength = tie(node, card, other);

		if (!(set & card_bit(other))) {
			score.cut += strength;
			continue;
		}
		score.cut -= strength;
		score.sum += strength;
		if (strength < score.worst)
			score.worst = strength;
	}
	return score;
}

/* From START on, always the card that fits best to those taken. */
static uint64_t grow(const struct node *node, uint64_t cards, unsigned start, unsigned wanted,
		     struct score *ret)
{
	struct score score = score_with(node, (struct score){ UINT16_MAX, 0, 0 }, 0, start, cards);
	uint64_t set = card_bit(start);

	while (count_cards(set) < wanted) {
		struct score best = { 0, 0, 0 };
		uint64_t pick = 0;

		for (uint64_t rest = cards & ~set; rest; rest &= rest - 1) {
			struct score with = score_with(node, score, set, first_card(rest), cards);

			if (!pick || better(with, best)) {
				pick = rest & -rest;
				best = with;
			}
		}
		set |= pick;
		score = best;
	}
	*ret = score;
	return set;
}

/* Too many sets to try: a few are grown, each from another card. */
static uint64_t try_growing(const struct node *node, uint64_t cards, unsigned wanted)
{
	uint64_t best = 0, starts = cards;
	struct score best_score = { 0, 0, 0 };

	for (unsigned left = STARTS_MAX; left > 0 && starts; left--, starts &= starts - 1) {
		struct score score;
		uint64_t set = grow(node, cards, first_card(starts), wanted, &score);

		if (!best || better(score, best_score)) {
			best = set;
			best_score = score;
		}
	}
	return best;
}

uint64_t topology_choose(const struct node *node, uint64_t cards, unsigned wanted)
{
	if (count_cards(cards) <= wanted || all_equal(node, cards))
		return lowest(cards, wanted);
	if (count_sets(count_cards(cards), wanted) <= SETS_TRIED_MAX)
		return try_all(node, cards, 0, wanted);
	return try_growing(node, cards, wanted);
}

uint64_t topology_group(const struct node *node, uint64_t cards, unsigned wanted)
{
	uint64_t best = cards;
	unsigned best_count = NODE_CARDS_MAX + 1;

	for (unsigned i = 0; i < node->group_count; i++) {
		unsigned count = count_cards(node->groups[i] & cards);

		if (count >= wanted && count < best_count) {
			best = node->groups[i] & cards;
			best_count = count;
		}
	}
	return best;
}

/* Where nobody looked for links, NUMA nodes tell near from far. */
static void guess_links(struct node *node, const struct card *cards)
{
	for (unsigned a = 0; a < node->count; a++)
		for (unsigned b = 0; b < node->count; b++)
			if (a != b && tie(node, a, b) == 0 && cards[a].numa >= 0 &&
			    cards[b].numa >= 0)
				node->ties[a * node->count + b] =
					tie_strengths[cards[a].numa == cards[b].numa ? LINK_NODE
										     : LINK_SYS];
}

/* MUST and WANTED more of CARDS, which are others. */
static uint64_t choose_beside(const struct node *node, uint64_t cards, uint64_t must,
			      unsigned wanted)
{
	if (wanted == 0 || count_cards(cards) <= wanted)
		return must | lowest(cards, wanted);
	if (count_sets(count_cards(cards), wanted) > SETS_TRIED_MAX) { /* one by one */
		uint64_t next = choose_beside(node, cards, must, 1);

		return choose_beside(node, cards & ~next, next, wanted - 1);
	}
	return try_all(node, cards, must, wanted);
}

int place_choose_cards(const struct inventory *inventory, uint64_t cards, uint64_t must,
		       unsigned wanted, uint64_t *ret)
{
	struct node node = { .count = (uint32_t)inventory->card_count };
	uint64_t there = node.count >= NODE_CARDS_MAX ? UINT64_MAX : card_bit(node.count) - 1;
	int r;

	if (inventory->card_count > NODE_CARDS_MAX || (cards | must) & ~there ||
	    count_cards(must) > wanted || count_cards(cards | must) < wanted)
		return -EINVAL;
	r = init_links(&node, inventory->cards);
	if (r == 0) {
		guess_links(&node, inventory->cards);
		if (must)
			*ret = choose_beside(&node, cards & ~must, must,
					     wanted - count_cards(must));
		else
			*ret = topology_choose(&node, topology_group(&node, cards, wanted), wanted);
	}
	free(node.ties);
	free(node.groups);
	return r;
}
