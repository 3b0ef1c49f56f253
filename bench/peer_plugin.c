/* SPDX-License-Identifier: Apache-2.0 */
#include "peer_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "containers.h"
#include "fake_kubelet.h"
#include "process.h"

#define ENV_PEER     "GPUPOOL_TEST_DEVICE_PLUGIN"
#define FOLDER       WORK "/beside"
#define CONFIG       FOLDER "/gpupoold.yaml"
#define PEER_PLUGINS "/var/lib/kubelet/device-plugins"
#define RESOURCE     "nvidia.com/gpu"
#define REQUEST      "main:" RESOURCE "=2"
#define CARDS        8u
#define WAIT_MS      20000u
#define SETTLE_MS    3000u
#define IDLE_MS      20000u
#define HELPERS      16u
#define STARTS       6u /* of which the first knows nothing of the machine */
#define ADMISSIONS   4u /* times rounds_to_run() */
#define RUNNING      3u /* Pods of two cards at a time */

enum side_name { OURS, PEER, SIDES };

/* Moments of a side, by the fake kubelet's log; 0: not since it was asked for. */
enum mark { REGISTERED, LISTED, PREFERRED, ALLOCATED, MARKS };

static const char *const mark_lines[MARKS] = {
	[REGISTERED] = "Register " RESOURCE,
	[LISTED] = "List " RESOURCE " healthy",
	[PREFERRED] = "GetPreferredAllocation " RESOURCE,
	[ALLOCATED] = "Allocate " RESOURCE,
};

/* Memory and processor time are with helpers. */
struct figures {
	double private_kb, rss_kb;
	double first_register_ms, register_ms, listed_ms;
	double preferred_p50_ms, preferred_p99_ms, allocate_p50_ms, allocate_p99_ms;
	double idle_cpu_percent; /* of one processor */
};

static const struct {
	const char *name;
	size_t offset;
	int digits;
} figure_rows[] = {
	{ "private_kb", offsetof(struct figures, private_kb), 0 },
	{ "rss_kb", offsetof(struct figures, rss_kb), 0 },
	{ "first_register_ms", offsetof(struct figures, first_register_ms), 1 },
	{ "register_ms", offsetof(struct figures, register_ms), 1 },
	{ "listed_ms", offsetof(struct figures, listed_ms), 1 },
	{ "preferred_p50_ms", offsetof(struct figures, preferred_p50_ms), 3 },
	{ "preferred_p99_ms", offsetof(struct figures, preferred_p99_ms), 3 },
	{ "allocate_p50_ms", offsetof(struct figures, allocate_p50_ms), 3 },
	{ "allocate_p99_ms", offsetof(struct figures, allocate_p99_ms), 3 },
	{ "idle_cpu_percent", offsetof(struct figures, idle_cpu_percent), 4 },
};

struct side {
	const char *name, *program;
	const char *arguments[9];    /* ends with NULL */
	const char *variables[2][2]; /* of its environment; a name of NULL ends them */
	const char *directory;       /* of device plugins */
	const char *pod_resources, *log;
	struct fake_kubelet *kubelet;
	pid_t pid;
	double at_us[MARKS];
	struct figures figures;
};

/* But for the programs' paths. */
static const struct side sides[SIDES] = {
	[OURS] = {
		.name = "gpupoold",
		.arguments = { "--config-file=" CONFIG,
			       "--kubelet-socket=" FOLDER "/device-plugins/kubelet.sock",
			       "--pod-resources-socket=" FOLDER "/pod-resources.sock",
			       "--device-list-strategy=cdi-cri",
			       "--state-directory=" FOLDER "/state",
			       "--run-directory=" FOLDER "/run",
"--metrics-address=127.0.0.1:19418",
			       "--cdi-directory=" FOLDER "/cdi" },
		.variables = { { "GPUPOOL_DRIVER_ROOT", DRIVER } },
		.directory = FOLDER "/device-plugins",
		.pod_resources = FOLDER "/pod-resources.sock",
		.log = FOLDER "/gpupoold.log",
	},
	[PEER] = {
		.name = "NVIDIA's device plugin",
		.arguments = { "--driver-root-ctr-path=" DRIVER,
			       "--kubelet-socket=" PEER_PLUGINS "/kubelet.sock",
			       "--device-list-strategy=cdi-cri" },
		.variables = { { "LD_LIBRARY_PATH", DRIVER "/usr/lib/x86_64-linux-gnu" } },
		.directory = PEER_PLUGINS,
		.log = FOLDER "/peer.log",
	},
};

