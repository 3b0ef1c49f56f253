/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence from files, folders and pipes to the doctor. */
#pragma once

#include <stdbool.h>

#include "base/base.h"
#include "doctor/doctor.h"

/*
 * Feeds all of PATH: a file, an archive, a folder with what is below it (links are not followed there), or
 * "-" for standard input. What cannot be read inside of a folder or an archive is said on standard error
 * and left out, and *whole becomes false. A negative errno: PATH itself cannot be read, or no memory.
 */
int evidence_read(struct doctor *doctor, const char *path, bool *whole, struct error *error);
