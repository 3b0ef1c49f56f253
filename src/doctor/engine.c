/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causes compete. Which rows hold is said by their conditions; what one that holds explains falls away;
 * a symptom that nothing explains leaves its two or three causes as possible, and the questions that
 * tell them apart.
 */
#include "doctor/doctor_private.h"

#include <errno.h>
#include <string.h>

#include "doctor/quote.h"

enum { EVIDENCE_MAX = 6 };

/* One row of the tables, weighed. */
struct judged {
	const struct rule *rule; /* or SYMPTOM */
	const struct symptom *symptom;
	bool holds, explained, excluded; /* excluded: something that must be absent was seen */
	enum certainty certainty;
	unsigned met; /* conditions */
	struct witness evidence[EVIDENCE_MAX];
	size_t evidence_count;
};

struct bench {
	const struct rulebook *book;
	const struct conditions *conditions;
	const struct matcher *matcher;
	const struct facts *facts;
	size_t condition; /* the number of the next one */
	struct judged *rows;
	size_t row_count, row_capacity;
};

static bool same_line(const struct witness *a, const struct witness *b)
{
	return a->line == b->line && strcmp(a->source, b->source) == 0;
}

static void add_evidence(struct judged *row, const struct witness *witness)
{
	for (size_t i = 0; i < row->evidence_count; i++)
		if (same_line(&row->evidence[i], witness))
			return;
	if (row->evidence_count < EVIDENCE_MAX)
		row->evidence[row->evidence_count++] = *witness;
}

/* How many of LIST are met; those become evidence of ROW (NULL: of nothing). *ret_of: of how many. */
static size_t weigh_list(struct bench *bench, const char *const *list, size_t most,
			 struct judged *row, size_t *ret_of)
{
	size_t met = 0, i;

	for (i = 0; i < most && list[i]; i++) {
		struct witness witness;

		if (!condition_met(bench->conditions, bench->matcher, bench->facts, list[i],
				   bench->condition++, &witness))
			continue;
		met++;
		if (row)
			add_evidence(row, &witness);
	}
	*ret_of = i;
	return met;
}

#define WEIGH(list, row, of) weigh_list(bench, (list), ARRAY_SIZE(list), (row), (of))

/* Conditions are counted through in the order of conditions_load(). */
static void weigh_rule(struct bench *bench, struct judged *row, const struct rule *rule)
{
	size_t seen_of, any_of, absent_of, sure_of;
	size_t seen = WEIGH(rule->seen, row, &seen_of);
	size_t any = WEIGH(rule->any, row, &any_of);
	size_t absent = WEIGH(rule->absent, NULL, &absent_of);
	size_t sure = WEIGH(rule->sure, row, &sure_of);

	row->rule = rule;
	row->excluded = absent > 0;
	row->holds = seen == seen_of && (any > 0 || any_of == 0) && seen + any > 0 && absent == 0;
	row->certainty = sure ? CERTAINTY_CERTAIN : rule->certainty;
	row->met = (unsigned)(seen + (any > 0) + sure);
}

static void weigh_symptom(struct bench *bench, struct judged *row, const struct symptom *symptom)
{
	size_t seen_of, any_of, absent_of;
	size_t seen = WEIGH(symptom->seen, row, &seen_of);
	size_t any = WEIGH(symptom->any, row, &any_of);
	size_t absent = WEIGH(symptom->absent, NULL, &absent_of);

	row->symptom = symptom;
	row->excluded = absent > 0;
	row->holds = seen == seen_of && (any > 0 || any_of == 0) && seen + any > 0 && absent == 0;
	row->certainty = CERTAINTY_POSSIBLE;
	row->met = (unsigned)(seen + (any > 0));
}

static int weigh_all(struct bench *bench)
{
	const struct symptom *symptom;
	const struct rule *rule;
	struct judged *row;

	for (size_t at = 0; (rule = rulebook_rule(bench->book, &at));) {
		row = VEC_ADD(&bench->rows, &bench->row_count, &bench->row_capacity);
		if (!row)
			return -ENOMEM;
		weigh_rule(bench, row, rule);
	}
	for (size_t at = 0; (symptom = rulebook_symptom(bench->book, &at));) {
		row = VEC_ADD(&bench->rows, &bench->row_count, &bench->row_capacity);
		if (!row)
			return -ENOMEM;
		weigh_symptom(bench, row, symptom);
	}
	return 0;
}

static struct judged *find_row(struct bench *bench, const char *code)
{
	for (size_t i = 0; i < bench->row_count; i++) {
		struct judged *row = &bench->rows[i];

		if (strcmp(row->rule ? row->rule->code : row->symptom->code, code) == 0)
			return row;
	}
	return NULL;
}

