/* SPDX-License-Identifier: Apache-2.0 */
/* What is held against a card and what takes it back, in virtual time. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "node/health.h"

#define CARDS    3
#define PERIOD   5          /* seconds between probes */
#define START    1700000000 /* Unix seconds */
#define STEP_MAX 12

/* A machine: what the next probe will say. Card 1 is the one that things happen to. */
struct world {
	struct health health;
	int64_t now;
	enum card_health probed; /* of card 1 */
	bool absent, no_driver;
	uint64_t energy;
	const char *driver;
	bool changed; /* what the last step answered */
};

static void uuid_of(unsigned i, char ret[CARD_UUID_MAX])
{
	(void)snprintf(ret, CARD_UUID_MAX, "GPU-%u", i);
}

static void world_probe(struct world *world)
{
	cleanup(inventory_release) struct inventory inventory;
	struct error error = ERROR_INIT;

	inventory_init(&inventory);
	(void)snprintf(inventory.driver_version, sizeof(inventory.driver_version), "%s",
		       world->driver);
	if (world->no_driver)
		(void)snprintf(inventory.problem, sizeof(inventory.problem), "no module");
	for (unsigned i = 0; i < CARDS && !world->no_driver; i++) {
		if (i == 1 && world->absent)
			continue;
		struct card *card =
			VEC_ADD(&inventory.cards, &inventory.card_count, &inventory.card_capacity);
		assert_non_null(card);
		uuid_of(i, card->uuid);
		(void)snprintf(card->bus_id, sizeof(card->bus_id), "0000:0%u:00.0", i + 1);
		if (i == 1 && world->probed != CARD_HEALTHY) {
			card->condition.health = world->probed;
			(void)snprintf(card->condition.cause, sizeof(card->condition.cause),
				       "the probe says so");
		}
	}
	inventory.samples = calloc(CARDS + 1, sizeof(*inventory.samples));
	for (size_t i = 0; i < inventory.card_count; i++) {
		inventory.samples[i].has = 1ull << CARD_VALUE_ENERGY;
		inventory.samples[i].values[CARD_VALUE_ENERGY] = world->energy;
	}
	int r = health_probe(&world->health, &inventory, world->now, &error);
	assert_true(r >= 0);
	world->changed = r == 1;
	/* What is known is in the inventory, too. */
	for (size_t i = 0; i < inventory.card_count; i++)
		assert_int_equal(
			inventory.cards[i].condition.health,
			health_find(&world->health, inventory.cards[i].uuid)->condition.health);
}

static bool says(const char *what, const char *word, uint64_t *ret)
{
	size_t length = strlen(word);

	return strncmp(what, word, length) == 0 && parse_uint(what + length, 0, 99999, ret) == 0;
}

/* "ok" "suspect" "lost" "gone" "nodriver": a probe; "xid N", "program N", "silent N", "event lost";
 * "reset": the energy counter begins anew; "upgrade": another driver; "ask": a probe is begun, whose
 * answer "late ok" and the like are */
static void world_act(struct world *world, const char *what)
{
	uint64_t number = 0;
	int r = 0;

	world->now += PERIOD;
	if (says(what, "xid ", &number)) {
		r = health_xid(&world->health, "GPU-1", "", number, true, world->now);
	} else if (says(what, "kernel xid ", &number)) {
		r = health_xid(&world->health, "", "0000:02:00.0", number, true, world->now);
	} else if (says(what, "program ", &number)) {
		r = health_xid(&world->health, "GPU-1", "", number, false, world->now);
	} else if (says(what, "silent ", &number)) {
		r = health_silent(&world->health, (unsigned)number, world->now);
	} else if (strcmp(what, "event lost") == 0) {
		r = health_lost(&world->health, "GPU-1", "", world->now);
	} else if (strcmp(what, "ask") == 0) {
		health_ask(&world->health);
	} else {
		if (strncmp(what, "late ", 5) == 0)
			what += 5;
		else
			health_ask(&world->health);
		world->absent = strcmp(what, "gone") == 0;
		world->no_driver = strcmp(what, "nodriver") == 0;
		world->probed = strcmp(what, "lost") == 0      ? CARD_LOST
				: strcmp(what, "suspect") == 0 ? CARD_SUSPECT
							       : CARD_HEALTHY;
		world->energy = strcmp(what, "reset") == 0 ? 10 : world->energy + 1000;
		if (strcmp(what, "upgrade") == 0)
			world->driver = "550.1";
		world_probe(world);
		return;
	}
	assert_true(r >= 0);
	world->changed = r == 1;
}

