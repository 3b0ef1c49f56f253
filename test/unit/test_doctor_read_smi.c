/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_of.h"
#include "test.h"

#include "base/base.h"

static const struct reading readings[] = {
	{ "table",
	  NULL,
	  "--- host: nvidia-smi\n"
	  "+-----------------------------------------------------------------------------+\n"
	  "| NVIDIA-SMI 525.60.13    Driver Version: 525.60.13    CUDA Version: 12.0     |\n"
	  "|-------------------------------+----------------------+----------------------+\n"
	  "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
	  "|===============================+======================+======================|\n"
	  "|   0  NVIDIA A100-SXM...  Off  | 00000000:07:00.0 Off |                    0 |\n"
	  "| N/A   91C    P0    56W / 400W |  40900MiB / 40960MiB |     99%   E. Process |\n"
	  "|                               |                      |              Enabled |\n"
	  "+-------------------------------+----------------------+----------------------+\n"
	  "|   1  Tesla T4            Off  | 00000000:08:00.0 Off |                    0 |\n"
	  "| N/A   31C    P0    56W / 400W |      0MiB / 40960MiB |      0%      Default |\n"
	  "|                               |                      |                  N/A |\n"
	  "+-----------------------------------------------------------------------------+\n"
	  "| Processes:                                                                  |\n"
	  "|    0   N/A  N/A     12345      C   /usr/bin/python3                40000MiB |\n",
	  { "driver.version=525.60.13", "driver.branch=525", "driver.cuda_version=12.0",
	    "driver.cards_host=2", "card.models_differ", "card.persistence=off", "card.hot=91",
	    "card.memory_full", "card.busy", "card.compute_mode=exclusive_process",
	    "card.process=python3", "card.mig=enabled" },
	  { "card.lost", "driver.smi_error", "card.persistence=on", "injection.ok" } },
	{ "healthy table of a new driver",
	  NULL,
	  "| NVIDIA-SMI 570.133.20             Driver Version: 570.133.20     CUDA Version: 12.8   "
	  "  |\n"
	  "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    "
	  "0 |\n"
	  "| N/A   30C    P0             70W /  700W |       0MiB /  81559MiB |      0%      "
	  "Default |\n"
	  "|                                         |                        |             "
	  "Disabled |\n"
	  "| Processes:                                                                            "
	  "  |\n"
	  "|  No running processes found                                                           "
	  "  |\n",
	  { "driver.ok", "card.model=NVIDIA H100 80GB HBM3", "card.architecture=hopper",
	    "card.persistence=on", "card.mig=disabled" },
	  { "card.hot", "card.busy", "card.memory_full", "card.process" } },
	{ "MIG without instances",
	  NULL,
	  "|   0  NVIDIA A30          On   | 00000000:07:00.0 Off |                    0 |\n"
	  "| N/A   31C    P0    56W / 165W |      0MiB / 24576MiB |     N/A      Default |\n"
	  "|                               |                      |              Enabled |\n"
	  "|  No MIG devices found                                                       |\n",
	  { "card.mig_empty" },
	  { "card.mig_mixed" } },
	{ "list with instances",
	  NULL,
	  "GPU 0: NVIDIA A30 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n"
	  "  MIG 1g.6gb      Device  0: (UUID: MIG-00000000-0000-0000-0000-000000000002)\n"
	  "  MIG 2g.12gb     Device  1: (UUID: MIG-00000000-0000-0000-0000-000000000003)\n",
	  { "driver.cards=1", "card.mig_profile=2g.12gb", "card.mig_profiles_differ", "driver.ok" },
	  { "card.models_differ" } },
	{ "instances",
	  NULL,
	  "|   0  MIG 1g.5gb       19        7          4:1     |\n"
	  "|   0  MIG 1g.5gb       19        8          5:1     |\n",
	  { "card.mig_profile=1g.5gb" },
	  { "card.mig_profiles_differ" } },
	{ "profiles that could be made",
	  NULL,
	  "|   0  MIG 1g.5gb       19     7/7        4.75       No     14     0     0   |\n",
	  { NULL },
	  { "card.mig_profile" } },
	{ "-q",
	  NULL,
	  "==============NVSMI LOG==============\n"
	  "Driver Version                            : 535.54.03\n"
	  "CUDA Version                              : 12.2\n"
	  "Attached GPUs                             : 1\n"
	  "GPU 00000000:07:00.0\n"
	  "    Product Name                          : NVIDIA GeForce RTX 3090\n"
	  "    Persistence Mode                      : Disabled\n"
	  "    MIG Mode\n"
	  "        Current                           : N/A\n"
	  "    GPU Link Info\n"
	  "        PCIe Generation\n"
	  "            Max                           : 4\n"
	  "            Current                       : 1\n"
	  "        Link Width\n"
	  "            Max                           : 16x\n"
	  "            Current                       : 4x\n"
	  "    Performance State                     : P0\n"
	  "    Clocks Event Reasons\n"
	  "        SW Power Cap                      : Not Active\n"
	  "        HW Thermal Slowdown               : Active\n"
	  "    ECC Errors\n"
	  "        Volatile\n"
	  "            DRAM Uncorrectable            : 3\n"
	  "    Remapped Rows\n"
	  "        Uncorrectable Error               : 1\n"
	  "        Pending                           : Yes\n"
	  "        Remapping Failure Occurred        : No\n",
	  { "card.pcie_width_low=4x of 16x", "card.pcie_speed_low=1 of 4",
	    "card.throttle=hw_thermal", "card.ecc_uncorrected=volatile", "card.remapped=1",
	    "card.remap_pending", "card.kind=geforce", "seen.smi_detail", "card.persistence=off",
	    "card.mig_unable", "driver.version=535.54.03" },
	  { "card.throttle=sw_power_cap", "card.remap_failed" } },
	{ "a card at rest",
	  NULL,
	  "    Product Name                          : Tesla T4\n"
	  "        PCIe Generation\n            Max                           : 3\n"
	  "            Current                       : 1\n    Performance State       : P8\n",
	  { "driver.ok" },
	  { "card.pcie_speed_low" } },
	{ "-x",
	  NULL,
	  "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n<driver_version>535.54.03</driver_version>\n"
	  "<gpu id=\"00000000:07:00.0\">\n<product_name>Tesla T4</product_name>\n"
	  "<mig_mode><current_mig>N/A</current_mig></mig_mode>\n"
	  "<clocks_event_reasons>\n"
	  "<clocks_event_reason_sw_thermal_slowdown>Active</"
	  "clocks_event_reason_sw_thermal_slowdown>\n"
	  "<current_link_width>8x</current_link_width><max_link_width>16x</max_link_width>\n"
	  "<remapped_row_failure>Yes</remapped_row_failure>\n</gpu>\n",
	  { "driver.version=535.54.03", "card.model=Tesla T4", "card.throttle=sw_thermal",
	    "card.pcie_width_low=8x of 16x", "card.remap_failed", "driver.ok" },
	  { "card.remap_pending" } },
	{ "errors",
	  NULL,
	  "--- container: nvidia-smi -L\nFailed to initialize NVML: Unknown Error\n"
	  "--- host: nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\n"
	  "NVML library version: 570.195\n",
	  { "driver.smi_error_container=unknown_error", "driver.smi_error_host=mismatch",
	    "driver.library_version=570.195" },
	  { "driver.ok", "driver.smi_error_host=unknown_error", "card.lost" } },
	{ "lost",
	  NULL,
	  "Unable to determine the device handle for GPU 0000:41:00.0: GPU is lost.  Reboot\n",
	  { "card.lost", "driver.smi_error=lost" },
	  { "driver.ok" } },
};

TEST(nvidia_smi_is_read)
{
	readings_check(readings, ARRAY_SIZE(readings));
}
