/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver root made from the real names only: every library file with its SONAME, every link and
 * every other file of a driver release as two distributions lay them out. The files are stubs that
 * the loader accepts; what is tested on such a root is how driver files are searched.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAMES_PATH_MAX 512

enum names_layout {
	NAMES_DEBIAN, /* two directories, reached through absolute links in /etc/alternatives */
	NAMES_RHEL,   /* the .run installer and the RPM packages: all in /usr/lib64 */
	NAMES_LAYOUT_COUNT
};

enum names_kind {
	NAMES_PROGRAM, /* an ELF program that exits 0 */
	NAMES_TEXT,
	NAMES_BYTES, /* 256 bytes, for firmware and other blobs */
};

/*
 * Templates: %v is the driver version, %l the library directory of the layout and word size
 * without a leading slash. since and until are driver branches, both inclusive, 0 for no bound.
 */
struct names_library {
	const char *file;
	const char *soname; /* NULL: the file has none; "=": the file's own name */
	const char *directory[NAMES_LAYOUT_COUNT]; /* NULL: not shipped in this layout */
	const char *links[NAMES_LAYOUT_COUNT];     /* beside it, each to the one before it */
	unsigned short since, until;
	bool also_32_bit;
};

struct names_file {
	const char *path;
	enum names_kind kind;
	const char *text;
	unsigned layouts; /* bits 1 << enum names_layout */
	unsigned short since, until;
};

struct names_link {
	const char *path;
	const char *target;
	unsigned layouts;
	unsigned short since, until;
};

/* One line of update-alternatives: link -> /etc/alternatives/<group>--<name>[-<triplet>] -> target */
struct names_alternative {
	const char *group;
	const char *link;
	const char *target;
};

extern const struct names_library names_libraries[];
extern const size_t names_library_count;
extern const struct names_file names_files[];
extern const size_t names_file_count;
extern const struct names_link names_links[];
extern const size_t names_link_count;
extern const struct names_alternative names_alternatives[];
extern const size_t names_alternative_count;

#define NAMES_ELF_MAX 1024

/*
 * Writes a shared object without code into image and returns its size: SONAME, DT_NEEDED
 * libc.so.6 and one reference to gnu_get_libc_version, so that glibc loads it and musl refuses it
 * as it refuses NVIDIA's. bits is 64 (x86-64) or 32 (i386). Returns 0 when soname is too long.
 */
size_t names_elf_library(unsigned char image[NAMES_ELF_MAX], const char *soname, int bits);

/* The same for a static x86-64 program that exits 0. */
size_t names_elf_program(unsigned char image[NAMES_ELF_MAX]);

/*
 * names --version 535.261.03 --layout debian|rhel --root DIR: makes the tree. DIR may exist;
 * nothing in it is replaced. Returns the exit status, having said on stderr what failed.
 */
int names_run(int argc, char **argv);
