/* SPDX-License-Identifier: Apache-2.0 */
/* One program of the host, run to its end: its output, or why it failed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/close_range.h>

#include "runtimes/host.h"

#define RUN_SECONDS 120

struct output {
	int fd;             /* read end; -1 once it has ended */
	struct strbuf text; /* what came */
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* In the child: never returns. 127: there is no such program. */
static void child(const char *root, const char *const *argv, int out, int errors)
{
	static const char *const environment[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C", NULL
	};
	const struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int number = 1; number < NSIG; number++)
		sigaction(number, &standard, NULL);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(errors, 2) < 0)
		_exit(126);
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	if (strcmp(root, "/") != 0 && (chroot(root) < 0 || chdir("/") < 0)) {
		dprintf(2, "cannot enter the host's root %s: %s\n", root, strerrordesc_np(errno));
		_exit(126);
	}
	execve(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)environment);
	_exit(errno == ENOENT || errno == ENOTDIR ? 127 : 126);
}

/* Takes what is there; the end closes it. */
static void take(struct output *output)
{
	char step[4096];
	ssize_t got = read(output->fd, step, sizeof(step));

	if (got > 0) {
		strbuf_add(&output->text, step, (size_t)got);
	} else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
		close(output->fd);
		output->fd = -1;
	}
}

/* Until both have ended; false when the time was over first. */
static bool collect(struct output outputs[2])
{
	int64_t end = now_ms() + RUN_SECONDS * INT64_C(1000);

	while (outputs[0].fd >= 0 || outputs[1].fd >= 0) {
		struct pollfd polls[2] = { { .fd = outputs[0].fd, .events = POLLIN },
					   { .fd = outputs[1].fd, .events = POLLIN } };
		int64_t left = end - now_ms();

		if (left <= 0)
			return false;
		if (poll(polls, 2, (int)left) < 0 && errno != EINTR)
			return false;
		for (int i = 0; i < 2; i++)
			if (outputs[i].fd >= 0 && polls[i].revents)
				take(&outputs[i]);
	}
	return true;
}

static const char *last_line(char *text)
{
	size_t length = strlen(text);

	while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		text[--length] = '\0';
	const char *line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

static int judge(const char *const *argv, int status, struct output outputs[2], char **ret,
		 struct error *error)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_set(error, ENOENT, "the host has no program %s", argv[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		const char *why = last_line(outputs[1].text.length ? outputs[1].text.data
								   : outputs[0].text.data);

		return error_set(error, ECHILD, "%s %s failed (%s %d)%s%s", argv[0],
				 argv[1] ? argv[1] : "",
				 WIFEXITED(status) ? "exit status" : "signal",
				 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
				 *why ? ": " : "", why);
	}
	if (strbuf_failed(&outputs[0].text) == -ENAMETOOLONG)
		return error_set(error, EFBIG, "%s printed more than %d bytes", argv[0],
				 HOST_FILE_MAX);
	char *text = strbuf_detach(&outputs[0].text);
	if (!text && strbuf_failed(&outputs[0].text) == 0)
		text = strdup("");
	if (!text)
		return error_no_memory(error);
	*ret = text;
	return 0;
}

static int wait_for_end(pid_t pid, struct output outputs[2], const char *const *argv, char **ret,
			struct error *error)
{
	int status = 0;
	bool ended = collect(outputs);

	if (!ended)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set_errno(error, errno, "cannot wait for %s", argv[0]);
	if (!ended)
		return error_set(error, ETIMEDOUT,
				 "%s gave no answer within %d s; see why it hangs, then try again",
				 argv[0], RUN_SECONDS);
	return judge(argv, status, outputs, ret, error);
}

int host_run_program(const struct host *host, const char *const *argv, char **ret,
		     struct error *error)
{
	int out[2] = { -1, -1 }, errors[2] = { -1, -1 };

	if (pipe2(out, O_CLOEXEC) < 0)
		return error_set_errno(error, errno, "cannot run %s", argv[0]);
	if (pipe2(errors, O_CLOEXEC) < 0) {
		int number = errno;
		close(out[0]);
		close(out[1]);
		return error_set_errno(error, number, "cannot run %s", argv[0]);
	}
	pid_t pid = fork();
	int number = errno;
	if (pid == 0)
		child(host->root, argv, out[1], errors[1]);
	close(out[1]);
	close(errors[1]);
	struct output outputs[2] = { { .fd = out[0], .text = STRBUF_INIT(HOST_FILE_MAX) },
				     { .fd = errors[0], .text = STRBUF_INIT(65536) } };
	int r = pid < 0 ? error_set_errno(error, number, "cannot run %s", argv[0])
			: wait_for_end(pid, outputs, argv, ret, error);
	for (int i = 0; i < 2; i++) {
		if (outputs[i].fd >= 0)
			close(outputs[i].fd);
		strbuf_release(&outputs[i].text);
	}
	return r;
}
