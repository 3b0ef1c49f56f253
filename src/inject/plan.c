/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of edits: environment and masks. Nodes are in plan_devices.c, files in plan_files.c. */
#include "inject/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void edit_release(struct edit *edit)
{
	free(edit->name);
	free(edit->source);
	free(edit->reason);
}

void edit_plan_release(struct edit_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		edit_release(&plan->edits[i]);
	free(plan->edits);
	string_list_release(&plan->notes);
	*plan = (struct edit_plan){ 0 };
}

int edit_plan_host_targets(const struct edit_plan *plan, struct string_list *ret,
			   struct error *error)
{
	struct string_list list = { 0 };

	for (size_t i = 0; i < plan->count; i++) {
		if (!plan->edits[i].make_target)
			continue;
		if (string_list_add(&list, plan->edits[i].name) < 0) {
			string_list_release(&list);
			return error_no_memory(error);
		}
	}
	*ret = list;
	return 0;
}

int builder_add(struct builder *builder, const struct edit *edit, const char *reason, ...)
{
	autostrbuf text = STRBUF_INIT(ERROR_MESSAGE_MAX);
	struct edit_plan *plan = builder->plan;
	struct edit copy = *edit;
	va_list arguments;

	if (plan->count >= EDITS_MAX)
		return error_set(builder->error, E2BIG, "the plan has more than %d edits",
				 EDITS_MAX);
	va_start(arguments, reason);
	strbuf_vaddf(&text, reason, arguments);
	va_end(arguments);
	copy.name = strdup(edit->name);
	copy.source = edit->source ? strdup(edit->source) : NULL;
	copy.reason = strbuf_detach(&text);
	struct edit *added = VEC_ADD(&plan->edits, &plan->count, &plan->capacity);
	if (!added || !copy.name || !copy.reason || (edit->source && !copy.source)) {
		edit_release(&copy);
		if (added)
			plan->count--;
		return error_no_memory(builder->error);
	}
	*added = copy;
	return 0;
}

int builder_note(struct builder *builder, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = string_list_addv(&builder->plan->notes, format, arguments);
	va_end(arguments);
	return r < 0 ? error_no_memory(builder->error) : 0;
}

int builder_refuse(struct builder *builder, enum reason_code code, const char *detail, ...)
{
	autostrbuf sentence = STRBUF_INIT(ERROR_MESSAGE_MAX);
	struct reason *reason = builder->reason;
	va_list arguments;

	va_start(arguments, detail);
	reason_vtext(reason->detail, sizeof(reason->detail), detail, arguments);
	va_end(arguments);
	reason->code = code;
	if (!*reason->object)
		reason_text(reason->object, sizeof(reason->object), "the container");
	if (reason_sentence(reason, &sentence) < 0)
		return error_no_memory(builder->error);
	return error_set(builder->error, EPERM, "%s", sentence.data);
}

/*
 * Masking needs no mount of ours, and a container that masks nothing (a privileged one) is left
 * alone: the first mask below /proc would keep it from starting containers of its own.
 */
static bool masks_allowed(struct json_object *spec)
{
	struct json_object *masked = json_get(spec, "linux.maskedPaths");

	return !spec || (masked && json_object_array_length(masked) > 0);
}

static int add_masks(struct builder *builder)
{
	const struct injection *injection = builder->injection;

	if (!injection->inventory || !masks_allowed(injection->spec))
		return 0;
	for (size_t i = 0; i < injection->inventory->card_count; i++) {
		const struct card *card = &injection->inventory->cards[i];
		char path[128], which[CARD_DESCRIPTION_MAX];
		struct edit edit = { .kind = EDIT_MASK, .name = path };

		if (!*card->bus_id || injection_grants(injection, card) ||
		    strspn(card->bus_id, "0123456789abcdefABCDEF:.") != strlen(card->bus_id))
			continue;
		snprintf(path, sizeof(path), "/proc/driver/nvidia/gpus/%s", card->bus_id);
		card_describe(card, which);
		int r = builder_add(builder, &edit, "%s is not granted", which);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_void(struct builder *builder)
{
	char name[] = "NVIDIA_VISIBLE_DEVICES", value[] = "void";
	struct edit edit = { .kind = EDIT_ENV, .name = name, .source = value };

	return builder_add(builder, &edit, "%s",
			   builder->injection->grant_count
				   ? "NVIDIA's own hook must add nothing; the grant decides"
				   : "no grant: no card, whatever the image asks for");
}

static int build(struct builder *builder)
{
	int r = guard_check(builder);

	if (r == 0)
		r = add_void(builder);
	if (r == 0 && builder->injection->grant_count > 0) {
		r = builder_add_devices(builder);
		if (r == 0)
			r = builder_add_files(builder);
	}
	return r < 0 ? r : add_masks(builder);
}

int edit_plan_build(const struct injection *injection, struct edit_plan *ret,
		    struct reason *ret_reason, struct error *error)
{
	cleanup(edit_plan_release) struct edit_plan plan = { 0 };
	struct reason reason = { 0 };
	struct builder builder = { .injection = injection,
				   .plan = &plan,
				   .reason = ret_reason ? ret_reason : &reason,
				   .error = error,
				   .guard = { .root = -1, .directory_fd = -1 } };

	if (injection->grant_count > 0 && (!injection->files || !injection->inventory))
		return error_set(error, EINVAL, "a grant without an inventory and driver files");
	int r = build(&builder);
	guard_release(&builder.guard);
	if (r < 0)
		return r;
	*ret = plan;
	plan = (struct edit_plan){ 0 };
	return 0;
}
