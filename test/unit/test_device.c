/* SPDX-License-Identifier: Apache-2.0 */
/* The probe against helpers and trees that lie. No driver, no card. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "device/device.h"
#include "device/nvml/library.h"
#include "fixture.h"

#define CARDS      4
#define DEADLINE   300
#define NVIDIA     "proc/driver/nvidia/"
#define LIBRARY    "usr/lib64/libnvidia-ml.so.535.104.05"
#define UUID(last) "GPU-00000000-0000-0000-0000-00000000000" last

/* A driver root of four cards; the script of the helper is the library. */
static const struct fixture_file tree[] = {
	{ NVIDIA "version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat\n" },
	{ NVIDIA "gpus/0000:01:00.0/information",
	  "Model: NVIDIA Test 0\nGPU UUID: " UUID("0") "\nDevice Minor: 0\n" },
	{ NVIDIA "gpus/0000:02:00.0/information",
	  "Model: NVIDIA Test 1\nGPU UUID: " UUID("1") "\nDevice Minor: 1\n" },
	{ NVIDIA "gpus/0000:03:00.0/information",
	  "Model: NVIDIA Test 2\nGPU UUID: " UUID("2") "\nDevice Minor: 2\n" },
	{ NVIDIA "gpus/0000:04:00.0/information",
	  "Model: NVIDIA Test 3\nGPU UUID: " UUID("3") "\nDevice Minor: 3\n" },
	{ "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n" },
	{ "sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n" },
	{ "sys/bus/pci/devices/0000:01:00.0/numa_node", "0\n" },
	{ "usr/lib64/libnvidia-ml.so.1", "-> libnvidia-ml.so.535.104.05" },
};

struct probed {
	struct fixture fixture;
	struct inventory inventory;
	struct reason reason;
	struct error error;
	int r;
};

