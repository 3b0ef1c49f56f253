/* SPDX-License-Identifier: Apache-2.0 */
/* One container's bundle: its directory below <run>/containers and its OCI spec. */
#include "local/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/formats.h"

#define DEFAULT_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

extern char **environ;

/* Not for a container: what steers us or the loader of other people's programs. */
static const char *const environment_kept_back[] = { "GPUPOOL_", "LD_", "SUDO_", "NVIDIA_" };

static bool environment_is_kept_back(const char *entry)
{
	for (size_t i = 0; i < ARRAY_SIZE(environment_kept_back); i++)
		if (strncmp(entry, environment_kept_back[i], strlen(environment_kept_back[i])) == 0)
			return true;
	return false;
}

static int environment_add(struct string_list *list, const char *name, const char *value,
			   struct error *error)
{
	autostrbuf entry = STRBUF_INIT(1u << 20);
	size_t span = strlen(name);

	strbuf_addf(&entry, "%s=%s", name, value);
	if (strbuf_failed(&entry) < 0)
		return error_set(error, E2BIG, "the value of %s is too long", name);
	/* A later value replaces an earlier one, as in a Pod. */
	for (size_t i = 0; i < list->count; i++) {
		if (strncmp(list->items[i], entry.data, span + 1) != 0)
			continue;
		free(list->items[i]);
		list->items[i] = strbuf_detach(&entry);
		return list->items[i] ? 0 : error_no_memory(error);
	}
	return string_list_add(list, entry.data) < 0 ? error_no_memory(error) : 0;
}

static int environment_inherit(const struct local_caller *caller, struct string_list *list,
			       struct error *error)
{
	for (char **entry = environ; *entry; entry++) {
		if (!strchr(*entry, '=') || environment_is_kept_back(*entry))
			continue;
		if (string_list_add(list, *entry) < 0)
			return error_no_memory(error);
	}
	/* sudo leaves root's HOME and USER behind; the container runs as the caller. */
	int r = environment_add(list, "HOME", caller->home, error);
	if (r == 0 && caller->name[0])
		r = environment_add(list, "USER", caller->name, error);
	if (r == 0 && caller->name[0])
		r = environment_add(list, "LOGNAME", caller->name, error);
	return r;
}

static int bundle_environment(const struct local_session *session, const struct local_job *job,
			      struct string_list *list, struct error *error)
{
	const struct container *container = job->container;
	int r = 0;

	if (session->options.inherit && !job->image)
		r = environment_inherit(&session->caller, list, error);
	else if (string_list_add(list, DEFAULT_PATH) < 0)
		r = error_no_memory(error);
	else
		r = environment_add(list, "HOME", job->image ? "/" : session->caller.home, error);
	for (size_t i = 0; r == 0 && i < container->environment_count; i++)
		r = environment_add(list, container->environment[i].name,
				    container->environment[i].value, error);
	return r;
}

static int bundle_arguments(const struct local_job *job, struct string_list *list,
			    struct error *error)
{
	const struct container *container = job->container;
	const struct string_list *parts[] = { &container->command, &container->arguments };

	if (!container->command.count)
		return error_set(error, EINVAL,
				 "it has no command, and %s has no entry point; write the command "
				 "into the Pod",
				 job->image ? "an image directory" : "image host");
	for (size_t p = 0; p < ARRAY_SIZE(parts); p++)
		for (size_t i = 0; i < parts[p]->count; i++)
			if (string_list_add(list, parts[p]->items[i]) < 0)
				return error_no_memory(error);
	return 0;
}

