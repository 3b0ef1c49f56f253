/* SPDX-License-Identifier: Apache-2.0 */
/* One search of a driver root: the state that its files share. */
#pragma once

#include <stdarg.h>
#include <sys/stat.h>

#include "inject/driver_marks.h"
#include "inject/driver_table.h"
#include "inject/inject.h"

enum { NOTES_MAX = 64, DIRECTORY_ENTRIES_MAX = 1 << 17 };

struct search_link { /* <base>.so of a library, met before or after the library itself */
	const struct library_row *row;
	char *source;
};

struct search {
	int root;                       /* O_PATH */
	char *root_path;                /* real path of the driver root; owned */
	const char *host;               /* where the root of the host is seen */
	unsigned capabilities;          /* what is looked for */
	const struct injection *wanted; /* only nodes and sockets of this one; NULL: all */
	struct driver_files *files;
	size_t library_count;
	struct search_link *links; /* owned */
	size_t link_count, link_capacity;
	struct search_directory {
		dev_t device;
		ino_t inode;
	} * seen; /* directories already read; owned */
	size_t seen_count, seen_capacity;
	struct search_place *places; /* directories that were looked into; owned */
	size_t place_count, place_capacity;
	struct driver_marks *marks; /* what was looked at, to be kept; NULL: not noted */
	unsigned looking;           /* for which capabilities at the moment; 0: for any */
};

struct search_place {
	char *path; /* inside the driver root, as it was asked for; owned */
	char *real; /* on the host; owned */
	int fd;     /* O_PATH, or -errno: it cannot be reached */
};

void search_places_release(struct search *search);

/* Whether PATH on the host lies below the driver root. */
bool search_is_inside(const struct search *search, const char *path);
/* Whether a row of CAPABILITIES, 0 for all, is looked for. */
bool search_wants(const struct search *search, unsigned capabilities);
/* What PATH is inside the driver root, and its real path on the host; -EXDEV: outside the root. */
int search_look(struct search *search, const char *path, struct stat *ret_status,
		char **ret_source);
/*
 * The names in directory PATH of the driver root that FILTER takes, in order of version; none when
 * it is absent. ONCE: none either when it was listed so before, under this or another name.
 */
int search_list(struct search *search, const char *path,
		bool (*filter)(const struct search *search, const char *name), bool once,
		struct string_list *ret);
/* Adds a file and takes *SOURCE; NULL when out of memory. */
struct driver_file *search_add(struct search *search, enum driver_file_kind kind,
			       unsigned capabilities, char **source, const char *name);
/* 0 or -ENOMEM; after NOTES_MAX notes no more are kept. */
int driver_files_note(struct driver_files *files, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* 1: *ret is the same search in the root of the host, for sockets and nodes of a driver elsewhere; its
 * results belong to the search that it serves. 0: the driver's root is that of the host. */
int search_host(const struct search *search, struct search *ret);
void search_host_release(struct search *host);
/* The directory that the kernel searches for firmware first, when an administrator named one. */
int search_firmware_path(const struct search *search, struct strbuf *out);

/* The kept list (driver_kept.c). Reading: 0, -ENOENT, -ESTALE, -EPERM, -EINVAL; after an error the
 * files may hold some. Writing prunes the marks, and leaves out what changed a moment ago. */
int search_read(struct search *search, const char *path, const char *version, struct error *error);
int search_write(const struct search *search, const char *path, struct error *error);

/* The steps; 0 or -errno. What is broken becomes a note, what is absent nothing. */
int search_version(struct search *search, struct error *error);
int search_libraries(struct search *search);
int search_binaries(struct search *search);
int search_firmware(struct search *search);
int search_configs(struct search *search);
int search_modules(struct search *search);
int search_sockets(struct search *search);
/* In place of all of those above: 1 when the root is that of Windows' driver, and its files. */
int search_is_wsl(struct search *search);
int search_wsl(struct search *search);
int search_nodes(struct search *search);

/* The nodes that the plan of INJECTION will ask for by name, below /dev (plan_devices.c). 0 or -ENOMEM. */
int injection_node_names(const struct injection *injection, struct string_list *ret);
bool injection_wants_all_channels(const struct injection *injection);
/* Whether it may ask for display nodes, which are found by their card. */
bool injection_wants_display(const struct injection *injection);
