/* SPDX-License-Identifier: Apache-2.0 */
/* The tree against a look at every item. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "place/tournament.h"

static uint64_t random_below(uint64_t *seed, uint64_t bound)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % bound;
}

static int order_of(const struct tournament_key *a, const struct tournament_key *b)
{
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->tie < b->tie ? -1 : a->tie > b->tie;
}

static void must_agree(struct tournament *tournament, const struct tournament_key *keys)
{
	struct tournament_key key;
	uint32_t best = TOURNAMENT_NONE, alike = 0;

	for (uint32_t i = 0; i < tournament->size; i++) {
		if (keys[i].value == TOURNAMENT_OUT)
			continue;
		if (best == TOURNAMENT_NONE || order_of(&keys[i], &keys[best]) > 0)
			best = i;
	}
	assert_int_equal(tournament_best(tournament, &key), best);
	if (best == TOURNAMENT_NONE) {
		assert_true(key.value == TOURNAMENT_OUT);
		assert_int_equal(tournament_alike(tournament), 0);
		return;
	}
	assert_int_equal(order_of(&key, &keys[best]), 0);
	for (uint32_t i = 0; i < tournament->size; i++)
		if (order_of(&keys[i], &keys[best]) == 0)
			assert_int_equal(tournament_nth(tournament, alike++), i);
	assert_int_equal(tournament_alike(tournament), alike);
}

static struct tournament_key random_key(uint64_t *seed, bool ties)
{
	/* Few values, negative ones too: most states have several that are alike. */
	struct tournament_key key = {
		.value = (int64_t)random_below(seed, 4) - 1,
		.tie = ties ? (int64_t)random_below(seed, 3) - 1 : 0,
	};

	return key.value == 2 ? (struct tournament_key){ TOURNAMENT_OUT, 0 } : key;
}

static void change_and_compare(size_t size, bool ties, uint64_t *seed)
{
	struct tournament_key keys[600];
	struct tournament tournament;

	for (size_t i = 0; i < size; i++)
		keys[i] = (struct tournament_key){ TOURNAMENT_OUT, 0 };
	assert_int_equal(tournament_init(&tournament, size, ties), 0);
	must_agree(&tournament, keys);
	for (unsigned i = 0; i < 1000; i++) {
		/* Sometimes many changes between two questions, the same item twice among them. */
		for (uint64_t many = 1 + random_below(seed, i % 10 == 0 ? 50 : 2); many > 0;
		     many--) {
			uint32_t item = (uint32_t)random_below(seed, size);

			keys[item] = random_key(seed, ties);
			tournament_set(&tournament, item, &keys[item]);
		}
		must_agree(&tournament, keys);
	}
	tournament_release(&tournament);
}

TEST(agrees_with_a_look_at_every_item)
{
	static const size_t sizes[] = { 1, 2, 15, 16, 17, 100, 256, 257, 600 };
	uint64_t seed = 88172645463325252u;

	for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
		change_and_compare(sizes[s], false, &seed);
		change_and_compare(sizes[s], true, &seed);
	}
}

TEST(extreme_values_are_in_order)
{
	const struct tournament_key low = { INT64_MIN + 1, INT64_MAX }, high = { INT64_MAX, 0 };
	struct tournament_key key;
	struct tournament tournament;

	assert_int_equal(tournament_init(&tournament, 5, true), 0);
	tournament_set(&tournament, 1, &low);
	assert_int_equal(tournament_best(&tournament, &key), 1);
	tournament_set(&tournament, 4, &high);
	assert_int_equal(tournament_best(&tournament, &key), 4);
	tournament_release(&tournament);
}

TEST(nothing_is_best_of_nothing)
{
	struct tournament tournament;
	struct tournament_key key;

	assert_int_equal(tournament_init(&tournament, 0, false), 0);
	assert_int_equal(tournament_best(&tournament, &key), TOURNAMENT_NONE);
	assert_int_equal(tournament_alike(&tournament), 0);
	tournament_release(&tournament);
	assert_int_equal(tournament_init(&tournament, ((size_t)1 << 31) + 1, true), -ENOMEM);
}

TEST(no_memory_leaves_nothing_behind)
{
	for (unsigned n = 0;; n++) {
		struct tournament tournament;

		fault_arm(n);
		int r = tournament_init(&tournament, 9, true);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			tournament_release(&tournament);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(tournament.memory);
	}
}
