/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORD_SIZES 2

struct tree {
	int root; /* descriptor of the directory that is filled */
	const char *root_name;
	const char *version;
	unsigned short branch;
	enum names_layout layout;
	const char *libdir; /* of the word size at hand */
	const char *triplet;
	int bits;
};

struct word_size {
	int bits;
	const char *triplet;
	const char *libdir[NAMES_LAYOUT_COUNT];
};

static const struct word_size word_sizes[WORD_SIZES] = {
	{ 64, "x86_64-linux-gnu", { "usr/lib/x86_64-linux-gnu", "usr/lib64" } },
	{ 32, "i386-linux-gnu", { "usr/lib/i386-linux-gnu", "usr/lib" } },
};

/* Branches whose names are recorded. How to add: see names_libraries.c. */
static const unsigned short names_branches[] = { 535, 550 };

static const char *const names_layouts[NAMES_LAYOUT_COUNT] = { "debian", "rhel" };

static int say(const struct tree *tree, const char *path, const char *what)
{
	fprintf(stderr, "names: %s/%s: %s\n", tree->root_name, path, what);
	return -1;
}

static bool in_branch(const struct tree *tree, unsigned short since, unsigned short until)
{
	return tree->branch >= since && (!until || tree->branch <= until);
}

/* Fills in a template; -1 when the path would be cut. */
static int expand(const struct tree *tree, const char *template, char path[NAMES_PATH_MAX])
{
	size_t used = 0;

	for (const char *p = template; *p; p++) {
		const char *part = p;
		size_t length = 1;

		if (*p == '%' && (p[1] == 'v' || p[1] == 'l')) {
			part = *++p == 'v' ? tree->version : tree->libdir;
			length = strlen(part);
		}
		if (used + length >= NAMES_PATH_MAX)
			return say(tree, template, "the path is too long");
		memcpy(path + used, part, length);
		used += length;
	}
	path[used] = '\0';
	return 0;
}

static int join(const struct tree *tree, char out[NAMES_PATH_MAX], const char *directory,
		const char *name)
{
	int length = snprintf(out, NAMES_PATH_MAX, "%s/%s", directory, name);

	if (length < 0 || length >= NAMES_PATH_MAX)
		return say(tree, name, "the path is too long");
	return 0;
}

static int make_parents(const struct tree *tree, const char *path)
{
	char part[NAMES_PATH_MAX];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		size_t length = (size_t)(slash - path);

		memcpy(part, path, length);
		part[length] = '\0';
		if (mkdirat(tree->root, part, 0755) < 0 && errno != EEXIST)
			return say(tree, part, strerror(errno));
	}
	return 0;
}