/* test/lib/hostile_helper of the same build. */
static const char *helper_path(char to[static PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(length > 0);
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	int written = snprintf(to, PATH_MAX, "%s/../lib/hostile_helper", self);
	assert_true(written > 0 && written < PATH_MAX);
	return to;
}

static void probed_make(struct probed *probed, const char *script)
{
	memset(probed, 0, sizeof(*probed));
	fixture_make(&probed->fixture, tree, ARRAY_SIZE(tree));
	if (script)
		fixture_write(&probed->fixture, LIBRARY, script);
}

static void probed_run_with(struct probed *probed, struct device_stuck *stuck)
{
	char path[PATH_MAX];
	struct device_options options = { .driver_root = probed->fixture.root,
					  .helper = helper_path(path),
					  .deadline_ms = DEADLINE,
					  .stuck = stuck,
					  .samples = true };

	inventory_init(&probed->inventory);
	probed->r = device_probe(&options, &probed->inventory, &probed->reason, &probed->error);
}

static void probed_run(struct probed *probed)
{
	probed_run_with(probed, NULL);
}

static void probed_release(struct probed *probed)
{
	if (probed->r == 0)
		inventory_release(&probed->inventory);
	fixture_remove(&probed->fixture);
}

static unsigned probed_starts(const struct probed *probed)
{
	char path[PATH_MAX];
	struct stat stat_of;

	fixture_path(&probed->fixture, LIBRARY ".starts", path, sizeof(path));
	return stat(path, &stat_of) == 0 ? (unsigned)stat_of.st_size : 0;
}

struct card_wanted {
	enum card_health health;
	const char *cause; /* a part of it */
};

static const struct hostile_case {
	const char *script;
	enum reason_code code;
	struct card_wanted cards[CARDS];
	unsigned starts; /* of helpers */
} hostile_cases[] = {
	{ "", REASON_NONE, { { 0 } }, 1 },
	{ "late card 1\nlate links 2\n", REASON_NONE, { { 0 } }, 1 },
	/* one bad card, each question */
	{ "hang card 1\n", REASON_NONE, { [1] = { CARD_LOST, "no answer in 0.3 s" } }, 2 },
	{ "hang health 2\n", REASON_NONE, { [2] = { CARD_LOST, "no answer in 0.3 s" } }, 2 },
	{ "hang processes 0\n", REASON_NONE, { [0] = { CARD_LOST, "no answer" } }, 2 },
	{ "hang links 3\n", REASON_NONE, { [3] = { CARD_LOST, "no answer" } }, 2 },
	{ "hang sample 2\n", REASON_NONE, { [2] = { CARD_LOST, "no answer" } }, 2 },
	{ "garbage sample 2\n", REASON_NONE, { { 0 } }, 1 },
	{ "die card 0\n", REASON_NONE, { [0] = { CARD_SUSPECT, "died of signal 11" } }, 2 },
	{ "die links 3\n", REASON_NONE, { [3] = { CARD_SUSPECT, "died of signal 11" } }, 2 },
	{ "exit health 2\n", REASON_NONE, { [2] = { CARD_SUSPECT, "status 9" } }, 2 },
	{ "short card 1\n", REASON_NONE, { [1] = { CARD_SUSPECT, "something else" } }, 2 },
	{ "sequence card 1\n", REASON_NONE, { [1] = { CARD_SUSPECT, "something else" } }, 2 },
	{ "version card 1\n", REASON_NONE, { [1] = { CARD_SUSPECT, "something else" } }, 2 },
	{ "status card 1\n", REASON_NONE, { [1] = { CARD_SUSPECT, "something else" } }, 2 },
	{ "lost card 1\n", REASON_NONE, { [1] = { CARD_LOST, "GPU is lost (NVML 15)" } }, 1 },
	{ "lost health 1\n", REASON_NONE, { [1] = { CARD_LOST, "GPU is lost (NVML 15)" } }, 1 },
	{ "ecc health 2\n", REASON_NONE, { [2] = { CARD_SUSPECT, "3 uncorrected" } }, 1 },
	{ "garbage card 2\n", REASON_NONE, { [2] = { CARD_SUSPECT, "unusable UUID" } }, 1 },
	{ "garbage health 2\n", REASON_NONE, { [2] = { CARD_SUSPECT, "uncorrected" } }, 1 },
	{ "garbage processes 2\n", REASON_NONE, { { 0 } }, 1 },
	{ "garbage links 2\n", REASON_NONE, { { 0 } }, 1 },
	{ "twin card 2\n",
	  REASON_NONE,
	  { [0] = { CARD_SUSPECT, "same UUID" }, [2] = { CARD_SUSPECT, "same UUID" } },
	  1 },
	/* several */
	{ "hang card 0\ndie card 1\n",
	  REASON_NONE,
	  { [0] = { CARD_LOST, "no answer" }, [1] = { CARD_SUSPECT, "crashed" } },
	  3 },
	{ "hang card 0\nhang card 1\nhang card 2\n",
	  REASON_NONE,
	  { [0] = { CARD_LOST, "no answer" },
	    [1] = { CARD_LOST, "no answer" },
	    [2] = { CARD_LOST, "no answer" } },
	  4 },
	/* all of them */
	{ "hang card 0\nhang card 1\nhang card 2\nhang card 3\n",
	  REASON_DRIVER_HUNG,
	  { { CARD_LOST, "no answer" },
	    { CARD_LOST, "no answer" },
	    { CARD_LOST, "no answer" },
	    { CARD_LOST, "no answer" } },
	  5 },
	{ "lost card 0\nlost card 1\nlost card 2\nlost card 3\n",
	  REASON_NONE,
	  { { CARD_LOST, "lost" },
	    { CARD_LOST, "lost" },
	    { CARD_LOST, "lost" },
	    { CARD_LOST, "lost" } },
	  1 },
	{ "hang driver 0\n",
	  REASON_DRIVER_HUNG,
	  { { CARD_LOST, "no answer in 0.3 s" },
	    { CARD_LOST, "no answer" },
	    { CARD_LOST, "no answer" },
	    { CARD_LOST, "no answer" } },
	  1 },
	{ "die driver 0\n",
	  REASON_NO_DRIVER,
	  { { CARD_SUSPECT, "died of signal 11" },
	    { CARD_SUSPECT, "died" },
	    { CARD_SUSPECT, "died" },
	    { CARD_SUSPECT, "died" } },
	  1 },
	{ "count 100\n",
	  REASON_NO_DRIVER,
	  { { CARD_SUSPECT, "100 cards" },
	    { CARD_SUSPECT, "100 cards" },
	    { CARD_SUSPECT, "100 cards" },
	    { CARD_SUSPECT, "100 cards" } },
	  1 },
	/* NVML has lost one that the module still lists */
	{ "count 3\n", REASON_NONE, { [3] = { CARD_LOST, "NVML does not" } }, 1 },
};

static void check_card(const struct card *card, const struct card_wanted *wanted,
		       const char *script)
{
	if (card->condition.health == wanted->health &&
	    strstr(card->condition.cause, wanted->cause ? wanted->cause : ""))
		return;
	fail_msg("%s: card %s is %s: %s", script, card->uuid,
		 card_health_to_string(card->condition.health), card->condition.cause);
}

static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void check_hostile(const struct hostile_case *hostile)
{
	struct probed *probed = calloc(1, sizeof(*probed));

	probed_make(probed, hostile->script);
	probed_run(probed);
	assert_int_equal(probed->r, 0);
	assert_int_equal(probed->reason.code, hostile->code);
	assert_int_equal(probed->inventory.problem[0] != '\0', hostile->code != REASON_NONE);
	assert_int_equal(probed->inventory.card_count, CARDS);
	for (size_t i = 0; i < CARDS; i++)
		check_card(&probed->inventory.cards[i], &hostile->cards[i], hostile->script);
	if (probed_starts(probed) != hostile->starts)
		fail_msg("%s: %u helpers", hostile->script, probed_starts(probed));
	if (has_children())
		fail_msg("%s: a child is left", hostile->script);
	probed_release(probed);
	free(probed);
}

#define CAPABILITIES NVIDIA "capabilities/gpu1/mig/"

/* Card 1 is in MIG mode; what its MIG devices are when NVML says WORD of them. */
static const struct {
	const char *script;
	size_t count;
	enum card_health health;
	const char *cause;
} mig_cases[] = {
	{ "mig card 1\n", 2, CARD_HEALTHY, "" },
	{ "mig card 1\ntwice instances 1\n", 1, CARD_SUSPECT, "unusable MIG device" },
	{ "mig card 1\nnameless instances 1\n", 1, CARD_SUSPECT, "unusable MIG device" },
	{ "mig card 1\nfar instances 1\n", 1, CARD_SUSPECT, "unusable MIG device" },
	{ "mig card 1\nmany instances 1\n", 2, CARD_SUSPECT, "unusable MIG device" },
	{ "mig card 1\nhang instances 1\n", 0, CARD_LOST, "no answer" },
};

TEST(mig_devices_have_names_and_nodes)
{
	for (size_t i = 0; i < ARRAY_SIZE(mig_cases); i++) {
		struct probed probed;

		print_message("# %s", mig_cases[i].script);
		probed_make(&probed, mig_cases[i].script);
		fixture_write(&probed.fixture, CAPABILITIES "gi7/access", "DeviceFileMinor: 70\n");
		fixture_write(&probed.fixture, CAPABILITIES "gi7/ci0/access",
			      "DeviceFileMinor: 71\n");
		probed_run(&probed);
		assert_int_equal(probed.r, 0);
		const struct card *card = &probed.inventory.cards[1];
		assert_int_equal(card->instance_count, mig_cases[i].count);
		assert_int_equal(card->condition.health, mig_cases[i].health);
		assert_non_null(strstr(card->condition.cause, mig_cases[i].cause));
		assert_int_equal(probed.inventory.cards[0].instance_count, 0);
		assert_string_equal(probed.inventory.cards[0].brand, "nvidia");
		if (card->instance_count) {
			const struct card_instance *instance = &card->instances[0];

			assert_string_equal(instance->uuid,
					    "MIG-00000000-0000-0000-0000-000000000010");
			assert_string_equal(instance->profile, "1g.10gb");
			assert_int_equal(instance->gpu_instance, 7);
			assert_int_equal(instance->gpu_minor, 70);
			assert_int_equal(instance->compute_minor, 71);
		}
		if (card->instance_count == 2) {
			assert_int_equal(card->instances[1].index, 2);
			assert_int_equal(card->instances[1].gpu_minor, CARD_MINOR_NONE);
		}
		probed_release(&probed);
	}
}

TEST(one_bad_card_never_hides_the_others)
{
	for (size_t i = 0; i < ARRAY_SIZE(hostile_cases); i++)
		check_hostile(&hostile_cases[i]);
}

TEST(a_card_without_an_answer_keeps_its_identity)
{
	struct probed *probed = calloc(1, sizeof(*probed));

	probed_make(probed, "hang card 1\n");
	probed_run(probed);
	assert_int_equal(probed->r, 0);
	const struct card *card = &probed->inventory.cards[1];
	assert_string_equal(card->uuid, UUID("1"));
	assert_string_equal(card->bus_id, "0000:02:00.0");
	assert_string_equal(card->model, "NVIDIA Test 1");
	assert_int_equal(card->minor, 1);
	assert_int_equal(card->index, 1);
	assert_true(card->condition.since > 0);
	probed_release(probed);
	free(probed);
}

/* The numbers of a card that gave no answer are absent, those of the others are their own. */
TEST(samples_are_of_their_cards)
{
	struct probed probed;

	probed_make(&probed, "hang sample 1\n");
	probed_run(&probed);
	assert_int_equal(probed.r, 0);
	assert_non_null(probed.inventory.samples);
	for (unsigned i = 0; i < CARDS; i++) {
		const struct card_sample *sample = &probed.inventory.samples[i];

		assert_int_equal(sample->has, i == 1 ? 0 : 1ull << CARD_VALUE_GPU_TEMP);
		assert_int_equal(sample->values[CARD_VALUE_GPU_TEMP], i == 1 ? 0 : 40 + i);
	}
	probed_release(&probed);
}

TEST(garbage_gives_clean_names)
{
	struct probed *probed = calloc(1, sizeof(*probed));

	probed_make(probed, "garbage card 2\n");
	probed_run(probed);
	assert_int_equal(probed->r, 0);
	const struct card *card = &probed->inventory.cards[2];
	assert_string_equal(card->uuid, UUID("2")); /* of the kernel */
	assert_true(parse_utf8_valid(card->model, strlen(card->model)));
	assert_int_equal(card->memory_bytes, 0);
	probed_release(probed);
	free(probed);
}

TEST(a_healthy_machine)
{
	struct probed *probed = calloc(1, sizeof(*probed));

	probed_make(probed, "");
	probed_run(probed);
	assert_int_equal(probed->r, 0);
	const struct inventory *inventory = &probed->inventory;
	assert_string_equal(inventory->driver_version, "535.104.05");
	assert_string_equal(inventory->module_version, "535.104.05");
	assert_string_equal(inventory->nvml_version, "12.535.104.05");
	assert_int_equal(inventory->cuda_major, 12);
	assert_int_equal(inventory->cuda_minor, 2);
	assert_int_equal(strlen(inventory->boot_id), 36);
	assert_false(inventory->real);
	const struct card *card = &inventory->cards[0];
	assert_int_equal(card->numa, 0);
	assert_int_equal(inventory->cards[1].numa, -1);
	assert_int_equal(card_units(card), 80);
	assert_int_equal(card->mode, CARD_MODE_AUTO);
	assert_true(card->mig_capable);
	assert_int_equal(card->process_count, 26); /* more than one answer holds */
	assert_string_equal(card->processes[25].name, "python25");
	assert_int_equal(card->processes[25].used_mib, 10);
	assert_int_equal(card->processes[25].uid, UINT32_MAX);
	probed_release(probed);
	free(probed);
}

TEST(the_matrix_of_links_is_symmetric)
{
	static const char *const scripts[] = { "", "hang links 1\n", "garbage links 2\n" };

	for (size_t s = 0; s < ARRAY_SIZE(scripts); s++) {
		struct probed *probed = calloc(1, sizeof(*probed));

		probed_make(probed, scripts[s]);
		probed_run(probed);
		assert_int_equal(probed->r, 0);
		const struct card *cards = probed->inventory.cards;
		for (size_t i = 0; i < CARDS; i++) {
			assert_int_equal(cards[i].link_count, CARDS - 1);
			for (size_t k = 0; k < CARDS - 1; k++) {
				const struct card_link *link = &cards[i].links[k];
				const struct card *peer = &cards[link->peer];
				const struct card_link *back =
					&peer->links[i < link->peer ? i : i - 1];

				assert_int_equal(back->peer, i);
				assert_int_equal(back->kind, link->kind);
				assert_int_equal(back->lanes, link->lanes);
			}
		}
		if (!s) { /* two lanes and the switch's one to the neighbour, one to the others */
			assert_int_equal(cards[0].links[0].kind, LINK_NVLINK);
			assert_int_equal(cards[0].links[0].lanes, 3);
			assert_int_equal(cards[0].links[1].lanes, 1);
		}
		probed_release(probed);
		free(probed);
	}
}

TEST(two_stuck_helpers_end_the_questions)
{
	struct probed *probed = calloc(1, sizeof(*probed));

	probed_make(probed, "stick card 0\nstick card 1\n");
	probed_run(probed);
	assert_int_equal(probed->r, 0);
	assert_int_equal(probed_starts(probed), 2);
	assert_int_equal(probed->reason.code, REASON_DRIVER_HUNG);
	assert_int_equal(probed->inventory.cards[0].condition.health, CARD_LOST);
	assert_int_equal(probed->inventory.cards[1].condition.health, CARD_LOST);
	assert_non_null(strstr(probed->inventory.cards[2].condition.cause, "2 helpers are caught"));
	assert_int_equal(probed->inventory.cards[3].condition.health, CARD_SUSPECT);
	/* They stay behind as children, until what holds them lets go. */
	assert_true(has_children());
	for (int i = 0; i < 2; i++)
		assert_true(waitpid(-1, NULL, 0) > 0);
	assert_false(has_children());
	probed_release(probed);
	free(probed);
}

/* A daemon that probes for ever leaves two behind at most, and asks again once they have ended. */
TEST(two_stuck_helpers_end_the_questions_of_later_probes)
{
	struct probed *probed = calloc(1, sizeof(*probed));
	struct device_stuck stuck = { .count = 0 };

	probed_make(probed, "stick card 0\nstick card 1\n");
	for (unsigned n = 0; n < 3; n++) {
		probed_run_with(probed, &stuck);
		assert_int_equal(probed->r, 0);
		assert_int_equal(stuck.count, 2);
		assert_int_equal(probed_starts(probed), 2);
		assert_int_equal(probed->reason.code, REASON_DRIVER_HUNG);
		for (unsigned i = 0; n > 0 && i < CARDS; i++)
			assert_non_null(strstr(probed->inventory.cards[i].condition.cause,
					       "2 helpers are caught in the driver"));
		inventory_release(&probed->inventory);
	}
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(waitid(P_PID, (id_t)stuck.pids[i], NULL, WEXITED | WNOWAIT), 0);
	fixture_write(&probed->fixture, LIBRARY, "");
	probed_run_with(probed, &stuck);
	assert_int_equal(stuck.count, 0);
	assert_int_equal(probed->reason.code, REASON_NONE);
	assert_false(has_children());
	probed_release(probed);
	free(probed);
}

/* The module's own files block: cards are then known by NVML alone. */
TEST(a_procfs_that_hangs_costs_one_deadline)
{
	static const char *const scripts[] = { "hang information 0\n", "die information 0\n",
					       "garbage information 0\n", "short information 0\n" };

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct probed *probed = calloc(1, sizeof(*probed));

		probed_make(probed, "hang card 1\n");
		fixture_write(&probed->fixture, NVIDIA "script", scripts[i]);
		probed_run(probed);
		assert_int_equal(probed->r, 0);
		assert_int_equal(probed->reason.code, REASON_NONE);
		assert_int_equal(probed->inventory.card_count, CARDS);
		assert_string_equal(probed->inventory.cards[0].uuid, UUID("0"));
		assert_int_equal(probed->inventory.cards[0].condition.health, CARD_HEALTHY);
		assert_string_equal(probed->inventory.cards[1].uuid, "unknown-0000:02:00.0");
		assert_int_equal(probed->inventory.cards[1].condition.health, CARD_LOST);
		probed_release(probed);
		free(probed);
	}
}

