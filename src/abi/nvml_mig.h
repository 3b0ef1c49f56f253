/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of NVML's C interface that an administrator of MIG uses, as abi/nvml.h is made. What a program
 * with a MIG device uses stands there.
 *
 * Memory in MiB where a field says MB. An instance is created by the ID of a profile, which a question by
 * one of the numbers below tells.
 */
#pragma once

#include "abi/nvml.h"

struct nvmlGpuInstance_st;     /* valid until the instance is destroyed */
struct nvmlComputeInstance_st; /* the same */

/* What is asked for, of a card; of a GPU instance. */
#define NVML_GPU_INSTANCE_PROFILE_1_SLICE           0x0u
#define NVML_GPU_INSTANCE_PROFILE_2_SLICE           0x1u
#define NVML_GPU_INSTANCE_PROFILE_3_SLICE           0x2u
#define NVML_GPU_INSTANCE_PROFILE_4_SLICE           0x3u
#define NVML_GPU_INSTANCE_PROFILE_7_SLICE           0x4u
#define NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1      0x7u
#define NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1      0x8u
#define NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV2      0x9u
#define NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE       0x0u
#define NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE       0x1u
#define NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE       0x2u
#define NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE       0x3u
#define NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE       0x4u
#define NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1  0x7u
#define NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED 0x0u

#define nvmlGpuInstanceProfileInfo_v2     NVML_VERSIONED(struct nvml_gpu_instance_profile_v2, 2)
#define nvmlGpuInstanceProfileInfo_v3     NVML_VERSIONED(struct nvml_gpu_instance_profile_v3, 3)
#define nvmlComputeInstanceProfileInfo_v2 NVML_VERSIONED(struct nvml_compute_instance_profile_v2, 2)

struct nvml_gpu_instance_placement {
	unsigned int start; /* first memory slice */
	unsigned int size;
};

struct nvml_gpu_instance_profile {
	unsigned int id; /* of the card: what instances are created by */
	unsigned int isP2pSupported;
	unsigned int sliceCount; /* compute slices */
	unsigned int instanceCount;
	unsigned int multiprocessorCount;
	unsigned int copyEngineCount;
	unsigned int decoderCount;
	unsigned int encoderCount;
	unsigned int jpegCount;
	unsigned int ofaCount;
	unsigned long long memorySizeMB; /* MiB */
};

struct nvml_gpu_instance_profile_v2 {
	unsigned int version; /* nvmlGpuInstanceProfileInfo_v2 */
	unsigned int id;
	unsigned int isP2pSupported;
	unsigned int sliceCount;
	unsigned int instanceCount;
	unsigned int multiprocessorCount;
	unsigned int copyEngineCount;
	unsigned int decoderCount;
	unsigned int encoderCount;
	unsigned int jpegCount;
	unsigned int ofaCount;
	unsigned long long memorySizeMB;
	char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE]; /* "MIG 1g.10gb" */
};

struct nvml_gpu_instance_profile_v3 {
	unsigned int version; /* nvmlGpuInstanceProfileInfo_v3 */
	unsigned int id;
	unsigned int sliceCount;
	unsigned int instanceCount;
	unsigned int multiprocessorCount;
	unsigned int copyEngineCount;
	unsigned int decoderCount;
	unsigned int encoderCount;
	unsigned int jpegCount;
	unsigned int ofaCount;
	unsigned long long memorySizeMB;
	char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
	unsigned int capabilities;
};

struct nvml_gpu_instance_info {
	struct nvmlDevice_st *device; /* the card */
	unsigned int id;
	unsigned int profileId;
	struct nvml_gpu_instance_placement placement;
};

struct nvml_compute_instance_placement {
	unsigned int start; /* first compute slice of the GPU instance */
	unsigned int size;
};

struct nvml_compute_instance_profile {
	unsigned int id; /* of the GPU instance: what instances are created by */
	unsigned int sliceCount;
	unsigned int instanceCount;
	unsigned int multiprocessorCount;
	unsigned int sharedCopyEngineCount;
	unsigned int sharedDecoderCount;
	unsigned int sharedEncoderCount;
	unsigned int sharedJpegCount;
	unsigned int sharedOfaCount;
};

struct nvml_compute_instance_profile_v2 {
	unsigned int version; /* nvmlComputeInstanceProfileInfo_v2 */
	unsigned int id;
	unsigned int sliceCount;
	unsigned int instanceCount;
	unsigned int multiprocessorCount;
	unsigned int sharedCopyEngineCount;
	unsigned int sharedDecoderCount;
	unsigned int sharedEncoderCount;
	unsigned int sharedJpegCount;
	unsigned int sharedOfaCount;
	char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE]; /* "MIG 1c.3g.40gb" */
};

