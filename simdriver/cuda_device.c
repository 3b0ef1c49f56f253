/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_state.h"

#include "mig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Attributes that follow from the card, or are the same for all that we simulate. */
static const struct attribute {
	enum CUdevice_attribute_enum attribute;
	size_t field; /* offset of a uint32_t in struct sim_card_info, or NO_FIELD */
	int value;    /* with a field: its factor */
} attributes[] = {
#define NO_FIELD    SIZE_MAX
#define FIELD(name) offsetof(struct sim_card_info, name)
	{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, NO_FIELD, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, NO_FIELD, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, NO_FIELD, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, NO_FIELD, 64 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, NO_FIELD, 0x7fffffff },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, NO_FIELD, 65535 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, NO_FIELD, 65535 },
	{ CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, NO_FIELD, 65536 },
	{ CU_DEVICE_ATTRIBUTE_WARP_SIZE, NO_FIELD, 32 },
	{ CU_DEVICE_ATTRIBUTE_CLOCK_RATE, FIELD(clock_graphics_mhz), 1000 },
	{ CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, FIELD(multiprocessors), 1 },
	{ CU_DEVICE_ATTRIBUTE_INTEGRATED, NO_FIELD, 0 },
	{ CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, NO_FIELD, 1 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, NO_FIELD, 0 },
	{ CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, NO_FIELD, 1 },
	{ CU_DEVICE_ATTRIBUTE_ECC_ENABLED, FIELD(ecc), 1 },
	{ CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, FIELD(pci.bus), 1 },
	{ CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, FIELD(pci.device), 1 },
	{ CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, FIELD(pci.domain), 1 },
	{ CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, FIELD(clock_memory_mhz), 1000 },
	{ CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, FIELD(bus_width), 1 },
	{ CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, NO_FIELD, 1 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, FIELD(compute_major), 1 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, FIELD(compute_minor), 1 },
#undef FIELD
};

static bool same_index(const char *text, size_t length, int index)
{
	char number[16];
	int digits = snprintf(number, sizeof(number), "%d", index);

	return digits > 0 && (size_t)digits == length && memcmp(text, number, length) == 0;
}

/* "MIG-GPU-<uuid>/<gi>/<ci>", the name before driver 470, and still taken. */
static bool same_old_name(const struct cuda_candidate *candidate, const char *entry, size_t length)
{
	char name[96];
	int digits = snprintf(name, sizeof(name), "MIG-%s/%u/%u", candidate->card_uuid,
			      SIM_INSTANCE_GPU(candidate->instance),
			      SIM_INSTANCE_COMPUTE(candidate->instance));

	return candidate->instance != 0 && digits > 0 && (size_t)digits == length &&
	       memcmp(name, entry, length) == 0;
}

static bool matches(const struct cuda_candidate *candidate, const char *entry, size_t length)
{
	if (length > 4 && (memcmp(entry, "GPU-", 4) == 0 || memcmp(entry, "MIG-", 4) == 0))
		return strncmp(candidate->info.uuid, entry, length) == 0 ||
		       same_old_name(candidate, entry, length);
	return candidate->ordinal >= 0 && same_index(entry, length, candidate->ordinal);
}

/* An entry is an index, or a UUID as far as it is needed to tell. -1: names nothing */
static int match_candidate(const struct cuda_candidate *candidates, int count, const char *entry,
			   size_t length)
{
	int found = -1;

	for (int i = 0; i < count; i++) {
		if (!matches(&candidates[i], entry, length))
			continue;
		if (found >= 0)
			return -1;
		found = i;
	}
	return found;
}

/* All cards; where there is none, one MIG device. */
static int all_visible(const struct cuda_candidate *candidates, int count, int ret[SIM_CARDS_MAX])
{
	int kept = 0;

	for (int i = 0; i < count && kept < SIM_CARDS_MAX; i++) {
		if (candidates[i].instance == 0)
			ret[kept++] = i;
	}
	if (kept == 0 && count > 0)
		ret[kept++] = 0;
	return kept;
}

static bool is_taken(const int *taken, int count, int which)
{
	for (int i = 0; i < count; i++) {
		if (taken[i] == which)
			return true;
	}
	return false;
}

