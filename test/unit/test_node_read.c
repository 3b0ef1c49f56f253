/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "model/model.h"

#define NODE(metadata, status)   "{\"metadata\":{\"name\":\"n\"" metadata "},\"status\":{" status "}}"
#define ANNOTATED(key, value)    NODE(",\"annotations\":{\"" key "\":\"" value "\"}", "")
#define LABELLED(labels, status) NODE(",\"labels\":{" labels "}", status)
#define LABEL(key, value)        "\"nvidia.com/" key "\":\"" value "\""
#define HAMI(value)              ANNOTATED("hami.io/node-nvidia-register", value)
#define VOLCANO(value)           ANNOTATED("volcano.sh/node-vgpu-register", value)
#define OFFERS(what)             "\"allocatable\":{" what "}"
#define HAS(what)                "\"capacity\":{" what "}"
#define A100_MIXED                                    \
	LABEL("gpu.product", "NVIDIA-A100-SXM4-80GB") \
	"," LABEL("gpu.memory", "81920") "," LABEL("mig.strategy", "mixed")

static const char *const mode_letters = "WSRPMA";

/* "UUID model MiB numa mode[!][ profile@start...]; ..." */
static void summarize(const struct node_spec *node, struct strbuf *out)
{
	for (size_t i = 0; i < node->inventory.card_count; i++) {
		const struct card *card = &node->inventory.cards[i];

		strbuf_addf(out, "%s%s#%u %s %ju %d %c%s", i ? "; " : "", card->uuid, card->index,
			    card->model, (uintmax_t)(card->memory_bytes >> 20), card->numa,
			    mode_letters[card->mode],
			    card->condition.health == CARD_HEALTHY ? "" : "!");
		for (size_t k = 0; k < card->mig_count; k++)
			strbuf_addf(out, " %s@%u", card->mig[k].profile, card->mig[k].start);
	}
}

static int read_text(const char *text, struct node_spec *node, struct node_reading *reading,
		     struct error *error)
{
	autojson *object = NULL;
	int r = json_parse(text, strlen(text), "f", NULL, &object, error);

	node_spec_init(node);
	return r < 0 ? r : node_read(object, "f", 7, node, reading, error);
}

