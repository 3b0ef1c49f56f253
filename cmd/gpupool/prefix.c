/* SPDX-License-Identifier: Apache-2.0 */
/* Several containers, one screen: each line says whose it is. */
#include "gpupool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 16384

static void write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		bytes += written;
		length -= (size_t)written;
	}
}

/* A line goes out in one write, so that lines of two containers never mix. */
static void write_line(const char *prefix, const char *line, size_t length, int output)
{
	autostrbuf text = STRBUF_INIT(LINE_MAX_BYTES * 2);

	strbuf_addf(&text, "[%s] ", prefix);
	strbuf_add(&text, line, length);
	strbuf_addc(&text, '\n');
	write_all(output, text.data, text.length);
}

/* Whatever the bytes are, NUL too. A line that is longer than the buffer becomes several. */
static void copy_lines(const char *prefix, int input, int output)
{
	char bytes[LINE_MAX_BYTES];
	size_t used = 0;

	for (;;) {
		ssize_t got = read(input, bytes + used, sizeof(bytes) - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += (size_t)got;
		const char *line = bytes, *end = bytes + used;
		for (const char *feed; (feed = memchr(line, '\n', (size_t)(end - line)));
		     line = feed + 1)
			write_line(prefix, line, (size_t)(feed - line), output);
		used = (size_t)(end - line);
		memmove(bytes, line, used);
		if (used < sizeof(bytes))
			continue;
		write_line(prefix, bytes, used, output);
		used = 0;
	}
	if (used)
		write_line(prefix, bytes, used, output);
}

static void prefix_child(const char *prefix, int input, int output)
{
	/* The last line matters more than a signal meant for the containers. */
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		sigaction(ignored[i], &ignore, NULL);
	if (dup2(input, 0) < 0 || dup2(output, 1) < 0)
		_exit(1);
	/* The pool's lock among them: this process may outlive a killed gpupool. */
	close_range(3, ~0u, 0);
	copy_lines(prefix, 0, 1);
	_exit(0);
}

int prefix_start(const char *prefix, int output, int *ret_write, pid_t *ret_pid,
		 struct error *error)
{
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_set_errno(error, errno, "cannot make a pipe");
	fflush(NULL);
	pid_t pid = fork();
	if (pid < 0) {
		close(pipes[0]);
		close(pipes[1]);
		return error_set_errno(error, errno, "cannot start a process");
	}
	if (pid == 0)
		prefix_child(prefix, pipes[0], output);
	close(pipes[0]);
	*ret_write = pipes[1];
	*ret_pid = pid;
	return 0;
}
