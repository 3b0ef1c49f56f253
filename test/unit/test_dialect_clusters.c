/* SPDX-License-Identifier: Apache-2.0 */
/* The dialects of other schedulers: what their containers ask for, and what is refused. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "model/model.h"

static struct json_object *parse(const char *text, struct yaml_stream *stream)
{
	struct error error = ERROR_INIT;

	if (!text)
		return NULL;
	if (yaml_parse(text, strlen(text), "pod.yaml", stream, &error) < 0)
		fail_msg("%s", error.message);
	return stream->documents[0];
}

/* The answer in words: "DIALECT: DESCRIPTION", or the sentence of the refusal. */
static int ask(const char *limits, const char *annotations, struct strbuf *out,
	       struct string_list *notes)
{
	cleanup(yaml_stream_release) struct yaml_stream first = { 0 }, second = { 0 };
	const struct dialect_input input = {
		.limits = parse(limits, &first),
		.annotations = parse(annotations, &second),
		.object = "main",
		.pod = "x",
		.path = "spec.containers[0].resources",
		.annotated = true,
	};
	cleanup(request_release) struct request request = { 0 };
	struct error error = ERROR_INIT;
	struct reason reason = { 0 };

	int r = dialect_translate(&input, &request, notes, &reason, &error);
	if (r == -EPERM)
		assert_int_equal(reason_sentence(&reason, out), 0);
	if (r < 0)
		return r;
	strbuf_addf(out, "%s: ", request.dialect);
	assert_int_equal(request_describe(&request, out), 0);
	assert_int_equal(request.units, (request.memory_mib + 1023) / 1024);
	return 0;
}

static const struct {
	const char *limits, *annotations, *answer, *note;
} good[] = {
	{ "{volcano.sh/vgpu-number: 2, volcano.sh/vgpu-memory: 3000, volcano.sh/vgpu-cores: 50}",
	  NULL, "Volcano: a slice of 3000 MiB and 50 % compute on each of 2 cards", NULL },
	{ "{volcano.sh/vgpu-number: 1}", "{nvidia.com/use-gputype: A100}", "Volcano: 1 whole card",
	  NULL },
	{ "{volcano.sh/vgpu-memory-percentage: 50}", NULL, "Volcano: a slice of 50 % of the memory",
	  NULL },
	{ "{volcano.sh/gpu-memory: 1024}", "{volcano.sh/vgpu-mode: hami-core}",
	  "Volcano: a slice of 1 GiB",
	  "annotation volcano.sh/vgpu-mode has no effect on one machine" },
	{ "{aliyun.com/gpu-mem: 3}", NULL, "gpushare: a slice of 3 GiB", NULL },
	{ "{koordinator.sh/gpu: 200}", NULL, "Koordinator: 2 whole cards", NULL },
	{ "{koordinator.sh/gpu: 50}", NULL,
	  "Koordinator: a slice of 50 % of the memory and 50 % compute", NULL },
	{ "{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-core: 60, "
	  "koordinator.sh/gpu-memory: 16Gi}",
	  NULL, "Koordinator: a slice of 8 GiB and 30 % compute on each of 2 cards", NULL },
	{ "{koordinator.sh/gpu-memory-ratio: 100}", NULL, "Koordinator: 1 whole card", NULL },
	{ NULL, "{gpu-fraction: '0.25'}", "KAI: a slice of 25 % of the memory", NULL },
	{ NULL,
	  "{gpu-memory: '2000', gpu-fraction-num-devices: '2', gpu-fraction-container-name: main}",
	  "KAI: a slice of 2000 MiB on each of 2 cards", NULL },
	{ NULL, "{gpu-fraction: '1.0'}", "KAI: 1 whole card", NULL },
};

TEST(what_they_ask_for)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		cleanup(string_list_release) struct string_list notes = { 0 };
		autostrbuf text = STRBUF_INIT(4096);

		assert_int_equal(ask(good[i].limits, good[i].annotations, &text, &notes), 0);
		assert_string_equal(text.data, good[i].answer);
		assert_int_equal(notes.count, good[i].note != NULL);
		if (good[i].note)
			assert_string_equal(notes.items[0], good[i].note);
	}
}

#define TWICE "say the same thing twice; keep one."
#define SHARE "and it must be a share from 0.01 to 1."

