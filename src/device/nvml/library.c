/* SPDX-License-Identifier: Apache-2.0 */
#include "device/nvml/library.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel */

#if defined(__aarch64__)
#define TRIPLET "aarch64-linux-gnu"
#else
#define TRIPLET "x86_64-linux-gnu"
#endif

/* How to add a place: one row. The first that has the library wins. */
static const char *const library_directories[] = {
	"",
	"usr/lib64",
	"usr/lib/" TRIPLET,
	"usr/lib/" TRIPLET "/nvidia/current",
	"lib64",
	"lib/" TRIPLET,
	"lib/" TRIPLET "/nvidia/current",
	"usr/lib",                /* Arch */
	"usr/local/nvidia/lib64", /* Container-Optimized OS */
	"lib",                    /* WSL: /usr/lib/wsl is the root */
};

/* The state of a walk: what is still to come, and where we are. */
struct walk {
	int root_fd;
	int fd; /* owned; where we are */
	unsigned links;
	char rest[PATH_MAX]; /* components still to come */
};

static int walk_to(struct walk *walk, int fd)
{
	if (fd < 0)
		return -errno;
	close(walk->fd);
	walk->fd = fd;
	return 0;
}

/* Puts the text of a link in front of what is still to come. */
static int walk_link(struct walk *walk, int link_fd)
{
	char text[PATH_MAX], rest[PATH_MAX];

	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	ssize_t length = readlinkat(link_fd, "", text, sizeof(text) - 1);
	if (length < 0)
		return -errno;
	text[length] = '\0';
	int written = snprintf(rest, sizeof(rest), "%s/%s", text, walk->rest);
	if (written < 0 || (size_t)written >= sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(walk->rest, rest, (size_t)written + 1);
	if (text[0] != '/')
		return 0;
	return walk_to(walk, fcntl(walk->root_fd, F_DUPFD_CLOEXEC, 3));
}

static bool same_file(const struct stat *left, const struct stat *right)
{
	return left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

/* ".." at the root stays there, as in a chroot. */
static int walk_up(struct walk *walk)
{
	struct stat root, here;

	if (fstat(walk->root_fd, &root) < 0 || fstat(walk->fd, &here) < 0)
		return -errno;
	if (same_file(&root, &here))
		return 0;
	return walk_to(walk, openat(walk->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static int walk_step(struct walk *walk, const char *name)
{
	struct stat stat;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0)
		return walk_up(walk);
	int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) < 0 || !S_ISLNK(stat.st_mode))
		return walk_to(walk, fd);
	int r = walk_link(walk, fd);
	close(fd);
	return r;
}

static int open_by_walk(int root_fd, const char *path)
{
	struct walk walk = { .root_fd = root_fd };
	int r = 0;

	if (strlen(path) >= sizeof(walk.rest))
		return -ENAMETOOLONG;
	memcpy(walk.rest, path, strlen(path) + 1);
	/* A descriptor of its own: openat() keeps O_PATH on "." too. */
	walk.fd = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (walk.fd < 0)
		return -errno;
	for (;;) {
		char name[NAME_MAX + 1];
		size_t start = strspn(walk.rest, "/");
		size_t length = strcspn(walk.rest + start, "/");

		if (!length)
			return walk.fd;
		if (length >= sizeof(name)) {
			r = -ENAMETOOLONG;
			break;
		}
		memcpy(name, walk.rest + start, length);
		name[length] = '\0';
		memmove(walk.rest, walk.rest + start + length,
			strlen(walk.rest + start + length) + 1);
		r = walk_step(&walk, name);
		if (r < 0)
			break;
	}
	close(walk.fd);
	return r;
}

int library_open_in_root(int root_fd, const char *path, enum resolve_way way)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };

	if (way == RESOLVE_KERNEL) {
		long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		/* EPERM from a filter that does not know the call (older container engines). */
		if (errno != ENOSYS && errno != EPERM && errno != EAGAIN)
			return -errno;
	}
	return open_by_walk(root_fd, path);
}

