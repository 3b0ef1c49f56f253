/* SPDX-License-Identifier: Apache-2.0 */
#include "smi.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#define GETTER(name)                                                                            \
	static enum nvml_return get_##name(const struct smi *smi, struct nvmlDevice_st *device, \
					   char ret[SMI_TEXT_MAX])

/* A function of NVML that gives one number, divided by a scale. */
#define NUMBER_GETTER(name, function, scale)                                  \
	GETTER(name)                                                          \
	{                                                                     \
		unsigned value;                                               \
		enum nvml_return result = smi->nvml.function(device, &value); \
                                                                              \
		if (result == NVML_SUCCESS)                                   \
			snprintf(ret, SMI_TEXT_MAX, "%u", value / (scale));   \
		return result;                                                \
	}

#define TEXT_GETTER(name, function)                                   \
	GETTER(name)                                                  \
	{                                                             \
		return smi->nvml.function(device, ret, SMI_TEXT_MAX); \
	}

#define SWITCH_GETTER(name, function)                                                     \
	GETTER(name)                                                                      \
	{                                                                                 \
		enum nvml_enable_state value;                                             \
		enum nvml_return result = smi->nvml.function(device, &value);             \
                                                                                          \
		if (result == NVML_SUCCESS)                                               \
			snprintf(ret, SMI_TEXT_MAX, "%s",                                 \
				 value == NVML_FEATURE_ENABLED ? "Enabled" : "Disabled"); \
		return result;                                                            \
	}

#define WATT_GETTER(name, function)                                                              \
	GETTER(name)                                                                             \
	{                                                                                        \
		unsigned value;                                                                  \
		enum nvml_return result = smi->nvml.function(device, &value);                    \
                                                                                                 \
		if (result == NVML_SUCCESS)                                                      \
			snprintf(ret, SMI_TEXT_MAX, "%u.%02u", value / 1000, value % 1000 / 10); \
		return result;                                                                   \
	}

#define MEMORY_GETTER(name, field)                                                               \
	GETTER(name)                                                                             \
	{                                                                                        \
		struct nvml_memory_v2 memory = { .version = nvmlMemory_v2 };                     \
		enum nvml_return result = smi->nvml.nvmlDeviceGetMemoryInfo_v2(device, &memory); \
                                                                                                 \
		if (result == NVML_SUCCESS)                                                      \
			snprintf(ret, SMI_TEXT_MAX, "%llu", memory.field >> 20);                 \
		return result;                                                                   \
	}

#define BAR1_GETTER(name, field)                                                                  \
	GETTER(name)                                                                              \
	{                                                                                         \
		struct nvml_bar1_memory memory;                                                   \
		enum nvml_return result = smi->nvml.nvmlDeviceGetBAR1MemoryInfo(device, &memory); \
                                                                                                  \
		if (result == NVML_SUCCESS)                                                       \
			snprintf(ret, SMI_TEXT_MAX, "%llu", memory.field >> 20);                  \
		return result;                                                                    \
	}

#define UTILIZATION_GETTER(name, field)                                                          \
	GETTER(name)                                                                             \
	{                                                                                        \
		struct nvml_utilization use;                                                     \
		enum nvml_return result = smi->nvml.nvmlDeviceGetUtilizationRates(device, &use); \
                                                                                                 \
		if (result == NVML_SUCCESS)                                                      \
			snprintf(ret, SMI_TEXT_MAX, "%u", use.field);                            \
		return result;                                                                   \
	}

#define CLOCK_GETTER(name, function, type)                                          \
	GETTER(name)                                                                \
	{                                                                           \
		unsigned value;                                                     \
		enum nvml_return result = smi->nvml.function(device, type, &value); \
                                                                                    \
		if (result == NVML_SUCCESS)                                         \
			snprintf(ret, SMI_TEXT_MAX, "%u", value);                   \
		return result;                                                      \
	}

