/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one YAML text a line, each a JSON string; prints the JSON of the first document, or
 * "refused" and why. The twin in Go is test/peers/yaml/main.go.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"

static int print_one(const char *line, size_t length)
{
	autojson *string = NULL;
	autoyaml stream = { 0 };
	autostrbuf text = STRBUF_INIT(1 << 20);
	struct error error = ERROR_INIT;

	if (json_parse(line, length, "input", NULL, &string, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	const char *yaml = json_object_get_string(string);
	if (yaml_parse(yaml, strlen(yaml), "text", &stream, &error) < 0) {
		printf("refused %s\n", error.message);
		return 0;
	}
	if (json_to_text(stream.count ? stream.documents[0] : NULL, false, &text, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	puts(text.data);
	return 0;
}

int main(void)
{
	static char line[65536];
	int failed = 0;

	while (!failed && fgets(line, sizeof(line), stdin))
		failed = print_one(line, strcspn(line, "\n"));
	return failed;
}