/* Tried as the caller: a runtime would make a missing directory on the host, as root. */
static int caller_enter(const struct local_caller *caller, const char *directory)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		if (geteuid() == 0 && (setgroups(caller->group_count, caller->groups) < 0 ||
				       setresgid(caller->gid, caller->gid, caller->gid) < 0 ||
				       setresuid(caller->uid, caller->uid, caller->uid) < 0))
			_exit(EPERM);
		_exit(chdir(directory) < 0 ? errno : 0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

static int bundle_working_directory(const struct local_session *session, struct local_job *job,
				    struct error *error)
{
	const char *wanted = job->container->working_directory;
	autofree char *current = NULL;

	if (!wanted && !job->image) {
		current = getcwd(NULL, 0);
		wanted = current;
	}
	if (!wanted)
		wanted = "/";
	if (wanted[0] != '/')
		return error_set(error, EINVAL,
				 "workingDir %s of container %s is not absolute; write the whole "
				 "path",
				 wanted, job->container->name);
	if (!job->image) {
		int r = caller_enter(&session->caller, wanted);
		if (r < 0)
			return error_set_errno(error, -r,
					       "user %s cannot enter the working directory %s",
					       session->caller.name, wanted);
	}
	job->working_directory = strdup(wanted);
	return job->working_directory ? 0 : error_no_memory(error);
}

static const char **strings_terminated(const struct string_list *list)
{
	const char **strings = calloc(list->count + 1, sizeof(*strings));

	for (size_t i = 0; strings && i < list->count; i++)
		strings[i] = list->items[i];
	return strings;
}

/* User 0 could change there who holds what, or hold the lock for ever. */
static int bundle_mask_state(const struct local_job *job, struct error *error)
{
	static const char *const names[] = { "containers", "runtime", "lock" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		autostrbuf path = STRBUF_INIT(4096);

		strbuf_addf(&path, "%s/%s", local_run_directory(), names[i]);
		if (strbuf_failed(&path) < 0)
			return error_set(error, ENAMETOOLONG,
					 "the run directory's path is too long");
		int r = oci_spec_add_masked_path(job->spec, path.data, error);
		if (r < 0)
			return r;
	}
	return 0;
}

/* What the two kinds of root want beyond the base. */
static int bundle_root_mounts(const struct local_job *job, struct error *error)
{
	/*
	 * With the host's network a sysfs of its own is refused (EBUSY); an image has none yet. Not
	 * "rbind": what is mounted below would stay writable, the cgroups of the host among it.
	 */
	const struct oci_mount sys = { "/sys", "/sys", "none", "bind,nosuid,noexec,nodev,ro" };

	int r = bundle_mask_state(job, error);
	return r == 0 && job->image ? oci_spec_add_mount(job->spec, &sys, error) : r;
}

int bundle_spec(const struct local_session *session, struct local_job *job, struct error *error)
{
	const struct local_caller *caller = &session->caller;
	cleanup(string_list_release) struct string_list arguments = { 0 }, environment = { 0 };
	autostrbuf root = STRBUF_INIT(4096), group = STRBUF_INIT(4096);

	int r = bundle_arguments(job, &arguments, error);
	if (r == 0)
		r = bundle_environment(session, job, &environment, error);
	if (r == 0)
		r = bundle_working_directory(session, job, error);
	if (r < 0)
		return r;
	autofree const char **argument_strings = strings_terminated(&arguments);
	autofree const char **environment_strings = strings_terminated(&environment);
	strbuf_addf(&root, "%s/rootfs", job->bundle);
	strbuf_addf(&group, CGROUP_PARENT "/%s", job->id);
	if (!argument_strings || !environment_strings || strbuf_failed(&root) < 0 ||
	    strbuf_failed(&group) < 0)
		return error_no_memory(error);
	struct oci_base base = {
		.root_path = root.data,
		.arguments = argument_strings,
		.environment = environment_strings,
		.working_directory = job->working_directory,
		.namespaces = OCI_NAMESPACE_MOUNT | OCI_NAMESPACE_PID,
		.uid = caller->uid,
		.gid = caller->gid,
		.groups = caller->groups,
		.group_count = caller->group_count,
		.cgroups_path = group.data,
		.rootfs_propagation = job->image ? NULL : "rslave",
		.shm_source = job->image ? NULL : "/dev/shm",
	};
	r = oci_spec_base(&base, &job->spec, error);
	if (r < 0)
		return r;
	return bundle_root_mounts(job, error);
}

/* Files that a writer left half done when it was killed, ours (".grant.json.<number>") and the
 * runtime's (".pid"): with one of them the directory could not go, and no command could start. */
static int bundle_remove_unfinished(int fd, const char *bundle, struct error *error)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	int r = 0;

	if (!stream) {
		r = error_set_errno(error, errno, "cannot read %s", bundle);
		if (copy >= 0)
			close(copy);
		return r;
	}
	while (r == 0 && (entry = readdir(stream))) {
		if (entry->d_name[0] != '.' || strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) < 0 && errno != ENOENT)
			r = error_set_errno(error, errno, "cannot remove %s/%s", bundle,
					    entry->d_name);
	}
	closedir(stream);
	return r;
}

/* Only what we put there goes: never into rootfs, which would be the host if a mount leaked. */
int bundle_remove(const char *bundle, struct error *error)
{
	static const struct {
		const char *name;
		int flags;
	} entries[] = { { "config.json", 0 },
			{ "pid", 0 },
			{ "rootfs", AT_REMOVEDIR },
			{ "layers", AT_REMOVEDIR },
			{ "grant.json", 0 } };

	autoclose int fd = open(bundle, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0
				       : error_set_errno(error, errno, "cannot open %s", bundle);
	int r = bundle_remove_unfinished(fd, bundle, error);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		if (unlinkat(fd, entries[i].name, entries[i].flags) < 0 && errno != ENOENT)
			return error_set_errno(error, errno, "cannot remove %s/%s", bundle,
					       entries[i].name);
	if (rmdir(bundle) < 0 && errno != ENOENT)
		return error_set_errno(error, errno, "cannot remove %s", bundle);
	return 0;
}
