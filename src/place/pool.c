/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_ENTRY UINT32_MAX

struct pool *pool_new(void)
{
	struct pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->first_free = NO_ENTRY;
	pool->names = map_new();
	pool->uuids = map_new();
	pool->kind_names = map_new();
	pool->changes = calloc(CHANGES_MAX, sizeof(*pool->changes));
	pool->random = 1;
	if (pool->names && pool->uuids && pool->kind_names && pool->changes)
		return pool;
	pool_free(pool);
	return NULL;
}

static void node_release(struct node *node)
{
	for (unsigned i = 0; node->cards && i < node->count; i++) {
		free(node->cards[i].mig);
		free(node->cards[i].links);
		free(node->cards[i].processes);
	}
	free(node->mig);
	node_spec_release(&node->labels);
	free(node->cards);
	free(node->problem);
	free(node->groups);
	free(node->ties);
	*node = (struct node){ 0 };
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	shapes_drop(pool);
	pool_drop_tables(pool);
	recorder_free(pool->recorder);
	free(pool->changes);
	free(pool->changed);
	for (size_t i = 0; i < pool->node_count; i++)
		node_release(&pool->nodes[i]);
	for (size_t i = 0; i < pool->model_count; i++)
		free(pool->models[i]);
	for (size_t i = 0; i < pool->grant_count; i++)
		free(pool->grants[i].held);
	if (pool->names)
		map_free(pool->names);
	if (pool->uuids)
		map_free(pool->uuids);
	if (pool->kind_names)
		map_free(pool->kind_names);
	free(pool->kinds);
	free(pool->kind_nodes);
	free(pool->grants);
	free(pool->models);
	free(pool->slots);
	free(pool->rooms);
	free(pool->nodes);
	free(pool);
}

static int check_node(const struct pool *pool, const char *name, const struct inventory *inventory,
		      struct error *error)
{
	if (map_get(pool->names, name))
		return error_set(error, EEXIST, "node %s is in the pool already", name);
	if (inventory->card_count > NODE_CARDS_MAX)
		return error_set(error, E2BIG,
				 "node %s has %zu cards, more than %u are not handled", name,
				 inventory->card_count, NODE_CARDS_MAX);
	if (pool->slot_count + inventory->card_count > POOL_CARDS_MAX ||
	    pool->node_count >= POOL_CARDS_MAX)
		return error_set(error, E2BIG, "node %s is one too many: a pool holds %u cards",
				 name, POOL_CARDS_MAX);
	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];
		char which[CARD_DESCRIPTION_MAX];

		card_describe(card, which);
		if ((int)card->mode < 0 || card->mode >= CARD_MODE_MAX)
			return error_set(error, EINVAL, "%s of node %s has no known mode", which,
					 name);
		if (card_units(card) > CARD_UNITS_MAX)
			return error_set(error, ERANGE,
					 "%s of node %s says it has %u GiB, more than %u are not "
					 "believed",
					 which, name, card_units(card), CARD_UNITS_MAX);
	}
	return 0;
}

static bool has_foreign(const struct card *card)
{
	for (size_t i = 0; i < card->process_count; i++)
		if (!card->processes[i].granted)
			return true;
	return false;
}

static int fill_node(struct node *node, const struct node_spec *spec)
{
	const struct inventory *inventory = &spec->inventory;

	node->total = spec->allocatable;
	node->left = node->total;
	if (node_spec_copy_rules(spec, &node->labels) < 0)
		return -ENOMEM;
	node->name = node->labels.name;
	node->cards =
		calloc(inventory->card_count ? inventory->card_count : 1, sizeof(*node->cards));
	if (!node->cards)
		return -ENOMEM;
	if (inventory->problem[0]) {
		node->problem = strdup(inventory->problem);
		if (!node->problem)
			return -ENOMEM;
	}
	node->versions_differ = inventory->driver_version[0] && inventory->module_version[0] &&
				strcmp(inventory->driver_version, inventory->module_version) != 0;
	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];
		uint64_t bit = card_bit((unsigned)i);

		node->count++;
		if (card_copy(card, &node->cards[i]) < 0)
			return -ENOMEM;
		node->healthy |= card->condition.health == CARD_HEALTHY ? bit : 0;
		node->foreign |= has_foreign(card) ? bit : 0;
		node->modes[card->mode] |= bit;
		node->idle |= bit;
	}
	return topology_init(node);
}

