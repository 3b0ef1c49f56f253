/* SPDX-License-Identifier: Apache-2.0 */
/* MIG instances: where they come, why there is no room, and what a release gives back. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"
#include "place/place.h"
#include "naive_mig.h"

#define A100 "NVIDIA A100-SXM4-40GB"
#define A30  "NVIDIA A30"
#define RTX  "NVIDIA RTX PRO 6000 Blackwell Server Edition"
#define T4   "Tesla T4"

struct layout_row {
	const char *profile;
	unsigned start;
};

struct card_row {
	const char *model;
	unsigned gib;
	enum card_mode mode;
	const struct layout_row *layout; /* NULL: not fixed; ends with a profile of NULL */
};

static void add_card(struct node_spec *node, unsigned number, const struct card_row *row)
{
	struct inventory *inventory = &node->inventory;
	struct card *card =
		VEC_ADD(&inventory->cards, &inventory->card_count, &inventory->card_capacity);

	assert_non_null(card);
	card->index = card->minor = (unsigned)inventory->card_count - 1;
	card->memory_bytes = (uint64_t)row->gib << 30;
	card->numa = -1;
	card->mode = row->mode;
	snprintf(card->uuid, sizeof(card->uuid), "GPU-%u-%u", number, card->index);
	snprintf(card->model, sizeof(card->model), "%s", row->model);
	for (const struct layout_row *at = row->layout; at && at->profile; at++) {
		struct card_mig *mig = VEC_ADD(&card->mig, &card->mig_count, &card->mig_capacity);

		assert_non_null(mig);
		mig->start = at->start;
		snprintf(mig->profile, sizeof(mig->profile), "%s", at->profile);
	}
}

/* One node a row; a row ends with a card without a model. */
static void fill_node(struct node_spec *node, unsigned number, const struct card_row *cards)
{
	static const char *const names[] = { "a", "b", "c", "d" };

	node_spec_init(node);
	node->name = strdup(names[number]);
	assert_non_null(node->name);
	for (; cards->model; cards++)
		add_card(node, number, cards);
}

static struct pool *make_pool(const struct card_row (*rows)[5], size_t count)
{
	struct pool *pool = pool_new();

	assert_non_null(pool);
	for (unsigned i = 0; i < count; i++) {
		cleanup(node_spec_release) struct node_spec node;
		struct error error = ERROR_INIT;

		fill_node(&node, i, rows[i]);
		if (pool_add_node(pool, &node, &error) < 0)
			fail_msg("%s", error.message);
	}
	return pool;
}

static void fill_demand(struct demand *demand, struct request *request, const char *profile,
			unsigned count)
{
	demand_init(demand);
	*request = (struct request){ .kind = REQUEST_MIG, .cards = count };
	snprintf(request->mig_profile, sizeof(request->mig_profile), "%s", profile);
	demand->requests = request;
	demand->request_count = 1;
}

/* "a 0@4 1@0" */
static void describe(const struct pool *pool, const struct decision *decision, struct strbuf *out)
{
	const struct placement *placement = &decision->placements[0];

	strbuf_adds(out, pool_node_name(pool, decision->node));
	for (unsigned i = 0; i < placement->count; i++)
		strbuf_addf(out, " %u@%u", placement->cards[i], placement->starts[i]);
}

#define MIG(card, units)                         \
	{                                        \
		card, units, CARD_MODE_MIG, NULL \
	}

static const struct layout_row balanced[] = {
	{ "2g.10gb", 0 }, { "1g.5gb", 2 }, { "1g.5gb", 3 }, { "3g.20gb", 4 }, { NULL, 0 }
};

static const struct card_row one_a100[1][5] = { { MIG(A100, 40) } };
static const struct card_row two_a100[1][5] = { { MIG(A100, 40), MIG(A100, 40) } };
static const struct card_row a30_rtx[1][5] = { { MIG(A30, 24), MIG(RTX, 96) } };
static const struct card_row fixed[1][5] = { { { A100, 40, CARD_MODE_MIG, balanced },
					       { A100, 40, CARD_MODE_MIG, balanced } } };

