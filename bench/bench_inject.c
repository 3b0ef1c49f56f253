/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gpupool adds to a container's start, as a share of that start by bare runc and crun, all in one run
 * and in turns, on the simulated driver in a mount namespace of its own (root; else SKIP). Each round times
 *   bare    `RUNTIME run` of /bin/true in a small image, with our base spec and no edits
 *   mounts  the same with the mounts alone that two whole cards of eight need
 *   edited  the same with all edits
 *   work    in process: read config.json and the kept list of the driver's files, plan, edit, write
 *   process that and the inventory file, by a program started for it (this one): what a wrapper of a
 *           runtime would take, and has no budget before there is one
 *   whole   `gpupool run --gpus 2 -- true`, from the driver's answers to the container's end
 * and the part of work in each step, and beside it the search that the list saves. One JSON object a line; p50 and min of all rounds; shares are of
 * p50. Between them TAP: one result a budget. GPUPOOL_TEST_SCALE (100 is all rounds) sets the length.
 *
 * The share of the mounts is a small difference of two starts, which other work on the machine stretches
 * at random: it is told by the clock, and judged by the processor time of the runtime and its children.
 * Budgets are judged in full length only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/base.h"
#include "containers.h"
#include "device/device.h"
#include "formats/formats.h"
#include "inject/inject.h"

#define CARDS 2u

enum step {
	STEP_SEARCH, /* not a part of the work: what the kept list of the driver's files saves */
	STEP_INVENTORY,
	STEP_READ,
	STEP_FILES,
	STEP_PLAN,
	STEP_EDIT,
	STEP_MAX,
};

static const char *const step_names[STEP_MAX] = { "search_files", "inventory", "read",
						  "read_files",   "plan",      "edit_write" };

struct work {
	const char *output;
	bool mounts_only;
	unsigned capabilities;
	double steps[STEP_MAX]; /* us */
	size_t mounts, devices, edits;
};

static void count_edits(const struct edit_plan *plan, struct work *work)
{
	work->mounts = work->devices = 0;
	work->edits = plan->count;
	for (size_t i = 0; i < plan->count; i++) {
		work->mounts += plan->edits[i].kind == EDIT_MOUNT;
		work->devices += plan->edits[i].kind == EDIT_DEVICE;
	}
}

/* The mounts to the front, so that a shorter plan has nothing else. */
static size_t mounts_first(struct edit_plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->count; i++) {
		struct edit edit = plan->edits[i];

		if (edit.kind != EDIT_MOUNT)
			continue;
		plan->edits[i] = plan->edits[count];
		plan->edits[count++] = edit;
	}
	return count;
}

static int plan_and_edit(struct injection *injection, struct json_object *spec, struct work *work,
			 struct error *error)
{
	cleanup(edit_plan_release) struct edit_plan plan = { 0 };
	struct reason reason = { 0 };
	double start = now_us();

	int r = edit_plan_build(injection, &plan, &reason, error);
	double planned = now_us();
	struct edit_plan part = plan;
	if (work->mounts_only)
		part.count = mounts_first(&plan);
	if (r == 0)
		r = edit_plan_apply_oci(&part, spec, error);
	if (r == 0)
		r = oci_spec_write(work->output, spec, error);
	work->steps[STEP_PLAN] = planned - start;
	work->steps[STEP_EDIT] = now_us() - planned;
	count_edits(&plan, work);
	return r;
}

