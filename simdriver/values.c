/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <string.h>

#include "abi/nvml.h"

static const char *const words[SIM_VALUE_COUNT] = {
	[SIM_VALUE_TEMPERATURE] = "temperature",
	[SIM_VALUE_MEMORY_TEMPERATURE] = "memory-temperature",
	[SIM_VALUE_POWER] = "power",
	[SIM_VALUE_ENERGY] = "energy",
	[SIM_VALUE_UTILIZATION] = "utilization",
	[SIM_VALUE_MEMORY_UTILIZATION] = "memory-utilization",
	[SIM_VALUE_ENCODER] = "encoder",
	[SIM_VALUE_DECODER] = "decoder",
	[SIM_VALUE_CLOCK_GRAPHICS] = "clock-graphics",
	[SIM_VALUE_CLOCK_MEMORY] = "clock-memory",
	[SIM_VALUE_CLOCK_REASONS] = "clock-reasons",
	[SIM_VALUE_PSTATE] = "pstate",
	[SIM_VALUE_FAN] = "fan",
	[SIM_VALUE_POWER_LIMIT] = "power-limit",
	[SIM_VALUE_SLOWDOWN] = "slowdown",
	[SIM_VALUE_SHUTDOWN] = "shutdown",
	[SIM_VALUE_RESERVED] = "reserved",
	[SIM_VALUE_BAR1_USED] = "bar1-used",
	[SIM_VALUE_PCIE_REPLAY] = "pcie-replay",
	[SIM_VALUE_PCIE_GENERATION] = "pcie-generation",
	[SIM_VALUE_PCIE_WIDTH] = "pcie-width",
	[SIM_VALUE_ECC_SBE_VOLATILE] = "ecc-sbe-volatile",
	[SIM_VALUE_ECC_DBE_VOLATILE] = "ecc-dbe-volatile",
	[SIM_VALUE_ECC_SBE_AGGREGATE] = "ecc-sbe-aggregate",
	[SIM_VALUE_ECC_DBE_AGGREGATE] = "ecc-dbe-aggregate",
	[SIM_VALUE_RETIRED_SBE] = "retired-sbe",
	[SIM_VALUE_RETIRED_DBE] = "retired-dbe",
	[SIM_VALUE_RETIRED_PENDING] = "retired-pending",
	[SIM_VALUE_REMAPPED_CORRECTABLE] = "remapped-correctable",
	[SIM_VALUE_REMAPPED_UNCORRECTABLE] = "remapped-uncorrectable",
	[SIM_VALUE_REMAPPED_PENDING] = "remapped-pending",
	[SIM_VALUE_REMAPPED_FAILED] = "remapped-failed",
	[SIM_VALUE_NVLINK_TX] = "nvlink-tx",
	[SIM_VALUE_NVLINK_RX] = "nvlink-rx",
};

_Static_assert(SIM_VALUE_COUNT <= 64, "one bit each");

const char *value_word(enum sim_value value)
{
	return value < SIM_VALUE_COUNT ? words[value] : NULL;
}

static void put(struct sim_card_state *state, enum sim_value value, uint64_t number)
{
	state->has |= 1ull << value;
	state->values[value] = number;
}

/* Turing and older retire pages, later ones remap rows: a card has one or the other. */
static void put_repairs(const struct sim_card_info *info, struct sim_card_state *state)
{
	unsigned first = info->row_remap ? SIM_VALUE_REMAPPED_CORRECTABLE : SIM_VALUE_RETIRED_SBE;
	unsigned last = info->row_remap ? SIM_VALUE_REMAPPED_FAILED : SIM_VALUE_RETIRED_PENDING;

	for (unsigned i = first; i <= last; i++)
		put(state, (enum sim_value)i, 0);
}

/* No work runs here: a card with contexts is taken to be as busy as it is full. */
static void put_work(const struct sim_card_info *info, uint32_t position,
		     const struct kernel_card *card, struct sim_card_state *state)
{
	bool works = card->contexts > 0, hbm = info->bus_width >= 1024;
	uint32_t busy = works ? (uint32_t)(card->used_bytes * 100 / info->memory_bytes) : 0;
	uint32_t temperature = 28 + position % 4 + busy * 40 / 100;

	put(state, SIM_VALUE_TEMPERATURE, temperature);
	if (hbm) /* it has its own sensor */
		put(state, SIM_VALUE_MEMORY_TEMPERATURE, temperature + 8);
	put(state, SIM_VALUE_POWER,
	    info->power_idle_mw + (info->power_limit_mw - info->power_idle_mw) / 100 * busy);
	put(state, SIM_VALUE_UTILIZATION, busy);
	put(state, SIM_VALUE_MEMORY_UTILIZATION, busy / 2);
	put(state, SIM_VALUE_CLOCK_GRAPHICS,
	    works ? info->clock_graphics_mhz : info->clock_idle_mhz);
	put(state, SIM_VALUE_CLOCK_MEMORY, info->clock_memory_mhz);
	put(state, SIM_VALUE_CLOCK_REASONS,
	    busy == 0 ? nvmlClocksThrottleReasonGpuIdle : nvmlClocksThrottleReasonNone);
	/* HBM cards rest in P0, T4 and L4 fall to P8. */
	put(state, SIM_VALUE_PSTATE, hbm || works ? NVML_PSTATE_0 : NVML_PSTATE_8);
}

/* A machine without a test: nothing is worn, nothing is wrong. */
static void put_defaults(const struct sim_card_info *info, struct sim_card_state *state)
{
	put(state, SIM_VALUE_ENERGY, 0);
	put(state, SIM_VALUE_ENCODER, 0);
	put(state, SIM_VALUE_DECODER, 0);
	put(state, SIM_VALUE_POWER_LIMIT, info->power_limit_mw);
	put(state, SIM_VALUE_SLOWDOWN, info->temperature_slowdown);
	put(state, SIM_VALUE_SHUTDOWN, info->temperature_shutdown);
	put(state, SIM_VALUE_RESERVED, info->reserved_bytes);
	put(state, SIM_VALUE_BAR1_USED,
	    1 << 20); /* a page of the driver's own, as on an idle card */
	put(state, SIM_VALUE_PCIE_REPLAY, 0);
	put(state, SIM_VALUE_PCIE_GENERATION, info->pci.generation);
	put(state, SIM_VALUE_PCIE_WIDTH, info->pci.width);
	for (unsigned i = SIM_VALUE_ECC_SBE_VOLATILE; i <= SIM_VALUE_ECC_DBE_AGGREGATE; i++)
		put(state, (enum sim_value)i, 0);
	put_repairs(info, state);
	if (info->link_count) {
		put(state, SIM_VALUE_NVLINK_TX, 0);
		put(state, SIM_VALUE_NVLINK_RX, 0);
	}
}

void values_fill(const struct sim_card_info *info, uint32_t position,
		 const struct kernel_card *card, struct sim_card_state *state)
{
	put_work(info, position, card, state);
	put_defaults(info, state);
	for (unsigned i = 0; i < SIM_VALUE_COUNT; i++)
		if (card->set >> i & 1)
			put(state, (enum sim_value)i, card->values[i]);
}

enum sim_status values_set(struct kernel_card *card, uint32_t which, bool set, uint64_t value)
{
	if (which >= SIM_VALUE_COUNT)
		return SIM_BAD_REQUEST;
	card->set &= ~(1ull << which);
	if (set) {
		card->set |= 1ull << which;
		card->values[which] = value;
	}
	return SIM_OK;
}
