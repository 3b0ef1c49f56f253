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
	const int64_t left[] = { a->depth, a->value, a->tie };
	const int64_t right[] = { b->depth, b->value, b->tie };

	for (size_t i = 0; i < ARRAY_SIZE(left); i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

static void must_agree(const struct tournament *tournament, const struct tournament_key *keys)
{
	uint32_t best = 0, alike = 0;

	for (uint32_t i = 0; i < tournament->size; i++) {
		if (order_of(&keys[i], &keys[best]) > 0)
			best = i;
	}
	assert_int_equal(tournament_best(tournament), best);
	for (uint32_t i = 0; i < tournament->size; i++)
		if (order_of(&keys[i], &keys[best]) == 0)
			assert_int_equal(tournament_nth(tournament, alike++), i);
	assert_int_equal(tournament_alike(tournament), alike);
}

static struct tournament_key random_key(uint64_t *seed)
{
	/* Few values, negative ones too: most states have several that are alike. */
	return (struct tournament_key){
		.depth = (uint32_t)random_below(seed, 3),
		.value = (int64_t)random_below(seed, 3) - 1,
		.tie = (int64_t)random_below(seed, 2) - 1,
	};
}

TEST(agrees_with_a_look_at_every_item)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 8, 9, 100 };
	uint64_t seed = 88172645463325252u;

	for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
		struct tournament_key keys[100] = { 0 };
		struct tournament tournament;

		assert_int_equal(tournament_init(&tournament, sizes[s]), 0);
		must_agree(&tournament, keys);
		for (unsigned i = 0; i < 3000; i++) {
			uint32_t item = (uint32_t)random_below(&seed, sizes[s]);

			keys[item] = random_key(&seed);
			tournament_set(&tournament, item, &keys[item]);
			must_agree(&tournament, keys);
		}
		for (uint32_t i = 0; i < sizes[s]; i++) {
			keys[i] = random_key(&seed);
			tournament_put(&tournament, i, &keys[i]);
		}
		tournament_build(&tournament);
		must_agree(&tournament, keys);
		tournament_release(&tournament);
	}
}

TEST(extreme_values_are_in_order)
{
	const struct tournament_key low = { 1, INT64_MIN, INT64_MAX }, high = { 1, INT64_MAX, 0 };
	struct tournament tournament;

	assert_int_equal(tournament_init(&tournament, 5), 0);
	tournament_set(&tournament, 1, &low);
	assert_int_equal(tournament_best(&tournament), 1);
	tournament_set(&tournament, 4, &high);
	assert_int_equal(tournament_best(&tournament), 4);
	tournament_release(&tournament);
}

TEST(nothing_is_best_of_nothing)
{
	struct tournament tournament;

	assert_int_equal(tournament_init(&tournament, 0), 0);
	assert_int_equal(tournament_best(&tournament), TOURNAMENT_NONE);
	assert_int_equal(tournament_alike(&tournament), 0);
	tournament_release(&tournament);
	assert_int_equal(tournament_init(&tournament, ((size_t)1 << 31) + 1), -ENOMEM);
}

TEST(no_memory_leaves_nothing_behind)
{
	for (unsigned n = 0;; n++) {
		struct tournament tournament;

		fault_arm(n);
		int r = tournament_init(&tournament, 9);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			tournament_release(&tournament);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(tournament.keys);
	}
}