TEST(a_stuck_reader_of_procfs_counts)
{
	struct probed *probed = calloc(1, sizeof(*probed));

	probed_make(probed, "stick card 0\n");
	fixture_write(&probed->fixture, NVIDIA "script", "stick information 0\n");
	probed_run(probed);
	assert_int_equal(probed->r, 0);
	assert_int_equal(probed_starts(probed), 1);
	assert_non_null(strstr(probed->inventory.cards[3].condition.cause, "2 helpers are caught"));
	for (int i = 0; i < 2; i++)
		assert_true(waitpid(-1, NULL, 0) > 0);
	probed_release(probed);
	free(probed);
}

static const struct absent_case {
	const char *name;
	struct fixture_file files[4];
	enum reason_code code;
	const char *problem; /* a part */
	size_t cards;
} absent_cases[] = {
	{ "versions differ",
	  { { NVIDIA "version", "NVRM version: x  535.161.08  Sat\n" },
	    { NVIDIA "gpus/0000:01:00.0/information", "GPU UUID: " UUID("0") "\n" },
	    { "usr/lib64/libnvidia-ml.so.550.54.14", "" },
	    { "usr/lib64/libnvidia-ml.so.1", "-> libnvidia-ml.so.550.54.14" } },
	  REASON_DRIVER_MISMATCH,
	  "module 535.161.08, libraries 550.54.14",
	  1 },
	{ "no module, cards on the bus",
	  { { "proc/nothing", "" },
	    { "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n" },
	    { "sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n" } },
	  REASON_NO_DRIVER,
	  "1 NVIDIA device on the PCI bus, no kernel module loaded",
	  0 },
	{ "a module without libraries",
	  { { NVIDIA "version", "NVRM version: x  535.161.08  Sat\n" },
	    { NVIDIA "gpus/0000:01:00.0/information", "GPU UUID: " UUID("0") "\n" },
	    { "sys/bus/pci/devices", NULL } },
	  REASON_NO_DRIVER,
	  "kernel module 535.161.08 loaded; no libnvidia-ml.so.1 under",
	  1 },
	{ "a library that others can change",
	  { { NVIDIA "version", "NVRM version: x  535.161.08  Sat\n" },
	    { "sys/bus/pci/devices", NULL },
	    { "usr/lib64/libnvidia-ml.so.1", "" } },
	  REASON_NO_DRIVER,
	  "can be changed by others",
	  0 },
};