/* Held one after the other. */
static const struct {
	const struct card_row (*world)[5];
	struct {
		const char *profile;
		unsigned count;
		const char *placed; /* NULL: refused */
	} steps[8];
} placed[] = {
	{ one_a100,
	  { { "1g.5gb", 1, "a 0@6" },
	    { "4g.20gb", 1, "a 0@0" },
	    { "2g.10gb", 1, "a 0@4" },
	    { "1g.5gb", 1, NULL } } },
	{ one_a100, { { "1g.5gb", 7, "a 0@0 0@1 0@2 0@3 0@4 0@5 0@6" }, { "1g.5gb", 1, NULL } } },
	{ one_a100, { { "1g.5gb", 8, NULL }, { "7g.40gb", 1, "a 0@0" }, { "1g.5gb", 1, NULL } } },
	{ one_a100,
	  { { "1g.5gb+me", 1, "a 0@6" }, { "1g.5gb+me", 1, NULL }, { "1g.5gb.me", 1, NULL } } },
	{ one_a100, { { "3g.20gb", 2, "a 0@0 0@4" }, { "1g.5gb", 1, NULL } } },
	{ one_a100, { { "1g.20gb", 1, NULL }, { "nonsense", 1, NULL } } },
	/* An instance goes where it costs least: onto the card that lost the large ones already. */
	{ two_a100,
	  { { "1g.5gb", 1, "a 0@6" },
	    { "1g.5gb", 1, "a 0@4" },
	    { "7g.40gb", 1, "a 1@0" },
	    { "4g.20gb", 1, "a 0@0" },
	    { "7g.40gb", 1, NULL } } },
	{ two_a100,
	  { { "4g.20gb", 2, "a 0@0 1@0" }, { "3g.20gb", 2, "a 0@4 1@4" }, { "1g.5gb", 1, NULL } } },
	{ two_a100, { { "3g.20gb", 3, "a 0@0 0@4 1@4" }, { "4g.20gb", 1, "a 1@0" } } },
	/* Cards of different models on one node. */
	{ a30_rtx,
	  { { "1g.6gb", 1, "a 0@0" },
	    { "2g.48gb", 2, "a 1@0 1@6" },
	    { "1g.24gb", 1, NULL },
	    { "2g.12gb", 1, "a 0@2" },
	    { "4g.24gb", 1, NULL } } },
	{ a30_rtx,
	  { { "1g.24gb+me.all", 1, "a 1@0" },
	    { "1g.24gb", 1, NULL },
	    { "1g.24gb-me", 3, "a 1@3 1@6 1@9" } } },
	/* Only what is there. */
	{ fixed,
	  { { "3g.20gb", 2, "a 0@4 1@4" },
	    { "3g.20gb", 1, NULL },
	    { "1g.5gb", 3, "a 0@2 0@3 1@2" },
	    { "2g.10gb", 1, "a 0@0" },
	    { "1g.10gb", 1, NULL },
	    { "1g.5gb", 2, NULL },
	    { "1g.5gb", 1, "a 1@3" } } },
};

static uint64_t hold(struct pool *pool, const struct demand *demand,
		     const struct decision *decision)
{
	uint64_t id = 0;

	assert_int_equal(pool_hold(pool, demand, decision, &id), 0);
	return id;
}

TEST(where_nvml_places_them)
{
	for (size_t i = 0; i < ARRAY_SIZE(placed); i++) {
		autopool *pool = make_pool(placed[i].world, 1);
		uint64_t ids[8];
		unsigned count = 0;

		for (size_t k = 0; k < 8 && placed[i].steps[k].profile; k++) {
			autostrbuf text = STRBUF_INIT(1024);
			struct decision decision;
			struct request request;
			struct demand demand;

			fill_demand(&demand, &request, placed[i].steps[k].profile,
				    placed[i].steps[k].count);
			int r = pool_decide(pool, &demand, &decision, NULL);

			if (!placed[i].steps[k].placed) {
				assert_true(r == -EAGAIN || r == -ENOSPC);
				continue;
			}
			assert_int_equal(r, 0);
			describe(pool, &decision, &text);
			assert_string_equal(text.data, placed[i].steps[k].placed);
			ids[count++] = hold(pool, &demand, &decision);
		}
		while (count > 0)
			assert_int_equal(pool_release(pool, ids[--count]), 0);
		for (unsigned card = 0; card < pool_node_card_count(pool, 0); card++) {
			assert_int_equal(pool_card_granted(pool, 0, card), 0);
			assert_int_equal(pool_card_left_milli(pool, 0, card), 1000);
		}
	}
}

