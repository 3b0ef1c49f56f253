/* SPDX-License-Identifier: Apache-2.0 */
#include "node/pods.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_TEXT   (64 << 10)         /* a line a hierarchy */
#define PID_NAMESPACE "pid:[4026531836]" /* the first one: PROC_PID_INIT_INO of the kernel */

/* Behind the word that says Pod: at the start, or in systemd's form behind the slices above it. */
static const char *uid_start(const char *part, size_t length, bool slice)
{
	if (length > 3 && strncmp(part, "pod", 3) == 0)
		return part + 3;
	for (const char *at = part; slice && at + 4 < part + length; at++)
		if (strncmp(at, "-pod", 4) == 0)
			return at + 4;
	return NULL;
}

/* One part of the path. */
static bool uid_of_part(const char *part, size_t length, char *ret, size_t size)
{
	bool slice = length > 6 && strncmp(part + length - 6, ".slice", 6) == 0;
	const char *start = uid_start(part, length, slice);

	if (!start)
		return false;
	length = (size_t)(part + length - start) - (slice ? 6 : 0);
	if (length < 8 || length >= size)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!isxdigit((unsigned char)start[i]) && start[i] != '-' && start[i] != '_')
			return false;
		ret[i] = start[i] == '_' ? '-' : start[i];
	}
	ret[length] = '\0';
	return true;
}

bool pod_uid_of_cgroup(const char *path, char *ret, size_t size)
{
	while (*path) {
		size_t length = strcspn(path, "/");

		if (uid_of_part(path, length, ret, size))
			return true;
		path += length;
		path += *path == '/';
	}
	return false;
}

/* A process that ends meanwhile is none. */
static int read_cgroups(const char *path, char ret[static POD_UID_MAX])
{
	autofree char *text = NULL;
	char *rest, *line;

	if (file_read(path, CGROUP_TEXT, &text, NULL, NULL) < 0)
		return -ENOENT;
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (pod_uid_of_cgroup(line, ret, POD_UID_MAX))
			return 1;
	ret[0] = '\0';
	return 0;
}

int pod_uid_of_process(const char *proc, pid_t pid, char ret[static POD_UID_MAX])
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%d/cgroup", proc ? proc : "/proc", (int)pid);
	return read_cgroups(path, ret);
}

static bool is_kubelet(const char *directory)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX);
	autofree char *name = NULL;

	strbuf_addf(&path, "%s/comm", directory);
	if (strbuf_failed(&path) < 0 || file_read(path.data, 64, &name, NULL, NULL) < 0)
		return false;
	return strcmp(name, "kubelet\n") == 0 || strcmp(name, "kubelite\n") == 0 ||
	       strncmp(name, "k3s", 3) == 0;
}

static int take_process(struct pod_signs *signs, const char *proc, const char *pid)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX);
	char uid[POD_UID_MAX];

	strbuf_addf(&path, "%s/%s", proc, pid);
	if (!signs->sees && is_kubelet(path.data))
		signs->sees = true;
	strbuf_adds(&path, "/cgroup");
	if (strbuf_failed(&path) < 0)
		return -ENOMEM;
	return read_cgroups(path.data, uid) == 1 ? map_put(signs->running, uid, signs) : 0;
}

bool pods_know_pids(const char *proc)
{
	char path[PATH_MAX], link[64];

	(void)snprintf(path, sizeof(path), "%s/self/ns/pid", proc ? proc : "/proc");
	ssize_t length = readlink(path, link, sizeof(link) - 1);
	return length == (ssize_t)strlen(PID_NAMESPACE) &&
	       strncmp(link, PID_NAMESPACE, (size_t)length) == 0;
}

int pod_signs_take(struct pod_signs *signs, const char *proc, struct error *error)
{
	struct dirent *entry;
	DIR *directory;
	int r = 0;

	if (signs->running)
		return 0;
	proc = proc ? proc : "/proc";
	signs->running = map_new();
	if (!signs->running)
		return error_no_memory(error);
	signs->sees = pods_know_pids(proc);
	directory = opendir(proc);
	if (!directory) {
		signs->sees = false;
		return 0;
	}
	while (r == 0 && (entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]))
			r = take_process(signs, proc, entry->d_name);
	closedir(directory);
	return r < 0 ? error_no_memory(error) : 0;
}

void pod_signs_release(struct pod_signs *signs)
{
	map_free(signs->running);
	*signs = (struct pod_signs){ 0 };
}

enum pod_sign pod_signs_of(const struct pod_signs *signs, const char *pod_uid)
{
	if (!signs->running)
		return POD_UNKNOWN;
	if (map_get(signs->running, pod_uid))
		return POD_RUNS;
	return signs->sees ? POD_IDLE : POD_UNKNOWN;
}
