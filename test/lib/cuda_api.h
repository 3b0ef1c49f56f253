/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcuda.so.1 by dlopen, for test programs: struct cuda_api holds the functions under the names of
 * the header. How to add a function: one row in CUDA_API_ROWS.
 */
#pragma once

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "abi/cuda.h"

#define CUDA_API_ROWS(ROW)                                 \
	ROW(init, cuInit)                                  \
	ROW(driver_version, cuDriverGetVersion)            \
	ROW(error_name, cuGetErrorName)                    \
	ROW(device_count, cuDeviceGetCount)                \
	ROW(device_get, cuDeviceGet)                       \
	ROW(device_name, cuDeviceGetName)                  \
	ROW(device_uuid, cuDeviceGetUuid)                  \
	ROW(device_total, cuDeviceTotalMem_v2)             \
	ROW(device_attribute, cuDeviceGetAttribute)        \
	ROW(device_address, cuDeviceGetPCIBusId)           \
	ROW(primary_retain, cuDevicePrimaryCtxRetain)      \
	ROW(primary_release, cuDevicePrimaryCtxRelease_v2) \
	ROW(context_create, cuCtxCreate_v2)                \
	ROW(context_destroy, cuCtxDestroy_v2)              \
	ROW(context_set, cuCtxSetCurrent)                  \
	ROW(context_get, cuCtxGetCurrent)                  \
	ROW(memory_info, cuMemGetInfo_v2)                  \
	ROW(memory_alloc, cuMemAlloc_v2)                   \
	ROW(memory_free, cuMemFree_v2)                     \
	ROW(copy_to_device, cuMemcpyHtoD_v2)               \
	ROW(copy_to_host, cuMemcpyDtoH_v2)                 \
	ROW(copy_on_device, cuMemcpyDtoD_v2)               \
	ROW(set_bytes, cuMemsetD8_v2)                      \
	ROW(set_words, cuMemsetD32_v2)                     \
	ROW(address_of, cuGetProcAddress_v2)

struct cuda_api {
	void *library;
#define FIELD(field, function) __typeof__(function) *field;
	CUDA_API_ROWS(FIELD)
#undef FIELD
};

/* false, having said on stderr why: the loader's own words or the name that is missing. */
static inline bool cuda_api_load(struct cuda_api *api)
{
	static const struct {
		const char *name;
		size_t offset;
	} rows[] = {
#define FIELD(field, function) { #function, offsetof(struct cuda_api, field) },
		CUDA_API_ROWS(FIELD)
#undef FIELD
	};

	api->library = dlopen(CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!api->library) {
		fprintf(stderr, "%s\n", dlerror());
		return false;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *function = dlsym(api->library, rows[i].name);

		if (!function) {
			fprintf(stderr, "%s has no %s\n", CUDA_LIBRARY, rows[i].name);
			return false;
		}
		memcpy((char *)api + rows[i].offset, &function, sizeof(function));
	}
	return true;
}
