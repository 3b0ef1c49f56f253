/* SPDX-License-Identifier: Apache-2.0 */
#include "device/nvml/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HELPER_FD     3
#define KILL_GRACE_MS 250

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static char *path_join(const char *directory, const char *name)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX - 1);

	strbuf_addf(&path, "%s/%s", directory, name);
	return strbuf_detach(&path);
}

/* The directory of the running program. */
static int own_directory(char *ret, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", ret, size - 1);

	if (length < 0)
		return -errno;
	ret[length] = '\0';
	char *slash = strrchr(ret, '/');
	if (!slash || slash == ret)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

int helper_find(const char *option, char **ret, struct error *error)
{
	char directory[PATH_MAX];
	const char *named = option ? option : secure_getenv(ENV_NVML_HELPER);
	autofree char *path = NULL;

	if (named && *named) {
		if (access(named, X_OK) < 0)
			return error_set_errno(error, errno, "cannot run %s (from %s)", named,
					       option ? "the options" : ENV_NVML_HELPER);
		path = strdup(named);
	} else {
		if (own_directory(directory, sizeof(directory)) == 0)
			path = path_join(directory, NAME_NVML_HELPER);
		if (path && access(path, X_OK) < 0) {
			free(path);
			path = path_join(PATH_LIBEXEC, NAME_NVML_HELPER);
		}
		if (path && access(path, X_OK) < 0)
			return error_set(error, ENOENT,
					 "%s is neither beside this program nor in %s; install it "
					 "or name it in %s",
					 NAME_NVML_HELPER, PATH_LIBEXEC, ENV_NVML_HELPER);
	}
	if (!path)
		return error_no_memory(error);
	*ret = TAKE_PTR(path);
	return 0;
}

/* The child's descriptors: the socket as number 3, nothing to read, nowhere to write. */
static int spawn_descriptors(posix_spawn_file_actions_t *actions, int fd)
{
	int r = 0;

	for (int i = 0; i < 3 && !r; i++)
		r = posix_spawn_file_actions_addopen(actions, i, "/dev/null", O_RDWR, 0);
	return r ? r : posix_spawn_file_actions_adddup2(actions, fd, HELPER_FD);
}

/* Signals as in a fresh process, and no terminal's Ctrl-C. */
static int spawn_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	r = posix_spawnattr_setsigmask(attributes, &none);
	if (!r)
		r = posix_spawnattr_setsigdefault(attributes, &all);
	if (!r)
		r = posix_spawnattr_setpgroup(attributes, 0);
	if (!r)
		r = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
								 POSIX_SPAWN_SETSIGDEF |
								 POSIX_SPAWN_SETPGROUP);
	return r;
}

