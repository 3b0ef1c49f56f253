/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void answer_message(struct record_answer *answer, enum record_status status,
			   const char *text)
{
	answer->status = status;
	(void)snprintf(answer->message, sizeof(answer->message), "%s", text ? text : "");
}

static void answer_nvml(const struct driver *driver, struct record_answer *answer,
			enum nvml_return code)
{
	answer_message(answer, RECORD_NVML_ERROR, driver->api.nvmlErrorString(code));
	answer->nvml = (int32_t)code;
}

/* A question that this card, or this driver, has no answer to is no error. */
static bool is_absent(enum nvml_return code)
{
	return code == NVML_ERROR_NOT_SUPPORTED || code == NVML_ERROR_FUNCTION_NOT_FOUND ||
	       code == NVML_ERROR_NO_PERMISSION;
}

static enum nvml_return driver_init(const struct nvml_api *api)
{
	enum nvml_return code;

	/* Without attaching: one lost card must not delay or fail the others. */
	if (api->nvmlInitWithFlags) {
		code = api->nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH);
		if (code != NVML_ERROR_INVALID_ARGUMENT && !is_absent(code))
			return code;
	}
	return api->nvmlInit_v2();
}

static void answer_driver(struct driver *driver, const struct record_request *request,
			  struct record_answer *answer)
{
	struct record_driver *record = &answer->driver;
	struct error error = ERROR_INIT;
	enum nvml_return code;
	int cuda = 0;

	(void)request;
	if (!driver->library) {
		if (!driver->path) {
			answer_message(answer, RECORD_NO_LIBRARY, "started without --library");
			return;
		}
		if (driver_load(driver, &error) < 0) {
			answer_message(answer, RECORD_NO_LIBRARY, error.message);
			return;
		}
		code = driver_init(&driver->api);
		if (code != NVML_SUCCESS) {
			answer_nvml(driver, answer, code);
			return;
		}
	}
	code = driver->api.nvmlSystemGetDriverVersion(record->driver_version,
						      sizeof(record->driver_version));
	if (code == NVML_SUCCESS)
		code = driver->api.nvmlSystemGetNVMLVersion(record->nvml_version,
							    sizeof(record->nvml_version));
	if (code != NVML_SUCCESS) {
		answer_nvml(driver, answer, code);
		return;
	}
	if (driver->api.nvmlSystemGetCudaDriverVersion_v2 &&
	    driver->api.nvmlSystemGetCudaDriverVersion_v2(&cuda) == NVML_SUCCESS)
		record->cuda_version = cuda;
}

static void answer_count(struct driver *driver, const struct record_request *request,
			 struct record_answer *answer)
{
	unsigned count = 0;
	enum nvml_return code = driver->api.nvmlDeviceGetCount_v2(&count);

	(void)request;
	if (code != NVML_SUCCESS) {
		answer_nvml(driver, answer, code);
		return;
	}
	answer->count.count = count;
	driver->count = count < RECORD_CARDS_MAX ? count : RECORD_CARDS_MAX;
}

/* The handle of a card, asked once; opening it is what attaches to the card. */
static enum nvml_return card_handle(struct driver *driver, unsigned index,
				    struct nvmlDevice_st **ret)
{
	if (!driver->handles[index]) {
		enum nvml_return code =
			driver->api.nvmlDeviceGetHandleByIndex_v2(index, &driver->handles[index]);

		if (code != NVML_SUCCESS) {
			driver->handles[index] = NULL;
			return code;
		}
	}
	*ret = driver->handles[index];
	return NVML_SUCCESS;
}

/* The first error of several questions stays. */
static void keep_first(enum nvml_return *first, enum nvml_return code)
{
	if (*first == NVML_SUCCESS && !is_absent(code))
		*first = code;
}

static enum nvml_return card_identity(const struct nvml_api *api, struct nvmlDevice_st *device,
				      struct record_card *record)
{
	struct nvml_pci_info pci = { 0 };
	enum nvml_return first = NVML_SUCCESS, code;
	unsigned minor = 0;

