/* SPDX-License-Identifier: Apache-2.0 */
/* How long the driver is waited for, look by look. */
#include "test.h"

#include "base/base.h"
#include "node/pace.h"

#define MOST   10000u /* as configured */
#define PERIOD 2000u

static const struct look {
	const char *name;
	unsigned took;
	bool cards;
	unsigned patience, pause; /* after it */
} looks[] = {
	{ "at the start nothing is known", 0, false, MOST, PERIOD },
	{ "no driver is there", 5, false, MOST, PERIOD },
	{ "the first answer is a slow one", 3000, true, 6000, 5000 },
	{ "what was slow once may be so again", 50, true, 6000, 5000 },
	{ "no driver", 5, false, MOST, PERIOD },
	{ "another one, a fast one", 200, true, 2000, PERIOD },
	{ "a little slower", 700, true, 2000, 2800 },
	{ "a little faster", 400, true, 2000, 2800 },
	{ "it hangs", 2010, false, 4000, 2800 },
	{ "and goes on so", 4010, false, 8000, 2800 },
	{ "never more than is configured", 8010, false, MOST, 2800 },
	{ "however long", 10010, false, MOST, 2800 },
	{ "it answers again", 300, true, 2000, 2800 },
	{ "one card hangs and the others answer", 2300, true, 4000, 2800 },
	{ "the same card, slow and alive", 2500, true, 5000, 5000 },
	{ "and fast again", 300, true, 5000, 5000 },
};

TEST(it_is_given_the_time_that_it_takes)
{
	struct pace pace = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
		const struct look *look = &looks[i];

		if (i)
			pace_learn(&pace, look->took, pace_patience(&pace, MOST), look->cards);
		if (pace_patience(&pace, MOST) != look->patience ||
		    pace_pause(&pace, PERIOD) != look->pause)
			fail_msg("%s: waited for %u ms, asked after %u ms", look->name,
				 pace_patience(&pace, MOST), pace_pause(&pace, PERIOD));
	}
}

TEST(what_is_configured_counts)
{
	struct pace pace = { 0 };

	pace_learn(&pace, 100, 300, true);
	assert_int_equal(pace_patience(&pace, 300), 300);
	pace_learn(&pace, 300, 300, false);
	assert_int_equal(pace_patience(&pace, 300), 300);
	pace_learn(&pace, 3000, MOST, true);
	assert_int_equal(pace_pause(&pace, 3600000), 3600000);
	assert_int_equal(pace_pause(&pace, 1000), 5000);
}
