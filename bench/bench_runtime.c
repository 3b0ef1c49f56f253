/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gpupool-runtime adds to a container's start, as a share of that start by bare runc and crun,
 * all in one run and in turns, on the simulated driver (root; else SKIP). Each round times
 *   bare     `RUNTIME run` of /bin/true in a small image
 *   edited   the same with the spec that the wrapper makes for two cards of eight: mounts and nodes
 *   passed   the wrapper before the runtime, a container that asks for nothing
 *   wrapped  the wrapper before the runtime, a container that asks for two cards
 *   true, own_passed, own   /bin/true, and the wrapper that becomes it with either spec: what the
 *            wrapper itself takes is own - true, without the noise of a container's start
 * Then its memory (VmHWM, while it waits for the reader of its --explain) and many starts at once. One
 * JSON object a line; p50 and min of all rounds; shares are of p50. Between them TAP: one result a budget.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "containers.h"
#include "formats/formats.h"

#define CARDS        2u
#define STARTS_FULL  200u
#define MEMORY_KIB   4096.0
#define CONFIG       WORK "/config.yaml"
#define CONFIG_TRUE  WORK "/true.yaml"
#define CONFIG_ASKED WORK "/asked.json"

enum measure { BARE, EDITED, PASSED, WRAPPED, TRUE, OWN_PASSED, OWN, MEASURES };

static const char *const measure_names[MEASURES] = {
	"bare", "edited", "passed", "wrapped", "true", "own_passed", "own",
};

struct setting {
	const char *runtime, *path; /* "runc", "/usr/sbin/runc" */
	char wrapper[BENCH_PATH_MAX];
};

struct samples {
	double *values[MEASURES]; /* owned; us */
	size_t rounds;
};

static void write_text(const char *path, const char *text)
{
	struct error error = ERROR_INIT;

	if (file_write_atomic(path, text, strlen(text), 0644, &error) < 0)
		die("cannot write", &error);
}

static void make_bundle(const char *path)
{
	struct error error = ERROR_INIT;

	if (file_make_directories(path, 0755, &error) < 0)
		die("cannot make a bundle", &error);
}

static void put_spec(const char *spec, const char *bundle)
{
	char path[BENCH_PATH_MAX];

	snprintf(path, sizeof(path), "%s/config.json", bundle);
	copy_file(spec, path);
}

static void write_configs(const struct setting *setting)
{
	char text[BENCH_PATH_MAX];

	snprintf(text, sizeof(text), "runtime:\n  runtimes: [%s]\n", setting->path);
	write_text(CONFIG, text);
	write_text(CONFIG_TRUE, "runtime:\n  runtimes: [/bin/true]\n");
}

static double time_start(const char *program, const char *config, const char *bundle)
{
	const char *const argv[] = { program,    "--root", WORK "/state", "run",
				     "--bundle", bundle,   "bench",       NULL };
	double unused;

	setenv(ENV_CONFIG, config, 1);
	return time_program(argv, &unused);
}

/* The containers change places each round: whatever comes second finds other caches. */
static void run_round(const struct setting *setting, size_t round, struct samples *samples)
{
	static const char *const true_argv[] = { "/bin/true", NULL };
	const struct {
		const char *program, *config, *spec, *bundle;
	} rows[MEASURES] = {
		[BARE] = { setting->path, CONFIG, NULL, WORK "/bare" },
		[EDITED] = { setting->path, CONFIG, NULL, WORK "/edited" },
		[PASSED] = { setting->wrapper, CONFIG, NULL, WORK "/bare" },
		[WRAPPED] = { setting->wrapper, CONFIG, CONFIG_ASKED, WORK "/wrapped" },
		[OWN_PASSED] = { setting->wrapper, CONFIG_TRUE, NULL, WORK "/bare" },
		[OWN] = { setting->wrapper, CONFIG_TRUE, CONFIG_ASKED, WORK "/wrapped" },
	};
	double unused;

	for (size_t i = 0; i < MEASURES; i++) {
		size_t which = (round + i) % MEASURES;

		if (rows[which].spec)
			put_spec(rows[which].spec, rows[which].bundle);
		samples->values[which][round] =
			rows[which].program ? time_start(rows[which].program, rows[which].config,
							 rows[which].bundle)
					    : time_program(true_argv, &unused);
	}
}