static const struct health_card *card_of(const struct world *world, unsigned i)
{
	char uuid[CARD_UUID_MAX];

	uuid_of(i, uuid);
	return health_find(&world->health, uuid);
}

struct step {
	const char *what;
	enum card_health health; /* of card 1 after it */
	const char *cause;       /* a part of it; NULL: none */
};

#define OK   CARD_HEALTHY
#define SICK CARD_SUSPECT
#define LOST CARD_LOST

static const struct health_case {
	const char *name;
	struct step steps[STEP_MAX];
} cases[] = {
	{ "a probe that fails and one that passes",
	  { { "ok", OK, NULL },
	    { "suspect", SICK, "the probe" },
	    { "suspect", SICK, "the probe" },
	    { "ok", OK, NULL } } },
	{ "worse and better",
	  { { "suspect", SICK, NULL },
	    { "lost", LOST, NULL },
	    { "suspect", SICK, NULL },
	    { "ok", OK, NULL } } },
	{ "errors of programs are counted and no more",
	  { { "ok", OK, NULL }, { "program 13", OK, NULL }, { "program 31", OK, NULL } } },
	{ "an XID that wants a reset stays although every probe passes",
	  { { "ok", OK, NULL },
	    { "xid 62", SICK, "XID 62: its internal controller halted; reset it" },
	    { "ok", SICK, "XID 62" },
	    { "ok", SICK, "XID 62" },
	    { "reset", OK, NULL } } },
	{ "a reset that was seen before the XID is none after it",
	  { { "ok", OK, NULL },
	    { "reset", OK, NULL },
	    { "xid 62", SICK, NULL },
	    { "ok", SICK, NULL } } },
	{ "a card that is still sick after its reset stays sick for what the probe says",
	  { { "ok", OK, NULL },
	    { "xid 74", SICK, "NVLink" },
	    { "suspect", SICK, NULL },
	    { "ok", SICK, "XID 74" },
	    { "reset", OK, NULL } } },
	{ "counters that are clear close an error of the memory",
	  { { "ok", OK, NULL },
	    { "xid 48", SICK, "when its counters are clear" },
	    { "suspect", SICK, NULL },
	    { "ok", OK, NULL } } },
	{ "fallen off the bus: lost; it answers again only after a reset",
	  { { "ok", OK, NULL },
	    { "xid 79", LOST, "XID 79: it fell off the bus" },
	    { "lost", LOST, NULL },
	    { "lost", LOST, NULL },
	    { "ok", OK, NULL } } },
	{ "XID 79 of a card that answers all the time: nobody has seen a reset",
	  { { "ok", OK, NULL },
	    { "xid 79", LOST, NULL },
	    { "ok", LOST, "XID 79" },
	    { "ok", LOST, NULL },
	    { "gone", LOST, NULL },
	    { "ok", OK, NULL } } },
	{ "an XID that nobody knows wants a reset",
	  { { "ok", OK, NULL },
	    { "xid 9999", SICK, "XID 9999: an error of the card" },
	    { "ok", SICK, NULL },
	    { "reset", OK, NULL } } },
	{ "a second XID that wants more counts, one that wants less does not",
	  { { "ok", OK, NULL },
	    { "xid 48", SICK, "XID 48" },
	    { "xid 62", SICK, "XID 62" },
	    { "xid 48", SICK, "XID 62" },
	    { "ok", SICK, "XID 62" },
	    { "xid 79", LOST, "XID 79" },
	    { "reset", OK, NULL } } },
	{ "the kernel's log names a card by its address",
	  { { "ok", OK, NULL }, { "kernel xid 62", SICK, "XID 62" }, { "reset", OK, NULL } } },
	{ "a driver that was loaded anew has reset the card",
	  { { "ok", OK, NULL }, { "xid 62", SICK, NULL }, { "upgrade", OK, NULL } } },
	{ "a driver that was gone in between has reset it, too",
	  { { "ok", OK, NULL },
	    { "xid 62", SICK, NULL },
	    { "nodriver", LOST, "no module" },
	    { "ok", OK, NULL } } },
	{ "a driver that was gone before the XID has reset nothing after it",
	  { { "ok", OK, NULL },
	    { "nodriver", LOST, "no module" },
	    { "ok", OK, NULL },
	    { "xid 62", SICK, "XID 62" },
	    { "ok", SICK, "XID 62" },
	    { "reset", OK, NULL } } },
	{ "an event says lost, its XID comes after it, and the card answers again",
	  { { "ok", OK, NULL },
	    { "event lost", LOST, "reports" },
	    { "xid 79", LOST, NULL },
	    { "ok", OK, NULL } } },
	{ "a probe that was begun before an event closes nothing of it",
	  { { "ok", OK, NULL },
	    { "ask", OK, NULL },
	    { "event lost", LOST, "reports" },
	    { "xid 79", LOST, NULL },
	    { "late ok", LOST, "reports" },
	    { "ok", OK, NULL } } },
	{ "nor does it hide that the card is lost, or count as its reset",
	  { { "ok", OK, NULL },
	    { "ask", OK, NULL },
	    { "xid 62", SICK, "XID 62" },
	    { "late reset", SICK, "XID 62" },
	    { "ok", SICK, "XID 62" },
	    { "ask", SICK, NULL },
	    { "late lost", LOST, "the probe" },
	    { "ok", OK, NULL } } },
	{ "what is older than the probe is closed by it, and silence by any answer",
	  { { "ok", OK, NULL },
	    { "event lost", LOST, "reports" },
	    { "ask", LOST, NULL },
	    { "silent 7", LOST, NULL },
	    { "late ok", OK, NULL } } },
	{ "silence is suspect, and an answer ends it",
	  { { "ok", OK, NULL },
	    { "silent 7", SICK, "no answer for 7 s" },
	    { "silent 12", SICK, "no answer for 12 s" },
	    { "ok", OK, NULL } } },
	{ "silence takes nothing from what is worse",
	  { { "lost", LOST, "the probe" },
	    { "silent 7", LOST, "the probe" },
	    { "lost", LOST, NULL } } },
	{ "gone from the machine and back",
	  { { "ok", OK, NULL }, { "gone", LOST, "no such card any more" }, { "ok", OK, NULL } } },
	{ "an event says lost before the next probe does",
	  { { "ok", OK, NULL },
	    { "event lost", LOST, "reports" },
	    { "lost", LOST, NULL },
	    { "ok", OK, NULL } } },
};

