/* SPDX-License-Identifier: Apache-2.0 */
/* Grants: what is held is held, whatever became of the card's health or mode since. */
#include "score.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_ENTRY UINT32_MAX

static const struct mig_profile *profile_of(const struct pool *pool, const struct slot *slot,
					    const struct held_card *card)
{
	return &pool->mig_models[slot->model]->profiles[card->profile];
}

static bool card_has_room(const struct pool *pool, const struct node *node,
			  const struct held_card *card)
{
	const struct slot *slot = node_slot(pool, node, card->card);

	if (card->kind == REQUEST_MIG)
		return mig_takes(node, slot, card->card, profile_of(pool, slot, card), card->start);
	if (card->kind == REQUEST_WHOLE)
		return node->idle & card_bit(card->card);
	if (node->mig && node->mig[card->card].held)
		return false;
	return !slot->held_whole && slot->granted + card->units <= slot->units &&
	       slot->compute + card->compute <= COMPUTE_WHOLE;
}

static bool card_takes(const struct pool *pool, const struct held *held, unsigned at)
{
	const struct held_card *card = &held->cards[at];

	for (unsigned i = 0; i < at && card->kind != REQUEST_MIG; i++)
		if (held->cards[i].card == card->card && held->cards[i].part == card->part)
			return false; /* the same card twice */
	return card_has_room(pool, &pool->nodes[held->node], card);
}

static uint16_t left_milli(const struct slot *slot)
{
	unsigned memory = slot->units ? slot_free_units(slot) * 1000u / slot->units : 1000u;
	unsigned compute = slot_free_compute(slot) * (1000u / COMPUTE_WHOLE);

	if (slot->held_whole)
		return 0;
	return (uint16_t)(memory < compute ? memory : compute);
}

void room_update(struct pool *pool, const struct node *node, unsigned card)
{
	const struct slot *slot = node_slot(pool, node, card);

	pool->rooms[node->first + card] = (struct room){
		.units = (uint16_t)slot_free_units(slot),
		.left_milli = node->mig && node->mig[card].model ? mig_left_milli(&node->mig[card])
								 : left_milli(slot),
		.model = slot->model,
		.compute = (uint8_t)slot_free_compute(slot),
	};
}

static void change_instance(struct pool *pool, struct node *node, const struct held_card *card,
			    bool add)
{
	const struct mig_profile *profile =
		profile_of(pool, node_slot(pool, node, card->card), card);
	struct mig_card *mig = &node->mig[card->card];

	if (add)
		mig_use_add(&mig->use, profile, card->start);
	else
		mig_use_remove(&mig->use, profile, card->start);
	mig->held = (uint8_t)(add ? mig->held + 1 : mig->held - 1);
}

static void change_card(struct pool *pool, struct node *node, const struct held_card *card,
			bool add)
{
	struct slot *slot = &pool->slots[node->first + card->card];
	uint64_t bit = card_bit(card->card);

	if (card->kind == REQUEST_WHOLE) {
		slot->held_whole = add;
	} else if (add) {
		slot->granted = (uint16_t)(slot->granted + card->units);
		slot->compute = (uint8_t)(slot->compute + card->compute);
		slot->weights = (uint16_t)(slot->weights + (card->compute ? 0u : card->units));
		slot->slices++;
	} else {
		slot->granted = (uint16_t)(slot->granted - card->units);
		slot->compute = (uint8_t)(slot->compute - card->compute);
		slot->weights = (uint16_t)(slot->weights - (card->compute ? 0u : card->units));
		slot->slices--;
	}
	if (card->kind == REQUEST_MIG)
		change_instance(pool, node, card, add);
	room_update(pool, node, card->card);
	if (slot->held_whole || slot->slices)
		node->idle &= ~bit;
	else
		node->idle |= bit;
}

bool hold_try(struct pool *pool, unsigned node, const struct held_card *card)
{
	if (!card_has_room(pool, &pool->nodes[node], card))
		return false;
	change_card(pool, &pool->nodes[node], card, true);
	return true;
}

