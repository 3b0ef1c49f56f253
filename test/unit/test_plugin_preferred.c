/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GetPreferredAllocation. Rows marked [peer] are cases of NVIDIA's plugin (k8s-device-plugin at
 * 1b826acc, internal/rm/allocate_test.go); where it may take any, ours takes the first.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "place/place.h"
#include "node_world.h"

#define GPU   PLUGIN_RESOURCE_GPU
#define UNITS PLUGIN_RESOURCE_UNITS

static void whole(struct node_world *world)
{
	(void)world;
}

static void sick_1(struct node_world *world)
{
	world_sicken(world, 1, CARD_SUSPECT);
}

static void lost_1(struct node_world *world)
{
	world_sicken(world, 1, CARD_LOST);
	world->inventory.cards[1].index = CARD_INDEX_NONE;
}

/* The last probe is newer than the list that the kubelet has. */
static void no_links(struct node_world *world)
{
	for (size_t i = 0; i < world->inventory.card_count; i++)
		world->inventory.cards[i].link_count = 0;
}

static void replicas_4(struct node_world *world)
{
	world_share(world, GPU, GPU, 4, NULL);
}

static void replicas_2(struct node_world *world)
{
	world_share(world, GPU, GPU, 2, NULL);
}

static void packed_4(struct node_world *world)
{
	replicas_4(world);
	world->config.share_policy = SHARE_PACKED;
}

static void some_shared(struct node_world *world)
{
	world_share(world, GPU, GPU, 2, "#1");
}

static void mig(struct node_world *world)
{
	world->config.mig_strategy = MIG_STRATEGY_MIXED;
	world_set_mig(world, 0, "1g.10gb 1g.10gb");
	world_set_mig(world, 1, "1g.10gb 1g.10gb");
}

static void slices(struct node_world *world)
{
	world->config.default_mode = DEFAULT_MODE_SLICES;
}

static void slices_sick_0(struct node_world *world)
{
	slices(world);
	world_sicken(world, 0, CARD_SUSPECT);
}

/* Of 8 GiB each: 5 of card 0 are held, 3 of card 1; by Pods that run. */
static void slices_held(struct node_world *world)
{
	slices(world);
	world_hold(world, UNITS, "0m0-4");
	world_claim(world, 1, "main", UNITS, "0m0-4");
	world_hold(world, UNITS, "1m0-2");
	world_claim(world, 2, "main", UNITS, "1m0-2");
}

static void slices_ended(struct node_world *world)
{
	slices_held(world);
	ledger_merge(&world->ledger, &world->evidence, NULL, NULL);
	world->signs[1] = POD_IDLE; /* the file still has it */
}

/* Nobody saw the Pod run: it may be dead, or about to start. */
static void slices_doubtful(struct node_world *world)
{
	slices_held(world);
	world->signs[1] = POD_IDLE;
	ledger_merge(&world->ledger, &world->evidence, NULL, NULL);
	world->ledger.entries[0]->earlier = true;
}

/* The only Pod of the node ended before anybody looked: its devices are all there is. */
static void slices_short(struct node_world *world)
{
	slices(world);
	world_hold(world, UNITS, "0m0-7");
	world_claim(world, 1, "main", UNITS, "0m0-7");
	world->signs[1] = POD_IDLE;
}

static void slices_foreign(struct node_world *world)
{
	struct card *card = &world->inventory.cards[0];
	struct card_process *process =
		VEC_ADD(&card->processes, &card->process_count, &card->process_capacity);

	slices(world);
	assert_non_null(process);
	world->foreign = true;
}

