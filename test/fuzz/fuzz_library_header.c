/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a shared library: refused with a sentence, or a file name that is safe to use. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "inject/library_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = ERROR_INIT;
	struct elf_facts facts;
	autoclose int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	if (elf_read(fd, "fuzz", &facts, &error) < 0) {
		if (!error.message[0])
			abort();
		return 0;
	}
	if (facts.bits != 32 && facts.bits != 64)
		abort();
	if (strlen(facts.soname) >= sizeof(facts.soname) || strchr(facts.soname, '/'))
		abort();
	return 0;
}
