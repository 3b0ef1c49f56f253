/* SPDX-License-Identifier: Apache-2.0 */
/* Life of the library, the system's versions, and finding cards. */
#include "nvml_library.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct nvml_library nvml = { .lock = PTHREAD_MUTEX_INITIALIZER, .client = CLIENT_INIT };

/* Texts as the real library of 535 gives them. */
static const char *const error_texts[] = {
	[NVML_SUCCESS] = "Success",
	[NVML_ERROR_UNINITIALIZED] = "Uninitialized",
	[NVML_ERROR_INVALID_ARGUMENT] = "Invalid Argument",
	[NVML_ERROR_NOT_SUPPORTED] = "Not Supported",
	[NVML_ERROR_NO_PERMISSION] = "Insufficient Permissions",
	[NVML_ERROR_ALREADY_INITIALIZED] = "Already Initialized",
	[NVML_ERROR_NOT_FOUND] = "Not Found",
	[NVML_ERROR_INSUFFICIENT_SIZE] = "Insufficient Size",
	[NVML_ERROR_INSUFFICIENT_POWER] = "Insufficient External Power",
	[NVML_ERROR_DRIVER_NOT_LOADED] = "Driver Not Loaded",
	[NVML_ERROR_TIMEOUT] = "Timeout",
	[NVML_ERROR_IRQ_ISSUE] = "Interrupt Request Issue",
	[NVML_ERROR_LIBRARY_NOT_FOUND] = "NVML Shared Library Not Found",
	[NVML_ERROR_FUNCTION_NOT_FOUND] = "Function Not Found",
	[NVML_ERROR_CORRUPTED_INFOROM] = "Corrupted infoROM",
	[NVML_ERROR_GPU_IS_LOST] = "GPU is lost",
	[NVML_ERROR_RESET_REQUIRED] = "GPU requires reset",
	[NVML_ERROR_OPERATING_SYSTEM] = "GPU access blocked by the operating system",
	[NVML_ERROR_LIB_RM_VERSION_MISMATCH] = "Driver/library version mismatch",
	[NVML_ERROR_IN_USE] = "In use by another client",
	[NVML_ERROR_MEMORY] = "Insufficient Memory",
	[NVML_ERROR_NO_DATA] = "No data",
	[NVML_ERROR_VGPU_ECC_NOT_SUPPORTED] = "vGPU ECC not supported",
	[NVML_ERROR_INSUFFICIENT_RESOURCES] = "Insufficient Resources",
	[NVML_ERROR_FREQ_NOT_SUPPORTED] = "Invalid Frequency",
	[NVML_ERROR_ARGUMENT_VERSION_MISMATCH] = "Argument version mismatch",
	[NVML_ERROR_DEPRECATED] = "Requested functionality has been deprecated",
	[NVML_ERROR_NOT_READY] = "System is not in ready state",
};

EXPORT const char *nvmlErrorString(enum nvml_return result)
{
	if ((unsigned)result >= sizeof(error_texts) / sizeof(error_texts[0]) ||
	    error_texts[result] == NULL)
		return "Unknown Error";
	return error_texts[result];
}

enum nvml_return nvml_from_status(enum sim_status status)
{
	static const enum nvml_return results[SIM_STATUS_COUNT] = {
		[SIM_OK] = NVML_SUCCESS,
		[SIM_NO_DRIVER] = NVML_ERROR_DRIVER_NOT_LOADED,
		[SIM_NO_PERMISSION] = NVML_ERROR_NO_PERMISSION,
		[SIM_MISMATCH] = NVML_ERROR_LIB_RM_VERSION_MISMATCH,
		[SIM_NO_CARD] = NVML_ERROR_NOT_FOUND,
		[SIM_CARD_LOST] = NVML_ERROR_GPU_IS_LOST,
		[SIM_NO_MEMORY] = NVML_ERROR_MEMORY,
		[SIM_NO_HANDLE] = NVML_ERROR_INVALID_ARGUMENT,
		[SIM_BAD_REQUEST] = NVML_ERROR_UNKNOWN,
		[SIM_TIMEOUT] = NVML_ERROR_TIMEOUT,
		[SIM_NOT_SUPPORTED] = NVML_ERROR_NOT_SUPPORTED,
		[SIM_IN_USE] = NVML_ERROR_IN_USE,
		[SIM_NO_ROOM] = NVML_ERROR_INSUFFICIENT_RESOURCES,
		[SIM_NO_INSTANCE] = NVML_ERROR_NOT_FOUND,
	};

