/* SPDX-License-Identifier: Apache-2.0 */
#include "root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capability.h"
#include "root_names.h"
#include "tree.h"

#define LIBRARIES     "usr/lib/x86_64-linux-gnu"
#define MAJOR_NVIDIA  195
#define MINOR_CONTROL 255
#define MINOR_MODESET 254
#define MODE_NODE     0666

static const char *const made[] = { "dev", "etc", "lib", "proc", "sys", "usr", ROOT_MARK };

#define MADE_COUNT (sizeof(made) / sizeof(made[0]))

static void card_address(const struct profile_card *card, char ret[32])
{
	snprintf(ret, 32, "0000:%02x:00.0", card->bus & 0xFF);
}

/*
 * A character major that this kernel gives to no driver: an open answers ENXIO, as for 195. The
 * real ones are dynamic too. `skip` so many from the top.
 */
static unsigned free_major(unsigned skip)
{
	bool used[512] = { false };
	FILE *file = fopen("/proc/devices", "re");
	char line[256];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL &&
	       strncmp(line, "Block", 5) != 0) {
		unsigned long major = strtoul(line, NULL, 10);

		if (major < 512)
			used[major] = true;
	}
	if (file != NULL)
		fclose(file);
	for (unsigned major = 511; major > MAJOR_NVIDIA; major--) {
		if (!used[major] && skip-- == 0)
			return major;
	}
	return 0;
}

/* A filesystem mounted nodev takes nodes and refuses to open them. */
static int check_node(const char *root)
{
	char path[TREE_PATH_MAX];
	int fd;

	if (tree_path(root, "dev/nvidiactl", path) != 0)
		return -1;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	else if (errno == EACCES)
		return tree_fail(
			"%s cannot be opened: its filesystem is mounted with nodev; choose "
			"a folder on another one",
			path);
	return 0;
}

static int build_nodes(const char *root, const struct profile *profile)
{
	unsigned uvm = free_major(0), caps = free_major(1);
	char path[64];

	if (uvm == 0 || caps == 0)
		return tree_fail("no free character device major for nvidia-uvm on this kernel");
	for (uint32_t i = 0; i < profile->card_count; i++) {
		snprintf(path, sizeof(path), "dev/nvidia%u", profile->cards[i].minor);
		if (tree_node(root, path, MAJOR_NVIDIA, profile->cards[i].minor, MODE_NODE) != 0)
			return -1;
	}
	if (tree_node(root, "dev/nvidiactl", MAJOR_NVIDIA, MINOR_CONTROL, MODE_NODE) != 0 ||
	    tree_node(root, "dev/nvidia-modeset", MAJOR_NVIDIA, MINOR_MODESET, MODE_NODE) != 0 ||
	    tree_node(root, "dev/nvidia-uvm", uvm, 0, MODE_NODE) != 0 ||
	    tree_node(root, "dev/nvidia-uvm-tools", uvm, 1, MODE_NODE) != 0 ||
	    tree_node(root, "dev/nvidia-caps/nvidia-cap1", caps, 1, 0400) != 0 ||
	    tree_node(root, "dev/nvidia-caps/nvidia-cap2", caps, 2, 0444) != 0 ||
	    tree_pipe(root, "dev/kmsg", 0600) != 0)
		return -1;
	return check_node(root);
}

static int build_card_proc(const char *root, const struct profile *profile, uint32_t position,
			   const char *version)
{
	const struct profile_card *card = &profile->cards[position];
	struct sim_card_info info;
	char path[128], address[32];

	profile_card_info(profile, position, &info);
	card_address(card, address);
	snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", address);
	/* Names, order and tabs as the 535 and 550 modules print them. */
	return tree_text(root, path,
			 "Model: \t\t %s\nIRQ:   \t\t %u\nGPU UUID: \t %s\nVideo BIOS: \t %s\n"
			 "Bus Type: \t PCIe\nDMA Size: \t 47 bits\nDMA Mask: \t 0x7fffffffffff\n"
			 "Bus Location: \t %s\nDevice Minor: \t %u\nGPU Firmware: \t %s\n"
			 "GPU Excluded:\t No\n",
			 info.name, 128 + position, info.uuid, info.vbios, address, info.minor,
			 version);
}

/* A file of the driver; %s in path and text is a version, once. */
struct file_row {
	const char *path, *text;
};

/* Puts the version for the one %s that a template may have. */
static void fill_template(char *ret, size_t size, const char *template, const char *version)
{
	const char *mark = strstr(template, "%s");

	if (mark == NULL)
		snprintf(ret, size, "%s", template);
	else
		snprintf(ret, size, "%.*s%s%s", (int)(mark - template), template, version,
			 mark + 2);
}

