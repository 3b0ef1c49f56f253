/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a quantity: an error with a message, or a canonical form that reads the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

/* The canonical form is rounded up to thousandths: equal, or at most one thousandth more. */
static void check_canonical(const char *text, const struct quantity *quantity)
{
	struct quantity again, last;
	char canonical[1024], twice[1024];

	must(quantity_canonical(text, canonical, sizeof(canonical)) == 0);
	if (quantity_parse(canonical, &again, NULL) < 0) {
		must(quantity->value == INT64_MAX || quantity->value == -INT64_MAX);
		return;
	}
	must(!again.finer);
	must(quantity->finer || quantity_equal(quantity, &again));
	must(quantity_canonical(canonical, twice, sizeof(twice)) == 0);
	must(quantity_parse(twice, &last, NULL) == 0 && quantity_equal(&again, &last));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = ERROR_INIT;
	struct quantity quantity;
	char text[512], tiny[8];

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	int r = quantity_parse(text, &quantity, &error);
	must(quantity_canonical(text, tiny, sizeof(tiny)) != 0 || r == 0);
	if (r < 0) {
		must(error.message[0] && error.number == -r);
		return 0;
	}
	must(quantity.milli <= 999);
	check_canonical(text, &quantity);
	return 0;
}
