/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known against each card, and what takes it back. Pure: probes, events and times are handed in.
 *
 * A card is as bad as the worst evidence that is open against it. Evidence is closed by its own kind
 * only: a failed probe by one that passes, silence by an answer, an XID by what the catalogue wants
 * for it (counters that are clear, or a reset). Time alone closes nothing, and a probe closes nothing
 * that came after it was begun: its answer may be older.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"

enum health_evidence {
	HEALTH_PROBE,  /* the last probe says so of the card; or it was not in it any more */
	HEALTH_SILENT, /* the driver has not answered for too long */
	HEALTH_XID,    /* the driver reported an error that is not a program's */
	HEALTH_EVIDENCE_MAX,
};

enum health_cure {                       /* what closes an XID */
		   HEALTH_CURE_COUNTERS, /* a probe that passes: it asks for the very counters */
		   HEALTH_CURE_RESET,    /* the card was reset, or the driver loaded again */
};

struct health_row {
	uint64_t xid;
	enum card_health health;
	enum health_cure cure;
	const char *text;
};
/* The catalogue's row, or that of all others (xid 0). */
const struct health_row *health_row(uint64_t xid);

struct health_card {
	char uuid[CARD_UUID_MAX], bus_id[CARD_BUS_ID_MAX];
	struct card_condition condition;                     /* as everybody is told */
	bool present;                                        /* in the last probe */
	struct card_condition evidence[HEALTH_EVIDENCE_MAX]; /* healthy: none is open */
	uint64_t opened[HEALTH_EVIDENCE_MAX];                /* after so many probes were begun */
	uint64_t xid;                                        /* of the open evidence */
	bool was_lost;                /* a probe found it lost or gone since the XID */
	struct card_sample before;    /* the highest counters since the XID, or the last ones */
	uint64_t xid_last, xid_total; /* reported since the start, those of programs too */
	unsigned index;               /* for sentences; CARD_INDEX_NONE unknown */
};

struct health {
	struct health_card *cards; /* owned */
	size_t count, capacity;
	uint64_t begun;          /* probes */
	char driver[2 * 80 + 8]; /* versions of the last probe: another one is a reset of all */
};

void health_release(struct health *health);

/* A full probe begins, whose answer health_probe() will take. */
void health_ask(struct health *health);
/*
 * Takes a full probe as device_probe() gave it: closes and opens evidence, and writes what is known of
 * each card into INVENTORY. Cards of before that are not in it are lost. 1: a card's health has changed; 0; -ENOMEM.
 */
int health_probe(struct health *health, struct inventory *inventory, int64_t now,
		 struct error *error);
/*
 * An XID of the card of UUID, or with an empty one of that address. COUNTS: it is not a program's own
 * (plugin_config_xid_counts). 1: its health has changed; 0; -ENODEV: no such card.
 */
int health_xid(struct health *health, const char *uuid, const char *bus_id, uint64_t xid,
	       bool counts, int64_t now);
/* The driver has not answered for SECONDS: every card that was well is suspect, until a probe ends. 1, 0 */
int health_silent(struct health *health, unsigned seconds, int64_t now);
/* A card fell off the bus, says an event: until a probe passes. 1, 0, -ENODEV. */
int health_lost(struct health *health, const char *uuid, const char *bus_id, int64_t now);
/* Writes what is known into the cards of INVENTORY, after events. */
void health_apply(const struct health *health, struct inventory *inventory);
/* NULL: none. */
const struct health_card *health_find(const struct health *health, const char *uuid);
