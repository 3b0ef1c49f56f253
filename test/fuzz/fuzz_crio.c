/* SPDX-License-Identifier: Apache-2.0 */
/* A crio.conf of anybody, as the file that ours is read after, and as ours. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"

static const struct runtime_entry entry = { "nvidia", "/usr/bin/gpupool-runtime" };
static const struct runtime_wish wish = { &entry, 1, true, true };

static void check(const char *first, const char *ours)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	autofree char *once = NULL, *twice = NULL, *less = NULL, *lesser = NULL;

	if (config_files_add(&files, "a", first) < 0 || config_files_add(&files, "b", ours) < 0 ||
	    crio_edit(&files, 1, &wish, &once, NULL) < 0 || !once)
		return;
	free(files.items[1].text);
	files.items[1].text = TAKE_PTR(once);
	if (crio_read(&files, &facts, NULL) < 0 || !runtime_wish_holds(&wish, &facts, true))
		abort();
	if (crio_edit(&files, 1, &wish, &twice, NULL) < 0 || twice)
		abort();
	if (crio_remove(files.items[1].text, "b", &wish, &less, NULL) < 0 || !less)
		abort();
	if (crio_remove(less, "b", &wish, &lesser, NULL) < 0 || lesser)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	autofree char *text = strndup((const char *)bytes, size);

	if (!text)
		return 0;
	check(text, NULL);
	check("", text);
	return 0;
}
