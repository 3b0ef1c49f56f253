/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"

#define READ_STEP      4096 /* where the size is not known */
#define PATH_BYTES_MAX 4096

/* What to do about a failed call. How to add a cure: one row. */
static const struct cure_row {
	int number;
	const char *cure;
} cure_rows[] = {
	{ ENOENT, "check the path" },
	{ ENOTDIR, "check the path" },
	{ EACCES, "use an account that may, or change the permissions" },
	{ EPERM, "use an account that may, or change the permissions" },
	{ EROFS, "choose a place that can be written" },
	{ ENOSPC, "make room and try again" },
	{ EDQUOT, "make room and try again" },
	{ ENOMEM, "free some memory" },
	{ EMFILE, "raise the limit of open files" },
	{ ENAMETOOLONG, "choose a shorter name" },
	{ ELOOP, "check where its links lead" },
};

/* "cannot VERB 'NAME': errno's text; cure". */
static int file_fail(struct error *error, int number, const char *verb, const char *name)
{
	const char *cure = "check the disk and the kernel's log";
	const char *text = strerrordesc_np(number);

	for (size_t i = 0; i < ARRAY_SIZE(cure_rows); i++)
		if (cure_rows[i].number == number)
			cure = cure_rows[i].cure;
	return error_set(error, number, "cannot %s '%s': %s; %s", verb, name,
			 text ? text : "unknown error", cure);
}

static int file_too_large(const char *name, size_t maximum, struct error *error)
{
	return error_set(error, EFBIG,
			 "'%s' is larger than %zu bytes, the most that is read; check that it is "
			 "the file you meant or split it",
			 name, maximum);
}

/* What is read is a stream of bytes that ends: no directory, device or socket. */
static int file_check_kind(const struct stat *status, const char *name, struct error *error)
{
	if (S_ISDIR(status->st_mode))
		return error_set(error, EISDIR, "'%s' is a directory; name a file in it", name);
	if (!S_ISREG(status->st_mode) && !S_ISFIFO(status->st_mode))
		return error_set(error, EINVAL,
				 "'%s' is neither a file nor a pipe; name a regular file", name);
	return 0;
}

/* Text that grows while it is read; there is always room for a NUL behind it. */
struct text {
	char *data;
	size_t length, capacity;
};

static void text_release(struct text *text)
{
	free(text->data);
}

static int text_grow(struct text *text, size_t capacity)
{
	char *data = realloc(text->data, capacity + 1);

	if (!data)
		return -ENOMEM;
	text->data = data;
	text->capacity = capacity;
	return 0;
}

/* Reads until end of file or until more than MAXIMUM bytes came. */
static int file_read_all(int fd, const char *name, size_t maximum, struct text *text,
			 struct error *error)
{
	for (;;) {
		/* One byte more than there should be: else the end needs room of its own to show. */
		if (text->length == text->capacity && text_grow(text, 2 * text->capacity) < 0)
			return error_no_memory(error);
		ssize_t got = read(fd, text->data + text->length, text->capacity - text->length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return file_fail(error, errno, "read", name);
		if (got == 0)
			return 0;
		text->length += (size_t)got;
		if (text->length > maximum)
			return file_too_large(name, maximum, error);
	}
}

static int file_read_checked(int fd, const char *name, const struct stat *status, size_t maximum,
			     char **ret, size_t *ret_length, struct error *error)
{
	cleanup(text_release) struct text text = { 0 };
	size_t size = S_ISREG(status->st_mode) && status->st_size > 0 ? (size_t)status->st_size : 0;

	/* The size is known before the first byte: a huge file costs nothing. */
	if (size > maximum)
		return file_too_large(name, maximum, error);
	if (text_grow(&text, size ? size + 1 : READ_STEP) < 0)
		return error_no_memory(error);
	int r = file_read_all(fd, name, maximum, &text, error);
	if (r < 0)
		return r;
	text.data[text.length] = '\0';
	if (ret_length)
		*ret_length = text.length;
	*ret = TAKE_PTR(text.data);
	return 0;
}

int file_read_fd(int fd, const char *name, size_t maximum, char **ret, size_t *ret_length,
		 struct error *error)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return file_fail(error, errno, "read", name);
	if (S_ISDIR(status.st_mode))
		return file_check_kind(&status, name, error);
	return file_read_checked(fd, name, &status, maximum, ret, ret_length, error);
}

static int file_open_checked(const char *path, int flags, struct stat *status, struct error *error)
{
	/* Looked at before it is opened, since opening a device can already do something. */
	if (stat(path, status) < 0)
		return file_fail(error, errno, "read", path);
	int r = file_check_kind(status, path, error);
	if (r < 0)
		return r;
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
	if (fd < 0 || fstat(fd, status) < 0)
		return file_fail(error, errno, "read", path);
	r = file_check_kind(status, path, error);
	return r < 0 ? r : TAKE_FD(fd);
}