/* All that stands between a grant and the runtime's start. */
static int do_work(struct work *work, struct error *error)
{
	cleanup(driver_files_freep) struct driver_files *files = NULL;
	cleanup(inventory_release) struct inventory inventory;
	struct grant_card cards[CARDS] = { 0 };
	const struct grant grant = { .kind = REQUEST_WHOLE, .cards = cards, .card_count = CARDS };
	const struct grant *grants[] = { &grant };
	autojson *spec = NULL;
	double start = now_us();

	inventory_init(&inventory);
	autoclose int root = open(IMAGE, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = device_inventory_read_cards(INVENTORY, &inventory, error);
	double known = now_us();
	work->steps[STEP_INVENTORY] = known - start;
	if (r == 0)
		r = oci_spec_read(CONFIG_BASE, &spec, error);
	double done = now_us();
	work->steps[STEP_READ] = done - known;
	if (r < 0)
		return r;
	for (unsigned i = 0; i < CARDS; i++)
		memcpy(cards[i].uuid, inventory.cards[i].uuid, sizeof(cards[i].uuid));
	struct injection injection = { .inventory = &inventory,
				       .grants = grants,
				       .grant_count = 1,
				       .capabilities = work->capabilities,
				       .target = INJECT_IMAGE,
				       .root_fd = root,
				       .spec = spec };
	r = driver_files_find_injection(KEPT, &injection, &files, error);
	work->steps[STEP_FILES] = now_us() - done;
	if (r < 0)
		return r;
	injection.files = files;
	return plan_and_edit(&injection, spec, work, error);
}

/* The same files without the list. */
static int search_files(struct work *work, struct error *error)
{
	cleanup(driver_files_freep) struct driver_files *files = NULL;
	double start = now_us();
	int r = driver_files_find(DRIVER, NULL, work->capabilities, &files, error);

	work->steps[STEP_SEARCH] = now_us() - start;
	return r;
}

/* Bundles: WORK/bare, WORK/mounts and WORK/edited. */
static void make_bundles(struct work *work)
{
	struct error error = ERROR_INIT;
	struct work mounts = { .output = WORK "/mounts/config.json",
			       .mounts_only = true,
			       .capabilities = work->capabilities };

	if (file_make_directories(WORK "/bare", 0755, &error) < 0 ||
	    file_make_directories(WORK "/mounts", 0755, &error) < 0 ||
	    file_make_directories(WORK "/edited", 0755, &error) < 0)
		die("cannot make the bundles", &error);
	copy_file(CONFIG_BASE, WORK "/bare/config.json");
	cleanup(driver_files_freep) struct driver_files *kept = NULL;
	if (driver_files_read(KEPT, DRIVER, NULL, NULL, work->capabilities, &kept, &error) < 0)
		die("the list of the driver's files does not hold", &error);
	if (do_work(&mounts, &error) < 0)
		die("cannot plan", &error);
	work->output = WORK "/edited/config.json";
	if (do_work(work, &error) < 0)
		die("cannot plan", &error);
}

enum measure {
	BARE,
	MOUNTS,
	EDITED,
	BARE_CPU,
	MOUNTS_CPU,
	EDITED_CPU,
	WORK_TIME,
	PROCESS,
	WHOLE,
	STEPS,
	MEASURES = STEPS + STEP_MAX
};

struct samples {
	double *values[MEASURES]; /* owned; us */
	size_t rounds;
};

struct setting {
	const char *runtime, *path, *capabilities;
	const char *self, *gpupool;
};

static double time_run(const struct setting *setting, const char *bundle, double *ret_cpu_us)
{
	const char *const argv[] = { setting->path, "--root", WORK "/state", "run",
				     "--bundle",    bundle,   "bench",       NULL };

	return time_program(argv, ret_cpu_us);
}

/* The containers change places each round: whatever comes second finds other caches. */
static void run_round(const struct setting *setting, struct work *work, size_t round,
		      struct samples *samples)
{
	const char *const process[] = { setting->self, "--work", setting->capabilities, NULL };
	const char *const whole[] = { setting->gpupool, "run",    "--runtime",
				      setting->runtime, "--gpus", "2",
				      "--driver-root",  DRIVER,   "--",
				      "/bin/true",      NULL };
	static const struct {
		enum measure measure;
		const char *path;
	} bundles[] = { { BARE, WORK "/bare" },
			{ MOUNTS, WORK "/mounts" },
			{ EDITED, WORK "/edited" } };
	struct error error = ERROR_INIT;
	double unused;

	for (size_t i = 0; i < ARRAY_SIZE(bundles); i++) {
		size_t which = (round + i) % ARRAY_SIZE(bundles);

		samples->values[bundles[which].measure][round] =
			time_run(setting, bundles[which].path,
				 &samples->values[BARE_CPU + bundles[which].measure][round]);
	}
	if (do_work(work, &error) < 0 || search_files(work, &error) < 0)
		die("cannot plan", &error);
	samples->values[WORK_TIME][round] = 0;
	for (size_t i = 0; i < STEP_MAX; i++) {
		samples->values[STEPS + i][round] = work->steps[i];
		if (i != STEP_INVENTORY && i != STEP_SEARCH)
			samples->values[WORK_TIME][round] += work->steps[i];
	}
	samples->values[PROCESS][round] = time_program(process, &unused);
	samples->values[WHOLE][round] = time_program(whole, &unused);
}

struct shares { /* per cent of the bare start */
	double work, mounts, mounts_by_clock;
	size_t mount_count;
};

static double p50(const struct samples *samples, size_t measure)
{
	return samples->values[measure][samples->rounds / 2];
}

/* By how many per cent MEASURE is above BASE. */
static double more(const struct samples *samples, size_t base, size_t measure)
{
	return (p50(samples, measure) / p50(samples, base) - 1) * 100;
}

static double least(const struct samples *samples, size_t measure)
{
	return samples->values[measure][0];
}

static void print_result(const struct setting *setting, const struct work *work,
			 const struct samples *samples, const struct shares *shares)
{
	static const char *const names[] = { "bare",     "mounts",     "edited",
					     "bare_cpu", "mounts_cpu", "edited_cpu",
					     "work",     "process",    "whole" };

	printf("{\"runtime\":\"%s\",\"capabilities\":\"%s\",\"rounds\":%zu,\"mounts\":%zu,"
	       "\"devices\":%zu,\"edits\":%zu",
	       setting->runtime, setting->capabilities, samples->rounds, work->mounts,
	       work->devices, work->edits);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		printf(",\"%s_p50_us\":%.0f,\"%s_min_us\":%.0f", names[i], p50(samples, i),
		       names[i], least(samples, i));
	for (size_t i = 0; i < STEP_MAX; i++)
		printf(",\"%s_p50_us\":%.0f", step_names[i], p50(samples, STEPS + i));
	printf(",\"work_share\":%.2f,\"process_share\":%.2f,\"mounts_share\":%.2f,\"mounts_share_"
	       "by_clock\":%.2f,"
	       "\"whole_ratio\":%.2f}\n",
	       shares->work, p50(samples, PROCESS) / p50(samples, BARE) * 100, shares->mounts,
	       shares->mounts_by_clock, p50(samples, WHOLE) / p50(samples, BARE));
	fflush(stdout);
}

static struct shares measure(const struct setting *setting, size_t rounds)
{
	struct samples samples = { .rounds = rounds };
	struct work work = { .output = NULL };
	struct error error = ERROR_INIT;

	if (capabilities_parse(setting->capabilities, &work.capabilities, &error) < 0)
		die("wrong capabilities", &error);
	make_bundles(&work);
	for (size_t i = 0; i < MEASURES; i++) {
		samples.values[i] = calloc(rounds, sizeof(double));
		if (!samples.values[i])
			die("out of memory", NULL);
	}
	double unused;
	time_run(setting, WORK "/bare", &unused); /* not counted: files into the caches */
	time_run(setting, WORK "/edited", &unused);
	for (size_t round = 0; round < rounds; round++)
		run_round(setting, &work, round, &samples);
	for (size_t i = 0; i < MEASURES; i++)
		sort_values(samples.values[i], rounds);
	const struct shares shares = {
		.work = p50(&samples, WORK_TIME) / p50(&samples, BARE) * 100,
		.mounts = more(&samples, BARE_CPU, MOUNTS_CPU),
		.mounts_by_clock = more(&samples, BARE, MOUNTS),
		.mount_count = work.mounts,
	};
	print_result(setting, &work, &samples, &shares);
	for (size_t i = 0; i < MEASURES; i++)
		free(samples.values[i]);
	return shares;
}

/* How to add a budget: a row. */
static const struct budget {
	const char *runtime, *capabilities;
	double work, mounts; /* per cent of the bare start; 0: printed only */
} budgets[] = {
	{ "runc", "compute,utility", 5, 15 },
	{ "crun", "compute,utility", 10, 0 },
	{ "runc", "all", 0, 0 },
};

static bool run_budgets(const char *self, const char *gpupool)
{
	unsigned number = 0;
	bool kept = true;

	for (size_t i = 0; i < ARRAY_SIZE(budgets); i++) {
		const struct budget *budget = &budgets[i];
		const struct setting setting = { .runtime = budget->runtime,
						 .path = find_runtime(budget->runtime),
						 .capabilities = budget->capabilities,
						 .self = self,
						 .gpupool = gpupool };
		char what[128];

		if (!setting.path) {
			printf("ok %u - # SKIP there is no %s\n", ++number, budget->runtime);
			continue;
		}
		struct shares shares = measure(&setting, rounds_to_run());
		snprintf(what, sizeof(what), "plan and edit as a share of a bare %s start",
			 budget->runtime);
		if (budget->work > 0)
			kept &= judge(++number, what, shares.work, budget->work, "%");
		snprintf(what, sizeof(what),
			 "all %zu mounts as a share of a bare %s start, processor time",
			 shares.mount_count, budget->runtime);
		if (budget->mounts > 0)
			kept &= judge(++number, what, shares.mounts, budget->mounts, "%");
	}
	printf("1..%u\n", number);
	return kept;
}

static int work_once(const char *capabilities)
{
	struct work work = { .output = WORK "/process.json" };
	struct error error = ERROR_INIT;

	if (capabilities_parse(capabilities, &work.capabilities, &error) < 0 ||
	    do_work(&work, &error) < 0)
		die("cannot plan", &error);
	return 0;
}

static bool bench(void)
{
	char self[BENCH_PATH_MAX], gpupool[BENCH_PATH_MAX];

	beside("bench/bench_inject", self, sizeof(self));
	beside("bin/gpupool", gpupool, sizeof(gpupool));
	return run_budgets(self, gpupool);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--work") == 0)
		return work_once(argv[2]);
	return bench_with_driver(bench, CARDS);
}
