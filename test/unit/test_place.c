/* SPDX-License-Identifier: Apache-2.0 */
#include "place_cases.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "place_world.h"

static char a100_pattern[] = "*A100*", h200_pattern[] = "*H200*";
static char uuid_b0[] = "GPU-1-0", uuid_b1[] = "GPU-1-1", uuid_b2[] = "GPU-1-2",
	    uuid_b3[] = "GPU-1-3", uuid_unknown[] = "GPU-9-9";
static char *models_a100[] = { a100_pattern };
static char *models_none[] = { h200_pattern };
static char *uuid_t4[] = { uuid_b2 };
static char *uuid_none[] = { uuid_unknown };
static char *uuids_all_t4[] = { uuid_b0, uuid_b1, uuid_b2, uuid_b3 };

/* What happens to the standard world before the request. */
enum trouble {
	NO_TROUBLE,
	LOST_A3, /* card 3 of node a */
	LOST_A,  /* all of node a */
	SUSPECT_A,
	FOREIGN_A,     /* a process without a grant on each card of a */
	OWN_PROCESS_A, /* processes that belong to grants do not count */
	WHOLE_MODE,
	SLICES_MODE,
	MIG_MODE,
};

static void make_trouble(struct inventory *a, struct inventory *b, enum trouble trouble)
{
	static const enum card_mode modes[] = {
		[WHOLE_MODE] = CARD_MODE_WHOLE,
		[SLICES_MODE] = CARD_MODE_SLICES,
		[MIG_MODE] = CARD_MODE_MIG,
	};

	for (size_t i = 0; i < a->card_count; i++) {
		struct card *card = &a->cards[i];

		if ((trouble == LOST_A3 && i == 3) || trouble == LOST_A)
			card->condition.health = CARD_LOST;
		if (trouble == SUSPECT_A)
			card->condition.health = CARD_SUSPECT;
		if (card->condition.health != CARD_HEALTHY)
			snprintf(card->condition.cause, sizeof(card->condition.cause), "Xid 79");
		if (trouble == FOREIGN_A || trouble == OWN_PROCESS_A)
			world_add_process(card, trouble == OWN_PROCESS_A, 1500);
		if (trouble >= WHOLE_MODE)
			card->mode = modes[trouble];
	}
	for (size_t i = 0; i < b->card_count && trouble >= WHOLE_MODE; i++)
		b->cards[i].mode = modes[trouble];
}

struct refusal_case {
	const char *name;
	struct request request;
	enum trouble trouble;
	int result;
	enum reason_code code;
	int64_t wanted, have, total;
	const char *says; /* a part of the sentence */
};

