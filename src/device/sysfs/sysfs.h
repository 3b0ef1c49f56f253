/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel says without the driver's library: /proc/driver/nvidia, PCI devices in sysfs.
 * Each tree is taken from the driver root when it has one (a driver in a container or a chroot),
 * else from this machine.
 *
 * Source of the formats: the files themselves as the NVIDIA module prints them (535, 550) and
 * Documentation/ABI/testing/sysfs-bus-pci of the kernel.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"

#define DEVICE_CARDS_MAX   64u
#define DEVICE_VERSION_MAX 80u

struct procfs_card {
	char bus_id[CARD_BUS_ID_MAX]; /* normalised */
	char folder[CARD_BUS_ID_MAX]; /* its folder below gpus/ */
	char uuid[CARD_UUID_MAX];     /* "" until the card was opened once */
	char model[CARD_MODEL_MAX];   /* "" unknown */
	unsigned minor;
	bool has_minor;
	bool excluded; /* "GPU Excluded: Yes": the module does not drive it */
};

/* A MIG device that exists, by what the module shows below capabilities/. */
struct procfs_instance {
	unsigned card_minor; /* of the card: "gpu<minor>" */
	unsigned gpu_instance, compute_instance;
	uint32_t gpu_minor, compute_minor; /* of /dev/nvidia-caps/nvidia-cap<minor>, or NONE */
};

#define PROCFS_INSTANCES_MAX 512u

/* By which a reader of an old answer can tell that it is old. */
struct procfs_stamps {
	char version[DEVICE_VERSION_MAX]; /* of the kernel module, "" unknown or absent */
	uint64_t mig_generation; /* changes with the MIG instances that exist; 0 without any */
};

struct procfs {
	bool present;                               /* the module's directory is there */
	char base[PATH_MAX];                        /* that directory */
	char version[DEVICE_VERSION_MAX];           /* of the kernel module, "" unknown */
	struct procfs_card cards[DEVICE_CARDS_MAX]; /* in order of the bus address */
	size_t count;
	uint64_t mig_generation; /* changes with the MIG instances that exist; 0 without any */
	struct procfs_instance instances[PROCFS_INSTANCES_MAX]; /* by card, then by number */
	size_t instance_count;
};

struct pci_device {
	char bus_id[CARD_BUS_ID_MAX];
	int numa;       /* -1 unknown */
	bool link_down; /* the configuration space reads all ones: fallen off the bus */
};

struct pci {
	struct pci_device devices[DEVICE_CARDS_MAX]; /* NVIDIA display and 3D controllers */
	size_t count;
};

/*
 * "00000000:07:00.0" (NVML), "0000:07:00.0", "07:00.0" to sysfs' form: lower case, a domain of at
 * least 4 digits. 0, or -EINVAL.
 */
int bus_id_normalise(const char *text, char ret[static CARD_BUS_ID_MAX]);

/* "GPU-" and hexadecimal digits and dashes: what can be a file name, a device ID, a label. */
bool card_uuid_is_valid(const char *uuid);
/* "MIG-" and the same; before driver 470 the card's UUID and two numbers followed, with '/'
 * between, which is no device ID of ours. */
bool mig_uuid_is_valid(const char *uuid);

/* The version in the text of /proc/driver/nvidia/version. 0, or -EINVAL when there is none. */
int procfs_parse_version(const char *text, char ret[static DEVICE_VERSION_MAX]);
/* The text of gpus/<address>/information; unknown lines are passed over. bus_id stays. */
void procfs_parse_information(const char *text, struct procfs_card *ret);
/* True when the text of /proc/devices lists the module's character device (major 195). */
bool procfs_devices_has_nvidia(const char *text);

/*
 * Reads what no lock of the module guards: version, addresses, MIG instances. The directory's
 * absence is success with present == false.
 */
int procfs_read(const char *driver_root, struct procfs *ret, struct error *error);
/* Of that only the stamps. */
int procfs_read_stamps(const char *driver_root, struct procfs_stamps *ret, struct error *error);
/*
 * Reads each card's information in this process. The module takes locks for it: with a driver
 * that hangs it can block for ever, so only for those who start no helper.
 */
void procfs_read_information(struct procfs *procfs);
/* The instances; no lock of the module guards them either. Nothing is found without procfs_read(). */
void procfs_read_instances(struct procfs *procfs);
/* NULL when there is none. */
const struct procfs_instance *procfs_find_instance(const struct procfs *procfs, unsigned card_minor,
						   unsigned gpu_instance,
						   unsigned compute_instance);
const struct procfs_card *procfs_find(const struct procfs *procfs, const char *bus_id);
/* The running kernel itself (not the driver root) lists the driver, in VERSION. */
bool procfs_kernel_agrees(const char *version);
int procfs_boot_id(char *ret, size_t size, struct error *error);

/* Owner and, where it has none, the name of a process by its PID. Best effort. */
void process_describe(struct card_process *process);
/* False in a PID namespace of our own, where the kernel module's PIDs name other processes. */
bool process_ids_are_of_host(void);

int pci_read(const char *driver_root, struct pci *ret, struct error *error);
const struct pci_device *pci_find(const struct pci *pci, const char *bus_id);
