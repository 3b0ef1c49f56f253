/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

extern const struct test *const __start_gpupool_tests[];
extern const struct test *const __stop_gpupool_tests[];

int main(int argc, char **argv)
{
	size_t count = (size_t)(__stop_gpupool_tests - __start_gpupool_tests);
	struct CMUnitTest *tests = calloc(count ? count : 1, sizeof(*tests));

	if (!tests || !count) {
		fprintf(stderr, "%s: no tests\n", argv[0]);
		free(tests);
		return 1;
	}
	for (size_t i = 0; i < count; i++)
		tests[i] = (struct CMUnitTest){ .name = __start_gpupool_tests[i]->name,
						.test_func = __start_gpupool_tests[i]->run };
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 0);
	int failed = _cmocka_run_group_tests(argv[0], tests, count, NULL, NULL);
	free(tests);
	return failed != 0;
}
