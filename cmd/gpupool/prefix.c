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
static void copy_lines(const char *prefix, FILE *input, int output)
{
	static const char end = '\n';
	char line[LINE_MAX_BYTES];

	while (fgets(line, sizeof(line), input)) {
		autostrbuf text = STRBUF_INIT(LINE_MAX_BYTES * 2);

		strbuf_addf(&text, "[%s] %s", prefix, line);
		if (text.length && text.data[text.length - 1] != end)
			strbuf_addc(&text, end);
		write_all(output, text.data, text.length);
	}
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
	copy_lines(prefix, stdin, 1);
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
