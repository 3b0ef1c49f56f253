/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_of.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "doctor/facts.h"
#include "doctor/read.h"
#include "test.h"

static void feed(struct readers *readers, const char *text)
{
	uint64_t number = 0;

	while (*text) {
		size_t length = strcspn(text, "\n");
		autofree char *line = strndup(text, length);

		assert_non_null(line);
		if (strncmp(line, "%%% ", 4) == 0) {
			assert_int_equal(readers_source(readers, line + 4), 0);
			number = 0;
		} else {
			assert_int_equal(readers_line(readers, line, length, ++number), 0);
		}
		text += length + (text[length] != '\0');
	}
}

static void fail_reading(const struct reading *reading, const char *what, const char *condition,
			 const struct facts *facts)
{
	print_message("%s: %s %s; told were\n", reading->name, what, condition);
	for (size_t i = 0; i < facts_count(facts); i++)
		print_message("  %s=%s (line %u)\n", fact_key_name(facts_at(facts, i)->key),
			      facts_at(facts, i)->value, (unsigned)facts_at(facts, i)->line);
	fail();
}

static void check(const struct reading *reading)
{
	autofacts *facts = facts_new();
	autoreaders *readers = readers_new(facts);

	assert_non_null(readers);
	assert_int_equal(readers_source(readers, reading->source ? reading->source : "a.txt"), 0);
	feed(readers, reading->text);
	assert_int_equal(readers_end(readers), 0);
	for (size_t i = 0; i < ARRAY_SIZE(reading->told) && reading->told[i]; i++) {
		if (!fact_condition_known(reading->told[i]))
			fail_reading(reading, "no such key:", reading->told[i], facts);
		if (!facts_match(facts, reading->told[i]))
			fail_reading(reading, "not told:", reading->told[i], facts);
	}
	for (size_t i = 0; i < ARRAY_SIZE(reading->untold) && reading->untold[i]; i++)
		if (!fact_condition_known(reading->untold[i]) ||
		    facts_match(facts, reading->untold[i]))
			fail_reading(reading, "told, or no such key:", reading->untold[i], facts);
}

void readings_check(const struct reading *readings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&readings[i]);
}
