/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXEC_OUTPUT_MAX (1u << 20)

static int container_log_path(const struct runtime *runtime, const char *id, struct strbuf *out,
			      struct error *error)
{
	if (file_make_directories(runtime->state, 0700, error) < 0)
		return -error->number;
	strbuf_addf(out, "%s/%s.log", runtime->state, id);
	if (strbuf_failed(out) < 0)
		return error_set(error, ENAMETOOLONG, "the container's name %s is too long", id);
	if (unlink(out->data) < 0 && errno != ENOENT)
		return error_set_errno(error, errno, "cannot remove the old log %s", out->data);
	return 0;
}

static int container_read_pid(const char *path, pid_t *ret, struct error *error)
{
	autofree char *text = NULL;
	size_t length;
	uint64_t pid;

	int r = file_read(path, 32, &text, &length, error);
	if (r < 0)
		return r;
	while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
		text[--length] = '\0';
	if (parse_uint(text, 1, INT32_MAX, &pid) < 0)
		return error_set(error, EPROTO, "the runtime wrote no process number to %s", path);
	/* We signal this process and wait for it: it must be the one that was left to us. */
	siginfo_t unused;
	if (waitid(P_PID, (id_t)pid, &unused, WEXITED | WNOHANG | WNOWAIT) < 0)
		return error_set(error, EPROTO,
				 "the runtime wrote process %lu to %s, which is none that it made",
				 (unsigned long)pid, path);
	*ret = (pid_t)pid;
	return 0;
}

int runtime_create(const struct runtime *runtime, const struct runtime_container *container,
		   pid_t *ret_pid, struct error *error)
{
	struct error failure = ERROR_INIT;
	struct error *errors = error ? error : &failure;
	autostrbuf log = STRBUF_INIT(4096), pid_file = STRBUF_INIT(4096);
	pid_t pid;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return error_set_errno(errors, errno, "cannot become the containers' parent");
	int r = container_log_path(runtime, container->id, &log, errors);
	if (r < 0)
		return r;
	strbuf_addf(&pid_file, "%s/pid", container->bundle);
	if (strbuf_failed(&pid_file) < 0)
		return error_set(errors, ENAMETOOLONG, "the bundle's path is too long");
	if (container->host_targets && container->host_targets->count) {
		r = file_make_directories(PATH_HOST_DRIVER, 0755, errors);
		if (r < 0)
			return r;
	}
	const char *arguments[] = { "create",     "--bundle",    container->bundle,
				    "--pid-file", pid_file.data, container->id,
				    NULL };
	struct spawn spawn = { .runtime = runtime,
			       .arguments = arguments,
			       .container = container,
			       .input = container->input,
			       .output = container->output,
			       .errors = container->errors,
			       .log = log.data,
			       .interruptible = true };
	r = spawn_start(&spawn, &pid, errors);
	if (r < 0)
		return r;
	r = spawn_wait(&spawn, pid, NULL, errors);
	if (r < 0)
		return r;
	return container_read_pid(pid_file.data, ret_pid, errors);
}

static int container_call(const struct runtime *runtime, const char *id,
			  const char *const *arguments, struct error *error)
{
	struct error failure = ERROR_INIT;
	struct error *errors = error ? error : &failure;
	autostrbuf log = STRBUF_INIT(4096);
	pid_t pid;

	int r = container_log_path(runtime, id, &log, errors);
	if (r < 0)
		return r;
	struct spawn spawn = { .runtime = runtime,
			       .arguments = arguments,
			       .input = -1,
			       .output = -1,
			       .errors = -1,
			       .log = log.data };
	r = spawn_start(&spawn, &pid, errors);
	if (r < 0)
		return r;
	return spawn_wait(&spawn, pid, NULL, errors);
}

int runtime_start(const struct runtime *runtime, const char *id, struct error *error)
{
	const char *arguments[] = { "start", id, NULL };

	return container_call(runtime, id, arguments, error);
}

int runtime_delete(const struct runtime *runtime, const char *id, struct error *error)
{
	autostrbuf path = STRBUF_INIT(4096);
	struct stat unused;

	strbuf_addf(&path, "%s/%s", runtime->state, id);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the container's name %s is too long", id);
	if (stat(path.data, &unused) == 0) {
		const char *arguments[] = { "delete", "--force", id, NULL };
		int r = container_call(runtime, id, arguments, error);
		if (r < 0)
			return r;
	}
	strbuf_adds(&path, ".log");
	if (strbuf_failed(&path) == 0 && unlink(path.data) < 0 && errno != ENOENT)
		return error_set_errno(error, errno, "cannot remove %s", path.data);
	return 0;
}

int runtime_exec(const struct runtime *runtime, const char *id, const char *const *argv, char **ret,
		 int *ret_status, struct error *error)
{
	const char *arguments[32] = { "exec", id };
	size_t count = 2;
	autostrbuf log = STRBUF_INIT(4096);
	int pipes[2];
	pid_t pid;
	struct error failure = ERROR_INIT;
	struct error *errors = error ? error : &failure;

	for (size_t i = 0; argv[i]; i++) {
		if (count + 1 >= ARRAY_SIZE(arguments))
			return error_set(errors, E2BIG, "too many arguments for %s exec",
					 runtime->name);
		arguments[count++] = argv[i];
	}
	int r = container_log_path(runtime, id, &log, errors);
	if (r < 0)
		return r;
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_set_errno(errors, errno, "cannot make a pipe");
	struct spawn spawn = { .runtime = runtime,
			       .arguments = arguments,
			       .input = -1,
			       .output = pipes[1],
			       .errors = pipes[1],
			       .log = log.data,
			       .interruptible = true };
	r = spawn_start(&spawn, &pid, errors);
	close(pipes[1]);
	if (r < 0) {
		close(pipes[0]);
		return r;
	}
	autofree char *text = NULL;
	size_t length;
	int read_result = file_read_fd(pipes[0], "the command's output", EXEC_OUTPUT_MAX, &text,
				       &length, errors);
	close(pipes[0]);
	struct error ignored = ERROR_INIT;
	r = spawn_wait(&spawn, pid, ret_status, &ignored);
	if (read_result < 0)
		return read_result;
	if (r < 0 && !ret_status)
		return error_set(errors, ignored.number, "%s", ignored.message);
	*ret = TAKE_PTR(text);
	return 0;
}

/* What making a container needs, tried in a child that then ends. */
static int rights_try(const void *unused, struct error *error)
{
	(void)unused;
	if (geteuid() != 0)
		return error_set(error, EPERM, "containers need root: run this with sudo");
	if (unshare(CLONE_NEWNS) < 0)
		return error_set_errno(
			error, EPERM, "mount namespaces need CAP_SYS_ADMIN, which this root lacks");
	if (mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) < 0 ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, "size=64k") < 0)
		return error_set_errno(error, EPERM,
				       "mounting needs CAP_SYS_ADMIN, which this root lacks");
	if (mknod("/tmp/null", S_IFCHR | 0600, makedev(1, 3)) < 0)
		return error_set_errno(error, EPERM,
				       "device nodes need CAP_MKNOD, which this root lacks");
	if (access("/sys/fs/cgroup", W_OK) < 0)
		return error_set_errno(error, EPERM, "device rules need a writable /sys/fs/cgroup");
	return 0;
}

int runtime_check_rights(struct error *error)
{
	pid_t pid;
	int status;

	int r = child_start(rights_try, NULL, &pid, error);
	if (r < 0)
		return r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set_errno(error, errno, "cannot wait for the check of rights");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(
			error, EPERM,
			"the check of rights ended without an answer; see the kernel's log");
	return 0;
}
