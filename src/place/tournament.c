/* SPDX-License-Identifier: Apache-2.0 */
#include "tournament.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BRANCHES 8u  /* values of one line of the processor's cache */
#define LINE     64u /* bytes */
#define WORD     64u

static size_t words_of(size_t count)
{
	return (count + WORD - 1) / WORD;
}

static void count_levels(struct tournament *tournament, size_t size)
{
	size_t count = size ? size : 1;

	for (;;) {
		tournament->levels[tournament->level_count++].count = count;
		if (count == 1 && tournament->level_count > 1)
			return;
		count = (count + BRANCHES - 1) / BRANCHES;
	}
}

/* Each parent has as many children as branches; some of the last one's are never in. */
static size_t padded(size_t count)
{
	return (count + BRANCHES - 1) / BRANCHES * BRANCHES;
}

/* Cuts COUNT words of eight bytes off the memory at *NEXT. */
static void *cut(uint64_t **next, size_t count)
{
	uint64_t *at = *next;

	*next += (count + LINE / sizeof(*at) - 1) / (LINE / sizeof(*at)) * (LINE / sizeof(*at));
	return at;
}

static size_t level_words(const struct tournament_level *level, bool ties, bool inner)
{
	return level->count * (ties ? 2 : 1) +
	       (inner ? (level->count + 1) / 2 + words_of(level->count) : 0);
}

int tournament_init(struct tournament *tournament, size_t size, bool ties)
{
	size_t words = 0;
	uint64_t *next;

	*tournament = (struct tournament){ .size = size, .settled = true };
	if (size > (size_t)1 << 31)
		return -ENOMEM;
	count_levels(tournament, size);
	for (unsigned i = 0; i < tournament->level_count; i++)
		words += level_words(&tournament->levels[i], ties, i > 0);
	words += words_of(tournament->levels[0].count);
	/* Each part begins with a line. */
	words += 5 * tournament->level_count * (LINE / sizeof(*next));
	tournament->memory = calloc(words, sizeof(*next));
	if (!tournament->memory)
		return -ENOMEM;
	next = (uint64_t *)(((uintptr_t)tournament->memory + LINE - 1) / LINE * LINE);
	tournament->present = cut(&next, words_of(tournament->levels[0].count));
	for (unsigned i = 0; i < tournament->level_count; i++) {
		struct tournament_level *level = &tournament->levels[i];

		level->values = cut(&next, level->count);
		level->ties = ties ? cut(&next, level->count) : NULL;
		if (i > 0) {
			level->alike = cut(&next, (level->count + 1) / 2);
			level->dirty = cut(&next, words_of(level->count));
		}
		for (size_t at = 0; at < padded(level->count); at++)
			level->values[at] = TOURNAMENT_OUT;
	}
	return 0;
}

void tournament_release(struct tournament *tournament)
{
	free(tournament->memory);
	*tournament = (struct tournament){ 0 };
}

static void mark(struct tournament_level *level, size_t at)
{
	level->dirty[at / WORD] |= 1ull << (at % WORD);
}

void tournament_set(struct tournament *tournament, uint32_t item, const struct tournament_key *key)
{
	struct tournament_level *items = &tournament->levels[0];
	uint64_t *present = &tournament->present[item / WORD], bit = 1ull << (item % WORD);
	bool out = key->value == TOURNAMENT_OUT;

	assert(item < tournament->size);
	/* Most changes concern items that were out and stay so: the word is at hand, keys are not. For
	 * the same reason keys are not compared with what is there: hardly any is the same. */
	if (out && !(*present & bit))
		return;
	*present = out ? *present & ~bit : *present | bit;
	items->values[item] = key->value;
	if (items->ties)
		items->ties[item] = out ? 0 : key->tie;
	mark(&tournament->levels[1], item / BRANCHES);
	tournament->settled = false;
}

struct tournament_key tournament_key_of(const struct tournament *tournament, uint32_t item)
{
	const struct tournament_level *items = &tournament->levels[0];

	return (struct tournament_key){ items->values[item], items->ties ? items->ties[item] : 0 };
}

static uint32_t alike_at(const struct tournament_level *level, size_t at)
{
	return level->alike ? level->alike[at] : 1;
}

