/* SPDX-License-Identifier: Apache-2.0 */
/* A standing to a reason: the object, the numbers, and whether waiting helps. */
#include "internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int answer(const struct reason *reason)
{
	return reason_is_for_ever(reason->code) ? -ENOSPC : -EAGAIN;
}

static void add_list(struct strbuf *out, const struct string_list *list, const char *between)
{
	for (size_t i = 0; i < list->count; i++)
		strbuf_addf(out, "%s%s", i ? between : "", list->items[i]);
}

static void add_wish(struct strbuf *out, const struct request *request)
{
	add_list(out, &request->models, " or ");
	if (request->models.count && request->not_models.count)
		strbuf_adds(out, ", but ");
	if (request->not_models.count)
		strbuf_adds(out, "not ");
	add_list(out, &request->not_models, " or ");
}

/* " of model A100*, of those that it names by UUID": the conditions under which cards counted. */
static void add_conditions(struct strbuf *out, const struct request *request)
{
	if (request->models.count || request->not_models.count) {
		strbuf_adds(out, " of model ");
		add_wish(out, request);
	}
	if (request->uuids.count || request->not_uuids.count)
		strbuf_adds(out, " among those that its UUIDs allow");
}

/* Lists may be longer than a reason: what was gathered is cut by reason_text(). */
static void set_text(char *to, size_t size, struct strbuf *text)
{
	reason_text(to, size, "%s", text->data);
}

/* The models of the pool, of the node or of the card, whichever the reason is about. */
static void set_models(const struct pool *pool, const struct standing *standing,
		       struct reason *reason)
{
	const struct node *node = &pool->nodes[standing->node];
	autostrbuf text = STRBUF_INIT(8 * REASON_TEXT_MAX);
	struct model_set models = { { 0 } };

	if (reason->scope == REASON_SCOPE_POOL)
		memset(&models, 0xff, sizeof(models));
	else if (reason->scope == REASON_SCOPE_CARD)
		model_set_add(&models, node_slot(pool, node, standing->card)->model);
	for (unsigned i = 0; reason->scope == REASON_SCOPE_NODE && i < node->count; i++)
		model_set_add(&models, node_slot(pool, node, i)->model);
	for (unsigned i = 0; i < pool->model_count; i++)
		if (model_set_has(&models, i))
			strbuf_addf(&text, "%s%s", text.length ? ", " : "", pool->models[i]);
	set_text(reason->model, sizeof(reason->model), &text);
}

static void set_card(const struct pool *pool, const struct standing *standing,
		     struct reason *reason)
{
	const struct node *node = &pool->nodes[standing->node];
	const struct card *card;

	if (standing->card >= node->count)
		return;
	card = &node->cards[standing->card];
	card_describe(card, reason->card);
}

struct refusal {
	const struct pool *pool;
	const struct query *query;
	const struct standing *standing;
};

/* NODE has no cards; why? */
static enum reason_code no_cards_on(const struct node *node, struct reason *reason)
{
	reason_text(reason->node, sizeof(reason->node), "%s", node->name);
	if (!node->problem)
		return REASON_NO_CARDS;
	reason_text(reason->detail, sizeof(reason->detail), "%s", node->problem);
	return node->versions_differ ? REASON_DRIVER_MISMATCH : REASON_NO_DRIVER;
}

static enum reason_code no_cards_at_all(const struct refusal *refusal, struct reason *reason)
{
	const struct pool *pool = refusal->pool;

	for (size_t i = 0; i < pool->node_count; i++)
		if (pool->nodes[i].problem)
			return no_cards_on(&pool->nodes[i], reason);
	if (pool->node_count != 1)
		return REASON_NO_CARDS;
	reason->scope = REASON_SCOPE_NODE;
	return no_cards_on(&pool->nodes[0], reason);
}

