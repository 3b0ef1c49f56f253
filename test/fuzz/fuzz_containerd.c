/* SPDX-License-Identifier: Apache-2.0 */
/* Two files of anybody: edited they say what we want, edited again nothing changes, and taken out again
 * none of it is left. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"

static const struct runtime_entry entry = { "nvidia", "/usr/bin/gpupool-runtime" };
static const struct containerd_wish wish = { .common = { &entry, 1, true, true },
					     .annotations = "cdi.k8s.io/*",
					     .new_version = 2 };

/* The last file with the section, as it is chosen before 2.1. */
static void check(struct config_files *files)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	autofree char *once = NULL, *twice = NULL, *less = NULL, *lesser = NULL;
	size_t index = 0;

	if (containerd_last_section(files, &index, NULL) < 0 ||
	    containerd_edit(files, index, &wish, &once, NULL) < 0 || !once)
		return;
	free(files->items[index].text);
	files->items[index].text = TAKE_PTR(once);
	if (containerd_read(files, &facts, NULL) < 0 ||
	    !runtime_wish_holds(&wish.common, &facts, false))
		abort();
	if (containerd_edit(files, index, &wish, &twice, NULL) < 0 || twice)
		abort();
	if (containerd_remove(files->items[index].text, "b", &wish.common, &less, NULL) < 0 ||
	    !less)
		abort();
	if (containerd_remove(less, "b", &wish.common, &lesser, NULL) < 0 || lesser)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	cleanup(config_files_release) struct config_files files = { .items = NULL };
	cleanup(string_list_release) struct string_list imports = { .items = NULL };
	autofree char *text = strndup((const char *)bytes, size);
	char *second = text ? strstr(text, "\n---\n") : NULL;

	if (!text)
		return 0;
	if (second) {
		*second = '\0';
		second += 5;
	}
	if (containerd_imports(text, "/a/b", &imports, NULL) < 0)
		return 0;
	if (config_files_add(&files, "/a/b", text) == 0 &&
	    config_files_add(&files, "/a/c", second) == 0)
		check(&files);
	return 0;
}
