/* SPDX-License-Identifier: Apache-2.0 */
/* Pods of several containers that each ask for cards. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"
#include "place/place.h"
#include "naive_mig.h"

#define CARDS_OF_NODE 4

static void add_node(struct pool *pool, const char *name, const unsigned *gib, unsigned count)
{
	cleanup(node_spec_release) struct node_spec node;

	node_spec_init(&node);
	node.name = strdup(name);
	assert_non_null(node.name);
	for (unsigned i = 0; i < count; i++) {
		struct inventory *inventory = &node.inventory;
		struct card *card = VEC_ADD(&inventory->cards, &inventory->card_count,
					    &inventory->card_capacity);

		assert_non_null(card);
		card->index = card->minor = i;
		card->memory_bytes = (uint64_t)gib[i] << 30;
		card->numa = -1;
		card->mode = CARD_MODE_AUTO;
		snprintf(card->uuid, sizeof(card->uuid), "GPU-%s-%u", name, i);
		snprintf(card->model, sizeof(card->model), "card of %u GiB", gib[i]);
	}
	assert_int_equal(pool_add_node(pool, &node, NULL), 0);
}

static struct pool *make_pool(const unsigned *gib, unsigned count)
{
	struct pool *pool = pool_new();

	assert_non_null(pool);
	add_node(pool, "a", gib, count);
	return pool;
}

#define WHOLE(n) ((struct request){ .kind = REQUEST_WHOLE, .cards = (n) })
#define SLICE(n, gib, percent)                                 \
	((struct request){ .kind = REQUEST_SLICE,              \
			   .cards = (n),                       \
			   .units = (gib),                     \
			   .memory_mib = (uint64_t)(gib)*1024, \
			   .compute_percent = (percent) })

struct state { /* of the cards of the node, as the tests know it */
	unsigned total[CARDS_OF_NODE], held[CARDS_OF_NODE], slices[CARDS_OF_NODE];
	unsigned compute[CARDS_OF_NODE];
	bool whole[CARDS_OF_NODE];
};

static bool takes(const struct state *state, unsigned card, const struct request *request)
{
	if (state->whole[card])
		return false;
	if (request->kind == REQUEST_WHOLE)
		return state->slices[card] == 0;
	return state->held[card] + request->units <= state->total[card] &&
	       state->compute[card] + request->compute_percent <= 100;
}

static void change(struct state *state, unsigned card, const struct request *request, bool add)
{
	unsigned sign = add ? 1 : -1u;

	if (request->kind == REQUEST_WHOLE) {
		state->whole[card] = add;
		return;
	}
	state->held[card] += sign * request->units;
	state->compute[card] += sign * request->compute_percent;
	state->slices[card] += sign;
}

/* Is there any way to give every request its cards? */
static bool is_possible(struct state *state, const struct request *requests, size_t count)
{
	if (count == 0)
		return true;
	for (unsigned set = 0; set < 1u << CARDS_OF_NODE; set++) {
		unsigned given = 0;
		bool right = (unsigned)__builtin_popcount(set) == requests->cards;

		for (unsigned i = 0; i < CARDS_OF_NODE && right; i++)
			right = !(set >> i & 1) || takes(state, i, requests);
		for (; given < CARDS_OF_NODE && right; given++)
			if (set >> given & 1)
				change(state, given, requests, true);
		right = right && is_possible(state, requests + 1, count - 1);
		while (given-- > 0)
			if (set >> given & 1)
				change(state, given, requests, false);
		if (right)
			return true;
	}
	return false;
}

/* The decision's cards go into STATE; each must have had room. */
static void apply(struct state *state, const struct demand *demand, const struct decision *decision,
		  bool add)
{
	assert_int_equal(decision->count, demand->request_count);
	for (unsigned i = 0; i < decision->count; i++) {
		const struct placement *placement = &decision->placements[i];

		assert_int_equal(placement->count, demand->requests[i].cards);
		for (unsigned k = 0; k < placement->count; k++) {
			assert_true(k == 0 || placement->cards[k] > placement->cards[k - 1]);
			assert_true(placement->cards[k] < CARDS_OF_NODE);
			if (add)
				assert_true(
					takes(state, placement->cards[k], &demand->requests[i]));
			change(state, placement->cards[k], &demand->requests[i], add);
		}
	}
}