	code = api->nvmlDeviceGetPciInfo_v3(device, &pci);
	keep_first(&first, code);
	if (code == NVML_SUCCESS)
		memcpy(record->bus_id, pci.busId, sizeof(pci.busId) - 1);
	keep_first(&first, api->nvmlDeviceGetUUID(device, record->uuid, sizeof(record->uuid)));
	keep_first(&first, api->nvmlDeviceGetName(device, record->name, sizeof(record->name)));
	code = api->nvmlDeviceGetMinorNumber(device, &minor);
	keep_first(&first, code);
	if (code == NVML_SUCCESS) {
		record->minor = minor;
		record->has |= RECORD_HAS_MINOR;
	}
	if (api->nvmlDeviceGetSerial)
		(void)api->nvmlDeviceGetSerial(device, record->serial, sizeof(record->serial));
	return first;
}

static enum nvml_return card_abilities(const struct nvml_api *api, struct nvmlDevice_st *device,
				       struct record_card *record)
{
	struct nvml_memory memory = { 0 };
	unsigned current = 0, pending = 0;
	enum nvml_brand brand = NVML_BRAND_UNKNOWN;
	int major = 0, minor = 0;
	enum nvml_return first = NVML_SUCCESS;

	keep_first(&first, api->nvmlDeviceGetMemoryInfo(device, &memory));
	record->total_bytes = memory.total;
	record->used_bytes = memory.used;
	if (api->nvmlDeviceGetCudaComputeCapability &&
	    api->nvmlDeviceGetCudaComputeCapability(device, &major, &minor) == NVML_SUCCESS) {
		record->compute_major = (uint32_t)major;
		record->compute_minor = (uint32_t)minor;
		record->has |= RECORD_HAS_COMPUTE;
	}
	if (api->nvmlDeviceGetMigMode &&
	    api->nvmlDeviceGetMigMode(device, &current, &pending) == NVML_SUCCESS) {
		record->mig_enabled = current == NVML_DEVICE_MIG_ENABLE;
		record->has |= RECORD_HAS_MIG;
	}
	if (api->nvmlDeviceGetBrand && api->nvmlDeviceGetBrand(device, &brand) == NVML_SUCCESS) {
		record->brand = (uint32_t)brand;
		record->has |= RECORD_HAS_BRAND;
	}
	return first;
}

static void answer_card(struct driver *driver, const struct record_request *request,
			struct record_answer *answer)
{
	struct nvmlDevice_st *device;
	enum nvml_return code = card_handle(driver, request->index, &device);

	if (code == NVML_SUCCESS) {
		/* What a sick card still says is kept beside its error. */
		code = card_identity(&driver->api, device, &answer->card);
		keep_first(&code, card_abilities(&driver->api, device, &answer->card));
	}
	if (code != NVML_SUCCESS)
		answer_nvml(driver, answer, code);
}

static void answer_health(struct driver *driver, const struct record_request *request,
			  struct record_answer *answer)
{
	const struct nvml_api *api = &driver->api;
	struct record_health *record = &answer->health;
	enum nvml_enable_state pending = NVML_FEATURE_DISABLED;
	unsigned corrected = 0, uncorrected = 0;
	unsigned long long errors = 0;
	struct nvmlDevice_st *device;
	enum nvml_return first = card_handle(driver, request->index, &device);

	if (first != NVML_SUCCESS) {
		answer_nvml(driver, answer, first);
		return;
	}
	if (api->nvmlDeviceGetTotalEccErrors)
		keep_first(&first, api->nvmlDeviceGetTotalEccErrors(
					   device, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
					   NVML_VOLATILE_ECC, &errors));
	if (api->nvmlDeviceGetRetiredPagesPendingStatus)
		keep_first(&first, api->nvmlDeviceGetRetiredPagesPendingStatus(device, &pending));
	if (api->nvmlDeviceGetRemappedRows)
		keep_first(&first, api->nvmlDeviceGetRemappedRows(device, &corrected, &uncorrected,
								  &record->remap_pending,
								  &record->remap_failed));
	record->double_bit = errors;
	record->retire_pending = pending == NVML_FEATURE_ENABLED;
	if (first != NVML_SUCCESS)
		answer_nvml(driver, answer, first);
}