/* The first entry that names nothing, or something again, ends the list. */
int cuda_visible(const struct cuda_candidate *candidates, int count, const char *wanted,
		 int ret[SIM_CARDS_MAX])
{
	int kept = 0;

	if (!wanted)
		return all_visible(candidates, count, ret);
	while (kept < SIM_CARDS_MAX) {
		size_t length, inner;
		int found;

		wanted += strspn(wanted, " ");
		length = strcspn(wanted, ",");
		inner = length;
		while (inner > 0 && wanted[inner - 1] == ' ')
			inner--;
		found = match_candidate(candidates, count, wanted, inner);
		if (found < 0 || is_taken(ret, kept, found) ||
		    (candidates[found].instance != 0 && kept > 0))
			break;
		ret[kept++] = found;
		if (wanted[length] == '\0' || candidates[found].instance != 0)
			break;
		wanted += length + 1;
	}
	return kept;
}

static void fill_instance(const struct sim_card_info *card, const struct sim_mig_layout *layout,
			  const struct sim_compute_instance *compute,
			  struct cuda_candidate *candidate)
{
	const struct sim_gpu_instance *gpu = mig_gpu_find(layout, compute->gpu_instance);
	const struct mig_gpu_profile *profile =
		mig_profile_by_id(mig_table(card->mig_table), gpu->profile_id);
	char name[32];

	candidate->instance = SIM_INSTANCE(gpu->id, compute->id);
	mig_device_name(profile, compute->size, name, sizeof(name));
	snprintf(candidate->info.name, sizeof(candidate->info.name), "%.27s MIG %s", card->name,
		 name);
	snprintf(candidate->info.uuid, sizeof(candidate->info.uuid), "%s", compute->uuid);
	candidate->info.memory_bytes = (uint64_t)profile->memory_mib << 20;
	candidate->info.reserved_bytes = 0;
	candidate->info.multiprocessors =
		profile->multiprocessors * compute->size / profile->slices;
}

int cuda_candidates_add(struct client *client, const struct sim_card_info *card, int ordinal,
			struct cuda_candidate *candidates, int count)
{
	struct sim_mig_layout layout = { 0 };

	if (card->mig_table != 0 && client_mig_layout(client, card->minor, &layout) != SIM_OK)
		return count;
	for (uint32_t i = 0; i < (layout.current ? layout.compute_count : 1); i++) {
		struct cuda_candidate *candidate = &candidates[count];
		const struct sim_compute_instance *compute = &layout.computes[i];

		if (layout.current &&
		    !client_may_use(client, card->minor, compute->gpu_instance, compute->id))
			continue;
		memset(candidate, 0, sizeof(*candidate));
		candidate->info = *card;
		candidate->ordinal = ordinal;
		memcpy(candidate->card_uuid, card->uuid, sizeof(candidate->card_uuid));
		if (layout.current)
			fill_instance(card, &layout, compute, candidate);
		ordinal = -1;
		if (++count == CUDA_CANDIDATES_MAX)
			break;
	}
	return count;
}

struct cuda_device *cuda_device(struct cuda_state *cuda, int device)
{
	return device >= 0 && device < cuda->device_count ? &cuda->devices[device] : NULL;
}

/* Enters and looks the device up; on failure nothing is held. */
static enum cudaError_enum enter_device(int device, struct cuda_state **ret,
					struct cuda_device **ret_device)
{
	enum cudaError_enum error = cuda_enter(ret);

	if (error)
		return error;
	*ret_device = cuda_device(*ret, device);
	if (*ret_device)
		return CUDA_SUCCESS;
	cuda_leave(*ret, CUDA_ERROR_INVALID_DEVICE);
	return CUDA_ERROR_INVALID_DEVICE;
}

enum cudaError_enum cuDeviceGetCount(int *count)
{
	struct cuda_state *cuda;
	enum cudaError_enum error = cuda_enter(&cuda);

	if (error)
		return error;
	if (!count)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	*count = cuda->device_count;
	return cuda_leave(cuda, CUDA_SUCCESS);
}

enum cudaError_enum cuDeviceGet(int *device, int ordinal)
{
	struct cuda_state *cuda;
	struct cuda_device *found;
	enum cudaError_enum error = enter_device(ordinal, &cuda, &found);

	if (error)
		return error;
	if (!device)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	*device = ordinal;
	return cuda_leave(cuda, CUDA_SUCCESS);
}

