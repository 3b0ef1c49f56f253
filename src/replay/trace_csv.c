/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The openb traces. Format: https://github.com/hkust-adsl/kubernetes-scheduler-simulator, data/csv
 * (also alibaba/clusterdata, cluster-trace-gpu-v2023).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "replay/trace.h"

#define MILLI      1000u
#define CARD_GIB   1000u       /* a card's memory: a unit is 1/1000 of it */
#define CPU_MAX    1000000000u /* milli: a million CPUs */
#define MEMORY_MAX 1000000000000u
#define TIME_MAX   (1ull << 60)
#define SHAPE_MAX  4096 /* bytes of the text that tells shapes apart */

enum node_column { SN, NODE_CPU, NODE_MEMORY, GPU, MODEL };
static const struct csv_column node_columns[] = {
	[SN] = { .name = "sn" },
	[NODE_CPU] = { .name = "cpu_milli" },
	[NODE_MEMORY] = { .name = "memory_mib" },
	[GPU] = { .name = "gpu" },
	[MODEL] = { .name = "model" },
};

enum pod_column { NAME, CPU, MEMORY, NUM_GPU, GPU_MILLI, GPU_SPEC, CREATED, DELETED };
static const struct csv_column pod_columns[] = {
	[NAME] = { .name = "name" },
	[CPU] = { .name = "cpu_milli" },
	[MEMORY] = { .name = "memory_mib" },
	[NUM_GPU] = { .name = "num_gpu" },
	[GPU_MILLI] = { .name = "gpu_milli" },
	[GPU_SPEC] = { .name = "gpu_spec", .optional = true },
	[CREATED] = { .name = "creation_time", .optional = true },
	[DELETED] = { .name = "deletion_time", .optional = true },
};

/* An error of the trace gets the place in the file. */
static int at_line(const struct csv *csv, const char *path, int r, struct error *error)
{
	return r < 0 && r != -ENOMEM ? error_wrap(error, "%s:%lu", path, csv_line(csv)) : r;
}

/* No log of decisions takes one. */
static int check_text(const struct csv *csv, size_t column, struct error *error)
{
	for (const char *at = csv_text(csv, column); *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return csv_fail(csv, column, error,
					"has the control character 0x%02x; remove it",
					(unsigned)*at);
	return 0;
}

static int fill_node(const struct csv *csv, struct node_spec *node, struct error *error)
{
	uint64_t cpu = 0, memory = 0, cards = 0;

	if (!*csv_text(csv, SN) || strlen(csv_text(csv, SN)) > CARD_UUID_MAX - 8)
		return csv_fail(csv, SN, error, "is no name of 1 to %d bytes; write one",
				CARD_UUID_MAX - 8);
	int r = check_text(csv, SN, error);
	if (r == 0)
		r = check_text(csv, MODEL, error);
	if (r == 0)
		r = csv_uint(csv, NODE_CPU, 0, CPU_MAX, &cpu, error);
	if (r == 0)
		r = csv_uint(csv, NODE_MEMORY, 0, MEMORY_MAX, &memory, error);
	if (r == 0)
		r = csv_uint(csv, GPU, 0, CARDS_MAX, &cards, error);
	if (r < 0)
		return r;
	if (cards && (!*csv_text(csv, MODEL) || strlen(csv_text(csv, MODEL)) >= CARD_MODEL_MAX))
		return csv_fail(csv, MODEL, error,
				"is no model of cards of 1 to %d bytes, and the node has %" PRIu64
				" cards; write one",
				CARD_MODEL_MAX - 1, cards);
	node->allocatable.cpu_milli = (int64_t)cpu;
	node->allocatable.memory_mib = (int64_t)memory;
	node->name = strdup(csv_text(csv, SN));
	if (!node->name)
		return error_no_memory(error);
	for (unsigned i = 0; i < cards; i++)
		if (trace_add_card(node, csv_text(csv, MODEL), CARD_GIB * 1024u, i) < 0)
			return error_no_memory(error);
	return 0;
}

int trace_read_nodes_csv(struct trace *trace, const struct trace_source *source,
			 struct error *error)
{
	autocsv *csv = NULL;

	int r = csv_new(source->fd, source->name, source->start, source->start_length, node_columns,
			ARRAY_SIZE(node_columns), &csv, error);
	while (r >= 0 && (r = csv_next(csv, error)) > 0) {
		struct node_spec node;

		node_spec_init(&node);
		r = fill_node(csv, &node, error);
		if (r == 0)
			r = at_line(csv, source->name, trace_add_node(trace, &node, error), error);
		node_spec_release(&node);
	}
	return r;
}

/* "A|B" to two patterns. */
static int add_models(struct string_list *models, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "|");
		autofree char *model = strndup(text, length);

		if (!model || (length && string_list_add(models, model) < 0))
			return -ENOMEM;
		text += length + (text[length] == '|');
	}
	return 0;
}

struct pod_row {
	uint64_t cpu, memory, cards, milli;
	const char *models;
};