static const struct refusal_case refusals[] = {
	{ "fits", { WHOLE(8) }, NO_TROUBLE, 0, REASON_NONE, 0, 0, 0, NULL },
	{ "a slice fits", { SLICE(1, 80) }, NO_TROUBLE, 0, REASON_NONE, 0, 0, 0, NULL },
	{ "more than a node has",
	  { WHOLE(16) },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_NODE_CARDS,
	  16,
	  8,
	  8,
	  "wants 16 cards, and a has the most of them where it may run, 8" },
	{ "more than a placement holds",
	  { WHOLE(65) },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_NODE_CARDS,
	  65,
	  8,
	  8,
	  "Ask for at most 8" },
	{ "more than anybody has",
	  { WHOLE(4000000000u) },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_NODE_CARDS,
	  4000000000,
	  8,
	  8,
	  NULL },
	{ "more of a model than a node has",
	  { WHOLE(9), .models = LIST(models_a100) },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_NODE_CARDS,
	  9,
	  8,
	  8,
	  "9 cards of model *A100*, and a" },
	{ "larger than any card",
	  { SLICE(1, 90) },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_CARD_MEMORY,
	  90,
	  80,
	  80,
	  "wants 90 GiB on one card; with nothing else running there are 80 GiB at most where it "
	  "may run: card 0 " },
	{ "larger than a T4",
	  { SLICE(1, 16), .uuids = LIST(uuids_all_t4) },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_CARD_MEMORY,
	  16,
	  15,
	  15,
	  "card 0 (GPU-1-0) of b" },
	{ "no such model",
	  { WHOLE(1), .models = LIST(models_none) },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_NO_MODEL,
	  1,
	  0,
	  12,
	  "model *H200*, the pool has " A100 ", " T4 "." },
	{ "no such UUID",
	  { WHOLE(1), .uuids = LIST(uuid_none) },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_NO_UUID,
	  1,
	  0,
	  12,
	  "card GPU-9-9, which is not among the 12 cards" },
	{ "UUID of another model",
	  { WHOLE(1), .uuids = LIST(uuid_t4), .models = LIST(models_a100) },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_BAD_REQUEST,
	  1,
	  0,
	  12,
	  "no card of the pool is of model *A100*" },
	{ "one UUID and two cards",
	  { WHOLE(2), .uuids = LIST(uuid_t4) },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_NODE_CARDS,
	  2,
	  1,
	  1,
	  "among those that its UUIDs allow" },
	{ "a lost card",
	  { WHOLE(8) },
	  LOST_A3,
	  -EAGAIN,
	  REASON_CARD_LOST,
	  8,
	  7,
	  8,
	  "a has 7 usable of 8: card 3 (GPU-0-3) is lost, Xid 79" },
	{ "beside a lost card", { WHOLE(7) }, LOST_A3, 0, REASON_NONE, 0, 0, 0, NULL },
	{ "suspect cards",
	  { SLICE(1, 20) },
	  SUSPECT_A,
	  -EAGAIN,
	  REASON_CARD_SUSPECT,
	  1,
	  0,
	  8,
	  "card 0 (GPU-0-0) is suspect, Xid 79" },
	{ "never is said before lost",
	  { WHOLE(16) },
	  LOST_A,
	  -ENOSPC,
	  REASON_NODE_CARDS,
	  16,
	  8,
	  8,
	  NULL },
	{ "foreign use",
	  { WHOLE(5) },
	  FOREIGN_A,
	  -EAGAIN,
	  REASON_FOREIGN_USE,
	  5,
	  0,
	  8,
	  "by process 4711 (python3) of user 1000 with 1500 MiB" },
	{ "foreign use and a slice",
	  { SLICE(1, 20) },
	  FOREIGN_A,
	  -EAGAIN,
	  REASON_FOREIGN_USE,
	  1,
	  0,
	  8,
	  "process 4711" },
	{ "processes of grants", { WHOLE(5) }, OWN_PROCESS_A, 0, REASON_NONE, 0, 0, 0, NULL },
	{ "slice of whole cards",
	  { SLICE(1, 20) },
	  WHOLE_MODE,
	  -EAGAIN,
	  REASON_WRONG_MODE,
	  1,
	  0,
	  8,
	  "wants a slice of 20 GiB, a has 0 of 8 cards in a mode for that: card 0" },
	{ "whole card in slices mode",
	  { WHOLE(1) },
	  SLICES_MODE,
	  -EAGAIN,
	  REASON_WRONG_MODE,
	  1,
	  0,
	  8,
	  NULL },
	{ "a MIG instance",
	  { .kind = REQUEST_MIG, .cards = 2, .mig_profile = "1g.10gb" },
	  MIG_MODE,
	  0,
	  REASON_NONE,
	  0,
	  0,
	  0,
	  NULL },
	{ "too many instances for one container",
	  { .kind = REQUEST_MIG, .cards = 65, .mig_profile = "1g.10gb" },
	  MIG_MODE,
	  -ENOSPC,
	  REASON_BAD_REQUEST,
	  0,
	  0,
	  0,
	  "asks for 65 MIG instances, and 64 are the most" },
	{ "a replica",
	  { .kind = REQUEST_SHARED, .cards = 1 },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_NOT_OFFERED,
	  1,
	  0,
	  8,
	  "wants 1 share of a card, which" },
	{ "no kind",
	  { .kind = REQUEST_NONE, .cards = 1 },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_BAD_REQUEST,
	  0,
	  0,
	  0,
	  "asks for no card" },
	{ "no cards", { WHOLE(0) }, NO_TROUBLE, -ENOSPC, REASON_BAD_REQUEST, 0, 0, 0, "0 cards" },
	{ "an empty slice",
	  { .kind = REQUEST_SLICE, .cards = 1 },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_BAD_REQUEST,
	  0,
	  0,
	  0,
	  "0 GiB" },
	{ "MiB beyond the units",
	  { .kind = REQUEST_SLICE, .cards = 1, .units = 2, .memory_mib = 2049 },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_BAD_REQUEST,
	  0,
	  0,
	  0,
	  "2049 MiB do not fit in a slice of 2 GiB" },
	{ "too much compute",
	  { SLICE(1, 2), .compute_percent = 101 },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_BAD_REQUEST,
	  0,
	  0,
	  0,
	  "101 %" },
	{ "too much of a card",
	  { .kind = REQUEST_SLICE, .cards = 1, .memory_percent = 101 },
	  NO_TROUBLE,
	  -ENOSPC,
	  REASON_BAD_REQUEST,
	  0,
	  0,
	  0,
	  "101 %" },
};

