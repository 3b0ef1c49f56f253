/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, utilisation and processes: what the kernel module knows of its clients. */
#include "nvml_library.h"

#include <stdlib.h>
#include <string.h>

EXPORT enum nvml_return nvmlDeviceGetMemoryInfo(struct nvmlDevice_st *device,
						struct nvml_memory *memory)
{
	struct sim_card_state state;
	enum nvml_return result = nvml_begin_card(device, &state);

	if (result != NVML_SUCCESS)
		return result;
	if (memory != NULL) {
		memory->total = device->info.memory_bytes;
		memory->free = state.free_bytes;
		memory->used = memory->total - memory->free;
	}
	nvml_end();
	return memory != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlDeviceGetMemoryInfo_v2(struct nvmlDevice_st *device,
						   struct nvml_memory_v2 *memory)
{
	struct sim_card_state state;
	enum nvml_return result = nvml_begin_card(device, &state);

	if (result != NVML_SUCCESS)
		return result;
	if (memory == NULL) {
		result = NVML_ERROR_INVALID_ARGUMENT;
	} else if (memory->version != nvmlMemory_v2) {
		result = NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	} else {
		memory->total = device->info.memory_bytes;
		memory->reserved = state.values[SIM_VALUE_RESERVED];
		memory->free = state.free_bytes;
		memory->used = state.used_bytes;
	}
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetBAR1MemoryInfo(struct nvmlDevice_st *device,
						    struct nvml_bar1_memory *memory)
{
	struct sim_card_state state;
	enum nvml_return result = nvml_begin_card(device, &state);

