/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines on standard error as text or as JSON lines. Only cmd/ and loop callbacks log. */
#pragma once

#include <stdbool.h>

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
	LOG_LEVEL_MAX,
	LOG_LEVEL_INVALID = -22
};

const char *log_level_to_string(enum log_level level);
enum log_level log_level_from_string(const char *text);

struct log {
	int fd;
	const char *program; /* not owned */
	enum log_level level;
	bool json;
};

/* Writes one line in one write(); control characters of the message are escaped. */
void log_write(const struct log *log, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
