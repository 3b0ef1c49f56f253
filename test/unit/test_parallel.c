/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/base.h"

#define PIECES 1000

struct work {
	atomic_uint done[PIECES];
	size_t fails_at;
};

static int piece(void *data, size_t index, struct error *error)
{
	struct work *work = data;

	if (index == work->fails_at)
		return error_set(error, ERANGE, "piece %zu", index);
	atomic_fetch_add(&work->done[index], 1);
	return 0;
}

TEST(parallel_does_each_piece_once)
{
	static const unsigned jobs[] = { 0, 1, 2, 7, 300 };

	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		static struct work work;
		struct error error = ERROR_INIT;

		memset(&work, 0, sizeof(work));
		work.fails_at = SIZE_MAX;
		assert_int_equal(parallel_run(PIECES, jobs[i], piece, &work, &error), 0);
		for (size_t k = 0; k < PIECES; k++)
			assert_int_equal(atomic_load(&work.done[k]), 1);
	}
	assert_int_equal(parallel_run(0, 4, piece, NULL, NULL), 0);
	assert_true(parallel_cores() >= 1);
}

TEST(parallel_stops_at_a_failure_and_keeps_its_error)
{
	static struct work work;

	for (unsigned jobs = 1; jobs < 4; jobs++) {
		struct error error = ERROR_INIT;

		memset(&work, 0, sizeof(work));
		work.fails_at = 10;
		assert_int_equal(parallel_run(PIECES, jobs, piece, &work, &error), -ERANGE);
		assert_string_equal(error.message, "piece 10");
		for (size_t k = 0; k < 10; k++)
			assert_int_equal(atomic_load(&work.done[k]), 1);
		assert_int_equal(atomic_load(&work.done[10]), 0);
	}
	assert_int_equal(atomic_load(&work.done[PIECES - 1]), 0);
}
