/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of NVML's C interface that gpupool and its tests use: own declarations of the same
 * binary layout. Facts (names, numbers, order of fields) are those of the public nvml.h of CUDA
 * 12.x; a test compares them with NVIDIA's header where that can be had.
 *
 * The names of functions, constants and fields are NVML's own, so that its documentation applies;
 * types are plain structs and enums. Numbers: memory in bytes, power in milliwatts, clocks in MHz,
 * temperature in degrees Celsius, PCIe throughput in KiB/s.
 *
 * How to add: the type, the constants, the prototype, and the row in nvml_symbols.def.
 */
#pragma once

struct nvmlDevice_st;   /* a card or MIG device; valid from init to the last shutdown */
struct nvmlEventSet_st; /* owned by the caller: nvmlEventSetFree */

#define NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE      32
#define NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE   16
#define NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE 16
#define NVML_DEVICE_UUID_BUFFER_SIZE            80
#define NVML_DEVICE_UUID_V2_BUFFER_SIZE         96
#define NVML_DEVICE_PART_NUMBER_BUFFER_SIZE     80
#define NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE  80
#define NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE    80
#define NVML_DEVICE_NAME_BUFFER_SIZE            64
#define NVML_DEVICE_NAME_V2_BUFFER_SIZE         96
#define NVML_DEVICE_SERIAL_BUFFER_SIZE          30
#define NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE   32
#define NVML_GSP_FIRMWARE_VERSION_BUF_SIZE      64
#define NVML_NVLINK_MAX_LINKS                   18

#define NVML_INIT_FLAG_NO_GPUS   1u
#define NVML_INIT_FLAG_NO_ATTACH 2u

#define NVML_VALUE_NOT_AVAILABLE_ULL (~0ull)     /* usedGpuMemory that the driver cannot tell */
#define NVML_NO_INSTANCE             0xFFFFFFFFu /* gpuInstanceId, computeInstanceId without MIG */

#define NVML_DEVICE_MIG_DISABLE 0u
#define NVML_DEVICE_MIG_ENABLE  1u

#define NVML_AFFINITY_SCOPE_NODE   0u
#define NVML_AFFINITY_SCOPE_SOCKET 1u

#define NVML_DEVICE_ARCH_TURING  6u
#define NVML_DEVICE_ARCH_AMPERE  7u
#define NVML_DEVICE_ARCH_ADA     8u
#define NVML_DEVICE_ARCH_HOPPER  9u
#define NVML_DEVICE_ARCH_UNKNOWN 0xFFFFFFFFu

#define NVML_BUS_TYPE_PCIE 2u

/* Bits of nvmlDeviceRegisterEvents. */
#define nvmlEventTypeSingleBitEccError 0x1ull
#define nvmlEventTypeDoubleBitEccError 0x2ull
#define nvmlEventTypePState            0x4ull
#define nvmlEventTypeXidCriticalError  0x8ull
#define nvmlEventTypeClock             0x10ull
#define nvmlEventTypePowerSourceChange 0x80ull
#define nvmlEventMigConfigChange       0x100ull

/* Bits of nvmlDeviceGetCurrentClocksThrottleReasons. */
#define nvmlClocksThrottleReasonGpuIdle 0x1ull
#define nvmlClocksThrottleReasonNone    0x0ull
#define nvmlClocksThrottleReasonAll     0x1FFull

/* Fields of nvmlDeviceGetFieldValues. */
#define NVML_FI_DEV_MEMORY_TEMP               82  /* degrees Celsius */
#define NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX 138 /* KiB; scope: a link, or ~0u for all */
#define NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX 139

/* A versioned struct carries its size and version in its first field. */
#define NVML_VERSIONED(type, number) ((unsigned)(sizeof(type) | ((unsigned)(number) << 24)))
#define nvmlMemory_v2                NVML_VERSIONED(struct nvml_memory_v2, 2)
#define nvmlPciInfoExt_v1            NVML_VERSIONED(struct nvml_pci_info_ext, 1)
#define nvmlProcessDetailList_v1     NVML_VERSIONED(struct nvml_process_detail_list, 1)

