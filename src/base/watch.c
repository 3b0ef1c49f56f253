/* SPDX-License-Identifier: Apache-2.0 */
#include "base/watch.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/strbuf.h"

#define DIRECTORY_EVENTS                                                                         \
	(IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | \
	 IN_MOVE_SELF)
/* Of an ancestor only what can make the next part of the path exist, or this part not. */
#define ANCESTOR_EVENTS (IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

struct watch {
	char *directory;
	int fd;      /* of inotify */
	int wd;      /* of the one thing that is watched */
	bool there;  /* it is the directory itself, not an ancestor */
	bool *ended; /* set by watch_stop() inside the function */
	struct loop_poll *poll;
	watch_function *function;
	void *user;
};

/* Says so; returns false when the watch was stopped meanwhile. */
static bool watch_say(struct watch *watch, enum watch_event event, const char *name)
{
	bool ended = false;

	watch->ended = &ended;
	watch->function(watch->user, event, name);
	if (ended)
		return false;
	watch->ended = NULL;
	return true;
}

/* The path without its last part: "/a/b" -> "/a" -> "/"; "a" -> ".". False when there is none. */
static bool path_shorten(char *path)
{
	char *slash = strrchr(path, '/');

	if (strcmp(path, "/") == 0 || strcmp(path, ".") == 0)
		return false;
	if (!slash)
		memcpy(path, ".", 2);
	else if (slash == path)
		path[1] = '\0';
	else
		*slash = '\0';
	return true;
}

static bool is_absent(int number)
{
	return number == ENOENT || number == ENOTDIR;
}

/* Watches the directory, or its nearest ancestor. Returns 0 or a negative errno. */
static int watch_aim(struct watch *watch)
{
	char path[PATH_MAX];

	memcpy(path, watch->directory, strlen(watch->directory) + 1);
	for (;;) {
		watch->there = strcmp(path, watch->directory) == 0;
		watch->wd = inotify_add_watch(
			watch->fd, path,
			IN_ONLYDIR | (watch->there ? DIRECTORY_EVENTS : ANCESTOR_EVENTS));
		if (watch->wd < 0 && (!is_absent(errno) || !path_shorten(path)))
			return -errno;
		if (watch->wd >= 0)
			return 0;
	}
}

/*
 * The nearest ancestor may have got the next part of the path between the failure to watch that and the watch
 * on the ancestor: aim until two tries end at the same place.
 */
static int watch_settle(struct watch *watch)
{
	for (int old = -1;;) {
		int r = watch_aim(watch);
		if (r < 0 || watch->there || watch->wd == old) {
			if (old >= 0 && watch->wd != old)
				inotify_rm_watch(watch->fd, old);
			return r;
		}
		if (old >= 0)
			inotify_rm_watch(watch->fd, old);
		old = watch->wd;
	}
}

/* What is watched went away, or something came that may be the next part of the path. */
static bool watch_again(struct watch *watch)
{
	bool was_there = watch->there;
	int old = watch->wd;

	int r = watch_settle(watch);
	if (old >= 0 && (r < 0 || watch->wd != old))
		inotify_rm_watch(watch->fd, old);
	if (r < 0)
		watch->wd = -1;
	if (was_there && !watch_say(watch, WATCH_NO_DIRECTORY, NULL))
		return false;
	return r < 0 || !watch->there || watch_say(watch, WATCH_DIRECTORY, NULL);
}

static bool watch_event(struct watch *watch, const struct inotify_event *event)
{
	const char *name = event->len ? event->name : "";

	if (event->mask & IN_Q_OVERFLOW)
		return watch_say(watch, WATCH_MISSED, NULL) && (watch->there || watch_again(watch));
	if (event->wd != watch->wd) /* of an earlier aim */
		return true;
	if (!watch->there || event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED))
		return watch_again(watch);
	if (event->mask & (IN_CREATE | IN_MOVED_TO))
		return watch_say(watch, WATCH_APPEARED, name);
	if (event->mask & IN_CLOSE_WRITE)
		return watch_say(watch, WATCH_CHANGED, name);
	return watch_say(watch, WATCH_GONE, name);
}

static void watch_ready(void *user, unsigned events)
{
	char bytes[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	struct watch *watch = user;

	(void)events;
	ssize_t length = read(watch->fd, bytes, sizeof(bytes));
	for (ssize_t at = 0; at < length;) {
		const struct inotify_event *event = (const void *)(bytes + at);

		at += (ssize_t)(sizeof(*event) + event->len);
		if (!watch_event(watch, event))
			return;
	}
}

int watch_start(struct loop *loop, const char *directory, watch_function *function, void *user,
		struct watch **ret, struct error *error)
{
	size_t length = strlen(directory);

	while (length > 1 && directory[length - 1] == '/')
		length--;
	if (length == 0 || length >= PATH_MAX)
		return error_set(error, length ? ENAMETOOLONG : EINVAL,
				 "cannot watch a directory whose name has %zu bytes", length);
	struct watch *watch = calloc(1, sizeof(*watch));
	if (!watch)
		return error_no_memory(error);
	watch->function = function;
	watch->user = user;
	watch->wd = -1;
	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	watch->directory = strndup(directory, length);
	int r = watch->fd < 0 ? -errno : !watch->directory ? -ENOMEM : watch_settle(watch);
	if (r < 0)
		error_set_errno(error, -r, "cannot watch '%.*s'", (int)length, directory);
	else
		r = loop_poll_start(loop, watch->fd, LOOP_READ, watch_ready, watch, &watch->poll,
				    error);
	if (r < 0) {
		watch_stop(watch);
		return r;
	}
	*ret = watch;
	return 0;
}

void watch_stop(struct watch *watch)
{
	if (!watch)
		return;
	if (watch->ended)
		*watch->ended = true;
	loop_poll_stop(watch->poll);
	if (watch->fd >= 0)
		close(watch->fd);
	free(watch->directory);
	free(watch);
}
