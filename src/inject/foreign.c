/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/foreign.h"

#include <errno.h>
#include <string.h>

#include "inject/plan.h"

enum { DEVICES_MAX = 256 };

struct foreign {
	struct builder builder;
	struct json_object *spec;
	struct json_object *commons[DEVICES_MAX]; /* those that were applied; the registry's */
	size_t common_count;
};

/* No place of LIST, by the string at KEY of each item, lies in a volume. */
static int check_places(struct foreign *foreign, struct json_object *edits, const char *list,
			const char *key)
{
	struct json_object *items = json_get(edits, list);

	for (size_t i = 0; items && i < json_object_array_length(items); i++) {
		const char *path = json_get_string(json_object_array_get_idx(items, i), key, NULL);
		const char *place = NULL;

		if (!path)
			continue;
		int r = guard_covers(&foreign->builder.guard, path, &place);
		if (r < 0)
			return error_no_memory(foreign->builder.error);
		if (r > 0)
			return builder_refuse(&foreign->builder, REASON_BAD_MOUNT,
					      "%.100s, where a CDI device wants %.100s", place,
					      path);
	}
	return 0;
}

static int apply_edits(struct foreign *foreign, struct json_object *edits)
{
	int r = check_places(foreign, edits, "mounts", "containerPath");

	if (r == 0)
		r = check_places(foreign, edits, "deviceNodes", "path");
	return r < 0 ? r : cdi_edits_apply_oci(edits, foreign->spec, foreign->builder.error);
}

static bool is_applied(const struct foreign *foreign, const struct json_object *common)
{
	for (size_t i = 0; i < foreign->common_count; i++)
		if (foreign->commons[i] == common)
			return true;
	return false;
}

static int refuse_unresolved(struct foreign *foreign, const char *name,
			     const struct string_list *directories)
{
	struct reason *reason = foreign->builder.reason;
	autostrbuf where = STRBUF_INIT(REASON_TEXT_MAX / 2),
		   sentence = STRBUF_INIT(ERROR_MESSAGE_MAX);

	for (size_t i = 0; i < directories->count; i++)
		strbuf_addf(&where, "%s%s", i ? ", " : "", directories->items[i]);
	*reason = (struct reason){ .code = REASON_CDI_UNRESOLVED };
	reason_text(reason->object, sizeof(reason->object), "the container");
	reason_text(reason->detail, sizeof(reason->detail), "%s, which no spec file in %s has",
		    name, where.data);
	if (reason_sentence(reason, &sentence) < 0)
		return error_no_memory(foreign->builder.error);
	return error_set(foreign->builder.error, ENODEV, "%s", sentence.data);
}

static int apply_device(struct foreign *foreign, const struct cdi_registry *registry,
			const char *name, const struct string_list *directories)
{
	struct json_object *common = NULL;
	struct json_object *edits = cdi_registry_edits(registry, name, &common);

	if (!edits)
		return refuse_unresolved(foreign, name, directories);
	int r = 0;
	if (common && !is_applied(foreign, common)) {
		if (foreign->common_count == DEVICES_MAX)
			return error_set(foreign->builder.error, E2BIG,
					 "the container asks for CDI devices of more than %d files",
					 DEVICES_MAX);
		foreign->commons[foreign->common_count++] = common;
		r = apply_edits(foreign, common);
	}
	if (r == 0)
		r = apply_edits(foreign, edits);
	return r < 0 ? error_wrap(foreign->builder.error, "CDI device %s", name) : 0;
}

int foreign_devices_apply(const struct string_list *names, const struct string_list *directories,
			  int root_fd, struct json_object *spec, struct string_list *notes,
			  struct reason *ret_reason, struct error *error)
{
	cleanup(cdi_registry_freep) struct cdi_registry *registry = NULL;
	const struct injection injection = { .root_fd = root_fd, .spec = spec };
	struct reason reason = { 0 };
	struct foreign foreign = { .spec = spec,
				   .builder = { .injection = &injection,
						.reason = ret_reason ? ret_reason : &reason,
						.error = error,
						.guard.root = -1 } };

	int r = cdi_registry_open(directories, &registry, notes, error);
	if (r < 0)
		return r;
	r = guard_check(&foreign.builder);
	for (size_t i = 0; r == 0 && i < names->count; i++)
		r = apply_device(&foreign, registry, names->items[i], directories);
	guard_release(&foreign.builder.guard);
	return r;
}
