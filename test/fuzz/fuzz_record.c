/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a log of decisions: one error, a difference, or a log that comes out the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "place/place.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *stop = at + size;
	autoplayback *playback = playback_new("fuzz");
	struct error error = ERROR_INIT;
	struct playback_state state;
	int r = 0;

	must(playback);
	while (r == 0 && at < stop) {
		const char *end = memchr(at, '\n', (size_t)(stop - at));

		end = end ? end : stop;
		r = playback_line(playback, at, (size_t)(end - at), &error);
		at = end < stop ? end + 1 : stop;
	}
	if (r == 0)
		r = playback_end(playback, &error);
	playback_state(playback, &state);
	must((r < 0) == (error.message[0] != '\0'));
	must((r == 1) == (state.line != 0));
	must(r != 1 || strcmp(state.recorded, state.now) != 0);
	return 0;
}
