/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents of device memory, kept in this process chunk by chunk. A chunk that was only ever set
 * to one word costs nothing, so that a test can clear 30 GiB.
 */
#include "cuda_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void set_words(unsigned char *to, uint64_t address, uint32_t word, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (unsigned char)(word >> (8 * ((address + i) % 4)));
}

static bool repeats_byte(uint32_t word)
{
	return word == (word & 0xff) * UINT32_C(0x01010101);
}

static void fill(unsigned char *to, uint64_t address, uint32_t word, size_t bytes)
{
	if (repeats_byte(word))
		memset(to, (int)(word & 0xff), bytes);
	else
		set_words(to, address, word, bytes);
}

static void drop_bytes(struct cuda_memory *memory, struct cuda_chunk *chunk)
{
	if (!chunk->bytes)
		return;
	munmap(chunk->bytes, CUDA_CHUNK_SIZE);
	chunk->bytes = NULL;
	memory->chunks_held--;
}

/* Gives the chunk bytes of its own; they are zero from the start. */
static bool hold_bytes(struct cuda_memory *memory, struct cuda_chunk *chunk)
{
	void *bytes;

	if (chunk->bytes)
		return true;
	if (memory->chunks_held >= CUDA_CHUNKS_MAX)
		return false;
	bytes = mmap(NULL, CUDA_CHUNK_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return false;
	chunk->bytes = bytes;
	memory->chunks_held++;
	if (chunk->fill)
		fill(chunk->bytes, 0, chunk->fill, CUDA_CHUNK_SIZE);
	return true;
}

static bool have_chunks(struct cuda_block *block)
{
	if (!block->chunks)
		block->chunks = calloc(block->size / CUDA_CHUNK_SIZE, sizeof(*block->chunks));
	return block->chunks != NULL;
}

/* How much of [offset, offset + bytes) is in the chunk of its first byte. */
static size_t part_of(uint64_t offset, uint64_t bytes)
{
	uint64_t room = CUDA_CHUNK_SIZE - offset % CUDA_CHUNK_SIZE;

	return (size_t)(bytes < room ? bytes : room);
}

enum cudaError_enum cuda_content_write(struct cuda_memory *memory, struct cuda_block *block,
				       uint64_t address, const unsigned char *from, size_t bytes)
{
	uint64_t offset = address - block->address;

	if (!have_chunks(block))
		return CUDA_ERROR_OPERATING_SYSTEM;
	while (bytes > 0) {
		struct cuda_chunk *chunk = &block->chunks[offset / CUDA_CHUNK_SIZE];
		size_t part = part_of(offset, bytes);

		if (!hold_bytes(memory, chunk))
			return CUDA_ERROR_OPERATING_SYSTEM;
		memcpy(chunk->bytes + offset % CUDA_CHUNK_SIZE, from, part);
		from += part;
		offset += part;
		bytes -= part;
	}
	return CUDA_SUCCESS;
}

void cuda_content_read(const struct cuda_block *block, uint64_t address, unsigned char *to,
		       size_t bytes)
{
	uint64_t offset = address - block->address;

	if (!block->chunks)
		memset(to, 0, bytes);
	while (block->chunks && bytes > 0) {
		const struct cuda_chunk *chunk = &block->chunks[offset / CUDA_CHUNK_SIZE];
		size_t part = part_of(offset, bytes);

		if (chunk->bytes)
			memcpy(to, chunk->bytes + offset % CUDA_CHUNK_SIZE, part);
		else
			fill(to, offset, chunk->fill, part);
		to += part;
		offset += part;
		bytes -= part;
	}
}

enum cudaError_enum cuda_content_fill(struct cuda_memory *memory, struct cuda_block *block,
				      uint64_t address, uint32_t word, uint64_t bytes)
{
	uint64_t offset = address - block->address;

	if (!have_chunks(block))
		return CUDA_ERROR_OPERATING_SYSTEM;
	while (bytes > 0) {
		struct cuda_chunk *chunk = &block->chunks[offset / CUDA_CHUNK_SIZE];
		size_t part = part_of(offset, bytes);

		if (part == CUDA_CHUNK_SIZE) {
			drop_bytes(memory, chunk);
			chunk->fill = word;
		} else if (chunk->bytes || chunk->fill != word) {
			if (!hold_bytes(memory, chunk))
				return CUDA_ERROR_OPERATING_SYSTEM;
			fill(chunk->bytes + offset % CUDA_CHUNK_SIZE, offset, word, part);
		}
		offset += part;
		bytes -= part;
	}
	return CUDA_SUCCESS;
}

void cuda_content_drop(struct cuda_memory *memory, struct cuda_block *block)
{
	for (uint64_t i = 0; block->chunks && i < block->size / CUDA_CHUNK_SIZE; i++)
		drop_bytes(memory, &block->chunks[i]);
}
