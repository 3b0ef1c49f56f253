/* SPDX-License-Identifier: Apache-2.0 */
/* Archives of strangers: the end comes, within the limits. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct archive_limits limits = {
		.total_bytes = 1 << 20, .member_bytes = 1 << 19, .members = 50, .depth = 3
	};
	autoclose int fd = memfd_create("fuzz", MFD_CLOEXEC);
	cleanup(archive_reader_freep) struct archive_reader *reader = NULL;
	const char *name, *bytes;
	size_t length, total = 0;
	unsigned calls = 0;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
		return 0;
	if (archive_open_fd(fd, "file", &limits, &reader, NULL) < 0)
		return 0;
	for (int r; (r = archive_next(reader, &name, NULL)) != 0;) {
		while (r > 0 && archive_read(reader, &bytes, &length, NULL) > 0)
			total += length;
		/* An archive has an end, also one that is nothing but errors. */
		if (++calls > 1000 || total > limits.total_bytes + size)
			abort();
	}
	return 0;
}
