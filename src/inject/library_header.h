/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a shared library says about itself: class, machine, SONAME. Reads a few hundred bytes at
 * checked places through the program headers (section headers may be stripped). A broken file is
 * an error with a sentence, never more.
 */
#pragma once

#include "base/base.h"

#define ELF_SONAME_MAX 128

struct elf_facts {
	unsigned bits;               /* 32 or 64 */
	unsigned machine;            /* EM_X86_64, ... (elf.h) */
	char soname[ELF_SONAME_MAX]; /* "" when the library has none */
};

/* NAME is for messages. -ENOEXEC: no usable library of this machine's byte order. */
int elf_read(int fd, const char *name, struct elf_facts *ret, struct error *error);
