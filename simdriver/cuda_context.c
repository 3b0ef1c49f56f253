/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_state.h"

/* The calling thread's contexts, the current one last. */
static __thread struct {
	struct CUctx_st *stack[CUDA_STACK_MAX];
	int depth;
} thread;

static bool is_live(struct cuda_state *cuda, const struct CUctx_st *context)
{
	for (int i = 0; i < CUDA_CONTEXTS_MAX; i++)
		if (context == &cuda->contexts[i])
			return context->live;
	return false;
}

enum cudaError_enum cuda_enter_context(struct cuda_state **ret, struct CUctx_st **ret_context)
{
	enum cudaError_enum error = cuda_enter(ret);

	if (error)
		return error;
	*ret_context = thread.depth > 0 ? thread.stack[thread.depth - 1] : NULL;
	if (!*ret_context)
		return cuda_leave(*ret, CUDA_ERROR_INVALID_CONTEXT);
	if (!is_live(*ret, *ret_context))
		return cuda_leave(*ret, CUDA_ERROR_CONTEXT_IS_DESTROYED);
	return CUDA_SUCCESS;
}

static enum cudaError_enum make(struct cuda_state *cuda, int device, unsigned flags, bool primary,
				struct CUctx_st **ret)
{
	struct cuda_device *found = cuda_device(cuda, device);
	struct CUctx_st *context = NULL;
	enum sim_status status;
	uint64_t handle;

	if (!found)
		return CUDA_ERROR_INVALID_DEVICE;
	for (int i = 0; i < CUDA_CONTEXTS_MAX && !context; i++)
		if (!cuda->contexts[i].live)
			context = &cuda->contexts[i];
	if (!context)
		return CUDA_ERROR_OUT_OF_MEMORY;
	status = client_alloc(&cuda->client, found->info.minor, found->instance, SIM_KIND_CONTEXT,
			      found->info.context_bytes, &handle);
	if (status != SIM_OK)
		return cuda_error_of(status);
	*context = (struct CUctx_st){
		.live = true, .primary = primary, .device = device, .flags = flags, .handle = handle
	};
	*ret = context;
	return CUDA_SUCCESS;
}

static void destroy(struct cuda_state *cuda, struct CUctx_st *context)
{
	cuda_memory_free_context(cuda, context);
	(void)client_free(&cuda->client, context->handle); /* gone with the card if it is lost */
	context->live = false;
	if (thread.depth > 0 && thread.stack[thread.depth - 1] == context)
		thread.depth--;
}

static enum cudaError_enum push(struct CUctx_st *context)
{
	if (thread.depth == CUDA_STACK_MAX)
		return CUDA_ERROR_OUT_OF_MEMORY;
	thread.stack[thread.depth++] = context;
	return CUDA_SUCCESS;
}

enum cudaError_enum cuCtxCreate_v2(struct CUctx_st **context, unsigned int flags, int device)
{
	struct cuda_state *cuda;
	struct CUctx_st *made;
	enum cudaError_enum error = cuda_enter(&cuda);

	if (error)
		return error;
	if (!context || flags > 0x7f)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	if (thread.depth == CUDA_STACK_MAX)
		return cuda_leave(cuda, CUDA_ERROR_OUT_OF_MEMORY);
	error = make(cuda, device, flags, false, &made);
	if (!error) {
		*context = made;
		error = push(made);
	}
	return cuda_leave(cuda, error);
}

enum cudaError_enum cuCtxCreate(struct CUctx_st **context, unsigned int flags, int device)
{
	return cuCtxCreate_v2(context, flags, device);
}

enum cudaError_enum cuCtxDestroy_v2(struct CUctx_st *context)
{
	struct cuda_state *cuda;
	enum cudaError_enum error = cuda_enter(&cuda);

	if (error)
		return error;
	if (!is_live(cuda, context) || context->primary)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_CONTEXT);
	destroy(cuda, context);
	return cuda_leave(cuda, CUDA_SUCCESS);
}

enum cudaError_enum cuCtxDestroy(struct CUctx_st *context)
{
	return cuCtxDestroy_v2(context);
}

enum cudaError_enum cuCtxSetCurrent(struct CUctx_st *context)
{
	struct cuda_state *cuda;
	enum cudaError_enum error = cuda_enter(&cuda);

	if (error)
		return error;
	if (context && !is_live(cuda, context))
		return cuda_leave(cuda, CUDA_ERROR_INVALID_CONTEXT);
	if (thread.depth > 0)
		thread.depth--;
	if (context)
		error = push(context);
	return cuda_leave(cuda, error);
}

