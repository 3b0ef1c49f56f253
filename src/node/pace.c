/* SPDX-License-Identifier: Apache-2.0 */
#include "node/pace.h"

#define LEAST_PATIENCE 2000u
#define FADES_BY       8u /* a part of it at each look: one that was held up once is not the rule */
#define LONGEST_PAUSE  5000u /* that is not configured */

static unsigned at_least(unsigned time, unsigned least)
{
	return time < least ? least : time;
}

static unsigned at_most(unsigned time, unsigned most)
{
	return time > most ? most : time;
}

void pace_learn(struct pace *pace, unsigned took, unsigned given)
{
	bool late = took >= given;

	if (late) {
		pace->patience = 2 * given;
	} else if (!pace->late) {
		pace->slowest = at_least(took, pace->slowest - pace->slowest / FADES_BY);
		pace->patience = at_least(2 * pace->slowest, LEAST_PATIENCE);
	}
	pace->late = late;
}

unsigned pace_patience(const struct pace *pace, unsigned most)
{
	return pace->patience ? at_most(pace->patience, most) : most;
}

unsigned pace_pause(unsigned took, unsigned given, unsigned period)
{
	return took < given ? at_least(at_most(4 * took, LONGEST_PAUSE), period) : period;
}
