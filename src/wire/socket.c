/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 64

static int socket_address(const char *path, struct sockaddr_un *ret, struct error *error)
{
	size_t length = strlen(path);

	if (length == 0 || length >= sizeof(ret->sun_path))
		return error_set(
			error, ENAMETOOLONG,
			"the socket path '%s' has %zu bytes; the kernel takes 1 to %zu: use a "
			"shorter directory",
			path, length, sizeof(ret->sun_path) - 1);
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret->sun_path, path, length);
	return 0;
}

static int socket_open(int *ret, struct error *error)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return error_set_errno(error, errno, "cannot make a socket");
	*ret = fd;
	return 0;
}

/* What stands in the way at ADDRESS: removed when nobody listens on it. */
static int remove_stale(const struct sockaddr_un *address, struct error *error)
{
	const char *path = address->sun_path;
	autoclose int fd = -1;
	struct stat stat;

	if (lstat(path, &stat) < 0)
		return errno == ENOENT ? 0
				       : error_set_errno(error, errno, "cannot look at '%s'", path);
	if (!S_ISSOCK(stat.st_mode))
		return error_set(error, EEXIST,
				 "'%s' is no socket: remove it, or choose another path", path);
	int r = socket_open(&fd, error);
	if (r < 0)
		return r;
	/* EAGAIN: so many wait there that no more may. */
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN)
		return error_set(error, EADDRINUSE,
				 "another process listens on '%s': stop it, or choose another path",
				 path);
	if (errno != ECONNREFUSED && errno != ENOENT)
		return error_set_errno(error, errno, "cannot tell whether '%s' is in use", path);
	if (unlink(path) < 0 && errno != ENOENT)
		return error_set_errno(error, errno, "cannot remove the unused socket '%s'", path);
	return 0;
}

static int socket_bind(int fd, const struct sockaddr_un *address, mode_t mode, struct error *error)
{
	const char *path = address->sun_path;

	/* The file that bind() makes has the mode of the socket, less the umask: no moment with more. */
	if (fchmod(fd, mode) < 0)
		return error_set_errno(error, errno, "cannot set the mode of a socket");
	int r = remove_stale(address, error);
	if (r < 0)
		return r;
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return error_set_errno(error, errno, "cannot make the socket '%s'", path);
	return 0;
}

int socket_listen(const char *path, mode_t mode, struct socket_file *ret_file, int *ret_fd,
		  struct error *error)
{
	struct sockaddr_un address;
	autofree char *copy = NULL;
	autoclose int fd = -1;
	struct stat stat;

	int r = socket_address(path, &address, error);
	if (r < 0)
		return r;
	copy = strdup(path);
	if (!copy)
		return error_no_memory(error);
	r = socket_open(&fd, error);
	if (r < 0)
		return r;
	r = socket_bind(fd, &address, mode, error);
	if (r < 0)
		return r;
	/* The umask may have taken bits that were asked for. */
	if (lstat(path, &stat) < 0 || ((stat.st_mode & 07777) != mode && chmod(path, mode) < 0) ||
	    listen(fd, BACKLOG) < 0) {
		r = error_set_errno(error, errno, "cannot listen on '%s'", path);
		unlink(path);
		return r;
	}
	*ret_file = (struct socket_file){ .path = TAKE_PTR(copy),
					  .device = stat.st_dev,
					  .inode = stat.st_ino,
					  .made = stat.st_mtim };
	*ret_fd = TAKE_FD(fd);
	return 0;
}

bool socket_file_is_own(const struct socket_file *file)
{
	struct stat stat;

	return file->path && lstat(file->path, &stat) == 0 && stat.st_dev == file->device &&
	       stat.st_ino == file->inode && stat.st_mtim.tv_sec == file->made.tv_sec &&
	       stat.st_mtim.tv_nsec == file->made.tv_nsec;
}

void socket_file_remove(struct socket_file *file)
{
	if (socket_file_is_own(file))
		unlink(file->path);
	free(file->path);
	file->path = NULL;
}

int socket_connect(const char *path, int *ret_fd, struct error *error)
{
	struct sockaddr_un address;
	autoclose int fd = -1;

	int r = socket_address(path, &address, error);
	if (r < 0)
		return r;
	r = socket_open(&fd, error);
	if (r < 0)
		return r;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return error_set_errno(error, errno, "cannot connect to '%s'", path);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int socket_put(int fd, const unsigned char **bytes, size_t *length)
{
	while (*length > 0) {
		ssize_t written = send(fd, *bytes, *length, MSG_NOSIGNAL);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return errno == EAGAIN ? 0 : -errno;
		*bytes += written;
		*length -= (size_t)written;
	}
	return 0;
}
