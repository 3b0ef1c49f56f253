/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_spec DRIVER_ROOT IMAGE CAPABILITIES BUNDLE COMMAND...: the config.json of a container of
 * IMAGE that holds card 0 (minor 0), as the product would write it. Prints a line for each library
 * that is mounted: its name, then its path in the container; notes go to standard error.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "formats/formats.h"
#include "inject/inject.h"

static int make_spec(const char *image, const char *const *command, struct json_object **ret,
		     struct error *error)
{
	static const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
	const struct oci_base base = { .root_path = image,
				       .arguments = command,
				       .environment = environment,
				       .working_directory = "/",
				       .namespaces = OCI_NAMESPACE_ALL & ~OCI_NAMESPACE_CGROUP };

	return oci_spec_base(&base, ret, error);
}

static void print_plan(const struct edit_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const char *path = plan->edits[i].name;
		const char *name = strrchr(path, '/');

		if (plan->edits[i].kind == EDIT_MOUNT && name && strstr(name, ".so") &&
		    !strstr(path, "/nvidia/lib64/"))
			printf("%s %s\n", name + 1, path);
	}
	for (size_t i = 0; i < plan->notes.count; i++)
		fprintf(stderr, "note: %s\n", plan->notes.items[i]);
}

static int inject(char **argv, struct reason *reason, struct error *error)
{
	autojson *spec = NULL;
	cleanup(edit_plan_release) struct edit_plan plan = { 0 };
	cleanup(driver_files_freep) struct driver_files *files = NULL;
	autostrbuf path = STRBUF_INIT(4096);
	struct card card = { .uuid = "GPU-0", .bus_id = "0000:07:00.0" };
	struct inventory inventory = { .cards = &card, .card_count = 1 };
	struct grant_card part = { .uuid = "GPU-0" };
	struct grant grant = { .kind = REQUEST_WHOLE, .cards = &part, .card_count = 1 };
	const struct grant *grants[] = { &grant };
	autoclose int root = open(argv[2], O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct injection injection = { .inventory = &inventory,
				       .grants = grants,
				       .grant_count = 1,
				       .target = INJECT_IMAGE,
				       .root_fd = root };

	int r = driver_files_find(argv[1], NULL, CAPABILITY_ALL, &files, error);
	if (r == 0)
		r = capabilities_parse(argv[3], &injection.capabilities, error);
	if (r == 0)
		r = make_spec(argv[2], (const char *const *)(argv + 5), &spec, error);
	if (r < 0)
		return r;
	injection.files = files;
	injection.spec = spec;
	r = edit_plan_build(&injection, &plan, reason, error);
	if (r == 0)
		r = edit_plan_apply_oci(&plan, spec, error);
	strbuf_addf(&path, "%s/config.json", argv[4]);
	if (r == 0)
		r = oci_spec_write(path.data, spec, error);
	if (r == 0)
		print_plan(&plan);
	return r;
}

int main(int argc, char **argv)
{
	struct reason reason = { 0 };
	struct error error = ERROR_INIT;

	if (argc < 6) {
		fprintf(stderr, "inject_spec DRIVER_ROOT IMAGE CAPABILITIES BUNDLE COMMAND...\n");
		return 2;
	}
	if (inject(argv, &reason, &error) < 0) {
		fprintf(stderr, "inject_spec: %s\n", error.message);
		return reason.code ? 4 : 1;
	}
	return 0;
}