static const struct {
	const char *name;
	unsigned cards, gib;
	void (*set)(struct node_world *world);
	const char *resource, *available, *must; /* available "*": all that is listed healthy */
	unsigned size;
	const char *picked;  /* NULL: refused */
	const char *refusal; /* what it says */
} cases[] = {
	/* whole cards */
	{ "a pair with NVLink", 4, 4, whole, GPU, "0 1 2 3", "", 2, "0 1", NULL },
	{ "the pair that is free", 4, 4, whole, GPU, "1 2 3", "", 2, "2 3", NULL },
	{ "must: its partner", 4, 4, whole, GPU, "0 1 2 3", "3", 2, "3 2", NULL },
	{ "must: the partner is taken, the NUMA node counts", 8, 4, whole, GPU, "0 2 4 5 6 7", "0",
	  2, "0 2", NULL },
	{ "must is never lost, also when it is sick", 4, 4, sick_1, GPU, "0 2 3", "1", 2, "1 0",
	  NULL },
	{ "must is all", 4, 4, whole, GPU, "0 1 2 3", "1 2", 2, "1 2", NULL },
	{ "must that is not listed any more", 4, 4, whole, GPU, "0 1", "GPU-x", 2, "GPU-x 0",
	  NULL },
	{ "one is lost: the others are chosen all the same", 4, 4, lost_1, GPU, "0 1 2 3", "", 2,
	  "2 3", NULL },
	{ "sick cards are left out", 4, 4, sick_1, GPU, "0 1 2 3", "", 3, "0 2 3", NULL },
	{ "never a sick one to fill up", 4, 4, sick_1, GPU, "0 1 2 3", "", 4, NULL,
	  "a container that asks for 4 nvidia.com/gpu wants 4 free cards, node-1 has 3 of 4 to "
	  "give." },
	{ "without links the NUMA node counts", 8, 4, no_links, GPU, "3 4 5", "", 2, "4 5", NULL },
	{ "IDs that nobody listed", 2, 4, whole, GPU, "GPU-x 1", "", 1, "1", NULL },
	{ "fewer than asked for", 2, 4, whole, GPU, "0", "", 2, NULL, "node-1 has 1 of 2 to give" },
	{ "nothing is asked for", 2, 4, whole, GPU, "0 1", "", 0, "", NULL },
	{ "more must than size", 2, 4, whole, GPU, "0 1", "0 1", 1, NULL, "more devices in it" },
	{ "no such resource", 2, 4, whole, "example.com/x", "0", "", 1, NULL, "not offered" },
	/* replicas */
	{ "2 cards of 4, 2 wanted: one of each [peer]", 2, 4, replicas_4, GPU, "*", "", 2,
	  "0::0 1::0", NULL },
	{ "3 cards of 2, 3 wanted: one of each [peer]", 3, 4, replicas_2, GPU, "*", "", 3,
	  "0::0 1::0 2::0", NULL },
	{ "2 cards of 4, 4 wanted: two of each [peer]", 2, 4, replicas_4, GPU, "*", "", 4,
	  "0::0 1::0 0::1 1::1", NULL },
	{ "one of one card [peer]", 1, 4, replicas_4, GPU, "*", "", 1, "0::0", NULL },
	{ "not enough [peer]", 1, 4, replicas_2, GPU, "*", "", 5, NULL,
	  "5 free replicas, node-1 has 2" },
	{ "one of card 1 is taken: still one of each [peer]", 2, 4, replicas_2, GPU,
	  "0::0 0::1 1::1", "", 2, "0::0 1::1", NULL },
	{ "card 0 is full: both of card 1 [peer]", 2, 4, replicas_4, GPU, "1::0 1::1 1::2 1::3", "",
	  2, "1::0 1::1", NULL },
	{ "the least used card first", 2, 4, replicas_4, GPU, "0::3 1::1 1::2 1::3", "", 1, "1::1",
	  NULL },
	{ "must counts as used", 2, 4, replicas_4, GPU, "*", "0::0", 2, "0::0 1::0", NULL },
	{ "packed: all of one card [peer]", 2, 4, packed_4, GPU, "*", "", 2, "0::0 0::1", NULL },
	{ "packed: the fullest first [peer]", 2, 4, packed_4, GPU, "0::0 0::1 0::2 0::3 1::2 1::3",
	  "", 2, "1::2 1::3", NULL },
	{ "replicas and a whole card of one name", 2, 4, some_shared, GPU, "*", "", 2, "0::0 1",
	  NULL },
	/* MIG */
	{ "MIG devices: any", 2, 4, mig, "nvidia.com/mig-1g.10gb", "*", "", 3, "0:0 0:1 1:0",
	  NULL },
	{ "MIG devices with must", 2, 4, mig, "nvidia.com/mig-1g.10gb", "*", "1:1", 2, "1:1 0:0",
	  NULL },
	/* units */
	{ "units of one card", 2, 8, slices, UNITS, "*", "", 5, "0m0-4", NULL },
	{ "best fit: the card with the least room that fits", 2, 8, slices_held, UNITS,
	  "0m5-7 1m3-7", "", 2, "0m5-6", NULL },
	{ "best fit: it must fit", 2, 8, slices_held, UNITS, "0m5-7 1m3-7", "", 4, "1m3-6", NULL },
	{ "units are never of two cards", 2, 8, slices_held, UNITS, "0m5-7 1m3-7", "", 6, NULL,
	  "wants 6 GiB on one card; node-1 has 5 GiB free there at most: card 1 "
	  "(GPU-00000000-0000-0000-0000-000000000001) has no more" },
	{ "must says which card", 2, 8, slices_held, UNITS, "0m5-7 1m3-7", "1m3", 2, "1m3-4",
	  NULL },
	{ "must, and its card has no room", 2, 8, slices_held, UNITS, "0m5-7 1m3-7", "0m5", 4, NULL,
	  "card 0 (GPU-00000000-0000-0000-0000-000000000000) of node-1 has 3 of 8 GiB free" },
	{ "must that is held: an init container's", 2, 8, slices_held, UNITS, "0m0-7 1m3-7",
	  "0m0-4", 6, "0m0-5", NULL },
	{ "must of two cards", 2, 8, slices, UNITS, "*", "0m0 1m0", 4, NULL,
	  "are not of one card" },
	{ "what the ledger holds is left out", 2, 8, slices_held, UNITS, "0m0-7 1m0-7", "", 3,
	  "0m5-7", NULL },
	{ "what the ledger holds is no room", 2, 8, slices_held, UNITS, "0m0-7 1m0-7", "", 6, NULL,
	  "has 5 GiB free" },
	{ "a holder that ended", 2, 8, slices_ended, UNITS, "0m0-7 1m3-7", "", 6, "0m0-5", NULL },
	{ "a doubtful holder's are taken last", 2, 8, slices_doubtful, UNITS, "0m0-7 1m3-7", "", 3,
	  "0m5-7", NULL },
	{ "a doubtful holder's are taken if nothing else fits", 2, 8, slices_doubtful, UNITS,
	  "0m0-7 1m3-7", "", 6, "0m5-7 0m0-2", NULL },
	{ "a Pod that ended before anybody saw it run", 1, 8, slices_short, UNITS, "0m0-7", "", 8,
	  "0m0-7", NULL },
	{ "a sick card's units are left out", 2, 8, slices_sick_0, UNITS, "0m0-7 1m0-7", "", 3,
	  "1m0-2", NULL },
	{ "foreign use: no new slice", 2, 8, slices_foreign, UNITS, "0m0-7 1m0-7", "", 3, "1m0-2",
	  NULL },
};