static void compare(const struct pool *pool, const struct state *state)
{
	for (unsigned i = 0; i < CARDS_OF_NODE; i++) {
		unsigned granted = state->whole[i] ? state->total[i] : state->held[i];

		assert_int_equal(pool_card_granted(pool, 0, i), granted);
		assert_int_equal(pool_card_held_whole(pool, 0, i), state->whole[i]);
	}
}

static const struct {
	struct request requests[4];
	size_t count;
	bool fits;
} pods[] = {
	{ { WHOLE(1), SLICE(1, 12, 0) }, 2, true },
	{ { WHOLE(2), WHOLE(2) }, 2, true },
	{ { WHOLE(2), WHOLE(3) }, 2, false },
	{ { WHOLE(4), SLICE(1, 1, 0) }, 2, false },
	{ { SLICE(1, 1, 0), WHOLE(3) }, 2, true },
	{ { SLICE(1, 30, 0), SLICE(1, 30, 0) }, 2, true },
	{ { SLICE(4, 20, 0), SLICE(4, 20, 0) }, 2, true },
	{ { SLICE(4, 20, 0), SLICE(4, 21, 0) }, 2, false },
	{ { SLICE(2, 40, 0), WHOLE(2) }, 2, true },
	{ { SLICE(4, 1, 60), SLICE(1, 1, 60) }, 2, false },
	{ { SLICE(1, 30, 0), SLICE(1, 30, 0), SLICE(1, 30, 0), SLICE(1, 30, 0) }, 4, true },
	{ { WHOLE(1), WHOLE(1), WHOLE(1), WHOLE(1) }, 4, true },
	{ { WHOLE(1), SLICE(2, 35, 0), SLICE(1, 6, 0), WHOLE(1) }, 4, false },
};

TEST(containers_side_by_side)
{
	static const unsigned gib[CARDS_OF_NODE] = { 40, 40, 40, 40 };

	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		struct request requests[4];
		struct demand demand = { .requests = requests,
					 .request_count = pods[i].count,
					 .needs = { .pods = 1 } };
		struct state known = { .total = { 40, 40, 40, 40 } };
		autopool *pool = make_pool(gib, CARDS_OF_NODE);
		struct decision decision;
		uint64_t id;

		memcpy(requests, pods[i].requests, sizeof(requests));
		int r = pool_decide(pool, &demand, &decision, NULL);

		assert_int_equal(is_possible(&known, requests, pods[i].count), pods[i].fits);
		assert_int_equal(r == 0, pods[i].fits);
		if (r < 0)
			continue;
		apply(&known, &demand, &decision, true);
		assert_int_equal(pool_assume(pool, &demand, &decision, &id), 0);
		compare(pool, &known);
		assert_int_equal(pool_forget(pool, id), 0);
		apply(&known, &demand, &decision, false);
		compare(pool, &known);
	}
}

/* A decision whose second part has no room leaves nothing of its first part. */
TEST(all_parts_or_none)
{
	static const unsigned gib[CARDS_OF_NODE] = { 40, 40, 40, 40 };
	struct request requests[] = { WHOLE(1), SLICE(1, 25, 0) };
	struct demand demand = { .requests = requests, .request_count = 2, .needs = { .pods = 1 } };
	autopool *pool = make_pool(gib, CARDS_OF_NODE);
	struct decision decision;
	uint64_t id;

	assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
	decision.placements[1].cards[0] = decision.placements[0].cards[0];
	assert_int_equal(pool_hold(pool, &demand, &decision, &id), -EBUSY);
	assert_int_equal(pool_grant_count(pool), 0);
	for (unsigned i = 0; i < CARDS_OF_NODE; i++)
		assert_int_equal(pool_card_left_milli(pool, 0, i), 1000);
	decision.count = 1;
	assert_int_equal(pool_hold(pool, &demand, &decision, &id), -EINVAL);
}

