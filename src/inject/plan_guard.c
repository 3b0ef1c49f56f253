/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold before a runtime makes mount points and device nodes for us. runc and crun follow
 * a link at /dev of an image to the host (CVE-2026-41579, CVE-2026-47766), and create mount points
 * inside a volume that another container may change meanwhile (CVE-2024-45310). So: /dev, /proc,
 * /sys are real directories or absent, and nothing of ours is created inside a volume.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "inject/plan.h"

/* File systems that are made for this container alone; no one else can change them. */
static const char *const private_types[] = { "tmpfs",  "proc",   "sysfs",  "devpts",
					     "mqueue", "cgroup", "cgroup2" };

/* The same directory under two names in practically every image, for roots we cannot look into. */
static const struct {
	const char *from, *to;
} aliases[] = {
	{ "/usr/lib", "/lib" }, { "/usr/lib64", "/lib64" }, { "/usr/lib32", "/lib32" },
	{ "/usr/bin", "/bin" }, { "/usr/sbin", "/sbin" },   { "/var/run", "/run" },
};

/* The rest of PATH after DIRECTORY, NULL when it is neither that nor below. */
static const char *below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	if (strcmp(directory, "/") == 0)
		return path;
	if (strncmp(path, directory, length) != 0 || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

/* PATH without "." and "..", doubled slashes and usual links. */
static int resolve_text(const char *path, struct strbuf *out)
{
	autostrbuf text = STRBUF_INIT(ROOT_PATH_MAX);

	while (*path) {
		path += strspn(path, "/");
		size_t length = strcspn(path, "/");

		if (length == 2 && memcmp(path, "..", 2) == 0) {
			const char *slash = strrchr(text.data, '/');

			text.length = slash ? (size_t)(slash - text.data) : 0;
			if (text.capacity)
				text.data[text.length] = '\0';
		} else if (length && !(length == 1 && *path == '.')) {
			strbuf_addc(&text, '/');
			strbuf_add(&text, path, length);
		}
		path += length;
	}
	for (size_t i = 0; i < ARRAY_SIZE(aliases) && !text.failed; i++) {
		const char *rest = below(text.data, aliases[i].from);

		if (!rest)
			continue;
		strbuf_addf(out, "%s%s", aliases[i].to, rest);
		return strbuf_failed(out);
	}
	strbuf_adds(out, text.length ? text.data : "/");
	return text.failed ? -text.failed : strbuf_failed(out);
}

static int resolve(const struct guard *guard, const char *path, struct strbuf *out)
{
	return guard->root < 0 ? resolve_text(path, out) : root_resolve(guard->root, path, out);
}

static bool is_private(struct json_object *mount)
{
	const char *type = json_get_string(mount, "type", "");

	for (size_t i = 0; i < ARRAY_SIZE(private_types); i++)
		if (strcmp(type, private_types[i]) == 0)
			return true;
	return false;
}

static int add_places(struct builder *builder)
{
	struct json_object *mounts = json_get(builder->injection->spec, "mounts");

	for (size_t i = 0; mounts && i < json_object_array_length(mounts); i++) {
		struct json_object *mount = json_object_array_get_idx(mounts, i);
		const char *destination = json_get_string(mount, "destination", "/");
		autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);

		if (is_private(mount))
			continue;
		int r = resolve(&builder->guard, destination, &path);
		if (r == -ENOMEM)
			return error_no_memory(builder->error);
		if (r < 0)
			return error_set_errno(builder->error, -r,
					       "mounts[%zu]: cannot follow %.200s in the image", i,
					       destination);
		if (string_list_add(&builder->guard.places, path.data) < 0 ||
		    string_list_add(&builder->guard.sources, json_get_string(mount, "source", "")) <
			    0)
			return error_no_memory(builder->error);
	}
	return 0;
}

/* Nothing can be made where it leads: links without end, or a file where a directory is needed. */
static bool is_dead_end(int r)
{
	return r == -ELOOP || r == -ENOTDIR || r == -ENAMETOOLONG;
}

