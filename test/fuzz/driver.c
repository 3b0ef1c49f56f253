/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds a fuzzer its kept corpus without libFuzzer, so that every compiler runs each finding again
 * as a unit test. FUZZ_CORPUS is the folder; an argument is another folder. Prints TAP.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

#define SEED_MAX ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int run_seed(const char *folder, const char *name, unsigned number)
{
	autostrbuf path = STRBUF_INIT(4096);
	struct error error = ERROR_INIT;
	autofree char *text = NULL;
	size_t length = 0;

	strbuf_addf(&path, "%s/%s", folder, name);
	if (file_read(path.data, SEED_MAX, &text, &length, &error) < 0) {
		printf("not ok %u - %s\n# %s\n", number, name, error.message);
		return 1;
	}
	/* A copy of exact size: a read beyond the end is seen. */
	autofree uint8_t *data = malloc(length ? length : 1);
	if (!data)
		return 1;
	memcpy(data, text, length);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, length);
	printf("ok %u - %s\n", number, name);
	return 0;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : FUZZ_CORPUS;
	struct dirent **entries = NULL;
	int failed = 0;

	int count = scandir(folder, &entries, visible, alphasort);
	if (count <= 0) {
		printf("1..1\nnot ok 1 - %s has no seed\n", folder);
		return 1;
	}
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		failed += run_seed(folder, entries[i]->d_name, (unsigned)i + 1);
		free(entries[i]);
	}
	free(entries);
	return failed != 0;
}
