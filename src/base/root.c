/* SPDX-License-Identifier: Apache-2.0 */
#include "base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { AGAIN_MAX = 16 };

static void strbuf_cut(struct strbuf *buffer, size_t length)
{
	if (length < buffer->length) {
		buffer->length = length;
		buffer->data[length] = '\0';
	}
}

/* Takes the last component off. */
static void path_up(struct strbuf *path)
{
	const char *slash = strrchr(path->data, '/');

	strbuf_cut(path, slash ? (size_t)(slash - path->data) : 0);
}

/* Opens "/a/b/c", which must have no link in it, one component at a time. */
static int open_steps(int root, const char *path, int flags)
{
	int fd = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0) {
		char name[NAME_MAX + 1];

		path += strspn(path, "/");
		size_t length = strcspn(path, "/");
		const char *rest = path + length + strspn(path + length, "/");
		bool last = !*rest;

		if (length > NAME_MAX) {
			close(fd);
			return -ENAMETOOLONG;
		}
		memcpy(name, length ? path : ".", length ? length : 1);
		name[length ? length : 1] = '\0';
		int next = openat(fd, name,
				  (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC);
		int number = errno;
		close(fd);
		errno = number;
		if (last)
			return next < 0 ? -errno : next;
		fd = next;
		path = rest;
	}
	return -errno;
}

/* What is still to be walked, and what was walked. */
struct walk {
	int root;
	struct strbuf done; /* "" or "/a/b", without links */
	char *todo;         /* owned */
	unsigned links;
	bool missing; /* something in done does not exist: no more looking */
};

static void walk_release(struct walk *walk)
{
	strbuf_release(&walk->done);
	free(walk->todo);
}

/* The link FD was met as the last component of done: goes on with its target and REST. */
static int walk_link(struct walk *walk, int fd, const char *rest)
{
	char target[ROOT_PATH_MAX];
	autostrbuf next = STRBUF_INIT(ROOT_PATH_MAX);
	ssize_t length = readlinkat(fd, "", target, sizeof(target) - 1);

	if (length < 0)
		return -errno;
	if (++walk->links > ROOT_LINKS_MAX)
		return -ELOOP;
	target[length] = '\0';
	if (target[0] == '/')
		strbuf_cut(&walk->done, 0);
	else
		path_up(&walk->done);
	strbuf_addf(&next, "%s/%s", target, rest);
	if (strbuf_failed(&next) < 0)
		return strbuf_failed(&next);
	char *text = strbuf_detach(&next);
	if (!text)
		return -ENOMEM;
	free(walk->todo);
	walk->todo = text;
	return 0;
}

/* One more component; REST is what follows it. 1 when todo was replaced. */
static int walk_step(struct walk *walk, const char *name, const char *rest, bool missing_ok)
{
	struct stat status;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		path_up(&walk->done);
		return 0;
	}
	strbuf_addf(&walk->done, "/%s", name);
	if (strbuf_failed(&walk->done) < 0)
		return strbuf_failed(&walk->done);
	if (walk->missing)
		return 0;
	autoclose int fd = open_steps(walk->root, walk->done.data, O_PATH);
	if (fd < 0) {
		walk->missing = missing_ok && (fd == -ENOENT || fd == -ENOTDIR);
		return walk->missing ? 0 : fd;
	}
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISLNK(status.st_mode))
		return 0;
	int r = walk_link(walk, fd, rest);
	return r < 0 ? r : 1;
}

static int walk_run(struct walk *walk, const char *path, bool missing_ok)
{
	walk->todo = strdup(path);
	if (!walk->todo)
		return -ENOMEM;
	char *at = walk->todo;
	for (;;) {
		at += strspn(at, "/");
		if (!*at)
			return 0;
		char *rest = at + strcspn(at, "/");
		if (*rest)
			*rest++ = '\0';
		int r = walk_step(walk, at, rest, missing_ok);
		if (r < 0)
			return r;
		at = r == 1 ? walk->todo : rest;
	}
}

int root_open_walk(int root, const char *path, int flags)
{
	cleanup(walk_release) struct walk walk = { .root = root,
						   .done = STRBUF_INIT(ROOT_PATH_MAX) };
	int r = walk_run(&walk, path, false);

	return r < 0 ? r : open_steps(root, walk.done.data, flags);
}

int root_resolve(int root, const char *path, struct strbuf *out)
{
	cleanup(walk_release) struct walk walk = { .root = root,
						   .done = STRBUF_INIT(ROOT_PATH_MAX) };
	int r = walk_run(&walk, path, true);

	if (r < 0)
		return r;
	strbuf_adds(out, walk.done.length ? walk.done.data : "/");
	return strbuf_failed(out);
}

static int open_kernel(int root, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC), .resolve = resolve };
	long fd = -1;

	/* EAGAIN: something was renamed while the kernel looked. */
	for (int i = 0; i < AGAIN_MAX; i++) {
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

/* No such call, forbidden by a filter, or too busy: walk instead. */
static bool kernel_cannot(int r)
{
	return r == -ENOSYS || r == -EPERM || r == -EAGAIN;
}

int root_open(int root, const char *path, int flags)
{
	int fd = open_kernel(root, path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);

	return kernel_cannot(fd) ? root_open_walk(root, path, flags) : fd;
}

int root_open_plain(int root, const char *path)
{
	int fd =
		open_kernel(root, path, O_PATH | O_NOFOLLOW, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	struct stat status;

	if (kernel_cannot(fd))
		fd = open_steps(root, path, O_PATH);
	if (fd < 0)
		return fd;
	/* The last component itself may be a link when nothing follows it. */
	if (fstat(fd, &status) < 0 || S_ISLNK(status.st_mode)) {
		close(fd);
		return -ELOOP;
	}
	return fd;
}

int root_stat(int root, const char *path, struct stat *ret)
{
	autoclose int fd = root_open(root, path, O_PATH);

	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

int root_fd_path(int fd, char **ret)
{
	char name[64], path[ROOT_PATH_MAX];
	struct stat here, there;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	ssize_t length = readlink(name, path, sizeof(path) - 1);
	if (length < 0)
		return -errno;
	path[length] = '\0';
	if (length == sizeof(path) - 1)
		return -ENAMETOOLONG;
	if (fstat(fd, &here) < 0 || lstat(path, &there) < 0 || here.st_dev != there.st_dev ||
	    here.st_ino != there.st_ino)
		return -ESTALE;
	*ret = strdup(path);
	return *ret ? 0 : -ENOMEM;
}