static void fill_available(const struct node_world *world, const char *resource, const char *words,
			   struct string_list *list)
{
	const struct plugin_resource *listed = plugin_view_find(&world->view, resource);

	if (strcmp(words, "*") != 0) {
		world_ids(words, list);
		return;
	}
	/* The kubelet iterates over a map: another order than ours. */
	for (size_t i = listed->count; i > 0; i--)
		if (listed->devices[i - 1].healthy)
			assert_int_equal(string_list_add(list, listed->devices[i - 1].id), 0);
}

struct question {
	struct string_list available, must;
};

static void read_question(const struct node_world *world, size_t at, struct question *ret)
{
	*ret = (struct question){ .must = { .items = NULL } };
	fill_available(world, cases[at].resource, cases[at].available, &ret->available);
	world_ids(cases[at].must, &ret->must);
}

static void question_release(struct question *question)
{
	string_list_release(&question->available);
	string_list_release(&question->must);
}

static int ask(struct node_world *world, size_t at, const struct question *question,
	       struct string_list *ret, struct reason *reason, struct error *error)
{
	struct plugin_scene scene = world_scene(world, DEVICE_LIST_CDI_CRI);

	return plugin_preferred(&scene, cases[at].resource, &question->available, &question->must,
				cases[at].size, ret, reason, error);
}

static void set_world(struct node_world *world, size_t at)
{
	world_init(world, cases[at].cards, cases[at].gib);
	cases[at].set(world);
	if (world->checkpoint.entry_count)
		ledger_merge(&world->ledger, &world->evidence, NULL, NULL);
	world_build(world, false);
	world->evidence.now_ms += 5000;
}

