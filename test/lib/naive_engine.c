/* SPDX-License-Identifier: Apache-2.0 */
#include "naive_engine.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "naive_card.h"

/* ---- the book ---- */

void naive_book_release(struct naive_book *book)
{
	for (size_t i = 0; i < book->held_count; i++)
		free(book->held[i].cards);
	free(book->held);
	*book = (struct naive_book){ 0 };
}

void naive_book_add(struct naive_book *book, const struct naive_held *held)
{
	struct naive_held *place = VEC_ADD(&book->held, &book->held_count, &book->held_capacity);

	if (!place)
		abort();
	*place = *held;
}

void naive_book_remove(struct naive_book *book, size_t at)
{
	free(book->held[at].cards);
	book->held[at] = book->held[--book->held_count];
}

static const struct card *card_at(const struct naive_book *book, unsigned node, unsigned card)
{
	return &book->nodes[node].inventory.cards[card];
}

void naive_card_of(const struct naive_book *book, unsigned node, unsigned card,
		   struct naive_card *ret)
{
	*ret = (struct naive_card){ 0 };
	for (size_t i = 0; i < book->held_count; i++) {
		const struct naive_held *held = &book->held[i];

		for (size_t k = 0; k < held->count && held->node == node; k++) {
			if (held->cards[k].card != card)
				continue;
			ret->holders++;
			ret->whole += held->kind == REQUEST_WHOLE;
			ret->units += held->cards[k].units;
			ret->compute += held->compute;
		}
	}
}

struct resources naive_used(const struct naive_book *book, unsigned node)
{
	struct resources used = { 0 };

	for (size_t i = 0; i < book->held_count; i++) {
		if (book->held[i].node != node)
			continue;
		used.cpu_milli += book->held[i].needs.cpu_milli;
		used.memory_mib += book->held[i].needs.memory_mib;
		used.pods += book->held[i].needs.pods;
	}
	return used;
}

static unsigned gib(const struct card *card)
{
	return (unsigned)(card->memory_bytes >> 30);
}

unsigned naive_left_milli(const struct naive_book *book, unsigned node, unsigned card)
{
	const struct card *of = card_at(book, node, card);
	struct naive_card state;
	unsigned left;

	naive_card_of(book, node, card, &state);
	if (state.whole)
		return 0;
	left = gib(of) ? 1000 * (gib(of) - state.units) / gib(of) : state.holders ? 0 : 1000;
	if (state.compute && 10 * (100 - state.compute) < left)
		left = 10 * (100 - state.compute);
	return left;
}

/* ---- cards ---- */

static unsigned share(const struct request *request, const struct card *card)
{
	if (request->units || request->kind != REQUEST_SLICE)
		return request->units;
	unsigned part = gib(card) * request->memory_percent / 100;

	return part > 0 ? part : 1;
}

void naive_part(const struct naive_book *book, unsigned node, unsigned card,
		const struct request *request, unsigned *ret_units, uint64_t *ret_mib)
{
	const struct card *of = card_at(book, node, card);

	if (request->kind == REQUEST_WHOLE) {
		*ret_units = gib(of);
		*ret_mib = of->memory_bytes >> 20;
		return;
	}
	*ret_units = share(request, of);
	*ret_mib = request->memory_mib ? request->memory_mib : 1024ull * *ret_units;
}

static bool right_mode(const struct request *request, const struct card *card)
{
	if (request->kind == REQUEST_WHOLE)
		return card->mode == CARD_MODE_WHOLE || card->mode == CARD_MODE_AUTO;
	if (request->kind == REQUEST_SLICE)
		return card->mode == CARD_MODE_SLICES || card->mode == CARD_MODE_AUTO;
	return false;
}

/* ---- one card for one request ---- */

struct card_look {
	enum naive_step step; /* the first that it fails; node steps pass */
	int64_t wants, size, units, room, compute;
};

