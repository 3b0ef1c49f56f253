/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "replay/replay.h"

#define FORM                                                                                      \
	"write '20 nodes of 8 h100', '300 Pods of 12 GiB', '10 Pods of 8 cards', '4 gangs of 16 " \
	"Pods of 8 cards' or '5 Pods of "                                                         \
	"2 1g.10gb'"

static int read_short(const char *text, struct trace *trace, struct error *error)
{
	trace_init(trace);
	return trace_parse_short(trace, TRACE_ALL, text, strlen(text), "t", error);
}

static const struct {
	const char *text;
	size_t nodes, cards, pods;
	const char *message; /* NULL: it is read */
} cases[] = {
	{ "20 nodes of 8 h100; 300 Pods of 12 GiB; 10 Pods of 8 cards", 20, 160, 310, NULL },
	{ "# small\n1 node of 4 T4 # old\n\n2 pods of 512 MiB;;1 pod of 1 gpu\n", 1, 4, 3, NULL },
	{ "3 nodes of 2 RTX4090 24 GiB;5 Pods of 2 1g.10gb", 3, 6, 5, NULL },
	{ "nodes:\n- count: 2\n  gpus: 8\n  model: h100\n  cpu: 96\n  memory: 1Ti\n  pods: 110\n"
	  "- name: old\n  gpus: 1\n  model: X\n  gpu-memory: 16Gi\n- count: 3\n"
	  "pods:\n- count: 5\n  gpu-memory: 12Gi\n  gpus: 2\n  cpu: 500m\n- gpus: 1\n- cpu: 1\n",
	  6, 17, 7, NULL },
	{ "2 Pods of 12 GiB 30 % 4 CPUs;3 Pods of 2 cards 1 cpu", 0, 0, 5, NULL },
	{ "4 gangs of 16 Pods of 8 cards;1 gang of 2 Pods of 1 GiB 5 %", 0, 0, 66, NULL },
	{ "4 gangs of 16 Pods", 0, 0, 0, "t:1: '4 gangs of 16 Pods' is not understood; " FORM },
	{ "0 gangs of 1 Pods of 8 cards", 0, 0, 0,
	  "t:1: '0 gangs of 1 Pods of 8 cards' is not understood; " FORM },
	{ "9999 gangs of 9999 Pods of 8 cards", 0, 0, 0,
	  "t:1: '9999 gangs of 9999 Pods of 8 cards' is not understood; " FORM },
	{ "2 gangs of 3 nodes of 8 h100", 0, 0, 0,
	  "t:1: '2 gangs of 3 nodes of 8 h100' is not understood; " FORM },
	{ "nodes:\n- label: rack=r1\npods:\n- {count: 4, gpus: 1, gang: 2, gang-domain: rack}\n", 1,
	  0, 4, NULL },
	{ "nodes:\n- label: rack\n", 0, 0, 0,
	  "t:2: label 'rack' is no pair; write one such as rack=r1" },
	{ "nodes:\n- label: =r1\n", 0, 0, 0,
	  "t:2: label '=r1' is no pair; write one such as rack=r1" },
	{ "pods:\n- {count: 5, gang: 2}\n", 0, 0, 0,
	  "t:2: count 5 are no whole gangs of 2; write a multiple of it" },
	{ "pods:\n- {count: 4, gang-domain: rack}\n", 0, 0, 0,
	  "t:2: gang-domain is for gangs; write gang beside it" },
	{ "1 Pod of 12 GiB 101 %", 0, 0, 0,
	  "t:1: '1 Pod of 12 GiB 101 %' is not understood; " FORM },
	{ "1 Pod of 12 GiB 4 horses", 0, 0, 0,
	  "t:1: '1 Pod of 12 GiB 4 horses' is not understood; " FORM },
	{ "2 nodes of 8 A100 in MIG;1 node of 2 X 80 GiB in Slices;5 Pods of 2 1g.10gb", 3, 18, 5,
	  NULL },
	{ "nodes:\n- {gpus: 2, model: t4, mode: whole}\n", 1, 2, 0, NULL },
	{ "2 nodes of 8 A100 in RAID", 0, 0, 0,
	  "t:1: mode 'raid' is unknown; write whole, slices, replicas, mps, mig or auto" },
	{ "2 nodes in MIG of 8 A100", 0, 0, 0,
	  "t:1: '2 nodes in MIG of 8 A100' is not understood; " FORM },
	{ "nodes: []\n", 0, 0, 0, NULL },
	{ "", 0, 0, 0, "t is empty; " FORM },
	{ "# nothing\n", 0, 0, 0, "t is empty; " FORM },
	{ "1 node of 1 t4\n2 hens of 1 t4", 1, 1, 0,
	  "t:2: '2 hens of 1 t4' is not understood; " FORM },
	{ "0 nodes of 8 h100", 0, 0, 0, "t:1: '0 nodes of 8 h100' is not understood; " FORM },
	{ "1 node of 65 h100", 0, 0, 0, "t:1: '1 node of 65 h100' is not understood; " FORM },
	{ "1 node of 8 h100 4 furlongs", 0, 0, 0,
	  "t:1: '1 node of 8 h100 4 furlongs' is not understood; " FORM },
	{ "1 node of 8 h100 80", 0, 0, 0, "t:1: '1 node of 8 h100 80' is not understood; " FORM },
	{ "1 Pod of 8 g", 0, 0, 0, "t:1: '1 Pod of 8 g' is not understood; " FORM },
	{ "1 Pod of 99999999999999999999 GiB", 0, 0, 0,
	  "t:1: '1 Pod of 99999999999999999999 GiB' is not understood; " FORM },
	{ "1 Pod", 0, 0, 0, "t:1: '1 Pod' is not understood; " FORM },
	{ "1 2 3 4 5 6 7 8 9", 0, 0, 0, "t:1: '1 2 3 4 5 6 7 8 9' is not understood; " FORM },
	{ "1 node of 8 m99", 0, 0, 0,
	  "t:1: the memory of the model 'm99' is not known here; write it, as in '4 nodes of 8 m99 "
	  "24 GiB', or "
	  "gpu-memory in YAML" },
	{ "100000 nodes of 64 h100", 0, 0, 0,
	  "t:1: more than 100000 nodes or 1000000 cards in all; write smaller counts" },
	{ "1999999 Pods of 1 GiB;2 Pods of 1 GiB", 0, 0, 1999999,
	  "t:1: more than 2000000 Pods in all; write smaller counts" },
	{ "node: 1\n", 0, 0, 0, "t:1: unknown field 'node'; there are nodes and pods" },
	{ "- 1\n", 0, 0, 0, "t:1: no map with nodes and pods; write 'nodes:' and 'pods:'" },
	{ "pods: 5\n", 0, 0, 0, "t:1: pods is no list; write items, as in '- count: 20'" },
	{ "pods:\n", 0, 0, 0, "t:1: pods is no list; write items, as in '- count: 20'" },
	{ "pods:\n- 5\n", 0, 0, 0, "t:2: each of pods is a map, as in '- count: 20'; write one" },
	{ "nodes:\n- gpu: 5\n", 0, 0, 0,
	  "t:2: nodes have no field 'gpu'; they have count, name, gpus, model, gpu-memory, mode, "
	  "cpu, memory, pods, label" },
	{ "nodes:\n- count: 1\n  gpus: -1\n", 0, 0, 0,
	  "t:3: gpus '-1' is no whole number from 0 to 64; write one" },
	{ "nodes:\n- gpus: 1\n", 0, 0, 0,
	  "t:2: nodes with cards need their model; write model: h100" },
	{ "nodes:\n- {name: a}\n- {name: a}\n", 1, 0, 0, "t:3: two nodes are named a; remove one" },
	{ "nodes:\n- {name: [a]}\n", 0, 0, 0, "t:2: name is no number or short text; write one" },
	{ "nodes:\n- {name: \"\"}\n", 0, 0, 0,
	  "t:2: name '' is no name of 1 to 63 bytes; write one" },
	{ "nodes:\n- {gpus: 1, model: x, gpu-memory: 9Pi}\n", 0, 0, 0,
	  "t:2: no card has 9663676416 MiB; write less" },
	{ "pods:\n- {gpu-memory: 12}\n", 0, 0, 0,
	  "t:2: gpu-memory '12' is less than 1 MiB; write a unit, such as 12Gi" },
	{ "pods:\n- {gpu-memory: 0}\n", 0, 0, 0,
	  "t:2: gpu-memory '0' is nothing; write a size such as 12Gi" },
	{ "pods:\n- {cpu: -1}\n", 0, 0, 0, "t:2: cpu '-1' is negative; write 0 or more" },
	{ "pods:\n- {cpu: 9223372036854775807}\n", 0, 0, 0,
	  "t:2: cpu '9223372036854775807' is too much; write less" },
	{ "pods:\n- {cpu: two}\n", 0, 0, 0,
	  "t:2: cpu 'two' is no quantity; write a number such as 2, 500m or 12Gi" },
	{ "pods:\n- {gpu-memory: 1Gi, mig: 1g.5gb}\n", 0, 0, 0,
	  "t:2: gpu-memory and mig exclude each other; write one" },
	{ "pods:\n- {gpu-memory: 1Gi, gpus: 0}\n", 0, 0, 0,
	  "t:2: gpus 0 and a part of a card; write 1 or more for gpus" },
	{ "pods:\n- {gpu-compute: 5}\n", 0, 0, 0,
	  "t:2: gpu-compute is for slices; write gpu-memory beside it" },
	{ "pods:\n- {created: 5, end: 4}\n", 0, 0, 0,
	  "t:2: end 4 is before created 5; write a later one" },
	{ "pods:\n- {name: a}\n- {name: a}\n", 0, 0, 1, "t:3: two Pods are named a; remove one" },
};

