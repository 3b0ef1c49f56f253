/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one error shape. A function that can fail takes `struct error *error` last and returns 0 or
 * a negative errno: the number is for programs, the message for people. Results are written on
 * success only. NULL is a legal error object. A control character in a message becomes '?', since
 * messages quote strangers' files. Functions under src/ return errors and stay silent; cmd/ and
 * loop callbacks print them.
 */
#pragma once

#include <stdarg.h>

#define ERROR_MESSAGE_MAX 1024

struct error {
	int number;                      /* errno value, 0 while nothing failed */
	char message[ERROR_MESSAGE_MAX]; /* never empty once number is set; cut with "..." */
};

#define ERROR_INIT                         \
	{                                  \
		.number = 0, .message = "" \
	}

/* Sets number and message; returns -number. */
int error_set(struct error *error, int number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, and appends ": " and the text of the errno. */
int error_set_errno(struct error *error, int number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "context: " in front of the message that is there; returns -error->number (or -EIO). */
int error_wrap(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Out of memory, said once and the same everywhere; returns -ENOMEM. */
int error_no_memory(struct error *error);