static int build_files(const char *root, const struct file_row *rows, size_t count,
		       const char *version)
{
	char path[256], text[2048];

	for (size_t i = 0; i < count; i++) {
		fill_template(path, sizeof(path), rows[i].path, version);
		fill_template(text, sizeof(text), rows[i].text, version);
		if (tree_text(root, path, "%s", text) != 0)
			return -1;
	}
	return 0;
}

static const char params[] =
	"ResmanDebugLevel: 4294967295\nRmLogonRC: 1\nModifyDeviceFiles: 1\nDeviceFileUID: 0\n"
	"DeviceFileGID: 0\nDeviceFileMode: 438\nInitializeSystemMemoryAllocations: 1\n"
	"UsePageAttributeTable: 4294967295\nEnableMSI: 1\nEnablePCIeGen3: 0\nMemoryPoolSize: 0\n"
	"KMallocHeapMaxSize: 0\nVMallocHeapMaxSize: 0\nIgnoreMMIOCheck: 0\n"
	"EnableStreamMemOPs: 0\nEnableUserNUMAManagement: 1\nNvLinkDisable: 0\n"
	"RmProfilingAdminOnly: 1\nPreserveVideoMemoryAllocations: 0\nEnableS0ixPowerManagement: 0\n"
	"S0ixPowerManagementVideoMemoryThreshold: 256\nDynamicPowerManagement: 3\n"
	"DynamicPowerManagementVideoMemoryThreshold: 200\nRegisterPCIDriver: 1\n"
	"EnablePCIERelaxedOrderingMode: 0\nEnableResizableBar: 0\nEnableGpuFirmware: 18\n"
	"EnableGpuFirmwareLogs: 2\nEnableDbgBreakpoint: 0\nOpenRmEnableUnsupportedGpus: 0\n"
	"DmaRemapPeerMmio: 1\nRegistryDwords: \"\"\nRegistryDwordsPerDevice: \"\"\nRmMsg: \"\"\n"
	"GpuBlacklist: \"\"\nTemporaryFilePath: \"\"\nExcludedGpus: \"\"\n";

static int build_mig_minors(const char *root)
{
	size_t size = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &size);
	int result;

	if (file == NULL)
		return tree_fail("out of memory for mig-minors");
	fputs("config 1\nmonitor 2\n", file);
	for (unsigned gpu = 0; gpu < CAPABILITY_CARDS; gpu++) {
		for (unsigned gi = 0; gi < CAPABILITY_GPUS; gi++) {
			fprintf(file, "gpu%u/gi%u/access %u\n", gpu, gi,
				capability_minor(gpu, gi, CAPABILITY_GPU));
			for (unsigned ci = 0; ci < CAPABILITY_COMPUTES; ci++)
				fprintf(file, "gpu%u/gi%u/ci%u/access %u\n", gpu, gi, ci,
					capability_minor(gpu, gi, ci));
		}
	}
	if (fclose(file) != 0) {
		free(text);
		return tree_fail("out of memory for mig-minors");
	}
	result = tree_bytes(root, "proc/driver/nvidia-caps/mig-minors", text, size, 0444);
	free(text);
	return result;
}

/* How to add a file of the module: a row; %s is the module's version. */
static const struct file_row module_files[] = {
	{ "proc/driver/nvidia/version",
	  "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Thu Jan  1 00:00:00 UTC 1970\n"
	  "GCC version:  simulated\n" },
	{ "proc/driver/nvidia/params", params },
	{ "proc/driver/nvidia/registry", "Binary: \"\"\n" },
	{ "proc/driver/nvidia/capabilities/mig/config",
	  "DeviceFileMinor: 1\nDeviceFileMode: 256\nDeviceFileModify: 1\n" },
	{ "proc/driver/nvidia/capabilities/mig/monitor",
	  "DeviceFileMinor: 2\nDeviceFileMode: 292\nDeviceFileModify: 1\n" },
	{ "sys/module/nvidia/version", "%s\n" },
	{ "sys/module/nvidia/initstate", "live\n" },
	{ "sys/module/nvidia_modeset/initstate", "live\n" },
	{ "sys/module/nvidia_uvm/initstate", "live\n" },
};

int root_set_module(const char *root, const struct profile *profile, const char *version)
{
	if (tree_remove(root, "proc/driver") != 0 || tree_remove(root, "sys/module") != 0)
		return -1;
	if (version == NULL)
		return tree_folder(root, "proc/driver") != 0 ? -1 : tree_folder(root, "sys/module");
	for (uint32_t i = 0; i < profile->card_count; i++) {
		if (build_card_proc(root, profile, i, version) != 0)
			return -1;
	}
	if (build_mig_minors(root) != 0)
		return -1;
	return build_files(root, module_files, sizeof(module_files) / sizeof(module_files[0]),
			   version);
}

