/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container's root, prepared in the private mount namespace of the runtime's process. All of
 * it vanishes with that namespace; the host sees none of it.
 */
#include "runtimes/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/magic.h>

#define MOUNTINFO_BYTES_MAX (16u << 20)

/*
 * crun refuses hosts that mount cgroup v2 beside v1 ("cgroups in hybrid mode not supported", 1.8
 * to 1.29). The v2 tree of such a host carries no device rule; hidden from crun, v1 is used.
 */
static int root_hide_hybrid_cgroup(const struct runtime *runtime, struct error *error)
{
	struct statfs type;

	if (strcmp(runtime->name, "crun") != 0)
		return 0;
	if (statfs("/sys/fs/cgroup/unified", &type) < 0 || type.f_type != CGROUP2_SUPER_MAGIC)
		return 0;
	/* Covered, not unmounted: crun makes directories there, and below lies the host's own tmpfs. */
	if (mount("tmpfs", "/sys/fs/cgroup/unified", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  "mode=0755,size=1m") < 0)
		return error_set_errno(error, errno,
				       "cannot hide /sys/fs/cgroup/unified from crun; use runc");
	return 0;
}

static int root_make_target(const char *path, struct error *error)
{
	autofree char *parent = strdup(path);
	if (!parent)
		return error_no_memory(error);
	*strrchr(parent, '/') = '\0';
	int r = file_make_directories(parent, 0755, error);
	if (r < 0)
		return r;
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0755);
	if (fd < 0)
		return error_set_errno(error, errno, "cannot make the mount point %s", path);
	return 0;
}

/* A tmpfs of our own over our own directory, with an empty file for each driver file. */
static int root_make_host_targets(const struct string_list *targets, struct error *error)
{
	size_t prefix = strlen(PATH_HOST_DRIVER);

	if (!targets || !targets->count)
		return 0;
	if (mount("tmpfs", PATH_HOST_DRIVER, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") <
	    0)
		return error_set_errno(error, errno, "cannot mount a tmpfs over %s",
				       PATH_HOST_DRIVER);
	for (size_t i = 0; i < targets->count; i++) {
		const char *path = targets->items[i];

		if (strncmp(path, PATH_HOST_DRIVER "/", prefix + 1) != 0 || strstr(path, "/../"))
			return error_set(error, EINVAL, "the mount point %s is not below %s", path,
					 PATH_HOST_DRIVER);
		int r = root_make_target(path, error);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * File systems through which the kernel is steered. User 0 may write to most of their files even
 * without a capability: into the host's own cgroups too, which would be the way to another card.
 * How to add one: its type as /proc/filesystems names it.
 */
static const char *const kernel_types[] = {
	"bpf",    "cgroup",  "cgroup2", "configfs",   "debugfs",   "efivarfs", "fusectl",
	"pstore", "resctrl", "proc",    "securityfs", "selinuxfs", "sysfs",    "tracefs",
};

static bool type_is_kernel(const char *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernel_types); i++)
		if (strcmp(type, kernel_types[i]) == 0)
			return true;
	return false;
}

/* Blank, tab, line feed and backslash stand as three octal digits in mountinfo (proc(5)). */
static void mount_point_decode(char *text)
{
	char *out = text;

	for (; *text; text++) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
		    text[2] <= '7' && text[3] >= '0' && text[3] <= '7') {
			*out++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 +
					(text[3] - '0'));
			text += 3;
		} else {
			*out++ = *text;
		}
	}
	*out = '\0';
}

/* Splits a line of mountinfo: field 5 is the mount point, the one after " - " the type. */
static bool mount_line_split(char *line, char **ret_point, char **ret_type)
{
	char *type = strstr(line, " - ");
	char *state = NULL;

	if (!type)
		return false;
	*type = '\0';
	type += 3;
	type[strcspn(type, " ")] = '\0';
	char *word = strtok_r(line, " ", &state);
	for (int field = 1; word && field < 5; field++)
		word = strtok_r(NULL, " ", &state);
	if (!word)
		return false;
	mount_point_decode(word);
	*ret_point = word;
	*ret_type = type;
	return true;
}