static enum reason_code wrong_model(const struct refusal *refusal, struct reason *reason)
{
	autostrbuf text = STRBUF_INIT(8 * REASON_TEXT_MAX);

	add_wish(&text, refusal->query->request);
	set_text(reason->detail, sizeof(reason->detail), &text);
	return REASON_NO_MODEL;
}

static enum reason_code wrong_uuid(const struct refusal *refusal, struct reason *reason)
{
	const struct query *query = refusal->query;
	autostrbuf text = STRBUF_INIT(8 * REASON_TEXT_MAX);

	if (!query->by_name)
		strbuf_adds(&text, "other than ");
	add_list(&text, query->by_name ? &query->request->uuids : &query->request->not_uuids,
		 " or ");
	set_text(reason->detail, sizeof(reason->detail), &text);
	return REASON_NO_UUID;
}

/* One node, or one card of it. */
static enum reason_code at_identity_of(const struct refusal *refusal, struct reason *reason)
{
	const struct pool *pool = refusal->pool;
	const struct node *node = &pool->nodes[refusal->standing->node];
	bool card = reason->scope == REASON_SCOPE_CARD;

	if (node->count == 0)
		return no_cards_on(node, reason);
	reason->total = card ? 1 : node->count;
	set_models(pool, refusal->standing, reason);
	for (unsigned i = 0; i < node->count; i++)
		if ((!card || i == refusal->standing->card) &&
		    model_set_has(&refusal->query->models, node_slot(pool, node, i)->model))
			return wrong_uuid(refusal, reason);
	return wrong_model(refusal, reason);
}

static enum reason_code at_identity(const struct refusal *refusal, struct reason *reason)
{
	const struct pool *pool = refusal->pool;
	const struct query *query = refusal->query;
	autostrbuf text = STRBUF_INIT(8 * REASON_TEXT_MAX);

	if (reason->scope != REASON_SCOPE_POOL)
		return at_identity_of(refusal, reason);
	if (pool->slot_count == 0)
		return no_cards_at_all(refusal, reason);
	reason->total = (int64_t)pool->slot_count;
	set_models(pool, refusal->standing, reason);
	if (!query_any_model(query))
		return wrong_model(refusal, reason);
	if (query->by_name && query->named_count == 0)
		return wrong_uuid(refusal, reason);
	strbuf_adds(&text, "no card of the pool is");
	add_conditions(&text, query->request);
	set_text(reason->detail, sizeof(reason->detail), &text);
	return REASON_BAD_REQUEST;
}

static bool is_mig(const struct refusal *refusal)
{
	return refusal->query->request->kind == REQUEST_MIG;
}

/* "2 MIG instances of 1g.10gb", for the pool: "..., and no card of model *A30* where it may run" */
static enum reason_code at_profile(const struct refusal *refusal, struct reason *reason)
{
	autostrbuf text = STRBUF_INIT(8 * REASON_TEXT_MAX);

	if (request_describe(refusal->query->request, &text) < 0)
		strbuf_reset(&text);
	if (reason->scope == REASON_SCOPE_POOL)
		strbuf_adds(&text, ", and no card");
	add_conditions(&text, refusal->query->request);
	if (reason->scope == REASON_SCOPE_POOL)
		strbuf_adds(&text, " where it may run");
	set_text(reason->detail, sizeof(reason->detail), &text);
	set_models(refusal->pool, refusal->standing, reason);
	return REASON_MIG_PROFILE;
}

static enum reason_code at_matching(const struct refusal *refusal, struct reason *reason)
{
	autostrbuf text = STRBUF_INIT(8 * REASON_TEXT_MAX);

	if (is_mig(refusal))
		return at_profile(refusal, reason);
	add_conditions(&text, refusal->query->request);
	set_text(reason->detail, sizeof(reason->detail), &text);
	return REASON_NODE_CARDS;
}

