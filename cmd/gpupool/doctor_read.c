/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor_read.h"
#include "formats/formats.h"
#include "gpupool.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PROGRESS_AFTER = 1 /* s */ };

/* One run's progress, shown where somebody waits. */
struct progress {
	bool shown, wanted;
	time_t next;
	uint64_t bytes;
};

static time_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void progress_show(struct progress *progress, const char *name, size_t bytes)
{
	progress->bytes += bytes;
	if (!progress->wanted || seconds_now() < progress->next)
		return;
	autofree char *shown = strdup(name);
	if (!shown)
		return;
	text_make_visible(shown, false);
	fprintf(stderr, "\r\033[Kreading %.60s: %llu MiB", shown,
		(unsigned long long)(progress->bytes >> 20));
	progress->shown = true;
	progress->next = seconds_now() + 1;
}

static void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}

/* What is not read: said, and remembered. */
static void leave_out(struct progress *progress, const struct error *error, bool *whole)
{
	progress_end(progress);
	say("left out: %s", error->message);
	*whole = false;
}

static int read_member(struct doctor *doctor, struct archive_reader *reader, const char *name,
		       struct progress *progress, struct error *error)
{
	const char *bytes;
	size_t length;
	int r = doctor_source(doctor, name);

	if (r < 0)
		return error_no_memory(error);
	while ((r = archive_read(reader, &bytes, &length, error)) > 0) {
		if (doctor_feed(doctor, bytes, length) < 0)
			return error_no_memory(error);
		progress_show(progress, name, length);
	}
	return r;
}

/* A damaged member hides no other one. */
static int read_stream(struct doctor *doctor, int fd, const char *name, struct progress *progress,
		       bool *whole, struct error *error)
{
	cleanup(archive_reader_freep) struct archive_reader *reader = NULL;
	const char *member;
	int r = archive_open_fd(fd, name, NULL, &reader, error);

	if (r == -EBADMSG || r == -EFBIG)
		leave_out(progress, error, whole);
	if (r < 0)
		return r == -EBADMSG || r == -EFBIG ? 0 : r;
	while ((r = archive_next(reader, &member, error)) != 0) {
		if (r > 0)
			r = read_member(doctor, reader, member, progress, error);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			leave_out(progress, error, whole);
	}
	return 0;
}

/* NOFOLLOW: of a folder, whose links may lead anywhere. */
static int read_file(struct doctor *doctor, const char *path, bool nofollow,
		     struct progress *progress, bool *whole, struct error *error)
{
	autoclose int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (nofollow ? O_NOFOLLOW : 0));

	if (fd < 0)
		return error_set_errno(error, errno, "cannot open %s", path);
	return read_stream(doctor, fd, path, progress, whole, error);
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int read_entry(struct doctor *doctor, const FTSENT *entry, struct progress *progress,
		      bool *whole, struct error *error)
{
	int r = 0;

	if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
		r = error_set_errno(error, entry->fts_errno, "cannot read %s", entry->fts_path);
	else if (entry->fts_info == FTS_F)
		r = read_file(doctor, entry->fts_path, true, progress, whole, error);
	if (r == 0 || r == -ENOMEM)
		return r;
	leave_out(progress, error, whole);
	return 0;
}

static int read_folder(struct doctor *doctor, const char *path, struct progress *progress,
		       bool *whole, struct error *error)
{
	autofree char *copy = strdup(path);
	char *paths[] = { copy, NULL };
	FTS *tree = copy ? fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, compare_names) : NULL;
	int r = 0;

	if (!tree)
		return error_no_memory(error);
	for (FTSENT *entry; r == 0 && (entry = fts_read(tree));)
		r = read_entry(doctor, entry, progress, whole, error);
	fts_close(tree);
	return r;
}

int evidence_read(struct doctor *doctor, const char *path, bool *whole, struct error *error)
{
	struct progress progress = { .wanted = isatty(STDERR_FILENO),
				     .next = seconds_now() + PROGRESS_AFTER };
	struct stat status;
	int r;

	if (strcmp(path, "-") == 0)
		r = read_stream(doctor, STDIN_FILENO, "standard input", &progress, whole, error);
	else if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		r = read_folder(doctor, path, &progress, whole, error);
	else
		r = read_file(doctor, path, false, &progress, whole, error);
	progress_end(&progress);
	return r;
}
