/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"

struct given { /* YAML maps, or NULL */
	const char *limits, *requests, *annotations;
};

struct answer {
	struct yaml_stream streams[3];
	struct request request;
	struct string_list notes;
	struct reason reason;
	struct error error;
	int r;
};

static struct json_object *parse(const char *text, struct yaml_stream *stream)
{
	struct error error = ERROR_INIT;

	if (!text)
		return NULL;
	if (yaml_parse(text, strlen(text), "pod.yaml", stream, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(stream->count, 1);
	return stream->documents[0];
}

static void answer_release(struct answer *answer)
{
	for (size_t i = 0; i < ARRAY_SIZE(answer->streams); i++)
		yaml_stream_release(&answer->streams[i]);
	request_release(&answer->request);
	string_list_release(&answer->notes);
}

#define autoanswer cleanup(answer_release) struct answer

static void ask(const struct given *given, struct answer *answer)
{
	const struct dialect_input input = {
		.limits = parse(given->limits, &answer->streams[0]),
		.requests = parse(given->requests, &answer->streams[1]),
		.annotations = parse(given->annotations, &answer->streams[2]),
		.object = "container main of Pod default/x",
		.pod = "x",
		.path = "spec.containers[0].resources",
	};

	print_message("# limits %s requests %s annotations %s\n", given->limits, given->requests,
		      given->annotations);
	answer->r = dialect_translate(&input, &answer->request, &answer->notes, &answer->reason,
				      &answer->error);
}

static const struct {
	struct given given;
	const char *dialect; /* NULL: no request */
	const char *description;
	uint64_t memory_mib;
	unsigned units, memory_percent;
	const char *note; /* the only one, or NULL for none */
} good[] = {
	{ { NULL, NULL, NULL }, NULL, "no card", 0, 0, 0, NULL },
	{ { "{cpu: 2, memory: 1Gi}", NULL, NULL }, NULL, "no card", 0, 0, 0, NULL },
	{ { "{nvidia.com/gpu: 0}", NULL, NULL }, NULL, "no card", 0, 0, 0, NULL },
	/* NVIDIA */
	{ { "{nvidia.com/gpu: 1}", NULL, NULL }, "NVIDIA", "1 whole card", 0, 0, 0, NULL },
	{ { "{nvidia.com/gpu: '2'}", NULL, NULL }, "NVIDIA", "2 whole cards", 0, 0, 0, NULL },
	{ { "{nvidia.com/gpu: 2000m}", "{nvidia.com/gpu: 2}", NULL },
	  "NVIDIA",
	  "2 whole cards",
	  0,
	  0,
	  0,
	  NULL },
	{ { "{nvidia.com/gpu: 1e0}", NULL, NULL }, "NVIDIA", "1 whole card", 0, 0, 0, NULL },
	{ { "{nvidia.com/gpu.shared: 1}", NULL, NULL },
	  "NVIDIA",
	  "1 share of a card",
	  0,
	  0,
	  0,
	  NULL },
	{ { "{nvidia.com/mig-1g.5gb: 3}", NULL, NULL },
	  "NVIDIA",
	  "3 MIG instances of 1g.5gb",
	  0,
	  0,
	  0,
	  NULL },
	{ { "{nvidia.com/mig-1g.10gb.me: 1, nvidia.com/gpu: 0}", NULL, NULL },
	  "NVIDIA",
	  "1 MIG instance of 1g.10gb+me",
	  0,
	  0,
	  0,
	  NULL },
	{ { "{nvidia.com/gpu: 1}", NULL, "{gpupool.io/gpu-compute: '30'}" },
	  "NVIDIA",
	  "1 whole card",
	  0,
	  0,
	  0,
	  "annotation gpupool.io/gpu-compute has no effect on container main of Pod default/x, "
	  "which asks for no slice" },
	/* native */
	{ { "{gpupool.io/gpu-memory: 12}", NULL, NULL },
	  "native",
	  "a slice of 12 GiB",
	  12288,
	  12,
	  0,
	  NULL },
	{ { "{gpupool.io/gpu-memory: 12Gi}", NULL, NULL },
	  "native",
	  "a slice of 12 GiB",
	  12288,
	  12,
	  0,
	  "gpupool.io/gpu-memory 12884901888 is read as bytes: 12 GiB; write 12" },
	{ { "{gpupool.io/gpu-memory: 1536Mi}", NULL, NULL },
	  "native",
	  "a slice of 1536 MiB",
	  1536,
	  2,
	  0,
	  "gpupool.io/gpu-memory 1610612736 is read as bytes: 1536 MiB" },
	{ { "{gpupool.io/gpu-memory: 1048575}", NULL, NULL },
	  "native",
	  "a slice of 1048575 GiB",
	  1073740800,
	  1048575,
	  0,
	  NULL },
	{ { "{gpupool.io/gpu-memory: 1048577}", NULL, NULL },
	  "native",
	  "a slice of 2 MiB",
	  2,
	  1,
	  0,
	  "gpupool.io/gpu-memory 1048577 is read as bytes: 2 MiB" },
	{ { "{gpupool.io/gpu-memory: 24}", NULL,
	    "{gpupool.io/slice-cards: '2', gpupool.io/gpu-compute: '30'}" },
	  "native",
	  "a slice of 12 GiB and 30 % compute on each of 2 cards",
	  12288,
	  12,
	  0,
	  NULL },
	{ { "{gpupool.io/gpu-memory: 3Gi}", NULL, "{gpupool.io/slice-cards: '3'}" },
	  "native",
	  "a slice of 1 GiB on each of 3 cards",
	  1024,
	  1,
	  0,
	  "gpupool.io/gpu-memory 3221225472 is read as bytes: 3 GiB; write 3" },
	/* HAMi: what is missing */
	{ { "{nvidia.com/gpumem: 3000}", NULL, NULL },
	  "HAMi",
	  "a slice of 3000 MiB",
	  3000,
	  3,
	  0,
	  NULL },
	{ { "{nvidia.com/gpu: 2, nvidia.com/gpumem: 4096}", NULL, NULL },
	  "HAMi",
	  "a slice of 4 GiB on each of 2 cards",
	  4096,
	  4,
	  0,
	  NULL },
	{ { "{nvidia.com/gpu: 1, nvidia.com/gpumem: 3000, nvidia.com/gpucores: 30}", NULL, NULL },
	  "HAMi",
	  "a slice of 3000 MiB and 30 % compute",
	  3000,
	  3,
	  0,
	  NULL },
	{ { "{nvidia.com/gpucores: 30}", NULL, NULL },
	  "HAMi",
	  "a slice of 100 % of the memory and 30 % compute",
	  0,
	  0,
	  100,
	  NULL },
	{ { "{nvidia.com/gpumem-percentage: 50}", NULL, NULL },
	  "HAMi",
	  "a slice of 50 % of the memory",
	  0,
	  0,
	  50,
	  NULL },
	{ { "{nvidia.com/gpumem-percentage: 100}", NULL, NULL },
	  "HAMi",
	  "1 whole card",
	  0,
	  0,
	  0,
	  NULL },
	{ { "{nvidia.com/gpu: 3, nvidia.com/gpucores: 100}", NULL, NULL },
	  "HAMi",
	  "3 whole cards",
	  0,
	  0,
	  0,
	  NULL },
	{ { "{nvidia.com/gpumem: 1024, nvidia.com/gpumem-percentage: 50}", NULL, NULL },
	  "HAMi",
	  "a slice of 1 GiB",
	  1024,
	  1,
	  0,
	  "nvidia.com/gpumem-percentage has no effect beside nvidia.com/gpumem" },
	{ { "{nvidia.com/gpu: 0, nvidia.com/gpumem: 1024}", NULL, NULL },
	  "HAMi",
	  "no card",
	  0,
	  0,
	  0,
	  "nvidia.com/gpu is 0, so container main of Pod default/x gets no card" },
	{ { "{nvidia.com/gpumem: 1024, nvidia.com/priority: 1}", NULL, NULL },
	  "HAMi",
	  "a slice of 1 GiB",
	  1024,
	  1,
	  0,
	  "nvidia.com/priority has no effect on one machine" },
	{ { "{nvidia.com/gpu: 2}", NULL, "{nvidia.com/use-gputype: A100}" },
	  "HAMi",
	  "2 whole cards",
	  0,
	  0,
	  0,
	  NULL },
	{ { "{nvidia.com/gpu: 2}", NULL, "{nvidia.com/numa-bind: 'true'}" },
	  "HAMi",
	  "2 whole cards",
	  0,
	  0,
	  0,
	  "annotation nvidia.com/numa-bind has no effect on one machine" },
};

TEST(requests_of_all_dialects)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		autoanswer answer = { .error = ERROR_INIT };
		autostrbuf text = STRBUF_INIT(256);

		ask(&good[i].given, &answer);
		if (answer.r < 0)
			fail_msg("%s", answer.error.message);
		assert_int_equal(request_describe(&answer.request, &text), 0);
		assert_string_equal(text.data, good[i].description);
		if (good[i].dialect)
			assert_string_equal(answer.request.dialect, good[i].dialect);
		else
			assert_null(answer.request.dialect);
		assert_int_equal(answer.request.memory_mib, good[i].memory_mib);
		assert_int_equal(answer.request.units, good[i].units);
		assert_int_equal(answer.request.memory_percent, good[i].memory_percent);
		assert_int_equal(answer.notes.count, good[i].note != NULL);
		if (good[i].note)
			assert_string_equal(answer.notes.items[0], good[i].note);
	}
}

