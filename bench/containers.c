/* SPDX-License-Identifier: Apache-2.0 */
#include "containers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

void die(const char *what, const struct error *error)
{
	fprintf(stderr, "bench: %s%s%s\n", what, error ? ": " : "", error ? error->message : "");
	exit(1);
}

double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Runs ARGV with no input and its output thrown away; the exit status, and its processor time. */
int run_program(const char *const *argv, double *ret_cpu_us)
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

double time_program(const char *const *argv, double *ret_cpu_us)
{
	double start = now_us();

	if (run_program(argv, ret_cpu_us) != 0)
		die(argv[0], NULL);
	return now_us() - start;
}

void copy_file(const char *from, const char *to)
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
	char path[BENCH_PATH_MAX];

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

void make_spec(const char *path, const char *const *environment)
{
	static const char *const command[] = { "/bin/true", NULL };
	const struct oci_base base = { .root_path = IMAGE,
				       .arguments = command,
				       .environment = environment,
				       .working_directory = "/",
				       .namespaces = OCI_NAMESPACE_ALL & ~OCI_NAMESPACE_CGROUP,
				       .cgroups_path = "/gpupool/bench" };
	autojson *spec = NULL;
	struct error error = ERROR_INIT;

	if (oci_spec_base(&base, &spec, &error) < 0 || oci_spec_write(path, spec, &error) < 0)
		die("cannot make a spec", &error);
}

static void make_inventory(const char *helper, size_t cards)
{
	const struct device_options options = { .driver_root = DRIVER, .helper = helper };
	cleanup(inventory_release) struct inventory inventory;
	struct error error = ERROR_INIT;

	inventory_init(&inventory);
	if (device_probe(&options, &inventory, NULL, &error) < 0 ||
	    device_inventory_write(INVENTORY, &inventory, &error) < 0)
		die("cannot read the inventory", &error);
	/* The list of files that were made a moment ago is not kept yet. */
	do {
		if (driver_files_keep(KEPT, DRIVER, inventory.driver_version, &error) < 0)
			die("cannot keep the list of the driver's files", &error);
	} while (access(KEPT, F_OK) < 0 && poll(NULL, 0, 20) == 0);
	if (inventory.card_count < cards)
		die("the simulated driver shows too few cards", NULL);
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sort_values(double *values, size_t count)
{
	qsort(values, count, sizeof(double), compare_values);
}

size_t rounds_to_run(void)
{
	const char *scale = getenv("GPUPOOL_TEST_SCALE");
	uint64_t part = 100;

	if (scale && parse_uint(scale, 1, 10000, &part) < 0)
		die("GPUPOOL_TEST_SCALE is no number from 1 to 10000", NULL);
	size_t rounds = (size_t)(ROUNDS_FULL * part / 100);
	return rounds > ROUNDS_MIN ? rounds : ROUNDS_MIN;
}

bool judge(unsigned number, const char *what, double measured, double budget, const char *unit)
{
	bool judged = rounds_to_run() >= ROUNDS_FULL, kept = measured <= budget;

	printf("%sok %u - %s: %.2f %s, budget %.0f %s%s\n", kept || !judged ? "" : "not ", number,
	       what, measured, unit, budget, unit,
	       judged ? "" : " # SKIP a short run is not judged");
	fflush(stdout);
	return kept || !judged;
}

const char *find_runtime(const char *name)
{
	static const char *const paths[] = { "/usr/bin/runc", "/usr/sbin/runc",
					     "/usr/local/sbin/runc", "/usr/bin/crun",
					     "/usr/local/bin/crun" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (strcmp(strrchr(paths[i], '/') + 1, name) == 0 && access(paths[i], X_OK) == 0)
			return paths[i];
	return NULL;
}

/* crun refuses hosts with cgroup v2 beside v1; the product hides it from crun in the same way. */
static void hide_hybrid_cgroup(void)
{
	struct statfs type;

	if (statfs("/sys/fs/cgroup/unified", &type) == 0 && type.f_type == CGROUP2_SUPER_MAGIC)
		mount("tmpfs", "/sys/fs/cgroup/unified", "tmpfs", 0, "mode=0755");
}

void beside(const char *name, char *ret, size_t size)
{
	char self[BENCH_PATH_MAX];
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
static int bench_in_child(bool (*bench)(void), size_t cards)
{
	static const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
	char helper[BENCH_PATH_MAX];
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		die("cannot start a process", NULL);
	if (pid == 0) {
		beside("bin/gpupool-nvml", helper, sizeof(helper));
		hide_hybrid_cgroup();
		make_image();
		make_spec(CONFIG_BASE, environment);
		make_inventory(helper, cards);
		exit(bench() ? 0 : 1);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int bench_with_driver(bool (*bench)(void), size_t cards)
{
	char simdriver[BENCH_PATH_MAX];
	double unused;

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
	int code = bench_in_child(bench, cards);
	run_program(stop, &unused);
	return code;
}
