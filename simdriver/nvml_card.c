/* SPDX-License-Identifier: Apache-2.0 */
/* What a card is: nothing here changes while it lives. */
#include "nvml_library.h"

#include <stdio.h>
#include <string.h>

#define PCI_CLASS_DISPLAY 3
#define PCI_SUBCLASS_3D   2

EXPORT enum nvml_return nvmlDeviceGetIndex(struct nvmlDevice_st *device, unsigned int *index)
{
	struct nvml_view view;
	enum nvml_return result = nvml_begin_device(device, &view);

	if (result != NVML_SUCCESS)
		return result;
	if (index != NULL)
		*index = device->index;
	nvml_end();
	return index != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlDeviceGetName(struct nvmlDevice_st *device, char *name,
					  unsigned int length)
{
	return nvml_get_text(device, NVML_INFO(name), name, length);
}

EXPORT enum nvml_return nvmlDeviceGetUUID(struct nvmlDevice_st *device, char *uuid,
					  unsigned int length)
{
	return nvml_get_text(device, NVML_INFO(uuid), uuid, length);
}

EXPORT enum nvml_return nvmlDeviceGetSerial(struct nvmlDevice_st *device, char *serial,
					    unsigned int length)
{
	return nvml_get_text(device, NVML_INFO(serial), serial, length);
}

EXPORT enum nvml_return nvmlDeviceGetBoardPartNumber(struct nvmlDevice_st *device, char *number,
						     unsigned int length)
{
	return nvml_get_text(device, NVML_INFO(part_number), number, length);
}

EXPORT enum nvml_return nvmlDeviceGetVbiosVersion(struct nvmlDevice_st *device, char *version,
						  unsigned int length)
{
	return nvml_get_text(device, NVML_INFO(vbios), version, length);
}

EXPORT enum nvml_return nvmlDeviceGetInforomImageVersion(struct nvmlDevice_st *device,
							 char *version, unsigned int length)
{
	return nvml_get_text(device, NVML_INFO(inforom_image), version, length);
}

EXPORT enum nvml_return nvmlDeviceGetInforomVersion(struct nvmlDevice_st *device,
						    enum nvml_inforom_object object, char *version,
						    unsigned int length)
{
	if (object == NVML_INFOROM_OEM)
		return nvml_get_text(device, NVML_INFO(inforom_oem), version, length);
	if (object == NVML_INFOROM_ECC)
		return nvml_get_text(device, NVML_INFO(inforom_ecc), version, length);
	return object < NVML_INFOROM_COUNT ? nvml_not_supported(device)
					   : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlDeviceGetMinorNumber(struct nvmlDevice_st *device, unsigned int *minor)
{
	return nvml_get_number(device, NVML_INFO(minor), minor);
}

EXPORT enum nvml_return nvmlDeviceGetBrand(struct nvmlDevice_st *device, enum nvml_brand *brand)
{
	unsigned value = NVML_BRAND_UNKNOWN;
	enum nvml_return result;

	if (brand == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	/* Data centre cards have been plain "NVIDIA" since driver 470, T4 among them. */
	result = nvml_get_fixed(device, NVML_BRAND_NVIDIA, &value);
	if (result == NVML_SUCCESS)
		*brand = value;
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetArchitecture(struct nvmlDevice_st *device,
						  unsigned int *architecture)
{
	return nvml_get_number(device, NVML_INFO(architecture), architecture);
}

EXPORT enum nvml_return nvmlDeviceGetCudaComputeCapability(struct nvmlDevice_st *device, int *major,
							   int *minor)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	if (major == NULL || minor == NULL) {
		result = NVML_ERROR_INVALID_ARGUMENT;
	} else {
		*major = (int)device->info.compute_major;
		*minor = (int)device->info.compute_minor;
	}
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetNumGpuCores(struct nvmlDevice_st *device, unsigned int *cores)
{
	return nvml_get_number(device, NVML_INFO(cores), cores);
}

EXPORT enum nvml_return nvmlDeviceGetMemoryBusWidth(struct nvmlDevice_st *device,
						    unsigned int *width)
{
	return nvml_get_number(device, NVML_INFO(bus_width), width);
}

EXPORT enum nvml_return nvmlDeviceGetBusType(struct nvmlDevice_st *device, unsigned int *type)
{
	return nvml_get_fixed(device, NVML_BUS_TYPE_PCIE, type);
}

EXPORT enum nvml_return nvmlDeviceGetMultiGpuBoard(struct nvmlDevice_st *device,
						   unsigned int *multi)
{
	return nvml_get_fixed(device, 0, multi);
}

EXPORT enum nvml_return nvmlDeviceGetBoardId(struct nvmlDevice_st *device, unsigned int *id)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	if (id != NULL)
		*id = device->info.pci.bus << 8; /* as real ones: 0x8300 for bus 83 */
	nvml_end();
	return id != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT enum nvml_return nvmlDeviceGetGspFirmwareVersion(struct nvmlDevice_st *device, char *version)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	result = nvml_copy_text(nvml.client.driver.version, version,
				NVML_GSP_FIRMWARE_VERSION_BUF_SIZE);
	nvml_end();
	return result;
}

EXPORT enum nvml_return nvmlDeviceGetGspFirmwareMode(struct nvmlDevice_st *device,
						     unsigned int *enabled,
						     unsigned int *default_mode)
{
	enum nvml_return result = nvml_get_fixed(device, 1, enabled);

	return result != NVML_SUCCESS ? result : nvml_get_fixed(device, 1, default_mode);
}

EXPORT enum nvml_return nvmlDeviceGetVirtualizationMode(struct nvmlDevice_st *device,
							enum nvml_virtualization_mode *mode)
{
	unsigned value = 0;
	enum nvml_return result = nvml_get_fixed(device, NVML_GPU_VIRTUALIZATION_MODE_NONE, &value);

	if (result == NVML_SUCCESS && mode == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (result == NVML_SUCCESS)
		*mode = value;
	return result;
}

void nvml_fill_pci(const struct sim_pci *pci, struct nvml_pci_info *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->domain = pci->domain;
	ret->bus = pci->bus;
	ret->device = pci->device;
	ret->pciDeviceId = pci->device_id;
	ret->pciSubSystemId = pci->subsystem_id;
	snprintf(ret->busId, sizeof(ret->busId), "%08X:%02X:%02X.%X", pci->domain, pci->bus & 0xFF,
		 pci->device & 0xFF, pci->function & 0xF);
	snprintf(ret->busIdLegacy, sizeof(ret->busIdLegacy), "%04X:%02X:%02X.%X",
		 pci->domain & 0xFFFF, pci->bus & 0xFF, pci->device & 0xFF, pci->function & 0xF);
}

EXPORT enum nvml_return nvmlDeviceGetPciInfo_v3(struct nvmlDevice_st *device,
						struct nvml_pci_info *pci)
{
	enum nvml_return result = nvml_begin_card(device, NULL);

	if (result != NVML_SUCCESS)
		return result;
	if (pci != NULL)
		nvml_fill_pci(&device->info.pci, pci);
	nvml_end();
	return pci != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

/* The struct of versions 1 and 2: the short address, five numbers (and, once, four reserved). */
struct pci_info_v2 {
	char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE];
	unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
	unsigned int reserved[4];
};

static enum nvml_return get_old_pci(struct nvmlDevice_st *device, void *old, size_t size)
{
	struct pci_info_v2 info = { .reserved = { 0 } };
	struct nvml_pci_info pci;
	enum nvml_return result = nvmlDeviceGetPciInfo_v3(device, &pci);

	if (result != NVML_SUCCESS)
		return result;
	if (old == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	memcpy(info.busId, pci.busIdLegacy, sizeof(info.busId));
	info.domain = pci.domain;
	info.bus = pci.bus;
	info.device = pci.device;
	info.pciDeviceId = pci.pciDeviceId;
	info.pciSubSystemId = pci.pciSubSystemId;
	memcpy(old, &info, size);
	return NVML_SUCCESS;
}

EXPORT enum nvml_return nvmlDeviceGetPciInfo_v2(struct nvmlDevice_st *device,
						struct nvml_pci_info *pci)
{
	return get_old_pci(device, pci, sizeof(struct pci_info_v2));
}

EXPORT enum nvml_return nvmlDeviceGetPciInfo(struct nvmlDevice_st *device,
					     struct nvml_pci_info *pci)
{
	return get_old_pci(device, pci, offsetof(struct pci_info_v2, pciSubSystemId));
}

EXPORT enum nvml_return nvmlDeviceGetPciInfoExt(struct nvmlDevice_st *device,
						struct nvml_pci_info_ext *pci)
{
	struct nvml_pci_info info;
	enum nvml_return result = nvmlDeviceGetPciInfo_v3(device, &info);

	if (result != NVML_SUCCESS)
		return result;
	if (pci == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (pci->version != nvmlPciInfoExt_v1)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	pci->domain = info.domain;
	pci->bus = info.bus;
	pci->device = info.device;
	pci->pciDeviceId = info.pciDeviceId;
	pci->pciSubSystemId = info.pciSubSystemId;
	pci->baseClass = PCI_CLASS_DISPLAY;
	pci->subClass = PCI_SUBCLASS_3D;
	memcpy(pci->busId, info.busId, sizeof(pci->busId));
	return NVML_SUCCESS;
}
