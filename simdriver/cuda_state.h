/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated libcuda. A process has one connection to the module, made by cuInit; the memory of
 * a card that it holds belongs to that connection. One lock guards everything.
 */
#pragma once

#pragma GCC visibility push(default)
#include "abi/cuda.h"
#pragma GCC visibility pop

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client.h"

#define CUDA_CONTEXTS_MAX 64
#define CUDA_STACK_MAX    32
#define CUDA_BLOCKS_MAX   (1U << 20)
#define CUDA_CHUNKS_MAX   1024 /* of 2 MiB: as much of the contents is kept in this process */

struct CUctx_st {
	bool live;
	bool primary;
	int device;
	unsigned flags;
	uint64_t handle; /* of the memory that the context itself takes */
};

/* What a process could get: a card, or a MIG device of one in MIG mode. */
struct cuda_candidate {
	struct sim_card_info
		info;       /* of a MIG device: its own name, UUID, memory, multiprocessors */
	uint32_t instance;  /* SIM_INSTANCE(), or 0 */
	int ordinal;        /* as a number in CUDA_VISIBLE_DEVICES; -1: only its UUID names it */
	char card_uuid[48]; /* of a MIG device */
};

#define CUDA_CANDIDATES_MAX (SIM_CARDS_MAX * SIM_COMPUTE_INSTANCES_MAX)

struct cuda_device {
	struct sim_card_info info;
	uint32_t instance;
	struct CUctx_st *primary; /* NULL: not active */
	unsigned primary_references;
	unsigned char uuid[16];
	unsigned char whole_uuid[16]; /* of the card */
};

/* 2 MiB of contents: bytes, or while nobody needs them, the word that they repeat. */
struct cuda_chunk {
	unsigned char *bytes;
	uint32_t fill;
};

struct cuda_range {
	uint64_t address;
	uint64_t size;
	bool live;
};

/* What the card gives: a multiple of 2 MiB. Small allocations of a context share a block. */
struct cuda_block {
	uint64_t address;
	uint64_t size;
	uint64_t handle;
	struct CUctx_st *context;
	struct cuda_chunk *chunks;
	struct cuda_range *ranges; /* by rising address */
	size_t range_count, range_capacity;
	size_t live_count;
	uint64_t filled; /* bytes handed out of a shared block */
	bool shared;
};

struct cuda_memory {
	struct cuda_block **blocks; /* by rising address */
	size_t block_count, block_capacity;
	uint64_t next_address;
	size_t chunks_held;
};

struct cuda_state {
	pthread_mutex_t lock;
	bool fork_watched;
	bool initialized;
	bool forked; /* this process got the state from its parent and must not use it */
	struct client client;
	int device_count;
	struct cuda_device devices[SIM_CARDS_MAX];
	struct CUctx_st contexts[CUDA_CONTEXTS_MAX];
	struct cuda_memory memory;
};

/*
 * Every call between cuda_enter and cuda_leave, which returns `error` again. cuda_enter fails with
 * CUDA_ERROR_NOT_INITIALIZED, also in a forked child, and holds nothing then.
 */
enum cudaError_enum cuda_enter(struct cuda_state **ret);
enum cudaError_enum cuda_leave(struct cuda_state *cuda, enum cudaError_enum error);

/* The same, with the calling thread's context: CUDA_ERROR_INVALID_CONTEXT when it has none. */
enum cudaError_enum cuda_enter_context(struct cuda_state **ret, struct CUctx_st **ret_context);

enum cudaError_enum cuda_error_of(enum sim_status status);

/*
 * Keeps of the candidates those that CUDA_VISIBLE_DEVICES names, in its order. A process has cards, or one
 * MIG device (CUDA C++ Programming Guide; MIG User Guide, CUDA device enumeration).
 */
int cuda_visible(const struct cuda_candidate *candidates, int count, const char *wanted,
		 int ret[SIM_CARDS_MAX]);
/* Adds the card, or its MIG devices that the process may use. Returns how many there are then. */
int cuda_candidates_add(struct client *client, const struct sim_card_info *card, int ordinal,
			struct cuda_candidate *candidates, int count);

/* NULL for an ordinal out of range. */
struct cuda_device *cuda_device(struct cuda_state *cuda, int device);

/* A range of `context`; gone with cuda_memory_free or with the context. */
enum cudaError_enum cuda_memory_alloc(struct cuda_state *cuda, struct CUctx_st *context,
				      size_t bytes, uint64_t *ret);
enum cudaError_enum cuda_memory_free(struct cuda_state *cuda, uint64_t address);
void cuda_memory_free_context(struct cuda_state *cuda, const struct CUctx_st *context);

/* The block and range that hold [address, address + bytes); false when no live one does. */
bool cuda_memory_find(struct cuda_state *cuda, uint64_t address, uint64_t bytes,
		      struct cuda_block **ret_block, struct cuda_range **ret_range);

/* Contents of a part of a block. CUDA_ERROR_OPERATING_SYSTEM when no more is kept. */
enum cudaError_enum cuda_content_write(struct cuda_memory *memory, struct cuda_block *block,
				       uint64_t address, const unsigned char *from, size_t bytes);
void cuda_content_read(const struct cuda_block *block, uint64_t address, unsigned char *to,
		       size_t bytes);
enum cudaError_enum cuda_content_fill(struct cuda_memory *memory, struct cuda_block *block,
				      uint64_t address, uint32_t word, uint64_t bytes);
void cuda_content_drop(struct cuda_memory *memory, struct cuda_block *block);
#define CUDA_CHUNK_SIZE (UINT64_C(2) << 20)

/* What every name answers that this library has no code for. */
enum cudaError_enum cuda_unsupported(void);
