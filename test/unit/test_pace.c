/* SPDX-License-Identifier: Apache-2.0 */
/* How long the driver is waited for, look by look. */
#include "test.h"

#include "base/base.h"
#include "node/pace.h"

#define MOST   10000u /* as configured */
#define PERIOD 2000u

static const struct look {
	const char *name;
	unsigned took, pause, patience; /* before the next one */
} looks[] = {
	{ "the first answer is a slow one", 3200, 5000, 6400 },
	{ "what was slow once may be so again", 50, PERIOD, 5600 },
	{ "less and less", 50, PERIOD, 4900 },
	{ "never more than is configured", 4800, 5000, 9600 },
	{ "it hangs", 9610, PERIOD, MOST },
	{ "the end of the hang was waited for", 9000, 5000, MOST },
	{ "as fast as before", 50, PERIOD, 8400 },
};

static const struct look fast[] = {
	{ "a fast one", 200, PERIOD, 2000 },
	{ "a little slower", 800, 3200, 2000 },
	{ "it hangs", 2010, PERIOD, 4000 },
	{ "and goes on so", 4010, PERIOD, 8000 },
	{ "the end of the hang was waited for", 7000, 5000, 8000 },
	{ "as fast as before", 200, PERIOD, 2000 },
	{ "slow from now on", 2500, PERIOD, 4000 },
	{ "it is given the time", 2500, 5000, 4000 },
	{ "and has it from then on", 2500, 5000, 5000 },
};

static void follow(const struct look *rows, size_t count)
{
	struct pace pace = { 0 };

	assert_int_equal(pace_patience(&pace, MOST), MOST);
	for (size_t i = 0; i < count; i++) {
		unsigned given = pace_patience(&pace, MOST);

		pace_learn(&pace, rows[i].took, given);
		if (pace_patience(&pace, MOST) != rows[i].patience ||
		    pace_pause(rows[i].took, given, PERIOD) != rows[i].pause)
			fail_msg("%s: waited for %u ms, asked after %u ms", rows[i].name,
				 pace_patience(&pace, MOST),
				 pace_pause(rows[i].took, given, PERIOD));
	}
}

TEST(it_is_given_the_time_that_it_takes)
{
	follow(looks, ARRAY_SIZE(looks));
	follow(fast, ARRAY_SIZE(fast));
}

TEST(what_is_configured_counts)
{
	struct pace pace = { 0 };

	pace_learn(&pace, 100, 300);
	assert_int_equal(pace_patience(&pace, 300), 300);
	pace_learn(&pace, 300, 300);
	assert_int_equal(pace_patience(&pace, 300), 300);
	assert_int_equal(pace_pause(3000, MOST, 3600000), 3600000);
	assert_int_equal(pace_pause(3000, MOST, 1000), 5000);
}
