/* SPDX-License-Identifier: Apache-2.0 */
/* A spec that another program made and a third will run: read in its bundle, asked, written back. */
#include "formats/oci.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

int oci_spec_load(int bundle, const char *name, struct json_object **ret, struct stat *ret_status,
		  struct error *error)
{
	autofree char *text = NULL;
	size_t length = 0;
	struct stat status;

	/* A FIFO must not hold the start up for ever. */
	autoclose int fd = openat(bundle, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &status) < 0)
		return error_set_errno(error, errno, "cannot read %s of the bundle", name);
	if (!S_ISREG(status.st_mode))
		return error_set(error, EINVAL, "%s of the bundle is no regular file", name);
	int r = file_read_fd(fd, name, oci_limits.bytes, &text, &length, error);
	if (r == 0)
		r = json_parse(text, length, name, &oci_limits, ret, error);
	if (r == 0)
		*ret_status = status;
	return r;
}

/* Nobody may have put another file, or a link, at NAME since it was read. */
static int check_same_file(int bundle, const char *name, const struct stat *then,
			   struct error *error)
{
	struct stat now;

	if (fstatat(bundle, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return error_set_errno(error, errno, "cannot look at %s of the bundle", name);
	if (now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
	    now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == then->st_mtim.tv_nsec)
		return 0;
	return error_set(error, ESTALE,
			 "%s of the bundle is a link or was changed while it was read; put the "
			 "file itself there and start again",
			 name);
}

int oci_spec_replace(int bundle, const char *name, struct json_object *spec,
		     const struct stat *status, struct error *error)
{
	autostrbuf text = STRBUF_INIT(2 * oci_limits.bytes);
	int r = oci_spec_check(spec, name, error);

	if (r == 0)
		r = json_to_text(spec, false, &text, error);
	if (r == 0)
		r = check_same_file(bundle, name, status, error);
	return r < 0 ? r : file_replace_at(bundle, name, text.data, text.length, status, error);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static unsigned remove_from(struct json_object *list, const char *program)
{
	unsigned removed = 0;

	if (!json_object_is_type(list, json_type_array))
		return 0;
	for (size_t i = json_object_array_length(list); i-- > 0;) {
		struct json_object *hook = json_object_array_get_idx(list, i);

		if (strcmp(base_name(json_get_string(hook, "path", "")), program) != 0)
			continue;
		if (json_object_array_del_idx(list, i, 1) == 0)
			removed++;
	}
	return removed;
}

unsigned oci_spec_remove_hooks(struct json_object *spec, const char *program)
{
	static const char *const lists[] = { "hooks.prestart",        "hooks.createRuntime",
					     "hooks.createContainer", "hooks.startContainer",
					     "hooks.poststart",       "hooks.poststop" };
	unsigned removed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		removed += remove_from(json_get(spec, lists[i]), program);
	return removed;
}

/* Whether the list at PATH has an item whose text, or whose string at KEY, is VALUE. */
static bool list_has(struct json_object *spec, const char *path, const char *key, const char *value)
{
	struct json_object *list = json_get(spec, path);

	if (!json_object_is_type(list, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (key)
			item = json_get(item, key);
		if (json_object_is_type(item, json_type_string) &&
		    strcmp(json_object_get_string(item), value) == 0)
			return true;
	}
	return false;
}

bool oci_spec_is_privileged(struct json_object *spec)
{
	return list_has(spec, "process.capabilities.bounding", NULL, "CAP_SYS_ADMIN");
}

bool oci_spec_has_user_namespace(struct json_object *spec)
{
	return list_has(spec, "linux.namespaces", "type", "user");
}

const char *oci_spec_annotation(struct json_object *spec, const char *key)
{
	struct json_object *annotations = json_get(spec, "annotations"), *value = NULL;

	if (!json_object_is_type(annotations, json_type_object) ||
	    !json_object_object_get_ex(annotations, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return NULL;
	return json_object_get_string(value);
}

/*
 * cri-dockerd has Docker make its containers, and Docker passes no annotation on. All that is left of
 * the kubelet is its cgroup, "kubepods" and what may follow by QoS class, in either driver's form:
 * "/kubepods/burstable/pod<uid>/<id>" or "kubepods-burstable-pod<uid>.slice:docker:<id>".
 */
static bool has_pod_cgroup(struct json_object *spec)
{
	static const char group[] = "kubepods";
	const char *path = json_get_string(spec, "linux.cgroupsPath", "");

	for (const char *at = path; (at = strstr(at, group)); at++) {
		char before = at == path ? '/' : at[-1], after = at[strlen(group)];

		if ((before == '/' || before == '-') && (!after || strchr("/-.:", after)))
			return true;
	}
	return false;
}

enum oci_manager oci_spec_kubernetes(struct json_object *spec)
{
	/* How to add a CRI runtime: the annotation by which it tells Pod and container apart. */
	static const char *const keys[] = { "io.kubernetes.cri.container-type", /* containerd */
					    "io.kubernetes.cri-o.ContainerType" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *type = oci_spec_annotation(spec, keys[i]);

		if (type)
			return strcmp(type, "sandbox") == 0 ? OCI_MANAGER_SANDBOX
							    : OCI_MANAGER_CONTAINER;
	}
	/* Its sandboxes cannot be told apart; the environment counts in neither. */
	return has_pod_cgroup(spec) ? OCI_MANAGER_CONTAINER : OCI_MANAGER_NONE;
}
