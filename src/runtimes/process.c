/* SPDX-License-Identifier: Apache-2.0 */
/* One process of the host, from its procfs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "runtimes/engine_parts.h"

enum { COMMAND_LINE_MAX = 1 << 20, CGROUP_MAX = 1 << 16, LINK_MAX = 4096 };

void host_process_release(struct host_process *process)
{
	free(process->program);
	free(process->service);
	string_list_release(&process->words);
	*process = (struct host_process){ .pid = 0 };
}

struct path {
	char text[ROOT_PATH_MAX];
};

/* PROC/PID/NAME; what is too long is cut, and then there is no such file. */
static const char *entry(const char *proc, const char *pid, const char *name, struct path *to)
{
	snprintf(to->text, sizeof(to->text), "%s/%s/%s", proc, pid, name);
	return to->text;
}

static bool read_link(const char *path, char *to, size_t size)
{
	ssize_t length = readlink(path, to, size - 1);

	if (length < 0)
		return false;
	to[length] = '\0';
	return true;
}

/* Unknown on either side is the same: a procfs of another machine's root may hide its links. */
static bool same_namespace(const char *proc, const char *pid)
{
	struct path path;
	char own[64], first[64];

	return !read_link(entry(proc, pid, "ns/pid", &path), own, sizeof(own)) ||
	       !read_link(entry(proc, "1", "ns/pid", &path), first, sizeof(first)) ||
	       strcmp(own, first) == 0;
}

static bool same_user(const char *proc, const char *pid)
{
	struct path path;
	struct stat own, first;

	return stat(entry(proc, pid, "", &path), &own) == 0 &&
	       stat(entry(proc, "1", "", &path), &first) == 0 && own.st_uid == first.st_uid;
}

/* The words end with a NUL each; a text written over them by the program itself has blanks. */
static int split_words(const char *text, size_t length, struct string_list *words)
{
	for (size_t at = 0; at < length; at += strlen(text + at) + 1) {
		int r = string_list_add(words, text + at);

		if (r < 0)
			return r;
	}
	return 0;
}

static int take_program(const char *proc, const char *pid, struct host_process *process)
{
	struct path path;
	static const char deleted[] = " (deleted)";
	char link[LINK_MAX];

	if (!read_link(entry(proc, pid, "exe", &path), link, sizeof(link)) || link[0] != '/')
		return 0;
	size_t length = strlen(link);
	/* An upgrade has replaced the file; the new one has the same name. */
	if (length > strlen(deleted) && strcmp(link + length - strlen(deleted), deleted) == 0)
		link[length - strlen(deleted)] = '\0';
	process->program = strdup(link);
	return process->program ? 0 : -ENOMEM;
}

/* The last component of its systemd cgroup that is a service: ".../containerd.service". */
static int take_service(const char *proc, const char *pid, struct host_process *process)
{
	struct path path;
	autofree char *text = NULL;
	char *rest, *line;

	int r = file_read(entry(proc, pid, "cgroup", &path), CGROUP_MAX, &text, NULL, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		char *group = strchr(line, ':'), *name;

		group = group ? strchr(group + 1, ':') : NULL;
		if (!group || (strncmp(line, "0::", 3) != 0 && !strstr(line, ":name=systemd:")))
			continue;
		for (group++; (name = strsep(&group, "/"));) {
			size_t length = strlen(name);

			if (length <= 8 || strcmp(name + length - 8, ".service") != 0)
				continue;
			free(process->service);
			process->service = strdup(name);
			if (!process->service)
				return -ENOMEM;
		}
	}
	return 0;
}

/* A program that wrote its title over its words ("/usr/bin/k3s server") left one word with blanks. */
static void take_name(struct host_process *process)
{
	const char *first = process->words.items[0];
	size_t length = strcspn(first, " :"), start = length;

	while (start > 0 && first[start - 1] != '/')
		start--;
	length -= start;
	/* A longer name is none that we know. */
	if (length < sizeof(process->name))
		memcpy(process->name, first + start, length);
}

int host_process_read(const char *proc, const char *pid, struct host_process *ret)
{
	cleanup(host_process_release) struct host_process process = { .pid = 0 };
	struct path path;
	autofree char *text = NULL;
	uint64_t number = 0;
	size_t length = 0;

	if (parse_uint(pid, 1, INT32_MAX, &number) < 0 || !same_user(proc, pid) ||
	    !same_namespace(proc, pid))
		return -ESRCH;
	int r = file_read(entry(proc, pid, "cmdline", &path), COMMAND_LINE_MAX, &text, &length,
			  NULL);
	/* A kernel thread has no words; another error means that it has just ended. */
	if (r < 0 || length == 0)
		return r == -ENOMEM ? r : -ESRCH;
	process.pid = (pid_t)number;
	r = split_words(text, length, &process.words);
	if (r == 0)
		r = take_program(proc, pid, &process);
	if (r == 0)
		r = take_service(proc, pid, &process);
	if (r < 0)
		return r;
	take_name(&process);
	*ret = process;
	process = (struct host_process){ .pid = 0 };
	return 0;
}

static const char *option_value(const struct host_process *process, size_t *at, const char *name,
				bool one_dash)
{
	const char *word = process->words.items[*at];
	size_t dashes = strspn(word, "-"), length = strlen(name);

	if (dashes < 1 || dashes > 2 || (dashes == 1 && !one_dash) ||
	    strncmp(word + dashes, name, length) != 0)
		return NULL;
	if (word[dashes + length] == '=')
		return word + dashes + length + 1;
	if (word[dashes + length] || *at + 1 >= process->words.count)
		return NULL;
	return process->words.items[++*at];
}

const char *host_process_option(const struct host_process *process, const char *name, char letter)
{
	const char short_name[2] = { letter, '\0' };
	const char *found = NULL;

	for (size_t i = 1; i < process->words.count; i++) {
		const char *value = option_value(process, &i, name, true);

		if (!value && letter)
			value = option_value(process, &i, short_name, true);
		if (value)
			found = value;
	}
	return found;
}

bool host_process_has_word(const struct host_process *process, const char *word)
{
	for (size_t i = 0; i < process->words.count; i++)
		if (strcmp(process->words.items[i], word) == 0)
			return true;
	return false;
}
