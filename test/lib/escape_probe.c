/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside a container (static: any root will do) and tries to get out of it, one line an
 * attempt: "WHAT: the kernel's answer". "done" means that the attempt succeeded.
 *
 *	escape_probe write PATH TEXT	writes TEXT into PATH
 *	escape_probe join PATH		moves itself to the cgroup whose cgroup.procs PATH is
 *	escape_probe descriptors	names every open descriptor above 2
 *	escape_probe remount PATH...	makes mounts writable again, or takes them away
 *	escape_probe mounts		mounts the kernel's own file systems anew
 *	escape_probe userns		full rights in a user namespace of its own, for what follows
 *	escape_probe devices GROUP	mounts the device cgroups anew and allows itself every device
 *	escape_probe trace PID...	attaches as a debugger
 *	escape_probe type		puts a key press into its own terminal's input (TIOCSTI)
 *	escape_probe open PATH...	as device_probe: ENXIO means that the card was reached
 *	escape_probe mknod DIR MINOR...
 *	escape_probe A -- B -- C	several, one after the other, in one process
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void answer(const char *what, const char *object, long result)
{
	printf("%s %s: %s\n", what, object, result < 0 ? strerrorname_np(errno) : "done");
}

static long write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	ssize_t written = write(fd, text, strlen(text));
	int number = errno;
	close(fd);
	errno = number;
	return written;
}

static int probe_write(int argc, char **argv)
{
	for (int i = 0; i + 1 < argc; i += 2)
		answer("write", argv[i], write_text(argv[i], argv[i + 1]));
	return 0;
}

static int probe_join(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		answer("join", argv[i], write_text(argv[i], "0"));
	return 0;
}

static int probe_descriptors(int argc, char **argv)
{
	DIR *stream = opendir("/proc/self/fd");
	const struct dirent *entry;

	(void)argc;
	(void)argv;
	while (stream && (entry = readdir(stream))) {
		long number = strtol(entry->d_name, NULL, 10);

		if (number > 2 && number != dirfd(stream))
			printf("descriptor %ld\n", number);
	}
	if (stream)
		closedir(stream);
	puts("end of descriptors");
	return 0;
}

static int probe_remount(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		answer("remount", argv[i], mount(NULL, argv[i], NULL, MS_REMOUNT | MS_BIND, NULL));
		answer("umount", argv[i], umount2(argv[i], MNT_DETACH));
	}
	return 0;
}

/* A directory to mount at: one that every root has, and that nothing else needs. */
#define PLACE "/tmp"

static int probe_mounts(int argc, char **argv)
{
	static const char *const types[] = { "sysfs",   "proc",    "devtmpfs", "cgroup2",
					     "debugfs", "tracefs", "bpf" };

	(void)argc;
	(void)argv;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		long result = mount("none", PLACE, types[i], 0, NULL);

		answer("mount", types[i], result);
		if (result == 0)
			umount2(PLACE, MNT_DETACH);
	}
	return 0;
}

static int probe_userns(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	answer("unshare", "user", unshare(CLONE_NEWUSER));
	answer("unshare", "mount,cgroup,net,ipc",
	       unshare(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWNET | CLONE_NEWIPC));
	return 0;
}

static int probe_devices(int argc, char **argv)
{
	char path[4096];
	long result = mount("none", PLACE, "cgroup", 0, "devices");

	(void)argc;
	(void)argv;
	answer("mount", "cgroup devices", result);
	if (result < 0)
		return 0;
	snprintf(path, sizeof(path), "%s/devices.allow", PLACE);
	answer("allow", "every device", write_text(path, "a *:* rwm"));
	snprintf(path, sizeof(path), "%s/../cgroup.procs", PLACE);
	answer("join", "the group above", write_text(path, "0"));
	umount2(PLACE, MNT_DETACH);
	return 0;
}

static int probe_trace(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		answer("trace", argv[i],
		       ptrace(PTRACE_ATTACH, (pid_t)strtol(argv[i], NULL, 10), NULL, NULL));
	return 0;
}

static int probe_type(int argc, char **argv)
{
	const char key = '#';

	(void)argc;
	(void)argv;
	answer("type", "into the terminal", ioctl(0, TIOCSTI, &key));
	answer("take", "the terminal", ioctl(0, TIOCSCTTY, 1));
	answer("type", "into the terminal", ioctl(0, TIOCSTI, &key));
	return 0;
}

static int probe_open(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		int fd = open(argv[i], O_RDWR | O_NONBLOCK | O_CLOEXEC);

		answer("open", argv[i], fd);
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

static int probe_mknod(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		unsigned minor = (unsigned)strtoul(argv[i], NULL, 10);
		char path[256];

		snprintf(path, sizeof(path), "%s/m%u", argv[0], minor);
		long result = mknod(path, S_IFCHR | 0600, makedev(195, minor));
		answer("mknod", argv[i], result);
		if (result == 0)
			probe_open(1, (char *[]){ path });
		unlink(path);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "write", probe_write },
	{ "join", probe_join },
	{ "descriptors", probe_descriptors },
	{ "remount", probe_remount },
	{ "mounts", probe_mounts },
	{ "userns", probe_userns },
	{ "devices", probe_devices },
	{ "trace", probe_trace },
	{ "type", probe_type },
	{ "open", probe_open },
	{ "mknod", probe_mknod },
};

static int run_verb(int argc, char **argv)
{
	for (size_t i = 0; argc > 0 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, argv[0]) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	fprintf(stderr, "escape_probe: no such attempt\n");
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
