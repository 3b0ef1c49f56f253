/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to lines, lines to matcher and readers, and what came of them to a verdict. */
#include "doctor/doctor.h"

#include <errno.h>
#include <string.h>

#include "doctor/doctor_private.h"
#include "doctor/read.h"

static const char *const certainty_table[CERTAINTY_MAX] = {
	[CERTAINTY_POSSIBLE] = "possible",
	[CERTAINTY_LIKELY] = "likely",
	[CERTAINTY_CERTAIN] = "certain",
};
DEFINE_STRING_TABLE(certainty, enum certainty, CERTAINTY_MAX)

static const char *const link_state_table[LINK_STATE_MAX] = {
	[LINK_UNKNOWN] = "unknown",
	[LINK_OK] = "ok",
	[LINK_SUSPECT] = "suspect",
	[LINK_BROKEN] = "broken",
};
DEFINE_STRING_TABLE(link_state, enum link_state, LINK_STATE_MAX)

struct doctor {
	const struct rulebook *book;
	struct matcher *matcher;
	struct facts *facts;
	struct readers *readers;
	struct conditions conditions;
	uint64_t number; /* of the line under way */
	size_t length;   /* of it so far */
	bool long_line;  /* its first bytes are with the matcher already */
	char line[READ_LINE_MAX + 1];
};

struct doctor *doctor_new_with(const struct rulebook *book)
{
	cleanup(doctor_freep) struct doctor *doctor = malloc(sizeof(*doctor));

	if (!doctor)
		return NULL;
	doctor->book = book;
	doctor->matcher = matcher_new();
	doctor->facts = facts_new();
	doctor->readers = doctor->facts ? readers_new(doctor->facts) : NULL;
	doctor->conditions = (struct conditions){ .count = 0 };
	doctor->number = 1;
	doctor->length = 0;
	doctor->long_line = false;
	/* A condition that cannot be read does not pass test_doctor_engine. */
	if (!doctor->matcher || !doctor->readers ||
	    conditions_load(&doctor->conditions, book, doctor->matcher, NULL) < 0 ||
	    matcher_build(doctor->matcher) < 0 || doctor_source(doctor, "evidence") < 0)
		return NULL;
	return TAKE_PTR(doctor);
}

struct doctor *doctor_new(void)
{
	return doctor_new_with(&doctor_rulebook);
}

void doctor_free(struct doctor *doctor)
{
	if (!doctor)
		return;
	readers_free(doctor->readers);
	facts_free(doctor->facts);
	matcher_free(doctor->matcher);
	free(doctor->conditions.patterns);
	free(doctor);
}

/* Where an escape sequence of a terminal ends, whose parameters begin at AT. */
static size_t control_end(const char *text, size_t at, size_t left)
{
	while (at < left && (unsigned char)text[at] >= 0x20 && (unsigned char)text[at] < 0x40)
		at++;
	return at < left ? at + 1 : left;
}

/* The same for a command to the terminal, which ends with BEL or ESC \. */
static size_t command_end(const char *text, size_t at, size_t left)
{
	while (at < left && text[at] != '\a' && text[at] != '\033')
		at++;
	if (at + 1 < left && text[at] == '\033' && text[at + 1] == '\\')
		at++;
	return at < left ? at + 1 : left;
}

/* Bytes of the escape sequence at TEXT, which begins with ESC. */
static size_t escape_length(const char *text, size_t left)
{
	if (left < 2)
		return left;
	if (text[1] == '[')
		return control_end(text, 2, left);
	return text[1] == ']' ? command_end(text, 2, left) : 2;
}

/* The marks of a mail or comment that quotes: "> > text". */
static size_t quote_length(const char *line, size_t length)
{
	size_t at = 0;

	while (at < length && line[at] == '>')
		at += at + 1 < length && line[at + 1] == ' ' ? 2 : 1;
	return at;
}

