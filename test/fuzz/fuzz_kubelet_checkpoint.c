/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as the kubelet's checkpoint: one error, or entries that are written and read the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kubelet/kubelet.h"

#define autocheckpoint cleanup(kubelet_checkpoint_release) struct kubelet_checkpoint

static void must(bool truth)
{
	if (!truth)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autocheckpoint first = { .entries = NULL }, second = { .entries = NULL };
	autofree char *text = NULL, *again = NULL;
	struct error error = ERROR_INIT;

	if (kubelet_checkpoint_parse((const char *)data, size, "fuzz", &first, &error) < 0) {
		must(error.message[0]);
		return 0;
	}
	must(kubelet_checkpoint_text(&first, &text, NULL) == 0);
	must(kubelet_checkpoint_parse(text, strlen(text), "again", &second, NULL) == 0);
	must(second.entry_count == first.entry_count);
	must(kubelet_checkpoint_text(&second, &again, NULL) == 0);
	must(strcmp(text, again) == 0);
	return 0;
}
