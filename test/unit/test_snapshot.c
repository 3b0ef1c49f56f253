/* SPDX-License-Identifier: Apache-2.0 */
/* A pool at some point of a run: who is there. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "replay/replay.h"

static int read_cluster(const char *text, struct trace *trace, struct error *error)
{
	trace_init(trace);
	int r = trace_parse_short(trace, TRACE_ALL, text, strlen(text), "t", error);
	return r < 0 ? r : trace_finish(trace, error);
}

static size_t there(struct snapshot *snapshot)
{
	const struct run_result *result = snapshot_result(snapshot);

	assert_int_equal(pool_grant_count(snapshot_pool(snapshot)), result->placed);
	return result->placed + result->failed;
}

static int take(const struct trace *trace, const struct run_options *options, bool arrive,
		const uint32_t *before, size_t *ret, struct error *error)
{
	cleanup(snapshot_freep) struct snapshot *snapshot = NULL;

	int r = snapshot_take(trace, options, arrive, before, &snapshot, error);
	if (r == 0)
		*ret = there(snapshot);
	return r;
}

/* Each of ten Pods sees another number before it; together 0 to 9. */
TEST(who_comes_before)
{
	const struct run_options options = { .place.seed = 5 };
	struct error error = ERROR_INIT;
	uint32_t seen = 0;
	size_t count = 0;
	autotrace trace;

	assert_int_equal(read_cluster("2 nodes of 2 t4; 10 Pods of 1 card", &trace, &error), 0);
	for (uint32_t pod = 0; pod < 10; pod++) {
		assert_int_equal(take(&trace, &options, true, &pod, &count, &error), 0);
		assert_true(count < 10);
		seen |= 1u << count;
	}
	assert_int_equal(seen, 0x3ff);
	assert_int_equal(take(&trace, &options, true, NULL, &count, &error), 0);
	assert_int_equal(count, 10);
	assert_int_equal(take(&trace, &options, false, NULL, &count, &error), 0);
	assert_int_equal(count, 0);
}

TEST(who_does_not_come)
{
	const struct run_options options = { .place.seed = 5, .arrival = 50 };
	struct error error = ERROR_INIT;
	unsigned missing = 0;
	autotrace trace;

	assert_int_equal(read_cluster("2 nodes of 2 t4; 10 Pods of 1 card", &trace, &error), 0);
	for (uint32_t pod = 0; pod < 10; pod++) {
		size_t count = 0;
		int r = take(&trace, &options, true, &pod, &count, &error);

		assert_true(r == 0 || r == -ENOENT);
		missing += r == -ENOENT;
	}
	assert_int_equal(missing, 8);
}

TEST(every_allocation_fails_once)
{
	const struct run_options options = { .place.seed = 5 };
	const uint32_t pod = 3;
	struct error error = ERROR_INIT;
	autotrace trace;

	assert_int_equal(read_cluster("2 nodes of 2 t4; 10 Pods of 1 card", &trace, &error), 0);
	for (unsigned n = 0;; n++) {
		size_t count = 0;

		fault_arm(n);
		int r = take(&trace, &options, true, &pod, &count, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_true(r == 0 || r == -ENOMEM); /* an index may be missing */
	}
}