/* What a cause explains falls away, also when a deeper one explains that cause. */
static void explain_all(struct bench *bench)
{
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct rule *rule = bench->rows[i].rule;

		if (!rule || !bench->rows[i].holds)
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(rule->explains) && rule->explains[j]; j++) {
			struct judged *row = find_row(bench, rule->explains[j]);

			if (row)
				row->explained = true;
		}
	}
}

static int add_quotes(struct finding *finding, const struct judged *row)
{
	for (size_t i = 0; i < row->evidence_count; i++) {
		const struct witness *witness = &row->evidence[i];
		struct quote quote = { .source = quote_source(witness->source),
				       .line = witness->line,
				       .text = quote_make(witness->text, witness->length) };
		struct quote *all = NULL;

		if (quote.source && quote.text)
			all = reallocarray(finding->evidence, finding->evidence_count + 1,
					   sizeof(*all));
		if (!all) {
			free(quote.source);
			free(quote.text);
			return -ENOMEM;
		}
		all[finding->evidence_count++] = quote;
		finding->evidence = all;
	}
	return 0;
}

/* VERDICT counts a finding as soon as there is one, so that a failure frees it. */
static int add_finding(struct verdict *verdict, const struct rule *rule, const struct judged *row)
{
	for (size_t i = 0; i < verdict->finding_count; i++)
		if (verdict->findings[i].rule == rule)
			return 0; /* two symptoms leave the same cause: the first says it */
	struct finding *all =
		reallocarray(verdict->findings, verdict->finding_count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	verdict->findings = all;
	struct finding *finding = &all[verdict->finding_count++];
	*finding = (struct finding){ .rule = rule, .certainty = row->certainty, .met = row->met };
	return add_quotes(finding, row);
}

static int add_ask(struct verdict *verdict, const struct doctor_question *ask)
{
	for (size_t i = 0; i < verdict->ask_count; i++)
		if (strcmp(verdict->asks[i].command, ask->command) == 0)
			return 0;
	struct doctor_question *all =
		reallocarray(verdict->asks, verdict->ask_count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	all[verdict->ask_count++] = *ask;
	verdict->asks = all;
	return 0;
}

/* Is one of the causes that SYMPTOM may have found, or explained by a deeper one? */
static bool is_settled(struct bench *bench, const struct symptom *symptom)
{
	for (size_t i = 0; i < ARRAY_SIZE(symptom->remain) && symptom->remain[i]; i++) {
		const struct judged *cause = find_row(bench, symptom->remain[i]);

		if (cause && cause->rule && cause->holds)
			return true;
	}
	return false;
}

/* A symptom that is open: its causes but those that something seen excludes. */
static int add_symptom(struct bench *bench, const struct judged *row, struct verdict *verdict)
{
	const struct symptom *symptom = row->symptom;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(symptom->remain) && symptom->remain[i]; i++) {
		const struct judged *cause = find_row(bench, symptom->remain[i]);

		if (cause && cause->rule && !cause->excluded)
			r = add_finding(verdict, cause->rule, row);
	}
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(symptom->ask) && symptom->ask[i].command; i++)
		r = add_ask(verdict, &symptom->ask[i]);
	if (verdict->chain[symptom->link] == LINK_UNKNOWN)
		verdict->chain[symptom->link] = LINK_SUSPECT;
	return r;
}

/* What is broken, what is slow, what is only possible. */
static int group_of(const struct finding *finding)
{
	return finding->certainty == CERTAINTY_POSSIBLE ? 2 : finding->rule->slow;
}

/* Most probable first: how sure, how much was seen for it, how deep it lies. */
static int compare_findings(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;

	if (group_of(a) != group_of(b))
		return group_of(a) - group_of(b);
	if (a->certainty != b->certainty)
		return a->certainty > b->certainty ? -1 : 1;
	if (a->met != b->met)
		return a->met > b->met ? -1 : 1;
	if (a->rule->link != b->rule->link)
		return a->rule->link < b->rule->link ? -1 : 1;
	return strcmp(a->rule->code, b->rule->code);
}

static void mark_ok(const struct facts *facts, struct verdict *verdict)
{
	for (int link = 0; link < REASON_LINK_MAX; link++) {
		char key[64];

		(void)snprintf(key, sizeof(key), "%s.ok",
			       reason_link_to_string((enum reason_link)link));
		verdict->chain[link] = facts_match(facts, key) ? LINK_OK : LINK_UNKNOWN;
	}
	verdict->first_broken = REASON_LINK_INVALID;
}

