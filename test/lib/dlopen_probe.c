/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen_probe NAME...: loads each name as a program would. A line for each:
 *   ok NAME PATH    PATH is the file that the loader took
 *   no NAME REASON
 * Exit status 0 when all loaded, else 1.
 */
#include <dlfcn.h>
#include <stdio.h>

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

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		void *handle = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);

		if (handle) {
			printf("ok %s %s\n", argv[i], path_of(handle, argv[i]));
		} else {
			printf("no %s %s\n", argv[i], dlerror());
			failed = 1;
		}
	}
	return argc < 2 ? 2 : failed;
}