static void look_at_card(const struct naive_book *book, unsigned node, unsigned position,
			 const struct request *request, struct card_look *ret)
{
	const struct card *card = card_at(book, node, position);
	bool slice = request->kind == REQUEST_SLICE;
	bool passed[NAIVE_FITS];
	struct naive_card state;

	naive_card_of(book, node, position, &state);
	*ret = (struct card_look){ .units = gib(card), .wants = slice ? share(request, card) : 0 };
	ret->size = !gib(card) && card->condition.health != CARD_HEALTHY ? UINT_MAX : gib(card);
	ret->room = state.whole ? 0 : ret->units - state.units;
	ret->compute = state.whole ? 0 : 100 - (int64_t)state.compute;
	for (unsigned i = 0; i < NAIVE_FITS; i++)
		passed[i] = true;
	passed[NAIVE_IDENTITY] =
		naive_right_model(request, card) && naive_right_uuid(request, card);
	passed[NAIVE_OFFERED] = slice || request->kind == REQUEST_WHOLE;
	passed[NAIVE_SIZE] = ret->size >= ret->wants;
	passed[NAIVE_HEALTH] = card->condition.health == CARD_HEALTHY;
	passed[NAIVE_MODE] = right_mode(request, card);
	passed[NAIVE_FOREIGN] = !naive_is_foreign(card);
	passed[NAIVE_ROOM] = slice ? ret->room >= ret->wants : state.holders == 0;
	passed[NAIVE_COMPUTE] = !slice || ret->compute >= (int64_t)request->compute_percent;
	while (ret->step < NAIVE_FITS && passed[ret->step])
		ret->step++;
}

/* ---- a node ---- */

static int64_t minus(int64_t all, int64_t used)
{
	return all == RESOURCE_UNLIMITED ? RESOURCE_UNLIMITED : all - used;
}

/* What one of the steps that look at the node itself says; true: passed. */
static bool node_step(const struct naive_book *book, unsigned node, const struct demand *demand,
		      enum naive_step step, struct naive_verdict *ret)
{
	const struct node_spec *spec = &book->nodes[node];
	struct resources all = spec->allocatable, used = naive_used(book, node);
	struct node_spec bare = *spec;
	const struct {
		int64_t wanted, have, total;
		enum reason_code code;
	} sums[NAIVE_FITS] = {
		[NAIVE_NODE_CPU] = { demand->needs.cpu_milli, all.cpu_milli, all.cpu_milli,
				     REASON_NODE_CPU },
		[NAIVE_NODE_MEMORY] = { demand->needs.memory_mib, all.memory_mib, all.memory_mib,
					REASON_NODE_MEMORY },
		[NAIVE_PODS] = { demand->needs.pods, minus(all.pods, used.pods), all.pods,
				 REASON_PODS_BUSY },
		[NAIVE_CPU] = { demand->needs.cpu_milli, minus(all.cpu_milli, used.cpu_milli),
				all.cpu_milli, REASON_CPU_BUSY },
		[NAIVE_MEMORY] = { demand->needs.memory_mib, minus(all.memory_mib, used.memory_mib),
				   all.memory_mib, REASON_HOST_MEMORY_BUSY },
	};

	bare.taint_count = 0;
	bare.unschedulable = false;
	if (step == NAIVE_AFFINITY) {
		ret->code = REASON_AFFINITY;
		ret->total = (int64_t)book->node_count;
		return demand_selects(demand, &bare);
	}
	if (step == NAIVE_TAINT) {
		ret->code = REASON_TAINT;
		return !demand_untolerated(demand, spec);
	}
	if (!sums[step].code)
		return true;
	ret->code = sums[step].code;
	ret->wanted = sums[step].wanted;
	ret->have = ret->nearness = sums[step].have;
	ret->total = sums[step].total;
	return sums[step].wanted <= sums[step].have;
}

