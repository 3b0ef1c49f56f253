/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the CUDA driver API (libcuda.so.1) that we use. Names, numbers and layouts are those of
 * NVIDIA's cuda.h, tags included; instead of its typedefs stand the plain types:
 *   CUresult enum cudaError_enum    CUdevice int    CUdeviceptr uint64_t    CUcontext struct CUctx_st *
 * test/integration/abi_headers.bats compares this file with the real header, where it can be had.
 *
 * Functions are declared under their exported names, so cuMemAlloc of the header is cuMemAlloc_v2.
 * How to add: the declaration here, and its row in cuda_symbols.def if it is newer than that list.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CUDA_LIBRARY "libcuda.so.1"

/* Every error of CUDA 12.9 and its number: CUDA_ERROR_ROW(name, number) */
#define CUDA_ERROR_ROWS(CUDA_ERROR_ROW)                                \
	CUDA_ERROR_ROW(CUDA_SUCCESS, 0)                                \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_VALUE, 1)                    \
	CUDA_ERROR_ROW(CUDA_ERROR_OUT_OF_MEMORY, 2)                    \
	CUDA_ERROR_ROW(CUDA_ERROR_NOT_INITIALIZED, 3)                  \
	CUDA_ERROR_ROW(CUDA_ERROR_DEINITIALIZED, 4)                    \
	CUDA_ERROR_ROW(CUDA_ERROR_PROFILER_DISABLED, 5)                \
	CUDA_ERROR_ROW(CUDA_ERROR_PROFILER_NOT_INITIALIZED, 6)         \
	CUDA_ERROR_ROW(CUDA_ERROR_PROFILER_ALREADY_STARTED, 7)         \
	CUDA_ERROR_ROW(CUDA_ERROR_PROFILER_ALREADY_STOPPED, 8)         \
	CUDA_ERROR_ROW(CUDA_ERROR_STUB_LIBRARY, 34)                    \
	CUDA_ERROR_ROW(CUDA_ERROR_DEVICE_UNAVAILABLE, 46)              \
	CUDA_ERROR_ROW(CUDA_ERROR_NO_DEVICE, 100)                      \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_DEVICE, 101)                 \
	CUDA_ERROR_ROW(CUDA_ERROR_DEVICE_NOT_LICENSED, 102)            \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_IMAGE, 200)                  \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_CONTEXT, 201)                \
	CUDA_ERROR_ROW(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, 202)        \
	CUDA_ERROR_ROW(CUDA_ERROR_MAP_FAILED, 205)                     \
	CUDA_ERROR_ROW(CUDA_ERROR_UNMAP_FAILED, 206)                   \
	CUDA_ERROR_ROW(CUDA_ERROR_ARRAY_IS_MAPPED, 207)                \
	CUDA_ERROR_ROW(CUDA_ERROR_ALREADY_MAPPED, 208)                 \
	CUDA_ERROR_ROW(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)              \
	CUDA_ERROR_ROW(CUDA_ERROR_ALREADY_ACQUIRED, 210)               \
	CUDA_ERROR_ROW(CUDA_ERROR_NOT_MAPPED, 211)                     \
	CUDA_ERROR_ROW(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, 212)            \
	CUDA_ERROR_ROW(CUDA_ERROR_NOT_MAPPED_AS_POINTER, 213)          \
	CUDA_ERROR_ROW(CUDA_ERROR_ECC_UNCORRECTABLE, 214)              \
	CUDA_ERROR_ROW(CUDA_ERROR_UNSUPPORTED_LIMIT, 215)              \
	CUDA_ERROR_ROW(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, 216)         \
	CUDA_ERROR_ROW(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217)        \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_PTX, 218)                    \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, 219)       \
	CUDA_ERROR_ROW(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)           \
	CUDA_ERROR_ROW(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)         \
	CUDA_ERROR_ROW(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)        \
	CUDA_ERROR_ROW(CUDA_ERROR_JIT_COMPILATION_DISABLED, 223)       \
	CUDA_ERROR_ROW(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, 224)      \
	CUDA_ERROR_ROW(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, 225)       \
	CUDA_ERROR_ROW(CUDA_ERROR_CONTAINED, 226)                      \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_SOURCE, 300)                 \
	CUDA_ERROR_ROW(CUDA_ERROR_FILE_NOT_FOUND, 301)                 \
	CUDA_ERROR_ROW(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302) \
	CUDA_ERROR_ROW(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, 303)      \
	CUDA_ERROR_ROW(CUDA_ERROR_OPERATING_SYSTEM, 304)               \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_HANDLE, 400)                 \
	CUDA_ERROR_ROW(CUDA_ERROR_ILLEGAL_STATE, 401)                  \
	CUDA_ERROR_ROW(CUDA_ERROR_LOSSY_QUERY, 402)                    \
	CUDA_ERROR_ROW(CUDA_ERROR_NOT_FOUND, 500)                      \
	CUDA_ERROR_ROW(CUDA_ERROR_NOT_READY, 600)                      \
	CUDA_ERROR_ROW(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                \
	CUDA_ERROR_ROW(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)        \
	CUDA_ERROR_ROW(CUDA_ERROR_LAUNCH_TIMEOUT, 702)                 \
	CUDA_ERROR_ROW(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, 703)  \
	CUDA_ERROR_ROW(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)    \
	CUDA_ERROR_ROW(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705)        \
	CUDA_ERROR_ROW(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, 708)         \
	CUDA_ERROR_ROW(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)           \
	CUDA_ERROR_ROW(CUDA_ERROR_ASSERT, 710)                         \
	CUDA_ERROR_ROW(CUDA_ERROR_TOO_MANY_PEERS, 711)                 \
	CUDA_ERROR_ROW(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712) \
	CUDA_ERROR_ROW(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713)     \
	CUDA_ERROR_ROW(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)           \
	CUDA_ERROR_ROW(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)            \
	CUDA_ERROR_ROW(CUDA_ERROR_MISALIGNED_ADDRESS, 716)             \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)          \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_PC, 718)                     \
	CUDA_ERROR_ROW(CUDA_ERROR_LAUNCH_FAILED, 719)                  \
	CUDA_ERROR_ROW(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)   \
	CUDA_ERROR_ROW(CUDA_ERROR_TENSOR_MEMORY_LEAK, 721)             \
	CUDA_ERROR_ROW(CUDA_ERROR_NOT_PERMITTED, 800)                  \
	CUDA_ERROR_ROW(CUDA_ERROR_NOT_SUPPORTED, 801)                  \
	CUDA_ERROR_ROW(CUDA_ERROR_SYSTEM_NOT_READY, 802)               \
	CUDA_ERROR_ROW(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)         \
	CUDA_ERROR_ROW(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804) \
	CUDA_ERROR_ROW(CUDA_ERROR_MPS_CONNECTION_FAILED, 805)          \
	CUDA_ERROR_ROW(CUDA_ERROR_MPS_RPC_FAILURE, 806)                \
	CUDA_ERROR_ROW(CUDA_ERROR_MPS_SERVER_NOT_READY, 807)           \
	CUDA_ERROR_ROW(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, 808)        \
	CUDA_ERROR_ROW(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, 809)    \
	CUDA_ERROR_ROW(CUDA_ERROR_MPS_CLIENT_TERMINATED, 810)          \
	CUDA_ERROR_ROW(CUDA_ERROR_CDP_NOT_SUPPORTED, 811)              \
	CUDA_ERROR_ROW(CUDA_ERROR_CDP_VERSION_MISMATCH, 812)           \
	CUDA_ERROR_ROW(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)     \
	CUDA_ERROR_ROW(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)     \
	CUDA_ERROR_ROW(CUDA_ERROR_STREAM_CAPTURE_MERGE, 902)           \
	CUDA_ERROR_ROW(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903)       \
	CUDA_ERROR_ROW(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904)        \
	CUDA_ERROR_ROW(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905)       \
	CUDA_ERROR_ROW(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906)        \
	CUDA_ERROR_ROW(CUDA_ERROR_CAPTURED_EVENT, 907)                 \
	CUDA_ERROR_ROW(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908)    \
	CUDA_ERROR_ROW(CUDA_ERROR_TIMEOUT, 909)                        \
	CUDA_ERROR_ROW(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910)      \
	CUDA_ERROR_ROW(CUDA_ERROR_EXTERNAL_DEVICE, 911)                \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_CLUSTER_SIZE, 912)           \
	CUDA_ERROR_ROW(CUDA_ERROR_FUNCTION_NOT_LOADED, 913)            \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_RESOURCE_TYPE, 914)          \
	CUDA_ERROR_ROW(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, 915) \
	CUDA_ERROR_ROW(CUDA_ERROR_KEY_ROTATION, 916)                   \
	CUDA_ERROR_ROW(CUDA_ERROR_UNKNOWN, 999)

