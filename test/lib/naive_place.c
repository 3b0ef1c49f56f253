/* SPDX-License-Identifier: Apache-2.0 */
#include "naive_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "naive_card.h"
#include "naive_mig.h"

/* How far one card comes, and how far a node comes with enough cards. */
enum step {
	STEP_MODEL,
	STEP_UUID,
	STEP_KIND,
	STEP_COUNT, /* only nodes stop here */
	STEP_SIZE,
	STEP_HEALTH,
	STEP_MODE,
	STEP_FOREIGN,
	STEP_ROOM,
	STEP_COMPUTE,
	STEP_ALL,
};

/* The sums of all cards, new from the list of grants each time. */
static void add_up(struct naive_world *world)
{
	size_t size = world->node_count * NAIVE_CARDS_MAX * sizeof(*world->uses);

	if (!world->uses)
		world->uses = malloc(size ? size : 1);
	if (!world->uses)
		abort();
	memset(world->uses, 0, size);
	for (size_t i = 0; i < world->grant_count; i++) {
		const struct naive_grant *grant = &world->grants[i];

		for (unsigned j = 0; j < grant->count; j++) {
			struct naive_use *use =
				&world->uses[grant->node * NAIVE_CARDS_MAX + grant->cards[j]];

			use->holders++;
			use->whole += grant->kind == REQUEST_WHOLE;
			use->instances += grant->kind == REQUEST_MIG;
			use->units += grant->units[j];
			use->compute += grant->compute;
		}
	}
}

static struct naive_use use_of(const struct naive_world *world, unsigned node, unsigned card)
{
	return world->uses[node * NAIVE_CARDS_MAX + card];
}

static unsigned gib(const struct card *card)
{
	return (unsigned)(card->memory_bytes >> 30);
}

static unsigned share(const struct request *request, const struct card *card)
{
	if (request->units)
		return request->units;
	unsigned part = gib(card) * request->memory_percent / 100;
	return part > 0 ? part : 1;
}

static bool right_mode(const struct request *request, const struct card *card)
{
	switch (request->kind) {
	case REQUEST_WHOLE:
		return card->mode == CARD_MODE_WHOLE || card->mode == CARD_MODE_AUTO;
	case REQUEST_SLICE:
		return card->mode == CARD_MODE_SLICES || card->mode == CARD_MODE_AUTO;
	case REQUEST_SHARED:
	case REQUEST_MIG:
	case REQUEST_NONE:
	case REQUEST_KIND_MAX:
	case REQUEST_KIND_INVALID:
	default:
		return false;
	}
}

static bool is_size_unknown(const struct card *card)
{
	return !gib(card) && card->condition.health != CARD_HEALTHY;
}

struct view_of_card {
	enum step step;        /* the first that it fails */
	int64_t units, wants;  /* of memory */
	int64_t size;          /* the units, or any when it never told them */
	int64_t room, compute; /* free */
};

static enum step first_failed(const bool *passed)
{
	enum step step = STEP_MODEL;

	while (step < STEP_ALL && passed[step])
		step++;
	return step;
}

static void look_at(const struct naive_world *world, const struct request *request, unsigned node,
		    unsigned position, struct view_of_card *ret)
{
	const struct card *card = &world->inventories[node].cards[position];
	struct naive_use use = use_of(world, node, position);
	enum naive_fault fault = world->fault;
	bool slice = request->kind == REQUEST_SLICE;
	bool free = fault == NAIVE_SLICES_FORGOTTEN ? use.whole == 0 : use.holders == 0;

	ret->units = gib(card);
	ret->size = is_size_unknown(card) ? INT32_MAX : ret->units;
	ret->wants = slice ? share(request, card) : 0;
	ret->room = use.whole ? 0 : ret->units - use.units;
	ret->compute = use.whole ? 0 : 100 - (int64_t)use.compute;
	if (slice)
		free = ret->room >= ret->wants + (fault == NAIVE_MEMORY_OFF_BY_ONE ? 1 : 0);
	int64_t cap = request->compute_percent + (fault == NAIVE_COMPUTE_OFF_BY_ONE ? 1 : 0);
	const bool passed[STEP_ALL] = {
		[STEP_MODEL] = naive_right_model(request, card),
		[STEP_UUID] = naive_right_uuid(request, card),
		[STEP_COUNT] = true,
		[STEP_SIZE] = ret->size >= ret->wants,
		[STEP_HEALTH] =
			card->condition.health == CARD_HEALTHY || fault == NAIVE_HEALTH_IGNORED,
		[STEP_MODE] = right_mode(request, card) || fault == NAIVE_MODE_IGNORED,
		[STEP_FOREIGN] = !naive_is_foreign(card) || fault == NAIVE_FOREIGN_IGNORED,
		[STEP_KIND] = slice || request->kind == REQUEST_WHOLE,
		[STEP_ROOM] = free,
		[STEP_COMPUTE] = !slice || ret->compute >= cap,
	};
	ret->step = first_failed(passed);
}

