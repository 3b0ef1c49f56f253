/* SPDX-License-Identifier: Apache-2.0 */
#include "proc_tree.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(const struct fixture *fixture, const char *pid, const char *name, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "proc/%s/%s", pid, name);
	fixture_write(fixture, path, text);
}

static void add_words(const struct fixture *fixture, const char *pid, const char *words)
{
	char path[PATH_MAX], full[PATH_MAX];

	snprintf(path, sizeof(path), "proc/%s/cmdline", pid);
	fixture_write(fixture, path, "");
	FILE *file = fopen(fixture_path(fixture, path, full, sizeof(full)), "we");
	if (!file)
		abort();
	for (const char *at = words; *at; at++)
		(void)fputc(*at == ' ' ? '\0' : *at == '|' ? ' ' : *at, file);
	(void)fputc('\0', file);
	(void)fclose(file);
}

static void add_link(const struct fixture *fixture, const char *pid, const char *name,
		     const char *target)
{
	char link[PATH_MAX];

	if (!target)
		return;
	snprintf(link, sizeof(link), "-> %s", target);
	add(fixture, pid, name, link);
}

void proc_make(const struct fixture *fixture, const struct proc_row *rows)
{
	char group[PATH_MAX];

	add_words(fixture, "1", "/sbin/init");
	add_link(fixture, "1", "ns/pid", "pid:[1]");
	add(fixture, "self-test", "cmdline", "not a process");
	for (; rows->pid; rows++) {
		add_words(fixture, rows->pid, rows->words);
		add_link(fixture, rows->pid, "exe", rows->program);
		add_link(fixture, rows->pid, "ns/pid", rows->space);
		if (!rows->group)
			continue;
		snprintf(group, sizeof(group), "12:devices:/x.service\n%s\n", rows->group);
		add(fixture, rows->pid, "cgroup", group);
	}
}
