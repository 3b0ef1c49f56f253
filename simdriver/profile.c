/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <stdio.h>
#include <string.h>

#include "abi/nvml.h"
#include "mig.h"

#define MIB (UINT64_C(1) << 20)

enum model_index { A100_80, A100_40, H100_80, T4_16, L4_24 };

/*
 * Sources. Totals: modal-labs/modal-client pull 2797 (nvidia-smi on each model). Ids, power,
 * clocks, inforom and reserved memory of A100-40, H100 and T4: the nvidia-smi captures of real
 * cards in NVIDIA/k8s-test-infra (qx-*.xml). A100-80: NVIDIA/CUDALibrarySamples issue 104 (VBIOS);
 * reserved memory of A100-80 and L4 is total minus the capacity that CUDA reports (79.15 and
 * 22.03 GiB). Multiprocessors and cores: NVIDIA's data sheets. A context's cost is a typical one.
 *
 * How to add a model: a row here and its name in enum model_index.
 */
static const struct card_model models[] = {
	[A100_80] = {
		.name = "NVIDIA A100-SXM4-80GB", .architecture_name = "Ampere",
		.architecture = NVML_DEVICE_ARCH_AMPERE, .compute_major = 8, .compute_minor = 0,
		.device_id = 0x20B210DE, .subsystem_id = 0x147F10DE,
		.memory_mib = 81920, .reserved_mib = 870, .context_mib = 406, .bar1_mib = 131072,
		.multiprocessors = 108, .cores = 6912, .bus_width = 5120,
		.power_limit_w = 400, .power_min_w = 100, .power_idle_w = 62,
		.clock_graphics_mhz = 1410, .clock_memory_mhz = 1593, .clock_video_mhz = 1290,
		.clock_idle_mhz = 210, .slowdown_c = 89, .shutdown_c = 92, .pcie_generation = 4,
		.mig = "A100-80", .mig_resets = true, .nvlink_version = 4, .nvlink_count = 12, .row_remap = 1,
		.vbios = "92.00.45.00.05", .part_number = "692-2G506-0210-002",
		.inforom_image = "G506.0210.00.03", .inforom_oem = "2.0", .inforom_ecc = "6.16",
	},
	[A100_40] = {
		.name = "NVIDIA A100-SXM4-40GB", .architecture_name = "Ampere",
		.architecture = NVML_DEVICE_ARCH_AMPERE, .compute_major = 8, .compute_minor = 0,
		.device_id = 0x20B010DE, .subsystem_id = 0x134F10DE,
		.memory_mib = 40960, .reserved_mib = 518, .context_mib = 406, .bar1_mib = 65536,
		.multiprocessors = 108, .cores = 6912, .bus_width = 5120,
		.power_limit_w = 400, .power_min_w = 100, .power_idle_w = 53,
		.clock_graphics_mhz = 1410, .clock_memory_mhz = 1215, .clock_video_mhz = 1290,
		.clock_idle_mhz = 210, .slowdown_c = 89, .shutdown_c = 92, .pcie_generation = 4,
		.mig = "A100-40", .mig_resets = true, .nvlink_version = 4, .nvlink_count = 12, .row_remap = 1,
		.vbios = "92.00.45.00.03", .part_number = "692-2G506-0200-003",
		.inforom_image = "G506.0200.00.04", .inforom_oem = "2.0", .inforom_ecc = "6.16",
	},
	[H100_80] = {
		.name = "NVIDIA H100 80GB HBM3", .architecture_name = "Hopper",
		.architecture = NVML_DEVICE_ARCH_HOPPER, .compute_major = 9, .compute_minor = 0,
		.device_id = 0x233010DE, .subsystem_id = 0x16C110DE,
		.memory_mib = 81559, .reserved_mib = 551, .context_mib = 520, .bar1_mib = 131072,
		.multiprocessors = 132, .cores = 16896, .bus_width = 5120,
		.power_limit_w = 700, .power_min_w = 200, .power_idle_w = 69,
		.clock_graphics_mhz = 1980, .clock_memory_mhz = 2619, .clock_video_mhz = 1545,
		.clock_idle_mhz = 345, .slowdown_c = 89, .shutdown_c = 95, .pcie_generation = 5,
		.mig = "H100-80", .nvlink_version = 6, .nvlink_count = 18, .row_remap = 1,
		.vbios = "96.00.99.00.01", .part_number = "692-2G520-0200-000",
		.inforom_image = "G520.0200.00.05", .inforom_oem = "2.1", .inforom_ecc = "7.16",
	},
	[T4_16] = {
		.name = "Tesla T4", .architecture_name = "Turing",
		.architecture = NVML_DEVICE_ARCH_TURING, .compute_major = 7, .compute_minor = 5,
		.device_id = 0x1EB810DE, .subsystem_id = 0x12A210DE,
		.memory_mib = 15360, .reserved_mib = 448, .context_mib = 102, .bar1_mib = 256,
		.multiprocessors = 40, .cores = 2560, .bus_width = 256,
		.power_limit_w = 70, .power_min_w = 60, .power_idle_w = 9,
		.clock_graphics_mhz = 1590, .clock_memory_mhz = 5001, .clock_video_mhz = 1470,
		.clock_idle_mhz = 300, .slowdown_c = 93, .shutdown_c = 96, .pcie_generation = 3,
		.vbios = "90.04.96.00.02", .part_number = "900-2G183-0000-001",
		.inforom_image = "G183.0200.00.02", .inforom_oem = "1.1", .inforom_ecc = "5.0",
	},
	[L4_24] = {
		.name = "NVIDIA L4", .architecture_name = "Ada Lovelace",
		.architecture = NVML_DEVICE_ARCH_ADA, .compute_major = 8, .compute_minor = 9,
		.device_id = 0x27B810DE, .subsystem_id = 0x16CA10DE,
		.memory_mib = 23034, .reserved_mib = 475, .context_mib = 150, .bar1_mib = 32768,
		.multiprocessors = 58, .cores = 7424, .bus_width = 192,
		.power_limit_w = 72, .power_min_w = 40, .power_idle_w = 12,
		.clock_graphics_mhz = 2040, .clock_memory_mhz = 6251, .clock_video_mhz = 1770,
		.clock_idle_mhz = 210, .slowdown_c = 92, .shutdown_c = 97, .pcie_generation = 4,
		.row_remap = 1,
		.vbios = "95.04.29.00.06", .part_number = "900-2G193-0000-000",
		.inforom_image = "G193.0200.00.01", .inforom_oem = "2.1", .inforom_ecc = "6.16",
	},
};