/* Bundles bare, edited (by the wrapper itself) and wrapped; how many mounts were added. */
static size_t make_bundles(const struct setting *setting)
{
	static const char *const asked[] = { "PATH=/usr/bin:/bin", "NVIDIA_VISIBLE_DEVICES=0,1",
					     NULL };
	autojson *before = NULL, *after = NULL;
	struct error error = ERROR_INIT;

	make_bundle(WORK "/bare");
	make_bundle(WORK "/edited");
	make_bundle(WORK "/wrapped");
	put_spec(CONFIG_BASE, WORK "/bare");
	make_spec(CONFIG_ASKED, asked);
	put_spec(CONFIG_ASKED, WORK "/edited");
	time_start(setting->wrapper, CONFIG_TRUE, WORK "/edited");
	if (oci_spec_read(CONFIG_ASKED, &before, &error) < 0 ||
	    oci_spec_read(WORK "/edited/config.json", &after, &error) < 0)
		die("cannot read a spec", &error);
	size_t count = json_object_array_length(json_get(after, "mounts"));
	size_t first = json_object_array_length(json_get(before, "mounts"));
	if (count <= first)
		die("the wrapper added no mount", NULL);
	return count - first;
}

static double p50(const struct samples *samples, enum measure measure)
{
	return samples->values[measure][samples->rounds / 2];
}

static double share(const struct samples *samples, enum measure more, enum measure less)
{
	return (p50(samples, more) - p50(samples, less)) / p50(samples, BARE) * 100;
}

static double measure(const struct setting *setting, size_t rounds)
{
	struct samples samples = { .rounds = rounds };

	write_configs(setting);
	size_t mounts = make_bundles(setting);
	for (size_t i = 0; i < MEASURES; i++) {
		samples.values[i] = calloc(rounds, sizeof(double));
		if (!samples.values[i])
			die("out of memory", NULL);
	}
	run_round(setting, 0, &samples); /* not counted: files into the caches */
	for (size_t round = 0; round < rounds; round++)
		run_round(setting, round, &samples);
	printf("{\"runtime\":\"%s\",\"rounds\":%zu,\"mounts\":%zu", setting->runtime, rounds,
	       mounts);
	for (size_t i = 0; i < MEASURES; i++) {
		sort_values(samples.values[i], rounds);
		printf(",\"%s_p50_us\":%.0f,\"%s_min_us\":%.0f", measure_names[i], p50(&samples, i),
		       measure_names[i], samples.values[i][0]);
	}
	double own = share(&samples, OWN, TRUE);
	double least =
		(samples.values[OWN][0] - samples.values[TRUE][0]) / samples.values[BARE][0] * 100;
	printf(",\"own_share\":%.2f,\"own_share_of_min\":%.2f,\"own_passed_share\":%.2f,\"passed_"
	       "share_by_clock\":%.2f,"
	       "\"wrapped_share_by_clock\":%.2f,\"edits_share_by_clock\":%.2f}\n",
	       own, least, share(&samples, OWN_PASSED, TRUE), share(&samples, PASSED, BARE),
	       share(&samples, WRAPPED, EDITED), share(&samples, EDITED, BARE));
	for (size_t i = 0; i < MEASURES; i++)
		free(samples.values[i]);
	return own;
}

