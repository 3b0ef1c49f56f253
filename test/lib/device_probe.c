/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside a container (static: any root will do) and says what it can reach.
 *
 *	device_probe open PATH...	open each path: "PATH ENXIO"
 *	device_probe mknod DIR MINOR...	make DIR/m<MINOR> 195:<MINOR>, open it: "195:MINOR EPERM mknod"
 *	device_probe nodes DIR		every character node with major 195 below DIR
 *	device_probe status		user, groups, capabilities, no_new_privs, directory
 *	device_probe hold		prints "holding" and waits for the end of its input
 *	device_probe wait		waits for a signal: the first process of a Pod's sandbox
 *	device_probe A -- B -- C	several, one after the other
 *
 * With no driver loaded the kernel answers ENXIO once the open has passed every check; EPERM is the
 * device cgroup's no. So "reached" is ENXIO or success, and nothing else.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *try_open(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return "OK";
	}
	return strerrorname_np(errno);
}

static int probe_open(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("%s %s\n", argv[i], try_open(argv[i]));
	return 0;
}

static int probe_mknod(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		unsigned minor = (unsigned)strtoul(argv[i], NULL, 10);
		char path[256];

		snprintf(path, sizeof(path), "%s/m%u", argv[0], minor);
		if (mknod(path, S_IFCHR | 0600, makedev(195, minor)) < 0)
			printf("195:%u %s mknod\n", minor, strerrorname_np(errno));
		else
			printf("195:%u %s open\n", minor, try_open(path));
		unlink(path);
	}
	return argc > 0 ? 0 : 2;
}

static void list_nodes(const char *directory, int depth)
{
	DIR *stream = opendir(directory);
	const struct dirent *entry;

	if (!stream || depth > 8) {
		if (stream)
			closedir(stream);
		return;
	}
	while ((entry = readdir(stream))) {
		char path[4096];
		struct stat status;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (lstat(path, &status) < 0)
			continue;
		if (S_ISDIR(status.st_mode))
			list_nodes(path, depth + 1);
		else if (S_ISCHR(status.st_mode) && major(status.st_rdev) == 195)
			printf("%s 195:%u\n", path, minor(status.st_rdev));
	}
	closedir(stream);
}

static int probe_nodes(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		list_nodes(argv[i], 0);
	puts("end of nodes");
	return 0;
}

static int probe_status(int argc, char **argv)
{
	static const char *const keys[] = { "Uid:",    "Gid:",    "Groups:",
					    "CapEff:", "CapBnd:", "NoNewPrivs:" };
	char line[1024];
	FILE *status = fopen("/proc/self/status", "r");

	(void)argc;
	(void)argv;
	if (!status) {
		puts("no /proc");
		return 1;
	}
	while (fgets(line, sizeof(line), status))
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (strncmp(line, keys[i], strlen(keys[i])) == 0)
				fputs(line, stdout);
	fclose(status);
	if (getcwd(line, sizeof(line)))
		printf("Cwd: %s\n", line);
	return 0;
}

static int probe_hold(int argc, char **argv)
{
	char byte;

	(void)argc;
	(void)argv;
	puts("holding");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}

static int probe_wait(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pause();
	return 0;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "open", probe_open },     { "mknod", probe_mknod }, { "nodes", probe_nodes },
	{ "status", probe_status }, { "hold", probe_hold },   { "wait", probe_wait },
};

static int run_verb(int argc, char **argv)
{
	for (size_t i = 0; argc > 0 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, argv[0]) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	fprintf(stderr, "device_probe: open, mknod, nodes, status, hold or wait\n");
	return 2;
}

int main(int argc, char **argv)
{
	int from = 1, code = 0;

	for (int i = 1; i <= argc && code == 0; i++) {
		if (i < argc && strcmp(argv[i], "--") != 0)
			continue;
		code = run_verb(i - from, argv + from);
		fflush(stdout);
		from = i + 1;
	}
	return code;
}
