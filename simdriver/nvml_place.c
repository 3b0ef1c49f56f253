/* SPDX-License-Identifier: Apache-2.0 */
/* Where a card sits: topology, NVLink, PCIe, NUMA. */
#include "nvml_library.h"

#include <dlfcn.h>
#include <sched.h>
#include <string.h>

#include "glibc.h"

__asm__(".symver dlvsym,dlvsym@" GLIBC_BASE);

#define WORD_BITS (8 * sizeof(unsigned long))

static enum nvml_return begin_two(struct nvmlDevice_st *a, struct nvmlDevice_st *b)
{
	enum nvml_return result = nvml_begin_card(a, NULL);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	return nvml_begin_card(b, NULL);
}

static unsigned links_between(const struct nvmlDevice_st *a, const struct nvmlDevice_st *b)
{
	unsigned count = 0;

	for (unsigned i = 0; a != b && i < a->info.link_count; i++)
		count += a->info.links[i].remote == b->info.minor ||
			 (a->info.links[i].remote == SIM_LINK_SWITCH &&
			  b->info.links[i].remote == SIM_LINK_SWITCH);
	return count;
}

EXPORT enum nvml_return nvmlDeviceGetTopologyCommonAncestor(struct nvmlDevice_st *a,
							    struct nvmlDevice_st *b,
							    enum nvml_topology_level *level)
{
	enum nvml_return result = begin_two(a, b);

	if (result != NVML_SUCCESS)
		return result;
	if (level != NULL)
		*level = a->info.switches[b->info.minor];
	nvml_end();
	return level != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlDeviceGetTopologyNearestGpus(struct nvmlDevice_st *device,
							 enum nvml_topology_level level,
							 unsigned int *count,
							 struct nvmlDevice_st **devices)
{
	enum nvml_return result = nvml_begin_card(device, NULL);
	unsigned found = 0;

