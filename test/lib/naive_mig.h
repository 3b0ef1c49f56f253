/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle for MIG on one card: intervals on its memory slices and sums, every set of places
 * tried. Of the model it takes the tables of profiles only, of src/place nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "model/model.h"

struct naive_instance {
	const struct mig_profile *profile;
	unsigned start;
};

/* The profile of that NAME on the card, or NULL. */
const struct mig_profile *naive_profile(const struct card *card, const char *name);
/* May they all be there at once? */
bool naive_instances_fit(const struct card *card, const struct naive_instance *instances,
			 size_t count);
/* The most instances of PROFILE that can stand beside HELD. */
unsigned naive_mig_room(const struct card *card, const struct mig_profile *profile,
			const struct naive_instance *held, size_t count);
/* Memory slices that nothing lies on. */
unsigned naive_free_slices(const struct card *card, const struct naive_instance *held,
			   size_t count);
/* One of slices as large as the profile counts that often: all places of all profiles. */
unsigned naive_places(const struct card *card, const struct naive_instance *held, size_t count);
