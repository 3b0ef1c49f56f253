/* SPDX-License-Identifier: Apache-2.0 */
/* What MIG instances there could be: profiles and places. */
#include "nvml_library.h"

#include <stdio.h>

#define GPU_PROFILES 0x12 /* numbers of NVML_GPU_INSTANCE_PROFILE_* in drivers of these branches */

static enum nvml_return find_profile(struct nvmlDevice_st *device, unsigned number,
				     const struct mig_gpu_profile **ret)
{
	struct nvml_view view;
	enum nvml_return result = nvml_begin_mig(device, NVML_ANYBODY, false, &view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (number >= GPU_PROFILES)
		return NVML_ERROR_INVALID_ARGUMENT;
	*ret = mig_profile_by_number(view.table, number);
	return *ret != NULL ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

/* Fields that each version of the struct has. */
#define PROFILE_FIELDS(profile)                                                                 \
	.id = (profile)->id, .sliceCount = (profile)->slices, .instanceCount = (profile)->most, \
	.multiprocessorCount = (profile)->multiprocessors,                                      \
	.copyEngineCount = (profile)->copy_engines, .decoderCount = (profile)->decoders,        \
	.jpegCount = (profile)->jpegs, .ofaCount = (profile)->ofas,                             \
	.memorySizeMB = (profile)->memory_mib

EXPORT enum nvml_return nvmlDeviceGetGpuInstanceProfileInfo(struct nvmlDevice_st *device,
							    unsigned int number,
							    struct nvml_gpu_instance_profile *info)
{
	const struct mig_gpu_profile *profile;
	enum nvml_return result = find_profile(device, number, &profile);

	if (result != NVML_SUCCESS)
		return result;
	if (info == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*info = (struct nvml_gpu_instance_profile){ PROFILE_FIELDS(profile) };
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetGpuInstanceProfileInfoV(
	struct nvmlDevice_st *device, unsigned int number,
	struct nvml_gpu_instance_profile_v2 *info)
{
	struct nvml_gpu_instance_profile_v3 *third = (void *)info;
	const struct mig_gpu_profile *profile;
	enum nvml_return result = find_profile(device, number, &profile);

	if (result != NVML_SUCCESS)
		return result;
	if (info == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (info->version == nvmlGpuInstanceProfileInfo_v2) {
		*info = (struct nvml_gpu_instance_profile_v2){ .version = info->version,
							       PROFILE_FIELDS(profile) };
		snprintf(info->name, sizeof(info->name), "MIG %s", profile->name);
	} else if (info->version == nvmlGpuInstanceProfileInfo_v3) {
		*third = (struct nvml_gpu_instance_profile_v3){ .version = info->version,
								PROFILE_FIELDS(profile) };
		snprintf(third->name, sizeof(third->name), "MIG %s", profile->name);
	} else {
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	}
	return NVML_SUCCESS;
}

/* Holds nothing after it. */
static enum nvml_return find_by_id(struct nvmlDevice_st *device, unsigned id,
				   struct nvml_view *view, const struct mig_gpu_profile **ret)
{
	enum nvml_return result = nvml_begin_mig(device, NVML_MONITOR, false, view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	*ret = mig_profile_by_id(view->table, id);
	return *ret != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlDeviceGetGpuInstancePossiblePlacements_v2(
	struct nvmlDevice_st *device, unsigned int id,
	struct nvml_gpu_instance_placement *placements, unsigned int *count)
{
	const struct mig_gpu_profile *profile;
	struct nvml_view view;
	enum nvml_return result = find_by_id(device, id, &view, &profile);

	if (result != NVML_SUCCESS)
		return result;
	if (count == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; placements != NULL && i < profile->start_count; i++)
		placements[i] = (struct nvml_gpu_instance_placement){ .start = profile->starts[i],
								      .size = profile->size };
	*count = profile->start_count;
	return NVML_SUCCESS;
}

/* The first version got the number of entries that there is room for in *count. */
EXPORT enum nvml_return nvmlDeviceGetGpuInstancePossiblePlacements(
	struct nvmlDevice_st *device, unsigned int id,
	struct nvml_gpu_instance_placement *placements, unsigned int *count);
EXPORT enum nvml_return nvmlDeviceGetGpuInstancePossiblePlacements(
	struct nvmlDevice_st *device, unsigned int id,
	struct nvml_gpu_instance_placement *placements, unsigned int *count)
{
	return nvmlDeviceGetGpuInstancePossiblePlacements_v2(device, id, placements, count);
}

EXPORT enum nvml_return nvmlDeviceGetGpuInstanceRemainingCapacity(struct nvmlDevice_st *device,
								  unsigned int id,
								  unsigned int *count)
{
	const struct mig_gpu_profile *profile;
	struct nvml_view view;
	enum nvml_return result = find_by_id(device, id, &view, &profile);

	if (result != NVML_SUCCESS)
		return result;
	if (!view.layout.current)
		return NVML_ERROR_NOT_SUPPORTED;
	if (count == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*count = mig_gpu_room(&view.layout, view.table, profile);
	return NVML_SUCCESS;
}
