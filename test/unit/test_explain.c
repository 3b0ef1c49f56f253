/* SPDX-License-Identifier: Apache-2.0 */
/* Why not: one pool with each kind of obstacle, the counts and the sentences of it by hand. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"
#include "place/place.h"
#include "place_cases.h"
#include "place_world.h"

enum { BUSY, TAINTED, SMALL, CPU, MIG, NODES };

static char key_gpu[] = "gpu", key_zone[] = "zone", value_east[] = "east";
static char xid[] = "Xid 79";

static const char *const names[NODES] = { "busy", "tainted", "small", "cpu", "mig" };

/* busy: card 0 held whole, 1 cut, 2 lost, 3 free. small: a process without a grant on card 0, card 1
 * whole cards only. mig: one card in that mode, in the zone east. */
static void fill_node(unsigned number, struct node_spec *node)
{
	static const struct {
		unsigned cards;
		const char *model;
		unsigned gib;
		enum card_mode mode;
	} rows[NODES] = {
		[BUSY] = { 4, A100, 80, CARD_MODE_AUTO },
		[TAINTED] = { 2, A100, 80, CARD_MODE_AUTO },
		[SMALL] = { 2, T4, 15, CARD_MODE_AUTO },
		[CPU] = { 0, NULL, 0, CARD_MODE_AUTO },
		[MIG] = { 1, A100, 80, CARD_MODE_MIG },
	};

	node_spec_init(node);
	node->name = (char *)(uintptr_t)names[number];
	node->allocatable = (struct resources){ 8000, 64 << 10, 10 };
	world_add_cards(&node->inventory, number, rows[number].cards, rows[number].model,
			rows[number].gib, rows[number].mode);
	if (number == BUSY) {
		struct card_condition *condition = &node->inventory.cards[2].condition;

		condition->health = CARD_LOST;
		memcpy(condition->cause, xid, sizeof(xid));
	}
	if (number != SMALL)
		return;
	world_add_process(&node->inventory.cards[0], false, 1500);
	node->inventory.cards[1].mode = CARD_MODE_WHOLE;
}

static void hold(struct pool *pool, unsigned node, const struct request *request)
{
	struct decision decision;
	struct demand demand;
	uint64_t id;

	demand_borrow_request(request, "Pod default/holder", &demand);
	demand.needs = (struct resources){ 3000, 1024, 1 };
	assert_int_equal(pool_decide_on(pool, node, &demand, &decision, NULL), 0);
	assert_int_equal(pool_hold(pool, &demand, &decision, &id), 0);
}

static struct pool *make_test_pool(void)
{
	const struct request whole = { WHOLE(1) }, slice = { SLICE(1, 60), .compute_percent = 90 };
	struct taint taint = { key_gpu, NULL, TAINT_NO_SCHEDULE };
	struct label label = { key_zone, value_east };
	struct pool *pool = pool_new();
	struct error error = ERROR_INIT;

	assert_non_null(pool);
	for (unsigned i = 0; i < NODES; i++) {
		struct node_spec node;

		fill_node(i, &node);
		if (i == TAINTED) {
			node.taints = &taint;
			node.taint_count = 1;
		} else if (i == MIG) {
			node.labels = &label;
			node.label_count = 1;
		}
		if (pool_add_node(pool, &node, &error) < 0)
			fail_msg("%s", error.message);
		inventory_release(&node.inventory);
	}
	hold(pool, BUSY, &whole);
	hold(pool, BUSY, &slice);
	return pool;
}

static char *models_a100[] = { (char *)(uintptr_t) "*A100*" };
static char *uuid_small[] = { (char *)(uintptr_t) "GPU-2-1" };

