/* SPDX-License-Identifier: Apache-2.0 */
#include "node/pace.h"

#define LEAST_PATIENCE 2000u
#define LONGEST_PAUSE  5000u /* that is not configured */

static unsigned at_least(unsigned time, unsigned least)
{
	return time < least ? least : time;
}

static unsigned at_most(unsigned time, unsigned most)
{
	return time > most ? most : time;
}

void pace_learn(struct pace *pace, unsigned took, unsigned given, bool cards)
{
	if (took >= given) {
		pace->patience = 2 * given;
	} else if (cards) {
		pace->slowest = at_least(took, pace->slowest);
		pace->patience = at_least(2 * pace->slowest, LEAST_PATIENCE);
	} else {
		*pace = (struct pace){ 0 };
	}
}

unsigned pace_patience(const struct pace *pace, unsigned most)
{
	return pace->patience ? at_most(pace->patience, most) : most;
}

unsigned pace_pause(const struct pace *pace, unsigned period)
{
	return at_least(at_most(4 * pace->slowest, LONGEST_PAUSE), period);
}
