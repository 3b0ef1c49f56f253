/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as JSON: refused with a message that names the source, or read; what is read is written
 * and read again to the same text, and json-c's own strict reader takes it as well.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_peer(const char *text, size_t length)
{
	struct json_tokener *tokener = json_tokener_new_ex(256);

	must(tokener != NULL);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	/* With the terminator: a number is over only when something follows. */
	json_object_put(json_tokener_parse_ex(tokener, text, (int)length + 1));
	must(json_tokener_get_error(tokener) == json_tokener_success);
	json_tokener_free(tokener);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autostrbuf text = STRBUF_INIT((size_t)64 << 20), again = STRBUF_INIT((size_t)64 << 20);
	autojson *value = NULL, *second = NULL, *copy = NULL;
	struct error error = ERROR_INIT;

	if (json_parse((const char *)data, size, "fuzz", NULL, &value, &error) < 0) {
		must(strncmp(error.message, "fuzz:", 5) == 0);
		return 0;
	}
	must(json_to_text(value, false, &text, &error) == 0);
	check_peer(text.data, text.length);
	must(json_parse(text.data, text.length, "fuzz", NULL, &second, &error) == 0);
	must(json_copy(second, &copy, &error) == 0);
	must(json_to_text(copy, false, &again, &error) == 0);
	must(strcmp(text.data, again.data) == 0);
	return 0;
}
