/* SPDX-License-Identifier: Apache-2.0 */
#include "node/health.h"

#include <stdio.h>
#include <string.h>

#define CARDS_REMEMBERED (2 * CARDS_MAX) /* those that are gone leave when it is full */

/*
 * Errors of the card itself (NVIDIA, "XID Errors", catalogue of driver 5xx). How to add one: a row.
 * The row of 0 stands for all that are not here: nobody knows how bad, so a reset is wanted.
 */
static const struct health_row rows[] = {
	{ 0, CARD_SUSPECT, HEALTH_CURE_RESET, "an error of the card" },
	{ 48, CARD_SUSPECT, HEALTH_CURE_COUNTERS, "an uncorrected memory error" },
	{ 62, CARD_SUSPECT, HEALTH_CURE_RESET, "its internal controller halted" },
	{ 63, CARD_SUSPECT, HEALTH_CURE_COUNTERS, "a memory row or page is to be replaced" },
	{ 64, CARD_SUSPECT, HEALTH_CURE_COUNTERS, "a memory row or page could not be replaced" },
	{ 74, CARD_SUSPECT, HEALTH_CURE_RESET, "an NVLink failed" },
	{ 79, CARD_LOST, HEALTH_CURE_RESET, "it fell off the bus" },
	{ 92, CARD_SUSPECT, HEALTH_CURE_COUNTERS, "many corrected memory errors" },
	{ 94, CARD_SUSPECT, HEALTH_CURE_COUNTERS, "a memory error that stayed in one program" },
	{ 95, CARD_SUSPECT, HEALTH_CURE_RESET, "a memory error that reached all programs" },
	{ 119, CARD_SUSPECT, HEALTH_CURE_RESET, "its system processor gave no answer" },
	{ 120, CARD_SUSPECT, HEALTH_CURE_RESET, "its system processor failed" },
	{ 140, CARD_SUSPECT, HEALTH_CURE_RESET, "memory errors that nobody repaired" },
};

const struct health_row *health_row(uint64_t xid)
{
	for (size_t i = 1; i < ARRAY_SIZE(rows); i++)
		if (rows[i].xid == xid)
			return &rows[i];
	return &rows[0];
}

void health_release(struct health *health)
{
	free(health->cards);
	*health = (struct health){ 0 };
}