/* CARDS: class of each card, in order of the nodes; '.' can serve. */
static const struct {
	const char *name;
	struct request request;
	int64_t cpu;
	bool east, tolerates;
	int result;
	const char *summary, *cards;
	size_t kept;
} cases[] = {
	{ "one card",
	  { WHOLE(1) },
	  0,
	  false,
	  false,
	  0,
	  "2/5 nodes fit: 1 node without cards, 1 card is in another mode, 1 taint that the Pod "
	  "does not tolerate.",
	  "bbl...f.m",
	  2 },
	{ "two cards",
	  { WHOLE(2) },
	  0,
	  false,
	  false,
	  -EAGAIN,
	  "0/5 nodes fit: 1 fewer such cards than asked for, 1 node without cards, 1 not enough "
	  "free cards, 1 card used by a process without a grant, 1 taint that the Pod does not "
	  "tolerate.",
	  "bbl...f.m",
	  4 },
	{ "two cards, tolerant",
	  { WHOLE(2) },
	  0,
	  false,
	  true,
	  0,
	  "1/5 nodes fit: 1 fewer such cards than asked for, 1 node without cards, 1 not enough "
	  "free cards, 1 card used by a process without a grant.",
	  "bbl...f.m",
	  2 },
	{ "a slice",
	  { SLICE(1, 30), .compute_percent = 5 },
	  0,
	  false,
	  false,
	  0,
	  "1/5 nodes fit: 1 node without cards, 1 slice larger than the cards, 1 card is in "
	  "another mode, 1 taint that the Pod does not tolerate.",
	  "MMl...SSm",
	  2 },
	{ "compute",
	  { SLICE(1, 10), .compute_percent = 20 },
	  0,
	  false,
	  false,
	  0,
	  "1/5 nodes fit: 1 node without cards, 1 card is in another mode, 1 card used by a "
	  "process without a grant, 1 taint that the Pod does not tolerate.",
	  "MCl...fmm",
	  2 },
	{ "CPU",
	  { WHOLE(1) },
	  5000,
	  false,
	  true,
	  0,
	  "2/5 nodes fit: 1 node without cards, 1 card is in another mode, 1 not enough free CPU.",
	  "bbl...f.m",
	  1 },
	{ "more CPU than there is",
	  { WHOLE(1) },
	  9000,
	  false,
	  true,
	  -ENOSPC,
	  "0/5 nodes fit: 4 less CPU than asked for, 1 node without cards.",
	  "bbl...f.m",
	  4 },
	{ "a model",
	  { WHOLE(1), .models = LIST(models_a100) },
	  0,
	  false,
	  true,
	  0,
	  "2/5 nodes fit: 1 node without cards, 1 no card of the wanted model, 1 card is in "
	  "another mode.",
	  "bbl...ttm",
	  0 },
	{ "a UUID",
	  { WHOLE(1), .uuids = LIST(uuid_small) },
	  0,
	  false,
	  true,
	  0,
	  "1/5 nodes fit: 3 no card with the wanted UUID, 1 node without cards.",
	  "uuuuuuu.u",
	  0 },
	{ "a label",
	  { WHOLE(1) },
	  0,
	  true,
	  true,
	  -EAGAIN,
	  "0/5 nodes fit: 3 node without the wanted labels, 1 node without cards, 1 card is in "
	  "another mode.",
	  "bbl...f.m",
	  4 },
	{ "MIG",
	  { .kind = REQUEST_MIG, .cards = 1, .mig_profile = "3g.40gb" },
	  0,
	  false,
	  false,
	  0,
	  "1/5 nodes fit: 1 node without cards, 1 taint that the Pod does not tolerate, 1 no card "
	  "with that MIG profile, 1 card is not in MIG mode.",
	  "nnlnnnpp.",
	  0 },
	{ "more MIG",
	  { .kind = REQUEST_MIG, .cards = 3, .mig_profile = "3g.40gb" },
	  0,
	  false,
	  true,
	  -EAGAIN,
	  "0/5 nodes fit: 2 card is not in MIG mode, 1 node without cards, 1 no card with that MIG "
	  "profile, 1 fewer MIG instances possible than asked for.",
	  "nnlnnnpp.",
	  1 },
	{ "nothing that can be read",
	  { SLICE(1, 0) },
	  0,
	  false,
	  false,
	  -ENOSPC,
	  "0/5 nodes fit: 5 request not understood.",
	  "?????????",
	  0 },
	{ "no card",
	  { .kind = REQUEST_NONE },
	  9000,
	  false,
	  true,
	  -ENOSPC,
	  "0/5 nodes fit: 5 less CPU than asked for.",
	  "",
	  0 },
};

