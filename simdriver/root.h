/* SPDX-License-Identifier: Apache-2.0 */
/* The driver root of a profile. Functions return 0, or -1 having said what failed. */
#pragma once

#include "profile.h"

#define ROOT_MARK ".simdriver" /* folder that says: made by simdriver */

/* artefacts: the folder with the libraries and programs, that of the tool itself. Refuses a folder
 * that holds anything and was not made here; one that was is made anew. */
int root_build(const char *root, const struct profile *profile, const char *artefacts);

/* What procfs and sysfs say of the kernel module; NULL: it is not loaded. */
int root_set_module(const char *root, const struct profile *profile, const char *version);

#define ROOT_VERSION_MAX 32

/* A profile whose driver is of another version. */
struct root_made {
	struct profile profile;
	char version[ROOT_VERSION_MAX];
};

/* VERSION (at most ROOT_VERSION_MAX - 1 characters): "535.216.01"; NULL: as the profile has it. */
const struct profile *root_make_profile(const struct profile *profile, const char *version,
					struct root_made *kept);

/* The profile that a root was made of, kept in *kept; NULL having said why. */
const struct profile *root_profile(const char *root, struct root_made *kept);

/* Removes all that was made, and root itself when nothing else is in it. */
int root_remove(const char *root);
