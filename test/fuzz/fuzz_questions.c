/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a Pod that is asked about or as a change of a cluster: one sentence, or an answer in which
 * no Pod is lost. The first byte says what the text is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

#define CLUSTER                                                                              \
	"nodes: [{count: 2, gpus: 2, model: h100}, {gpus: 1, model: t4}]\n"                  \
	"pods: [{count: 3, gpu-memory: 9Gi}, {gpus: 1, node: node-00001}, {gpu-memory: 9Gi," \
	" node: node-00003}]\n"

static void must(bool truth)
{
	if (!truth)
		abort();
}

static bool says(int r, const struct error *error)
{
	return r == 0 || (error->message[0] && !strchr(error->message, '\n'));
}

static void read_cluster(struct trace *trace)
{
	struct error error = ERROR_INIT;

	trace_init(trace);
	must(trace_parse_short(trace, TRACE_ALL, CLUSTER, strlen(CLUSTER), "fuzz", &error) == 0);
	must(trace_finish(trace, &error) == 0);
}

static void ask(const char *text)
{
	const struct fit_options options = { .limit = 100 };
	cleanup(fit_result_release) struct fit_result result = { .nodes = NULL };
	cleanup(demand_release) struct demand demand;
	struct error error = ERROR_INIT;
	size_t sum = 0;
	autotrace trace;

	read_cluster(&trace);
	demand_init(&demand);
	int r = fit_parse(text, &demand, &error);
	if (r == 0)
		r = fit_ask(&trace, &demand, &options, &result, &error);
	must(says(r, &error));
	for (size_t i = 0; r == 0 && i < trace.node_count; i++)
		sum += result.nodes[i];
	must(sum == result.count);
}

static void change(const struct whatif_changes *changes)
{
	cleanup(whatif_release) struct whatif whatif = { .sentences = { .items = NULL } };
	struct error error = ERROR_INIT;
	autotrace trace;

	read_cluster(&trace);
	int r = whatif_make(&trace, changes, &whatif, &error);
	must(says(r, &error));
	if (r < 0)
		return;
	must(whatif.trace.pod_count == trace.pod_count);
	must(whatif.trace.running_count + whatif.displaced.count == trace.running_count);
	must(whatif.sentences.count > 0);
}

/* More nodes than that are no error; they only take long. */
static bool is_large(const char *text)
{
	for (; *text; text++)
		if (strspn(text, "0123456789") > 2)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = malloc(size + 1);

	must(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	const char *rest = size ? text + 1 : text;
	const struct whatif_texts one = { &rest, 1 };
	if (text[0] == 'm')
		change(&(struct whatif_changes){ .mig = one });
	else if (text[0] == 'r')
		change(&(struct whatif_changes){ .remove = one });
	else if (text[0] == 'n' && !is_large(rest))
		change(&(struct whatif_changes){ .add = one });
	else if (text[0] == 'a')
		ask(rest);
	return 0;
}
