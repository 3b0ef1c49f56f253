/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that move and measure memory. */
#include "cuda_state.h"

#include <string.h>

#define BOUNCE_SIZE 16384

enum cudaError_enum cuMemGetInfo_v2(size_t *free, size_t *total)
{
	struct sim_card_state card = { 0 };
	struct cuda_state *cuda;
	struct CUctx_st *context;
	enum cudaError_enum error = cuda_enter_context(&cuda, &context);
	const struct sim_card_info *info;

	if (error)
		return error;
	if (!free || !total)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	info = &cuda->devices[context->device].info;
	error = cuda_error_of(client_instance_state(
		&cuda->client, info->minor, cuda->devices[context->device].instance, &card));
	if (!error) {
		*free = card.free_bytes;
		*total = info->memory_bytes - info->reserved_bytes;
	}
	return cuda_leave(cuda, error);
}

enum cudaError_enum cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	struct cuda_state *cuda;
	struct CUctx_st *context;
	enum cudaError_enum error = cuda_enter_context(&cuda, &context);

	if (error)
		return error;
	if (!address)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	return cuda_leave(cuda, cuda_memory_alloc(cuda, context, bytes, address));
}

enum cudaError_enum cuMemFree_v2(uint64_t address)
{
	struct cuda_state *cuda;
	struct CUctx_st *context;
	enum cudaError_enum error = cuda_enter_context(&cuda, &context);

	return error ? error : cuda_leave(cuda, cuda_memory_free(cuda, address));
}

/*
 * Enters, and finds the live memory that all of [address, address + bytes) lies in. Asks its card, so
 * that work on one that is lost fails and on one that hangs does not return.
 */
static enum cudaError_enum enter_range(uint64_t address, uint64_t bytes, struct cuda_state **ret,
				       struct cuda_block **ret_block)
{
	struct sim_card_state now;
	struct CUctx_st *context;
	struct cuda_range *range;
	enum cudaError_enum error = cuda_enter_context(ret, &context);

	if (error)
		return error;
	if (!cuda_memory_find(*ret, address, bytes, ret_block, &range))
		return cuda_leave(*ret, CUDA_ERROR_INVALID_VALUE);
	error = cuda_error_of(client_card_state(
		&(*ret)->client, (*ret)->devices[(*ret_block)->context->device].info.minor, &now));
	return error ? cuda_leave(*ret, error) : CUDA_SUCCESS;
}

enum cudaError_enum cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address)
{
	struct cuda_state *cuda;
	struct CUctx_st *context;
	struct cuda_block *block;
	struct cuda_range *range;
	enum cudaError_enum error = cuda_enter_context(&cuda, &context);

	if (error)
		return error;
	if (!cuda_memory_find(cuda, address, 1, &block, &range))
		return cuda_leave(cuda, CUDA_ERROR_NOT_FOUND);
	if (base)
		*base = range->address;
	if (bytes)
		*bytes = range->size;
	return cuda_leave(cuda, CUDA_SUCCESS);
}

enum cudaError_enum cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
	struct cuda_state *cuda;
	struct cuda_block *block;
	enum cudaError_enum error = enter_range(to, bytes, &cuda, &block);

	if (error)
		return error;
	if (!from)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	return cuda_leave(cuda, cuda_content_write(&cuda->memory, block, to, from, bytes));
}

enum cudaError_enum cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
	struct cuda_state *cuda;
	struct cuda_block *block;
	enum cudaError_enum error = enter_range(from, bytes, &cuda, &block);

	if (error)
		return error;
	if (!to)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	cuda_content_read(block, from, to, bytes);
	return cuda_leave(cuda, CUDA_SUCCESS);
}

enum cudaError_enum cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes)
{
	unsigned char bounce[BOUNCE_SIZE];
	struct cuda_state *cuda;
	struct cuda_block *target, *source;
	struct cuda_range *range;
	enum cudaError_enum error = enter_range(to, bytes, &cuda, &target);

	if (error)
		return error;
	if (!cuda_memory_find(cuda, from, bytes, &source, &range))
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	while (bytes > 0 && !error) {
		size_t part = bytes < sizeof(bounce) ? bytes : sizeof(bounce);

		cuda_content_read(source, from, bounce, part);
		error = cuda_content_write(&cuda->memory, target, to, bounce, part);
		from += part;
		to += part;
		bytes -= part;
	}
	return cuda_leave(cuda, error);
}

static enum cudaError_enum set(uint64_t to, uint32_t word, size_t count, size_t width)
{
	struct cuda_state *cuda;
	struct cuda_block *block;
	enum cudaError_enum error;

	if (to % width != 0 || count > SIZE_MAX / width)
		return CUDA_ERROR_INVALID_VALUE;
	error = enter_range(to, count * width, &cuda, &block);
	if (error)
		return error;
	return cuda_leave(cuda, cuda_content_fill(&cuda->memory, block, to, word, count * width));
}

enum cudaError_enum cuMemsetD8_v2(uint64_t to, unsigned char value, size_t count)
{
	return set(to, value * UINT32_C(0x01010101), count, 1);
}

enum cudaError_enum cuMemsetD16_v2(uint64_t to, unsigned short value, size_t count)
{
	return set(to, value * UINT32_C(0x00010001), count, 2);
}

enum cudaError_enum cuMemsetD32_v2(uint64_t to, unsigned int value, size_t count)
{
	return set(to, value, count, 4);
}

/*
 * Nothing is queued here, so the forms for a default stream per thread do the same. They are functions of
 * their own and no aliases: all names of the real library have addresses of their own.
 */
#define SAME_PER_THREAD(name, parameters, arguments)                                              \
	extern __attribute__((visibility("default"))) enum cudaError_enum name##_ptds parameters; \
	enum cudaError_enum name##_ptds parameters                                                \
	{                                                                                         \
		return name arguments;                                                            \
	}

SAME_PER_THREAD(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes), (to, from, bytes))
SAME_PER_THREAD(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes), (to, from, bytes))
SAME_PER_THREAD(cuMemcpyDtoD_v2, (uint64_t to, uint64_t from, size_t bytes), (to, from, bytes))
SAME_PER_THREAD(cuMemsetD8_v2, (uint64_t to, unsigned char value, size_t count), (to, value, count))
SAME_PER_THREAD(cuMemsetD16_v2, (uint64_t to, unsigned short value, size_t count),
		(to, value, count))
SAME_PER_THREAD(cuMemsetD32_v2, (uint64_t to, unsigned int value, size_t count), (to, value, count))
