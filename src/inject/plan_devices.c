/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device nodes: of each card, or MIG instance, that is granted, of the driver as a whole, and of what
 * was asked for beside them. No other node of a card gets into a plan, whatever number a file in
 * the driver root has.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "inject/device_name.h"
#include "inject/driver_search.h"
#include "inject/plan.h"

/* nvidia, nvidiactl and nvidia-modeset have this major by registration (kernel devices.txt); the
 * minors from 254 on are nvidia-modeset and nvidiactl (nv.h), those below are cards. */
#define CHANNEL "nvidia-caps-imex-channels/channel"
enum { CARD_MAJOR = 195, CARD_MINORS = 254, DISPLAY_MAJOR = 226 };

/* The grant that holds CARD as a card, and how much of it; NULL when none does. */
static const struct grant *find_grant(const struct injection *injection, const struct card *card,
				      const struct grant_card **ret)
{
	for (size_t i = 0; i < injection->grant_count; i++) {
		const struct grant *grant = injection->grants[i];

		for (size_t j = 0; grant->kind != REQUEST_MIG && j < grant->card_count; j++) {
			if (strcmp(grant->cards[j].uuid, card->uuid) != 0)
				continue;
			*ret = &grant->cards[j];
			return grant;
		}
	}
	return NULL;
}

static bool has_instance(const struct injection *injection, const struct card_instance *instance)
{
	for (size_t i = 0; i < injection->grant_count; i++) {
		const struct grant *grant = injection->grants[i];
		const struct card *card;

		for (size_t j = 0; grant->kind == REQUEST_MIG && j < grant->card_count; j++)
			if (device_find_instance(injection->inventory, grant->cards[j].uuid,
						 &card) == instance)
				return true;
	}
	return false;
}

bool injection_grants(const struct injection *injection, const struct card *card)
{
	const struct grant_card *part;

	if (find_grant(injection, card, &part))
		return true;
	for (size_t i = 0; i < card->instance_count; i++)
		if (has_instance(injection, &card->instances[i]))
			return true;
	return false;
}

static int check_grants(struct builder *builder)
{
	const struct injection *injection = builder->injection;

	for (size_t i = 0; i < injection->grant_count; i++) {
		const struct grant *grant = injection->grants[i];

		for (size_t j = 0; j < grant->card_count; j++) {
			const char *uuid = grant->cards[j].uuid;
			bool mig = grant->kind == REQUEST_MIG;
			const struct card *card;

			if (mig ? device_find_instance(injection->inventory, uuid, &card) != NULL
				: inventory_find(injection->inventory, uuid) != NULL)
				continue;
			return error_set(builder->error, ENODEV,
					 "%s %s was granted and is not in the inventory; "
					 "see gpupool inventory",
					 mig ? "MIG instance" : "card", uuid);
		}
	}
	return 0;
}

/* The container sees this very device at PATH of the host. */
static bool is_node(const char *path, const struct driver_node *node)
{
	struct stat status;

	if (strcmp(path, node->path) == 0)
		return true;
	return stat(path, &status) == 0 && S_ISCHR(status.st_mode) &&
	       major(status.st_rdev) == node->major && minor(status.st_rdev) == node->minor;
}

/* The container has this machine's /dev, and nothing at PATH there: nothing can be made for it. */
static bool is_absent(const char *path, const char *name)
{
	struct stat status;

	return strcmp(path, name) == 0 && stat(path, &status) < 0 && errno == ENOENT;
}

/* How NAME comes into the container: made, bound, or there by a mount of the container's own. */
static int choose_node(struct builder *builder, const struct driver_node *node, struct edit *edit)
{
	autostrbuf host = STRBUF_INIT(ROOT_PATH_MAX);
	const char *place = NULL;
	int r = guard_covers(&builder->guard, edit->name, &place);

	if (r == 0) {
		edit->node = builder->injection->user_namespace ? EDIT_NODE_BOUND : EDIT_NODE_MADE;
		return 0;
	}
	if (r > 0)
		r = guard_host_path(&builder->guard, edit->name, &host);
	if (r == -ENOMEM)
		return error_no_memory(builder->error);
	if (r > 0 && is_node(host.data, node)) {
		edit->node = EDIT_NODE_THERE;
		return 0;
	}
	if (r > 0 && is_absent(host.data, edit->name)) {
		edit->node = EDIT_NODE_THERE;
		return builder_note(
			builder,
			"%s is absent: the container has this machine's /dev, so only the "
			"rule is added. Make the node with nvidia-modprobe, or give the "
			"container no /dev.",
			edit->name);
	}
	return builder_refuse(builder, REASON_BAD_MOUNT,
			      "%.200s, where the device nodes of the cards must be made", place);
}

