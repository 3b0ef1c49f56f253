/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of edits: environment, device nodes, masks. Files are in plan_files.c. */
#include "inject/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* nvidia, nvidiactl and nvidia-modeset have this major by registration (kernel devices.txt). */
enum { CARD_MAJOR = 195 };

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
	autostrbuf text = STRBUF_INIT(NOTE_MAX);
	va_list arguments;

	va_start(arguments, format);
	strbuf_vaddf(&text, format, arguments);
	va_end(arguments);
	if (text.failed == ENOMEM || string_list_add(&builder->plan->notes, text.data) < 0)
		return error_no_memory(builder->error);
	return 0;
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

/* The grant that holds CARD, and how much of it; NULL when none does. */
static const struct grant *find_grant(const struct injection *injection, const struct card *card,
				      const struct grant_card **ret)
{
	for (size_t i = 0; i < injection->grant_count; i++) {
		const struct grant *grant = injection->grants[i];

		for (size_t j = 0; j < grant->card_count; j++) {
			if (strcmp(grant->cards[j].uuid, card->uuid) != 0)
				continue;
			*ret = &grant->cards[j];
			return grant;
		}
	}
	return NULL;
}

static int check_grants(struct builder *builder)
{
	const struct injection *injection = builder->injection;

	for (size_t i = 0; i < injection->grant_count; i++) {
		const struct grant *grant = injection->grants[i];

		for (size_t j = 0; j < grant->card_count; j++)
			if (!inventory_find(injection->inventory, grant->cards[j].uuid))
				return error_set(builder->error, ENODEV,
						 "card %s was granted and is not in the inventory; "
						 "see gpupool inventory",
						 grant->cards[j].uuid);
	}
	return 0;
}

static int add_device(struct builder *builder, const struct driver_node *node, const char *reason)
{
	const struct injection *injection = builder->injection;
	char name[64];
	struct edit edit = { .kind = EDIT_DEVICE,
			     .name = name,
			     .source = node->path,
			     .options = "rw",
			     .major = node->major,
			     .minor = node->minor,
			     /* On this machine's own root the node is the caller's alone. */
			     .mode = injection->target == INJECT_HOST ? 0600 : 0666,
			     .uid = injection->uid,
			     .gid = injection->gid };

	snprintf(name, sizeof(name), "/dev/%s", node->name);
	return builder_add(builder, &edit, "%s", reason);
}

static int describe_grant(const struct grant *grant, const struct grant_card *part,
			  const struct card *card, struct strbuf *out)
{
	char which[CARD_DESCRIPTION_MAX];

	card_describe(card, which);
	strbuf_addf(out, "%s is granted", which);
	if (grant->kind == REQUEST_SLICE) {
		strbuf_addf(out, ": a slice of %u GiB", part->units);
		if (part->compute_percent)
			strbuf_addf(out, " and %u %% compute", part->compute_percent);
	}
	strbuf_addf(out, ", enforcement: %s", enforcement_to_string(grant->enforcement));
	return strbuf_failed(out);
}

static int add_card(struct builder *builder, const struct card *card)
{
	const struct driver_files *files = builder->injection->files;
	const struct grant_card *part = NULL;
	const struct grant *grant = find_grant(builder->injection, card, &part);
	autostrbuf reason = STRBUF_INIT(ERROR_MESSAGE_MAX);
	char name[32], which[CARD_DESCRIPTION_MAX];

	if (!grant)
		return 0;
	card_describe(card, which);
	snprintf(name, sizeof(name), "nvidia%u", card->minor);
	const struct driver_node *node = driver_files_node(files, name);
	if (!node)
		return error_set(builder->error, ENODEV,
				 "%s has no device node %s, neither in /dev of driver root "
				 "%s nor in /dev; make it with nvidia-modprobe -c %u",
				 which, name, files->root, card->minor);
	if (node->major != CARD_MAJOR || node->minor != card->minor)
		return error_set(builder->error, ENODEV,
				 "%s is device %u:%u and not %d:%u of %s; remove it and make "
				 "it again with nvidia-modprobe -c %u",
				 node->path, node->major, node->minor, CARD_MAJOR, card->minor,
				 which, card->minor);
	if (describe_grant(grant, part, card, &reason) < 0)
		return error_no_memory(builder->error);
	return add_device(builder, node, reason.data);
}

/* Nodes that belong to no card. How to add one: a row. */
static const struct {
	const char *name;
	unsigned capabilities; /* 0: with any grant */
	bool needed;           /* say so when it is absent */
	const char *reason;
	const char *without; /* what happens when it is absent, and the cure */
} control_rows[] = {
	{ "nvidiactl", 0, true, "every use of a card opens it; it gives access to none",
	  "no program can use the cards; load the driver with nvidia-modprobe" },
	{ "nvidia-uvm", CAPABILITY_COMPUTE | CAPABILITY_VIDEO, true,
	  "CUDA opens it; it gives access to no card",
	  "CUDA programs will not start; make it with nvidia-modprobe -u -c 0" },
	{ "nvidia-uvm-tools", CAPABILITY_COMPUTE | CAPABILITY_VIDEO, false,
	  "CUDA's profilers open it; it gives access to no card", NULL },
	{ "nvidia-modeset", CAPABILITY_DISPLAY, false,
	  "display opens it; it gives access to no card", NULL },
};

static int add_controls(struct builder *builder)
{
	const struct injection *injection = builder->injection;

	for (size_t i = 0; i < ARRAY_SIZE(control_rows); i++) {
		const struct driver_node *node =
			driver_files_node(injection->files, control_rows[i].name);
		int r = 0;

		if (control_rows[i].capabilities &&
		    !(control_rows[i].capabilities & injection->capabilities))
			continue;
		if (node)
			r = add_device(builder, node, control_rows[i].reason);
		else if (control_rows[i].needed)
			r = builder_note(builder, "/dev/%s is absent: %s.", control_rows[i].name,
					 control_rows[i].without);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_devices(struct builder *builder)
{
	const struct inventory *inventory = builder->injection->inventory;
	const char *place;
	int r = guard_covers(&builder->guard, "/dev/nvidiactl", &place);

	if (r < 0)
		return error_no_memory(builder->error);
	if (r > 0)
		return builder_refuse(builder, REASON_BAD_MOUNT,
				      "%.200s, where the device nodes of the cards must be made",
				      place);
	r = check_grants(builder);
	for (size_t i = 0; r == 0 && i < inventory->card_count; i++)
		r = add_card(builder, &inventory->cards[i]);
	return r < 0 ? r : add_controls(builder);
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
		const struct grant_card *part;
		char path[128], which[CARD_DESCRIPTION_MAX];
		struct edit edit = { .kind = EDIT_MASK, .name = path };

		if (!*card->bus_id || find_grant(injection, card, &part) ||
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
		r = add_devices(builder);
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
				   .guard.root = -1 };

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
