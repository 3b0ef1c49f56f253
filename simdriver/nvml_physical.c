/* SPDX-License-Identifier: Apache-2.0 */
/* Heat, power, clocks, modes, and errors of the memory (there are none). */
#include "nvml_library.h"

#include <string.h>

/* A field of the card's state, at that offset of struct sim_card_state. */
static enum nvml_return get_state(struct nvmlDevice_st *device, size_t offset, unsigned *ret)
{
	struct sim_card_state state;
	enum nvml_return result = nvml_begin_card(device, &state);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (ret == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	memcpy(ret, (const char *)&state + offset, sizeof(*ret));
	return NVML_SUCCESS;
}

#define STATE(field) offsetof(struct sim_card_state, field)

static enum nvml_return get_switch(struct nvmlDevice_st *device, enum nvml_enable_state value,
				   enum nvml_enable_state *ret)
{
	unsigned number = 0;
	enum nvml_return result = nvml_get_fixed(device, value, &number);

	if (result == NVML_SUCCESS && ret == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (result == NVML_SUCCESS)
		*ret = number;
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetTemperature(struct nvmlDevice_st *device,
						 enum nvml_temperature_sensor sensor,
						 unsigned int *temperature)
{
	if (sensor != NVML_TEMPERATURE_GPU)
		return NVML_ERROR_INVALID_ARGUMENT;
	return get_state(device, STATE(temperature), temperature);
}

EXPORT enum nvml_return nvmlDeviceGetTemperatureThreshold(struct nvmlDevice_st *device,
							  enum nvml_temperature_threshold type,
							  unsigned int *temperature)
{
	if (type == NVML_TEMPERATURE_THRESHOLD_SHUTDOWN)
		return nvml_get_number(device, NVML_INFO(temperature_shutdown), temperature);
	if (type == NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
		return nvml_get_number(device, NVML_INFO(temperature_slowdown), temperature);
	return nvml_not_supported(device);
}

/* Data centre cards have no fans of their own. */
EXPORT enum nvml_return nvmlDeviceGetFanSpeed(struct nvmlDevice_st *device, unsigned int *speed)
{
	(void)speed;
	return nvml_not_supported(device);
}

EXPORT enum nvml_return nvmlDeviceGetFanSpeed_v2(struct nvmlDevice_st *device, unsigned int fan,
						 unsigned int *speed)
{
	(void)fan;
	(void)speed;
	return nvml_not_supported(device);
}

EXPORT enum nvml_return nvmlDeviceGetNumFans(struct nvmlDevice_st *device, unsigned int *count)
{
	return nvml_get_fixed(device, 0, count);
}

EXPORT enum nvml_return nvmlDeviceGetPowerUsage(struct nvmlDevice_st *device, unsigned int *power)
{
	return get_state(device, STATE(power_mw), power);
}

EXPORT enum nvml_return nvmlDeviceGetPowerManagementMode(struct nvmlDevice_st *device,
							 enum nvml_enable_state *mode)
{
	return get_switch(device, NVML_FEATURE_ENABLED, mode);
}

EXPORT enum nvml_return nvmlDeviceGetPowerManagementLimit(struct nvmlDevice_st *device,
							  unsigned int *limit)
{
	return nvml_get_number(device, NVML_INFO(power_limit_mw), limit);
}

EXPORT enum nvml_return nvmlDeviceGetPowerManagementDefaultLimit(struct nvmlDevice_st *device,
								 unsigned int *limit)
{
	return nvml_get_number(device, NVML_INFO(power_limit_mw), limit);
}

EXPORT enum nvml_return nvmlDeviceGetEnforcedPowerLimit(struct nvmlDevice_st *device,
							unsigned int *limit)
{
	return nvml_get_number(device, NVML_INFO(power_limit_mw), limit);
}

EXPORT enum nvml_return nvmlDeviceGetPowerManagementLimitConstraints(struct nvmlDevice_st *device,
								     unsigned int *lowest,
								     unsigned int *highest)
{
	enum nvml_return result = nvml_get_number(device, NVML_INFO(power_min_mw), lowest);

	return result != NVML_SUCCESS ? result
				      : nvml_get_number(device, NVML_INFO(power_max_mw), highest);
}

EXPORT enum nvml_return nvmlDeviceGetPerformanceState(struct nvmlDevice_st *device,
						      enum nvml_pstate *state)
{
	unsigned clock = 0;
	enum nvml_return result = get_state(device, STATE(clock_graphics_mhz), &clock);

	if (result != NVML_SUCCESS)
		return result;
	if (state == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	/* HBM cards rest in P0, T4 and L4 fall to P8. */
	*state = device->info.bus_width < 1024 && clock == device->info.clock_idle_mhz
			 ? NVML_PSTATE_8
			 : NVML_PSTATE_0;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetPowerState(struct nvmlDevice_st *device,
						enum nvml_pstate *state)
{
	return nvmlDeviceGetPerformanceState(device, state);
}

EXPORT enum nvml_return nvmlDeviceGetClockInfo(struct nvmlDevice_st *device,
					       enum nvml_clock_type type, unsigned int *clock)
{
	if (type >= NVML_CLOCK_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (type == NVML_CLOCK_MEM)
		return get_state(device, STATE(clock_memory_mhz), clock);
	return get_state(device, STATE(clock_graphics_mhz), clock);
}

EXPORT enum nvml_return nvmlDeviceGetMaxClockInfo(struct nvmlDevice_st *device,
						  enum nvml_clock_type type, unsigned int *clock)
{
	static const size_t fields[NVML_CLOCK_COUNT] = {
		[NVML_CLOCK_GRAPHICS] = NVML_INFO(clock_graphics_mhz),
		[NVML_CLOCK_SM] = NVML_INFO(clock_graphics_mhz),
		[NVML_CLOCK_MEM] = NVML_INFO(clock_memory_mhz),
		[NVML_CLOCK_VIDEO] = NVML_INFO(clock_video_mhz),
	};

	if (type >= NVML_CLOCK_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	return nvml_get_number(device, fields[type], clock);
}

static enum nvml_return get_reasons(struct nvmlDevice_st *device, unsigned long long *ret)
{
	struct sim_card_state state;
	enum nvml_return result = nvml_begin_card(device, &state);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (ret == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*ret = state.utilization == 0 ? nvmlClocksThrottleReasonGpuIdle
				      : nvmlClocksThrottleReasonNone;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetCurrentClocksThrottleReasons(struct nvmlDevice_st *device,
								  unsigned long long *reasons)
{
	return get_reasons(device, reasons);
}

EXPORT enum nvml_return nvmlDeviceGetCurrentClocksEventReasons(struct nvmlDevice_st *device,
							       unsigned long long *reasons)
{
	return get_reasons(device, reasons);
}

EXPORT enum nvml_return nvmlDeviceGetSupportedClocksThrottleReasons(struct nvmlDevice_st *device,
								    unsigned long long *reasons)
{
	enum nvml_return result = get_reasons(device, reasons);

	if (result == NVML_SUCCESS)
		*reasons = nvmlClocksThrottleReasonAll;
	return result;
}

/* nvidia-persistenced runs, or nothing would answer. */
EXPORT enum nvml_return nvmlDeviceGetPersistenceMode(struct nvmlDevice_st *device,
						     enum nvml_enable_state *mode)
{
	return get_switch(device, NVML_FEATURE_ENABLED, mode);
}

EXPORT enum nvml_return nvmlDeviceGetComputeMode(struct nvmlDevice_st *device,
						 enum nvml_compute_mode *mode)
{
	unsigned value = 0;
	enum nvml_return result = nvml_get_fixed(device, NVML_COMPUTEMODE_DEFAULT, &value);

	if (result == NVML_SUCCESS && mode == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (result == NVML_SUCCESS)
		*mode = value;
	return result;
}

/* "Enabled" without any display is what data centre cards say. */
EXPORT enum nvml_return nvmlDeviceGetDisplayMode(struct nvmlDevice_st *device,
						 enum nvml_enable_state *display)
{
	return get_switch(device, NVML_FEATURE_ENABLED, display);
}

EXPORT enum nvml_return nvmlDeviceGetDisplayActive(struct nvmlDevice_st *device,
						   enum nvml_enable_state *active)
{
	return get_switch(device, NVML_FEATURE_DISABLED, active);
}

EXPORT enum nvml_return nvmlDeviceGetAccountingMode(struct nvmlDevice_st *device,
						    enum nvml_enable_state *mode)
{
	return get_switch(device, NVML_FEATURE_DISABLED, mode);
}

EXPORT enum nvml_return nvmlDeviceGetEccMode(struct nvmlDevice_st *device,
					     enum nvml_enable_state *current,
					     enum nvml_enable_state *pending)
{
	enum nvml_return result = get_switch(device, NVML_FEATURE_ENABLED, current);

	return result != NVML_SUCCESS ? result : get_switch(device, NVML_FEATURE_ENABLED, pending);
}

EXPORT enum nvml_return nvmlDeviceGetDefaultEccMode(struct nvmlDevice_st *device,
						    enum nvml_enable_state *mode)
{
	return get_switch(device, NVML_FEATURE_ENABLED, mode);
}

static enum nvml_return no_errors(struct nvmlDevice_st *device, enum nvml_memory_error_type type,
				  enum nvml_ecc_counter_type counter, void *ret, size_t size)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (ret == NULL || type >= NVML_MEMORY_ERROR_TYPE_COUNT ||
	    counter >= NVML_ECC_COUNTER_TYPE_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	memset(ret, 0, size);
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetTotalEccErrors(struct nvmlDevice_st *device,
						    enum nvml_memory_error_type type,
						    enum nvml_ecc_counter_type counter,
						    unsigned long long *count)
{
	return no_errors(device, type, counter, count, sizeof(*count));
}

EXPORT enum nvml_return nvmlDeviceGetDetailedEccErrors(struct nvmlDevice_st *device,
						       enum nvml_memory_error_type type,
						       enum nvml_ecc_counter_type counter,
						       struct nvml_ecc_error_counts *counts)
{
	return no_errors(device, type, counter, counts, sizeof(*counts));
}

EXPORT enum nvml_return nvmlDeviceGetMemoryErrorCounter(struct nvmlDevice_st *device,
							enum nvml_memory_error_type type,
							enum nvml_ecc_counter_type counter,
							enum nvml_memory_location location,
							unsigned long long *count)
{
	if (location >= NVML_MEMORY_LOCATION_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	return no_errors(device, type, counter, count, sizeof(*count));
}

/* Cards either retire pages (Turing and older) or remap rows. */
static enum nvml_return check_repair(struct nvmlDevice_st *device, bool remaps)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	return (device->info.row_remap != 0) == remaps ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

EXPORT enum nvml_return nvmlDeviceGetRetiredPages(struct nvmlDevice_st *device,
						  enum nvml_page_retirement_cause cause,
						  unsigned int *count,
						  unsigned long long *addresses)
{
	enum nvml_return result = check_repair(device, false);

	(void)addresses;
	if (result != NVML_SUCCESS)
		return result;
	if (count == NULL || cause >= NVML_PAGE_RETIREMENT_CAUSE_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	*count = 0;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetRetiredPages_v2(struct nvmlDevice_st *device,
						     enum nvml_page_retirement_cause cause,
						     unsigned int *count,
						     unsigned long long *addresses,
						     unsigned long long *timestamps)
{
	(void)timestamps;
	return nvmlDeviceGetRetiredPages(device, cause, count, addresses);
}

EXPORT enum nvml_return nvmlDeviceGetRetiredPagesPendingStatus(struct nvmlDevice_st *device,
							       enum nvml_enable_state *pending)
{
	enum nvml_return result = check_repair(device, false);

	return result != NVML_SUCCESS ? result : get_switch(device, NVML_FEATURE_DISABLED, pending);
}

EXPORT enum nvml_return nvmlDeviceGetRemappedRows(struct nvmlDevice_st *device,
						  unsigned int *correctable,
						  unsigned int *uncorrectable,
						  unsigned int *pending, unsigned int *failed)
{
	enum nvml_return result = check_repair(device, true);

	if (result != NVML_SUCCESS)
		return result;
	if (correctable == NULL || uncorrectable == NULL || pending == NULL || failed == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*correctable = *uncorrectable = *pending = *failed = 0;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetRowRemapperHistogram(
	struct nvmlDevice_st *device, struct nvml_row_remapper_histogram *values)
{
	enum nvml_return result = check_repair(device, true);

	if (result != NVML_SUCCESS)
		return result;
	if (values == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*values = (struct nvml_row_remapper_histogram){ .max = 640 }; /* banks, all whole */
	return NVML_SUCCESS;
}