static int intern_model(struct pool *pool, const char *model, uint16_t *ret, struct error *error)
{
	for (size_t i = 0; i < pool->model_count; i++) {
		if (strcmp(pool->models[i], model) == 0) {
			*ret = (uint16_t)i;
			return 0;
		}
	}
	if (pool->model_count >= POOL_MODELS_MAX)
		return error_set(error, E2BIG, "model %s is one too many: a pool holds %u models",
				 model, POOL_MODELS_MAX);
	char **slot = VEC_ADD(&pool->models, &pool->model_count, &pool->model_capacity);

	if (slot)
		*slot = strdup(model);
	if (!slot || !*slot) {
		pool->model_count -= slot != NULL;
		return error_no_memory(error);
	}
	*ret = (uint16_t)(pool->model_count - 1);
	pool->model_units[*ret] = 0;
	pool->mig_models[*ret] = mig_model_find(model);
	return 0;
}

static int add_slot(struct pool *pool, const struct node *node, unsigned card, struct error *error)
{
	const struct card *from = &node->cards[card];
	uint32_t number = (uint32_t)pool->slot_count;
	struct slot *slot;
	uint16_t model = 0;
	int r;

	if (from->uuid[0] && map_get(pool->uuids, from->uuid))
		return error_set(error, EEXIST, "card %s of node %s is in the pool already",
				 from->uuid, node->name);
	r = intern_model(pool, from->model, &model, error);
	if (r < 0)
		return r;
	slot = vec_reserve(&pool->rooms, &pool->room_capacity, pool->slot_count + 1,
			   sizeof(*pool->rooms)) < 0
		       ? NULL
		       : VEC_ADD(&pool->slots, &pool->slot_count, &pool->slot_capacity);
	if (!slot)
		return error_no_memory(error);
	*slot = (struct slot){
		.node = (uint32_t)pool->node_count,
		.model = model,
		.units = (uint16_t)card_units(from),
		.size_unknown = !card_units(from) && from->condition.health != CARD_HEALTHY,
	};
	if (pool->model_units[model] < slot->units) /* one that was lost may not have told */
		pool->model_units[model] = slot->units;
	room_update(pool, node, card);
	if (!from->uuid[0]) /* a card that gave no answer; nobody can name it */
		return 0;
	if (map_put(pool->uuids, from->uuid, (void *)(uintptr_t)(number + 1)) < 0)
		return error_no_memory(error);
	return 0;
}

/* Takes back what add_slots() did for the node being added. */
static void drop_slots(struct pool *pool, const struct node *node)
{
	for (size_t i = node->first; i < pool->slot_count; i++) {
		const char *uuid = node->cards[i - node->first].uuid;

		if ((uintptr_t)map_get(pool->uuids, uuid) == i + 1)
			map_remove(pool->uuids, uuid);
	}
	pool->slot_count = node->first;
}

static int add_slots(struct pool *pool, const struct node *node, struct error *error)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < node->count; i++)
		r = add_slot(pool, node, i, error);
	return r;
}

static int link_node(struct pool *pool, struct node *node, struct error *error)
{
	struct node *slot;
	int r;

	node->first = (uint32_t)pool->slot_count;
	if (vec_reserve(&pool->kinds, &pool->kinds_capacity, pool->node_count + 1,
			sizeof(*pool->kinds)) < 0 ||
	    vec_reserve(&pool->nodes, &pool->node_capacity, pool->node_count + 1,
			sizeof(*pool->nodes)) < 0 ||
	    vec_reserve(&pool->changed, &pool->changed_capacity, pool->node_count + 1,
			sizeof(*pool->changed)) < 0)
		return error_no_memory(error);
	r = add_slots(pool, node, error);
	if (r == 0 &&
	    map_put(pool->names, node->name, (void *)(uintptr_t)(pool->node_count + 1)) < 0)
		r = error_no_memory(error);
	if (r == 0 && kind_find(pool, node, &pool->kinds[pool->node_count]) < 0) {
		map_remove(pool->names, node->name);
		r = error_no_memory(error);
	}
	if (r < 0) {
		drop_slots(pool, node);
		return r;
	}
	pool->changed[pool->node_count] = 0;
	slot = &pool->nodes[pool->node_count++];
	*slot = *node;
	shapes_drop(pool); /* their indexes have room for the old nodes only */
	pool_drop_tables(pool);
	return 0;
}

