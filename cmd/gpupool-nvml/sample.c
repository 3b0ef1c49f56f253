/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a card that change while it works. Each question is one function, asked once a
 * sample; a card that does not answer one of them has no such number.
 */
#include "driver.h"

#include <limits.h>

struct sampler {
	const struct nvml_api *api;
	struct nvmlDevice_st *device;
	struct record_sample *record;
};

static void put(const struct sampler *of, enum record_value value, enum nvml_return code,
		uint64_t number)
{
	if (code != NVML_SUCCESS)
		return;
	of->record->has |= UINT64_C(1) << value;
	of->record->values[value] = number;
}

/* Questions of one number have one of three shapes. */
typedef enum nvml_return (*ask_unsigned)(struct nvmlDevice_st *device, unsigned *ret);
typedef enum nvml_return (*ask_long)(struct nvmlDevice_st *device, unsigned long long *ret);
typedef enum nvml_return (*ask_period)(struct nvmlDevice_st *device, unsigned *ret, unsigned *us);

static void put_unsigned(const struct sampler *of, enum record_value value, ask_unsigned ask)
{
	enum nvml_return code;
	unsigned number = 0;

	if (!ask)
		return;
	code = ask(of->device, &number);
	put(of, value, code, number);
}

static void put_long(const struct sampler *of, enum record_value value, ask_long ask)
{
	unsigned long long number = 0;
	enum nvml_return code;

	if (!ask)
		return;
	code = ask(of->device, &number);
	put(of, value, code, number);
}

static void put_period(const struct sampler *of, enum record_value value, ask_period ask)
{
	unsigned number = 0, us = 0;
	enum nvml_return code;

	if (!ask)
		return;
	code = ask(of->device, &number, &us);
	put(of, value, code, number);
}

static void sample_clocks(const struct sampler *of)
{
	const struct nvml_api *api = of->api;
	enum nvml_pstate state = NVML_PSTATE_UNKNOWN;
	enum nvml_return code;
	unsigned clock = 0;

	if (api->nvmlDeviceGetClockInfo) {
		code = api->nvmlDeviceGetClockInfo(of->device, NVML_CLOCK_SM, &clock);
		put(of, RECORD_VALUE_SM_CLOCK, code, clock);
		code = api->nvmlDeviceGetClockInfo(of->device, NVML_CLOCK_MEM, &clock);
		put(of, RECORD_VALUE_MEM_CLOCK, code, clock);
	}
	/* The newer name of the same question. */
	put_long(of, RECORD_VALUE_CLOCK_REASONS,
		 api->nvmlDeviceGetCurrentClocksEventReasons
			 ? api->nvmlDeviceGetCurrentClocksEventReasons
			 : api->nvmlDeviceGetCurrentClocksThrottleReasons);
	if (api->nvmlDeviceGetPerformanceState) {
		code = api->nvmlDeviceGetPerformanceState(of->device, &state);
		if (state != NVML_PSTATE_UNKNOWN)
			put(of, RECORD_VALUE_PSTATE, code, state);
	}
	put_unsigned(of, RECORD_VALUE_FAN_SPEED, api->nvmlDeviceGetFanSpeed);
}

static void sample_heat(const struct sampler *of)
{
	const struct nvml_api *api = of->api;
	enum nvml_return code;
	unsigned number = 0;

	if (api->nvmlDeviceGetTemperature) {
		code = api->nvmlDeviceGetTemperature(of->device, NVML_TEMPERATURE_GPU, &number);
		put(of, RECORD_VALUE_GPU_TEMP, code, number);
	}
	if (api->nvmlDeviceGetTemperatureThreshold) {
		code = api->nvmlDeviceGetTemperatureThreshold(
			of->device, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN, &number);
		put(of, RECORD_VALUE_SLOWDOWN_TEMP, code, number);
		code = api->nvmlDeviceGetTemperatureThreshold(
			of->device, NVML_TEMPERATURE_THRESHOLD_SHUTDOWN, &number);
		put(of, RECORD_VALUE_SHUTDOWN_TEMP, code, number);
	}
	put_unsigned(of, RECORD_VALUE_POWER_USAGE, api->nvmlDeviceGetPowerUsage);
	put_unsigned(of, RECORD_VALUE_POWER_LIMIT, api->nvmlDeviceGetEnforcedPowerLimit);
	put_long(of, RECORD_VALUE_ENERGY, api->nvmlDeviceGetTotalEnergyConsumption);
}

