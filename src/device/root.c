/* SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "device/nvml/library.h"
#include "device/root.h"

/* How to add a place: one row, in the order of the search. */
static const char *const root_places[] = {
	"/", "/run/nvidia/driver",     /* the driver in a container */
	"/home/kubernetes/bin/nvidia", /* Container-Optimized OS */
	"/usr/lib/wsl",                /* Windows Subsystem for Linux */
};

static int root_copy(const char *root, char *ret, size_t size, struct error *error)
{
	if (strlen(root) >= size)
		return error_set(error, ENAMETOOLONG,
				 "the path of the driver root %.64s... is longer than %zu bytes",
				 root, size - 1);
	memcpy(ret, root, strlen(root) + 1);
	return 0;
}

/* A root that somebody named is taken as it is; what it lacks is said later, by name. */
static int root_named(const char *named, const char *source, char *ret, size_t size,
		      struct error *error)
{
	char real[PATH_MAX];
	struct stat stat_of;

	if (!realpath(named, real) || stat(real, &stat_of) < 0)
		return error_set_errno(error, errno, "cannot use the driver root %s (from %s)",
				       named, source);
	if (!S_ISDIR(stat_of.st_mode))
		return error_set(error, ENOTDIR, "the driver root %s (from %s) is not a directory",
				 named, source);
	return root_copy(real, ret, size, error);
}

int device_find_driver_root(const char *option, char *ret, size_t size, struct error *error)
{
	const char *variable = secure_getenv(ENV_DRIVER_ROOT);
	autostrbuf places = STRBUF_INIT(ERROR_MESSAGE_MAX);

	if (option && *option)
		return root_named(option, "--driver-root", ret, size, error);
	if (variable && *variable)
		return root_named(variable, ENV_DRIVER_ROOT, ret, size, error);
	for (size_t i = 0; i < ARRAY_SIZE(root_places); i++) {
		autofree char *path = NULL, *version = NULL;

		if (library_find(root_places[i], NVML_LIBRARY, &path, &version, NULL) == 0)
			return root_copy(root_places[i], ret, size, error);
		strbuf_addf(&places, "%s%s", i ? ", " : "", root_places[i]);
	}
	return error_set(error, ENOENT,
			 "no NVIDIA driver found under %s; install the driver or name its place "
			 "with --driver-root",
			 places.data);
}
