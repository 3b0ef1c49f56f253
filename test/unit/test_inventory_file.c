/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "device/device.h"
#include "device/sysfs/sysfs.h"
#include "fixture.h"

#define NVIDIA "proc/driver/nvidia/"

static const struct fixture_file tree[] = {
	{ NVIDIA "version", "NVRM version: x  535.104.05  Sat\n" },
	{ NVIDIA "capabilities/gpu0/mig/gi1/access", "" },
	{ "sys/bus/pci/devices", NULL },
};

/* An inventory of the fixture as it is now, in its file. */
static void inventory_fill(const struct fixture *fixture, struct inventory *inventory)
{
	struct procfs *procfs = calloc(1, sizeof(*procfs));

	inventory_init(inventory);
	(void)snprintf(inventory->driver_root, sizeof(inventory->driver_root), "%s", fixture->root);
	assert_int_equal(procfs_boot_id(inventory->boot_id, sizeof(inventory->boot_id), NULL), 0);
	assert_int_equal(procfs_read(fixture->root, procfs, NULL), 0);
	memcpy(inventory->module_version, procfs->version, sizeof(procfs->version));
	inventory->mig_generation = procfs->mig_generation;
	inventory->taken = 1700000000;
	struct card *card =
		VEC_ADD(&inventory->cards, &inventory->card_count, &inventory->card_capacity);
	assert_non_null(card);
	card->index = CARD_INDEX_NONE;
	card->numa = -1;
	card->mode = CARD_MODE_AUTO;
	(void)snprintf(card->uuid, sizeof(card->uuid), "GPU-1");
	free(procfs);
}

/* What changes between writing and reading, and the sentence that it gives. */
static const struct stale_case {
	const char *path, *text; /* of a file in the root, or NULL */
	const char *boot_id;     /* of the file, or NULL */
	int error;
	const char *sentence; /* a part */
} stale_cases[] = {
	{ NULL, NULL, NULL, 0, "" },
	{ NULL, NULL, "11111111-2222-3333-4444-555555555555", -ESTALE, "the boot was 11111111" },
	{ NVIDIA "version", "NVRM version: x  550.54.14  Sat\n", NULL, -ESTALE,
	  "was 535.104.05 and is 550.54.14" },
	{ NVIDIA "version", "", NULL, -ESTALE, "was 535.104.05 and is none" },
	{ NVIDIA "capabilities/gpu0/mig/gi2/access", "", NULL, -ESTALE, "MIG instances" },
	{ "inventory.json", "{\"version\": 1}", NULL, -EINVAL, "inventory" },
	{ "inventory.json", "{", NULL, -EINVAL, "inventory" },
	{ "inventory.json", "", NULL, -EINVAL, "inventory" },
};

static void check_stale(const struct stale_case *stale)
{
	struct fixture fixture;
	struct inventory inventory, read;
	struct error error = ERROR_INIT;
	char path[PATH_MAX];

	fixture_make(&fixture, tree, ARRAY_SIZE(tree));
	fixture_path(&fixture, "inventory.json", path, sizeof(path));
	inventory_fill(&fixture, &inventory);
	if (stale->boot_id)
		(void)snprintf(inventory.boot_id, sizeof(inventory.boot_id), "%s", stale->boot_id);
	assert_int_equal(device_inventory_write(path, &inventory, &error), 0);
	if (stale->path)
		fixture_write(&fixture, stale->path, stale->text);
	int r = device_inventory_read(path, &read, &error);
	if (r != stale->error || !strstr(error.message, stale->sentence))
		fail_msg("%s: %d, %s", stale->path ? stale->path : "nothing", r, error.message);
	if (r == 0) {
		assert_int_equal(read.mig_generation, inventory.mig_generation);
		assert_int_equal(read.card_count, 1);
		assert_int_equal(read.cards[0].index, CARD_INDEX_NONE);
		inventory_release(&read);
	}
	inventory_release(&inventory);
	fixture_remove(&fixture);
}

TEST(a_file_of_another_time_is_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(stale_cases); i++)
		check_stale(&stale_cases[i]);
}

/* Mode, owner, and what stands there instead of a file: of that none is believed, or waited for. */
TEST(a_file_that_others_can_change)
{
	struct fixture fixture;
	struct inventory inventory, read;
	struct error error = ERROR_INIT;
	char path[PATH_MAX], other[PATH_MAX];

	fixture_make(&fixture, tree, ARRAY_SIZE(tree));
	fixture_path(&fixture, "inventory.json", path, sizeof(path));
	fixture_path(&fixture, "other.json", other, sizeof(other));
	inventory_fill(&fixture, &inventory);
	assert_int_equal(device_inventory_write(path, &inventory, &error), 0);
	inventory_release(&inventory);
	assert_int_equal(chmod(path, 0646), 0);
	assert_int_equal(device_inventory_read(path, &read, &error), -EPERM);
	assert_non_null(strstr(error.message, "mode 0646"));
	assert_int_equal(chmod(path, 0644), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 12345, 0), 0);
		assert_int_equal(device_inventory_read(path, &read, &error), -EPERM);
		assert_non_null(strstr(error.message, "owner 12345"));
		assert_int_equal(chown(path, 0, 0), 0);
	}
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(device_inventory_read(path, &read, &error), -ELOOP);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(device_inventory_read(path, &read, &error), -EPERM);
	fixture_remove(&fixture);
}

TEST(a_file_that_is_not_there)
{
	struct inventory inventory;

	assert_int_equal(device_inventory_read("/nonexistent/inventory.json", &inventory, NULL),
			 -ENOENT);
}
