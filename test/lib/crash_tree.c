/* SPDX-License-Identifier: Apache-2.0 */
#include "crash_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PENDING_MAX = 64, DIRTY_MAX = 64 };

/* A change of names that is not durable: undone, PATH holds TEXT again (NULL: is not there). */
struct pending {
	ino_t directory;
	char path[PATH_MAX]; /* below the root */
	char *text;
	size_t length;
	char from[PATH_MAX]; /* of a rename: where its bytes are then; "" for none */
};

static struct {
	struct crash_watch *watch;
	struct pending pending[PENDING_MAX];
	size_t pending_count;
	ino_t dirty[DIRTY_MAX];
	size_t dirty_count;
} state;

static void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "crash_tree: cannot %s: %s\n", what, strerror(errno));
	abort();
}

ssize_t __real_write(int fd, const void *bytes, size_t length);
int __real_fsync(int fd);
int __real_renameat(int from, const char *old, int to, const char *new);
int __real_unlink(const char *path);
int __real_unlinkat(int directory, const char *name, int flags);
int __real_mkdir(const char *path, mode_t mode);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);
int __wrap_fsync(int fd);
int __wrap_renameat(int from, const char *old, int to, const char *new);
int __wrap_unlink(const char *path);
int __wrap_unlinkat(int directory, const char *name, int flags);
int __wrap_mkdir(const char *path, mode_t mode);

static char *read_all(const char *path, size_t *ret_length)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return NULL;
	must(fstat(fd, &status) == 0, "look at a file");
	if (!S_ISREG(status.st_mode)) {
		close(fd);
		return NULL;
	}
	char *text = malloc((size_t)status.st_size + 1);
	must(text != NULL, "get memory");
	must(read(fd, text, (size_t)status.st_size) == status.st_size, "read a file");
	close(fd);
	*ret_length = (size_t)status.st_size;
	return text;
}

static void write_all(const char *path, const char *text, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	must(fd >= 0 && __real_write(fd, text, length) == (ssize_t)length, "write a copy");
	close(fd);
}

static bool is_dirty(ino_t inode)
{
	for (size_t i = 0; i < state.dirty_count; i++)
		if (state.dirty[i] == inode)
			return true;
	return false;
}

/* nftw() hands nothing over. */
static const char *copy_to;
static size_t copy_skip;

static int copy_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	char to[PATH_MAX], link[PATH_MAX];
	size_t length = 0;

	(void)kind;
	(void)where;
	snprintf(to, sizeof(to), "%s%s", copy_to, path + copy_skip);
	if (S_ISDIR(status->st_mode)) {
		must(__real_mkdir(to, 0755) == 0 || errno == EEXIST, "make a directory");
	} else if (S_ISLNK(status->st_mode)) {
		ssize_t got = readlink(path, link, sizeof(link) - 1);

		must(got >= 0, "read a link");
		link[got] = '\0';
		must(symlink(link, to) == 0, "make a link");
	} else {
		char *text = read_all(path, &length);

		must(text != NULL, "read a file");
		write_all(to, text, is_dirty(status->st_ino) ? 0 : length);
		free(text);
	}
	return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status;
	(void)kind;
	(void)where;
	return remove(path);
}

static void remove_tree(const char *path)
{
	must(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT,
	     "remove a copy");
}

/* The last change first, as a journal that was cut would have it. */
static void undo_names(const char *copy)
{
	char path[PATH_MAX], from[PATH_MAX];

	for (size_t i = state.pending_count; i-- > 0;) {
		const struct pending *pending = &state.pending[i];

		snprintf(path, sizeof(path), "%s%s", copy, pending->path);
		snprintf(from, sizeof(from), "%s%s", copy, pending->from);
		if (pending->from[0])
			must(rename(path, from) == 0, "undo a rename");
		else
			remove_tree(path);
		if (pending->text)
			write_all(path, pending->text, pending->length);
	}
}

static void look(const char *call, const char *name)
{
	char copy[] = "/tmp/gpupool-crash-XXXXXX", after[PATH_MAX];
	struct crash_watch *watch = state.watch;

	snprintf(after, sizeof(after), "%s %s", call, name);
	watch->calls++;
	state.watch = NULL;
	for (int eager = 0; eager < 2; eager++) {
		memcpy(strrchr(copy, '-') + 1, "XXXXXX", 6);
		must(mkdtemp(copy) != NULL, "make a copy");
		copy_to = copy;
		copy_skip = strlen(watch->root);
		must(nftw(watch->root, copy_one, 16, FTW_PHYS) == 0, "copy the tree");
		if (!eager)
			undo_names(copy);
		watch->look(watch->data, copy, after);
		watch->copies++;
		remove_tree(copy);
	}
	state.watch = watch;
}

