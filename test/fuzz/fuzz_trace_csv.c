/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as an openb CSV file, 'n...' as nodes, all else as Pods: one error with file and line, or
 * rows that hold. */
#include <stdint.h>
#include <stdio.h>
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

static void check_shape(const struct trace_shape *shape)
{
	const struct demand *demand = &shape->demand;

	must(demand->needs.cpu_milli >= 0 && demand->needs.memory_mib >= 0);
	must((unsigned)shape->class < TRACE_CLASS_MAX && demand->request_count <= 1);
	if (demand->request_count == 0)
		return;
	must(demand->requests[0].cards > 0 && demand->requests[0].cards <= CARDS_MAX);
	must(shape->milli <= 1000 && shape->cards == demand->requests[0].cards);
}

static void check_trace(struct trace *trace)
{
	struct error error = ERROR_INIT;
	int r = trace_finish(trace, &error);

	must((r == 0) == (trace->node_count > 0));
	for (size_t i = 0; r == 0 && i < trace->shape_count; i++)
		check_shape(&trace->shapes[i]);
	for (size_t i = 0; i < trace->pod_count; i++) {
		must(trace->pods[i].shape < trace->shape_count && *trace_pod_name(trace, i));
		must(trace->pods[i].created >= 0 && trace->pods[i].end >= trace->pods[i].created);
	}
}

static void check_error(const struct error *error)
{
	must(strncmp(error->message, "fuzz:", 5) == 0);
	must(error->message[5] >= '0' && error->message[5] <= '9');
	must(!strchr(error->message, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool nodes = size > 0 && data[0] == 'n';
	size_t skip = size > 0;
	struct trace_source source = { .name = "fuzz", .fd = memfd_create("fuzz", MFD_CLOEXEC) };
	struct error error = ERROR_INIT;
	autotrace trace;
	int r;

	must(source.fd >= 0);
	/* A part of it has been looked at already. */
	source.start_length = (size - skip) / 3;
	if (source.start_length > sizeof(source.start))
		source.start_length = sizeof(source.start);
	if (size)
		memcpy(source.start, data + skip, source.start_length);
	skip += source.start_length;
	if (size > skip)
		must(write(source.fd, data + skip, size - skip) == (ssize_t)(size - skip));
	must(lseek(source.fd, 0, SEEK_SET) == 0);
	trace_init(&trace);
	r = nodes ? trace_read_nodes_csv(&trace, &source, &error)
		  : trace_read_pods_csv(&trace, &source, &error);
	close(source.fd);
	if (r < 0)
		check_error(&error);
	else
		check_trace(&trace);
	return 0;
}