enum cudaError_enum cuCtxGetCurrent(struct CUctx_st **context)
{
	struct cuda_state *cuda;
	enum cudaError_enum error = cuda_enter(&cuda);

	if (error)
		return error;
	if (!context)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	*context = thread.depth > 0 ? thread.stack[thread.depth - 1] : NULL;
	return cuda_leave(cuda, CUDA_SUCCESS);
}

enum cudaError_enum cuCtxGetDevice(int *device)
{
	struct cuda_state *cuda;
	struct CUctx_st *context;
	enum cudaError_enum error = cuda_enter_context(&cuda, &context);

	if (error)
		return error;
	if (!device)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	*device = context->device;
	return cuda_leave(cuda, CUDA_SUCCESS);
}

enum cudaError_enum cuCtxPushCurrent_v2(struct CUctx_st *context)
{
	struct cuda_state *cuda;
	enum cudaError_enum error = cuda_enter(&cuda);

	if (error)
		return error;
	error = is_live(cuda, context) ? push(context) : CUDA_ERROR_INVALID_CONTEXT;
	return cuda_leave(cuda, error);
}

enum cudaError_enum cuCtxPushCurrent(struct CUctx_st *context)
{
	return cuCtxPushCurrent_v2(context);
}

enum cudaError_enum cuCtxPopCurrent_v2(struct CUctx_st **context)
{
	struct cuda_state *cuda;
	struct CUctx_st *current;
	enum cudaError_enum error = cuda_enter_context(&cuda, &current);

	if (error)
		return error;
	if (context)
		*context = current;
	thread.depth--;
	return cuda_leave(cuda, CUDA_SUCCESS);
}

enum cudaError_enum cuCtxPopCurrent(struct CUctx_st **context)
{
	return cuCtxPopCurrent_v2(context);
}

enum cudaError_enum cuCtxSynchronize(void)
{
	struct cuda_state *cuda;
	struct CUctx_st *context;
	enum cudaError_enum error = cuda_enter_context(&cuda, &context);

	return error ? error : cuda_leave(cuda, CUDA_SUCCESS);
}

enum cudaError_enum cuDevicePrimaryCtxRetain(struct CUctx_st **context, int device)
{
	struct cuda_state *cuda;
	struct cuda_device *found;
	enum cudaError_enum error = cuda_enter(&cuda);

	if (error)
		return error;
	found = cuda_device(cuda, device);
	if (!found || !context)
		return cuda_leave(cuda,
				  found ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE);
	if (!found->primary)
		error = make(cuda, device, 0, true, &found->primary);
	if (!error) {
		found->primary_references++;
		*context = found->primary;
	}
	return cuda_leave(cuda, error);
}

static enum cudaError_enum drop_primary(int device, bool reset)
{
	struct cuda_state *cuda;
	struct cuda_device *found;
	enum cudaError_enum error = cuda_enter(&cuda);

	if (error)
		return error;
	found = cuda_device(cuda, device);
	if (!found)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_DEVICE);
	if (!reset && found->primary_references == 0)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_CONTEXT);
	if (!reset)
		found->primary_references--;
	if (found->primary && (reset || found->primary_references == 0)) {
		destroy(cuda, found->primary);
		found->primary = NULL;
		found->primary_references = 0;
	}
	return cuda_leave(cuda, CUDA_SUCCESS);
}

enum cudaError_enum cuDevicePrimaryCtxRelease_v2(int device)
{
	return drop_primary(device, false);
}

enum cudaError_enum cuDevicePrimaryCtxRelease(int device)
{
	return drop_primary(device, false);
}

enum cudaError_enum cuDevicePrimaryCtxReset_v2(int device)
{
	return drop_primary(device, true);
}

enum cudaError_enum cuDevicePrimaryCtxReset(int device)
{
	return drop_primary(device, true);
}

enum cudaError_enum cuDevicePrimaryCtxGetState(int device, unsigned int *flags, int *active)
{
	struct cuda_state *cuda;
	struct cuda_device *found;
	enum cudaError_enum error = cuda_enter(&cuda);

	if (error)
		return error;
	found = cuda_device(cuda, device);
	if (!found)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_DEVICE);
	if (!flags || !active)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	*flags = found->primary ? found->primary->flags : 0;
	*active = found->primary != NULL;
	return cuda_leave(cuda, CUDA_SUCCESS);
}