/* sysfs forms of numbers: Documentation/ABI/testing/sysfs-bus-pci of the kernel. */
static const char *pcie_speed(uint32_t generation)
{
	static const char *const speeds[] = { "2.5", "2.5", "5.0", "8.0", "16.0", "32.0" };

	return speeds[generation < 6 ? generation : 0];
}

static void cpu_list(const struct profile *profile, uint32_t node, char ret[64])
{
	uint32_t share = profile->cpu_count / 2 / profile->numa_count, first = node * share;
	uint32_t second = profile->cpu_count / 2 + first;

	snprintf(ret, 64, "%u-%u,%u-%u", first, first + share - 1, second, second + share - 1);
}

static int build_pci(const char *root, const struct profile *profile, uint32_t position)
{
	const struct profile_card *card = &profile->cards[position];
	const struct card_model *model = card->model;
	char folder[128], path[192], address[32], cpus[64], text[64];

	card_address(card, address);
	cpu_list(profile, card->numa, cpus);
	snprintf(folder, sizeof(folder), "sys/bus/pci/devices/%s", address);
#define PCI_FILE(name, ...)                                          \
	do {                                                         \
		snprintf(path, sizeof(path), "%s/%s", folder, name); \
		snprintf(text, sizeof(text), __VA_ARGS__);           \
		if (tree_text(root, path, "%s\n", text) != 0)        \
			return -1;                                   \
	} while (0)
	PCI_FILE("vendor", "0x%04x", model->device_id & 0xFFFF);
	PCI_FILE("device", "0x%04x", model->device_id >> 16);
	PCI_FILE("subsystem_vendor", "0x%04x", model->subsystem_id & 0xFFFF);
	PCI_FILE("subsystem_device", "0x%04x", model->subsystem_id >> 16);
	PCI_FILE("class", "0x030200");
	PCI_FILE("revision", "0xa1");
	PCI_FILE("enable", "1");
	PCI_FILE("irq", "%u", 128 + position);
	PCI_FILE("numa_node", "%u", card->numa);
	PCI_FILE("local_cpulist", "%s", cpus);
	PCI_FILE("current_link_speed", "%s GT/s PCIe", pcie_speed(model->pcie_generation));
	PCI_FILE("max_link_speed", "%s GT/s PCIe", pcie_speed(model->pcie_generation));
	PCI_FILE("current_link_width", "16");
	PCI_FILE("max_link_width", "16");
#undef PCI_FILE
	snprintf(path, sizeof(path), "%s/driver", folder);
	return tree_link(root, path, "../../../../bus/pci/drivers/nvidia");
}

/*
 * How to add a file of the driver: a row; %s is the driver version, in path and text.
 * Names: nvidia-stack.md 2.1 (NVIDIA's container toolkit) and Debian's driver packages.
 */
static const struct file_row files[] = {
	{ "etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1\n" },
	{ "usr/share/glvnd/egl_vendor.d/10_nvidia.json",
	  "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": "
	  "\"libEGL_nvidia.so.0\"}}\n" },
	{ "usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json",
	  "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": "
	  "\"libnvidia-egl-gbm.so.1\"}}\n" },
	{ "usr/share/egl/egl_external_platform.d/10_nvidia_wayland.json",
	  "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": "
	  "\"libnvidia-egl-wayland.so.1\"}}\n" },
	{ "usr/share/vulkan/icd.d/nvidia_icd.json",
	  "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": "
	  "\"libGLX_nvidia.so.0\", \"api_version\": \"1.3.242\"}}\n" },
	{ "usr/share/vulkan/implicit_layer.d/nvidia_layers.json",
	  "{\"file_format_version\": \"1.0.0\", \"layers\": []}\n" },
	{ "usr/share/nvidia/nvoptix.bin", "nvoptix %s\n" },
	{ "usr/share/nvidia/nvidia-application-profiles-%s-rc", "{}\n" },
	{ "lib/firmware/nvidia/%s/gsp_ga10x.bin", "gsp_ga10x %s\n" },
	{ "lib/firmware/nvidia/%s/gsp_tu10x.bin", "gsp_tu10x %s\n" },
};

