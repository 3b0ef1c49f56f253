/* SPDX-License-Identifier: Apache-2.0 */
#include "node/pods.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define UID_MAX       64                 /* 36 of a UUID, 32 of a static Pod's hash */
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

static int take_cgroups(struct pod_signs *signs, char *text)
{
	char *rest = text, *line, uid[UID_MAX];

	while ((line = strsep(&rest, "\n")))
		if (pod_uid_of_cgroup(line, uid, sizeof(uid)))
			return map_put(signs->running, uid, signs);
	return 0;
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

/* A process that ends meanwhile is none. */
static int take_process(struct pod_signs *signs, const char *proc, const char *pid)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX);
	autofree char *text = NULL;

	strbuf_addf(&path, "%s/%s", proc, pid);
	if (!signs->sees && is_kubelet(path.data))
		signs->sees = true;
	strbuf_adds(&path, "/cgroup");
	if (strbuf_failed(&path) < 0)
		return -ENOMEM;
	if (file_read(path.data, CGROUP_TEXT, &text, NULL, NULL) < 0)
		return 0;
	return take_cgroups(signs, text);
}

static bool is_first_namespace(const char *proc)
{
	char path[PATH_MAX], link[64];

	(void)snprintf(path, sizeof(path), "%s/self/ns/pid", proc);
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
	signs->sees = is_first_namespace(proc);
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