TEST(what_is_left)
{
	autopool *pool = make_pool(a30_rtx, 1);
	struct decision decision;
	struct request request;
	struct demand demand;

	fill_demand(&demand, &request, "2g.48gb", 1);
	assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
	assert_int_equal(decision.placements[0].memory_mib[0], 48512);
	hold(pool, &demand, &decision);
	assert_int_equal(pool_card_granted(pool, 0, 1), 48);
	assert_int_equal(pool_card_left_milli(pool, 0, 1), 500);
	assert_int_equal(pool_card_left_milli(pool, 0, 0), 1000);
	fill_demand(&demand, &request, "1g.6gb", 3);
	assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
	hold(pool, &demand, &decision);
	assert_int_equal(pool_card_left_milli(pool, 0, 0), 250);
}

static const struct card_row mixed[][5] = {
	{ { T4, 15, CARD_MODE_AUTO, NULL }, { A100, 40, CARD_MODE_AUTO, NULL } },
	{ MIG(A100, 40), MIG(A100, 40), { A100, 40, CARD_MODE_AUTO, NULL } },
};

static const struct {
	const struct card_row (*world)[5];
	size_t nodes;
	const char *first; /* held before, once on each card in mode mig; or NULL */
	const char *profile;
	unsigned count;
	int result;
	enum reason_code code;
	int64_t wanted, have, total;
	const char *node, *sentence; /* a piece of it */
} refused[] = {
	{ mixed, 1, NULL, "1g.5gb", 1, -EAGAIN, REASON_NOT_MIG, 1, 0, 2, "a",
	  "wants 1 MIG instance of 1g.5gb, and the cards of a in MIG mode have room for 0: card "
	  "1 " },
	{ mixed, 2, NULL, "1g.6gb", 1, -ENOSPC, REASON_MIG_PROFILE, 1, 0, 2, "a",
	  "wants 1 MIG instance of 1g.6gb, and no card where it may run has that profile; the "
	  "pool " },
	{ mixed, 2, NULL, "7g.40gb", 4, -ENOSPC, REASON_MIG_COUNT, 4, 3, 3, "b",
	  "wants 4 MIG instances of 7g.40gb; with nothing else running there is room for 3 at "
	  "most where it may run, on b. " },
	{ mixed, 2, NULL, "7g.40gb", 3, -EAGAIN, REASON_NOT_MIG, 3, 2, 3, "b",
	  "have room for 2: card 2 (GPU-1-2) is in another mode" },
	{ mixed, 2, "4g.20gb", "4g.20gb", 1, -EAGAIN, REASON_MIG_BUSY, 1, 0, 4, "b",
	  "4g.20gb (4 memory slices from 0, 4 compute slices, 2 media engines), b has room for 0 "
	  "now: of the memory slices of card 0 (GPU-1-0) 4 are free" },
	{ mixed, 2, "4g.20gb", "3g.20gb", 3, -EAGAIN, REASON_MIG_BUSY, 3, 2, 4, "b",
	  "3g.20gb (4 memory slices from 0 or 4, 3 compute slices, 2 media engines), b has room "
	  "for 2" },
	{ mixed, 2, "7g.40gb", "1g.5gb", 1, -EAGAIN, REASON_MIG_BUSY, 1, 0, 0, "b",
	  "1g.5gb (1 memory slice from 0, 1, 2, 3, 4, 5 or 6, 1 compute slice), b has room for 0" },
	{ fixed, 1, NULL, "4g.20gb", 1, -ENOSPC, REASON_MIG_COUNT, 1, 0, 2, "a",
	  "wants 1 MIG instance of 4g.20gb; with nothing else running a has room for 0. " },
	{ fixed, 1, "3g.20gb", "3g.20gb", 1, -EAGAIN, REASON_MIG_BUSY, 1, 0, 4, "a",
	  "3g.20gb (1 in the fixed layout there), a has room for 0 now" },
};

