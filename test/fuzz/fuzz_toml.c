/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as TOML: refused with a message that names the source, or read; then every value knows
 * its line, children know their count and keys, each value is found by its key, and a second
 * reading gives an equal tree.
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

static void check_value(const struct toml_value *value, unsigned lines)
{
	enum toml_kind kind = toml_kind(value);
	size_t length, count = toml_count(value);

	must(kind >= 0 && kind < TOML_KIND_MAX);
	must(toml_line(value) >= 1 && toml_line(value) <= lines);
	must((toml_text(value, NULL) == NULL) == (kind <= TOML_ARRAY));
	must(kind <= TOML_ARRAY || count == 0);
	for (size_t i = 0; i < count; i++) {
		const char *key = NULL;
		const struct toml_value *child = toml_at(value, i, &key);

		must((key != NULL) == (kind == TOML_TABLE));
		must(toml_key(child, &length) == key);
		if (key && strlen(key) == length)
			must(toml_get(value, (const char *[]){ key, NULL }) == child);
		check_value(child, lines);
	}
	must(toml_at(value, count, NULL) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = ERROR_INIT;
	autotoml *toml = NULL, *again = NULL;
	unsigned lines = 1;

	if (toml_parse((const char *)data, size, "fuzz", &toml, &error) < 0) {
		must(strncmp(error.message, "fuzz:", 5) == 0);
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	check_value(toml_root(toml), lines);
	must(toml_parse((const char *)data, size, "fuzz", &again, &error) == 0);
	must(toml_equal(toml_root(toml), toml_root(again)));
	return 0;
}