static int spawn_run(const char *program, char *const *arguments, int fd, pid_t *ret)
{
	char *environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return r;
	r = posix_spawnattr_init(&attributes);
	if (r) {
		posix_spawn_file_actions_destroy(&actions);
		return r;
	}
	r = spawn_descriptors(&actions, fd);
	if (!r)
		r = spawn_attributes(&attributes);
	if (!r)
		r = posix_spawn(ret, program, &actions, &attributes, arguments, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

static int spawn(const char *program, const char *const *arguments, int fd, pid_t *ret)
{
	char parent[16], number[16];
	char *all[5 + HELPER_ARGUMENTS_MAX + 1] = { (char[]){ NAME_NVML_HELPER },
						    (char[]){ "--fd" }, number,
						    (char[]){ "--parent" }, parent };
	size_t count = 0;
	int r = 0;

	(void)snprintf(number, sizeof(number), "%d", HELPER_FD);
	(void)snprintf(parent, sizeof(parent), "%d", getpid());
	for (; !r && arguments[count]; count++) {
		if (count == HELPER_ARGUMENTS_MAX)
			r = E2BIG;
		else if (!(all[5 + count] = strdup(arguments[count])))
			r = ENOMEM;
		if (r)
			break;
	}
	if (!r)
		r = spawn_run(program, all, fd, ret);
	for (size_t i = 0; i < count; i++)
		free(all[5 + i]);
	return r;
}

int helper_start(struct helper *helper, const char *program, const char *const *arguments,
		 struct error *error)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(error, errno, "cannot make a socket for %s", program);
	autoclose int ours = pair[0], theirs = pair[1];
	pid_t pid = 0;
	int r = spawn(program, arguments, theirs, &pid);
	if (r)
		return error_set_errno(error, r, "cannot start %s", program);
	helper->pid = pid;
	helper->pidfd = (int)syscall(SYS_pidfd_open, pid, 0u);
	helper->socket = TAKE_FD(ours);
	helper->end[0] = '\0';
	return 0;
}

/* Waits until FD is readable: 0, -ETIMEDOUT or another errno. */
static int wait_readable(int fd, int64_t until)
{
	for (;;) {
		int64_t left = until - now_ms();
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		int r = poll(&poll_fd, 1, left > 0 ? (int)left : 0);

		if (r > 0)
			return 0;
		if (r == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static bool answer_is_for(const struct record_answer *answer, const struct record_request *request)
{
	return answer->magic == RECORD_MAGIC && answer->version == RECORD_VERSION &&
	       answer->kind == request->kind && answer->sequence == request->sequence &&
	       answer->index == request->index && answer->status < RECORD_STATUS_MAX;
}

int helper_ask(struct helper *helper, struct record_request *request, struct record_answer *answer,
	       unsigned deadline_ms, struct error *error)
{
	int64_t until = now_ms() + deadline_ms;

	request->magic = RECORD_MAGIC;
	request->version = RECORD_VERSION;
	request->sequence = ++helper->sequence;
	if (send(helper->socket, request, sizeof(*request), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	    errno != EAGAIN)
		return error_set(error, EPIPE, "%s ended", NAME_NVML_HELPER);
	int r = wait_readable(helper->socket, until);
	if (r < 0)
		return error_set(error, -r, "the driver gave no answer in %g s",
				 deadline_ms / 1000.0);
	ssize_t length = recv(helper->socket, answer, sizeof(*answer), MSG_DONTWAIT | MSG_TRUNC);
	if (length <= 0)
		return error_set(error, EPIPE, "%s ended", NAME_NVML_HELPER);
	if (length != (ssize_t)sizeof(*answer) || !answer_is_for(answer, request))
		return error_set(error, EPROTO, "%s answered something else; is it of version %s?",
				 NAME_NVML_HELPER, GPUPOOL_VERSION);
	answer->message[sizeof(answer->message) - 1] = '\0';
	return 0;
}

static void describe_end(struct helper *helper, int status)
{
	if (WIFSIGNALED(status))
		(void)snprintf(helper->end, sizeof(helper->end), "died of signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		(void)snprintf(helper->end, sizeof(helper->end), "ended with status %d",
			       WEXITSTATUS(status));
}

/* True when the child is gone and reaped, or was reaped by somebody else. */
static bool reap(struct helper *helper)
{
	int status;
	pid_t pid = waitpid(helper->pid, &status, WNOHANG);

	if (pid == 0)
		return false;
	if (pid == helper->pid)
		describe_end(helper, status);
	return true;
}

/*
 * A process that died can be reaped a moment after its pidfd says so (seen on Linux 6.18), and one
 * that is traced not at all: so in steps of 1 ms, and never longer than the grace.
 */
static bool reap_within_grace(struct helper *helper)
{
	int64_t until = now_ms() + KILL_GRACE_MS;

	if (helper->pidfd >= 0)
		(void)wait_readable(helper->pidfd, until);
	while (!reap(helper)) {
		if (now_ms() >= until)
			return false;
		(void)poll(NULL, 0, 1);
	}
	return true;
}

bool helper_kill(struct helper *helper)
{
	bool gone = true;

	if (helper->socket >= 0)
		close(helper->socket);
	if (helper->pid > 0 && !reap(helper)) {
		kill(helper->pid, SIGKILL);
		gone = reap_within_grace(helper);
	}
	if (helper->pidfd >= 0)
		close(helper->pidfd);
	helper->caught = gone ? 0 : helper->pid;
	helper->pid = 0;
	helper->pidfd = -1;
	helper->socket = -1;
	return gone;
}