TEST(trace_short_cases)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error error = ERROR_INIT;
		autotrace trace;
		size_t cards = 0;

		int r = read_short(cases[i].text, &trace, &error);
		assert_string_equal(error.message, cases[i].message ? cases[i].message : "");
		assert_int_equal(r, cases[i].message ? -error.number : 0);
		assert_int_equal(trace.node_count, cases[i].nodes);
		assert_int_equal(trace.pod_count, cases[i].pods);
		for (size_t k = 0; k < trace.node_count; k++)
			cards += trace.nodes[k].inventory.card_count;
		assert_int_equal(cards, cases[i].cards);
	}
}

TEST(trace_short_says_what_a_pod_asks_for)
{
	struct error error = ERROR_INIT;
	autotrace trace;

	assert_int_equal(
		read_short("nodes: [{count: 2, gpus: 8, model: h100, cpu: 96, memory: 1Ti}]\n"
			   "pods:\n- {count: 2, gpu-memory: 12500Mi, gpus: 2, gpu-compute: 30,\n"
			   "   model: h100, cpu: 500m, memory: 1}\n- {mig: 1g.10gb, end: 9}\n"
			   "- {gpus: 4}\n",
			   &trace, &error),
		-EINVAL);
	assert_string_equal(error.message,
			    "t:4: memory '1' is less than 1 MiB; write a unit, such as 1Gi");
	trace_release(&trace);
	assert_int_equal(
		read_short("nodes: [{count: 2, gpus: 8, model: h100, cpu: 96, memory: 1Ti}]\n"
			   "pods:\n- {count: 2, gpu-memory: 12500Mi, gpus: 2, gpu-compute: 30,\n"
			   "   model: h100, cpu: 500m, memory: 3Mi}\n- {mig: 1g.10gb, end: 9}\n"
			   "- {gpus: 4}\n- {gpus: 4}\n",
			   &trace, &error),
		0);
	assert_int_equal(trace_finish(&trace, &error), 0);
	assert_string_equal(trace.nodes[1].name, "node-00002");
	assert_int_equal(trace.nodes[1].allocatable.cpu_milli, 96000);
	assert_int_equal(trace.nodes[1].allocatable.memory_mib, 1 << 20);
	assert_true(trace.nodes[1].allocatable.pods == RESOURCE_UNLIMITED);
	assert_int_equal(card_units(&trace.nodes[1].inventory.cards[7]), 79);
	assert_string_equal(trace.nodes[1].inventory.cards[7].model, "NVIDIA H100 80GB HBM3");
	assert_int_equal(trace.shape_count, 3);
	const struct demand *slice = &trace.shapes[trace.pods[1].shape].demand;
	assert_int_equal(slice->requests[0].kind, REQUEST_SLICE);
	assert_int_equal(slice->requests[0].cards, 2);
	assert_int_equal(slice->requests[0].units, 13);
	assert_int_equal(slice->requests[0].memory_mib, 12500);
	assert_int_equal(slice->requests[0].compute_percent, 30);
	assert_int_equal(slice->needs.cpu_milli, 500);
	assert_int_equal(slice->needs.memory_mib, 3);
	assert_true(trace.shapes[trace.pods[1].shape].constrained);
	assert_int_equal(trace.shapes[trace.pods[2].shape].milli, 125);
	assert_int_equal(trace.pods[2].end, 9);
	assert_int_equal(trace.shapes[trace.pods[3].shape].class, TRACE_SEVERAL);
	assert_string_equal(trace_pod_name(&trace, 4), "pod-000005");
}

TEST(trace_short_bytes_that_are_no_text)
{
	struct error error = ERROR_INIT;
	autotrace trace;

	trace_init(&trace);
	assert_int_equal(trace_parse_short(&trace, TRACE_ALL, "1 node\0", 7, "t", &error), -EINVAL);
	assert_string_equal(error.message, "t has a NUL byte; write text only");
	assert_int_equal(trace_read(&trace, TRACE_ALL, "/nonexistent/t", &error), -ENOENT);
}

TEST(trace_short_short_of_memory)
{
	static const char *const texts[] = {
		"2 nodes of 2 h100; 3 Pods of 12 GiB; 1 Pod of 1 card",
		"nodes: [{gpus: 1, model: t4}]\npods: [{gpu-memory: 1Gi, model: t4}, {cpu: 1}]\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		for (unsigned n = 0;; n++) {
			struct error error = ERROR_INIT;
			autotrace trace;

			fault_arm(n);
			int r = read_short(texts[i], &trace, &error);
			if (!fault_disarm()) {
				assert_int_equal(r, 0);
				break;
			}
			assert_int_equal(r, -ENOMEM);
		}
}
