/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for one plan looks at less than the whole search, and the plan must not see it: over all
 * grants, capabilities and wishes of small driver roots, whole and broken, both give the same plan or
 * the same refusal.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject/driver_table.h"
#include "inject/inject.h"
#include "tree.h"

#define V         "535.261.03"
#define TRIPLET   "usr/lib/" LIBRARY_TRIPLET
#define CARDS     3u
#define INSTANCES 2u

/* What is different in a driver root. How to add a root: a row. */
static const struct {
	const char *name;
	bool no_caps, no_channels, first_channel, lying_uvm, lying_tools, no_uvm, file_for_node;
} roots[] = {
	{ "all of it", .first_channel = true },
	{ "no channel 0" },
	{ "no capabilities", .no_caps = true, .first_channel = true },
	{ "no channels", .no_channels = true },
	{ "uvm has the number of a capability", .lying_uvm = true, .first_channel = true },
	{ "uvm-tools has the number of a channel", .lying_tools = true },
	{ "no uvm", .no_uvm = true, .no_channels = true },
	{ "a file where a card should be", .file_for_node = true, .first_channel = true },
};

static const unsigned capability_sets[] = {
	CAPABILITY_DEFAULT, CAPABILITY_UTILITY, CAPABILITY_GRAPHICS | CAPABILITY_UTILITY,
	CAPABILITY_DISPLAY, CAPABILITY_ALL,
};

static const unsigned gated_sets[] = {
	0, GATED_GDS, GATED_MOFED | GATED_NVSWITCH, GATED_GDRCOPY | GATED_MIG_CONFIG, GATED_ALL,
};

struct world {
	char tree[TREE_PATH_MAX], list[TREE_PATH_MAX + 32], run[TREE_PATH_MAX];
	struct card cards[CARDS];
	struct card_instance instances[INSTANCES]; /* of the last card */
	struct inventory inventory;
	struct grant_card whole[CARDS], parts[INSTANCES];
	struct grant grants[2];
	const struct grant *grant_list[2];
	char *channels[2];
	struct string_list imex;
};

static bool make_nodes(const char *tree, size_t row)
{
	bool made = tree_node(tree, "dev/nvidiactl", 195, 255);

	made = made && (roots[row].no_uvm ||
			tree_node(tree, "dev/nvidia-uvm", roots[row].lying_uvm ? 510 : 511, 0));
	tree_node(tree, "dev/nvidia-uvm-tools", roots[row].lying_tools ? 509 : 511, 1);
	tree_node(tree, "dev/nvidia-modeset", 195, 254);
	for (unsigned i = 0; i < CARDS; i++) {
		char path[64];

		snprintf(path, sizeof(path), "dev/nvidia%u", i);
		if (i == 1 && roots[row].file_for_node)
			tree_file(tree, path, "x");
		else
			tree_node(tree, path, 195, i);
		snprintf(path, sizeof(path), "dev/dri/renderD%u", 128 + i);
		tree_node(tree, path, 226, 128 + i);
		snprintf(path, sizeof(path), "sys/class/drm/renderD%u", 128 + i);
		char target[64];
		snprintf(target, sizeof(target), "../../devices/0000:0%u:00.0/drm/renderD%u", i + 1,
			 128 + i);
		tree_link(tree, path, target);
	}
	for (unsigned i = 1; i <= 6 && !roots[row].no_caps; i++) {
		char path[64];

		snprintf(path, sizeof(path), "dev/nvidia-caps/nvidia-cap%u", i);
		tree_node(tree, path, 510, i);
	}
	tree_node(tree, "dev/gdrdrv", 235, 0);
	tree_node(tree, "dev/nvidia-fs0", 236, 0);
	tree_node(tree, "dev/nvidia-fs1", 236, 1);
	tree_node(tree, "dev/nvidia-nvswitch0", 237, 0);
	tree_node(tree, "dev/infiniband/uverbs0", 231, 192);
	tree_node(tree, "dev/infiniband/rdma_cm", 10, 59);
	if (roots[row].no_channels)
		return made;
	tree_node(tree, "dev/nvidia-caps-imex-channels/channel7", 509, 7);
	if (roots[row].first_channel)
		tree_node(tree, "dev/nvidia-caps-imex-channels/channel0", 509, 0);
	return made;
}

static bool world_make(struct world *world, size_t row)
{
	const char *tree = world->tree;

	*world = (struct world){ 0 };
	tree_make(world->tree);
	tree_make(world->run);
	snprintf(world->list, sizeof(world->list), "%s/list.json", world->run);
	tree_library(tree, TRIPLET "/libcuda.so." V, "libcuda.so.1", 64);
	tree_library(tree, TRIPLET "/libnvidia-ml.so." V, "libnvidia-ml.so.1", 64);
	tree_library(tree, TRIPLET "/libnvidia-eglcore.so." V, "libnvidia-eglcore.so." V, 64);
	tree_program(tree, "usr/bin/nvidia-smi");
	tree_file(tree, "etc/cufile.json", "{}");
	tree_socket(tree, "run/nvidia-persistenced/socket");
	tree_directory(tree, "tmp/nvidia-mps");
	tree_directory(tree, "run/udev");
	tree_file(tree, "proc/driver/nvidia/capabilities/mig/config", "DeviceFileMinor: 1\n");
	tree_file(tree, "proc/driver/nvidia/capabilities/mig/monitor", "DeviceFileMinor: 2\n");
	return make_nodes(tree, row);
}

