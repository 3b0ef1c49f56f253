/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is listed. A scene is some steps, each with the view that it must give (node_world.h has the
 * notation). Rows marked [peer] are what NVIDIA's plugin lists (k8s-device-plugin at 1b826acc,
 * internal/rm/device_map.go and its test).
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node_world.h"

#define GPU   PLUGIN_RESOURCE_GPU
#define UNITS PLUGIN_RESOURCE_UNITS

typedef void step(struct node_world *world);

struct scene {
	const char *name;
	unsigned cards, gib;
	struct {
		step *change;
		bool settled;
		const char *view; /* NULL: the end */
		const char *note; /* something that a note says; NULL: there is none */
	} steps[6];
};

static void nothing(struct node_world *world)
{
	(void)world;
}

static void mixed(struct node_world *world)
{
	world->config.mig_strategy = MIG_STRATEGY_MIXED;
}

static void single(struct node_world *world)
{
	world->config.mig_strategy = MIG_STRATEGY_SINGLE;
}

static void mig_on_1(struct node_world *world)
{
	world_set_mig(world, 1, "3g.40gb 1g.10gb+me");
}

static void mixed_mig_on_1(struct node_world *world)
{
	mixed(world);
	mig_on_1(world);
}

static void mixed_divided(struct node_world *world)
{
	mixed(world);
	world_set_mig(world, 0, "1c.2g.20gb 2g.20gb");
}

static void mixed_empty(struct node_world *world)
{
	mixed(world);
	world_set_mig(world, 0, "");
}

static void single_alike(struct node_world *world)
{
	single(world);
	world_set_mig(world, 0, "3g.40gb 3g.40gb");
	world_set_mig(world, 1, "3g.40gb");
}

static void single_profiles_differ(struct node_world *world)
{
	single(world);
	world_set_mig(world, 0, "3g.40gb");
	world_set_mig(world, 1, "3g.40gb 2g.20gb");
}

static void single_modes_differ(struct node_world *world)
{
	single(world);
	world_set_mig(world, 0, "3g.40gb");
}

static void single_empty(struct node_world *world)
{
	single(world);
	world_set_mig(world, 0, "3g.40gb");
	world_set_mig(world, 1, "");
}

static void single_one_lost(struct node_world *world)
{
	single_modes_differ(world);
	world_sicken(world, 1, CARD_LOST);
}

static void replicas_3(struct node_world *world)
{
	world_share(world, GPU, GPU, 3, NULL);
}

static void replicas_shared(struct node_world *world)
{
	world_share(world, GPU, GPU ".shared", 2, NULL);
}

static void replicas_count(struct node_world *world)
{
	world_share(world, GPU, GPU, 2, "#1");
}

static void replicas_too_many(struct node_world *world)
{
	world_share(world, GPU, GPU, 2, "#5");
}

static void replicas_named(struct node_world *world)
{
	world_share(world, GPU, "nvidia.com/sharedgpu", 2,
		    "1 GPU-00000000-0000-0000-0000-000000000002 7");
}

static void replicas_of_mig(struct node_world *world)
{
	mixed_mig_on_1(world);
	world_share(world, "nvidia.com/mig-1g.10gb.me", "nvidia.com/mig-1g.10gb.me.shared", 2,
		    NULL);
}

static void replicas_of_index(struct node_world *world)
{
	mixed(world);
	world_set_mig(world, 1, "3g.40gb 3g.40gb");
	world_share(world, "nvidia.com/mig-3g.40gb", "nvidia.com/mig-3g.40gb", 2, "1:1");
}

static void replicas_and_whole(struct node_world *world)
{
	world_share(world, GPU, GPU, 2, NULL);
	world_set_mode(world, 0, CARD_MODE_WHOLE, false);
}

static void replicas_without_row(struct node_world *world)
{
	world_set_mode(world, 0, CARD_MODE_REPLICAS, false);
}

static void slices_1(struct node_world *world)
{
	world_set_mode(world, 1, CARD_MODE_SLICES, false);
}

static void slices_without_cdi(struct node_world *world)
{
	slices_1(world);
	world->no_cdi = true;
}

