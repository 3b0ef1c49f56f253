/* SPDX-License-Identifier: Apache-2.0 */
/* How causes compete, with tables of the test's own; and what must hold of the real ones. */
#include "test.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "doctor/doctor.h"
#include "doctor/doctor_private.h"

static const struct rule deep_rules[] = {
	{ .code = "module_old",
	  .link = REASON_LINK_DRIVER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "library version mismatch" },
	  .sure = { "NVRM: API mismatch" },
	  .explains = { "hook_failed", "no_capacity" },
	  .cause = "The module is old. It was not loaded again.",
	  .cure = { "reboot", "nvidia-smi" },
	  .source = "https://example.org/1" },
	{ .code = "no_card",
	  .link = REASON_LINK_DRIVER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "no such card is here" },
	  .cause = "There is none.",
	  .cure = { "Put one in." },
	  .source = "https://example.org/2" },
	{ .code = NULL },
};
static const struct rule late_rules[] = {
	{ .code = "hook_failed",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_CERTAIN,
	  .seen = { "the hook has failed" },
	  .any = { "because of this", "because of that", "because of those" },
	  .absent = { "all is well again" },
	  .explains = { "start_refused" },
	  .cause = "The hook failed.",
	  .cure = { "fix it" },
	  .source = "https://example.org/3" },
	{ .code = "wrong_flag",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "a wrong flag", "the plugin ends" },
	  .cause = "The flag is wrong.",
	  .cure = { "correct it" },
	  .source = "https://example.org/4" },
	{ .code = "half_a_card",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@pod.gpu.fractional=0.*" },
	  .cause = "Half a card was asked for.",
	  .cure = { "ask for one" },
	  .source = "https://example.org/8" },
	{ .code = "slow_link",
	  .link = REASON_LINK_CUDA,
	  .certainty = CERTAINTY_CERTAIN,
	  .slow = true,
	  .seen = { "four lanes only" },
	  .cause = "The card is slow.",
	  .cure = { "seat it again" },
	  .source = "https://example.org/5" },
	{ .code = NULL },
};
static const struct symptom own_symptoms[] = {
	{ .code = "no_capacity",
	  .link = REASON_LINK_SCHEDULER,
	  .seen = { "0/3 nodes are available" },
	  .remain = { "no_card", "wrong_flag" },
	  .ask = { { "kubectl describe node", "whether it has any" },
		   { "nvidia-smi", "whether the driver works" } },
	  .source = "https://example.org/6" },
	{ .code = "start_refused",
	  .link = REASON_LINK_RUNTIME,
	  .seen = { "container was refused" },
	  .remain = { "wrong_flag", "hook_failed" },
	  .ask = { { "nvidia-smi", "the same again" }, { "journalctl", "why" } },
	  .source = "https://example.org/7" },
	{ .code = NULL },
};
static const struct rule *const own_rules[] = { deep_rules, late_rules };
static const struct symptom *const own_symptom_tables[] = { own_symptoms };
static const struct rulebook own_book = { own_rules, 2, own_symptom_tables, 1 };

static void ask(const struct rulebook *book, const char *text, struct verdict *ret)
{
	cleanup(doctor_freep) struct doctor *doctor = doctor_new_with(book);
	struct error error = ERROR_INIT;

	assert_non_null(doctor);
	assert_int_equal(doctor_source(doctor, "report.txt"), 0);
	assert_int_equal(doctor_feed(doctor, text, strlen(text)), 0);
	assert_int_equal(doctor_verdict(doctor, ret, &error), 0);
}

/* "code=certainty ..." of all findings, then "| link=state ..." of all that is known, "| first". */
static void tell_verdict(const struct verdict *verdict, struct strbuf *out)
{
	for (size_t i = 0; i < verdict->finding_count; i++)
		strbuf_addf(out, "%s=%s ", verdict->findings[i].rule->code,
			    certainty_to_string(verdict->findings[i].certainty));
	strbuf_adds(out, "|");
	for (int link = 0; link < REASON_LINK_MAX; link++)
		if (verdict->chain[link] != LINK_UNKNOWN)
			strbuf_addf(out, " %s=%s", reason_link_to_string((enum reason_link)link),
				    link_state_to_string(verdict->chain[link]));
	strbuf_addf(out, " | %s",
		    verdict->first_broken == REASON_LINK_INVALID
			    ? "-"
			    : reason_link_to_string(verdict->first_broken));
	assert_int_equal(strbuf_failed(out), 0);
}

