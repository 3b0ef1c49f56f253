/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "replay/replay.h"

#define CLUSTERS SOURCE_ROOT "/test/data/clusters/"

#define NODE(name) "{\"kind\":\"Node\",\"metadata\":{\"name\":\"" name "\"}}"
#define POD(name, more)                                    \
	"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name \
	"\"},\"spec\":{\"containers\":[{}]" more "}}"
#define LIST(items) "{\"kind\":\"List\",\"items\":[" items "]}\n"

/* From a file of that name in a folder of its own, so that messages can be compared. */
static int read_text(const char *text, enum trace_part parts, struct trace *trace,
		     struct error *error)
{
	char folder[] = "/tmp/gpupool-objects-XXXXXX";
	struct error inner = ERROR_INIT;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(file_write_atomic("f", text, strlen(text), 0600, &inner), 0);
	int r = trace_read(trace, parts, "f", error);
	unlink("f");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
	return r;
}

#define DEVICE(devices)                                                               \
	"{\"kind\":\"Device\",\"apiVersion\":\"scheduling.koordinator.sh/v1alpha1\"," \
	"\"metadata\":{\"name\":\"n\"},\"spec\":{\"devices\":[" devices "]}}"
#define DEVICE_GPU                                                                    \
	"{\"type\":\"gpu\",\"id\":\"a\",\"minor\":0,\"resources\":{\"koordinator.sh/" \
	"gpu-memory\":1}}"

static const struct {
	const char *text;
	size_t nodes, pods, running;
	const char *message; /* NULL: it is read */
} cases[] = {
	{ LIST(NODE("a") "," POD("p", "") "," POD("q", ",\"nodeName\":\"a\"")), 1, 2, 1, NULL },
	{ LIST(POD("p", ",\"nodeName\":\"a\"") "," NODE("a")), 1, 1, 1, NULL },
	{ NODE("a"), 1, 0, 0, NULL },
	{ NODE("a") "\n" NODE("b") LIST(NODE("c")), 3, 0, 0, NULL },
	/* What the API server itself says: items do not repeat the kind. */
	{ "{\"items\":[{\"metadata\":{\"name\":\"a\"},\"status\":{\"nodeInfo\":{}}}],\"kind\":"
	  "\"NodeList\"}{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"p\"},\"spec\":{"
	  "\"containers\":[{}]}},{\"metadata\":{\"name\":\"x\"}}]}",
	  1, 1, 0, NULL },
	{ "apiVersion: v1\nkind: List\nitems:\n- kind: Node\n  metadata: {name: a}\n- kind: Pod\n"
	  "  metadata: {name: p}\n  spec: {nodeName: a, containers: [{}]}\n",
	  1, 1, 1, NULL },
	{ "# nodes\n---\nkind: Node\nmetadata: {name: a}\n---\nkind: Node\nmetadata: {name: b}\n",
	  2, 0, 0, NULL },
	{ LIST("{\"kind\":\"Service\"},{\"kind\":\"Node\",\"apiVersion\":\"other/v1\"}"), 0, 0, 0,
	  NULL },
	{ LIST(NODE("a") "," NODE("a")), 1, 0, 0, "f:1: two nodes are named a; remove one" },
	{ LIST(POD("p", "") "," POD("p", "")), 0, 1, 0,
	  "f:1: two Pods are named default/p; remove one" },
	{ "{\"kind\":\"List\",\"items\":[\n" NODE("a") ",\n" POD("p", ""), 1, 1, 0,
	  "f:3:66: the text ends where ',' or ']' after an item should be; it may be cut off" },
	{ "{\"kind\":\"List\",\"items\":[\n" NODE("a") ",\n{\"kind\":\"Pod\",", 1, 0, 0,
	  "f:3:15: the text ends where a key in double quotes should be; it may be cut off" },
	{ LIST("7"), 0, 0, 0,
	  "f:1: no object of Kubernetes; write what kubectl get -o json prints" },
	{ "[]", 0, 0, 0,
	  "f:1:1: '[' where the '{' of an object of Kubernetes should be; correct the text here" },
	{ "{\"kind\":\"List\",\"items\":[\n{\"kind\":\"Node\"}]}", 0, 0, 0,
	  "f:2: node: metadata.name has to be a name of 1 to 88 bytes" },
	{ "kind: List\nitems:\n- kind: Pod\n  metadata: {name: p}\n", 0, 0, 0,
	  "f:3: Pod default/p: spec.containers is missing; is this a Pod?" },
	{ "kind: Node\nmetadata: {name: a\n", 0, 0, 0,
	  "f:3:1: no valid YAML: while parsing a flow mapping, did not find expected ',' or '}'; "
	  "check indentation, quotes and brackets here" },
	{ "kind: List\nitems:\n- 7\n", 0, 0, 0,
	  "f:3: no object of Kubernetes; write what kubectl get -o json prints" },
	{ LIST("{\"apiVersion\":\"gpupool.io/v1alpha1\",\"kind\":\"PoolNode\",\"metadata\":{"
	       "\"name\":\"n\"},\"status\":7}"),
	  0, 0, 0, "f:1: PoolNode n: status.cards must be a list" },
	{ LIST(DEVICE(DEVICE_GPU) "," DEVICE(DEVICE_GPU)), 0, 0, 0,
	  "f:1: the cards of node n are listed twice; remove one" },
	{ LIST(DEVICE("{\"type\":\"gpu\"}")), 0, 0, 0,
	  "f:1: device n: a card has no id that is a UUID; correct it or leave the object out" },
};

