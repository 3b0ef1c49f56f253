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

#define SMI_CARDS_MAX     32
#define SMI_PROCESSES_MAX 256
#define SMI_TEXT_MAX      256

/* How to add a function: a row; its prototype is in abi/nvml.h. */
#define SMI_FUNCTIONS(F)                                \
	F(nvmlInit_v2)                                  \
	F(nvmlShutdown)                                 \
	F(nvmlErrorString)                              \
	F(nvmlSystemGetDriverVersion)                   \
	F(nvmlSystemGetCudaDriverVersion_v2)            \
	F(nvmlSystemGetProcessName)                     \
	F(nvmlDeviceGetCount_v2)                        \
	F(nvmlDeviceGetHandleByIndex_v2)                \
	F(nvmlDeviceGetIndex)                           \
	F(nvmlDeviceGetName)                            \
	F(nvmlDeviceGetUUID)                            \
	F(nvmlDeviceGetSerial)                          \
	F(nvmlDeviceGetMinorNumber)                     \
	F(nvmlDeviceGetPciInfo_v3)                      \
	F(nvmlDeviceGetArchitecture)                    \
	F(nvmlDeviceGetCudaComputeCapability)           \
	F(nvmlDeviceGetBoardId)                         \
	F(nvmlDeviceGetBoardPartNumber)                 \
	F(nvmlDeviceGetVbiosVersion)                    \
	F(nvmlDeviceGetInforomVersion)                  \
	F(nvmlDeviceGetInforomImageVersion)             \
	F(nvmlDeviceGetGspFirmwareVersion)              \
	F(nvmlDeviceGetMemoryInfo_v2)                   \
	F(nvmlDeviceGetBAR1MemoryInfo)                  \
	F(nvmlDeviceGetUtilizationRates)                \
	F(nvmlDeviceGetComputeRunningProcesses_v3)      \
	F(nvmlDeviceGetTemperature)                     \
	F(nvmlDeviceGetTemperatureThreshold)            \
	F(nvmlDeviceGetFanSpeed)                        \
	F(nvmlDeviceGetPowerUsage)                      \
	F(nvmlDeviceGetEnforcedPowerLimit)              \
	F(nvmlDeviceGetPowerManagementDefaultLimit)     \
	F(nvmlDeviceGetPowerManagementLimitConstraints) \
	F(nvmlDeviceGetPerformanceState)                \
	F(nvmlDeviceGetClockInfo)                       \
	F(nvmlDeviceGetMaxClockInfo)                    \
	F(nvmlDeviceGetPersistenceMode)                 \
	F(nvmlDeviceGetComputeMode)                     \
	F(nvmlDeviceGetDisplayMode)                     \
	F(nvmlDeviceGetDisplayActive)                   \
	F(nvmlDeviceGetEccMode)                         \
	F(nvmlDeviceGetTotalEccErrors)                  \
	F(nvmlDeviceGetMigMode)                         \
	F(nvmlDeviceGetTopologyCommonAncestor)          \
	F(nvmlDeviceGetNvLinkState)                     \
	F(nvmlDeviceGetNvLinkRemoteDeviceType)          \
	F(nvmlDeviceGetNvLinkRemotePciInfo_v2)          \
	F(nvmlDeviceGetCpuAffinity)                     \
	F(nvmlDeviceGetMemoryAffinity)                  \
	F(nvmlDeviceGetCurrPcieLinkGeneration)          \
	F(nvmlDeviceGetMaxPcieLinkGeneration)           \
	F(nvmlDeviceGetCurrPcieLinkWidth)               \
	F(nvmlDeviceGetMaxPcieLinkWidth)                \
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
	unsigned long long mib;
	char name[SMI_TEXT_MAX];
};

size_t smi_processes(const struct smi *smi, const struct smi_card *card,
		     struct smi_process ret[SMI_PROCESSES_MAX]);

/* Ways to show. Each returns the exit status. */
int smi_show_table(const struct smi *smi);
int smi_show_list(const struct smi *smi);
int smi_show_xml(const struct smi *smi);
int smi_show_topology(const struct smi *smi);

/* fields: comma-separated; format: of --format */
int smi_show_query(const struct smi *smi, const char *fields, const char *format);
int smi_show_applications(const struct smi *smi, const char *fields, const char *format);
