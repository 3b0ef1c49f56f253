/* SPDX-License-Identifier: Apache-2.0 */
#include "model/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const taint_effect_table[TAINT_EFFECT_MAX] = {
	[TAINT_NO_SCHEDULE] = "NoSchedule",
	[TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
	[TAINT_NO_EXECUTE] = "NoExecute",
};
DEFINE_STRING_TABLE(taint_effect, enum taint_effect, TAINT_EFFECT_MAX)

void node_spec_init(struct node_spec *node)
{
	*node = (struct node_spec){
		.allocatable = { RESOURCE_UNLIMITED, RESOURCE_UNLIMITED, RESOURCE_UNLIMITED },
	};
	inventory_init(&node->inventory);
}

void node_spec_release(struct node_spec *node)
{
	for (size_t i = 0; i < node->label_count; i++) {
		free(node->labels[i].key);
		free(node->labels[i].value);
	}
	for (size_t i = 0; i < node->taint_count; i++) {
		free(node->taints[i].key);
		free(node->taints[i].value);
	}
	free(node->labels);
	free(node->taints);
	free(node->name);
	inventory_release(&node->inventory);
	node_spec_init(node);
}

/* The position of KEY, or where it would come. */
static size_t label_position(const struct node_spec *node, const char *key)
{
	size_t low = 0, high = node->label_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(node->labels[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool label_is_at(const struct node_spec *node, size_t at, const char *key)
{
	return at < node->label_count && strcmp(node->labels[at].key, key) == 0;
}

int node_spec_copy_rules(const struct node_spec *node, struct node_spec *ret)
{
	node_spec_init(ret);
	ret->name = strdup(node->name);
	ret->unschedulable = node->unschedulable;
	if (!ret->name)
		return -ENOMEM;
	for (size_t i = 0; i < node->label_count; i++)
		if (node_spec_set_label(ret, node->labels[i].key, node->labels[i].value) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < node->taint_count; i++) {
		const struct taint *taint = &node->taints[i];
		struct taint *copy = VEC_ADD(&ret->taints, &ret->taint_count, &ret->taint_capacity);

		if (!copy)
			return -ENOMEM;
		copy->effect = taint->effect;
		copy->key = strdup(taint->key);
		copy->value = taint->value ? strdup(taint->value) : NULL;
		if (!copy->key || (taint->value && !copy->value))
			return -ENOMEM;
	}
	return 0;
}

int node_spec_copy(const struct node_spec *node, struct node_spec *ret)
{
	if (node_spec_copy_rules(node, ret) < 0)
		return -ENOMEM;
	ret->allocatable = node->allocatable;
	ret->inventory = node->inventory;
	ret->inventory.cards = NULL;
	ret->inventory.card_count = ret->inventory.card_capacity = 0;
	for (size_t i = 0; i < node->inventory.card_count; i++) {
		struct inventory *inventory = &ret->inventory;
		struct card *card = VEC_ADD(&inventory->cards, &inventory->card_count,
					    &inventory->card_capacity);

		if (!card || card_copy(&node->inventory.cards[i], card) < 0)
			return -ENOMEM;
	}
	return 0;
}

const char *node_spec_label(const struct node_spec *node, const char *key)
{
	size_t at = label_position(node, key);

	return label_is_at(node, at, key) ? node->labels[at].value : NULL;
}

int node_spec_set_label(struct node_spec *node, const char *key, const char *value)
{
	size_t at = label_position(node, key);
	autofree char *new_key = NULL, *new_value = strdup(value);

	if (!new_value)
		return -ENOMEM;
	if (label_is_at(node, at, key)) {
		free(node->labels[at].value);
		node->labels[at].value = TAKE_PTR(new_value);
		return 0;
	}
	new_key = strdup(key);
	if (!new_key || vec_reserve(&node->labels, &node->label_capacity, node->label_count + 1,
				    sizeof(*node->labels)) < 0)
		return -ENOMEM;
	memmove(&node->labels[at + 1], &node->labels[at],
		(node->label_count - at) * sizeof(*node->labels));
	node->labels[at] = (struct label){ TAKE_PTR(new_key), TAKE_PTR(new_value) };
	node->label_count++;
	return 0;
}