void hold_undo(struct pool *pool, unsigned node, const struct held_card *card)
{
	change_card(pool, &pool->nodes[node], card, false);
}

/* Of what may be unlimited, and may be held beyond the total. */
static int64_t left_of(int64_t total, int64_t used)
{
	if (total == RESOURCE_UNLIMITED)
		return RESOURCE_UNLIMITED;
	return total > used ? total - used : 0;
}

static void count_left(struct node *node)
{
	node->left = (struct resources){
		.cpu_milli = left_of(node->total.cpu_milli, node->used.cpu_milli),
		.memory_mib = left_of(node->total.memory_mib, node->used.memory_mib),
		.pods = left_of(node->total.pods, node->used.pods),
	};
}

static void change_needs(struct node *node, const struct held *held, bool add)
{
	const int64_t sign = add ? 1 : -1;

	node->used.cpu_milli += sign * held->needs.cpu_milli;
	node->used.memory_mib += sign * held->needs.memory_mib;
	node->used.pods += sign * held->needs.pods;
	count_left(node);
	if (held->tag == 0)
		return;
	node->tag_counts[held->tag - 1] += add ? 1u : UINT32_MAX;
	if (node->tag_counts[held->tag - 1])
		node->tags |= 1ull << (held->tag - 1);
	else
		node->tags &= ~(1ull << (held->tag - 1));
}

void hold_count(struct pool *pool, const struct held *held, bool add)
{
	for (unsigned i = 0; i < held->count; i++)
		change_card(pool, &pool->nodes[held->node], &held->cards[i], add);
	change_needs(&pool->nodes[held->node], held, add);
}

/* What is held of the node beside cards, and that it is another one now. */
static void change_node(struct pool *pool, const struct held *held, bool add)
{
	change_needs(&pool->nodes[held->node], held, add);
	pool_log_change(pool, held->node);
}

static int new_entry(struct pool *pool, uint32_t *ret)
{
	uint32_t number = pool->first_free;

	if (number != NO_ENTRY) {
		pool->first_free = pool->grants[number].next_free;
		*ret = number;
		return 0;
	}
	if (pool->grant_count >= NO_ENTRY ||
	    vec_reserve(&pool->grants, &pool->grant_capacity, pool->grant_count + 1,
			sizeof(*pool->grants)) < 0)
		return -ENOMEM;
	pool->grants[pool->grant_count++] = (struct grant_entry){ .next_free = NO_ENTRY };
	*ret = (uint32_t)(pool->grant_count - 1);
	return 0;
}

static void give_back(struct pool *pool, const struct held *held, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		change_card(pool, &pool->nodes[held->node], &held->cards[i], false);
}

/* All cards or none; *ret_card is the one that is too full. Parts of one Pod see each other. */
static int take_cards(struct pool *pool, const struct held *held, unsigned *ret_card)
{
	for (unsigned i = 0; i < held->count; i++) {
		if (!card_takes(pool, held, i)) {
			*ret_card = held->cards[i].card;
			give_back(pool, held, i);
			return -EBUSY;
		}
		change_card(pool, &pool->nodes[held->node], &held->cards[i], true);
	}
	return 0;
}

/* Owns HELD on success only. */
static int enter(struct pool *pool, struct held *held, unsigned *ret_card, uint64_t *ret_id)
{
	uint32_t number;
	int r = take_cards(pool, held, ret_card);

	if (r < 0)
		return r;
	if (new_entry(pool, &number) < 0) {
		give_back(pool, held, held->count);
		return -ENOMEM;
	}
	struct grant_entry *entry = &pool->grants[number];

	entry->held = held;
	entry->generation++;
	change_node(pool, held, true);
	*ret_id = (uint64_t)entry->generation << 32 | number;
	return 0;
}

struct held *held_new(uint32_t node, unsigned count)
{
	struct held *held = calloc(1, sizeof(*held) + count * sizeof(held->cards[0]));