/* Nodes that stand for a card or a part of one, and whose names end in their minor. How to add one:
 * a row; major 0 is one that the kernel chose. */
static const struct family {
	const char *prefix;
	unsigned major;
} family_rows[] = {
	{ "nvidia-caps/nvidia-cap", 0 },
	{ CHANNEL, 0 },
	{ "dri/card", DISPLAY_MAJOR },
	{ "dri/renderD", DISPLAY_MAJOR },
};

static const struct family *find_family(const struct driver_node *node, uint64_t *minor)
{
	for (size_t i = 0; i < ARRAY_SIZE(family_rows); i++) {
		size_t length = strlen(family_rows[i].prefix);

		if (strncmp(node->name, family_rows[i].prefix, length) == 0 &&
		    parse_uint(node->name + length, 0, UINT32_MAX, minor) == 0)
			return &family_rows[i];
	}
	return NULL;
}

/* Whether the number of NODE, which is no card's own, can be that of what its name says. */
static bool is_honest(const struct driver_files *files, const struct driver_node *node)
{
	uint64_t minor = node->minor, ignored;
	const struct family *family = find_family(node, &minor);
	bool display = family && family->major == DISPLAY_MAJOR;

	if (node->major == CARD_MAJOR)
		return !family && node->minor >= CARD_MINORS;
	if (minor != node->minor || (node->major == DISPLAY_MAJOR) != display)
		return false;
	for (size_t i = 0; i < files->node_count; i++) {
		const struct family *other = find_family(&files->nodes[i], &ignored);

		if (other && other->major == 0 && other != family &&
		    files->nodes[i].major == node->major)
			return false;
	}
	return true;
}

/* CARD is the one whose own node it is, NULL for any other node. */
static int check_node(struct builder *builder, const struct driver_node *node,
		      const struct card *card)
{
	char which[CARD_DESCRIPTION_MAX];

	if (!card && is_honest(builder->injection->files, node))
		return 0;
	if (!card)
		return error_set(builder->error, ENODEV,
				 "%s is device %u:%u, which is not what its name says; remove it "
				 "and make it again with nvidia-modprobe",
				 node->path, node->major, node->minor);
	if (node->major == CARD_MAJOR && node->minor == card->minor)
		return 0;
	card_describe(card, which);
	return error_set(builder->error, ENODEV,
			 "%s is device %u:%u and not %d:%u of %s; remove it and make "
			 "it again with nvidia-modprobe -c %u",
			 node->path, node->major, node->minor, CARD_MAJOR, card->minor, which,
			 card->minor);
}

static int add_device(struct builder *builder, const struct driver_node *node,
		      const struct card *card, const char *reason)
{
	const struct injection *injection = builder->injection;
	char name[sizeof("/dev/") + sizeof(node->name)];
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
	int r = check_node(builder, node, card);

	snprintf(name, sizeof(name), "/dev/%s", node->name);
	if (r == 0)
		r = choose_node(builder, node, &edit);
	return r < 0 ? r : builder_add(builder, &edit, "%s", reason);
}

static int add_card_node(struct builder *builder, const struct card *card, const char *reason)
{
	const struct driver_files *files = builder->injection->files;
	char name[32], which[CARD_DESCRIPTION_MAX];

	card_describe(card, which);
	if (card->minor == CARD_MINOR_NONE)
		return error_set(builder->error, ENODEV,
				 "nobody says which device node %s has; see gpupool inventory",
				 which);
	snprintf(name, sizeof(name), "nvidia%u", card->minor);
	const struct driver_node *node = driver_files_node(files, name);
	if (!node)
		return error_set(builder->error, ENODEV,
				 "%s has no device node %s, neither in /dev of driver root "
				 "%s nor in /dev; make it with nvidia-modprobe -c %u",
				 which, name, files->root, card->minor);
	return add_device(builder, node, card, reason);
}

bool injection_wants_display(const struct injection *injection)
{
	return injection->capabilities & (CAPABILITY_GRAPHICS | CAPABILITY_DISPLAY);
}

