/* SPDX-License-Identifier: Apache-2.0 */
/* One gpupool-nvml process and the questions to it. */
#pragma once

#include <sys/types.h>

#include "abi/nvml_record.h"
#include "base/base.h"

struct helper {
	pid_t pid;  /* 0: none */
	int pidfd;  /* -1: the kernel has none (before 5.3) */
	int socket; /* -1: none */
	uint32_t sequence;
	pid_t caught;  /* after helper_kill(): it could not be ended; 0: it is gone */
	char end[128]; /* how it ended, in words: "died of signal 11 (Segmentation fault)" */
};

#define HELPER_INIT                                 \
	{                                           \
		.pid = 0, .pidfd = -1, .socket = -1 \
	}

/*
 * The program: OPTION, GPUPOOL_NVML_HELPER (not in a program that runs with more rights than its
 * caller), beside this program, PATH_LIBEXEC. *ret is the caller's.
 */
int helper_find(const char *option, char **ret, struct error *error);

#define HELPER_ARGUMENTS_MAX 8

/*
 * Starts PROGRAM with a clean environment and no terminal. ARGUMENTS (ended by NULL, at most
 * HELPER_ARGUMENTS_MAX) say its subject: "--library" or "--proc" and what it names.
 */
int helper_start(struct helper *helper, const char *program, const char *const *arguments,
		 struct error *error);

/*
 * One question, one answer, at most DEADLINE_MS milliseconds. Fills magic, version and sequence of
 * the request. -ETIMEDOUT; -EPIPE when the helper ended; -EPROTO when it answered something else.
 * After each of these the helper is of no use: helper_kill(). An answer that comes back is of the
 * right size, kind, card and sequence; what is in it is still to be checked.
 */
int helper_ask(struct helper *helper, struct record_request *request, struct record_answer *answer,
	       unsigned deadline_ms, struct error *error);

/*
 * Ends it: a process that is not caught in the driver is gone and reaped within 250 ms. Returns
 * false when it is not: it stays behind as a child of this process, to be reaped by whoever waits
 * for any child, or by the end of this process.
 */
bool helper_kill(struct helper *helper);