TEST(the_best_set_or_a_reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autostrbuf text = STRBUF_INIT(65536);
		struct string_list picked = { .items = NULL };
		struct error error = ERROR_INIT;
		struct reason reason = { .code = REASON_NONE };
		struct question question;
		struct node_world world;

		set_world(&world, i);
		read_question(&world, i, &question);
		int r = ask(&world, i, &question, &picked, &reason, &error);

		world_print_ids(&picked, &text);
		if (cases[i].picked && (r < 0 || strcmp(text.data, cases[i].picked) != 0))
			fail_msg("%s: '%s' %s", cases[i].name, text.data, error.message);
		if (!cases[i].picked && (r >= 0 || !strstr(error.message, cases[i].refusal) ||
					 reason.code == REASON_NONE))
			fail_msg("%s: %s", cases[i].name, r < 0 ? error.message : text.data);
		string_list_release(&picked);
		question_release(&question);
		world_release(&world);
	}
}

TEST(every_allocation_may_fail)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct question question;
		struct node_world world;

		set_world(&world, i);
		read_question(&world, i, &question);
		for (unsigned n = 0;; n++) {
			struct string_list picked = { .items = NULL };

			fault_arm(n);
			int r = ask(&world, i, &question, &picked, NULL, NULL);
			bool hit = fault_disarm();

			assert_true(hit ? r == -ENOMEM || picked.count == cases[i].size ||
						    !cases[i].picked
					: (r == 0) == (cases[i].picked != NULL));
			assert_true(r == 0 || picked.count == 0);
			string_list_release(&picked);
			if (!hit)
				break;
		}
		question_release(&question);
		world_release(&world);
	}
}

/* What `gpupool run` would get of the FREE cards of a node like WORLD's. */
static uint64_t engine_choice(const struct node_world *world, unsigned free, unsigned wanted)
{
	struct request request = { .kind = REQUEST_WHOLE, .cards = wanted };
	struct placement placement;
	autopool *pool = pool_new();
	uint64_t set = 0;

	for (unsigned i = 0; i < world->inventory.card_count; i++)
		world->inventory.cards[i].condition.health =
			free >> i & 1 ? CARD_HEALTHY : CARD_SUSPECT;
	assert_int_equal(bare_add_node(pool, "node-1", &world->inventory, NULL), 0);
	assert_int_equal(bare_decide(pool, &request, "container main", &placement, NULL), 0);
	for (unsigned i = 0; i < placement.count; i++)
		set |= 1ull << placement.cards[i];
	return set;
}

TEST(whole_cards_as_the_engine_places_them)
{
	struct node_world world;
	unsigned sets = 0;

	world_init(&world, 8, 4);
	for (unsigned free = 1; free < 256; free++)
		for (unsigned wanted = 2; wanted <= (unsigned)__builtin_popcount(free); wanted++) {
			uint64_t set = 0;

			assert_int_equal(
				place_choose_cards(&world.inventory, free, 0, wanted, &set), 0);
			assert_int_equal(set, engine_choice(&world, free, wanted));
			sets++;
		}
	print_message("# %u sets\n", sets);
	assert_true(sets > 500);
	world_release(&world);
}

TEST(must_with_the_best_of_the_rest)
{
	struct node_world world;
	uint64_t set;

	world_init(&world, 8, 4);
	assert_int_equal(place_choose_cards(&world.inventory, 0xfe, 0x01, 4, &set), 0);
	assert_int_equal(set, 0x0f);
	assert_int_equal(place_choose_cards(&world.inventory, 0xfe, 0x21, 3, &set), 0);
	assert_true(set == 0x23 || set == 0x31);
	assert_int_equal(place_choose_cards(&world.inventory, 0x02, 0x01, 3, &set), -EINVAL);
	assert_int_equal(place_choose_cards(&world.inventory, 0x100, 0, 1, &set), -EINVAL);
	assert_int_equal(place_choose_cards(&world.inventory, 0, 0x3, 1, &set), -EINVAL);
	assert_int_equal(place_choose_cards(&world.inventory, 0, 0x3, 2, &set), 0);
	assert_int_equal(set, 0x3);
	world_release(&world);
	/* Too many sets to try them all. */
	world_init(&world, 64, 4);
	assert_int_equal(place_choose_cards(&world.inventory, ~1ull, 1, 6, &set), 0);
	assert_int_equal(__builtin_popcountll(set), 6);
	assert_int_equal(set & 0x3, 0x3);
	assert_int_equal(set >> 32, 0); /* of one NUMA node */
	world_release(&world);
}