/* The formats' sources are named in model/node_read.h. */
static const struct {
	const char *text, *cards, *problem;
	enum card_origin origin;
} cases[] = {
	{ NODE("", ""), "", "", CARD_ORIGIN_NONE },
	{ HAMI("GPU-a,10,81920,100,NVIDIA-NVIDIA A100-SXM4-80GB,0,true,0,hami-core:"
	       "GPU-b,10,81920,100,NVIDIA-NVIDIA A100-SXM4-80GB,1,false,1,hami-core:"),
	  "GPU-a#0 NVIDIA A100-SXM4-80GB 81920 0 A; GPU-b#1 NVIDIA A100-SXM4-80GB 81920 1 A!", "",
	  CARD_ORIGIN_HAMI },
	{ HAMI("GPU-a,10,15360,100,NVIDIA-Tesla T4,0,true:"), "GPU-a#0 Tesla T4 15360 0 A", "",
	  CARD_ORIGIN_HAMI },
	{ HAMI("[{\\\"id\\\":\\\"GPU-a\\\",\\\"count\\\":10,\\\"devmem\\\":24576,\\\"type\\\":"
	       "\\\"NVIDIA L4\\\",\\\"health\\\":true},{\\\"id\\\":\\\"GPU-b\\\",\\\"index\\\":3,"
	       "\\\"devmem\\\":24576,\\\"type\\\":\\\"NVIDIA L4\\\",\\\"numa\\\":1}]"),
	  "GPU-a#0 NVIDIA L4 24576 0 A; GPU-b#3 NVIDIA L4 24576 1 A!", "", CARD_ORIGIN_HAMI },
	{ HAMI(":"), "", "", CARD_ORIGIN_NONE },
	{ HAMI("GPU-a,10,81920"), "",
	  "annotation hami.io/node-nvidia-register is not what its "
	  "writer prints",
	  CARD_ORIGIN_NONE },
	{ HAMI("GPU-a,1,-5,100,T4,0,true:"), "",
	  "annotation hami.io/node-nvidia-register is not what its writer prints",
	  CARD_ORIGIN_NONE },
	{ HAMI("GPU-a,1,9,100,T4,0,true:GPU-a,1,9,100,T4,0,true:"), "",
	  "annotation hami.io/node-nvidia-register is not what its writer prints",
	  CARD_ORIGIN_NONE },
	{ HAMI("GPU a,1,9,100,T4,0,true:"), "",
	  "annotation hami.io/node-nvidia-register is not what its writer prints",
	  CARD_ORIGIN_NONE },
	{ HAMI("[{\\\"id\\\":"), "",
	  "annotation hami.io/node-nvidia-register is not what its writer prints",
	  CARD_ORIGIN_NONE },
	{ HAMI("[7]"), "", "annotation hami.io/node-nvidia-register is not what its writer prints",
	  CARD_ORIGIN_NONE },
	{ NODE(",\"annotations\":{\"hami.io/node-nvidia-register\":"
	       "\"GPU-a,1,9,100,T4,0,true:GPU-b,1,9,100,T4,0,true:\","
	       "\"hami.io/device-cordon\":\"GPU-b\"}",
	       ""),
	  "GPU-a#0 T4 9 0 A; GPU-b#1 T4 9 0 A!", "", CARD_ORIGIN_HAMI },
	{ VOLCANO("GPU-a,10,15360,NVIDIA-Tesla T4,true,hami-core:GPU-b,1,1126,NVIDIA-NVIDIA "
		  "GeForce GTX 1080 Ti,false:"),
	  "GPU-a#0 Tesla T4 15360 -1 A; GPU-b#1 NVIDIA GeForce GTX 1080 Ti 1126 -1 A!", "",
	  CARD_ORIGIN_VOLCANO },
	{ LABELLED("\"node.koordinator.sh/gpu-model\":\"Tesla-T4\"",
		   OFFERS("\"koordinator.sh/gpu\":200,\"koordinator.sh/gpu-memory\":\"30Gi\"")),
	  "n:0#0 Tesla T4 15360 -1 A; n:1#1 Tesla T4 15360 -1 A", "", CARD_ORIGIN_KOORDINATOR },
	{ NODE("", OFFERS("\"aliyun.com/gpu-mem\":\"30\",\"aliyun.com/gpu-count\":\"2\"")),
	  "n:0#0 unknown 15360 -1 A; n:1#1 unknown 15360 -1 A", "", CARD_ORIGIN_GPUSHARE },
	{ LABELLED("\"aliyun.accelerator/nvidia_name\":\"Tesla-T4\"",
		   OFFERS("\"aliyun.com/gpu-mem\":\"15360\",\"aliyun.com/gpu-count\":\"1\"")),
	  "n:0#0 Tesla T4 15360 -1 A", "", CARD_ORIGIN_GPUSHARE },
	{ LABELLED(LABEL("gpu.product", "NVIDIA-H100-80GB-HBM3") "," LABEL(
			   "gpu.count", "2") "," LABEL("gpu.memory", "81559"),
		   OFFERS("\"nvidia.com/gpu\":1") "," HAS("\"nvidia.com/gpu\":2")),
	  "n:0#0 NVIDIA H100 80GB HBM3 81559 -1 A; n:1#1 NVIDIA H100 80GB HBM3 81559 -1 A!", "",
	  CARD_ORIGIN_LABELS },
	{ LABELLED(LABEL("gpu.product", "New-Card-SHARED") "," LABEL("gpu.count", "1"), ""),
	  "n:0#0 New-Card 0 -1 A", "", CARD_ORIGIN_LABELS },
	{ LABELLED(LABEL("gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-3g.40gb-SHARED") "," LABEL(
			   "gpu.count", "3") "," LABEL("gpu.memory", "40192"),
		   ""),
	  "n:0#0 NVIDIA A100-SXM4-80GB 80384 -1 M 3g.40gb@4 3g.40gb@0; n:1#1 NVIDIA "
	  "A100-SXM4-80GB 80384 -1 M 3g.40gb@4",
	  "", CARD_ORIGIN_LABELS },
	{ LABELLED(LABEL("gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-INVALID") "," LABEL("gpu.count",
										       "0"),
		   ""),
	  "", "", CARD_ORIGIN_NONE },
	{ LABELLED(LABEL("gpu.product", "Tesla-T4-MIG-1g.5gb") "," LABEL("gpu.count", "7"), ""), "",
	  "MIG profile 1g.5gb of Tesla T4 is not known here", CARD_ORIGIN_NONE },
	{ LABELLED(A100_MIXED "," LABEL("gpu.count", "2") "," LABEL(
			   "mig-1g.10gb.count", "2") "," LABEL("mig-3g.40gb.count", "1"),
		   HAS("\"nvidia.com/gpu\":1")),
	  "n:0#0 NVIDIA A100-SXM4-80GB 81920 -1 A; n:1#1 NVIDIA A100-SXM4-80GB 81920 -1 M "
	  "3g.40gb@4 1g.10gb@0 1g.10gb@1",
	  "", CARD_ORIGIN_LABELS },
	{ LABELLED(A100_MIXED "," LABEL("gpu.count", "1") "," LABEL("mig-3g.40gb.count", "3"), ""),
	  "n:0#0 NVIDIA A100-SXM4-80GB 81920 -1 M 3g.40gb@4 3g.40gb@0",
	  "1 instances 3g.40gb do not fit on 1 cards", CARD_ORIGIN_LABELS },
	{ NODE("", OFFERS("\"nvidia.com/gpu\":\"2\"")),
	  "n:0#0 unknown 0 -1 A; n:1#1 unknown 0 -1 A", "", CARD_ORIGIN_COUNT },
};

