/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host whose runtimes are looked at and configured: this machine, or the one whose root is a
 * directory here (a Pod that has the host's root at /host; a fixture of a test). All names are names
 * inside that root, links are followed inside it, and nothing outside of it is touched.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/base.h"
#include "model/model.h"

struct host {
	const char *root; /* "/", or the directory that is the host's root */
	const char *proc; /* its procfs, as this process sees it; NULL: ROOT/proc */
	/*
	 * Runs ARGV (absolute program, ends with NULL) on the host and waits for it. *ret is what it
	 * printed on standard output (free()). -ENOENT: no such program; -ECHILD: it failed, and the
	 * message ends with its last line. NULL: host_run_program().
	 */
	int (*run)(void *data, const char *const *argv, char **ret, struct error *error);
	void *data;
	unsigned patience_ms; /* how long a restarted daemon may take to come back; 0: 30 s */
};

enum { HOST_FILE_MAX = 4 << 20 };

/*
 * Reads the file PATH of the host. -ENOENT without a message when there is none: a missing
 * configuration file is an answer. RET_MODE may be NULL.
 */
int host_read(const struct host *host, const char *path, char **ret, unsigned *ret_mode,
	      struct error *error);
/* The same for a file of at most MAXIMUM bytes instead of HOST_FILE_MAX. */
int host_read_large(const struct host *host, const char *path, size_t maximum, char **ret,
		    unsigned *ret_mode, struct error *error);
/* The name by which this process reaches PATH, links followed inside the root; -errno. */
int host_path(const struct host *host, const char *path, struct strbuf *out, struct error *error);
/* The procfs of the host, as this process sees it. */
int host_proc(const struct host *host, struct strbuf *out);
bool host_exists(const struct host *host, const char *path);
/* The names in the directory PATH, sorted; none when there is no such directory. 0 or -errno. */
int host_list(const struct host *host, const char *path, struct string_list *ret,
	      struct error *error);

/* Writes atomically and durably; missing directories are made (0755) and made durable, too. */
int host_write(const struct host *host, const char *path, const char *text, unsigned mode,
	       struct error *error);
/* Makes the directory PATH durably and locks it for this process: a descriptor to close, or -EAGAIN
 * when another process has it. */
int host_lock(const struct host *host, const char *path, struct error *error);
/* Removes durably; what is not there is success. */
int host_remove(const struct host *host, const char *path, struct error *error);

/* host->run or, where that is NULL, host_run_program(). */
int host_run(const struct host *host, const char *const *argv, char **ret, struct error *error);
/* Runs it in the root of the host (chroot, so CAP_SYS_CHROOT unless the root is "/"), with an
 * environment of its own, for two minutes at most. */
int host_run_program(const struct host *host, const char *const *argv, char **ret,
		     struct error *error);