static void slices_on_mig(struct node_world *world)
{
	slices_1(world);
	mixed_mig_on_1(world);
}

static void mode_auto(struct node_world *world)
{
	world_set_mode(world, 1, CARD_MODE_AUTO, false);
}

static void mode_mps(struct node_world *world)
{
	world_set_mode(world, 1, CARD_MODE_MPS, false);
}

static void mode_mig(struct node_world *world)
{
	mixed(world);
	world_set_mode(world, 1, CARD_MODE_MIG, false);
}

static void whole_on_mig(struct node_world *world)
{
	mixed_mig_on_1(world);
	world_set_mode(world, 1, CARD_MODE_WHOLE, false);
}

static void exclude_0(struct node_world *world)
{
	world_set_mode(world, 0, CARD_MODE_WHOLE, true);
}

static void all_excluded(struct node_world *world)
{
	world->config.default_mode = DEFAULT_MODE_EXCLUDED;
}

static void all_slices(struct node_world *world)
{
	world->config.default_mode = DEFAULT_MODE_SLICES;
}

static void no_rows(struct node_world *world)
{
	for (size_t i = 0; i < world->config.card_count; i++)
		free(world->config.cards[i].uuid);
	world->config.card_count = 0;
	world->config.default_mode = DEFAULT_MODE_PEER;
}

static void hold_whole_0(struct node_world *world)
{
	world_hold(world, GPU, "0");
}

static void hold_whole_1(struct node_world *world)
{
	world_hold(world, GPU, "1");
}

static void hold_units(struct node_world *world)
{
	slices_1(world);
	world_hold(world, UNITS, "1m0-2");
}

static void hold_replica(struct node_world *world)
{
	replicas_3(world);
	world_hold(world, GPU, "1::1");
}

static void release_all(struct node_world *world)
{
	while (world->ledger.count)
		ledger_forget(&world->ledger, world->ledger.entries[0]);
}

static void suspect_1(struct node_world *world)
{
	world_sicken(world, 1, CARD_SUSPECT);
}

static void suspect_replicas(struct node_world *world)
{
	replicas_3(world);
	suspect_1(world);
}

static void suspect_mig(struct node_world *world)
{
	mixed_mig_on_1(world);
	suspect_1(world);
}

static void lose_1(struct node_world *world)
{
	world_sicken(world, 1, CARD_LOST);
}

/* As a probe tells it that gets no answer: nothing is known of the card but its UUID. */
static void lose_1_with_all(struct node_world *world)
{
	struct card *card = &world->inventory.cards[1];

	lose_1(world);
	card->memory_bytes = 0;
	card->mig_enabled = false;
	card->instance_count = 0;
	card->index = CARD_INDEX_NONE;
}

static void find_1(struct node_world *world)
{
	world_sicken(world, 1, CARD_HEALTHY);
}

static void find_1_with_all(struct node_world *world)
{
	find_1(world);
	world->inventory.cards[1].memory_bytes = (uint64_t)4 << 30;
	world->inventory.cards[1].index = 1;
}

/* Out of the inventory: pulled, or excluded by the driver. */
static void pull_1(struct node_world *world)
{
	struct card gone;

	assert_int_equal(world->inventory.card_count, 2);
	gone = world->inventory.cards[1];
	free(gone.links);
	free(gone.instances);
	world->inventory.card_count = 1;
	world->inventory.cards[0].link_count = 0;
}

static void forget_uuid_1(struct node_world *world)
{
	snprintf(world->inventory.cards[1].uuid, CARD_UUID_MAX, "unknown-0000:02:00.0");
}

static void same_uuid(struct node_world *world)
{
	world_uuid(0, world->inventory.cards[1].uuid);
}

static void lay_out_anew(struct node_world *world)
{
	struct card *card = &world->inventory.cards[1];

	world_set_mig(world, 1, "2g.20gb");
	snprintf(card->instances[0].uuid, CARD_UUID_MAX,
		 "MIG-00000000-0000-0000-0001-000000000009");
}