TEST(node_read_cards_of_every_source)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error error = ERROR_INIT;
		cleanup(node_spec_release) struct node_spec node;
		struct node_reading reading = { .beyond = 0 };
		autostrbuf cards = STRBUF_INIT(8192);

		assert_int_equal(read_text(cases[i].text, &node, &reading, &error), 0);
		summarize(&node, &cards);
		assert_string_equal(cards.data, cases[i].cards);
		assert_string_equal(reading.problem, cases[i].problem);
		assert_int_equal(reading.origin, cases[i].origin);
	}
}

TEST(node_read_more_cards_than_there_can_be)
{
	static const struct {
		const char *text;
		unsigned beyond;
	} rows[] = {
		{ NODE("", OFFERS("\"nvidia.com/gpu\":\"80\"")), 16 },
		{ LABELLED(LABEL("gpu.product", "X") "," LABEL("gpu.count", "65"), ""), 1 },
		{ LABELLED(LABEL("gpu.product", "NVIDIA-A30-MIG-4g.24gb") "," LABEL("gpu.count",
										    "66"),
			   ""),
		  1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error = ERROR_INIT;
		cleanup(node_spec_release) struct node_spec node;
		struct node_reading reading = { .beyond = 0 };

		assert_int_equal(read_text(rows[i].text, &node, &reading, &error), 0);
		assert_int_equal(node.inventory.card_count, CARDS_MAX);
		assert_int_equal(reading.beyond, rows[i].beyond);
	}
}

static const char full[] =
	"{\"metadata\":{\"name\":\"n\",\"labels\":{\"zone\":\"b\",\"arch\":\"amd64\"}},\"spec\":{"
	"\"unschedulable\":true,\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":"
	"\"NoExecute\"},{\"key\":\"l\",\"effect\":\"NoSchedule\"}]},\"status\":{\"allocatable\":{"
	"\"cpu\":\"31850m\",\"memory\":\"2049Ki\",\"pods\":\"110\",\"nvidia.com/gpu\":2}}}";

TEST(node_read_reads_a_node)
{
	struct error error = ERROR_INIT;
	cleanup(node_spec_release) struct node_spec node;
	struct node_reading reading;

	assert_int_equal(read_text(full, &node, &reading, &error), 0);
	assert_string_equal(node.name, "n");
	assert_true(node.unschedulable);
	assert_string_equal(node_spec_label(&node, "zone"), "b");
	assert_int_equal(node.taint_count, 2);
	assert_string_equal(node.taints[0].value, "v");
	assert_null(node.taints[1].value);
	assert_int_equal(node.taints[0].effect, TAINT_NO_EXECUTE);
	assert_int_equal(node.allocatable.cpu_milli, 31850);
	assert_int_equal(node.allocatable.memory_mib, 2);
	assert_int_equal(node.allocatable.pods, 110);
}

static const struct {
	const char *text, *message;
} faults[] = {
	{ "7", "f:7: node: metadata.name has to be a name of 1 to 88 bytes" },
	{ "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":1}}}",
	  "f:7: node n: a label is no text; quote it" },
	{ "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"\\u0007\"}}}",
	  "f:7: node n: a label has a control character; remove it" },
	{ "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":"
	  "\"\\u0007\","
	  "\"effect\":\"NoSchedule\"}]}}",
	  "f:7: node n: a taint has a control character; remove it" },
	{ "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"unschedulable\":1}}",
	  "f:7: node n: spec.unschedulable is neither true nor false" },
	{ "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"taints\":[{\"key\":\"k\"}]}}",
	  "f:7: node n: a taint has no key or an unknown effect; write NoSchedule, "
	  "PreferNoSchedule "
	  "or NoExecute" },
	{ NODE("", OFFERS("\"cpu\":\"-1\"")),
	  "f:7: node n: cpu, memory or pods below status.allocatable is no quantity of 0 or more; "
	  "write one" },
	{ NODE("", OFFERS("\"nvidia.com/gpu\":\"-2\"")),
	  "f:7: node n: nvidia.com/gpu below status.allocatable is no quantity of 0 or more; "
	  "write one" },
	{ NODE("", OFFERS("\"cpu\":\"9E\"")),
	  "f:7: node n: cpu is more than any machine has; write less" },
};

TEST(node_read_refuses)
{
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct error error = ERROR_INIT;
		cleanup(node_spec_release) struct node_spec node;
		struct node_reading reading;

		assert_int_equal(read_text(faults[i].text, &node, &reading, &error), -EINVAL);
		assert_string_equal(error.message, faults[i].message);
	}
}

