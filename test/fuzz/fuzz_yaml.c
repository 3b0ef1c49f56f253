/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as YAML: refused with a message that names the source, or read; then each document is
 * valid JSON that reads back to the same text, and every value knows its line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static const struct json_limits limits = { .bytes = (size_t)512 << 20, .depth = 64 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_document(struct json_object *document)
{
	autostrbuf text = STRBUF_INIT((size_t)512 << 20), again = STRBUF_INIT((size_t)512 << 20);
	autojson *value = NULL, *copy = NULL;
	struct error error = ERROR_INIT;

	must(yaml_line(document) > 0);
	must(json_to_text(document, false, &text, &error) == 0);
	must(json_parse(text.data, text.length, "fuzz", &limits, &value, &error) == 0);
	must(json_to_text(value, false, &again, &error) == 0);
	must(strcmp(text.data, again.data) == 0);
	must(json_copy(document, &copy, &error) == 0);
	must(json_object_equal(copy, document));
	must(yaml_line(copy) == yaml_line(document));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = ERROR_INIT;
	autoyaml stream = { 0 };

	if (yaml_parse((const char *)data, size, "fuzz", &stream, &error) < 0) {
		must(strncmp(error.message, "fuzz:", 5) == 0);
		return 0;
	}
	for (size_t i = 0; i < stream.count; i++) {
		must(i == 0 || stream.lines[i] > stream.lines[i - 1]);
		check_document(stream.documents[i]);
	}
	return 0;
}