/* REAL has no link in it. */
static int in_places(const struct guard *guard, const char *real, const char **ret)
{
	for (size_t i = 0; i < guard->places.count; i++) {
		if (!below(real, guard->places.items[i]))
			continue;
		*ret = guard->places.items[i];
		return 1;
	}
	return 0;
}

/* 1 when PATH lies at or below a volume, whose place is then in *ret, or cannot be followed. */
static int in_volume(const struct guard *guard, const char *path, const char **ret)
{
	autostrbuf real = STRBUF_INIT(ROOT_PATH_MAX);

	if (!guard->places.count)
		return 0;
	int r = resolve(guard, path, &real);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return 1;
	return in_places(guard, real.data, ret);
}

int guard_host_path(const struct guard *guard, const char *path, struct strbuf *host)
{
	autostrbuf real = STRBUF_INIT(ROOT_PATH_MAX);
	int r = guard->places.count ? resolve(guard, path, &real) : -ENOENT;

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	/* A later mount lies over an earlier one. */
	for (size_t i = guard->places.count; i-- > 0;) {
		const char *rest = below(real.data, guard->places.items[i]);

		if (!rest)
			continue;
		if (*guard->sources.items[i] != '/')
			return 0;
		strbuf_adds(host, guard->sources.items[i]);
		strbuf_adds(host, rest);
		if (strbuf_failed(host) < 0)
			return host->failed == ENOMEM ? -ENOMEM : 0;
		return *rest ? 1 : 2;
	}
	return 0;
}

int guard_covers(const struct guard *guard, const char *path, const char **ret)
{
	autoclose int fd = guard->root < 0 ? -ENOENT : root_open(guard->root, path, O_PATH);

	*ret = path;
	return is_dead_end(fd) ? 1 : in_volume(guard, path, ret);
}

/* 1 when PATH has a directory and there is not even a link in it: made without following any. */
static int is_plain_gap(const struct guard *guard, const char *path)
{
	const char *slash = strrchr(path, '/');
	autofree char *parent = strndup(path, (size_t)(slash - path));
	struct stat status;

	if (!parent)
		return -ENOMEM;
	autoclose int fd = root_open(guard->root, parent, O_PATH | O_DIRECTORY);
	return fd >= 0 && fstatat(fd, slash + 1, &status, AT_SYMLINK_NOFOLLOW) < 0;
}

/*
 * PATH, which has a link, does not exist: where it ends, into *real. 1 when PATH leads into a
 * file system of the kernel, which the container gets fresh.
 */
static int follow_dangling(const struct guard *guard, const char *path, struct strbuf *real)
{
	static const char *const kernel[] = { "/dev", "/proc", "/sys" };
	autostrbuf end = STRBUF_INIT(ROOT_PATH_MAX);

	int r = root_resolve(guard->root, path, &end);
	if (r < 0)
		return r == -ENOMEM ? r : 1;
	for (size_t i = 0; i < ARRAY_SIZE(kernel); i++)
		if (below(end.data, kernel[i]))
			return 1;
	r = is_plain_gap(guard, path);
	if (r != 0)
		return r < 0 ? r : 0;
	strbuf_adds(real, end.data);
	return strbuf_failed(real);
}

static int mount_point_behind_links(const struct guard *guard, const char *path, bool directory,
				    struct strbuf *real, const char **ret)
{
	autoclose int fd = guard->root < 0 ? -EBADF : root_open(guard->root, path, O_PATH);
	struct stat status;
	int r = is_dead_end(fd);

	if (fd == -ENOENT)
		r = follow_dangling(guard, path, real);
	else if (fd >= 0 && fstat(fd, &status) == 0)
		r = (S_ISDIR(status.st_mode) != 0) != directory;
	return r ? r : in_volume(guard, path, ret);
}

