/* SPDX-License-Identifier: Apache-2.0 */
/* refusal_rows FILE: the rows of test/data/refusals.yaml as one JSON array, for refusals.bats. */
#include <stdio.h>

#include "base/base.h"

int main(int argc, char **argv)
{
	autoyaml rows = { .name = NULL };
	struct error error = ERROR_INIT;

	if (argc != 2) {
		fputs("usage: refusal_rows FILE\n", stderr);
		return 2;
	}
	if (yaml_read_file(argv[1], &rows, &error) < 0) {
		fprintf(stderr, "refusal_rows: %s\n", error.message);
		return 1;
	}
	for (size_t i = 0; i < rows.count; i++)
		printf("%s%s", i ? ",\n" : "[",
		       json_object_to_json_string_ext(rows.documents[i], JSON_C_TO_STRING_PLAIN));
	puts("]");
	return 0;
}
