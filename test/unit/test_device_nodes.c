/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and links that are made in a driver root of a test. Most needs the right to make nodes. */
#include "test.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/base.h"
#include "device/device.h"
#include "fixture.h"

#define NVIDIA "proc/driver/nvidia/"

static const struct fixture_file tree[] = {
	{ "proc/devices", "Character devices:\n  1 mem\n195 nvidia\n195 nvidiactl\n195 "
			  "nvidia-modeset\n510 nvidia-uvm\n511 nvidia-caps\n\nBlock devices:\n  8 "
			  "sd\n" },
	{ NVIDIA "version", "NVRM version: x  535.104.05  Sat\n" },
	{ NVIDIA "gpus/0000:01:00.0/information", "Device Minor: 2\n" },
	{ NVIDIA "gpus/0000:02:00.0/information", "Device Minor: 0\n" },
	{ NVIDIA "capabilities/mig/config", "DeviceFileMinor: 1\nDeviceFileMode: 256\n" },
	{ NVIDIA "capabilities/mig/monitor", "DeviceFileMinor: 2\nDeviceFileMode: 292\n" },
	{ "sys/bus/pci/devices", NULL },
	{ "dev", NULL },
};

static const struct {
	const char *name;
	unsigned major, minor, mode;
} wanted[] = {
	{ "nvidiactl", 195, 255, 0666 },
	{ "nvidia-modeset", 195, 254, 0666 },
	{ "nvidia-uvm", 510, 0, 0666 },
	{ "nvidia-uvm-tools", 510, 1, 0666 },
	{ "nvidia2", 195, 2, 0666 },
	{ "nvidia0", 195, 0, 0666 },
	{ "nvidia-caps/nvidia-cap1", 511, 1, 0400 },
	{ "nvidia-caps/nvidia-cap2", 511, 2, 0444 },
};

/* False where this process may make no nodes. */
static bool may_make(const struct fixture *fixture)
{
	char path[PATH_MAX];

	fixture_path(fixture, "probe", path, sizeof(path));
	return mknod(path, S_IFCHR | 0600, makedev(195, 0)) == 0 && unlink(path) == 0;
}

static void check_nodes(const struct fixture *fixture)
{
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		char name[64], path[PATH_MAX];
		struct stat status;

		snprintf(name, sizeof(name), "dev/%s", wanted[i].name);
		fixture_path(fixture, name, path, sizeof(path));
		if (lstat(path, &status) < 0)
			fail_msg("%s was not made", path);
		assert_true(S_ISCHR(status.st_mode));
		assert_int_equal(status.st_rdev, makedev(wanted[i].major, wanted[i].minor));
		assert_int_equal(status.st_mode & 07777, wanted[i].mode);
	}
}

TEST(nodes_are_made_once)
{
	struct fixture fixture;

	fixture_make(&fixture, tree, ARRAY_SIZE(tree));
	const struct device_nodes_options options = { .driver_root = fixture.root };
	if (!may_make(&fixture)) {
		fixture_remove(&fixture);
		skip();
	}
	for (unsigned round = 0; round < 2; round++) {
		cleanup(device_changes_release) struct device_changes changes = { 0 };
		struct error error = ERROR_INIT;
		mode_t mask = umask(077);

		int r = device_make_nodes(&options, &changes, &error);
		umask(mask);
		if (r < 0)
			fail_msg("%s", error.message);
		assert_int_equal(changes.made.count, round ? 0 : ARRAY_SIZE(wanted));
		assert_int_equal(changes.present.count, round ? ARRAY_SIZE(wanted) : 0);
		assert_int_equal(changes.missing.count, 0);
		check_nodes(&fixture);
	}
	fixture_remove(&fixture);
}

