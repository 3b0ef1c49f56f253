/* SPDX-License-Identifier: Apache-2.0 */
/* The spec that a container of our own starts from. */
#include "formats/oci.h"

#include <errno.h>
#include <string.h>

#define OCI_VERSION "1.0.2"

/* Mounts in the order in which the runtime makes them. */
static const struct {
	struct oci_mount mount;
	enum { ALWAYS, OWN_NETWORK, WITH_CGROUP, SHM } when;
} mount_rows[] = {
	{ { "/proc", "proc", "proc", NULL }, ALWAYS },
	{ { "/dev", "tmpfs", "tmpfs", "nosuid,strictatime,mode=755,size=65536k" }, ALWAYS },
	{ { "/dev/pts", "devpts", "devpts",
	    "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,gid=5" },
	  ALWAYS },
	{ { "/dev/shm", "shm", "tmpfs", "nosuid,noexec,nodev,mode=1777,size=65536k" }, SHM },
	{ { "/dev/mqueue", "mqueue", "mqueue", "nosuid,noexec,nodev" }, ALWAYS },
	{ { "/sys", "sysfs", "sysfs", "nosuid,noexec,nodev,ro" }, OWN_NETWORK },
	{ { "/sys/fs/cgroup", "cgroup", "cgroup", "nosuid,noexec,nodev,relatime,ro" },
	  WITH_CGROUP },
};

static const struct {
	unsigned flag;
	const char *name;
} namespace_rows[] = {
	{ OCI_NAMESPACE_PID, "pid" },     { OCI_NAMESPACE_NETWORK, "network" },
	{ OCI_NAMESPACE_IPC, "ipc" },     { OCI_NAMESPACE_UTS, "uts" },
	{ OCI_NAMESPACE_MOUNT, "mount" }, { OCI_NAMESPACE_CGROUP, "cgroup" },
};

static const char *const masked_paths[] = {
	"/proc/acpi",          "/proc/asound",     "/proc/kcore",       "/proc/keys",
	"/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
	"/sys/firmware",       "/proc/scsi",
};

