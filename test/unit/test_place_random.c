/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random pools and random sequences of decide, hold and release: the engine and the oracle must
 * give the same answers. GPUPOOL_TEST_SEED repeats a run; GPUPOOL_TEST_SCALE sets its length.
 */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"
#include "place/place.h"
#include "bare.h"
#include "naive_mig.h"
#include "naive_place.h"
#include "place_world.h"

#define NODES_MAX    400u
#define NODES_SMALL  12u
#define POOLS_SOAK   10000u /* make soak; make test runs a hundredth */
#define STEPS        120u
#define LARGE_EACH   40u /* one pool of so many is large enough for every level of the indexes */
#define LARGE_STEPS  4000u
#define SEED_DEFAULT 20240607u

struct random { /* xorshift64*; the same everywhere */
	uint64_t state;
};

static unsigned below(struct random *random, unsigned limit)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return (unsigned)((random->state * 0x2545f4914f6cdd1dull >> 33) % limit);
}

static bool chance(struct random *random, unsigned percent)
{
	return below(random, 100) < percent;
}

static uint64_t number_from(const char *variable, uint64_t fallback)
{
	const char *text = getenv(variable);
	uint64_t number;

	return text && parse_uint(text, 0, UINT64_MAX, &number) == 0 ? number : fallback;
}

/* What a run came to see; each must be above zero. */
struct tally {
	uint64_t reasons[REASON_CODE_MAX];
	uint64_t placed_whole, placed_group, placed_slice, placed_several, shares_refused;
	uint64_t placed_mig;
	uint64_t released, full_cards, large;
};

struct run {
	struct random random;
	struct inventory inventories[NODES_MAX];
	unsigned node_count;
	bool bare; /* this pool has no cards */
	struct pool *pool;
	struct naive_world world;
	struct tally tally;
	char differs[512]; /* "" while both agree */
};

static const struct {
	char name[32];
	unsigned gib;
} models[] = { { "NVIDIA A100-SXM4-80GB", 80 },
	       { "NVIDIA A100-SXM4-40GB", 40 },
	       { "NVIDIA A30", 23 },
	       { "NVIDIA H100", 79 },
	       { "Tesla T4", 15 } };

static enum card_mode random_mode(struct random *random)
{
	static const enum card_mode modes[] = { CARD_MODE_AUTO,    CARD_MODE_AUTO,
						CARD_MODE_WHOLE,   CARD_MODE_WHOLE,
						CARD_MODE_SLICES,  CARD_MODE_SLICES,
						CARD_MODE_MIG,     CARD_MODE_MIG,
						CARD_MODE_REPLICAS };

	return modes[below(random, ARRAY_SIZE(modes))];
}

/* Some instances that stand side by side. */
static void fix_layout(struct random *random, struct card *card)
{
	const struct mig_model *model = mig_model_find(card->model);
	struct naive_instance all[CARD_MIG_ENTRIES];
	size_t count = 0;

	for (unsigned i = 0; model && i < 8; i++) {
		const struct mig_profile *profile =
			&model->profiles[below(random, (unsigned)model->profile_count)];

		all[count].profile = profile;
		all[count].start = profile->starts[below(random, profile->start_count)];
		count += naive_instances_fit(card, all, count + 1);
	}
	for (size_t i = 0; i < count; i++) {
		struct card_mig *mig = VEC_ADD(&card->mig, &card->mig_count, &card->mig_capacity);

		assert_non_null(mig);
		mig->start = all[i].start;
		snprintf(mig->profile, sizeof(mig->profile), "%s", all[i].profile->name);
	}
}

