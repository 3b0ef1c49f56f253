/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon.json of anybody: edited once it says what we want, edited twice nothing changes, and taken
 * out again it holds none of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct runtime_entry entry = { "nvidia", "/usr/bin/nvidia-container-runtime" };
	const struct runtime_wish wish = {
		.entries = &entry, .count = 1, .set_default = true, .cdi = true
	};
	autofree char *text = strndup((const char *)bytes, size);
	autofree char *once = NULL, *twice = NULL, *less = NULL, *lesser = NULL;

	if (!text || docker_edit(text, "fuzz", &wish, &once, NULL) < 0)
		return 0;
	if (docker_edit(once ? once : text, "fuzz", &wish, &twice, NULL) < 0 || twice)
		abort();
	if (docker_remove(once ? once : text, "fuzz", &wish, &less, NULL) < 0 || !less)
		abort();
	if (docker_remove(less, "fuzz", &wish, &lesser, NULL) < 0 || lesser)
		abort();
	return 0;
}