static const char *const readonly_paths[] = {
	"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

static const char *base_problem(const struct oci_base *base)
{
	if (!base->root_path || *base->root_path != '/')
		return "the root must be an absolute path";
	if (!base->arguments || !base->arguments[0])
		return "a command is needed";
	if (!base->working_directory || *base->working_directory != '/')
		return "the working directory must be an absolute path";
	if (!(base->namespaces & OCI_NAMESPACE_MOUNT))
		return "a mount namespace is needed";
	if (base->hostname && !(base->namespaces & OCI_NAMESPACE_UTS))
		return "a host name needs a UTS namespace";
	if (base->cgroup_mount && !(base->namespaces & OCI_NAMESPACE_NETWORK))
		return "/sys/fs/cgroup needs a sysfs, which needs a network namespace";
	return NULL;
}

/* An array of COUNT strings, or up to a NULL when COUNT is SIZE_MAX; NULL when out of memory. */
static struct json_object *strings(const char *const *items, size_t count)
{
	autojson *list = json_object_new_array();

	for (size_t i = 0; list && i < count && items && (count != SIZE_MAX || items[i]); i++)
		if (json_append_string(list, items[i]) < 0)
			return NULL;
	return TAKE_PTR(list);
}

static int add_strings(struct json_object *object, const char *key, const char *const *items,
		       size_t count)
{
	struct json_object *list = strings(items, count);

	return list ? json_add(object, key, list) : -ENOMEM;
}

/* A new object below PARENT; NULL when out of memory. */
static struct json_object *new_child(struct json_object *parent, const char *key)
{
	struct json_object *object = json_object_new_object();

	return object && json_add(parent, key, object) == 0 ? object : NULL;
}

static int fill_user(struct json_object *process, const struct oci_base *base)
{
	struct json_object *user = new_child(process, "user");

	if (!user || json_add_uint(user, "uid", base->uid) < 0 ||
	    json_add_uint(user, "gid", base->gid) < 0)
		return -ENOMEM;
	if (!base->group_count)
		return 0;
	struct json_object *groups = json_object_new_array();
	if (!groups || json_add(user, "additionalGids", groups) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < base->group_count; i++) {
		struct json_object *group = json_object_new_uint64(base->groups[i]);

		if (!group || json_append(groups, group) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Present and empty: a runtime takes an absent set for its own choice. */
static int fill_capabilities(struct json_object *process)
{
	static const char *const sets[] = { "bounding", "effective", "inheritable", "permitted",
					    "ambient" };
	struct json_object *capabilities = new_child(process, "capabilities");

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		if (!capabilities || add_strings(capabilities, sets[i], NULL, 0) < 0)
			return -ENOMEM;
	return 0;
}

static int fill_process(struct json_object *spec, const struct oci_base *base)
{
	struct json_object *process = new_child(spec, "process");

	if (!process || json_add_bool(process, "terminal", base->terminal) < 0 ||
	    fill_user(process, base) < 0 ||
	    add_strings(process, "args", base->arguments, SIZE_MAX) < 0 ||
	    add_strings(process, "env", base->environment, SIZE_MAX) < 0 ||
	    json_add_string(process, "cwd", base->working_directory) < 0 ||
	    fill_capabilities(process) < 0 || json_add_bool(process, "noNewPrivileges", true) < 0)
		return -ENOMEM;
	return 0;
}

static int fill_root(struct json_object *spec, const struct oci_base *base)
{
	struct json_object *root = new_child(spec, "root");

	if (!root || json_add_string(root, "path", base->root_path) < 0 ||
	    json_add_bool(root, "readonly", base->root_readonly) < 0)
		return -ENOMEM;
	return base->hostname ? json_add_string(spec, "hostname", base->hostname) : 0;
}

static bool mount_wanted(size_t row, const struct oci_base *base)
{
	switch (mount_rows[row].when) {
	case OWN_NETWORK:
		return base->namespaces & OCI_NAMESPACE_NETWORK;
	case WITH_CGROUP:
		return base->cgroup_mount;
	case ALWAYS:
	case SHM:
		break;
	}
	return true;
}

static int fill_mounts(struct json_object *spec, const struct oci_base *base)
{
	for (size_t i = 0; i < ARRAY_SIZE(mount_rows); i++) {
		struct oci_mount mount = mount_rows[i].mount;

		if (!mount_wanted(i, base))
			continue;
		if (mount_rows[i].when == SHM && base->shm_source)
			mount = (struct oci_mount){ mount.destination, base->shm_source, "bind",
						    "rbind,nosuid,nodev" };
		int r = oci_spec_add_mount(spec, &mount, NULL);
		if (r < 0)
			return r;
	}
	return 0;
}

static int fill_resources(struct json_object *linux_part)
{
	struct json_object *resources = new_child(linux_part, "resources");
	struct json_object *rules = json_object_new_array();
	struct json_object *rule = json_object_new_object();

	/* Each addition owns its value at once, so nothing leaks when a later one fails. */
	if (!rules || !resources || json_add(resources, "devices", rules) < 0) {
		json_object_put(rule);
		if (!resources)
			json_object_put(rules);
		return -ENOMEM;
	}
	if (!rule || json_append(rules, rule) < 0 || json_add_bool(rule, "allow", false) < 0 ||
	    json_add_string(rule, "access", "rwm") < 0)
		return -ENOMEM;
	return 0;
}

static int fill_namespaces(struct json_object *linux_part, unsigned namespaces)
{
	struct json_object *list = json_object_new_array();

	if (!list || json_add(linux_part, "namespaces", list) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(namespace_rows); i++) {
		if (!(namespaces & namespace_rows[i].flag))
			continue;
		struct json_object *item = json_object_new_object();
		if (!item || json_append(list, item) < 0 ||
		    json_add_string(item, "type", namespace_rows[i].name) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int fill_linux(struct json_object *spec, const struct oci_base *base)
{
	struct json_object *linux_part = new_child(spec, "linux");

	if (!linux_part || fill_resources(linux_part) < 0 ||
	    fill_namespaces(linux_part, base->namespaces) < 0 ||
	    add_strings(linux_part, "maskedPaths", masked_paths, ARRAY_SIZE(masked_paths)) < 0 ||
	    add_strings(linux_part, "readonlyPaths", readonly_paths, ARRAY_SIZE(readonly_paths)) <
		    0)
		return -ENOMEM;
	if (base->cgroups_path &&
	    json_add_string(linux_part, "cgroupsPath", base->cgroups_path) < 0)
		return -ENOMEM;
	if (base->rootfs_propagation &&
	    json_add_string(linux_part, "rootfsPropagation", base->rootfs_propagation) < 0)
		return -ENOMEM;
	return 0;
}

int oci_spec_base(const struct oci_base *base, struct json_object **ret, struct error *error)
{
	const char *problem = base_problem(base);

	if (problem)
		return error_set(error, EINVAL, "cannot make an OCI spec: %s", problem);
	autojson *spec = json_object_new_object();
	if (!spec || json_add_string(spec, "ociVersion", OCI_VERSION) < 0 ||
	    fill_process(spec, base) < 0 || fill_root(spec, base) < 0 ||
	    fill_mounts(spec, base) < 0 || fill_linux(spec, base) < 0)
		return error_no_memory(error);
	int r = oci_spec_check(spec, "new OCI spec", error);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(spec);
	return 0;
}
