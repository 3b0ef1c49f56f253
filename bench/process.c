/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "containers.h"

void stop_process(pid_t pid, int number)
{
	int status;

	kill(pid, number);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

static double number_in(const char *line)
{
	const char *colon = strchr(line, ':');

	return colon ? strtod(colon + 1, NULL) : 0;
}

double memory_of(pid_t pid, const char *file, const char *name)
{
	autofree char *text = NULL;
	char path[64];
	double sum = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	if (file_read(path, 1u << 20, &text, NULL, NULL) < 0)
		return 0;
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		if (strncmp(line, name, strlen(name)) == 0)
			sum += number_in(line);
	return sum;
}

double cpu_of(pid_t pid, bool children)
{
	autofree char *text = NULL;
	char path[64];
	unsigned field = 3; /* proc(5): what follows the name in brackets */
	double ticks = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(path, 4096, &text, NULL, NULL) < 0)
		return 0;
	char *rest = strrchr(text, ')');
	rest = rest ? rest + 2 : NULL;
	for (char *word; (word = strsep(&rest, " ")); field++)
		if (field == 14 || field == 15 || (children && (field == 16 || field == 17)))
			ticks += strtod(word, NULL);
	return ticks / (double)sysconf(_SC_CLK_TCK);
}

size_t children_of(pid_t pid, pid_t *ret, size_t size)
{
	char path[64];
	size_t count = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	for (const struct dirent *task; tasks && (task = readdir(tasks)) != NULL;) {
		autofree char *text = NULL;
		char list[sizeof(path) + sizeof(task->d_name) + sizeof("/children")];

		(void)snprintf(list, sizeof(list), "%s/%s/children", path, task->d_name);
		if (*task->d_name == '.' || file_read(list, 4096, &text, NULL, NULL) < 0)
			continue;
		for (char *rest = text, *word; (word = strsep(&rest, " ")) && count < size;)
			if (*word)
				ret[count++] = (pid_t)strtol(word, NULL, 10);
	}
	if (tasks)
		closedir(tasks);
	return count;
}

void version_of(const char *program, char *ret, size_t size)
{
	int ends[2];
	size_t length = 0;
	ssize_t got;

	pid_t pid = pipe(ends) < 0 ? -1 : fork();
	if (pid < 0)
		die("cannot start a process", NULL);
	if (pid == 0) {
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		execl(program, program, "--version", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while (length + 1 < size && (got = read(ends[0], ret + length, size - 1 - length)) > 0)
		length += (size_t)got;
	close(ends[0]);
	stop_process(pid, 0);
	ret[length] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	if (!*ret)
		die(program, &(const struct error){ .message = "--version prints nothing" });
}
