/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as what a runtime prints of itself and as a kernel's release. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

static void check_version(const char *text)
{
	struct runtime_version version;
	enum version_verdict verdict = VERSION_FINE;
	struct string_list sentences = { 0 };
	struct error error = ERROR_INIT;

	if (runtime_version_parse(text, &version, &error) < 0) {
		must(error.message[0] != '\0');
		return;
	}
	must(strcmp(version.name, "runc") == 0 || strcmp(version.name, "crun") == 0);
	must(memchr(version.text, '\0', sizeof(version.text)) != NULL);
	must(runtime_version_judge(&version, &verdict, &sentences, &error) == 0);
	must((verdict == VERSION_FINE) == (sentences.count == 0));
	must(verdict != VERSION_UNSAFE || !version.distribution);
	string_list_release(&sentences);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct string_list sentences = { 0 };
	char *text = strndup((const char *)data, size);

	if (!text)
		return 0;
	check_version(text);
	must(kernel_release_judge(text, &sentences, NULL) == 0 && sentences.count <= 3);
	string_list_release(&sentences);
	free(text);
	return 0;
}
