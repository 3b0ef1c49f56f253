/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated nvidia-smi. Layouts, element names, failure texts and exit statuses are those of the
 * real one of 535 and 550; everything else comes from NVML, which it loads as the real one does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "abi/nvml.h"
#include "abi/nvml_mig.h"

#define SMI_CARDS_MAX     32
#define SMI_PROCESSES_MAX 256
#define SMI_TEXT_MAX      256

/* How to add a function: a row; its prototype is in abi/nvml.h. */
#define SMI_FUNCTIONS(F)                                      \
	F(nvmlInit_v2)                                        \
	F(nvmlShutdown)                                       \
	F(nvmlErrorString)                                    \
	F(nvmlSystemGetDriverVersion)                         \
	F(nvmlSystemGetCudaDriverVersion_v2)                  \
	F(nvmlSystemGetProcessName)                           \
	F(nvmlDeviceGetCount_v2)                              \
	F(nvmlDeviceGetHandleByIndex_v2)                      \
	F(nvmlDeviceGetIndex)                                 \
	F(nvmlDeviceGetName)                                  \
	F(nvmlDeviceGetUUID)                                  \
	F(nvmlDeviceGetSerial)                                \
	F(nvmlDeviceGetMinorNumber)                           \
	F(nvmlDeviceGetPciInfo_v3)                            \
	F(nvmlDeviceGetArchitecture)                          \
	F(nvmlDeviceGetCudaComputeCapability)                 \
	F(nvmlDeviceGetBoardId)                               \
	F(nvmlDeviceGetBoardPartNumber)                       \
	F(nvmlDeviceGetVbiosVersion)                          \
	F(nvmlDeviceGetInforomVersion)                        \
	F(nvmlDeviceGetInforomImageVersion)                   \
	F(nvmlDeviceGetGspFirmwareVersion)                    \
	F(nvmlDeviceGetMemoryInfo_v2)                         \
	F(nvmlDeviceGetBAR1MemoryInfo)                        \
	F(nvmlDeviceGetUtilizationRates)                      \
	F(nvmlDeviceGetComputeRunningProcesses_v3)            \
	F(nvmlDeviceGetTemperature)                           \
	F(nvmlDeviceGetTemperatureThreshold)                  \
	F(nvmlDeviceGetFanSpeed)                              \
	F(nvmlDeviceGetPowerUsage)                            \
	F(nvmlDeviceGetEnforcedPowerLimit)                    \
	F(nvmlDeviceGetPowerManagementDefaultLimit)           \
	F(nvmlDeviceGetPowerManagementLimitConstraints)       \
	F(nvmlDeviceGetPerformanceState)                      \
	F(nvmlDeviceGetClockInfo)                             \
	F(nvmlDeviceGetMaxClockInfo)                          \
	F(nvmlDeviceGetPersistenceMode)                       \
	F(nvmlDeviceGetComputeMode)                           \
	F(nvmlDeviceGetDisplayMode)                           \
	F(nvmlDeviceGetDisplayActive)                         \
	F(nvmlDeviceGetEccMode)                               \
	F(nvmlDeviceGetTotalEccErrors)                        \
	F(nvmlDeviceGetMigMode)                               \
	F(nvmlDeviceSetMigMode)                               \
	F(nvmlDeviceGetMaxMigDeviceCount)                     \
	F(nvmlDeviceGetMigDeviceHandleByIndex)                \
	F(nvmlDeviceGetGpuInstanceId)                         \
	F(nvmlDeviceGetComputeInstanceId)                     \
	F(nvmlDeviceGetAttributes_v2)                         \
	F(nvmlDeviceGetGpuInstanceProfileInfoV)               \
	F(nvmlDeviceGetGpuInstancePossiblePlacements_v2)      \
	F(nvmlDeviceGetGpuInstanceRemainingCapacity)          \
	F(nvmlDeviceCreateGpuInstance)                        \
	F(nvmlDeviceCreateGpuInstanceWithPlacement)           \
	F(nvmlDeviceGetGpuInstances)                          \
	F(nvmlDeviceGetGpuInstanceById)                       \
	F(nvmlGpuInstanceDestroy)                             \
	F(nvmlGpuInstanceGetInfo)                             \
	F(nvmlGpuInstanceGetComputeInstanceProfileInfoV)      \
	F(nvmlGpuInstanceGetComputeInstanceRemainingCapacity) \
	F(nvmlGpuInstanceCreateComputeInstance)               \
	F(nvmlGpuInstanceGetComputeInstances)                 \
	F(nvmlGpuInstanceGetComputeInstanceById)              \
	F(nvmlComputeInstanceDestroy)                         \
	F(nvmlComputeInstanceGetInfo_v2)                      \
	F(nvmlDeviceGetTopologyCommonAncestor)                \
	F(nvmlDeviceGetNvLinkState)                           \
	F(nvmlDeviceGetNvLinkRemoteDeviceType)                \
	F(nvmlDeviceGetNvLinkRemotePciInfo_v2)                \
	F(nvmlDeviceGetCpuAffinity)                           \
	F(nvmlDeviceGetMemoryAffinity)                        \
	F(nvmlDeviceGetCurrPcieLinkGeneration)                \
	F(nvmlDeviceGetMaxPcieLinkGeneration)                 \
	F(nvmlDeviceGetCurrPcieLinkWidth)                     \
	F(nvmlDeviceGetMaxPcieLinkWidth)                      \
	F(nvmlDeviceGetPcieReplayCounter)