	if (result != NVML_SUCCESS)
		return result;
	for (unsigned i = 0; count != NULL && i < nvml.count; i++) {
		struct nvmlDevice_st *other = &nvml.cards[i];

		if (other == device || device->info.switches[other->info.minor] != level)
			continue;
		if (devices != NULL && found < *count)
			devices[found] = other;
		found++;
	}
	nvml_end();
	if (count == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (devices == NULL || found < *count)
		*count = found;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetP2PStatus(struct nvmlDevice_st *a, struct nvmlDevice_st *b,
					       enum nvml_p2p_caps_index index,
					       enum nvml_p2p_status *status)
{
	enum nvml_return result = begin_two(a, b);
	unsigned links, level;

	if (result != NVML_SUCCESS)
		return result;
	links = links_between(a, b);
	level = a->info.switches[b->info.minor];
	nvml_end();
	if (status == NULL || index >= NVML_P2P_CAPS_INDEX_UNKNOWN || a == b)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (links > 0)
		*status = NVML_P2P_STATUS_OK;
	else if (index == NVML_P2P_CAPS_INDEX_NVLINK || index == NVML_P2P_CAPS_INDEX_ATOMICS)
		*status = NVML_P2P_STATUS_NOT_SUPPORTED;
	else if (level == NVML_TOPOLOGY_SYSTEM)
		*status = NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED;
	else
		*status = NVML_P2P_STATUS_OK;
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceOnSameBoard(struct nvmlDevice_st *a, struct nvmlDevice_st *b,
					      int *same)
{
	enum nvml_return result = begin_two(a, b);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	if (same == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	*same = a == b;
	return NVML_SUCCESS;
}

/* Processors are numbered as on a machine with two threads a core: first threads, node by node,
 * then second threads. */
static void fill_cpus(unsigned node, unsigned size, unsigned long *set)
{
	unsigned cpus = nvml.client.driver.cpu_count, nodes = nvml.client.driver.numa_count;
	unsigned share = cpus / 2 / (nodes == 0 ? 1 : nodes);

	memset(set, 0, size * sizeof(*set));
	for (unsigned i = 0; i < share; i++) {
		unsigned first = node * share + i, second = cpus / 2 + first;

		if (first / WORD_BITS < size)
			set[first / WORD_BITS] |= 1ul << (first % WORD_BITS);
		if (second / WORD_BITS < size)
			set[second / WORD_BITS] |= 1ul << (second % WORD_BITS);
	}
}

EXPORT enum nvml_return nvmlDeviceGetCpuAffinity(struct nvmlDevice_st *device, unsigned int size,
						 unsigned long *set)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	if (set == NULL || size == 0)
		result = NVML_ERROR_INVALID_ARGUMENT;
	else
		fill_cpus(device->info.numa, size, set);
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetCpuAffinityWithinScope(struct nvmlDevice_st *device,
							    unsigned int size, unsigned long *set,
							    unsigned int scope)
{
	if (scope > NVML_AFFINITY_SCOPE_SOCKET)
		return NVML_ERROR_INVALID_ARGUMENT;
	return nvmlDeviceGetCpuAffinity(device, size, set);
}

EXPORT enum nvml_return nvmlDeviceGetMemoryAffinity(struct nvmlDevice_st *device, unsigned int size,
						    unsigned long *set, unsigned int scope)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	if (set == NULL || size == 0 || scope > NVML_AFFINITY_SCOPE_SOCKET) {
		result = NVML_ERROR_INVALID_ARGUMENT;
	} else {
		memset(set, 0, size * sizeof(*set));
		set[0] = 1ul << device->info.numa;
	}
	nvml_end();
	return result;
}

/* pthread_setaffinity_np exists in two versions that take different arguments: asked for by
 * version, as the real library does. */
static enum nvml_return set_affinity(const unsigned long *set, size_t size)
{
	int (*bind)(pthread_t, size_t, const cpu_set_t *);
	union {
		unsigned long words[CPU_SETSIZE / WORD_BITS];
		cpu_set_t cpus;
	} mask = { .words = { 0 } };

	*(void **)&bind = dlvsym(RTLD_DEFAULT, "pthread_setaffinity_np", GLIBC_AFFINITY);
	if (bind == NULL)
		return NVML_ERROR_FUNCTION_NOT_FOUND;
	memcpy(mask.words, set, size);
	return bind(pthread_self(), sizeof(mask.cpus), &mask.cpus) == 0 ? NVML_SUCCESS
									: NVML_ERROR_UNKNOWN;
}

EXPORT enum nvml_return nvmlDeviceSetCpuAffinity(struct nvmlDevice_st *device)
{
	unsigned long set[CPU_SETSIZE / WORD_BITS];
	enum nvml_return result = nvmlDeviceGetCpuAffinity(device, CPU_SETSIZE / WORD_BITS, set);

	return result != NVML_SUCCESS ? result : set_affinity(set, sizeof(set));
}

EXPORT enum nvml_return nvmlDeviceClearCpuAffinity(struct nvmlDevice_st *device)
{
	unsigned long set[CPU_SETSIZE / WORD_BITS];
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	nvml_end();
	memset(set, 0xFF, sizeof(set));
	return set_affinity(set, sizeof(set));
}

/* Only for cards that are NUMA nodes themselves (Grace Hopper); these are not. */
EXPORT enum nvml_return nvmlDeviceGetNumaNodeId(struct nvmlDevice_st *device, unsigned int *node)
{
	(void)node;
	return nvml_not_supported(device);
}

static enum nvml_return begin_link(struct nvmlDevice_st *device, unsigned link)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	if (device->info.link_count == 0)
		result = NVML_ERROR_NOT_SUPPORTED;
	else if (link >= device->info.link_count)
		result = NVML_ERROR_INVALID_ARGUMENT;
	if (result != NVML_SUCCESS)
		nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetNvLinkState(struct nvmlDevice_st *device, unsigned int link,
						 enum nvml_enable_state *active)
{
	enum nvml_return result = begin_link(device, link);

	if (result != NVML_SUCCESS)
		return result;
	if (active != NULL)
		*active = device->info.links[link].remote == SIM_LINK_NONE ? NVML_FEATURE_DISABLED
									   : NVML_FEATURE_ENABLED;
	nvml_end();
	return active != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlDeviceGetNvLinkVersion(struct nvmlDevice_st *device, unsigned int link,
						   unsigned int *version)
{
	enum nvml_return result = begin_link(device, link);

	if (result != NVML_SUCCESS)
		return result;
	if (version != NULL)
		*version = device->info.nvlink_version;
	nvml_end();
	return version != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlDeviceGetNvLinkCapability(struct nvmlDevice_st *device,
						      unsigned int link,
						      enum nvml_nvlink_capability capability,
						      unsigned int *value)
{
	enum nvml_return result = begin_link(device, link);

	if (result != NVML_SUCCESS)
		return result;
	if (value == NULL || capability >= NVML_NVLINK_CAP_COUNT)
		result = NVML_ERROR_INVALID_ARGUMENT;
	else
		*value = capability != NVML_NVLINK_CAP_SLI_BRIDGE &&
			 device->info.links[link].remote != SIM_LINK_NONE;
	nvml_end();
	return result;
}

/* An NVSwitch of a DGX A100 or HGX H100: device ids as the PCI id list has them. */
static const struct sim_pci switch_pci = { .bus = 0xC4, .device_id = 0x1AF110DE };

EXPORT enum nvml_return nvmlDeviceGetNvLinkRemotePciInfo_v2(struct nvmlDevice_st *device,
							    unsigned int link,
							    struct nvml_pci_info *pci)
{
	enum nvml_return result = begin_link(device, link);
	struct sim_card_info remote;
	uint32_t minor;

	if (result != NVML_SUCCESS)
		return result;
	minor = device->info.links[link].remote;
	if (pci == NULL)
		result = NVML_ERROR_INVALID_ARGUMENT;
	else if (minor == SIM_LINK_NONE)
		result = NVML_ERROR_NOT_SUPPORTED;
	else if (minor == SIM_LINK_SWITCH)
		nvml_fill_pci(&switch_pci, pci);
	else
		result = nvml_from_status(client_card_info(&nvml.client, minor, &remote));
	if (result == NVML_SUCCESS && minor != SIM_LINK_SWITCH)
		nvml_fill_pci(&remote.pci, pci);
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetNvLinkRemotePciInfo(struct nvmlDevice_st *device,
							 unsigned int link,
							 struct nvml_pci_info *pci)
{
	return nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, pci);
}

EXPORT enum nvml_return nvmlDeviceGetNvLinkRemoteDeviceType(struct nvmlDevice_st *device,
							    unsigned int link,
							    enum nvml_nvlink_device_type *type)
{
	enum nvml_return result = begin_link(device, link);

	if (result != NVML_SUCCESS)
		return result;
	if (type == NULL)
		result = NVML_ERROR_INVALID_ARGUMENT;
	else if (device->info.links[link].remote == SIM_LINK_NONE)
		*type = NVML_NVLINK_DEVICE_TYPE_UNKNOWN;
	else
		*type = device->info.links[link].remote == SIM_LINK_SWITCH
				? NVML_NVLINK_DEVICE_TYPE_SWITCH
				: NVML_NVLINK_DEVICE_TYPE_GPU;
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetMaxPcieLinkGeneration(struct nvmlDevice_st *device,
							   unsigned int *generation)
{
	return nvml_get_number(device, NVML_INFO(pci.generation), generation);
}

EXPORT enum nvml_return nvmlDeviceGetGpuMaxPcieLinkGeneration(struct nvmlDevice_st *device,
							      unsigned int *generation)
{
	return nvml_get_number(device, NVML_INFO(pci.generation), generation);
}

EXPORT enum nvml_return nvmlDeviceGetCurrPcieLinkGeneration(struct nvmlDevice_st *device,
							    unsigned int *generation)
{
	return nvml_get_value32(device, SIM_VALUE_PCIE_GENERATION, generation);
}

EXPORT enum nvml_return nvmlDeviceGetMaxPcieLinkWidth(struct nvmlDevice_st *device,
						      unsigned int *width)
{
	return nvml_get_number(device, NVML_INFO(pci.width), width);
}

EXPORT enum nvml_return nvmlDeviceGetCurrPcieLinkWidth(struct nvmlDevice_st *device,
						       unsigned int *width)
{
	return nvml_get_value32(device, SIM_VALUE_PCIE_WIDTH, width);
}

EXPORT enum nvml_return nvmlDeviceGetPcieThroughput(struct nvmlDevice_st *device,
						    enum nvml_pcie_counter counter,
						    unsigned int *value)
{
	if (counter >= NVML_PCIE_UTIL_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	return nvml_get_fixed(device, 0, value);
}

EXPORT enum nvml_return nvmlDeviceGetPcieReplayCounter(struct nvmlDevice_st *device,
						       unsigned int *value)
{
	return nvml_get_value32(device, SIM_VALUE_PCIE_REPLAY, value);
}
