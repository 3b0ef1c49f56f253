/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "test.h"

static void must(int r, const char *path)
{
	if (r < 0)
		fail_msg("%s: %s", path, strerror(errno));
}

void tree_make(char path[TREE_PATH_MAX])
{
	snprintf(path, TREE_PATH_MAX, "/tmp/gpupool-test-XXXXXX");
	if (!mkdtemp(path))
		fail_msg("cannot make a directory below /tmp");
	must(chmod(path, 0755), path);
}

static FTS *walk(const char *tree)
{
	char *copy = strdup(tree), *const roots[] = { copy, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	free(copy);
	assert_non_null(fts);
	return fts;
}

void tree_remove(const char *path)
{
	FTS *fts = walk(path);

	for (FTSENT *entry = fts_read(fts); entry; entry = fts_read(fts)) {
		if (entry->fts_info == FTS_D)
			continue;
		must(entry->fts_info == FTS_DP ? rmdir(entry->fts_path) : unlink(entry->fts_path),
		     entry->fts_path);
	}
	fts_close(fts);
}

/* TREE/PATH, its parents made; in a buffer of the caller. */
static const char *place(const char *tree, const char *path, char *full, size_t size)
{
	int length = snprintf(full, size, "%s/%s", tree, path);

	assert_true(length > 0 && (size_t)length < size);
	for (char *slash = full + strlen(tree) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(full, 0755) < 0 && errno != EEXIST)
			must(-1, full);
		*slash = '/';
	}
	return full;
}

static void write_file(const char *tree, const char *path, const void *bytes, size_t length,
		       unsigned mode)
{
	char full[512];
	int fd = open(place(tree, path, full, sizeof(full)), O_WRONLY | O_CREAT | O_TRUNC, mode);

	must(fd, full);
	assert_int_equal(write(fd, bytes, length), length);
	close(fd);
}

void tree_directory(const char *tree, const char *path)
{
	char full[512];

	if (mkdir(place(tree, path, full, sizeof(full)), 0755) < 0 && errno != EEXIST)
		must(-1, full);
}

void tree_file(const char *tree, const char *path, const char *text)
{
	write_file(tree, path, text, strlen(text), 0644);
}

void tree_program(const char *tree, const char *path)
{
	write_file(tree, path, "#!/bin/true\n", 12, 0755);
}

void tree_link(const char *tree, const char *path, const char *target)
{
	char full[512];

	must(symlink(target, place(tree, path, full, sizeof(full))), full);
}

void tree_socket(const char *tree, const char *path)
{
	char full[512];

	must(mknod(place(tree, path, full, sizeof(full)), S_IFSOCK | 0666, 0), full);
}

void tree_fifo(const char *tree, const char *path)
{
	char full[512];

	must(mkfifo(place(tree, path, full, sizeof(full)), 0644), full);
}

bool tree_node(const char *tree, const char *path, unsigned major, unsigned minor)
{
	char full[512];

	return mknod(place(tree, path, full, sizeof(full)), S_IFCHR | 0666,
		     makedev(major, minor)) == 0;
}

enum { STRINGS_AT = 512 }; /* where the string table stands in the file */

static size_t library_64(unsigned char *bytes, size_t length, bool named)
{
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
						 EV_CURRENT },
				    .e_type = ET_DYN,
				    .e_machine = EM_X86_64,
				    .e_version = EV_CURRENT,
				    .e_phoff = sizeof(header),
				    .e_ehsize = sizeof(header),
				    .e_phentsize = sizeof(Elf64_Phdr),
				    .e_phnum = 2 };
	const Elf64_Dyn dynamic[] = { { DT_STRTAB, { STRINGS_AT + 0x1000 } },
				      { DT_STRSZ, { length } },
				      { named ? DT_SONAME : DT_DEBUG, { 1 } },
				      { DT_NULL, { 0 } } };
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R,
		  .p_vaddr = 0x1000,
		  .p_filesz = STRINGS_AT + length,
		  .p_memsz = STRINGS_AT + length },
		{ .p_type = PT_DYNAMIC,
		  .p_flags = PF_R,
		  .p_offset = 256,
		  .p_vaddr = 0x1100,
		  .p_filesz = sizeof(dynamic),
		  .p_memsz = sizeof(dynamic) },
	};

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), segments, sizeof(segments));
	memcpy(bytes + 256, dynamic, sizeof(dynamic));
	return STRINGS_AT + length;
}

static size_t library_32(unsigned char *bytes, size_t length, bool named)
{
	const Elf32_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB,
						 EV_CURRENT },
				    .e_type = ET_DYN,
				    .e_machine = EM_386,
				    .e_version = EV_CURRENT,
				    .e_phoff = sizeof(header),
				    .e_ehsize = sizeof(header),
				    .e_phentsize = sizeof(Elf32_Phdr),
				    .e_phnum = 2 };
	const Elf32_Dyn dynamic[] = { { DT_STRTAB, { STRINGS_AT + 0x1000 } },
				      { DT_STRSZ, { (Elf32_Word)length } },
				      { named ? DT_SONAME : DT_DEBUG, { 1 } },
				      { DT_NULL, { 0 } } };
	const Elf32_Phdr segments[] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R,
		  .p_vaddr = 0x1000,
		  .p_filesz = (Elf32_Word)(STRINGS_AT + length),
		  .p_memsz = (Elf32_Word)(STRINGS_AT + length) },
		{ .p_type = PT_DYNAMIC,
		  .p_flags = PF_R,
		  .p_offset = 256,
		  .p_vaddr = 0x1100,
		  .p_filesz = sizeof(dynamic),
		  .p_memsz = sizeof(dynamic) },
	};

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), segments, sizeof(segments));
	memcpy(bytes + 256, dynamic, sizeof(dynamic));
	return STRINGS_AT + length;
}

size_t tree_library_bytes(unsigned char bytes[1024], const char *soname, int bits)
{
	size_t length = (soname ? strlen(soname) : 0) + 2;

	assert_true(STRINGS_AT + length <= 1024);
	memset(bytes, 0, 1024);
	if (soname)
		memcpy(bytes + STRINGS_AT + 1, soname, strlen(soname));
	return bits == 64 ? library_64(bytes, length, soname != NULL)
			  : library_32(bytes, length, soname != NULL);
}

void tree_library(const char *tree, const char *path, const char *soname, int bits)
{
	unsigned char bytes[1024];
	size_t length = tree_library_bytes(bytes, soname, bits);

	write_file(tree, path, bytes, length, 0644);
}

char *tree_describe(const char *tree)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	FTS *fts = walk(tree);

	assert_non_null(out);
	for (FTSENT *entry = fts_read(fts); entry; entry = fts_read(fts))
		if (entry->fts_info != FTS_DP)
			fprintf(out, "%s %o %lld\n", entry->fts_path, entry->fts_statp->st_mode,
				(long long)entry->fts_statp->st_size);
	fts_close(fts);
	fclose(out);
	return text;
}