TEST(why_not)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		autopool *pool = make_pool(refused[i].world, refused[i].nodes);
		autostrbuf text = STRBUF_INIT(2048);
		struct decision decision;
		struct request request;
		struct demand demand;
		struct reason reason;

		for (unsigned k = 0; refused[i].first && k < 2; k++) {
			fill_demand(&demand, &request, refused[i].first, 1);
			assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
			hold(pool, &demand, &decision);
		}
		fill_demand(&demand, &request, refused[i].profile, refused[i].count);
		demand.object = strdup("Pod default/p");
		assert_int_equal(pool_decide(pool, &demand, &decision, &reason), refused[i].result);
		assert_string_equal(reason_name(reason.code), reason_name(refused[i].code));
		assert_string_equal(reason.node, refused[i].node);
		assert_int_equal(reason.wanted, refused[i].wanted);
		assert_int_equal(reason.have, refused[i].have);
		assert_int_equal(reason.total, refused[i].total);
		assert_int_equal(reason_sentence(&reason, &text), 0);
		if (!strstr(text.data, refused[i].sentence))
			fail_msg("%s", text.data);
		free(demand.object);
	}
}

TEST(no_other_kind_on_a_mig_card)
{
	struct request requests[] = {
		{ .kind = REQUEST_WHOLE, .cards = 1 },
		{ .kind = REQUEST_SLICE, .cards = 1, .units = 1, .memory_mib = 1024 }
	};
	autopool *pool = make_pool(one_a100, 1);

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		struct demand demand = { .requests = &requests[i],
					 .request_count = 1,
					 .needs = { .pods = 1 } };
		struct decision decision;
		struct reason reason;

		assert_int_equal(pool_decide(pool, &demand, &decision, &reason), -EAGAIN);
		assert_int_equal(reason.code, REASON_WRONG_MODE);
	}
}

TEST(decisions_that_cannot_be)
{
	static const struct {
		unsigned card, start, count;
		int result;
	} rows[] = {
		{ 0, 4, 1, -EBUSY },  { 1, 4, 1, 0 },        { 1, 1, 1, -EINVAL },
		{ 1, 6, 1, -EINVAL }, { 1, 16, 1, -EINVAL }, { 2, 0, 1, -EINVAL },
		{ 9, 0, 1, -EINVAL }, { 1, 0, 2, -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autopool *pool = make_pool(&mixed[1], 1);
		struct decision decision;
		struct request request;
		struct demand demand;
		uint64_t id;

		fill_demand(&demand, &request, "2g.10gb", 1);
		assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
		assert_int_equal(decision.placements[0].starts[0], 4);
		hold(pool, &demand, &decision);
		decision.placements[0].cards[0] = rows[i].card;
		decision.placements[0].starts[0] = (uint8_t)rows[i].start;
		decision.placements[0].count = rows[i].count;
		assert_int_equal(pool_hold(pool, &demand, &decision, &id), rows[i].result);
	}
}

TEST(twice_in_one_decision)
{
	autopool *pool = make_pool(one_a100, 1);
	struct decision decision;
	struct request request;
	struct demand demand;
	uint64_t id;

	fill_demand(&demand, &request, "2g.10gb", 2);
	assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
	decision.placements[0].starts[0] = decision.placements[0].starts[1];
	assert_int_equal(pool_hold(pool, &demand, &decision, &id), -EBUSY);
	assert_int_equal(pool_card_left_milli(pool, 0, 0), 1000);
}

static const struct layout_row unknown_profile[] = { { "1g.6gb", 0 }, { NULL, 0 } };
static const struct layout_row wrong_start[] = { { "2g.10gb", 1 }, { NULL, 0 } };
static const struct layout_row overlap[] = { { "2g.10gb", 0 }, { "1g.5gb", 1 }, { NULL, 0 } };

TEST(layouts_that_cannot_be)
{
	static const struct {
		const char *model;
		const struct layout_row *layout;
		const char *message;
	} rows[] = {
		{ A100, unknown_profile,
		  "card 0 (GPU-0-0) of node a cannot have an instance of 1g.6gb at slice 0" },
		{ A100, wrong_start,
		  "card 0 (GPU-0-0) of node a cannot have an instance of 2g.10gb at slice 1" },
		{ A100, overlap,
		  "card 0 (GPU-0-0) of node a has no room for an instance of 1g.5gb at slice 1 "
		  "beside its others" },
		{ T4, overlap,
		  "card 0 (GPU-0-0) of node a has MIG instances, and the places of its model Tesla "
		  "T4 are not known; leave the instances out" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct card_row cards[2] = { { rows[i].model, 40, CARD_MODE_MIG,
						     rows[i].layout } };
		cleanup(node_spec_release) struct node_spec node;
		autopool *pool = pool_new();
		struct error error = ERROR_INIT;

		assert_non_null(pool);
		fill_node(&node, 0, cards);
		assert_int_equal(pool_add_node(pool, &node, &error), -EINVAL);
		assert_string_equal(error.message, rows[i].message);
		assert_int_equal(pool_node_count(pool), 0);
	}
}

/* ---- against brute force ---- */

static unsigned draw(uint64_t *seed, unsigned below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33) % below;
}

#define CARDS    3
#define HELD_MAX (CARDS * MIG_SLICES_MAX)

/* What the test knows of the cards, by itself. */
struct book {
	struct node_spec node;
	struct {
		uint64_t id;
		unsigned card;
		struct naive_instance instance;
	} held[HELD_MAX];
	size_t count;
};

static size_t on_card(const struct book *book, unsigned card, struct naive_instance *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < book->count; i++)
		if (book->held[i].card == card)
			ret[count++] = book->held[i].instance;
	return count;
}