	if (result != NVML_SUCCESS)
		return result;
	if (memory != NULL) {
		memory->bar1Total = device->info.bar1_bytes;
		memory->bar1Used = state.values[SIM_VALUE_BAR1_USED];
		memory->bar1Free = memory->bar1Total - memory->bar1Used;
	}
	nvml_end();
	return memory != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlDeviceGetUtilizationRates(struct nvmlDevice_st *device,
						      struct nvml_utilization *utilization)
{
	struct sim_card_state state;
	enum nvml_return result = nvml_begin_card(device, &state);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (utilization == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	utilization->gpu = state.utilization;
	utilization->memory = (unsigned)state.values[SIM_VALUE_MEMORY_UTILIZATION];
	return NVML_SUCCESS;
}

/* The list, in memory of its own that the caller frees. */
static enum nvml_return fetch_processes(struct nvmlDevice_st *device, struct sim_process **ret,
					size_t *ret_count)
{
	struct sim_process *processes = NULL, *grown;
	enum nvml_return result = nvml_begin_card(device, NULL);
	size_t capacity = 0, total = 16;

	if (result != NVML_SUCCESS)
		return result;
	while (result == NVML_SUCCESS && total > capacity) {
		capacity = total + 16;
		grown = realloc(processes, capacity * sizeof(*processes));
		if (grown == NULL) {
			result = NVML_ERROR_MEMORY;
			break;
		}
		processes = grown;
		result = nvml_from_status(client_processes(&nvml.client, device->info.minor,
							   processes, capacity, &total));
	}
	nvml_end();
	if (result != NVML_SUCCESS) {
		free(processes);
		return result;
	}
	*ret = processes;
	*ret_count = total;
	return NVML_SUCCESS;
}

/* Fills as many as fit, in the layout of the first or the later versions. */
static enum nvml_return list_compute(struct nvmlDevice_st *device, unsigned *count, void *infos,
				     bool first_version)
{
	struct sim_process *processes;
	size_t total;
	enum nvml_return result;

	if (count == NULL || (*count > 0 && infos == NULL))
		return NVML_ERROR_INVALID_ARGUMENT;
	result = fetch_processes(device, &processes, &total);
	if (result != NVML_SUCCESS)
		return result;
	for (size_t i = 0; i < total && i < *count; i++) {
		if (first_version) {
			((struct nvml_process_info_v1 *)infos)[i] = (struct nvml_process_info_v1){
				.pid = processes[i].pid, .usedGpuMemory = processes[i].bytes
			};
		} else {
			((struct nvml_process_info *)infos)[i] =
				(struct nvml_process_info){ .pid = processes[i].pid,
							    .usedGpuMemory = processes[i].bytes,
							    .gpuInstanceId = NVML_NO_INSTANCE,
							    .computeInstanceId = NVML_NO_INSTANCE };
		}
	}
	if (total > *count)
		result = NVML_ERROR_INSUFFICIENT_SIZE;
	*count = (unsigned)total;
	free(processes);
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetComputeRunningProcesses(struct nvmlDevice_st *device,
							     unsigned int *count,
							     struct nvml_process_info_v1 *infos)
{
	return list_compute(device, count, infos, true);
}

EXPORT enum nvml_return nvmlDeviceGetComputeRunningProcesses_v2(struct nvmlDevice_st *device,
								unsigned int *count,
								struct nvml_process_info *infos)
{
	return list_compute(device, count, infos, false);
}

EXPORT enum nvml_return nvmlDeviceGetComputeRunningProcesses_v3(struct nvmlDevice_st *device,
								unsigned int *count,
								struct nvml_process_info *infos)
{
	return list_compute(device, count, infos, false);
}

/* No client draws, and none goes through an MPS server. */
static enum nvml_return list_none(struct nvmlDevice_st *device, unsigned *count)
{
	return nvml_get_fixed(device, 0, count);
}

EXPORT enum nvml_return nvmlDeviceGetGraphicsRunningProcesses(struct nvmlDevice_st *device,
							      unsigned int *count,
							      struct nvml_process_info_v1 *infos)
{
	(void)infos;
	return list_none(device, count);
}

EXPORT enum nvml_return nvmlDeviceGetGraphicsRunningProcesses_v2(struct nvmlDevice_st *device,
								 unsigned int *count,
								 struct nvml_process_info *infos)
{
	(void)infos;
	return list_none(device, count);
}

EXPORT enum nvml_return nvmlDeviceGetGraphicsRunningProcesses_v3(struct nvmlDevice_st *device,
								 unsigned int *count,
								 struct nvml_process_info *infos)
{
	(void)infos;
	return list_none(device, count);
}

EXPORT enum nvml_return nvmlDeviceGetMPSComputeRunningProcesses(struct nvmlDevice_st *device,
								unsigned int *count,
								struct nvml_process_info_v1 *infos)
{
	(void)infos;
	return list_none(device, count);
}

EXPORT enum nvml_return nvmlDeviceGetMPSComputeRunningProcesses_v2(struct nvmlDevice_st *device,
								   unsigned int *count,
								   struct nvml_process_info *infos)
{
	(void)infos;
	return list_none(device, count);
}

EXPORT enum nvml_return nvmlDeviceGetMPSComputeRunningProcesses_v3(struct nvmlDevice_st *device,
								   unsigned int *count,
								   struct nvml_process_info *infos)
{
	(void)infos;
	return list_none(device, count);
}

EXPORT enum nvml_return nvmlDeviceGetRunningProcessDetailList(struct nvmlDevice_st *device,
							      struct nvml_process_detail_list *list)
{
	struct sim_process *processes;
	enum nvml_return result;
	size_t total;

	if (list == NULL || list->mode > 2)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (list->version != nvmlProcessDetailList_v1)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	result = fetch_processes(device, &processes, &total);
	if (result != NVML_SUCCESS)
		return result;
	if (list->mode != 0)
		total = 0;
	if (list->procArray == NULL || list->numProcArrayEntries < total)
		result = list->numProcArrayEntries < total ? NVML_ERROR_INSUFFICIENT_SIZE
							   : NVML_SUCCESS;
	for (size_t i = 0; result == NVML_SUCCESS && i < total; i++)
		list->procArray[i] =
			(struct nvml_process_detail){ .pid = processes[i].pid,
						      .usedGpuMemory = processes[i].bytes,
						      .gpuInstanceId = NVML_NO_INSTANCE,
						      .computeInstanceId = NVML_NO_INSTANCE,
						      .usedGpuCcProtectedMemory =
							      NVML_VALUE_NOT_AVAILABLE_ULL };
	list->numProcArrayEntries = (unsigned)total;
	free(processes);
	return result;
}
