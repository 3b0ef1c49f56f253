/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory as the process sees it. The card gives blocks of 2 MiB; requests of less than 1 MiB
 * share one, as with the real driver, so that a thousand small ones do not fill a card. Addresses
 * only rise: blocks and ranges stay sorted, and a freed address is never given again.
 */
#include "cuda_state.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE    (UINT64_C(2) << 20)
#define SMALL_LIMIT   (UINT64_C(1) << 20)
#define SMALL_STEP    512
#define FIRST_ADDRESS UINT64_C(0x200000000000)
#define ADDRESS_LIMIT UINT64_C(0x700000000000)

static void free_block(struct cuda_state *cuda, struct cuda_block *block)
{
	(void)client_free(&cuda->client, block->handle); /* gone with the card if it is lost */
	cuda_content_drop(&cuda->memory, block);
	free(block->chunks);
	free(block->ranges);
	free(block);
}

/* Makes room for one more pointer; false without memory or at the bound. */
static bool reserve_block(struct cuda_memory *memory)
{
	size_t capacity = memory->block_capacity ? memory->block_capacity * 2 : 64;
	struct cuda_block **blocks;

	if (memory->block_count < memory->block_capacity)
		return true;
	if (capacity > CUDA_BLOCKS_MAX)
		return false;
	blocks = realloc(memory->blocks, capacity * sizeof(struct cuda_block *));
	if (!blocks)
		return false;
	memory->blocks = blocks;
	memory->block_capacity = capacity;
	return true;
}

/* NULL with *error set when the card, the process or the addresses give no more. */
static struct cuda_block *new_block(struct cuda_state *cuda, struct CUctx_st *context,
				    uint64_t size, enum cudaError_enum *error)
{
	struct cuda_memory *memory = &cuda->memory;
	const struct cuda_device *device = &cuda->devices[context->device];
	struct cuda_block *block;
	enum sim_status status;

	*error = CUDA_ERROR_OUT_OF_MEMORY;
	if (memory->next_address == 0)
		memory->next_address = FIRST_ADDRESS;
	if (size > ADDRESS_LIMIT - memory->next_address || !reserve_block(memory))
		return NULL;
	block = calloc(1, sizeof(*block));
	if (!block)
		return NULL;
	status = client_alloc(&cuda->client, device->info.minor, device->instance, SIM_KIND_MEMORY,
			      size, &block->handle);
	if (status != SIM_OK) {
		*error = cuda_error_of(status);
		free(block);
		return NULL;
	}
	block->address = memory->next_address;
	block->size = size;
	block->context = context;
	memory->next_address += size + BLOCK_SIZE; /* what runs over an end finds nothing */
	memory->blocks[memory->block_count++] = block;
	return block;
}

static void remove_block(struct cuda_state *cuda, struct cuda_block *block)
{
	struct cuda_memory *memory = &cuda->memory;
	size_t i = 0;

	while (memory->blocks[i] != block)
		i++;
	memmove(&memory->blocks[i], &memory->blocks[i + 1],
		(memory->block_count - i - 1) * sizeof(struct cuda_block *));
	memory->block_count--;
	free_block(cuda, block);
}

static struct cuda_block *shared_block(struct cuda_memory *memory, const struct CUctx_st *context,
				       uint64_t size)
{
	for (size_t i = memory->block_count; i > 0; i--) {
		struct cuda_block *block = memory->blocks[i - 1];

		if (block->shared && block->context == context &&
		    block->filled + size <= block->size)
			return block;
	}
	return NULL;
}

static bool add_range(struct cuda_block *block, uint64_t address, uint64_t size)
{
	size_t capacity = block->range_capacity ? block->range_capacity * 2 : 1;
	struct cuda_range *ranges;

	if (block->range_count == block->range_capacity) {
		ranges = realloc(block->ranges, capacity * sizeof(*ranges));
		if (!ranges)
			return false;
		block->ranges = ranges;
		block->range_capacity = capacity;
	}
	block->ranges[block->range_count++] =
		(struct cuda_range){ .address = address, .size = size, .live = true };
	block->live_count++;
	return true;
}

enum cudaError_enum cuda_memory_alloc(struct cuda_state *cuda, struct CUctx_st *context,
				      size_t bytes, uint64_t *ret)
{
	bool small = bytes < SMALL_LIMIT;
	uint64_t step = small ? SMALL_STEP : BLOCK_SIZE, size, address;
	struct cuda_block *block;
	enum cudaError_enum error;

	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (bytes > ADDRESS_LIMIT)
		return CUDA_ERROR_OUT_OF_MEMORY;
	size = (bytes + step - 1) / step * step;
	block = small ? shared_block(&cuda->memory, context, size) : NULL;
	if (!block) {
		block = new_block(cuda, context, small ? BLOCK_SIZE : size, &error);
		if (!block)
			return error;
		block->shared = small;
	}
	address = block->address + block->filled;
	if (!add_range(block, address, bytes)) {
		if (block->live_count == 0)
			remove_block(cuda, block);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	block->filled += size;
	*ret = address;
	return CUDA_SUCCESS;
}

bool cuda_memory_find(struct cuda_state *cuda, uint64_t address, uint64_t bytes,
		      struct cuda_block **ret_block, struct cuda_range **ret_range)
{
	struct cuda_memory *memory = &cuda->memory;
	size_t low = 0, high = memory->block_count;
	struct cuda_block *block;
	struct cuda_range *range;

	while (low < high) { /* to the first block behind the address */
		size_t middle = low + (high - low) / 2;

		if (memory->blocks[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	block = memory->blocks[low - 1];
	for (low = 0, high = block->range_count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (block->ranges[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	range = &block->ranges[low - 1];
	if (!range->live || address - range->address > range->size ||
	    bytes > range->size - (address - range->address))
		return false;
	*ret_block = block;
	*ret_range = range;
	return true;
}

enum cudaError_enum cuda_memory_free(struct cuda_state *cuda, uint64_t address)
{
	struct cuda_block *block;
	struct cuda_range *range;

	if (address == 0)
		return CUDA_SUCCESS;
	if (!cuda_memory_find(cuda, address, 1, &block, &range) || range->address != address)
		return CUDA_ERROR_INVALID_VALUE;
	range->live = false;
	if (--block->live_count == 0)
		remove_block(cuda, block);
	return CUDA_SUCCESS;
}

void cuda_memory_free_context(struct cuda_state *cuda, const struct CUctx_st *context)
{
	struct cuda_memory *memory = &cuda->memory;
	size_t kept = 0;

	for (size_t i = 0; i < memory->block_count; i++) {
		struct cuda_block *block = memory->blocks[i];

		if (block->context == context)
			free_block(cuda, block);
		else
			memory->blocks[kept++] = block;
	}
	memory->block_count = kept;
}
