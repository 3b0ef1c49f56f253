/* SPDX-License-Identifier: Apache-2.0 */
/* One container's start: what it asks for, what that means here, and the edits. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* What NVIDIA's toolkit has Docker put into the spec; it would do all that was done here again. */
#define OLD_HOOK "nvidia-container-runtime-hook"

static int note(struct start *start, struct error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int note(struct start *start, struct error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = string_list_addv(&start->notes, format, arguments);
	va_end(arguments);
	return r < 0 ? error_no_memory(error) : 0;
}

int start_read(struct start *start, const struct call *call, const struct toolkit_config *config,
	       struct error *error)
{
	*start = (struct start){
		.config = config, .bundle = -1, .root = -1, .spec_name = call->config
	};
	inventory_init(&start->inventory);
	start->bundle = open(call->bundle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (start->bundle < 0)
		return error_set_errno(error, errno, "cannot open the bundle %s", call->bundle);
	start->spec_directory =
		strcmp(start->spec_name, "config.json") == 0 ? start->bundle : AT_FDCWD;
	int r = oci_spec_load(start->spec_directory, start->spec_name, &start->spec, &start->status,
			      error);
	if (r == 0)
		r = device_request_read(start->spec, config, &start->request, error);
	return r < 0 ? error_wrap(error, "bundle %s", call->bundle) : 0;
}

static bool has_old_hook(struct json_object *spec)
{
	autojson *hooks = NULL;

	/* A look, and no change: the tree must stay as it is when nothing is asked for. */
	return json_get(spec, "hooks") && json_copy(spec, &hooks, NULL) == 0 &&
	       oci_spec_remove_hooks(hooks, OLD_HOOK) > 0;
}

bool start_asks(const struct start *start)
{
	return start->request.source != SOURCE_NONE || has_old_hook(start->spec);
}

static int find_cards(struct start *start, struct error *error)
{
	int r = cards_find(start->config, &start->inventory, &start->notes, error);

	if (r < 0)
		return r;
	if (start->inventory.problem[0])
		return error_set(error, ENODEV,
				 "the driver gives no cards: %s; see gpupool inventory",
				 start->inventory.problem);
	return 0;
}

/* Checks 1 and 2 need to look into the root; a root that cannot be opened the runtime refuses too. */
static int open_root(struct start *start, struct error *error)
{
	const char *path = json_get_string(start->spec, "root.path", "");

	start->root = openat(start->bundle, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (start->root < 0)
		return error_set_errno(error, errno, "cannot open the container's root %s", path);
	return 0;
}

static int find_files(struct start *start, const struct injection *injection, struct error *error)
{
	const char *directory = secure_getenv(ENV_RUN_DIR);
	autostrbuf kept = STRBUF_INIT(4096); /* a path that is too long holds no list */

	strbuf_addf(&kept, "%s/" NAME_DRIVER_FILES, directory && *directory ? directory : PATH_RUN);
	return driver_files_find_injection(kept.data, injection, &start->files, error);
}

static int make_plan(struct start *start, struct error *error)
{
	const struct grant *grants[] = { &start->selection.cards, &start->selection.instances };
	struct injection injection = {
		.inventory = &start->inventory,
		.grants = grants,
		.grant_count = ARRAY_SIZE(grants),
		.capabilities = start->request.capabilities,
		.target = INJECT_IMAGE,
		.root_fd = start->root,
		.spec = start->spec,
		.user_namespace = oci_spec_has_user_namespace(start->spec),
		.gated = start->request.gated,
		.imex = &start->request.imex,
	};

	int r = find_files(start, &injection, error);
	if (r < 0)
		return r;
	injection.files = start->files;
	return edit_plan_build(&injection, &start->plan, &start->reason, error);
}

static bool asks_for_ours(const struct device_request *request)
{
	return request->all || request->none || request->devices.count || request->imex.count ||
	       request->gated;
}

/* The cards of a Tegra are parts of its board, told of by files (modes.csv) that nobody reads here. */
static int check_mode(const struct start *start, struct error *error)
{
	if (start->config->mode != TOOLKIT_CSV)
		return 0;
	return error_set(error, EOPNOTSUPP,
			 "mode = \"csv\" of nvidia-container-runtime is for Tegra boards, whose "
			 "lists of files gpupool does not read: let NVIDIA's own runtime make this "
			 "container, or write mode = \"auto\" for cards on PCI");
}

static int plan_devices(struct start *start, struct error *error)
{
	int r = check_mode(start, error);

	if (r == 0)
		r = find_cards(start, error);
	if (r == 0)
		r = device_request_select(&start->request, &start->inventory, &start->selection,
					  &start->reason, error);
	if (r == 0)
		r = require_check_all(&start->request.requirements, &start->inventory,
				      &start->selection, &start->reason, error);
	return r < 0 ? r : make_plan(start, error);
}

int start_plan(struct start *start, struct error *error)
{
	int r = oci_spec_check(start->spec, start->spec_name, error);

	if (r == 0 && start->request.source != SOURCE_NONE)
		r = open_root(start, error);
	/* Theirs first, so that nothing of ours is made below what they mount. */
	if (r == 0 && start->request.foreign.count)
		r = foreign_devices_apply(&start->request.foreign, &start->config->spec_directories,
					  start->root, start->spec, &start->notes, &start->reason,
					  error);
	if (r == 0 && asks_for_ours(&start->request))
		r = plan_devices(start, error);
	if (r < 0)
		return r;
	start->hooks_removed = oci_spec_remove_hooks(start->spec, OLD_HOOK);
	if (start->hooks_removed)
		r = note(start, error, "the hook %s is taken out; all it does is in the spec",
			 OLD_HOOK);
	return r < 0 ? r : edit_plan_apply_oci(&start->plan, start->spec, error);
}

int start_write(const struct start *start, struct error *error)
{
	return oci_spec_replace(start->spec_directory, start->spec_name, start->spec,
				&start->status, error);
}

void start_release(struct start *start)
{
	edit_plan_release(&start->plan);
	driver_files_free(start->files);
	device_selection_release(&start->selection);
	device_request_release(&start->request);
	inventory_release(&start->inventory);
	string_list_release(&start->notes);
	json_object_put(start->spec);
	cleanup_close(&start->root);
	cleanup_close(&start->bundle);
	*start = (struct start){ .bundle = -1, .root = -1 };
}
