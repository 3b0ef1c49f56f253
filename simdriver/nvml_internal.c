/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml_internal.h"

#include <string.h>

#include "nvml_library.h"

static int get_address(unsigned index, char *ret, unsigned length)
{
	enum nvml_return result = nvml_begin();
	struct nvml_pci_info pci;

	if (result != NVML_SUCCESS)
		return (int)result;
	if (index < nvml.count) {
		nvml_fill_pci(&nvml.cards[index].info.pci, &pci);
		result = nvml_copy_text(pci.busIdLegacy, ret, length);
	} else {
		result = NVML_ERROR_INVALID_ARGUMENT;
	}
	nvml_end();
	return (int)result;
}

static const struct nvml_internal table_of_smi = { .size = sizeof(table_of_smi),
						   .address = get_address };

EXPORT int nvmlInternalGetExportTable(const void **table, const void *key)
{
	if (table == NULL || key == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (memcmp(key, NVML_INTERNAL_KEY, sizeof(NVML_INTERNAL_KEY) - 1) != 0)
		return NVML_ERROR_NOT_FOUND;
	*table = &table_of_smi;
	return NVML_SUCCESS;
}
