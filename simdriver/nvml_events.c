/* SPDX-License-Identifier: Apache-2.0 */
/* Events. A set has a connection of its own, so that waiting holds no lock. */
#include "nvml_library.h"

#include <stdlib.h>
#include <string.h>

struct nvmlEventSet_st {
	struct client client;
	unsigned long long types[SIM_CARDS_MAX]; /* by position in nvml.cards */
	uint64_t minors;
	bool lost, gone; /* a card of the set, the module: said again and again from then on */
};

#define SUPPORTED_EVENTS                                                                         \
	(nvmlEventTypeSingleBitEccError | nvmlEventTypeDoubleBitEccError | nvmlEventTypePState | \
	 nvmlEventTypeXidCriticalError | nvmlEventTypeClock | nvmlEventMigConfigChange)

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

static const unsigned long long types_of[SIM_EVENT_COUNT] = {
	[SIM_EVENT_XID] = nvmlEventTypeXidCriticalError,
	[SIM_EVENT_ECC] = nvmlEventTypeDoubleBitEccError,
	[SIM_EVENT_MIG] = nvmlEventMigConfigChange,
};

/* False for what this set was not asked to tell. */
static bool take_event(struct nvmlEventSet_st *set, const struct sim_event *event,
		       struct nvml_event_data *data)
{
	unsigned long long type = event->kind < SIM_EVENT_COUNT ? types_of[event->kind] : 0;

	set->gone = set->gone || event->kind == SIM_EVENT_GONE;
	set->lost = set->lost || event->kind == SIM_EVENT_LOST;
	for (unsigned i = 0; i < nvml.count; i++) {
		if (nvml.cards[i].info.minor != event->card || (set->types[i] & type) == 0)
			continue;
		*data = (struct nvml_event_data){ .device = &nvml.cards[i],
						  .eventType = type,
						  .eventData = event->value,
						  .gpuInstanceId = event->gpu_instance,
						  .computeInstanceId = event->compute_instance };
		return true;
	}
	return false;
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
		/* What came before a loss is still told. */
		result = nvml_from_status(client_event(
			&set->client, set->gone || set->lost ? 0 : timeout_ms, &event));
		if (result == NVML_ERROR_TIMEOUT && set->gone)
			return NVML_ERROR_DRIVER_NOT_LOADED;
		if (result == NVML_ERROR_TIMEOUT && set->lost)
			return NVML_ERROR_GPU_IS_LOST;
		if (result != NVML_SUCCESS)
			return result;
		if (take_event(set, &event, data))
			return NVML_SUCCESS;
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