#define CUDA_ERROR_ENUMERATOR(name, number) name = number,
enum cudaError_enum { CUDA_ERROR_ROWS(CUDA_ERROR_ENUMERATOR) };
#undef CUDA_ERROR_ENUMERATOR

enum CUdevice_attribute_enum {
	CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
	CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
	CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
	CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
	CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
	CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
	CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
	CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
	CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
	CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13, /* kHz */
	CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
	CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
	CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
	CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
	CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
	CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32,
	CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
	CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
	CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,       /* kHz */
	CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37, /* bits */
	CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
	CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
};

enum CUctx_flags_enum {
	CU_CTX_SCHED_AUTO = 0,
	CU_CTX_SCHED_SPIN = 1,
	CU_CTX_SCHED_YIELD = 2,
	CU_CTX_SCHED_BLOCKING_SYNC = 4,
};

enum CUdriverProcAddress_flags_enum {
	CU_GET_PROC_ADDRESS_DEFAULT = 0,
	CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1,
	CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2,
};

enum CUdriverProcAddressQueryResult_enum {
	CU_GET_PROC_ADDRESS_SUCCESS = 0,
	CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
	CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2,
};

struct CUuuid_st {
	char bytes[16];
};

struct CUctx_st; /* what a CUcontext points to */

enum cudaError_enum cuInit(unsigned int flags);
enum cudaError_enum cuDriverGetVersion(int *version);
enum cudaError_enum cuGetErrorName(enum cudaError_enum error, const char **name);
enum cudaError_enum cuGetErrorString(enum cudaError_enum error, const char **text);

