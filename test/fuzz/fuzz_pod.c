/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a manifest: an error or a reason with a sentence, or Pods whose requests hold. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

static void check_request(const struct request *request)
{
	autostrbuf text = STRBUF_INIT(512);

	must(request_describe(request, &text) == 0);
	if (request->kind == REQUEST_NONE)
		return;
	must(request->cards > 0 && request->compute_percent <= 100);
	must(request->memory_percent <= 100);
	must((request->memory_mib + 1023) / 1024 == request->units);
	if (request->kind == REQUEST_SLICE)
		must((request->memory_mib > 0) != (request->memory_percent > 0));
}

static void check_pod(const struct pod *pod)
{
	must(pod->name[0] && pod->container_count > 0);
	for (size_t i = 0; i < pod->container_count; i++) {
		must(pod->containers[i].name[0] && pod->containers[i].image[0]);
		check_request(&pod->containers[i].request);
	}
}

static void check_document(struct json_object *document)
{
	cleanup(pod_release) struct pod pod = { 0 };
	struct error error = ERROR_INIT;
	struct reason reason = { 0 };
	autostrbuf sentence = STRBUF_INIT(8192);

	int r = pod_from_json(document, "fuzz", &pod, &reason, &error);
	if (r == 0) {
		check_pod(&pod);
		return;
	}
	must(error.message[0] && error.number == -r);
	must(r == -EINVAL || r == -EPERM);
	must((r == -EPERM) == (reason.code != REASON_NONE));
	must(reason_sentence(&reason, &sentence) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
	struct error error = ERROR_INIT;

	if (yaml_parse((const char *)data, size, "fuzz", &stream, &error) < 0)
		return 0;
	for (size_t i = 0; i < stream.count; i++)
		check_document(stream.documents[i]);
	return 0;
}
