/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "model/model.h"

#define POD(metadata, containers)                                                  \
	"{\"metadata\":{\"name\":\"p\"" metadata "},\"spec\":{\"nodeName\":\"n\"," \
	"\"containers\":[" containers "]}}"
#define NOTED(key, value)  ",\"annotations\":{\"" key "\":\"" value "\"}"
#define BOX(name, limits)  "{\"name\":\"" name "\",\"resources\":{\"limits\":{" limits "}}}"
#define SLICE              "\"nvidia.com/gpu\":1,\"nvidia.com/gpumem\":8192"
#define WHOLE              "\"nvidia.com/gpu\":1"
#define HAMI(value)        NOTED("hami.io/vgpu-devices-allocated", value)
#define VOLCANO(value)     NOTED("volcano.sh/vgpu-ids-new", value)
#define VOLCANO_SLICE      "\"volcano.sh/vgpu-number\":1,\"volcano.sh/vgpu-memory\":4000"
#define KOORDINATOR(value) NOTED("scheduling.koordinator.sh/device-allocated", value)
#define GPUSHARE(value)    NOTED("ALIYUN_COM_GPU_MEM_IDX", value)
#define OURS(value)        NOTED("gpupool.io/cards", value)
#define GRANT(container, kind)                                                                     \
	"{\\\"version\\\":1,\\\"namespace\\\":\\\"\\\",\\\"pod\\\":\\\"\\\",\\\"uid\\\":\\\"\\\"," \
	"\\\"container\\\":\\\"" container "\\\",\\\"kind\\\":\\\"" kind                           \
	"\\\",\\\"enforcement\\\":\\\"none (reserved only)\\\",\\\"cards\\\":[{\\\"uuid\\\":"      \
	"\\\"GPU-a\\\",\\\"units\\\":8,\\\"memoryMiB\\\":8192,\\\"computePercent\\\":0}]}"
#define KAI(labels) ",\"annotations\":{\"gpu-fraction\":\"0.5\"},\"labels\":{" labels "}"

/* "kind:UUID/units/MiB/compute ..." a grant. */
static void summarize(const struct demand *demand, struct strbuf *out)
{
	for (size_t i = 0; i < demand->grant_count; i++) {
		const struct grant *grant = &demand->grants[i];

		strbuf_addf(out, "%s%s:", i ? "; " : "", request_kind_to_string(grant->kind));
		for (size_t k = 0; k < grant->card_count; k++)
			strbuf_addf(out, " %s/%u/%ju/%u", grant->cards[k].uuid,
				    grant->cards[k].units, (uintmax_t)grant->cards[k].memory_mib,
				    grant->cards[k].compute_percent);
	}
}

static int read_text(const char *text, struct demand *demand)
{
	cleanup(string_list_release) struct string_list notes = { .count = 0 };
	struct error error = ERROR_INIT;
	autojson *pod = NULL;
	int r = json_parse(text, strlen(text), "f", NULL, &pod, &error);

	demand_init(demand);
	if (r == 0)
		r = demand_read(pod, "f", 1, &notes, demand, &error);
	return r < 0 ? r : grants_read(pod, demand);
}