int file_read(const char *path, size_t maximum, char **ret, size_t *ret_length, struct error *error)
{
	struct stat status;
	autoclose int fd = file_open_checked(path, 0, &status, error);

	return fd < 0 ? fd : file_read_checked(fd, path, &status, maximum, ret, ret_length, error);
}

int file_read_regular(const char *path, size_t maximum, char **ret, size_t *ret_length,
		      struct error *error)
{
	struct stat status;
	autoclose int fd = file_open_checked(path, O_NONBLOCK, &status, error);

	if (fd < 0)
		return fd;
	if (S_ISFIFO(status.st_mode))
		return error_set(
			error, EINVAL,
			"'%s' is a pipe, which is not waited for; put a regular file there", path);
	return file_read_checked(fd, path, &status, maximum, ret, ret_length, error);
}

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}

/* Everything that must be on disk before the name may change over to it. */
static int write_temporary(int fd, const void *bytes, size_t length, unsigned mode)
{
	if (fchmod(fd, mode) < 0)
		return -errno;
	int r = write_all(fd, bytes, length);
	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

/* A new file beside the target, ".NAME.<random>"; rename() works within one file system only. */
static int temporary_open(int directory, const char *path, struct strbuf *name)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	for (int i = 0; i < 16; i++) {
		uint64_t random = 0;

		if (getrandom(&random, sizeof(random), 0) < 0)
			return -errno;
		strbuf_reset(name);
		strbuf_add(name, path, (size_t)(base - path));
		strbuf_addf(name, ".%.200s.%016" PRIx64, base, random);
		if (strbuf_failed(name) < 0)
			return strbuf_failed(name);
		int fd = openat(directory, name->data,
				O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int replace_in(int directory, const char *base, const void *bytes, size_t length,
		      unsigned mode)
{
	autostrbuf name = STRBUF_INIT(255);
	autoclose int fd = temporary_open(directory, base, &name);

	if (fd < 0)
		return fd;
	int r = write_temporary(fd, bytes, length, mode);
	if (r == 0 && renameat(directory, name.data, directory, base) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(directory, name.data, 0);
		return r;
	}
	return fsync(directory) < 0 ? -errno : 0;
}

static int replace_like(int directory, const char *base, const void *bytes, size_t length,
			const struct stat *status)
{
	autostrbuf name = STRBUF_INIT(PATH_BYTES_MAX);
	autoclose int fd = temporary_open(directory, base, &name);

	if (fd < 0)
		return fd;
	int r = write_all(fd, bytes, length);
	/* The owner first: a change of owner takes set-user-ID bits away. */
	if (r == 0 && (status->st_uid != geteuid() || status->st_gid != getegid()) &&
	    fchown(fd, status->st_uid, status->st_gid) < 0)
		r = -errno;
	if (r == 0 && fchmod(fd, status->st_mode & 07777) < 0)
		r = -errno;
	if (r == 0 && renameat(directory, name.data, directory, base) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(directory, name.data, 0);
	return r;
}

int file_replace_at(int directory, const char *name, const void *bytes, size_t length,
		    const struct stat *status, struct error *error)
{
	int r = replace_like(directory, name, bytes, length, status);

	return r < 0 ? file_fail(error, -r, "write", name) : 0;
}

int file_write_atomic(const char *path, const void *bytes, size_t length, unsigned mode,
		      struct error *error)
{
	autofree char *parent = strdup(path);

	if (!parent)
		return error_no_memory(error);
	char *slash = strrchr(parent, '/');
	const char *base = slash ? path + (slash - parent) + 1 : path;
	if (!*base)
		return error_set(error, EISDIR,
				 "cannot write '%s': the path names no file; add "
				 "a file name",
				 path);
	if (slash)
		slash[slash == parent ? 1 : 0] = '\0';
	autoclose int directory = open(slash ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return file_fail(error, errno, "write", path);
	int r = replace_in(directory, base, bytes, length, mode);
	return r < 0 ? file_fail(error, -r, "write", path) : 0;
}

static int directory_make(const char *path, unsigned mode, struct error *error)
{
	struct stat status;

	if (mkdir(path, mode) == 0)
		return 0;
	int number = errno;
	if (number == EEXIST && stat(path, &status) == 0) {
		if (S_ISDIR(status.st_mode))
			return 0;
		number = ENOTDIR;
	}
	return file_fail(error, number, "make the directory", path);
}

int file_make_directories(const char *path, unsigned mode, struct error *error)
{
	autofree char *copy = strdup(path);

	if (!copy)
		return error_no_memory(error);
	for (char *at = copy; *at; at++) {
		if (*at != '/' || at == copy || at[-1] == '/')
			continue;
		*at = '\0';
		int r = directory_make(copy, mode, error);
		if (r < 0)
			return r;
		*at = '/';
	}
	return directory_make(copy, mode, error);
}
