/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

struct item {
	int number;
	char *text;
};

TEST(vec_grows_zeroed)
{
	autofree struct item *items = NULL;
	size_t count = 0, capacity = 0;

	for (int i = 0; i < 1000; i++) {
		struct item *item = VEC_ADD(&items, &count, &capacity);

		assert_non_null(item);
		assert_int_equal(item->number, 0);
		assert_null(item->text);
		item->number = i;
	}
	assert_int_equal(count, 1000);
	assert_true(capacity >= count);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i].number, i);
	assert_int_equal(vec_reserve(&items, &capacity, 10, sizeof(*items)), 0);
}

TEST(vec_failure_changes_nothing)
{
	autofree struct item *items = NULL;
	size_t count = 0, capacity = 0;

	assert_non_null(VEC_ADD(&items, &count, &capacity));
	items[0].number = 5;
	struct item *before = items;
	size_t room = capacity;
	assert_int_equal(vec_reserve(&items, &capacity, SIZE_MAX / 2, sizeof(*items)), -ENOMEM);
	assert_int_equal(vec_reserve(&items, &capacity, SIZE_MAX, sizeof(*items)), -ENOMEM);
	count = capacity;
	fault_arm(0);
	assert_null(VEC_ADD(&items, &count, &capacity));
	assert_true(fault_disarm());
	assert_int_equal(count, room);
	assert_int_equal(capacity, room);
	assert_ptr_equal(items, before);
	assert_int_equal(items[0].number, 5);
}