static int write_file(const struct tree *tree, const char *path, const void *bytes, size_t size,
		      mode_t mode)
{
	int fd;

	if (make_parents(tree, path) < 0)
		return -1;
	fd = openat(tree->root, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return say(tree, path, strerror(errno));
	if (write(fd, bytes, size) != (ssize_t)size) {
		close(fd);
		return say(tree, path, "could not be written in full; is the disk full?");
	}
	close(fd);
	return 0;
}

static int write_link(const struct tree *tree, const char *path, const char *target)
{
	if (make_parents(tree, path) < 0)
		return -1;
	if (symlinkat(target, tree->root, path) < 0)
		return say(tree, path, strerror(errno));
	return 0;
}

/* The links beside a library, each to the one before it: file <- libx.so.1 <- libx.so */
static int write_library_links(const struct tree *tree, const char *directory, const char *file,
			       const char *links)
{
	char target[NAMES_PATH_MAX], name[NAMES_PATH_MAX], path[NAMES_PATH_MAX];

	if (expand(tree, file, target) < 0)
		return -1;
	for (const char *p = links; *p;) {
		size_t length = strcspn(p, " ");

		if (length >= sizeof(name))
			return say(tree, links, "the name is too long");
		memcpy(name, p, length);
		name[length] = '\0';
		if (join(tree, path, directory, name) < 0 || write_link(tree, path, target) < 0)
			return -1;
		memcpy(target, name, length + 1);
		p += length;
		p += strspn(p, " ");
	}
	return 0;
}

static int write_library(const struct tree *tree, const struct names_library *row)
{
	unsigned char image[NAMES_ELF_MAX];
	char file[NAMES_PATH_MAX], directory[NAMES_PATH_MAX], path[NAMES_PATH_MAX];
	const char *soname = row->soname, *links = row->links[tree->layout];
	size_t size;

	if (!row->directory[tree->layout] || !in_branch(tree, row->since, row->until) ||
	    (tree->bits == 32 && !row->also_32_bit))
		return 0;
	if (expand(tree, row->file, file) < 0 ||
	    expand(tree, row->directory[tree->layout], directory) < 0 ||
	    join(tree, path, directory, file) < 0)
		return -1;
	if (soname && strcmp(soname, "=") == 0)
		soname = file;
	size = names_elf_library(image, soname, tree->bits);
	if (!size)
		return say(tree, path, "the SONAME is too long for the stub");
	if (write_file(tree, path, image, size, 0755) < 0)
		return -1;
	return write_library_links(tree, directory, row->file, links ? links : "");
}

static int write_other(const struct tree *tree, const struct names_file *row)
{
	unsigned char bytes[NAMES_ELF_MAX] = { 0 };
	char path[NAMES_PATH_MAX];

	if (!(row->layouts & (1U << tree->layout)) || !in_branch(tree, row->since, row->until))
		return 0;
	if (expand(tree, row->path, path) < 0)
		return -1;
	if (row->kind == NAMES_PROGRAM)
		return write_file(tree, path, bytes, names_elf_program(bytes), 0755);
	if (row->kind == NAMES_BYTES)
		return write_file(tree, path, bytes, 256, 0644);
	return write_file(tree, path, row->text, strlen(row->text),
			  row->text[0] == '#' ? 0755 : 0644);
}

static int write_plain_link(const struct tree *tree, const struct names_link *row)
{
	char path[NAMES_PATH_MAX], target[NAMES_PATH_MAX];

	if (!(row->layouts & (1U << tree->layout)) || !in_branch(tree, row->since, row->until))
		return 0;
	if (expand(tree, row->path, path) < 0 || expand(tree, row->target, target) < 0)
		return -1;
	return write_link(tree, path, target);
}

/* As update-alternatives does: a row whose target is not there is left out. */
static int write_alternative(const struct tree *tree, const struct names_alternative *row)
{
	char link[NAMES_PATH_MAX], inside[NAMES_PATH_MAX], target[NAMES_PATH_MAX];
	char middle[NAMES_PATH_MAX];
	bool per_word_size = strncmp(row->link, "%l/", 3) == 0;
	const char *name;
	struct stat st;
	int length;

	if (!per_word_size && tree->bits == 32)
		return 0;
	if (expand(tree, row->link, link) < 0 || expand(tree, row->target, inside) < 0 ||
	    join(tree, target, "", inside) < 0)
		return -1;
	if (fstatat(tree->root, inside, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	name = strrchr(link, '/') + 1;
	if (strcmp(name, row->group) == 0) /* the master link of the group */
		length = snprintf(middle, sizeof(middle), "/etc/alternatives/%s", row->group);
	else
		length = snprintf(middle, sizeof(middle), "/etc/alternatives/%s--%s%s%s",
				  row->group, name, per_word_size ? "-" : "",
				  per_word_size ? tree->triplet : "");
	if (length < 0 || (size_t)length >= sizeof(middle))
		return say(tree, link, "the path is too long");
	if (write_link(tree, link, middle) < 0)
		return -1;
	return write_link(tree, middle + 1, target);
}

static int fill_word_size(struct tree *tree, const struct word_size *size)
{
	tree->bits = size->bits;
	tree->triplet = size->triplet;
	tree->libdir = size->libdir[tree->layout];
	for (size_t i = 0; i < names_library_count; i++)
		if (write_library(tree, &names_libraries[i]) < 0)
			return -1;
	return 0;
}

static int fill(struct tree *tree)
{
	for (size_t i = 0; i < WORD_SIZES; i++)
		if (fill_word_size(tree, &word_sizes[i]) < 0)
			return -1;
	for (size_t i = 0; i < names_file_count; i++)
		if (write_other(tree, &names_files[i]) < 0)
			return -1;
	for (size_t i = 0; i < names_link_count; i++)
		if (write_plain_link(tree, &names_links[i]) < 0)
			return -1;
	if (make_parents(tree, "usr/lib64/") < 0 || make_parents(tree, "usr/sbin/") < 0)
		return -1;
	for (size_t size = 0; tree->layout == NAMES_DEBIAN && size < WORD_SIZES; size++) {
		tree->bits = word_sizes[size].bits;
		tree->triplet = word_sizes[size].triplet;
		tree->libdir = word_sizes[size].libdir[tree->layout];
		for (size_t i = 0; i < names_alternative_count; i++)
			if (write_alternative(tree, &names_alternatives[i]) < 0)
				return -1;
	}
	return 0;
}

static int parse_version(struct tree *tree, const char *version)
{
	char *end;
	unsigned long branch = strtoul(version, &end, 10);

	for (size_t i = 0; i < sizeof(names_branches) / sizeof(names_branches[0]); i++)
		if (branch == names_branches[i] && *end == '.' && strlen(version) < 32 &&
		    strspn(version, "0123456789.") == strlen(version)) {
			tree->branch = (unsigned short)branch;
			tree->version = version;
			return 0;
		}
	fprintf(stderr,
		"names: version %s: names are recorded for the branches 535 and 550; give for "
		"example 535.261.03\n",
		version);
	return -1;
}

static int parse_layout(struct tree *tree, const char *layout)
{
	for (int i = 0; i < NAMES_LAYOUT_COUNT; i++)
		if (strcmp(layout, names_layouts[i]) == 0) {
			tree->layout = (enum names_layout)i;
			return 0;
		}
	fprintf(stderr, "names: layout %s: give debian or rhel\n", layout);
	return -1;
}

/* 0 when all is there, else -1 with the reason said. */
static int parse_options(struct tree *tree, int argc, char **argv)
{
	static const struct option options[] = { { "version", required_argument, NULL, 'v' },
						 { "layout", required_argument, NULL, 'l' },
						 { "root", required_argument, NULL, 'r' },
						 { NULL, 0, NULL, 0 } };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'r')
			tree->root_name = optarg;
		else if (option == '?' || (option == 'v' && parse_version(tree, optarg) < 0) ||
			 (option == 'l' && parse_layout(tree, optarg) < 0))
			return -1;
	}
	if (tree->version && tree->layout != NAMES_LAYOUT_COUNT && tree->root_name &&
	    optind == argc)
		return 0;
	fputs("usage: names --version 535.261.03 --layout debian|rhel --root DIR\n", stderr);
	return -1;
}

int names_run(int argc, char **argv)
{
	struct tree tree = { .root = -1, .layout = NAMES_LAYOUT_COUNT };
	int status;

	if (parse_options(&tree, argc, argv) < 0)
		return 2;
	if (mkdir(tree.root_name, 0755) < 0 && errno != EEXIST) {
		fprintf(stderr, "names: %s: %s\n", tree.root_name, strerror(errno));
		return 1;
	}
	tree.root = open(tree.root_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree.root < 0) {
		fprintf(stderr, "names: %s: %s\n", tree.root_name, strerror(errno));
		return 1;
	}
	status = fill(&tree) < 0 ? 1 : 0;
	close(tree.root);
	return status;
}
