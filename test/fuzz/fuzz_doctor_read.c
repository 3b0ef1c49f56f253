/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All readers of evidence: any bytes as lines of two sources. The same text gives the same facts, and
 * what is told has a place that exists.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/facts.h"
#include "doctor/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t feed(struct readers *readers, const char *text, size_t size)
{
	uint64_t number = 0;

	for (size_t at = 0; at < size; number++) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;
		autofree char *line = malloc(length + 1);

		if (!line)
			abort();
		memcpy(line, text + at, length);
		line[length] = '\0';
		if (readers_line(readers, line, length, number + 1) < 0)
			abort();
		at += length + 1;
	}
	return number;
}

static struct facts *read_text(const char *text, size_t size)
{
	struct facts *facts = facts_new();
	autoreaders *readers = facts ? readers_new(facts) : NULL;
	uint64_t lines;

	if (!readers || readers_source(readers, "a.yaml") < 0)
		abort();
	lines = feed(readers, text, size / 2);
	if (readers_source(readers, "etc/containerd/config.toml") < 0)
		abort();
	if (feed(readers, text + size / 2, size - size / 2) > lines)
		lines = SIZE_MAX; /* of the longer one */
	if (readers_end(readers) < 0 || readers_end(readers) < 0)
		abort();
	for (size_t i = 0; i < facts_count(facts); i++) {
		const struct fact *fact = facts_at(facts, i);

		if (fact->line > lines || strlen(fact->value) >= FACT_VALUE_MAX ||
		    strlen(fact->text) > FACT_TEXT_MAX ||
		    !facts_first(facts, fact->key, fact->value))
			abort();
	}
	return facts;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofacts *facts = read_text((const char *)data, size);
	autofacts *again = read_text((const char *)data, size);

	if (facts_count(facts) != facts_count(again))
		abort();
	for (size_t i = 0; i < facts_count(facts); i++)
		if (facts_at(facts, i)->key != facts_at(again, i)->key ||
		    strcmp(facts_at(facts, i)->value, facts_at(again, i)->value) != 0)
			abort();
	return 0;
}
