/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

unsigned history_below(struct history *run, unsigned limit) /* xorshift64* (Vigna 2016) */
{
	run->random ^= run->random >> 12;
	run->random ^= run->random << 25;
	run->random ^= run->random >> 27;
	return (unsigned)((run->random * 0x2545f4914f6cdd1dull >> 33) % limit);
}

bool history_one_in(struct history *run, unsigned n)
{
	return history_below(run, n) == 0;
}

void history_differ(struct history *run, const char *format, ...)
{
	va_list arguments;

	if (run->differs[0])
		return;
	va_start(arguments, format);
	vsnprintf(run->differs, sizeof(run->differs), format, arguments);
	va_end(arguments);
}

/* ---- kubelet ---- */

void history_write_checkpoint(struct history *run)
{
	struct naive_node *node = &run->node;

	world_unclaim_all(&run->world);
	for (unsigned i = 0; i < node->count; i++)
		for (size_t k = 0; node->pods[i].known && k < node->pods[i].hold_count; k++) {
			const struct naive_hold *hold = &node->pods[i].holds[k];
			char container[32];

			snprintf(container, sizeof(container), "%s%zu",
				 hold->init ? "init" : "main", k);
			world_claim_ids(&run->world, i, container, hold->resource, &hold->ids);
		}
	run->file = true;
}

/* Its answer to List: active Pods, without ordinary init containers. */
void history_list_pods(const struct history *run, struct kubelet_holdings *ret)
{
	*ret = (struct kubelet_holdings){ .items = NULL };
	for (unsigned i = 0; i < run->node.count; i++) {
		const struct naive_pod *pod = &run->node.pods[i];

		for (size_t k = 0; pod->known && pod->active && k < pod->hold_count; k++) {
			struct kubelet_holding *to;

			if (pod->holds[k].init)
				continue;
			to = VEC_ADD(&ret->items, &ret->count, &ret->capacity);
			assert_non_null(to);
			for (size_t n = 0; n < pod->holds[k].ids.count; n++)
				assert_int_equal(
					string_list_add(&to->ids, pod->holds[k].ids.items[n]), 0);
		}
	}
}

/* ---- daemon ---- */

void history_save(struct history *run)
{
	strbuf_reset(&run->disk);
	assert_int_equal(ledger_to_text(&run->world.ledger, &run->disk, NULL), 0);
	run->world.ledger.dirty = false;
}

void history_merge(struct history *run)
{
	struct ledger_evidence *evidence = &run->world.evidence;

	for (unsigned i = 0; i < run->node.count; i++)
		run->world.signs[i] = run->node.pods[i].state == NAIVE_RUNS ? POD_RUNS : POD_IDLE;
	evidence->checkpoint = run->file ? &run->world.checkpoint : NULL;
	evidence->checkpoint_lost = !run->file;
	assert_true(ledger_merge(&run->world.ledger, evidence, &run->world.reasons, NULL) >= 0);
	for (size_t i = 0; i < run->world.reasons.count; i++) {
		run->tally.adopted += run->world.reasons.items[i].code == REASON_LEDGER_DIFFERS;
		run->tally.lingering += run->world.reasons.items[i].code == REASON_LINGERING;
	}
	reason_list_release(&run->world.reasons);
}