TEST(trace_objects_cases)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error error = ERROR_INIT;
		autotrace trace;

		trace_init(&trace);
		int r = read_text(cases[i].text, TRACE_ALL, &trace, &error);
		assert_string_equal(error.message, cases[i].message ? cases[i].message : "");
		assert_int_equal(r, cases[i].message ? -error.number : 0);
		assert_int_equal(trace.node_count, cases[i].nodes);
		assert_int_equal(trace.pod_count, cases[i].pods);
		assert_int_equal(trace.running_count, cases[i].running);
	}
}

TEST(trace_objects_reads_the_parts_that_are_wanted)
{
	static const char text[] = LIST(NODE("a") "," POD("p", ""));
	struct error error = ERROR_INIT;
	autotrace trace;

	trace_init(&trace);
	assert_int_equal(read_text(text, TRACE_NODES, &trace, &error), 0);
	assert_int_equal(trace.node_count, 1);
	assert_int_equal(trace.pod_count, 0);
	assert_int_equal(read_text(text, TRACE_PODS, &trace, &error), 0);
	assert_int_equal(trace.node_count, 1);
	assert_int_equal(trace.pod_count, 1);
}

/* Where the Pods of the mixed cluster run: "NAME on NODE: UUID/units/compute ...". */
static const char *const mixed_running[] = {
	"default/hami-slice on hami-1: GPU-00000012-7f3a-4c21-9d10-0242ac120002/10/30",
	("default/hami-two on hami-2: GPU-00000021-7f3a-4c21-9d10-0242ac120002/4/0 "
	 "GPU-00000023-7f3a-4c21-9d10-0242ac120002/4/0"),
	"default/volcano-slice on volcano-1: GPU-00000032-7f3a-4c21-9d10-0242ac120002/4/0",
	"team-a/whole on gfd-1:",
	"team-a/instance on mig-1:",
	"team-a/single on single-1:",
	"team-a/replica on replicas-1:",
	"default/half on koord-1: GPU-00000082-7f3a-4c21-9d10-0242ac120002/20/50",
	"default/shared on share-1: share-1:1/3/0",
	"team-b/fraction-1 on kai-1: GPU-00000071-7f3a-4c21-9d10-0242ac120002/11/0",
	"team-b/fraction-2 on kai-1: GPU-00000071-7f3a-4c21-9d10-0242ac120002/5/0",
	"team-b/counted on plain-1:",
	"team-b/gone on nowhere:",
	"web/web on cpu-1:",
};