enum nvml_return {
	NVML_SUCCESS = 0,
	NVML_ERROR_UNINITIALIZED = 1,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_SUPPORTED = 3,
	NVML_ERROR_NO_PERMISSION = 4,
	NVML_ERROR_ALREADY_INITIALIZED = 5,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7,
	NVML_ERROR_INSUFFICIENT_POWER = 8,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
	NVML_ERROR_TIMEOUT = 10,
	NVML_ERROR_IRQ_ISSUE = 11,
	NVML_ERROR_LIBRARY_NOT_FOUND = 12,
	NVML_ERROR_FUNCTION_NOT_FOUND = 13,
	NVML_ERROR_CORRUPTED_INFOROM = 14,
	NVML_ERROR_GPU_IS_LOST = 15,
	NVML_ERROR_RESET_REQUIRED = 16,
	NVML_ERROR_OPERATING_SYSTEM = 17,
	NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
	NVML_ERROR_IN_USE = 19,
	NVML_ERROR_MEMORY = 20,
	NVML_ERROR_NO_DATA = 21,
	NVML_ERROR_VGPU_ECC_NOT_SUPPORTED = 22,
	NVML_ERROR_INSUFFICIENT_RESOURCES = 23,
	NVML_ERROR_FREQ_NOT_SUPPORTED = 24,
	NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
	NVML_ERROR_DEPRECATED = 26,
	NVML_ERROR_NOT_READY = 27,
	NVML_ERROR_GPU_NOT_FOUND = 28,
	NVML_ERROR_INVALID_STATE = 29,
	NVML_ERROR_UNKNOWN = 999,
};

enum nvml_enable_state {
	NVML_FEATURE_DISABLED = 0,
	NVML_FEATURE_ENABLED = 1,
};

enum nvml_brand {
	NVML_BRAND_UNKNOWN = 0,
	NVML_BRAND_QUADRO = 1,
	NVML_BRAND_TESLA = 2,
	NVML_BRAND_NVS = 3,
	NVML_BRAND_GRID = 4,
	NVML_BRAND_GEFORCE = 5,
	NVML_BRAND_TITAN = 6,
	NVML_BRAND_NVIDIA_VAPPS = 7,
	NVML_BRAND_NVIDIA_VPC = 8,
	NVML_BRAND_NVIDIA_VCS = 9,
	NVML_BRAND_NVIDIA_VWS = 10,
	NVML_BRAND_NVIDIA_CLOUD_GAMING = 11,
	NVML_BRAND_QUADRO_RTX = 12,
	NVML_BRAND_NVIDIA_RTX = 13,
	NVML_BRAND_NVIDIA = 14,
	NVML_BRAND_GEFORCE_RTX = 15,
	NVML_BRAND_TITAN_RTX = 16,
};

enum nvml_topology_level {
	NVML_TOPOLOGY_INTERNAL = 0,
	NVML_TOPOLOGY_SINGLE = 10,
	NVML_TOPOLOGY_MULTIPLE = 20,
	NVML_TOPOLOGY_HOSTBRIDGE = 30,
	NVML_TOPOLOGY_NODE = 40,
	NVML_TOPOLOGY_SYSTEM = 50,
};

enum nvml_p2p_status {
	NVML_P2P_STATUS_OK = 0,
	NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED = 1,
	NVML_P2P_STATUS_GPU_NOT_SUPPORTED = 2,
	NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED = 3,
	NVML_P2P_STATUS_DISABLED_BY_REGKEY = 4,
	NVML_P2P_STATUS_NOT_SUPPORTED = 5,
	NVML_P2P_STATUS_UNKNOWN = 6,
};

enum nvml_p2p_caps_index {
	NVML_P2P_CAPS_INDEX_READ = 0,
	NVML_P2P_CAPS_INDEX_WRITE = 1,
	NVML_P2P_CAPS_INDEX_NVLINK = 2,
	NVML_P2P_CAPS_INDEX_ATOMICS = 3,
	NVML_P2P_CAPS_INDEX_PCI = 4,
	NVML_P2P_CAPS_INDEX_UNKNOWN = 5,
};

enum nvml_nvlink_capability {
	NVML_NVLINK_CAP_P2P_SUPPORTED = 0,
	NVML_NVLINK_CAP_SYSMEM_ACCESS = 1,
	NVML_NVLINK_CAP_P2P_ATOMICS = 2,
	NVML_NVLINK_CAP_SYSMEM_ATOMICS = 3,
	NVML_NVLINK_CAP_SLI_BRIDGE = 4,
	NVML_NVLINK_CAP_VALID = 5,
	NVML_NVLINK_CAP_COUNT = 6,
};

