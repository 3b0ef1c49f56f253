/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a CDI spec that are cards and MIG devices, under each of their names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject/cdi_private.h"

enum { NAMES_MAX = 3, NODES_MAX = 8, DEVICE_NAME_MAX = 128 };

/* A card or MIG device, as it goes into the spec. */
struct subject {
	char names[NAMES_MAX][DEVICE_NAME_MAX]; /* by index, UUID, type and index; "" unknown */
	const struct driver_node *nodes[NODES_MAX];
	size_t node_count;
};

static const unsigned name_kinds[NAMES_MAX] = { CDI_NAME_INDEX, CDI_NAME_UUID,
						CDI_NAME_TYPE_INDEX };

static bool subject_is_wanted(struct making *making, const struct subject *subject)
{
	const char *names[NAMES_MAX];

	for (size_t i = 0; i < NAMES_MAX; i++)
		names[i] = subject->names[i];
	return making_wants(making, names, NAMES_MAX);
}

static void add_subject_node(struct subject *subject, const struct driver_node *node)
{
	if (node && subject->node_count < NODES_MAX)
		subject->nodes[subject->node_count++] = node;
}

static int add_nodes(struct making *making, struct json_object *edits,
		     const struct subject *subject)
{
	for (size_t i = 0; i < subject->node_count; i++) {
		char path[sizeof("/dev/") + sizeof(subject->nodes[i]->name)];

		snprintf(path, sizeof(path), "/dev/%s", subject->nodes[i]->name);
		int r = making_node(making, edits, path, subject->nodes[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Under each name that is asked for, and into ALL, which is everything at once. */
static int add_subject(struct making *making, const struct subject *subject,
		       struct json_object *all)
{
	unsigned kinds = making->options->names ? making->options->names : CDI_NAME_DEFAULT;
	int r = 0;

	for (size_t i = 0; r == 0 && i < NAMES_MAX; i++) {
		struct json_object *edits = NULL;

		if (!(kinds & name_kinds[i]))
			continue;
		if (!cdi_device_name_is_valid(subject->names[i])) {
			r = making_note(
				making,
				"/dev/%s has no UUID yet, so no device is named by one; the "
				"driver tells it once the card was opened.",
				subject->nodes[0]->name);
			continue;
		}
		r = making_device(making, subject->names[i], &edits);
		if (r == 0)
			r = add_nodes(making, edits, subject);
	}
	return r < 0 ? r : add_nodes(making, all, subject);
}

/* 1 when the card's own node is there and fits, 0 with a note when not. */
static int find_card_node(struct making *making, const struct card *card, struct subject *subject)
{
	char name[32], which[CARD_DESCRIPTION_MAX];

	card_describe(card, which);
	if (card->index == CARD_INDEX_NONE)
		return making_note(making, "%s is left out: the driver does not list it.", which);
	if (card->minor == CARD_MINOR_NONE)
		return making_note(making, "%s is left out: its device node is not known.", which);
	snprintf(name, sizeof(name), "nvidia%u", card->minor);
	const struct driver_node *node = driver_files_node(making->options->files, name);
	if (!node)
		return making_note(making,
				   "%s is left out: it has no device node %s; make it with "
				   "nvidia-modprobe -c %u.",
				   which, name, card->minor);
	/* nvidia has this major by registration (kernel devices.txt). */
	if (node->major != 195 || node->minor != card->minor)
		return making_note(making,
				   "%s is left out: %s is device %u:%u and not 195:%u; remove it "
				   "and make it again with nvidia-modprobe -c %u.",
				   which, node->path, node->major, node->minor, card->minor,
				   card->minor);
	add_subject_node(subject, node);
	/* It stays in a spec that may outlive its illness. */
	if (card->condition.health == CARD_LOST) {
		int r = making_note(making, "%s is in the spec and is lost: %s.", which,
				    card->condition.cause);
		return r < 0 ? r : 1;
	}
	return 1;
}

/* The UUID, unless it stands for one that is not known. */
static void name_by_uuid(char ret[static DEVICE_NAME_MAX], const char *uuid, const char *start)
{
	if (strncmp(uuid, start, strlen(start)) == 0)
		snprintf(ret, DEVICE_NAME_MAX, "%s", uuid);
}

/* Nodes of the kernel's display drivers that stand for the card. */
static void add_display_nodes(const struct making *making, const struct card *card,
			      struct subject *subject)
{
	const struct cdi_options *options = making->options;
	unsigned capabilities = options->capabilities ? options->capabilities : CDI_CAPABILITIES;

	if (!*card->bus_id || !(capabilities & (CAPABILITY_GRAPHICS | CAPABILITY_DISPLAY)))
		return;
	for (size_t i = 0; i < options->files->node_count; i++) {
		const struct driver_node *node = &options->files->nodes[i];

		if (!node->gated && strcmp(node->bus_id, card->bus_id) == 0)
			add_subject_node(subject, node);
	}
}

static int add_instance(struct making *making, const struct card *card,
			const struct card_instance *instance, const struct driver_node *card_node,
			struct json_object *all)
{
	const unsigned minors[] = { instance->gpu_minor, instance->compute_minor };
	struct subject subject = { 0 };

	if (instance->index == CARD_INDEX_NONE)
		return 0;
	snprintf(subject.names[0], DEVICE_NAME_MAX, "%u:%u", card->index, instance->index);
	name_by_uuid(subject.names[1], instance->uuid, "MIG-");
	snprintf(subject.names[2], DEVICE_NAME_MAX, "mig%u:%u", card->index, instance->index);
	if (!subject_is_wanted(making, &subject))
		return 0;
	add_subject_node(&subject, card_node);
	for (size_t i = 0; i < ARRAY_SIZE(minors); i++) {
		char name[64];

		snprintf(name, sizeof(name), "nvidia-caps/nvidia-cap%u", minors[i]);
		const struct driver_node *node =
			minors[i] == CARD_MINOR_NONE
				? NULL
				: driver_files_node(making->options->files, name);
		if (!node)
			return making_note(
				making,
				"MIG device %s is left out: it has no device node %s; "
				"make it with nvidia-modprobe -f "
				"/proc/driver/nvidia/capabilities/gpu%u/mig/gi%u/access.",
				subject.names[0], name, card->minor, instance->gpu_instance);
		add_subject_node(&subject, node);
	}
	/* Only profiles with graphics may use them. */
	if (strstr(instance->profile, "+gfx"))
		add_display_nodes(making, card, &subject);
	return add_subject(making, &subject, all);
}

static int add_card(struct making *making, const struct card *card, struct json_object *all)
{
	struct subject subject = { 0 };
	int r;

	snprintf(subject.names[0], DEVICE_NAME_MAX, "%u", card->index);
	name_by_uuid(subject.names[1], card->uuid, "GPU-");
	snprintf(subject.names[2], DEVICE_NAME_MAX, "gpu%u", card->index);
	r = find_card_node(making, card, &subject);
	if (r <= 0)
		return r;
	const struct driver_node *node = subject.nodes[0];
	add_display_nodes(making, card, &subject);
	r = subject_is_wanted(making, &subject) ? add_subject(making, &subject, all) : 0;
	for (size_t i = 0; r == 0 && i < card->instance_count; i++)
		r = add_instance(making, card, &card->instances[i], node, all);
	return r;
}

int cdi_add_cards(struct making *making)
{
	const struct inventory *inventory = making->options->inventory;
	autojson *all = json_object_new_object();
	int r = all ? 0 : error_no_memory(making->error);

	for (size_t i = 0; r == 0 && i < inventory->card_count; i++)
		r = add_card(making, &inventory->cards[i], all);
	if (r < 0 || making->options->no_all || json_object_array_length(making->devices) == 0)
		return r;
	autojson *device = json_object_new_object();
	if (!device || json_add_string(device, "name", "all") < 0 ||
	    json_add(device, "containerEdits", TAKE_PTR(all)) < 0 ||
	    json_append(making->devices, TAKE_PTR(device)) < 0)
		return error_no_memory(making->error);
	return 0;
}
