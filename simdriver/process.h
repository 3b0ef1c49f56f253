/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says of a process that is a driver client. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The first word of its command line, else its comm, else "". */
void process_name(pid_t pid, char *ret, size_t size);

/*
 * The number of process `pid` as process `asker` knows it: the driver tells a caller in a PID
 * namespace of its own only of processes in there. False when the asker cannot know it.
 */
bool process_translate(pid_t pid, pid_t asker, uint32_t *ret);
