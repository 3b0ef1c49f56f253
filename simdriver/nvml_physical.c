/* SPDX-License-Identifier: Apache-2.0 */
/* Heat, power, clocks, modes. */
#include "nvml_library.h"

#include <string.h>

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
	return nvml_get_value32(device, SIM_VALUE_TEMPERATURE, temperature);
}

EXPORT enum nvml_return nvmlDeviceGetTemperatureThreshold(struct nvmlDevice_st *device,
							  enum nvml_temperature_threshold type,
							  unsigned int *temperature)
{
	if (type == NVML_TEMPERATURE_THRESHOLD_SHUTDOWN)
		return nvml_get_value32(device, SIM_VALUE_SHUTDOWN, temperature);
	if (type == NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
		return nvml_get_value32(device, SIM_VALUE_SLOWDOWN, temperature);
	return nvml_not_supported(device);
}

/* Data centre cards have no fans of their own, until a test gives them one. */
EXPORT enum nvml_return nvmlDeviceGetFanSpeed(struct nvmlDevice_st *device, unsigned int *speed)
{
	return nvml_get_value32(device, SIM_VALUE_FAN, speed);
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
	return nvml_get_value32(device, SIM_VALUE_POWER, power);
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
	return nvml_get_value32(device, SIM_VALUE_POWER_LIMIT, limit);
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
	unsigned value = NVML_PSTATE_UNKNOWN;
	enum nvml_return result =
		nvml_get_value32(device, SIM_VALUE_PSTATE, state != NULL ? &value : NULL);

	if (result == NVML_SUCCESS)
		*state = value;
	return result;
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
		return nvml_get_value32(device, SIM_VALUE_CLOCK_MEMORY, clock);
	return nvml_get_value32(device, SIM_VALUE_CLOCK_GRAPHICS, clock);
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

EXPORT enum nvml_return nvmlDeviceGetCurrentClocksThrottleReasons(struct nvmlDevice_st *device,
								  unsigned long long *reasons)
{
	return nvml_get_value(device, SIM_VALUE_CLOCK_REASONS, reasons);
}

EXPORT enum nvml_return nvmlDeviceGetCurrentClocksEventReasons(struct nvmlDevice_st *device,
							       unsigned long long *reasons)
{
	return nvml_get_value(device, SIM_VALUE_CLOCK_REASONS, reasons);
}

EXPORT enum nvml_return nvmlDeviceGetSupportedClocksThrottleReasons(struct nvmlDevice_st *device,
								    unsigned long long *reasons)
{
	enum nvml_return result = nvml_get_value(device, SIM_VALUE_CLOCK_REASONS, reasons);

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

static enum nvml_return check_repair(struct nvmlDevice_st *device, bool remaps)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	return (device->info.row_remap != 0) == remaps ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
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