#define SMI_POINTER(name) __typeof__(name) *name;

struct smi_api {
	SMI_FUNCTIONS(SMI_POINTER)
};

struct smi_card {
	struct nvmlDevice_st *device;
	unsigned index;
};

struct smi {
	struct smi_api nvml;
	char driver_version[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
	int cuda_version;
	unsigned count; /* of the cards shown */
	struct smi_card cards[SMI_CARDS_MAX];
};

/*
 * A fact of a card as text without its unit: "81920", "Enabled". The unit belongs to the property.
 * NVML_SUCCESS, or why there is none.
 */
struct smi_property {
	const char *name; /* of --query-gpu */
	const char *alias;
	const char *unit;
	enum nvml_return (*get)(const struct smi *smi, struct nvmlDevice_st *device,
				char ret[SMI_TEXT_MAX]);
};

const struct smi_property *smi_property_find(const char *name, size_t length);

/* The property's text, "N/A" when there is none; with its unit if wanted. */
void smi_get(const struct smi *smi, const struct smi_card *card, const char *property,
	     bool with_unit, char ret[SMI_TEXT_MAX]);

struct smi_process {
	unsigned pid;
	unsigned gpu_instance, compute_instance; /* NVML_NO_INSTANCE */
	unsigned long long mib;
	char name[SMI_TEXT_MAX];
};

size_t smi_processes(const struct smi *smi, const struct smi_card *card,
		     struct smi_process ret[SMI_PROCESSES_MAX]);

#define SMI_MIGS_MAX 8 /* MIG devices of a card */

struct smi_mig {
	struct nvmlDevice_st *device;
	unsigned index, gpu_instance, compute_instance;
	char profile[SMI_TEXT_MAX], uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE];
	struct nvml_device_attributes attributes;
	struct nvml_memory_v2 memory;
};

/* The MIG devices of the card; -1: it is not in MIG mode. */
int smi_migs(const struct smi *smi, const struct smi_card *card, struct smi_mig ret[SMI_MIGS_MAX]);

/* Numbers of GPU instances and compute instances as a command names them. */
#define SMI_NUMBERS_MAX 16
struct smi_mig_command {
	const char *create_gpu;     /* "19,3g.40gb:4", or NULL */
	const char *create_compute; /* "0,1", "" is the default one, or NULL */
	bool destroy_gpu, destroy_compute;
	bool with_compute; /* -C */
	bool list_profiles, list_places, list_gpus, list_computes, list_compute_profiles;
	int gpus[SMI_NUMBERS_MAX], computes[SMI_NUMBERS_MAX]; /* of -gi and -ci */
	unsigned gpu_count, compute_count;                    /* 0: all */
};

/* A GPU instance and what is known of its profile. */
struct smi_gpu_instance {
	struct nvmlGpuInstance_st *handle;
	struct nvml_gpu_instance_info info;
	struct nvml_gpu_instance_profile_v2 profile;
};

#define SMI_GPU_PROFILES     18 /* numbers of NVML_GPU_INSTANCE_PROFILE_* */
#define SMI_COMPUTE_PROFILES 9
#define SMI_GPU_INSTANCES    8

bool smi_is_mig(const struct smi *smi, const struct smi_card *card);
/* The GPU instances of the card that the command means, by rising number. */
unsigned smi_gpu_instances(const struct smi *smi, const struct smi_card *card,
			   const struct smi_mig_command *command,
			   struct smi_gpu_instance ret[SMI_GPU_INSTANCES]);
/* False: the card, or the GPU instance, has no profile of that number. */
bool smi_gpu_profile(const struct smi *smi, const struct smi_card *card, unsigned number,
		     struct nvml_gpu_instance_profile_v2 *ret);
bool smi_compute_profile(const struct smi *smi, struct nvmlGpuInstance_st *gpu, unsigned number,
			 struct nvml_compute_instance_profile_v2 *ret);
bool smi_is_named(const int *numbers, unsigned count, unsigned number);

/* nvidia-smi mig. */
int smi_mig_list(const struct smi *smi, const struct smi_mig_command *command);
int smi_mig_change(const struct smi *smi, const struct smi_mig_command *command);
/* nvidia-smi -mig 0 or 1 */
int smi_mig_mode(const struct smi *smi, unsigned mode);

/* Ways to show. Each returns the exit status. */
int smi_show_table(const struct smi *smi);
int smi_show_list(const struct smi *smi);
int smi_show_xml(const struct smi *smi);
int smi_show_topology(const struct smi *smi);

/* fields: comma-separated; format: of --format */
int smi_show_query(const struct smi *smi, const char *fields, const char *format);
int smi_show_applications(const struct smi *smi, const char *fields, const char *format);