struct nvml_compute_instance_info {
	struct nvmlDevice_st *device; /* the card */
	struct nvmlGpuInstance_st *gpuInstance;
	unsigned int id;
	unsigned int profileId;
	struct nvml_compute_instance_placement placement;
};

enum nvml_return nvmlDeviceSetMigMode(struct nvmlDevice_st *device, unsigned int mode,
				      enum nvml_return *activationStatus);
enum nvml_return nvmlDeviceGetGpuInstanceProfileInfo(struct nvmlDevice_st *device,
						     unsigned int profile,
						     struct nvml_gpu_instance_profile *info);
enum nvml_return nvmlDeviceGetGpuInstanceProfileInfoV(struct nvmlDevice_st *device,
						      unsigned int profile,
						      struct nvml_gpu_instance_profile_v2 *info);
enum nvml_return nvmlDeviceGetGpuInstancePossiblePlacements_v2(
	struct nvmlDevice_st *device, unsigned int profileId,
	struct nvml_gpu_instance_placement *placements, unsigned int *count);
enum nvml_return nvmlDeviceGetGpuInstanceRemainingCapacity(struct nvmlDevice_st *device,
							   unsigned int profileId,
							   unsigned int *count);
enum nvml_return nvmlDeviceCreateGpuInstance(struct nvmlDevice_st *device, unsigned int profileId,
					     struct nvmlGpuInstance_st **gpuInstance);
enum nvml_return nvmlDeviceCreateGpuInstanceWithPlacement(
	struct nvmlDevice_st *device, unsigned int profileId,
	const struct nvml_gpu_instance_placement *placement,
	struct nvmlGpuInstance_st **gpuInstance);
enum nvml_return nvmlGpuInstanceDestroy(struct nvmlGpuInstance_st *gpuInstance);
enum nvml_return nvmlDeviceGetGpuInstances(struct nvmlDevice_st *device, unsigned int profileId,
					   struct nvmlGpuInstance_st **gpuInstances,
					   unsigned int *count);
enum nvml_return nvmlDeviceGetGpuInstanceById(struct nvmlDevice_st *device, unsigned int id,
					      struct nvmlGpuInstance_st **gpuInstance);
enum nvml_return nvmlGpuInstanceGetInfo(struct nvmlGpuInstance_st *gpuInstance,
					struct nvml_gpu_instance_info *info);
enum nvml_return nvmlGpuInstanceGetComputeInstanceProfileInfo(
	struct nvmlGpuInstance_st *gpuInstance, unsigned int profile, unsigned int engProfile,
	struct nvml_compute_instance_profile *info);
enum nvml_return nvmlGpuInstanceGetComputeInstanceProfileInfoV(
	struct nvmlGpuInstance_st *gpuInstance, unsigned int profile, unsigned int engProfile,
	struct nvml_compute_instance_profile_v2 *info);
enum nvml_return nvmlGpuInstanceGetComputeInstancePossiblePlacements(
	struct nvmlGpuInstance_st *gpuInstance, unsigned int profileId,
	struct nvml_compute_instance_placement *placements, unsigned int *count);
enum nvml_return nvmlGpuInstanceGetComputeInstanceRemainingCapacity(
	struct nvmlGpuInstance_st *gpuInstance, unsigned int profileId, unsigned int *count);
enum nvml_return nvmlGpuInstanceCreateComputeInstance(
	struct nvmlGpuInstance_st *gpuInstance, unsigned int profileId,
	struct nvmlComputeInstance_st **computeInstance);
enum nvml_return nvmlGpuInstanceCreateComputeInstanceWithPlacement(
	struct nvmlGpuInstance_st *gpuInstance, unsigned int profileId,
	const struct nvml_compute_instance_placement *placement,
	struct nvmlComputeInstance_st **computeInstance);
enum nvml_return nvmlComputeInstanceDestroy(struct nvmlComputeInstance_st *computeInstance);
enum nvml_return nvmlGpuInstanceGetComputeInstances(
	struct nvmlGpuInstance_st *gpuInstance, unsigned int profileId,
	struct nvmlComputeInstance_st **computeInstances, unsigned int *count);
enum nvml_return nvmlGpuInstanceGetComputeInstanceById(
	struct nvmlGpuInstance_st *gpuInstance, unsigned int id,
	struct nvmlComputeInstance_st **computeInstance);
enum nvml_return nvmlComputeInstanceGetInfo_v2(struct nvmlComputeInstance_st *computeInstance,
					       struct nvml_compute_instance_info *info);
