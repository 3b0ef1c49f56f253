/* SPDX-License-Identifier: Apache-2.0 */
/* A row of the dialect table and a translation under way; of dialect*.c only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/dialect.h"

#define MIG_PREFIX "nvidia.com/mig-"

enum meaning {
	MEANING_CARDS,        /* whole cards, or cards that a slice is on */
	MEANING_SHARED,       /* replicas */
	MEANING_MIG,          /* instances; the profile is behind the prefix */
	MEANING_GIB_TOTAL,    /* GiB over all cards; from 2^20 on bytes */
	MEANING_MIB_EACH,     /* MiB on each card */
	MEANING_PERCENT_EACH, /* of each card's memory */
	MEANING_COMPUTE,      /* percent of each card */
	MEANING_SLICE_CARDS,
	MEANING_MODELS,
	MEANING_NOT_MODELS,
	MEANING_UUIDS,
	MEANING_NOT_UUIDS,
	MEANING_POLICY,
	MEANING_FRACTION,    /* annotation: share of each card's memory, "0.5" */
	MEANING_MIB_TEXT,    /* annotation: MiB on each card */
	MEANING_SHARE_TOTAL, /* percent of a card, memory and compute, over all cards */
	MEANING_CORE_TOTAL,  /* the same of compute alone */
	MEANING_RATIO_TOTAL, /* the same of memory alone */
	MEANING_BYTES_TOTAL, /* bytes over all cards */
	MEANING_PLACE,       /* which container: the caller has read it */
	MEANING_NOTHING,     /* known and without effect here: one note */
	MEANING_MAX,
};

struct dialect_key {
	const char *name;
	enum meaning meaning;
	bool prefix;    /* the name goes on: a MIG profile */
	bool substring; /* a list of parts of names, not of patterns */
};

struct translation;

struct dialect {
	const char *name;
	struct dialect_key resources[8]; /* end with a row without a name, as all lists here */
	struct dialect_key annotations[12];
	struct {
		const char *name;
		enum card_policy policy;
	} policies[8];
	bool slices;       /* its annotations never speak of another container */
	bool policy_chain; /* several names by comma, unknown ones are passed over */
	int (*build)(struct translation *translation);
};

struct translation {
	const struct dialect_input *input;
	const struct dialect *dialect;
	struct request request; /* half built */
	struct string_list *notes;
	struct reason *reason;
	struct error *error;
	/* by meaning: what was given, and under which name */
	const char *names[MEANING_MAX];
	int64_t numbers[MEANING_MAX];
	const char *texts[MEANING_MAX];
	bool substring[MEANING_MAX];
};

/* Both begin with "FILE:LINE: " where the source is known. A refusal fills the reason, and the
 * error with its sentence, and returns -EPERM. */
int dialect_note(struct translation *translation, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int dialect_refuse(struct translation *translation, enum reason_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The names in limits and requests do not go together. */
int dialect_refuse_mixture(struct translation *translation);

/* Fill the request from the numbers; one a dialect. */
int dialect_build_native(struct translation *translation);
int dialect_build_nvidia(struct translation *translation);
int dialect_build_hami(struct translation *translation);
int dialect_build_gpushare(struct translation *translation);
int dialect_build_koordinator(struct translation *translation);
int dialect_build_kai(struct translation *translation);
/* Models, UUIDs and policy, the same for all. */
int dialect_read_choice(struct translation *translation);
