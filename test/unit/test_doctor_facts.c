/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "doctor/facts.h"

static const struct fact_place here = { "a.txt", 7, "line", 4 };

TEST(facts_are_found_by_key_and_glob)
{
	autofacts *facts = facts_new();

	assert_non_null(facts);
	assert_int_equal(facts_tell(facts, FACT_HOST_CGROUP, "v2", &here), 0);
	assert_int_equal(facts_tell(facts, FACT_POD_IMAGE, "nvcr.io/nvidia/cuda:12.8", &here), 0);
	assert_int_equal(facts_tell(facts, FACT_POD_IMAGE, "nvcr.io/nvidia/cuda:12.8", &here), 0);
	assert_int_equal(facts_tell(facts, FACT_POD_IMAGE, "busybox", &here), 0);
	assert_int_equal(facts_tell(facts, FACT_DRIVER_OK, NULL, &here), 0);
	assert_int_equal(facts_count(facts), 4);
	assert_null(facts_match(facts, "host.cgroup=v1"));
	assert_string_equal(facts_match(facts, "host.cgroup=V2")->value, "v2");
	assert_string_equal(facts_match(facts, "pod.image=*busy*")->value, "busybox");
	assert_string_equal(facts_match(facts, "pod.image=*cuda:*")->text, "line");
	assert_int_equal(facts_match(facts, "driver.ok")->line, 7);
	assert_null(facts_match(facts, "driver.ok=x"));
	assert_null(facts_match(facts, "driver.okay"));
	assert_true(fact_condition_known("pod.image=*"));
	assert_false(fact_condition_known("pod.imag"));
	assert_false(fact_condition_known("pod.images"));
}

TEST(facts_are_bounded)
{
	autofacts *facts = facts_new();
	char value[400];

	memset(value, 'x', sizeof(value));
	for (int i = 0; i < FACT_KEY_MAX + 10; i++) {
		snprintf(value, sizeof(value), "%0300d", i);
		memmove(value, value + 290, 11);
		assert_int_equal(facts_tell(facts, FACT_POD_IMAGE, value, &here), 0);
	}
	assert_int_equal(facts_count(facts), FACT_KEY_MAX);
	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	assert_int_equal(facts_tell(facts, FACT_HOST_OS, value, &here), 0);
	assert_int_equal(strlen(facts_match(facts, "host.os")->value), FACT_VALUE_MAX - 1);
}

TEST(facts_survive_no_memory)
{
	for (unsigned n = 0;; n++) {
		autofacts *facts = facts_new();
		int r;

		assert_non_null(facts);
		fault_arm(n);
		r = facts_tell(facts, FACT_HOST_CGROUP, "v2", &here);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(facts_count(facts), 0);
	}
}

TEST(keys_have_different_names)
{
	for (int i = 0; i < FACT_MAX; i++) {
		assert_int_equal(fact_key_find(fact_key_name(i)), i);
		assert_true(strlen(fact_key_says(i)) > 5);
	}
}
