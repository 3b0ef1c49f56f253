/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MIG instances on the cards of a node. Where a card's layout is fixed, only its instances can be
 * granted; else an instance is made where NVML can place one, at the start that spares the most
 * places for those to come (mig_use_choose()). The policy chooses the card, one instance after the
 * other: of each it sees what is left beside those before it.
 *
 * Places of one profile never overlap each other, so that as many of it as there can be on a card
 * are found one after the other, whichever start each takes.
 */
#include "shape.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* A card as it is or would be, looked at for one profile. */
struct mig_look {
	const struct mig_model *model;
	const struct mig_profile *profile;
	const struct mig_card *card; /* NULL: in another mode */
	struct mig_use use;
};

static int add_instance(struct mig_card *card, const struct card_mig *mig, const char *which,
			const char *node, struct error *error)
{
	const struct mig_profile *profile = mig_profile_find(card->model, mig->profile);
	struct mig_use use = { 0 };

	if (!profile || !mig_profile_starts_at(profile, mig->start))
		return error_set(error, EINVAL,
				 "%s of node %s cannot have an instance of %s at slice %u", which,
				 node, mig->profile, mig->start);
	for (unsigned i = 0; i < card->layout_count; i++)
		mig_use_add(&use, card->layout[i].profile, card->layout[i].start);
	if (card->layout_count == CARD_MIG_ENTRIES ||
	    !mig_use_takes(card->model, &use, profile, mig->start))
		return error_set(error, EINVAL,
				 "%s of node %s has no room for an instance of %s at slice %u "
				 "beside its others",
				 which, node, mig->profile, mig->start);
	card->layout[card->layout_count++] = (struct mig_instance){ profile, (uint8_t)mig->start };
	return 0;
}

static int fill_card(struct mig_card *to, const struct card *from, const char *node,
		     struct error *error)
{
	char which[CARD_DESCRIPTION_MAX];
	int r = 0;

	to->model = mig_model_find(from->model);
	card_describe(from, which);
	if (from->mig_count && !to->model)
		return error_set(error, EINVAL,
				 "%s of node %s has MIG instances, and the places of its model %s "
				 "are not known; leave the instances out",
				 which, node, from->model);
	for (size_t i = 0; r == 0 && i < from->mig_count; i++)
		r = add_instance(to, &from->mig[i], which, node, error);
	return r;
}

int mig_init(struct node *node, struct error *error)
{
	int r = 0;

	if (!node->modes[CARD_MODE_MIG])
		return 0;
	node->mig = calloc(node->count, sizeof(*node->mig));
	if (!node->mig)
		return error_no_memory(error);
	for (uint64_t rest = node->modes[CARD_MODE_MIG]; r == 0 && rest; rest &= rest - 1)
		r = fill_card(&node->mig[first_card(rest)], &node->cards[first_card(rest)],
			      node->name, error);
	return r;
}

static bool look_at(const struct pool *pool, const struct node *node, unsigned card,
		    const struct request *request, bool empty, struct mig_look *ret)
{
	const struct slot *slot = node_slot(pool, node, card);

	*ret = (struct mig_look){ .model = pool->mig_models[slot->model] };
	if (!ret->model)
		return false;
	ret->profile = mig_profile_find(ret->model, request->mig_profile);
	if (node->modes[CARD_MODE_MIG] & card_bit(card))
		ret->card = &node->mig[card];
	if (empty || !ret->profile)
		return ret->profile;
	if (!ret->card || slot->held_whole || slot->slices != ret->card->held)
		return false; /* somebody who was there before the mode changed */
	ret->use = ret->card->use;
	return true;
}

/* A start that is free, or -ENOENT. */
static int choose_start(const struct mig_look *look)
{
	const struct mig_card *card = look->card;

	for (unsigned i = 0; card && i < card->layout_count; i++)
		if (card->layout[i].profile == look->profile &&
		    !(look->use.slices & mig_profile_mask(look->profile, card->layout[i].start)))
			return card->layout[i].start;
	if (card && card->layout_count)
		return -ENOENT;
	return mig_use_choose(look->model, &look->use, look->profile, NULL);
}

/* The lowest, which is found sooner: where only the number counts. */
static int any_start(const struct mig_look *look)
{
	if (look->card && look->card->layout_count)
		return choose_start(look);
	for (unsigned i = 0; i < look->profile->start_count; i++)
		if (mig_use_takes(look->model, &look->use, look->profile, look->profile->starts[i]))
			return look->profile->starts[i];
	return -ENOENT;
}

static unsigned card_room(struct mig_look look, unsigned most)
{
	unsigned room = 0;

	for (; room < most; room++) {
		int start = any_start(&look);

		if (start < 0)
			break;
		mig_use_add(&look.use, look.profile, (unsigned)start);
	}
	return room;
}