/* The formats' sources are named in model/grants_read.h. */
static const struct {
	const char *text, *grants; /* "": not known */
} cases[] = {
	{ POD("", BOX("a", WHOLE)), "" },
	{ POD("", BOX("a", "")), "" },
	{ POD(HAMI("GPU-a,NVIDIA,8192,30:;"), BOX("a", SLICE)), "slice: GPU-a/8/8192/30" },
	{ POD(HAMI("GPU-a,NVIDIA,8000,0:;"), BOX("a", SLICE)), "slice: GPU-a/8/8000/0" },
	{ POD(HAMI("GPU-a[7-9],NVIDIA,8192,30:;"), BOX("a", SLICE)), "slice: GPU-a/8/8192/30" },
	{ POD(HAMI("GPU-a,NVIDIA,81920,0:;"), BOX("a", WHOLE)), "whole: GPU-a/0/0/0" },
	{ POD(HAMI("GPU-a,NVIDIA,8192,0:GPU-b,NVIDIA,8192,0:;"),
	      BOX("a", "\"nvidia.com/gpu\":2,\"nvidia.com/gpumem\":8192")),
	  "slice: GPU-a/8/8192/0 GPU-b/8/8192/0" },
	{ POD(HAMI(";GPU-b,NVIDIA,8192,0:;"), BOX("a", "") "," BOX("b", SLICE)),
	  "slice: GPU-b/8/8192/0" },
	{ POD(HAMI("GPU-a,NVIDIA,8192,0:;;GPU-c,NVIDIA,8192,0:;"),
	      BOX("a", SLICE) "," BOX("b", "") "," BOX("c", SLICE)),
	  "slice: GPU-a/8/8192/0; slice: GPU-c/8/8192/0" },
	/* An init container that asked for a card has a segment of its own before the others. */
	{ "{\"metadata\":{\"name\":\"p\"" HAMI(
		  "GPU-i,NVIDIA,1,0:;;GPU-b,NVIDIA,8192,0:;") "},\"spec\":{\"nodeName\":\"n\","
							      "\"initContainers\":[" BOX(
								      "i",
								      SLICE) "],\"containers\":"
									     "[" BOX("a", "") "," BOX(
										     "b",
										     SLICE) "]}}",
	  "slice: GPU-b/8/8192/0" },
	{ POD(HAMI("GPU-a,NVIDIA,8192:;"), BOX("a", SLICE)), "" },
	{ POD(HAMI("GPU-a,NVIDIA,-8192,0:;"), BOX("a", SLICE)), "" },
	{ POD(HAMI(",NVIDIA,8192,0:;"), BOX("a", SLICE)), "" },
	{ POD(HAMI("@x,NVIDIA,8192,0:;"), BOX("a", SLICE)), "" },
	{ POD(HAMI(";"), BOX("a", SLICE)), "" },
	{ POD(VOLCANO("GPU-a,NVIDIA,4000,20:"), BOX("a", "") "," BOX("b", VOLCANO_SLICE)),
	  "slice: GPU-a/4/4000/20" },
	{ POD(VOLCANO("GPU-a,NVIDIA,4000,0:;GPU-b,NVIDIA,4000,0:"),
	      BOX("a", VOLCANO_SLICE) "," BOX("b", VOLCANO_SLICE)),
	  "slice: GPU-a/4/4000/0; slice: GPU-b/4/4000/0" },
	{ POD(NOTED("volcano.sh/gpu-index", "2"), BOX("a", "\"volcano.sh/gpu-memory\":4000")),
	  "slice: #2/4/4000/0" },
	{ POD(NOTED("volcano.sh/gpu-index", "0,3"), BOX("a", "\"volcano.sh/gpu-number\":2")),
	  "whole: #0/0/0/0 #3/0/0/0" },
	{ POD(NOTED("volcano.sh/gpu-index", "0,1,2"), BOX("a", "\"volcano.sh/gpu-number\":2")),
	  "" },
	{ POD(NOTED("volcano.sh/gpu-index", "x"), BOX("a", "\"volcano.sh/gpu-number\":1")), "" },
	{ POD(KOORDINATOR("{\\\"gpu\\\":[{\\\"minor\\\":1,\\\"resources\\\":{"
			  "\\\"koordinator.sh/gpu-core\\\":\\\"50\\\",\\\"koordinator.sh/"
			  "gpu-memory\\\":\\\"8Gi\\\"}}]}"),
	      BOX("a", "\"koordinator.sh/gpu-core\":50,\"koordinator.sh/gpu-memory-ratio\":50")),
	  "slice: #1/8/8192/50" },
	{ POD(KOORDINATOR("{\\\"gpu\\\":[{\\\"minor\\\":0},{\\\"minor\\\":5}]}"),
	      BOX("a", "\"koordinator.sh/gpu\":200")),
	  "whole: #0/0/0/0 #5/0/0/0" },
	{ POD(KOORDINATOR("{\\\"gpu\\\":[{\\\"minor\\\":-1}]}"), BOX("a", "\"koordinator.sh/gpu\":"
									  "100")),
	  "" },
	{ POD(KOORDINATOR("{\\\"gpu\\\":"), BOX("a", "\"koordinator.sh/gpu\":100")), "" },
	{ POD(GPUSHARE("1"),
	      BOX("a", "\"aliyun.com/gpu-mem\":3") "," BOX("b", "\"aliyun.com/gpu-mem\":2")),
	  "slice: #1/3/3072/0; slice: #1/2/2048/0" },
	{ POD(GPUSHARE("-1"), BOX("a", "\"aliyun.com/gpu-mem\":3")), "" },
	{ POD(KAI("\"runai-gpu-group\":\"g\""), BOX("a", "")), "slice: @g/0/0/0" },
	{ POD(",\"annotations\":{\"gpu-memory\":\"2000\",\"gpu-fraction-num-devices\":\"2\"},"
	      "\"labels\":{\"runai-gpu-group/g\":\"g\",\"runai-gpu-group/h\":\"h\"}",
	      BOX("a", "")),
	  "slice: @g/2/2000/0 @h/2/2000/0" },
	{ POD(KAI("\"runai-gpu-groups\":\"g\""), BOX("a", "")), "" },
	{ POD(KAI("\"runai-gpu-group\":\"\""), BOX("a", "")), "" },
	{ POD(OURS("[" GRANT("a", "slice") "]"), BOX("a", SLICE)), "slice: GPU-a/8/8192/0" },
	{ POD(OURS("[" GRANT("b", "slice") "]"), BOX("a", SLICE)), "" },
	{ POD(OURS("[" GRANT("a", "whole") "]"), BOX("a", SLICE)), "" },
	{ POD(OURS("[7]"), BOX("a", SLICE)), "" },
	{ POD(HAMI("GPU-a,NVIDIA,9984,0:;"), BOX("a", "\"nvidia.com/mig-1g.10gb\":1")), "" },
};

