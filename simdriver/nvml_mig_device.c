/* SPDX-License-Identifier: Apache-2.0 */
/* MIG devices: compute instances, as handles that stand where cards stand. */
#include "nvml_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool may_configure(void)
{
	return client_capability(&nvml.client, CAPABILITY_CONFIG) == SIM_OK;
}

bool nvml_may_monitor(void)
{
	return client_capability(&nvml.client, CAPABILITY_MONITOR) == SIM_OK || may_configure();
}

enum nvml_return nvml_begin_mig(struct nvmlDevice_st *device, enum nvml_right right, bool in_mode,
				struct nvml_view *ret)
{
	enum nvml_return result = nvml_begin_device(device, ret);

	if (result != NVML_SUCCESS)
		return result;
	if (ret->compute != NULL)
		result = NVML_ERROR_INVALID_ARGUMENT;
	else if (ret->table == NULL)
		result = NVML_ERROR_NOT_SUPPORTED;
	else if ((right == NVML_CONFIGURE && !may_configure()) ||
		 (right == NVML_MONITOR && !nvml_may_monitor()))
		result = NVML_ERROR_NO_PERMISSION;
	else if (in_mode && !ret->layout.current)
		result = NVML_ERROR_NOT_SUPPORTED;
	if (result != NVML_SUCCESS)
		nvml_end();
	return result;
}

static struct nvmlDevice_st *find_handle(const struct nvmlDevice_st *card,
					 const struct sim_compute_instance *compute)
{
	struct nvmlDevice_st *mig = nvml.migs;

	while (mig != NULL && (mig->card != card || mig->gpu_instance != compute->gpu_instance ||
			       mig->compute_instance != compute->id))
		mig = mig->next;
	return mig;
}

struct nvmlDevice_st *nvml_mig_handle(struct nvmlDevice_st *card, const struct nvml_view *view,
				      const struct sim_compute_instance *compute, unsigned index)
{
	const struct sim_gpu_instance *gpu = mig_gpu_find(&view->layout, compute->gpu_instance);
	struct nvmlDevice_st *mig = find_handle(card, compute);
	char name[32];

	if (mig == NULL) {
		mig = calloc(1, sizeof(*mig));
		if (mig == NULL)
			return NULL;
		mig->card = card;
		mig->gpu_instance = compute->gpu_instance;
		mig->compute_instance = compute->id;
		mig->next = nvml.migs;
		nvml.migs = mig;
	}
	mig->index = index;
	mig->info = card->info;
	mig_device_name(mig_profile_by_id(view->table, gpu->profile_id), compute->size, name,
			sizeof(name));
	snprintf(mig->info.uuid, sizeof(mig->info.uuid), "%s", compute->uuid);
	snprintf(mig->info.name, sizeof(mig->info.name), "%.27s MIG %s", card->info.name, name);
	return mig;
}

/* The N-th of the caller's; NULL behind the last. */
static const struct sim_compute_instance *visible(const struct nvml_view *view, unsigned index)
{
	for (uint32_t i = 0; i < view->layout.compute_count; i++) {
		const struct sim_compute_instance *compute = &view->layout.computes[i];

		if (client_may_use(&nvml.client, view->card->info.minor, compute->gpu_instance,
				   compute->id) &&
		    index-- == 0)
			return compute;
	}
	return NULL;
}

struct nvmlDevice_st *nvml_mig_by_uuid(const char *uuid)
{
	for (unsigned i = 0; i < nvml.count; i++) {
		struct nvml_view view = { .card = &nvml.cards[i],
					  .table = mig_table(nvml.cards[i].info.mig_table) };
		const struct sim_compute_instance *compute;

		if (view.table == NULL ||
		    client_mig_layout(&nvml.client, view.card->info.minor, &view.layout) != SIM_OK)
			continue;
		for (unsigned k = 0; (compute = visible(&view, k)) != NULL; k++) {
			if (strcmp(compute->uuid, uuid) == 0)
				return nvml_mig_handle(view.card, &view, compute, k);
		}
	}
	return NULL;
}

