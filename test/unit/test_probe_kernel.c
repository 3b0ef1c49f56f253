/* SPDX-License-Identifier: Apache-2.0 */
/* The cards as the kernel alone tells them. No driver, no card, no helper. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "device/device.h"
#include "device/sysfs/sysfs.h"
#include "fixture.h"

#define NVIDIA  "proc/driver/nvidia/"
#define PCI     "sys/bus/pci/devices/"
#define MIG     NVIDIA "capabilities/gpu"
#define VERSION "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat\n"

/* Minors are not in the order of addresses; one card is excluded, one was never opened, one is mute. */
static const struct fixture_file tree[] = {
	{ NVIDIA "version", VERSION },
	{ NVIDIA "gpus/0000:01:00.0/information",
	  "Model: NVIDIA A\nGPU UUID: GPU-00000000-0000-0000-0000-00000000000a\nDevice Minor: "
	  "2\n" },
	{ NVIDIA "gpus/0000:41:00.0/information",
	  "Model: NVIDIA X\nDevice Minor: 9\nGPU Excluded:\t Yes\n" },
	{ NVIDIA "gpus/0000:81:00.0/information",
	  "Model: NVIDIA B\nGPU UUID: GPU-?\?\?\?\?\?\?\?-?\?\?\?-?\?\?\?\nDevice Minor: 0\n" },
	{ NVIDIA "gpus/10000:01:00.0/information", NULL },
	{ MIG "0/mig/gi2/access", "DeviceFileMinor: 21\nDeviceFileMode: 292\n" },
	{ MIG "0/mig/gi2/ci0/access", "DeviceFileMinor: 22\n" },
	{ MIG "0/mig/gi10/access", "DeviceFileMinor: 93\n" },
	{ MIG "0/mig/gi10/ci1/access", "DeviceFileMinor: 95\n" },
	{ MIG "0/mig/gi10/ci0/access", "no number\n" },
	{ MIG "9/mig/gi0/ci0/access", "DeviceFileMinor: 300\n" }, /* of the excluded card */
	{ MIG "0/migs/gi0/ci0/access", "" },
	{ MIG "0/mig/gi1/nothing", "" },
	{ MIG "0/mig/gi300/ci0/access", "" },
	{ PCI "0000:01:00.0/vendor", "0x10de\n" },
	{ PCI "0000:01:00.0/class", "0x030200\n" },
	{ PCI "0000:01:00.0/numa_node", "1\n" },
	{ PCI "0000:81:00.0/vendor", "0x10de\n" },
	{ PCI "0000:81:00.0/class", "0x030200\n" },
	{ PCI "0000:81:00.0/current_link_width", "63\n" },
	{ "usr/lib64/libnvidia-ml.so.1", "-> libnvidia-ml.so.535.104.05" },
	{ "usr/lib64/libnvidia-ml.so.535.104.05", "" },
};

struct probed {
	struct fixture fixture;
	struct inventory inventory;
	struct error error;
	int r;
};

static void probed_make(struct probed *probed)
{
	memset(probed, 0, sizeof(*probed));
	fixture_make(&probed->fixture, tree, ARRAY_SIZE(tree));
}

static void probed_run(struct probed *probed, unsigned deadline_ms)
{
	inventory_init(&probed->inventory);
	probed->r = device_probe_kernel(probed->fixture.root, deadline_ms, &probed->inventory,
					&probed->error);
}

static void probed_release(struct probed *probed)
{
	if (probed->r == 0)
		inventory_release(&probed->inventory);
	fixture_remove(&probed->fixture);
}

static const struct {
	unsigned minor;
	int numa;
	const char *bus_id, *uuid, *model;
	enum card_health health;
	const char *cause;
	size_t instances;
} wanted[] = {
	{ 2, 1, "0000:01:00.0", "GPU-00000000-0000-0000-0000-00000000000a", "NVIDIA A",
	  CARD_HEALTHY, "", 0 },
	{ 0, -1, "0000:81:00.0", "unknown-0000:81:00.0", "NVIDIA B", CARD_LOST, "fell off the bus",
	  3 },
	{ CARD_MINOR_NONE, -1, "10000:01:00.0", "unknown-10000:01:00.0", "", CARD_SUSPECT,
	  "which device node", 0 },
};