/* ---- MIG: instances count, not cards ---- */

/* Those that are held on the card; as if nobody were there for a world without grants. */
static size_t instances_of(const struct naive_world *world, unsigned node, unsigned position,
			   struct naive_instance *ret)
{
	const struct card *card = &world->inventories[node].cards[position];
	size_t count = 0;

	for (size_t i = 0; i < world->grant_count; i++) {
		const struct naive_grant *grant = &world->grants[i];

		for (unsigned j = 0; j < grant->count; j++)
			if (grant->node == node && grant->cards[j] == position &&
			    grant->kind == REQUEST_MIG)
				ret[count++] = (struct naive_instance){
					naive_profile(card, grant->profile), grant->starts[j]
				};
	}
	return count;
}

/* Instances of the request that there is room for on a card, and its free slices. */
static unsigned room_on(const struct naive_world *world, const struct request *request,
			unsigned node, unsigned position, bool empty, unsigned *ret_slices)
{
	const struct card *card = &world->inventories[node].cards[position];
	const struct mig_profile *profile = naive_profile(card, request->mig_profile);
	struct naive_instance held[MIG_SLICES_MAX];
	size_t count = empty ? 0 : instances_of(world, node, position, held);
	unsigned room = profile ? naive_mig_room(card, profile, held, count) : 0;

	*ret_slices = naive_free_slices(card, held, count);
	return room && !empty && world->fault == NAIVE_MIG_PLACE_LOST ? room - 1 : room;
}

/* What the cards that come as far as STEP have room for; their count for the profile alone. */
static int64_t reaching_mig(const struct naive_world *world, const struct request *request,
			    unsigned node, enum step step, int64_t *ret_slices)
{
	const struct inventory *inventory = &world->inventories[node];
	int64_t room = 0;

	*ret_slices = 0;
	for (unsigned i = 0; i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];
		unsigned slices, here = room_on(world, request, node, i, step < STEP_ROOM, &slices);

		if (!naive_right_model(request, card) || !naive_right_uuid(request, card) ||
		    (step >= STEP_HEALTH && card->condition.health != CARD_HEALTHY &&
		     world->fault != NAIVE_HEALTH_IGNORED) ||
		    (step >= STEP_MODE && card->mode != CARD_MODE_MIG) ||
		    (step >= STEP_FOREIGN && naive_is_foreign(card)))
			continue;
		if (step == STEP_COUNT)
			room += naive_profile(card, request->mig_profile) != NULL;
		else
			room += here;
		/* A card that never has room for the profile is not the one to wait for. */
		if (room_on(world, request, node, i, true, &(unsigned){ 0 }) &&
		    slices > *ret_slices)
			*ret_slices = slices;
	}
	return room;
}

struct view_of_node {
	enum step step;
	int64_t nearness; /* among nodes of one step, more is nearer */
	struct naive_answer answer;
};

/* For slices: how far the cards that reached STEP miss, and the WANTED-th least miss. */
static void nth_miss(const struct view_of_card *cards, size_t count, enum step step,
		     const struct request *request, struct view_of_node *ret)
{
	bool taken[NAIVE_CARDS_MAX] = { false };

	for (unsigned round = 0; round < request->cards; round++) {
		size_t best = count;
		int64_t best_miss = 0;

		for (size_t i = 0; i < count; i++) {
			int64_t have = step == STEP_SIZE   ? cards[i].size
				       : step == STEP_ROOM ? cards[i].room
							   : cards[i].compute;
			int64_t wants =
				step == STEP_COMPUTE ? request->compute_percent : cards[i].wants;

			if (cards[i].step < step || taken[i])
				continue;
			if (best < count && wants - have >= best_miss)
				continue;
			best = i;
			best_miss = wants - have;
			ret->answer.wanted = wants;
			ret->answer.have = have;
			ret->answer.total = step == STEP_COMPUTE ? 100 : cards[i].units;
		}
		if (best == count)
			return;
		taken[best] = true;
		ret->nearness = -best_miss;
	}
}