/* The path of NAME in DIRECTORY below the root; NULL: elsewhere, or nobody watches. */
static const char *below(int directory, const char *name, char *to, size_t size)
{
	char link[64], path[PATH_MAX];

	if (!state.watch)
		return NULL;
	if (name[0] == '/') {
		snprintf(to, size, "%s", name);
	} else {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
		ssize_t got = readlink(link, path, sizeof(path) - 1);

		if (got < 0)
			return NULL;
		path[got] = '\0';
		must(snprintf(to, size, "%s%s%s", path, *name ? "/" : "", name) < (int)size,
		     "name a file");
	}
	size_t length = strlen(state.watch->root);
	if (strncmp(to, state.watch->root, length) != 0 || (to[length] && to[length] != '/'))
		return NULL;
	return to + length;
}

static ino_t inode_of_parent(const char *path)
{
	char parent[PATH_MAX];
	struct stat status;

	snprintf(parent, sizeof(parent), "%s%s", state.watch->root, path);
	*strrchr(parent, '/') = '\0';
	must(stat(parent, &status) == 0, "look at a directory");
	return status.st_ino;
}

/* Before the change is made. */
static struct pending *pending_add(const char *path)
{
	struct pending *pending = &state.pending[state.pending_count++];
	char full[PATH_MAX];

	must(state.pending_count < PENDING_MAX, "remember so many changes");
	memset(pending, 0, sizeof(*pending));
	snprintf(pending->path, sizeof(pending->path), "%s", path);
	pending->directory = inode_of_parent(path);
	snprintf(full, sizeof(full), "%s%s", state.watch->root, path);
	pending->text = read_all(full, &pending->length);
	return pending;
}

static void pending_drop(ino_t directory)
{
	size_t kept = 0;

	for (size_t i = 0; i < state.pending_count; i++) {
		if (state.pending[i].directory == directory)
			free(state.pending[i].text);
		else
			state.pending[kept++] = state.pending[i];
	}
	state.pending_count = kept;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t length)
{
	char path[PATH_MAX];
	const char *name = below(fd, "", path, sizeof(path));
	ssize_t written = __real_write(fd, bytes, length);
	struct stat status;

	if (name && written >= 0 && fstat(fd, &status) == 0) {
		must(state.dirty_count < DIRTY_MAX, "remember so many files");
		state.dirty[state.dirty_count++] = status.st_ino;
		look("write", name);
	}
	return written;
}

int __wrap_fsync(int fd)
{
	char path[PATH_MAX];
	const char *name = below(fd, "", path, sizeof(path));
	int r = __real_fsync(fd);
	struct stat status;

	if (name && r == 0 && fstat(fd, &status) == 0) {
		size_t kept = 0;

		for (size_t i = 0; i < state.dirty_count; i++)
			if (state.dirty[i] != status.st_ino)
				state.dirty[kept++] = state.dirty[i];
		state.dirty_count = kept;
		if (S_ISDIR(status.st_mode))
			pending_drop(status.st_ino);
		look("fsync", name);
	}
	return r;
}

int __wrap_renameat(int from, const char *old, int to, const char *new)
{
	char path[PATH_MAX], source[PATH_MAX];
	const char *name = below(to, new, path, sizeof(path));
	const char *before = below(from, old, source, sizeof(source));
	struct pending *pending = name && before ? pending_add(name) : NULL;
	int r = __real_renameat(from, old, to, new);

	if (!pending)
		return r;
	if (r < 0) {
		free(state.pending[--state.pending_count].text);
		return r;
	}
	snprintf(pending->from, sizeof(pending->from), "%s", before);
	look("renameat", name);
	return r;
}

int __wrap_unlink(const char *path)
{
	char full[PATH_MAX];
	const char *name = below(-1, path, full, sizeof(full));
	struct pending *pending = name ? pending_add(name) : NULL;
	int r = __real_unlink(path);

	if (pending && r < 0)
		free(state.pending[--state.pending_count].text);
	else if (pending)
		look("unlink", name);
	return r;
}

int __wrap_unlinkat(int directory, const char *file, int flags)
{
	char full[PATH_MAX];
	const char *name = below(directory, file, full, sizeof(full));
	struct pending *pending = name ? pending_add(name) : NULL;
	int r = __real_unlinkat(directory, file, flags);

	if (pending && r < 0)
		free(state.pending[--state.pending_count].text);
	else if (pending)
		look("unlinkat", name);
	return r;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	char full[PATH_MAX];
	const char *name = below(-1, path, full, sizeof(full));
	int r = __real_mkdir(path, mode);

	if (name && r == 0) {
		struct pending *pending = pending_add(name);

		free(pending->text);
		pending->text = NULL;
		look("mkdir", name);
	}
	return r;
}

void crash_start(struct crash_watch *watch)
{
	watch->calls = watch->copies = 0;
	state.pending_count = state.dirty_count = 0;
	state.watch = watch;
}

void crash_stop(struct crash_watch *watch)
{
	(void)watch;
	look("return", "");
	state.watch = NULL;
	for (size_t i = 0; i < state.pending_count; i++)
		free(state.pending[i].text);
	state.pending_count = state.dirty_count = 0;
}