enum nvml_nvlink_device_type {
	NVML_NVLINK_DEVICE_TYPE_GPU = 0,
	NVML_NVLINK_DEVICE_TYPE_SWITCH = 2,
	NVML_NVLINK_DEVICE_TYPE_UNKNOWN = 0xFF,
};

enum nvml_temperature_threshold {
	NVML_TEMPERATURE_THRESHOLD_SHUTDOWN = 0,
	NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1,
	NVML_TEMPERATURE_THRESHOLD_MEM_MAX = 2,
	NVML_TEMPERATURE_THRESHOLD_GPU_MAX = 3,
};

enum nvml_temperature_sensor {
	NVML_TEMPERATURE_GPU = 0,
};

enum nvml_compute_mode {
	NVML_COMPUTEMODE_DEFAULT = 0,
	NVML_COMPUTEMODE_EXCLUSIVE_THREAD = 1,
	NVML_COMPUTEMODE_PROHIBITED = 2,
	NVML_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
};

enum nvml_memory_error_type {
	NVML_MEMORY_ERROR_TYPE_CORRECTED = 0,
	NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1,
	NVML_MEMORY_ERROR_TYPE_COUNT = 2,
};

enum nvml_ecc_counter_type {
	NVML_VOLATILE_ECC = 0,
	NVML_AGGREGATE_ECC = 1,
	NVML_ECC_COUNTER_TYPE_COUNT = 2,
};

enum nvml_memory_location {
	NVML_MEMORY_LOCATION_L1_CACHE = 0,
	NVML_MEMORY_LOCATION_L2_CACHE = 1,
	NVML_MEMORY_LOCATION_DEVICE_MEMORY = 2,
	NVML_MEMORY_LOCATION_REGISTER_FILE = 3,
	NVML_MEMORY_LOCATION_TEXTURE_MEMORY = 4,
	NVML_MEMORY_LOCATION_SRAM = 7,
	NVML_MEMORY_LOCATION_COUNT = 8,
};

enum nvml_clock_type {
	NVML_CLOCK_GRAPHICS = 0,
	NVML_CLOCK_SM = 1,
	NVML_CLOCK_MEM = 2,
	NVML_CLOCK_VIDEO = 3,
	NVML_CLOCK_COUNT = 4,
};

enum nvml_pstate {
	NVML_PSTATE_0 = 0,
	NVML_PSTATE_8 = 8,
	NVML_PSTATE_UNKNOWN = 32,
};

enum nvml_inforom_object {
	NVML_INFOROM_OEM = 0,
	NVML_INFOROM_ECC = 1,
	NVML_INFOROM_POWER = 2,
	NVML_INFOROM_COUNT = 4,
};

enum nvml_page_retirement_cause {
	NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS = 0,
	NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR = 1,
	NVML_PAGE_RETIREMENT_CAUSE_COUNT = 2,
};

enum nvml_virtualization_mode {
	NVML_GPU_VIRTUALIZATION_MODE_NONE = 0,
	NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH = 1,
};

enum nvml_pcie_counter {
	NVML_PCIE_UTIL_TX_BYTES = 0,
	NVML_PCIE_UTIL_RX_BYTES = 1,
	NVML_PCIE_UTIL_COUNT = 2,
};

enum nvml_value_type {
	NVML_VALUE_TYPE_DOUBLE = 0,
	NVML_VALUE_TYPE_UNSIGNED_INT = 1,
	NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
	NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
	NVML_VALUE_TYPE_SIGNED_LONG_LONG = 4,
};

struct nvml_field_value {
	unsigned int fieldId;
	unsigned int scopeId;
	long long timestamp;   /* microseconds since 1970 */
	long long latencyUsec; /* how long the question took */
	enum nvml_value_type valueType;
	enum nvml_return nvmlReturn; /* of this field */
	unsigned long long value;    /* a union of the types */
};

struct nvml_pci_info {
	char busIdLegacy[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE]; /* "0000:07:00.0" */
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int pciDeviceId; /* device << 16 | vendor */
	unsigned int pciSubSystemId;
	char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE]; /* "00000000:07:00.0" */
};

struct nvml_pci_info_ext {
	unsigned int version; /* nvmlPciInfoExt_v1 */
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int pciDeviceId;
	unsigned int pciSubSystemId;
	unsigned int baseClass;
	unsigned int subClass;
	char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
};