TEST(node_sharing_by_labels)
{
	static const struct {
		const char *text, *profile;
		enum node_sharing sharing;
		unsigned count;
	} rows[] = {
		{ NODE("", ""), "", NODE_SHARING_NONE, 0 },
		{ LABELLED(LABEL("gpu.product", "Tesla-T4-SHARED") "," LABEL(
				   "gpu.count", "1") "," LABEL("gpu.replicas", "4"),
			   ""),
		  "", NODE_SHARING_REPLICAS, 4 },
		{ LABELLED(LABEL("gpu.product", "Tesla-T4") "," LABEL("gpu.count", "1") "," LABEL(
				   "gpu.replicas", "1"),
			   ""),
		  "", NODE_SHARING_NONE, 0 },
		{ LABELLED(
			  LABEL("gpu.product", "NVIDIA-A30-MIG-1g.6gb") "," LABEL("gpu.count", "4"),
			  ""),
		  "1g.6gb", NODE_SHARING_MIG, 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error = ERROR_INIT;
		cleanup(node_spec_release) struct node_spec node;
		struct node_reading reading;
		char profile[CARD_MIG_MAX] = "";
		unsigned count = 0;

		assert_int_equal(read_text(rows[i].text, &node, &reading, &error), 0);
		assert_int_equal(node_sharing(&node, profile, &count), rows[i].sharing);
		assert_int_equal(count, rows[i].count);
		assert_string_equal(profile, rows[i].profile);
	}
}

static const struct {
	const char *text, *cards, *message;
	int r;
} devices[] = {
	{ "{}", "", "", -ENOENT },
	{ "{\"spec\":{\"devices\":[{\"type\":\"gpu\",\"id\":\"GPU-a\",\"minor\":1,\"health\":true,"
	  "\"resources\":{\"koordinator.sh/gpu-memory\":\"16Gi\"},\"topology\":{\"nodeID\":1}},"
	  "{\"type\":\"rdma\",\"id\":\"x\"},{\"type\":\"gpu\",\"id\":\"GPU-b\",\"minor\":0,"
	  "\"resources\":{\"koordinator.sh/gpu-memory\":\"16Gi\"}}]}}",
	  "GPU-a#1  16384 1 A; GPU-b#0  16384 -1 A!", "", 0 },
	{ "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"devices\":[{\"type\":\"gpu\"}]}}", "",
	  "f:7: device n: a card has no id that is a UUID; correct it or leave the object out",
	  -EINVAL },
	{ "{\"spec\":{\"devices\":[{\"type\":\"gpu\",\"id\":\"a\",\"minor\":64}]}}", "",
	  "f:7: device : a card has no minor from 0 to 63; correct it or leave the object out",
	  -EINVAL },
	{ "{\"spec\":{\"devices\":[{\"type\":\"gpu\",\"id\":\"a\",\"minor\":0}]}}", "",
	  "f:7: device : a card's koordinator.sh/gpu-memory is no quantity that a card can have; "
	  "correct it or leave the object out",
	  -EINVAL },
	{ "{\"spec\":{\"devices\":[{\"type\":\"gpu\",\"id\":\"a\",\"minor\":0,\"resources\":{"
	  "\"koordinator.sh/gpu-memory\":1}},{\"type\":\"gpu\",\"id\":\"a\"}]}}",
	  "", "f:7: device : two cards have one id; correct it or leave the object out", -EINVAL },
};

TEST(koordinator_devices)
{
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		struct error error = ERROR_INIT;
		cleanup(node_spec_release) struct node_spec node;
		autostrbuf cards = STRBUF_INIT(8192);
		autojson *object = NULL;

		node_spec_init(&node);
		assert_int_equal(json_parse(devices[i].text, strlen(devices[i].text), "f", NULL,
					    &object, &error),
				 0);
		assert_int_equal(koordinator_device_read(object, "f", 7, &node.inventory, &error),
				 devices[i].r);
		summarize(&node, &cards);
		assert_string_equal(cards.data, devices[i].cards);
		assert_string_equal(error.message, devices[i].message);
	}
}

TEST(node_read_short_of_memory)
{
	for (size_t i = 0; i <= ARRAY_SIZE(cases); i++)
		for (unsigned n = 0;; n++) {
			struct error error = ERROR_INIT;
			cleanup(node_spec_release) struct node_spec node;
			struct node_reading reading;

			fault_arm(n);
			int r = read_text(i ? cases[i - 1].text : full, &node, &reading, &error);
			if (!fault_disarm()) {
				assert_int_equal(r, 0);
				break;
			}
			assert_int_equal(r, -ENOMEM);
		}
}
