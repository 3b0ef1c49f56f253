/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as driver-files.json: refused with a sentence, or files below the driver root. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/inject.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

static void check_file(const struct driver_file *file)
{
	if (file->kind == DRIVER_SOCKET)
		return; /* this machine's */
	must(strncmp(file->source, "/usr/", 5) == 0 && !strstr(file->source, "/../"));
	must(file->names.count > 0);
	for (size_t i = 0; i < file->names.count; i++)
		must(*file->names.items[i] && !strstr(file->names.items[i], "/../"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(driver_files_freep) struct driver_files *files = NULL;
	struct error error = ERROR_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/dev/shm/gpupool-fuzz-%d", getpid());
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	close(fd);
	int r = driver_files_read(path, "/usr", NULL, NULL, CAPABILITY_ALL, &files, &error);
	unlink(path);
	must(r == 0 || error.message[0]);
	for (size_t i = 0; r == 0 && i < files->count; i++)
		check_file(&files->items[i]);
	return 0;
}