static const struct {
	char letter;
	enum reason_code code;
} letters[] = {
	{ '.', REASON_NONE },        { 'b', REASON_CARDS_BUSY },   { 'l', REASON_CARD_LOST },
	{ 'f', REASON_FOREIGN_USE }, { 'm', REASON_WRONG_MODE },   { 'M', REASON_MEMORY_BUSY },
	{ 'S', REASON_CARD_MEMORY }, { 'C', REASON_COMPUTE_BUSY }, { 't', REASON_NO_MODEL },
	{ 'u', REASON_NO_UUID },     { 'n', REASON_NOT_MIG },      { 'p', REASON_MIG_PROFILE },
	{ '?', REASON_BAD_REQUEST },
};

static char letter_of(enum reason_code code)
{
	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if (letters[i].code == code)
			return letters[i].letter;
	return '!';
}

struct asked {
	struct demand demand;
	struct label selector;
	struct toleration toleration;
};

static void fill_demand(const struct request *request, int64_t cpu, bool east, bool tolerates,
			struct asked *ret)
{
	demand_borrow_request(request, "Pod default/p", &ret->demand);
	ret->selector = (struct label){ key_zone, value_east };
	ret->toleration = (struct toleration){ key_gpu, NULL, TAINT_EFFECT_MAX };
	ret->demand.needs.cpu_milli = cpu;
	ret->demand.request_count = request->kind != REQUEST_NONE;
	ret->demand.selector = &ret->selector;
	ret->demand.selector_count = east;
	ret->demand.tolerations = &ret->toleration;
	ret->demand.toleration_count = tolerates;
}

TEST(each_obstacle_is_counted)
{
	autopool *pool = make_test_pool();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autostrbuf summary = STRBUF_INIT(4096);
		struct explanation explanation;
		char cards[16] = "";
		struct asked asked;

		fill_demand(&cases[i].request, cases[i].cpu, cases[i].east, cases[i].tolerates,
			    &asked);
		assert_int_equal(pool_explain(pool, &asked.demand, &explanation), 0);
		explanation_summarize(&explanation, &summary);
		for (size_t k = 0; k < explanation.card_count; k++)
			cards[k] = letter_of(explanation.cards[k]);
		print_message("# %s: %s, %s\n", cases[i].name, summary.data, cards);
		assert_string_equal(summary.data, cases[i].summary);
		assert_string_equal(cards, cases[i].cards);
		assert_int_equal(explanation.kept_cards, cases[i].kept);
		assert_int_equal(explanation.result, cases[i].result);
		explanation_release(&explanation);
	}
}

/* CARD NODES_MAX: of the node. */
#define OF_NODE 64

