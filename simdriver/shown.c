/* SPDX-License-Identifier: Apache-2.0 */
#include "shown.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "capability.h"
#include "mig.h"
#include "tree.h"

#define CAPABILITIES "proc/driver/nvidia/capabilities"
#define CAPS         "dev/nvidia-caps"
#define MODE_ACCESS  0444u
#define LOG          "dev/kmsg"

/* The major that the root's nodes were made with; 0 without any. */
static unsigned caps_major(const char *root)
{
	char path[TREE_PATH_MAX];
	struct stat stat_of;

	if (tree_path(root, CAPS "/nvidia-cap1", path) != 0 || stat(path, &stat_of) != 0)
		return 0;
	return major(stat_of.st_rdev);
}

static int make_node(const char *root, unsigned number, uint32_t minor)
{
	char path[64];

	snprintf(path, sizeof(path), CAPS "/nvidia-cap%u", minor);
	return number == 0 || tree_exists(root, path)
		       ? 0
		       : tree_node(root, path, number, minor, MODE_ACCESS);
}

/* FOLDER/NAME/access, seen at once: filled beside it, then given its name. */
static int show(const char *root, unsigned number, const char *folder, const char *name,
		uint32_t minor)
{
	char hidden[160], shown[160], file[192], from[TREE_PATH_MAX], to[TREE_PATH_MAX];

	snprintf(shown, sizeof(shown), "%s/%s", folder, name);
	if (tree_exists(root, shown))
		return 0;
	snprintf(hidden, sizeof(hidden), "%s/.%s", folder, name);
	snprintf(file, sizeof(file), "%s/access", hidden);
	if (make_node(root, number, minor) != 0 ||
	    tree_text(root, file, "DeviceFileMinor: %u\nDeviceFileMode: %u\nDeviceFileModify: 1\n",
		      minor, MODE_ACCESS) != 0 ||
	    tree_path(root, hidden, from) != 0 || tree_path(root, shown, to) != 0)
		return -1;
	return rename(from, to) == 0 ? 0 : tree_fail("cannot make %s: %s", to, strerror(errno));
}

static int hide(const char *root, const char *folder, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return tree_exists(root, path) ? tree_remove(root, path) : 0;
}

static int show_gpu(const char *root, unsigned number, uint32_t minor, const char *folder,
		    const struct sim_mig_layout *layout, uint32_t gpu)
{
	char name[16], below[96];
	int result;

	snprintf(name, sizeof(name), "gi%u", gpu);
	if (mig_gpu_find(layout, gpu) == NULL)
		return hide(root, folder, name);
	result = show(root, number, folder, name, capability_minor(minor, gpu, CAPABILITY_GPU));
	snprintf(below, sizeof(below), "%s/%s", folder, name);
	for (uint32_t compute = 0; compute < CAPABILITY_COMPUTES && result == 0; compute++) {
		snprintf(name, sizeof(name), "ci%u", compute);
		result = mig_compute_find(layout, gpu, compute) == NULL
				 ? hide(root, below, name)
				 : show(root, number, below, name,
					capability_minor(minor, gpu, compute));
	}
	return result;
}

int shown_layout(const char *root, uint32_t minor, const struct sim_mig_layout *layout)
{
	unsigned number = caps_major(root);
	char card[64], folder[80];
	int result;

	snprintf(card, sizeof(card), CAPABILITIES "/gpu%u", minor);
	if (!layout->current)
		return tree_exists(root, card) ? tree_remove(root, card) : 0;
	snprintf(folder, sizeof(folder), "%s/mig", card);
	result = tree_folder(root, folder);
	for (uint32_t gpu = 0; gpu < CAPABILITY_GPUS && result == 0; gpu++)
		result = show_gpu(root, number, minor, folder, layout, gpu);
	return result;
}

int shown_log_open(const char *root)
{
	char path[TREE_PATH_MAX];

	if (tree_path(root, LOG, path) != 0)
		return -1;
	return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

void shown_log_write(int fd, uint64_t sequence, const char *line)
{
	struct timespec now;
	char record[512];
	int length;

	clock_gettime(CLOCK_MONOTONIC, &now);
	/* Level 4 of facility 0, the kernel's own. */
	length = snprintf(
		record, sizeof(record), "4,%llu,%llu,-;%s\n", (unsigned long long)sequence,
		(unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000,
		line);
	if (fd >= 0 && length > 0 && length < (int)sizeof(record) &&
	    write(fd, record, (size_t)length) < 0)
		return; /* nobody reads */
}