static void sample_use(const struct sampler *of)
{
	const struct nvml_api *api = of->api;
	struct nvml_utilization use = { 0 };
	enum nvml_return code;

	if (api->nvmlDeviceGetUtilizationRates) {
		code = api->nvmlDeviceGetUtilizationRates(of->device, &use);
		put(of, RECORD_VALUE_GPU_UTIL, code, use.gpu);
		put(of, RECORD_VALUE_MEM_UTIL, code, use.memory);
	}
	put_period(of, RECORD_VALUE_ENC_UTIL, api->nvmlDeviceGetEncoderUtilization);
	put_period(of, RECORD_VALUE_DEC_UTIL, api->nvmlDeviceGetDecoderUtilization);
}

/* The second version tells what the driver keeps; in the first that is a part of what is used. */
static void sample_memory(const struct sampler *of)
{
	const struct nvml_api *api = of->api;
	struct nvml_memory_v2 memory = { .version = nvmlMemory_v2 };
	struct nvml_memory first = { 0 };
	enum nvml_return code = NVML_ERROR_NOT_SUPPORTED;

	if (api->nvmlDeviceGetMemoryInfo_v2)
		code = api->nvmlDeviceGetMemoryInfo_v2(of->device, &memory);
	put(of, RECORD_VALUE_FB_RESERVED, code, memory.reserved);
	if (code != NVML_SUCCESS) {
		code = api->nvmlDeviceGetMemoryInfo(of->device, &first);
		memory.total = first.total;
		memory.used = first.used;
		memory.free = first.free;
	}
	put(of, RECORD_VALUE_FB_TOTAL, code, memory.total);
	put(of, RECORD_VALUE_FB_USED, code, memory.used);
	put(of, RECORD_VALUE_FB_FREE, code, memory.free);
}

static void sample_bus(const struct sampler *of)
{
	const struct nvml_api *api = of->api;
	struct nvml_bar1_memory bar = { 0 };
	enum nvml_return code;

	if (api->nvmlDeviceGetBAR1MemoryInfo) {
		code = api->nvmlDeviceGetBAR1MemoryInfo(of->device, &bar);
		put(of, RECORD_VALUE_BAR1_TOTAL, code, bar.bar1Total);
		put(of, RECORD_VALUE_BAR1_USED, code, bar.bar1Used);
		put(of, RECORD_VALUE_BAR1_FREE, code, bar.bar1Free);
	}
	put_unsigned(of, RECORD_VALUE_PCIE_REPLAY, api->nvmlDeviceGetPcieReplayCounter);
	put_unsigned(of, RECORD_VALUE_PCIE_LINK_GEN, api->nvmlDeviceGetCurrPcieLinkGeneration);
	put_unsigned(of, RECORD_VALUE_PCIE_LINK_WIDTH, api->nvmlDeviceGetCurrPcieLinkWidth);
	put_unsigned(of, RECORD_VALUE_PCIE_MAX_LINK_GEN, api->nvmlDeviceGetMaxPcieLinkGeneration);
	put_unsigned(of, RECORD_VALUE_PCIE_MAX_LINK_WIDTH, api->nvmlDeviceGetMaxPcieLinkWidth);
}

static void sample_errors(const struct sampler *of)
{
	static const struct {
		enum record_value value;
		enum nvml_memory_error_type type;
		enum nvml_ecc_counter_type counter;
	} rows[] = {
		{ RECORD_VALUE_ECC_SBE_VOLATILE, NVML_MEMORY_ERROR_TYPE_CORRECTED,
		  NVML_VOLATILE_ECC },
		{ RECORD_VALUE_ECC_DBE_VOLATILE, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
		  NVML_VOLATILE_ECC },
		{ RECORD_VALUE_ECC_SBE_AGGREGATE, NVML_MEMORY_ERROR_TYPE_CORRECTED,
		  NVML_AGGREGATE_ECC },
		{ RECORD_VALUE_ECC_DBE_AGGREGATE, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
		  NVML_AGGREGATE_ECC },
	};

	for (size_t i = 0; of->api->nvmlDeviceGetTotalEccErrors && i < ARRAY_SIZE(rows); i++) {
		unsigned long long errors = 0;
		enum nvml_return code = of->api->nvmlDeviceGetTotalEccErrors(
			of->device, rows[i].type, rows[i].counter, &errors);

		put(of, rows[i].value, code, errors);
	}
}