static bool same_lists(const struct naive_node *node, const struct naive_listed *next, size_t count)
{
	if (count != node->listed_count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (memcmp(&next[i], &node->listed[i], sizeof(*next)) != 0)
			return false;
	return true;
}

/* What is sent to the kubelet, which writes its file for each list that is another one. */
static void send(struct history *run)
{
	const struct plugin_view *view = &run->world.view;
	struct naive_listed *next = NULL;
	size_t count = 0, capacity = 0;
	char text[256];

	for (size_t i = 0; i < view->count; i++) {
		struct kubelet_device *list;

		assert_int_equal(plugin_resource_list(view, &view->resources[i], &list, NULL), 0);
		for (size_t k = 0; k < view->resources[i].count; k++) {
			struct naive_listed *to = VEC_ADD(&next, &count, &capacity);

			assert_non_null(to);
			snprintf(to->resource, sizeof(to->resource), "%s", view->resources[i].name);
			snprintf(to->id, sizeof(to->id), "%s", list[k].id);
			to->healthy = list[k].healthy;
		}
		free(list);
	}
	const char *wrong = naive_check_lists(&run->node, next, count, text, sizeof(text));

	if (wrong)
		history_differ(run, "lists: %s", wrong);
	run->tally.left += count < run->node.listed_count;
	bool same = same_lists(&run->node, next, count);

	free(run->node.listed);
	run->node.listed = next;
	run->node.listed_count = count;
	run->node.listed_capacity = capacity;
	if (same)
		return;
	run->sent_ms = run->world.evidence.now_ms;
	history_write_checkpoint(run);
}

unsigned history_card_of(const char *id)
{
	return naive_id(id).card;
}

/* A sick card's devices are none of them healthy, and a healthy list has healthy cards only. */
static void check_health(struct history *run)
{
	for (size_t i = 0; i < run->node.listed_count; i++) {
		const struct naive_listed *listed = &run->node.listed[i];
		const struct card *card = &run->world.inventory.cards[history_card_of(listed->id)];

		if (listed->healthy && card->condition.health != CARD_HEALTHY)
			history_differ(run, "%s is listed healthy, and its card is not",
				       listed->id);
		if (!listed->healthy && card->condition.health == CARD_HEALTHY &&
		    naive_is_held(&run->node, listed->id))
			history_differ(run, "%s is held and healthy, and listed as unhealthy",
				       listed->id);
	}
}

/* Everything that the daemon does on its own: merge, keep, list. */
void history_tick(struct history *run)
{
	struct naive_node *node = &run->node;

	history_merge(run);
	if (run->world.ledger.dirty && !run->open)
		history_save(run);
	world_build(&run->world, !run->open && run->world.evidence.now_ms - run->sent_ms >= 1000);
	send(run);
	check_health(run);
	for (unsigned i = 0; i < node->count; i++) {
		const struct naive_pod *pod = &node->pods[i];

		if (pod->state != NAIVE_ADMITTED && pod->state != NAIVE_RUNS)
			continue;
		for (size_t k = 0; k < pod->hold_count; k++)
			for (size_t n = 0; n < pod->holds[k].ids.count; n++)
				if (!ledger_find(&run->world.ledger, pod->holds[k].ids.items[n],
						 NULL))
					history_differ(run, "Pod %u lives, and %s is not held", i,
						       pod->holds[k].ids.items[n]);
	}
}

void history_restart(struct history *run)
{
	struct ledger_damage damage;

	run->tally.restarts++;
	ledger_release(&run->world.ledger);
	plugin_view_release(&run->world.view);
	assert_int_equal(ledger_from_text(&run->world.ledger, run->disk.data, run->disk.length,
					  "disk", run->world.evidence.now_ms, &damage, NULL),
			 0);
	run->open = 0;
	/* The streams have ended: all of it is unhealthy until the new lists are there. */
	for (size_t i = 0; i < run->node.listed_count; i++)
		run->node.listed[i].healthy = false;
	history_tick(run);
}

/* ---- what the reference says of a choice ---- */

bool history_fits_mode(const struct history *run, const char *id)
{
	const struct naive_id parts = naive_id(id);
	const struct card_choice *row = &run->world.config.cards[parts.card];
	const struct card *card = &run->world.inventory.cards[parts.card];

	if (row->excluded || card->condition.health != CARD_HEALTHY)
		return false;
	if (parts.instance >= 0)
		return row->mode == CARD_MODE_MIG && (size_t)parts.instance < card->instance_count;
	if (card->mig_enabled)
		return false;
	return (parts.kind == 'u' && row->mode == CARD_MODE_SLICES) ||
	       (parts.kind == 'r' && row->mode == CARD_MODE_REPLICAS) ||
	       (parts.kind == 'w' && row->mode == CARD_MODE_WHOLE);
}

bool history_ledger_is_near(const struct history *run, const char *id)
{
	for (size_t i = 0; i < run->world.ledger.count; i++)
		for (size_t k = 0; k < run->world.ledger.entries[i]->ids.count; k++)
			if (naive_excludes(run->world.ledger.entries[i]->ids.items[k], id))
				return true;
	return false;
}

struct room {          /* of one card, or of all */
	size_t sure;   /* nobody's by any book */
	size_t lawful; /* and what dead Pods have there */
	size_t maybe;
};

bool history_is_in(const struct string_list *list, const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], id) == 0)
			return true;
	return false;
}

/* Of a Pod that nobody saw run: Allocate will ask List whether it is about to, or has ended. */
static bool is_doubtful(const struct history *run, const char *id)
{
	const struct ledger_entry *entry = ledger_find(&run->world.ledger, id, NULL);

	return entry && !entry->ran;
}

/* Of a grant that no checkpoint has had: for a second it may be on its way to the kubelet. */
static bool is_unsettled(const struct history *run, const char *id)
{
	for (const struct ledger_entry *entry = ledger_find(&run->world.ledger, id, NULL); entry;
	     entry = ledger_find(&run->world.ledger, id, entry))
		if (!entry->pod_uid)
			return true;
	return false;
}

static struct room room_of(const struct history *run, const struct string_list *available,
			   const struct string_list *must, int card, unsigned pod)
{
	struct room room = { 0, 0, 0 };

	for (size_t i = 0; i < available->count; i++) {
		const char *id = available->items[i];

		if ((card >= 0 && history_card_of(id) != (unsigned)card) ||
		    history_is_in(must, id) || !history_fits_mode(run, id) ||
		    (naive_is_taken(&run->node, id, pod) && !is_doubtful(run, id)))
			continue;
		room.maybe++;
		room.sure += !history_ledger_is_near(run, id);
		room.lawful += !is_unsettled(run, id) && !naive_is_taken(&run->node, id, pod);
	}
	return room;
}