static enum reason_code health_code(const struct inventory *inventory,
				    const struct view_of_card *cards)
{
	for (size_t i = 0; i < inventory->card_count; i++)
		if (cards[i].step == STEP_HEALTH &&
		    inventory->cards[i].condition.health == CARD_LOST)
			return REASON_CARD_LOST;
	return REASON_CARD_SUSPECT;
}

static enum reason_code code_of(enum step step, const struct request *request)
{
	bool slice = request->kind == REQUEST_SLICE;
	const enum reason_code codes[STEP_ALL] = {
		[STEP_MODEL] = REASON_NO_MODEL,
		[STEP_UUID] = REASON_NO_UUID,
		[STEP_COUNT] = REASON_NODE_CARDS,
		[STEP_SIZE] = REASON_CARD_MEMORY,
		[STEP_HEALTH] = REASON_CARD_LOST,
		[STEP_MODE] = REASON_WRONG_MODE,
		[STEP_FOREIGN] = REASON_FOREIGN_USE,
		[STEP_KIND] = REASON_NOT_OFFERED,
		[STEP_ROOM] = slice ? REASON_MEMORY_BUSY : REASON_CARDS_BUSY,
		[STEP_COMPUTE] = REASON_COMPUTE_BUSY,
	};

	return codes[step];
}

static enum reason_code mig_code(const struct naive_world *world, const struct request *request,
				 unsigned node, enum step step)
{
	const struct inventory *inventory = &world->inventories[node];
	const enum reason_code codes[STEP_ALL] = {
		[STEP_COUNT] = REASON_MIG_PROFILE,   [STEP_SIZE] = REASON_MIG_COUNT,
		[STEP_HEALTH] = REASON_CARD_SUSPECT, [STEP_MODE] = REASON_NOT_MIG,
		[STEP_FOREIGN] = REASON_FOREIGN_USE, [STEP_ROOM] = REASON_MIG_BUSY,
	};

	for (unsigned i = 0; step == STEP_HEALTH && i < inventory->card_count; i++)
		if (inventory->cards[i].condition.health == CARD_LOST &&
		    naive_right_model(request, &inventory->cards[i]) &&
		    naive_right_uuid(request, &inventory->cards[i]) &&
		    room_on(world, request, node, i, true, &(unsigned){ 0 }))
			return REASON_CARD_LOST;
	return codes[step];
}

static void look_at_mig(const struct naive_world *world, const struct request *request,
			unsigned node, int64_t matching, struct view_of_node *ret)
{
	int64_t before = 0, have = 0, slices;
	enum step step = STEP_COUNT;

	if (world->no_mig) {
		*ret = (struct view_of_node){ .step = STEP_KIND,
					      .answer = { .code = REASON_NOT_OFFERED } };
		ret->answer.wanted = request->cards;
		ret->answer.total = (int64_t)world->inventories[node].card_count;
		return;
	}
	for (; step < STEP_COMPUTE; step++, before = have) {
		have = reaching_mig(world, request, node, step, &slices);
		if (have < (step == STEP_COUNT ? 1 : (int64_t)request->cards))
			break;
	}
	ret->step = step == STEP_COMPUTE ? STEP_ALL : step;
	if (ret->step == STEP_ALL)
		return;
	ret->nearness = have;
	ret->answer.code = mig_code(world, request, node, step);
	ret->answer.wanted = request->cards;
	ret->answer.have = have;
	ret->answer.total = (int64_t)world->inventories[node].card_count;
	if (step == STEP_COUNT)
		ret->answer.total = matching;
	else if (step == STEP_HEALTH || step == STEP_FOREIGN)
		ret->answer.total = before;
	else if (step == STEP_ROOM)
		ret->answer.total = slices;
}

static int64_t reaching(const struct view_of_card *cards, size_t count, enum step step)
{
	int64_t number = 0;

	for (size_t i = 0; i < count; i++)
		number += cards[i].step > step;
	return number;
}