#define CARD(model_, bus_, minor_, numa_, bridge_)                                           \
	{                                                                                    \
		.model = &models[model_], .bus = (bus_), .minor = (minor_), .numa = (numa_), \
		.bridge = (bridge_)                                                          \
	}

/*
 * Addresses are those of a DGX A100, of HGX H100 servers, of a dual-socket server with T4. CUDA by
 * driver: 535 has 12.2, 550 has 12.4 (CUDA release notes, table of driver versions).
 *
 * How to add a profile: a row here; nothing else knows its name.
 */
const struct profile profiles[] = {
	{
		.name = "a100-80", .title = "8 x A100-SXM4-80GB, every pair joined by 12 NVLinks",
		.driver_version = "535.183.01", .branch = 535, .cuda_version = 12020,
		.older_version = "535.161.08", .cpu_count = 256, .numa_count = 2, .card_count = 8,
		.cards = {
			CARD(A100_80, 0x07, 0, 0, 1), CARD(A100_80, 0x0F, 1, 0, 1),
			CARD(A100_80, 0x47, 2, 0, 2), CARD(A100_80, 0x4E, 3, 0, 2),
			CARD(A100_80, 0x87, 4, 1, 3), CARD(A100_80, 0x90, 5, 1, 3),
			CARD(A100_80, 0xB7, 6, 1, 4), CARD(A100_80, 0xBD, 7, 1, 4),
		},
	},
	{
		.name = "h100", .title = "8 x H100 80GB HBM3, every pair joined by 18 NVLinks",
		.driver_version = "550.90.07", .branch = 550, .cuda_version = 12040,
		.older_version = "550.54.15", .cpu_count = 224, .numa_count = 2, .card_count = 8,
		.cards = {
			CARD(H100_80, 0x19, 0, 0, 0), CARD(H100_80, 0x3B, 1, 0, 0),
			CARD(H100_80, 0x4C, 2, 0, 0), CARD(H100_80, 0x5D, 3, 0, 0),
			CARD(H100_80, 0x9B, 4, 1, 0), CARD(H100_80, 0xBB, 5, 1, 0),
			CARD(H100_80, 0xCB, 6, 1, 0), CARD(H100_80, 0xDB, 7, 1, 0),
		},
	},
	{
		.name = "t4", .title = "4 x Tesla T4, PCIe only",
		.driver_version = "535.183.01", .branch = 535, .cuda_version = 12020,
		.older_version = "535.161.08", .cpu_count = 48, .numa_count = 2, .card_count = 4,
		.cards = {
			CARD(T4_16, 0x3B, 0, 0, 0), CARD(T4_16, 0x5E, 1, 0, 0),
			CARD(T4_16, 0x86, 2, 1, 0), CARD(T4_16, 0xAF, 3, 1, 0),
		},
	},
	{
		/* Minors are not in the order of addresses here, as on some real machines. */
		.name = "mixed", .title = "2 x A100-SXM4-40GB with 4 NVLinks, 2 x Tesla T4, 1 x L4",
		.driver_version = "550.90.07", .branch = 550, .cuda_version = 12040,
		.older_version = "550.54.15", .cpu_count = 64, .numa_count = 2, .lanes = 4,
		.card_count = 5,
		.cards = {
			CARD(A100_40, 0x17, 2, 0, 1), CARD(A100_40, 0x31, 0, 0, 1),
			CARD(T4_16, 0x65, 1, 0, 0), CARD(T4_16, 0xB1, 4, 1, 0),
			CARD(L4_24, 0xCA, 3, 1, 0),
		},
	},
};

