/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence of strangers in pieces of any length: a verdict whose quotes can be shown to anybody. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/doctor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	size_t length = strlen(text);

	if (length > 300 || !parse_utf8_valid(text, length))
		abort();
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			abort();
}

static void check_verdict(const struct verdict *verdict)
{
	autostrbuf text = STRBUF_INIT(16 << 20);
	autojson *object = NULL, *again = NULL;
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < verdict->finding_count; i++) {
		const struct finding *finding = &verdict->findings[i];

		if (!finding->evidence_count)
			abort();
		for (size_t j = 0; j < finding->evidence_count; j++) {
			check_text(finding->evidence[j].source);
			check_text(finding->evidence[j].text);
			if (finding->evidence[j].line == 0)
				abort();
		}
	}
	if (verdict_to_text(verdict, true, &text) < 0 ||
	    verdict_to_json(verdict, &object, &error) < 0)
		abort();
	strbuf_reset(&text);
	if (json_to_text(object, false, &text, &error) < 0 ||
	    json_parse(text.data, text.length, "verdict", NULL, &again, &error) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(doctor_freep) struct doctor *doctor = doctor_new();
	size_t piece = size ? data[0] + 1u : 1;
	struct verdict verdict;
	struct error error = ERROR_INIT;

	if (!doctor)
		abort();
	for (size_t at = 0; at < size; at += piece)
		if (doctor_feed(doctor, (const char *)data + at,
				size - at < piece ? size - at : piece) < 0)
			abort();
	if (doctor_verdict(doctor, &verdict, &error) < 0)
		abort();
	check_verdict(&verdict);
	verdict_release(&verdict);
	return 0;
}