TEST(grants_of_every_dialect)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(demand_release) struct demand demand;
		autostrbuf grants = STRBUF_INIT(4096);

		assert_int_equal(read_text(cases[i].text, &demand), cases[i].grants[0] != '\0');
		summarize(&demand, &grants);
		assert_string_equal(grants.data, cases[i].grants);
	}
}

TEST(reservations_of_kai)
{
	static const struct {
		const char *text, *group, *uuid;
		bool is;
	} rows[] = {
		{ "{\"metadata\":{\"namespace\":\"kai-resource-reservation\",\"labels\":{"
		  "\"runai-gpu-group\":\"g\"},\"annotations\":{\"run.ai/reserve_for_gpu_index\":"
		  "\"GPU-a\"}}}",
		  "g", "GPU-a", true },
		{ "{\"metadata\":{\"namespace\":\"runai-reservation\"}}", NULL, NULL, true },
		{ "{\"metadata\":{\"namespace\":\"default\",\"labels\":{\"runai-gpu-group\":"
		  "\"g\"}}}",
		  NULL, NULL, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error = ERROR_INIT;
		autojson *pod = NULL;
		const char *group = NULL, *uuid = NULL;

		assert_int_equal(
			json_parse(rows[i].text, strlen(rows[i].text), "f", NULL, &pod, &error), 0);
		assert_int_equal(grants_is_reservation(pod, &group, &uuid), rows[i].is);
		if (!rows[i].group) {
			assert_null(group);
			assert_null(uuid);
			continue;
		}
		assert_string_equal(group, rows[i].group);
		assert_string_equal(uuid, rows[i].uuid);
	}
}

TEST(grants_short_of_memory)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (unsigned n = 0;; n++) {
			cleanup(demand_release) struct demand demand;

			fault_arm(n);
			int r = read_text(cases[i].text, &demand);
			if (!fault_disarm()) {
				assert_true(r >= 0);
				break;
			}
			assert_int_equal(r, -ENOMEM);
		}
}