/* "one card", "each of 2 cards", "one card of model A100* (50 % of it)" */
static void set_share(const struct refusal *refusal, struct reason *reason)
{
	const struct request *request = refusal->query->request;
	autostrbuf text = STRBUF_INIT(8 * REASON_TEXT_MAX);

	if (request->cards == 1)
		strbuf_adds(&text, "one card");
	else
		strbuf_addf(&text, "each of %u cards", request->cards);
	add_conditions(&text, request);
	if (request->units == 0)
		strbuf_addf(&text, " (%u %% of it)", request->memory_percent);
	set_text(reason->detail, sizeof(reason->detail), &text);
}

/* "2 whole cards", "a slice of 12 GiB", "3 MIG instances of 1g.10gb of model *A100*" */
static void set_wish(const struct refusal *refusal, struct reason *reason)
{
	autostrbuf text = STRBUF_INIT(8 * REASON_TEXT_MAX);

	if (request_describe(refusal->query->request, &text) < 0)
		strbuf_reset(&text);
	if (is_mig(refusal))
		add_conditions(&text, refusal->query->request);
	set_text(reason->detail, sizeof(reason->detail), &text);
}

static enum reason_code at_size(const struct refusal *refusal, struct reason *reason)
{
	if (is_mig(refusal)) {
		set_wish(refusal, reason);
		return REASON_MIG_COUNT;
	}
	set_share(refusal, reason);
	return REASON_CARD_MEMORY;
}

static enum reason_code at_health(const struct refusal *refusal, struct reason *reason)
{
	const struct standing *standing = refusal->standing;
	const struct node *node = &refusal->pool->nodes[standing->node];
	const struct card_condition *condition = &node->cards[standing->card].condition;

	reason_text(reason->detail, sizeof(reason->detail), "%s",
		    condition->cause[0] ? condition->cause : "its probe gave no cause");
	return condition->health == CARD_LOST ? REASON_CARD_LOST : REASON_CARD_SUSPECT;
}

static enum reason_code at_mode(const struct refusal *refusal, struct reason *reason)
{
	set_wish(refusal, reason);
	return is_mig(refusal) ? REASON_NOT_MIG : REASON_WRONG_MODE;
}

static enum reason_code at_foreign(const struct refusal *refusal, struct reason *reason)
{
	const struct standing *standing = refusal->standing;
	const struct card *card = &refusal->pool->nodes[standing->node].cards[standing->card];

	for (size_t i = 0; i < card->process_count; i++) {
		const struct card_process *process = &card->processes[i];
		char user[32] = "unknown";

		if (process->granted)
			continue;
		if (process->uid != UINT32_MAX)
			reason_text(user, sizeof(user), "%u", process->uid);
		reason_text(reason->detail, sizeof(reason->detail),
			    "by process %ld (%s) of user %s with %llu MiB", (long)process->pid,
			    process->name[0] ? process->name : "name unknown", user,
			    (unsigned long long)process->used_mib);
		break;
	}
	return REASON_FOREIGN_USE;
}

static enum reason_code at_offered(const struct refusal *refusal, struct reason *reason)
{
	set_wish(refusal, reason);
	return REASON_NOT_OFFERED;
}

/* What an instance takes on the card that is named: " (4 memory slices from 0 or 4, 3 compute
 * slices)", or " (2 in the fixed layout there)". */