static unsigned draw(uint64_t *seed, unsigned below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33) % below;
}

static struct request draw_request(uint64_t *seed)
{
	static const unsigned sizes[] = { 3, 8, 15, 16, 20, 33, 40 };

	if (draw(seed, 3) == 0)
		return WHOLE(1 + draw(seed, 2));
	unsigned gib = sizes[draw(seed, ARRAY_SIZE(sizes))],
		 percent = draw(seed, 2) * 10 * draw(seed, 9);
	unsigned cards = 1 + draw(seed, 2);

	return SLICE(cards, gib, percent);
}

TEST(a_way_is_found_when_there_is_one)
{
	static const unsigned gib[CARDS_OF_NODE] = { 40, 16, 24, 40 };
	struct state known = { .total = { 40, 16, 24, 40 } };
	autopool *pool = make_pool(gib, CARDS_OF_NODE);
	struct request kept[8][3];
	struct demand demands[8];
	struct decision decisions[8];
	uint64_t ids[8], seed = 11;
	unsigned count = 0, fitted = 0, refused = 0;

	for (unsigned round = 0; round < 3000; round++) {
		if (count == ARRAY_SIZE(ids) || (count > 0 && draw(&seed, 2))) {
			count--;
			assert_int_equal(pool_release(pool, ids[count]), 0);
			apply(&known, &demands[count], &decisions[count], false);
			compare(pool, &known);
			continue;
		}
		demands[count] = (struct demand){ .requests = kept[count],
						  .request_count = 2 + draw(&seed, 2),
						  .needs = { .pods = 1 } };
		for (size_t i = 0; i < demands[count].request_count; i++)
			kept[count][i] = draw_request(&seed);
		bool possible = is_possible(&known, kept[count], demands[count].request_count);
		int r = pool_decide(pool, &demands[count], &decisions[count], NULL);

		assert_int_equal(r == 0, possible);
		fitted += possible;
		refused += !possible;
		if (r < 0)
			continue;
		apply(&known, &demands[count], &decisions[count], true);
		assert_int_equal(pool_hold(pool, &demands[count], &decisions[count], &ids[count]),
				 0);
		compare(pool, &known);
		count++;
	}
	print_message("# %u Pods placed, %u refused\n", fitted, refused);
	assert_true(fitted > 300 && refused > 300);
}

TEST(every_allocation_fails_once)
{
	static const unsigned gib[CARDS_OF_NODE] = { 40, 40, 40, 40 };
	struct request requests[] = { WHOLE(1), SLICE(1, 25, 0) };
	struct demand demand = { .requests = requests, .request_count = 2, .needs = { .pods = 1 } };

	for (unsigned n = 0;; n++) {
		autopool *pool = make_pool(gib, CARDS_OF_NODE);
		struct decision decision;
		uint64_t id = 0;

		assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
		fault_arm(n);
		int r = pool_hold(pool, &demand, &decision, &id);

		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(pool_grant_count(pool), 0);
		assert_int_equal(pool_card_granted(pool, 0, 0), 0);
	}
}

/* ---- why not ---- */

static char main_name[] = "main", side_name[] = "side", object[] = "Pod default/p";

