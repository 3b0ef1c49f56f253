/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CDI specs by our own code, from a command line; test/peers/cdi/main.go is the same by the CDI library.
 *
 *	cdi_tool validate FILE...		a line each: "FILE valid VERSION", the lowest that would do,
 *						or "FILE refused SENTENCE"
 *	cdi_tool devices DIRECTORY...		the qualified names that can be asked for
 *	cdi_tool inject CONFIG DIRECTORY NAME...	the config.json with these devices
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/formats.h"

static int validate(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		autojson *spec = NULL;
		struct error error = ERROR_INIT;

		if (cdi_spec_read(argv[i], &spec, &error) < 0)
			printf("%s refused %s\n", argv[i], error.message);
		else
			printf("%s valid %s\n", argv[i], cdi_spec_lowest_version(spec));
	}
	return 0;
}

static int open_registry(int argc, char **argv, struct cdi_registry **ret, struct error *error)
{
	cleanup(string_list_release) struct string_list directories = { 0 }, notes = { 0 };

	for (int i = 0; i < argc; i++)
		if (string_list_add(&directories, argv[i]) < 0)
			return error_no_memory(error);
	int r = cdi_registry_open(&directories, ret, &notes, error);
	for (size_t i = 0; i < notes.count; i++)
		fprintf(stderr, "note: %s\n", notes.items[i]);
	return r;
}

static int devices(int argc, char **argv)
{
	cleanup(cdi_registry_freep) struct cdi_registry *registry = NULL;
	struct error error = ERROR_INIT;

	if (open_registry(argc, argv, &registry, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	for (size_t i = 0; i < cdi_registry_count(registry); i++)
		puts(cdi_registry_name(registry, i, NULL));
	return 0;
}

static int add(struct cdi_registry *registry, int argc, char **argv, struct json_object *spec,
	       struct error *error)
{
	struct json_object *last = NULL, *common = NULL;
	int r = 0;

	for (int i = 0; r == 0 && i < argc; i++) {
		struct json_object *edits = cdi_registry_edits(registry, argv[i], &common);

		if (!edits)
			return error_set(error, ENOENT, "there is no CDI device %s", argv[i]);
		if (common && common != last)
			r = cdi_edits_apply_oci(common, spec, error);
		if (r == 0)
			r = cdi_edits_apply_oci(edits, spec, error);
		last = common;
	}
	return r;
}

static int inject(int argc, char **argv)
{
	cleanup(cdi_registry_freep) struct cdi_registry *registry = NULL;
	struct error error = ERROR_INIT;
	autostrbuf text = STRBUF_INIT(oci_limits.bytes);
	autojson *spec = NULL;
	int r = oci_spec_read(argv[0], &spec, &error);

	if (r == 0)
		r = open_registry(1, argv + 1, &registry, &error);
	if (r == 0)
		r = add(registry, argc - 2, argv + 2, spec, &error);
	if (r == 0)
		r = json_to_text(spec, false, &text, &error);
	if (r < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	puts(text.data);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "validate") == 0)
		return validate(argc - 2, argv + 2);
	if (argc > 2 && strcmp(argv[1], "devices") == 0)
		return devices(argc - 2, argv + 2);
	if (argc > 4 && strcmp(argv[1], "inject") == 0)
		return inject(argc - 2, argv + 2);
	fprintf(stderr, "cdi_tool validate|devices|inject ...\n");
	return 2;
}
