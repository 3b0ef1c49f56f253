/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that runs costs, and its end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sum of the rows of /proc/PID/FILE that begin with NAME, in KiB; 0: it cannot be read. */
double memory_of(pid_t pid, const char *file, const char *name);
/* Seconds of processor time of all its threads, to a tick, with that of children that have ended or without. */
double cpu_of(pid_t pid, bool children);
/* Children that live, of all threads of PID; at most SIZE are told. */
size_t children_of(pid_t pid, pid_t *ret, size_t size);
/* Sends signal NUMBER and waits for the end. */
void stop_process(pid_t pid, int number);
/* What PROGRAM prints as its version, a line without its end; ends the program when it prints nothing. */
void version_of(const char *program, char *ret, size_t size);