/* Makes the kernel's own file systems below ROOTFS read-only: for this container alone. */
static int root_close_kernel(const char *rootfs, struct error *error)
{
	const unsigned long flags =
		MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
	size_t span = strlen(rootfs), length;
	autofree char *text = NULL;
	char *state = NULL;

	int r = file_read("/proc/self/mountinfo", MOUNTINFO_BYTES_MAX, &text, &length, error);
	if (r < 0)
		return r;
	for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		char *point, *type;

		if (!mount_line_split(line, &point, &type) || !type_is_kernel(type) ||
		    strncmp(point, rootfs, span) != 0 || point[span] != '/')
			continue;
		/* What lies under another mount cannot be reached by its name, by nobody. */
		if (mount(NULL, point, NULL, flags, NULL) < 0 && errno != EINVAL && errno != ENOENT)
			return error_set_errno(error, errno, "cannot make %s read-only", point);
	}
	return 0;
}

static int root_bind_host(const char *rootfs, struct error *error)
{
	if (mount("/", rootfs, NULL, MS_BIND | MS_REC, NULL) < 0)
		return error_set_errno(error, errno, "cannot bind / at %s", rootfs);
	if (mount(NULL, rootfs, NULL, MS_SLAVE | MS_REC, NULL) < 0)
		return error_set_errno(error, errno, "cannot make %s a slave of /", rootfs);
	return root_close_kernel(rootfs, error);
}

/* The image stays as it is: what the container and the runtime write goes to a tmpfs above it. */
static int root_overlay_image(const char *bundle, const char *image, const char *rootfs,
			      struct error *error)
{
	autostrbuf layers = STRBUF_INIT(4096), options = STRBUF_INIT(4096);

	/* By descriptor: a path may hold the commas and colons of the option syntax. */
	autoclose int lower = open(image, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (lower < 0)
		return error_set_errno(error, errno, "cannot open the image directory %s", image);
	strbuf_addf(&layers, "%s/layers", bundle);
	strbuf_addf(&options, "lowerdir=/proc/self/fd/%d,upperdir=%s/upper,workdir=%s/work", lower,
		    layers.data, layers.data);
	if (strbuf_failed(&layers) < 0 || strbuf_failed(&options) < 0)
		return error_set(error, ENAMETOOLONG, "the bundle's path %s is too long", bundle);
	if (mkdir(layers.data, 0700) < 0 && errno != EEXIST)
		return error_set_errno(error, errno, "cannot make %s", layers.data);
	if (mount("tmpfs", layers.data, "tmpfs", 0, "mode=0700") < 0)
		return error_set_errno(error, errno, "cannot mount a tmpfs at %s", layers.data);
	autoclose int fd = open(layers.data, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat lower_stat;
	if (fd < 0 || mkdirat(fd, "upper", 0755) < 0 || mkdirat(fd, "work", 0755) < 0 ||
	    fstat(lower, &lower_stat) < 0 ||
	    fchmodat(fd, "upper", lower_stat.st_mode & 07777, 0) < 0)
		return error_set_errno(error, errno, "cannot prepare the layers at %s",
				       layers.data);
	if (mount("overlay", rootfs, "overlay", 0, options.data) < 0)
		return error_set_errno(error, errno,
				       "cannot lay a writable layer over the image %s; copy it to "
				       "an ordinary file system",
				       image);
	return 0;
}

int root_prepare(const struct spawn *spawn, struct error *error)
{
	if (unshare(CLONE_NEWNS) < 0)
		return error_set_errno(error, errno,
				       "cannot make a mount namespace (needs CAP_SYS_ADMIN)");
	if (mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) < 0)
		return error_set_errno(error, errno, "cannot make the mounts slaves");
	int r = root_hide_hybrid_cgroup(spawn->runtime, error);
	if (r < 0 || !spawn->container)
		return r;
	autostrbuf rootfs = STRBUF_INIT(4096);
	strbuf_addf(&rootfs, "%s/rootfs", spawn->container->bundle);
	if (strbuf_failed(&rootfs) < 0)
		return error_set(error, ENAMETOOLONG, "the bundle's path is too long");
	if (spawn->container->image)
		return root_overlay_image(spawn->container->bundle, spawn->container->image,
					  rootfs.data, error);
	r = root_make_host_targets(spawn->container->host_targets, error);
	if (r < 0)
		return r;
	return root_bind_host(rootfs.data, error);
}
