/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nvidia-smi knows beyond the public interface. The real one gets such tables from
 * nvmlInternalGetExportTable by a 16-byte key; this one asks in the same way.
 */
#pragma once

#define NVML_INTERNAL_KEY "simdriver-smi-01"

struct nvml_internal {
	unsigned size;
	/* The PCI address of a card that may be lost: "0000:4E:00.0". Returns an enum nvml_return. */
	int (*address)(unsigned index, char *ret, unsigned length);
};

int nvmlInternalGetExportTable(const void **table, const void *key);
