/* SPDX-License-Identifier: Apache-2.0 */
#include "device/nvml/library.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/driver_place.h"

static const char *const library_directories[] = { DRIVER_LIBRARY_DIRECTORIES };

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
			return error_set_errno(error, errno, "cannot look at %s",
					       *part ? part : "/");
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
	autofree char *real_root = NULL;
	autoclose int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root_fd < 0)
		return error_set_errno(error, errno, "cannot open the driver root %s", root);
	int r = root_fd_path(root_fd, &real_root);
	if (r < 0)
		return error_set_errno(error, -r, "cannot look at the driver root %s", root);
	for (size_t i = 0; i < ARRAY_SIZE(library_directories); i++) {
		autofree char *path = NULL;
		char relative[PATH_MAX];
		struct stat stat;

		int length =
			snprintf(relative, sizeof(relative), "%s/%s", library_directories[i], name);
		if (length < 0 || (size_t)length >= sizeof(relative))
			return error_set(error, ENAMETOOLONG,
					 "the name of the library is too long");
		autoclose int fd = root_open(root_fd, relative, O_PATH);
		if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode))
			continue;
		r = root_fd_path(fd, &path);
		if (r == -ENOMEM)
			return error_no_memory(error);
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