static void hold_mig(struct node_world *world)
{
	mixed_mig_on_1(world);
	world_hold(world, "nvidia.com/mig-3g.40gb", "1:0");
}

static void foreign_process(struct node_world *world, bool granted)
{
	struct card *card = &world->inventory.cards[1];
	struct card_process *process =
		VEC_ADD(&card->processes, &card->process_count, &card->process_capacity);

	assert_non_null(process);
	process->pid = 4711;
	process->used_mib = 512;
	process->granted = granted;
	world->foreign = true;
}

static void foreign_on_slices(struct node_world *world)
{
	hold_units(world);
	foreign_process(world, false);
}

static void granted_on_slices(struct node_world *world)
{
	hold_units(world);
	foreign_process(world, true);
}

static void foreign_ends(struct node_world *world)
{
	world->inventory.cards[1].process_count = 0;
}

static void foreign_on_whole(struct node_world *world)
{
	foreign_process(world, false);
}

static void slices_while_whole(struct node_world *world)
{
	world_hold(world, GPU, "1");
	slices_1(world);
}

static void hold_gone(struct node_world *world)
{
	world_hold(world, GPU, "7");
}

static void rename_shared(struct node_world *world)
{
	free(world->config.time_slicing.resources[0].rename);
	world->config.time_slicing.resources[0].rename = strdup(GPU ".shared");
}

