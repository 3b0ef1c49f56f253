/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

/* A folder of the test's own; everything in it goes with it. */
struct place {
	char path[64];
	char file[96];
};

static void place_make(struct place *place)
{
	snprintf(place->path, sizeof(place->path), "/tmp/gpupool-test-XXXXXX");
	assert_non_null(mkdtemp(place->path));
	snprintf(place->file, sizeof(place->file), "%s/file", place->path);
}

static void place_remove(const struct place *place)
{
	DIR *directory = opendir(place->path);
	struct dirent *entry;

	while ((entry = readdir(directory)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			assert_int_equal(unlinkat(dirfd(directory), entry->d_name, 0), 0);
	closedir(directory);
	assert_int_equal(rmdir(place->path), 0);
}

static unsigned place_entries(const struct place *place)
{
	DIR *directory = opendir(place->path);
	unsigned count = 0;

	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 2;
}

static void assert_content(const char *path, const char *expected)
{
	autofree char *text = NULL;
	size_t length = 0;

	assert_int_equal(file_read(path, 1 << 20, &text, &length, NULL), 0);
	assert_int_equal(length, strlen(expected));
	assert_string_equal(text, expected);
}

TEST(file_reads_whole_files)
{
	struct place place;
	struct error error = ERROR_INIT;
	char *text = NULL;
	size_t length = 0;

	place_make(&place);
	assert_int_equal(file_read(place.file, 10, &text, &length, &error), -ENOENT);
	assert_non_null(strstr(error.message, place.file));
	assert_int_equal(file_write_atomic(place.file, "0123456789", 10, 0600, &error), 0);
	assert_int_equal(file_read(place.file, 9, &text, &length, &error), -EFBIG);
	assert_null(text);
	for (size_t most = 0; most < 4; most++) {
		fault_limit_transfers(most);
		assert_int_equal(file_read(place.file, 10, &text, &length, &error), 0);
		assert_int_equal(length, 10);
		assert_string_equal(text, "0123456789");
		free(text);
		text = NULL;
	}
	fault_limit_transfers(0);
	fault_arm_call(FAULT_READ, 0, EINTR);
	assert_int_equal(file_read(place.file, 10, &text, NULL, &error), 0);
	assert_true(fault_disarm());
	free(text);
	fault_arm_call(FAULT_READ, 1, EIO);
	assert_int_equal(file_read(place.file, 10, &text, NULL, &error), -EIO);
	assert_true(fault_disarm());
	assert_non_null(strstr(error.message, "': Input/output error; check the disk"));
	place_remove(&place);
}

TEST(file_reads_no_other_things)
{
	struct error error = ERROR_INIT;
	autofree char *text = NULL;
	struct place place;
	int ends[2];

	place_make(&place);
	assert_int_equal(file_read(place.path, 10, &text, NULL, &error), -EISDIR);
	assert_int_equal(file_read("/dev/zero", 10, &text, NULL, &error), -EINVAL);
	assert_null(text);
	/* procfs says 0 bytes and has more; its text is read to its end. */
	assert_int_equal(file_read("/proc/self/status", 65536, &text, NULL, &error), 0);
	assert_true(strlen(text) > 100);
	free(TAKE_PTR(text));
	assert_int_equal(file_read("/proc/self/status", 20, &text, NULL, &error), -EFBIG);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "abc", 3), 3);
	close(ends[1]);
	assert_int_equal(file_read_fd(ends[0], "a pipe", 3, &text, NULL, &error), 0);
	assert_string_equal(text, "abc");
	free(TAKE_PTR(text));
	close(ends[0]);
	assert_int_equal(file_read_fd(-1, "nothing", 3, &text, NULL, &error), -EBADF);
	int directory = open(place.path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(file_read_fd(directory, "a folder", 3, &text, NULL, &error), -EISDIR);
	close(directory);
	place_remove(&place);
}

/* Without a writer, and with one that says nothing. */
TEST(file_read_regular_waits_for_no_pipe)
{
	struct place place;
	struct error error = ERROR_INIT;
	char *text = NULL;
	size_t length = 0;

	place_make(&place);
	assert_int_equal(file_read_regular(place.file, 10, &text, &length, &error), -ENOENT);
	assert_int_equal(mkfifo(place.file, 0600), 0);
	assert_int_equal(file_read_regular(place.file, 10, &text, &length, &error), -EINVAL);
	assert_non_null(strstr(error.message, place.file));
	int fd = open(place.file, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(file_read_regular(place.file, 10, &text, &length, &error), -EINVAL);
	close(fd);
	assert_int_equal(file_write_atomic(place.file, "0123456789", 10, 0600, &error), 0);
	assert_int_equal(file_read_regular(place.file, 9, &text, &length, &error), -EFBIG);
	assert_null(text);
	assert_int_equal(file_read_regular(place.file, 10, &text, &length, &error), 0);
	assert_string_equal(text, "0123456789");
	free(text);
	assert_int_equal(file_read_regular(place.path, 10, &text, &length, &error), -EISDIR);
	place_remove(&place);
}

TEST(file_write_replaces)
{
	struct error error = ERROR_INIT;
	struct place place;
	struct stat status;
	char long_name[400];

	place_make(&place);
	mode_t mask = umask(077);
	assert_int_equal(file_write_atomic(place.file, "old", 3, 0644, &error), 0);
	umask(mask);
	assert_int_equal(stat(place.file, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0644); /* as asked, whatever the mask */
	assert_int_equal(file_write_atomic(place.file, "", 0, 0600, &error), 0);
	assert_content(place.file, "");
	fault_limit_transfers(1);
	assert_int_equal(file_write_atomic(place.file, "new text", 8, 0600, &error), 0);
	fault_limit_transfers(0);
	assert_content(place.file, "new text");
	fault_arm_call(FAULT_WRITE, 0, EINTR);
	assert_int_equal(file_write_atomic(place.file, "again", 5, 0600, &error), 0);
	assert_true(fault_disarm());
	assert_content(place.file, "again");
	assert_int_equal(place_entries(&place), 1);
	snprintf(long_name, sizeof(long_name), "%s/%0255d", place.path, 1);
	assert_int_equal(file_write_atomic(long_name, "x", 1, 0600, &error), 0);
	assert_int_equal(file_write_atomic("/nowhere/x", "x", 1, 0600, &error), -ENOENT);
	assert_string_equal(error.message, "cannot write '/nowhere/x': No such file or directory; "
					   "check the path");
	assert_int_equal(file_write_atomic("/tmp/", "x", 1, 0600, &error), -EISDIR);
	assert_int_equal(file_write_atomic("", "x", 1, 0600, &error), -EISDIR);
	assert_int_equal(chdir(place.path), 0);
	assert_int_equal(file_write_atomic("here", "x", 1, 0600, &error), 0);
	assert_content("here", "x");
	assert_int_equal(chdir("/"), 0);
	place_remove(&place);
}

/* Whatever fails, and when: the old text stays whole and nothing is left beside it. */
TEST(file_write_fails_without_a_trace)
{
	static const struct {
		enum fault_call call;
		unsigned n;
		int number;
		bool replaced;
	} rows[] = {
		{ FAULT_WRITE, 0, ENOSPC, false },  { FAULT_WRITE, 3, ENOSPC, false },
		{ FAULT_WRITE, 3, EDQUOT, false },  { FAULT_WRITE, 3, EIO, false },
		{ FAULT_FSYNC, 0, EIO, false },     { FAULT_RENAME, 0, EACCES, false },
		{ FAULT_MEMORY, 0, ENOMEM, false }, { FAULT_MEMORY, 1, ENOMEM, false },
		{ FAULT_FSYNC, 1, EIO, true }, /* of the directory: the name may be lost again */
	};
	struct place place;

	place_make(&place);
	fault_limit_transfers(1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error = ERROR_INIT;

		assert_int_equal(file_write_atomic(place.file, "old", 3, 0600, &error), 0);
		fault_arm_call(rows[i].call, rows[i].n, rows[i].number);
		assert_int_equal(file_write_atomic(place.file, "new text", 8, 0600, &error),
				 -rows[i].number);
		assert_true(fault_disarm());
		assert_content(place.file, rows[i].replaced ? "new text" : "old");
		assert_int_equal(place_entries(&place), 1);
		if (rows[i].number == ENOSPC)
			assert_non_null(strstr(error.message, "make room"));
	}
	fault_limit_transfers(0);
	place_remove(&place);
}

#define FULL_SKIPPED 77

/* In a child of its own mount namespace; the exit status is the number of the step that failed. */
static int full_disk(const struct place *place)
{
	autofree char *much = calloc(1, 1 << 20);
	struct error error = ERROR_INIT;
	autofree char *text = NULL;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", place->path, "tmpfs", 0, "size=64k") < 0)
		return FULL_SKIPPED;
	if (file_write_atomic(place->file, "old", 3, 0600, &error) < 0)
		return 1;
	if (file_write_atomic(place->file, much, 1 << 20, 0600, &error) != -ENOSPC)
		return 2;
	if (!strstr(error.message, "make room"))
		return 3;
	if (file_read(place->file, 100, &text, NULL, &error) < 0 || strcmp(text, "old") != 0)
		return 4;
	return place_entries(place) == 1 ? 0 : 5;
}

TEST(file_write_on_a_full_disk)
{
	struct place place;
	int status = 0;

	place_make(&place);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(full_disk(&place));
	assert_int_equal(waitpid(child, &status, 0), child);
	place_remove(&place);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == FULL_SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(file_make_directories_cases)
{
	struct error error = ERROR_INIT;
	struct place place;
	char path[128];
	struct stat status;

	place_make(&place);
	snprintf(path, sizeof(path), "%s/a//b/c/", place.path);
	mode_t mask = umask(0);
	assert_int_equal(file_make_directories(path, 0750, &error), 0);
	umask(mask);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0750);
	assert_int_equal(file_make_directories(path, 0700, &error), 0);
	assert_int_equal(file_make_directories("/", 0700, &error), 0);
	assert_int_equal(file_write_atomic(place.file, "x", 1, 0600, &error), 0);
	snprintf(path, sizeof(path), "%s/d", place.file);
	assert_int_equal(file_make_directories(path, 0700, &error), -ENOTDIR);
	assert_non_null(strstr(error.message, place.file));
	assert_int_equal(file_make_directories(place.file, 0700, &error), -ENOTDIR);
	static const char *const made[] = { "a/b/c", "a/b", "a" };
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		snprintf(path, sizeof(path), "%s/%s", place.path, made[i]);
		assert_int_equal(rmdir(path), 0);
	}
	place_remove(&place);
}
