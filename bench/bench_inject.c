/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gpupool adds to a container's start, as a share of that start by bare runc and crun, all in one run
 * and in turns, on the simulated driver in a mount namespace of its own (root; else SKIP). Each round times
 *   bare    `RUNTIME run` of /bin/true in a small image, with our base spec and no edits
 *   mounts  the same with the mounts alone that two whole cards of eight need
 *   edited  the same with all edits
 *   work    in process: read config.json, search the driver's files, plan, edit, write
 *   process that and the inventory file, by a program started for it (this one): what a wrapper of a
 *           runtime would take, and has no budget before there is one
 *   whole   `gpupool run --gpus 2 -- true`, from the driver's answers to the container's end
 * and the part of work in each step. One JSON object a line; p50 and min of all rounds; shares are of
 * p50. Between them TAP: one result a budget. GPUPOOL_TEST_SCALE (100 is all rounds) sets the length.
 *
 * The share of the mounts is a small difference of two starts, which other work on the machine stretches
 * at random: it is told by the clock, and judged by the processor time of the runtime and its children.
 * Budgets are judged in full length only.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/magic.h>

#include "base/base.h"
#include "device/device.h"
#include "formats/formats.h"
#include "inject/inject.h"

#define ROUNDS_FULL 64u
#define ROUNDS_MIN  12u
#define CARDS       2u
#define WORK        "/run/bench"
#define DRIVER      "/run/driver"
#define IMAGE       WORK "/image"
#define INVENTORY   WORK "/inventory.json"
#define CONFIG_BASE WORK "/base.json"
#define PATHS_MAX   4096

static void die(const char *what, const struct error *error)
{
	fprintf(stderr, "bench_inject: %s%s%s\n", what, error ? ": " : "",
		error ? error->message : "");
	exit(1);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Runs ARGV with no input and its output thrown away; the exit status, and its processor time. */
static int run_program(const char *const *argv, double *ret_cpu_us)
{
	struct rusage used = { 0 };
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		die("cannot start a process", NULL);
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
		;
	*ret_cpu_us = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
		      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static double time_program(const char *const *argv, double *ret_cpu_us)
{
	double start = now_us();

	if (run_program(argv, ret_cpu_us) != 0)
		die(argv[0], NULL);
	return now_us() - start;
}

enum step { STEP_INVENTORY, STEP_READ, STEP_FILES, STEP_PLAN, STEP_EDIT, STEP_MAX };

static const char *const step_names[STEP_MAX] = { "inventory", "read", "find_files", "plan",
						  "edit_write" };

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
	int r = device_inventory_read(INVENTORY, &inventory, error);
	double known = now_us();
	work->steps[STEP_INVENTORY] = known - start;
	if (r == 0)
		r = oci_spec_read(CONFIG_BASE, &spec, error);
	double done = now_us();
	work->steps[STEP_READ] = done - known;
	if (r == 0)
		r = driver_files_find_for(DRIVER, inventory.driver_version, work->capabilities,
					  &files, error);
	work->steps[STEP_FILES] = now_us() - done;
	if (r < 0)
		return r;
	for (unsigned i = 0; i < CARDS; i++)
		memcpy(cards[i].uuid, inventory.cards[i].uuid, sizeof(cards[i].uuid));
	struct injection injection = { .inventory = &inventory,
				       .grants = grants,
				       .grant_count = 1,
				       .files = files,
				       .capabilities = work->capabilities,
				       .target = INJECT_IMAGE,
				       .root_fd = root,
				       .spec = spec };
	return plan_and_edit(&injection, spec, work, error);
}

static void copy_file(const char *from, const char *to)
{
	autofree char *data = NULL;
	size_t length;
	struct error error = ERROR_INIT;

	if (file_read(from, 1u << 26, &data, &length, &error) < 0 ||
	    file_write_atomic(to, data, length, 0755, &error) < 0)
		die("cannot make the image", &error);
}

/* true and the C library, as a Debian image has them. */
static void make_image(void)
{
	static const char *const directories[] = { "/bin",   "/dev",     "/proc",
						   "/sys",   "/etc",     "/tmp",
						   "/lib64", "/usr/bin", "/lib/x86_64-linux-gnu" };
	static const char *const files[][2] = {
		{ "/bin/true", "/bin/true" },
		{ "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6" },
		{ "/lib64/ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2" },
	};
	char path[PATHS_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		snprintf(path, sizeof(path), IMAGE "%s", directories[i]);
		if (file_make_directories(path, 0755, NULL) < 0)
			die("cannot make the image", NULL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), IMAGE "%s", files[i][1]);
		copy_file(files[i][0], path);
	}
}

static void make_base(void)
{
	static const char *const command[] = { "/bin/true", NULL };
	static const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
	const struct oci_base base = { .root_path = IMAGE,
				       .arguments = command,
				       .environment = environment,
				       .working_directory = "/",
				       .namespaces = OCI_NAMESPACE_ALL & ~OCI_NAMESPACE_CGROUP,
				       .cgroups_path = "/gpupool/bench" };
	autojson *spec = NULL;
	struct error error = ERROR_INIT;

	if (oci_spec_base(&base, &spec, &error) < 0 ||
	    oci_spec_write(CONFIG_BASE, spec, &error) < 0)
		die("cannot make the base", &error);
}