TEST(a_dry_run_makes_nothing)
{
	cleanup(device_changes_release) struct device_changes changes = { 0 };
	struct fixture fixture;
	char path[PATH_MAX];

	fixture_make(&fixture, tree, ARRAY_SIZE(tree));
	const struct device_nodes_options options = { .driver_root = fixture.root,
						      .dry_run = true };
	assert_int_equal(device_make_nodes(&options, &changes, NULL), 0);
	assert_int_equal(changes.made.count, ARRAY_SIZE(wanted));
	assert_string_equal(changes.made.items[0],
			    "/dev/nvidiactl, character device 195:255, mode 0666");
	fixture_path(&fixture, "dev", path, sizeof(path));
	assert_int_equal(rmdir(path), 0); /* it is empty */
	fixture_remove(&fixture);
}

TEST(nodes_are_made_as_the_module_wants)
{
	static const struct {
		const char *params;
		unsigned mode, uid, gid;
		const char *said;
	} rows[] = {
		{ "DeviceFileUID: 7\nDeviceFileGID: 44\nDeviceFileMode: 432\n", 0660, 7, 44,
		  "mode 0660, owner 7:44" },
		{ "ResmanDebugLevel: 4294967295\nModifyDeviceFiles: 1\nDeviceFileMode: 384\n", 0600,
		  0, 0, "mode 0600" },
		/* what cannot be is not taken */
		{ "DeviceFileMode: 4096\nDeviceFileUID: -1\nDeviceFileGID: x\n", 0666, 0, 0,
		  "mode 0666" },
		{ "XDeviceFileMode: 384\nDeviceFileModeX: 384\n", 0666, 0, 0, "mode 0666" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup(device_changes_release) struct device_changes changes = { 0 };
		struct fixture fixture;
		struct stat status;
		char path[PATH_MAX];

		fixture_make(&fixture, tree, ARRAY_SIZE(tree));
		fixture_write(&fixture, NVIDIA "params", rows[i].params);
		const struct device_nodes_options options = { .driver_root = fixture.root };
		if (!may_make(&fixture)) {
			fixture_remove(&fixture);
			skip();
		}
		assert_int_equal(device_make_nodes(&options, &changes, NULL), 0);
		const char *said = changes.made.items[0];
		assert_string_equal(said + strlen(said) - strlen(rows[i].said), rows[i].said);
		fixture_path(&fixture, "dev/nvidia0", path, sizeof(path));
		assert_int_equal(lstat(path, &status), 0);
		assert_int_equal(status.st_mode & 07777, rows[i].mode);
		assert_int_equal(status.st_uid, rows[i].uid);
		assert_int_equal(status.st_gid, rows[i].gid);
		/* the module says of each capability how it is to be */
		fixture_path(&fixture, "dev/nvidia-caps/nvidia-cap1", path, sizeof(path));
		assert_int_equal(lstat(path, &status), 0);
		assert_int_equal(status.st_mode & 07777, 0400);
		assert_int_equal(status.st_uid, 0);
		fixture_remove(&fixture);
	}
}

static const struct {
	const char *path, *text; /* changed in the tree */
	int r;
	size_t made, missing;
	const char *sentence; /* of the error, or of the first that is missing */
} cases[] = {
	{ "proc/devices", "Character devices:\n195 nvidia-frontend\n510 nvidia-uvm\n", 0, 6, 0,
	  "" },
	{ "proc/devices", "Character devices:\n195 nvidia\n", 0, 3, 3, "modprobe nvidia-modeset" },
	{ "proc/devices", "Character devices:\n  1 mem\n\nBlock devices:\n195 nvidia\n", 0, 0, 4,
	  "/dev/nvidiactl: the kernel has no device nvidia" },
	{ NVIDIA "gpus/0000:01:00.0/information", "Model: x\n", 0, 7, 1, "card 0000:01:00.0" },
	/* told to leave the nodes alone; those of capabilities too, as it is a wish about nodes */
	{ NVIDIA "params", "ModifyDeviceFiles: 0\n", 0, 0, 8, "NVreg_ModifyDeviceFiles=0" },
	{ "dev/nvidiactl", "a file", -EEXIST, 0, 0, "is not character device 195:255" },
	{ "dev/nvidia-uvm", "-> nvidiactl", -EEXIST, 0, 0, "is not character device 510:0" },
};

TEST(what_cannot_be_made_is_told)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(device_changes_release) struct device_changes changes = { 0 };
		struct error error = ERROR_INIT;
		struct fixture fixture;

		print_message("# %s\n", cases[i].path);
		fixture_make(&fixture, tree, ARRAY_SIZE(tree));
		fixture_write(&fixture, cases[i].path, cases[i].text);
		const struct device_nodes_options options = { .driver_root = fixture.root,
							      .dry_run = true };
		assert_int_equal(device_make_nodes(&options, &changes, &error), cases[i].r);
		if (cases[i].r == 0) {
			assert_int_equal(changes.made.count, cases[i].made);
			assert_int_equal(changes.missing.count, cases[i].missing);
		}
		const char *said = cases[i].r < 0          ? error.message
				   : changes.missing.count ? changes.missing.items[0]
							   : "";
		assert_non_null(strstr(said, cases[i].sentence));
		fixture_remove(&fixture);
	}
}

