/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a CDI spec, JSON and YAML: refused with a message, or printed and read back as the same
 * spec, whose lowest version it may have, and whose edits are applied or refused with a message. */
#include <stdint.h>
#include <stdlib.h>

#include "formats/formats.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static void print_and_read(struct json_object *spec, bool yaml)
{
	autostrbuf text = STRBUF_INIT((size_t)32 << 20);
	autoyaml stream = { 0 };
	autojson *again = NULL;
	struct error error = ERROR_INIT;

	must(cdi_spec_print(spec, yaml, &text, &error) == 0);
	if (yaml) {
		must(yaml_parse(text.data, text.length, "fuzz", &stream, &error) == 0);
		must(stream.count == 1 && json_object_equal(stream.documents[0], spec));
	} else {
		must(json_parse(text.data, text.length, "fuzz", NULL, &again, &error) == 0);
		must(json_object_equal(again, spec));
	}
}

static void apply(struct json_object *edits)
{
	static const char text[] = "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},"
				   "\"process\":{\"args\":[\"a\"],\"cwd\":\"/\"}}";
	struct error error = ERROR_INIT;
	autojson *container = NULL;

	must(oci_spec_parse(text, sizeof(text) - 1, "fuzz", &container, &error) == 0);
	if (cdi_edits_apply_oci(edits, container, &error) < 0)
		must(error.message[0] != '\0');
	else
		must(oci_spec_check(container, "fuzz", &error) == 0 &&
		     !json_get(container, "hooks"));
}

static void try(struct json_object *spec)
{
	struct error error = ERROR_INIT;

	if (cdi_spec_check(spec, "fuzz", &error) < 0) {
		must(error.message[0] != '\0');
		return;
	}
	struct json_object *devices = json_get(spec, "devices");
	for (size_t i = 0; i < json_object_array_length(devices); i++)
		apply(json_get(json_object_array_get_idx(devices, i), "containerEdits"));
	if (json_get(spec, "containerEdits"))
		apply(json_get(spec, "containerEdits"));
	json_add_string(spec, "cdiVersion", cdi_spec_lowest_version(spec));
	must(cdi_spec_check(spec, "fuzz", &error) == 0);
	print_and_read(spec, true);
	print_and_read(spec, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autojson *spec = NULL, *copy = NULL;
	autoyaml stream = { 0 };

	if (json_parse((const char *)data, size, "fuzz", &cdi_limits, &spec, NULL) == 0)
		try(spec);
	if (yaml_parse((const char *)data, size, "fuzz", &stream, NULL) == 0 && stream.count == 1 &&
	    json_copy(stream.documents[0], &copy, NULL) == 0)
		try(copy);
	return 0;
}
