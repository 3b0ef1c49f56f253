/* SPDX-License-Identifier: Apache-2.0 */
/* The search as a whole; libraries are in driver_libraries.c, everything else in driver_others.c. */
#include "inject/driver_search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static void driver_file_release(struct driver_file *file)
{
	free(file->source);
	string_list_release(&file->names);
	*file = (struct driver_file){ 0 };
}

void driver_files_free(struct driver_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->count; i++)
		driver_file_release(&files->items[i]);
	for (size_t i = 0; i < files->node_count; i++)
		free(files->nodes[i].path);
	free(files->items);
	free(files->nodes);
	free(files->root);
	string_list_release(&files->notes);
	free(files);
}

const struct driver_node *driver_files_node(const struct driver_files *files, const char *name)
{
	for (size_t i = 0; i < files->node_count; i++)
		if (strcmp(files->nodes[i].name, name) == 0)
			return &files->nodes[i];
	return NULL;
}

int driver_files_note(struct driver_files *files, const char *format, ...)
{
	va_list arguments;

	if (files->notes.count >= NOTES_MAX)
		return 0;
	va_start(arguments, format);
	int r = string_list_addv(&files->notes, format, arguments);
	va_end(arguments);
	return r;
}

bool search_wants(const struct search *search, unsigned capabilities)
{
	return !capabilities || (capabilities & search->capabilities);
}

bool search_is_inside(const struct search *search, const char *path)
{
	size_t length = strlen(search->root_path);

	if (length == 1)
		return true;
	return strncmp(path, search->root_path, length) == 0 && path[length] == '/';
}

void search_places_release(struct search *search)
{
	for (size_t i = 0; i < search->place_count; i++) {
		free(search->places[i].path);
		free(search->places[i].real);
		if (search->places[i].fd >= 0)
			close(search->places[i].fd);
	}
	free(search->places);
}

/* Directory NAME of place PARENT (-1: the root) when no link leads there: it lies where its parent
 * does. -ENOTDIR for a link, too. */
