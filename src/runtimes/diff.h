/* SPDX-License-Identifier: Apache-2.0 */
/* What would change in a file, as people read it: the unified form of diff(1), three lines around. */
#pragma once

#include "base/base.h"

/* Appends the difference; nothing when both are equal. BEFORE NULL: the file is new; AFTER NULL: it
 * goes. 0, -ENOMEM or -ENAMETOOLONG (OUT is full). */
int text_diff(const char *path, const char *before, const char *after, struct strbuf *out);