static void check_others(const struct world *world, const struct health_case *row, const char *what)
{
	bool all = strncmp(what, "silent", 6) == 0 || strcmp(what, "nodriver") == 0;

	for (unsigned i = 0; i < CARDS; i += 2) {
		const struct health_card *card = card_of(world, i);

		if (!all && card && card->condition.health != CARD_HEALTHY)
			fail_msg("%s: after \"%s\" card %u is %s", row->name, what, i,
				 card_health_to_string(card->condition.health));
	}
}

static void check_case(const struct health_case *row)
{
	struct world world = { .now = START, .energy = 1000, .driver = "535.1" };
	enum card_health before = CARD_HEALTHY;
	int64_t since = START + PERIOD;

	for (size_t i = 0; i < STEP_MAX && row->steps[i].what; i++) {
		const struct step *step = &row->steps[i];

		world_act(&world, step->what);
		const struct card_condition *condition = &card_of(&world, 1)->condition;
		if (condition->health != step->health ||
		    (step->cause && !strstr(condition->cause, step->cause)) ||
		    (condition->health == CARD_HEALTHY) != (condition->cause[0] == '\0'))
			fail_msg("%s: after \"%s\" it is %s: %s", row->name, step->what,
				 card_health_to_string(condition->health), condition->cause);
		if (condition->health != before) {
			assert_true(world.changed);
			since = world.now;
		}
		assert_int_equal(condition->since, since);
		before = condition->health;
		check_others(&world, row, step->what);
	}
	health_release(&world.health);
}

