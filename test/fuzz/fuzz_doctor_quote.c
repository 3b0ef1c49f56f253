/* SPDX-License-Identifier: Apache-2.0 */
/* A quote is short, valid UTF-8, without control characters, and quoting it again changes no secret back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/quote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text)
{
	autofree char *visible = strdup(text);

	if (!visible || strlen(text) > QUOTE_MAX || !parse_utf8_valid(text, strlen(text)))
		abort();
	text_make_visible(visible, false);
	if (strcmp(visible, text) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char secret[] = "Zq7Zq7Zq7Zq7";
	autofree char *quote = quote_make((const char *)data, size);
	autofree char *named = malloc(size + 64);
	size_t length;

	if (!quote || !named)
		abort();
	check(quote);
	/* Whatever stands before it: a password is never shown. The fuzzer learns the word. */
	if (memmem(data, size, "Zq7", 3))
		return 0;
	size = size < 100 ? size : 100;
	memcpy(named, data, size);
	length = size + (size_t)snprintf(named + size, 64, "\n password=%s", secret);
	autofree char *masked = quote_make(named, length);
	if (!masked || strstr(masked, secret))
		abort();
	check(masked);
	return 0;
}
