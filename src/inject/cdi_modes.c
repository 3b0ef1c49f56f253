/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a CDI spec that are no cards: what is asked for beside them, each a device "all". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject/cdi_private.h"

#define CHANNELS "nvidia-caps-imex-channels/channel"

static int add_node(struct making *making, struct json_object *edits,
		    const struct driver_node *node)
{
	char path[sizeof("/dev/") + sizeof(node->name)];

	snprintf(path, sizeof(path), "/dev/%s", node->name);
	return making_node(making, edits, path, node);
}

/* The device "all" with every node that FITS; none when no node does. *ret_edits: its edits. */
static int add_all(struct making *making,
		   bool (*fits)(const struct making *making, const struct driver_node *node),
		   struct json_object **ret_edits)
{
	const struct driver_files *files = making->options->files;
	static const char *const names[] = { "all" };
	int r = 0;

	*ret_edits = NULL;
	if (!making_wants(making, names, ARRAY_SIZE(names)))
		return 0;
	for (size_t i = 0; r == 0 && i < files->node_count; i++) {
		if (!fits(making, &files->nodes[i]))
			continue;
		if (!*ret_edits)
			r = making_device(making, "all", ret_edits);
		if (r == 0)
			r = add_node(making, *ret_edits, &files->nodes[i]);
	}
	return r;
}

static bool is_of_mode(const struct making *making, const struct driver_node *node)
{
	return node->gated & making->gated;
}

/* Config files, and directories of the host, that are asked for with the nodes. */
int cdi_add_gated(struct making *making)
{
	const struct driver_files *files = making->options->files;
	struct json_object *edits = NULL;
	int r = add_all(making, is_of_mode, &edits);

	for (size_t i = 0; edits && r == 0 && i < files->count; i++)
		if (files->items[i].gated & making->gated)
			r = making_mount(making, edits, files->items[i].source,
					 files->items[i].names.items[0],
					 "ro,nosuid,nodev,rbind,rprivate");
	return r;
}

/* As the toolkit: what belongs to storage, switches and links is no node of the cards' managers. */
static bool is_for_management(const struct making *making, const struct driver_node *node)
{
	static const char *const others[] = { "nvidia-fs", "nvidia-nvswitch", "nvidia-nvlink" };

	(void)making;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strncmp(node->name, others[i], strlen(others[i])) == 0)
			return false;
	return strncmp(node->name, "nvidia", 6) == 0;
}

int cdi_add_management(struct making *making)
{
	struct json_object *edits;

	return add_all(making, is_for_management, &edits);
}

static bool is_channel(const struct making *making, const struct driver_node *node)
{
	(void)making;
	return strncmp(node->name, CHANNELS, sizeof(CHANNELS) - 1) == 0;
}

/* A device a channel, by its number, and one with all. */
int cdi_add_channels(struct making *making)
{
	const struct driver_files *files = making->options->files;
	struct json_object *edits = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < files->node_count; i++) {
		const struct driver_node *node = &files->nodes[i];
		const char *const names[] = { node->name + sizeof(CHANNELS) - 1 };

		if (!is_channel(making, node) || !making_wants(making, names, ARRAY_SIZE(names)))
			continue;
		r = making_device(making, names[0], &edits);
		if (r == 0)
			r = add_node(making, edits, node);
	}
	return r < 0 || making->options->no_all ? r : add_all(making, is_channel, &edits);
}

static bool is_wsl(const struct making *making, const struct driver_node *node)
{
	(void)making;
	return strcmp(node->name, "dxg") == 0;
}

/* Windows' driver has one node for all cards. */
int cdi_add_wsl(struct making *making)
{
	struct json_object *edits;

	return add_all(making, is_wsl, &edits);
}