/* The same process in two lists (compute and graphics) holds its memory once: the larger counts. */
static int snapshot_add(struct driver *driver, const struct nvml_process_info *info,
			const struct nvml_process_info *seen, size_t seen_count)
{
	uint64_t used =
		info->usedGpuMemory == NVML_VALUE_NOT_AVAILABLE_ULL ? 0 : info->usedGpuMemory;

	for (size_t i = 0; i < seen_count; i++)
		if (seen[i].pid == info->pid && seen[i].gpuInstanceId == info->gpuInstanceId &&
		    seen[i].computeInstanceId == info->computeInstanceId) {
			if (driver->snapshot[i].used_bytes < used)
				driver->snapshot[i].used_bytes = used;
			return 0;
		}
	struct record_process *process =
		VEC_ADD(&driver->snapshot, &driver->snapshot_count, &driver->snapshot_capacity);
	if (!process)
		return -ENOMEM;
	process->pid = info->pid;
	process->reserved = 0;
	process->used_bytes = used;
	memset(process->name, 0, sizeof(process->name));
	if (driver->api.nvmlSystemGetProcessName &&
	    driver->api.nvmlSystemGetProcessName(info->pid, process->name, sizeof(process->name)) !=
		    NVML_SUCCESS)
		memset(process->name, 0, sizeof(process->name));
	return 1;
}

static enum nvml_return snapshot_take(struct driver *driver, struct nvmlDevice_st *device)
{
	const struct nvml_api *api = &driver->api;
	/* v2 and v3 share the layout; v2 is what drivers before 515 have. */
	__typeof__(nvmlDeviceGetComputeRunningProcesses_v3) *const lists[] = {
		api->nvmlDeviceGetComputeRunningProcesses_v3
			? api->nvmlDeviceGetComputeRunningProcesses_v3
			: api->nvmlDeviceGetComputeRunningProcesses_v2,
		api->nvmlDeviceGetGraphicsRunningProcesses_v3
			? api->nvmlDeviceGetGraphicsRunningProcesses_v3
			: api->nvmlDeviceGetGraphicsRunningProcesses_v2,
		api->nvmlDeviceGetMPSComputeRunningProcesses_v3,
	};
	autofree struct nvml_process_info *infos = calloc(RECORD_PROCESSES_MAX, sizeof(*infos));
	autofree struct nvml_process_info *seen = calloc(RECORD_PROCESSES_MAX, sizeof(*seen));
	enum nvml_return first = NVML_SUCCESS;

	if (!infos || !seen)
		return NVML_ERROR_MEMORY;
	driver->snapshot_count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		unsigned count = RECORD_PROCESSES_MAX;
		enum nvml_return code =
			lists[i] ? lists[i](device, &count, infos) : NVML_ERROR_NOT_SUPPORTED;

		keep_first(&first, code);
		if (code != NVML_SUCCESS)
			continue;
		for (unsigned n = 0; n < count && n < RECORD_PROCESSES_MAX; n++) {
			size_t known = driver->snapshot_count;

			if (known == RECORD_PROCESSES_MAX)
				break;
			int added = snapshot_add(driver, &infos[n], seen, known);
			if (added < 0)
				return NVML_ERROR_MEMORY;
			if (added)
				seen[known] = infos[n];
		}
	}
	return first;
}

static void answer_processes(struct driver *driver, const struct record_request *request,
			     struct record_answer *answer)
{
	struct record_processes *record = &answer->processes;
	struct nvmlDevice_st *device;
	enum nvml_return code = card_handle(driver, request->index, &device);

	if (code == NVML_SUCCESS && request->first == 0)
		code = snapshot_take(driver, device);
	if (code != NVML_SUCCESS) {
		answer_nvml(driver, answer, code);
		return;
	}
	record->total = (uint32_t)driver->snapshot_count;
	for (size_t i = request->first; i < driver->snapshot_count && record->count < RECORD_CHUNK;
	     i++)
		record->processes[record->count++] = driver->snapshot[i];
}

