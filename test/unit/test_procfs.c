/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "device/sysfs/sysfs.h"
#include "fixture.h"

static const struct {
	const char *text, *normal; /* NULL: refused */
} bus_ids[] = {
	{ "00000000:07:00.0", "0000:07:00.0" },
	{ "0000:07:00.0", "0000:07:00.0" },
	{ "07:00.0", "0000:07:00.0" },
	{ "0000:AF:1F.7", "0000:af:1f.7" },
	{ "3e3f8e05:00:00.0", "3e3f8e05:00:00.0" }, /* a virtual domain of a cloud */
	{ "10000:01:00.0", "10000:01:00.0" },       /* a domain behind a controller */
	{ "0:1:2.3", "0000:01:02.3" },
	{ "", NULL },
	{ "0000:07:00", NULL },
	{ "0000:07:00.", NULL },
	{ "0000:07:00.8", NULL },
	{ "0000:07:20.0", NULL },
	{ "0000:107:00.0", NULL },
	{ "000000000:07:00.0", NULL },
	{ "0000:07:00.0 ", NULL },
	{ "0000:07:00.0:1", NULL },
	{ "107:00.0", NULL },
	{ "g000:07:00.0", NULL },
	{ ":07:00.0", NULL },
};

TEST(bus_ids_are_normalised)
{
	for (size_t i = 0; i < ARRAY_SIZE(bus_ids); i++) {
		char normal[CARD_BUS_ID_MAX] = "";
		int r = bus_id_normalise(bus_ids[i].text, normal);

		assert_int_equal(r, bus_ids[i].normal ? 0 : -EINVAL);
		assert_string_equal(normal, bus_ids[i].normal ? bus_ids[i].normal : "");
	}
}

static const struct {
	const char *uuid;
	bool valid;
} uuids[] = {
	{ "GPU-5ee2ee0c-1d6b-4b0e-8f5a-5c1dd2c2a1c5", true },
	{ "GPU-", false },
	{ "", false },
	{ "MIG-5ee2ee0c-1d6b-4b0e-8f5a-5c1dd2c2a1c5", false },
	{ "GPU-../../etc", false },
	{ "GPU-?\?\?\?", false },
};

TEST(uuids_are_checked)
{
	for (size_t i = 0; i < ARRAY_SIZE(uuids); i++)
		assert_int_equal(card_uuid_is_valid(uuids[i].uuid), uuids[i].valid);
}

static const struct {
	const char *text, *version; /* NULL: none */
} versions[] = {
	{ "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC "
	  "2023\n"
	  "GCC version:  gcc version 12.2.0\n",
	  "535.104.05" },
	{ "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.14  Release Build\n",
	  "550.54.14" },
	{ "NVRM version: NVIDIA UNIX aarch64 Kernel Module  470.57.02  Tue\n", "470.57.02" },
	{ "NVRM version: NVIDIA UNIX x86_64 Kernel Module\nGCC version: 12.2.0\n", NULL },
	{ "", NULL },
	{ "535", NULL },
	{ "535.", NULL },
	{ ".535", NULL },
	{ "1.2.3", "1.2.3" },
};

TEST(module_versions_are_read)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		char version[DEVICE_VERSION_MAX] = "";
		int r = procfs_parse_version(versions[i].text, version);

		assert_int_equal(r, versions[i].version ? 0 : -EINVAL);
		assert_string_equal(version, versions[i].version ? versions[i].version : "");
	}
}

static const struct {
	const char *text;
	bool listed;
} devices[] = {
	{ "Character devices:\n  1 mem\n195 nvidia\n508 nvidia-uvm\n\nBlock devices:\n", true },
	{ "Character devices:\n195 nvidia-frontend\n", true },
	{ "Character devices:\n195 nvidia-caps\n", false },
	{ "Character devices:\n196 nvidia\n", false },
	{ "Character devices:\n  1 mem\n\nBlock devices:\n195 nvidia\n", false },
	{ "", false },
};

TEST(kernel_devices_are_read)
{
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		assert_int_equal(procfs_devices_has_nvidia(devices[i].text), devices[i].listed);
}

TEST(information_is_read)
{
	struct procfs_card card = { 0 };

	procfs_parse_information("Model: \t\t NVIDIA A100-SXM4-80GB\n"
				 "IRQ:   \t\t 62\n"
				 "GPU UUID: \t GPU-5ee2ee0c-1d6b-4b0e-8f5a-5c1dd2c2a1c5\n"
				 "Bus Location: \t 0000:07:00.0\n"
				 "Device Minor: \t 3\n"
				 "GPU Excluded:\t Yes\n",
				 &card);
	assert_string_equal(card.model, "NVIDIA A100-SXM4-80GB");
	assert_string_equal(card.uuid, "GPU-5ee2ee0c-1d6b-4b0e-8f5a-5c1dd2c2a1c5");
	assert_true(card.has_minor);
	assert_int_equal(card.minor, 3);
	assert_true(card.excluded);
}