static const struct scene scenes[] = {
	/* whole cards, MIG */
	{ "whole cards [peer]", 2, 4, { { nothing, false, GPU ": 0 1", NULL } } },
	{ "no card at all", 0, 4, { { nothing, false, "", NULL } } },
	{ "MIG none lists the card [peer]", 2, 4, { { mig_on_1, false, GPU ": 0 1", NULL } } },
	{ "MIG mixed [peer]",
	  2,
	  4,
	  { { mixed_mig_on_1, false,
	      GPU ": 0; nvidia.com/mig-1g.10gb.me: 1:1; nvidia.com/mig-3g.40gb: 1:0", NULL } } },
	{ "MIG mixed: a divided GPU instance has no resource [peer]",
	  2,
	  4,
	  { { mixed_divided, false, GPU ": 1; nvidia.com/mig-2g.20gb: 0:1", "1c.2g.20gb" } } },
	{ "MIG mixed: a card without MIG devices is a warning [peer]",
	  2,
	  4,
	  { { mixed_empty, false, GPU ": 1", "has no MIG devices" } } },
	{ "MIG single without MIG [peer]", 2, 4, { { single, false, GPU ": 0 1", NULL } } },
	{ "MIG single [peer]", 2, 4, { { single_alike, false, GPU ": 0:0 0:1 1:0", NULL } } },
	{ "MIG single, two profiles [peer]",
	  2,
	  4,
	  { { single_profiles_differ, false, "",
	      "more than one MIG device type present on node" } } },
	{ "MIG single, one card without MIG [peer]",
	  2,
	  4,
	  { { single_modes_differ, false, "",
	      "all devices on the node must be configured with the same migEnabled value" } } },
	{ "MIG single, one card empty [peer]",
	  2,
	  4,
	  { { single_empty, false, "",
	      "at least one device with migEnabled=true was not configured correctly" } } },
	{ "MIG single: a lost card hides nothing",
	  2,
	  4,
	  { { single_one_lost, false, GPU ": 0:0 1!s", NULL } } },
	/* replicas */
	{ "replicas [peer]",
	  2,
	  4,
	  { { replicas_3, false, GPU ": 0::0 0::1 0::2 1::0 1::1 1::2", NULL } } },
	{ "renamed replicas [peer]",
	  2,
	  4,
	  { { replicas_shared, false, GPU ".shared: 0::0 0::1 1::0 1::1", NULL } } },
	{ "replicas of a count of cards",
	  2,
	  4,
	  { { replicas_count, false, GPU ": 0::0 0::1 1", NULL } } },
	{ "replicas of more cards than there are",
	  2,
	  4,
	  { { replicas_too_many, false, GPU ": 0::0 0::1 1::0 1::1", "for 5 devices, and 2" } } },
	{ "replicas by index and UUID, with another name",
	  4,
	  4,
	  { { replicas_named, false, GPU ": 0 3; nvidia.com/sharedgpu: 1::0 1::1 2::0 2::1",
	      "names device 7" } } },
	{ "replicas of MIG devices",
	  2,
	  4,
	  { { replicas_of_mig, false,
	      GPU
	      ": 0; nvidia.com/mig-1g.10gb.me.shared: 1:1::0 1:1::1; nvidia.com/mig-3g.40gb: 1:0",
	      NULL } } },
	{ "replicas of a MIG device by its index",
	  2,
	  4,
	  { { replicas_of_index, false, GPU ": 0; nvidia.com/mig-3g.40gb: 1:0 1:1::0 1:1::1",
	      NULL } } },
	{ "a card in mode whole is not shared",
	  2,
	  4,
	  { { replicas_and_whole, false, GPU ": 0 1::0 1::1", NULL } } },
	{ "mode replicas without sharing",
	  2,
	  4,
	  { { replicas_without_row, false, GPU ": 1", "no row of sharing.timeSlicing" } } },
	/* slices */
	{ "slices of one card", 2, 4, { { slices_1, false, UNITS ": 1m0-3; " GPU ": 0", NULL } } },
	{ "slices of all", 2, 2, { { all_slices, false, UNITS ": 0m0-1 1m0-1", NULL } } },
	{ "no CDI, no units", 2, 4, { { slices_without_cdi, false, GPU ": 0", "needs CDI" } } },
	{ "no slices of a card in MIG mode",
	  2,
	  4,
	  { { slices_on_mig, false, GPU ": 0", "is in MIG mode" } } },
	{ "mode auto needs the planner",
	  2,
	  4,
	  { { mode_auto, false, GPU ": 0", "planner (gpupool-controller)" } } },
	{ "mode mps", 2, 4, { { mode_mps, false, GPU ": 0", "does not offer" } } },
	{ "mode mig without MIG", 2, 4, { { mode_mig, false, GPU ": 0", "not in MIG mode" } } },
	{ "mode whole in MIG mode",
	  2,
	  4,
	  { { whole_on_mig, false, GPU ": 0", "is in MIG mode" } } },
	{ "an excluded card", 2, 4, { { exclude_0, false, GPU ": 1", NULL } } },
	{ "all excluded", 2, 4, { { all_excluded, false, "", NULL } } },
	{ "a card whose UUID is unknown",
	  2,
	  4,
	  { { forget_uuid_1, false, GPU ": 0", "not known" } } },
	{ "two cards with one UUID",
	  2,
	  4,
	  { { same_uuid, false, GPU ": 0", "another card has its" } } },
	/* lists change: first unhealthy, then gone, then empty */
	{ "excluded while it is listed",
	  2,
	  4,
	  { { nothing, false, GPU ": 0 1", NULL },
	    { exclude_0, false, GPU ": 0!l 1", NULL },
	    { nothing, false, GPU ": 0!l 1", NULL },
	    { nothing, true, GPU ": 1", NULL },
	    { no_rows, false, GPU ": 0 1", NULL } } },
	{ "excluded, and back before it left",
	  2,
	  4,
	  { { nothing, false, GPU ": 0 1", NULL },
	    { exclude_0, false, GPU ": 0!l 1", NULL },
	    { no_rows, true, GPU ": 0 1", NULL } } },
	{ "all excluded: unhealthy, then an empty list",
	  2,
	  4,
	  { { nothing, false, GPU ": 0 1", NULL },
	    { all_excluded, false, GPU ": 0!l 1!l", NULL },
	    { nothing, true, GPU ":", NULL },
	    { nothing, true, GPU ":", NULL } } },
	{ "excluded while it is held",
	  2,
	  4,
	  { { hold_whole_0, false, GPU ": 0+ 1", NULL },
	    { exclude_0, true, GPU ": 0+- 1", NULL },
	    { nothing, true, GPU ": 0+- 1", NULL },
	    { release_all, true, GPU ": 0!l 1", NULL },
	    { nothing, true, GPU ": 1", NULL } } },
	{ "held at the start, and not offered",
	  2,
	  4,
	  { { all_excluded, false, "", NULL }, { hold_whole_0, false, GPU ": 0+-", NULL } } },
	{ "whole to slices while it is held",
	  2,
	  4,
	  { { hold_whole_1, false, GPU ": 0 1+", NULL },
	    { slices_1, true, UNITS ": 1m0-3!o; " GPU ": 0 1+-", NULL },
	    { release_all, true, UNITS ": 1m0-3; " GPU ": 0 1!l", NULL },
	    { nothing, true, UNITS ": 1m0-3; " GPU ": 0", NULL } } },
	{ "slices to whole while some are held",
	  2,
	  4,
	  { { hold_units, false, UNITS ": 1m0-2+ 1m3; " GPU ": 0", NULL },
	    { no_rows, true, UNITS ": 1m0-2+- 1m3!l; " GPU ": 0 1!o", NULL },
	    { nothing, true, UNITS ": 1m0-2+-; " GPU ": 0 1!o", NULL },
	    { release_all, true, UNITS ": 1m0-2!l; " GPU ": 0 1", NULL },
	    { nothing, true, UNITS ":; " GPU ": 0 1", NULL } } },
	{ "renamed while one is held: an ID is in one list",
	  2,
	  4,
	  { { hold_replica, false, GPU ": 0::0 0::1 0::2 1::0 1::1+ 1::2", NULL },
	    { rename_shared, true,
	      GPU ": 0::0!l 0::1!l 0::2!l 1::0!l 1::1+- 1::2!l; " GPU ".shared:", NULL },
	    { nothing, true, GPU ": 1::1+-; " GPU ".shared:", NULL },
	    { nothing, true, GPU ": 1::1+-; " GPU ".shared: 0::0 0::1 0::2 1::0 1::2", NULL },
	    { release_all, true, GPU ": 1::1!l; " GPU ".shared: 0::0 0::1 0::2 1::0 1::2",
	      NULL } } },
	/* MIG layouts */
	{ "MIG is turned on",
	  2,
	  4,
	  { { mixed, false, GPU ": 0 1", NULL },
	    { mig_on_1, true,
	      GPU ": 0 1!l; nvidia.com/mig-1g.10gb.me: 1:1; nvidia.com/mig-3g.40gb: 1:0", NULL },
	    { nothing, true, GPU ": 0; nvidia.com/mig-1g.10gb.me: 1:1; nvidia.com/mig-3g.40gb: 1:0",
	      NULL } } },
	{ "a MIG device that is held vanishes",
	  2,
	  4,
	  { { hold_mig, false,
	      GPU ": 0; nvidia.com/mig-1g.10gb.me: 1:1; nvidia.com/mig-3g.40gb: 1:0+", NULL },
	    { lay_out_anew, true,
	      GPU ": 0; nvidia.com/mig-1g.10gb.me: 1:1!l; nvidia.com/mig-2g.20gb: 1:9; "
		  "nvidia.com/mig-3g.40gb: 1:0+!v",
	      NULL },
	    { release_all, true,
	      GPU ": 0; nvidia.com/mig-1g.10gb.me:; nvidia.com/mig-2g.20gb: 1:9; "
		  "nvidia.com/mig-3g.40gb: 1:0!l",
	      NULL },
	    { nothing, true,
	      GPU ": 0; nvidia.com/mig-1g.10gb.me:; nvidia.com/mig-2g.20gb: 1:9; "
		  "nvidia.com/mig-3g.40gb:",
	      NULL } } },
	/* health */
	{ "suspect reaches every replica",
	  2,
	  4,
	  { { suspect_replicas, false, GPU ": 0::0 0::1 0::2 1::0!s 1::1!s 1::2!s", NULL },
	    { find_1, false, GPU ": 0::0 0::1 0::2 1::0 1::1 1::2", NULL } } },
	{ "suspect reaches every MIG device",
	  2,
	  4,
	  { { suspect_mig, false,
	      GPU ": 0; nvidia.com/mig-1g.10gb.me: 1:1!s; nvidia.com/mig-3g.40gb: 1:0!s",
	      NULL } } },
	{ "suspect reaches every unit, held or not",
	  2,
	  4,
	  { { hold_units, false, UNITS ": 1m0-2+ 1m3; " GPU ": 0", NULL },
	    { suspect_1, false, UNITS ": 1m0-2+!s 1m3!s; " GPU ": 0", NULL },
	    { find_1, false, UNITS ": 1m0-2+ 1m3; " GPU ": 0", NULL } } },
	{ "lost, and nothing of it is known",
	  2,
	  4,
	  { { hold_units, false, UNITS ": 1m0-2+ 1m3; " GPU ": 0", NULL },
	    { lose_1_with_all, true, UNITS ": 1m0-2+!s 1m3!s; " GPU ": 0", NULL },
	    { nothing, true, UNITS ": 1m0-2+!s 1m3!s; " GPU ": 0", NULL },
	    { find_1_with_all, true, UNITS ": 1m0-2+ 1m3; " GPU ": 0", NULL } } },
	{ "a lost card in MIG mode keeps its devices",
	  2,
	  4,
	  { { mixed_mig_on_1, false,
	      GPU ": 0; nvidia.com/mig-1g.10gb.me: 1:1; nvidia.com/mig-3g.40gb: 1:0", NULL },
	    { lose_1_with_all, true,
	      GPU ": 0; nvidia.com/mig-1g.10gb.me: 1:1!s; nvidia.com/mig-3g.40gb: 1:0!s",
	      NULL } } },
	{ "lost at the start", 2, 4, { { lose_1, false, GPU ": 0 1!s", NULL } } },
	{ "a counted share does not move to another card",
	  2,
	  4,
	  { { replicas_count, false, GPU ": 0::0 0::1 1", NULL },
	    { lose_1, false, GPU ": 0::0 0::1 1!s", NULL } } },
	{ "vanished while it is held",
	  2,
	  4,
	  { { hold_whole_1, false, GPU ": 0 1+", NULL },
	    { pull_1, true, GPU ": 0 1+!v", NULL },
	    { nothing, true, GPU ": 0 1+!v", NULL },
	    { release_all, true, GPU ": 0 1!l", NULL },
	    { nothing, true, GPU ": 0", NULL } } },
	{ "vanished and free",
	  2,
	  4,
	  { { nothing, false, GPU ": 0 1", NULL },
	    { pull_1, false, GPU ": 0 1!l", NULL },
	    { nothing, true, GPU ": 0", NULL } } },
	/* foreign use */
	{ "foreign use: no new slice, and no harm to the old ones",
	  2,
	  4,
	  { { foreign_on_slices, false, UNITS ": 1m0-2+ 1m3!f; " GPU ": 0", NULL },
	    { foreign_ends, false, UNITS ": 1m0-2+ 1m3; " GPU ": 0", NULL } } },
	{ "a process with a grant is not foreign",
	  2,
	  4,
	  { { granted_on_slices, false, UNITS ": 1m0-2+ 1m3; " GPU ": 0", NULL } } },
	{ "whole cards as the peer: whoever uses them",
	  2,
	  4,
	  { { foreign_on_whole, false, GPU ": 0 1", NULL } } },
};