struct nvml_ecc_error_counts {
	unsigned long long l1Cache;
	unsigned long long l2Cache;
	unsigned long long deviceMemory;
	unsigned long long registerFile;
};

struct nvml_utilization {
	unsigned int gpu;
	unsigned int memory;
};

struct nvml_memory {
	unsigned long long total;
	unsigned long long free;
	unsigned long long used; /* includes what the driver reserves */
};

struct nvml_memory_v2 {
	unsigned int version; /* nvmlMemory_v2 */
	unsigned long long total;
	unsigned long long reserved;
	unsigned long long free;
	unsigned long long used; /* without reserved */
};

struct nvml_bar1_memory {
	unsigned long long bar1Total;
	unsigned long long bar1Free;
	unsigned long long bar1Used;
};

struct nvml_process_info_v1 {
	unsigned int pid;
	unsigned long long usedGpuMemory;
};

struct nvml_process_info { /* v2 and v3 */
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId;
	unsigned int computeInstanceId;
};

struct nvml_process_detail {
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId;
	unsigned int computeInstanceId;
	unsigned long long usedGpuCcProtectedMemory;
};

struct nvml_process_detail_list {
	unsigned int version; /* nvmlProcessDetailList_v1 */
	unsigned int mode;    /* 0 compute, 1 graphics, 2 MPS */
	unsigned int numProcArrayEntries;
	struct nvml_process_detail *procArray;
};

struct nvml_device_attributes {
	unsigned int multiprocessorCount;
	unsigned int sharedCopyEngineCount;
	unsigned int sharedDecoderCount;
	unsigned int sharedEncoderCount;
	unsigned int sharedJpegCount;
	unsigned int sharedOfaCount;
	unsigned int gpuInstanceSliceCount;
	unsigned int computeInstanceSliceCount;
	unsigned long long memorySizeMB;
};

struct nvml_row_remapper_histogram {
	unsigned int max;
	unsigned int high;
	unsigned int partial;
	unsigned int low;
	unsigned int none;
};

struct nvml_event_data {
	struct nvmlDevice_st *device;
	unsigned long long eventType;
	unsigned long long eventData; /* the XID of an nvmlEventTypeXidCriticalError */
	unsigned int gpuInstanceId;
	unsigned int computeInstanceId;
};

/* Functions. A text for people; never NULL, never to be freed. */
const char *nvmlErrorString(enum nvml_return result);

/* Life, system. */
enum nvml_return nvmlInit(void);
enum nvml_return nvmlInit_v2(void);
enum nvml_return nvmlInitWithFlags(unsigned int flags);
enum nvml_return nvmlShutdown(void);
enum nvml_return nvmlSystemGetDriverVersion(char *version, unsigned int length);
enum nvml_return nvmlSystemGetNVMLVersion(char *version, unsigned int length);
enum nvml_return nvmlSystemGetCudaDriverVersion(int *cudaDriverVersion);
enum nvml_return nvmlSystemGetCudaDriverVersion_v2(int *cudaDriverVersion);
enum nvml_return nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length);

/* Finding cards. */
enum nvml_return nvmlDeviceGetCount(unsigned int *deviceCount);
enum nvml_return nvmlDeviceGetCount_v2(unsigned int *deviceCount);
enum nvml_return nvmlDeviceGetHandleByIndex(unsigned int index, struct nvmlDevice_st **device);
enum nvml_return nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct nvmlDevice_st **device);
enum nvml_return nvmlDeviceGetHandleByUUID(const char *uuid, struct nvmlDevice_st **device);
enum nvml_return nvmlDeviceGetHandleBySerial(const char *serial, struct nvmlDevice_st **device);
enum nvml_return nvmlDeviceGetHandleByPciBusId(const char *pciBusId, struct nvmlDevice_st **device);
enum nvml_return nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId,
						  struct nvmlDevice_st **device);

/* What a card is. */
enum nvml_return nvmlDeviceGetIndex(struct nvmlDevice_st *device, unsigned int *index);
enum nvml_return nvmlDeviceGetName(struct nvmlDevice_st *device, char *name, unsigned int length);
enum nvml_return nvmlDeviceGetBrand(struct nvmlDevice_st *device, enum nvml_brand *type);
enum nvml_return nvmlDeviceGetUUID(struct nvmlDevice_st *device, char *uuid, unsigned int length);
enum nvml_return nvmlDeviceGetSerial(struct nvmlDevice_st *device, char *serial,
				     unsigned int length);
