/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/runtimes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How to add a runtime: a row here; spawn.c if it wants its host prepared in another way. */
static const char *const runtime_names[] = { "runc", "crun" };

/* As root we trust the system's directories, not the caller's PATH. */
static const char *const runtime_directories[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
						   "/usr/bin",        "/sbin",          "/bin" };

static bool runtime_find_name(const char *name, struct runtime *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtime_directories); i++) {
		char path[sizeof(ret->path)];

		snprintf(path, sizeof(path), "%s/%s", runtime_directories[i], name);
		if (access(path, X_OK) < 0)
			continue;
		snprintf(ret->name, sizeof(ret->name), "%s", name);
		memcpy(ret->path, path, sizeof(path));
		return true;
	}
	return false;
}

static bool runtime_is_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtime_names); i++)
		if (strcmp(name, runtime_names[i]) == 0)
			return true;
	return false;
}

int runtime_check_name(const char *name, struct error *error)
{
	if (!name)
		return 0;
	if (name[0] == '/' && !runtime_is_known(strrchr(name, '/') + 1))
		return error_set(error, EINVAL,
				 "unknown runtime %s; give a path that ends in runc or crun", name);
	if (name[0] == '/' || runtime_is_known(name))
		return 0;
	return error_set(error, EINVAL,
			 "unknown runtime %s; give runc, crun, or an absolute path that ends "
			 "in one of them",
			 name);
}

static int runtime_find_path(const char *path, struct runtime *ret, struct error *error)
{
	const char *name = strrchr(path, '/') + 1;

	if (access(path, X_OK) < 0)
		return error_set_errno(error, errno, "cannot run the runtime %s", path);
	if (strlen(path) >= sizeof(ret->path))
		return error_set(error, ENAMETOOLONG,
				 "the path of the runtime %s has more than %zu bytes; make a link "
				 "with a shorter one",
				 path, sizeof(ret->path) - 1);
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	snprintf(ret->path, sizeof(ret->path), "%s", path);
	return 0;
}

int runtime_find(const char *name, const char *state, struct runtime *ret,
		 struct reason *ret_reason, struct error *error)
{
	struct runtime found = { .name = "" };

	if (strlen(state) >= sizeof(found.state))
		return error_set(error, ENAMETOOLONG, "the state directory %s is too long", state);
	snprintf(found.state, sizeof(found.state), "%s", state);
	if (runtime_check_name(name, error) < 0)
		return -EINVAL;
	if (name && name[0] == '/') {
		int r = runtime_find_path(name, &found, error);
		if (r < 0)
			return r;
		*ret = found;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(runtime_names); i++) {
		if (name && strcmp(name, runtime_names[i]) != 0)
			continue;
		if (!runtime_find_name(runtime_names[i], &found))
			continue;
		*ret = found;
		return 0;
	}
	if (ret_reason) {
		*ret_reason = (struct reason){ .code = REASON_NO_RUNTIME };
		reason_text(ret_reason->node, sizeof(ret_reason->node), "this machine");
		reason_text(
			ret_reason->detail, sizeof(ret_reason->detail),
			"looked for %s in /usr/local/{sbin,bin}, /usr/{sbin,bin} and /{sbin,bin}",
			name ? name : "runc and crun");
	}
	return error_set(error, ENOENT, "no container runtime %s on this machine; install runc",
			 name ? name : "(runc or crun)");
}