TEST(refusals_say_the_obstacle_and_its_numbers)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal_case *row = &refusals[i];
		cleanup(release_inventories) struct inventory inventories[2];
		make_world(inventories, CARD_MODE_AUTO);
		make_trouble(&inventories[0], &inventories[1], row->trouble);
		if (row->trouble == SUSPECT_A || row->trouble == FOREIGN_A)
			inventories[1].card_count = 0; /* else b would serve */
		cleanup(pool_freep) struct pool *pool = make_pool(inventories, 2);
		inventories[1].card_count = 4;
		struct placement placement;
		struct reason reason = { 0 };
		autostrbuf sentence = STRBUF_INIT(4096);
		int r = bare_decide(pool, &row->request, "container main", &placement, &reason);

		if (r == 0 && row->result == 0)
			continue;
		assert_int_equal(reason_sentence(&reason, &sentence), 0);
		if (r != row->result || reason.code != row->code)
			fail_msg("%s: %d %s: %s", row->name, r, reason_name(reason.code),
				 sentence.data);
		if (row->code != REASON_BAD_REQUEST || row->total)
			if (reason.wanted != row->wanted || reason.have != row->have ||
			    reason.total != row->total)
				fail_msg("%s: wanted %lld have %lld total %lld", row->name,
					 (long long)reason.wanted, (long long)reason.have,
					 (long long)reason.total);
		if (row->says && !strstr(sentence.data, row->says))
			fail_msg("%s: %s", row->name, sentence.data);
		assert_memory_equal(sentence.data, "container main", 14);
	}
}

static void must_refuse(struct pool *pool, const struct request *request, enum reason_code code,
			int64_t have)
{
	struct placement placement;
	struct reason reason;

	assert_int_equal(bare_decide(pool, request, "container main", &placement, &reason),
			 -EAGAIN);
	if (reason.code != code || reason.have != have)
		fail_msg("%s with %lld instead of %s with %lld", reason_name(reason.code),
			 (long long)reason.have, reason_name(code), (long long)have);
}