enum nvml_return nvmlDeviceGetMinorNumber(struct nvmlDevice_st *device, unsigned int *minorNumber);
enum nvml_return nvmlDeviceGetPciInfo(struct nvmlDevice_st *device, struct nvml_pci_info *pci);
enum nvml_return nvmlDeviceGetPciInfo_v2(struct nvmlDevice_st *device, struct nvml_pci_info *pci);
enum nvml_return nvmlDeviceGetPciInfo_v3(struct nvmlDevice_st *device, struct nvml_pci_info *pci);
enum nvml_return nvmlDeviceGetPciInfoExt(struct nvmlDevice_st *device,
					 struct nvml_pci_info_ext *pci);
enum nvml_return nvmlDeviceGetBoardId(struct nvmlDevice_st *device, unsigned int *boardId);
enum nvml_return nvmlDeviceGetBoardPartNumber(struct nvmlDevice_st *device, char *partNumber,
					      unsigned int length);
enum nvml_return nvmlDeviceGetMultiGpuBoard(struct nvmlDevice_st *device,
					    unsigned int *multiGpuBool);
enum nvml_return nvmlDeviceGetArchitecture(struct nvmlDevice_st *device, unsigned int *arch);
enum nvml_return nvmlDeviceGetCudaComputeCapability(struct nvmlDevice_st *device, int *major,
						    int *minor);
enum nvml_return nvmlDeviceGetAttributes(struct nvmlDevice_st *device,
					 struct nvml_device_attributes *attributes);
enum nvml_return nvmlDeviceGetAttributes_v2(struct nvmlDevice_st *device,
					    struct nvml_device_attributes *attributes);
enum nvml_return nvmlDeviceGetVbiosVersion(struct nvmlDevice_st *device, char *version,
					   unsigned int length);
enum nvml_return nvmlDeviceGetInforomVersion(struct nvmlDevice_st *device,
					     enum nvml_inforom_object object, char *version,
					     unsigned int length);
enum nvml_return nvmlDeviceGetInforomImageVersion(struct nvmlDevice_st *device, char *version,
						  unsigned int length);
enum nvml_return nvmlDeviceGetGspFirmwareVersion(struct nvmlDevice_st *device, char *version);
enum nvml_return nvmlDeviceGetGspFirmwareMode(struct nvmlDevice_st *device, unsigned int *isEnabled,
					      unsigned int *defaultMode);
enum nvml_return nvmlDeviceGetBusType(struct nvmlDevice_st *device, unsigned int *type);
enum nvml_return nvmlDeviceGetNumGpuCores(struct nvmlDevice_st *device, unsigned int *numCores);
enum nvml_return nvmlDeviceGetMemoryBusWidth(struct nvmlDevice_st *device, unsigned int *busWidth);
enum nvml_return nvmlDeviceGetVirtualizationMode(struct nvmlDevice_st *device,
						 enum nvml_virtualization_mode *pVirtualMode);

/* Memory and use. */
enum nvml_return nvmlDeviceGetMemoryInfo(struct nvmlDevice_st *device, struct nvml_memory *memory);
enum nvml_return nvmlDeviceGetMemoryInfo_v2(struct nvmlDevice_st *device,
					    struct nvml_memory_v2 *memory);
enum nvml_return nvmlDeviceGetBAR1MemoryInfo(struct nvmlDevice_st *device,
					     struct nvml_bar1_memory *bar1Memory);
enum nvml_return nvmlDeviceGetUtilizationRates(struct nvmlDevice_st *device,
					       struct nvml_utilization *utilization);
enum nvml_return nvmlDeviceGetEncoderUtilization(struct nvmlDevice_st *device,
						 unsigned int *utilization,
						 unsigned int *samplingPeriodUs);
enum nvml_return nvmlDeviceGetDecoderUtilization(struct nvmlDevice_st *device,
						 unsigned int *utilization,
						 unsigned int *samplingPeriodUs);
enum nvml_return nvmlDeviceGetFieldValues(struct nvmlDevice_st *device, int valuesCount,
					  struct nvml_field_value *values);
enum nvml_return nvmlDeviceGetComputeRunningProcesses(struct nvmlDevice_st *device,
						      unsigned int *infoCount,
						      struct nvml_process_info_v1 *infos);
enum nvml_return nvmlDeviceGetComputeRunningProcesses_v2(struct nvmlDevice_st *device,
							 unsigned int *infoCount,
							 struct nvml_process_info *infos);