TEST(a_dev_that_is_a_link_is_refused)
{
	cleanup(device_changes_release) struct device_changes changes = { 0 };
	struct error error = ERROR_INIT;
	struct fixture fixture;

	fixture_make(&fixture, tree, ARRAY_SIZE(tree) - 1);
	fixture_write(&fixture, "dev", "-> /tmp");
	const struct device_nodes_options options = { .driver_root = fixture.root };
	assert_int_equal(device_make_nodes(&options, &changes, &error), -ELOOP);
	assert_int_equal(device_make_char_links(&options, &changes, &error), -ELOOP);
	assert_int_equal(changes.made.count, 0);
	fixture_remove(&fixture);
}

TEST(links_lead_to_the_nodes)
{
	struct fixture fixture;
	char path[PATH_MAX], target[PATH_MAX];

	fixture_make(&fixture, tree, ARRAY_SIZE(tree));
	const struct device_nodes_options options = { .driver_root = fixture.root };
	if (!may_make(&fixture)) {
		fixture_remove(&fixture);
		skip();
	}
	fixture_write(&fixture, "dev/nvidia-file", "no node");
	cleanup(device_changes_release) struct device_changes nodes = { 0 };
	assert_int_equal(device_make_nodes(&options, &nodes, NULL), 0);
	for (unsigned round = 0; round < 2; round++) {
		cleanup(device_changes_release) struct device_changes changes = { 0 };

		assert_int_equal(device_make_char_links(&options, &changes, NULL), 0);
		assert_int_equal(changes.made.count, round ? 0 : ARRAY_SIZE(wanted));
		assert_int_equal(changes.present.count, round ? ARRAY_SIZE(wanted) : 0);
	}
	fixture_path(&fixture, "dev/char/511:1", path, sizeof(path));
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	assert_true(length > 0);
	target[length] = '\0';
	assert_string_equal(target, "../nvidia-caps/nvidia-cap1");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("../null", path), 0);
	cleanup(device_changes_release) struct device_changes changes = { 0 };
	struct error error = ERROR_INIT;
	assert_int_equal(device_make_char_links(&options, &changes, &error), -EEXIST);
	assert_non_null(strstr(error.message, "leads to ../null"));
	fixture_remove(&fixture);
}

TEST(every_allocation_fails_once)
{
	struct fixture fixture;

	fixture_make(&fixture, tree, ARRAY_SIZE(tree));
	const struct device_nodes_options options = { .driver_root = fixture.root,
						      .dry_run = true };
	unsigned hits = 0;
	for (unsigned n = 0; n < 200; n++) {
		cleanup(device_changes_release) struct device_changes changes = { 0 };

		fault_arm(n);
		int r = device_make_nodes(&options, &changes, NULL);
		hits += fault_disarm() != 0;
		/* The child that reads the cards has failures of its own; an access file that
		 * cannot be read is absent. */
		assert_true(r == -ENOMEM || r == 0);
	}
	assert_true(hits > 20);
	fixture_remove(&fixture);
}