/* What colours a line, the NULs of UTF-16, and marks of quoting are no text. */
static void clean_line(struct doctor *doctor)
{
	char *line = doctor->line;
	size_t length = 0;

	if (memchr(line, '\033', doctor->length) || memchr(line, '\0', doctor->length)) {
		for (size_t at = 0; at < doctor->length;) {
			if (line[at] == '\033')
				at += escape_length(line + at, doctor->length - at);
			else if (line[at] == '\0')
				at++;
			else
				line[length++] = line[at++];
		}
		doctor->length = length;
	}
	if (doctor->length && line[doctor->length - 1] == '\r')
		doctor->length--;
	size_t quoted = quote_length(line, doctor->length);
	doctor->length -= quoted;
	memmove(line, line + quoted, doctor->length);
	line[doctor->length] = '\0';
}

static int match_line(struct doctor *doctor)
{
	bool heading = read_is_heading(doctor->line, doctor->length);
	int r;

	if (heading)
		matcher_barrier(doctor->matcher);
	r = matcher_text(doctor->matcher, doctor->line, doctor->length, doctor->number);
	if (r == 0)
		r = matcher_newline(doctor->matcher);
	if (heading)
		matcher_barrier(doctor->matcher);
	return r;
}

static int end_line(struct doctor *doctor)
{
	int r;

	clean_line(doctor);
	r = doctor->long_line ? matcher_newline(doctor->matcher) : match_line(doctor);
	if (r == 0)
		r = readers_line(doctor->readers, doctor->line, doctor->length, doctor->number);
	doctor->number++;
	doctor->length = 0;
	doctor->long_line = false;
	return r;
}

/* Readers see the first bytes of a very long line only, the matcher all. */
static int add_to_line(struct doctor *doctor, const char *bytes, size_t length)
{
	size_t room = READ_LINE_MAX - doctor->length;
	size_t fits = length < room ? length : room;
	int r = 0;

	memcpy(doctor->line + doctor->length, bytes, fits);
	doctor->length += fits;
	if (fits == length)
		return 0;
	if (!doctor->long_line)
		r = matcher_text(doctor->matcher, doctor->line, doctor->length, doctor->number);
	doctor->long_line = true;
	if (r == 0)
		r = matcher_text(doctor->matcher, bytes + fits, length - fits, doctor->number);
	return r;
}

int doctor_feed(struct doctor *doctor, const char *bytes, size_t length)
{
	while (length) {
		const char *end = memchr(bytes, '\n', length);
		size_t count = end ? (size_t)(end - bytes) : length;
		int r = add_to_line(doctor, bytes, count);

		if (r == 0 && end)
			r = end_line(doctor);
		if (r < 0)
			return r;
		count += end != NULL;
		bytes += count;
		length -= count;
	}
	return 0;
}

/* The last line may have no end. */
static int end_source(struct doctor *doctor)
{
	int r = doctor->length || doctor->long_line ? end_line(doctor) : 0;

	return r < 0 ? r : matcher_end(doctor->matcher);
}

int doctor_source(struct doctor *doctor, const char *name)
{
	int r = end_source(doctor);

	doctor->number = 1;
	if (r == 0)
		r = matcher_source(doctor->matcher, name);
	return r < 0 ? r : readers_source(doctor->readers, name);
}

int doctor_verdict(struct doctor *doctor, struct verdict *ret, struct error *error)
{
	int r = end_source(doctor);

	if (r == 0)
		r = readers_end(doctor->readers);
	if (r < 0)
		return error_no_memory(error);
	return judge(doctor->book, &doctor->conditions, doctor->matcher, doctor->facts, ret, error);
}

enum doctor_outcome verdict_outcome(const struct verdict *verdict)
{
	bool known = false;

	for (size_t i = 0; i < verdict->finding_count; i++)
		if (verdict->findings[i].certainty > CERTAINTY_POSSIBLE)
			return DOCTOR_BROKEN;
	if (verdict->finding_count || verdict->ask_count)
		return DOCTOR_UNKNOWN;
	for (int link = 0; link < REASON_LINK_MAX; link++)
		known = known || verdict->chain[link] == LINK_OK;
	return known ? DOCTOR_HEALTHY : DOCTOR_UNKNOWN;
}

void verdict_release(struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->finding_count; i++) {
		struct finding *finding = &verdict->findings[i];

		for (size_t j = 0; j < finding->evidence_count; j++) {
			free(finding->evidence[j].source);
			free(finding->evidence[j].text);
		}
		free(finding->evidence);
	}
	free(verdict->findings);
	free(verdict->asks);
	*verdict = (struct verdict){ .first_broken = REASON_LINK_INVALID };
}
