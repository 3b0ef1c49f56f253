/* SPDX-License-Identifier: Apache-2.0 */
/* From this program to the runtime: the same process, arguments and environment. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime.h"

enum { FIRST_INHERITED = 3 };

/* Names of this program: a runtime of such a name would come back here. */
static const char *const own_names[] = { "gpupool-runtime", "nvidia-container-runtime",
					 "nvidia-container-runtime.cdi",
					 "nvidia-container-runtime.legacy", "nvidia-cdi-hook" };

/* Where the system's own programs are, for a caller without PATH. */
static const char *const system_directories[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
						  "/usr/bin",        "/sbin",          "/bin" };

static bool has_own_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < ARRAY_SIZE(own_names); i++)
		if (strcmp(slash ? slash + 1 : path, own_names[i]) == 0)
			return true;
	return false;
}

/* A program that can be run and is not this one, whatever links lead to it. */
static bool is_runtime(const char *path)
{
	struct stat status, self;

	if (access(path, X_OK) < 0 || stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	return stat("/proc/self/exe", &self) < 0 || self.st_dev != status.st_dev ||
	       self.st_ino != status.st_ino;
}

static bool try_directory(const char *directory, size_t length, const char *name,
			  struct strbuf *path)
{
	strbuf_reset(path);
	strbuf_add(path, directory, length);
	strbuf_addf(path, "/%s", name);
	return strbuf_failed(path) == 0 && is_runtime(path->data);
}

/*
 * As the caller would have found it: PATH is that of containerd or Docker, never the image's, and
 * k3s has its runc nowhere else. A part that is no absolute path is passed over.
 */
static bool find_name(const char *name, struct strbuf *path)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t length = strcspn(at, ":");

		if (*at == '/' && try_directory(at, length, name, path))
			return true;
		at += length;
		at += *at == ':';
	}
	for (size_t i = 0; i < ARRAY_SIZE(system_directories); i++)
		if (try_directory(system_directories[i], strlen(system_directories[i]), name, path))
			return true;
	return false;
}

int handover_find(const struct toolkit_config *config, char **ret, struct error *error)
{
	autostrbuf path = STRBUF_INIT(4096), tried = STRBUF_INIT(ERROR_MESSAGE_MAX / 2);

	for (size_t i = 0; i < config->runtimes.count; i++) {
		const char *name = config->runtimes.items[i];
		bool found = false;

		strbuf_addf(&tried, "%s%s", i ? ", " : "", name);
		if (has_own_name(name))
			continue;
		if (strchr(name, '/')) {
			strbuf_reset(&path);
			strbuf_adds(&path, name);
			found = *name == '/' && is_runtime(name);
		} else {
			found = find_name(name, &path);
		}
		if (!found)
			continue;
		*ret = strbuf_detach(&path);
		return *ret ? 0 : error_no_memory(error);
	}
	return error_set(error, ENOENT,
			 "no container runtime found: looked for %s in PATH and the system's "
			 "directories, other than this program; install runc, or name one with "
			 "runtimes in %s or %s",
			 tried.data, PATH_TOOLKIT_CONFIG, PATH_CONFIG);
}

/* Descriptors that a service manager hands on (sd_listen_fds(3)). */
static unsigned listening(void)
{
	const char *text = getenv("LISTEN_FDS");
	uint64_t count = 0;

	return text && parse_uint(text, 0, 1 << 20, &count) == 0 ? (unsigned)count : 0;
}

/* Before Linux 5.11, which knows CLOSE_RANGE_CLOEXEC. */
static int mark_one_by_one(unsigned first)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	int r = 0;

	if (!directory)
		return -errno;
	while ((entry = readdir(directory))) {
		uint64_t fd;

		if (parse_uint(entry->d_name, first, INT32_MAX, &fd) == 0 &&
		    fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
			r = -errno;
	}
	closedir(directory);
	return r;
}

/* An open descriptor of a card is a grant, and one of a host directory a way out (CVE-2024-21626). */
static int close_others(const struct call *call, struct error *error)
{
	unsigned first = FIRST_INHERITED + listening() + call->preserved;
	int r = 0;

	if (close_range(first, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		r = mark_one_by_one(first);
	return r < 0 ? error_set_errno(error, -r, "cannot close the descriptors from %u on", first)
		     : 0;
}

int handover(const char *path, const struct call *call, char **argv, struct error *error)
{
	/* Other commands pass: what they hand on is between their caller and the runtime. */
	int r = call_makes_container(call) ? close_others(call, error) : 0;

	if (r < 0)
		return r;
	argv[0] = (char *)(uintptr_t)path;
	execv(path, argv);
	return error_set_errno(error, errno, "cannot run %s", path);
}
