/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as evidence, from feeding to printing: the verdict is the same for whatever pieces they come in
 * and when it is asked for twice; the first broken link is that of the first finding; all that is printed is
 * UTF-8 without a character that a terminal obeys. A NUL and another byte begin the next source.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/doctor.h"
#include "doctor/rule.h"

#define OUT_MAX   ((size_t)64 << 20)
#define QUOTE_MAX 300
#define SPLIT     "\0\1" /* between sources */

static const struct json_limits limits = { .bytes = OUT_MAX, .depth = 8 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void feed_pieces(struct doctor *doctor, const uint8_t *data, size_t size, size_t piece)
{
	for (size_t at = 0; at < size; at += piece)
		must(doctor_feed(doctor, (const char *)data + at,
				 size - at < piece ? size - at : piece) == 0);
}

static struct doctor *read_all(const uint8_t *data, size_t size, size_t piece)
{
	struct doctor *doctor = doctor_new();
	unsigned number = 0;

	must(doctor != NULL);
	for (const uint8_t *end = data + size, *next; data < end; data = next) {
		const uint8_t *split = memmem(data, (size_t)(end - data), SPLIT, 2);
		char name[32];

		next = split ? split + 2 : end;
		/* A name that a terminal would obey. */
		snprintf(name, sizeof(name), "\033[2J%u!a\n.txt", number++);
		must(doctor_source(doctor, name) == 0);
		feed_pieces(doctor, data, (size_t)((split ? split : end) - data), piece);
	}
	return doctor;
}

/* Is TEXT fit to be shown? */
static void check_text(const char *text, bool lines)
{
	must(parse_utf8_valid(text, strlen(text)));
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;

		must((c >= ' ' && c != 0x7f) || (lines && c == '\n'));
		/* C1 controls, as UTF-8. */
		must(!(c == 0xc2 && (unsigned char)at[1] < 0xa0));
	}
}

static void check_verdict(const struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->finding_count; i++) {
		const struct finding *finding = &verdict->findings[i];

		must(finding->evidence_count > 0);
		for (size_t j = 0; j < finding->evidence_count; j++) {
			must(finding->evidence[j].line > 0);
			must(strlen(finding->evidence[j].text) <= QUOTE_MAX);
			check_text(finding->evidence[j].text, false);
			check_text(finding->evidence[j].source, false);
		}
	}
	if (verdict->first_broken != REASON_LINK_INVALID) {
		must(verdict->finding_count > 0);
		must(verdict->findings[0].rule->link == verdict->first_broken);
		must(verdict->findings[0].certainty > CERTAINTY_POSSIBLE);
		must(verdict->chain[verdict->first_broken] == LINK_BROKEN);
		must(verdict_outcome(verdict) == DOCTOR_BROKEN);
	}
}

/* All that is printed of what DOCTOR has seen. */
static char *print_all(struct doctor *doctor)
{
	autostrbuf text = STRBUF_INIT(OUT_MAX);
	autojson *object = NULL, *again = NULL;
	struct error error = ERROR_INIT;
	struct verdict verdict;

	must(doctor_verdict(doctor, &verdict, &error) == 0);
	check_verdict(&verdict);
	must(verdict_to_text(&verdict, true, &text) == 0);
	must(verdict_to_json(&verdict, &object, &error) == 0);
	verdict_release(&verdict);
	must(json_to_text(object, false, &text, &error) == 0);
	check_text(text.data, true);
	const char *json = strstr(text.data, "{\"chain\"");
	must(json && json_parse(json, strlen(json), "fuzz", &limits, &again, &error) == 0);
	must(json_object_equal(object, again));
	return strbuf_detach(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(doctor_freep) struct doctor *whole = read_all(data, size, size ? size : 1);
	cleanup(doctor_freep) struct doctor *pieces = read_all(data, size, 1 + size % 7);
	autofree char *first = print_all(whole), *again = print_all(whole),
		      *other = print_all(pieces);

	must(strcmp(first, other) == 0);
	must(strcmp(first, again) == 0);
	return 0;
}