static const char *const mixed_notes[] = {
	"12 nodes with 25 cards; 18 Pods, of which 14 run already",
	"1 Pod has ended and holds nothing, such as team-b/done",
	("1 Pod keeps a card for KAI and is passed over, such as "
	 "kai-resource-reservation/gpu-reservation-kai-1-x2k9p"),
	"1 Pod asks in a way that is refused and is left out, the first: " /* and the file */,
	"3 objects of other kinds are passed over: Service, DaemonSet",
	("1 Pod runs on a node that is not listed and holds nothing, such as team-b/gone on "
	 "left-the-cluster"),
	("5 Pods run on cards that are not known; some of their nodes' are chosen for them, such "
	 "as "
	 "team-a/whole"),
	"1 node says only how many cards it has: of unknown model and size, such as plain-1",
	"1 node offers fewer cards than it has; the last ones are taken to be sick, such as gfd-1",
	"2 nodes do not say which card has which MIG instances; it is worked out, such as mig-1",
	"1 Pod asks for nvidia.com/gpu where that is a MIG instance, such as team-a/single",
	("1 Pod asks for a replica of a card; it is read as an even part of one, such as "
	 "team-a/replica"),
};

static void check_running(const struct trace *trace, size_t at)
{
	const struct trace_running *running = &trace->running[at];
	autostrbuf text = STRBUF_INIT(1024);

	strbuf_addf(&text, "%s on %s:", trace_pod_name(trace, running->pod),
		    running->node == TRACE_NO_NODE ? "nowhere" : trace->nodes[running->node].name);
	for (size_t i = 0; i < running->grant_count; i++)
		for (size_t k = 0; k < running->grants[i].card_count; k++) {
			const struct grant_card *card = &running->grants[i].cards[k];

			strbuf_addf(&text, " %s/%u/%u", card->uuid, card->units,
				    card->compute_percent);
		}
	assert_string_equal(text.data, mixed_running[at]);
}

static const struct demand *demand_of(const struct trace *trace, size_t running)
{
	return &trace->shapes[trace->pods[trace->running[running].pod].shape].demand;
}

static void check_mixed(const char *path)
{
	cleanup(string_list_release) struct string_list notes = { .count = 0 };
	struct error error = ERROR_INIT;
	autotrace trace;

	trace_init(&trace);
	assert_int_equal(trace_read(&trace, TRACE_ALL, path, &error), 0);
	assert_int_equal(trace_finish(&trace, &error), 0);
	assert_int_equal(trace.running_count, ARRAY_SIZE(mixed_running));
	for (size_t i = 0; i < ARRAY_SIZE(mixed_running); i++)
		check_running(&trace, i);
	/* Where nvidia.com/gpu is an instance or a replica, that is what was asked for. */
	assert_int_equal(demand_of(&trace, 5)->requests[0].kind, REQUEST_MIG);
	assert_int_equal(demand_of(&trace, 5)->requests[0].cards, 3);
	assert_string_equal(demand_of(&trace, 5)->requests[0].mig_profile, "1g.10gb");
	assert_int_equal(demand_of(&trace, 6)->requests[0].kind, REQUEST_SLICE);
	assert_int_equal(demand_of(&trace, 6)->requests[0].memory_percent, 25);
	assert_int_equal(trace_notes(&trace, &notes), 0);
	assert_int_equal(notes.count, ARRAY_SIZE(mixed_notes));
	for (size_t i = 0; i < notes.count; i++)
		assert_int_equal(strncmp(notes.items[i], mixed_notes[i], strlen(mixed_notes[i])),
				 0);
}

TEST(trace_objects_of_a_mixed_cluster)
{
	check_mixed(CLUSTERS "mixed.json");
	check_mixed(CLUSTERS "mixed.yaml");
}

/* All nodes give instances as nvidia.com/gpu: Pods that wait ask for those, too. */
TEST(trace_objects_where_all_nodes_share_alike)
{
	static const char text[] =
		"kind: Node\nmetadata:\n  name: a\n  labels:\n    nvidia.com/gpu.count: \"7\"\n"
		"    nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB-MIG-1g.5gb\n---\n"
		"kind: Node\nmetadata: {name: b}\n---\n"
		"kind: Pod\nmetadata: {name: p}\nspec: {containers: [{resources: {limits: "
		"{nvidia.com/gpu: 2}}}]}\n";
	struct error error = ERROR_INIT;
	autotrace trace;

	trace_init(&trace);
	assert_int_equal(read_text(text, TRACE_ALL, &trace, &error), 0);
	assert_int_equal(trace_finish(&trace, &error), 0);
	const struct trace_shape *shape = &trace.shapes[trace.pods[0].shape];
	assert_int_equal(shape->demand.requests[0].kind, REQUEST_MIG);
	assert_string_equal(shape->demand.requests[0].mig_profile, "1g.5gb");
	assert_int_equal(shape->class, TRACE_SHARE);
	assert_int_equal(shape->milli, 125);
}