static void describe(char *to, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void describe(char *to, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(to, size, format, arguments);
	va_end(arguments);
}

static struct health_card *find(const struct health *health, const char *uuid, const char *bus_id)
{
	for (size_t i = 0; i < health->count; i++)
		if (uuid[0] ? strcmp(health->cards[i].uuid, uuid) == 0
			    : bus_id[0] && strcmp(health->cards[i].bus_id, bus_id) == 0)
			return &health->cards[i];
	return NULL;
}

const struct health_card *health_find(const struct health *health, const char *uuid)
{
	return uuid[0] ? find(health, uuid, "") : NULL;
}

static void open_evidence(const struct health *all, struct health_card *card,
			  enum health_evidence kind, enum card_health health, const char *cause,
			  int64_t now)
{
	struct card_condition *evidence = &card->evidence[kind];

	if (evidence->health == CARD_HEALTHY)
		evidence->since = now;
	evidence->health = health;
	describe(evidence->cause, sizeof(evidence->cause), "%s", cause);
	card->opened[kind] = all->begun;
}

/* True: the probe that is answered now was begun before it. */
static bool newer(const struct health *all, const struct health_card *card,
		  enum health_evidence kind)
{
	return card->evidence[kind].health != CARD_HEALTHY && card->opened[kind] == all->begun;
}

static void close_evidence(struct health_card *card, enum health_evidence kind)
{
	card->evidence[kind] = (struct card_condition){ .health = CARD_HEALTHY };
	if (kind == HEALTH_XID) {
		card->xid = 0;
		card->was_lost = false;
	}
}

/* The worst that is open; of two that are equally bad the older. True: the health has changed. */
static bool judge(struct health_card *card, int64_t now)
{
	const struct card_condition *worst = &card->evidence[0];
	enum card_health before = card->condition.health;

	for (size_t i = 1; i < HEALTH_EVIDENCE_MAX; i++) {
		const struct card_condition *other = &card->evidence[i];

		if (other->health > worst->health ||
		    (other->health == worst->health && other->health != CARD_HEALTHY &&
		     other->since < worst->since))
			worst = other;
	}
	int64_t since = worst->health == before ? card->condition.since : now;
	card->condition = *worst;
	card->condition.since = since;
	return worst->health != before;
}

/* Counters that only a reset or a new driver sets back. */
static const enum card_value reset_values[] = { CARD_VALUE_ENERGY, CARD_VALUE_PCIE_REPLAY,
						CARD_VALUE_ECC_SBE_VOLATILE,
						CARD_VALUE_ECC_DBE_VOLATILE };

/* True: one has fallen since the last time that it was told. */
static bool counters_fell(struct health_card *card, const struct card_sample *now)
{
	bool fell = false;

	for (size_t i = 0; i < ARRAY_SIZE(reset_values); i++) {
		enum card_value value = reset_values[i];

		if (!(now->has >> value & 1))
			continue;
		if ((card->before.has >> value & 1) &&
		    now->values[value] < card->before.values[value])
			fell = true;
		card->before.has |= UINT64_C(1) << value;
		card->before.values[value] = now->values[value];
	}
	return fell;
}

static void close_xid(const struct health *health, struct health_card *card,
		      const struct card *probed, bool reset)
{
	const struct health_row *row = health_row(card->xid);
	bool passes = probed->condition.health == CARD_HEALTHY;

	if (card->evidence[HEALTH_XID].health == CARD_HEALTHY || newer(health, card, HEALTH_XID))
		return;
	if (probed->condition.health == CARD_LOST)
		card->was_lost = true;
	/* One that was lost and answers again has been reset: nothing else brings it back. */
	if (passes && (row->cure == HEALTH_CURE_COUNTERS || reset || card->was_lost))
		close_evidence(card, HEALTH_XID);
}

static bool take_probed(const struct health *health, struct health_card *card,
			const struct card *probed, const struct card_sample *sample,
			bool new_driver, int64_t now)
{
	bool reset = new_driver;

	memcpy(card->bus_id, probed->bus_id, sizeof(card->bus_id));
	card->index = probed->index;
	card->present = true;
	if (sample && counters_fell(card, sample))
		reset = true;
	close_evidence(card, HEALTH_SILENT);
	close_xid(health, card, probed, reset);
	if (probed->condition.health != CARD_HEALTHY)
		open_evidence(health, card, HEALTH_PROBE, probed->condition.health,
			      probed->condition.cause, now);
	else if (!newer(health, card, HEALTH_PROBE))
		close_evidence(card, HEALTH_PROBE);
	return judge(card, now);
}

static bool take_missing(const struct health *health, struct health_card *card,
			 const struct inventory *inventory, int64_t now)
{
	card->present = false;
	card->was_lost = true;
	close_evidence(card, HEALTH_SILENT);
	open_evidence(health, card, HEALTH_PROBE, CARD_LOST,
		      inventory->problem[0] ? inventory->problem
					    : "the machine has no such card any more",
		      now);
	return judge(card, now);
}

/* Room for one more: of those that are gone, the one that is so for longest. */
static struct health_card *add_card(struct health *health)
{
	size_t oldest = CARDS_REMEMBERED;

	if (health->count < CARDS_REMEMBERED)
		return VEC_ADD(&health->cards, &health->count, &health->capacity);
	for (size_t i = 0; i < health->count; i++)
		if (!health->cards[i].present &&
		    (oldest == CARDS_REMEMBERED ||
		     health->cards[i].condition.since < health->cards[oldest].condition.since))
			oldest = i;
	if (oldest == CARDS_REMEMBERED)
		return NULL;
	health->cards[oldest] = (struct health_card){ 0 };
	return &health->cards[oldest];
}

/* A version that is not known says nothing. */
static bool driver_changed(struct health *health, const struct inventory *inventory)
{
	char driver[sizeof(health->driver)];
	bool changed;

	if (!inventory->driver_version[0] || inventory->problem[0])
		return false;
	describe(driver, sizeof(driver), "%s %s", inventory->driver_version,
		 inventory->module_version);
	changed = health->driver[0] && strcmp(driver, health->driver) != 0;
	memcpy(health->driver, driver, sizeof(driver));
	return changed;
}

void health_ask(struct health *health)
{
	health->begun++;
}

int health_probe(struct health *health, struct inventory *inventory, int64_t now,
		 struct error *error)
{
	bool new_driver = driver_changed(health, inventory), changed = false;

	for (size_t i = 0; i < health->count; i++)
		health->cards[i].present = false;
	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card *probed = &inventory->cards[i];
		struct health_card *card = find(health, probed->uuid, "");

		if (!card) {
			card = add_card(health);
			if (!card)
				return error_no_memory(error);
			memcpy(card->uuid, probed->uuid, sizeof(card->uuid));
			card->condition.since = now;
			changed = true;
		}
		changed |= take_probed(health, card, probed,
				       inventory->samples ? &inventory->samples[i] : NULL,
				       new_driver, now);
	}
	for (size_t i = 0; i < health->count; i++)
		if (!health->cards[i].present)
			changed |= take_missing(health, &health->cards[i], inventory, now);
	health_apply(health, inventory);
	return changed;
}

