/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static void *number(size_t value)
{
	return (void *)value;
}

TEST(map_puts_gets_removes)
{
	automap *map = map_new();

	assert_null(map_get(map, "a"));
	assert_false(map_remove(map, "a"));
	assert_int_equal(map_count(map), 0);
	char key[] = "a";
	assert_int_equal(map_put(map, key, number(1)), 0);
	key[0] = 'b'; /* the map has its own copy */
	assert_ptr_equal(map_get(map, "a"), number(1));
	assert_int_equal(map_put(map, "a", number(2)), 0);
	assert_ptr_equal(map_get(map, "a"), number(2));
	assert_int_equal(map_put(map, "", number(3)), 0);
	assert_int_equal(map_count(map), 2);
	assert_true(map_remove(map, "a"));
	assert_false(map_remove(map, "a"));
	assert_null(map_get(map, "a"));
	assert_ptr_equal(map_get(map, ""), number(3));
	assert_int_equal(map_count(map), 1);
	map_free(NULL);
}

/* Against an array that is searched from end to end. */
#define KEYS 300

TEST(map_agrees_with_a_plain_array)
{
	automap *map = map_new();
	size_t values[KEYS] = { 0 }, order[KEYS] = { 0 }, count = 0, clock = 0;
	unsigned random = 12345, puts = 0, removes = 0, replaced = 0;

	for (int step = 0; step < 20000; step++) {
		char key[32];

		random = random * 1103515245 + 12345;
		size_t at = (random >> 16) % KEYS;
		snprintf(key, sizeof(key), "key-%zu", at);
		if (random >> 8 & 1) {
			assert_int_equal(map_put(map, key, number((size_t)step + 1)), 0);
			replaced += values[at] != 0;
			puts++;
			if (!values[at]) {
				order[at] = ++clock;
				count++;
			}
			values[at] = (size_t)step + 1;
		} else {
			assert_int_equal(map_remove(map, key), values[at] != 0);
			removes += values[at] != 0;
			count -= values[at] != 0;
			values[at] = 0;
		}
		assert_int_equal(map_count(map), count);
		assert_ptr_equal(map_get(map, key), number(values[at]));
	}
	assert_true(puts > 5000 && removes > 1000 && replaced > 1000);
	size_t last = 0, seen = 0;
	const char *key;
	void *value;
	for (size_t at = 0; map_next(map, &at, &key, &value); seen++) {
		size_t index = strtoul(key + 4, NULL, 10);

		assert_ptr_equal(value, number(values[index]));
		assert_true(order[index] > last);
		last = order[index];
	}
	assert_int_equal(seen, count);
}

TEST(map_remove_inside_the_loop)
{
	automap *map = map_new();
	size_t seen = 0;
	const char *key;
	void *value;

	for (size_t i = 0; i < 100; i++) {
		char name[24];

		snprintf(name, sizeof(name), "%zu", i);
		assert_int_equal(map_put(map, name, number(i)), 0);
	}
	for (size_t at = 0; map_next(map, &at, &key, &value); seen++)
		if ((size_t)value % 2) {
			char name[24];

			snprintf(name, sizeof(name), "%zu", (size_t)value);
			assert_true(map_remove(map, name));
		}
	assert_int_equal(seen, 100);
	assert_int_equal(map_count(map), 50);
}

TEST(map_survives_every_failed_allocation)
{
	for (unsigned n = 0;; n++) {
		fault_arm(n);
		automap *map = map_new();
		size_t stored = 0;
		int r = map ? 0 : -ENOMEM;
		for (size_t i = 0; r == 0 && i < 100; i++) {
			char name[24];

			snprintf(name, sizeof(name), "%zu", i);
			r = map_put(map, name, number(i + 1));
			stored += r == 0;
		}
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 100);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		if (!map)
			continue;
		assert_int_equal(map_count(map), stored);
		for (size_t i = 0; i < stored; i++) {
			char name[24];

			snprintf(name, sizeof(name), "%zu", i);
			assert_ptr_equal(map_get(map, name), number(i + 1));
		}
		assert_int_equal(map_put(map, "again", number(7)), 0);
	}
}
