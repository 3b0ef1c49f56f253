/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a cluster in few words or short YAML: one error with its line, or a cluster on which its
 * Pods can be run. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

/* Large clusters are no error; they only take long. Beyond the limits nothing is made. */
static bool is_large(const char *text)
{
	for (const char *at = text; *at;) {
		size_t digits = strspn(at, "0123456789");
		unsigned long long number = digits ? strtoull(at, NULL, 0) : 0;

		if (number > 99 && number <= 3000000)
			return true;
		at += digits ? digits : 1;
	}
	return false;
}

static void run(const struct trace *trace)
{
	const struct run_options options = { .place = { .policy = NODE_POLICY_DEFAULT } };
	struct run_result result = { 0 };
	struct error error = ERROR_INIT;
	int r = run_trace(trace, &options, &result, &error);

	must(r == 0 || (r < 0 && error.message[0]));
	if (r == 0)
		must(result.placed + result.failed + result.running <= trace->pod_count);
	run_result_release(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = ERROR_INIT;
	autofree char *text = malloc(size + 1);
	autotrace trace;

	must(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	trace_init(&trace);
	if (is_large(text))
		return 0;
	if (trace_parse_short(&trace, TRACE_ALL, text, size, "fuzz", &error) < 0) {
		must(strncmp(error.message, "fuzz", 4) == 0 && !strchr(error.message, '\n'));
		/* What is empty or no text has no line. */
		must(error.message[4] == ' ' || isdigit((unsigned char)error.message[5]));
	} else if (trace_finish(&trace, &error) < 0) {
		must(trace.node_count == 0);
	} else if (trace.node_count < 300 && trace.pod_count < 300) {
		run(&trace);
	}
	return 0;
}