static const struct {
	const char *name;
	struct request requests[2], first; /* held before; no cards: nobody */
	int result;
	enum reason_code code;
	int64_t wanted, have, total;
	const char *object, *sentence; /* a piece of it */
} refused[] = {
	{ "never alone",
	  { SLICE(1, 50, 0), WHOLE(1) },
	  WHOLE(0),
	  -ENOSPC,
	  REASON_CARD_MEMORY,
	  50,
	  40,
	  40,
	  "container main of Pod default/p",
	  "wants 50 GiB on one card" },
	{ "never alone, whoever waits",
	  { WHOLE(4), SLICE(1, 50, 0) },
	  WHOLE(1),
	  -ENOSPC,
	  REASON_CARD_MEMORY,
	  50,
	  40,
	  40,
	  "container side of Pod default/p",
	  "50 GiB" },
	{ "not now alone",
	  { SLICE(1, 4, 0), WHOLE(4) },
	  WHOLE(1),
	  -EAGAIN,
	  REASON_CARDS_BUSY,
	  4,
	  3,
	  4,
	  "container side of Pod default/p",
	  "wants 4 free cards" },
	{ "not now together",
	  { WHOLE(2), WHOLE(2) },
	  WHOLE(1),
	  -EAGAIN,
	  REASON_POD_BUSY,
	  2,
	  1,
	  2,
	  "container side of Pod default/p",
	  "finds no room for 2 whole cards beside the other containers of its Pod: a has room for "
	  "1 "
	  "of the 2 that ask for cards, the most of all nodes. Wait" },
	{ "never together",
	  { WHOLE(3), WHOLE(2) },
	  WHOLE(0),
	  -ENOSPC,
	  REASON_POD_SIZE,
	  2,
	  1,
	  2,
	  "container side of Pod default/p",
	  "with nothing else running a has room for 1 of the 2 that ask for cards" },
	{ "never together, whoever is there",
	  { WHOLE(3), WHOLE(2) },
	  WHOLE(1),
	  -ENOSPC,
	  REASON_POD_SIZE,
	  2,
	  1,
	  2,
	  "container side of Pod default/p",
	  "with nothing else running" },
	{ "a request that is none",
	  { WHOLE(1), WHOLE(0) },
	  WHOLE(0),
	  -ENOSPC,
	  REASON_BAD_REQUEST,
	  0,
	  0,
	  0,
	  "Pod default/p",
	  "container side: it asks for 0 cards" },
};

TEST(the_container_without_room_is_named)
{
	static const unsigned gib[CARDS_OF_NODE] = { 40, 40, 40, 40 };
	char *containers[] = { main_name, side_name };

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct request requests[2], first = refused[i].first;
		struct demand demand = { .object = object,
					 .requests = requests,
					 .request_count = 2,
					 .containers = containers,
					 .needs = { .pods = 1 } };
		autopool *pool = make_pool(gib, CARDS_OF_NODE);
		autostrbuf text = STRBUF_INIT(2048);
		struct decision decision;
		struct demand before;
		struct reason reason;
		uint64_t id;

		memcpy(requests, refused[i].requests, sizeof(requests));
		demand_borrow_request(&first, "first", &before);
		if (first.cards) {
			assert_int_equal(pool_decide(pool, &before, &decision, NULL), 0);
			assert_int_equal(pool_hold(pool, &before, &decision, &id), 0);
		}
		for (unsigned on = 0; on < 2; on++) {
			int r = on ? pool_decide_on(pool, 0, &demand, &decision, &reason)
				   : pool_decide(pool, &demand, &decision, &reason);

			if (r != refused[i].result || reason.code != refused[i].code ||
			    reason.wanted != refused[i].wanted || reason.have != refused[i].have ||
			    reason.total != refused[i].total)
				fail_msg("%s: %d %s %d %d %d", refused[i].name, r,
					 reason_name(reason.code), (int)reason.wanted,
					 (int)reason.have, (int)reason.total);
			assert_string_equal(reason.object, refused[i].object);
			if (on)
				continue;
			assert_int_equal(reason_sentence(&reason, &text), 0);
			if (!strstr(text.data, refused[i].sentence))
				fail_msg("%s", text.data);
		}
		assert_int_equal(pool_decide(pool, &demand, &decision, NULL),
				 refused[i].code == REASON_BAD_REQUEST ? -ENOSPC : -EAGAIN);
		assert_int_equal(pool_grant_count(pool), first.cards ? 1 : 0);
	}
}

