/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public reports whose true cause is known (test/data/doctor/reports): as they are, and changed in ways
 * that leave the cause what it is. And healthy sets, of which nothing may be said.
 */
#include "evidence.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"
#include "doctor/rule.h"

#define DATA    SOURCE_ROOT "/test/data/doctor"
#define REPORTS DATA "/reports"

enum { SEEDS = 20, MIXES = 10, SHOWN = 2 /* of a file */ };

struct world {
	struct evidence_table table;
	struct rewritings rewritings;
	struct evidence_sets healthy;
};

static void world_make(struct world *world)
{
	evidence_table_read(&world->table, REPORTS "/INDEX");
	rewritings_read(&world->rewritings, REPORTS "/REWRITE");
	evidence_sets_read(&world->healthy, DATA "/healthy");
	assert_int_equal(world->table.count, 31);
	assert_true(world->healthy.count >= 30);
}

static void world_release(struct world *world)
{
	evidence_table_release(&world->table);
	rewritings_release(&world->rewritings);
	evidence_sets_release(&world->healthy);
}

/* How often a kind of change was answered how. */
struct count {
	const char *kind;
	unsigned answers[ANSWER_MAX];
	unsigned early; /* unknown, though lines that are enough are there */
	const struct evidence_row *row;
	unsigned shown; /* of ROW */
};

static void feed(struct doctor *doctor, const char *name, const char *text)
{
	assert_int_equal(doctor_source(doctor, name), 0);
	assert_int_equal(doctor_feed(doctor, text, strlen(text)), 0);
}

static void feed_set(struct doctor *doctor, const struct evidence_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		feed(doctor, set->files[i].name, set->files[i].text);
}

static struct doctor *new_doctor(void)
{
	struct doctor *doctor = doctor_new();

	assert_non_null(doctor);
	return doctor;
}

/* What DOCTOR says of ROW's evidence; BEFORE is what was kept of the file, before it was rewritten. */
static enum answer ask(struct doctor *doctor, const struct evidence_row *row, const char *before,
		       unsigned seed, struct count *count)
{
	struct verdict verdict = { .finding_count = 0 };
	struct error error = ERROR_INIT;

	assert_int_equal(doctor_verdict(doctor, &verdict, &error), 0);
	enum answer answer = evidence_answer(row, &verdict);
	bool early = answer == ANSWER_UNKNOWN && evidence_is_enough(row, before);
	count->answers[answer]++;
	count->early += early;
	if (count->row != row)
		count->shown = 0;
	count->row = row;
	if ((answer == ANSWER_WRONG || early) && count->shown++ < SHOWN) {
		autofree char *said = evidence_tell(&verdict);

		print_message("# %s, %s, seed %u: %s: %s; right is %s (%s)\n", row->file,
			      count->kind, seed, answer == ANSWER_WRONG ? "wrong" : "unknown", said,
			      row->codes, row->link);
	}
	verdict_release(&verdict);
	return answer;
}

static void ask_text(const struct evidence_row *row, const char *text, const char *before,
		     unsigned seed, struct count *count)
{
	cleanup(doctor_freep) struct doctor *doctor = new_doctor();

	feed(doctor, row->file, text);
	ask(doctor, row, before, seed, count);
}

/* Fails when one is wrong, more than PERCENT are unknown, or one is unknown that need not be. */
static void check(const struct count *count, unsigned percent)
{
	const unsigned *answers = count->answers;
	unsigned all = answers[ANSWER_RIGHT] + answers[ANSWER_UNKNOWN] + answers[ANSWER_WRONG];

	print_message("# %s: %u texts, %u right, %u unknown (%u %%), %u wrong\n", count->kind, all,
		      answers[ANSWER_RIGHT], answers[ANSWER_UNKNOWN],
		      answers[ANSWER_UNKNOWN] * 100 / all, answers[ANSWER_WRONG]);
	if (answers[ANSWER_WRONG])
		fail_msg("%s: %u of %u answers are wrong", count->kind, answers[ANSWER_WRONG], all);
	if (answers[ANSWER_UNKNOWN] * 100 > percent * all)
		fail_msg("%s: %u of %u are unknown", count->kind, answers[ANSWER_UNKNOWN], all);
	if (count->early)
		fail_msg("%s: %u are unknown though the lines that are enough are there",
			 count->kind, count->early);
}

TEST(each_accepted_code_is_a_cause_of_the_link)
{
	struct world world;
	unsigned bad = 0;

	world_make(&world);
	for (size_t i = 0; i < world.table.count; i++) {
		const struct evidence_row *row = &world.table.rows[i];
		autofree char *codes = strdup(row->codes),
			      *text = evidence_read(REPORTS, row->file);
		char *rest = codes, *code;

		assert_true(evidence_is_enough(row, text));
		while ((code = strsep(&rest, ",;"))) {
			const struct rule *rule = doctor_rule_find(code);

			if (rule && rule->link == reason_link_from_string(row->link))
				continue;
			print_message("# %s: %s is no cause of the link %s\n", row->file, code,
				      row->link);
			bad++;
		}
	}
	world_release(&world);
	assert_int_equal(bad, 0);
}