#define HALF_A_CARD(mark)                                                                     \
	mark "apiVersion: v1\n" mark "kind: Pod\n" mark "spec:\n" mark "  containers:\n" mark \
	     "  - name: a\n" mark "    resources:\n" mark "      limits:\n" mark              \
	     "        nvidia.com/gpu: 0.5\n"

static const struct {
	const char *text, *verdict;
	enum doctor_outcome outcome;
	size_t asks;
} cases[] = {
	{ "", "| | -", DOCTOR_UNKNOWN, 3 },
	{ "nothing of interest\n", "| | -", DOCTOR_UNKNOWN, 3 },
	{ "library version mismatch", "module_old=likely | driver=broken | driver", DOCTOR_BROKEN,
	  0 },
	{ "x: Library Version\n mismatch; NVRM: API mismatch",
	  "module_old=certain | driver=broken | driver", DOCTOR_BROKEN, 0 },
	{ "NVRM: API mismatch", "| | -", DOCTOR_UNKNOWN, 3 },
	/* A deeper cause explains what comes of it. */
	{ "the hook has failed because of that. library version mismatch",
	  "module_old=likely | driver=broken | driver", DOCTOR_BROKEN, 0 },
	{ "the hook has failed because of that.",
	  "hook_failed=certain | injection=broken | injection", DOCTOR_BROKEN, 0 },
	{ "the hook has failed.", "| | -", DOCTOR_UNKNOWN, 3 },
	{ "the hook has failed because of that. Now all is well again", "| | -", DOCTOR_UNKNOWN,
	  3 },
	/* Also through one that is explained itself. */
	{ "the hook has failed because of that; container was refused; library version mismatch",
	  "module_old=likely | driver=broken | driver", DOCTOR_BROKEN, 0 },
	/* Independent ones: more conditions met first, then the deeper link; slow ones behind. */
	{ "a wrong flag: the plugin ends. no such card is here",
	  "wrong_flag=likely no_card=likely | driver=broken plugin=broken | plugin", DOCTOR_BROKEN,
	  0 },
	{ "no such card is here. library version mismatch",
	  "module_old=likely no_card=likely | driver=broken | driver", DOCTOR_BROKEN, 0 },
	{ "four lanes only", "slow_link=certain | cuda=suspect | -", DOCTOR_BROKEN, 0 },
	{ "four lanes only; the hook has failed because of this",
	  "hook_failed=certain slow_link=certain | injection=broken cuda=suspect | injection",
	  DOCTOR_BROKEN, 0 },
	/* Facts, also where each line is quoted. */
	{ HALF_A_CARD(""), "half_a_card=likely | scheduler=broken | scheduler", DOCTOR_BROKEN, 0 },
	{ HALF_A_CARD("> "), "half_a_card=likely | scheduler=broken | scheduler", DOCTOR_BROKEN,
	  0 },
	{ HALF_A_CARD("> > "), "half_a_card=likely | scheduler=broken | scheduler", DOCTOR_BROKEN,
	  0 },
	/* Symptoms leave what remains. */
	{ "0/3 nodes are available",
	  "no_card=possible wrong_flag=possible | driver=suspect plugin=suspect "
	  "scheduler=suspect | -",
	  DOCTOR_UNKNOWN, 2 },
	{ "0/3 nodes are available; no such card is here",
	  "no_card=likely | driver=broken | driver", DOCTOR_BROKEN, 0 },
	{ "0/3 nodes are available; library version mismatch",
	  "module_old=likely | driver=broken | driver", DOCTOR_BROKEN, 0 },
	{ "container was refused; all is well again",
	  "wrong_flag=possible | runtime=suspect plugin=suspect | -", DOCTOR_UNKNOWN, 2 },
	{ "container was refused; 0/3 nodes are available",
	  "no_card=possible wrong_flag=possible hook_failed=possible | driver=suspect "
	  "runtime=suspect plugin=suspect scheduler=suspect injection=suspect | -",
	  DOCTOR_UNKNOWN, 3 },
};

TEST(causes_compete)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct verdict verdict;
		autostrbuf told = STRBUF_INIT(4096);

		ask(&own_book, cases[i].text, &verdict);
		tell_verdict(&verdict, &told);
		if (strcmp(told.data, cases[i].verdict) != 0)
			fail_msg("\"%s\": %s instead of %s", cases[i].text, told.data,
				 cases[i].verdict);
		if (verdict_outcome(&verdict) != cases[i].outcome ||
		    verdict.ask_count != cases[i].asks)
			fail_msg("\"%s\": outcome %d, %zu questions", cases[i].text,
				 (int)verdict_outcome(&verdict), verdict.ask_count);
		verdict_release(&verdict);
	}
}