static void make_node(struct run *run, unsigned number)
{
	struct random *random = &run->random;
	struct inventory *inventory = &run->inventories[number];
	unsigned model = below(random, ARRAY_SIZE(models)), trouble = below(random, 40);
	enum card_mode mode = random_mode(random);

	inventory_init(inventory);
	for (unsigned left = run->bare ? 0 : below(random, 9); left > 0; left--) {
		if (chance(random, 10))
			model = below(random, ARRAY_SIZE(models));
		if (chance(random, 15))
			mode = random_mode(random);
		world_add_cards(inventory, number, 1, models[model].name, models[model].gib, mode);
		struct card *card = &inventory->cards[inventory->card_count - 1];

		if (card->mode == CARD_MODE_MIG && chance(random, 30))
			fix_layout(random, card);
		if (chance(random, trouble))
			card->condition.health = chance(random, 50) ? CARD_LOST : CARD_SUSPECT;
		if (card->condition.health == CARD_LOST && chance(random, 50))
			card->memory_bytes = 0; /* before it was asked */
		if (chance(random, trouble))
			world_add_process(card, chance(random, 30), below(random, 5000));
	}
	world_link(inventory, below(random, WORLD_LINKS_MAX));
}

static void make_world(struct run *run, bool large)
{
	run->pool = pool_new();
	assert_non_null(run->pool);
	run->bare = !large && chance(&run->random, 4);
	run->node_count = large ? NODES_MAX : 1 + below(&run->random, NODES_SMALL);
	for (unsigned i = 0; i < run->node_count; i++) {
		char name[16];

		make_node(run, i);
		snprintf(name, sizeof(name), "n%u", i);
		assert_int_equal(bare_add_node(run->pool, name, &run->inventories[i], NULL), 0);
	}
	enum naive_fault fault = run->world.fault;

	run->world = (struct naive_world){ .inventories = run->inventories,
					   .node_count = run->node_count,
					   .fault = fault };
}

static void free_world(struct run *run)
{
	enum naive_fault fault = run->world.fault;

	for (unsigned i = 0; i < run->node_count; i++)
		inventory_release(&run->inventories[i]);
	pool_free(run->pool);
	naive_release(&run->world);
	run->world.fault = fault;
}

static void add_names(struct run *run, struct request *request)
{
	static const char *const patterns[] = { "*A100*",  "*h100", "Tesla*",
						"NVIDIA*", "*40GB", "K80" };
	struct random *random = &run->random;
	char uuid[32];

	if (chance(random, 25))
		string_list_add(&request->models, patterns[below(random, ARRAY_SIZE(patterns))]);
	if (chance(random, 8))
		string_list_add(&request->models, patterns[below(random, ARRAY_SIZE(patterns))]);
	if (chance(random, 8))
		string_list_add(&request->not_models,
				patterns[below(random, ARRAY_SIZE(patterns))]);
	if (!chance(random, 15))
		return;
	struct string_list *list = chance(random, 50) ? &request->uuids : &request->not_uuids;
	unsigned node = below(random, run->node_count + 1);

	for (unsigned left = 1 + below(random, 4); left > 0; left--) {
		snprintf(uuid, sizeof(uuid), "GPU-%u-%u", node, below(random, 9));
		string_list_add(list, uuid);
		if (chance(random, 20))
			node = below(random, run->node_count + 1);
	}
}