static bool has_note(const struct plugin_view *view, const char *text)
{
	for (size_t i = 0; i < view->notes.count; i++)
		if (strstr(view->notes.items[i], text))
			return true;
	return false;
}

TEST(scenes_give_their_views)
{
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		const struct scene *scene = &scenes[i];
		struct node_world world;

		world_init(&world, scene->cards, scene->gib);
		for (size_t k = 0; k < ARRAY_SIZE(scene->steps) && scene->steps[k].view; k++) {
			autostrbuf text = STRBUF_INIT(65536);
			const char *note = scene->steps[k].note;

			scene->steps[k].change(&world);
			world_build(&world, scene->steps[k].settled);
			world_print(&world, &text);
			if (strcmp(text.data, scene->steps[k].view) != 0)
				fail_msg("%s, step %zu:\n  is   %s\n  want %s", scene->name, k,
					 text.data, scene->steps[k].view);
			if (k == 0 && !note && world.view.notes.count)
				fail_msg("%s: %s", scene->name, world.view.notes.items[0]);
			if (note && !has_note(&world.view, note))
				fail_msg("%s, step %zu: no note says \"%s\" (%s)", scene->name, k,
					 note,
					 world.view.notes.count ? world.view.notes.items[0] : "");
		}
		world_release(&world);
	}
}

