/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the driver is waited for, and how often it is asked: by how fast it has been. One that answers
 * in a moment and then does not for two seconds hangs, and the kubelet is told before it sends a Pod; one
 * that needs seconds to begin, as without persistence mode, is given them. Pure: times are handed in, all
 * in milliseconds.
 */
#pragma once

#include <stdbool.h>

struct pace {
	unsigned slowest;  /* of the looks that were answered in time; 0: none was */
	unsigned patience; /* for an answer of the next look; 0: nothing is known */
};

/*
 * After a look that TOOK so long, where GIVEN was the time for one answer. One that took longer met a driver
 * that hangs, or is slower than it was: it is given twice the time. CARDS: the driver gave some; without it
 * is another driver that comes, and nothing is known of that one.
 */
void pace_learn(struct pace *pace, unsigned took, unsigned given, bool cards);
/* For one answer; MOST: as configured. */
unsigned pace_patience(const struct pace *pace, unsigned most);
/* Until the next look; PERIOD: as configured. Looks of a slow driver are not most of what it does. */
unsigned pace_pause(const struct pace *pace, unsigned period);
