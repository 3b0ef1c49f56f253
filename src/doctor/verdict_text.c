/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts and causes for people. */
#include "doctor/rule.h"

#include <string.h>

enum { TEXT_WIDTH = 79, OTHER_MAX = 4096, LINKS_OF_LINE = 4 };

/* How a link's state is marked, and the arrow between links. */
static const struct {
	const char *marks[LINK_STATE_MAX], *arrow;
} signs[] = {
	{ { [LINK_UNKNOWN] = "[ ]",
	    [LINK_OK] = "[ok]",
	    [LINK_SUSPECT] = "[?]",
	    [LINK_BROKEN] = "[X]" },
	  " > " },
	{ { [LINK_UNKNOWN] = "\xc2\xb7",
	    [LINK_OK] = "\xe2\x9c\x93",
	    [LINK_SUSPECT] = "?",
	    [LINK_BROKEN] = "\xe2\x9c\x97" },
	  " \xe2\x86\x92 " },
};

/* Appends TEXT in lines of at most TEXT_WIDTH bytes: the first after INDENT blanks, others FURTHER. */
static void add_wrapped(struct strbuf *out, int indent, int further, const char *text)
{
	int used = indent;
	bool begins = true;

	strbuf_addf(out, "%*s", indent, "");
	while (*text) {
		int length = (int)strcspn(text, " ");

		if (!begins && used + 1 + length > TEXT_WIDTH) {
			strbuf_addf(out, "\n%*s", further, "");
			used = further;
			begins = true;
		}
		strbuf_addf(out, "%s%.*s", begins ? "" : " ", length, text);
		used += length + !begins;
		begins = false;
		text += length;
		text += strspn(text, " ");
	}
	strbuf_addc(out, '\n');
}

/* The first sentence, without its full stop. */
static int first_sentence(const char *text)
{
	const char *end = text;

	while ((end = strstr(end, ". "))) {
		/* "e.g. ": no end */
		if (end - text < 2 || end[-2] != '.')
			return (int)(end - text);
		end += 2;
	}
	size_t length = strlen(text);
	return (int)(length && text[length - 1] == '.' ? length - 1 : length);
}

/* In two lines: with the widest marks of ASCII one has 107 columns. */
static void add_chain(struct strbuf *out, const struct verdict *verdict, bool unicode)
{
	for (int link = 0; link < REASON_LINK_MAX; link++)
		strbuf_addf(out, "%s%s%s %s", link && link % LINKS_OF_LINE == 0 ? "\n " : "",
			    link ? signs[unicode].arrow : "",
			    reason_link_to_string((enum reason_link)link),
			    signs[unicode].marks[verdict->chain[link]]);
	strbuf_addc(out, '\n');
}

static void add_cure(struct strbuf *out, const struct rule *rule, int indent)
{
	if (rule->cure[0])
		strbuf_addf(out, "\n%*sCure:\n", indent, "");
	for (size_t i = 0; i < ARRAY_SIZE(rule->cure) && rule->cure[i]; i++)
		strbuf_addf(out, "%*s%s\n", indent + 4, "", rule->cure[i]);
}

static void add_evidence(struct strbuf *out, const struct finding *finding, size_t most)
{
	for (size_t i = 0; i < finding->evidence_count && i < most; i++)
		strbuf_addf(out, "      %s:%llu: %s\n", finding->evidence[i].source,
			    (unsigned long long)finding->evidence[i].line,
			    finding->evidence[i].text);
}

/* Is the first line of A, all that is shown of a finding which is not the first, also that of B? */
static bool same_line(const struct finding *a, const struct finding *b)
{
	return a->evidence_count && b->evidence_count &&
	       a->evidence[0].line == b->evidence[0].line &&
	       strcmp(a->evidence[0].source, b->evidence[0].source) == 0 &&
	       strcmp(a->evidence[0].text, b->evidence[0].text) == 0;
}

/* One finding in short: BEFORE stands above it in the same list, or is NULL. */
static void add_other(struct strbuf *out, const struct finding *finding,
		      const struct finding *before)
{
	const struct rule *rule = finding->rule;
	autostrbuf head = STRBUF_INIT(OTHER_MAX);

	strbuf_addf(&head, "%s, %s (%s): %.*s.", reason_link_to_string(rule->link), rule->code,
		    certainty_to_string(finding->certainty), first_sentence(rule->cause),
		    rule->cause);
	if (strbuf_failed(&head))
		out->failed = head.failed;
	else
		add_wrapped(out, 2, 4, head.data);
	if (before && same_line(finding, before))
		strbuf_addf(out, "      %s:%llu: the same line\n", finding->evidence[0].source,
			    (unsigned long long)finding->evidence[0].line);
	else
		add_evidence(out, finding, 1);
	for (size_t i = 0; i < ARRAY_SIZE(rule->cure) && rule->cure[i]; i++)
		strbuf_addf(out, "      %s %s\n", i ? "     " : "cure:", rule->cure[i]);
}