enum nvml_return nvmlDeviceGetComputeRunningProcesses_v3(struct nvmlDevice_st *device,
							 unsigned int *infoCount,
							 struct nvml_process_info *infos);
enum nvml_return nvmlDeviceGetGraphicsRunningProcesses(struct nvmlDevice_st *device,
						       unsigned int *infoCount,
						       struct nvml_process_info_v1 *infos);
enum nvml_return nvmlDeviceGetGraphicsRunningProcesses_v2(struct nvmlDevice_st *device,
							  unsigned int *infoCount,
							  struct nvml_process_info *infos);
enum nvml_return nvmlDeviceGetGraphicsRunningProcesses_v3(struct nvmlDevice_st *device,
							  unsigned int *infoCount,
							  struct nvml_process_info *infos);
enum nvml_return nvmlDeviceGetMPSComputeRunningProcesses(struct nvmlDevice_st *device,
							 unsigned int *infoCount,
							 struct nvml_process_info_v1 *infos);
enum nvml_return nvmlDeviceGetMPSComputeRunningProcesses_v2(struct nvmlDevice_st *device,
							    unsigned int *infoCount,
							    struct nvml_process_info *infos);
enum nvml_return nvmlDeviceGetMPSComputeRunningProcesses_v3(struct nvmlDevice_st *device,
							    unsigned int *infoCount,
							    struct nvml_process_info *infos);
enum nvml_return nvmlDeviceGetRunningProcessDetailList(struct nvmlDevice_st *device,
						       struct nvml_process_detail_list *plist);

/* Heat, power, clocks, modes. */
enum nvml_return nvmlDeviceGetTemperature(struct nvmlDevice_st *device,
					  enum nvml_temperature_sensor sensorType,
					  unsigned int *temp);
enum nvml_return nvmlDeviceGetTemperatureThreshold(struct nvmlDevice_st *device,
						   enum nvml_temperature_threshold thresholdType,
						   unsigned int *temp);
enum nvml_return nvmlDeviceGetFanSpeed(struct nvmlDevice_st *device, unsigned int *speed);
enum nvml_return nvmlDeviceGetFanSpeed_v2(struct nvmlDevice_st *device, unsigned int fan,
					  unsigned int *speed);
enum nvml_return nvmlDeviceGetNumFans(struct nvmlDevice_st *device, unsigned int *numFans);
enum nvml_return nvmlDeviceGetPowerUsage(struct nvmlDevice_st *device, unsigned int *power);
enum nvml_return nvmlDeviceGetTotalEnergyConsumption(struct nvmlDevice_st *device,
						     unsigned long long *energy); /* mJ */
enum nvml_return nvmlDeviceGetPowerManagementMode(struct nvmlDevice_st *device,
						  enum nvml_enable_state *mode);
enum nvml_return nvmlDeviceGetPowerManagementLimit(struct nvmlDevice_st *device,
						   unsigned int *limit);
enum nvml_return nvmlDeviceGetPowerManagementDefaultLimit(struct nvmlDevice_st *device,
							  unsigned int *defaultLimit);
enum nvml_return nvmlDeviceGetPowerManagementLimitConstraints(struct nvmlDevice_st *device,
							      unsigned int *minLimit,
							      unsigned int *maxLimit);
enum nvml_return nvmlDeviceGetEnforcedPowerLimit(struct nvmlDevice_st *device, unsigned int *limit);
enum nvml_return nvmlDeviceGetPerformanceState(struct nvmlDevice_st *device,
					       enum nvml_pstate *pState);
enum nvml_return nvmlDeviceGetPowerState(struct nvmlDevice_st *device, enum nvml_pstate *pState);
enum nvml_return nvmlDeviceGetClockInfo(struct nvmlDevice_st *device, enum nvml_clock_type type,
					unsigned int *clock);
enum nvml_return nvmlDeviceGetMaxClockInfo(struct nvmlDevice_st *device, enum nvml_clock_type type,
					   unsigned int *clock);
enum nvml_return nvmlDeviceGetCurrentClocksThrottleReasons(
	struct nvmlDevice_st *device, unsigned long long *clocksThrottleReasons);
enum nvml_return nvmlDeviceGetCurrentClocksEventReasons(struct nvmlDevice_st *device,
							unsigned long long *clocksEventReasons);