static unsigned room_of(const struct book *book, const struct mig_profile *profile)
{
	unsigned room = 0;

	for (unsigned card = 0; card < CARDS; card++) {
		struct naive_instance held[HELD_MAX];
		size_t count = on_card(book, card, held);

		room += naive_mig_room(&book->node.inventory.cards[card], profile, held, count);
	}
	return room;
}

/* Where the one instance belongs: at the start after which most places are left, the lowest of
 * those alike; of cards with room the one with the fewest slices free. */
static void expect(const struct book *book, const struct mig_profile *profile, unsigned *ret_card,
		   unsigned *ret_start)
{
	unsigned fewest = UINT32_MAX, most = 0;

	for (unsigned card = 0; card < CARDS; card++) {
		const struct card *of = &book->node.inventory.cards[card];
		struct naive_instance held[HELD_MAX];
		size_t count = on_card(book, card, held);
		unsigned free = naive_free_slices(of, held, count);

		if (free >= fewest || !naive_mig_room(of, profile, held, count))
			continue;
		fewest = free;
		*ret_card = card;
	}
	const struct card *of = &book->node.inventory.cards[*ret_card];
	bool found = false;

	for (unsigned i = 0; i < profile->start_count; i++) {
		struct naive_instance held[HELD_MAX];
		size_t count = on_card(book, *ret_card, held);

		held[count++] = (struct naive_instance){ profile, profile->starts[i] };
		if (!naive_instances_fit(of, held, count))
			continue;
		unsigned places = naive_places(of, held, count);

		if (found && places <= most)
			continue;
		found = true;
		most = places;
		*ret_start = profile->starts[i];
	}
}

/* The free slices by the book are what the pool has left. */
static void compare(const struct pool *pool, const struct book *book)
{
	for (unsigned card = 0; card < CARDS; card++) {
		const struct card *of = &book->node.inventory.cards[card];
		const struct mig_model *model = mig_model_find(of->model);
		struct naive_instance held[HELD_MAX];
		size_t count = on_card(book, card, held);

		assert_true(naive_instances_fit(of, held, count));
		assert_int_equal(pool_card_left_milli(pool, 0, card),
				 1000 * naive_free_slices(of, held, count) / model->memory);
	}
}

