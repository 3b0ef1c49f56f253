/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as an input of the simulator: one sentence, or a trace whose running Pods are where its
 * nodes and cards are.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/replay.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

static void check_running(const struct trace *trace, const struct trace_running *running)
{
	const struct demand *demand = &trace->shapes[trace->pods[running->pod].shape].demand;

	must(running->grant_count == 0 || running->grant_count == demand->request_count);
	if (running->node == TRACE_NO_NODE)
		return;
	for (size_t i = 0; i < running->grant_count; i++)
		for (size_t k = 0; k < running->grants[i].card_count; k++)
			must(inventory_find(&trace->nodes[running->node].inventory,
					    running->grants[i].cards[k].uuid));
}

static void check_trace(struct trace *trace)
{
	cleanup(string_list_release) struct string_list notes = { .count = 0 };
	struct error error = ERROR_INIT;

	if (trace_finish(trace, &error) < 0) {
		must(error.message[0]);
		return;
	}
	for (size_t i = 0; i < trace->running_count; i++)
		check_running(trace, &trace->running[i]);
	must(trace_notes(trace, &notes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = ERROR_INIT;
	char path[64];
	autotrace trace;
	autoclose int fd = memfd_create("fuzz", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace_init(&trace);
	if (trace_read(&trace, TRACE_ALL, path, &error) < 0)
		must(error.message[0] && error.number);
	else
		check_trace(&trace);
	return 0;
}