static int open_below(const struct search *search, int parent, const char *name, char **ret_real)
{
	const struct search_place *place = parent < 0 ? NULL : &search->places[parent];
	const char *above = place ? place->real : search->root_path;
	autostrbuf real = STRBUF_INIT(ROOT_PATH_MAX);
	autoclose int fd = openat(place ? place->fd : search->root, name,
				  O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	strbuf_adds(&real, above[1] ? above : "");
	strbuf_addc(&real, '/');
	strbuf_adds(&real, name);
	if (strbuf_failed(&real) < 0)
		return strbuf_failed(&real);
	*ret_real = strbuf_detach(&real);
	return *ret_real ? TAKE_FD(fd) : -ENOMEM;
}

/*
 * Opens the directory at PATH, whose parent is place PARENT (-1: the root). Only behind a link the
 * kernel has to be asked for the real path.
 */
static int open_place(const struct search *search, int parent, const char *path, char **ret_real)
{
	const char *name = strrchr(path, '/') + 1;

	if (*name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
		int below = open_below(search, parent, name, ret_real);

		if (below >= 0 || below == -ENOENT || below == -ENOMEM)
			return below;
	}
	autoclose int fd = root_open(search->root, path, O_PATH | O_DIRECTORY);
	int r = fd < 0 ? fd : root_fd_path(fd, ret_real);
	return r < 0 ? r : TAKE_FD(fd);
}

static int add_place(struct search *search, int parent, const char *path, size_t length)
{
	autofree char *copy = strndup(path, length), *real = NULL;
	autoclose int fd = copy ? open_place(search, parent, length ? copy : "/", &real) : -ENOMEM;

	if (fd == -ENOMEM)
		return fd;
	struct search_place *place =
		VEC_ADD(&search->places, &search->place_count, &search->place_capacity);
	if (!place)
		return -ENOMEM;
	*place = (struct search_place){ .path = TAKE_PTR(copy), .real = TAKE_PTR(real), .fd = fd };
	fd = -1;
	return (int)(place - search->places);
}

static int find_place(const struct search *search, const char *path, size_t length)
{
	for (size_t i = 0; i < search->place_count; i++)
		if (strncmp(search->places[i].path, path, length) == 0 &&
		    search->places[i].path[length] == '\0')
			return (int)i;
	return -1;
}

/*
 * The number of the place that the first LENGTH bytes of PATH name, opened once; -ENOMEM. Most
 * directories of the tables are absent from most roots, and nothing below them is asked for.
 */
static int look_at_place(struct search *search, const char *path, size_t length)
{
	size_t end = 0;
	int place = -1;

	do {
		int parent = place;

		end += end < length ? 1 + strcspn(path + end + 1, "/") : 0;
		if (end > length)
			end = length;
		place = find_place(search, path, end);
		if (place < 0)
			place = add_place(search, parent, path, end);
	} while (place >= 0 && search->places[place].fd >= 0 && end < length);
	return place;
}

/* Whether link NAME names another file of its directory, as most of a driver's do; *ret is that. */
static bool follow_beside(int fd, const char *name, char ret[NAME_MAX + 1])
{
	char target[NAME_MAX + 1];
	ssize_t length = readlinkat(fd, name, target, sizeof(target));

	if (length <= 0 || length > NAME_MAX)
		return false;
	target[length] = '\0';
	if (strchr(target, '/') || strcmp(target, ".") == 0 || strcmp(target, "..") == 0)
		return false;
	memcpy(ret, target, (size_t)length + 1);
	return true;
}

/* 0 for a file, or a link to one beside it; 1 for a link that search_look() must follow. */
static int look_plainly(struct search *search, const char *path, struct stat *ret_status,
			char **ret_source)
{
	const char *name = strrchr(path, '/') + 1;
	char target[NAME_MAX + 1];
	autostrbuf source = STRBUF_INIT(ROOT_PATH_MAX);
	int number = look_at_place(search, path, (size_t)(name - 1 - path));

	if (number < 0)
		return number;
	const struct search_place *place = &search->places[number];
	if (place->fd < 0)
		return place->fd;
	if (fstatat(place->fd, name, ret_status, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	for (int hops = 0; S_ISLNK(ret_status->st_mode); hops++) {
		if (hops == ROOT_LINKS_MAX || !follow_beside(place->fd, name, target))
			return 1;
		name = target;
		if (fstatat(place->fd, name, ret_status, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
	}
	strbuf_addf(&source, "%s/%s", place->real[1] ? place->real : "", name);
	if (strbuf_failed(&source) < 0)
		return strbuf_failed(&source);
	if (!search_is_inside(search, source.data))
		return -EXDEV;
	*ret_source = strbuf_detach(&source);
	return *ret_source ? 0 : -ENOMEM;
}

static int search_mark(struct search *search, const char *path, bool directory)
{
	return search->marks ? driver_marks_add(search->marks, search->root_path, path,
						search->looking, directory)
			     : 0;
}

int search_look(struct search *search, const char *path, struct stat *ret_status, char **ret_source)
{
	if (search_mark(search, path, false) < 0)
		return -ENOMEM;
	int plain = look_plainly(search, path, ret_status, ret_source);

	if (plain <= 0)
		return plain;
	autoclose int fd = root_open(search->root, path, O_PATH);

	if (fd < 0)
		return fd;
	if (fstat(fd, ret_status) < 0)
		return -errno;
	autofree char *source = NULL;
	int r = root_fd_path(fd, &source);
	if (r < 0)
		return r;
	if (!search_is_inside(search, source))
		return -EXDEV;
	*ret_source = TAKE_PTR(source);
	return 0;
}

static void cleanup_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

static int compare_names(const void *left, const void *right)
{
	return strverscmp(*(const char *const *)left, *(const char *const *)right);
}

/* 1 when the directory FD was noted before; it is now. */
static int note_seen(struct search *search, int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	for (size_t i = 0; i < search->seen_count; i++)
		if (search->seen[i].device == status.st_dev &&
		    search->seen[i].inode == status.st_ino)
			return 1;
	struct search_directory *seen =
		VEC_ADD(&search->seen, &search->seen_count, &search->seen_capacity);
	if (!seen)
		return -ENOMEM;
	*seen = (struct search_directory){ status.st_dev, status.st_ino };
	return 0;
}

/* 0 with an open directory, 1 when there is nothing to read. */
static int open_directory(struct search *search, const char *path, bool once, DIR **ret)
{
	if (search_mark(search, path, true) < 0)
		return -ENOMEM;
	int place = look_at_place(search, path, strlen(path));
	if (place == -ENOMEM)
		return place;
	autoclose int fd = place < 0 ? place : search->places[place].fd;
	if (fd >= 0) {
		fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 1;
	if (fd < 0) {
		int r = driver_files_note(search->files, "cannot read %s%s: %s",
					  search->files->root, path, strerrordesc_np(-fd));
		return r < 0 ? r : 1;
	}
	int r = once ? note_seen(search, fd) : 0;
	if (r != 0)
		return r;
	*ret = fdopendir(fd);
	if (!*ret)
		return -errno;
	TAKE_FD(fd);
	return 0;
}

int search_list(struct search *search, const char *path,
		bool (*filter)(const struct search *search, const char *name), bool once,
		struct string_list *ret)
{
	cleanup(cleanup_directory) DIR *directory = NULL;
	cleanup(string_list_release) struct string_list list = { 0 };
	int r = open_directory(search, path, once, &directory);

	if (r != 0)
		return r < 0 ? r : 0;
	for (size_t i = 0; i < DIRECTORY_ENTRIES_MAX; i++) {
		errno = 0;
		const struct dirent *entry = readdir(directory);
		if (!entry && errno)
			return -errno;
		if (!entry)
			break;
		if (filter(search, entry->d_name) && string_list_add(&list, entry->d_name) < 0)
			return -ENOMEM;
	}
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), compare_names);
	*ret = list;
	list = (struct string_list){ 0 };
	return 0;
}

struct driver_file *search_add(struct search *search, enum driver_file_kind kind,
			       unsigned capabilities, char **source, const char *name)
{
	struct driver_files *files = search->files;
	struct driver_file file = { .kind = kind, .capabilities = capabilities };

	if (string_list_add(&file.names, name) < 0)
		return NULL;
	struct driver_file *added = VEC_ADD(&files->items, &files->count, &files->capacity);
	if (!added) {
		string_list_release(&file.names);
		return NULL;
	}
	file.source = TAKE_PTR(*source);
	*added = file;
	return added;
}

static int open_root(const char *root, struct search *search, struct error *error)
{
	search->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (search->root < 0)
		return error_set_errno(error, errno,
				       "cannot open driver root %s; name the driver's place with "
				       "--driver-root",
				       root);
	int r = root_fd_path(search->root, &search->root_path);
	if (r < 0)
		return error_set_errno(error, -r, "cannot find the path of driver root %s", root);
	search->files->root = strdup(root);
	return search->files->root ? 0 : error_no_memory(error);
}

static void search_release(struct search *search)
{
	cleanup_close(&search->root);
	free(search->root_path);
	driver_files_free(search->files);
	for (size_t i = 0; i < search->link_count; i++)
		free(search->links[i].source);
	free(search->links);
	free(search->seen);
	search_places_release(search);
}

static int set_version(struct search *search, const char *version, struct error *error)
{
	size_t size = sizeof(search->files->version);
	int r = 0;

	if (version && *version)
		r = strlen(version) < size && !strchr(version, '/') ? 0 : -EINVAL;
	else
		return search_version(search, error);
	if (r < 0)
		return error_set(error, EINVAL, "\"%.100s\" is no driver version", version);
	memcpy(search->files->version, version, strlen(version) + 1);
	return 0;
}

static int (*const kept_steps[])(struct search *) = { search_libraries, search_binaries,
						      search_firmware, search_configs,
						      search_modules };
static int (*const wsl_steps[])(struct search *) = { search_wsl };
/* What comes and goes while a driver is used. */
static int (*const passing_steps[])(struct search *) = { search_sockets, search_nodes };

static int run_steps(struct search *search, int (*const *steps)(struct search *), size_t count,
		     struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		int r = steps[i](search);

		if (r == -ENOMEM)
			return error_no_memory(error);
		if (r < 0)
			return error_set_errno(error, -r, "cannot search driver root %s",
					       search->files->root);
	}
	return 0;
}

/* What is searched for, and for whom. */
struct subject {
	const char *root, *host, *version;
	unsigned capabilities;
	const struct injection *wanted; /* NULL: for anybody */
};

/* Utility always: without libnvidia-ml there is no driver. */
static int search_start(struct search *search, const struct subject *subject, struct error *error)
{
	*search = (struct search){ .root = -1,
				   .capabilities = subject->capabilities | CAPABILITY_UTILITY,
				   .wanted = subject->wanted,
				   .host = subject->host ? subject->host : "/",
				   .files = calloc(1, sizeof(*search->files)) };
	return search->files ? open_root(subject->root, search, error) : error_no_memory(error);
}

/* What can be kept; with MARKS, by what a reader knows that it still holds. */
static int search_whole(struct search *search, const char *version, struct driver_marks *marks,
			struct error *error)
{
	search->marks = marks;
	int wsl = search_is_wsl(search);
	/* Windows' driver has its version in no name. */
	int r = wsl < 0                         ? error_no_memory(error)
		: wsl && !(version && *version) ? 0
						: set_version(search, version, error);
	if (r == 0)
		r = wsl ? run_steps(search, wsl_steps, ARRAY_SIZE(wsl_steps), error)
			: run_steps(search, kept_steps, ARRAY_SIZE(kept_steps), error);
	search->marks = NULL;
	if (r == 0 && !search->library_count)
		return error_set(error, ENOENT,
				 "driver root %s has no library of driver version %s; name the "
				 "driver's place with --driver-root",
				 search->files->root, search->files->version);
	return r;
}

static int search_finish(struct search *search, struct driver_files **ret, struct error *error)
{
	int r = run_steps(search, passing_steps, ARRAY_SIZE(passing_steps), error);

	if (r == 0)
		*ret = TAKE_PTR(search->files);
	return r;
}

static int find(const struct subject *subject, struct driver_files **ret, struct error *error)
{
	cleanup(search_release) struct search search = { .root = -1 };
	int r = search_start(&search, subject, error);

	if (r == 0)
		r = search_whole(&search, subject->version, NULL, error);
	return r < 0 ? r : search_finish(&search, ret, error);
}

static int read_kept(const char *path, const struct subject *subject, struct driver_files **ret,
		     struct error *error)
{
	cleanup(search_release) struct search search = { .root = -1 };
	int r = search_start(&search, subject, error);

	if (r == 0)
		r = search_read(&search, path, subject->version, error);
	return r < 0 ? r : search_finish(&search, ret, error);
}

static int find_kept(const char *path, const struct subject *subject, struct driver_files **ret,
		     struct error *error)
{
	struct error own = ERROR_INIT;
	int r = read_kept(path, subject, ret, &own);

	if (r == 0)
		return 0;
	return r == -ENOMEM ? error_no_memory(error) : find(subject, ret, error);
}

int driver_files_find(const char *root, const char *version, unsigned capabilities,
		      struct driver_files **ret, struct error *error)
{
	const struct subject subject = { root, NULL, version, capabilities, NULL };

	return find(&subject, ret, error);
}

int driver_files_read(const char *path, const char *root, const char *host, const char *version,
		      unsigned capabilities, struct driver_files **ret, struct error *error)
{
	const struct subject subject = { root, host, version, capabilities, NULL };

	return read_kept(path, &subject, ret, error);
}

int driver_files_find_kept(const char *path, const char *root, const char *host,
			   const char *version, unsigned capabilities, struct driver_files **ret,
			   struct error *error)
{
	const struct subject subject = { root, host, version, capabilities, NULL };

	return find_kept(path, &subject, ret, error);
}

int driver_files_find_injection(const char *path, const struct injection *injection,
				struct driver_files **ret, struct error *error)
{
	const struct subject subject = { injection->inventory->driver_root, NULL,
					 injection->inventory->driver_version,
					 injection->capabilities, injection };

	return find_kept(path, &subject, ret, error);
}

int driver_files_keep(const char *path, const char *root, const char *version, struct error *error)
{
	const struct subject subject = { root, NULL, version, CAPABILITY_ALL, NULL };
	cleanup(driver_marks_release) struct driver_marks marks = { 0 };
	cleanup(search_release) struct search search = { .root = -1 };
	cleanup(driver_files_freep) struct driver_files *known = NULL;

	int r = read_kept(path, &subject, &known, NULL);
	if (r == 0 || r == -ENOMEM)
		return r < 0 ? error_no_memory(error) : 0;
	r = search_start(&search, &subject, error);
	if (r == 0)
		r = search_whole(&search, version, &marks, error);
	if (r < 0)
		return r;
	search.marks = &marks;
	r = search_write(&search, path, error);
	search.marks = NULL;
	return r;
}