/* The WANTED-th least miss among the cards that reached STEP. */
static void nth_miss(const struct card_look *cards, size_t count, enum naive_step step,
		     const struct request *request, struct naive_verdict *ret)
{
	bool taken[NAIVE_CARDS] = { false };

	for (unsigned round = 0; round < request->cards; round++) {
		size_t best = count;
		int64_t least = 0;

		for (size_t i = 0; i < count; i++) {
			bool compute = step == NAIVE_COMPUTE;
			int64_t have = step == NAIVE_SIZE   ? cards[i].size
				       : step == NAIVE_ROOM ? cards[i].room
							    : cards[i].compute;
			int64_t wants = compute ? request->compute_percent : cards[i].wants;

			if (cards[i].step < step || taken[i] ||
			    (best < count && wants - have >= least))
				continue;
			best = i;
			least = wants - have;
			ret->wanted = wants;
			ret->have = have;
			ret->total = compute ? 100 : cards[i].units;
		}
		if (best == count)
			return;
		taken[best] = true;
		ret->nearness = -least;
	}
}

static bool any_lost(const struct naive_book *book, unsigned node, const struct card_look *cards)
{
	const struct inventory *inventory = &book->nodes[node].inventory;

	for (size_t i = 0; i < inventory->card_count; i++)
		if (cards[i].step == NAIVE_HEALTH &&
		    inventory->cards[i].condition.health == CARD_LOST)
			return true;
	return false;
}

static enum reason_code code_of(enum naive_step step, enum request_kind kind)
{
	static const enum reason_code codes[NAIVE_FITS] = {
		[NAIVE_IDENTITY] = REASON_NO_MODEL,    [NAIVE_OFFERED] = REASON_NOT_OFFERED,
		[NAIVE_COUNT] = REASON_NODE_CARDS,     [NAIVE_SIZE] = REASON_CARD_MEMORY,
		[NAIVE_HEALTH] = REASON_CARD_SUSPECT,  [NAIVE_MODE] = REASON_WRONG_MODE,
		[NAIVE_FOREIGN] = REASON_FOREIGN_USE,  [NAIVE_ROOM] = REASON_CARDS_BUSY,
		[NAIVE_COMPUTE] = REASON_COMPUTE_BUSY,
	};

	if (step == NAIVE_ROOM && kind == REQUEST_SLICE)
		return REASON_MEMORY_BUSY;
	return codes[step];
}

static int64_t supply(const struct card_look *cards, size_t count, enum naive_step step)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += cards[i].step > step;
	return sum;
}

static bool card_step(const struct naive_book *book, unsigned node, const struct request *request,
		      const struct card_look *cards, enum naive_step step,
		      struct naive_verdict *ret)
{
	size_t count = book->nodes[node].inventory.card_count;
	int64_t have = supply(cards, count, step);
	bool slice = request->kind == REQUEST_SLICE;

	if (step <= NAIVE_OFFERED ? have > 0 : have >= (int64_t)request->cards)
		return true;
	ret->code = code_of(step, request->kind);
	ret->wanted = request->cards;
	ret->have = have;
	ret->total = step == NAIVE_COUNT ? have : (int64_t)count;
	ret->nearness = step <= NAIVE_OFFERED ? 0 : have;
	if (step == NAIVE_HEALTH && any_lost(book, node, cards))
		ret->code = REASON_CARD_LOST;
	if (slice && (step == NAIVE_SIZE || step == NAIVE_ROOM || step == NAIVE_COMPUTE))
		nth_miss(cards, count, step, request, ret);
	return false;
}

static bool is_node_step(enum naive_step step)
{
	return step == NAIVE_AFFINITY || step == NAIVE_NODE_CPU || step == NAIVE_NODE_MEMORY ||
	       step == NAIVE_TAINT || step >= NAIVE_CPU;
}

void naive_look(const struct naive_book *book, unsigned node, const struct demand *demand,
		struct naive_verdict *ret)
{
	const struct request *request = demand->request_count ? &demand->requests[0] : NULL;
	size_t count = book->nodes[node].inventory.card_count;
	struct card_look cards[NAIVE_CARDS];