/* The better node is full for the second request: the other one takes both. */
TEST(all_on_one_node)
{
	static const enum tie_rule ties[] = { TIE_NAME, TIE_RANDOM, TIE_BESTFIT };
	struct request requests[] = { SLICE(1, 30, 0), WHOLE(1) };
	struct demand demand = { .requests = requests, .request_count = 2, .needs = { .pods = 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(ties); i++) {
		const struct policy_options options = { .ties = ties[i], .seed = 7 };
		static const unsigned one[] = { 40 }, two[] = { 40, 40 };
		autopool *pool = make_pool(one, 1);
		struct decision decision;

		add_node(pool, "b", two, 2);
		add_node(pool, "c", two, 2);
		assert_int_equal(pool_set_policy(pool, &options), 0);
		assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
		assert_true(decision.node == 1 || (decision.node == 2 && ties[i] == TIE_RANDOM));
		assert_int_equal(decision.placements[0].node, decision.node);
		assert_int_equal(decision.placements[1].node, decision.node);
		assert_int_not_equal(decision.placements[0].cards[0],
				     decision.placements[1].cards[0]);
	}
}

/* ---- instances ---- */

#define A100      "NVIDIA A100-SXM4-40GB"
#define MIG_CARDS 2

struct instances {
	struct card cards[MIG_CARDS];
	struct naive_instance held[MIG_CARDS][4 * MIG_SLICES_MAX];
	size_t counts[MIG_CARDS];
};

/* Is there any way for N more instances of the first request, from PLACE on, and for the others? */
static bool instances_fit(struct instances *known, const struct request *requests, size_t count,
			  unsigned more, unsigned place)
{
	const struct mig_profile *profile;

	if (more == 0 && count <= 1)
		return true;
	if (more == 0)
		return instances_fit(known, requests + 1, count - 1, requests[1].cards, 0);
	profile = naive_profile(&known->cards[0], requests->mig_profile);
	for (; place < MIG_CARDS * profile->start_count; place++) {
		unsigned card = place / profile->start_count;
		size_t at = known->counts[card]++;
		bool right;

		known->held[card][at] =
			(struct naive_instance){ profile,
						 profile->starts[place % profile->start_count] };
		right = naive_instances_fit(&known->cards[card], known->held[card], at + 1) &&
			instances_fit(known, requests, count, more - 1, place + 1);
		known->counts[card]--;
		if (right)
			return true;
	}
	return false;
}

static void keep(struct instances *known, const struct demand *demand,
		 const struct decision *decision)
{
	for (unsigned i = 0; i < decision->count; i++) {
		const struct placement *placement = &decision->placements[i];

		assert_int_equal(placement->count, demand->requests[i].cards);
		for (unsigned k = 0; k < placement->count; k++) {
			unsigned card = placement->cards[k];
			const struct mig_profile *profile =
				naive_profile(&known->cards[card], demand->requests[i].mig_profile);

			assert_int_equal(placement->memory_mib[k], profile->memory_mib);
			known->held[card][known->counts[card]++] =
				(struct naive_instance){ profile, placement->starts[k] };
			assert_true(naive_instances_fit(&known->cards[card], known->held[card],
							known->counts[card]));
		}
	}
}

static void add_mig_node(struct pool *pool, const struct card *cards)
{
	struct node_spec node;

	node_spec_init(&node);
	node.name = (char *)(uintptr_t) "a";
	node.inventory.cards = (struct card *)(uintptr_t)cards;
	node.inventory.card_count = MIG_CARDS;
	assert_int_equal(pool_add_node(pool, &node, NULL), 0);
}

static void draw_instances(uint64_t *seed, struct request *ret, size_t count)
{
	static const char *const profiles[] = { "1g.5gb",  "1g.10gb", "2g.10gb",
						"3g.20gb", "4g.20gb", "1g.5gb+me" };

	for (size_t i = 0; i < count; i++) {
		ret[i] = (struct request){ .kind = REQUEST_MIG, .cards = 1 + draw(seed, 2) };
		snprintf(ret[i].mig_profile, sizeof(ret[i].mig_profile), "%s",
			 profiles[draw(seed, ARRAY_SIZE(profiles))]);
	}
}

/* A new pool each time, filled at random, so that odd starts are held. */
TEST(a_way_is_found_for_instances)
{
	unsigned fitted = 0, refused_count = 0;
	uint64_t seed = 5;

	for (unsigned round = 0; round < 600; round++) {
		struct instances known = { .counts = { 0 } };
		autopool *pool = pool_new();

		for (unsigned i = 0; i < MIG_CARDS; i++) {
			struct card *card = &known.cards[i];

			*card = (struct card){ .index = i, .mode = CARD_MODE_MIG };
			card->memory_bytes = 40ull << 30;
			snprintf(card->uuid, sizeof(card->uuid), "GPU-%u", i);
			snprintf(card->model, sizeof(card->model), "%s", A100);
		}
		assert_non_null(pool);
		add_mig_node(pool, known.cards);
		for (unsigned step = 0; step < 4; step++) {
			struct request requests[3];
			struct demand demand = { .requests = requests,
						 .request_count = 1 + draw(&seed, 3),
						 .needs = { .pods = 1 } };
			struct decision decision;
			uint64_t id;

			draw_instances(&seed, requests, demand.request_count);
			bool possible = instances_fit(&known, requests, demand.request_count,
						      requests[0].cards, 0);
			int r = pool_decide(pool, &demand, &decision, NULL);

			assert_int_equal(r == 0, possible);
			fitted += possible;
			refused_count += !possible;
			if (r < 0)
				continue;
			keep(&known, &demand, &decision);
			assert_int_equal(pool_hold(pool, &demand, &decision, &id), 0);
		}
	}
	print_message("# %u Pods placed, %u refused\n", fitted, refused_count);
	assert_true(fitted > 300 && refused_count > 300);
}

TEST(an_allocation_that_fails_is_told)
{
	static const unsigned gib[CARDS_OF_NODE] = { 40, 40, 40, 40 };
	struct request requests[] = { WHOLE(1), SLICE(1, 25, 0) };
	struct demand demand = { .requests = requests, .request_count = 2, .needs = { .pods = 1 } };
	unsigned failed = 0;

	for (unsigned n = 0;; n++) {
		autopool *pool = make_pool(gib, CARDS_OF_NODE);
		struct decision decision;

		fault_arm(n);
		int r = pool_decide(pool, &demand, &decision, NULL);

		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_true(r == 0 || r == -ENOMEM); /* it goes without an index */
		failed += r == -ENOMEM;
	}
	assert_true(failed >= 3);
}

TEST(each_node_is_explained)
{
	static const unsigned one[] = { 40 }, two[] = { 40, 40 };
	struct request requests[] = { SLICE(1, 30, 0), WHOLE(1) };
	struct demand demand = { .requests = requests, .request_count = 2, .needs = { .pods = 1 } };
	autopool *pool = make_pool(one, 1);
	struct explanation explanation;
	struct reason reason;

	add_node(pool, "b", two, 2);
	add_node(pool, "c", two, 2);
	assert_int_equal(pool_explain(pool, &demand, &explanation), 0);
	assert_int_equal(explanation.result, 0);
	assert_int_equal(explanation.card_count, 0);
	assert_int_equal(explanation.alike, 2);
	assert_int_equal(explanation.nodes[0].code, REASON_POD_SIZE);
	assert_int_equal(explanation.nodes[0].rank, 0);
	assert_int_equal(explanation.nodes[1].rank, 1);
	assert_int_equal(explanation.nodes[2].rank, 2);
	assert_int_equal(explanation.classes[REASON_NONE].nodes, 2);
	assert_int_equal(explanation.classes[REASON_POD_SIZE].nodes, 1);
	explanation_release(&explanation);
	assert_int_equal(pool_explain_card(pool, &demand, 0, 0, &reason), -EINVAL);
}