unsigned mig_room(const struct pool *pool, const struct node *node, uint64_t cards,
		  const struct request *request, bool empty, unsigned most)
{
	unsigned room = 0;

	for (uint64_t rest = cards; rest && room < most; rest &= rest - 1) {
		struct mig_look look;

		if (look_at(pool, node, first_card(rest), request, empty, &look))
			room += card_room(look, most - room);
	}
	return room;
}

unsigned pool_card_instance_room(const struct pool *pool, unsigned node, unsigned card,
				 const struct request *request)
{
	return pool_card(pool, node, card) ? mig_room(pool, &pool->nodes[node], card_bit(card),
						      request, false, MIG_SLICES_MAX)
					   : 0;
}

uint64_t mig_cards(const struct pool *pool, const struct node *node, uint64_t cards,
		   const struct request *request, bool empty)
{
	uint64_t set = 0;

	for (uint64_t rest = cards; rest; rest &= rest - 1)
		if (mig_room(pool, node, rest & -rest, request, empty, 1))
			set |= rest & -rest;
	return set;
}

const struct mig_profile *mig_profile_of(const struct pool *pool, const struct slot *slot,
					 const char *name)
{
	const struct mig_model *model = pool->mig_models[slot->model];

	return model ? mig_profile_find(model, name) : NULL;
}

unsigned mig_free_slices(const struct mig_card *card)
{
	return card->model ? card->model->memory - (unsigned)__builtin_popcount(card->use.slices)
			   : 0;
}

unsigned mig_units(const struct pool *pool, const struct slot *slot,
		   const struct mig_profile *profile)
{
	return slot->units * profile->size / pool->mig_models[slot->model]->memory;
}

uint16_t mig_left_milli(const struct mig_card *card)
{
	return (uint16_t)(mig_free_slices(card) * MILLI_WHOLE / card->model->memory);
}

/* Does the fixed layout, if there is one, have this instance? */
static bool is_in_layout(const struct mig_card *card, const struct mig_profile *profile,
			 unsigned start)
{
	for (unsigned i = 0; i < card->layout_count; i++)
		if (card->layout[i].start == start && card->layout[i].profile == profile)
			return true;
	return card->layout_count == 0;
}

bool mig_starts_at(const struct node *node, unsigned card, const struct mig_profile *profile,
		   unsigned start)
{
	return node->modes[CARD_MODE_MIG] & card_bit(card) &&
	       mig_profile_starts_at(profile, start) &&
	       is_in_layout(&node->mig[card], profile, start);
}

bool mig_takes(const struct node *node, const struct slot *slot, unsigned card,
	       const struct mig_profile *profile, unsigned start)
{
	const struct mig_card *mig = &node->mig[card];

	return !slot->held_whole && slot->slices == mig->held &&
	       mig_use_takes(mig->model, &mig->use, profile, start);
}

/* By card and start, both rising. */
static void add_to_placement(struct placement *placement, unsigned card, unsigned start,
			     unsigned units, unsigned mib)
{
	unsigned at = placement->count++;

	for (; at > 0 && (placement->cards[at - 1] > card ||
			  (placement->cards[at - 1] == card && placement->starts[at - 1] > start));
	     at--) {
		placement->cards[at] = placement->cards[at - 1];
		placement->starts[at] = placement->starts[at - 1];
		placement->memory_mib[at] = placement->memory_mib[at - 1];
		placement->units[at] = placement->units[at - 1];
	}
	placement->cards[at] = card;
	placement->starts[at] = (uint8_t)start;
	placement->memory_mib[at] = mib;
	placement->units[at] = units;
}

int64_t mig_choose(const struct pool *pool, const struct shape *shape, const struct board *board,
		   uint64_t fits, struct placement *ret)
{
	const struct request *request = shape->query.request;
	struct mig_look looks[NODE_CARDS_MAX];
	struct board left = *board;
	struct piece piece = shape->piece;
	int64_t value = 0;

	for (uint64_t rest = fits; rest; rest &= rest - 1)
		look_at(pool, board->node, first_card(rest), request, false,
			&looks[first_card(rest)]);
	for (unsigned i = 0; i < request->cards; i++) {
		const struct question question = { .board = &left, .piece = &piece, .fits = fits };
		struct answer answer = shape_score(pool, shape, &question);
		unsigned card = first_card(answer.cards);
		struct mig_look *look = &looks[card];
		unsigned start;

		value += answer.value;
		if (!ret && i + 1 == request->cards)
			break;
		start = (unsigned)choose_start(look);
		mig_use_add(&look->use, look->profile, start);
		board_take(&left, &piece, answer.cards);
		left.tags |= tag_of(&piece);
		piece.cpu_milli = 0; /* once a Pod */
		if (any_start(look) < 0)
			fits &= ~answer.cards;
		if (ret)
			add_to_placement(
				ret, card, start,
				mig_units(pool, node_slot(pool, board->node, card), look->profile),
				look->profile->memory_mib);
	}
	return value;
}