TEST(cards_are_numbered_by_address)
{
	struct probed probed;

	probed_make(&probed);
	probed_run(&probed, 0);
	if (probed.r < 0)
		fail_msg("%s", probed.error.message);
	const struct inventory *inventory = &probed.inventory;
	assert_true(inventory->kernel_only);
	assert_string_equal(inventory->problem, "");
	assert_string_equal(inventory->driver_version, "535.104.05");
	assert_string_equal(inventory->module_version, "535.104.05");
	assert_true(inventory->boot_id[0] && inventory->taken > 0 && inventory->mig_generation);
	assert_int_equal(inventory->card_count, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct card *card = &inventory->cards[i];

		print_message("# %s\n", wanted[i].bus_id);
		assert_int_equal(card->index, i);
		assert_int_equal(card->minor, wanted[i].minor);
		assert_int_equal(card->numa, wanted[i].numa);
		assert_string_equal(card->bus_id, wanted[i].bus_id);
		assert_string_equal(card->uuid, wanted[i].uuid);
		assert_string_equal(card->model, wanted[i].model);
		assert_int_equal(card->condition.health, wanted[i].health);
		assert_non_null(strstr(card->condition.cause, wanted[i].cause));
		assert_int_equal(card->instance_count, wanted[i].instances);
		assert_int_equal(card->mig_enabled, wanted[i].instances > 0);
		assert_int_equal(card->memory_bytes, 0);
	}
	probed_release(&probed);
}

TEST(instances_have_numbers_and_nodes_and_no_name)
{
	static const struct {
		unsigned gpu, compute, gpu_minor, compute_minor;
	} rows[] = { { 2, 0, 21, 22 }, { 10, 0, 93, CARD_MINOR_NONE }, { 10, 1, 93, 95 } };
	struct probed probed;

	probed_make(&probed);
	probed_run(&probed, 0);
	assert_int_equal(probed.r, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct card_instance *instance = &probed.inventory.cards[1].instances[i];

		assert_string_equal(instance->uuid, "");
		assert_string_equal(instance->profile, "");
		assert_int_equal(instance->index, CARD_INDEX_NONE);
		assert_int_equal(instance->gpu_instance, rows[i].gpu);
		assert_int_equal(instance->compute_instance, rows[i].compute);
		assert_int_equal(instance->gpu_minor, rows[i].gpu_minor);
		assert_int_equal(instance->compute_minor, rows[i].compute_minor);
	}
	probed_release(&probed);
}

/* What the tree says instead, and why there are no cards, or which version is told. */
static const struct {
	const char *path, *text; /* NULL: removed */
	const char *problem, *driver;
	size_t cards;
} trees[] = {
	{ NVIDIA "version", "NVRM version: x  550.54.14  Sat\n", "module 550.54.14", "535.104.05",
	  3 },
	{ NVIDIA "version", "", "", "535.104.05", 3 },
	{ "usr/lib64/libnvidia-ml.so.1", NULL, "", "", 3 },
	{ "proc", NULL, "2 NVIDIA devices on the PCI bus, no kernel module loaded", "535.104.05",
	  0 },
};

static void remove_path(const struct fixture *fixture, const char *path)
{
	char full[PATH_MAX], away[PATH_MAX];

	fixture_path(fixture, path, full, sizeof(full));
	fixture_path(fixture, "away", away, sizeof(away));
	assert_int_equal(rename(full, away), 0);
}

TEST(a_driver_that_gives_no_cards)
{
	if (access("/proc/driver/nvidia", F_OK) == 0)
		skip(); /* the root without a /proc would take this machine's */
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		struct probed probed;

		print_message("# %s\n", trees[i].path);
		probed_make(&probed);
		if (trees[i].text)
			fixture_write(&probed.fixture, trees[i].path, trees[i].text);
		else
			remove_path(&probed.fixture, trees[i].path);
		probed_run(&probed, 0);
		assert_int_equal(probed.r, 0);
		assert_non_null(strstr(probed.inventory.problem, trees[i].problem));
		assert_true(trees[i].problem[0] || !probed.inventory.problem[0]);
		assert_string_equal(probed.inventory.driver_version, trees[i].driver);
		assert_int_equal(probed.inventory.card_count, trees[i].cards);
		probed_release(&probed);
	}
}

