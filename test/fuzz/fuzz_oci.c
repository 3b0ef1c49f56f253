/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as config.json: refused with a message, or edited, and then still a spec. */
#include <stdint.h>
#include <stdlib.h>

#include "formats/formats.h"

static void must(int r)
{
	if (r < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct oci_mount mount = { "/usr/lib/x", "/x", "bind", "ro,rbind" };
	const struct oci_device device = { "/dev/nvidia0", 'c', 195, 0, 0666, 0, 0, "rw" };
	struct error error = ERROR_INIT;
	autojson *spec = NULL, *again = NULL;
	autostrbuf text = STRBUF_INIT((size_t)16 << 20);

	if (oci_spec_parse((const char *)data, size, "fuzz", &spec, &error) < 0) {
		if (!error.message[0])
			abort();
		return 0;
	}
	must(oci_spec_set_env(spec, "NVIDIA_VISIBLE_DEVICES", "void", &error));
	if (!oci_spec_env(spec, "NVIDIA_VISIBLE_DEVICES"))
		abort();
	must(oci_spec_add_mount(spec, &mount, &error));
	(void)oci_spec_add_device(spec, &device, &error); /* another device may be there */
	must(oci_spec_add_masked_path(spec, "/proc/x", &error));
	must(oci_spec_check(spec, "fuzz", &error));
	must(json_to_text(spec, false, &text, &error));
	must(oci_spec_parse(text.data, text.length, "fuzz", &again, &error));
	if (!json_object_equal(spec, again))
		abort();
	return 0;
}