static const char *is_how(const struct finding *finding)
{
	return finding->rule->slow ? "works slowly" : "is broken";
}

static void add_first(struct strbuf *out, const struct finding *finding)
{
	const struct rule *rule = finding->rule;

	strbuf_addf(out, "\nThe link \"%s\" %s: %s (%s).\n", reason_link_to_string(rule->link),
		    is_how(finding), rule->code, certainty_to_string(finding->certainty));
	add_wrapped(out, 2, 2, rule->cause);
	strbuf_adds(out, "\n  Seen:\n");
	add_evidence(out, finding, SIZE_MAX);
	add_cure(out, rule, 2);
}

static void add_others(struct strbuf *out, const struct verdict *verdict, size_t from, size_t to,
		       const char *title)
{
	for (size_t i = from; i < to; i++) {
		if (i == from)
			strbuf_addf(out, "\n%s\n", title);
		add_other(out, &verdict->findings[i], i > from ? &verdict->findings[i - 1] : NULL);
	}
}

static void add_asks(struct strbuf *out, const struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->ask_count; i++) {
		if (i == 0)
			strbuf_adds(out, "\nThis would tell more:\n");
		strbuf_addf(out, "  %s\n", verdict->asks[i].command);
		add_wrapped(out, 6, 6, verdict->asks[i].tells);
	}
}

static void add_known_links(struct strbuf *out, const struct verdict *verdict)
{
	const char *before = "";

	for (int link = 0; link < REASON_LINK_MAX; link++)
		if (verdict->chain[link] == LINK_OK) {
			strbuf_addf(out, "%s%s", before,
				    reason_link_to_string((enum reason_link)link));
			before = ", ";
		}
}

int verdict_to_text(const struct verdict *verdict, bool unicode, struct strbuf *out)
{
	enum doctor_outcome outcome = verdict_outcome(verdict);
	size_t sure = 0;

	while (sure < verdict->finding_count &&
	       verdict->findings[sure].certainty > CERTAINTY_POSSIBLE)
		sure++;
	add_chain(out, verdict, unicode);
	if (sure)
		add_first(out, &verdict->findings[0]);
	else if (outcome == DOCTOR_HEALTHY) {
		strbuf_adds(out, "\nNothing broken was found. Seen to work: ");
		add_known_links(out, verdict);
		strbuf_adds(out, ".\n");
	} else if (verdict->outside) {
		strbuf_addc(out, '\n');
		add_wrapped(out, 0, 0, verdict->outside);
	} else if (verdict->finding_count)
		strbuf_adds(out, "\nThe evidence is not enough to name one cause.\n");
	else
		strbuf_adds(out, "\nNothing in the evidence says which link is broken.\n");
	add_others(out, verdict, sure ? 1 : 0, sure, "Found as well:");
	add_others(out, verdict, sure, verdict->finding_count, "Possible causes:");
	add_asks(out, verdict);
	return strbuf_failed(out);
}

int rule_list_to_text(struct strbuf *out)
{
	const struct rule *rule;
	size_t count = 0;

	for (size_t at = 0; (rule = doctor_rule_next(&at)); count++)
		strbuf_addf(out, "%-9s  %-36s  %.*s\n", reason_link_to_string(rule->link),
			    rule->code, first_sentence(rule->cause), rule->cause);
	strbuf_addf(out, "%zu causes; gpupool doctor --explain CODE says more of one\n", count);
	return strbuf_failed(out);
}

static void add_conditions(struct strbuf *out, const char *title, const char *const *list,
			   size_t most)
{
	for (size_t i = 0; i < most && list[i]; i++)
		strbuf_addf(out, "  %-11s %s\n", i ? "" : title, list[i]);
}

int rule_to_text(const struct rule *rule, struct strbuf *out)
{
	strbuf_addf(out, "%s: the link \"%s\" %s\n\n", rule->code,
		    reason_link_to_string(rule->link), rule->slow ? "works slowly" : "is broken");
	add_wrapped(out, 2, 2, rule->cause);
	add_cure(out, rule, 2);
	strbuf_adds(out, "\n");
	add_conditions(out, "seen:", rule->seen, ARRAY_SIZE(rule->seen));
	add_conditions(out, "one of:", rule->any, ARRAY_SIZE(rule->any));
	add_conditions(out, "not seen:", rule->absent, ARRAY_SIZE(rule->absent));
	add_conditions(out, "certain by:", rule->sure, ARRAY_SIZE(rule->sure));
	add_conditions(out, "explains:", rule->explains, ARRAY_SIZE(rule->explains));
	strbuf_addf(out, "  %-11s %s\n", "fact:", rule->source);
	return strbuf_failed(out);
}