#define PCI_GETTER(name, format, ...)                                                      \
	GETTER(name)                                                                       \
	{                                                                                  \
		struct nvml_pci_info pci;                                                  \
		enum nvml_return result = smi->nvml.nvmlDeviceGetPciInfo_v3(device, &pci); \
                                                                                           \
		if (result == NVML_SUCCESS)                                                \
			snprintf(ret, SMI_TEXT_MAX, format, __VA_ARGS__);                  \
		return result;                                                             \
	}

#define TWO_STATES_GETTER(name, function, type, which, on, off)                               \
	GETTER(name)                                                                          \
	{                                                                                     \
		type states[2];                                                               \
		enum nvml_return result = smi->nvml.function(device, &states[0], &states[1]); \
                                                                                              \
		if (result == NVML_SUCCESS)                                                   \
			snprintf(ret, SMI_TEXT_MAX, "%s", states[which] != 0 ? on : off);     \
		return result;                                                                \
	}

#define ECC_GETTER(name, type, counter)                                                       \
	GETTER(name)                                                                          \
	{                                                                                     \
		unsigned long long value;                                                     \
		enum nvml_return result = smi->nvml.nvmlDeviceGetTotalEccErrors(              \
			device, NVML_MEMORY_ERROR_TYPE_##type, NVML_##counter##_ECC, &value); \
                                                                                              \
		if (result == NVML_SUCCESS)                                                   \
			snprintf(ret, SMI_TEXT_MAX, "%llu", value);                           \
		return result;                                                                \
	}

NUMBER_GETTER(index, nvmlDeviceGetIndex, 1)
NUMBER_GETTER(minor, nvmlDeviceGetMinorNumber, 1)
NUMBER_GETTER(fan, nvmlDeviceGetFanSpeed, 1)
NUMBER_GETTER(link_generation, nvmlDeviceGetCurrPcieLinkGeneration, 1)
NUMBER_GETTER(link_generation_max, nvmlDeviceGetMaxPcieLinkGeneration, 1)
NUMBER_GETTER(link_width, nvmlDeviceGetCurrPcieLinkWidth, 1)
NUMBER_GETTER(link_width_max, nvmlDeviceGetMaxPcieLinkWidth, 1)
NUMBER_GETTER(replays, nvmlDeviceGetPcieReplayCounter, 1)
TEXT_GETTER(name, nvmlDeviceGetName)
TEXT_GETTER(uuid, nvmlDeviceGetUUID)
TEXT_GETTER(serial, nvmlDeviceGetSerial)
TEXT_GETTER(vbios, nvmlDeviceGetVbiosVersion)
TEXT_GETTER(part_number, nvmlDeviceGetBoardPartNumber)
TEXT_GETTER(inforom_image, nvmlDeviceGetInforomImageVersion)
SWITCH_GETTER(persistence, nvmlDeviceGetPersistenceMode)
SWITCH_GETTER(display_mode, nvmlDeviceGetDisplayMode)
SWITCH_GETTER(display_active, nvmlDeviceGetDisplayActive)
WATT_GETTER(power_draw, nvmlDeviceGetPowerUsage)
WATT_GETTER(power_limit, nvmlDeviceGetEnforcedPowerLimit)
WATT_GETTER(power_default, nvmlDeviceGetPowerManagementDefaultLimit)
MEMORY_GETTER(memory_total, total)
MEMORY_GETTER(memory_reserved, reserved)
MEMORY_GETTER(memory_used, used)
MEMORY_GETTER(memory_free, free)
BAR1_GETTER(bar1_total, bar1Total)
BAR1_GETTER(bar1_used, bar1Used)
BAR1_GETTER(bar1_free, bar1Free)
UTILIZATION_GETTER(utilization_gpu, gpu)
UTILIZATION_GETTER(utilization_memory, memory)
CLOCK_GETTER(clock_graphics, nvmlDeviceGetClockInfo, NVML_CLOCK_GRAPHICS)
CLOCK_GETTER(clock_sm, nvmlDeviceGetClockInfo, NVML_CLOCK_SM)
CLOCK_GETTER(clock_memory, nvmlDeviceGetClockInfo, NVML_CLOCK_MEM)
CLOCK_GETTER(clock_video, nvmlDeviceGetClockInfo, NVML_CLOCK_VIDEO)
CLOCK_GETTER(max_graphics, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_GRAPHICS)
CLOCK_GETTER(max_sm, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_SM)
CLOCK_GETTER(max_memory, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_MEM)
CLOCK_GETTER(max_video, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_VIDEO)
CLOCK_GETTER(temperature, nvmlDeviceGetTemperature, NVML_TEMPERATURE_GPU)
CLOCK_GETTER(temperature_shutdown, nvmlDeviceGetTemperatureThreshold,
	     NVML_TEMPERATURE_THRESHOLD_SHUTDOWN)
CLOCK_GETTER(temperature_slowdown, nvmlDeviceGetTemperatureThreshold,
	     NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
PCI_GETTER(pci_address, "%s", pci.busId)
PCI_GETTER(pci_domain, "%04X", pci.domain)
PCI_GETTER(pci_bus, "%02X", pci.bus)
PCI_GETTER(pci_device, "%02X", pci.device)
PCI_GETTER(pci_device_id, "0x%08X", pci.pciDeviceId)
PCI_GETTER(pci_sub_device_id, "0x%08X", pci.pciSubSystemId)
TWO_STATES_GETTER(ecc_current, nvmlDeviceGetEccMode, enum nvml_enable_state, 0, "Enabled",
		  "Disabled")
TWO_STATES_GETTER(ecc_pending, nvmlDeviceGetEccMode, enum nvml_enable_state, 1, "Enabled",
		  "Disabled")
TWO_STATES_GETTER(mig_current, nvmlDeviceGetMigMode, unsigned, 0, "Enabled", "Disabled")
TWO_STATES_GETTER(mig_pending, nvmlDeviceGetMigMode, unsigned, 1, "Enabled", "Disabled")
ECC_GETTER(ecc_volatile_corrected, CORRECTED, VOLATILE)
ECC_GETTER(ecc_volatile_uncorrected, UNCORRECTED, VOLATILE)
ECC_GETTER(ecc_aggregate_corrected, CORRECTED, AGGREGATE)
ECC_GETTER(ecc_aggregate_uncorrected, UNCORRECTED, AGGREGATE)

GETTER(inforom_oem)
{
	return smi->nvml.nvmlDeviceGetInforomVersion(device, NVML_INFOROM_OEM, ret, SMI_TEXT_MAX);
}

GETTER(inforom_ecc)
{
	return smi->nvml.nvmlDeviceGetInforomVersion(device, NVML_INFOROM_ECC, ret, SMI_TEXT_MAX);
}

GETTER(inforom_power)
{
	return smi->nvml.nvmlDeviceGetInforomVersion(device, NVML_INFOROM_POWER, ret, SMI_TEXT_MAX);
}

GETTER(gsp)
{
	return smi->nvml.nvmlDeviceGetGspFirmwareVersion(device, ret);
}

GETTER(board_id)
{
	unsigned id;
	enum nvml_return result = smi->nvml.nvmlDeviceGetBoardId(device, &id);

	if (result == NVML_SUCCESS)
		snprintf(ret, SMI_TEXT_MAX, "0x%x", id);
	return result;
}

GETTER(power_min)
{
	unsigned lowest, highest;
	enum nvml_return result =
		smi->nvml.nvmlDeviceGetPowerManagementLimitConstraints(device, &lowest, &highest);

	if (result == NVML_SUCCESS)
		snprintf(ret, SMI_TEXT_MAX, "%u.%02u", lowest / 1000, lowest % 1000 / 10);
	return result;
}

GETTER(power_max)
{
	unsigned lowest, highest;
	enum nvml_return result =
		smi->nvml.nvmlDeviceGetPowerManagementLimitConstraints(device, &lowest, &highest);

	if (result == NVML_SUCCESS)
		snprintf(ret, SMI_TEXT_MAX, "%u.%02u", highest / 1000, highest % 1000 / 10);
	return result;
}

GETTER(pstate)
{
	enum nvml_pstate state;
	enum nvml_return result = smi->nvml.nvmlDeviceGetPerformanceState(device, &state);

	if (result == NVML_SUCCESS)
		snprintf(ret, SMI_TEXT_MAX, "P%u", (unsigned)state);
	return result;
}

GETTER(compute_capability)
{
	int major, minor;
	enum nvml_return result =
		smi->nvml.nvmlDeviceGetCudaComputeCapability(device, &major, &minor);

	if (result == NVML_SUCCESS)
		snprintf(ret, SMI_TEXT_MAX, "%d.%d", major, minor);
	return result;
}

GETTER(compute_mode)
{
	static const char *const modes[] = {
		[NVML_COMPUTEMODE_DEFAULT] = "Default",
		[NVML_COMPUTEMODE_EXCLUSIVE_THREAD] = "Exclusive_Thread",
		[NVML_COMPUTEMODE_PROHIBITED] = "Prohibited",
		[NVML_COMPUTEMODE_EXCLUSIVE_PROCESS] = "Exclusive_Process",
	};
	enum nvml_compute_mode mode;
	enum nvml_return result = smi->nvml.nvmlDeviceGetComputeMode(device, &mode);

	if (result == NVML_SUCCESS)
		snprintf(ret, SMI_TEXT_MAX, "%s", modes[mode]);
	return result;
}

GETTER(architecture)
{
	static const char *const names[] = {
		[NVML_DEVICE_ARCH_TURING] = "Turing",
		[NVML_DEVICE_ARCH_AMPERE] = "Ampere",
		[NVML_DEVICE_ARCH_ADA] = "Ada Lovelace",
		[NVML_DEVICE_ARCH_HOPPER] = "Hopper",
	};
	unsigned value;
	enum nvml_return result = smi->nvml.nvmlDeviceGetArchitecture(device, &value);

	if (result == NVML_SUCCESS)
		snprintf(ret, SMI_TEXT_MAX, "%s",
			 value < sizeof(names) / sizeof(names[0]) && names[value] != NULL
				 ? names[value]
				 : "Unknown");
	return result;
}

GETTER(driver_version)
{
	(void)device;
	snprintf(ret, SMI_TEXT_MAX, "%s", smi->driver_version);
	return NVML_SUCCESS;
}

GETTER(count)
{
	unsigned count;
	enum nvml_return result = smi->nvml.nvmlDeviceGetCount_v2(&count);

	(void)device;
	if (result == NVML_SUCCESS)
		snprintf(ret, SMI_TEXT_MAX, "%u", count);
	return result;
}

GETTER(timestamp)
{
	struct timespec now;
	struct tm parts;
	size_t length;

	(void)smi;
	(void)device;
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &parts);
	length = strftime(ret, SMI_TEXT_MAX, "%Y/%m/%d %H:%M:%S", &parts);
	snprintf(ret + length, SMI_TEXT_MAX - length, ".%03ld", now.tv_nsec / 1000000);
	return NVML_SUCCESS;
}

/* How to add a property: a getter above and a row; names as in `nvidia-smi --help-query-gpu`. */
static const struct smi_property properties[] = {
	{ "timestamp", NULL, NULL, get_timestamp },
	{ "driver_version", NULL, NULL, get_driver_version },
	{ "count", NULL, NULL, get_count },
	{ "name", "gpu_name", NULL, get_name },
	{ "serial", "gpu_serial", NULL, get_serial },
	{ "uuid", "gpu_uuid", NULL, get_uuid },
	{ "index", NULL, NULL, get_index },
	{ "minor", NULL, NULL, get_minor },
	{ "pci.bus_id", "gpu_bus_id", NULL, get_pci_address },
	{ "pci.domain", NULL, NULL, get_pci_domain },
	{ "pci.bus", NULL, NULL, get_pci_bus },
	{ "pci.device", NULL, NULL, get_pci_device },
	{ "pci.device_id", NULL, NULL, get_pci_device_id },
	{ "pci.sub_device_id", NULL, NULL, get_pci_sub_device_id },
	{ "pcie.link.gen.current", "pcie.link.gen.gpucurrent", NULL, get_link_generation },
	{ "pcie.link.gen.max", "pcie.link.gen.gpumax", NULL, get_link_generation_max },
	{ "pcie.link.width.current", NULL, NULL, get_link_width },
	{ "pcie.link.width.max", NULL, NULL, get_link_width_max },
	{ "replay_counter", NULL, NULL, get_replays },
	{ "architecture", NULL, NULL, get_architecture },
	{ "board_id", NULL, NULL, get_board_id },
	{ "board_part_number", NULL, NULL, get_part_number },
	{ "vbios_version", NULL, NULL, get_vbios },
	{ "inforom.img", "inforom.image", NULL, get_inforom_image },
	{ "inforom.oem", NULL, NULL, get_inforom_oem },
	{ "inforom.ecc", NULL, NULL, get_inforom_ecc },
	{ "inforom.pwr", "inforom.power", NULL, get_inforom_power },
	{ "gsp.version", NULL, NULL, get_gsp },
	{ "display_mode", NULL, NULL, get_display_mode },
	{ "display_active", NULL, NULL, get_display_active },
	{ "persistence_mode", NULL, NULL, get_persistence },
	{ "mig.mode.current", NULL, NULL, get_mig_current },
	{ "mig.mode.pending", NULL, NULL, get_mig_pending },
	{ "fan.speed", NULL, "%", get_fan },
	{ "pstate", NULL, NULL, get_pstate },
	{ "memory.total", NULL, "MiB", get_memory_total },
	{ "memory.reserved", NULL, "MiB", get_memory_reserved },
	{ "memory.used", NULL, "MiB", get_memory_used },
	{ "memory.free", NULL, "MiB", get_memory_free },
	{ "bar1.total", NULL, "MiB", get_bar1_total },
	{ "bar1.used", NULL, "MiB", get_bar1_used },
	{ "bar1.free", NULL, "MiB", get_bar1_free },
	{ "compute_mode", NULL, NULL, get_compute_mode },
	{ "compute_cap", NULL, NULL, get_compute_capability },
	{ "utilization.gpu", NULL, "%", get_utilization_gpu },
	{ "utilization.memory", NULL, "%", get_utilization_memory },
	{ "ecc.mode.current", NULL, NULL, get_ecc_current },
	{ "ecc.mode.pending", NULL, NULL, get_ecc_pending },
	{ "ecc.errors.corrected.volatile.total", NULL, NULL, get_ecc_volatile_corrected },
	{ "ecc.errors.uncorrected.volatile.total", NULL, NULL, get_ecc_volatile_uncorrected },
	{ "ecc.errors.corrected.aggregate.total", NULL, NULL, get_ecc_aggregate_corrected },
	{ "ecc.errors.uncorrected.aggregate.total", NULL, NULL, get_ecc_aggregate_uncorrected },
	{ "temperature.gpu", NULL, NULL, get_temperature },
	{ "temperature.shutdown", NULL, NULL, get_temperature_shutdown },
	{ "temperature.slowdown", NULL, NULL, get_temperature_slowdown },
	{ "power.draw", "power.draw.instant", "W", get_power_draw },
	{ "power.limit", NULL, "W", get_power_limit },
	{ "enforced.power.limit", NULL, "W", get_power_limit },
	{ "power.default_limit", NULL, "W", get_power_default },
	{ "power.min_limit", NULL, "W", get_power_min },
	{ "power.max_limit", NULL, "W", get_power_max },
	{ "clocks.current.graphics", "clocks.gr", "MHz", get_clock_graphics },
	{ "clocks.current.sm", "clocks.sm", "MHz", get_clock_sm },
	{ "clocks.current.memory", "clocks.mem", "MHz", get_clock_memory },
	{ "clocks.current.video", "clocks.video", "MHz", get_clock_video },
	{ "clocks.max.graphics", "clocks.max.gr", "MHz", get_max_graphics },
	{ "clocks.max.sm", NULL, "MHz", get_max_sm },
	{ "clocks.max.memory", "clocks.max.mem", "MHz", get_max_memory },
	{ "clocks.max.video", NULL, "MHz", get_max_video },
};

static bool is_named(const char *candidate, const char *name, size_t length)
{
	return candidate != NULL && strlen(candidate) == length &&
	       strncasecmp(candidate, name, length) == 0;
}

const struct smi_property *smi_property_find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		if (is_named(properties[i].name, name, length) ||
		    is_named(properties[i].alias, name, length))
			return &properties[i];
	}
	return NULL;
}

