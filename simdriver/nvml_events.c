/* SPDX-License-Identifier: Apache-2.0 */
/* Events. A set has a connection of its own, so that waiting holds no lock. */
#include "nvml_library.h"

#include <stdlib.h>
#include <string.h>

struct nvmlEventSet_st {
	struct client client;
	unsigned long long types[SIM_CARDS_MAX]; /* by position in nvml.cards */
	uint64_t minors;
};

#define SUPPORTED_EVENTS                                                                         \
	(nvmlEventTypeSingleBitEccError | nvmlEventTypeDoubleBitEccError | nvmlEventTypePState | \
	 nvmlEventTypeXidCriticalError | nvmlEventTypeClock)

EXPORT enum nvml_return nvmlEventSetCreate(struct nvmlEventSet_st **set)
{
	enum nvml_return result = nvml_begin();
	struct nvmlEventSet_st *made;

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (set == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return NVML_ERROR_MEMORY;
	made->client = (struct client)CLIENT_INIT;
	result = nvml_from_status(client_open(&made->client, &nvml, NULL));
	if (result != NVML_SUCCESS) {
		free(made);
		return result;
	}
	*set = made;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetSupportedEventTypes(struct nvmlDevice_st *device,
							 unsigned long long *types)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (types == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*types = SUPPORTED_EVENTS;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceRegisterEvents(struct nvmlDevice_st *device,
						 unsigned long long types,
						 struct nvmlEventSet_st *set)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	if (set == NULL) {
		result = NVML_ERROR_INVALID_ARGUMENT;
	} else if ((types & ~SUPPORTED_EVENTS) != 0) {
		result = NVML_ERROR_NOT_SUPPORTED;
	} else {
		set->types[device->index] |= types;
		set->minors |= 1ull << device->info.minor;
		result = nvml_from_status(client_subscribe(&set->client, set->minors));
	}
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlEventSetWait_v2(struct nvmlEventSet_st *set,
					    struct nvml_event_data *data, unsigned int timeout_ms)
{
	enum nvml_return result = nvml_begin();
	struct sim_event event;

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (set == NULL || data == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	for (;;) {
		result = nvml_from_status(client_event(&set->client, timeout_ms, &event));
		if (result != NVML_SUCCESS)
			return result;
		for (unsigned i = 0; i < nvml.count; i++) {
			if (nvml.cards[i].info.minor != event.card ||
			    (set->types[i] & nvmlEventTypeXidCriticalError) == 0)
				continue;
			*data = (struct nvml_event_data){ .device = &nvml.cards[i],
							  .eventType =
								  nvmlEventTypeXidCriticalError,
							  .eventData = event.xid,
							  .gpuInstanceId = NVML_NO_INSTANCE,
							  .computeInstanceId = NVML_NO_INSTANCE };
			return NVML_SUCCESS;
		}
	}
}

EXPORT enum nvml_return nvmlEventSetWait(struct nvmlEventSet_st *set, struct nvml_event_data *data,
					 unsigned int timeout_ms)
{
	return nvmlEventSetWait_v2(set, data, timeout_ms);
}

EXPORT enum nvml_return nvmlEventSetFree(struct nvmlEventSet_st *set)
{
	enum nvml_return result = nvml_begin();

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (set == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	client_close(&set->client);
	free(set);
	return NVML_SUCCESS;
}
