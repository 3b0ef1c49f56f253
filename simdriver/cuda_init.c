/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cuda_state state = { .lock = PTHREAD_MUTEX_INITIALIZER, .client = CLIENT_INIT };

/*
 * A forked child has copies of the parent's files, and so keeps its memory on the card as long as
 * it lives or until it execs, but it cannot use them: as with the real driver.
 */
static void after_fork_in_child(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	state.lock = unlocked;
	state.forked = state.client.socket >= 0;
}

static bool of_this_process(void)
{
	return !state.forked && (state.client.socket < 0 || state.client.owner == getpid());
}

enum cudaError_enum cuda_enter(struct cuda_state **ret)
{
	pthread_mutex_lock(&state.lock);
	if (state.initialized && of_this_process()) {
		*ret = &state;
		return CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&state.lock);
	return CUDA_ERROR_NOT_INITIALIZED;
}

enum cudaError_enum cuda_leave(struct cuda_state *cuda, enum cudaError_enum error)
{
	pthread_mutex_unlock(&cuda->lock);
	return error;
}

enum cudaError_enum cuda_unsupported(void)
{
	struct cuda_state *cuda;
	enum cudaError_enum error = cuda_enter(&cuda);

	return error ? error : cuda_leave(cuda, CUDA_ERROR_NOT_SUPPORTED);
}

enum cudaError_enum cuda_error_of(enum sim_status status)
{
	static const enum cudaError_enum errors[SIM_STATUS_COUNT] = {
		[SIM_OK] = CUDA_SUCCESS,
		[SIM_NO_DRIVER] = CUDA_ERROR_NO_DEVICE,
		[SIM_NO_PERMISSION] = CUDA_ERROR_NO_DEVICE,
		[SIM_MISMATCH] = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
		[SIM_NO_CARD] = CUDA_ERROR_INVALID_DEVICE,
		[SIM_CARD_LOST] = CUDA_ERROR_UNKNOWN,
		[SIM_NO_MEMORY] = CUDA_ERROR_OUT_OF_MEMORY,
		[SIM_NO_HANDLE] = CUDA_ERROR_INVALID_VALUE,
		[SIM_BAD_REQUEST] = CUDA_ERROR_INVALID_VALUE,
		[SIM_TIMEOUT] = CUDA_ERROR_TIMEOUT,
		[SIM_NOT_SUPPORTED] = CUDA_ERROR_NOT_SUPPORTED,
		[SIM_IN_USE] = CUDA_ERROR_UNKNOWN,
		[SIM_NO_ROOM] = CUDA_ERROR_UNKNOWN,
		[SIM_NO_INSTANCE] = CUDA_ERROR_INVALID_DEVICE,
	};

	return (unsigned)status < SIM_STATUS_COUNT ? errors[status] : CUDA_ERROR_UNKNOWN;
}

static int hex_value(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", or "MIG-" and the same, to its 16 bytes */
static void parse_uuid(const char *text, unsigned char uuid[16])
{
	size_t nibbles = 0;

	if (strncmp(text, "GPU-", 4) == 0 || strncmp(text, "MIG-", 4) == 0)
		text += 4;
	for (; *text && nibbles < 32; text++) {
		int value = hex_value(*text);

		if (value < 0)
			continue;
		if (nibbles % 2 == 0)
			uuid[nibbles / 2] = (unsigned char)(value << 4);
		else
			uuid[nibbles / 2] |= (unsigned char)value;
		nibbles++;
	}
}

static enum cudaError_enum find_candidates(struct cuda_candidate *candidates, int *ret_count)
{
	uint32_t minors[SIM_CARDS_MAX];
	size_t found = client_cards(&state.client, minors);
	int count = 0, cards = 0;

	for (size_t i = 0; i < found; i++) {
		struct sim_card_info info;
		struct sim_card_state now;
		enum sim_status status = client_card_info(&state.client, minors[i], &info);

		if (status == SIM_OK) /* which a lost card answers too */
			status = client_card_state(&state.client, minors[i], &now);
		if (status == SIM_OK)
			count = cuda_candidates_add(&state.client, &info, cards++, candidates,
						    count);
		else if (status != SIM_CARD_LOST && status != SIM_NO_CARD)
			return cuda_error_of(status);
	}
	*ret_count = count;
	return CUDA_SUCCESS;
}

static void take_devices(const struct cuda_candidate *candidates, const int *visible, int count)
{
	memset(state.devices, 0, sizeof(state.devices));
	for (int i = 0; i < count; i++) {
		const struct cuda_candidate *from = &candidates[visible[i]];

		state.devices[i].info = from->info;
		state.devices[i].instance = from->instance;
		parse_uuid(from->info.uuid, state.devices[i].uuid);
		parse_uuid(from->card_uuid, state.devices[i].whole_uuid);
	}
	state.device_count = count;
}

static enum cudaError_enum find_devices(void)
{
	struct cuda_candidate *candidates = calloc(CUDA_CANDIDATES_MAX, sizeof(*candidates));
	int visible[SIM_CARDS_MAX], count = 0;
	enum cudaError_enum error = CUDA_ERROR_OUT_OF_MEMORY;

	if (candidates != NULL)
		error = find_candidates(candidates, &count);
	if (!error)
		count = cuda_visible(candidates, count, getenv("CUDA_VISIBLE_DEVICES"), visible);
	if (!error && count == 0)
		error = CUDA_ERROR_NO_DEVICE;
	if (!error)
		take_devices(candidates, visible, count);
	free(candidates);
	return error;
}

static enum cudaError_enum init_locked(void)
{
	enum cudaError_enum error;

	if (!of_this_process())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (state.initialized)
		return CUDA_SUCCESS;
	if (!state.fork_watched && pthread_atfork(NULL, NULL, after_fork_in_child) != 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	state.fork_watched = true;
	error = cuda_error_of(client_open(&state.client, &state, NULL));
	if (!error)
		error = find_devices();
	if (error)
		client_close(&state.client);
	state.initialized = !error;
	return error;
}

enum cudaError_enum cuInit(unsigned int flags)
{
	enum cudaError_enum error;

	if (flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&state.lock);
	error = init_locked();
	pthread_mutex_unlock(&state.lock);
	return error;
}

enum cudaError_enum cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = LIBRARY_CUDA_VERSION;
	return CUDA_SUCCESS;
}