struct pair {
	struct loop *loop;
	bool (*done)(const struct side *side); /* NULL: nothing is awaited but the time */
	const struct side *side;
	double end_us;
	struct side sides[SIDES];
};

/* Ends the program with the last words of SIDE. */
__attribute__((noreturn)) static void fail(const struct side *side, const char *what)
{
	struct error error = ERROR_INIT;
	autofree char *text = NULL;
	size_t length = 0;

	if (file_read(side->log, 1u << 26, &text, &length, NULL) < 0)
		length = 0;
	(void)error_set(&error, EIO, "%s; its log ends with: %s", side->program,
			length ? text + (length > 500 ? length - 500 : 0) : "nothing");
	die(what, &error);
}

/* --- the loop --- */

static void on_log(const char *line, void *user)
{
	struct side *side = user;

	for (enum mark i = 0; i < MARKS; i++)
		if (strncmp(line, mark_lines[i], strlen(mark_lines[i])) == 0 && !side->at_us[i] &&
		    (i != LISTED ||
		     fake_kubelet_counts(side->kubelet, RESOURCE, true).allocatable == CARDS))
			side->at_us[i] = now_us();
}

static void on_tick(void *user)
{
	struct pair *pair = user;

	if (pair->done ? pair->done(pair->side) : now_us() >= pair->end_us)
		loop_stop(pair->loop);
	else if (pair->done && now_us() >= pair->end_us)
		fail(pair->side, "what was awaited of a device plugin did not come");
}

static void wait_for(struct pair *pair, const struct side *side,
		     bool (*done)(const struct side *side))
{
	pair->done = done;
	pair->side = side;
	pair->end_us = now_us() + WAIT_MS * 1e3;
	loop_run(pair->loop);
	pair->done = NULL;
}

static void pass(struct pair *pair, unsigned ms)
{
	pair->end_us = now_us() + ms * 1e3;
	loop_run(pair->loop);
}

static bool is_listed(const struct side *side)
{
	return side->at_us[LISTED] && fake_kubelet_is_listed(side->kubelet, RESOURCE);
}

static bool is_decided(const struct side *side)
{
	return fake_kubelet_idle(side->kubelet);
}

/* --- starts --- */