/* The directory of PATH, opened once for all mount points in it; -ELOOP when a link leads there. */
static int open_directory(struct guard *guard, const char *path, size_t length)
{
	if (length >= sizeof(guard->directory) || length == 0)
		return -ELOOP; /* looked at as a link is, which does for any path */
	if (strncmp(guard->directory, path, length) == 0 && !guard->directory[length])
		return guard->directory_fd;
	cleanup_close(&guard->directory_fd);
	memcpy(guard->directory, path, length);
	guard->directory[length] = '\0';
	guard->directory_fd = root_open_plain(guard->root, guard->directory);
	return guard->directory_fd;
}

/* What PATH is where there is no link on the way and none at its end; -ENOENT, or another -errno. */
static int look_plainly(struct guard *guard, const char *path, struct stat *ret)
{
	const char *slash = strrchr(path, '/');
	int fd = guard->root < 0 || !slash[1] || slash[1] == '.'
			 ? -EBADF
			 : open_directory(guard, path, (size_t)(slash - path));

	if (fd < 0)
		return fd;
	if (fstatat(fd, slash + 1, ret, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return S_ISLNK(ret->st_mode) ? -ELOOP : 0;
}

int guard_mount_point(struct guard *guard, const char *path, bool directory, struct strbuf *real,
		      const char **ret)
{
	struct stat status;
	int r = look_plainly(guard, path, &status);

	*ret = path;
	if (r < 0 && r != -ENOENT)
		return mount_point_behind_links(guard, path, directory, real, ret);
	if (r == 0 && (S_ISDIR(status.st_mode) != 0) != directory)
		return 1;
	return in_places(guard, path, ret);
}

static int check_directories(struct builder *builder)
{
	static const char *const names[] = { "/dev", "/proc", "/sys" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct stat status;
		autoclose int fd = root_open_plain(builder->injection->root_fd, names[i]);

		if (fd == -ENOENT)
			continue;
		if (fd == -ELOOP)
			return builder_refuse(builder, REASON_BAD_ROOT, "%s is a link", names[i]);
		if (fd < 0)
			return error_set_errno(builder->error, -fd,
					       "cannot look at %s of the container's root",
					       names[i]);
		if (fstat(fd, &status) < 0)
			return error_set_errno(builder->error, errno,
					       "cannot look at %s of the container's root",
					       names[i]);
		if (!S_ISDIR(status.st_mode))
			return builder_refuse(builder, REASON_BAD_ROOT, "%s is no directory",
					      names[i]);
	}
	return 0;
}

/* A working directory below /proc can be an open directory of the host (CVE-2024-21626). */
static int check_working_directory(struct builder *builder)
{
	const char *directory = json_get_string(builder->injection->spec, "process.cwd", "/");
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);

	if (*directory != '/')
		return builder_refuse(builder, REASON_BAD_REQUEST,
				      "its working directory \"%.100s\" is not absolute",
				      directory);
	int r = resolve(&builder->guard, directory, &path);
	if (r == -ENOMEM)
		return error_no_memory(builder->error);
	if (r < 0)
		return builder_refuse(
			builder, REASON_BAD_REQUEST,
			"its working directory %.100s cannot be followed in the image", directory);
	if (below(path.data, "/proc"))
		return builder_refuse(builder, REASON_BAD_REQUEST,
				      "its working directory %.100s lies below /proc", directory);
	return 0;
}

int guard_check(struct builder *builder)
{
	int r = 0;

	builder->guard = (struct guard){ .root = builder->injection->root_fd, .directory_fd = -1 };
	if (builder->guard.root >= 0)
		r = check_directories(builder);
	if (r == 0 && builder->injection->spec)
		r = check_working_directory(builder);
	if (r == 0 && builder->injection->spec)
		r = add_places(builder);
	return r;
}

void guard_release(struct guard *guard)
{
	string_list_release(&guard->places);
	string_list_release(&guard->sources);
	cleanup_close(&guard->directory_fd);
}
