/* SPDX-License-Identifier: Apache-2.0 */
/* MIG mode, and GPU and compute instances as the administrator sees them. */
#include "nvml_library.h"

#include <stdio.h>
#include <string.h>

EXPORT enum nvml_return nvmlDeviceGetMigMode(struct nvmlDevice_st *device, unsigned int *current,
					     unsigned int *pending)
{
	struct nvml_view view;
	enum nvml_return result = nvml_begin_mig(device, NVML_ANYBODY, false, &view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (current == NULL || pending == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*current = view.layout.current;
	*pending = view.layout.pending;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceSetMigMode(struct nvmlDevice_st *device, unsigned int mode,
					     enum nvml_return *activation)
{
	struct nvml_view view;
	enum nvml_return result = nvml_begin_mig(device, NVML_CONFIGURE, false, &view);
	enum sim_status status;

	if (result != NVML_SUCCESS)
		return result;
	if (mode > NVML_DEVICE_MIG_ENABLE || activation == NULL) {
		nvml_end();
		return NVML_ERROR_INVALID_ARGUMENT;
	}
	status =
		client_mig_change(&nvml.client, SIM_MIG_MODE, device->info.minor, 0, 0, mode, NULL);
	nvml_end();
	*activation = nvml_from_status(status);
	/* What could not be done now is pending, and no failure of the call. */
	return status == SIM_IN_USE ? NVML_SUCCESS : *activation;
}

static struct nvmlGpuInstance_st *gpu_handle(struct nvmlDevice_st *card, uint32_t id)
{
	struct nvmlGpuInstance_st *gpu = &nvml.gpus[card - nvml.cards][id];

	*gpu = (struct nvmlGpuInstance_st){ .card = card, .id = id };
	return gpu;
}

static struct nvmlComputeInstance_st *compute_handle(struct nvmlGpuInstance_st *gpu, uint32_t id)
{
	struct nvmlComputeInstance_st *compute =
		&nvml.computes[gpu->card - nvml.cards][gpu->id][id];

	*compute = (struct nvmlComputeInstance_st){ .gpu = gpu, .id = id };
	return compute;
}

/* Is it one that was given out? */
static bool is_gpu(const struct nvmlGpuInstance_st *gpu)
{
	const struct nvmlGpuInstance_st *first = &nvml.gpus[0][0];

	return gpu >= first && gpu < first + SIM_CARDS_MAX * CAPABILITY_GPUS && gpu->card != NULL;
}

static bool is_compute(const struct nvmlComputeInstance_st *compute)
{
	const struct nvmlComputeInstance_st *first = &nvml.computes[0][0][0];

	return compute >= first &&
	       compute < first + SIM_CARDS_MAX * CAPABILITY_GPUS * CAPABILITY_COMPUTES &&
	       compute->gpu != NULL;
}

/* Begins a call on a GPU instance that exists. */
static enum nvml_return begin_gpu(const struct nvmlGpuInstance_st *gpu, enum nvml_right right,
				  struct nvml_view *view)
{
	enum nvml_return result;

	if (!is_gpu(gpu))
		return NVML_ERROR_INVALID_ARGUMENT;
	result = nvml_begin_mig(gpu->card, right, true, view);
	if (result != NVML_SUCCESS)
		return result;
	view->gpu = mig_gpu_find(&view->layout, gpu->id);
	if (view->gpu != NULL)
		view->profile = mig_profile_by_id(view->table, view->gpu->profile_id);
	if (view->profile != NULL)
		return NVML_SUCCESS;
	nvml_end();
	return NVML_ERROR_INVALID_ARGUMENT;
}

/* PLACEMENT: NULL, or where. */
static enum nvml_return create_gpu(struct nvmlDevice_st *device, unsigned id,
				   const struct nvml_gpu_instance_placement *placement,
				   struct nvmlGpuInstance_st **ret)
{
	const struct mig_gpu_profile *profile;
	struct nvml_view view;
	uint32_t made = 0;
	enum nvml_return result = nvml_begin_mig(device, NVML_CONFIGURE, true, &view);

	if (result != NVML_SUCCESS)
		return result;
	profile = mig_profile_by_id(view.table, id);
	if (ret == NULL || profile == NULL ||
	    (placement != NULL && placement->size != profile->size))
		result = NVML_ERROR_INVALID_ARGUMENT;
	else
		result = nvml_from_status(client_mig_change(
			&nvml.client, SIM_GPU_CREATE, device->info.minor, 0, id,
			placement != NULL ? placement->start : MIG_ANYWHERE, &made));
	if (result == NVML_ERROR_UNKNOWN) /* a place that the profile does not have */
		result = NVML_ERROR_INVALID_ARGUMENT;
	if (result == NVML_SUCCESS)
		*ret = gpu_handle(device, made);
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlDeviceCreateGpuInstance(struct nvmlDevice_st *device, unsigned int id,
						    struct nvmlGpuInstance_st **gpu)
{
	return create_gpu(device, id, NULL, gpu);
}

EXPORT enum nvml_return nvmlDeviceCreateGpuInstanceWithPlacement(
	struct nvmlDevice_st *device, unsigned int id,
	const struct nvml_gpu_instance_placement *placement, struct nvmlGpuInstance_st **gpu)
{
	return placement != NULL ? create_gpu(device, id, placement, gpu)
				 : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlGpuInstanceDestroy(struct nvmlGpuInstance_st *gpu)
{
	struct nvml_view view;
	enum nvml_return result = begin_gpu(gpu, NVML_CONFIGURE, &view);

	if (result != NVML_SUCCESS)
		return result;
	result = nvml_from_status(client_mig_change(&nvml.client, SIM_GPU_DESTROY,
						    gpu->card->info.minor,
						    SIM_INSTANCE_GPU_ONLY(gpu->id), 0, 0, NULL));
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetGpuInstances(struct nvmlDevice_st *device, unsigned int id,
						  struct nvmlGpuInstance_st **gpus,
						  unsigned int *count)
{
	struct nvml_view view;
	unsigned found = 0;
	enum nvml_return result = nvml_begin_mig(device, NVML_MONITOR, true, &view);

	if (result != NVML_SUCCESS)
		return result;
	if (gpus == NULL || count == NULL || mig_profile_by_id(view.table, id) == NULL)
		result = NVML_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; result == NVML_SUCCESS && i < view.layout.gpu_count; i++) {
		if (view.layout.gpus[i].profile_id == id)
			gpus[found++] = gpu_handle(device, view.layout.gpus[i].id);
	}
	nvml_end();
	if (result == NVML_SUCCESS)
		*count = found;
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetGpuInstanceById(struct nvmlDevice_st *device, unsigned int id,
						     struct nvmlGpuInstance_st **gpu)
{
	struct nvml_view view;
	enum nvml_return result = nvml_begin_mig(device, NVML_MONITOR, true, &view);

	if (result != NVML_SUCCESS)
		return result;
	if (gpu == NULL)
		result = NVML_ERROR_INVALID_ARGUMENT;
	else if (mig_gpu_find(&view.layout, id) == NULL)
		result = NVML_ERROR_NOT_FOUND;
	else
		*gpu = gpu_handle(device, id);
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlGpuInstanceGetInfo(struct nvmlGpuInstance_st *gpu,
					       struct nvml_gpu_instance_info *info)
{
	struct nvml_view view;
	enum nvml_return result = begin_gpu(gpu, NVML_MONITOR, &view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (info == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*info = (struct nvml_gpu_instance_info){ .device = gpu->card,
						 .id = gpu->id,
						 .profileId = view.gpu->profile_id,
						 .placement = { .start = view.gpu->start,
								.size = view.gpu->size } };
	return NVML_SUCCESS;
}

/* Holds nothing after it. */
static enum nvml_return find_compute_profile(const struct nvmlGpuInstance_st *gpu, unsigned number,
					     unsigned engine, struct nvml_view *view,
					     struct nvml_compute_instance_profile *ret)
{
	uint32_t slices;
	enum nvml_return result = begin_gpu(gpu, NVML_MONITOR, view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (number >= MIG_COMPUTE_PROFILES || engine != NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED)
		return NVML_ERROR_INVALID_ARGUMENT;
	slices = mig_compute_slices(view->profile, number);
	if (slices == 0)
		return NVML_ERROR_NOT_SUPPORTED;
	*ret = (struct nvml_compute_instance_profile){
		.id = number,
		.sliceCount = slices,
		.instanceCount = mig_compute_most(view->profile, slices),
		.multiprocessorCount =
			view->profile->multiprocessors * slices / view->profile->slices,
		.sharedCopyEngineCount = view->profile->copy_engines,
		.sharedDecoderCount = view->profile->decoders,
		.sharedJpegCount = view->profile->jpegs,
		.sharedOfaCount = view->profile->ofas
	};
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlGpuInstanceGetComputeInstanceProfileInfo(
	struct nvmlGpuInstance_st *gpu, unsigned int number, unsigned int engine,
	struct nvml_compute_instance_profile *info)
{
	struct nvml_compute_instance_profile found;
	struct nvml_view view;
	enum nvml_return result = find_compute_profile(gpu, number, engine, &view, &found);

	if (result != NVML_SUCCESS)
		return result;
	if (info == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*info = found;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlGpuInstanceGetComputeInstanceProfileInfoV(
	struct nvmlGpuInstance_st *gpu, unsigned int number, unsigned int engine,
	struct nvml_compute_instance_profile_v2 *info)
{
	struct nvml_compute_instance_profile found;
	struct nvml_view view;
	char name[32];
	enum nvml_return result = find_compute_profile(gpu, number, engine, &view, &found);

	if (result != NVML_SUCCESS)
		return result;
	if (info == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (info->version != nvmlComputeInstanceProfileInfo_v2)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	mig_device_name(view.profile, found.sliceCount, name, sizeof(name));
	memcpy(&info->id, &found, sizeof(found));
	memset(info->name, 0, sizeof(info->name));
	snprintf(info->name, sizeof(info->name), "MIG %s", name);
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlGpuInstanceGetComputeInstancePossiblePlacements(
	struct nvmlGpuInstance_st *gpu, unsigned int id,
	struct nvml_compute_instance_placement *places, unsigned int *count)
{
	struct nvml_view view;
	uint32_t slices, found = 0;
	enum nvml_return result = begin_gpu(gpu, NVML_MONITOR, &view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	slices = mig_compute_slices(view.profile, id);
	if (count == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (slices == 0)
		return NVML_ERROR_NOT_SUPPORTED;
	for (uint32_t start = 0; start + slices <= view.profile->slices; start += slices, found++) {
		if (places != NULL)
			places[found] = (struct nvml_compute_instance_placement){ .start = start,
										  .size = slices };
	}
	*count = found;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlGpuInstanceGetComputeInstanceRemainingCapacity(
	struct nvmlGpuInstance_st *gpu, unsigned int id, unsigned int *count)
{
	struct nvml_view view;
	enum nvml_return result = begin_gpu(gpu, NVML_MONITOR, &view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (count == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (mig_compute_slices(view.profile, id) == 0)
		return NVML_ERROR_NOT_SUPPORTED;
	*count = mig_compute_room(&view.layout, view.table, gpu->id, id);
	return NVML_SUCCESS;
}

static enum nvml_return create_compute(struct nvmlGpuInstance_st *gpu, unsigned id, uint64_t start,
				       struct nvmlComputeInstance_st **ret)
{
	struct nvml_view view;
	uint32_t made = 0;
	enum nvml_return result = begin_gpu(gpu, NVML_CONFIGURE, &view);

	if (result != NVML_SUCCESS)
		return result;
	if (ret == NULL)
		result = NVML_ERROR_INVALID_ARGUMENT;
	else
		result = nvml_from_status(
			client_mig_change(&nvml.client, SIM_COMPUTE_CREATE, gpu->card->info.minor,
					  SIM_INSTANCE_GPU_ONLY(gpu->id), id, start, &made));
	if (result == NVML_ERROR_UNKNOWN)
		result = NVML_ERROR_INVALID_ARGUMENT;
	if (result == NVML_SUCCESS)
		*ret = compute_handle(gpu, made);
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlGpuInstanceCreateComputeInstance(
	struct nvmlGpuInstance_st *gpu, unsigned int id, struct nvmlComputeInstance_st **compute)
{
	return create_compute(gpu, id, MIG_ANYWHERE, compute);
}

EXPORT enum nvml_return nvmlGpuInstanceCreateComputeInstanceWithPlacement(
	struct nvmlGpuInstance_st *gpu, unsigned int id,
	const struct nvml_compute_instance_placement *placement,
	struct nvmlComputeInstance_st **compute)
{
	if (placement == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	return create_compute(gpu, id, placement->start, compute);
}

/* Begins a call on a compute instance that exists. */
static enum nvml_return begin_compute(const struct nvmlComputeInstance_st *compute,
				      enum nvml_right right, struct nvml_view *view)
{
	enum nvml_return result;

	if (!is_compute(compute))
		return NVML_ERROR_INVALID_ARGUMENT;
	result = begin_gpu(compute->gpu, right, view);
	if (result != NVML_SUCCESS)
		return result;
	view->compute = mig_compute_find(&view->layout, compute->gpu->id, compute->id);
	if (view->compute != NULL)
		return NVML_SUCCESS;
	nvml_end();
	return NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlComputeInstanceDestroy(struct nvmlComputeInstance_st *compute)
{
	struct nvml_view view;
	enum nvml_return result = begin_compute(compute, NVML_CONFIGURE, &view);

	if (result != NVML_SUCCESS)
		return result;
	result = nvml_from_status(
		client_mig_change(&nvml.client, SIM_COMPUTE_DESTROY, view.card->info.minor,
				  SIM_INSTANCE(compute->gpu->id, compute->id), 0, 0, NULL));
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlGpuInstanceGetComputeInstances(struct nvmlGpuInstance_st *gpu,
							   unsigned int id,
							   struct nvmlComputeInstance_st **computes,
							   unsigned int *count)
{
	struct nvml_view view;
	unsigned found = 0;
	enum nvml_return result = begin_gpu(gpu, NVML_MONITOR, &view);

	if (result != NVML_SUCCESS)
		return result;
	if (computes == NULL || count == NULL)
		result = NVML_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; result == NVML_SUCCESS && i < view.layout.compute_count; i++) {
		const struct sim_compute_instance *compute = &view.layout.computes[i];

		if (compute->gpu_instance == gpu->id && compute->profile == id)
			computes[found++] = compute_handle(gpu, compute->id);
	}
	nvml_end();
	if (result == NVML_SUCCESS)
		*count = found;
	return result;
}

EXPORT enum nvml_return nvmlGpuInstanceGetComputeInstanceById(
	struct nvmlGpuInstance_st *gpu, unsigned int id, struct nvmlComputeInstance_st **compute)
{
	struct nvml_view view;
	enum nvml_return result = begin_gpu(gpu, NVML_MONITOR, &view);

	if (result != NVML_SUCCESS)
		return result;
	if (compute == NULL)
		result = NVML_ERROR_INVALID_ARGUMENT;
	else if (mig_compute_find(&view.layout, gpu->id, id) == NULL)
		result = NVML_ERROR_NOT_FOUND;
	else
		*compute = compute_handle(gpu, id);
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlComputeInstanceGetInfo_v2(struct nvmlComputeInstance_st *compute,
						      struct nvml_compute_instance_info *info)
{
	struct nvml_view view;
	enum nvml_return result = begin_compute(compute, NVML_MONITOR, &view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (info == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*info = (struct nvml_compute_instance_info){ .device = view.card,
						     .gpuInstance = compute->gpu,
						     .id = compute->id,
						     .profileId = view.compute->profile,
						     .placement = { .start = view.compute->start,
								    .size = view.compute->size } };
	return NVML_SUCCESS;
}