static void mark_found(struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->finding_count; i++) {
		const struct finding *finding = &verdict->findings[i];
		bool broken = finding->certainty > CERTAINTY_POSSIBLE && !finding->rule->slow;
		enum link_state *state = &verdict->chain[finding->rule->link];

		if (broken) {
			*state = LINK_BROKEN;
			if (verdict->first_broken == REASON_LINK_INVALID)
				verdict->first_broken = finding->rule->link;
		} else if (*state != LINK_BROKEN) {
			*state = LINK_SUSPECT;
		}
	}
}

/* With nothing to go on, what to look at first. */
static const struct doctor_question first_questions[] = {
	{ "kubectl describe pod POD", "events: whether the Pod waits, cannot start, or runs" },
	{ "kubectl describe node NODE", "capacity: whether the node offers cards to anybody" },
	{ "nvidia-smi", "on the node: whether the driver works at all" },
};

static bool is_nothing_known(const struct verdict *verdict)
{
	if (verdict->finding_count || verdict->ask_count)
		return false;
	for (int link = 0; link < REASON_LINK_MAX; link++)
		if (verdict->chain[link] != LINK_UNKNOWN)
			return false;
	return true;
}

/*
 * A Pod that does not run, for a reason that no row knows: nobody may call that healthy. How to add a
 * status: its fact, where it belongs; the first that fits is said.
 */
static const struct {
	const char *facts[8], *sentence;
	struct doctor_question ask;
} outside[] = {
	{ { "pod.status=*ImagePullBackOff", "pod.status=*ErrImagePull",
	    "pod.status=*ErrImageNeverPull", "pod.status=*InvalidImageName" },
	  "The image of a Pod is not pulled, so its container never started. This is outside of "
	  "the chain from driver to Pod: look at the image's name, the registry and the network.",
	  { "kubectl describe pod POD", "the event 'Failed to pull image' says why." } },
	{ { "pod.status=*CrashLoopBackOff", "pod.status=*StartError",
	    "pod.status=*RunContainerError", "pod.status=*CreateContainer*Error",
	    "pod.status=ContainerCannotRun" },
	  "A container of a Pod does not start or does not stay up, and nothing seen ties that to "
	  "a link of the chain from driver to Pod.",
	  { "kubectl logs POD --previous; kubectl describe pod POD",
	    "why it ended: its own last lines, its exit code, a probe that fails." } },
};

static bool is_seen(const struct facts *facts, const char *const *list, size_t most)
{
	for (size_t i = 0; i < most && list[i]; i++)
		if (facts_match(facts, list[i]))
			return true;
	return false;
}

static int add_outside(const struct facts *facts, struct verdict *verdict)
{
	if (verdict->finding_count || verdict->ask_count)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++)
		if (is_seen(facts, outside[i].facts, ARRAY_SIZE(outside[i].facts))) {
			verdict->outside = outside[i].sentence;
			return add_ask(verdict, &outside[i].ask);
		}
	return 0;
}

static int add_causes(const struct bench *bench, struct verdict *verdict)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < bench->row_count; i++) {
		const struct judged *row = &bench->rows[i];

		if (row->rule && row->holds && !row->explained)
			r = add_finding(verdict, row->rule, row);
	}
	return r;
}

static int add_symptoms(struct bench *bench, struct verdict *verdict)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < bench->row_count; i++) {
		const struct judged *row = &bench->rows[i];

		if (row->symptom && row->holds && !row->explained &&
		    !is_settled(bench, row->symptom))
			r = add_symptom(bench, row, verdict);
	}
	return r;
}

static int fill_verdict(struct bench *bench, struct verdict *verdict)
{
	int r = weigh_all(bench);

	if (r < 0)
		return r;
	explain_all(bench);
	mark_ok(bench->facts, verdict);
	r = add_causes(bench, verdict);
	if (r == 0)
		r = add_symptoms(bench, verdict);
	if (r == 0)
		r = add_outside(bench->facts, verdict);
	if (r == 0 && is_nothing_known(verdict))
		for (size_t i = 0; r == 0 && i < ARRAY_SIZE(first_questions); i++)
			r = add_ask(verdict, &first_questions[i]);
	if (r < 0)
		return r;
	if (verdict->finding_count)
		qsort(verdict->findings, verdict->finding_count, sizeof(*verdict->findings),
		      compare_findings);
	mark_found(verdict);
	return 0;
}

int judge(const struct rulebook *book, const struct conditions *conditions,
	  const struct matcher *matcher, const struct facts *facts, struct verdict *ret,
	  struct error *error)
{
	struct bench bench = {
		.book = book, .conditions = conditions, .matcher = matcher, .facts = facts
	};
	struct verdict verdict = { .finding_count = 0 };
	int r = fill_verdict(&bench, &verdict);

	free(bench.rows);
	if (r < 0) {
		verdict_release(&verdict);
		return error_no_memory(error);
	}
	*ret = verdict;
	return 0;
}
