/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t read_file(pid_t pid, const char *name, char *ret, size_t size)
{
	char path[64];
	ssize_t length;
	int fd;

	ret[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, ret, size - 1);
	close(fd);
	if (length < 0)
		length = 0;
	ret[length] = '\0';
	return (size_t)length;
}

void process_name(pid_t pid, char *ret, size_t size)
{
	if (read_file(pid, "cmdline", ret, size) == 0)
		read_file(pid, "comm", ret, size);
	ret[strcspn(ret, "\n")] = '\0';
}

static bool read_namespace(pid_t pid, char *ret, size_t size)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	length = readlink(path, ret, size - 1);
	if (length <= 0)
		return false;
	ret[length] = '\0';
	return true;
}

/* The last number of the line NSpid: the process in its innermost namespace. */
static bool innermost_pid(pid_t pid, uint32_t *ret)
{
	char status[4096], *line, *end;

	read_file(pid, "status", status, sizeof(status));
	line = strstr(status, "\nNSpid:");
	if (line == NULL)
		return false;
	line += strlen("\nNSpid:");
	end = strchr(line, '\n');
	if (end == NULL)
		return false;
	*end = '\0';
	line = strrchr(line, '\t');
	if (line == NULL)
		return false;
	*ret = (uint32_t)strtoul(line + 1, NULL, 10);
	return *ret != 0;
}

bool process_translate(pid_t pid, pid_t asker, uint32_t *ret)
{
	char own[64], theirs[64], asking[64];

	*ret = (uint32_t)pid;
	if (!read_namespace(getpid(), own, sizeof(own)) ||
	    !read_namespace(asker, asking, sizeof(asking)) || strcmp(own, asking) == 0)
		return true;
	return read_namespace(pid, theirs, sizeof(theirs)) && strcmp(theirs, asking) == 0 &&
	       innermost_pid(pid, ret);
}