static void add_places(const struct refusal *refusal, struct strbuf *out)
{
	const struct pool *pool = refusal->pool;
	const struct node *node = &pool->nodes[refusal->standing->node];
	const struct mig_card *card = &node->mig[refusal->standing->card];
	const struct mig_profile *profile =
		mig_profile_of(pool, node_slot(pool, node, refusal->standing->card),
			       refusal->query->request->mig_profile);
	unsigned same = 0;

	if (!profile)
		return;
	for (unsigned i = 0; i < card->layout_count; i++)
		same += card->layout[i].profile == profile;
	if (card->layout_count) {
		strbuf_addf(out, " (%u in the fixed layout there)", same);
		return;
	}
	strbuf_addf(out, " (%u memory slice%s from ", profile->size, profile->size == 1 ? "" : "s");
	for (unsigned i = 0; i < profile->start_count; i++)
		strbuf_addf(out, "%s%u",
			    i == 0                          ? ""
			    : i + 1 == profile->start_count ? " or "
							    : ", ",
			    profile->starts[i]);
	strbuf_addf(out, ", %u compute slice%s", profile->compute,
		    profile->compute == 1 ? "" : "s");
	if (profile->decoders + profile->ofa)
		strbuf_addf(out, ", %u media engine%s", profile->decoders + profile->ofa,
			    profile->decoders + profile->ofa == 1 ? "" : "s");
	strbuf_adds(out, ")");
}

static enum reason_code at_places(const struct refusal *refusal, struct reason *reason)
{
	autostrbuf text = STRBUF_INIT(8 * REASON_TEXT_MAX);

	if (request_describe(refusal->query->request, &text) < 0)
		strbuf_reset(&text);
	add_conditions(&text, refusal->query->request);
	add_places(refusal, &text);
	set_text(reason->detail, sizeof(reason->detail), &text);
	return REASON_MIG_BUSY;
}

/* "a Pod holds it whole", "3 slices hold 24 of its 80 GiB" */
static void set_holders(const struct refusal *refusal, struct reason *reason)
{
	const struct standing *standing = refusal->standing;
	const struct slot *slot =
		node_slot(refusal->pool, &refusal->pool->nodes[standing->node], standing->card);

	if (slot->held_whole)
		reason_text(reason->detail, sizeof(reason->detail), "a Pod holds it whole");
	else
		reason_text(reason->detail, sizeof(reason->detail), "%u slice%s %u of its %u GiB",
			    slot->slices, slot->slices == 1 ? " holds" : "s hold", slot->granted,
			    slot->units);
}

static enum reason_code at_free(const struct refusal *refusal, struct reason *reason)
{
	if (is_mig(refusal))
		return at_places(refusal, reason);
	if (refusal->query->request->kind != REQUEST_SLICE) {
		if (reason->scope == REASON_SCOPE_CARD)
			set_holders(refusal, reason);
		return REASON_CARDS_BUSY;
	}
	set_share(refusal, reason);
	return REASON_MEMORY_BUSY;
}

static enum reason_code at_compute(const struct refusal *refusal, struct reason *reason)
{
	set_share(refusal, reason);
	return REASON_COMPUTE_BUSY;
}

/* "pool=a, zone in (x, y)": what the labels should have been. */
static void add_selector(struct strbuf *out, const struct demand *demand)
{
	for (size_t i = 0; i < demand->selector_count; i++)
		strbuf_addf(out, "%s%s=%s", i ? ", " : "", demand->selector[i].key,
			    demand->selector[i].value);
	if (demand->term_count)
		strbuf_adds(out, demand->selector_count ? " and its node affinity"
							: "the labels of its node affinity");
}

static enum reason_code at_affinity(const struct refusal *refusal, struct reason *reason)
{
	const struct query *query = refusal->query;
	autostrbuf text = STRBUF_INIT(8 * REASON_TEXT_MAX);

	add_selector(&text, query->demand);
	if (reason->scope == REASON_SCOPE_POOL && query->request) {
		strbuf_adds(&text, " and cards");
		add_conditions(&text, query->request);
	}
	set_text(reason->detail, sizeof(reason->detail), &text);
	return REASON_AFFINITY;
}

static enum reason_code at_taint(const struct refusal *refusal, struct reason *reason)
{
	const struct node *node = &refusal->pool->nodes[refusal->standing->node];
	const struct taint *taint = demand_untolerated(refusal->query->demand, &node->labels);

