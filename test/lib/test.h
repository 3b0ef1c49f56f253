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

#define TEST(test_name)                                                                            \
	static void test_name(void **state);                                                       \
	static const struct test test_row_##test_name = { #test_name, test_name };                 \
	static const struct test *const test_pointer_##test_name                                   \
		__attribute__((used, section("gpupool_tests"))) = &test_row_##test_name;        \
	static void test_name(void **state __attribute__((unused)))

/*
 * Failing allocation: fault_arm(n) makes the n-th allocation from now on fail (0-based), once.
 * fault_disarm() returns true if it happened. Link test/lib/fault.c and pass
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,--wrap=strdup,--wrap=strndup.
 */
void fault_arm(unsigned n);
int fault_disarm(void);
