/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gpupoold costs on a node of eight cards with every unit listed, on the simulated driver, before the
 * fake kubelet (root; else SKIP): memory, time from exec to Register with what a run before it knew, from
 * kubelet.sock to all resources listed, an admission (GetPreferredAllocation, Allocate and the ledger on the
 * disk), processor time while nothing happens. One JSON object, then TAP: one result a budget; then the same
 * machine beside NVIDIA's plugin where there is one (peer_plugin.h).
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "containers.h"
#include "fake_kubelet.h"
#include "peer_plugin.h"
#include "process.h"

#define PLUGINS    WORK "/device-plugins"
#define PODS       WORK "/pod-resources.sock"
#define CONFIG     WORK "/gpupoold.yaml"
#define LOG        WORK "/gpupoold.log"
#define UNITS      "gpupool.io/gpu-memory"
#define WAIT_MS    20000u
#define IDLE_MS    10000u
#define MEMORY_KB  8192.0
#define UNIT_COUNT 12 /* GiB of an admission */

struct bench {
	struct loop *loop;
	struct fake_kubelet *kubelet;
	double registered_us; /* of the last Register; 0: none since it was asked for */
	bool (*done)(struct bench *bench);
	const char *what;
	double end_us, over_us;
};

static const char config_text[] = "version: v1\ngpupool: {mode: slices}\n";

static void on_log(const char *line, void *user)
{
	struct bench *bench = user;

	if (strncmp(line, "Register ", 9) == 0)
		bench->registered_us = now_us();
}

/* Lets the loop run until DONE, WAIT_MS at most. */
static void on_tick(void *user)
{
	struct bench *bench = user;

	if (bench->done && bench->done(bench))
		loop_stop(bench->loop);
	else if (now_us() > bench->end_us)
		die(bench->what, NULL);
}

static void run_until(struct bench *bench, bool (*done)(struct bench *bench), const char *what)
{
	bench->done = done;
	bench->what = what;
	bench->end_us = now_us() + WAIT_MS * 1e3;
	loop_run(bench->loop);
	bench->done = NULL;
}

static bool is_registered(struct bench *bench)
{
	return bench->registered_us > 0;
}

static bool is_listed(struct bench *bench)
{
	return fake_kubelet_is_listed(bench->kubelet, UNITS) &&
	       fake_kubelet_counts(bench->kubelet, UNITS, true).allocatable == 640;
}

static bool is_idle(struct bench *bench)
{
	return fake_kubelet_idle(bench->kubelet);
}

static bool is_over(struct bench *bench)
{
	return now_us() >= bench->over_us;
}

static pid_t start_daemon(void)
{
	char program[BENCH_PATH_MAX], helper[BENCH_PATH_MAX];
	pid_t pid;

	beside("cmd/gpupoold/gpupoold", program, sizeof(program));
	beside("cmd/gpupool-nvml/gpupool-nvml", helper, sizeof(helper));
	char *argv[] = { program,
			 (char[]){ "--config-file=" CONFIG },
			 (char[]){ "--kubelet-socket=" PLUGINS "/kubelet.sock" },
			 (char[]){ "--pod-resources-socket=" PODS },
			 (char[]){ "--device-list-strategy=cdi-cri" },
			 (char[]){ "--state-directory=" WORK "/state" },
			 (char[]){ "--run-directory=" WORK "/run" },
			 (char[]){ "--cdi-directory=" WORK "/cdi" },
			 (char[]){ "--metrics-address=127.0.0.1:19417" },
			 NULL };
	pid = fork();
	if (pid < 0)
		die("cannot start a process", NULL);
	if (pid == 0) {
		int log = open(LOG, O_WRONLY | O_CREAT | O_APPEND, 0644);

		dup2(log, 2);
		setenv("GPUPOOL_DRIVER_ROOT", DRIVER, 1);
		setenv("GPUPOOL_NVML_HELPER", helper, 1);
		execv(program, argv);
		_exit(127);
	}
	return pid;
}

static void idle(struct bench *bench, unsigned ms)
{
	bench->over_us = now_us() + ms * 1e3;
	run_until(bench, is_over, "time stands still");
}

struct numbers {
	double private_kb, rss_kb;
	double register_ms, listed_ms, admit_p50_ms, admit_p99_ms;
	double cpu_percent, cpu_children_percent;
};

/* From the start of the process to Register, which a kubelet that is there waits for. */
static pid_t time_register(struct bench *bench, double *ret_ms)
{
	double start = now_us();
	pid_t pid;

	bench->registered_us = 0;
	pid = start_daemon();
	run_until(bench, is_registered, "gpupoold does not register");
	*ret_ms = (bench->registered_us - start) / 1e3;
	run_until(bench, is_listed, "the units are not listed");
	return pid;
}

static double time_listed(struct bench *bench)
{
	struct error error = ERROR_INIT;

	fake_kubelet_kill(bench->kubelet);
	idle(bench, 200);
	double start = now_us();
	if (fake_kubelet_start(bench->kubelet, &error) < 0)
		die("the kubelet does not start again", &error);
	run_until(bench, is_listed, "the units are not listed again");
	return (now_us() - start) / 1e3;
}