int pool_add_node(struct pool *pool, const struct node_spec *spec, struct error *error)
{
	struct node node = { 0 };
	int r = check_node(pool, spec->name, &spec->inventory, error);

	if (r < 0)
		return r;
	r = fill_node(&node, spec);
	if (r < 0)
		r = error_no_memory(error);
	if (r == 0)
		r = mig_init(&node, error);
	if (r == 0)
		r = link_node(pool, &node, error);
	if (r < 0)
		node_release(&node);
	else
		record_node(pool, spec);
	return r;
}

void pool_withhold(struct pool *pool, enum request_kind kind)
{
	pool->withheld |= 1u << kind;
	shapes_drop(pool);
	record_withhold(pool, kind);
}

const char *pool_node_name(const struct pool *pool, unsigned node)
{
	return node < pool->node_count ? pool->nodes[node].name : NULL;
}

const struct card *pool_card(const struct pool *pool, unsigned node, unsigned card)
{
	if (node >= pool->node_count || card >= pool->nodes[node].count)
		return NULL;
	return &pool->nodes[node].cards[card];
}

size_t pool_node_count(const struct pool *pool)
{
	return pool->node_count;
}

unsigned pool_node_card_count(const struct pool *pool, unsigned node)
{
	return node < pool->node_count ? pool->nodes[node].count : 0;
}

unsigned pool_card_granted(const struct pool *pool, unsigned node, unsigned card)
{
	const struct slot *slot;

	if (!pool_card(pool, node, card))
		return 0;
	slot = node_slot(pool, &pool->nodes[node], card);
	return slot->held_whole ? slot->units : slot->granted;
}

bool pool_card_held_whole(const struct pool *pool, unsigned node, unsigned card)
{
	return pool_card(pool, node, card) && node_slot(pool, &pool->nodes[node], card)->held_whole;
}

unsigned pool_card_free(const struct pool *pool, unsigned node, unsigned card)
{
	const struct card *of = pool_card(pool, node, card);
	uint64_t foreign;
	unsigned free;

	if (!of)
		return 0;
	free = slot_free_units(node_slot(pool, &pool->nodes[node], card));
	foreign = card_foreign_mib(of);
	foreign =
		foreign / MIB_PER_UNIT + (foreign % MIB_PER_UNIT != 0); /* it may be the largest */
	return free > foreign ? free - (unsigned)foreign : 0;
}

unsigned pool_card_free_compute(const struct pool *pool, unsigned node, unsigned card)
{
	return pool_card(pool, node, card)
		       ? slot_free_compute(node_slot(pool, &pool->nodes[node], card))
		       : 0;
}

unsigned pool_card_idle_compute(const struct pool *pool, unsigned node, unsigned card)
{
	unsigned free = pool_card_free_compute(pool, node, card), weights;

	if (!free)
		return 0;
	const struct slot *slot = node_slot(pool, &pool->nodes[node], card);
	weights = slot->units ? slot->weights * COMPUTE_WHOLE / slot->units : 0;
	return free > weights ? free - weights : 0;
}

unsigned pool_card_left_milli(const struct pool *pool, unsigned node, unsigned card)
{
	return pool_card(pool, node, card) ? node_rooms(pool, &pool->nodes[node])[card].left_milli
					   : 0;
}

struct resources pool_node_allocatable(const struct pool *pool, unsigned node)
{
	return node < pool->node_count ? pool->nodes[node].total : (struct resources){ 0 };
}

struct resources pool_node_used(const struct pool *pool, unsigned node)
{
	return node < pool->node_count ? pool->nodes[node].used : (struct resources){ 0 };
}