static void make_request(struct run *run, struct request *request)
{
	static const unsigned kinds[] = { REQUEST_WHOLE, REQUEST_WHOLE, REQUEST_WHOLE,
					  REQUEST_SLICE, REQUEST_SLICE, REQUEST_SLICE,
					  REQUEST_SLICE, REQUEST_SLICE };
	static const char *const profiles[] = { "1g.10gb", "1g.5gb",     "2g.10gb", "3g.40gb",
						"4g.20gb", "1g.10gb+me", "7g.80gb", "2g.12gb",
						"1g.6gb",  "3g.20gb",    "1g.20gb" };
	struct random *random = &run->random;

	*request = (struct request){ .kind = (enum request_kind)kinds[below(random, 8)] };
	if (chance(random, 15)) {
		request->kind = chance(random, 85) ? REQUEST_MIG : REQUEST_SHARED;
		snprintf(request->mig_profile, sizeof(request->mig_profile), "%s",
			 profiles[below(random, ARRAY_SIZE(profiles))]);
	}
	request->cards = 1 + (chance(random, 40) ? below(random, 4) : 0);
	if (chance(random, 5))
		request->cards = 1 + below(random, 80);
	if (request->kind == REQUEST_MIG && request->cards > 64)
		request->cards = 64; /* more are a bad request */
	request->policy = (enum card_policy)below(random, POLICY_MAX);
	if (request->kind == REQUEST_SLICE) {
		if (chance(random, 20)) {
			request->memory_percent = 1 + below(random, 100);
		} else {
			request->units = 1 + below(random, chance(random, 50) ? 12 : 90);
			request->memory_mib = request->units * 1024 - below(random, 1024);
		}
		if (chance(random, 50))
			request->compute_percent = 1 + below(random, chance(random, 70) ? 30 : 100);
	}
	add_names(run, request);
}