static unsigned place(struct pool *pool, struct book *book, const struct mig_profile *profile,
		      unsigned wanted)
{
	unsigned room = room_of(book, profile), card = 0, start = 0;
	struct decision decision;
	struct request request;
	struct demand demand;

	fill_demand(&demand, &request, profile->name, wanted);
	int r = pool_decide(pool, &demand, &decision, NULL);

	assert_int_equal(r == 0, room >= wanted);
	if (r < 0)
		return 0;
	const struct placement *placement = &decision.placements[0];

	assert_int_equal(placement->count, wanted);
	expect(book, profile, &card, &start);
	if (wanted == 1) {
		assert_int_equal(placement->cards[0], card);
		assert_int_equal(placement->starts[0], start);
	}
	uint64_t id = hold(pool, &demand, &decision);

	for (unsigned i = 0; i < placement->count; i++) {
		assert_int_equal(placement->memory_mib[i], profile->memory_mib);
		book->held[book->count].id = id;
		book->held[book->count].card = placement->cards[i];
		book->held[book->count++].instance =
			(struct naive_instance){ profile, placement->starts[i] };
	}
	return 1;
}

static void end(struct pool *pool, struct book *book, uint64_t id)
{
	size_t kept = 0;

	assert_int_equal(pool_release(pool, id), 0);
	for (size_t i = 0; i < book->count; i++)
		if (book->held[i].id != id)
			book->held[kept++] = book->held[i];
	book->count = kept;
}

static const char *const every_model[] = {
	A30,
	A100,
	"NVIDIA A100-SXM4-80GB",
	"NVIDIA H100 80GB HBM3",
	"NVIDIA H100 NVL",
	"NVIDIA GH200 480GB",
	"NVIDIA GH200 144G HBM3e",
	"NVIDIA H200",
	"NVIDIA B200",
	"NVIDIA GB200",
	"NVIDIA B300 SXM6 AC",
	"NVIDIA GB300",
	RTX,
};

TEST(placed_whenever_there_is_a_place)
{
	for (size_t i = 0; i < ARRAY_SIZE(every_model); i++) {
		const struct mig_model *model = mig_model_find(every_model[i]);
		const struct card_row cards[CARDS + 1] = { MIG(every_model[i], 24),
							   MIG(every_model[i], 24),
							   MIG(every_model[i], 24) };
		unsigned fitted = 0, refused_count = 0;
		struct book book = { .count = 0 };
		autopool *pool = pool_new();
		uint64_t seed = 3 + i;

		assert_non_null(pool);
		assert_non_null(model);
		fill_node(&book.node, 0, cards);
		assert_int_equal(pool_add_node(pool, &book.node, NULL), 0);
		for (unsigned round = 0; round < 1500; round++) {
			if (book.count > 0 && draw(&seed, 5) < 2) {
				end(pool, &book, book.held[draw(&seed, (unsigned)book.count)].id);
			} else {
				const struct mig_profile *profile = &model->profiles[draw(
					&seed, (unsigned)model->profile_count)];
				unsigned done = place(pool, &book, profile,
						      draw(&seed, 3) ? 1 : 1 + draw(&seed, 6));

				fitted += done;
				refused_count += !done;
			}
			compare(pool, &book);
		}
		while (book.count > 0)
			end(pool, &book, book.held[0].id);
		compare(pool, &book);
		print_message("# %s: %u placed, %u refused\n", every_model[i], fitted,
			      refused_count);
		assert_true(fitted > 200 && refused_count > 200);
		node_spec_release(&book.node);
	}
}

/* ---- grants ---- */

