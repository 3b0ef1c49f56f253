/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of the tables, numbered in the order in which engine.c comes to them. */
#include "doctor/doctor_private.h"

#include <errno.h>
#include <string.h>

static int load_one(struct conditions *conditions, struct matcher *matcher, const char *code,
		    const char *text, struct error *error)
{
	unsigned pattern = CONDITION_FACT;

	if (text[0] == '@') {
		if (!fact_condition_known(text + 1))
			return error_set(error, EINVAL,
					 "%s: there is no fact %s; see src/doctor/facts.h", code,
					 text);
	} else {
		int r = matcher_add(matcher, text, &pattern, error);
		if (r < 0)
			return error_wrap(error, "%s", code);
	}
	uint16_t *new = VEC_ADD(&conditions->patterns, &conditions->count, &conditions->capacity);
	if (!new)
		return error_no_memory(error);
	*new = (uint16_t)pattern;
	return 0;
}

static int load_list(struct conditions *conditions, struct matcher *matcher, const char *code,
		     const char *const *list, size_t most, struct error *error)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < most && list[i]; i++)
		r = load_one(conditions, matcher, code, list[i], error);
	return r;
}

#define LOAD(row, list) \
	load_list(conditions, matcher, (row)->code, (row)->list, ARRAY_SIZE((row)->list), error)

int conditions_load(struct conditions *conditions, const struct rulebook *book,
		    struct matcher *matcher, struct error *error)
{
	const struct symptom *symptom;
	const struct rule *rule;
	int r = 0;

	for (size_t at = 0; r == 0 && (rule = rulebook_rule(book, &at));) {
		r = LOAD(rule, seen);
		r = r == 0 ? LOAD(rule, any) : r;
		r = r == 0 ? LOAD(rule, absent) : r;
		r = r == 0 ? LOAD(rule, sure) : r;
	}
	for (size_t at = 0; r == 0 && (symptom = rulebook_symptom(book, &at));) {
		r = LOAD(symptom, seen);
		r = r == 0 ? LOAD(symptom, any) : r;
		r = r == 0 ? LOAD(symptom, absent) : r;
	}
	return r;
}

bool condition_met(const struct conditions *conditions, const struct matcher *matcher,
		   const struct facts *facts, const char *text, size_t index, struct witness *ret)
{
	unsigned pattern = conditions->patterns[index];

	if (pattern == CONDITION_FACT) {
		const struct fact *fact = facts_match(facts, text + 1);

		if (fact && ret)
			*ret = (struct witness){ fact->source, fact->line, fact->text,
						 strlen(fact->text) };
		return fact != NULL;
	}
	const struct matcher_hit *hit = matcher_hit(matcher, pattern);
	if (hit->source && ret)
		*ret = (struct witness){ hit->source, hit->line, hit->text, hit->length };
	return hit->source != NULL;
}