static void look_at_node(const struct naive_world *world, const struct request *request,
			 unsigned node, struct view_of_node *ret)
{
	const struct inventory *inventory = &world->inventories[node];
	struct view_of_card cards[NAIVE_CARDS_MAX];
	size_t count = inventory->card_count;
	enum step step = STEP_MODEL;

	*ret = (struct view_of_node){ .step = STEP_MODEL };
	for (unsigned i = 0; i < count; i++)
		look_at(world, request, node, i, &cards[i]);
	int64_t matching = reaching(cards, count, STEP_UUID);

	if (matching == 0) /* which of the two the pool decides */
		return;
	if (request->kind == REQUEST_MIG) {
		look_at_mig(world, request, node, matching, ret);
		return;
	}
	step = reaching(cards, count, STEP_KIND) > 0 ? STEP_COUNT : STEP_KIND;
	while (step < STEP_ALL && reaching(cards, count, step) >= request->cards)
		step++;
	ret->step = step;
	if (step == STEP_ALL)
		return;
	ret->answer.code = code_of(step, request);
	ret->answer.wanted = request->cards;
	ret->answer.total = step == STEP_COUNT ? matching : (int64_t)count;
	ret->answer.have = step == STEP_COUNT ? matching : reaching(cards, count, step);
	ret->nearness = ret->answer.have;
	if (step == STEP_HEALTH)
		ret->answer.code = health_code(inventory, cards);
	if (request->kind == REQUEST_SLICE &&
	    (step == STEP_SIZE || step == STEP_ROOM || step == STEP_COMPUTE))
		nth_miss(cards, count, step, request, ret);
}

/* No card has both the model and the UUID. */
static void judge_names(const struct naive_world *world, const struct request *request,
			struct naive_answer *ret)
{
	bool model = false, uuid = false;
	int64_t cards = 0;

	for (size_t i = 0; i < world->node_count; i++) {
		for (size_t j = 0; j < world->inventories[i].card_count; j++) {
			const struct card *card = &world->inventories[i].cards[j];

			cards++;
			model = model || naive_right_model(request, card);
			uuid = uuid || naive_lists(&request->uuids, card->uuid);
		}
	}
	ret->wanted = request->cards;
	ret->total = cards;
	if (cards == 0)
		ret->code = REASON_NO_CARDS;
	else if (!model)
		ret->code = REASON_NO_MODEL;
	else if (request->uuids.count && !uuid)
		ret->code = REASON_NO_UUID;
	else
		ret->code = REASON_BAD_REQUEST;
}

/* Which refusals waiting cannot cure. */
static bool waits(enum reason_code code)
{
	static const enum reason_code never[] = {
		REASON_NO_MODEL,    REASON_NO_UUID,     REASON_NODE_CARDS,
		REASON_NO_CARDS,    REASON_CARD_MEMORY, REASON_BAD_REQUEST,
		REASON_NOT_OFFERED, REASON_MIG_PROFILE, REASON_MIG_COUNT,
	};

	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		if (never[i] == code)
			return false;
	return true;
}

void naive_decide(struct naive_world *world, const struct request *request, int node,
		  struct naive_answer *ret)
{
	struct view_of_node best = { .step = STEP_MODEL };

	add_up(world);
	for (unsigned i = 0; i < world->node_count; i++) {
		struct view_of_node view;

		if (node >= 0 && i != (unsigned)node)
			continue;
		look_at_node(world, request, i, &view);
		if (view.step > best.step ||
		    (view.step == best.step && view.nearness > best.nearness))
			best = view;
		else if (view.step == best.step && view.nearness == best.nearness && node < 0 &&
			 best.answer.code == REASON_NONE)
			best = view;
	}
	*ret = best.answer;
	if (best.step == STEP_ALL)
		return;
	if (best.step == STEP_MODEL)
		judge_names(world, request, ret);
	if (world->fault == NAIVE_HAVE_OFF_BY_ONE)
		ret->have++;
	ret->result = waits(ret->code) ? -EAGAIN : -ENOSPC;
}

void naive_release(struct naive_world *world)
{
	free(world->grants);
	free(world->uses);
	*world = (struct naive_world){ 0 };
}

static bool instances_fit(const struct naive_world *world, unsigned node, unsigned card)
{
	struct naive_instance held[NAIVE_CARDS_MAX];
	size_t count = instances_of(world, node, card, held);

	return naive_instances_fit(&world->inventories[node].cards[card], held, count);
}

const char *naive_excess(struct naive_world *world, char *text, size_t size)
{
	add_up(world);
	for (unsigned i = 0; i < world->node_count; i++) {
		for (unsigned j = 0; j < world->inventories[i].card_count; j++) {
			struct naive_use use = use_of(world, i, j);
			unsigned units = gib(&world->inventories[i].cards[j]);

			if (use.whole <= 1 && (use.whole == 0 || use.holders == 1) &&
			    use.units <= units && use.compute <= 100 &&
			    (use.instances == 0 ||
			     (use.instances == use.holders && instances_fit(world, i, j))))
				continue;
			reason_text(text, size,
				    "card %u of node %u: %u holders, %u whole, %u of %u GiB, %u %%",
				    j, i, use.holders, use.whole, use.units, units, use.compute);
			return text;
		}
	}
	return NULL;
}
