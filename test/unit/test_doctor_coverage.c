/* SPDX-License-Identifier: Apache-2.0 */
/* Each error text that the doctor is expected to know is answered (test/data/doctor/coverage.txt). */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "doctor/doctor.h"
#include "doctor/rule.h"

#define TABLE SOURCE_ROOT "/test/data/doctor/coverage.txt"

enum { TABLE_MAX = 1 << 20, LEAST = 185 /* texts; they do not get fewer */ };

/* A text of the table, and what must be said of it. */
struct row {
	char *place;
	char kind; /* '=' broken, '~' slow, '?' possible */
	enum reason_link link;
	char *codes; /* by spaces */
};

/* Reads HEAD, "PLACE KIND LINK CODE...", into ROW, whose texts are HEAD's. */
static void read_head(char *head, struct row *row)
{
	char *kind, *link;

	row->place = strsep(&head, " ");
	kind = strsep(&head, " ");
	link = strsep(&head, " ");
	if (!kind || !strchr("=~?", *kind) || !link || !head)
		fail_msg("%s: PLACE KIND LINK CODE... is wanted", row->place);
	row->kind = *kind;
	row->link = reason_link_from_string(link);
	row->codes = head;
	if ((int)row->link < 0)
		fail_msg("%s: %s is no link", row->place, link);
}

/* Has ROW the code of FINDING, and its link? */
static bool is_named(const struct row *row, const struct finding *finding)
{
	const char *code = finding->rule->code;
	size_t length = strlen(code);

	if (finding->rule->link != row->link)
		return false;
	for (const char *at = row->codes; (at = strstr(at, code)); at += length)
		if ((at == row->codes || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

static bool is_answered(const struct row *row, const struct verdict *verdict)
{
	const struct finding *first = &verdict->findings[0];

	if (!verdict->finding_count)
		return false;
	if (row->kind == '=')
		return is_named(row, first) && first->certainty > CERTAINTY_POSSIBLE &&
		       verdict->first_broken == row->link;
	if (row->kind == '~')
		return is_named(row, first) && first->rule->slow &&
		       verdict->first_broken == REASON_LINK_INVALID;
	for (size_t i = 0; i < verdict->finding_count; i++)
		if (verdict->findings[i].certainty > CERTAINTY_POSSIBLE)
			return false;
	for (size_t i = 0; i < verdict->finding_count; i++)
		if (is_named(row, &verdict->findings[i]))
			return true;
	return false;
}

/* A code that is none is a mistake of the table, whatever else is found. */
static void check_codes(const struct row *row)
{
	autofree char *codes = strdup(row->codes);
	char *rest = codes, *code;

	while ((code = strsep(&rest, " ")))
		if (!doctor_rule_find(code))
			fail_msg("%s: %s is no cause", row->place, code);
}

/* The lines of TEXT that are no comments. */
static void feed(struct doctor *doctor, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		length += text[length] == '\n';
		if (strncmp(text, "# ", 2) != 0)
			assert_int_equal(doctor_feed(doctor, text, length), 0);
		text += length;
	}
}

static bool ask(const struct row *row, const char *text)
{
	cleanup(doctor_freep) struct doctor *doctor = doctor_new();
	struct error error = ERROR_INIT;
	struct verdict verdict;

	assert_non_null(doctor);
	assert_int_equal(doctor_source(doctor, row->place), 0);
	feed(doctor, text);
	assert_int_equal(doctor_verdict(doctor, &verdict, &error), 0);
	bool answered = is_answered(row, &verdict);
	if (!answered) {
		print_message("# %s: %s %s is wanted, and found:", row->place,
			      reason_link_to_string(row->link), row->codes);
		for (size_t i = 0; i < verdict.finding_count; i++)
			print_message(" %s=%s", verdict.findings[i].rule->code,
				      certainty_to_string(verdict.findings[i].certainty));
		print_message("%s\n", verdict.finding_count ? "" : " nothing");
	}
	verdict_release(&verdict);
	return answered;
}

TEST(each_text_is_answered)
{
	autofree char *table = NULL;
	struct error error = ERROR_INIT;
	unsigned texts = 0, open = 0;
	size_t length;

	if (file_read(TABLE, TABLE_MAX, &table, &length, &error) < 0)
		fail_msg("%s", error.message);
	for (char *head = strstr(table, "\n=== "), *next; head; head = next) {
		struct row row;
		char *text = strchr(head + 1, '\n');

		assert_non_null(text);
		*text++ = '\0';
		next = strncmp(text, "=== ", 4) == 0 ? text - 1 : strstr(text, "\n=== ");
		if (next)
			*next = '\0';
		read_head(head + strlen("\n=== "), &row);
		check_codes(&row);
		texts++;
		open += !ask(&row, text);
	}
	print_message("# %u texts, %u without their answer\n", texts, open);
	assert_true(texts >= LEAST);
	if (open)
		fail_msg("%u of %u texts are not answered", open, texts);
}
