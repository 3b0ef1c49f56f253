/* SPDX-License-Identifier: Apache-2.0 */
/* Each cause's texts: what shows it, and what looks like it (test/checks/check_cases says the form). */
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "doctor/doctor.h"
#include "doctor/rule.h"

#define CASES SOURCE_ROOT "/test/data/doctor/cases"

enum { FILE_MAX = 1 << 20 };

struct outcome {
	unsigned cases, failed;
};

/* One case of the file of CODE; INSTEAD NULL: it shows CODE. */
struct one_case {
	const char *code, *instead;
	unsigned number;
	const char *text;
	size_t length;
};

static const struct symptom *find_symptom(const char *code)
{
	const struct symptom *symptom;

	for (size_t at = 0; (symptom = rulebook_symptom(&doctor_rulebook, &at));)
		if (strcmp(symptom->code, code) == 0)
			return symptom;
	return NULL;
}

static bool is_sure(const struct finding *finding)
{
	return finding->certainty > CERTAINTY_POSSIBLE;
}

/* Is CODE what VERDICT says first: a cause, or a symptom's causes as possible? */
static bool says_first(const struct verdict *verdict, const char *code)
{
	const struct symptom *symptom = find_symptom(code);

	if (!verdict->finding_count)
		return false;
	const struct finding *first = &verdict->findings[0];
	if (!symptom)
		return strcmp(first->rule->code, code) == 0;
	for (size_t i = 0; i < ARRAY_SIZE(symptom->remain) && symptom->remain[i]; i++)
		if (!is_sure(first) && strcmp(first->rule->code, symptom->remain[i]) == 0)
			return true;
	return false;
}

static bool is_right(const struct one_case *one, const struct verdict *verdict)
{
	if (!one->instead)
		return says_first(verdict, one->code);
	for (size_t i = 0; i < verdict->finding_count; i++)
		if (is_sure(&verdict->findings[i]) &&
		    (strcmp(one->instead, "none") == 0 ||
		     strcmp(verdict->findings[i].rule->code, one->code) == 0))
			return false;
	return strcmp(one->instead, "none") == 0 || says_first(verdict, one->instead);
}

static void run_case(const struct one_case *one, struct outcome *outcome)
{
	cleanup(doctor_freep) struct doctor *doctor = doctor_new();
	struct error error = ERROR_INIT;
	struct verdict verdict;

	assert_non_null(doctor);
	assert_int_equal(doctor_source(doctor, one->code), 0);
	assert_int_equal(doctor_feed(doctor, one->text, one->length), 0);
	assert_int_equal(doctor_verdict(doctor, &verdict, &error), 0);
	outcome->cases++;
	if (!is_right(one, &verdict)) {
		outcome->failed++;
		print_message("# %s.txt, case %u (%s%s):", one->code, one->number,
			      one->instead ? "- " : "+", one->instead ? one->instead : "");
		for (size_t i = 0; i < verdict.finding_count; i++)
			print_message(" %s=%s", verdict.findings[i].rule->code,
				      certainty_to_string(verdict.findings[i].certainty));
		print_message("%s\n", verdict.finding_count ? "" : " nothing was found");
	}
	verdict_release(&verdict);
}

static void run_file(const char *name, struct outcome *outcome)
{
	autofree char *path = NULL, *text = NULL, *code = strdup(name);
	struct one_case one = { .code = code };
	struct error error = ERROR_INIT;
	size_t length;

	assert_true(asprintf(&path, CASES "/%s", name) > 0);
	*strrchr(code, '.') = '\0';
	if (file_read(path, FILE_MAX, &text, &length, &error) < 0)
		fail_msg("%s", error.message);
	for (char *at = text; (at = strstr(at, "=== "));) {
		char *line = at + strlen("=== "), *end = strchr(line, '\n');

		if ((at != text && at[-1] != '\n') || !end || (*line != '+' && *line != '-')) {
			at = line;
			continue;
		}
		*end = '\0';
		one.instead = *line == '-' ? line + 2 : NULL;
		one.text = at = end + 1;
		one.number++;
		char *next = strstr(at, "\n=== ");
		while (next && next[5] != '+' && next[5] != '-')
			next = strstr(next + 1, "\n=== ");
		one.length = next ? (size_t)(next + 1 - at) : strlen(at);
		run_case(&one, outcome);
	}
}

TEST(cases_give_the_cause_that_they_are_for)
{
	struct outcome outcome = { 0 };
	struct dirent **names = NULL;
	int count = scandir(CASES, &names, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		if (strstr(names[i]->d_name, ".txt"))
			run_file(names[i]->d_name, &outcome);
		free(names[i]);
	}
	free(names);
	size_t rules = 0;
	for (size_t at = 0; doctor_rule_next(&at);)
		rules++;
	print_message("# %u cases of %zu causes\n", outcome.cases, rules);
	assert_true(outcome.cases >= 4 * rules);
	if (outcome.failed)
		fail_msg("%u of %u cases", outcome.failed, outcome.cases);
}