static const struct {
	struct request request;
	int64_t cpu;
	bool tolerates;
	unsigned node, card;
	const char *sentence;
} sentences[] = {
	{ { WHOLE(2) },
	  0,
	  true,
	  BUSY,
	  OF_NODE,
	  "Pod default/p wants 2 free cards, busy has 1 of 4. Wait for a holder to end, or ask for "
	  "no more than are free." },
	{ { WHOLE(1) },
	  0,
	  true,
	  BUSY,
	  0,
	  "Pod default/p cannot use card 0 (GPU-0-0) of busy: a Pod holds it whole. Wait for a "
	  "holder to end, or ask for no more than are free." },
	{ { WHOLE(1) },
	  0,
	  true,
	  BUSY,
	  1,
	  "Pod default/p cannot use card 1 (GPU-0-1) of busy: 1 slice holds 60 of its 80 GiB. Wait "
	  "for a holder to end, or ask for no more than are free." },
	{ { WHOLE(1) },
	  0,
	  true,
	  BUSY,
	  2,
	  "Pod default/p cannot use card 2 (GPU-0-2) of busy: it is lost, Xid 79. Reset the card "
	  "or reboot busy." },
	{ { SLICE(1, 30) },
	  0,
	  true,
	  BUSY,
	  1,
	  "Pod default/p wants 30 GiB on one card; card 1 (GPU-0-1) of busy has 20 of 80 GiB free. "
	  "Wait for a holder to end, or ask for no more than is free." },
	{ { SLICE(1, 10), .compute_percent = 20 },
	  0,
	  true,
	  BUSY,
	  1,
	  "Pod default/p wants 20 % of compute on one card; card 1 (GPU-0-1) of busy has 10 % "
	  "free. Wait for a holder to end, or ask for no more than is free." },
	{ { SLICE(1, 30) },
	  0,
	  true,
	  SMALL,
	  OF_NODE,
	  "Pod default/p wants 30 GiB on one card; with nothing else running small has 15 GiB "
	  "there at most: card 0 (GPU-2-0) has no more. Ask for at most 15 GiB on a card, or "
	  "spread it over more cards with gpupool.io/slice-cards." },
	{ { SLICE(1, 30) },
	  0,
	  true,
	  SMALL,
	  1,
	  "Pod default/p wants 30 GiB on one card; card 1 (GPU-2-1) of small has 15 GiB. Ask for "
	  "at most 15 GiB on a card, or spread it over more cards with gpupool.io/slice-cards." },
	{ { SLICE(1, 10) },
	  0,
	  true,
	  SMALL,
	  0,
	  "Pod default/p cannot use card 0 (GPU-2-0) of small: it is used without a grant, by "
	  "process 4711 (python3) of user 1000 with 1500 MiB. Stop that process or wait for it to "
	  "end." },
	{ { WHOLE(1), .models = LIST(models_a100) },
	  0,
	  true,
	  SMALL,
	  OF_NODE,
	  "Pod default/p wants a card of model *A100*, small has Tesla T4. Let the Pod take that "
	  "model, or choose another node." },
	{ { WHOLE(1), .models = LIST(models_a100) },
	  0,
	  true,
	  SMALL,
	  0,
	  "Pod default/p wants a card of model *A100*, card 0 (GPU-2-0) of small has Tesla T4. Let "
	  "the Pod take that model, or choose another card." },
	{ { WHOLE(1), .uuids = LIST(uuid_small) },
	  0,
	  true,
	  BUSY,
	  OF_NODE,
	  "Pod default/p wants card GPU-2-1, which is not on busy. Choose another node, or correct "
	  "the UUIDs of the Pod." },
	{ { WHOLE(1), .not_uuids = LIST(uuid_small) },
	  0,
	  true,
	  SMALL,
	  1,
	  "Pod default/p wants card other than GPU-2-1, which card 1 (GPU-2-1) of small is not. "
	  "Choose another card, or correct the UUIDs of the Pod." },
	{ { WHOLE(5) },
	  0,
	  true,
	  SMALL,
	  OF_NODE,
	  "Pod default/p wants 5 cards, and small has 2 of them. Ask for at most 2." },
	{ { WHOLE(1) },
	  0,
	  true,
	  CPU,
	  OF_NODE,
	  "Pod default/p wants 1 card, and cpu has no cards. Add a node with cards." },
	{ { WHOLE(1) },
	  9000,
	  true,
	  SMALL,
	  OF_NODE,
	  "Pod default/p wants 9000 m of CPU, and small has 8000 m. Ask for at most 8000 m." },
	{ { WHOLE(1) },
	  0,
	  true,
	  MIG,
	  0,
	  "Pod default/p wants 1 whole card, and card 0 (GPU-4-0) of mig is in another mode. "
	  "Change its mode; out of MIG, that is nvidia-smi -mig 0." },
	{ { .kind = REQUEST_MIG, .cards = 2, .mig_profile = "3g.40gb" },
	  0,
	  true,
	  BUSY,
	  0,
	  "Pod default/p wants 2 MIG instances of 3g.40gb, and card 0 (GPU-0-0) of busy is in "
	  "another mode. Turn MIG on there with nvidia-smi -mig 1." },
	{ { .kind = REQUEST_MIG, .cards = 2, .mig_profile = "3g.40gb" },
	  0,
	  true,
	  SMALL,
	  0,
	  "Pod default/p wants 2 MIG instances of 3g.40gb, and card 0 (GPU-2-0) of small has no "
	  "such profile: it is a Tesla T4. See nvidia-smi mig -lgip for the profiles of a card." },
	{ { .kind = REQUEST_MIG, .cards = 3, .mig_profile = "3g.40gb" },
	  0,
	  true,
	  MIG,
	  OF_NODE,
	  "Pod default/p wants 3 MIG instances of 3g.40gb; with nothing else running mig has room "
	  "for 2. Ask for fewer or for a smaller profile, or change a fixed layout." },
	{ { SLICE(1, 0) },
	  0,
	  true,
	  BUSY,
	  0,
	  "Pod default/p: a slice of 0 GiB holds nothing. Correct the Pod." },
};

