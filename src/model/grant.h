/* SPDX-License-Identifier: Apache-2.0 */
/* What one container holds. A container without a card has one too, of kind none. */
#pragma once

#include <stdint.h>

#include "base/base.h"
#include "model/request.h"

enum enforcement {
	ENFORCEMENT_WHOLE, /* the device cgroup: nobody else has the card */
	ENFORCEMENT_NONE,  /* "none (reserved only)": nothing keeps the tenant inside its slice */
	ENFORCEMENT_MAX,
	ENFORCEMENT_INVALID = -22,
};

struct grant_card {
	char uuid[96];
	unsigned units;           /* slice: GiB reserved on this card; whole card: all its units */
	uint64_t memory_mib;      /* slice: MiB to enforce */
	unsigned compute_percent; /* slice: cap, 0 = weight */
	unsigned mig_start;       /* MIG: first memory slice of the instance; one entry each */
};

struct grant {
	char *namespace, *pod, *uid, *container; /* owned */
	enum request_kind kind;
	enum enforcement enforcement;
	char mig_profile[32];     /* MIG: of all its instances */
	struct grant_card *cards; /* owned */
	size_t card_count, card_capacity;
};

void grant_release(struct grant *grant);
int grant_to_json(const struct grant *grant, struct json_object **ret, struct error *error);
int grant_from_json(struct json_object *object, struct grant *ret, struct error *error);
const char *enforcement_to_string(enum enforcement enforcement); /* "none (reserved only)" */
enum enforcement enforcement_from_string(const char *text);