/* A Pod that is left out can be found in the listing: in JSON, and in YAML at the line of its limits. */
TEST(trace_objects_say_where_a_refused_pod_stands)
{
	static const struct {
		const char *text, *note;
	} refused[] = {
		{ LIST("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{"
		       "}]}},\n"
		       "\n{\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"},\"spec\":{\"containers\":"
		       "[{\"name\":"
		       "\"c\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1.5\"}}}]}}"),
		  "f:3: container c of Pod default/b asks for nvidia.com/gpu: 1.5" },
		{ "kind: Pod\nmetadata: {name: b}\nspec:\n  containers:\n  - name: c\n    "
		  "resources:\n"
		  "      limits:\n        nvidia.com/gpu: 1.5\n",
		  "f:8: container c of Pod default/b asks for nvidia.com/gpu: 1.5" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		cleanup(string_list_release) struct string_list notes = { .count = 0 };
		struct error error = ERROR_INIT;
		autotrace trace;

		trace_init(&trace);
		assert_int_equal(read_text(refused[i].text, TRACE_PODS, &trace, &error), 0);
		assert_int_equal(trace_notes(&trace, &notes), 0);
		bool said = false;

		for (size_t k = 0; k < notes.count; k++)
			said = said || strstr(notes.items[k], refused[i].note);
		assert_true(said);
	}
}

/* Cards from an object of their own: of a node that is listed, and of one that is not. */
TEST(trace_objects_cards_of_devices)
{
	static const char text[] =
		"kind: Node\nmetadata: {name: b, labels: {node.koordinator.sh/gpu-model: "
		"Tesla-T4}}\n"
		"status: {allocatable: {koordinator.sh/gpu: 100, koordinator.sh/gpu-memory: "
		"15Gi}}\n"
		"---\nkind: Device\napiVersion: scheduling.koordinator.sh/v1alpha1\n"
		"metadata: {name: b}\nspec:\n  devices:\n  - {type: gpu, id: GPU-b, minor: 0, "
		"health: "
		"true, resources: {koordinator.sh/gpu-memory: 16Gi}}\n"
		"---\nkind: Device\napiVersion: scheduling.koordinator.sh/v1alpha1\n"
		"metadata: {name: a}\nspec:\n  devices:\n  - {type: gpu, id: GPU-a, minor: 0, "
		"health: "
		"true, resources: {koordinator.sh/gpu-memory: 16Gi}}\n";
	struct error error = ERROR_INIT;
	autotrace trace;

	trace_init(&trace);
	assert_int_equal(read_text(text, TRACE_ALL, &trace, &error), 0);
	assert_int_equal(trace_finish(&trace, &error), 0);
	assert_int_equal(trace.node_count, 2);
	assert_string_equal(trace.nodes[0].inventory.cards[0].model, "unknown");
	assert_string_equal(trace.nodes[1].inventory.cards[0].model, "Tesla T4");
	assert_string_equal(trace.nodes[1].inventory.cards[0].uuid, "GPU-b");
	assert_int_equal(card_units(&trace.nodes[1].inventory.cards[0]), 16);
}

#define POOLNODE(name, cards)                                             \
	"{\"apiVersion\":\"gpupool.io/"                                   \
	"v1alpha1\",\"kind\":\"PoolNode\",\"metadata\":{\"name\":\"" name \
	"\"},\"status\":{\"cards\":[" cards "]}}"
#define POOLCARD(uuid, mode, grants)                                                  \
	"{\"uuid\":\"" uuid                                                           \
	"\",\"model\":\"NVIDIA A100-SXM4-40GB\",\"memoryMiB\":40960,\"mode\":\"" mode \
	"\",\"grants\":[" grants "]}"
#define POOLGRANT(pod, container, what) \
	"{\"namespace\":\"a\",\"pod\":\"" pod "\",\"container\":\"" container "\"," what "}"