/* Nodes of the kernel's display drivers, which stand for one card. */
static int add_display_nodes(struct builder *builder, const struct card *card)
{
	const struct injection *injection = builder->injection;
	char which[CARD_DESCRIPTION_MAX], reason[CARD_DESCRIPTION_MAX + 64];

	if (!*card->bus_id || !injection_wants_display(injection))
		return 0;
	card_describe(card, which);
	snprintf(reason, sizeof(reason), "display node of %s, which is granted", which);
	for (size_t i = 0; i < injection->files->node_count; i++) {
		const struct driver_node *node = &injection->files->nodes[i];

		if (node->gated || strcmp(node->bus_id, card->bus_id) != 0)
			continue;
		int r = add_device(builder, node, NULL, reason);
		if (r < 0)
			return r;
	}
	return 0;
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

static int add_whole(struct builder *builder, const struct card *card, const struct grant *grant,
		     const struct grant_card *part)
{
	autostrbuf reason = STRBUF_INIT(ERROR_MESSAGE_MAX);

	if (describe_grant(grant, part, card, &reason) < 0)
		return error_no_memory(builder->error);
	int r = add_card_node(builder, card, reason.data);
	return r < 0 ? r : add_display_nodes(builder, card);
}

/* The kernel module gives an instance to who has both of its nodes and the card's open. */
static int add_instance_nodes(struct builder *builder, const struct card *card,
			      const struct card_instance *instance, const char *reason)
{
	const unsigned minors[] = { instance->gpu_minor, instance->compute_minor };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(minors); i++) {
		char name[64];

		snprintf(name, sizeof(name), "nvidia-caps/nvidia-cap%u", minors[i]);
		const struct driver_node *node =
			minors[i] == CARD_MINOR_NONE
				? NULL
				: driver_files_node(builder->injection->files, name);
		if (!node)
			return error_set(
				builder->error, ENODEV,
				"GPU instance %u, compute instance %u of card minor %u "
				"has no device node /dev/%s; make it with nvidia-modprobe "
				"-f /proc/driver/nvidia/capabilities/gpu%u/mig/gi%u/access",
				instance->gpu_instance, instance->compute_instance, card->minor,
				minors[i] == CARD_MINOR_NONE ? "nvidia-caps" : name, card->minor,
				instance->gpu_instance);
		r = add_device(builder, node, NULL, reason);
	}
	return r;
}

static int add_instance(struct builder *builder, const struct card *card,
			const struct card_instance *instance)
{
	char reason[CARD_UUID_MAX + CARD_MIG_MAX + CARD_DESCRIPTION_MAX + 64];
	char name[CARD_UUID_MAX], which[CARD_DESCRIPTION_MAX];

	card_describe(card, which);
	device_instance_name(card, instance, name);
	snprintf(reason, sizeof(reason), "MIG instance %s%s(%s) of %s is granted",
		 instance->profile, *instance->profile ? " " : "", name, which);
	int r = add_instance_nodes(builder, card, instance, reason);
	/* Only profiles with graphics may use the display's nodes. */
	if (r == 0 && strstr(instance->profile, "+gfx"))
		r = add_display_nodes(builder, card);
	return r;
}

/* The card's own node comes once, and gives no compute by itself on a card in MIG mode. */
static int add_instances(struct builder *builder, const struct card *card, bool whole)
{
	char which[CARD_DESCRIPTION_MAX], reason[CARD_DESCRIPTION_MAX + 64];
	bool node = whole;
	int r = 0;

	card_describe(card, which);
	snprintf(reason, sizeof(reason), "%s has a MIG instance that is granted", which);
	for (size_t i = 0; r == 0 && i < card->instance_count; i++) {
		if (!has_instance(builder->injection, &card->instances[i]))
			continue;
		if (!node)
			r = add_card_node(builder, card, reason);
		node = true;
		if (r == 0)
			r = add_instance(builder, card, &card->instances[i]);
	}
	return r;
}