/* The most memory that it had, in KiB, read while it waits in its last write. */
static double memory_of(const struct setting *setting)
{
	const char *const argv[] = { setting->wrapper, "--explain",     "--json",
				     "--bundle",       WORK "/wrapped", NULL };
	autofree char *status = NULL;
	char path[64];
	int pipes[2], waiting = 0;

	put_spec(CONFIG_ASKED, WORK "/wrapped");
	if (pipe2(pipes, O_CLOEXEC) < 0 || fcntl(pipes[1], F_SETPIPE_SZ, 4096) < 0)
		die("cannot make a pipe", NULL);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(pipes[1], 1);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(pipes[1]);
	struct pollfd ready = { .fd = pipes[0], .events = POLLIN };
	while (waiting < 4096 && poll(&ready, 1, 5000) > 0 && !(ready.revents & POLLHUP))
		ioctl(pipes[0], FIONREAD, &waiting);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (waiting < 4096 || file_read(path, 65536, &status, NULL, NULL) < 0)
		die("cannot look at the wrapper's memory", NULL);
	close(pipes[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	const char *line = strstr(status, "VmHWM:");
	return line ? strtod(line + 6, NULL) : 0;
}

static void make_one_of_many(size_t i, const char *bundle)
{
	autojson *spec = NULL;
	struct error error = ERROR_INIT;
	char group[64], path[128];

	make_bundle(bundle);
	snprintf(group, sizeof(group), "/gpupool/bench-%zu", i);
	snprintf(path, sizeof(path), "%s/config.json", bundle);
	if (oci_spec_read(CONFIG_ASKED, &spec, &error) < 0 ||
	    json_add_string(json_get(spec, "linux"), "cgroupsPath", group) < 0 ||
	    oci_spec_write(path, spec, &error) < 0)
		die("cannot make a bundle", &error);
}

/* Wall time in us of COUNT starts at the same time. */
static double time_many(const char *program, size_t count)
{
	double start = now_us();
	size_t failed = 0;

	for (size_t i = 0; i < count; i++) {
		char bundle[64], name[64];

		snprintf(bundle, sizeof(bundle), WORK "/many/%zu", i);
		snprintf(name, sizeof(name), "many-%zu", i);
		const char *const argv[] = { program,    "--root", WORK "/state", "run",
					     "--bundle", bundle,   name,          NULL };
		if (fork() == 0) {
			execv(argv[0], (char *const *)(uintptr_t)argv);
			_exit(127);
		}
	}
	for (size_t i = 0; i < count; i++) {
		int status;

		if (wait(&status) > 0 && status != 0)
			failed++;
	}
	if (failed)
		die("a start among many failed", NULL);
	return now_us() - start;
}

static void many_at_once(const struct setting *setting)
{
	size_t count = STARTS_FULL * rounds_to_run() / 64;
	double bare = 0, wrapped = 0;

	count = count < 2 ? 2 : count > STARTS_FULL ? STARTS_FULL : count;
	write_configs(setting);
	setenv(ENV_CONFIG, CONFIG, 1);
	for (int wrap = 0; wrap < 2; wrap++) {
		for (size_t i = 0; i < count; i++) {
			char bundle[64];

			snprintf(bundle, sizeof(bundle), WORK "/many/%zu", i);
			make_one_of_many(i, bundle);
		}
		if (wrap)
			wrapped = time_many(setting->wrapper, count);
		else
			bare = time_many(setting->path, count);
	}
	printf("{\"runtime\":\"%s\",\"starts_at_once\":%zu,\"bare_us\":%.0f,\"wrapped_us\":%.0f,"
	       "\"ratio\":%.2f}\n",
	       setting->runtime, count, bare, wrapped, wrapped / bare);
}

/* How to add a budget: a row. */
static const struct {
	const char *runtime;
	double share; /* per cent of the bare start */
} budgets[] = { { "runc", 5 }, { "crun", 10 } };

static bool bench(void)
{
	unsigned number = 0;
	bool kept = true;

	setenv(ENV_RUN_DIR, WORK, 1);
	for (size_t i = 0; i < ARRAY_SIZE(budgets); i++) {
		struct setting setting = { .runtime = budgets[i].runtime,
					   .path = find_runtime(budgets[i].runtime) };
		char what[128];

		beside("bin/gpupool-runtime", setting.wrapper, sizeof(setting.wrapper));
		if (!setting.path) {
			printf("ok %u - # SKIP there is no %s\n", ++number, setting.runtime);
			continue;
		}
		snprintf(what, sizeof(what), "gpupool-runtime as a share of a bare %s start",
			 setting.runtime);
		kept &= judge(++number, what, measure(&setting, rounds_to_run()), budgets[i].share,
			      "%");
		if (i == 0)
			kept &= judge(++number, "memory of gpupool-runtime", memory_of(&setting),
				      MEMORY_KIB, "KiB");
		many_at_once(&setting);
	}
	printf("1..%u\n", number);
	return kept;
}

int main(void)
{
	return bench_with_driver(bench, CARDS);
}