TEST(a_resource_has_a_kind_also_without_devices)
{
	struct node_world world;

	world_init(&world, 2, 4);
	world_share(&world, GPU, GPU, 2, NULL);
	slices_1(&world);
	world_build(&world, false);
	assert_int_equal(plugin_view_find(&world.view, GPU)->kind, PLUGIN_REPLICA);
	assert_int_equal(plugin_view_find(&world.view, UNITS)->kind, PLUGIN_UNIT);
	world.config.cards[0].excluded = true;
	world_build(&world, false);
	world_build(&world, true);
	assert_int_equal(plugin_view_find(&world.view, UNITS)->count, 0);
	assert_int_equal(plugin_view_find(&world.view, UNITS)->kind, PLUGIN_UNIT);
	world_release(&world);
}

/* With a NUMA node on units the kubelet takes them from several cards without a question. */
TEST(units_have_no_numa_node_and_all_else_has)
{
	unsigned with = 0, without = 0;
	struct node_world world;

	world_init(&world, 4, 4);
	mixed_mig_on_1(&world);
	world_set_mode(&world, 3, CARD_MODE_SLICES, false);
	world.inventory.cards[2].numa = -1;
	world_hold(&world, UNITS, "3m0 9m1");
	world_build(&world, false);
	for (size_t i = 0; i < world.view.count; i++) {
		const struct plugin_resource *resource = &world.view.resources[i];
		struct kubelet_device *list;

		assert_int_equal(plugin_resource_list(&world.view, resource, &list, NULL), 0);
		for (size_t k = 0; k < resource->count; k++) {
			const struct plugin_device *device = &resource->devices[k];
			int numa = world.view.cards[device->card].numa;

			assert_string_equal(list[k].id, device->id);
			assert_int_equal(list[k].healthy, device->healthy);
			if (strcmp(resource->name, UNITS) == 0 || numa < 0) {
				assert_int_equal(list[k].numa_count, 0);
				without++;
			} else {
				assert_int_equal(list[k].numa_count, 1);
				assert_int_equal(*list[k].numa, numa);
				with++;
			}
		}
		free(list);
	}
	assert_int_equal(with, 3);    /* card 0 and two MIG devices */
	assert_int_equal(without, 6); /* card 2, four units, and one of a card that is gone */
	world_release(&world);
}

