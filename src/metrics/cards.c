/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The series of a card that dashboards made for dcgm-exporter look for: its names, units, types and
 * labels (NVIDIA/dcgm-exporter, etc/default-counters.csv; DCGM's dcgm_fields.h).
 */
#include "metrics/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define DCGM(name) "DCGM_FI_DEV_" name
#define MIB_BYTES  1048576.0
#define PER_MILLI  1000.0
#define PER_KIB    (1 / 1024.0)

struct card_row {
	struct metric_description description;
	enum card_value value;
	double unit; /* of the driver's in one of the series'; 0: 1 */
};

/* How to add one: a row, and what abi/card_values.def says. */
static const struct card_row rows[] = {
	{ { DCGM("SM_CLOCK"), "gauge", "SM clock frequency (in MHz).", "NVML" },
	  CARD_VALUE_SM_CLOCK,
	  0 },
	{ { DCGM("MEM_CLOCK"), "gauge", "Memory clock frequency (in MHz).", "NVML" },
	  CARD_VALUE_MEM_CLOCK,
	  0 },
	{ { DCGM("MEMORY_TEMP"), "gauge", "Memory temperature (in C).", "NVML" },
	  CARD_VALUE_MEMORY_TEMP,
	  0 },
	{ { DCGM("GPU_TEMP"), "gauge", "GPU temperature (in C).", "NVML" },
	  CARD_VALUE_GPU_TEMP,
	  0 },
	{ { DCGM("SLOWDOWN_TEMP"), "gauge", "Temperature at which the card slows down (in C).",
	    "NVML" },
	  CARD_VALUE_SLOWDOWN_TEMP,
	  0 },
	{ { DCGM("SHUTDOWN_TEMP"), "gauge", "Temperature at which the card shuts down (in C).",
	    "NVML" },
	  CARD_VALUE_SHUTDOWN_TEMP,
	  0 },
	{ { DCGM("POWER_USAGE"), "gauge", "Power draw (in W).", "NVML" },
	  CARD_VALUE_POWER_USAGE,
	  PER_MILLI },
	{ { DCGM("ENFORCED_POWER_LIMIT"), "gauge", "Power limit that is in force (in W).", "NVML" },
	  CARD_VALUE_POWER_LIMIT,
	  PER_MILLI },
	{ { DCGM("TOTAL_ENERGY_CONSUMPTION"), "counter",
	    "Energy used since the driver was loaded (in mJ).", "NVML" },
	  CARD_VALUE_ENERGY,
	  0 },
	{ { DCGM("GPU_UTIL"), "gauge", "GPU utilization (in %).", "NVML" },
	  CARD_VALUE_GPU_UTIL,
	  0 },
	{ { DCGM("MEM_COPY_UTIL"), "gauge", "Memory utilization (in %).", "NVML" },
	  CARD_VALUE_MEM_UTIL,
	  0 },
	{ { DCGM("ENC_UTIL"), "gauge", "Encoder utilization (in %).", "NVML" },
	  CARD_VALUE_ENC_UTIL,
	  0 },
	{ { DCGM("DEC_UTIL"), "gauge", "Decoder utilization (in %).", "NVML" },
	  CARD_VALUE_DEC_UTIL,
	  0 },
	{ { DCGM("FB_TOTAL"), "gauge", "Memory of the card (in MiB).", "NVML" },
	  CARD_VALUE_FB_TOTAL,
	  MIB_BYTES },
	{ { DCGM("FB_FREE"), "gauge", "Memory of the card that is free (in MiB).", "NVML" },
	  CARD_VALUE_FB_FREE,
	  MIB_BYTES },
	{ { DCGM("FB_USED"), "gauge", "Memory of the card that is used (in MiB).", "NVML" },
	  CARD_VALUE_FB_USED,
	  MIB_BYTES },
	{ { DCGM("FB_RESERVED"), "gauge", "Memory of the card that the driver keeps (in MiB).",
	    "NVML" },
	  CARD_VALUE_FB_RESERVED,
	  MIB_BYTES },
	{ { DCGM("BAR1_TOTAL"), "gauge", "BAR1 of the card (in MiB).", "NVML" },
	  CARD_VALUE_BAR1_TOTAL,
	  MIB_BYTES },
	{ { DCGM("BAR1_USED"), "gauge", "BAR1 that is used (in MiB).", "NVML" },
	  CARD_VALUE_BAR1_USED,
	  MIB_BYTES },
	{ { DCGM("BAR1_FREE"), "gauge", "BAR1 that is free (in MiB).", "NVML" },
	  CARD_VALUE_BAR1_FREE,
	  MIB_BYTES },
	{ { DCGM("PSTATE"), "gauge", "Performance state, 0 the fastest.", "NVML" },
	  CARD_VALUE_PSTATE,
	  0 },
	{ { DCGM("CLOCK_THROTTLE_REASONS"), "gauge",
	    "Why the clocks are below their highest (bits).", "NVML" },
	  CARD_VALUE_CLOCK_REASONS,
	  0 },
	{ { DCGM("FAN_SPEED"), "gauge", "Fan speed (in %).", "NVML" }, CARD_VALUE_FAN_SPEED, 0 },
	{ { DCGM("PCIE_REPLAY_COUNTER"), "counter", "PCIe retries since the driver was loaded.",
	    "NVML" },
	  CARD_VALUE_PCIE_REPLAY,
	  0 },
	{ { DCGM("PCIE_LINK_GEN"), "gauge", "PCIe generation of the link.", "NVML" },
	  CARD_VALUE_PCIE_LINK_GEN,
	  0 },
	{ { DCGM("PCIE_LINK_WIDTH"), "gauge", "PCIe lanes of the link.", "NVML" },
	  CARD_VALUE_PCIE_LINK_WIDTH,
	  0 },
	{ { DCGM("PCIE_MAX_LINK_GEN"), "gauge", "Highest PCIe generation of the link.", "NVML" },
	  CARD_VALUE_PCIE_MAX_LINK_GEN,
	  0 },
	{ { DCGM("PCIE_MAX_LINK_WIDTH"), "gauge", "Most PCIe lanes of the link.", "NVML" },
	  CARD_VALUE_PCIE_MAX_LINK_WIDTH,
	  0 },
	{ { DCGM("ECC_SBE_VOL_TOTAL"), "counter",
	    "Corrected memory errors since the driver was loaded.", "NVML" },
	  CARD_VALUE_ECC_SBE_VOLATILE,
	  0 },
	{ { DCGM("ECC_DBE_VOL_TOTAL"), "counter",
	    "Uncorrected memory errors since the driver was loaded.", "NVML" },
	  CARD_VALUE_ECC_DBE_VOLATILE,
	  0 },
	{ { DCGM("ECC_SBE_AGG_TOTAL"), "counter", "Corrected memory errors of the card's life.",
	    "NVML" },
	  CARD_VALUE_ECC_SBE_AGGREGATE,
	  0 },
	{ { DCGM("ECC_DBE_AGG_TOTAL"), "counter", "Uncorrected memory errors of the card's life.",
	    "NVML" },
	  CARD_VALUE_ECC_DBE_AGGREGATE,
	  0 },
	{ { DCGM("RETIRED_SBE"), "counter", "Pages retired for corrected errors.", "NVML" },
	  CARD_VALUE_RETIRED_SBE,
	  0 },
	{ { DCGM("RETIRED_DBE"), "counter", "Pages retired for uncorrected errors.", "NVML" },
	  CARD_VALUE_RETIRED_DBE,
	  0 },
	{ { DCGM("RETIRED_PENDING"), "gauge", "1: pages wait for a reset to be retired.", "NVML" },
	  CARD_VALUE_RETIRED_PENDING,
	  0 },
	{ { DCGM("CORRECTABLE_REMAPPED_ROWS"), "counter",
	    "Memory rows remapped for corrected errors.", "NVML" },
	  CARD_VALUE_REMAPPED_CORRECTABLE,
	  0 },
	{ { DCGM("UNCORRECTABLE_REMAPPED_ROWS"), "counter",
	    "Memory rows remapped for uncorrected errors.", "NVML" },
	  CARD_VALUE_REMAPPED_UNCORRECTABLE,
	  0 },
	{ { DCGM("ROW_REMAP_PENDING"), "gauge", "1: memory rows wait for a reset to be remapped.",
	    "NVML" },
	  CARD_VALUE_REMAPPED_PENDING,
	  0 },
	{ { DCGM("ROW_REMAP_FAILURE"), "gauge", "1: a memory row could not be remapped.", "NVML" },
	  CARD_VALUE_REMAPPED_FAILED,
	  0 },
	{ { "gpupool_card_nvlink_transmit_bytes_total", "counter",
	    "Data sent by all NVLinks of the card.", "NVML" },
	  CARD_VALUE_NVLINK_TX,
	  PER_KIB },
	{ { "gpupool_card_nvlink_receive_bytes_total", "counter",
	    "Data received by all NVLinks of the card.", "NVML" },
	  CARD_VALUE_NVLINK_RX,
	  PER_KIB },
};

_Static_assert(ARRAY_SIZE(rows) == CARD_VALUE_MAX, "each value has a series");

/* Not a number of the sample: the last event. */
static const struct metric_description xid_row = { DCGM("XID_ERRORS"), "gauge",
						   "Number of the last XID error, 0 none.",
						   "NVML events" };

const struct metric_description *metrics_describe_card(size_t at)
{
	if (at < ARRAY_SIZE(rows))
		return &rows[at].description;
	return at == ARRAY_SIZE(rows) ? &xid_row : NULL;
}

/* As DCGM writes an address: eight digits of the domain, capital letters. */
static void pci_text(const char *bus_id, char *ret, size_t size)
{
	if (strlen(bus_id) == strlen("0000:07:00.0"))
		(void)snprintf(ret, size, "0000%s", bus_id);
	else
		(void)snprintf(ret, size, "%s", bus_id);
	for (char *c = ret; *c; c++)
		*c = (char)toupper((unsigned char)*c);
}

int metrics_add_card(struct metrics *metrics, const struct metrics_card *of, struct error *error)
{
	const struct card *card = of->card;
	const struct metrics_holder *holder = of->holder;
	char gpu[16] = "", device[24] = "", pci[2 * CARD_BUS_ID_MAX];
	int r = 0;

	if (card->index != CARD_INDEX_NONE)
		(void)snprintf(gpu, sizeof(gpu), "%u", card->index);
	if (card->minor != CARD_MINOR_NONE)
		(void)snprintf(device, sizeof(device), "nvidia%u", card->minor);
	pci_text(card->bus_id, pci, sizeof(pci));
	const struct metric_label labels[] = {
		{ "gpu", gpu },
		{ "UUID", card->uuid },
		{ "pci_bus_id", pci },
		{ "device", device },
		{ "modelName", card->model },
		{ "Hostname", of->host },
		{ "DCGM_FI_DRIVER_VERSION", of->driver_version[0] ? of->driver_version : NULL },
		{ "container", holder ? holder->container : NULL },
		{ "namespace", holder ? holder->namespace : NULL },
		{ "pod", holder ? holder->pod : NULL },
		{ NULL, NULL },
	};
	for (size_t i = 0; r == 0 && of->sample && i < ARRAY_SIZE(rows); i++) {
		double unit = rows[i].unit != 0 ? rows[i].unit : 1;

		if (of->sample->has >> rows[i].value & 1)
			r = metrics_add_family(metrics, FAMILY_OF_CARDS + i,
					       (double)of->sample->values[rows[i].value] / unit,
					       labels, error);
	}
	if (r == 0 && of->last_xid)
		r = metrics_add_family(metrics, FAMILY_OF_CARDS + ARRAY_SIZE(rows),
				       (double)*of->last_xid, labels, error);
	return r;
}
