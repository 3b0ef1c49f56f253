/* SPDX-License-Identifier: Apache-2.0 */
#include "root_names.h"

#include <stdio.h>
#include <string.h>

#include "names.h"
#include "tree.h"

struct place {
	const char *root, *folder, *version;
};

/* Puts version and folder for %v and %l. */
static int expand(const struct place *place, const char *template, char ret[NAMES_PATH_MAX])
{
	size_t used = 0;

	for (const char *p = template; *p != '\0'; p++) {
		const char *part = p;
		size_t length = 1;

		if (p[0] == '%' && (p[1] == 'v' || p[1] == 'l')) {
			part = *++p == 'v' ? place->version : place->folder;
			length = strlen(part);
		}
		if (used + length >= NAMES_PATH_MAX)
			return tree_fail("the path of %s is too long", template);
		memcpy(ret + used, part, length);
		used += length;
	}
	ret[used] = '\0';
	return 0;
}

static int join(const char *folder, const char *name, size_t length, char ret[TREE_PATH_MAX])
{
	if ((size_t)snprintf(ret, TREE_PATH_MAX, "%s/%.*s", folder, (int)length, name) >=
	    TREE_PATH_MAX)
		return tree_fail("the path of %s is too long", name);
	return 0;
}

/* "libx.so.1 libx.so": each points to the one before it, the first to the file. */
static int build_links(const struct place *place, const char *folder, const char *file,
		       const char *links)
{
	char list[NAMES_PATH_MAX], path[TREE_PATH_MAX], target[NAMES_PATH_MAX];
	const char *at = list;

	if (expand(place, links, list) != 0)
		return -1;
	snprintf(target, sizeof(target), "%s", file);
	while (*at != '\0') {
		size_t length = strcspn(at, " ");

		if (join(folder, at, length, path) != 0 ||
		    tree_link(place->root, path, target) != 0)
			return -1;
		snprintf(target, sizeof(target), "%.*s", (int)length, at);
		at += length + (at[length] == ' ');
	}
	return 0;
}

static int build_one(const struct place *place, const struct names_library *library)
{
	char folder[NAMES_PATH_MAX], file[NAMES_PATH_MAX], soname[NAMES_PATH_MAX] = "";
	unsigned char image[NAMES_ELF_MAX];
	char path[TREE_PATH_MAX];
	size_t size;

	if (expand(place, library->directory[NAMES_RHEL], folder) != 0 ||
	    expand(place, library->file, file) != 0 ||
	    (library->soname != NULL && expand(place, library->soname, soname) != 0) ||
	    join(folder, file, strlen(file), path) != 0)
		return -1;
	if (strcmp(soname, "=") == 0)
		memcpy(soname, file, sizeof(soname));
	size = names_elf_library(image, library->soname == NULL ? NULL : soname, 64);
	if (size == 0)
		return tree_fail("the SONAME of %s is too long", file);
	if (tree_bytes(place->root, path, image, size, 0755) != 0)
		return -1;
	if (library->links[NAMES_RHEL] == NULL)
		return 0;
	return build_links(place, folder, file, library->links[NAMES_RHEL]);
}

static bool is_skipped(const char *file, const char *const *skip)
{
	for (; *skip != NULL; skip++) {
		size_t length = strlen(*skip);

		if (strncmp(file, *skip, length) == 0 && strncmp(file + length, ".so", 3) == 0)
			return true;
	}
	return false;
}

int root_build_names(const char *root, const char *folder, const struct profile *profile,
		     const char *const *skip)
{
	const struct place place = { .root = root,
				     .folder = folder,
				     .version = profile->driver_version };

	for (size_t i = 0; i < names_library_count; i++) {
		const struct names_library *library = &names_libraries[i];

		if (library->directory[NAMES_RHEL] == NULL || library->since > profile->branch ||
		    (library->until != 0 && library->until < profile->branch) ||
		    is_skipped(library->file, skip))
			continue;
		if (build_one(&place, library) != 0)
			return -1;
	}
	return 0;
}
