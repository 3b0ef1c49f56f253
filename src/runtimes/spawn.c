/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/close_range.h>

#define LOG_BYTES_MAX (1u << 20)
#define ARGUMENTS_MAX 64

/* Nothing of the caller's environment reaches the runtime. */
static const char *const runtime_environment[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C", NULL
};

static int spawn_descriptor(int fd, int target)
{
	int source = fd;

	if (source < 0)
		source = open("/dev/null", (target == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
	if (source < 0)
		return -errno;
	/* A duplicate above 2 first: the three may be given in any order. */
	int copy = fcntl(source, F_DUPFD_CLOEXEC, 10);
	return copy < 0 ? -errno : copy;
}

static int spawn_descriptors(const struct spawn *spawn, struct error *error)
{
	int copies[3] = { spawn_descriptor(spawn->input, 0), spawn_descriptor(spawn->output, 1),
			  spawn_descriptor(spawn->errors, 2) };

	for (int i = 0; i < 3; i++) {
		/* EINVAL: the limit lies below the number asked for. */
		if (copies[i] == -EINVAL || copies[i] == -EMFILE)
			return error_set(error, EMFILE,
					 "cannot pass descriptor %d: too many open files; raise "
					 "the limit (ulimit -n)",
					 i);
		if (copies[i] < 0)
			return error_set_errno(error, -copies[i], "cannot pass descriptor %d", i);
		if (dup2(copies[i], i) < 0)
			return error_set_errno(error, errno, "cannot pass descriptor %d", i);
	}
	/* An open descriptor of a card is a grant: nothing but the three goes on. */
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		return error_set_errno(error, errno, "cannot close descriptors");
	return 0;
}

static void spawn_reset_signals(void)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int number = 1; number < NSIG; number++)
		sigaction(number, &standard, NULL);
}

static int spawn_child(const void *data, struct error *error)
{
	const struct spawn *spawn = data;
	const char *argv[ARGUMENTS_MAX] = {
		spawn->runtime->path, "--root", spawn->runtime->state, "--log", spawn->log,
		"--log-format",       "json"
	};
	size_t count = 7;

	for (size_t i = 0; spawn->arguments[i]; i++) {
		if (count + 1 >= ARRAY_SIZE(argv))
			return error_set(error, E2BIG, "too many arguments for %s",
					 spawn->runtime->name);
		argv[count++] = spawn->arguments[i];
	}
	int r = root_prepare(spawn, error);
	if (r < 0)
		return r;
	spawn_reset_signals();
	/* A key press on the caller's terminal is for us to pass on, and none of its terminal is theirs. */
	if (setsid() < 0)
		return error_set_errno(error, errno, "cannot make a session");
	r = spawn_descriptors(spawn, error);
	if (r < 0)
		return r;
	if (chdir(spawn->container ? spawn->container->bundle : "/") < 0)
		return error_set_errno(error, errno, "cannot enter the bundle");
	execve(spawn->runtime->path, (char *const *)(uintptr_t)argv,
	       (char *const *)(uintptr_t)runtime_environment);
	return error_set_errno(error, errno, "cannot run %s", spawn->runtime->path);
}

/* The error that the child wrote, or 0 when the pipe was closed without a word. */
static int child_failure(int fd, struct error *error)
{
	struct error failure = ERROR_INIT;
	ssize_t got;

	do
		got = read(fd, &failure, sizeof(failure));
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(failure))
		return 0;
	failure.message[sizeof(failure.message) - 1] = '\0';
	return error_set(error, failure.number, "%s", failure.message);
}