static const struct {
	const char *limits, *annotations, *answer;
} bad[] = {
	{ "{volcano.sh/vgpu-cores: 101}", NULL,
	  "volcano.sh/vgpu-cores is 101, and it must be a whole number from 0 to 100." },
	{ "{aliyun.com/gpu-mem: 2Gi}", NULL,
	  "aliyun.com/gpu-mem is 2147483648, more than any card has." },
	{ "{koordinator.sh/gpu: 50, koordinator.sh/gpu-core: 50}", NULL,
	  "koordinator.sh/gpu and koordinator.sh/gpu-core " TWICE },
	{ "{koordinator.sh/gpu: 150}", NULL,
	  "koordinator.sh/gpu is 150 on each of 1 cards, more than any has." },
	{ "{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-core: 61}", NULL,
	  "koordinator.sh/gpu-core is spread evenly over 2 cards (must divide), and 61 leaves 1." },
	{ "{koordinator.sh/gpu.shared: 200}", NULL,
	  "200 cards, and one container can ask for at most 64." },
	{ "{koordinator.sh/gpu-memory: 8Gi, koordinator.sh/gpu-memory-ratio: 50}", NULL,
	  "koordinator.sh/gpu-memory and koordinator.sh/gpu-memory-ratio " TWICE },
	{ NULL, "{gpu-fraction: '0'}", "annotation gpu-fraction is '0', " SHARE },
	{ NULL, "{gpu-fraction: '1.5'}", "annotation gpu-fraction is '1.5', " SHARE },
	{ NULL, "{gpu-fraction: '0.001'}", "annotation gpu-fraction is '0.001', " SHARE },
	{ NULL, "{gpu-fraction: '0.5.5'}", "annotation gpu-fraction is '0.5.5', " SHARE },
	{ NULL, "{gpu-fraction: '-0.5'}", "annotation gpu-fraction is '-0.5', " SHARE },
	{ NULL, "{gpu-fraction: nan}", "annotation gpu-fraction is 'nan', " SHARE },
	{ NULL, "{gpu-fraction: ''}", "annotation gpu-fraction is '', " SHARE },
	{ NULL, "{gpu-memory: 2Gi}",
	  "annotation gpu-memory is '2Gi', and it must be a whole number from 1 to 1073741824." },
	{ NULL, "{gpu-memory: '2', gpu-fraction: '0.5'}",
	  "annotations gpu-fraction and gpu-memory " TWICE },
	{ "{nvidia.com/gpu: 1}", "{gpu-fraction: '0.5'}",
	  "annotation gpu-fraction does not go with resources of the NVIDIA dialect." },
};

TEST(what_is_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup(string_list_release) struct string_list notes = { 0 };
		autostrbuf text = STRBUF_INIT(4096), wanted = STRBUF_INIT(4096);

		assert_int_equal(ask(bad[i].limits, bad[i].annotations, &text, &notes), -EPERM);
		strbuf_addf(&wanted, "main: %s Correct the Pod.", bad[i].answer);
		assert_string_equal(text.data, wanted.data);
	}
}

/* What annotations alone ask for belongs to one container, and the caller knows which. */
TEST(annotations_that_ask_alone)
{
	static const struct {
		const char *annotations, *container;
		bool asks;
	} cases[] = {
		{ NULL, NULL, false },
		{ "[gpu-fraction]", NULL, false },
		{ "{nvidia.com/use-gputype: A100}", NULL, false },
		{ "{gpu-fraction: '0.5'}", NULL, true },
		{ "{gpu-memory: 3}", NULL, true },
		{ "{gpu-fraction: '0.5', gpu-fraction-container-name: b}", "b", true },
		{ "{gpu-fraction: '0.5', gpu-fraction-container-name: 3}", NULL, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
		struct json_object *annotations = parse(cases[i].annotations, &stream);
		const char *container = NULL;
		const struct dialect_input input = { .annotations = annotations, .object = "x" };
		struct request request = { 0 };

		assert_int_equal(dialect_asks_by_annotation(annotations, &container),
				 cases[i].asks);
		if (cases[i].container)
			assert_string_equal(container, cases[i].container);
		else
			assert_null(container);
		assert_int_equal(dialect_translate(&input, &request, NULL, NULL, NULL), 0);
		assert_int_equal(request.kind, REQUEST_NONE);
	}
}

TEST(gpushare_counts_what_its_cluster_counts)
{
	cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
	const struct dialect_input input = { .limits = parse("{aliyun.com/gpu-mem: 1500}", &stream),
					     .object = "x",
					     .path = "y",
					     .pod = "z",
					     .gpushare_mib = true };
	cleanup(request_release) struct request request = { 0 };

	assert_int_equal(dialect_translate(&input, &request, NULL, NULL, NULL), 0);
	assert_int_equal(request.memory_mib, 1500);
	assert_int_equal(request.units, 2);
}

TEST(every_allocation_fails_once)
{
	static const char *const annotations = "{gpu-fraction: '0.5', gpupool.io/gpu-model: 'A*'}";
	cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
	const struct dialect_input input = { .annotations = parse(annotations, &stream),
					     .object = "x",
					     .annotated = true };

	for (unsigned n = 0;; n++) {
		cleanup(request_release) struct request request = { 0 };

		fault_arm(n);
		int r = dialect_translate(&input, &request, NULL, NULL, NULL);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 1);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}
