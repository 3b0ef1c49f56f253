/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/strbuf.h"
#include "base/table.h"

#define MESSAGE_MAX    4096              /* longer messages are cut and end in "..." */
#define LINE_MAX_BYTES (8 * MESSAGE_MAX) /* an escaped byte takes up to six */

static const char *const log_level_table[LOG_LEVEL_MAX] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARNING] = "warning",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
};
DEFINE_STRING_TABLE(log_level, enum log_level, LOG_LEVEL_MAX)

/* Terminals obey control characters, and a log line must stay one line. */
static void line_add_text(struct strbuf *line, const char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t good = (size_t)parse_utf8_prefix(text + at, length - at);

		for (size_t end = at + good; at < end; at++) {
			unsigned char byte = (unsigned char)text[at];

			if (byte < 0x20 || byte == 0x7f)
				strbuf_addf(line, "\\x%02x", byte);
			else
				strbuf_addc(line, text[at]);
		}
		if (at < length)
			strbuf_addf(line, "\\x%02x", (unsigned char)text[at++]);
	}
}

static void line_add_json(struct strbuf *line, const char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t good = (size_t)parse_utf8_prefix(text + at, length - at);

		for (size_t end = at + good; at < end; at++) {
			unsigned char byte = (unsigned char)text[at];

			if (byte < 0x20 || byte == 0x7f)
				strbuf_addf(line, "\\u%04x", byte);
			else if (byte == '"' || byte == '\\')
				strbuf_addf(line, "\\%c", byte);
			else
				strbuf_addc(line, text[at]);
		}
		if (at < length) {
			strbuf_adds(line, "\\ufffd");
			at++;
		}
	}
}

static void line_add_time(struct strbuf *line)
{
	struct timespec now = { 0 };
	struct tm fields = { 0 };
	char text[32];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &fields);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &fields);
	strbuf_addf(line, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

static void line_build(const struct log *log, enum log_level level, const char *message,
		       size_t length, struct strbuf *line)
{
	if (!log->json) {
		strbuf_addf(line, "%s: %s: ", log->program, log_level_to_string(level));
		line_add_text(line, message, length);
		strbuf_addc(line, '\n');
		return;
	}
	strbuf_adds(line, "{\"time\":\"");
	line_add_time(line);
	strbuf_addf(line, "\",\"level\":\"%s\",\"program\":\"", log_level_to_string(level));
	line_add_json(line, log->program, strlen(log->program));
	strbuf_adds(line, "\",\"message\":\"");
	line_add_json(line, message, length);
	strbuf_adds(line, "\"}\n");
}

void log_write(const struct log *log, enum log_level level, const char *format, ...)
{
	autostrbuf line = STRBUF_INIT(LINE_MAX_BYTES);
	char message[MESSAGE_MAX];
	va_list arguments;

	if (level > log->level)
		return;
	va_start(arguments, format);
	int length = vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if (length >= MESSAGE_MAX) {
		length = MESSAGE_MAX - 1;
		memcpy(message + MESSAGE_MAX - 4, "...", 4);
	}
	line_build(log, level, message, (size_t)length, &line);
	if (strbuf_failed(&line) < 0)
		return;
	for (size_t at = 0; at < line.length;) {
		ssize_t written = write(log->fd, line.data + at, line.length - at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return; /* nobody left to tell */
		at += (size_t)written;
	}
}
