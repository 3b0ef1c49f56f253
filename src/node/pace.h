/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a driver that is in use is waited for, by how fast it has been lately: one that answers in a moment
 * and then does not for two seconds hangs, and the kubelet is told before it sends a Pod. One that nobody
 * uses needs seconds to begin without persistence mode, and is not asked about here. Pure: times are
 * handed in, all in milliseconds.
 */
#pragma once

#include <stdbool.h>

struct pace {
	unsigned slowest;  /* of the last looks that were answered in time; 0: none was */
	unsigned patience; /* for an answer of the next look; 0: nothing is known */
	bool late;         /* the last look was not in time */
};

/*
 * After a look that TOOK so long, where GIVEN was the time for one answer. One that took longer met a driver
 * that hangs, or is slower than it was: it is given twice the time. The first one in time after that may have
 * waited for the end of the hang, and tells nothing.
 */
void pace_learn(struct pace *pace, unsigned took, unsigned given);
/* For one answer; MOST: as configured. */
unsigned pace_patience(const struct pace *pace, unsigned most);
/* From that look to the next; PERIOD: as configured. Looks at a slow driver are not most of what it does. */
unsigned pace_pause(unsigned took, unsigned given, unsigned period);