enum nvml_return nvmlDeviceGetSupportedClocksThrottleReasons(
	struct nvmlDevice_st *device, unsigned long long *supportedClocksThrottleReasons);
enum nvml_return nvmlDeviceGetPersistenceMode(struct nvmlDevice_st *device,
					      enum nvml_enable_state *mode);
enum nvml_return nvmlDeviceGetComputeMode(struct nvmlDevice_st *device,
					  enum nvml_compute_mode *mode);
enum nvml_return nvmlDeviceGetDisplayMode(struct nvmlDevice_st *device,
					  enum nvml_enable_state *display);
enum nvml_return nvmlDeviceGetDisplayActive(struct nvmlDevice_st *device,
					    enum nvml_enable_state *isActive);
enum nvml_return nvmlDeviceGetAccountingMode(struct nvmlDevice_st *device,
					     enum nvml_enable_state *mode);

/* Errors of the memory. */
enum nvml_return nvmlDeviceGetEccMode(struct nvmlDevice_st *device, enum nvml_enable_state *current,
				      enum nvml_enable_state *pending);
enum nvml_return nvmlDeviceGetDefaultEccMode(struct nvmlDevice_st *device,
					     enum nvml_enable_state *defaultMode);
enum nvml_return nvmlDeviceGetTotalEccErrors(struct nvmlDevice_st *device,
					     enum nvml_memory_error_type errorType,
					     enum nvml_ecc_counter_type counterType,
					     unsigned long long *eccCounts);
enum nvml_return nvmlDeviceGetDetailedEccErrors(struct nvmlDevice_st *device,
						enum nvml_memory_error_type errorType,
						enum nvml_ecc_counter_type counterType,
						struct nvml_ecc_error_counts *eccCounts);
enum nvml_return nvmlDeviceGetMemoryErrorCounter(struct nvmlDevice_st *device,
						 enum nvml_memory_error_type errorType,
						 enum nvml_ecc_counter_type counterType,
						 enum nvml_memory_location locationType,
						 unsigned long long *count);
enum nvml_return nvmlDeviceGetRetiredPages(struct nvmlDevice_st *device,
					   enum nvml_page_retirement_cause cause,
					   unsigned int *pageCount, unsigned long long *addresses);
enum nvml_return nvmlDeviceGetRetiredPages_v2(struct nvmlDevice_st *device,
					      enum nvml_page_retirement_cause cause,
					      unsigned int *pageCount,
					      unsigned long long *addresses,
					      unsigned long long *timestamps);
enum nvml_return nvmlDeviceGetRetiredPagesPendingStatus(struct nvmlDevice_st *device,
							enum nvml_enable_state *isPending);
enum nvml_return nvmlDeviceGetRemappedRows(struct nvmlDevice_st *device, unsigned int *corrRows,
					   unsigned int *uncRows, unsigned int *isPending,
					   unsigned int *failureOccurred);
enum nvml_return nvmlDeviceGetRowRemapperHistogram(struct nvmlDevice_st *device,
						   struct nvml_row_remapper_histogram *values);

/* Place in the machine. */
enum nvml_return nvmlDeviceGetTopologyCommonAncestor(struct nvmlDevice_st *device1,
						     struct nvmlDevice_st *device2,
						     enum nvml_topology_level *pathInfo);
enum nvml_return nvmlDeviceGetTopologyNearestGpus(struct nvmlDevice_st *device,
						  enum nvml_topology_level level,
						  unsigned int *count,
						  struct nvmlDevice_st **deviceArray);
enum nvml_return nvmlDeviceGetP2PStatus(struct nvmlDevice_st *device1,
					struct nvmlDevice_st *device2,
					enum nvml_p2p_caps_index p2pIndex,
					enum nvml_p2p_status *p2pStatus);
enum nvml_return nvmlDeviceOnSameBoard(struct nvmlDevice_st *device1, struct nvmlDevice_st *device2,
				       int *onSameBoard);
enum nvml_return nvmlDeviceGetCpuAffinity(struct nvmlDevice_st *device, unsigned int cpuSetSize,
					  unsigned long *cpuSet);
enum nvml_return nvmlDeviceGetCpuAffinityWithinScope(struct nvmlDevice_st *device,
						     unsigned int cpuSetSize, unsigned long *cpuSet,
						     unsigned int scope);
