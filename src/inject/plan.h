/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that build a plan share. Inside this folder only. */
#pragma once

#include "formats/formats.h"
#include "inject/inject.h"

enum { EDITS_MAX = 4096, GUARD_DIRECTORY_MAX = 256 };

/* Places in the container where nothing of ours may be created. */
struct guard {
	int root;                   /* O_PATH on the container's root, or -1 */
	struct string_list places;  /* mounts of volumes, links resolved inside the root */
	struct string_list sources; /* what is mounted there, one a place; "" unknown */
	/* The directory that was looked at last, in which most mount points are: no link leads to it. */
	char directory[GUARD_DIRECTORY_MAX]; /* "" none */
	int directory_fd;                    /* or -ENOENT */
};

struct builder {
	const struct injection *injection;
	struct edit_plan *plan;
	struct reason *reason;
	struct error *error;
	struct guard guard;
	unsigned placed, covered; /* of the file at hand: targets, and those with a mount at them */
};

/* Adds a copy of EDIT, its strings included, with a reason. 0 or -errno with builder->error. */
int builder_add(struct builder *builder, const struct edit *edit, const char *reason, ...)
	__attribute__((format(printf, 3, 4)));
int builder_note(struct builder *builder, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* -EPERM, with the reason filled and its sentence as the error. */
int builder_refuse(struct builder *builder, enum reason_code code, const char *detail, ...)
	__attribute__((format(printf, 3, 4)));

/* /dev, /proc, /sys and the working directory; then the places of the guard. */
int guard_check(struct builder *builder);
void guard_release(struct guard *guard);
/* 1 when PATH lies at or below a volume, whose place is then in *ret, or when nothing can be made
 * at PATH, which is then in *ret; 0 when not; -ENOMEM. */
int guard_covers(const struct guard *guard, const char *path, const char **ret);
/*
 * The same for a mount point, also 1 when there is a directory and no DIRECTORY is wanted, or the
 * other way round. *real is where a dangling link on the way ends, "" when there is none: runc makes
 * the mount point there, crun (1.8, "openat2: No such file") none.
 */
int guard_mount_point(struct guard *guard, const char *path, bool directory, struct strbuf *real,
		      const char **ret);
/*
 * What the container sees at PATH because of a volume of its own: the path on the host, into HOST.
 * 2 when the volume is at PATH itself, 1 when above, 0 when there is none or its source is no path,
 * -ENOMEM.
 */
int guard_host_path(const struct guard *guard, const char *path, struct strbuf *host);

/* Device nodes of what was granted, and of the driver as a whole. */
int builder_add_devices(struct builder *builder);
/* Whether CARD is granted, whole or by a slice or an instance of it. */
bool injection_grants(const struct injection *injection, const struct card *card);

/* Mounts of libraries, programs, firmware, config files and sockets, and the env beside them. */
int builder_add_files(struct builder *builder);

/* "compute, utility" */
void capabilities_describe(unsigned flags, struct strbuf *out);
