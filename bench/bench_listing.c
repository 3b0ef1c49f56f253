/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long it takes to read a cluster as `kubectl get nodes,pods -A -o json` prints it, and how much
 * memory: 10,000 nodes of 8 cards in HAMi's words and 100,000 Pods, nine of ten running, at
 * GPUPOOL_TEST_SCALE=100. The list comes through a pipe, Pods first. One JSON object; then the budget.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "replay/replay.h"

#define NODES_FULL  10000u
#define PODS_A_NODE 10u
#define CARDS       8u
#define RSS_MIB_MAX 1024.0

static unsigned nodes_to_read(void)
{
	const char *scale = getenv("GPUPOOL_TEST_SCALE");
	uint64_t part = 100;

	if (scale && parse_uint(scale, 1, 10000, &part) < 0) {
		fprintf(stderr, "bench_listing: GPUPOOL_TEST_SCALE is no number from 1 to 10000\n");
		exit(1);
	}
	return (unsigned)(NODES_FULL * part / 100);
}

static double now(void)
{
	struct timespec time = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double rss_mib(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

/* ---- what the API server has, with the fields that make it long ---- */

static void write_uuid(FILE *out, unsigned node, unsigned card)
{
	fprintf(out, "GPU-%08x-0000-4000-8000-%012x", node, card);
}

static void write_node(FILE *out, unsigned node)
{
	fprintf(out,
		"        {\n            \"apiVersion\": \"v1\",\n            \"kind\": \"Node\",\n"
		"            \"metadata\": {\n                \"annotations\": {\n"
		"                    \"hami.io/node-nvidia-register\": \"");
	for (unsigned i = 0; i < CARDS; i++) {
		write_uuid(out, node, i);
		fprintf(out,
			",10,81559,100,NVIDIA-NVIDIA H100 80GB HBM3,%u,true,%u,hami-core:", i / 4,
			i);
	}
	fprintf(out, "\"\n                },\n                \"labels\": {\n");
	for (unsigned i = 0; i < 40; i++)
		fprintf(out,
			"                    \"feature.node.kubernetes.io/cpu-cpuid.F%u\": "
			"\"true\",\n",
			i);
	fprintf(out,
		"                    \"kubernetes.io/hostname\": \"node-%05u\"\n                "
		"},\n"
		"                \"name\": \"node-%05u\"\n            },\n"
		"            \"spec\": {},\n            \"status\": {\n"
		"                \"allocatable\": {\n                    \"cpu\": \"191\",\n"
		"                    \"memory\": \"2113000000Ki\",\n"
		"                    \"nvidia.com/gpu\": \"80\",\n"
		"                    \"pods\": \"110\"\n                },\n"
		"                \"images\": [\n",
		node, node);
	for (unsigned i = 0; i < 20; i++)
		fprintf(out,
			"                    {\n                        \"names\": "
			"[\"registry.example/image-%u@sha256:%064x\"],\n"
			"                        \"sizeBytes\": 1234567\n                    }%s\n",
			i, i, i < 19 ? "," : "");
	fprintf(out, "                ]\n            }\n        }");
}

static void write_pod(FILE *out, unsigned pod, unsigned nodes)
{
	unsigned node = pod % nodes;
	bool runs = pod / nodes != 0;

	fprintf(out,
		"        {\n            \"apiVersion\": \"v1\",\n            \"kind\": \"Pod\",\n"
		"            \"metadata\": {\n                \"annotations\": {\n");
	if (runs) {
		fprintf(out, "                    \"hami.io/vgpu-devices-allocated\": \"");
		write_uuid(out, node, pod / nodes % CARDS);
		fprintf(out, ",NVIDIA,12288,0:;\",\n");
	}
	fprintf(out,
		"                    \"example.com/revision\": \"%u\"\n                },\n"
		"                \"name\": \"pod-%06u\",\n"
		"                \"namespace\": \"team-%u\"\n            },\n"
		"            \"spec\": {\n                \"containers\": [\n"
		"                    {\n                        \"env\": [\n",
		pod, pod, pod % 7);
	for (unsigned i = 0; i < 12; i++)
		fprintf(out,
			"                            {\n                                \"name\": "
			"\"VARIABLE_%u\",\n                                \"value\": "
			"\"some value of usual length\"\n                            }%s\n",
			i, i < 11 ? "," : "");
	fprintf(out,
		"                        ],\n                        \"image\": "
		"\"registry.example/train:1\",\n                        \"name\": \"main\",\n"
		"                        \"resources\": {\"limits\": {\"cpu\": \"4\", \"memory\": "
		"\"16Gi\", \"nvidia.com/gpu\": \"1\", \"nvidia.com/gpumem\": \"12288\"}}\n"
		"                    }\n                ],\n");
	if (runs)
		fprintf(out, "                \"nodeName\": \"node-%05u\",\n", node);
	fprintf(out,
		"                \"tolerations\": [\n                    {\"effect\": "
		"\"NoExecute\", \"key\": \"node.kubernetes.io/not-ready\", \"operator\": "
		"\"Exists\"}\n                ]\n            },\n            \"status\": {\n"
		"                \"phase\": \"%s\"\n            }\n        }",
		runs ? "Running" : "Pending");
}

static void write_list(int fd, unsigned nodes)
{
	FILE *out = fdopen(fd, "w");

	if (!out)
		_exit(1);
	fprintf(out, "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n");
	for (unsigned i = 0; i < nodes * PODS_A_NODE; i++) {
		write_pod(out, i, nodes);
		fprintf(out, ",\n");
	}
	for (unsigned i = 0; i < nodes; i++) {
		write_node(out, i);
		fprintf(out, "%s\n", i + 1 < nodes ? "," : "");
	}
	fprintf(out, "    ],\n    \"kind\": \"List\"\n}\n");
	fclose(out);
	_exit(0);
}

/* ---- reading and a run ---- */

static void fail(const struct error *error)
{
	fprintf(stderr, "bench_listing: %s\n", error->message);
	exit(1);
}

static void read_list(struct trace *trace, unsigned nodes)
{
	struct error error = ERROR_INIT;
	char path[64];
	int ends[2];

	if (pipe(ends) < 0)
		exit(1);
	fflush(NULL);
	pid_t writer = fork();
	if (writer < 0)
		exit(1);
	if (writer == 0) {
		close(ends[0]);
		write_list(ends[1], nodes);
	}
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	if (trace_read(trace, TRACE_ALL, path, &error) < 0 || trace_finish(trace, &error) < 0)
		fail(&error);
	close(ends[0]);
	waitpid(writer, NULL, 0);
}

int main(void)
{
	const struct run_options options = { .place = { .seed = 42 } };
	struct run_result result = { .points = NULL };
	struct error error = ERROR_INIT;
	unsigned nodes = nodes_to_read();
	autotrace trace;
	double start = now();

	trace_init(&trace);
	read_list(&trace, nodes);
	double read_seconds = now() - start, read_rss = rss_mib();
	if (run_trace(&trace, &options, &result, &error) < 0)
		fail(&error);
	bool whole = trace.node_count == nodes && trace.pod_count == (size_t)nodes * PODS_A_NODE &&
		     result.partial_count == 0;
	printf("{\"nodes\":%zu,\"pods\":%zu,\"running\":%zu,\"read_seconds\":%.2f,\"read_rss_mib\":"
	       "%"
	       ".0f,\"run_seconds\":%.2f,\"rss_mib\":%.0f,\"placed\":%zu}\n",
	       trace.node_count, trace.pod_count, trace.running_count, read_seconds, read_rss,
	       result.seconds, rss_mib(), result.placed);
	printf("%sok 1 - every node and Pod is read, and every Pod that runs is held\n",
	       whole ? "" : "not ");
	bool small = rss_mib() <= RSS_MIB_MAX;
	printf("%sok 2 - memory in MiB: %.0f, budget %.0f\n1..2\n", small ? "" : "not ", rss_mib(),
	       RSS_MIB_MAX);
	run_result_release(&result);
	return whole && small ? 0 : 1;
}