TEST(each_report_is_understood)
{
	struct count count = { .kind = "as it is" };
	struct world world;

	world_make(&world);
	for (size_t i = 0; i < world.table.count; i++) {
		const struct evidence_row *row = &world.table.rows[i];
		autofree char *text = evidence_read(REPORTS, row->file);
		autofree char *codes = strndup(row->codes, strcspn(row->codes, ";"));
		struct evidence_row whole = *row;

		assert_non_null(codes);
		whole.codes = codes;
		ask_text(&whole, text, text, 0, &count);
	}
	world_release(&world);
	check(&count, 0);
}

TEST(names_numbers_and_paths_do_not_matter)
{
	struct count count = { .kind = "rewritten" };
	struct world world;

	world_make(&world);
	for (size_t i = 0; i < world.table.count; i++) {
		const struct evidence_row *row = &world.table.rows[i];
		autofree char *text = evidence_read(REPORTS, row->file);
		autofree char *other = evidence_rewrite(text, &world.rewritings);

		if (strcmp(text, other) == 0)
			fail_msg("REWRITE changes nothing in %s", row->file);
		ask_text(row, other, text, 0, &count);
	}
	world_release(&world);
	check(&count, 15);
}

TEST(the_order_of_sections_does_not_matter)
{
	struct count count = { .kind = "shuffled" };
	struct world world;

	world_make(&world);
	for (size_t i = 0; i < world.table.count; i++)
		for (unsigned seed = 1; seed <= SEEDS; seed++) {
			const struct evidence_row *row = &world.table.rows[i];
			autofree char *text = evidence_read(REPORTS, row->file);
			autofree char *other = evidence_shuffle(text, seed);

			assert_int_equal(strlen(text), strlen(other));
			ask_text(row, other, text, seed, &count);
		}
	world_release(&world);
	check(&count, 15);
}

static void ask_half(const struct evidence_row *row, const struct rewritings *rewritings,
		     unsigned seed, struct count *count)
{
	autofree char *text = evidence_read(REPORTS, row->file);
	autofree char *half = evidence_halve(text, seed);
	autofree char *other = rewritings ? evidence_rewrite(half, rewritings) : NULL;

	ask_text(row, other ? other : half, half, seed, count);
}

TEST(half_of_the_lines_do_not_mislead)
{
	struct count count = { .kind = "half removed" };
	struct count rewritten = { .kind = "half removed and rewritten" };
	struct world world;

	world_make(&world);
	for (size_t i = 0; i < world.table.count; i++)
		for (unsigned seed = 1; seed <= SEEDS; seed++) {
			ask_half(&world.table.rows[i], NULL, seed, &count);
			ask_half(&world.table.rows[i], &world.rewritings, seed, &rewritten);
		}
	world_release(&world);
	check(&count, 60);
	check(&rewritten, 60);
}

/* Healthy output as other sources, before or after. */
static void ask_beside(const struct evidence_row *row, const struct evidence_set *set, bool before,
		       unsigned seed, struct count *count)
{
	cleanup(doctor_freep) struct doctor *doctor = new_doctor();
	autofree char *text = evidence_read(REPORTS, row->file);

	if (before)
		feed_set(doctor, set);
	feed(doctor, row->file, text);
	if (!before)
		feed_set(doctor, set);
	ask(doctor, row, "", seed, count);
}

TEST(healthy_output_beside_it_does_not_matter)
{
	struct count beside = { .kind = "healthy files beside it" };
	struct count amid = { .kind = "healthy sections amid it" };
	struct count all = { .kind = "rewritten, shuffled and amid healthy sections" };
	struct world world;

	world_make(&world);
	for (size_t i = 0; i < world.table.count; i++)
		for (unsigned seed = 0; seed < MIXES; seed++) {
			const struct evidence_row *row = &world.table.rows[i];
			const struct evidence_set *set =
				&world.healthy.sets[(i * MIXES + seed) % world.healthy.count];
			autofree char *text = evidence_read(REPORTS, row->file);
			autofree char *mixed = evidence_mix(text, set, seed);
			autofree char *shuffled = evidence_shuffle(text, seed);
			autofree char *rewritten = evidence_rewrite(shuffled, &world.rewritings);
			autofree char *other = evidence_mix(rewritten, set, seed);

			ask_beside(row, set, seed % 2, seed, &beside);
			ask_text(row, mixed, "", seed, &amid);
			ask_text(row, other, "", seed, &all);
		}
	world_release(&world);
	check(&beside, 15);
	check(&amid, 15);
	check(&all, 15);
}

TEST(healthy_sets_give_no_alarm)
{
	struct world world;
	unsigned alarms = 0, healthy = 0;

	world_make(&world);
	for (size_t i = 0; i < world.healthy.count; i++) {
		const struct evidence_set *set = &world.healthy.sets[i];
		cleanup(doctor_freep) struct doctor *doctor = new_doctor();
		struct verdict verdict = { .finding_count = 0 };
		struct error error = ERROR_INIT;

		feed_set(doctor, set);
		assert_int_equal(doctor_verdict(doctor, &verdict, &error), 0);
		autofree char *said = evidence_tell(&verdict);
		if (verdict.finding_count) {
			alarms++;
			print_message("# %s: %s\n", set->name, said);
		} else if (verdict_outcome(&verdict) == DOCTOR_HEALTHY) {
			healthy++;
		} else {
			print_message("# %s: not known to be healthy\n", set->name);
		}
		verdict_release(&verdict);
	}
	print_message("# %zu healthy sets, %u alarms, %u known to be healthy\n",
		      world.healthy.count, alarms, healthy);
	world_release(&world);
	assert_int_equal(alarms, 0);
}