TEST(sentences_of_nodes_and_cards)
{
	autopool *pool = make_test_pool();

	for (size_t i = 0; i < ARRAY_SIZE(sentences); i++) {
		autostrbuf text = STRBUF_INIT(4096);
		struct decision decision;
		struct reason reason = { .code = REASON_NONE };
		struct asked asked;
		int r;

		fill_demand(&sentences[i].request, sentences[i].cpu, false, sentences[i].tolerates,
			    &asked);
		r = sentences[i].card == OF_NODE
			    ? pool_decide_on(pool, sentences[i].node, &asked.demand, &decision,
					     &reason)
			    : pool_explain_card(pool, &asked.demand, sentences[i].node,
						sentences[i].card, &reason);
		assert_int_equal(r, reason_is_for_ever(reason.code) ? -ENOSPC : -EAGAIN);
		assert_int_equal(reason_sentence(&reason, &text), 0);
		assert_string_equal(text.data, sentences[i].sentence);
	}
}

TEST(a_card_that_is_not_there)
{
	const struct request one = { WHOLE(1) }, none = { .kind = REQUEST_NONE };
	autopool *pool = make_test_pool();
	struct reason reason;
	struct asked asked;

	fill_demand(&one, 0, false, false, &asked);
	assert_int_equal(pool_explain_card(pool, &asked.demand, BUSY, 3, &reason), 0);
	assert_int_equal(pool_explain_card(pool, &asked.demand, BUSY, 4, &reason), -EINVAL);
	assert_int_equal(pool_explain_card(pool, &asked.demand, NODES, 0, &reason), -EINVAL);
	fill_demand(&none, 0, false, false, &asked);
	assert_int_equal(pool_explain_card(pool, &asked.demand, BUSY, 0, &reason), -EINVAL);
}

TEST(an_empty_pool)
{
	const struct request one = { WHOLE(1) };
	autopool *pool = pool_new();
	autostrbuf summary = STRBUF_INIT(256);
	struct explanation explanation;
	struct asked asked;

	assert_non_null(pool);
	fill_demand(&one, 0, false, false, &asked);
	assert_int_equal(pool_explain(pool, &asked.demand, &explanation), 0);
	assert_int_equal(explanation.result, -ENOSPC);
	assert_int_equal(explanation.reason.code, REASON_NO_CARDS);
	explanation_summarize(&explanation, &summary);
	assert_string_equal(summary.data, "0/0 nodes fit.");
	explanation_release(&explanation);
}

/* Whoever explains between two decisions does not change the second. */
TEST(nothing_is_drawn)
{
	const struct policy_options options = { .policy = NODE_POLICY_RANDOM, .seed = 3 };
	const struct request one = { WHOLE(1) };
	unsigned chosen[2][8];

	for (unsigned run = 0; run < 2; run++) {
		autopool *pool = make_test_pool();
		struct asked asked;

		assert_int_equal(pool_set_policy(pool, &options), 0);
		fill_demand(&one, 0, false, true, &asked);
		for (unsigned i = 0; i < ARRAY_SIZE(chosen[0]); i++) {
			struct explanation explanation;
			struct decision decision;

			if (run == 1) {
				assert_int_equal(pool_explain(pool, &asked.demand, &explanation),
						 0);
				assert_int_equal(explanation.alike, 3);
				chosen[1][i] = explanation.decision.node;
				assert_int_equal(explanation.nodes[chosen[1][i]].rank, 1);
				explanation_release(&explanation);
			}
			assert_int_equal(pool_decide(pool, &asked.demand, &decision, NULL), 0);
			assert_true(run == 0 || decision.node == chosen[1][i]);
			chosen[run][i] = decision.node;
		}
	}
	assert_memory_equal(chosen[0], chosen[1], sizeof(chosen[0]));
}

TEST(without_memory)
{
	const struct request one = { WHOLE(1) };
	autopool *pool = make_test_pool();
	struct asked asked;

	fill_demand(&one, 0, false, true, &asked);
	for (unsigned n = 0;; n++) {
		struct explanation explanation;

		fault_arm(n);
		int r = pool_explain(pool, &asked.demand, &explanation);
		bool failed = fault_disarm();

		if (r == 0) /* an index or a text may be missing */
			explanation_release(&explanation);
		else
			assert_int_equal(r, -ENOMEM);
		if (!failed)
			break;
	}
}
