/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evidence that was written by somebody who did not know the rules (test/data/doctor/unseen). Its first
 * score is in docs/doctor.md; what the rules have reached since is kept here.
 */
#include "evidence.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"
#include "doctor/rule.h"

#define UNSEEN SOURCE_ROOT "/test/data/doctor/unseen"

/* How to raise them: to what the test prints. They are never lowered. */
enum { RIGHT_MIN = 46, WRONG_MAX = 14 };

/* The last one is the class of what is slow. */
#define LINKS (REASON_LINK_MAX + 1)

struct score {
	unsigned answers[ANSWER_MAX];
	unsigned
		beside; /* of the wrong ones: the true cause, of which the rules say another link */
};

static const char *codes_of(const struct evidence_table *codes, const char *file)
{
	for (size_t i = 0; i < codes->count; i++)
		if (strcmp(codes->rows[i].file, file) == 0)
			return codes->rows[i].source;
	fail_msg("CODES has no line of %s", file);
	return "";
}

/* The true cause stands first, and the rules count it to another link than INDEX does. */
static bool is_beside(const struct evidence_row *row, const struct verdict *verdict)
{
	struct evidence_row other = *row;

	if (verdict->first_broken == REASON_LINK_INVALID)
		return false;
	other.link = reason_link_to_string(verdict->first_broken);
	return evidence_answer(&other, verdict) == ANSWER_RIGHT;
}

static void ask(const struct evidence_row *row, struct score *score)
{
	cleanup(doctor_freep) struct doctor *doctor = doctor_new();
	autofree char *text = evidence_read(UNSEEN, row->file);
	struct verdict verdict = { .finding_count = 0 };
	struct error error = ERROR_INIT;

	assert_non_null(doctor);
	assert_int_equal(doctor_source(doctor, row->file), 0);
	assert_int_equal(doctor_feed(doctor, text, strlen(text)), 0);
	assert_int_equal(doctor_verdict(doctor, &verdict, &error), 0);
	enum answer answer = evidence_answer(row, &verdict);
	bool beside = answer == ANSWER_WRONG && is_beside(row, &verdict);
	autofree char *said = evidence_tell(&verdict);
	score->answers[answer]++;
	score->beside += beside;
	if (answer != ANSWER_RIGHT)
		print_message("# %s (%s, %s): %s%s: %s\n", row->file, row->link, row->codes,
			      answer == ANSWER_WRONG ? "wrong" : "unknown",
			      beside ? ", the cause is right" : "", said);
	verdict_release(&verdict);
}

static void print_score(const char *link, const struct score *score)
{
	print_message("# %-10s %3u right, %3u unknown, %3u wrong (of which %u name the cause)\n",
		      link, score->answers[ANSWER_RIGHT], score->answers[ANSWER_UNKNOWN],
		      score->answers[ANSWER_WRONG], score->beside);
}

TEST(evidence_of_others_is_understood)
{
	struct score scores[LINKS] = { 0 }, all = { 0 };
	struct evidence_table table, codes;

	evidence_table_read(&table, UNSEEN "/INDEX");
	evidence_table_read(&codes, UNSEEN "/CODES");
	for (size_t i = 0; i < table.count; i++) {
		struct evidence_row *row = &table.rows[i];
		enum reason_link link = reason_link_from_string(row->link);

		row->codes = codes_of(&codes, row->file);
		ask(row, &scores[link == REASON_LINK_INVALID ? REASON_LINK_MAX : link]);
	}
	for (int link = 0; link < LINKS; link++) {
		print_score(link < REASON_LINK_MAX ? reason_link_to_string((enum reason_link)link)
						   : "slow",
			    &scores[link]);
		for (int answer = 0; answer < ANSWER_MAX; answer++)
			all.answers[answer] += scores[link].answers[answer];
		all.beside += scores[link].beside;
	}
	print_score("all", &all);
	evidence_table_release(&table);
	evidence_table_release(&codes);
	assert_true(all.answers[ANSWER_RIGHT] >= RIGHT_MIN);
	assert_true(all.answers[ANSWER_WRONG] <= WRONG_MAX);
}