/* Any pieces give the same verdict as the whole. */
TEST(pieces_do_not_matter)
{
	const char *text = "a\r\nb\n\x1b[31mlibrary\x1b[0m version\r\nmismatch\n";

	for (size_t piece = 1; piece < strlen(text); piece++) {
		cleanup(doctor_freep) struct doctor *doctor = doctor_new_with(&own_book);
		struct verdict verdict;
		struct error error = ERROR_INIT;

		assert_int_equal(doctor_source(doctor, "a\x1b[31mb"), 0);
		for (size_t at = 0; at < strlen(text); at += piece)
			assert_int_equal(
				doctor_feed(doctor, text + at,
					    strlen(text) - at < piece ? strlen(text) - at : piece),
				0);
		assert_int_equal(doctor_verdict(doctor, &verdict, &error), 0);
		assert_int_equal(verdict.finding_count, 1);
		const struct quote *quote = &verdict.findings[0].evidence[0];
		assert_int_equal(quote->line, 3);
		assert_string_equal(quote->text, "library version mismatch");
		assert_null(strchr(quote->source, '\x1b'));
		verdict_release(&verdict);
	}
}

/* What PowerShell writes to a file. */
TEST(utf16_is_read)
{
	static const char text[] = "library version mismatch\r\n";
	char wide[2 * sizeof(text) + 2] = "\xff\xfe";
	struct verdict verdict;
	struct error error = ERROR_INIT;
	cleanup(doctor_freep) struct doctor *doctor = doctor_new_with(&own_book);

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		wide[2 + 2 * i] = text[i];
	assert_int_equal(doctor_feed(doctor, wide, 2 * sizeof(text)), 0);
	assert_int_equal(doctor_verdict(doctor, &verdict, &error), 0);
	assert_int_equal(verdict.finding_count, 1);
	verdict_release(&verdict);
}