static void world_fill(struct world *world)
{
	for (unsigned i = 0; i < CARDS; i++) {
		struct card *card = &world->cards[i];

		*card = (struct card){ .index = i, .minor = i };
		snprintf(card->uuid, sizeof(card->uuid), "GPU-%u", i);
		snprintf(card->bus_id, sizeof(card->bus_id), "0000:0%u:00.0", i + 1);
	}
	for (unsigned i = 0; i < INSTANCES; i++) {
		struct card_instance *instance = &world->instances[i];

		*instance = (struct card_instance){ .index = i,
						    .gpu_instance = i + 1,
						    .gpu_minor = 3 + 2 * i,
						    .compute_minor = 4 + 2 * i };
		snprintf(instance->uuid, sizeof(instance->uuid), "MIG-%u", i);
		snprintf(instance->profile, sizeof(instance->profile), "1g.10gb%s",
			 i ? "+gfx" : "");
	}
	world->cards[CARDS - 1].instances = world->instances;
	world->cards[CARDS - 1].instance_count = INSTANCES;
	world->inventory.cards = world->cards;
	world->inventory.card_count = CARDS;
	snprintf(world->inventory.driver_root, sizeof(world->inventory.driver_root), "%s",
		 world->tree);
	snprintf(world->inventory.driver_version, sizeof(world->inventory.driver_version), V);
	world->grants[0] = (struct grant){ .kind = REQUEST_WHOLE, .cards = world->whole };
	world->grants[1] = (struct grant){ .kind = REQUEST_MIG, .cards = world->parts };
	world->grant_list[0] = &world->grants[0];
	world->grant_list[1] = &world->grants[1];
	world->imex.items = world->channels;
}

/* The cards and instances of the set bits of MASK. */
static void world_grant(struct world *world, unsigned mask)
{
	size_t cards = 0, parts = 0;

	for (unsigned i = 0; i < CARDS; i++)
		if (mask & 1u << i)
			snprintf(world->whole[cards++].uuid, sizeof(world->whole[0].uuid), "GPU-%u",
				 i);
	for (unsigned i = 0; i < INSTANCES; i++)
		if (mask & 1u << (CARDS + i))
			snprintf(world->parts[parts++].uuid, sizeof(world->parts[0].uuid), "MIG-%u",
				 i);
	world->grants[0].card_count = cards;
	world->grants[1].card_count = parts;
}

/* The plan as text, or the refusal. */
static char *plan_text(struct injection *injection, struct driver_files *files)
{
	cleanup(edit_plan_release) struct edit_plan plan = { 0 };
	autostrbuf text = STRBUF_INIT(1 << 20);
	struct error error = ERROR_INIT;
	struct reason reason = { 0 };

	injection->files = files;
	int r = edit_plan_build(injection, &plan, &reason, &error);
	injection->files = NULL;
	if (r < 0) {
		strbuf_addf(&text, "%d: %s", r, error.message);
	} else {
		assert_int_equal(edit_plan_print(&plan, &text), 0);
		for (size_t i = 0; i < plan.notes.count; i++)
			strbuf_addf(&text, "%s\n", plan.notes.items[i]);
	}
	return strbuf_detach(&text);
}

static unsigned refused, planned;

static void compare(struct world *world, struct injection *injection)
{
	cleanup(driver_files_freep) struct driver_files *whole = NULL, *narrow = NULL;

	assert_int_equal(driver_files_find(world->tree, V, injection->capabilities, &whole, NULL),
			 0);
	assert_int_equal(driver_files_find_injection(world->list, injection, &narrow, NULL), 0);
	assert_true(narrow->node_count <= whole->node_count);
	autofree char *expected = plan_text(injection, whole);
	autofree char *got = plan_text(injection, narrow);
	if (*expected == '-')
		refused++;
	else
		planned++;
	/* A note about a node that nobody asked for is the whole search's alone. */
	if (!strstr(expected, "is no character device; it is left out"))
		assert_string_equal(got, expected);
	else if (*expected == '-')
		assert_string_equal(got, expected);
}

static void compare_all(struct world *world)
{
	struct injection injection = { .inventory = &world->inventory,
				       .grants = world->grant_list,
				       .grant_count = 2,
				       .target = INJECT_IMAGE,
				       .root_fd = -1,
				       .imex = &world->imex };

	for (unsigned mask = 0; mask < 1u << (CARDS + INSTANCES); mask++) {
		/* Each grant with some of the wishes, all of them over all grants. */
		size_t capabilities = mask % ARRAY_SIZE(capability_sets);
		size_t gated = mask / 3 % ARRAY_SIZE(gated_sets);

		world_grant(world, mask);
		injection.capabilities = capability_sets[capabilities];
		injection.gated = gated_sets[gated];
		for (size_t channels = 0; channels < 4; channels++) {
			static char zero[] = "0", seven[] = "7", all[] = IMEX_ALL;
			char *const numbers[] = { zero, zero, seven, all };

			world->channels[0] = numbers[channels];
			world->imex.count = channels ? 1 : 0;
			compare(world, &injection);
		}
	}
}

TEST(a_plan_does_not_see_what_was_searched)
{
	for (size_t row = 0; row < ARRAY_SIZE(roots); row++) {
		struct world world;

		print_message("# %s\n", roots[row].name);
		if (!world_make(&world, row)) {
			tree_remove(world.tree);
			tree_remove(world.run);
			skip();
		}
		world_fill(&world);
		compare_all(&world);
		tree_remove(world.tree);
		tree_remove(world.run);
	}
	print_message("# %u plans, %u refusals, all the same\n", planned, refused);
	assert_true(planned > 100 && refused > 100);
}
