/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_state.h"

static const struct error_row {
	enum cudaError_enum error;
	const char *name;
} error_names[] = {
#define ROW(name, number) { name, #name },
	CUDA_ERROR_ROWS(ROW)
#undef ROW
};

/* The sentences of libcuda 535.261.03 for what this library answers; for other errors the name stands for the sentence. */
static const struct error_row error_texts[] = {
	{ CUDA_SUCCESS, "no error" },
	{ CUDA_ERROR_INVALID_VALUE, "invalid argument" },
	{ CUDA_ERROR_OUT_OF_MEMORY, "out of memory" },
	{ CUDA_ERROR_NOT_INITIALIZED, "initialization error" },
	{ CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected" },
	{ CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal" },
	{ CUDA_ERROR_INVALID_CONTEXT, "invalid device context" },
	{ CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS" },
	{ CUDA_ERROR_NOT_FOUND, "named symbol not found" },
	{ CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed" },
	{ CUDA_ERROR_NOT_SUPPORTED, "operation not supported" },
	{ CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
	  "system has unsupported display driver / cuda driver combination" },
	{ CUDA_ERROR_UNKNOWN, "unknown error" },
};

static const char *find(const struct error_row *rows, size_t count, enum cudaError_enum error)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].error == error)
			return rows[i].name;
	return NULL;
}

enum cudaError_enum cuGetErrorName(enum cudaError_enum error, const char **name)
{
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	*name = find(error_names, sizeof(error_names) / sizeof(error_names[0]), error);
	return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

enum cudaError_enum cuGetErrorString(enum cudaError_enum error, const char **text)
{
	if (!text)
		return CUDA_ERROR_INVALID_VALUE;
	*text = find(error_texts, sizeof(error_texts) / sizeof(error_texts[0]), error);
	return *text ? CUDA_SUCCESS : cuGetErrorName(error, text);
}