static void time_admissions(struct bench *bench, size_t rounds, struct numbers *ret)
{
	autofree double *values = calloc(rounds, sizeof(*values));
	struct error error = ERROR_INIT;
	char name[32], request[64];

	if (!values)
		die("no memory", NULL);
	(void)snprintf(request, sizeof(request), "main:%s=%d", UNITS, UNIT_COUNT);
	for (size_t i = 0; i < rounds; i++) {
		double start = now_us();

		(void)snprintf(name, sizeof(name), "pod-%zu", i % 48);
		if (i >= 48)
			fake_kubelet_end_pod(bench->kubelet, name);
		if (fake_kubelet_add_pod(bench->kubelet, name, request, &error) < 0)
			die("a Pod cannot be added", &error);
		run_until(bench, is_idle, "a Pod is not admitted");
		values[i] = (now_us() - start) / 1e3;
		if (fake_kubelet_pod(bench->kubelet, name) != FAKE_POD_RUNNING)
			die(fake_kubelet_why(bench->kubelet, name), NULL);
		if (i + 1 >= 48) { /* room again: the daemon learns of the end of a Pod by itself */
			rounds = i + 1;
			break;
		}
	}
	sort_values(values, rounds);
	ret->admit_p50_ms = values[rounds / 2];
	ret->admit_p99_ms = values[rounds * 99 / 100];
}

static void time_idle(struct bench *bench, pid_t pid, struct numbers *ret)
{
	double own = cpu_of(pid, false), all = cpu_of(pid, true);

	idle(bench, IDLE_MS);
	ret->cpu_percent = (cpu_of(pid, false) - own) * 1e5 / IDLE_MS;
	ret->cpu_children_percent = (cpu_of(pid, true) - all) * 1e5 / IDLE_MS - ret->cpu_percent;
}

static bool print_and_judge(const struct numbers *n)
{
	bool good = true;

	printf("{\"private_kb\": %.0f, \"rss_kb\": %.0f, \"register_ms\": %.1f, \"listed_ms\": "
	       "%.1f, "
	       "\"admit_p50_ms\": %.2f, \"admit_p99_ms\": %.2f, \"cpu_percent\": %.2f, "
	       "\"cpu_of_helpers_percent\": %.2f}\n",
	       n->private_kb, n->rss_kb, n->register_ms, n->listed_ms, n->admit_p50_ms,
	       n->admit_p99_ms, n->cpu_percent, n->cpu_children_percent);
	puts("1..6");
	good &= judge(1, "private memory", n->private_kb, MEMORY_KB, "KiB");
	good &= judge(2, "resident memory", n->rss_kb, MEMORY_KB, "KiB");
	good &= judge(3, "exec to Register with what is known", n->register_ms, 100, "ms");
	good &= judge(4, "kubelet.sock to all resources listed", n->listed_ms, 50, "ms");
	good &= judge(5, "admission of 12 units, p99", n->admit_p99_ms, 100, "ms");
	return good;
}

static bool bench_run(void)
{
	struct bench bench = { .loop = NULL };
	const struct fake_kubelet_options options = { .directory = PLUGINS,
						      .pod_resources = PODS,
						      .seed = 1,
						      .log = on_log,
						      .user = &bench };
	struct loop_timer *tick = NULL;
	struct numbers numbers = { 0 };
	struct error error = ERROR_INIT;

	sigaction(SIGPIPE, &(const struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	if (file_make_directories(PLUGINS, 0755, &error) < 0 ||
	    file_write_atomic(CONFIG, config_text, strlen(config_text), 0644, &error) < 0 ||
	    loop_new(&bench.loop, &error) < 0 ||
	    loop_timer_start(bench.loop, 1, 1, on_tick, &bench, &tick, &error) < 0 ||
	    fake_kubelet_new(bench.loop, &options, &bench.kubelet, &error) < 0 ||
	    fake_kubelet_start(bench.kubelet, &error) < 0)
		die("cannot begin", &error);
	/* A first run, so that the second one knows the machine. */
	pid_t pid = time_register(&bench, &numbers.register_ms);
	idle(&bench, 2000);
	stop_process(pid, SIGKILL);
	idle(&bench, 500);
	pid = time_register(&bench, &numbers.register_ms);
	idle(&bench, 3000);
	numbers.listed_ms = time_listed(&bench);
	time_idle(&bench, pid, &numbers);
	time_admissions(&bench, rounds_to_run(), &numbers);
	idle(&bench, 1000);
	numbers.private_kb = memory_of(pid, "smaps_rollup", "Private_");
	numbers.rss_kb = memory_of(pid, "status", "VmRSS:");
	stop_process(pid, SIGTERM);
	fake_kubelet_free(bench.kubelet);
	loop_timer_stop(tick);
	loop_free(bench.loop);
	bool good = print_and_judge(&numbers);
	peer_plugin_bench(6);
	return good;
}

int main(void)
{
	return bench_with_driver(bench_run, 8);
}