static void check_picked(struct history *run, const struct history_question *question,
			 const struct string_list *picked)
{
	bool units = strcmp(question->resource, PLUGIN_RESOURCE_UNITS) == 0;

	if (picked->count != question->size)
		history_differ(run, "%zu devices are preferred, %u were asked for", picked->count,
			       question->size);
	for (size_t i = 0; i < question->must->count; i++)
		if (!history_is_in(picked, question->must->items[i]))
			history_differ(run, "%s must be in it, and is not",
				       question->must->items[i]);
	for (size_t i = 0; i < picked->count; i++) {
		const char *id = picked->items[i];

		if (units && history_card_of(id) != history_card_of(picked->items[0]))
			history_differ(run, "units of two cards are preferred");
		if (history_is_in(question->must, id))
			continue;
		if (!history_is_in(question->available, id) || !history_fits_mode(run, id))
			history_differ(run, "%s is preferred, and is not to be had", id);
		if (naive_is_taken(&run->node, id, question->pod) && !is_doubtful(run, id))
			history_differ(run, "%s is preferred, and a Pod has it", id);
	}
}

/* The card with the least room that fits, wherever it is clear what is free. */
static void check_best(struct history *run, const struct history_question *question,
		       const struct string_list *picked)
{
	size_t needed = question->size - question->must->count;
	struct room own;

	if (strcmp(question->resource, PLUGIN_RESOURCE_UNITS) != 0 || question->must->count ||
	    !picked->count)
		return;
	own = room_of(run, question->available, question->must,
		      (int)history_card_of(picked->items[0]), question->pod);
	for (unsigned card = 0; card < run->world.inventory.card_count; card++) {
		struct room other =
			room_of(run, question->available, question->must, (int)card, question->pod);

		if (own.sure == own.maybe && other.sure == other.maybe && other.sure >= needed &&
		    other.sure < own.sure)
			history_differ(run,
				       "card %u has %zu free and is no better than one with %zu",
				       card, other.sure, own.sure);
	}
}

static void improve(struct room *best, const struct room *room)
{
	best->sure = room->sure > best->sure ? room->sure : best->sure;
	best->lawful = room->lawful > best->lawful ? room->lawful : best->lawful;
	best->maybe = room->maybe > best->maybe ? room->maybe : best->maybe;
}

/* The most that one answer could have beside what must be in it. */
static struct room best_room(const struct history *run, const struct history_question *question)
{
	struct room best = { 0, 0, 0 };

	if (strcmp(question->resource, PLUGIN_RESOURCE_UNITS) != 0)
		return room_of(run, question->available, question->must, -1, question->pod);
	for (unsigned card = 0; card < run->world.inventory.card_count; card++) {
		struct room room =
			room_of(run, question->available, question->must, (int)card, question->pod);

		if (question->must->count == 0 || card == history_card_of(question->must->items[0]))
			improve(&best, &room);
	}
	return best;
}

static void check_refused(struct history *run, const struct history_question *question,
			  const struct reason *reason)
{
	size_t must = question->must->count, needed = question->size - must;
	struct room best = best_room(run, question);

	run->tally.refused[reason->code]++;
	if (reason->code != REASON_MEMORY_BUSY && reason->code != REASON_DEVICES_BUSY) {
		history_differ(run, "preferred is refused as %s", reason_name(reason->code));
		return;
	}
	if (best.sure >= needed || (question->lawful && run->file && best.lawful >= needed))
		history_differ(run, "%u of %s are refused, and %zu are nobody's who lives",
			       question->size, question->resource, best.lawful);
	if (reason->wanted != (int64_t)question->size ||
	    reason->have < (int64_t)(best.sure + must) ||
	    reason->have > (int64_t)(best.maybe + must))
		history_differ(run,
			       "the refusal of %u of %s says %" PRId64 " wanted, %" PRId64
			       " free; free are %zu to %zu beside %zu",
			       question->size, question->resource, reason->wanted, reason->have,
			       best.sure, best.maybe, must);
}

int history_prefer(struct history *run, const struct history_question *question,
		   struct string_list *ret)
{
	struct plugin_scene scene = world_scene(&run->world, DEVICE_LIST_CDI_CRI);
	struct reason reason = { .code = REASON_NONE };

	history_merge(run);
	int r = plugin_preferred(&scene, question->resource, question->available, question->must,
				 question->size, ret, &reason, NULL);

	run->tally.preferred++;
	if (r < 0)
		check_refused(run, question, &reason);
	else {
		check_picked(run, question, ret);
		check_best(run, question, ret);
	}
	return r;
}
