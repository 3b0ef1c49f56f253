/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "DRIVER\nBRAND\nEXPRESSION": a machine and what an image requires. The answer is yes, a refusal with
 * a sentence, or an error that names the variable; one condition and its contrary never agree about
 * a fact that is known, an alternative that holds makes the whole hold.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject/inject.h"

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int check(const char *expression, const struct require_facts *facts)
{
	struct error error = ERROR_INIT;
	struct reason reason = { 0 };
	autostrbuf sentence = STRBUF_INIT(4096);

	int r = require_check("NVIDIA_REQUIRE_X", expression, facts, &reason, &error);
	must(r == 0 || r == -EPERM || r == -EINVAL);
	must((reason.code == REASON_REQUIREMENT) == (r == -EPERM));
	if (r == -EPERM) {
		must(reason_sentence(&reason, &sentence) == 0);
		must(strstr(sentence.data, "image needs ") != NULL);
	}
	if (r == -EINVAL)
		must(strncmp(error.message, "NVIDIA_REQUIRE_X: '", 19) == 0);
	return r;
}

/* "cuda>=V" and "cuda<V" for one V. */
static void check_contrary(const char *value, const struct require_facts *facts)
{
	static const char *const pairs[][2] = { { ">=", "<" }, { ">", "<=" }, { "=", "!=" } };
	char left[128], right[128];

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		snprintf(left, sizeof(left), "cuda%s%.60s", pairs[i][0], value);
		snprintf(right, sizeof(right), "cuda%s%.60s", pairs[i][1], value);
		int a = check(left, facts), b = check(right, facts);
		must((a == -EINVAL) == (b == -EINVAL));
		must(a == -EINVAL || (a == 0) != (b == 0));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = strndup((const char *)data, size);
	struct card card = { .uuid = "GPU-0", .compute_major = 8 };
	struct require_facts facts = { .cuda_major = 12, .cuda_minor = 2, .card = &card };
	autostrbuf more = STRBUF_INIT(1 << 24);
	char *rest = text;

	must(text != NULL);
	facts.driver_version = strsep(&rest, "\n");
	if (!rest)
		return 0;
	snprintf(card.brand, sizeof(card.brand), "%s", strsep(&rest, "\n"));
	if (!rest)
		return 0;
	int r = check(rest, &facts);
	strbuf_addf(&more, "cuda>=1 %s", rest);
	must(check(more.data, &facts) == 0);
	strbuf_reset(&more);
	strbuf_addf(&more, "cuda>=13 %s cuda>=12", rest);
	must(check(more.data, &facts) != -EPERM);
	must(r != -EINVAL || check(more.data, &facts) == -EINVAL);
	if (!strpbrk(rest, " ,<>=!"))
		check_contrary(rest, &facts);
	facts.card = NULL;
	check(rest, &facts);
	return 0;
}