static int add_card(struct builder *builder, const struct card *card)
{
	const struct grant_card *part = NULL;
	const struct grant *grant = find_grant(builder->injection, card, &part);
	int r = grant ? add_whole(builder, card, grant, part) : 0;

	return r < 0 ? r : add_instances(builder, card, grant != NULL);
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

static bool wants_control(const struct injection *injection, size_t row)
{
	unsigned capabilities = control_rows[row].capabilities;

	return !capabilities || (capabilities & injection->capabilities);
}

static int add_controls(struct builder *builder)
{
	const struct injection *injection = builder->injection;

	for (size_t i = 0; i < ARRAY_SIZE(control_rows); i++) {
		const struct driver_node *node =
			driver_files_node(injection->files, control_rows[i].name);
		int r = 0;

		if (!wants_control(injection, i))
			continue;
		if (node)
			r = add_device(builder, node, NULL, control_rows[i].reason);
		else if (control_rows[i].needed)
			r = builder_note(builder, "/dev/%s is absent: %s.", control_rows[i].name,
					 control_rows[i].without);
		if (r < 0)
			return r;
	}
	return 0;
}

/* How to add a kind: a row; the nodes themselves are rows of the search (driver_others.c). */
static const struct {
	unsigned gated;
	const char *variable, *nodes;
} gated_rows[] = {
	{ GATED_GDS, "NVIDIA_GDS", "nvidia-fs*" },
	{ GATED_MOFED, "NVIDIA_MOFED", "infiniband/uverbs* and infiniband/rdma_cm" },
	{ GATED_NVSWITCH, "NVIDIA_NVSWITCH", "nvidia-nvswitch*" },
	{ GATED_GDRCOPY, "NVIDIA_GDRCOPY", "gdrdrv" },
	{ GATED_MIG_CONFIG, "NVIDIA_MIG_CONFIG_DEVICES", "nvidia-caps/* for config" },
	{ GATED_MIG_MONITOR, "NVIDIA_MIG_MONITOR_DEVICES", "nvidia-caps/* for monitor" },
};

static int add_gated_kind(struct builder *builder, size_t row)
{
	const struct driver_files *files = builder->injection->files;
	bool found = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < files->node_count; i++) {
		char reason[64];

		if (!(files->nodes[i].gated & gated_rows[row].gated))
			continue;
		snprintf(reason, sizeof(reason), "asked for by %s", gated_rows[row].variable);
		r = add_device(builder, &files->nodes[i], NULL, reason);
		found = true;
	}
	if (found || r < 0)
		return r;
	return builder_note(builder,
			    "%s is asked for, and this machine has no /dev/%s. Load that driver.",
			    gated_rows[row].variable, gated_rows[row].nodes);
}

static int add_gated(struct builder *builder)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(gated_rows); i++)
		if (builder->injection->gated & gated_rows[i].gated)
			r = add_gated_kind(builder, i);
	return r;
}

static int add_channel(struct builder *builder, const char *number)
{
	char name[64];

	snprintf(name, sizeof(name), CHANNEL "%.16s", number);
	const struct driver_node *node = driver_files_node(builder->injection->files, name);
	if (node)
		return add_device(builder, node, NULL, "IMEX channel that is asked for");
	return error_set(
		builder->error, ENODEV,
		"IMEX channel %.16s is asked for, and there is no /dev/%s; make it, or ask "
		"for another channel",
		number, name);
}

static int add_all_channels(struct builder *builder)
{
	const struct driver_files *files = builder->injection->files;
	bool found = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < files->node_count; i++) {
		if (strncmp(files->nodes[i].name, CHANNEL, strlen(CHANNEL)) != 0)
			continue;
		r = add_device(builder, &files->nodes[i], NULL, "all IMEX channels are asked for");
		found = true;
	}
	if (found || r < 0)
		return r;
	return error_set(builder->error, ENODEV,
			 "all IMEX channels are asked for, and there is no /dev/" CHANNEL "*; make "
			 "one, or ask for none");
}

bool injection_wants_all_channels(const struct injection *injection)
{
	for (size_t i = 0; injection->imex && i < injection->imex->count; i++)
		if (strcmp(injection->imex->items[i], IMEX_ALL) == 0)
			return true;
	return false;
}

static int add_channels(struct builder *builder)
{
	const struct string_list *imex = builder->injection->imex;
	int r = 0;

	if (injection_wants_all_channels(builder->injection))
		return add_all_channels(builder);
	for (size_t i = 0; imex && r == 0 && i < imex->count; i++)
		r = add_channel(builder, imex->items[i]);
	return r;
}

/* Those of its instances are listed anyway, by their directory. */
int injection_node_names(const struct injection *injection, struct string_list *ret)
{
	const struct inventory *inventory = injection->inventory;
	int r = 0;

	for (size_t i = 0; r == 0 && inventory && i < inventory->card_count; i++)
		if (inventory->cards[i].minor != CARD_MINOR_NONE &&
		    injection_grants(injection, &inventory->cards[i]))
			r = string_list_addf(ret, "nvidia%u", inventory->cards[i].minor);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(control_rows); i++)
		if (wants_control(injection, i))
			r = string_list_add(ret, control_rows[i].name);
	for (size_t i = 0; r == 0 && injection->imex && i < injection->imex->count; i++)
		r = string_list_addf(ret, CHANNEL "%.16s", injection->imex->items[i]);
	return r;
}

int builder_add_devices(struct builder *builder)
{
	const struct inventory *inventory = builder->injection->inventory;
	int r = check_grants(builder);

	for (size_t i = 0; r == 0 && i < inventory->card_count; i++)
		r = add_card(builder, &inventory->cards[i]);
	if (r == 0)
		r = add_controls(builder);
	if (r == 0)
		r = add_gated(builder);
	return r < 0 ? r : add_channels(builder);
}