TEST(a_message_is_found_in_a_line_of_any_length)
{
	cleanup(doctor_freep) struct doctor *doctor = doctor_new_with(&own_book);
	struct verdict verdict;
	struct error error = ERROR_INIT;
	static char piece[100000];

	memset(piece, '-', sizeof(piece));
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(doctor_feed(doctor, piece, sizeof(piece)), 0);
	assert_int_equal(doctor_feed(doctor, " library version mis", 20), 0);
	assert_int_equal(doctor_feed(doctor, "match ", 6), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(doctor_feed(doctor, piece, sizeof(piece)), 0);
	assert_int_equal(doctor_verdict(doctor, &verdict, &error), 0);
	assert_int_equal(verdict.finding_count, 1);
	assert_int_equal(verdict.findings[0].evidence[0].line, 1);
	assert_true(strlen(verdict.findings[0].evidence[0].text) <= 300);
	/* And it goes on after a verdict. */
	verdict_release(&verdict);
	assert_int_equal(doctor_feed(doctor, "\nNVRM: API mismatch", 19), 0);
	assert_int_equal(doctor_verdict(doctor, &verdict, &error), 0);
	assert_int_equal(verdict.findings[0].certainty, CERTAINTY_CERTAIN);
	verdict_release(&verdict);
}

TEST(json_is_as_scripts_know_it)
{
	struct verdict verdict;
	struct error error = ERROR_INIT;
	autojson *object = NULL;
	autostrbuf text = STRBUF_INIT(65536);

	ask(&own_book, "x\n  library version mismatch\n", &verdict);
	assert_int_equal(verdict_to_json(&verdict, &object, &error), 0);
	assert_int_equal(json_to_text(object, false, &text, &error), 0);
	assert_string_equal(
		text.data,
		"{\"chain\":[{\"link\":\"driver\",\"state\":\"broken\"},"
		"{\"link\":\"runtime\",\"state\":\"unknown\"},"
		"{\"link\":\"plugin\",\"state\":\"unknown\"},"
		"{\"link\":\"scheduler\",\"state\":\"unknown\"},"
		"{\"link\":\"injection\",\"state\":\"unknown\"},"
		"{\"link\":\"cuda\",\"state\":\"unknown\"},"
		"{\"link\":\"sharing\",\"state\":\"unknown\"},"
		"{\"link\":\"dra\",\"state\":\"unknown\"}],"
		"\"first_broken\":\"driver\",\"findings\":[{\"code\":\"module_old\","
		"\"link\":\"driver\",\"certainty\":\"likely\","
		"\"cause\":\"The module is old. It was not loaded again.\","
		"\"cure\":[\"reboot\",\"nvidia-smi\"],\"evidence\":[{\"source\":\"report.txt\","
		"\"line\":2,\"text\":\"library version mismatch\"}]}],\"ask\":[]}");
	verdict_release(&verdict);
	json_object_put(TAKE_PTR(object));
	strbuf_reset(&text);
	ask(&own_book, "0/3 nodes are available", &verdict);
	assert_int_equal(verdict_to_json(&verdict, &object, &error), 0);
	assert_int_equal(json_to_text(object, false, &text, &error), 0);
	assert_non_null(strstr(text.data, "\"first_broken\":null,"));
	assert_non_null(strstr(
		text.data, "\"ask\":[{\"command\":\"kubectl describe node\",\"tells\":\"whether "
			   "it has any\"},{\"command\":\"nvidia-smi\",\"tells\":"));
	verdict_release(&verdict);
}

TEST(text_names_the_link_the_lines_and_the_cure)
{
	struct verdict verdict;
	autostrbuf text = STRBUF_INIT(65536);

	ask(&own_book, "x\n  library version mismatch\nfour lanes only", &verdict);
	assert_int_equal(verdict_to_text(&verdict, false, &text), 0);
	assert_string_equal(text.data, "driver [X] > runtime [ ] > plugin [ ] > scheduler [ ]\n"
				       "  > injection [ ] > cuda [?] > sharing [ ] > dra [ ]\n"
				       "\n"
				       "The link \"driver\" is broken: module_old (likely).\n"
				       "  The module is old. It was not loaded again.\n"
				       "\n"
				       "  Seen:\n"
				       "      report.txt:2: library version mismatch\n"
				       "\n"
				       "  Cure:\n"
				       "      reboot\n"
				       "      nvidia-smi\n"
				       "\n"
				       "Found as well:\n"
				       "  cuda, slow_link (certain): The card is slow.\n"
				       "      report.txt:3: four lanes only\n"
				       "      cure: seat it again\n");
	verdict_release(&verdict);
}

TEST(text_says_a_line_once_and_fits_a_terminal)
{
	static const struct rule long_rules[] = {
		{ .code = "no_card",
		  .link = REASON_LINK_DRIVER,
		  .cause = "There is none, however long it is looked for in each of the many slots "
			   "that the board has.",
		  .cure = { "Put one in." },
		  .source = "https://example.org/2" },
		{ .code = NULL },
	};
	static const struct rule *const rules[] = { long_rules, late_rules };
	static const struct rulebook book = { rules, 2, own_symptom_tables, 1 };
	struct verdict verdict;
	autostrbuf text = STRBUF_INIT(65536);

	ask(&book, "\n0/3 nodes are available", &verdict);
	assert_int_equal(verdict_to_text(&verdict, false, &text), 0);
	assert_non_null(strstr(
		text.data,
		"Possible causes:\n"
		"  driver, no_card (possible): There is none, however long it is looked for in\n"
		"    each of the many slots that the board has.\n"
		"      report.txt:2: 0/3 nodes are available\n"
		"      cure: Put one in.\n"
		"  plugin, wrong_flag (possible): The flag is wrong.\n"
		"      report.txt:2: the same line\n"
		"      cure: correct it\n"));
	verdict_release(&verdict);
}

TEST(short_of_memory_is_said)
{
	for (unsigned n = 0;; n++) {
		struct verdict verdict = { .finding_count = 0 };
		autostrbuf text = STRBUF_INIT(65536);
		struct error error = ERROR_INIT;
		int r = -ENOMEM;

		fault_arm(n);
		cleanup(doctor_freep) struct doctor *doctor = doctor_new_with(&own_book);
		autojson *object = NULL;
		if (doctor)
			r = doctor_source(doctor, "a");
		if (r == 0)
			r = doctor_feed(doctor, "0/3 nodes are available\nfour lanes only\n", 40);
		if (r == 0)
			r = doctor_verdict(doctor, &verdict, &error);
		if (r == 0)
			r = verdict_to_json(&verdict, &object, &error);
		if (r == 0)
			r = verdict_to_text(&verdict, true, &text);
		verdict_release(&verdict);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

/* What the tables must keep, whoever writes them. */

static bool is_code(const char *code)
{
	if (!islower((unsigned char)code[0]))
		return false;
	return code[strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static const struct symptom *find_symptom(const char *code)
{
	const struct symptom *symptom;

	for (size_t at = 0; (symptom = rulebook_symptom(&doctor_rulebook, &at));)
		if (strcmp(symptom->code, code) == 0)
			return symptom;
	return NULL;
}

TEST(every_condition_of_the_tables_can_be_read)
{
	cleanup(matcher_freep) struct matcher *matcher = matcher_new();
	struct conditions conditions = { .count = 0 };
	struct error error = ERROR_INIT;

	if (conditions_load(&conditions, &doctor_rulebook, matcher, &error) < 0)
		fail_msg("%s", error.message);
	free(conditions.patterns);
}

TEST(codes_are_there_once)
{
	automap *codes = map_new();
	const struct symptom *symptom;
	const struct rule *rule;

	for (size_t at = 0; (rule = doctor_rule_next(&at));) {
		if (!is_code(rule->code) || map_get(codes, rule->code))
			fail_msg("%s is there twice, or no code", rule->code);
		assert_int_equal(map_put(codes, rule->code, codes), 0);
	}
	for (size_t at = 0; (symptom = rulebook_symptom(&doctor_rulebook, &at));) {
		if (!is_code(symptom->code) || map_get(codes, symptom->code))
			fail_msg("%s is there twice, or no code", symptom->code);
		assert_int_equal(map_put(codes, symptom->code, codes), 0);
	}
}

static size_t count_sentences(const char *text)
{
	size_t count = 0;

	for (const char *at = text; (at = strpbrk(at, ".!?")); at++)
		count += at[1] == '\0' || at[1] == ' ';
	return count;
}

TEST(rows_say_all_that_people_need)
{
	const struct rule *rule;

	for (size_t at = 0; (rule = doctor_rule_next(&at));) {
		if (!rule->cause || !rule->cure[0] || !rule->source)
			fail_msg("%s lacks a cause, a cure or a source", rule->code);
		if (strncmp(rule->source, "https://", 8) != 0)
			fail_msg("%s: its source is no address", rule->code);
		size_t length = strlen(rule->cause);
		if (!length || rule->cause[length - 1] != '.' || length > 500 ||
		    count_sentences(rule->cause) > 4)
			fail_msg("%s: its cause is no one to three sentences", rule->code);
		if (!rule->seen[0] && !rule->any[0])
			fail_msg("%s holds of nothing that is seen", rule->code);
		if ((int)rule->link < 0 || rule->link >= REASON_LINK_MAX)
			fail_msg("%s has no link", rule->code);
	}
}

TEST(codes_that_rows_name_exist)
{
	const struct symptom *symptom;
	const struct rule *rule;

	for (size_t at = 0; (rule = doctor_rule_next(&at));)
		for (size_t i = 0; i < ARRAY_SIZE(rule->explains) && rule->explains[i]; i++)
			if (!doctor_rule_find(rule->explains[i]) &&
			    !find_symptom(rule->explains[i]))
				fail_msg("%s explains %s, which is nothing", rule->code,
					 rule->explains[i]);
	for (size_t at = 0; (symptom = rulebook_symptom(&doctor_rulebook, &at));) {
		for (size_t i = 0; i < ARRAY_SIZE(symptom->remain) && symptom->remain[i]; i++)
			if (!doctor_rule_find(symptom->remain[i]))
				fail_msg("%s leaves %s, which is no cause", symptom->code,
					 symptom->remain[i]);
		if (!symptom->remain[1])
			fail_msg("%s leaves one cause only: that is a rule", symptom->code);
		if (!symptom->ask[0].command || !symptom->ask[0].tells)
			fail_msg("%s asks nothing", symptom->code);
		if (!symptom->source)
			fail_msg("%s has no source", symptom->code);
	}
}

/* 0: not looked at, 1: on the way, 2: done. */
static void walk(const struct rule *rule, struct map *marks)
{
	static char on_the_way, done;

	if (map_get(marks, rule->code) == &done)
		return;
	if (map_get(marks, rule->code) == &on_the_way)
		fail_msg("%s explains itself by others", rule->code);
	assert_int_equal(map_put(marks, rule->code, &on_the_way), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rule->explains) && rule->explains[i]; i++) {
		const struct rule *next = doctor_rule_find(rule->explains[i]);

		if (next)
			walk(next, marks);
	}
	assert_int_equal(map_put(marks, rule->code, &done), 0);
}

/* Else both would fall away. */
TEST(nothing_explains_itself)
{
	automap *marks = map_new();
	const struct rule *rule;

	for (size_t at = 0; (rule = doctor_rule_next(&at));)
		walk(rule, marks);
}