int child_start(int (*task)(const void *data, struct error *error), const void *data,
		pid_t *ret_pid, struct error *error)
{
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_set_errno(error, errno, "cannot make a pipe");
	autoclose int reader = pipes[0], writer = pipes[1];
	pid_t pid = fork();
	if (pid < 0)
		return error_set_errno(error, errno, "cannot start a process");
	if (pid == 0) {
		struct error failure = ERROR_INIT;

		if (task(data, &failure) == 0)
			_exit(0);
		ssize_t written = write(writer, &failure, sizeof(failure));
		_exit(written == (ssize_t)sizeof(failure) ? 125 : 126);
	}
	close(TAKE_FD(writer));
	int r = child_failure(reader, error);
	if (r == 0) {
		*ret_pid = pid;
		return 0;
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

int spawn_start(const struct spawn *spawn, pid_t *ret_pid, struct error *error)
{
	return child_start(spawn_child, spawn, ret_pid, error);
}

/* The last message of the runtime's JSON log: what it would have printed. */
static void spawn_last_message(const char *log, struct strbuf *out)
{
	autofree char *text = NULL;
	size_t length;

	if (file_read(log, LOG_BYTES_MAX, &text, &length, NULL) < 0)
		return;
	char *state = NULL;
	for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		autojson *entry = NULL;

		if (json_parse(line, strlen(line), log, NULL, &entry, NULL) < 0)
			continue;
		const char *message = json_get_string(entry, "msg", NULL);
		if (!message || strcmp(json_get_string(entry, "level", "error"), "error") != 0)
			continue;
		strbuf_reset(out);
		strbuf_adds(out, message);
	}
}

/*
 * How the runtimes say that it is the command that cannot be run: both texts are in the message.
 * runc 1.1 and crun 1.8. How to add one: a row.
 */
static const struct command_fault {
	const char *lead, *text;
	int number;
} command_faults[] = {
	{ "exec: \"", "not found in $PATH", ESRCH },
	{ "exec: \"", "no such file or directory", ESRCH },
	{ "exec: \"", "permission denied", ENOEXEC },
	{ "exec: \"", "is a directory", ENOEXEC },
	{ "exec ", "exec format error", ENOEXEC },
	{ "executable file `", "not found", ESRCH },
	{ "open executable", "", ENOEXEC },
};

static int spawn_fault(const char *message)
{
	for (size_t i = 0; i < ARRAY_SIZE(command_faults); i++)
		if (strstr(message, command_faults[i].lead) &&
		    strstr(message, command_faults[i].text))
			return command_faults[i].number;
	return ECHILD;
}

/* 0: it ended by itself. Else it must be killed, and *error says why. */
static int spawn_watch(const struct spawn *spawn, pid_t pid, struct error *error)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	autoclose int process = pidfd_open(pid, 0);
	autoclose int signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (process < 0 || signals < 0)
		return error_set_errno(error, errno, "cannot watch %s", spawn->runtime->name);
	struct pollfd fds[] = { { .fd = process, .events = POLLIN },
				{ .fd = spawn->interruptible ? signals : -1, .events = POLLIN } };
	int ready;
	do
		ready = poll(fds, ARRAY_SIZE(fds), SPAWN_SECONDS * 1000);
	while (ready < 0 && errno == EINTR);
	if (fds[0].revents)
		return 0;
	struct signalfd_siginfo info;
	if (ready > 0 && read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		return error_set(error, ECANCELED, "%s %s was interrupted by signal %u",
				 spawn->runtime->name, spawn->arguments[0], info.ssi_signo);
	return error_set(error, ETIMEDOUT,
			 "%s %s gave no answer for %d seconds and was ended; see what it waits for "
			 "by running it by hand, or choose another runtime with --runtime",
			 spawn->runtime->name, spawn->arguments[0], SPAWN_SECONDS);
}

int spawn_wait(const struct spawn *spawn, pid_t pid, int *ret_status, struct error *error)
{
	struct error failure = ERROR_INIT;
	int status;

	int watched = spawn_watch(spawn, pid, &failure);
	/* Its own session: children that it waits for go with it. */
	if (watched < 0)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return error_set_errno(error, errno, "cannot wait for %s",
					       spawn->runtime->name);
	}
	if (watched < 0)
		return error_set(error, failure.number, "%s", failure.message);
	if (ret_status)
		*ret_status = status;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	autostrbuf message = STRBUF_INIT(ERROR_MESSAGE_MAX);
	spawn_last_message(spawn->log, &message);
	if (WIFSIGNALED(status))
		return error_set(error, ECHILD, "%s was ended by signal %d", spawn->runtime->name,
				 WTERMSIG(status));
	autostrbuf lead = STRBUF_INIT(256);
	strbuf_addf(&lead, "%s %s failed: ", spawn->runtime->name, spawn->arguments[0]);
	const char *text = message.length ? message.data : "it left no message in its log";
	/* runc's own messages begin with the same words. */
	if (strncmp(text, lead.data, lead.length) == 0)
		text += lead.length;
	return error_set(error, spawn_fault(text), "%s%s", lead.data, text);
}