	return results[status];
}

static enum sim_status open_client(void)
{
	return client_open(&nvml.client, &nvml, NULL);
}

enum nvml_return nvml_begin(void)
{
	enum sim_status status = SIM_OK;

	pthread_mutex_lock(&nvml.lock);
	if (nvml.users == 0) {
		pthread_mutex_unlock(&nvml.lock);
		return NVML_ERROR_UNINITIALIZED;
	}
	if (nvml.client.owner != getpid()) {
		client_close(&nvml.client);
		status = open_client();
	}
	if (status != SIM_OK)
		pthread_mutex_unlock(&nvml.lock);
	return nvml_from_status(status);
}

void nvml_end(void)
{
	pthread_mutex_unlock(&nvml.lock);
}

static bool is_mig(const struct nvmlDevice_st *device)
{
	const struct nvmlDevice_st *mig = nvml.migs;

	while (mig != NULL && mig != device)
		mig = mig->next;
	return mig != NULL;
}

static bool is_card(const struct nvmlDevice_st *device)
{
	for (unsigned i = 0; i < nvml.count; i++) {
		if (device == &nvml.cards[i])
			return true;
	}
	return false;
}

enum nvml_return nvml_begin_card(struct nvmlDevice_st *device, struct sim_card_state *ret)
{
	struct sim_card_state state;
	enum nvml_return result = nvml_begin();

	if (result != NVML_SUCCESS)
		return result;
	if (is_mig(device))
		result = NVML_ERROR_NOT_SUPPORTED;
	else if (!is_card(device))
		result = NVML_ERROR_INVALID_ARGUMENT;
	else
		result = nvml_from_status(
			client_card_state(&nvml.client, device->info.minor, &state));
	if (result != NVML_SUCCESS)
		nvml_end();
	else if (ret != NULL)
		*ret = state;
	return result;
}

static enum nvml_return find_instances(const struct nvmlDevice_st *device, struct nvml_view *view)
{
	view->compute =
		mig_compute_find(&view->layout, device->gpu_instance, device->compute_instance);
	if (view->compute == NULL || strcmp(view->compute->uuid, device->info.uuid) != 0)
		return NVML_ERROR_NOT_FOUND;
	view->gpu = mig_gpu_find(&view->layout, device->gpu_instance);
	view->profile = mig_profile_by_id(view->table, view->gpu->profile_id);
	return view->profile != NULL ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

enum nvml_return nvml_begin_device(struct nvmlDevice_st *device, struct nvml_view *ret)
{
	bool mig;
	enum nvml_return result = nvml_begin();

	if (result != NVML_SUCCESS)
		return result;
	mig = is_mig(device);
	nvml_end();
	memset(ret, 0, sizeof(*ret));
	ret->card = mig ? device->card : device;
	result = nvml_begin_card(ret->card, &ret->state);
	if (result != NVML_SUCCESS)
		return result;
	ret->table = mig_table(ret->card->info.mig_table);
	if (ret->table != NULL)
		result = nvml_from_status(
			client_mig_layout(&nvml.client, ret->card->info.minor, &ret->layout));
	if (result == NVML_SUCCESS && mig)
		result = find_instances(device, ret);
	if (result != NVML_SUCCESS)
		nvml_end();
	return result;
}

enum nvml_return nvml_copy_text(const char *text, char *ret, unsigned length)
{
	size_t size = strlen(text) + 1;

	if (ret == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (size > length)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memcpy(ret, text, size);
	return NVML_SUCCESS;
}

enum nvml_return nvml_get_text(struct nvmlDevice_st *device, size_t offset, char *ret,
			       unsigned length)
{
	bool of_both = offset == NVML_INFO(uuid) || offset == NVML_INFO(name);
	struct nvml_view view;
	enum nvml_return result =
		of_both ? nvml_begin_device(device, &view) : nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	result = nvml_copy_text((const char *)&device->info + offset, ret, length);
	nvml_end();
	return result;
}

enum nvml_return nvml_get_number(struct nvmlDevice_st *device, size_t offset, unsigned *ret)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	if (ret != NULL)
		memcpy(ret, (const char *)&device->info + offset, sizeof(*ret));
	else
		result = NVML_ERROR_INVALID_ARGUMENT;
	nvml_end();
	return result;
}

enum nvml_return nvml_get_fixed(struct nvmlDevice_st *device, unsigned value, unsigned *ret)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (ret == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*ret = value;
	return NVML_SUCCESS;
}

enum nvml_return nvml_not_supported(struct nvmlDevice_st *device)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	return NVML_ERROR_NOT_SUPPORTED;
}

