/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime.h"

/* crun takes "file:PATH" too, and sends to syslog and journald by name. */
static const char *log_path(const char *log)
{
	static const char *const elsewhere[] = { "syslog:", "journald:" };

	for (size_t i = 0; log && i < ARRAY_SIZE(elsewhere); i++)
		if (strncmp(log, elsewhere[i], strlen(elsewhere[i])) == 0)
			return NULL;
	return log && strncmp(log, "file:", 5) == 0 ? log + 5 : log;
}

/* The two forms of logrus, which runc writes with: containerd and Docker read the first. */
static int log_line(const struct call *call, const char *level, const char *message,
		    struct strbuf *out)
{
	autojson *line = json_object_new_object();
	char now[UTC_TEXT_MAX];

	utc_format(time(NULL), now);
	if (!line || json_add_string(line, "level", level) < 0 ||
	    json_add_string(line, "msg", message) < 0 || json_add_string(line, "time", now) < 0)
		return -ENOMEM;
	if (call->log_json)
		return json_to_text(line, false, out, NULL);
	strbuf_addf(out, "time=\"%s\" level=%s msg=", now, level);
	return json_to_text(json_get(line, "msg"), false, out, NULL);
}

/* Nothing can be said about a log that cannot be written. */
static void append(const char *path, const struct call *call, const char *level,
		   const char *message)
{
	autostrbuf line = STRBUF_INIT(1u << 16);

	if (log_line(call, level, message, &line) < 0)
		return;
	strbuf_addc(&line, '\n');
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
	if (fd < 0 || strbuf_failed(&line) < 0)
		return;
	ssize_t written = write(fd, line.data, line.length);
	(void)written;
}

void report(const struct call *call, const char *level, const char *message)
{
	const char *path = log_path(call->log);

	/* As runc: what goes to a log is an error on standard error only. */
	if (strcmp(level, "error") == 0 || !path)
		fprintf(stderr, "gpupool-runtime: %s\n", message);
	if (path)
		append(path, call, level, message);
	if (call->own_log)
		append(call->own_log, call, level, message);
}