static enum record_remote lane_remote(const struct nvml_api *api, struct nvmlDevice_st *device,
				      unsigned link)
{
	enum nvml_nvlink_device_type type = NVML_NVLINK_DEVICE_TYPE_GPU;

	/* Drivers before 470 cannot tell; the address then decides, in the program that asked. */
	if (!api->nvmlDeviceGetNvLinkRemoteDeviceType ||
	    api->nvmlDeviceGetNvLinkRemoteDeviceType(device, link, &type) != NVML_SUCCESS)
		return RECORD_REMOTE_CARD;
	if (type == NVML_NVLINK_DEVICE_TYPE_GPU)
		return RECORD_REMOTE_CARD;
	return type == NVML_NVLINK_DEVICE_TYPE_SWITCH ? RECORD_REMOTE_SWITCH : RECORD_REMOTE_OTHER;
}

static void lanes_add(const struct nvml_api *api, struct nvmlDevice_st *device,
		      struct record_links *record)
{
	if (!api->nvmlDeviceGetNvLinkState || !api->nvmlDeviceGetNvLinkRemotePciInfo_v2)
		return;
	for (unsigned link = 0; link < NVML_NVLINK_MAX_LINKS; link++) {
		enum nvml_enable_state state = NVML_FEATURE_DISABLED;
		struct record_lane *lane = &record->lanes[record->lane_count];
		struct nvml_pci_info pci = { 0 };

		if (api->nvmlDeviceGetNvLinkState(device, link, &state) != NVML_SUCCESS)
			return; /* the card has no more, or none */
		if (state != NVML_FEATURE_ENABLED)
			continue;
		if (api->nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &pci) != NVML_SUCCESS)
			continue;
		lane->remote = lane_remote(api, device, link);
		memcpy(lane->bus_id, pci.busId, sizeof(lane->bus_id) - 1);
		record->lane_count++;
	}
}

static void answer_links(struct driver *driver, const struct record_request *request,
			 struct record_answer *answer)
{
	const struct nvml_api *api = &driver->api;
	struct record_links *record = &answer->links;
	struct nvmlDevice_st *device, *peer;
	enum nvml_return code = card_handle(driver, request->index, &device);

	if (code != NVML_SUCCESS) {
		answer_nvml(driver, answer, code);
		return;
	}
	lanes_add(api, device, record);
	for (unsigned i = 0; i < RECORD_CARDS_MAX; i++) {
		enum nvml_topology_level level;

		record->levels[i] = -1;
		if (i >= driver->count || i == request->index || (request->skip >> i & 1) ||
		    !api->nvmlDeviceGetTopologyCommonAncestor ||
		    card_handle(driver, i, &peer) != NVML_SUCCESS)
			continue;
		if (api->nvmlDeviceGetTopologyCommonAncestor(device, peer, &level) == NVML_SUCCESS)
			record->levels[i] = (int32_t)level;
	}
}

/* What a MIG device is; one that vanishes meanwhile is none. */
static enum nvml_return instance_identity(const struct nvml_api *api, struct nvmlDevice_st *device,
					  struct record_instance *record)
{
	enum nvml_return code = api->nvmlDeviceGetGpuInstanceId(device, &record->gpu_instance);

	if (code == NVML_SUCCESS)
		code = api->nvmlDeviceGetComputeInstanceId(device, &record->compute_instance);
	if (code == NVML_SUCCESS)
		code = api->nvmlDeviceGetUUID(device, record->uuid, sizeof(record->uuid));
	if (code == NVML_SUCCESS)
		(void)api->nvmlDeviceGetName(device, record->name, sizeof(record->name));
	return code;
}