/* Learns which cards are the caller's. With attach each is touched, and a hung one blocks here. */
static enum sim_status find_cards(bool attach)
{
	uint32_t minors[SIM_CARDS_MAX];
	size_t count = client_cards(&nvml.client, minors);
	struct sim_card_state state;

	nvml.count = 0;
	for (size_t i = 0; i < count; i++) {
		struct nvmlDevice_st *card = &nvml.cards[nvml.count];
		enum sim_status status = client_card_info(&nvml.client, minors[i], &card->info);

		if (status != SIM_OK)
			return status;
		card->index = nvml.count++;
		if (attach)
			(void)client_card_state(&nvml.client, minors[i], &state);
	}
	return SIM_OK;
}

EXPORT enum nvml_return nvmlInitWithFlags(unsigned int flags)
{
	enum sim_status status = SIM_OK;

	pthread_mutex_lock(&nvml.lock);
	if (nvml.users == 0) {
		status = open_client();
		if (status == SIM_OK)
			status = find_cards((flags & NVML_INIT_FLAG_NO_ATTACH) == 0);
		if (status != SIM_OK)
			client_close(&nvml.client);
	}
	if (status == SIM_OK)
		nvml.users++;
	pthread_mutex_unlock(&nvml.lock);
	return nvml_from_status(status);
}

EXPORT enum nvml_return nvmlInit_v2(void)
{
	return nvmlInitWithFlags(0);
}

EXPORT enum nvml_return nvmlInit(void)
{
	return nvmlInitWithFlags(0);
}

EXPORT enum nvml_return nvmlShutdown(void)
{
	pthread_mutex_lock(&nvml.lock);
	if (nvml.users == 0) {
		pthread_mutex_unlock(&nvml.lock);
		return NVML_ERROR_UNINITIALIZED;
	}
	if (--nvml.users == 0)
		client_close(&nvml.client);
	pthread_mutex_unlock(&nvml.lock);
	return NVML_SUCCESS;
}

static enum nvml_return get_system_text(const char *text, char *ret, unsigned length)
{
	enum nvml_return result = nvml_begin();

	if (result != NVML_SUCCESS)
		return result;
	result = nvml_copy_text(text, ret, length);
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
	return get_system_text(nvml.client.driver.version, version, length);
}

EXPORT enum nvml_return nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
	return get_system_text(nvml.client.driver.nvml_version, version, length);
}

EXPORT enum nvml_return nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	enum nvml_return result = nvml_begin();

	if (result != NVML_SUCCESS)
		return result;
	if (version != NULL)
		*version = (int)nvml.client.driver.cuda_version;
	nvml_end();
	return version != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlSystemGetCudaDriverVersion(int *version)
{
	return nvmlSystemGetCudaDriverVersion_v2(version);
}

