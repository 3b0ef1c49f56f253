/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causes and symptoms as data.
 *
 * How to add a cause: one row in the rules_<link>.c of the link that is broken, and a file
 * test/data/doctor/cases/<code>.txt with two positive texts and two near misses. The build fails when
 * the cases are missing or alike (test/checks/check_cases); test_doctor_cases runs them;
 * test_doctor_engine complains about a condition that cannot be read and a code that does not exist.
 *
 * A condition is a string:
 *   "@key", "@key=value"   a fact of facts.h; the value may have '*'
 *   anything else          a message, somewhere in any source
 * A message is compared without regard to case, white space (line ends too), quotation marks and
 * backslashes, so that a text which was wrapped, quoted or escaped is the same text. Where its first or last
 * character is a letter or digit, the text has the edge of a word there. '*' is a gap of at most 160
 * characters in which there is no blank line and no heading; '#' is a number (digits and dots). One piece
 * without '*' and '#' has at least 6 characters. Take the words that a program prints, as few as will do,
 * and no name, number, version or path that another machine would have otherwise.
 */
#pragma once

#include "doctor/doctor.h"

/* The lists end with NULL, if not full. */
struct rule {
	const char *code;         /* snake_case, the same for ever */
	enum reason_link link;    /* the link that is broken */
	enum certainty certainty; /* when all of SEEN and one of ANY are seen */
	bool slow;                /* works, but slowly: its link is suspect, never broken */
	const char *seen[6];      /* all of them */
	const char *any[12];      /* and one of these, if there are any */
	const char *absent[6];    /* and none of these */
	const char *sure[6];      /* one of these too: certain */
	const char
		*explains[12]; /* codes of causes or symptoms that fall away when this one holds */
	const char *cause;     /* one to three plain sentences: what is broken and why */
	const char *cure[5];   /* commands, or one sentence that says what to do; in order */
	const char *source;    /* address of the fact */
};

/* A text that several causes can have. */
struct symptom {
	const char *code;
	enum reason_link link;
	const char *seen[4];
	const char *any[12];
	const char *absent[6];
	/* Two to four codes of causes: possible, unless one of them, or one that explains this, holds. */
	const char *remain[4];
	struct doctor_question ask[3];
	const char *source;
};

/* One table a link, each ended by a row without a code. */
extern const struct rule doctor_rules_driver[], doctor_rules_runtime[], doctor_rules_plugin[],
	doctor_rules_scheduler[], doctor_rules_injection[], doctor_rules_cuda[],
	doctor_rules_sharing[], doctor_rules_dra[], doctor_rules_slow[];
extern const struct symptom doctor_symptoms_driver[], doctor_symptoms_runtime[],
	doctor_symptoms_plugin[], doctor_symptoms_scheduler[], doctor_symptoms_injection[],
	doctor_symptoms_cuda[], doctor_symptoms_sharing[], doctor_symptoms_dra[];

/* Tables of both kinds. */
struct rulebook {
	const struct rule *const *rules;
	size_t rule_tables;
	const struct symptom *const *symptoms;
	size_t symptom_tables;
};
extern const struct rulebook doctor_rulebook; /* all of the above */

/* The next row: for (size_t at = 0; (rule = rulebook_rule(book, &at));) */
const struct rule *rulebook_rule(const struct rulebook *book, size_t *at);
const struct symptom *rulebook_symptom(const struct rulebook *book, size_t *at);

/* A doctor who knows BOOK and nothing else, for tests; it stays the caller's. NULL: no memory, or a
 * condition of BOOK cannot be read. */
struct doctor *doctor_new_with(const struct rulebook *book);
