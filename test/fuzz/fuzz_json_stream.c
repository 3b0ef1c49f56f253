/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a list: items that json_parse() takes too, or an error with a place. What is read
 * from the middle of a file is the same as from its start.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

static int count_items(const uint8_t *data, size_t size, size_t start, struct error *error)
{
	int ends[2], count = 0;
	autojson_stream *stream = NULL;
	unsigned long line = 0, last = 0;

	must(pipe(ends) == 0);
	autoclose int fd = ends[0];
	must(write(ends[1], data + start, size - start) == (ssize_t)(size - start));
	close(ends[1]);
	must(json_stream_new(fd, "fuzz", (const char *)data, start, NULL, &stream, error) == 0);
	for (;;) {
		autojson *item = NULL;

		int r = json_stream_next(stream, &item, &line, error);
		if (r <= 0)
			return r < 0 ? r : count;
		must(line >= last && line > 0);
		last = line;
		count++;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error first = ERROR_INIT, second = ERROR_INIT;

	if (size > 32768) /* what a pipe takes at once */
		return 0;
	int one = count_items(data, size, 0, &first);
	int other = count_items(data, size, size / 2, &second);
	must(one == other && strcmp(first.message, second.message) == 0);
	must(one >= 0 || (first.number == -one && strncmp(first.message, "fuzz:", 5) == 0));
	return 0;
}