/* lib<name>.so.<version>, lib<name>.so.1 and lib<name>.so from the artefact lib<name>-<branch>.so */
static int build_library(const char *root, const struct profile *profile, const char *artefacts,
			 const char *name)
{
	char source[TREE_PATH_MAX], path[256], target[128];

	if ((size_t)snprintf(source, sizeof(source), "%s/%s-%u.so", artefacts, name,
			     profile->branch) >= sizeof(source))
		return tree_fail("the path of %s is too long", name);
	snprintf(target, sizeof(target), "%s.so.%s", name, profile->driver_version);
	snprintf(path, sizeof(path), LIBRARIES "/%s", target);
	if (tree_copy(root, path, source, profile->driver_version) != 0)
		return -1;
	snprintf(path, sizeof(path), LIBRARIES "/%s.so.1", name);
	if (tree_link(root, path, target) != 0)
		return -1;
	snprintf(path, sizeof(path), LIBRARIES "/%s.so", name);
	snprintf(target, sizeof(target), "%s.so.1", name);
	return tree_link(root, path, target);
}

static int build_program(const char *root, const char *artefacts, const char *name)
{
	char source[TREE_PATH_MAX], path[128];

	if ((size_t)snprintf(source, sizeof(source), "%s/%s", artefacts, name) >= sizeof(source))
		return tree_fail("the path of %s is too long", name);
	snprintf(path, sizeof(path), "usr/bin/%s", name);
	return tree_copy(root, path, source, NULL);
}

/* 1 there and ours, 0 empty or absent, -1 another's. */
static int inspect(const char *root)
{
	struct dirent *entry;
	DIR *folder;

	if (tree_exists(root, ROOT_MARK "/profile"))
		return 1;
	folder = opendir(root);
	if (folder == NULL)
		return errno == ENOENT ? 0 : tree_fail("cannot read %s: %s", root, strerror(errno));
	while ((entry = readdir(folder)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		tree_fail("%s is not empty and was not made by simdriver (it holds %s); choose an "
			  "empty folder",
			  root, entry->d_name);
		closedir(folder);
		return -1;
	}
	closedir(folder);
	return 0;
}

int root_build(const char *root, const struct profile *profile, const char *artefacts)
{
	static const char *const libraries[] = { "libnvidia-ml", "libcuda", NULL };
	static const char *const programs[] = { "nvidia-persistenced", "nvidia-smi" };
	int found = inspect(root);

	if (found < 0)
		return -1;
	umask(0);
	if (found == 1 && root_remove(root) != 0)
		return -1;
	if (tree_text(root, ROOT_MARK "/profile", "%s\n%s\n", profile->name,
		      profile->driver_version) != 0 ||
	    build_nodes(root, profile) != 0 ||
	    root_set_module(root, profile, profile->driver_version) != 0 ||
	    build_files(root, files, sizeof(files) / sizeof(files[0]), profile->driver_version) !=
		    0)
		return -1;
	for (uint32_t i = 0; i < profile->card_count; i++) {
		if (build_pci(root, profile, i) != 0)
			return -1;
	}
	for (size_t i = 0; libraries[i] != NULL; i++) {
		if (build_library(root, profile, artefacts, libraries[i]) != 0)
			return -1;
	}
	if (root_build_names(root, LIBRARIES, profile, libraries) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (build_program(root, artefacts, programs[i]) != 0)
			return -1;
	}
	return 0;
}

const struct profile *root_make_profile(const struct profile *profile, const char *version,
					struct root_made *kept)
{
	kept->profile = *profile;
	if (version != NULL) {
		snprintf(kept->version, sizeof(kept->version), "%s", version);
		kept->profile.driver_version = kept->version;
	}
	return &kept->profile;
}

static void read_line(FILE *file, char *ret, int size)
{
	if (fgets(ret, size, file) == NULL)
		ret[0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

const struct profile *root_profile(const char *root, struct root_made *kept)
{
	char full[TREE_PATH_MAX], name[64], version[ROOT_VERSION_MAX];
	const struct profile *profile;
	FILE *file;

	if (tree_path(root, ROOT_MARK "/profile", full) != 0)
		return NULL;
	file = fopen(full, "re");
	if (file == NULL) {
		tree_fail("%s is no folder that simdriver made", root);
		return NULL;
	}
	read_line(file, name, sizeof(name));
	read_line(file, version, sizeof(version));
	fclose(file);
	profile = profile_find(name);
	if (profile == NULL) {
		tree_fail("%s was made of profile \"%s\", which this simdriver does not know", root,
			  name);
		return NULL;
	}
	return root_make_profile(profile, version[0] != '\0' ? version : NULL, kept);
}

int root_remove(const char *root)
{
	for (size_t i = 0; i < MADE_COUNT; i++) {
		if (tree_remove(root, made[i]) != 0)
			return -1;
	}
	rmdir(root); /* stays when it holds something else, or is a mount point */
	return 0;
}