TEST(auto_cards_follow_their_first_grant)
{
	cleanup(release_inventories) struct inventory inventories[2];
	make_world(inventories, CARD_MODE_AUTO);
	cleanup(pool_freep) struct pool *pool = make_pool(inventories, 1);
	const struct request slice = { SLICE(1, 12) }, all = { WHOLE(8) }, seven = { WHOLE(7) };
	struct placement placement;
	uint64_t first = must_hold(pool, &slice, &placement);

	assert_int_equal(placement.cards[0], 0);
	must_refuse(pool, &all, REASON_CARDS_BUSY, 7);
	uint64_t second = must_hold(pool, &seven, &placement);

	assert_int_equal(placement.cards[0], 1);
	assert_int_equal(placement.count, 7);
	must_hold(pool, &slice, &placement); /* beside the first, not on a held card */
	assert_int_equal(placement.cards[0], 0);
	assert_int_equal(pool_card_granted(pool, 0, 0), 24);
	assert_int_equal(pool_card_free(pool, 0, 0), 56);
	assert_int_equal(pool_card_granted(pool, 0, 1), 80);
	assert_int_equal(pool_card_free(pool, 0, 1), 0);
	assert_int_equal(pool_grant_count(pool), 3);
	assert_int_equal(pool_release(pool, first), 0);
	assert_int_equal(pool_release(pool, first), -ENOENT); /* not twice */
	must_refuse(pool, &all, REASON_CARDS_BUSY, 0);
	assert_int_equal(pool_release(pool, second), 0);
	must_refuse(pool, &all, REASON_CARDS_BUSY, 7);
	assert_int_equal(pool_release(pool, 0), -ENOENT);
}

TEST(two_slices_share_a_card_and_the_third_learns_what_is_free)
{
	cleanup(release_inventories) struct inventory inventories[2];
	make_world(inventories, CARD_MODE_AUTO);
	inventories[0].cards[0].mode = CARD_MODE_SLICES;
	inventories[0].card_count = 1;
	cleanup(pool_freep) struct pool *pool = make_pool(inventories, 1);
	inventories[0].card_count = 8;
	const struct request small = { SLICE(1, 12), .compute_percent = 30 };
	const struct request large = { SLICE(1, 20), .compute_percent = 60 };
	const struct request big = { SLICE(1, 49) }, busy = { SLICE(1, 1), .compute_percent = 11 };
	const struct request rest = { SLICE(1, 48), .compute_percent = 10 };
	struct placement placement;

	must_hold(pool, &small, NULL);
	must_hold(pool, &large, &placement);
	assert_int_equal(placement.units[0], 20);
	assert_int_equal(placement.memory_mib[0], 20 * 1024);
	must_refuse(pool, &big, REASON_MEMORY_BUSY, 48);
	must_refuse(pool, &busy, REASON_COMPUTE_BUSY, 10);
	must_hold(pool, &rest, NULL);
	assert_int_equal(pool_card_free(pool, 0, 0), 0);
}

TEST(shares_are_whole_units_of_each_card)
{
	cleanup(release_inventories) struct inventory inventories[2];
	make_world(inventories, CARD_MODE_SLICES);
	cleanup(pool_freep) struct pool *pool = make_pool(inventories + 1, 1); /* T4: 15 GiB */
	struct request half = { .kind = REQUEST_SLICE, .cards = 4, .memory_percent = 50 };
	struct placement placement;

	must_hold(pool, &half, &placement);
	must_hold(pool, &half, &placement); /* two halves of 15 fit */
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(placement.units[i], 7);
		assert_int_equal(placement.memory_mib[i], 7 * 1024);
	}
	must_refuse(pool, &half, REASON_MEMORY_BUSY, 1);
	half.memory_percent = 1; /* below a unit is one unit */
	must_hold(pool, &half, &placement);
	assert_int_equal(placement.units[3], 1);
}

struct choice_case {
	const char *name;
	enum world_links links;
	enum card_mode mode;
	uint64_t held; /* cards that others hold: whole, or 8 GiB of each in slices mode */
	struct request request;
	uint64_t expected;
};

#define POLICY(p) .policy = POLICY_##p

