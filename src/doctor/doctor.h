/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of src/doctor: evidence in, findings out. Evidence is text from anybody, in any pieces and
 * in any order; what comes of it is which link of the chain is broken, by what cause, from which lines,
 * and what to do. Nothing is opened, asked or printed here.
 *
 *	struct doctor *doctor = doctor_new();
 *	doctor_source(doctor, "kubectl-describe.txt");
 *	doctor_feed(doctor, bytes, length);     (any number of times, and any number of sources)
 *	doctor_verdict(doctor, &verdict, &error);
 *
 * Causes compete: what a deeper cause explains is not said beside it. What is not known is unknown.
 * Memory does not grow with the evidence. How to add a cause: rule.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"

enum certainty {
	CERTAINTY_POSSIBLE, /* one of two or three that the evidence leaves */
	CERTAINTY_LIKELY,
	CERTAINTY_CERTAIN, /* confirmed by a second fact, or said by the program that knows */
	CERTAINTY_MAX,
	CERTAINTY_INVALID = -22,
};
const char *certainty_to_string(enum certainty certainty);
enum certainty certainty_from_string(const char *text);

enum link_state {
	LINK_UNKNOWN, /* nothing was seen of it */
	LINK_OK,      /* something was seen that only works when it does */
	LINK_SUSPECT, /* works, but slowly, or a possible cause is here */
	LINK_BROKEN,
	LINK_STATE_MAX,
	LINK_STATE_INVALID = -22,
};
const char *link_state_to_string(enum link_state state);
enum link_state link_state_from_string(const char *text);

/* A place in the evidence. The text is safe to print: no control characters, no secrets, at most 300
 * bytes of UTF-8. */
struct quote {
	char *source;  /* file or member name, safe to print as well */
	uint64_t line; /* from 1 */
	char *text;
};

struct rule; /* rule.h */

/* One cause that holds. Strings of RULE and CURE are the rule's own, never freed. */
struct finding {
	const struct rule *rule;
	enum certainty certainty;
	unsigned met; /* conditions of the rule that were met: the more, the better it fits */
	struct quote *evidence;
	size_t evidence_count;
};

/* What to run to tell apart what remains. Static strings. */
struct doctor_question {
	const char *command, *tells;
};

struct verdict {
	enum link_state chain[REASON_LINK_MAX];
	enum reason_link first_broken; /* REASON_LINK_INVALID: none is known to be */
	struct finding *findings;      /* the most probable cause first */
	size_t finding_count;
	struct doctor_question *asks;
	size_t ask_count;
	/* What keeps a Pod from running and is no link of the chain; static. NULL: nothing, or there are
	 * findings. */
	const char *outside;
};

void verdict_release(struct verdict *verdict);

struct doctor; /* owns what it has seen */

struct doctor *doctor_new(void); /* NULL: no memory */
void doctor_free(struct doctor *doctor);
DEFINE_CLEANUP(struct doctor, doctor_free)

/* A new file or member: its lines count from 1. 0 or -ENOMEM. */
int doctor_source(struct doctor *doctor, const char *name);
/* The next bytes of the source, in pieces of any length; lines may be cut between them. 0 or -ENOMEM. */
int doctor_feed(struct doctor *doctor, const char *bytes, size_t length);

/*
 * What has been seen so far comes to. More may be fed afterwards, and asked again. Free with
 * verdict_release(). 0 or -ENOMEM.
 */
int doctor_verdict(struct doctor *doctor, struct verdict *ret, struct error *error);

/* What a program that ends with this verdict says by its exit code. */
enum doctor_outcome {
	DOCTOR_HEALTHY, /* a link is known to work, and nothing was found */
	DOCTOR_BROKEN,  /* a certain or likely cause, slow ones too */
	DOCTOR_UNKNOWN, /* neither */
};
enum doctor_outcome verdict_outcome(const struct verdict *verdict);

/* The fixed form for scripts: {"chain": [...], "first_broken": ..., "findings": [...], "ask": [...]}. */
int verdict_to_json(const struct verdict *verdict, struct json_object **ret, struct error *error);

/*
 * Appends the text for people: the chain on two lines, the first cause with evidence and cure, the others
 * short, what to ask. UNICODE: the output shows more than ASCII. 0 or the failure of OUT.
 */
int verdict_to_text(const struct verdict *verdict, bool unicode, struct strbuf *out);

/* All causes, link by link, ended by NULL when AT has passed the last: for (size_t at = 0; ...). */
const struct rule *doctor_rule_next(size_t *at);
const struct rule *doctor_rule_find(const char *code); /* NULL: there is none */
/* What `--list` and `--explain` show. */
int rule_list_to_text(struct strbuf *out);
int rule_list_to_json(struct json_object **ret, struct error *error);
int rule_to_text(const struct rule *rule, struct strbuf *out);
int rule_to_json(const struct rule *rule, struct json_object **ret, struct error *error);
