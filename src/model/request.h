/* SPDX-License-Identifier: Apache-2.0 */
/* What one container asks for, in one form for all dialects. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum request_kind {
	REQUEST_NONE,
	REQUEST_WHOLE,  /* N whole cards, nobody else on them */
	REQUEST_SLICE,  /* memory (and compute) of one or more cards */
	REQUEST_SHARED, /* N time-slicing replicas or MPS clients */
	REQUEST_MIG,    /* N MIG instances of a profile */
	REQUEST_KIND_MAX,
	REQUEST_KIND_INVALID = -22,
};

enum card_policy {
	POLICY_DEFAULT,
	POLICY_BINPACK,
	POLICY_SPREAD,
	POLICY_TOPOLOGY,
	POLICY_MAX,
	POLICY_INVALID = -22
};

struct string_list {
	char **items; /* owned */
	size_t count, capacity;
};
int string_list_add(struct string_list *list, const char *text); /* 0 or -ENOMEM */
/* The same of a sentence, of which STRING_LIST_SENTENCE_MAX bytes are kept. */
#define STRING_LIST_SENTENCE_MAX 16384
int string_list_addf(struct string_list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int string_list_addv(struct string_list *list, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));
void string_list_release(struct string_list *list);

struct request {
	enum request_kind kind;
	unsigned cards;           /* whole cards, slice cards, replicas or instances */
	uint64_t memory_mib;      /* slice: enforced MiB on each card */
	unsigned memory_percent;  /* slice: share of each card instead of MiB (1..100), or 0 */
	unsigned units;           /* slice: reserved GiB on each card = ceil(memory_mib / 1024);
				   * with memory_percent it depends on the card, and is 0 here */
	unsigned compute_percent; /* slice: hard cap on each card, 0 = weight by memory */
	char mig_profile[32];
	struct string_list models, not_models; /* patterns, see parse_glob(); any may match */
	struct string_list uuids, not_uuids;
	enum card_policy policy;
	const char *dialect; /* name of the row that translated it; static */
};

void request_release(struct request *request);
/* "2 whole cards", "a slice of 12 GiB", "a slice of 12 GiB and 30 % compute on each of 2 cards" */
int request_describe(const struct request *request, struct strbuf *out);

const char *request_kind_to_string(enum request_kind kind);
const char *card_policy_to_string(enum card_policy policy);
enum card_policy card_policy_from_string(const char *text);
enum request_kind request_kind_from_string(const char *text);