EXPORT enum nvml_return nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
{
	char path[64], text[1024];
	ssize_t size;
	int fd;
	enum nvml_return result = nvml_begin();

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (name == NULL || length == 0)
		return NVML_ERROR_INVALID_ARGUMENT;
	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NVML_ERROR_NOT_FOUND;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return NVML_ERROR_NOT_FOUND;
	text[size] = '\0';
	/* Documented: a name that does not fit is cut. */
	snprintf(name, length, "%s", text);
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetCount_v2(unsigned int *count)
{
	enum nvml_return result = nvml_begin();

	if (result != NVML_SUCCESS)
		return result;
	if (count != NULL)
		*count = nvml.count;
	nvml_end();
	return count != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlDeviceGetCount(unsigned int *count)
{
	return nvmlDeviceGetCount_v2(count);
}

/* Begins itself: a handle is given only for a card that answers. */
static enum nvml_return give_handle(unsigned index, struct nvmlDevice_st **ret)
{
	enum nvml_return result = nvml_begin_card(&nvml.cards[index], NULL);

	if (result != NVML_SUCCESS)
		return result;
	*ret = &nvml.cards[index];
	nvml_end();
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetHandleByIndex_v2(unsigned int index,
						      struct nvmlDevice_st **device)
{
	unsigned count = 0;
	enum nvml_return result = nvmlDeviceGetCount_v2(&count);

	if (result != NVML_SUCCESS)
		return result;
	if (device == NULL || index >= count)
		return NVML_ERROR_INVALID_ARGUMENT;
	return give_handle(index, device);
}

EXPORT enum nvml_return nvmlDeviceGetHandleByIndex(unsigned int index,
						   struct nvmlDevice_st **device)
{
	return nvmlDeviceGetHandleByIndex_v2(index, device);
}

static enum nvml_return find_by_text(const char *text, size_t offset, struct nvmlDevice_st **ret)
{
	unsigned count = 0;
	enum nvml_return result = nvmlDeviceGetCount_v2(&count);

	if (result != NVML_SUCCESS)
		return result;
	if (text == NULL || ret == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; i < count; i++) {
		if (strcmp((const char *)&nvml.cards[i].info + offset, text) == 0)
			return give_handle(i, ret);
	}
	return NVML_ERROR_NOT_FOUND;
}

static enum nvml_return find_mig(const char *uuid, struct nvmlDevice_st **ret)
{
	enum nvml_return result = nvml_begin();
	struct nvmlDevice_st *found;

	if (result != NVML_SUCCESS)
		return result;
	found = nvml_mig_by_uuid(uuid);
	nvml_end();
	if (ret == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (found != NULL)
		*ret = found;
	return found != NULL ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

EXPORT enum nvml_return nvmlDeviceGetHandleByUUID(const char *uuid, struct nvmlDevice_st **device)
{
	if (uuid != NULL && strncmp(uuid, "MIG-", 4) == 0)
		return find_mig(uuid, device);
	return find_by_text(uuid, NVML_INFO(uuid), device);
}

EXPORT enum nvml_return nvmlDeviceGetHandleBySerial(const char *serial,
						    struct nvmlDevice_st **device)
{
	return find_by_text(serial, NVML_INFO(serial), device);
}

/* One part of "domain:bus:device.function", hexadecimal, with the character that ends it. */
static bool take_hex(const char **text, char end, uint32_t *ret)
{
	char *after;
	unsigned long value;

	if (!isxdigit((unsigned char)**text))
		return false;
	value = strtoul(*text, &after, 16);
	if (value > UINT32_MAX || *after != end)
		return false;
	*ret = (uint32_t)value;
	*text = *after == '\0' ? after : after + 1;
	return true;
}

static bool parse_address(const char *text, struct sim_pci *ret)
{
	const char *colon = strchr(text, ':');

	*ret = (struct sim_pci){ 0 };
	if (colon != NULL && strchr(colon + 1, ':') != NULL && !take_hex(&text, ':', &ret->domain))
		return false;
	if (!take_hex(&text, ':', &ret->bus))
		return false;
	if (strchr(text, '.') == NULL)
		return take_hex(&text, '\0', &ret->device);
	return take_hex(&text, '.', &ret->device) && take_hex(&text, '\0', &ret->function);
}

EXPORT enum nvml_return nvmlDeviceGetHandleByPciBusId_v2(const char *text,
							 struct nvmlDevice_st **device)
{
	struct sim_pci wanted;
	unsigned count = 0;
	enum nvml_return result = nvmlDeviceGetCount_v2(&count);

	if (result != NVML_SUCCESS)
		return result;
	if (text == NULL || device == NULL || !parse_address(text, &wanted))
		return NVML_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; i < count; i++) {
		const struct sim_pci *pci = &nvml.cards[i].info.pci;

		if (pci->domain == wanted.domain && pci->bus == wanted.bus &&
		    pci->device == wanted.device && pci->function == wanted.function)
			return give_handle(i, device);
	}
	return NVML_ERROR_NOT_FOUND;
}

EXPORT enum nvml_return nvmlDeviceGetHandleByPciBusId(const char *text,
						      struct nvmlDevice_st **device)
{
	return nvmlDeviceGetHandleByPciBusId_v2(text, device);
}