static const char poolnodes[] = "{\"kind\":\"List\",\"items\":[" POOLNODE(
	"n", POOLCARD("GPU-a", "auto", POOLGRANT("p", "c", "\"units\":4")) "," POOLCARD(
		     "GPU-b", "auto",
		     POOLGRANT("q", "c",
			       "\"cards\":1")) "," POOLCARD("GPU-c", "mig",
							    POOLGRANT("q", "d",
								      "\"migProfile\":\"1g.5gb\","
								      "\"migStart\":2")));
static const char poolpods[] =
	",{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"a\"},\"spec\":{"
	"\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{"
	"\"cpu\":2,\"gpupool.io/gpu-memory\":4}}}]}}";

/* Cards and who holds them, from PoolNodes alone and beside the Pods themselves. */
TEST(trace_objects_poolnodes)
{
	for (int with_pods = 0; with_pods < 2; with_pods++) {
		struct error error = ERROR_INIT;
		autofree char *text = NULL;
		autotrace trace;

		assert_true(asprintf(&text, "%s%s]}", poolnodes, with_pods ? poolpods : "") > 0);
		trace_init(&trace);
		assert_int_equal(read_text(text, TRACE_ALL, &trace, &error), 0);
		assert_int_equal(trace_finish(&trace, &error), 0);
		assert_int_equal(trace.node_count, 1);
		assert_int_equal(trace.nodes[0].inventory.card_count, 3);
		assert_int_equal(trace.nodes[0].inventory.cards[2].mode, CARD_MODE_MIG);
		assert_int_equal(trace.running_count, 2);
		assert_string_equal(trace_pod_name(&trace, 0), "a/p");
		assert_string_equal(trace.running[0].grants[0].cards[0].uuid, "GPU-a");
		assert_int_equal(trace.running[0].grants[0].cards[0].units, 4);
		assert_int_equal(demand_of(&trace, 0)->needs.cpu_milli, with_pods ? 2000 : 0);
		assert_int_equal(trace.running[1].grant_count, 2);
		assert_int_equal(trace.running[1].grants[0].kind, REQUEST_WHOLE);
		assert_int_equal(trace.running[1].grants[0].cards[0].units, 40);
		assert_string_equal(demand_of(&trace, 1)->requests[1].mig_profile, "1g.5gb");
		assert_int_equal(trace.running[1].grants[1].cards[0].mig_start, 2);
	}
}

TEST(trace_objects_poolnodes_short_of_memory)
{
	autofree char *text = NULL;

	assert_true(asprintf(&text, "%s%s]}", poolnodes, poolpods) > 0);
	for (unsigned n = 0;; n++) {
		struct error error = ERROR_INIT;
		autotrace trace;
		char folder[] = "/tmp/gpupool-objects-XXXXXX";

		assert_non_null(mkdtemp(folder));
		assert_int_equal(chdir(folder), 0);
		assert_int_equal(file_write_atomic("f", text, strlen(text), 0600, &error), 0);
		trace_init(&trace);
		fault_arm(n);
		int r = trace_read(&trace, TRACE_ALL, "f", &error);
		if (r == 0)
			r = trace_finish(&trace, &error);
		bool failed = fault_disarm();
		unlink("f");
		assert_int_equal(chdir("/"), 0);
		assert_int_equal(rmdir(folder), 0);
		assert_int_equal(r, failed ? -ENOMEM : 0);
		if (!failed)
			break;
	}
}

TEST(trace_objects_short_of_memory)
{
	for (unsigned n = 0;; n++) {
		cleanup(string_list_release) struct string_list notes = { .count = 0 };
		struct error error = ERROR_INIT;
		autotrace trace;

		trace_init(&trace);
		fault_arm(n);
		int r = trace_read(&trace, TRACE_ALL, CLUSTERS "small.json", &error);
		if (r == 0)
			r = trace_finish(&trace, &error);
		if (r == 0)
			r = trace_notes(&trace, &notes);
		if (r == 0 && !fault_disarm()) {
			assert_true(n > 100);
			break;
		}
		fault_disarm();
		assert_int_equal(r, -ENOMEM);
	}
}
