/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuGetProcAddress, as the libraries of 535 and 550 answer it (test/data/cuda-lookup/): of the forms of
 * a base name, the newest that the caller's CUDA version knows. Asked for the per-thread default
 * stream, a base that has such forms gives one of these or nothing. Versions are compared without a
 * sign, and one newer than the library is as good as its own.
 */
#include "cuda_state.h"

#include <string.h>

enum kind { NONE, PTDS, PTSZ };

struct symbol {
	const char *base;
	void (*function)(void);
	int since;
	enum kind kind;
};

/* The functions under a type of their own: only their addresses matter here. */
#define FUNCTION_NONE(base, suffix) lookup_##base##suffix
#define FUNCTION_PTDS(base, suffix) lookup_##base##suffix##_ptds
#define FUNCTION_PTSZ(base, suffix) lookup_##base##suffix##_ptsz
#define LABEL_NONE(base, suffix)    #base #suffix
#define LABEL_PTDS(base, suffix)    #base #suffix "_ptds"
#define LABEL_PTSZ(base, suffix)    #base #suffix "_ptsz"

#define CUDA_OBJECT(name, bytes)
#define CUDA_SYMBOL(base, suffix, kind, since) \
	extern void FUNCTION_##kind(base, suffix)(void) __asm__(LABEL_##kind(base, suffix));
#include "abi/cuda_symbols.def"
#undef CUDA_SYMBOL

static const struct symbol symbols[] = {
#define CUDA_SYMBOL(base, suffix, kind, since) \
	{ #base, FUNCTION_##kind(base, suffix), since, kind },
#include "abi/cuda_symbols.def"
#undef CUDA_SYMBOL
};

static bool is_form_of(const struct symbol *row, const char *base, bool per_thread)
{
	return (row->kind != NONE) == per_thread && row->since > 0 &&
	       row->since <= LIBRARY_CUDA_VERSION && strcmp(row->base, base) == 0;
}

static enum CUdriverProcAddressQueryResult_enum look_up(const char *base, unsigned version,
							bool per_thread, const struct symbol **ret)
{
	bool known = false;

	*ret = NULL;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		const struct symbol *row = &symbols[i];

		if (!is_form_of(row, base, per_thread))
			continue;
		known = true;
		if ((unsigned)row->since <= version && (!*ret || row->since > (*ret)->since))
			*ret = row;
	}
	if (*ret)
		return CU_GET_PROC_ADDRESS_SUCCESS;
	if (!known && per_thread)
		return look_up(base, version, false, ret);
	return known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
		     : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

enum cudaError_enum cuGetProcAddress_v2(const char *symbol, void **function, int cuda_version,
					uint64_t flags,
					enum CUdriverProcAddressQueryResult_enum *status)
{
	const uint64_t known_flags =
		CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	enum CUdriverProcAddressQueryResult_enum result;
	const struct symbol *row;

	if (!symbol || !function || (flags & ~known_flags))
		return CUDA_ERROR_INVALID_VALUE;
	result = look_up(symbol, (unsigned)cuda_version,
			 flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &row);
	*function = row ? (void *)row->function : NULL;
	if (status)
		*status = result;
	return CUDA_SUCCESS;
}

enum cudaError_enum cuGetProcAddress(const char *symbol, void **function, int cuda_version,
				     uint64_t flags)
{
	enum CUdriverProcAddressQueryResult_enum status;
	enum cudaError_enum error =
		cuGetProcAddress_v2(symbol, function, cuda_version, flags, &status);

	if (!error && status != CU_GET_PROC_ADDRESS_SUCCESS)
		return CUDA_ERROR_NOT_FOUND; /* before 12.0 there was no other way to say it */
	return error;
}