TEST(information_that_is_hostile)
{
	struct procfs_card card = { 0 };
	char model[400];

	memset(model, 'M', sizeof(model));
	memcpy(model, "Model: ", 7);
	model[sizeof(model) - 1] = '\0';
	procfs_parse_information("GPU UUID: GPU-?\?\?\?\?\?\?\?-?\?\n"
				 "Device Minor: 1234567\n"
				 "Model: \x01\xff\n"
				 ":::\n"
				 "GPU Excluded: No",
				 &card);
	assert_string_equal(card.uuid, "");
	assert_false(card.has_minor);
	assert_false(card.excluded);
	assert_string_equal(card.model, "??");
	procfs_parse_information(model, &card);
	assert_int_equal(strlen(card.model), CARD_MODEL_MAX - 1);
}

#define NVIDIA "proc/driver/nvidia/"
#define PCI    "sys/bus/pci/devices/"

static const struct fixture_file two_cards[] = {
	{ NVIDIA "version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat\n" },
	{ NVIDIA "gpus/10000:01:00.0/information", "Model: B\nDevice Minor: 1\n" },
	{ NVIDIA "gpus/0000:81:00.0/information", "Model: A\nDevice Minor: 0\n" },
	{ NVIDIA "gpus/nonsense/information", "Model: C\n" },
	{ PCI "0000:81:00.0/vendor", "0x10de\n" },
	{ PCI "0000:81:00.0/class", "0x030200\n" },
	{ PCI "0000:81:00.0/numa_node", "1\n" },
	{ PCI "0000:81:00.0/current_link_width", "16\n" },
	{ PCI "10000:01:00.0/vendor", "0x10de\n" },
	{ PCI "10000:01:00.0/class", "0x030000\n" },
	{ PCI "10000:01:00.0/numa_node", "-1\n" },
	{ PCI "10000:01:00.0/current_link_width", "63\n" },
	{ PCI "0000:81:00.1/vendor", "0x10de\n" }, /* its sound */
	{ PCI "0000:81:00.1/class", "0x040300\n" },
	{ PCI "0000:00:02.0/vendor", "0x8086\n" },
	{ PCI "0000:00:02.0/class", "0x030000\n" },
};

TEST(the_trees_of_a_driver_root_are_read)
{
	struct fixture fixture;
	struct procfs *procfs = calloc(1, sizeof(*procfs));
	struct pci *pci = calloc(1, sizeof(*pci));

	fixture_make(&fixture, two_cards, ARRAY_SIZE(two_cards));
	assert_int_equal(procfs_read(fixture.root, procfs, NULL), 0);
	procfs_read_information(procfs);
	assert_true(procfs->present);
	assert_string_equal(procfs->version, "535.104.05");
	assert_int_equal(procfs->count, 2);
	assert_string_equal(procfs->cards[0].bus_id, "0000:81:00.0");
	assert_string_equal(procfs->cards[1].bus_id, "10000:01:00.0");
	assert_string_equal(procfs->cards[1].model, "B");
	assert_int_equal(procfs->mig_generation, 0);
	assert_null(procfs_find(procfs, "0000:82:00.0"));

	assert_int_equal(pci_read(fixture.root, pci, NULL), 0);
	assert_int_equal(pci->count, 2);
	assert_int_equal(pci_find(pci, "0000:81:00.0")->numa, 1);
	assert_false(pci_find(pci, "0000:81:00.0")->link_down);
	assert_int_equal(pci_find(pci, "10000:01:00.0")->numa, -1);
	assert_true(pci_find(pci, "10000:01:00.0")->link_down);
	fixture_remove(&fixture);
	free(procfs);
	free(pci);
}

TEST(the_mig_generation_follows_the_instances)
{
	static const struct fixture_file files[] = {
		{ NVIDIA "version", "535.104.05\n" },
		{ NVIDIA "capabilities/gpu0/mig/gi1/access", "DeviceFileMinor: 3\n" },
		{ NVIDIA "capabilities/gpu0/mig/gi1/ci0/access", "DeviceFileMinor: 4\n" },
		{ NVIDIA "capabilities/mig/config", "" },
	};
	struct fixture fixture;
	struct procfs *procfs = calloc(1, sizeof(*procfs));

	fixture_make(&fixture, files, ARRAY_SIZE(files));
	assert_int_equal(procfs_read(fixture.root, procfs, NULL), 0);
	uint64_t first = procfs->mig_generation;
	assert_int_not_equal(first, 0);
	fixture_write(&fixture, NVIDIA "capabilities/gpu0/mig/gi1/ci1/access", "");
	assert_int_equal(procfs_read(fixture.root, procfs, NULL), 0);
	assert_int_not_equal(procfs->mig_generation, first);
	fixture_remove(&fixture);
	free(procfs);
}

TEST(own_processes_are_described)
{
	struct card_process process = { .pid = getpid(), .uid = UINT32_MAX };
	struct card_process absent = { .pid = INT32_MAX, .uid = UINT32_MAX };

	process_describe(&process);
	assert_int_equal(process.uid, getuid());
	assert_string_equal(process.name, "test_procfs");
	process_describe(&absent);
	assert_int_equal(absent.uid, UINT32_MAX);
}