static void check_absent(const struct absent_case *absent)
{
	struct probed *probed = calloc(1, sizeof(*probed));
	char path[PATH_MAX];
	size_t files = 0;

	while (files < ARRAY_SIZE(absent->files) && absent->files[files].path)
		files++;
	fixture_make(&probed->fixture, absent->files, files);
	if (strstr(absent->problem, "changed by others"))
		assert_int_equal(
			chmod(fixture_path(&probed->fixture, "usr/lib64", path, sizeof(path)),
			      0777),
			0);
	probed_run(probed);
	if (probed->r < 0)
		fail_msg("%s: %s", absent->name, probed->error.message);
	if (probed->reason.code != absent->code ||
	    !strstr(probed->inventory.problem, absent->problem))
		fail_msg("%s: %s", absent->name, probed->inventory.problem);
	assert_string_equal(probed->reason.detail[0] ? "detail" : "", "detail");
	assert_true(probed->reason.node[0]);
	assert_int_equal(probed->inventory.card_count, absent->cards);
	for (size_t i = 0; i < probed->inventory.card_count; i++)
		assert_int_not_equal(probed->inventory.cards[i].condition.health, CARD_HEALTHY);
	probed_release(probed);
	free(probed);
}

TEST(a_driver_that_is_not_there_has_a_reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(absent_cases); i++)
		check_absent(&absent_cases[i]);
}

