/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/driver_marks.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

#define SETTLE_NS 100000000 /* the clock of a file system moves in steps of up to 10 ms */

void driver_marks_release(struct driver_marks *marks)
{
	for (size_t i = 0; i < marks->count; i++)
		free(marks->items[i].path);
	free(marks->items);
	*marks = (struct driver_marks){ 0 };
}

static void mark_take(const char *path, struct driver_mark *ret)
{
	struct stat status;

	*ret = (struct driver_mark){ 0 };
	if (lstat(path, &status) < 0)
		return;
	ret->present = true;
	ret->device = status.st_dev;
	ret->inode = status.st_ino;
	ret->seconds = status.st_mtim.tv_sec;
	ret->nanoseconds = (uint32_t)status.st_mtim.tv_nsec;
}

static struct driver_mark *find(const struct driver_marks *marks, const char *path, size_t length)
{
	for (size_t i = 0; i < marks->count; i++)
		if (strncmp(marks->items[i].path, path, length) == 0 &&
		    !marks->items[i].path[length])
			return &marks->items[i];
	return NULL;
}

/* The first look counts: what changes between two looks shows later. */
static int add(struct driver_marks *marks, const char *path, unsigned capabilities, bool directory)
{
	struct driver_mark *known = find(marks, path, strlen(path)), mark;

	if (known) {
		known->directory |= directory;
		known->capabilities = known->capabilities && capabilities
					      ? known->capabilities | capabilities
					      : 0;
		return 0;
	}
	mark_take(path, &mark);
	mark.directory = directory;
	mark.capabilities = capabilities;
	mark.path = strdup(path);
	if (!mark.path)
		return -ENOMEM;
	struct driver_mark *added = VEC_ADD(&marks->items, &marks->count, &marks->capacity);
	if (!added) {
		free(mark.path);
		return -ENOMEM;
	}
	*added = mark;
	return 0;
}

enum { WAY_MAX = 2 * ROOT_PATH_MAX, LINKS_MAX = ROOT_LINKS_MAX };

struct walk {
	struct driver_marks *marks;
	const char *root; /* "" for "/" */
	bool directory;   /* its names are wanted, not what it is */
	unsigned capabilities;
	unsigned links;     /* followed so far */
	char way[WAY_MAX];  /* behind us: inside the root, without a link; "" is the root */
	char rest[WAY_MAX]; /* still to go */
	char path[WAY_MAX]; /* the next step, on the host */
};

/* False when it is longer than any path. */
static bool join(char to[WAY_MAX], const char *first, const char *second, const char *third)
{
	int length = snprintf(to, WAY_MAX, "%s%s%s%s", first, second, *third ? "/" : "", third);

	return length >= 0 && length < WAY_MAX;
}

static int mark_way(struct walk *walk)
{
	if (!join(walk->path, walk->root, walk->way, ""))
		return 0;
	return add(walk->marks, *walk->path ? walk->path : "/", walk->capabilities, true);
}

/* /etc changes with every address and password. */
static bool is_quiet(const struct walk *walk)
{
	return !walk->links && !walk->directory && strcmp(walk->way, "/etc") != 0;
}

/*
 * The last name is a file or nothing. The directory in which it was asked for says enough of its own
 * names; behind a link (/etc/alternatives, where each package writes) the name is watched itself.
 */
static int mark_end(struct walk *walk)
{
	if (is_quiet(walk))
		return mark_way(walk);
	return add(walk->marks, walk->path, walk->capabilities, false);
}

/* 1: the end of the way. */
static int follow(struct walk *walk, bool last)
{
	char target[ROOT_PATH_MAX], rest[WAY_MAX];
	ssize_t length = readlink(walk->path, target, sizeof(target) - 1);
	int r = add(walk->marks, walk->path, walk->capabilities, false);

	if (r == 0 && last && is_quiet(walk))
		r = mark_way(walk);
	if (r < 0)
		return r;
	if (length < 0 || walk->links++ == LINKS_MAX)
		return 1;
	target[length] = '\0';
	if (!join(rest, target, "/", walk->rest))
		return 1;
	memcpy(walk->rest, rest, sizeof(rest));
	if (target[0] == '/')
		walk->way[0] = '\0';
	return 0;
}

