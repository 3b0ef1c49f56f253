/* SPDX-License-Identifier: Apache-2.0 */
#include "tournament.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int tournament_compare(const struct tournament_key *a, const struct tournament_key *b)
{
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->tie < b->tie ? -1 : a->tie > b->tie;
}

/* The items of LEFT have the lower numbers. */
static struct tournament_node play(const struct tournament *tournament, struct tournament_node left,
				   struct tournament_node right)
{
	int order;

	if (right.best == TOURNAMENT_NONE)
		return left;
	order = tournament_compare(&tournament->keys[left.best], &tournament->keys[right.best]);
	if (order == 0)
		left.alike += right.alike;
	return order < 0 ? right : left;
}

void tournament_build(struct tournament *tournament)
{
	for (size_t i = 0; i < tournament->leaves; i++)
		tournament->nodes[tournament->leaves + i] =
			i < tournament->size ? (struct tournament_node){ (uint32_t)i, 1 }
					     : (struct tournament_node){ TOURNAMENT_NONE, 0 };
	for (size_t at = tournament->leaves - 1; at > 0; at--)
		tournament->nodes[at] =
			play(tournament, tournament->nodes[2 * at], tournament->nodes[2 * at + 1]);
}

int tournament_init(struct tournament *tournament, size_t size)
{
	*tournament = (struct tournament){ .size = size, .leaves = 1 };
	if (size > (size_t)1 << 31)
		return -ENOMEM;
	while (tournament->leaves < size)
		tournament->leaves *= 2;
	tournament->keys = calloc(size ? size : 1, sizeof(*tournament->keys));
	tournament->nodes = calloc(2 * tournament->leaves, sizeof(*tournament->nodes));
	if (!tournament->keys || !tournament->nodes) {
		tournament_release(tournament);
		return -ENOMEM;
	}
	tournament_build(tournament);
	return 0;
}

void tournament_release(struct tournament *tournament)
{
	free(tournament->keys);
	free(tournament->nodes);
	*tournament = (struct tournament){ 0 };
}

void tournament_put(struct tournament *tournament, uint32_t item, const struct tournament_key *key)
{
	assert(item < tournament->size);
	tournament->keys[item] = *key;
}

void tournament_set(struct tournament *tournament, uint32_t item, const struct tournament_key *key)
{
	tournament_put(tournament, item, key);
	for (size_t at = (tournament->leaves + item) / 2; at > 0; at /= 2) {
		struct tournament_node before = tournament->nodes[at];
		struct tournament_node after =
			play(tournament, tournament->nodes[2 * at], tournament->nodes[2 * at + 1]);

		tournament->nodes[at] = after;
		/* Above, only the best, its key and how many are alike are seen. */
		if (after.best == before.best && after.alike == before.alike && after.best != item)
			return;
	}
}

uint32_t tournament_best(const struct tournament *tournament)
{
	return tournament->nodes[1].best;
}

uint32_t tournament_alike(const struct tournament *tournament)
{
	return tournament->nodes[1].alike;
}

static bool is_as_good(const struct tournament *tournament, const struct tournament_node *node)
{
	return node->best != TOURNAMENT_NONE &&
	       tournament_compare(&tournament->keys[node->best],
				  &tournament->keys[tournament_best(tournament)]) == 0;
}

uint32_t tournament_nth(const struct tournament *tournament, uint32_t nth)
{
	size_t at = 1;

	assert(nth < tournament_alike(tournament));
	while (at < tournament->leaves) {
		const struct tournament_node *left = &tournament->nodes[2 * at];
		uint32_t alike = is_as_good(tournament, left) ? left->alike : 0;

		at *= 2;
		if (nth >= alike) {
			nth -= alike;
			at++;
		}
	}
	return tournament->nodes[at].best;
}
