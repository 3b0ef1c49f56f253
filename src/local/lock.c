/* SPDX-License-Identifier: Apache-2.0 */
/* One command at a time holds the pool. The kernel drops the lock when the holder dies. */
#include "local/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void lock_sentence(int fd, const char *path, struct strbuf *out)
{
	char text[32] = "";
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
	uint64_t pid;

	if (got > 0)
		text[strcspn(text, "\n")] = '\0';
	if (got > 0 && parse_uint(text, 1, INT32_MAX, &pid) == 0)
		strbuf_addf(out, "the pool is held by another gpupool, process %lu",
			    (unsigned long)pid);
	else
		strbuf_addf(out, "the pool is held by another gpupool (lock %s)", path);
}

int lock_take(const char *run_directory, bool no_wait, void (*waiting)(const char *sentence),
	      int *ret, struct error *error)
{
	autostrbuf path = STRBUF_INIT(4096), sentence = STRBUF_INIT(4096);
	char text[32];
	struct stat status;

	int r = file_make_directories(run_directory, 0755, error);
	if (r < 0)
		return r;
	strbuf_addf(&path, "%s/lock", run_directory);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the path %s is too long", run_directory);
	/* Readable by root alone: whoever can open it can lock it, and keep everybody waiting. */
	autoclose int fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set(error, errno,
				 "cannot open the lock %s: %s; set " ENV_RUN_DIR
				 " to a directory that can be written",
				 path.data, strerrordesc_np(errno));
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return error_set(error, EINVAL, "the lock %s is no regular file; remove it",
				 path.data);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return error_set_errno(error, errno, "cannot lock %s", path.data);
		lock_sentence(fd, path.data, &sentence);
		if (no_wait)
			return error_set(error, EBUSY, "%s; wait for it to end or stop it",
					 sentence.data);
		if (waiting)
			waiting(sentence.data);
		while (flock(fd, LOCK_EX) < 0)
			if (errno != EINTR)
				return error_set_errno(error, errno, "cannot lock %s", path.data);
	}
	int length = snprintf(text, sizeof(text), "%d\n", getpid());
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)length, 0) != length)
		return error_set_errno(error, errno, "cannot write to the lock %s", path.data);
	*ret = TAKE_FD(fd);
	return 0;
}
