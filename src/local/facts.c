/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of a container: its own /dev, its device rules, its mounts, its rights. */
#include "local/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <linux/bpf.h>

#define TEXT_BYTES_MAX (4u << 20)
#define NODES_MAX      1024

static int facts_add(struct string_list *list, struct error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int facts_add(struct string_list *list, struct error *error, const char *format, ...)
{
	autostrbuf text = STRBUF_INIT(4096);
	va_list arguments;

	va_start(arguments, format);
	strbuf_vaddf(&text, format, arguments);
	va_end(arguments);
	if (strbuf_failed(&text) < 0)
		return error_set(error, E2BIG, "a line about the container is too long");
	return string_list_add(list, text.data) < 0 ? error_no_memory(error) : 0;
}

static int facts_node(const char *directory, int fd, const char *name, struct local_facts *facts,
		      struct error *error)
{
	struct stat status;

	if (strncmp(name, "nvidia", 6) != 0)
		return 0;
	if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISCHR(status.st_mode))
		return 0;
	if (facts->nodes.count >= NODES_MAX)
		return error_set(error, E2BIG, "the container has more than %d NVIDIA nodes",
				 NODES_MAX);
	return facts_add(&facts->nodes, error, "%s/%s %u:%u", directory, name,
			 major(status.st_rdev), minor(status.st_rdev));
}

static int text_compare(const void *left, const void *right)
{
	return strverscmp(*(char *const *)left, *(char *const *)right);
}

static int facts_nodes(pid_t pid, struct local_facts *facts, struct error *error)
{
	char path[64];
	const struct dirent *entry;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/root/dev", pid);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream) {
		int number = errno;

		if (fd >= 0)
			close(fd);
		return error_set_errno(error, number, "cannot read %s", path);
	}
	while (r == 0 && (entry = readdir(stream)))
		r = facts_node("/dev", fd, entry->d_name, facts, error);
	closedir(stream);
	if (facts->nodes.count)
		qsort(facts->nodes.items, facts->nodes.count, sizeof(*facts->nodes.items),
		      text_compare);
	return r;
}

/* The path after "<number>:<controllers>:" of the line whose controllers are CONTROLLER alone. */
static bool facts_cgroup(char *text, const char *controller, char *ret, size_t size)
{
	char *state = NULL;

	for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		char *names = strchr(line, ':');
		char *path = names ? strchr(names + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		if (strcmp(names + 1, controller) == 0) {
			reason_text(ret, size, "%s", path);
			return true;
		}
	}
	return false;
}

static int facts_rules_v1(struct local_facts *facts, struct error *error)
{
	char path[1100];
	autofree char *text = NULL;
	size_t length;
	char *state = NULL;

	snprintf(path, sizeof(path), "/sys/fs/cgroup/devices%s/devices.list", facts->cgroup);
	int r = file_read(path, TEXT_BYTES_MAX, &text, &length, error);
	if (r < 0)
		return r;
	for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		r = facts_add(&facts->rules, error, "%s", line);
		if (r < 0)
			return r;
	}
	return 0;
}

/* cgroup v2 keeps the rules in programs, which the kernel counts but does not show. */
static int facts_rules_v2(struct local_facts *facts, struct error *error)
{
	char path[1100];
	union bpf_attr attributes = { .query = { .attach_type = BPF_CGROUP_DEVICE } };

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s", facts->cgroup);
	autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(error, errno, "cannot open %s", path);
	attributes.query.target_fd = (unsigned)fd;
	if (syscall(SYS_bpf, BPF_PROG_QUERY, &attributes, sizeof(attributes)) < 0)
		return error_set_errno(error, errno, "cannot ask for the device programs of %s",
				       path);
	return facts_add(&facts->rules, error, "%u device programs (cgroup v2)",
			 attributes.query.prog_cnt);
}

static int facts_rules(pid_t pid, struct local_facts *facts, struct error *error)
{
	autofree char *text = NULL, *again = NULL;

	int r = process_read(pid, "cgroup", &text, error);
	if (r < 0)
		return r;
	again = strdup(text);
	if (!again)
		return error_no_memory(error);
	if (facts_cgroup(text, "devices", facts->cgroup, sizeof(facts->cgroup)))
		return facts_rules_v1(facts, error);
	if (facts_cgroup(again, "", facts->cgroup, sizeof(facts->cgroup)))
		return facts_rules_v2(facts, error);
	return error_set(error, ENOENT, "process %d is in no cgroup with device rules", pid);
}

static bool facts_mount_is_driver(const char *mount_point)
{
	static const char *const parts[] = { "nvidia", "cuda", PATH_HOST_DRIVER "/" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(mount_point, parts[i]))
			return true;
	return false;
}

/* Field 5 of each line is the mount point (proc(5)). */
static int facts_mounts(pid_t pid, struct local_facts *facts, struct error *error)
{
	autofree char *text = NULL;
	char *state = NULL;

	int r = process_read(pid, "mountinfo", &text, error);
	if (r < 0)
		return r;
	for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		char *words = NULL;
		const char *word = strtok_r(line, " ", &words);

		for (int i = 1; word && i < 5; i++)
			word = strtok_r(NULL, " ", &words);
		if (!word || !facts_mount_is_driver(word))
			continue;
		r = facts_add(&facts->mounts, error, "%s", word);
		if (r < 0)
			return r;
	}
	return 0;
}

static const char *status_value(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? at + strlen(key) + strspn(at + strlen(key), "\t ") : NULL;
}

static int facts_status(pid_t pid, struct local_facts *facts, struct error *error)
{
	autofree char *text = NULL;

	int r = process_read(pid, "status", &text, error);
	if (r < 0)
		return r;
	const char *uid = status_value(text, "\nUid:");
	const char *capabilities = status_value(text, "\nCapEff:");
	const char *privileges = status_value(text, "\nNoNewPrivs:");
	if (!uid || !capabilities || !privileges)
		return error_set(error, EPROTO, "/proc/%d/status lacks Uid, CapEff or NoNewPrivs",
				 pid);
	facts->uid = (unsigned)strtoul(uid, NULL, 10);
	facts->no_new_privileges = privileges[0] == '1';
	reason_text(facts->capabilities, sizeof(facts->capabilities), "%.*s",
		    (int)strcspn(capabilities, "\n"), capabilities);
	return 0;
}

int local_facts_read(pid_t pid, struct local_facts *ret, struct error *error)
{
	struct local_facts facts = { .uid = 0 };

	int r = facts_nodes(pid, &facts, error);
	if (r == 0)
		r = facts_rules(pid, &facts, error);
	if (r == 0)
		r = facts_mounts(pid, &facts, error);
	if (r == 0)
		r = facts_status(pid, &facts, error);
	if (r < 0) {
		local_facts_release(&facts);
		return error_wrap(error, "looking at process %d", pid);
	}
	*ret = facts;
	return 0;
}

void local_facts_release(struct local_facts *facts)
{
	string_list_release(&facts->nodes);
	string_list_release(&facts->rules);
	string_list_release(&facts->mounts);
	*facts = (struct local_facts){ .uid = 0 };
}