int health_xid(struct health *health, const char *uuid, const char *bus_id, uint64_t xid,
	       bool counts, int64_t now)
{
	struct health_card *card = find(health, uuid, bus_id);
	const struct health_row *row = health_row(xid);
	char cause[CARD_TEXT_MAX];

	if (!card)
		return -ENODEV;
	card->xid_last = xid;
	card->xid_total++;
	if (!counts)
		return 0;
	/* A second one that wants less does not make the first one less. */
	if (card->evidence[HEALTH_XID].health != CARD_HEALTHY &&
	    (health_row(card->xid)->cure > row->cure ||
	     (health_row(card->xid)->cure == row->cure &&
	      card->evidence[HEALTH_XID].health >= row->health)))
		return 0;
	describe(cause, sizeof(cause), "XID %llu: %s; %s", (unsigned long long)xid, row->text,
		 row->cure == HEALTH_CURE_RESET ? "reset it, or load the driver again"
						: "it returns when its counters are clear");
	card->xid = xid;
	/* What it came back from before is no reset after this one. */
	card->was_lost = card->evidence[HEALTH_PROBE].health == CARD_LOST;
	open_evidence(health, card, HEALTH_XID, row->health, cause, now);
	return judge(card, now);
}

int health_silent(struct health *health, unsigned seconds, int64_t now)
{
	char cause[CARD_TEXT_MAX];
	bool changed = false;

	describe(cause, sizeof(cause), "the driver has given no answer for %u s", seconds);
	for (size_t i = 0; i < health->count; i++) {
		if (!health->cards[i].present)
			continue;
		open_evidence(health, &health->cards[i], HEALTH_SILENT, CARD_SUSPECT, cause, now);
		changed |= judge(&health->cards[i], now);
	}
	return changed;
}

int health_lost(struct health *health, const char *uuid, const char *bus_id, int64_t now)
{
	struct health_card *card = find(health, uuid, bus_id);

	if (!card)
		return -ENODEV;
	card->was_lost = true;
	open_evidence(health, card, HEALTH_PROBE, CARD_LOST,
		      "the driver reports that it fell off the bus", now);
	return judge(card, now);
}

void health_apply(const struct health *health, struct inventory *inventory)
{
	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct health_card *card = health_find(health, inventory->cards[i].uuid);

		if (card)
			inventory->cards[i].condition = card->condition;
	}
}