static void become(const struct side *side)
{
	const char *argv[ARRAY_SIZE(side->arguments) + 1] = { side->program };
	int log = open(side->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(log, 1);
	dup2(log, 2);
	for (size_t i = 0; i < ARRAY_SIZE(side->variables) && side->variables[i][0]; i++)
		setenv(side->variables[i][0], side->variables[i][1], 1);
	for (size_t i = 0; side->arguments[i]; i++)
		argv[i + 1] = side->arguments[i];
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* Until its cards are listed; from the start of the process to Register, and to the list. */
static void start(struct pair *pair, struct side *side, double *ret_register_ms,
		  double *ret_listed_ms)
{
	double begin = now_us();

	memset(side->at_us, 0, sizeof(side->at_us));
	side->pid = fork();
	if (side->pid < 0)
		die("cannot start a process", NULL);
	if (side->pid == 0)
		become(side);
	wait_for(pair, side, is_listed);
	*ret_register_ms = (side->at_us[REGISTERED] - begin) / 1e3;
	*ret_listed_ms = (side->at_us[LISTED] - begin) / 1e3;
}

/* Both run after it. */
static void time_starts(struct pair *pair)
{
	double registered[SIDES][STARTS], listed[SIDES][STARTS];

	for (size_t i = 0; i < STARTS; i++) {
		for (size_t n = 0; n < SIDES; n++) {
			struct side *side = &pair->sides[n];

			start(pair, side, &registered[n][i], &listed[n][i]);
			pass(pair, i ? 500 : SETTLE_MS);
			if (i + 1 == STARTS)
				continue;
			stop_process(side->pid, SIGTERM);
			pass(pair, 500);
		}
	}
	for (size_t n = 0; n < SIDES; n++) {
		struct figures *figures = &pair->sides[n].figures;

		figures->first_register_ms = registered[n][0];
		sort_values(&registered[n][1], STARTS - 1);
		sort_values(&listed[n][1], STARTS - 1);
		figures->register_ms = registered[n][STARTS / 2];
		figures->listed_ms = listed[n][STARTS / 2];
	}
}

/* --- while nothing happens --- */

/* Of all threads, to the nanosecond; 0: the process has ended. */
static double clock_of(pid_t pid)
{
	struct timespec time = { .tv_sec = 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0)
		return 0;
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* With helpers that run; that of helpers that ended to a tick. */
static double cpu_seconds(const struct side *side)
{
	pid_t helpers[HELPERS];
	size_t count = children_of(side->pid, helpers, HELPERS);
	double sum = clock_of(side->pid);

	if (sum <= 0)
		fail(side, "a device plugin has ended");
	for (size_t i = 0; i < count; i++)
		sum += clock_of(helpers[i]);
	return sum + cpu_of(side->pid, true) - cpu_of(side->pid, false);
}

static void measure_idle(struct pair *pair)
{
	double before[SIDES];

	pass(pair, SETTLE_MS);
	for (size_t n = 0; n < SIDES; n++)
		before[n] = cpu_seconds(&pair->sides[n]);
	pass(pair, IDLE_MS);
	for (size_t n = 0; n < SIDES; n++)
		pair->sides[n].figures.idle_cpu_percent =
			(cpu_seconds(&pair->sides[n]) - before[n]) * 1e5 / IDLE_MS;
}

/* --- admissions --- */

/* Pod NUMBER comes, and the one that came RUNNING before it ends. */
static void admit(struct pair *pair, struct side *side, size_t number, double *ret_preferred_ms,
		  double *ret_allocate_ms)
{
	struct error error = ERROR_INIT;
	char name[32];

	if (number >= RUNNING) {
		(void)snprintf(name, sizeof(name), "pod-%zu", number - RUNNING);
		fake_kubelet_end_pod(side->kubelet, name);
	}
	(void)snprintf(name, sizeof(name), "pod-%zu", number);
	side->at_us[PREFERRED] = side->at_us[ALLOCATED] = 0;
	double begin = now_us();
	if (fake_kubelet_add_pod(side->kubelet, name, REQUEST, &error) < 0)
		die("a Pod cannot be added", &error);
	wait_for(pair, side, is_decided);
	if (fake_kubelet_pod(side->kubelet, name) != FAKE_POD_RUNNING)
		fail(side, fake_kubelet_why(side->kubelet, name));
	if (!side->at_us[PREFERRED] || !side->at_us[ALLOCATED])
		fail(side, "a Pod was admitted without a question");
	*ret_preferred_ms = (side->at_us[PREFERRED] - begin) / 1e3;
	*ret_allocate_ms = (side->at_us[ALLOCATED] - side->at_us[PREFERRED]) / 1e3;
}

static void time_admissions(struct pair *pair)
{
	size_t count = ADMISSIONS * rounds_to_run();
	autofree double *values = calloc(2 * SIDES * count, sizeof(*values));

	if (!values)
		die("no memory", NULL);
	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < SIDES; n++)
			admit(pair, &pair->sides[n], i, &values[2 * n * count + i],
			      &values[(2 * n + 1) * count + i]);
	for (size_t n = 0; n < SIDES; n++) {
		struct figures *figures = &pair->sides[n].figures;
		double *preferred = &values[2 * n * count], *allocate = preferred + count;

		sort_values(preferred, count);
		sort_values(allocate, count);
		figures->preferred_p50_ms = preferred[count / 2];
		figures->preferred_p99_ms = preferred[count * 99 / 100];
		figures->allocate_p50_ms = allocate[count / 2];
		figures->allocate_p99_ms = allocate[count * 99 / 100];
	}
}

/* With helpers that run. */
static double memory_sum(const struct side *side, const char *file, const char *name)
{
	pid_t helpers[HELPERS];
	size_t count = children_of(side->pid, helpers, HELPERS);
	double sum = memory_of(side->pid, file, name);

	if (sum <= 0)
		fail(side, "a device plugin has ended");
	for (size_t i = 0; i < count; i++)
		sum += memory_of(helpers[i], file, name);
	return sum;
}

static void measure_memory(struct pair *pair)
{
	pass(pair, 1000);
	for (size_t n = 0; n < SIDES; n++) {
		struct side *side = &pair->sides[n];

		side->figures.private_kb = memory_sum(side, "smaps_rollup", "Private_");
		side->figures.rss_kb = memory_sum(side, "status", "VmRSS:");
	}
}

/* --- what is printed --- */

static double figure(const struct side *side, size_t row)
{
	return *(const double *)((const char *)&side->figures + figure_rows[row].offset);
}

static void print_string(const char *key, const char *value)
{
	autojson *string = json_object_new_string(value);
	autostrbuf text = STRBUF_INIT(1 << 16);

	if (json_to_text(string, false, &text, NULL) < 0)
		die("no memory", NULL);
	printf("\"%s\": %s", key, text.data);
}

static void print_side(const struct side *side)
{
	autostrbuf command = STRBUF_INIT(1 << 14);
	char version[256];

	version_of(side->program, version, sizeof(version));
	for (size_t i = 0; i < ARRAY_SIZE(side->variables) && side->variables[i][0]; i++)
		strbuf_addf(&command, "%s=%s ", side->variables[i][0], side->variables[i][1]);
	strbuf_adds(&command, side->program);
	for (size_t i = 0; side->arguments[i]; i++)
		strbuf_addf(&command, " %s", side->arguments[i]);
	printf("{");
	print_string("plugin", side->name);
	printf(", ");
	print_string("version", version);
	printf(", ");
	print_string("command", command.data);
	for (size_t i = 0; i < ARRAY_SIZE(figure_rows); i++)
		printf(", \"%s\": %.*f", figure_rows[i].name, figure_rows[i].digits,
		       figure(side, i));
	puts("}");
}

static void print_ratios(const struct pair *pair)
{
	printf("{\"ratio\": \"%s / %s\"", pair->sides[OURS].name, pair->sides[PEER].name);
	for (size_t i = 0; i < ARRAY_SIZE(figure_rows); i++) {
		double peer = figure(&pair->sides[PEER], i);

		if (peer > 0)
			printf(", \"%s\": %.4f", figure_rows[i].name,
			       figure(&pair->sides[OURS], i) / peer);
	}
	puts("}");
}

/* --- the run --- */

/* The peer's folders, seen in this mount namespace only. */
static void make_places(void)
{
	static const char text[] = "version: v1\n";
	autofree char *run = realpath("/var/run", NULL);
	struct error error = ERROR_INIT;

	if (mount("tmpfs", "/var/lib", "tmpfs", 0, "mode=0755") < 0 ||
	    ((!run || strcmp(run, "/run") != 0) &&
	     mount("tmpfs", "/var/run", "tmpfs", 0, "mode=0755") < 0))
		die("cannot mount what NVIDIA's plugin writes to", NULL);
	if (file_make_directories(PEER_PLUGINS, 0755, &error) < 0 ||
	    file_make_directories(FOLDER "/device-plugins", 0755, &error) < 0 ||
	    file_write_atomic(CONFIG, text, strlen(text), 0644, &error) < 0)
		die("cannot begin", &error);
}

static void start_kubelets(struct pair *pair)
{
	struct error error = ERROR_INIT;

	for (size_t n = 0; n < SIDES; n++) {
		struct side *side = &pair->sides[n];
		const struct fake_kubelet_options options = { .directory = side->directory,
							      .pod_resources = side->pod_resources,
							      .seed = 1,
							      .log = on_log,
							      .user = side };

		if (fake_kubelet_new(pair->loop, &options, &side->kubelet, &error) < 0 ||
		    fake_kubelet_start(side->kubelet, &error) < 0)
			die("cannot begin", &error);
	}
}

static void run(struct pair *pair)
{
	struct loop_timer *tick = NULL;
	struct error error = ERROR_INIT;

	make_places();
	if (loop_new(&pair->loop, &error) < 0 ||
	    loop_timer_start(pair->loop, 1, 1, on_tick, pair, &tick, &error) < 0)
		die("cannot begin", &error);
	start_kubelets(pair);
	time_starts(pair);
	measure_idle(pair);
	time_admissions(pair);
	measure_memory(pair);
	for (size_t n = 0; n < SIDES; n++) {
		stop_process(pair->sides[n].pid, SIGTERM);
		fake_kubelet_free(pair->sides[n].kubelet);
	}
	loop_timer_stop(tick);
	loop_free(pair->loop);
}

void peer_plugin_bench(unsigned number)
{
	char program[BENCH_PATH_MAX], helper[BENCH_PATH_MAX];
	const char *peer = getenv(ENV_PEER);

	if (!peer || !*peer) {
		printf("ok %u - beside NVIDIA's device plugin # SKIP " ENV_PEER
		       " names no program; its Go module is not to be had everywhere\n",
		       number);
		return;
	}
	if (access(peer, X_OK) < 0)
		die(ENV_PEER " names no program that can be started", NULL);
	beside("cmd/gpupoold/gpupoold", program, sizeof(program));
	beside("cmd/gpupool-nvml/gpupool-nvml", helper, sizeof(helper));
	struct pair pair = { .loop = NULL };
	memcpy(pair.sides, sides, sizeof(sides));
	pair.sides[OURS].program = program;
	pair.sides[OURS].variables[1][0] = "GPUPOOL_NVML_HELPER";
	pair.sides[OURS].variables[1][1] = helper;
	pair.sides[PEER].program = peer;
	run(&pair);
	for (size_t n = 0; n < SIDES; n++)
		print_side(&pair.sides[n]);
	print_ratios(&pair);
	printf("ok %u - beside NVIDIA's device plugin\n", number);
}