static int add_request(struct demand *demand, const struct pod_row *row)
{
	struct request *request =
		VEC_ADD(&demand->requests, &demand->request_count, &demand->request_capacity);

	if (!request)
		return -ENOMEM;
	request->cards = (unsigned)row->cards;
	request->dialect = "openb";
	request->kind = REQUEST_WHOLE;
	if (row->milli < MILLI) {
		request->kind = REQUEST_SLICE;
		request->units = (unsigned)row->milli;
		request->memory_mib = row->milli * MIB_PER_UNIT;
	}
	demand->containers = calloc(1, sizeof(*demand->containers));
	if (!demand->containers)
		return -ENOMEM;
	demand->containers[0] = strdup("main");
	return demand->containers[0] ? add_models(&request->models, row->models) : -ENOMEM;
}

static int add_shape(struct trace *trace, const struct pod_row *row, uint32_t *ret,
		     struct error *error)
{
	char text[SHAPE_MAX];
	cleanup(demand_release) struct demand demand;

	demand_init(&demand);
	snprintf(text, sizeof(text), "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s", row->cpu,
		 row->memory, row->cards, row->milli, row->models);
	if (trace_find_shape(trace, text, ret) == 0)
		return 0;
	demand.needs.cpu_milli = (int64_t)row->cpu;
	demand.needs.memory_mib = (int64_t)row->memory;
	demand.object = strdup("Pod");
	if (!demand.object || (row->cards && add_request(&demand, row) < 0))
		return error_no_memory(error);
	return trace_add_shape(trace, text, &demand, ret, error);
}

static int read_row(const struct csv *csv, struct pod_row *row, struct error *error)
{
	int r = csv_uint(csv, CPU, 0, CPU_MAX, &row->cpu, error);
	if (r == 0)
		r = csv_uint(csv, MEMORY, 0, MEMORY_MAX, &row->memory, error);
	if (r == 0)
		r = csv_uint(csv, NUM_GPU, 0, CARDS_MAX, &row->cards, error);
	if (r == 0)
		r = csv_uint(csv, GPU_MILLI, 0, MILLI, &row->milli, error);
	if (r < 0)
		return r;
	if (row->cards && !row->milli)
		return csv_fail(csv, GPU_MILLI, error,
				"is nothing of each of %" PRIu64 " cards; write 1 to %u, or 0 for "
				"num_gpu",
				row->cards, MILLI);
	if (!row->cards && row->milli)
		return csv_fail(csv, GPU_MILLI, error,
				"is a part of a card, and num_gpu is 0; write 1 for num_gpu");
	/* A Pod without cards takes any node, whatever stands there. */
	row->models = row->cards ? csv_text(csv, GPU_SPEC) : "";
	if (strlen(row->models) > SHAPE_MAX / 2)
		return csv_fail(csv, GPU_SPEC, error, "is longer than %d bytes", SHAPE_MAX / 2);
	return 0;
}

static int read_times(const struct csv *csv, int64_t *ret_created, int64_t *ret_end,
		      struct error *error)
{
	uint64_t created = 0, end = INT64_MAX;
	int r = 0;

	if (csv_has(csv, CREATED))
		r = csv_uint(csv, CREATED, 0, TIME_MAX, &created, error);
	if (r == 0 && *csv_text(csv, DELETED))
		r = csv_uint(csv, DELETED, 0, TIME_MAX, &end, error);
	if (r < 0)
		return r;
	if (end < created)
		return csv_fail(csv, DELETED, error,
				"is before creation_time %" PRIu64 "; write a later one", created);
	*ret_created = (int64_t)created;
	*ret_end = (int64_t)end;
	return 0;
}

static int read_pod(struct trace *trace, const struct csv *csv, const char *path,
		    struct error *error)
{
	struct pod_row row = { .cpu = 0 };
	int64_t created = 0, end = 0;
	uint32_t shape = 0;

	if (!*csv_text(csv, NAME))
		return csv_fail(csv, NAME, error, "is no name; write one");
	int r = check_text(csv, NAME, error);
	if (r == 0)
		r = check_text(csv, GPU_SPEC, error);
	if (r == 0)
		r = read_row(csv, &row, error);
	if (r == 0)
		r = read_times(csv, &created, &end, error);
	if (r == 0)
		r = add_shape(trace, &row, &shape, error);
	if (r < 0)
		return r;
	return at_line(csv, path,
		       trace_add_pod(trace, csv_text(csv, NAME), shape, created, end, error),
		       error);
}

int trace_read_pods_csv(struct trace *trace, const struct trace_source *source, struct error *error)
{
	autocsv *csv = NULL;

	int r = csv_new(source->fd, source->name, source->start, source->start_length, pod_columns,
			ARRAY_SIZE(pod_columns), &csv, error);
	if (r == 0) {
		trace->listed = true;
		trace->timed = csv_has(csv, CREATED) && csv_has(csv, DELETED);
	}
	while (r >= 0 && (r = csv_next(csv, error)) > 0)
		r = read_pod(trace, csv, source->name, error);
	return r;
}