enum nvml_return nvmlDeviceSetCpuAffinity(struct nvmlDevice_st *device);
enum nvml_return nvmlDeviceClearCpuAffinity(struct nvmlDevice_st *device);
enum nvml_return nvmlDeviceGetMemoryAffinity(struct nvmlDevice_st *device, unsigned int nodeSetSize,
					     unsigned long *nodeSet, unsigned int scope);
enum nvml_return nvmlDeviceGetNumaNodeId(struct nvmlDevice_st *device, unsigned int *node);
enum nvml_return nvmlDeviceGetNvLinkState(struct nvmlDevice_st *device, unsigned int link,
					  enum nvml_enable_state *isActive);
enum nvml_return nvmlDeviceGetNvLinkVersion(struct nvmlDevice_st *device, unsigned int link,
					    unsigned int *version);
enum nvml_return nvmlDeviceGetNvLinkCapability(struct nvmlDevice_st *device, unsigned int link,
					       enum nvml_nvlink_capability capability,
					       unsigned int *capResult);
enum nvml_return nvmlDeviceGetNvLinkRemotePciInfo(struct nvmlDevice_st *device, unsigned int link,
						  struct nvml_pci_info *pci);
enum nvml_return nvmlDeviceGetNvLinkRemotePciInfo_v2(struct nvmlDevice_st *device,
						     unsigned int link, struct nvml_pci_info *pci);
enum nvml_return nvmlDeviceGetNvLinkRemoteDeviceType(
	struct nvmlDevice_st *device, unsigned int link,
	enum nvml_nvlink_device_type *pNvLinkDeviceType);
enum nvml_return nvmlDeviceGetCurrPcieLinkGeneration(struct nvmlDevice_st *device,
						     unsigned int *currLinkGen);
enum nvml_return nvmlDeviceGetCurrPcieLinkWidth(struct nvmlDevice_st *device,
						unsigned int *currLinkWidth);
enum nvml_return nvmlDeviceGetMaxPcieLinkGeneration(struct nvmlDevice_st *device,
						    unsigned int *maxLinkGen);
enum nvml_return nvmlDeviceGetMaxPcieLinkWidth(struct nvmlDevice_st *device,
					       unsigned int *maxLinkWidth);
enum nvml_return nvmlDeviceGetGpuMaxPcieLinkGeneration(struct nvmlDevice_st *device,
						       unsigned int *maxLinkGenDevice);
enum nvml_return nvmlDeviceGetPcieThroughput(struct nvmlDevice_st *device,
					     enum nvml_pcie_counter counter, unsigned int *value);
enum nvml_return nvmlDeviceGetPcieReplayCounter(struct nvmlDevice_st *device, unsigned int *value);

/* MIG. */
enum nvml_return nvmlDeviceGetMigMode(struct nvmlDevice_st *device, unsigned int *currentMode,
				      unsigned int *pendingMode);
enum nvml_return nvmlDeviceGetMaxMigDeviceCount(struct nvmlDevice_st *device, unsigned int *count);
enum nvml_return nvmlDeviceGetMigDeviceHandleByIndex(struct nvmlDevice_st *device,
						     unsigned int index,
						     struct nvmlDevice_st **migDevice);
enum nvml_return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct nvmlDevice_st *migDevice,
							      struct nvmlDevice_st **device);
enum nvml_return nvmlDeviceIsMigDeviceHandle(struct nvmlDevice_st *device,
					     unsigned int *isMigDevice);
enum nvml_return nvmlDeviceGetGpuInstanceId(struct nvmlDevice_st *device, unsigned int *id);
enum nvml_return nvmlDeviceGetComputeInstanceId(struct nvmlDevice_st *device, unsigned int *id);

/* Events. */
enum nvml_return nvmlEventSetCreate(struct nvmlEventSet_st **set);
enum nvml_return nvmlDeviceRegisterEvents(struct nvmlDevice_st *device,
					  unsigned long long eventTypes,
					  struct nvmlEventSet_st *set);
enum nvml_return nvmlDeviceGetSupportedEventTypes(struct nvmlDevice_st *device,
						  unsigned long long *eventTypes);
enum nvml_return nvmlEventSetWait(struct nvmlEventSet_st *set, struct nvml_event_data *data,
				  unsigned int timeoutms);
enum nvml_return nvmlEventSetWait_v2(struct nvmlEventSet_st *set, struct nvml_event_data *data,
				     unsigned int timeoutms);
enum nvml_return nvmlEventSetFree(struct nvmlEventSet_st *set);