	if (held)
		*held = (struct held){ .node = node, .count = count };
	return held;
}

static bool kind_can_be_held(enum request_kind kind)
{
	return kind == REQUEST_WHOLE || kind == REQUEST_SLICE || kind == REQUEST_MIG;
}

/* The profile of NAME on the card, if an instance of it can start there; else NULL. */
static const struct mig_profile *find_instance(const struct pool *pool, const struct node *node,
					       unsigned card, const char *name, unsigned start)
{
	const struct mig_profile *profile = mig_profile_of(pool, node_slot(pool, node, card), name);

	return profile && mig_starts_at(node, card, profile, start) ? profile : NULL;
}

static bool placement_fits_request(const struct pool *pool, const struct request *request,
				   const struct placement *placement)
{
	const struct node *node = &pool->nodes[placement->node];

	if (!kind_can_be_held(request->kind) || placement->count != request->cards ||
	    placement->count == 0 || placement->count > ARRAY_SIZE(placement->cards) ||
	    placement->compute_percent > COMPUTE_WHOLE)
		return false;
	for (unsigned i = 0; i < placement->count; i++)
		if (placement->cards[i] >= node->count || placement->units[i] > CARD_UNITS_MAX ||
		    (request->kind == REQUEST_MIG &&
		     !find_instance(pool, node, placement->cards[i], request->mig_profile,
				    placement->starts[i])))
			return false;
	return true;
}

static bool decision_fits_demand(const struct pool *pool, const struct demand *demand,
				 const struct decision *decision)
{
	const struct resources *needs = &demand->needs;

	if (decision->node >= pool->node_count || decision->count != demand->request_count ||
	    decision->count > DEMAND_REQUESTS_MAX || needs->cpu_milli < 0 ||
	    needs->memory_mib < 0 || needs->pods < 0)
		return false;
	for (unsigned i = 0; i < decision->count; i++)
		if (decision->placements[i].node != decision->node ||
		    !placement_fits_request(pool, &demand->requests[i], &decision->placements[i]))
			return false;
	return true;
}

/* An instance counts what the pool says, whatever the caller does. */
static void fill_instance(const struct pool *pool, unsigned node, const char *name, unsigned start,
			  struct held_card *card)
{
	const struct slot *slot = node_slot(pool, &pool->nodes[node], card->card);
	const struct mig_profile *profile = mig_profile_of(pool, slot, name);

	card->start = (uint8_t)start;
	card->profile = (uint8_t)(profile - pool->mig_models[slot->model]->profiles);
	card->units = (uint16_t)mig_units(pool, slot, profile);
	card->compute = 0;
}

bool hold_instance(const struct pool *pool, unsigned node, const char *name, unsigned start,
		   struct held_card *ret)
{
	if (!find_instance(pool, &pool->nodes[node], ret->card, name, start))
		return false;
	fill_instance(pool, node, name, start, ret);
	return true;
}

/* What a Pod of the request is to policies that tell kinds of Pods apart. */
static uint8_t tag_of_request(const struct request *request)
{
	struct piece piece = { .cards = request->cards, .whole = request->kind == REQUEST_WHOLE };

	return (uint8_t)(1 + __builtin_ctzll(tag_of(&piece)));
}

void hold_cards(const struct pool *pool, const struct request *request,
		const struct placement *placement, unsigned part, struct held_card *cards)
{
	for (unsigned i = 0; i < placement->count; i++) {
		cards[i] = (struct held_card){
			.card = (uint16_t)placement->cards[i],
			.units = (uint16_t)placement->units[i],
			.compute = (uint8_t)placement->compute_percent,
			.kind = (uint8_t)request->kind,
			.part = (uint8_t)part,
		};
		if (request->kind == REQUEST_MIG)
			fill_instance(pool, placement->node, request->mig_profile,
				      placement->starts[i], &cards[i]);
	}
}