void smi_get(const struct smi *smi, const struct smi_card *card, const char *property,
	     bool with_unit, char ret[SMI_TEXT_MAX])
{
	const struct smi_property *found = smi_property_find(property, strlen(property));
	char value[SMI_TEXT_MAX];

	if (found == NULL || found->get(smi, card->device, value) != NVML_SUCCESS)
		snprintf(ret, SMI_TEXT_MAX, "N/A");
	else if (with_unit && found->unit != NULL)
		snprintf(ret, SMI_TEXT_MAX, "%.200s %s", value, found->unit);
	else
		snprintf(ret, SMI_TEXT_MAX, "%s", value);
}

static size_t add_processes(const struct smi *smi, struct nvmlDevice_st *device,
			    struct smi_process *ret, size_t room, enum nvml_return *ret_result)
{
	struct nvml_process_info infos[SMI_PROCESSES_MAX];
	unsigned count = room < SMI_PROCESSES_MAX ? (unsigned)room : SMI_PROCESSES_MAX;
	unsigned limit = count;

	*ret_result = smi->nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, &count, infos);
	if (*ret_result != NVML_SUCCESS && *ret_result != NVML_ERROR_INSUFFICIENT_SIZE)
		return 0;
	if (count > limit)
		count = limit;
	for (unsigned i = 0; i < count; i++) {
		ret[i].pid = infos[i].pid;
		ret[i].mib = infos[i].usedGpuMemory >> 20;
		ret[i].gpu_instance = infos[i].gpuInstanceId;
		ret[i].compute_instance = infos[i].computeInstanceId;
		if (smi->nvml.nvmlSystemGetProcessName(infos[i].pid, ret[i].name, SMI_TEXT_MAX) !=
		    NVML_SUCCESS)
			snprintf(ret[i].name, SMI_TEXT_MAX, "[Not Found]");
	}
	return count;
}

size_t smi_processes(const struct smi *smi, const struct smi_card *card,
		     struct smi_process ret[SMI_PROCESSES_MAX])
{
	struct smi_mig migs[SMI_MIGS_MAX];
	enum nvml_return result;
	size_t count = add_processes(smi, card->device, ret, SMI_PROCESSES_MAX, &result);
	int mig_count = result == NVML_ERROR_NO_PERMISSION ? smi_migs(smi, card, migs) : 0;

	/* A container is told of its MIG devices, not of the card. */
	for (int i = 0; i < mig_count; i++)
		count += add_processes(smi, migs[i].device, ret + count, SMI_PROCESSES_MAX - count,
				       &result);
	return count;
}
