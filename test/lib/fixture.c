/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(int good, const char *what, const char *path)
{
	if (good)
		return;
	fprintf(stderr, "fixture: cannot %s %s: %s\n", what, path, strerror(errno));
	abort();
}

const char *fixture_path(const struct fixture *fixture, const char *path, char *to, size_t size)
{
	int length = snprintf(to, size, "%s/%s", fixture->root, path);

	must(length > 0 && (size_t)length < size, "name", path);
	return to;
}

static void make_folders(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		must(mkdir(path, 0755) == 0 || errno == EEXIST, "make the folder", path);
		*slash = '/';
	}
}

void fixture_write(const struct fixture *fixture, const char *path, const char *text)
{
	char full[PATH_MAX];

	fixture_path(fixture, path, full, sizeof(full));
	make_folders(full);
	if (!text) {
		must(mkdir(full, 0755) == 0 || errno == EEXIST, "make the folder", full);
		return;
	}
	if (strncmp(text, "-> ", 3) == 0) {
		must(symlink(text + 3, full) == 0, "link", full);
		return;
	}
	FILE *file = fopen(full, "we");
	must(file != NULL, "write", full);
	must(fputs(text, file) >= 0 && fclose(file) == 0, "write", full);
}

void fixture_make(struct fixture *fixture, const struct fixture_file *files, size_t count)
{
	(void)snprintf(fixture->root, sizeof(fixture->root), "/tmp/gpupool-test-XXXXXX");
	must(mkdtemp(fixture->root) != NULL, "make", fixture->root);
	for (size_t i = 0; i < count; i++)
		fixture_write(fixture, files[i].path, files[i].text);
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
	(void)stat;
	(void)kind;
	(void)where;
	return remove(path);
}

void fixture_remove(struct fixture *fixture)
{
	must(nftw(fixture->root, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0, "remove",
	     fixture->root);
}