/* Cards either retire pages or remap rows. */
static void sample_repairs(const struct sampler *of)
{
	const struct nvml_api *api = of->api;
	enum nvml_enable_state waits = NVML_FEATURE_DISABLED;
	unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0, pages = 0;
	enum nvml_return code;

	for (unsigned cause = 0; api->nvmlDeviceGetRetiredPages && cause < 2; cause++) {
		/* A count of 0 asks for the number alone. */
		pages = 0;
		code = api->nvmlDeviceGetRetiredPages(
			of->device, (enum nvml_page_retirement_cause)cause, &pages, NULL);
		put(of, cause == 0 ? RECORD_VALUE_RETIRED_SBE : RECORD_VALUE_RETIRED_DBE,
		    code == NVML_ERROR_INSUFFICIENT_SIZE ? NVML_SUCCESS : code, pages);
	}
	if (api->nvmlDeviceGetRetiredPagesPendingStatus) {
		code = api->nvmlDeviceGetRetiredPagesPendingStatus(of->device, &waits);
		put(of, RECORD_VALUE_RETIRED_PENDING, code, waits == NVML_FEATURE_ENABLED);
	}
	if (!api->nvmlDeviceGetRemappedRows)
		return;
	code = api->nvmlDeviceGetRemappedRows(of->device, &corrected, &uncorrected, &pending,
					      &failed);
	put(of, RECORD_VALUE_REMAPPED_CORRECTABLE, code, corrected);
	put(of, RECORD_VALUE_REMAPPED_UNCORRECTABLE, code, uncorrected);
	put(of, RECORD_VALUE_REMAPPED_PENDING, code, pending != 0);
	put(of, RECORD_VALUE_REMAPPED_FAILED, code, failed != 0);
}

/* A field says its own type; a negative number or a fraction is none of ours. */
static bool field_number(const struct nvml_field_value *field, uint64_t *ret)
{
	if (field->nvmlReturn != NVML_SUCCESS)
		return false;
	*ret = field->value;
	if (field->valueType == NVML_VALUE_TYPE_UNSIGNED_INT)
		*ret = (uint32_t)field->value;
	return field->valueType == NVML_VALUE_TYPE_UNSIGNED_INT ||
	       field->valueType == NVML_VALUE_TYPE_UNSIGNED_LONG ||
	       field->valueType == NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
}

static void sample_fields(const struct sampler *of)
{
	static const struct {
		enum record_value value;
		unsigned field, scope;
	} rows[] = {
		{ RECORD_VALUE_MEMORY_TEMP, NVML_FI_DEV_MEMORY_TEMP, 0 },
		{ RECORD_VALUE_NVLINK_TX, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, UINT_MAX },
		{ RECORD_VALUE_NVLINK_RX, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, UINT_MAX },
	};
	struct nvml_field_value fields[ARRAY_SIZE(rows)] = { 0 };
	uint64_t number = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		fields[i].fieldId = rows[i].field;
		fields[i].scopeId = rows[i].scope;
		fields[i].nvmlReturn = NVML_ERROR_UNKNOWN; /* until the driver has written it */
	}
	if (!of->api->nvmlDeviceGetFieldValues ||
	    of->api->nvmlDeviceGetFieldValues(of->device, (int)ARRAY_SIZE(rows), fields) !=
		    NVML_SUCCESS)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (field_number(&fields[i], &number))
			put(of, rows[i].value, NVML_SUCCESS, number);
}

void sample_take(const struct nvml_api *api, struct nvmlDevice_st *device,
		 struct record_sample *ret)
{
	static void (*const parts[])(const struct sampler *of) = {
		sample_clocks, sample_heat,   sample_use,     sample_memory,
		sample_bus,    sample_errors, sample_repairs, sample_fields,
	};
	const struct sampler of = { .api = api, .device = device, .record = ret };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		parts[i](&of);
}