TEST(evidence_opens_and_closes_by_its_own_kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(&cases[i]);
}

static const struct {
	const char *sick; /* each probe of it */
	enum card_health health;
} lasting[] = { { "lost", CARD_LOST }, { "suspect", CARD_SUSPECT }, { "gone", CARD_LOST } };

TEST(what_is_still_broken_stays_so_through_ten_minutes_of_probes)
{
	for (size_t i = 0; i < ARRAY_SIZE(lasting); i++) {
		struct world world = { .now = START, .energy = 1000, .driver = "535.1" };

		world_act(&world, "ok");
		for (unsigned n = 0; n < 600 / PERIOD; n++) {
			world_act(&world, lasting[i].sick);
			assert_int_equal(card_of(&world, 1)->condition.health, lasting[i].health);
			assert_int_equal(card_of(&world, 1)->condition.since, START + 2 * PERIOD);
			assert_true(world.changed == (n == 0));
			assert_int_equal(card_of(&world, 0)->condition.health, CARD_HEALTHY);
		}
		world_act(&world, "ok");
		assert_int_equal(card_of(&world, 1)->condition.health, CARD_HEALTHY);
		health_release(&world.health);
	}
}

TEST(an_xid_without_a_reset_stays_through_ten_minutes_of_good_probes)
{
	struct world world = { .now = START, .energy = 1000, .driver = "535.1" };

	world_act(&world, "ok");
	world_act(&world, "xid 79");
	for (unsigned n = 0; n < 600 / PERIOD; n++) {
		world_act(&world, "ok");
		assert_int_equal(card_of(&world, 1)->condition.health, CARD_LOST);
	}
	health_release(&world.health);
}

TEST(xids_are_counted_and_the_last_one_is_known)
{
	struct world world = { .now = START, .energy = 1000, .driver = "535.1" };

	world_act(&world, "ok");
	assert_int_equal(health_xid(&world.health, "GPU-77", "", 79, true, world.now), -ENODEV);
	assert_int_equal(health_xid(&world.health, "", "", 79, true, world.now), -ENODEV);
	assert_int_equal(health_lost(&world.health, "GPU-77", "", world.now), -ENODEV);
	world_act(&world, "program 13");
	world_act(&world, "xid 48");
	assert_int_equal(card_of(&world, 1)->xid_last, 48);
	assert_int_equal(card_of(&world, 1)->xid_total, 2);
	assert_int_equal(card_of(&world, 0)->xid_total, 0);
	health_release(&world.health);
}

/* Cards that come and go for ever: those that are gone leave when there is no more room. */
TEST(memory_is_bounded)
{
	struct health health = { 0 };
	struct error error = ERROR_INIT;

	for (unsigned n = 0; n < 1000; n++) {
		cleanup(inventory_release) struct inventory inventory;

		inventory_init(&inventory);
		struct card *card =
			VEC_ADD(&inventory.cards, &inventory.card_count, &inventory.card_capacity);
		assert_non_null(card);
		uuid_of(n, card->uuid);
		assert_true(health_probe(&health, &inventory, START + n, &error) == 1);
		assert_int_equal(health_find(&health, card->uuid)->condition.health, CARD_HEALTHY);
	}
	assert_true(health.count <= 2 * CARDS_MAX);
	health_release(&health);
}