static void differ(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void differ(struct run *run, const char *format, ...)
{
	va_list arguments;

	if (run->differs[0])
		return;
	va_start(arguments, format);
	vsnprintf(run->differs, sizeof(run->differs), format, arguments);
	va_end(arguments);
}

static void compare_numbers(struct run *run, const char *what, const struct reason *reason,
			    const struct naive_answer *naive)
{
	if (reason->code == naive->code && reason->wanted == naive->wanted &&
	    reason->have == naive->have && reason->total == naive->total)
		return;
	differ(run,
	       "%s: engine %s wanted %" PRId64 " have %" PRId64 " total %" PRId64
	       ", oracle %s wanted %" PRId64 " have %" PRId64 " total %" PRId64,
	       what, reason_name(reason->code), reason->wanted, reason->have, reason->total,
	       reason_name(naive->code), naive->wanted, naive->have, naive->total);
}

/* Among nodes that miss equally much, a share's numbers and a card's size depend on the node. */
static void compare_pool(struct run *run, const struct request *request,
			 const struct reason *reason, struct naive_answer naive)
{
	if (reason->code == REASON_MEMORY_BUSY)
		naive.total = reason->total; /* the size of the card that is named */
	if (request->memory_percent && reason->code == naive.code &&
	    reason->wanted - reason->have == naive.wanted - naive.have)
		run->tally.shares_refused++;
	else
		compare_numbers(run, "pool", reason, &naive);
}

/* The numbers must be those of the whole pool, and true for the node that the reason names. */
static void compare_reason(struct run *run, const struct request *request,
			   const struct reason *reason, const struct naive_answer *naive)
{
	struct naive_answer there;
	int64_t node;

	compare_pool(run, request, reason, *naive);
	if (!reason->node[0])
		return;
	node = (int64_t)strtol(reason->node + 1, NULL, 10);
	naive_decide(&run->world, request, (int)node, &there);
	compare_numbers(run, reason->node, reason, &there);
}

static void remember(struct run *run, const struct request *request,
		     const struct placement *placement, uint64_t id)
{
	struct naive_grant *grant =
		VEC_ADD(&run->world.grants, &run->world.grant_count, &run->world.grant_capacity);

	assert_non_null(grant);
	*grant = (struct naive_grant){ .id = id,
				       .kind = request->kind,
				       .node = placement->node,
				       .count = placement->count,
				       .compute = placement->compute_percent };
	memcpy(grant->cards, placement->cards, sizeof(grant->cards));
	memcpy(grant->units, placement->units, sizeof(grant->units));
	memcpy(grant->starts, placement->starts, sizeof(grant->starts));
	memcpy(grant->profile, request->mig_profile, sizeof(grant->profile));
}

/* A placement must be one that the oracle would allow if only its cards were there. */
static void check_placement(struct run *run, struct request *request,
			    const struct placement *placement)
{
	struct string_list named = { 0 }, kept = request->uuids;
	struct naive_answer naive;

	if (placement->count != request->cards || placement->node >= run->node_count) {
		differ(run, "%u cards of node %u", placement->count, placement->node);
		return;
	}
	for (unsigned i = 0; i < placement->count; i++) {
		const struct card *card =
			&run->inventories[placement->node].cards[placement->cards[i]];

		if (kept.count) {
			bool listed = false;

			for (size_t j = 0; j < kept.count; j++)
				listed = listed || strcmp(kept.items[j], card->uuid) == 0;
			if (!listed)
				differ(run, "card %s is not among the named", card->uuid);
		}
		string_list_add(&named, card->uuid);
	}
	request->uuids = named;
	naive_decide(&run->world, request, (int)placement->node, &naive);
	request->uuids = kept;
	string_list_release(&named);
	if (naive.result != 0)
		differ(run, "the chosen cards of node %u do not serve: %s", placement->node,
		       reason_name(naive.code));
}

static void count_placed(struct run *run, const struct request *request)
{
	struct tally *tally = &run->tally;

	tally->placed_mig += request->kind == REQUEST_MIG;
	tally->placed_whole += request->kind == REQUEST_WHOLE && request->cards == 1;
	tally->placed_group += request->kind == REQUEST_WHOLE && request->cards > 1;
	tally->placed_slice += request->kind == REQUEST_SLICE && request->cards == 1;
	tally->placed_several += request->kind == REQUEST_SLICE && request->cards > 1;
}

static void ask(struct run *run)
{
	struct request request;
	struct placement placement;
	struct reason reason = { 0 };
	struct naive_answer naive;
	uint64_t id = 0;
	int r;

	make_request(run, &request);
	r = bare_decide(run->pool, &request, "container main", &placement, &reason);
	naive_decide(&run->world, &request, -1, &naive);
	if (r != naive.result) {
		differ(run, "engine %d (%s), oracle %d (%s)", r, reason_name(reason.code),
		       naive.result, reason_name(naive.code));
	} else if (r < 0) {
		run->tally.reasons[reason.code]++;
		compare_reason(run, &request, &reason, &naive);
	} else {
		check_placement(run, &request, &placement);
	}
	if (r == 0) {
		count_placed(run, &request);
		r = bare_hold(run->pool, &request, &placement, &id);
		if (r < 0)
			differ(run, "a decision that could not be held: %d", r);
		else
			remember(run, &request, &placement, id);
	}
	request_release(&request);
}

static void release_one(struct run *run)
{
	struct naive_world *world = &run->world;
	size_t at;

	if (world->grant_count == 0)
		return;
	at = below(&run->random, (unsigned)world->grant_count);
	if (pool_release(run->pool, world->grants[at].id) < 0)
		differ(run, "grant %" PRIx64 " is unknown", world->grants[at].id);
	world->grants[at] = world->grants[--world->grant_count];
	run->tally.released++;
}

static void check_sums(struct run *run)
{
	char text[256];

	if (naive_excess(&run->world, text, sizeof(text)))
		differ(run, "more than there is: %s", text);
	if (pool_grant_count(run->pool) != run->world.grant_count)
		differ(run, "%zu grants in the pool, %zu given", pool_grant_count(run->pool),
		       run->world.grant_count);
	for (unsigned i = 0; i < run->node_count; i++) {
		for (unsigned j = 0; j < run->inventories[i].card_count; j++) {
			/* naive_excess() has added them up */
			unsigned granted = run->world.uses[i * NAIVE_CARDS_MAX + j].units;

			if (granted != pool_card_granted(run->pool, i, j))
				differ(run, "card %u of n%u: %u GiB given, %u granted", j, i,
				       granted, pool_card_granted(run->pool, i, j));
			run->tally.full_cards += granted && !pool_card_free(run->pool, i, j);
		}
	}
}

/* A large pool fills at first and drains at the end. */
static void run_pool(struct run *run, bool large)
{
	unsigned releases = below(&run->random, 50), steps = large ? LARGE_STEPS : STEPS;

	make_world(run, large);
	for (unsigned step = 0; step < steps && !run->differs[0]; step++) {
		if (chance(&run->random, large ? 80 * step / steps : releases))
			release_one(run);
		else
			ask(run);
		if (step % (steps / 8) == 0)
			check_sums(run);
	}
	check_sums(run);
	free_world(run);
	run->tally.large += large;
}

static void run_pools(struct run *run, unsigned pools)
{
	for (unsigned i = 0; i < pools && !run->differs[0]; i++)
		run_pool(run, i % LARGE_EACH == LARGE_EACH - 1);
}

static unsigned pools_to_run(void)
{
	uint64_t scale = number_from("GPUPOOL_TEST_SCALE", 1);
	uint64_t pools = POOLS_SOAK * scale / 100;

	return pools ? (unsigned)pools : 1;
}

TEST(engine_and_oracle_agree)
{
	static const enum reason_code reached[] = {
		REASON_NODE_CARDS,   REASON_CARDS_BUSY,  REASON_CARD_MEMORY, REASON_MEMORY_BUSY,
		REASON_COMPUTE_BUSY, REASON_NO_MODEL,    REASON_NO_UUID,     REASON_CARD_LOST,
		REASON_CARD_SUSPECT, REASON_WRONG_MODE,  REASON_FOREIGN_USE, REASON_NOT_OFFERED,
		REASON_BAD_REQUEST,  REASON_MIG_PROFILE, REASON_MIG_COUNT,   REASON_NOT_MIG,
		REASON_MIG_BUSY,     REASON_NO_CARDS,
	};
	uint64_t seed = number_from("GPUPOOL_TEST_SEED", SEED_DEFAULT);
	struct run *run = calloc(1, sizeof(*run));
	unsigned zero = 0;

	assert_non_null(run);
	run->random.state = seed ? seed : 1;
	run_pools(run, pools_to_run());
	print_message("# seed %" PRIu64 ", %u pools of up to %u steps\n", seed, pools_to_run(),
		      STEPS);
	for (size_t i = 0; i < ARRAY_SIZE(reached); i++) {
		print_message("# %s: %" PRIu64 "\n", reason_name(reached[i]),
			      run->tally.reasons[reached[i]]);
		zero += run->tally.reasons[reached[i]] == 0;
	}
	const struct tally *tally = &run->tally;
	const struct {
		const char *name;
		uint64_t count;
	} counts[] = {
		{ "whole card placed", tally->placed_whole },
		{ "group placed", tally->placed_group },
		{ "slice placed", tally->placed_slice },
		{ "slice over several cards placed", tally->placed_several },
		{ "MIG instances placed", tally->placed_mig },
		{ "share refused", tally->shares_refused },
		{ "released", tally->released },
		{ "full card seen", tally->full_cards },
		{ "large pool", tally->large },
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		print_message("# %s: %" PRIu64 "\n", counts[i].name, counts[i].count);
		zero += counts[i].count == 0;
	}
	if (run->differs[0])
		print_message("# seed %" PRIu64 ": %s\n", seed, run->differs);
	bool differs = run->differs[0] != '\0';

	free(run);
	assert_false(differs);
	assert_int_equal(zero, 0);
}

/* The comparison itself: an oracle that is wrong in one point must be noticed. */
TEST(a_wrong_oracle_is_noticed)
{
	for (enum naive_fault fault = NAIVE_RIGHT + 1; fault < NAIVE_FAULT_MAX; fault++) {
		struct run *run = calloc(1, sizeof(*run));

		assert_non_null(run);
		run->random.state = SEED_DEFAULT;
		run->world.fault = fault;
		run_pools(run, 300);
		bool noticed = run->differs[0] != '\0';

		print_message("# fault %u: %s\n", (unsigned)fault, run->differs);
		free(run);
		assert_true(noticed);
	}
}