/* What is said of a device: the first of RESOURCE that is not healthy. */
static const struct {
	void (*set)(struct node_world *world);
	const char *resource, *says;
} explained[] = {
	{ suspect_1, GPU, "card GPU-00000000-0000-0000-0000-000000000001 is suspect: XID 79" },
	{ lose_1, GPU, "is lost: XID 79" },
	{ foreign_on_slices, UNITS,
	  "process 4711 (, user 0) has no grant; without one 512 MiB are used" },
	{ slices_while_whole, UNITS, "is held in another mode until that Pod ends" },
	{ hold_gone, GPU, "is no more on this machine, and a Pod still holds it" },
};

TEST(a_device_that_is_not_healthy_says_why)
{
	for (size_t i = 0; i < ARRAY_SIZE(explained); i++) {
		const struct plugin_resource *resource;
		char text[REASON_TEXT_MAX] = "all are healthy";
		struct node_world world;

		world_init(&world, 2, 4);
		explained[i].set(&world);
		world_build(&world, false);
		resource = plugin_view_find(&world.view, explained[i].resource);
		assert_non_null(resource);
		for (size_t k = resource->count; k > 0; k--)
			if (!resource->devices[k - 1].healthy)
				plugin_device_explain(&world.view, &resource->devices[k - 1], text,
						      sizeof(text));
		if (!strstr(text, explained[i].says))
			fail_msg("%s", text);
		world_release(&world);
	}
}