static bool is_key(const struct tournament_level *level, size_t at,
		   const struct tournament_key *key)
{
	return level->values[at] == key->value && (!level->ties || level->ties[at] == key->tie);
}

/* The best key of the children. Behind the last child are some that are out: there are always as many
 * as branches. */
static struct tournament_key best_of(const struct tournament_level *below, size_t first)
{
	const int64_t *values = &below->values[first];
	const int64_t *ties = below->ties ? &below->ties[first] : NULL;
	struct tournament_key best = { TOURNAMENT_OUT, ties ? INT64_MIN : 0 };

	for (size_t i = 0; i < BRANCHES; i++)
		best.value = values[i] > best.value ? values[i] : best.value;
	for (size_t i = 0; ties && i < BRANCHES; i++)
		if (values[i] == best.value && ties[i] > best.tie)
			best.tie = ties[i];
	return best;
}

/* How many items below the children have KEY. */
static uint32_t count_alike(const struct tournament_level *below, size_t first,
			    const struct tournament_key *key)
{
	const int64_t *values = &below->values[first];
	const int64_t *ties = below->ties ? &below->ties[first] : NULL;
	const uint32_t *alike = below->alike ? &below->alike[first] : NULL;
	uint32_t have[BRANCHES], sum = 0;

	if (key->value == TOURNAMENT_OUT)
		return 0;
	for (size_t i = 0; i < BRANCHES; i++)
		have[i] = alike ? alike[i] : 1;
	for (size_t i = 0; i < BRANCHES; i++) /* a branch would be hard to guess */
		sum += have[i] &
		       -(uint32_t)(values[i] == key->value && (!ties || ties[i] == key->tie));
	return sum;
}

/* True when what is seen of the node from above changed. */
static bool play(struct tournament *tournament, unsigned number, size_t at)
{
	struct tournament_level *level = &tournament->levels[number];
	const struct tournament_level *below = &tournament->levels[number - 1];
	const struct tournament_key best = best_of(below, at * BRANCHES);
	const uint32_t alike = count_alike(below, at * BRANCHES, &best);

	if (is_key(level, at, &best) && level->alike[at] == alike)
		return false;
	level->values[at] = best.value;
	if (level->ties)
		level->ties[at] = best.tie;
	level->alike[at] = alike;
	return true;
}

static void settle(struct tournament *tournament)
{
	if (tournament->settled)
		return;
	for (unsigned i = 1; i < tournament->level_count; i++) {
		struct tournament_level *level = &tournament->levels[i];

		for (size_t word = 0; word < words_of(level->count); word++) {
			uint64_t rest = level->dirty[word];

			level->dirty[word] = 0;
			for (; rest; rest &= rest - 1) {
				size_t at = word * WORD + (size_t)__builtin_ctzll(rest);

				if (play(tournament, i, at) && i + 1 < tournament->level_count)
					mark(&tournament->levels[i + 1], at / BRANCHES);
			}
		}
	}
	tournament->settled = true;
}

static struct tournament_key top_key(const struct tournament *tournament)
{
	const struct tournament_level *top = &tournament->levels[tournament->level_count - 1];

	return (struct tournament_key){ top->values[0], top->ties ? top->ties[0] : 0 };
}

uint32_t tournament_alike(struct tournament *tournament)
{
	settle(tournament);
	return tournament->levels[tournament->level_count - 1].alike[0];
}

uint32_t tournament_nth(struct tournament *tournament, uint32_t nth)
{
	struct tournament_key key;
	size_t at = 0;

	settle(tournament);
	key = top_key(tournament);
	assert(nth < tournament_alike(tournament));
	for (unsigned i = tournament->level_count - 1; i > 0; i--) {
		const struct tournament_level *below = &tournament->levels[i - 1];

		for (at *= BRANCHES;; at++) {
			if (!is_key(below, at, &key))
				continue;
			if (nth < alike_at(below, at))
				break;
			nth -= alike_at(below, at);
		}
	}
	return (uint32_t)at;
}

uint32_t tournament_best(struct tournament *tournament, struct tournament_key *ret_key)
{
	settle(tournament);
	*ret_key = top_key(tournament);
	return ret_key->value == TOURNAMENT_OUT ? TOURNAMENT_NONE : tournament_nth(tournament, 0);
}
