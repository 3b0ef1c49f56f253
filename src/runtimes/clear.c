/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a runtime leaves behind that was killed, or that lost its own state: cgroups with processes
 * that nobody remembers, and a state directory that it cannot read any more.
 */
#include "runtimes/runtimes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#define CGROUP_ROOT       "/sys/fs/cgroup"
#define PROCESSES_BYTES   (1u << 20)
#define DEPTH_MAX         8
#define END_MILLISECONDS  5000 /* of a killed process: what it waits for in the kernel may be slow */
#define BUSY_MILLISECONDS 5
#define ROUNDS_MAX        64 /* processes may be made while we kill */

/* Kills PID and waits for its end; 0 when it is gone. */
static int process_end(pid_t pid)
{
	autoclose int fd = pidfd_open(pid, 0);

	if (fd < 0)
		return errno == ESRCH ? 0 : -errno;
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	if (pidfd_send_signal(fd, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
		return -errno;
	for (;;) {
		int count = poll(&wait, 1, END_MILLISECONDS);

		if (count >= 0)
			return count ? 0 : -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

/*
 * A process counts in its cgroup for a moment longer than its pidfd says that it lives (seen on
 * Linux 6.18), and cgroup v1 has nothing to wait on: ask again, for as long as we would have waited
 * for the process.
 */
static int directory_remove(int parent, const char *name, bool groups)
{
	for (int waited = 0;; waited += BUSY_MILLISECONDS) {
		if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		if (!groups || errno != EBUSY || waited >= END_MILLISECONDS)
			return -errno;
		poll(NULL, 0, BUSY_MILLISECONDS);
	}
}

/* Kills what is in one cgroup. *RET_FOUND: there was something, so look again. */
static int group_end_round(int group, bool *ret_found)
{
	autofree char *text = NULL;
	char *state = NULL;
	size_t length;
	uint64_t pid;

	*ret_found = false;
	autoclose int fd = openat(group, "cgroup.procs", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	int r = file_read_fd(fd, "cgroup.procs", PROCESSES_BYTES, &text, &length, NULL);
	if (r < 0)
		return r;
	for (const char *line = strtok_r(text, "\n", &state); line;
	     line = strtok_r(NULL, "\n", &state)) {
		/* 0: a process that this PID namespace does not see. */
		if (parse_uint(line, 1, INT32_MAX, &pid) < 0)
			continue;
		*ret_found = true;
		r = process_end((pid_t)pid);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Only the kernel's own list of processes is believed: a file of that name elsewhere names others. */
static bool group_is_cgroup(int group)
{
	struct statfs type;

	return fstatfs(group, &type) == 0 &&
	       (type.f_type == CGROUP_SUPER_MAGIC || type.f_type == CGROUP2_SUPER_MAGIC);
}

static int group_end(int group)
{
	bool found = true;

	if (!group_is_cgroup(group))
		return -ENOTDIR;

	/* A frozen process does not end. */
	autoclose int freezer = openat(group, "freezer.state", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (freezer >= 0 && write(freezer, "THAWED", 6) < 0)
		return -errno;
	for (int round = 0; found; round++) {
		if (round == ROUNDS_MAX)
			return -EBUSY;
		int r = group_end_round(group, &found);
		if (r < 0)
			return r;
	}
	return 0;
}

static int tree_remove(int parent, const char *name, bool groups, int depth);

static int tree_empty(DIR *stream, bool groups, int depth)
{
	const struct dirent *entry;
	int r = 0;

	while (r == 0 && (entry = readdir(stream))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (entry->d_type == DT_DIR)
			r = tree_remove(dirfd(stream), entry->d_name, groups, depth + 1);
		else if (!groups && unlinkat(dirfd(stream), entry->d_name, 0) < 0 &&
			 errno != ENOENT)
			r = -errno;
	}
	return r;
}

/* Removes the directory NAME in PARENT with all below. GROUPS: of cgroups, whose files go with it. */
static int tree_remove(int parent, const char *name, bool groups, int depth)
{
	if (depth == DEPTH_MAX)
		return -E2BIG;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	DIR *stream = fdopendir(fd);
	if (!stream) {
		int number = errno;

		close(fd);
		return -number;
	}
	int r = groups ? group_end(fd) : 0;
	if (r == 0)
		r = tree_empty(stream, groups, depth);
	closedir(stream);
	return r == 0 ? directory_remove(parent, name, groups) : r;
}

/* The group in the hierarchy mounted at /sys/fs/cgroup[/HIERARCHY]. */
static int hierarchy_clear(const char *hierarchy, const char *group, struct error *error)
{
	autostrbuf path = STRBUF_INIT(4096);

	strbuf_addf(&path, CGROUP_ROOT "/%s%s", hierarchy, group);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the cgroup %s has too long a name", group);
	int r = tree_remove(AT_FDCWD, path.data, true, 0);
	/* ENOTDIR: a link, a file or a plain directory beside the hierarchies. */
	if (r < 0 && r != -ENOTDIR && r != -ELOOP)
		return error_set_errno(error, -r, "cannot end the processes in cgroup %s",
				       path.data);
	return 0;
}

static int groups_clear(const char *group, struct error *error)
{
	const struct dirent *entry;
	int r = hierarchy_clear("", group, error);
	DIR *stream = opendir(CGROUP_ROOT);

	if (!stream)
		return r;
	while (r == 0 && (entry = readdir(stream)))
		if (entry->d_name[0] != '.' && entry->d_type == DT_DIR)
			r = hierarchy_clear(entry->d_name, group, error);
	closedir(stream);
	return r;
}

int runtime_clear(const struct runtime *runtime, const char *id, const char *group,
		  struct error *error)
{
	autostrbuf path = STRBUF_INIT(4096);

	if (!*id || strchr(id, '/') || strcmp(id, ".") == 0 || strcmp(id, "..") == 0)
		return error_set(error, EINVAL, "%s is no name of a container", id);
	int r = groups_clear(group, error);
	if (r < 0)
		return r;
	strbuf_addf(&path, "%s/%s", runtime->state, id);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the container's name %s is too long", id);
	r = tree_remove(AT_FDCWD, path.data, false, 0);
	if (r < 0)
		return error_set_errno(error, -r, "cannot remove %s", path.data);
	strbuf_adds(&path, ".log");
	/* A name that is too long for it never had one. */
	if (strbuf_failed(&path) == 0 && unlink(path.data) < 0 && errno != ENOENT &&
	    errno != ENAMETOOLONG)
		return error_set_errno(error, errno, "cannot remove %s", path.data);
	return 0;
}