static int step(struct walk *walk, const char *name)
{
	bool last = !walk->rest[strspn(walk->rest, "/")];
	char way[WAY_MAX];
	struct stat status;
	int r = 0;

	if (!join(way, walk->way, "", name) || !join(walk->path, walk->root, way, ""))
		return 1;
	if (lstat(walk->path, &status) < 0)
		r = last ? mark_end(walk) : add(walk->marks, walk->path, walk->capabilities, false);
	else if (S_ISLNK(status.st_mode))
		return follow(walk, last);
	else if (!S_ISDIR(status.st_mode))
		r = mark_end(walk);
	else {
		memcpy(walk->way, way, sizeof(way));
		return 0;
	}
	return r < 0 ? r : 1;
}

/* Takes the next name off the rest; false when there is none. */
static bool next(struct walk *walk, char name[static NAME_MAX + 1])
{
	const char *at = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(at, "/");

	if (!length || length > NAME_MAX)
		return false;
	memcpy(name, at, length);
	name[length] = '\0';
	memmove(walk->rest, at + length, strlen(at + length) + 1);
	return true;
}

int driver_marks_add(struct driver_marks *marks, const char *root, const char *path,
		     unsigned capabilities, bool directory)
{
	struct walk walk = { .marks = marks,
			     .root = strcmp(root, "/") == 0 ? "" : root,
			     .directory = directory,
			     .capabilities = capabilities };
	char name[NAME_MAX + 1];
	int r = 0;

	if (!join(walk.rest, path, "", ""))
		return 0;
	while (r == 0 && next(&walk, name)) {
		char *slash = strrchr(walk.way, '/');

		if (strcmp(name, "..") == 0 && slash)
			*slash = '\0';
		else if (strcmp(name, "..") != 0 && strcmp(name, ".") != 0)
			r = step(&walk, name);
	}
	if (r == 0 && directory)
		r = mark_way(&walk);
	return r < 0 ? r : 0;
}

void driver_marks_prune(struct driver_marks *marks)
{
	size_t kept = 0;

	/* Names of a directory that is watched for whoever they matter to; not directories, whose own
	 * names change alone. */
	for (size_t i = 0; i < marks->count; i++) {
		struct driver_mark *mark = &marks->items[i];
		const char *slash = strrchr(mark->path, '/');
		const struct driver_mark *above =
			find(marks, mark->path, (size_t)(slash - mark->path));

		mark->spare =
			!mark->directory && above && above->directory &&
			(!above->capabilities ||
			 (mark->capabilities && !(mark->capabilities & ~above->capabilities)));
	}
	for (size_t i = 0; i < marks->count; i++) {
		if (marks->items[i].spare)
			free(marks->items[i].path);
		else
			marks->items[kept++] = marks->items[i];
	}
	marks->count = kept;
}

bool driver_marks_settled(const struct driver_marks *marks)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < marks->count; i++) {
		const struct driver_mark *mark = &marks->items[i];
		int64_t age = (int64_t)now.tv_sec - mark->seconds;

		if (!mark->present || age > 1)
			continue;
		if (age < 0 || age * 1000000000 + now.tv_nsec - mark->nanoseconds < SETTLE_NS)
			return false;
	}
	return true;
}

const char *driver_marks_changed(const struct driver_marks *marks)
{
	for (size_t i = 0; i < marks->count; i++) {
		const struct driver_mark *then = &marks->items[i];
		struct driver_mark now;

		mark_take(then->path, &now);
		if (now.present != then->present || now.device != then->device ||
		    now.inode != then->inode || now.seconds != then->seconds ||
		    now.nanoseconds != then->nanoseconds)
			return then->path;
	}
	return NULL;
}
