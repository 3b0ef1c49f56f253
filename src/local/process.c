/* SPDX-License-Identifier: Apache-2.0 */
/* What procfs says of a process. */
#include "local/private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX (4u << 20) /* mountinfo of a machine with many mounts */

int process_read(pid_t pid, const char *name, char **ret, struct error *error)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return file_read(path, TEXT_BYTES_MAX, ret, NULL, error);
}

uint64_t process_start(pid_t pid)
{
	autofree char *text = NULL;
	unsigned long long start;

	if (pid <= 0 || process_read(pid, "stat", &text, NULL) < 0)
		return 0;
	/* The name may hold blanks and brackets; what we want is the 20th word after the last one. */
	char *rest = strrchr(text, ')');
	if (!rest || rest[1] != ' ')
		return 0;
	if (rest[2] == 'Z' || rest[2] == 'X')
		return 0;
	rest += 2;
	for (int field = 3; field < 22; field++) {
		rest = strchr(rest, ' ');
		if (!rest)
			return 0;
		rest++;
	}
	char *end;
	errno = 0;
	start = strtoull(rest, &end, 10);
	return errno || end == rest ? 0 : start;
}
