/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every name of the real library that no other file defines. A definition elsewhere wins over the
 * weak one here; what a stub is given it does not read, so its prototype does not matter. Which
 * names a branch exports, nvml.map says.
 */
int nvml_stub(void);

#define NVML_STUB(name)                                              \
	__attribute__((weak, visibility("default"))) int name(void); \
	int name(void)                                               \
	{                                                            \
		return nvml_stub();                                  \
	}
#define NVML_SYMBOL(base, version, stream, since, need) NVML_STUB(base##version)
#include "abi/nvml_symbols.def"