/* Documented: zero while MIG is not supported or not enabled. */
EXPORT enum nvml_return nvmlDeviceGetMaxMigDeviceCount(struct nvmlDevice_st *device,
						       unsigned int *count)
{
	struct nvml_view view;
	enum nvml_return result = nvml_begin_device(device, &view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (count == NULL || view.compute != NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*count = view.layout.current ? view.table->slices : 0;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetMigDeviceHandleByIndex(struct nvmlDevice_st *device,
							    unsigned int index,
							    struct nvmlDevice_st **mig)
{
	const struct sim_compute_instance *compute;
	struct nvmlDevice_st *handle = NULL;
	struct nvml_view view;
	enum nvml_return result = nvml_begin_mig(device, NVML_ANYBODY, false, &view);

	if (result != NVML_SUCCESS)
		return result;
	compute = visible(&view, index);
	if (compute != NULL)
		handle = nvml_mig_handle(view.card, &view, compute, index);
	nvml_end();
	if (mig == NULL || (view.layout.current && index >= view.table->slices))
		return NVML_ERROR_INVALID_ARGUMENT;
	if (compute == NULL)
		return NVML_ERROR_NOT_FOUND;
	if (handle == NULL)
		return NVML_ERROR_MEMORY;
	*mig = handle;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceIsMigDeviceHandle(struct nvmlDevice_st *device,
						    unsigned int *is_mig)
{
	struct nvml_view view;
	enum nvml_return result = nvml_begin_device(device, &view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (is_mig == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*is_mig = view.compute != NULL;
	return NVML_SUCCESS;
}

/* A call that only MIG devices have. After NVML_SUCCESS nothing is held. */
static enum nvml_return look_at_mig(struct nvmlDevice_st *device, struct nvml_view *view,
				    enum nvml_return other, const void *ret)
{
	enum nvml_return result = nvml_begin_device(device, view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (view->compute == NULL)
		return other;
	return ret != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct nvmlDevice_st *mig,
								     struct nvmlDevice_st **device)
{
	struct nvml_view view;
	enum nvml_return result = look_at_mig(mig, &view, NVML_ERROR_INVALID_ARGUMENT, device);

	if (result == NVML_SUCCESS)
		*device = view.card;
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetGpuInstanceId(struct nvmlDevice_st *device, unsigned int *id)
{
	struct nvml_view view;
	enum nvml_return result = look_at_mig(device, &view, NVML_ERROR_NOT_SUPPORTED, id);

	if (result == NVML_SUCCESS)
		*id = view.gpu->id;
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetComputeInstanceId(struct nvmlDevice_st *device,
						       unsigned int *id)
{
	struct nvml_view view;
	enum nvml_return result = look_at_mig(device, &view, NVML_ERROR_NOT_SUPPORTED, id);

	if (result == NVML_SUCCESS)
		*id = view.compute->id;
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetAttributes_v2(struct nvmlDevice_st *device,
						   struct nvml_device_attributes *attributes)
{
	struct nvml_view view;
	enum nvml_return result = look_at_mig(device, &view, NVML_ERROR_NOT_SUPPORTED, attributes);

	if (result != NVML_SUCCESS)
		return result;
	*attributes = (struct nvml_device_attributes){
		.multiprocessorCount =
			view.profile->multiprocessors * view.compute->size / view.profile->slices,
		.sharedCopyEngineCount = view.profile->copy_engines,
		.sharedDecoderCount = view.profile->decoders,
		.sharedJpegCount = view.profile->jpegs,
		.sharedOfaCount = view.profile->ofas,
		.gpuInstanceSliceCount = view.profile->slices,
		.computeInstanceSliceCount = view.compute->size,
		.memorySizeMB = view.profile->memory_mib,
	};
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetAttributes(struct nvmlDevice_st *device,
						struct nvml_device_attributes *attributes)
{
	return nvmlDeviceGetAttributes_v2(device, attributes);
}