	if (taint)
		reason_text(reason->detail, sizeof(reason->detail), "%s%s%s:%s%s", taint->key,
			    taint->value ? "=" : "", taint->value ? taint->value : "",
			    taint_effect_to_string(taint->effect),
			    node->labels.unschedulable ? ", and is cordoned" : "");
	return REASON_TAINT;
}

static enum reason_code at_node_cpu(const struct refusal *refusal, struct reason *reason)
{
	(void)refusal, (void)reason;
	return REASON_NODE_CPU;
}

static enum reason_code at_node_memory(const struct refusal *refusal, struct reason *reason)
{
	(void)refusal, (void)reason;
	return REASON_NODE_MEMORY;
}

static enum reason_code at_cpu(const struct refusal *refusal, struct reason *reason)
{
	(void)refusal, (void)reason;
	return REASON_CPU_BUSY;
}

static enum reason_code at_memory(const struct refusal *refusal, struct reason *reason)
{
	(void)refusal, (void)reason;
	return REASON_HOST_MEMORY_BUSY;
}

static enum reason_code at_pods(const struct refusal *refusal, struct reason *reason)
{
	(void)refusal, (void)reason;
	return REASON_PODS_BUSY;
}

static enum reason_code (*const refusals[DEPTH_FITS])(const struct refusal *, struct reason *) = {
	[DEPTH_IDENTITY] = at_identity,
	[DEPTH_OFFERED] = at_offered,
	[DEPTH_MATCHING] = at_matching,
	[DEPTH_SIZE] = at_size,
	[DEPTH_HEALTH] = at_health,
	[DEPTH_MODE] = at_mode,
	[DEPTH_FOREIGN] = at_foreign,
	[DEPTH_FREE] = at_free,
	[DEPTH_COMPUTE] = at_compute,
	[DEPTH_AFFINITY] = at_affinity,
	[DEPTH_TAINT] = at_taint,
	[DEPTH_NODE_CPU] = at_node_cpu,
	[DEPTH_NODE_MEMORY] = at_node_memory,
	[DEPTH_CPU] = at_cpu,
	[DEPTH_MEMORY] = at_memory,
	[DEPTH_PODS] = at_pods,
};

int refuse_standing(const struct pool *pool, const struct query *query,
		    const struct standing *standing, enum reason_scope scope,
		    struct reason *ret_reason)
{
	const struct refusal refusal = { pool, query, standing };

	if (scope == REASON_SCOPE_POOL && pool->node_count == 1 && standing->depth > DEPTH_IDENTITY)
		scope = REASON_SCOPE_NODE;

	assert(standing->depth < DEPTH_FITS); /* else it would have been placed */
	*ret_reason = (struct reason){ .scope = scope,
				       .wanted = standing->wanted,
				       .have = standing->have,
				       .total = standing->total };
	if (query->request && query->request->kind == REQUEST_MIG)
		ret_reason->unit = "MIG instance";
	reason_text(ret_reason->object, sizeof(ret_reason->object), "%s", query->object);
	if (standing->depth > DEPTH_IDENTITY || scope != REASON_SCOPE_POOL)
		reason_text(ret_reason->node, sizeof(ret_reason->node), "%s",
			    pool->nodes[standing->node].name);
	if (standing->depth > DEPTH_MATCHING || scope == REASON_SCOPE_CARD) /* one is to blame */
		set_card(pool, standing, ret_reason);
	ret_reason->code = refusals[standing->depth](&refusal, ret_reason);
	return answer(ret_reason);
}

int refuse_request(const char *object, const char *what, struct reason *ret_reason)
{
	struct reason unread;

	ret_reason = ret_reason ? ret_reason : &unread;
	*ret_reason = (struct reason){ .code = REASON_BAD_REQUEST };
	reason_text(ret_reason->object, sizeof(ret_reason->object), "%s", object);
	reason_text(ret_reason->detail, sizeof(ret_reason->detail), "%s", what);
	return answer(ret_reason);
}
