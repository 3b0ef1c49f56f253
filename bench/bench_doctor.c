/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the doctor costs: 100 MB of logs and of objects (at GPUPOOL_TEST_SCALE=100), and each file of
 * test/data/doctor from nothing to the printed verdict. Time is that of the processor, so that what
 * else runs on the machine counts less; memory is the most that the process ever had.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/base.h"
#include "doctor/doctor.h"

#define DATA SOURCE_ROOT "/test/data/doctor/"

enum {
	MEGABYTE = 1000000,
	FULL_MB = 100,
	BLOCK = 65536,
	TEXT_MAX = 16 << 20,
	REPEATS = 5,
};

#define RSS_MIB_MAX 50.0 /* however much is fed */
#define FILE_MS_MAX 10.0
#define GROWTH_MAX  2.6  /* time of the second half over that of the first, at most 1.3 a half */
#define SMALL_TICKS 0.05 /* s; what takes less says nothing of growth */

static void fail(const char *text)
{
	fprintf(stderr, "bench_doctor: %s\n", text);
	exit(1);
}

static double now(void)
{
	struct timespec time = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double rss_mib(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static unsigned megabytes(void)
{
	const char *scale = getenv("GPUPOOL_TEST_SCALE");
	uint64_t part = 100;

	if (scale && parse_uint(scale, 1, 10000, &part) < 0)
		fail("GPUPOOL_TEST_SCALE is no number from 1 to 10000");
	/* Less than some MB is too short to be measured. */
	uint64_t count = FULL_MB * part / 100;
	return (unsigned)(count < 8 ? 8 : count);
}

/* ---- what a cluster writes all day ---- */

static const char *const log_lines[] = {
	"Mar 01 12:04:17 gpu-n1 kubelet[240112]: I0301 12:04:17.%06u  240112 prober.go:107] "
	"\"Probe failed\" "
	"probeType=\"Liveness\" pod=\"default/web-5c9f9d6b7b-c7x4z\" containerName=\"web\" "
	"output=\"Get "
	"\\\"http://[2001:db8::21]:8080/healthz\\\": context deadline exceeded\"\n",
	"Feb 21 14:02:51 gpu-n1 kernel: [%u.123456] eth0: renamed from veth1a2b3c4\n",
	"time=\"2026-03-01T12:00:%02uZ\" level=info msg=\"RemoveContainer for "
	"\\\"3b1c4fae0d3e4b0f\\\" returns successfully\"\n",
	"I0301 12:00:01.%06u  240112 reconciler_common.go:247] "
	"\"operationExecutor.VerifyControllerAttachedVolume "
	"started for volume \\\"kube-api-access-7x2k9\\\" (UniqueName: "
	"\\\"kubernetes.io/projected/0\\\")\"\n",
	"{\"level\":\"info\",\"ts\":%u.25,\"logger\":\"controller.clusterpolicy\",\"msg\":"
	"\"reconcile "
	"done\",\"state\":\"ready\",\"nvidia.com/gpu\":8}\n",
	"I0301 12:00:01.%06u       1 server.go:160] Registered device plugin for 'nvidia.com/gpu' "
	"with "
	"Kubelet\n",
	"epoch %u step 1200 loss 2.314 lr 0.0003 grad_norm 1.02 tokens/s 51234.2 nvidia-smi 78 %% "
	"used\n",
	"Mar 01 12:04:18 gpu-n1 containerd[812]: time=\"2026-03-01T12:04:%02uZ\" level=info "
	"msg=\"CreateContainer within sandbox \\\"a1b2c3\\\" for container "
	"&ContainerMetadata{Name:main,Attempt:0,}\"\n",
};

static const char *const object_lines[] = {
	"- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: train-%u\n    namespace: team\n"
	"    labels:\n      app: train\n  spec:\n    containers:\n    - name: main\n"
	"      image: registry.example/train:1\n      resources:\n        limits:\n"
	"          cpu: \"4\"\n          nvidia.com/gpu: \"1\"\n        requests:\n          cpu: "
	"\"4\"\n"
	"          nvidia.com/gpu: \"1\"\n      volumeMounts:\n      - mountPath: /data\n        "
	"name: data\n"
	"    nodeName: node-1\n  status:\n    phase: Running\n    conditions:\n"
	"    - lastTransitionTime: \"2026-03-01T12:00:00Z\"\n      status: \"True\"\n      type: "
	"Ready\n",
};

struct source {
	const char *name;
	const char *const *lines;
	size_t count;
	double seconds; /* budget of 100 MB */
};
static const struct source sources[] = {
	{ "logs", log_lines, ARRAY_SIZE(log_lines), 2 },
	{ "objects", object_lines, ARRAY_SIZE(object_lines), 6 },
};

/* The next piece of SOURCE, made before the clock runs. */
static size_t write_block(const struct source *source, char *block, unsigned *number)
{
	size_t length = 0;

	while (length < BLOCK - 2048) {
		const char *line = source->lines[*number % source->count];
		const char *place = strchr(line, '%');
		size_t head = (size_t)(place - line);

		memcpy(block + length, line, head);
		length += head;
		/* The number, and what stands after its conversion. */
		length += (size_t)snprintf(block + length, BLOCK - length, "%06u%s",
					   *number % 1000000, strchr(place, 'u') + 1);
		++*number;
	}
	return length;
}

/* Seconds that BYTES of SOURCE take. */
static double feed(struct doctor *doctor, const struct source *source, uint64_t bytes)
{
	static char block[BLOCK];
	unsigned number = 0;
	double seconds = 0;

	for (uint64_t fed = 0; fed < bytes;) {
		size_t length = write_block(source, block, &number);
		double start = now();

		if (doctor_feed(doctor, block, length) < 0)
			fail("no memory");
		seconds += now() - start;
		fed += length;
	}
	return seconds;
}

static bool report(unsigned number, bool good, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static bool report(unsigned number, bool good, const char *format, ...)
{
	va_list arguments;

	printf("%sok %u - ", good ? "" : "not ", number);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	return good;
}

static bool bench_source(const struct source *source, unsigned *number)
{
	cleanup(doctor_freep) struct doctor *doctor = doctor_new();
	const unsigned all = megabytes();
	struct verdict verdict;
	struct error error = ERROR_INIT;

	if (!doctor || doctor_source(doctor, source->name) < 0)
		fail("no memory");
	double first = feed(doctor, source, (uint64_t)all * MEGABYTE / 2);
	double rss_half = rss_mib();
	double second = feed(doctor, source, (uint64_t)all * MEGABYTE / 2);
	double start = now();
	if (doctor_verdict(doctor, &verdict, &error) < 0)
		fail(error.message);
	double seconds = first + second + now() - start;
	verdict_release(&verdict);
	double full = seconds * FULL_MB / all;
	printf("{\"source\":\"%s\",\"megabytes\":%u,\"seconds\":%.3f,\"rss_mib\":%.1f}\n",
	       source->name, all, seconds, rss_mib());
	bool good = report(++*number, full <= source->seconds,
			   "%s: seconds for 100 MB: %.2f, budget %.0f", source->name, full,
			   source->seconds);
	good &= report(++*number, rss_mib() <= RSS_MIB_MAX, "%s: memory in MiB: %.1f, budget %.0f",
		       source->name, rss_mib(), RSS_MIB_MAX);
	good &= report(
		++*number,
		rss_mib() - rss_half < 1 &&
			(first < SMALL_TICKS || second < first * GROWTH_MAX / 2),
		"%s: the second half takes %.2f of the first's time, budget %.1f, and %.1f MiB "
		"more, budget 1",
		source->name, second / first, GROWTH_MAX / 2, rss_mib() - rss_half);
	return good;
}

/* ---- files ---- */

struct files {
	unsigned count;
	double worst, sum; /* ms */
	char worst_name[256];
};

/* Milliseconds from an empty doctor to the text for people; the best of some runs. */
static double time_text(const char *name, const char *text, size_t length)
{
	double best = 1e9;

	for (unsigned i = 0; i < REPEATS; i++) {
		autostrbuf out = STRBUF_INIT(TEXT_MAX);
		struct error error = ERROR_INIT;
		struct verdict verdict;
		double start = now();

		cleanup(doctor_freep) struct doctor *doctor = doctor_new();
		if (!doctor || doctor_source(doctor, name) < 0 ||
		    doctor_feed(doctor, text, length) < 0 ||
		    doctor_verdict(doctor, &verdict, &error) < 0 ||
		    verdict_to_text(&verdict, true, &out) < 0)
			fail("no memory");
		verdict_release(&verdict);
		double took = (now() - start) * 1e3;
		best = took < best ? took : best;
	}
	return best;
}

static void time_folder(const char *folder, struct files *files)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		autofree char *path = NULL, *text = NULL;
		struct error error = ERROR_INIT;
		size_t length;

		if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			fail("no memory");
		if (entries[i]->d_type == DT_REG &&
		    file_read(path, TEXT_MAX, &text, &length, &error) == 0) {
			double took = time_text(entries[i]->d_name, text, length);

			files->count++;
			files->sum += took;
			if (took > files->worst) {
				files->worst = took;
				snprintf(files->worst_name, sizeof(files->worst_name), "%s",
					 entries[i]->d_name);
			}
		}
		free(entries[i]);
	}
	free(entries);
}

static bool bench_files(unsigned *number)
{
	struct files files = { .count = 0 };

	time_folder(DATA "reports", &files);
	time_folder(DATA "healthy", &files);
	time_folder(DATA "unseen", &files);
	if (!files.count)
		fail("there is no evidence in " DATA);
	printf("{\"files\":%u,\"mean_ms\":%.3f,\"worst_ms\":%.3f,\"worst\":\"%s\"}\n", files.count,
	       files.sum / files.count, files.worst, files.worst_name);
	return report(++*number, files.worst <= FILE_MS_MAX,
		      "milliseconds of the slowest of %u files: %.2f, budget %.0f", files.count,
		      files.worst, FILE_MS_MAX);
}

int main(void)
{
	unsigned number = 0;
	bool good = true;

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		good &= bench_source(&sources[i], &number);
	good &= bench_files(&number);
	printf("1..%u\n", number);
	return good ? 0 : 1;
}
