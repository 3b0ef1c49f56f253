/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as NVIDIA's configuration (first byte 't') or as ours: whole, or an error with a message. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/formats.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

static void check_list(const struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		must(list->items[i] != NULL);
}

static void read_both(const char *path, bool toolkit)
{
	struct toolkit_config config = { .log_file = NULL };
	struct error error = ERROR_INIT;
	int r = toolkit_config_read(toolkit ? path : NULL, toolkit ? NULL : path, &config, &error);

	if (r < 0) {
		must(error.number == -r && error.message[0] && !config.default_kind);
		return;
	}
	must((int)config.mode >= 0 && config.mode < TOOLKIT_MODE_MAX);
	/* Only our own file can open Kubernetes to images. */
	must(!toolkit || !config.accept_env_in_kubernetes);
	check_list(&config.runtimes);
	check_list(&config.annotation_prefixes);
	check_list(&config.spec_directories);
	check_list(&config.notes);
	toolkit_config_release(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];

	if (size < 1)
		return 0;
	int fd = memfd_create("config", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data + 1, size - 1) == (ssize_t)(size - 1))
		read_both(path, data[0] == 't');
	close(fd);
	return 0;
}