	for (unsigned i = 0; request && i < count; i++)
		look_at_card(book, node, i, request, &cards[i]);
	for (enum naive_step step = 0; step < NAIVE_FITS; step++) {
		*ret = (struct naive_verdict){ .step = step };
		if (is_node_step(step)
			    ? !node_step(book, node, demand, step, ret)
			    : request && !card_step(book, node, request, cards, step, ret))
			return;
	}
	*ret = (struct naive_verdict){ .step = NAIVE_FITS };
	for (unsigned i = 0; request && i < count; i++)
		if (cards[i].step == NAIVE_FITS)
			ret->fits |= 1ull << i;
}

/* ---- the pool ---- */

/* No card has both the model and the UUID. */
static void judge_names(const struct naive_book *book, const struct demand *demand,
			struct naive_verdict *ret)
{
	const struct request *request = &demand->requests[0];
	bool model = false, uuid = false;
	int64_t cards = 0;

	for (size_t i = 0; i < book->node_count; i++) {
		for (size_t j = 0; j < book->nodes[i].inventory.card_count; j++) {
			const struct card *card = &book->nodes[i].inventory.cards[j];

			cards++;
			model = model || naive_right_model(request, card);
			uuid = uuid || naive_lists(&request->uuids, card->uuid);
		}
	}
	ret->wanted = request->cards;
	ret->have = 0;
	ret->total = cards;
	ret->code = cards == 0                      ? REASON_NO_CARDS
		    : !model                        ? REASON_NO_MODEL
		    : request->uuids.count && !uuid ? REASON_NO_UUID
						    : REASON_BAD_REQUEST;
}

int naive_judge(const struct naive_book *book, const struct demand *demand,
		struct naive_verdict *ret)
{
	*ret = (struct naive_verdict){ 0 };
	for (unsigned i = 0; i < book->node_count; i++) {
		struct naive_verdict verdict;

		naive_look(book, i, demand, &verdict);
		if (ret->code == REASON_NONE || verdict.step > ret->step ||
		    (verdict.step == ret->step && verdict.nearness > ret->nearness))
			*ret = verdict;
		if (ret->step == NAIVE_FITS)
			return 0;
	}
	if (ret->step == NAIVE_IDENTITY)
		judge_names(book, demand, ret);
	return reason_is_for_ever(ret->code) ? -ENOSPC : -EAGAIN;
}

/* ---- of its own ---- */

static enum reason_code name_code(const struct request *request, const struct card *card)
{
	return naive_right_model(request, card) ? REASON_NO_UUID : REASON_NO_MODEL;
}

void naive_look_at_card(const struct naive_book *book, unsigned node, unsigned card,
			const struct demand *demand, struct naive_verdict *ret)
{
	const struct request *request = &demand->requests[0];
	const struct card *of = card_at(book, node, card);
	struct card_look look;

	look_at_card(book, node, card, request, &look);
	*ret = (struct naive_verdict){ .step = look.step };
	if (look.step == NAIVE_FITS)
		return;
	ret->code = code_of(look.step, request->kind);
	if (look.step == NAIVE_IDENTITY)
		ret->code = name_code(request, of);
	if (look.step == NAIVE_HEALTH && of->condition.health == CARD_LOST)
		ret->code = REASON_CARD_LOST;
	ret->wanted = look.step == NAIVE_COMPUTE ? request->compute_percent : look.wants;
	ret->total = look.step == NAIVE_COMPUTE ? 100 : look.units;
	ret->have = look.step == NAIVE_SIZE   ? look.size
		    : look.step == NAIVE_ROOM ? look.room
					      : look.compute;
}

enum reason_code naive_node_code(const struct naive_book *book, unsigned node,
				 const struct demand *demand)
{
	const struct inventory *inventory = &book->nodes[node].inventory;
	enum reason_code code = REASON_NO_MODEL;
	struct naive_verdict verdict;

	naive_look(book, node, demand, &verdict);
	if (verdict.step != NAIVE_IDENTITY)
		return verdict.step == NAIVE_FITS ? REASON_NONE : verdict.code;
	if (inventory->card_count == 0)
		return REASON_NO_CARDS;
	for (size_t i = 0; i < inventory->card_count; i++)
		if (name_code(&demand->requests[0], &inventory->cards[i]) == REASON_NO_UUID)
			code = REASON_NO_UUID;
	return code;
}