#define LIMIT   "spec.containers[0].resources.limits"
#define REQUEST "spec.containers[0].resources.requests"
#define INVALID "Pod \"x\" is invalid: "
#define NO_POD  "Pod in version \"v1\" cannot be handled as a Pod: "

static const struct {
	struct given given;
	enum reason_code code;
	const char *sentence, *kubernetes;
} bad[] = {
	{ { "{nvidia.com/gpu: 0.5}", NULL, NULL },
	  REASON_NOT_INTEGER,
	  "container main of Pod default/x asks for nvidia.com/gpu: 0.5, and Kubernetes counts it "
	  "in whole numbers. For a part of a card write gpupool.io/gpu-memory (GiB, or 1536Mi for "
	  "1.5 GiB).",
	  INVALID "[" LIMIT
		  "[nvidia.com/gpu]: Invalid value: \"500m\": must be an integer, " REQUEST
		  "[nvidia.com/gpu]: Invalid value: \"500m\": must be an integer]" },
	{ { "{gpupool.io/gpu-memory: '1.5'}", NULL, NULL },
	  REASON_NOT_INTEGER,
	  "container main of Pod default/x asks for gpupool.io/gpu-memory: 1.5, and Kubernetes "
	  "counts it in whole numbers. For a part of a card write gpupool.io/gpu-memory (GiB, or "
	  "1536Mi for 1.5 GiB).",
	  INVALID "[" LIMIT
		  "[gpupool.io/gpu-memory]: Invalid value: \"1500m\": must be an integer, " REQUEST
		  "[gpupool.io/gpu-memory]: Invalid value: \"1500m\": must be an integer]" },
	{ { NULL, "{nvidia.com/gpu: 1}", NULL },
	  REASON_NO_LIMIT,
	  "container main of Pod default/x sets requests of nvidia.com/gpu: 1 and no limit. Put "
	  "the "
	  "same number under resources.limits.",
	  INVALID LIMIT ": Required value: Limit must be set for non overcommitable resources" },
	{ { "{nvidia.com/gpu: 2}", "{nvidia.com/gpu: 1}", NULL },
	  REASON_NOT_EQUAL,
	  "container main of Pod default/x requests 1 and limits 2 of nvidia.com/gpu. Make them "
	  "the "
	  "same number.",
	  INVALID REQUEST ": Invalid value: \"1\": must be equal to nvidia.com/gpu limit of 2" },
	{ { "{nvidia.com/gpu: 0}", "{nvidia.com/gpu: 1}", NULL },
	  REASON_NOT_EQUAL,
	  "container main of Pod default/x requests 1 and limits 0 of nvidia.com/gpu. Make them "
	  "the "
	  "same number.",
	  INVALID REQUEST ": Invalid value: \"1\": must be equal to nvidia.com/gpu limit of 0" },
	{ { "{nvidia.com/gpu: -1}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpu is -1, and a count starts at 0. Correct "
	  "the Pod.",
	  INVALID
	  "[" LIMIT
	  "[nvidia.com/gpu]: Invalid value: \"-1\": must be greater than or equal to 0, " REQUEST
	  "[nvidia.com/gpu]: Invalid value: \"-1\": must be greater than or equal to 0]" },
	{ { "{nvidia.com/gpu: 12e}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpu: '12e' is no quantity; write a number "
	  "such as 2, 500m or 12Gi. Correct the Pod.",
	  NO_POD "unable to parse quantity's suffix" },
	{ { "{nvidia.com/gpu: two}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpu: 'two' is no quantity; write a number "
	  "such as 2, 500m or 12Gi. Correct the Pod.",
	  NO_POD "quantities must match the regular expression "
		 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
	{ { "{nvidia.com/gpu: true}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpu: 'true' is no quantity; write a number "
	  "such as 2, 500m or 12Gi. Correct the Pod.",
	  NO_POD "quantities must match the regular expression "
		 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
	{ { "{nvidia.com/gpu: 9Ei}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpu: '9Ei' is too large; the largest "
	  "quantity is 2^63 - 1. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/gpu: 65537}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpu is 65537, and one container can ask for "
	  "at most 65536. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/gpu: 1, gpupool.io/gpu-memory: 12}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpu, gpupool.io/gpu-memory together belong "
	  "to "
	  "no one way of asking; use the names of one line of docs/dialects.md. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/gpumem: 1, gpupool.io/gpu-memory: 12}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpumem, gpupool.io/gpu-memory together "
	  "belong "
	  "to no one way of asking; use the names of one line of docs/dialects.md. Correct the "
	  "Pod.",
	  "" },
	{ { "{nvidia.com/gpu: 1, nvidia.com/gpu.shared: 1}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpu, nvidia.com/gpu.shared together belong "
	  "to "
	  "no one way of asking; use the names of one line of docs/dialects.md. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/mig-1g.5gb: 1, nvidia.com/mig-2g.10gb: 1}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/mig-1g.5gb and nvidia.com/mig-2g.10gb in "
	  "one "
	  "container; one kind of MIG instance is possible. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/mig-big: 1}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/mig-big names no MIG profile, which looks "
	  "like 1g.10gb or 1g.10gb.me. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/mig-1c.3g.40gb: 1}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/mig-1c.3g.40gb names no MIG profile, which "
	  "looks like 1g.10gb or 1g.10gb.me. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/mig-1g.10gb.: 1}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/mig-1g.10gb. names no MIG profile, which "
	  "looks like 1g.10gb or 1g.10gb.me. Correct the Pod.",
	  "" },
	{ { "{gpupool.io/gpu-memory: 25}", NULL, "{gpupool.io/slice-cards: '2'}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: the slice is spread evenly over 2 cards (must divide), "
	  "and 25 GiB over 2 cards leaves 1. Correct the Pod.",
	  "" },
	{ { "{gpupool.io/gpu-memory: 12}", NULL, "{gpupool.io/slice-cards: '0'}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: annotation gpupool.io/slice-cards is '0', and it must "
	  "be "
	  "a whole number from 1 to 64. Correct the Pod.",
	  "" },
	{ { "{gpupool.io/gpu-memory: 12}", NULL, "{gpupool.io/slice-cards: '65'}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: annotation gpupool.io/slice-cards is '65', and it must "
	  "be a whole number from 1 to 64. Correct the Pod.",
	  "" },
	{ { "{gpupool.io/gpu-memory: 12}", NULL, "{gpupool.io/gpu-compute: '0'}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: annotation gpupool.io/gpu-compute is '0', and it must "
	  "be "
	  "a whole number from 1 to 100. Correct the Pod.",
	  "" },
	{ { "{gpupool.io/gpu-memory: 12}", NULL, "{gpupool.io/gpu-compute: '101'}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: annotation gpupool.io/gpu-compute is '101', and it "
	  "must "
	  "be a whole number from 1 to 100. Correct the Pod.",
	  "" },
	{ { "{gpupool.io/gpu-memory: 12}", NULL, "{gpupool.io/gpu-compute: 30%}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: annotation gpupool.io/gpu-compute is '30%', and it "
	  "must "
	  "be a whole number from 1 to 100. Correct the Pod.",
	  "" },
	{ { "{gpupool.io/gpu-memory: 12}", NULL, "{gpupool.io/gpu-compute: 30}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: annotation gpupool.io/gpu-compute must be a string; "
	  "put "
	  "it in quotes. Correct the Pod.",
	  "" },
	{ { "{gpupool.io/gpu-memory: 2Pi}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: gpupool.io/gpu-memory is 2251799813685248 bytes, more "
	  "than any card has; write GiB. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/gpumem-percentage: 101}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpumem-percentage is 101, and it must be a "
	  "whole number from 0 to 100. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/gpucores: 200}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpucores is 200, and it must be a whole "
	  "number from 0 to 100. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/gpumem: 2Gi, nvidia.com/gpu: 1}", NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpumem is 2147483648 MiB, more than any "
	  "card "
	  "has. Correct the Pod.",
	  "" },
	{ { "{gpupool.io/gpu-memory: 12}", NULL, "{nvidia.com/use-gputype: A100}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: annotation nvidia.com/use-gputype does not go with "
	  "resources of the native dialect. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/gpumem: 12}", NULL, "{gpupool.io/gpu-compute: '30'}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: annotation gpupool.io/gpu-compute does not go with "
	  "resources of the HAMi dialect. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/gpu: 1}", NULL,
	    "{nvidia.com/use-gputype: A100, gpupool.io/gpu-model: H100}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/use-gputype and gpupool.io/gpu-model say "
	  "the "
	  "same thing twice; keep one. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/gpu: 1}", NULL, "{gpupool.io/gpu-policy: tight}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: annotation gpupool.io/gpu-policy is 'tight', and it "
	  "must "
	  "be binpack, spread or topology. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/gpu: 1}", NULL, "{gpupool.io/gpu-model: ' , '}" },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: annotation gpupool.io/gpu-model names nothing; name "
	  "something or remove it. Correct the Pod.",
	  "" },
	{ { "{nvidia.com/gpu: '0000000000000000000000000000000000000000000000000000000000000001'}",
	    NULL, NULL },
	  REASON_BAD_REQUEST,
	  "container main of Pod default/x: nvidia.com/gpu: a quantity has at most 63 characters. "
	  "Correct the Pod.",
	  "" },
};

TEST(requests_that_are_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		autoanswer answer = { .error = ERROR_INIT };
		autostrbuf text = STRBUF_INIT(1024);

		ask(&bad[i].given, &answer);
		assert_int_equal(answer.r, -EPERM);
		assert_int_equal(answer.reason.code, bad[i].code);
		assert_int_equal(reason_sentence(&answer.reason, &text), 0);
		assert_string_equal(text.data, bad[i].sentence);
		assert_string_equal(answer.error.message, bad[i].sentence);
		assert_string_equal(answer.reason.kubernetes, bad[i].kubernetes);
		assert_int_equal(answer.request.kind, REQUEST_NONE);
		assert_string_equal(answer.reason.object, "container main of Pod default/x");
	}
}

static void check_list(const struct string_list *list, const char *expected)
{
	autostrbuf text = STRBUF_INIT(1024);

	for (size_t i = 0; i < list->count; i++)
		strbuf_addf(&text, "%s%s", i ? " " : "", list->items[i]);
	assert_string_equal(text.data, expected);
}

static const struct {
	struct given given;
	const char *models, *not_models, *uuids, *not_uuids;
	enum card_policy policy;
	const char *note;
} choices[] = {
	{ { "{nvidia.com/gpu: 1}", NULL,
	    "{gpupool.io/gpu-model: ' A100*, ,H100* ', gpupool.io/gpu-policy: topology}" },
	  "A100* H100*",
	  "",
	  "",
	  "",
	  POLICY_TOPOLOGY,
	  NULL },
	{ { "{gpupool.io/gpu-memory: 1}", NULL, "{gpupool.io/gpu-uuid: 'GPU-1,GPU-2'}" },
	  "",
	  "",
	  "GPU-1 GPU-2",
	  "",
	  POLICY_DEFAULT,
	  NULL },
	{ { "{nvidia.com/gpumem: 1}", NULL,
	    "{nvidia.com/use-gputype: 'A100,V100', nvidia.com/nouse-gputype: PCIe, "
	    "nvidia.com/use-gpuuuid: GPU-1, nvidia.com/nouse-gpuuuid: 'GPU-2,GPU-3', "
	    "hami.io/gpu-scheduler-policy: topology-aware}" },
	  "*A100* *V100*",
	  "*PCIe*",
	  "GPU-1",
	  "GPU-2 GPU-3",
	  POLICY_TOPOLOGY,
	  NULL },
	{ { "{nvidia.com/gpumem: 1}", NULL, "{hami.io/gpu-scheduler-policy: 'numa,binpack'}" },
	  "",
	  "",
	  "",
	  "",
	  POLICY_BINPACK,
	  "annotation hami.io/gpu-scheduler-policy 'numa,binpack' is read as binpack" },
	{ { "{nvidia.com/gpumem: 1}", NULL, "{hami.io/gpu-scheduler-policy: mutex}" },
	  "",
	  "",
	  "",
	  "",
	  POLICY_DEFAULT,
	  "annotation hami.io/gpu-scheduler-policy 'mutex' is read as default" },
	{ { "{nvidia.com/gpumem: 1}", NULL, "{gpupool.io/gpu-model: T4}" },
	  "T4",
	  "",
	  "",
	  "",
	  POLICY_DEFAULT,
	  NULL },
};

TEST(choices_of_cards)
{
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		autoanswer answer = { .error = ERROR_INIT };

		ask(&choices[i].given, &answer);
		if (answer.r < 0)
			fail_msg("%s", answer.error.message);
		check_list(&answer.request.models, choices[i].models);
		check_list(&answer.request.not_models, choices[i].not_models);
		check_list(&answer.request.uuids, choices[i].uuids);
		check_list(&answer.request.not_uuids, choices[i].not_uuids);
		assert_int_equal(answer.request.policy, choices[i].policy);
		check_list(&answer.notes, choices[i].note ? choices[i].note : "");
	}
}

TEST(too_many_names)
{
	autostrbuf text = STRBUF_INIT(4096);
	struct given given = { "{nvidia.com/gpu: 1}", NULL, NULL };
	autoanswer answer = { .error = ERROR_INIT };

	strbuf_adds(&text, "{gpupool.io/gpu-uuid: 'a");
	for (int i = 0; i < 64; i++)
		strbuf_adds(&text, ",a");
	strbuf_adds(&text, "'}");
	given.annotations = text.data;
	ask(&given, &answer);
	assert_int_equal(answer.r, -EPERM);
	assert_string_equal(answer.reason.detail,
			    "annotation gpupool.io/gpu-uuid has more than 64 names or a name of "
			    "more than 254 bytes");
}

TEST(every_allocation_fails_once)
{
	static const struct given given = {
		"{nvidia.com/gpu: 2, nvidia.com/gpumem: 1024, nvidia.com/gpumem-percentage: 5}",
		NULL, "{nvidia.com/use-gputype: 'A100,V100', nvidia.com/nouse-gpuuuid: GPU-2}"
	};

	for (unsigned n = 0;; n++) {
		autoanswer answer = { .error = ERROR_INIT };
		struct dialect_input input = {
			.limits = parse(given.limits, &answer.streams[0]),
			.annotations = parse(given.annotations, &answer.streams[2]),
			.object = "x",
			.pod = "x",
			.path = "x",
			.source = "pod.yaml",
		};

		fault_arm(n);
		answer.r = dialect_translate(&input, &answer.request, &answer.notes, &answer.reason,
					     &answer.error);
		if (!fault_disarm()) {
			assert_int_equal(answer.r, 0);
			assert_true(n > 5);
			break;
		}
		assert_int_equal(answer.r, -ENOMEM);
		assert_string_equal(answer.error.message, "out of memory");
	}
}

TEST(resources_that_some_row_translates)
{
	assert_true(dialect_knows_resource("nvidia.com/mig-1g.5gb"));
	assert_false(dialect_knows_resource("nvidia.com/gpux"));
}