/* Text that does not fit is cut, with an end, as the real library does. */
static enum cudaError_enum copy_text(char *to, int size, const char *from)
{
	if (!to || size <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(to, (size_t)size, "%s", from);
	return CUDA_SUCCESS;
}

enum cudaError_enum cuDeviceGetName(char *name, int size, int device)
{
	struct cuda_state *cuda;
	struct cuda_device *found;
	enum cudaError_enum error = enter_device(device, &cuda, &found);

	if (error)
		return error;
	return cuda_leave(cuda, copy_text(name, size, found->info.name));
}

/* The second version names the MIG device, the first the card that it is a part of. */
static enum cudaError_enum get_uuid(struct CUuuid_st *uuid, int device, bool whole)
{
	struct cuda_state *cuda;
	struct cuda_device *found;
	enum cudaError_enum error = enter_device(device, &cuda, &found);

	if (error)
		return error;
	if (!uuid)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	memcpy(uuid->bytes, whole ? found->whole_uuid : found->uuid, sizeof(uuid->bytes));
	return cuda_leave(cuda, CUDA_SUCCESS);
}

enum cudaError_enum cuDeviceGetUuid_v2(struct CUuuid_st *uuid, int device)
{
	return get_uuid(uuid, device, false);
}

enum cudaError_enum cuDeviceGetUuid(struct CUuuid_st *uuid, int device)
{
	return get_uuid(uuid, device, true);
}

enum cudaError_enum cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	struct cuda_state *cuda;
	struct cuda_device *found;
	enum cudaError_enum error = enter_device(device, &cuda, &found);

	if (error)
		return error;
	if (!bytes)
		return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
	*bytes = found->info.memory_bytes - found->info.reserved_bytes;
	return cuda_leave(cuda, CUDA_SUCCESS);
}

enum cudaError_enum cuDeviceTotalMem(unsigned int *bytes, int device)
{
	size_t total;
	enum cudaError_enum error = cuDeviceTotalMem_v2(&total, device);

	if (error)
		return error;
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = total > UINT32_MAX ? UINT32_MAX : (unsigned int)total;
	return CUDA_SUCCESS;
}

enum cudaError_enum cuDeviceGetAttribute(int *value, enum CUdevice_attribute_enum attribute,
					 int device)
{
	struct cuda_state *cuda;
	struct cuda_device *found;
	enum cudaError_enum error = enter_device(device, &cuda, &found);
	uint32_t field;

	if (error)
		return error;
	for (size_t i = 0; value && i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		const struct attribute *row = &attributes[i];

		if (row->attribute != attribute)
			continue;
		*value = row->value;
		if (row->field != NO_FIELD) {
			memcpy(&field, (const char *)&found->info + row->field, sizeof(field));
			*value = (int)field * row->value;
		}
		return cuda_leave(cuda, CUDA_SUCCESS);
	}
	return cuda_leave(cuda, CUDA_ERROR_INVALID_VALUE);
}

static void format_address(const struct sim_pci *pci, char text[32])
{
	snprintf(text, 32, "%04x:%02x:%02x.%x", pci->domain, pci->bus, pci->device, pci->function);
}

enum cudaError_enum cuDeviceGetPCIBusId(char *text, int size, int device)
{
	char address[32];
	struct cuda_state *cuda;
	struct cuda_device *found;
	enum cudaError_enum error = enter_device(device, &cuda, &found);

	if (error)
		return error;
	format_address(&found->info.pci, address);
	return cuda_leave(cuda, copy_text(text, size, address));
}

enum cudaError_enum cuDeviceGetByPCIBusId(int *device, const char *text)
{
	char address[32];
	struct cuda_state *cuda;
	enum cudaError_enum error = cuda_enter(&cuda);

	if (error)
		return error;
	for (int i = 0; device && text && i < cuda->device_count; i++) {
		format_address(&cuda->devices[i].info.pci, address);
		if (strcmp(address, text) == 0) {
			*device = i;
			return cuda_leave(cuda, CUDA_SUCCESS);
		}
	}
	return cuda_leave(cuda,
			  device && text ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE);
}

enum cudaError_enum cuDeviceComputeCapability(int *major, int *minor, int device)
{
	enum cudaError_enum error =
		cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);

	if (error)
		return error;
	return cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}
