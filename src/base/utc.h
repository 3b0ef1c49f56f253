/* SPDX-License-Identifier: Apache-2.0 */
/* Times as Kubernetes writes them: RFC 3339 in UTC, whole seconds. */
#pragma once

#include <stdint.h>

#define UTC_TEXT_MAX 24
#define UTC_MAXIMUM  253402300799 /* 9999-12-31T23:59:59Z */

/* "2026-11-30T08:00:00Z"; "" for a time before 1970 or after UTC_MAXIMUM. */
void utc_format(int64_t seconds, char ret[static UTC_TEXT_MAX]);
/* That form only, of a day that exists. 0 or -EINVAL. */
int utc_parse(const char *text, int64_t *ret);
