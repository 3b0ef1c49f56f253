/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_root(const struct host *host, struct error *error)
{
	int fd = open(host->root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? error_set_errno(error, errno,
					"cannot open the host's root %s; check the path",
					host->root)
		      : fd;
}

int host_read(const struct host *host, const char *path, char **ret, unsigned *ret_mode,
	      struct error *error)
{
	return host_read_large(host, path, HOST_FILE_MAX, ret, ret_mode, error);
}

int host_read_large(const struct host *host, const char *path, size_t maximum, char **ret,
		    unsigned *ret_mode, struct error *error)
{
	struct stat status;
	autoclose int root = open_root(host, error);

	if (root < 0)
		return root;
	autoclose int look = root_open(root, path, O_PATH);
	if (look == -ENOENT || look == -ENOTDIR)
		return -ENOENT;
	if (look < 0)
		return error_set_errno(error, -look, "cannot read %s of the host", path);
	/* Looked at before it is opened: a device or a FIFO under that name must not hold us up. */
	if (fstat(look, &status) < 0)
		return error_set_errno(error, errno, "cannot read %s of the host", path);
	if (!S_ISREG(status.st_mode))
		return error_set(error, EINVAL,
				 "%s of the host is no regular file; move it away or name another",
				 path);
	autoclose int fd = root_open(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set_errno(error, -fd, "cannot read %s of the host", path);
	size_t length = 0;
	autofree char *text = NULL;
	int r = file_read_fd(fd, path, maximum, &text, &length, error);
	if (r < 0)
		return r;
	if (strlen(text) != length)
		return error_set(error, EINVAL,
				 "%s holds a NUL byte; it is no text, repair it first", path);
	if (ret_mode)
		*ret_mode = status.st_mode & 07777;
	*ret = TAKE_PTR(text);
	return 0;
}

int host_path(const struct host *host, const char *path, struct strbuf *out, struct error *error)
{
	autostrbuf inside = STRBUF_INIT(ROOT_PATH_MAX);
	autoclose int root = open_root(host, error);

	if (root < 0)
		return root;
	int r = root_resolve(root, path, &inside);
	if (r < 0)
		return error_set_errno(error, -r, "cannot follow %s of the host", path);
	strbuf_addf(out, "%s%s", strcmp(host->root, "/") == 0 ? "" : host->root, inside.data);
	if (strbuf_failed(&inside) < 0 || strbuf_failed(out) < 0)
		return error_set(error, ENAMETOOLONG, "the path %s of the host is too long", path);
	return 0;
}

int host_proc(const struct host *host, struct strbuf *out)
{
	if (host->proc)
		strbuf_adds(out, host->proc);
	else
		strbuf_addf(out, "%s/proc", strcmp(host->root, "/") == 0 ? "" : host->root);
	return strbuf_failed(out);
}

bool host_exists(const struct host *host, const char *path)
{
	struct stat status;
	autoclose int root = open_root(host, NULL);

	return root >= 0 && root_stat(root, path, &status) == 0;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

int host_list(const struct host *host, const char *path, struct string_list *ret,
	      struct error *error)
{
	cleanup(string_list_release) struct string_list list = { .items = NULL };
	autoclose int root = open_root(host, error);
	struct dirent *entry;
	int r = 0;

	if (root < 0)
		return root;
	int fd = root_open(root, path, O_RDONLY | O_DIRECTORY);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		if (fd >= 0)
			close(fd);
		return fd == -ENOENT || fd == -ENOTDIR
			       ? 0
			       : error_set_errno(error, fd < 0 ? -fd : errno,
						 "cannot list %s of the host", path);
	}
	while (r == 0 && (entry = readdir(directory)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = string_list_add(&list, entry->d_name);
	closedir(directory);
	if (r < 0)
		return error_no_memory(error);
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), by_name);
	*ret = list;
	list = (struct string_list){ .items = NULL };
	return 0;
}

/* A name is on disk once its directory is. */
static int sync_directory(const char *path, struct error *error)
{
	autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return error_set_errno(error, errno, "cannot make %s durable; check the disk",
				       path);
	return 0;
}

/* PATH is an absolute directory name that may be changed while at work. */
static int make_directories(char *path, struct error *error)
{
	struct stat status;

	if (!*path || stat(path, &status) == 0)
		return 0;
	char *slash = strrchr(path, '/');
	if (!slash)
		return 0;
	*slash = '\0';
	int r = make_directories(path, error);
	autofree char *parent = r < 0 ? NULL : strdup(*path ? path : "/");
	*slash = '/';
	if (r < 0)
		return r;
	if (!parent)
		return error_no_memory(error);
	r = file_make_directories(path, 0755, error);
	return r < 0 ? r : sync_directory(parent, error);
}

/* Both are on the same file system; the old name goes with the new one. */
static int move_durably(const char *from, const char *to, const char *from_directory,
			const char *to_directory, struct error *error)
{
	autoclose int source =
		open(*from_directory ? from_directory : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclose int target = open(to_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (source < 0 || target < 0 ||
	    renameat(source, strrchr(from, '/') + 1, target, strrchr(to, '/') + 1) < 0) {
		int number = errno;

		unlink(from);
		return error_set_errno(error, number, "cannot write '%s'; check the disk", to);
	}
	if (fsync(target) < 0 || fsync(source) < 0)
		return error_set_errno(error, errno, "cannot make '%s' durable; check the disk",
				       to);
	return 0;
}

/*
 * CRI-O reads every file in its crio.conf.d, whatever its name (pkg/config: UpdateFromPath): a temporary
 * file there would count, even half written. So in a directory "x.d" a file appears whole, from the
 * directory above.
 */
static int write_from_above(char *path, const char *text, unsigned mode, struct error *error)
{
	char *slash = strrchr(path, '/');
	autostrbuf temporary = STRBUF_INIT(2 * ROOT_PATH_MAX),
		   above = STRBUF_INIT(2 * ROOT_PATH_MAX);
	autofree char *directory = strndup(path, (size_t)(slash - path));

	if (!directory)
		return error_no_memory(error);
	strbuf_add(&above, directory, (size_t)(strrchr(directory, '/') - directory));
	strbuf_addf(&temporary, "%s/.%s.new", above.data, slash + 1);
	if (strbuf_failed(&temporary) < 0 || strbuf_failed(&above) < 0)
		return error_no_memory(error);
	int r = file_write_atomic(temporary.data, text, strlen(text), mode, error);
	return r < 0 ? r : move_durably(temporary.data, path, above.data, directory, error);
}

/* ".../x.d", on the same file system as the directory above (else a rename is none). */
static bool is_read_whole(const char *directory)
{
	autofree char *above = strdup(directory);
	size_t length = strlen(directory);
	struct stat own, other;

	if (!above || length <= 3 || strcmp(directory + length - 2, ".d") != 0)
		return false;
	*strrchr(above, '/') = '\0';
	return stat(directory, &own) == 0 && stat(*above ? above : "/", &other) == 0 &&
	       own.st_dev == other.st_dev;
}

int host_write(const struct host *host, const char *path, const char *text, unsigned mode,
	       struct error *error)
{
	autostrbuf full = STRBUF_INIT(2 * ROOT_PATH_MAX);
	int r = host_path(host, path, &full, error);

	if (r < 0)
		return r;
	char *slash = strrchr(full.data, '/');
	*slash = '\0';
	r = make_directories(full.data, error);
	bool whole = is_read_whole(full.data);
	*slash = '/';
	if (r < 0)
		return r;
	return whole ? write_from_above(full.data, text, mode, error)
		     : file_write_atomic(full.data, text, strlen(text), mode, error);
}

int host_lock(const struct host *host, const char *path, struct error *error)
{
	autostrbuf full = STRBUF_INIT(2 * ROOT_PATH_MAX);
	int r = host_path(host, path, &full, error);

	if (r == 0)
		r = make_directories(full.data, error);
	if (r < 0)
		return r;
	autoclose int fd = open(full.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(error, errno, "cannot open %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? error_set(error, EAGAIN,
							"another gpupool configure is at work; try "
							"again when it has "
							"ended")
					    : error_set_errno(error, errno, "cannot lock %s", path);
	return TAKE_FD(fd);
}

int host_remove(const struct host *host, const char *path, struct error *error)
{
	autostrbuf full = STRBUF_INIT(2 * ROOT_PATH_MAX);
	int r = host_path(host, path, &full, error);

	if (r < 0)
		return r;
	if (unlink(full.data) < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : error_set_errno(error, errno, "cannot remove %s", path);
	*strrchr(full.data, '/') = '\0';
	return sync_directory(*full.data ? full.data : "/", error);
}

int host_run(const struct host *host, const char *const *argv, char **ret, struct error *error)
{
	return host->run ? host->run(host->data, argv, ret, error)
			 : host_run_program(host, argv, ret, error);
}