TEST(grants_are_held_where_they_are)
{
	static const struct {
		const char *uuid, *profile, *message;
		unsigned start;
		int result;
	} rows[] = {
		{ "GPU-1-0", "2g.10gb", NULL, 4, 0 },
		{ "GPU-1-0", "2g.10gb", "card GPU-1-0 of node b has no room for the grant", 4,
		  -EBUSY },
		{ "GPU-1-0", "1g.10gb",
		  "card GPU-1-0 of node b cannot have an instance of 1g.10gb at slice 5", 5,
		  -EINVAL },
		{ "GPU-1-0", "1g.6gb",
		  "card GPU-1-0 of node b cannot have an instance of 1g.6gb at slice 0", 0,
		  -EINVAL },
		{ "GPU-1-2", "1g.5gb",
		  "card GPU-1-2 of node b cannot have an instance of 1g.5gb at slice 0", 0,
		  -EINVAL },
		{ "GPU-1-1", "4g.20gb", NULL, 0, 0 },
	};
	autopool *pool = make_pool(mixed, 2);
	struct decision decision;
	struct request request;
	struct demand demand;
	uint64_t ids[2], id;
	unsigned count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct grant_card card = { .units = 1, .mig_start = rows[i].start };
		struct grant grant = { .kind = REQUEST_MIG, .cards = &card, .card_count = 1 };
		struct error error = ERROR_INIT;

		snprintf(card.uuid, sizeof(card.uuid), "%s", rows[i].uuid);
		snprintf(grant.mig_profile, sizeof(grant.mig_profile), "%s", rows[i].profile);
		assert_int_equal(pool_hold_grant(pool, 1, &grant, &id, &error), rows[i].result);
		if (rows[i].message && !strstr(error.message, rows[i].message))
			fail_msg("%s", error.message);
		if (rows[i].result == 0)
			ids[count++] = id;
	}
	assert_int_equal(pool_card_left_milli(pool, 1, 0), 750);
	assert_int_equal(pool_card_granted(pool, 1, 0), 10);
	fill_demand(&demand, &request, "7g.40gb", 1);
	assert_int_equal(pool_decide(pool, &demand, &decision, NULL), -EAGAIN);
	assert_int_equal(pool_release(pool, ids[0]), 0);
	assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
	assert_int_equal(decision.placements[0].cards[0], 0);
}

/* A grant of another kind, from before the card's mode was changed, keeps the card to itself. */
TEST(no_instance_beside_an_old_holder)
{
	struct grant_card card = { .uuid = "GPU-0-0", .units = 10, .memory_mib = 10240 };
	struct grant grant = { .kind = REQUEST_SLICE, .cards = &card, .card_count = 1 };
	struct grant instance = {
		.kind = REQUEST_MIG, .cards = &card, .card_count = 1, .mig_profile = "1g.5gb"
	};
	autopool *pool = make_pool(one_a100, 1);
	struct decision decision;
	struct request request;
	struct demand demand;
	uint64_t id, other;

	fill_demand(&demand, &request, "1g.5gb", 1);
	assert_int_equal(pool_hold_grant(pool, 0, &grant, &id, NULL), 0);
	assert_int_equal(pool_decide(pool, &demand, &decision, NULL), -EAGAIN);
	assert_int_equal(pool_hold_grant(pool, 0, &instance, &other, NULL), -EBUSY);
	assert_int_equal(pool_release(pool, id), 0);
	assert_int_equal(pool_hold_grant(pool, 0, &instance, &other, NULL), 0);
	assert_int_equal(pool_hold_grant(pool, 0, &grant, &id, NULL), -EBUSY);
}

TEST(what_is_withheld_is_not_offered)
{
	autopool *pool = make_pool(one_a100, 1);
	struct decision decision;
	struct request request;
	struct demand demand;
	struct reason reason;

	fill_demand(&demand, &request, "1g.5gb", 1);
	assert_int_equal(pool_decide(pool, &demand, &decision, &reason), 0);
	pool_withhold(pool, REQUEST_MIG);
	assert_int_equal(pool_decide(pool, &demand, &decision, &reason), -ENOSPC);
	assert_int_equal(reason.code, REASON_NOT_OFFERED);
}

TEST(every_allocation_fails_once)
{
	cleanup(node_spec_release) struct node_spec node;

	fill_node(&node, 0, fixed[0]);
	for (unsigned n = 0;; n++) {
		autopool *pool = pool_new();
		struct error error = ERROR_INIT;

		assert_non_null(pool);
		fault_arm(n);
		int r = pool_add_node(pool, &node, &error);

		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(pool_node_count(pool), 0);
	}
}