const size_t profile_count = sizeof(profiles) / sizeof(profiles[0]);

const struct profile *profile_find(const char *name)
{
	for (size_t i = 0; i < profile_count; i++) {
		if (strcmp(profiles[i].name, name) == 0)
			return &profiles[i];
	}
	return NULL;
}

void profile_driver(const struct profile *profile, struct sim_driver *ret)
{
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->version, sizeof(ret->version), "%s", profile->driver_version);
	snprintf(ret->nvml_version, sizeof(ret->nvml_version), "12.%s", profile->driver_version);
	snprintf(ret->profile, sizeof(ret->profile), "%s", profile->name);
	ret->cuda_version = profile->cuda_version;
	ret->card_count = profile->card_count;
	ret->cpu_count = profile->cpu_count;
	ret->numa_count = profile->numa_count;
	for (uint32_t i = 0; i < profile->card_count; i++)
		ret->minors[i] = profile->cards[i].minor;
}

/* splitmix64 (Steele, Lea, Flood 2014): spreads a counter over 64 bits. */
static uint64_t spread(uint64_t x)
{
	x += UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

static void make_identity(const struct profile *profile, uint32_t position,
			  struct sim_card_info *info)
{
	uint64_t seed = position, high, low;

	for (const char *c = profile->name; *c != '\0'; c++)
		seed = spread(seed ^ ((uint64_t)(unsigned char)*c << 32));
	high = spread(seed);
	low = spread(high);
	snprintf(info->uuid, sizeof(info->uuid), "GPU-%08x-%04x-%04x-%04x-%012llx",
		 (unsigned)(high >> 32), (unsigned)(high >> 16) & 0xFFFFu, (unsigned)high & 0xFFFFu,
		 (unsigned)(low >> 48), (unsigned long long)(low & UINT64_C(0xFFFFFFFFFFFF)));
	snprintf(info->serial, sizeof(info->serial), "13%011llu",
		 (unsigned long long)(spread(low) % UINT64_C(100000000000)));
}

static uint32_t distance(const struct profile_card *a, const struct profile_card *b)
{
	if (a == b)
		return NVML_TOPOLOGY_INTERNAL;
	if (a->bridge != 0 && a->bridge == b->bridge)
		return NVML_TOPOLOGY_MULTIPLE;
	return a->numa == b->numa ? NVML_TOPOLOGY_NODE : NVML_TOPOLOGY_SYSTEM;
}

static void make_links(const struct profile *profile, const struct profile_card *card,
		       struct sim_card_info *info)
{
	uint32_t next = 0;

	info->link_count = card->model->nvlink_count;
	for (uint32_t i = 0; i < SIM_LINKS_MAX; i++)
		info->links[i].remote = profile->lanes == 0 && i < info->link_count
						? SIM_LINK_SWITCH
						: SIM_LINK_NONE;
	for (uint32_t i = 0; i < profile->card_count && info->link_count > 0; i++) {
		if (&profile->cards[i] == card || profile->cards[i].model != card->model)
			continue;
		for (uint32_t k = 0; k < profile->lanes && next < info->link_count; k++)
			info->links[next++].remote = profile->cards[i].minor;
	}
}

static void make_model(const struct card_model *model, struct sim_card_info *info)
{
	snprintf(info->name, sizeof(info->name), "%s", model->name);
	snprintf(info->vbios, sizeof(info->vbios), "%s", model->vbios);
	snprintf(info->part_number, sizeof(info->part_number), "%s", model->part_number);
	snprintf(info->inforom_image, sizeof(info->inforom_image), "%s", model->inforom_image);
	snprintf(info->inforom_oem, sizeof(info->inforom_oem), "%s", model->inforom_oem);
	snprintf(info->inforom_ecc, sizeof(info->inforom_ecc), "%s", model->inforom_ecc);
	snprintf(info->architecture_name, sizeof(info->architecture_name), "%s",
		 model->architecture_name);
	info->architecture = model->architecture;
	info->compute_major = model->compute_major;
	info->compute_minor = model->compute_minor;
	info->multiprocessors = model->multiprocessors;
	info->cores = model->cores;
	info->bus_width = model->bus_width;
	info->memory_bytes = model->memory_mib * MIB;
	info->reserved_bytes = model->reserved_mib * MIB;
	info->context_bytes = model->context_mib * MIB;
	info->bar1_bytes = model->bar1_mib * MIB;
	info->power_limit_mw = model->power_limit_w * 1000;
	info->power_max_mw = model->power_limit_w * 1000;
	info->power_min_mw = model->power_min_w * 1000;
	info->power_idle_mw = model->power_idle_w * 1000;
	info->clock_graphics_mhz = model->clock_graphics_mhz;
	info->clock_memory_mhz = model->clock_memory_mhz;
	info->clock_video_mhz = model->clock_video_mhz;
	info->clock_idle_mhz = model->clock_idle_mhz;
	info->temperature_slowdown = model->slowdown_c;
	info->temperature_shutdown = model->shutdown_c;
	info->mig_table = mig_table_number(model->mig);
	info->nvlink_version = model->nvlink_version;
	info->ecc = 1;
	info->row_remap = model->row_remap;
	info->pci.device_id = model->device_id;
	info->pci.subsystem_id = model->subsystem_id;
	info->pci.generation = model->pcie_generation;
	info->pci.width = 16;
}

void profile_card_info(const struct profile *profile, uint32_t position, struct sim_card_info *ret)
{
	const struct profile_card *card = &profile->cards[position];

	memset(ret, 0, sizeof(*ret));
	ret->minor = card->minor;
	ret->numa = card->numa;
	make_model(card->model, ret);
	make_identity(profile, position, ret);
	make_links(profile, card, ret);
	ret->pci.bus = card->bus;
	for (uint32_t i = 0; i < profile->card_count; i++)
		ret->switches[profile->cards[i].minor] = distance(card, &profile->cards[i]);
}