/* ---- for the policies ---- */

static unsigned model_of(const char *const *models, size_t count, const struct card *card)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(models[i], card->model) == 0)
			return (unsigned)i;
	abort();
}

static unsigned milli_of(const struct request *request, const struct card *card)
{
	unsigned memory;

	if (!naive_right_model(request, card))
		return 0;
	if (request->kind == REQUEST_WHOLE || !gib(card))
		return 1000;
	memory = (1000 * share(request, card) + gib(card) - 1) / gib(card);
	return memory > 10 * request->compute_percent ? memory : 10 * request->compute_percent;
}

static void describe_holders(const struct naive_book *book, unsigned node, struct naive_node *ret)
{
	for (size_t i = 0; i < book->held_count; i++) {
		const struct naive_held *held = &book->held[i];

		if (held->node != node || held->count == 0)
			continue;
		if (held->kind == REQUEST_WHOLE)
			ret->wholes[held->count] = true;
		else
			ret->shares = true;
	}
}

void naive_describe(const struct naive_book *book, unsigned node, const struct demand *demand,
		    const char *const *models, size_t model_count, struct naive_node *ret_node,
		    struct naive_ask *ret_ask)
{
	static const unsigned strengths[LINK_KIND_MAX] = { 100, 50, 40, 30, 20, 10 };
	const struct node_spec *spec = &book->nodes[node];
	struct resources used = naive_used(book, node);

	*ret_node = (struct naive_node){ .count = (unsigned)spec->inventory.card_count,
					 .links_known = true };
	*ret_ask = (struct naive_ask){ .cpu = demand->needs.cpu_milli };
	ret_node->cpu_left = minus(spec->allocatable.cpu_milli, used.cpu_milli);
	for (unsigned i = 0; i < ret_node->count; i++) {
		const struct card *card = &spec->inventory.cards[i];

		ret_node->left[i] = naive_left_milli(book, node, i);
		ret_node->model[i] = model_of(models, model_count, card);
		for (size_t k = 0; k < card->link_count; k++) {
			const struct card_link *link = &card->links[k];
			unsigned lanes = link->kind == LINK_NVLINK ? link->lanes : 0;

			ret_node->tie[i][link->peer] = strengths[link->kind] + lanes;
		}
	}
	describe_holders(book, node, ret_node);
	if (demand->request_count == 0)
		return;
	ret_ask->cards = demand->requests[0].cards;
	ret_ask->whole = demand->requests[0].kind == REQUEST_WHOLE;
	for (unsigned i = 0; i < ret_node->count; i++)
		ret_ask->milli[ret_node->model[i]] =
			milli_of(&demand->requests[0], &spec->inventory.cards[i]);
}

/* ---- I1 ---- */

const char *naive_book_excess(const struct naive_book *book, char *text, size_t size)
{
	for (unsigned i = 0; i < book->node_count; i++) {
		const struct resources all = book->nodes[i].allocatable;
		struct resources used = naive_used(book, i);

		if (used.cpu_milli > all.cpu_milli || used.memory_mib > all.memory_mib ||
		    used.pods > all.pods) {
			reason_text(text, size, "CPU, memory or Pods of node %u", i);
			return text;
		}
		for (unsigned k = 0; k < book->nodes[i].inventory.card_count; k++) {
			struct naive_card card;

			naive_card_of(book, i, k, &card);
			if (card.whole <= 1 && (card.whole == 0 || card.holders == 1) &&
			    card.units <= gib(card_at(book, i, k)) && card.compute <= 100)
				continue;
			reason_text(text, size, "card %u of node %u: %u holders, %u whole, %u GiB",
				    k, i, card.holders, card.whole, card.units);
			return text;
		}
	}
	return NULL;
}
