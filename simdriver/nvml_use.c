/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, utilisation and processes: what the kernel module knows of its clients. */
#include "nvml_library.h"

#include <stdlib.h>
#include <string.h>

#define MIB (1ull << 20)

/*
 * A card in MIG mode tells what is its own, and not an instance's, only to those who may monitor it: a
 * container with one MIG device sees N/A.
 */
static enum nvml_return begin_use(struct nvmlDevice_st *device, struct nvml_view *view)
{
	enum nvml_return result = nvml_begin_device(device, view);

	if (result == NVML_SUCCESS && view->layout.current && view->compute == NULL &&
	    !nvml_may_monitor()) {
		nvml_end();
		return NVML_ERROR_NO_PERMISSION;
	}
	return result;
}

static struct nvml_memory_v2 memory_of(const struct nvml_view *view)
{
	struct nvml_memory_v2 memory = { .total = view->card->info.memory_bytes,
					 .reserved = view->state.values[SIM_VALUE_RESERVED],
					 .free = view->state.free_bytes,
					 .used = view->state.used_bytes };

	if (view->compute != NULL) {
		memory.total = view->profile->memory_mib * MIB;
		memory.reserved = 0;
		memory.used = view->gpu->used_bytes;
		memory.free = memory.total - memory.used;
	}
	return memory;
}

EXPORT enum nvml_return nvmlDeviceGetMemoryInfo(struct nvmlDevice_st *device,
						struct nvml_memory *memory)
{
	struct nvml_view view;
	enum nvml_return result = begin_use(device, &view);
	struct nvml_memory_v2 all;

	if (result != NVML_SUCCESS)
		return result;
	all = memory_of(&view);
	nvml_end();
	if (memory == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	memory->total = all.total;
	memory->free = all.free;
	memory->used = all.total - all.free;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetMemoryInfo_v2(struct nvmlDevice_st *device,
						   struct nvml_memory_v2 *memory)
{
	struct nvml_view view;
	enum nvml_return result = begin_use(device, &view);
	struct nvml_memory_v2 all;

	if (result != NVML_SUCCESS)
		return result;
	all = memory_of(&view);
	nvml_end();
	if (memory == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (memory->version != nvmlMemory_v2)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	all.version = memory->version;
	*memory = all;
	return NVML_SUCCESS;
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
	struct nvml_view view;
	enum nvml_return result = nvml_begin_device(device, &view);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (view.layout.current) /* documented: not of MIG devices, nor of their card */
		return NVML_ERROR_NOT_SUPPORTED;
	if (utilization == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	utilization->gpu = (unsigned)view.state.values[SIM_VALUE_UTILIZATION];
	utilization->memory = (unsigned)view.state.values[SIM_VALUE_MEMORY_UTILIZATION];
	return NVML_SUCCESS;
}

/* The list, in memory of its own that the caller frees. */
static enum nvml_return fetch_processes(struct nvmlDevice_st *device, struct sim_process **ret,
					size_t *ret_count)
{
	struct sim_process *processes = NULL, *grown;
	struct nvml_view view;
	enum nvml_return result = begin_use(device, &view);
	size_t capacity = 0, total = 16, kept = 0;

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
	for (size_t i = 0; i < total; i++) {
		if (device->card == NULL ||
		    processes[i].instance ==
			    SIM_INSTANCE(device->gpu_instance, device->compute_instance))
			processes[kept++] = processes[i];
	}
	*ret = processes;
	*ret_count = kept;
	return NVML_SUCCESS;
}

static unsigned gpu_instance(const struct sim_process *process)
{
	return process->instance != 0 ? SIM_INSTANCE_GPU(process->instance) : NVML_NO_INSTANCE;
}

static unsigned compute_instance(const struct sim_process *process)
{
	return process->instance != 0 ? SIM_INSTANCE_COMPUTE(process->instance) : NVML_NO_INSTANCE;
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
			((struct nvml_process_info *)infos)[i] = (struct nvml_process_info){
				.pid = processes[i].pid,
				.usedGpuMemory = processes[i].bytes,
				.gpuInstanceId = gpu_instance(&processes[i]),
				.computeInstanceId = compute_instance(&processes[i])
			};
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
		list->procArray[i] = (struct nvml_process_detail){
			.pid = processes[i].pid,
			.usedGpuMemory = processes[i].bytes,
			.gpuInstanceId = gpu_instance(&processes[i]),
			.computeInstanceId = compute_instance(&processes[i]),
			.usedGpuCcProtectedMemory = NVML_VALUE_NOT_AVAILABLE_ULL
		};
	list->numProcArrayEntries = (unsigned)total;
	free(processes);
	return result;
}