static const struct choice_case choices[] = {
	{ "pairs stay together", WORLD_PAIRS, CARD_MODE_WHOLE, 0x01, { WHOLE(2) }, 0x0c },
	{ "one card breaks no pair",
	  WORLD_PAIRS,
	  CARD_MODE_WHOLE,
	  0x10,
	  { WHOLE(1), POLICY(TOPOLOGY) },
	  0x20 },
	{ "three take a pair and a broken one",
	  WORLD_PAIRS,
	  CARD_MODE_WHOLE,
	  0x04,
	  { WHOLE(3) },
	  0x0b },
	{ "halves: the half that fits exactly",
	  WORLD_HALVES,
	  CARD_MODE_WHOLE,
	  0x30,
	  { WHOLE(2) },
	  0xc0 },
	{ "halves: four in one half", WORLD_HALVES, CARD_MODE_WHOLE, 0x01, { WHOLE(4) }, 0xf0 },
	{ "no links: lowest first", WORLD_NO_LINKS, CARD_MODE_WHOLE, 0x02, { WHOLE(2) }, 0x05 },
	{ "binpack ignores links",
	  WORLD_PAIRS,
	  CARD_MODE_WHOLE,
	  0x01,
	  { WHOLE(2), POLICY(BINPACK) },
	  0x06 },
	{ "binpack: the fullest card", WORLD_ALL, CARD_MODE_SLICES, 0x20, { SLICE(1, 8) }, 0x20 },
	{ "spread: an empty card",
	  WORLD_ALL,
	  CARD_MODE_SLICES,
	  0x03,
	  { SLICE(1, 8), POLICY(SPREAD) },
	  0x04 },
	{ "binpack over two cards", WORLD_ALL, CARD_MODE_SLICES, 0x50, { SLICE(2, 8) }, 0x50 },
	{ "spread over two cards",
	  WORLD_ALL,
	  CARD_MODE_SLICES,
	  0x0d,
	  { SLICE(2, 8), POLICY(SPREAD) },
	  0x12 },
	{ "linked slices",
	  WORLD_PAIRS,
	  CARD_MODE_SLICES,
	  0x00,
	  { SLICE(2, 8), POLICY(TOPOLOGY) },
	  0x03 },
};

TEST(policies_choose_cards)
{
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		const struct choice_case *row = &choices[i];
		struct inventory inventory;
		inventory_init(&inventory);
		world_add_cards(&inventory, 0, 8, A100, 80, row->mode);
		world_link(&inventory, row->links);
		cleanup(pool_freep) struct pool *pool = make_pool(&inventory, 1);
		inventory_release(&inventory);
		struct request others = { WHOLE(1) };
		struct placement placement = { .count = 1 };
		uint64_t id, got = 0;

		if (row->mode == CARD_MODE_SLICES)
			others = (struct request){ SLICE(1, 8) };
		for (unsigned card = 0; card < 8; card++) {
			placement.cards[0] = card;
			placement.units[0] = 8;
			if (row->held >> card & 1)
				assert_int_equal(bare_hold(pool, &others, &placement, &id), 0);
		}
		must_hold(pool, &row->request, &placement);
		for (unsigned j = 0; j < placement.count; j++)
			got |= 1ull << placement.cards[j];
		if (got != row->expected)
			fail_msg("%s: cards %llx instead of %llx", row->name,
				 (unsigned long long)got, (unsigned long long)row->expected);
	}
}

/* Too many sets to try them all. */
TEST(topology_of_large_nodes)
{
	struct inventory inventory;
	inventory_init(&inventory);
	world_add_cards(&inventory, 0, 16, A100, 80, CARD_MODE_WHOLE);
	world_link(&inventory, WORLD_PAIRS);
	cleanup(pool_freep) struct pool *pool = make_pool(&inventory, 1);
	inventory_release(&inventory);
	const struct request one = { WHOLE(1) }, eight = { WHOLE(8) }, six = { WHOLE(6) };
	struct placement placement;

	must_hold(pool, &one, &placement);
	assert_int_equal(placement.cards[0], 0);
	must_hold(pool, &eight, &placement); /* the half of the other CPU */
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(placement.cards[i], 8 + i);
	must_hold(pool, &six, &placement); /* three pairs; the broken one stays */
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(placement.cards[i], 2 + i);
}

