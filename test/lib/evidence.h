/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evidence of the tests of src/doctor: tables of files with their true cause, ways to change a text whose
 * answer stays, and whether the doctor's answer is right. Everything is the caller's; what cannot be
 * read fails the test.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doctor/doctor.h"

/* A line of an INDEX (test/data/doctor/reports/README.md). */
struct evidence_row {
	char *line;                               /* owns the others */
	const char *file, *source, *link, *cause; /* LINK: of the chain, or "slow" */
	const char *certainty, *codes;            /* CODES: "a,b;c" */
	const char *enough;                       /* "piece + piece", or "" */
};
struct evidence_table {
	struct evidence_row *rows;
	size_t count, capacity;
};
void evidence_table_read(struct evidence_table *table, const char *path);
void evidence_table_release(struct evidence_table *table);

/* "from<TAB>to" a line; at each place of a text the first that fits counts. */
struct rewriting {
	char *from, *to; /* FROM owns both */
};
struct rewritings {
	struct rewriting *rows;
	size_t count, capacity;
};
void rewritings_read(struct rewritings *table, const char *path);
void rewritings_release(struct rewritings *table);

/* A file, or a folder with all below it. */
struct evidence_set {
	char *name;
	struct evidence_file {
		char *name, *text;
		size_t length;
	} * files;
	size_t count, capacity;
};
struct evidence_sets {
	struct evidence_set *sets;
	size_t count, capacity;
};
/* One set for each entry of FOLDER, by name. */
void evidence_sets_read(struct evidence_sets *sets, const char *folder);
void evidence_sets_release(struct evidence_sets *sets);

char *evidence_read(const char *folder, const char *file);
char *evidence_rewrite(const char *text, const struct rewritings *table);
/* Sections ("--- heading" to the next) in another order. */
char *evidence_shuffle(const char *text, uint64_t seed);
/* Without half of its lines, rounded down. */
char *evidence_halve(const char *text, uint64_t seed);
/* Sections of TEXT in their order, with the files of SET between them. */
char *evidence_mix(const char *text, const struct evidence_set *set, uint64_t seed);
/* Has TEXT a line for each piece of ROW->enough? Not when there is none. */
bool evidence_is_enough(const struct evidence_row *row, const char *text);

/*
 * Wrong: another link is called broken first, or another cause is certain or the first likely one. Where
 * the true cause is only probable, it may be the second. Unknown: neither.
 */
enum answer { ANSWER_RIGHT, ANSWER_UNKNOWN, ANSWER_WRONG, ANSWER_MAX };
enum answer evidence_answer(const struct evidence_row *row, const struct verdict *verdict);
/* "code=certainty ... | first broken link" */
char *evidence_tell(const struct verdict *verdict);
