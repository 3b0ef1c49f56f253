/* SPDX-License-Identifier: Apache-2.0 */
#include "found.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

struct driver_files *found_in(const char *tree, const char *version)
{
	struct driver_files *files = NULL;
	struct error error = ERROR_INIT;

	if (driver_files_find(tree, version, CAPABILITY_ALL, &files, &error) < 0)
		fail_msg("%s", error.message);
	return files;
}

const struct driver_file *found_named(const struct driver_files *files, enum driver_file_kind kind,
				      unsigned bits, const char *name)
{
	for (size_t i = 0; i < files->count; i++)
		for (size_t j = 0; j < files->items[i].names.count; j++)
			if (files->items[i].kind == kind && files->items[i].bits == bits &&
			    strcmp(files->items[i].names.items[j], name) == 0)
				return &files->items[i];
	return NULL;
}

void found_exactly(const struct driver_files *files, const char *tree, const struct found_row *rows,
		   size_t count)
{
	size_t names = 0;

	for (size_t i = 0; i < count; i++) {
		char source[512];
		const struct driver_file *file =
			found_named(files, rows[i].kind, rows[i].bits, rows[i].name);

		snprintf(source, sizeof(source), "%s/%s", tree, rows[i].source);
		if (!file)
			fail_msg("%s was not found", rows[i].name);
		assert_string_equal(file->source, source);
	}
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].kind != DRIVER_SOCKET)
			names += files->items[i].names.count;
	assert_int_equal(names, count);
}