TEST(policies_choose_nodes)
{
	cleanup(release_inventories) struct inventory inventories[2];
	inventory_init(&inventories[0]);
	inventory_init(&inventories[1]);
	world_add_cards(&inventories[0], 0, 8, A100, 80, CARD_MODE_AUTO);
	world_add_cards(&inventories[1], 1, 4, A100, 80, CARD_MODE_AUTO);
	world_link(&inventories[0], WORLD_PAIRS);
	world_link(&inventories[1], WORLD_ALL);
	cleanup(pool_freep) struct pool *pool = make_pool(inventories, 2);
	static const struct {
		struct request request;
		unsigned node;
	} rows[] = {
		{ { WHOLE(1) }, 1 },
		{ { WHOLE(1), POLICY(SPREAD) }, 0 },
		{ { WHOLE(2) }, 0 }, /* a pair, the group of four stays whole */
		{ { WHOLE(4) }, 1 }, /* the only group of four */
		{ { WHOLE(4), POLICY(SPREAD) }, 0 },
		{ { WHOLE(5) }, 0 },
		{ { SLICE(1, 8) }, 0 },
		{ { SLICE(3, 8) }, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct placement placement;
		struct reason reason;

		assert_int_equal(bare_decide(pool, &rows[i].request, "x", &placement, &reason), 0);
		if (placement.node != rows[i].node)
			fail_msg("row %zu: node %u", i, placement.node);
	}
}

TEST(a_slice_leaves_idle_auto_cards_to_whole_holders)
{
	cleanup(release_inventories) struct inventory inventories[2];
	make_world(inventories, CARD_MODE_AUTO);
	cleanup(pool_freep) struct pool *pool = make_pool(inventories, 2);
	const struct request large = { SLICE(1, 40) }, small = { SLICE(1, 10) };
	struct placement placement;

	must_hold(pool, &large, NULL);
	must_hold(pool, &small, &placement); /* 40 free of the cut A100, not 15 of an idle T4 */
	assert_int_equal(placement.node, 0);
	assert_int_equal(placement.cards[0], 0);
}

TEST(a_pool_without_cards_names_the_driver)
{
	struct inventory inventory;
	struct placement placement;
	struct reason reason;
	const struct request whole = { WHOLE(1) };
	cleanup(pool_freep) struct pool *empty = make_pool(NULL, 0);

	assert_int_equal(bare_decide(empty, &whole, "x", &placement, &reason), -ENOSPC);
	assert_int_equal(reason.code, REASON_NO_CARDS);
	inventory_init(&inventory);
	snprintf(inventory.problem, sizeof(inventory.problem), "libnvidia-ml.so.1 is missing");
	cleanup(pool_freep) struct pool *broken = make_pool(&inventory, 1);
	assert_int_equal(bare_decide(broken, &whole, "x", &placement, &reason), -EAGAIN);
	assert_int_equal(reason.code, REASON_NO_DRIVER);
	assert_string_equal(reason.detail, "libnvidia-ml.so.1 is missing");
	assert_string_equal(reason.node, "a");
	snprintf(inventory.driver_version, sizeof(inventory.driver_version), "550.54");
	snprintf(inventory.module_version, sizeof(inventory.module_version), "535.10");
	cleanup(pool_freep) struct pool *mixed = make_pool(&inventory, 1);
	assert_int_equal(bare_decide(mixed, &whole, "x", &placement, &reason), -EAGAIN);
	assert_int_equal(reason.code, REASON_DRIVER_MISMATCH);
	inventory_release(&inventory);
}