TEST(a_helper_that_cannot_run_is_an_error)
{
	struct fixture fixture;
	struct error error = ERROR_INIT;
	struct inventory inventory;
	char path[PATH_MAX];

	fixture_make(&fixture, tree, ARRAY_SIZE(tree));
	fixture_write(&fixture, LIBRARY, "");
	fixture_write(&fixture, "helper", "no program\n");
	fixture_path(&fixture, "helper", path, sizeof(path));
	struct device_options options = { .driver_root = fixture.root, .helper = path };
	assert_int_equal(device_probe(&options, &inventory, NULL, &error), -EACCES);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(device_probe(&options, &inventory, NULL, &error), -ENOEXEC);
	assert_non_null(strstr(error.message, "cannot start"));
	fixture_remove(&fixture);
}

TEST(every_allocation_may_fail)
{
	struct probed *probed = calloc(1, sizeof(*probed));
	char path[PATH_MAX];
	unsigned failed = 0;

	probed_make(probed, "lost card 2\n");
	struct device_options options = { .driver_root = probed->fixture.root,
					  .helper = helper_path(path),
					  .deadline_ms = 5000 };
	for (bool happened = true; happened; failed++) {
		inventory_init(&probed->inventory);
		fault_arm(failed);
		int r = device_probe(&options, &probed->inventory, &probed->reason, NULL);
		happened = fault_disarm();
		assert_true(r == 0 || r == -ENOMEM);
		if (r == 0)
			inventory_release(&probed->inventory);
	}
	assert_true(failed > 20);
	probed->r = -1;
	probed_release(probed);
	free(probed);
}

