/* SPDX-License-Identifier: Apache-2.0 */
/* What the card measures and a test can set: energy, encoders, fields, errors of the memory. */
#include "nvml_library.h"

#include <limits.h>

enum nvml_return nvml_get_value(struct nvmlDevice_st *device, enum sim_value value,
				unsigned long long *ret)
{
	struct sim_card_state state;
	enum nvml_return result = nvml_begin_card(device, &state);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (ret == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if ((state.has >> value & 1) == 0)
		return NVML_ERROR_NOT_SUPPORTED;
	*ret = state.values[value];
	return NVML_SUCCESS;
}

enum nvml_return nvml_get_value32(struct nvmlDevice_st *device, enum sim_value value, unsigned *ret)
{
	unsigned long long number = 0;
	enum nvml_return result = nvml_get_value(device, value, ret != NULL ? &number : NULL);

	if (result == NVML_SUCCESS)
		*ret = (unsigned)number;
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetTotalEnergyConsumption(struct nvmlDevice_st *device,
							    unsigned long long *energy)
{
	return nvml_get_value(device, SIM_VALUE_ENERGY, energy);
}

static enum nvml_return get_codec(struct nvmlDevice_st *device, enum sim_value value,
				  unsigned *utilization, unsigned *period)
{
	enum nvml_return result = nvml_get_value32(device, value, utilization);

	if (result == NVML_SUCCESS && period == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (result == NVML_SUCCESS)
		*period = 167000; /* microseconds, as real cards say */
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetEncoderUtilization(struct nvmlDevice_st *device,
							unsigned int *utilization,
							unsigned int *samplingPeriodUs)
{
	return get_codec(device, SIM_VALUE_ENCODER, utilization, samplingPeriodUs);
}

EXPORT enum nvml_return nvmlDeviceGetDecoderUtilization(struct nvmlDevice_st *device,
							unsigned int *utilization,
							unsigned int *samplingPeriodUs)
{
	return get_codec(device, SIM_VALUE_DECODER, utilization, samplingPeriodUs);
}

/* How to add a field: a row. */
static const struct {
	unsigned field;
	enum sim_value value;
	enum nvml_value_type type;
} fields[] = {
	{ NVML_FI_DEV_MEMORY_TEMP, SIM_VALUE_MEMORY_TEMPERATURE, NVML_VALUE_TYPE_UNSIGNED_INT },
	{ NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, SIM_VALUE_NVLINK_TX,
	  NVML_VALUE_TYPE_UNSIGNED_LONG_LONG },
	{ NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, SIM_VALUE_NVLINK_RX,
	  NVML_VALUE_TYPE_UNSIGNED_LONG_LONG },
};

static void fill_field(const struct sim_card_state *state, struct nvml_field_value *field)
{
	field->nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].field != field->fieldId || (state->has >> fields[i].value & 1) == 0)
			continue;
		field->valueType = fields[i].type;
		field->value = state->values[fields[i].value];
		field->nvmlReturn = NVML_SUCCESS;
	}
}

EXPORT enum nvml_return nvmlDeviceGetFieldValues(struct nvmlDevice_st *device, int valuesCount,
						 struct nvml_field_value *values)
{
	struct sim_card_state state;
	enum nvml_return result = nvml_begin_card(device, &state);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (values == NULL || valuesCount <= 0)
		return NVML_ERROR_INVALID_ARGUMENT;
	for (int i = 0; i < valuesCount; i++)
		fill_field(&state, &values[i]);
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetTotalEccErrors(struct nvmlDevice_st *device,
						    enum nvml_memory_error_type type,
						    enum nvml_ecc_counter_type counter,
						    unsigned long long *count)
{
	static const enum sim_value
		values[NVML_MEMORY_ERROR_TYPE_COUNT][NVML_ECC_COUNTER_TYPE_COUNT] = {
			[NVML_MEMORY_ERROR_TYPE_CORRECTED] = { SIM_VALUE_ECC_SBE_VOLATILE,
							       SIM_VALUE_ECC_SBE_AGGREGATE },
			[NVML_MEMORY_ERROR_TYPE_UNCORRECTED] = { SIM_VALUE_ECC_DBE_VOLATILE,
								 SIM_VALUE_ECC_DBE_AGGREGATE },
		};

	if (type >= NVML_MEMORY_ERROR_TYPE_COUNT || counter >= NVML_ECC_COUNTER_TYPE_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	return nvml_get_value(device, values[type][counter], count);
}

/* Cards either retire pages (Turing and older) or remap rows. The pages have no addresses here. */
EXPORT enum nvml_return nvmlDeviceGetRetiredPages(struct nvmlDevice_st *device,
						  enum nvml_page_retirement_cause cause,
						  unsigned int *count,
						  unsigned long long *addresses)
{
	unsigned room = count != NULL ? *count : 0;
	enum nvml_return result;

	if (cause >= NVML_PAGE_RETIREMENT_CAUSE_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	result = nvml_get_value32(device,
				  cause == NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR
					  ? SIM_VALUE_RETIRED_DBE
					  : SIM_VALUE_RETIRED_SBE,
				  count);
	if (result != NVML_SUCCESS)
		return result;
	for (unsigned i = 0; addresses != NULL && i < *count && i < room; i++)
		addresses[i] = 0x10000ull * (i + 1);
	return *count > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetRetiredPages_v2(struct nvmlDevice_st *device,
						     enum nvml_page_retirement_cause cause,
						     unsigned int *count,
						     unsigned long long *addresses,
						     unsigned long long *timestamps)
{
	enum nvml_return result = nvmlDeviceGetRetiredPages(device, cause, count, addresses);

	for (unsigned i = 0; result == NVML_SUCCESS && timestamps != NULL && i < *count; i++)
		timestamps[i] = 0;
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetRetiredPagesPendingStatus(struct nvmlDevice_st *device,
							       enum nvml_enable_state *pending)
{
	unsigned value = 0;
	enum nvml_return result = nvml_get_value32(device, SIM_VALUE_RETIRED_PENDING,
						   pending != NULL ? &value : NULL);

	if (result == NVML_SUCCESS)
		*pending = value != 0 ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetRemappedRows(struct nvmlDevice_st *device,
						  unsigned int *correctable,
						  unsigned int *uncorrectable,
						  unsigned int *pending, unsigned int *failed)
{
	unsigned *const results[] = { correctable, uncorrectable, pending, failed };
	enum nvml_return result = NVML_SUCCESS;

	for (unsigned i = 0; result == NVML_SUCCESS && i < 4; i++)
		result = nvml_get_value32(
			device, (enum sim_value)(SIM_VALUE_REMAPPED_CORRECTABLE + i), results[i]);
	return result;
}