static struct held *held_from_decision(const struct pool *pool, const struct demand *demand,
				       const struct decision *decision)
{
	unsigned count = 0;
	struct held *held;

	for (unsigned i = 0; i < decision->count; i++)
		count += decision->placements[i].count;
	held = held_new(decision->node, count);
	if (!held)
		return NULL;
	held->needs = demand->needs;
	held->tag = demand->request_count ? tag_of_request(&demand->requests[0]) : 0;
	for (unsigned i = decision->count; i-- > 0;) {
		count -= decision->placements[i].count;
		hold_cards(pool, &demand->requests[i], &decision->placements[i], i,
			   &held->cards[count]);
	}
	return held;
}

static int assume(struct pool *pool, const struct demand *demand, const struct decision *decision,
		  uint64_t *ret_id)
{
	struct held *held;
	unsigned full;
	int r;

	if (!decision_fits_demand(pool, demand, decision))
		return -EINVAL;
	if (!node_has_room(&pool->nodes[decision->node], &demand->needs))
		return -EBUSY;
	held = held_from_decision(pool, demand, decision);
	if (!held)
		return -ENOMEM;
	held->assumed = true;
	r = enter(pool, held, &full, ret_id);
	if (r < 0)
		free(held);
	return r;
}

int pool_assume(struct pool *pool, const struct demand *demand, const struct decision *decision,
		uint64_t *ret_id)
{
	int r = assume(pool, demand, decision, ret_id);

	record_hold(pool, "assume", demand, decision, r, r < 0 ? 0 : *ret_id);
	return r;
}

/* NULL when ID is no grant. */
static struct grant_entry *find_entry(struct pool *pool, uint64_t id)
{
	uint32_t number = (uint32_t)id;

	if (number >= pool->grant_count || !pool->grants[number].held ||
	    pool->grants[number].generation != id >> 32)
		return NULL;
	return &pool->grants[number];
}

struct held *hold_find(struct pool *pool, uint64_t id)
{
	struct grant_entry *entry = find_entry(pool, id);

	return entry ? entry->held : NULL;
}

static int confirm(struct pool *pool, uint64_t id)
{
	struct grant_entry *entry = find_entry(pool, id);

	if (!entry)
		return -ENOENT;
	if (!entry->held->assumed)
		return -EALREADY;
	entry->held->assumed = false;
	return 0;
}

int pool_confirm(struct pool *pool, uint64_t id)
{
	int r = confirm(pool, id);

	record_act(pool, "confirm", id, r);
	return r;
}

int pool_hold(struct pool *pool, const struct demand *demand, const struct decision *decision,
	      uint64_t *ret_id)
{
	int r = assume(pool, demand, decision, ret_id);

	if (r == 0)
		r = confirm(pool, *ret_id);
	record_hold(pool, "hold", demand, decision, r, r < 0 ? 0 : *ret_id);
	return r;
}

static int find_card(const struct pool *pool, const struct node *node,
		     const struct grant_card *card, uint16_t *ret, struct error *error)
{
	uintptr_t number = (uintptr_t)map_get(pool->uuids, card->uuid);

	if (number == 0)
		return error_set(error, ENOENT, "card %s is not in the pool", card->uuid);
	if (number - 1 < node->first || number - 1 >= node->first + node->count)
		return error_set(error, ENOENT, "card %s is not on node %s but on %s", card->uuid,
				 node->name, pool->nodes[pool->slots[number - 1].node].name);
	*ret = (uint16_t)(number - 1 - node->first);
	return 0;
}