TEST(a_root_that_is_not_there)
{
	struct inventory inventory;
	struct error error = ERROR_INIT;

	assert_int_equal(device_probe_kernel("/nonexistent/root", 0, &inventory, &error), -ENOENT);
	assert_non_null(strstr(error.message, "/nonexistent/root"));
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void make_hang(const struct fixture *fixture)
{
	char path[PATH_MAX];

	fixture_path(fixture, NVIDIA "gpus/0000:01:00.0/information", path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes: its open blocks */
}

TEST(a_module_that_hangs_is_given_up)
{
	struct probed probed;

	probed_make(&probed);
	make_hang(&probed.fixture);
	double begin = now_ms();
	probed_run(&probed, 200);
	double took = now_ms() - begin;
	assert_int_equal(probed.r, 0);
	assert_int_equal(probed.inventory.card_count, 0);
	assert_non_null(strstr(probed.inventory.problem, "no answer in 0.2 s"));
	assert_true(took >= 200 && took < 5000);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	assert_int_equal(errno, ECHILD);
	probed_release(&probed);
}

/* Who waits for the end of a pipe of ours must not wait for the child. */
TEST(the_child_holds_none_of_our_descriptors)
{
	struct probed probed;
	int ends[2];
	char byte;

	probed_make(&probed);
	make_hang(&probed.fixture);
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) { /* it probes with a long deadline, and is killed meanwhile */
		close(ends[0]);
		probed_run(&probed, 60000);
		_exit(0);
	}
	close(ends[1]);
	struct timespec pause = { .tv_nsec = 200 * 1000 * 1000 };
	nanosleep(&pause, NULL);
	assert_int_equal(kill(pid, SIGKILL), 0);
	double begin = now_ms();
	assert_int_equal(read(ends[0], &byte, 1), 0);
	assert_true(now_ms() - begin < 5000);
	close(ends[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	fixture_remove(&probed.fixture);
}

/* A caller that ignores its children's ends, as some that start runtimes do. */
TEST(a_caller_without_children)
{
	struct probed probed;
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;

	assert_int_equal(sigaction(SIGCHLD, &ignore, &before), 0);
	probed_make(&probed);
	probed_run(&probed, 0);
	assert_int_equal(sigaction(SIGCHLD, &before, NULL), 0);
	assert_int_equal(probed.r, 0);
	assert_int_equal(probed.inventory.card_count, ARRAY_SIZE(wanted));
	probed_release(&probed);
}

/* Also those of the child, whose failures are not ours to count: its cards are fewer or less known. */
TEST(every_allocation_fails_once)
{
	struct probed probed;
	unsigned hits = 0, told = 0;

	probed_make(&probed);
	for (unsigned n = 0; n < 300; n++) {
		fault_arm(n);
		probed_run(&probed, 0);
		bool hit = fault_disarm();

		hits += hit;
		told += probed.r == -ENOMEM;
		assert_true(probed.r == 0 || probed.r == -ENOMEM);
		assert_true(!hit || probed.r == -ENOMEM);
		if (probed.r == 0)
			inventory_release(&probed.inventory);
	}
	assert_true(hits > 5 && told > hits);
	probed_run(&probed, 0);
	assert_int_equal(probed.inventory.card_count, ARRAY_SIZE(wanted));
	probed_release(&probed);
}

static const struct {
	const char *text;
	uint32_t minor;
} accesses[] = {
	{ "DeviceFileMinor: 3\nDeviceFileMode: 256\nDeviceFileModify: 1\n", 3 },
	{ "DeviceFileMode: 256\nDeviceFileMinor:\t 4325", 4325 },
	{ "DeviceFileMinor: 0\n", 0 },
	{ "DeviceFileMinor: \n", CARD_MINOR_NONE },
	{ "DeviceFileMinor: -1\n", CARD_MINOR_NONE },
	{ "DeviceFileMinor: 99999999999999999999\n", CARD_MINOR_NONE },
	{ "DeviceFileMinor: 4294967295\n", CARD_MINOR_NONE },
	{ "XDeviceFileMinor: 3\n", CARD_MINOR_NONE },
	{ "", CARD_MINOR_NONE },
};

TEST(the_minors_of_capabilities_are_read)
{
	for (size_t i = 0; i < ARRAY_SIZE(accesses); i++)
		assert_int_equal(capability_parse_minor(accesses[i].text), accesses[i].minor);
}
