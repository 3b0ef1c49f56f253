/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "version_slot.h"

#define COPY_MAX (64u << 20) /* no program or library of ours is larger */

int tree_fail(const char *format, ...)
{
	va_list arguments;

	fputs("simdriver: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return -1;
}

int tree_path(const char *root, const char *path, char ret[TREE_PATH_MAX])
{
	if ((size_t)snprintf(ret, TREE_PATH_MAX, "%s/%s", root, path) >= TREE_PATH_MAX)
		return tree_fail("the path %s/%s is too long", root, path);
	return 0;
}

static int make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST) {
			tree_fail("cannot make folder %s: %s", path, strerror(errno));
			*slash = '/';
			return -1;
		}
		*slash = '/';
	}
	return 0;
}

static int prepare(const char *root, const char *path, char ret[TREE_PATH_MAX])
{
	return tree_path(root, path, ret) != 0 ? -1 : make_parents(ret);
}

int tree_folder(const char *root, const char *path)
{
	char full[TREE_PATH_MAX];

	if (prepare(root, path, full) != 0)
		return -1;
	if (mkdir(full, 0755) != 0 && errno != EEXIST)
		return tree_fail("cannot make folder %s: %s", full, strerror(errno));
	return 0;
}

int tree_bytes(const char *root, const char *path, const void *bytes, size_t size, mode_t mode)
{
	char full[TREE_PATH_MAX];
	const char *at = bytes;
	int fd;

	if (prepare(root, path, full) != 0)
		return -1;
	unlink(full); /* a running program's file may not be written to, but it may be replaced */
	fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return tree_fail("cannot make %s: %s", full, strerror(errno));
	while (size > 0) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			tree_fail("cannot write %s: %s", full, strerror(errno));
			close(fd);
			return -1;
		}
		at += written;
		size -= (size_t)written;
	}
	if (close(fd) != 0)
		return tree_fail("cannot write %s: %s", full, strerror(errno));
	return 0;
}

int tree_text(const char *root, const char *path, const char *format, ...)
{
	va_list arguments;
	char *text;
	int size, result;

	va_start(arguments, format);
	size = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (size < 0)
		return tree_fail("out of memory for %s", path);
	result = tree_bytes(root, path, text, (size_t)size, 0644);
	free(text);
	return result;
}

int tree_link(const char *root, const char *path, const char *target)
{
	char full[TREE_PATH_MAX];

	if (prepare(root, path, full) != 0)
		return -1;
	unlink(full);
	if (symlink(target, full) != 0)
		return tree_fail("cannot link %s to %s: %s", full, target, strerror(errno));
	return 0;
}

int tree_pipe(const char *root, const char *path, mode_t mode)
{
	char full[TREE_PATH_MAX];

	if (prepare(root, path, full) != 0)
		return -1;
	unlink(full);
	return mkfifo(full, mode) == 0 ? 0 : tree_fail("cannot make %s: %s", full, strerror(errno));
}

int tree_node(const char *root, const char *path, unsigned major, unsigned minor, mode_t mode)
{
	char full[TREE_PATH_MAX];

	if (prepare(root, path, full) != 0)
		return -1;
	unlink(full);
	if (mknod(full, S_IFCHR | mode, makedev(major, minor)) == 0)
		return 0;
	if (errno == EPERM)
		return tree_fail("cannot make device node %s: this needs root (CAP_MKNOD); run "
				 "simdriver as root",
				 full);
	return tree_fail("cannot make device node %s: %s", full, strerror(errno));
}

static int write_version(char *bytes, size_t size, const char *version, const char *source)
{
	char *slot = memmem(bytes, size, VERSION_SLOT_MARK, sizeof(VERSION_SLOT_MARK) - 1);
	size_t room = VERSION_SLOT_SIZE - sizeof(VERSION_SLOT_MARK), length = strlen(version);

	if (slot == NULL || (size_t)(bytes + size - slot) < VERSION_SLOT_SIZE || length > room)
		return tree_fail("%s has no room for version %s", source, version);
	memcpy(slot + sizeof(VERSION_SLOT_MARK) - 1, version, length + 1);
	return 0;
}

int tree_copy(const char *root, const char *path, const char *source, const char *version)
{
	FILE *file = fopen(source, "re");
	char *bytes = NULL;
	struct stat status;
	int result = -1;

	if (file == NULL || fstat(fileno(file), &status) != 0) {
		tree_fail("cannot read %s: %s", source, strerror(errno));
	} else if (status.st_size <= 0 || status.st_size > COPY_MAX) {
		tree_fail("%s has %lld bytes; expected between 1 and %u", source,
			  (long long)status.st_size, COPY_MAX);
	} else {
		bytes = malloc((size_t)status.st_size);
		if (bytes == NULL ||
		    fread(bytes, 1, (size_t)status.st_size, file) != (size_t)status.st_size)
			tree_fail("cannot read all of %s", source);
		else if (version == NULL ||
			 write_version(bytes, (size_t)status.st_size, version, source) == 0)
			result = tree_bytes(root, path, bytes, (size_t)status.st_size, 0755);
	}
	free(bytes);
	if (file != NULL)
		fclose(file);
	return result;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	if (remove(path) != 0 && errno != ENOENT)
		return tree_fail("cannot remove %s: %s", path, strerror(errno));
	return 0;
}

int tree_remove(const char *root, const char *path)
{
	char full[TREE_PATH_MAX];

	if (tree_path(root, path, full) != 0)
		return -1;
	if (!tree_exists(root, path))
		return 0;
	if (nftw(full, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
		return -1;
	return 0;
}

bool tree_exists(const char *root, const char *path)
{
	char full[TREE_PATH_MAX];
	struct stat status;

	return tree_path(root, path, full) == 0 && lstat(full, &status) == 0;
}