TEST(the_driver_root_is_found_in_order)
{
	struct fixture fixture;
	struct error error = ERROR_INIT;
	char root[256], path[PATH_MAX];

	fixture_make(&fixture, tree, ARRAY_SIZE(tree));
	fixture_write(&fixture, LIBRARY, "");
	fixture_write(&fixture, "other", NULL);
	fixture_path(&fixture, "other/", path, sizeof(path));
	setenv(ENV_DRIVER_ROOT, fixture.root, 1);
	assert_int_equal(device_find_driver_root(NULL, root, sizeof(root), &error), 0);
	assert_string_equal(root, fixture.root);
	/* What is named on the command line wins, and is not searched. */
	assert_int_equal(device_find_driver_root(path, root, sizeof(root), &error), 0);
	path[strlen(path) - 1] = '\0';
	assert_string_equal(root, path);
	setenv(ENV_DRIVER_ROOT, "/nonexistent", 1);
	assert_int_equal(device_find_driver_root(NULL, root, sizeof(root), &error), -ENOENT);
	assert_non_null(strstr(error.message, ENV_DRIVER_ROOT));
	assert_int_equal(device_find_driver_root("/proc/version", root, sizeof(root), &error),
			 -ENOTDIR);
	assert_int_equal(device_find_driver_root("/proc", root, 3, &error), -ENAMETOOLONG);
	unsetenv(ENV_DRIVER_ROOT);
	fixture_remove(&fixture);
}