/* A descriptor's real path, and that it still leads to the same file. */
static int path_of(int fd, char *ret, size_t size)
{
	char link[64];
	struct stat by_fd, by_path;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, ret, size - 1);
	if (length < 0)
		return -errno;
	if ((size_t)length == size - 1)
		return -ENAMETOOLONG;
	ret[length] = '\0';
	if (fstat(fd, &by_fd) < 0 || stat(ret, &by_path) < 0)
		return -errno;
	return same_file(&by_fd, &by_path) ? 0 : -ESTALE;
}

static bool is_trusted(const struct stat *stat)
{
	if (stat->st_uid != 0 && stat->st_uid != geteuid())
		return false;
	if (stat->st_mode & S_IWOTH && !(S_ISDIR(stat->st_mode) && stat->st_mode & S_ISVTX))
		return false;
	return !(stat->st_mode & S_IWGRP) || stat->st_gid == 0 || stat->st_gid == getegid() ||
	       (S_ISDIR(stat->st_mode) && stat->st_mode & S_ISVTX);
}

/* The library runs in our process: nobody else may be able to put another one there. */
static int check_owners(const char *path, struct error *error)
{
	char part[PATH_MAX];
	size_t length = strlen(path);

	if (length >= sizeof(part))
		return error_set(error, ENAMETOOLONG,
				 "the path of the driver's library is too long");
	memcpy(part, path, length + 1);
	for (;;) {
		struct stat stat;

		if (lstat(*part ? part : "/", &stat) < 0)
			return error_set_errno(error, errno, "cannot look at %s", part);
		if (!is_trusted(&stat))
			return error_set(error, EPERM,
					 "%s can be changed by others (owner %u, mode %04o): the "
					 "driver's library is not loaded from there; correct its "
					 "owner and mode",
					 *part ? part : "/", stat.st_uid, stat.st_mode & 07777);
		char *slash = strrchr(part, '/');
		if (!slash || !*part)
			return 0;
		*slash = '\0';
	}
}

static bool is_version(const char *text)
{
	return strchr(text, '.') && strspn(text, "0123456789.") == strlen(text);
}

static int library_take(const char *path, char **ret_path, char **ret_version, struct error *error)
{
	const char *base = strrchr(path, '/');
	const char *suffix = strstr(base ? base : path, ".so.");
	const char *version = suffix && is_version(suffix + 4) ? suffix + 4 : "";
	autofree char *copy = strdup(path);
	autofree char *version_copy = strdup(version);

	if (!copy || !version_copy)
		return error_no_memory(error);
	*ret_path = TAKE_PTR(copy);
	*ret_version = TAKE_PTR(version_copy);
	return 0;
}

static bool is_inside(const char *root, const char *path)
{
	size_t length = strlen(root);

	if (strcmp(root, "/") == 0)
		return true;
	return strncmp(root, path, length) == 0 && path[length] == '/';
}

int library_find(const char *root, const char *name, char **ret_path, char **ret_version,
		 struct error *error)
{
	char real_root[PATH_MAX], path[PATH_MAX], relative[PATH_MAX];
	autoclose int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root_fd < 0)
		return error_set_errno(error, errno, "cannot open the driver root %s", root);
	int r = path_of(root_fd, real_root, sizeof(real_root));
	if (r < 0)
		return error_set_errno(error, -r, "cannot look at the driver root %s", root);
	for (size_t i = 0; i < ARRAY_SIZE(library_directories); i++) {
		struct stat stat;

		int length =
			snprintf(relative, sizeof(relative), "%s/%s", library_directories[i], name);
		if (length < 0 || (size_t)length >= sizeof(relative))
			return error_set(error, ENAMETOOLONG,
					 "the name of the library is too long");
		autoclose int fd = library_open_in_root(root_fd, relative + (*relative == '/'),
							RESOLVE_KERNEL);
		if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode))
			continue;
		r = path_of(fd, path, sizeof(path));
		if (r < 0 || !is_inside(real_root, path))
			continue; /* changed under our hands */
		r = check_owners(path, error);
		if (r < 0)
			return r;
		return library_take(path, ret_path, ret_version, error);
	}
	return error_set(error, ENOENT,
			 "no %s under %s; install the driver or name its place with --driver-root",
			 name, root);
}
