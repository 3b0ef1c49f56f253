/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen_probe NAME...: loads each name as a program would, each in a process of its own, so that
 * none is found because another one is loaded already. A line for each:
 *   ok NAME PATH DEVICE:INODE    the file that the loader took
 *   no NAME REASON
 * Exit status 0 when all loaded, else 1.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <link.h>
#endif

static const char *path_of(void *handle, const char *name)
{
#ifdef __GLIBC__
	struct link_map *map;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0])
		return map->l_name;
#else
	(void)handle;
#endif
	return name;
}

static int load(const char *name)
{
	struct stat file = { 0 };
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		printf("no %s %s\n", name, dlerror());
		return 1;
	}
	const char *path = path_of(handle, name);
	stat(path, &file);
	printf("ok %s %s %llu:%llu\n", name, path, (unsigned long long)file.st_dev,
	       (unsigned long long)file.st_ino);
	return 0;
}

/* 1 also when the library ended the process. */
static int load_apart(const char *name)
{
	int status;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		int r = load(name);
		fflush(stdout);
		_exit(r);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	if (!WIFEXITED(status))
		printf("no %s ended by signal %d\n", name, WTERMSIG(status));
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= load_apart(argv[i]);
	return argc < 2 ? 2 : failed;
}