static void answer_instances(struct driver *driver, const struct record_request *request,
			     struct record_answer *answer)
{
	const struct nvml_api *api = &driver->api;
	struct record_instances *record = &answer->instances;
	struct nvmlDevice_st *device, *mig;
	unsigned most = 0;
	enum nvml_return code = card_handle(driver, request->index, &device);

	if (code == NVML_SUCCESS && api->nvmlDeviceGetMaxMigDeviceCount &&
	    api->nvmlDeviceGetMigDeviceHandleByIndex && api->nvmlDeviceGetGpuInstanceId &&
	    api->nvmlDeviceGetComputeInstanceId)
		code = api->nvmlDeviceGetMaxMigDeviceCount(device, &most);
	/* Numbers are not without gaps. */
	for (unsigned i = 0; code == NVML_SUCCESS && i < most; i++) {
		struct record_instance *instance = &record->instances[record->count];

		if (record->count == RECORD_INSTANCES_MAX)
			break;
		memset(instance, 0, sizeof(*instance));
		if (api->nvmlDeviceGetMigDeviceHandleByIndex(device, i, &mig) != NVML_SUCCESS ||
		    instance_identity(api, mig, instance) != NVML_SUCCESS)
			continue;
		instance->index = i;
		record->count++;
	}
	if (record->count < RECORD_INSTANCES_MAX)
		memset(&record->instances[record->count], 0, sizeof(record->instances[0]));
	if (code != NVML_SUCCESS && !is_absent(code))
		answer_nvml(driver, answer, code);
}

static void answer_sample(struct driver *driver, const struct record_request *request,
			  struct record_answer *answer)
{
	struct nvmlDevice_st *device;
	enum nvml_return code = card_handle(driver, request->index, &device);

	if (code == NVML_SUCCESS)
		sample_take(&driver->api, device, &answer->sample);
	else
		answer_nvml(driver, answer, code);
}

/* One read: the file is short, and procfs gives it whole. */
static void answer_information(struct driver *driver, const struct record_request *request,
			       struct record_answer *answer)
{
	struct record_information *record = &answer->information;
	char path[PATH_MAX];
	int length = -1;

	if (driver->proc && memchr(request->address, '\0', sizeof(request->address)) &&
	    request->address[0] != '.' && !strchr(request->address, '/'))
		length = snprintf(path, sizeof(path), "%s/gpus/%s/information", driver->proc,
				  request->address);
	if (length < 0 || (size_t)length >= sizeof(path)) {
		answer_message(answer, RECORD_BAD_REQUEST, "no such card");
		return;
	}
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, record->text, sizeof(record->text) - 1) < 0)
		answer_message(answer, RECORD_BAD_REQUEST, strerror(errno));
}

/* How to add a question: one row. */
static const struct question {
	void (*answer)(struct driver *driver, const struct record_request *request,
		       struct record_answer *answer);
	bool needs_driver, needs_card;
} questions[RECORD_KIND_MAX] = {
	[RECORD_DRIVER] = { answer_driver, false, false },
	[RECORD_COUNT] = { answer_count, true, false },
	[RECORD_CARD] = { answer_card, true, true },
	[RECORD_HEALTH] = { answer_health, true, true },
	[RECORD_PROCESSES] = { answer_processes, true, true },
	[RECORD_LINKS] = { answer_links, true, true },
	[RECORD_INSTANCES] = { answer_instances, true, true },
	[RECORD_INFORMATION] = { answer_information, false, false },
	[RECORD_SAMPLE] = { answer_sample, true, true },
};

void driver_answer(struct driver *driver, const struct record_request *request,
		   struct record_answer *answer)
{
	const struct question *question =
		request->kind < RECORD_KIND_MAX ? &questions[request->kind] : NULL;

	if (!question || !question->answer)
		answer_message(answer, RECORD_BAD_REQUEST, "no such question");
	else if (question->needs_driver && !driver->library)
		answer_message(answer, RECORD_BAD_REQUEST, "the driver was not asked for first");
	else if (question->needs_card && request->index >= driver->count)
		answer_message(answer, RECORD_BAD_REQUEST, "no such card");
	else
		question->answer(driver, request, answer);
}
