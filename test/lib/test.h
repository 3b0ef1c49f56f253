/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests on cmocka. TEST(name) { ... } registers itself; the program prints TAP. An argument
 * on the command line is a pattern that picks tests. Cases are rows of a table; a bug report
 * becomes one more row.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct test {
	const char *name;
	void (*run)(void **state);
};

#define TEST(test_name)                                                                  \
	static void test_name(void **state);                                             \
	static const struct test test_row_##test_name = { #test_name, test_name };       \
	static const struct test *const test_pointer_##test_name                         \
		__attribute__((used, section("gpupool_tests"))) = &test_row_##test_name; \
	static void test_name(void **state __attribute__((unused)))

/*
 * Failing calls, for tests that link fault_dep (test/unit/meson.build). It works under the
 * sanitizers and reaches our code, json-c and libyaml: see test/lib/fault.c. fault_arm(n) makes the
 * n-th allocation from now on (0-based) fail, once; fault_disarm() returns true if it happened. The
 * usual loop tries every allocation once:
 *
 *	for (unsigned n = 0;; n++) {
 *		fault_arm(n);
 *		int r = thing_parse(text, &thing, &error);
 *		if (!fault_disarm()) { assert_int_equal(r, 0); break; }
 *		assert_int_equal(r, -ENOMEM);
 *	}
 */
enum fault_call { FAULT_MEMORY, FAULT_READ, FAULT_WRITE, FAULT_FSYNC, FAULT_RENAME };

void fault_arm(unsigned n);
void fault_arm_call(enum fault_call call, unsigned n, int number); /* fails with errno NUMBER */
int fault_disarm(void);
void fault_limit_transfers(size_t most); /* bytes of one read() or write(); 0: no limit */