enum cudaError_enum cuDeviceGetCount(int *count);
enum cudaError_enum cuDeviceGet(int *device, int ordinal);
enum cudaError_enum cuDeviceGetName(char *name, int size, int device);
enum cudaError_enum cuDeviceGetUuid(struct CUuuid_st *uuid, int device);
enum cudaError_enum cuDeviceGetUuid_v2(struct CUuuid_st *uuid, int device);
enum cudaError_enum cuDeviceTotalMem(unsigned int *bytes, int device); /* CUDA before 3.2 */
enum cudaError_enum cuDeviceTotalMem_v2(size_t *bytes, int device);
enum cudaError_enum cuDeviceGetAttribute(int *value, enum CUdevice_attribute_enum attribute,
					 int device);
enum cudaError_enum cuDeviceGetPCIBusId(char *text, int size, int device);
enum cudaError_enum cuDeviceGetByPCIBusId(int *device, const char *text);
enum cudaError_enum cuDeviceComputeCapability(int *major, int *minor, int device);

enum cudaError_enum cuDevicePrimaryCtxRetain(struct CUctx_st **context, int device);
enum cudaError_enum cuDevicePrimaryCtxRelease(int device);
enum cudaError_enum cuDevicePrimaryCtxRelease_v2(int device);
enum cudaError_enum cuDevicePrimaryCtxReset(int device);
enum cudaError_enum cuDevicePrimaryCtxReset_v2(int device);
enum cudaError_enum cuDevicePrimaryCtxGetState(int device, unsigned int *flags, int *active);
enum cudaError_enum cuCtxCreate(struct CUctx_st **context, unsigned int flags, int device);
enum cudaError_enum cuCtxCreate_v2(struct CUctx_st **context, unsigned int flags, int device);
enum cudaError_enum cuCtxDestroy(struct CUctx_st *context);
enum cudaError_enum cuCtxDestroy_v2(struct CUctx_st *context);
enum cudaError_enum cuCtxSetCurrent(struct CUctx_st *context);
enum cudaError_enum cuCtxGetCurrent(struct CUctx_st **context);
enum cudaError_enum cuCtxGetDevice(int *device);
enum cudaError_enum cuCtxPushCurrent(struct CUctx_st *context);
enum cudaError_enum cuCtxPushCurrent_v2(struct CUctx_st *context);
enum cudaError_enum cuCtxPopCurrent(struct CUctx_st **context);
enum cudaError_enum cuCtxPopCurrent_v2(struct CUctx_st **context);
enum cudaError_enum cuCtxSynchronize(void);

enum cudaError_enum cuMemGetInfo_v2(size_t *free, size_t *total);
enum cudaError_enum cuMemAlloc_v2(uint64_t *address, size_t bytes);
enum cudaError_enum cuMemFree_v2(uint64_t address);
enum cudaError_enum cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address);
enum cudaError_enum cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
enum cudaError_enum cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
enum cudaError_enum cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes);
enum cudaError_enum cuMemsetD8_v2(uint64_t to, unsigned char value, size_t count);
enum cudaError_enum cuMemsetD16_v2(uint64_t to, unsigned short value, size_t count);
enum cudaError_enum cuMemsetD32_v2(uint64_t to, unsigned int value, size_t count);

/* Without a status, of CUDA 11.3 to 11.8, and with one, since 12.0. */
enum cudaError_enum cuGetProcAddress(const char *symbol, void **function, int cuda_version,
				     uint64_t flags);
enum cudaError_enum cuGetProcAddress_v2(const char *symbol, void **function, int cuda_version,
					uint64_t flags,
					enum CUdriverProcAddressQueryResult_enum *status);
enum cudaError_enum cuGetExportTable(const void **table, const struct CUuuid_st *id);