static void make_inventory(const char *helper)
{
	const struct device_options options = { .driver_root = DRIVER, .helper = helper };
	cleanup(inventory_release) struct inventory inventory;
	struct error error = ERROR_INIT;

	inventory_init(&inventory);
	if (device_probe(&options, &inventory, NULL, &error) < 0 ||
	    device_inventory_write(INVENTORY, &inventory, &error) < 0)
		die("cannot read the inventory", &error);
	if (inventory.card_count < CARDS)
		die("the simulated driver shows too few cards", NULL);
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
	if (do_work(work, &error) < 0)
		die("cannot plan", &error);
	samples->values[WORK_TIME][round] = 0;
	for (size_t i = 0; i < STEP_MAX; i++) {
		samples->values[STEPS + i][round] = work->steps[i];
		if (i != STEP_INVENTORY)
			samples->values[WORK_TIME][round] += work->steps[i];
	}
	samples->values[PROCESS][round] = time_program(process, &unused);
	samples->values[WHOLE][round] = time_program(whole, &unused);
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
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
		qsort(samples.values[i], rounds, sizeof(double), compare_values);
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

static size_t rounds_to_run(void)
{
	const char *scale = getenv("GPUPOOL_TEST_SCALE");
	uint64_t part = 100;

	if (scale && parse_uint(scale, 1, 10000, &part) < 0)
		die("GPUPOOL_TEST_SCALE is no number from 1 to 10000", NULL);
	size_t rounds = (size_t)(ROUNDS_FULL * part / 100);
	return rounds > ROUNDS_MIN ? rounds : ROUNDS_MIN;
}

/* A budget is judged in full length only: a short run is told, and decides nothing. */
static bool judge(unsigned number, const char *what, double measured, double budget)
{
	bool judged = rounds_to_run() >= ROUNDS_FULL, kept = measured <= budget;

	printf("%sok %u - %s: %.2f %%, budget %.0f %%%s\n", kept || !judged ? "" : "not ", number,
	       what, measured, budget, judged ? "" : " # SKIP a short run is not judged");
	fflush(stdout);
	return kept || !judged;
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

static const char *find_runtime(const char *name)
{
	static const char *const paths[] = { "/usr/bin/runc", "/usr/sbin/runc",
					     "/usr/local/sbin/runc", "/usr/bin/crun",
					     "/usr/local/bin/crun" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (strcmp(strrchr(paths[i], '/') + 1, name) == 0 && access(paths[i], X_OK) == 0)
			return paths[i];
	return NULL;
}

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
			kept &= judge(++number, what, shares.work, budget->work);
		snprintf(what, sizeof(what),
			 "all %zu mounts as a share of a bare %s start, processor time",
			 shares.mount_count, budget->runtime);
		if (budget->mounts > 0)
			kept &= judge(++number, what, shares.mounts, budget->mounts);
	}
	printf("1..%u\n", number);
	return kept;
}

/* crun refuses hosts with cgroup v2 beside v1; the product hides it from crun in the same way. */
static void hide_hybrid_cgroup(void)
{
	struct statfs type;

	if (statfs("/sys/fs/cgroup/unified", &type) == 0 && type.f_type == CGROUP2_SUPER_MAGIC)
		mount("tmpfs", "/sys/fs/cgroup/unified", "tmpfs", 0, "mode=0755");
}

static void beside(const char *name, char *ret, size_t size)
{
	char self[PATHS_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length <= 0)
		die("cannot read /proc/self/exe", NULL);
	self[length] = '\0';
	for (int up = 0; up < 2; up++)
		*strrchr(self, '/') = '\0';
	if ((size_t)snprintf(ret, size, "%s/%s", self, name) >= size)
		die("the path of the build folder is too long", NULL);
}

static int skip(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	return 0;
}

/* In a child, so that the driver is stopped whatever happens. */
static int bench_in_child(void)
{
	char self[PATHS_MAX], gpupool[PATHS_MAX], helper[PATHS_MAX];
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		die("cannot start a process", NULL);
	if (pid == 0) {
		beside("bench/bench_inject", self, sizeof(self));
		beside("bin/gpupool", gpupool, sizeof(gpupool));
		beside("bin/gpupool-nvml", helper, sizeof(helper));
		hide_hybrid_cgroup();
		make_image();
		make_base();
		make_inventory(helper);
		exit(run_budgets(self, gpupool) ? 0 : 1);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
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

int main(int argc, char **argv)
{
	char simdriver[PATHS_MAX];
	double unused;

	if (argc == 3 && strcmp(argv[1], "--work") == 0)
		return work_once(argv[2]);
	if (geteuid() != 0)
		return skip("containers need root");
	if (!find_runtime("runc"))
		return skip("there is no runc");
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) < 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, "mode=0755") < 0)
		return skip("mount namespaces need CAP_SYS_ADMIN");
	beside("simdriver/simdriver", simdriver, sizeof(simdriver));
	const char *const start[] = { simdriver,   "start",   "--root", DRIVER,
				      "--profile", "a100-80", NULL };
	const char *const stop[] = { simdriver, "stop", "--root", DRIVER, NULL };

	if (run_program(start, &unused) != 0)
		die("the simulated driver does not start", NULL);
	int code = bench_in_child();
	run_program(stop, &unused);
	return code;
}
