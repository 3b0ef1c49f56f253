/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A weak definition of every name in the list: where another file has code for a name, the linker
 * takes that. The rest answers CUDA_ERROR_NOT_SUPPORTED once the library is initialized.
 */
int cuda_unsupported(void); /* cuda_state.h, whose cuda.h has the true types of the functions */

#define EXPORTED __attribute__((visibility("default")))

#define NAME_NONE(base, suffix) base##suffix
#define NAME_PTDS(base, suffix) base##suffix##_ptds
#define NAME_PTSZ(base, suffix) base##suffix##_ptsz

#define CUDA_SYMBOL(base, suffix, kind, since) STUB(NAME_##kind(base, suffix))
#define STUB(name)                             DEFINE_STUB(name)
#define DEFINE_STUB(name)                              \
	EXPORTED __attribute__((weak)) int name(void); \
	int name(void)                                 \
	{                                              \
		return cuda_unsupported();             \
	}
#define CUDA_OBJECT(name, bytes) EXPORTED char name[bytes] __attribute__((aligned(8)));

#include "abi/cuda_symbols.def"
