/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Old versions of the symbols that glibc 2.34 moved from libdl to libc, so that the libraries load
 * from glibc 2.17 on, as the real ones do. musl has no symbol versions and no dlvsym: there the
 * loader stops at dlvsym, for these libraries as for NVIDIA's.
 */
#pragma once

#ifdef __x86_64__
#define GLIBC_BASE     "GLIBC_2.2.5"
#define GLIBC_AFFINITY "GLIBC_2.3.4" /* the version of pthread_setaffinity_np that takes a size */
#else
#define GLIBC_BASE     "GLIBC_2.17"
#define GLIBC_AFFINITY "GLIBC_2.17"
#endif

__asm__(".symver dladdr,dladdr@" GLIBC_BASE);