static int check_grant(const struct pool *pool, unsigned node, const struct grant *grant,
		       struct error *error)
{
	if (node >= pool->node_count)
		return error_set(error, EINVAL, "there is no node number %u, the pool has %zu",
				 node, pool->node_count);
	if (!kind_can_be_held(grant->kind))
		return error_set(error, EINVAL, "a grant of kind %s cannot be held",
				 request_kind_to_string(grant->kind));
	if (grant->card_count == 0 || grant->card_count > NODE_CARDS_MAX)
		return error_set(error, EINVAL, "a grant has 1 to %u cards, this one has %zu",
				 NODE_CARDS_MAX, grant->card_count);
	for (size_t i = 0; i < grant->card_count; i++)
		if (grant->cards[i].compute_percent > COMPUTE_WHOLE ||
		    grant->cards[i].units > CARD_UNITS_MAX)
			return error_set(error, EINVAL,
					 "%u GiB and %u %% compute of card %s are "
					 "more than any card has",
					 grant->cards[i].units, grant->cards[i].compute_percent,
					 grant->cards[i].uuid);
	return 0;
}

static int fill_held(const struct pool *pool, struct held *held, const struct grant *grant,
		     struct error *error)
{
	for (unsigned i = 0; i < held->count; i++) {
		const struct grant_card *card = &grant->cards[i];
		int r = find_card(pool, &pool->nodes[held->node], card, &held->cards[i].card,
				  error);

		if (r < 0)
			return r;
		held->cards[i].units = (uint16_t)card->units;
		held->cards[i].compute = (uint8_t)card->compute_percent;
		held->cards[i].kind = (uint8_t)grant->kind;
		if (grant->kind != REQUEST_MIG)
			continue;
		if (!hold_instance(pool, held->node, grant->mig_profile, card->mig_start,
				   &held->cards[i]))
			return error_set(error, EINVAL,
					 "card %s of node %s cannot have an instance of %s at "
					 "slice %u",
					 card->uuid, pool->nodes[held->node].name,
					 grant->mig_profile, card->mig_start);
	}
	return 0;
}

static int hold_grant(struct pool *pool, unsigned node, const struct grant *grant, uint64_t *ret_id,
		      struct error *error)
{
	autofree struct held *held = NULL;
	unsigned full = 0;
	int r = check_grant(pool, node, grant, error);

	if (r < 0)
		return r;
	held = held_new(node, (unsigned)grant->card_count);
	if (!held)
		return error_no_memory(error);
	r = fill_held(pool, held, grant, error);
	if (r < 0)
		return r;
	r = enter(pool, held, &full, ret_id);
	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r < 0)
		return error_set(error, EBUSY,
				 "card %s of node %s has no room for the grant: %u of "
				 "its %u GiB are held",
				 pool_card(pool, node, full)->uuid, pool_node_name(pool, node),
				 pool_card_granted(pool, node, full),
				 node_slot(pool, &pool->nodes[node], full)->units);
	held = NULL; /* the pool owns it now */
	return 0;
}

int pool_hold_grant(struct pool *pool, unsigned node, const struct grant *grant, uint64_t *ret_id,
		    struct error *error)
{
	int r = hold_grant(pool, node, grant, ret_id, error);

	record_hold_grant(pool, node, grant, r, r < 0 ? 0 : *ret_id);
	return r;
}

static int release(struct pool *pool, uint64_t id)
{
	struct grant_entry *entry = find_entry(pool, id);

	if (!entry)
		return -ENOENT;
	give_back(pool, entry->held, entry->held->count);
	change_node(pool, entry->held, false);
	free(entry->held);
	entry->held = NULL;
	entry->next_free = pool->first_free;
	pool->first_free = (uint32_t)id;
	return 0;
}

int pool_release(struct pool *pool, uint64_t id)
{
	int r = release(pool, id);

	record_act(pool, "release", id, r);
	return r;
}

int pool_forget(struct pool *pool, uint64_t id)
{
	struct grant_entry *entry = find_entry(pool, id);
	int r = -ENOENT;

	if (entry)
		r = entry->held->assumed ? release(pool, id) : -EPERM;
	record_act(pool, "forget", id, r);
	return r;
}

size_t pool_grant_count(const struct pool *pool)
{
	size_t count = 0;

	for (size_t i = 0; i < pool->grant_count; i++)
		count += pool->grants[i].held != NULL;
	return count;
}
