/* SPDX-License-Identifier: Apache-2.0 */
/* TOML on standard input as the tagged JSON of the public suite toml-test; status 1 when refused. */
#include <stdio.h>

#include "base/base.h"

static const char *const tags[TOML_KIND_MAX] = {
	[TOML_STRING] = "string",         [TOML_INTEGER] = "integer",
	[TOML_FLOAT] = "float",           [TOML_BOOLEAN] = "bool",
	[TOML_DATETIME] = "datetime",     [TOML_LOCAL_DATETIME] = "datetime-local",
	[TOML_LOCAL_DATE] = "date-local", [TOML_LOCAL_TIME] = "time-local",
};

static void print_text(const char *text, size_t length)
{
	putchar('"');
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte < 0x20 || byte == '"' || byte == '\\')
			printf("\\u%04x", byte);
		else
			putchar(byte);
	}
	putchar('"');
}

static void print_value(const struct toml_value *value)
{
	enum toml_kind kind = toml_kind(value);
	size_t length;

	if (kind > TOML_ARRAY) {
		const char *text = toml_text(value, &length);

		printf("{\"type\": \"%s\", \"value\": ", tags[kind]);
		print_text(text, length);
		putchar('}');
		return;
	}
	putchar(kind == TOML_TABLE ? '{' : '[');
	for (size_t i = 0; i < toml_count(value); i++) {
		const struct toml_value *child = toml_at(value, i, NULL);
		const char *key = toml_key(child, &length);

		if (i)
			printf(",\n");
		if (kind == TOML_TABLE) {
			print_text(key, length);
			printf(": ");
		}
		print_value(child); /* as deep as the reader reads */
	}
	putchar(kind == TOML_TABLE ? '}' : ']');
}

int main(void)
{
	struct error error = ERROR_INIT;
	autofree char *text = NULL;
	autotoml *toml = NULL;
	size_t length;

	if (file_read_fd(STDIN_FILENO, "stdin", (size_t)8 << 20, &text, &length, &error) < 0 ||
	    toml_parse(text, length, "stdin", &toml, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	print_value(toml_root(toml));
	putchar('\n');
	return 0;
}
